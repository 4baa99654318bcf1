"""`python -m benchmarks look`: what it costs to make a page of a decision, beside explaining it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.arguments import DEFAULT_DATA
from benchmarks.numbers import seconds_text
from quia.classifier import Classifier, HasJson, offers
from quia.command import Subparsers
from quia.command.numbers import whole
from quia.command.streams import write
from quia.errors import Unsupported

ROUNDS, DEPTH = 100, 6
ROOT = str(Path(__file__).resolve().parents[1])
FINISHED = (0, 3)
"""Exit codes of commands that answered: with all there is, or with what was found in time."""
PARTS = ("command explain", "command report", "explain", "import", "page")
"""What is measured of a row: both commands as a whole, then finding an answer, importing what makes pages, a page."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "look",
        help="what a page of a decision costs, beside explaining it",
        description="Explains rows by the J48 tree of a table, by scikit-learn's trees and by boosted trees, which are"
        " learned here from the same table, and makes a page of each answer: by the commands `quia explain` and `quia"
        " report`, and their parts alone. Each is a process of its own, several times; the least CPU seconds count.",
    )
    parser.add_argument("--data", metavar="DIR", help="trees/NAME/tree.j48.txt and train/NAME.csv.gz")
    parser.add_argument("--benchmark", metavar="NAME", default="adult", help="which table and tree (default adult)")
    parser.add_argument("--rows", metavar="N", type=whole, default=4, help="of each model (default 4)")
    parser.add_argument("--repeat", metavar="N", type=whole, default=3, help="processes for each row (default 3)")
    parser.add_argument(
        "--rounds", metavar="N", type=whole, default=ROUNDS, help=f"of boosting, {DEPTH} deep (default {ROUNDS})"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    results = []
    with TemporaryDirectory() as folder:
        place = Path(folder, "run")
        place.mkdir()
        for name, classifier, instances in subjects(arguments):
            results.append(measure(name, classifier, instances, arguments.repeat, place))
            write(text(results[-1:], head=len(results) == 1))
    if arguments.json:
        numbers = {"table": arguments.benchmark, "repeat": arguments.repeat, "results": results}
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    return 0


def subjects(arguments: argparse.Namespace) -> Iterator[tuple[str, Classifier, list[dict[str, Any]]]]:
    """A name, a model, and the rows to explain."""
    from benchmarks.audit_rival import boosted, read_table
    from benchmarks.models import find
    from benchmarks.widths_models import FEWEST_ROWS, Subject, by_sklearn, fully_known, printed_by_weka
    from quia.tables import read_csv

    folder = Path(arguments.data or DEFAULT_DATA)
    source = folder / "train" / f"{arguments.benchmark}.csv.gz"
    found = find(folder, [arguments.benchmark])
    if not found or not source.exists():
        raise Unsupported(
            f"{folder} has no tree and table {arguments.benchmark!r}",
            cure="name the folder above trees/ with --data DIR",
        )
    weka = printed_by_weka(found[0], folder)
    rows = fully_known(weka, arguments.rows)
    yield f"{arguments.benchmark}, J48", weka.classifier, rows
    whole_table = read_csv(source)
    instances = [{x: row[x] for x in whole_table.names[:-1]} for row in whole_table.records()]
    for leaf, fewest in FEWEST_ROWS.items():
        tree = by_sklearn(whole_table, fewest)
        subject = Subject(f"{arguments.benchmark}, sklearn, {leaf} a leaf", tree, instances, weka.reference)
        yield subject.name, tree, fully_known(subject, arguments.rows)
    boost = boosted(read_table(source, None), arguments.rounds, DEPTH)
    name = f"{arguments.benchmark}, XGBoost {arguments.rounds}x{DEPTH}"
    yield name, boost.classifier, rows


def measure(
    name: str, classifier: Classifier, instances: Sequence[dict[str, Any]], repeat: int, place: Path
) -> dict[str, Any]:
    """The least CPU seconds of each row, and how many bytes its page has."""
    from quia.load import json as json_format

    assert offers(classifier, HasJson)
    (place / "model.json").write_text(json_format.dumps(classifier), "utf-8")
    rows = []
    for instance in instances:
        (place / "instance.json").write_text(json.dumps(instance), "utf-8")
        runs = [_once(place) for _ in range(repeat)]
        rows.append(runs[0] | {part: min(each[part] for each in runs) for part in PARTS})
    return {"name": name, "nodes": _nodes(classifier), "rows": rows}


def _once(place: Path) -> dict[str, Any]:
    """Both commands and their parts, each in a process of its own."""
    _, told = _process(place, "benchmarks.look_once", "model.json", "instance.json")
    numbers: dict[str, Any] = json.loads(told)
    asked = ("model.json", "--instance", "instance.json")
    numbers["command explain"], _ = _process(place, "quia", "explain", *asked)
    numbers["command report"], _ = _process(place, "quia", "report", *asked, "-o", "page.html")
    return numbers


def _process(place: Path, *words: str) -> tuple[float, str]:
    """The CPU seconds of a process, and what it printed; modules are compiled, as those of an installed package are."""
    from resource import RUSAGE_CHILDREN, getrusage  # not on Windows

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "PYTHONPYCACHEPREFIX": str(place.parent / "compiled"),
        "PYTHONPATH": os.pathsep.join([ROOT, *sys.path]),
    }
    before = getrusage(RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", *words], check=False, capture_output=True, text=True, cwd=place, env=environment
    )
    if done.returncode not in FINISHED:
        done.check_returncode()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _nodes(classifier: Any) -> int | None:
    from quia.graph import DecisionGraph

    return len(classifier) if isinstance(classifier, DecisionGraph) else None


def ratio(rows: Sequence[dict[str, Any]], of: str, to: str) -> float:
    """How many times as long the one took as the other, all rows together."""
    return float(sum(row[of] for row in rows) / sum(row[to] for row in rows))


def text(results: Sequence[dict[str, Any]], *, head: bool = True) -> str:
    """A table in Markdown, a model a line.

    >>> row = {"command explain": 0.4, "command report": 0.5, "explain": 0.2, "import": 0.03, "page": 0.1, "bytes": 6e4}
    >>> print(text([{"name": "a tree", "nodes": 914, "rows": [row, row | {"page": 0.2}]}]))
    | model | nodes | `quia explain` | `quia report` | ratio | answer | import | page | page / answer | size |
    |---|---|---|---|---|---|---|---|---|---|
    | a tree | 914 | 400 ms | 500 ms | 1.25 | 200 ms | 30 ms | 150 ms | 0.75 | 60 kB |
    """
    heads = ("model", "nodes", "`quia explain`", "`quia report`", "ratio", "answer", "import", "page", "page / answer")
    lines = [f"| {' | '.join([*heads, 'size'])} |", f"|{'---|' * (len(heads) + 1)}"]
    for result in results:
        rows = result["rows"]
        mean = {part: seconds_text(fmean(row[part] for row in rows)) for part in PARTS}
        cells = (
            result["name"],
            "–" if result["nodes"] is None else f"{result['nodes']:,}",
            mean["command explain"],
            mean["command report"],
            f"{ratio(rows, 'command report', 'command explain'):.2f}",
            mean["explain"],
            mean["import"],
            mean["page"],
            f"{ratio(rows, 'page', 'explain'):.2f}",
            f"{fmean(row['bytes'] for row in rows) / 1000:.0f} kB",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines if head else lines[2:])
