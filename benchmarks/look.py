"""`python -m benchmarks look`: what it costs to make a page of a decision, beside explaining it."""

from __future__ import annotations

import argparse
import json
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


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "look",
        help="what a page of a decision costs, beside explaining it",
        description="Explains rows by the J48 tree of a table, by scikit-learn's trees and by boosted trees, which are"
        " learned here from the same table, and makes a page of each answer. Each row has a process of its own, several"
        " times; of these the least CPU seconds count.",
    )
    parser.add_argument("--data", metavar="DIR", help="trees/NAME/tree.j48.txt and train/NAME.csv.gz")
    parser.add_argument("--benchmark", metavar="NAME", default="adult", help="which table and tree (default adult)")
    parser.add_argument("--rows", metavar="N", type=whole, default=10, help="of each model (default 10)")
    parser.add_argument("--repeat", metavar="N", type=whole, default=3, help="processes for each row (default 3)")
    parser.add_argument(
        "--rounds", metavar="N", type=whole, default=ROUNDS, help=f"of boosting, {DEPTH} deep (default {ROUNDS})"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    results = []
    for name, classifier, instances in subjects(arguments):
        with TemporaryDirectory() as place:
            results.append(measure(name, classifier, instances, arguments.repeat, Path(place)))
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
        least = {part: min(each[part] for each in runs) for part in ("explain", "import", "page")}
        rows.append(least | {"bytes": runs[0]["bytes"], "listed": runs[0]["listed"]})
    return {"name": name, "nodes": _nodes(classifier), "rows": rows}


def _once(place: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.look_once", str(place / "model.json"), str(place / "instance.json")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    numbers: dict[str, Any] = json.loads(done.stdout)
    return numbers


def _nodes(classifier: Any) -> int | None:
    from quia.graph import DecisionGraph

    return len(classifier) if isinstance(classifier, DecisionGraph) else None


def ratio(result: dict[str, Any]) -> float:
    """How many times as long the pages took as the answers, all rows together."""
    return float(sum(row["page"] for row in result["rows"]) / sum(row["explain"] for row in result["rows"]))


def text(results: Sequence[dict[str, Any]], *, head: bool = True) -> str:
    """A table in Markdown, a model a line.

    >>> row = {"explain": 0.2, "import": 0.03, "page": 0.1, "bytes": 60_000}
    >>> print(text([{"name": "a tree", "nodes": 914, "rows": [row, row | {"page": 0.2}]}]))
    | model | nodes | explain | page | page / explain | worst row | import | size |
    |---|---|---|---|---|---|---|---|
    | a tree | 914 | 200 ms | 150 ms | 0.75 | 1.00 | 30 ms | 60 kB |
    """
    lines = ["| model | nodes | explain | page | page / explain | worst row | import | size |", f"|{'---|' * 8}"]
    for result in results:
        rows = result["rows"]
        worst = max(row["page"] / row["explain"] for row in rows)
        cells = (
            result["name"],
            "–" if result["nodes"] is None else f"{result['nodes']:,}",
            seconds_text(fmean(row["explain"] for row in rows)),
            seconds_text(fmean(row["page"] for row in rows)),
            f"{ratio(result):.2f}",
            f"{worst:.2f}",
            seconds_text(fmean(row["import"] for row in rows)),
            f"{fmean(row['bytes'] for row in rows) / 1000:.0f} kB",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines if head else lines[2:])
