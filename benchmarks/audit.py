"""`python -m benchmarks audit`: what whole audits cost, step by step, and their checks, beside `predict`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.arguments import DEFAULT_DATA
from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write
from quia.errors import Unsupported

PROTECTED = ("sex", "race")
ROUNDS, DEPTH = 100, 6


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "audit",
        help="whole audits of a tree and of boosted trees: each step, the time limit, their checks",
        description="Audits the J48 tree of a table without a limit, and boosted trees that are learned here from the"
        " same table within one; every claim of both is then checked, as `quia verify` does. How many decisions hang on"
        " protected features is counted a second time by a loop over the library's own `predict`, and compared. Steps"
        " are CPU seconds; the limit is one of wall-clock time.",
    )
    parser.add_argument("--data", metavar="DIR", help="trees/NAME/tree.j48.txt and train/NAME.csv.gz")
    parser.add_argument("--benchmark", metavar="NAME", default="adult", help="which table and tree (default adult)")
    parser.add_argument(
        "--protected", metavar="FEATURE", action="append", help=f"repeat it (default {' and '.join(PROTECTED)})"
    )
    parser.add_argument("--rows", metavar="N", type=whole, help="at most so many rows, evenly spread (default all)")
    parser.add_argument(
        "--rounds", metavar="N", type=whole, default=ROUNDS, help=f"of boosting, {DEPTH} deep (default {ROUNDS})"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=positive_seconds, default=60.0, help="for the boosted trees (default 60)"
    )
    parser.add_argument(
        "--check-timeout", metavar="S", type=positive_seconds, default=300.0, help="to check each (default 300)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, check, compare and print; 1 if a claim is refuted or a count differs."""
    from benchmarks.audit_measured import Limits, measured, text
    from benchmarks.audit_rival import boosted, counted, read_table
    from quia.load import load

    folder = Path(arguments.data or DEFAULT_DATA)
    tree = folder / "trees" / arguments.benchmark / "tree.j48.txt"
    source = folder / "train" / f"{arguments.benchmark}.csv.gz"
    for file in (tree, source):
        if not file.exists():
            raise Unsupported(f"{file} is not there", cure="name the folder above trees/ and train/ with --data DIR")
    protected = tuple(arguments.protected or PROTECTED)
    table = read_table(source, arguments.rows)
    with TemporaryDirectory() as place:
        file = str(source)
        if arguments.rows:
            file = str(Path(place) / "rows.csv")
            table.to_csv(file, index=False)
        checking = arguments.check_timeout
        results = [measured("J48 tree", load(tree), file, protected, table.columns[-1], Limits(None, checking))]
        write(text(results[-1]))
        boost = boosted(table, arguments.rounds, DEPTH)
        name, limits = f"XGBoost {arguments.rounds}x{DEPTH}", Limits(arguments.timeout, checking)
        results.append(measured(name, boost.classifier, file, protected, table.columns[-1], limits))
        results[-1]["rival"] = counted(boost, table, [each["features"] for each in results[-1]["hanging"]])
        write(text(results[-1]))
    numbers: dict[str, Any] = {"table": arguments.benchmark, "protected": protected, "results": results}
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    wrong = [f"{each['name']}: {fault}" for each in results for fault in each["check"]["refuted"]]
    wrong += differing(results[-1])
    for fault in wrong:
        write(f"WRONG: {fault}")
    return 1 if wrong else 0


def differing(result: dict[str, Any]) -> list[str]:
    """Which counts of all rows are not the loop's."""
    both = zip(result["hanging"], result["rival"]["rows"], strict=True)
    return [
        f"{each['rows']:,} decisions hang on {' and '.join(each['features'])}, and {other:,} by the loop"
        for each, other in both
        if each["of"] == result["decided"] and each["rows"] != other
    ]
