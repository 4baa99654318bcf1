"""One decision in a fresh process: what it costs to explain it, and what to make a page of that.

`python -m benchmarks.look_once MODEL.json INSTANCE.json` prints CPU seconds and bytes as JSON. Nothing was read or
kept by an earlier decision; what it takes to import the modules that make pages, once in a process, is told apart.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

from quia.command.streams import write
from quia.explanation import explain
from quia.load import load


def main(model: str, instance: str) -> None:
    """Measure."""
    classifier, values = load(model), json.loads(Path(instance).read_text("utf-8"))
    started = process_time()
    explanation = explain(classifier, values)
    answer = explanation.answer()
    listed = [len(list(each)) for each in (answer.sufficient, answer.necessary, answer.changes)]
    explained = process_time()
    from quia.show.html import page

    imported = process_time()
    text = page(explanation, answer=answer)
    shown = process_time()
    seconds = {"explain": explained - started, "import": imported - explained, "page": shown - imported}
    write(json.dumps(seconds | {"bytes": len(text.encode()), "listed": listed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
