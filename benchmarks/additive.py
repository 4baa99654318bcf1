"""`python -m benchmarks additive`: points cards, beside a plain Python loop and enumeration by a SAT solver."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write

FEATURES = 60
ROWS, QUICK_ROWS = 10**5, 2000
_PIECES = 4
_LOOPED, _QUICK_LOOPED = 1000, 100
_SMALL = (16, 20)
_COUNTED, _QUICK_COUNTED = 10, 3


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "additive",
        help="points cards: shortest reasons of many rows, and counts, beside a Python loop and python-sat",
        description="Explains decisions of a points card that is made here: the shortest reasons of both kinds of many"
        " rows in one batch, beside a plain Python loop that finds the same; and how many sufficient reasons there are,"
        " beside their enumeration by python-sat. What both find is compared. Times are CPU seconds, taken in turns.",
    )
    parser.add_argument(
        "--features", metavar="N", type=whole, default=FEATURES, help=f"of the card (default {FEATURES})"
    )
    parser.add_argument("--rows", metavar="N", type=whole, help=f"of the batch (default {ROWS:,})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows, and a short time for the solver")
    parser.add_argument(
        "--limit", metavar="S", type=positive_seconds, help="CPU seconds for the solver, a row (default 10; quick: 1)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, compare and print; 1 if something differs."""
    from benchmarks.additive_cards import card

    quick = arguments.quick
    model = card(arguments.features)
    rows = arguments.rows or (QUICK_ROWS if quick else ROWS)
    limit = arguments.limit or (1.0 if quick else 10.0)
    numbers: dict[str, Any] = {"batch": measure_batch(model, rows, min(_QUICK_LOOPED if quick else _LOOPED, rows))}
    write(batch_text(numbers["batch"]))
    numbers["counts"] = [measure_counts(card(features), _QUICK_COUNTED, limit) for features in _SMALL]
    numbers["counts"].append(measure_counts(model, _QUICK_COUNTED if quick else _COUNTED, limit))
    write(counts_text(numbers["counts"]))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    differing = numbers["batch"]["differing"] + sum(each["differing"] for each in numbers["counts"])
    if differing:
        write(f"DIFFERENT: {differing} answers")
    return 1 if differing else 0


def measure_batch(model: Any, count: int, looped: int) -> dict[str, Any]:
    """CPU seconds a row of a batch, in states and in general form, and of the loop, in turns over pieces of a table."""
    from benchmarks.additive_cards import rows
    from benchmarks.additive_loop import loop
    from benchmarks.alarm import without_collections
    from quia.batch.arrow import explain_batch

    table = rows(model, count)
    points = [[int(value) for value in term.values[:, 0]] for term in model.terms]
    cutoff = int(model.rule.cuts[0])
    seconds = {"states": 0.0, "general": 0.0, "loop": 0.0}
    step, differing = -(-count // _PIECES), 0
    explain_batch(model, table.slice(0, 10))  # what is made on first use is made
    for begin in range(0, count, step):
        piece = table.slice(begin, step)
        some = piece.slice(0, -(-looped // _PIECES))
        states = [model.encode(row) for row in some.to_pylist()]
        with without_collections():
            started = time.process_time()
            found = explain_batch(model, piece, general=False, limit=1)
            after = time.process_time()
            explain_batch(model, piece, limit=1)
            then = time.process_time()
            by_loop = loop(points, cutoff, states, 1)
            ended = time.process_time()
        seconds["states"] += after - started
        seconds["general"] += then - after
        seconds["loop"] += ended - then
        differing += sum(
            told(model, row) != one for row, one in zip(found.slice(0, some.num_rows).to_pylist(), by_loop, strict=True)
        )
    each = {name: taken / (looped if name == "loop" else count) for name, taken in seconds.items()}
    return {"features": len(model.variables), "rows": count, "looped": looped, "differing": differing, "seconds": each}


def told(model: Any, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row of a batch as the loop has it."""
    index = {variable.name: at for at, variable in enumerate(model.variables)}
    found: list[Any] = [row["decision"] == model.classes[1]]
    for kind in ("necessary", "sufficient"):
        sets = [tuple(index[each["feature"]] for each in reason) for reason in row[f"shortest_{kind}"]]
        found += [sets, row[f"shortest_{kind}_ties"]]
    return tuple(found)


def measure_counts(model: Any, count: int, limit: float) -> dict[str, Any]:
    """CPU seconds to explain a row and count its sufficient reasons, and how far enumeration comes."""
    from benchmarks.additive_cards import rows
    from benchmarks.additive_sat import enumerate_sets, needed
    from quia.errors import TooLarge
    from quia.explanation import explain

    results = []
    for row in rows(model, count, seed=18).to_pylist():
        started = time.process_time()
        try:
            counted = explain(model, row).count_sufficient(timeout=limit)
        except TooLarge:
            counted = None
        taken = time.process_time() - started
        listed = enumerate_sets(*needed(model, model.encode(row)), limit)
        results.append((taken, counted, listed))
    whole = [listed for _, _, listed in results if listed.is_all]
    ratios = [
        (listed.seconds / max(listed.sets, 1)) / (taken / max(counted, 1))
        for taken, counted, listed in results
        if counted is not None
    ]
    return {
        "features": len(model.variables),
        "rows": count,
        "seconds": median(taken for taken, _, _ in results),
        "most_seconds": max(taken for taken, _, _ in results),
        "counts": [counted for _, counted, _ in results],
        "enumerated": [listed.sets for _, _, listed in results],
        "whole": len(whole),
        "per_second": sum(each.sets for _, _, each in results) / max(sum(each.seconds for _, _, each in results), 1e-9),
        "ratio": median(ratios) if ratios else None,
        "differing": sum(
            counted is not None and (counted != listed.sets if listed.is_all else counted < listed.sets)
            for _, counted, listed in results
        ),
    }


def batch_text(measured: dict[str, Any]) -> str:
    """Microseconds a row, and ratios."""
    from benchmarks.numbers import plain_table, ratio_text

    seconds = measured["seconds"]
    names = {
        "states": "quia.explain_batch, the row's states",
        "general": "quia.explain_batch, general reasons",
        "loop": f"plain Python, the row's states ({measured['looped']:,} rows)",
    }
    rows = [
        [text, f"{1e6 * seconds[name]:,.0f} µs", ratio_text(seconds["loop"] / seconds[name])]
        for name, text in names.items()
    ]
    return "\n".join(
        [
            f"A points card of {measured['features']} features, {measured['rows']:,} rows: the first shortest reason of"
            " either kind, and how many there are.",
            "",
            plain_table(["by", "CPU a row", "loop / it"], rows),
            "",
            f"{measured['differing']} of {measured['looped']:,} rows differ from the loop's.",
        ]
    )


def counts_text(results: list[dict[str, Any]]) -> str:
    """What counting takes, and what enumeration would."""
    from benchmarks.numbers import plain_table, ratio_text, seconds_text

    rows = [
        [
            str(each["features"]),
            str(each["rows"]),
            seconds_text(each["seconds"]),
            seconds_text(each["most_seconds"]),
            _numbers_text([n for n in each["counts"] if n is not None]),
            f"{each['per_second']:,.0f} /s",
            f"{each['whole']} of {each['rows']}",
            "none counted" if each["ratio"] is None else ratio_text(each["ratio"]),
            str(each["differing"]),
        ]
        for each in results
    ]
    header = [
        "features",
        "rows",
        "explain and count",
        "at most",
        "reasons",
        "python-sat",
        "all found",
        "a reason",
        "differ",
    ]
    return "\n".join(
        [
            "",
            "All sufficient reasons counted, explain included (median CPU of a row), beside their enumeration;"
            " 'a reason' is how many times the CPU for each reason that takes:",
            "",
            plain_table(header, rows),
        ]
    )


def _numbers_text(numbers: list[int]) -> str:
    return f"{min(numbers):.3g} to {max(numbers):.3g}" if numbers else "none counted"
