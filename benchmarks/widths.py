"""`python -m benchmarks widths`: how wide reasons are, how many rows they fit, and which changes flip a decision.

Before: the paper's reasons, which fix each feature to its own smallest cell. After: general reasons, as wide as they
are true, and regions of changes. Every general reason that is measured or shown is checked with `quia.verify`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers
from quia.command.streams import write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from benchmarks.widths_models import Subject
    from quia.explanation import Explanation
    from quia.reason import Reason

TREES = ("adult", "spambase", "nomao")
PARTS = ("widths", "speed")
SHOWN = 10
"""Reasons of a kind that an explanation shows."""
MOST_POINTS = 1_000_000
"""Of more changed instances of one decision than these it is not counted how many are decided otherwise."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    from quia.command.numbers import whole

    parser = subparsers.add_parser(
        "widths",
        help="how wide reasons are, how many rows they fit, and which changes flip a decision",
        description="Explains rows by learned trees, in the form of the paper (before) and in general form (after), and"
        " prints how wide the conditions are, how many rows of the table a reason fits, how many of the changes that it"
        " admits flip the decision, and how many nearest changes there are. Every reason that is shown is checked with"
        " quia.verify, and the command fails if one does not pass. Then the cost of general form, as ratios in one run;"
        " times are CPU seconds, the best of several.",
    )
    parser.add_argument("--data", metavar="DIR", help="trees/NAME/tree.j48.txt and train/NAME.csv.gz")
    parser.add_argument(
        "--benchmark",
        metavar="NAME",
        action="append",
        help=f"this tree of the folder; repeat it (default {', '.join(TREES)})",
    )
    parser.add_argument(
        "--learn-from",
        metavar="FILE.csv",
        action="append",
        help="learn trees from this table, the class in its last column (default train/adult.csv.gz of the folder)",
    )
    parser.add_argument("--rows", metavar="N", type=whole, default=200, help="instances of each tree (default 200)")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part only; repeat it")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, check and print."""
    parts = arguments.only or PARTS
    numbers: dict[str, Any] = {}
    subjects = list(subjects_of(arguments))
    if "widths" in parts:
        numbers["widths"] = [measure(subject, arguments.rows) for subject in subjects]
        write(text(numbers["widths"]))
    if "speed" in parts:
        from benchmarks import general_speed

        numbers["speed"] = general_speed.measure(subjects, arguments.rows)
        write(general_speed.text(numbers["speed"]))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    refuted = [fault for result in numbers.get("widths", ()) for fault in result["refuted"]]
    for fault in refuted:
        write(f"REFUTED: {fault}")
    return 1 if refuted else 0


def subjects_of(arguments: argparse.Namespace) -> Iterator[Subject]:
    """The trees that the options name."""
    from benchmarks.arguments import DEFAULT_DATA
    from benchmarks.models import find
    from benchmarks.widths_models import learned_from, printed_by_weka

    folder = Path(arguments.data or DEFAULT_DATA)
    for benchmark in find(folder, arguments.benchmark or TREES):
        yield printed_by_weka(benchmark, folder)
    for file in arguments.learn_from or [folder / "train" / "adult.csv.gz"]:
        yield from learned_from(Path(file))


@dataclass
class Counts:
    """What was counted of the decisions that were explained."""

    widths: list[int] = field(default_factory=list)
    """States that a numeric condition of the first shortest sufficient reason admits; before, it was always one."""
    rows_before: list[int] = field(default_factory=list)
    rows_after: list[int] = field(default_factory=list)
    admitted_before: int = 0
    flipping_before: int = 0
    admitted_after: int = 0
    flipping_after: int = 0
    cells: list[int] = field(default_factory=list)
    regions: list[int] = field(default_factory=list)
    uncounted: int = 0
    checked: int = 0
    refuted: list[str] = field(default_factory=list)


def measure(subject: Subject, rows: int) -> dict[str, Any]:
    """The numbers of one tree over at most so many of its rows."""
    from benchmarks.widths_models import fully_known
    from quia.explanation import explain

    counts, table = Counts(), subject.states()
    instances = fully_known(subject, rows)
    for instance in instances:
        why = explain(subject.classifier, instance)
        _count_widths(counts, why, table)
        _count_flips(counts, why)
        _count_changes(counts, why)
        _check(counts, subject, why)
    return {
        "name": subject.name,
        "nodes": len(subject.classifier),
        "instances": len(instances),
        "table": len(table),
        "facts": len(counts.widths),
        "width_mean": fmean(counts.widths) if counts.widths else None,
        "width_median": median(counts.widths) if counts.widths else None,
        "widened": _share(sum(width > 1 for width in counts.widths), len(counts.widths)),
        "rows_before": median(counts.rows_before) if counts.rows_before else None,
        "rows_after": median(counts.rows_after) if counts.rows_after else None,
        "flips_before": _share(counts.flipping_before, counts.admitted_before),
        "flips_after": _share(counts.flipping_after, counts.admitted_after),
        "cells": fmean(counts.cells) if counts.cells else None,
        "regions": fmean(counts.regions) if counts.regions else None,
        "uncounted": counts.uncounted,
        "checked": counts.checked,
        "refuted": counts.refuted,
    }


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _count_widths(counts: Counts, why: Explanation, table: npt.NDArray[np.int32]) -> None:
    """How wide the conditions of the first shortest sufficient reason are, and how many rows of the table fit it."""
    before = next(iter(why.sufficient_reasons(shortest=True, limit=1)))
    after = next(iter(why.sufficient_reasons(shortest=True, limit=1, general=True)))
    counts.widths += [len(literal.states) for literal in after.literals if literal.variable.is_numeric]
    counts.rows_before.append(rows_fitting(why, before, table))
    counts.rows_after.append(rows_fitting(why, after, table))


def rows_fitting(why: Explanation, reason: Reason, table: npt.NDArray[np.int32]) -> int:
    """In how many rows a reason's conditions hold."""
    import numpy as np

    fits = np.ones(len(table), bool)
    places = {variable.name: place for place, variable in enumerate(why.variables)}
    for literal in reason.literals:
        fits &= np.isin(table[:, places[literal.feature]], literal.states)
    return int(fits.sum())


def _count_flips(counts: Counts, why: Explanation) -> None:
    """Of the states that a shortest necessary reason of one feature admits, how many flip the decision."""
    for members in why.necessary_reasons(shortest=True).members():
        if len(members) == 1:
            other = [s for s in range(why.variables[members[0]].size) if s != why.states[members[0]]]
            counts.admitted_before += len(other)
            counts.flipping_before += _flipping(why, members, [other])
    places = {variable.name: place for place, variable in enumerate(why.variables)}
    for reason in why.necessary_reasons(shortest=True, general=True):
        if len(reason) == 1:
            (change,) = reason.changes
            counts.admitted_after += len(change.states)
            counts.flipping_after += _flipping(why, (places[change.feature],), [change.states])


def _flipping(why: Explanation, members: Sequence[int], states: Sequence[Collection[int]]) -> int:
    """How many of the changes of these variables to any of these states change the decision, by the tree itself."""
    labels = _decided(why, members, states)
    return int((labels != why.question.decision).sum())


def _decided(why: Explanation, members: Sequence[int], states: Sequence[Collection[int]]) -> npt.NDArray[np.int32]:
    import numpy as np

    points = np.array(list(product(*states)), np.int32).reshape(-1, len(members))
    rows = np.tile(np.array(why.states, np.int32), (len(points), 1))
    rows[:, list(members)] = points
    classifier: Any = why.classifier
    return np.asarray(classifier.kernel.classify(np.ascontiguousarray(rows)))


def _count_changes(counts: Counts, why: Explanation) -> None:
    """How many nearest changes there are: cells, each with one state of each feature, and regions."""
    cells = 0
    for members in why.necessary_reasons(shortest=True).members():
        others = [[s for s in range(why.variables[v].size) if s != why.states[v]] for v in members]
        total = 1
        for other in others:
            total *= len(other)
        if total > MOST_POINTS:
            counts.uncounted += 1
            break
        cells += _flipping(why, members, others)
    else:
        counts.cells.append(cells)
        counts.regions.append(len(why.counterfactuals()))


def _check(counts: Counts, subject: Subject, why: Explanation) -> None:
    """Check what is shown: each reason with `verify`, and of each region that all of it leads to its class."""
    from quia.errors import Refuted
    from quia.verify import verify

    for kind in ("sufficient", "necessary"):
        for reason in getattr(why, f"{kind}_reasons")(general=True, limit=SHOWN):
            counts.checked += 1
            try:
                verify(why.classifier, why.instance, reason, kind, maximal=True)
            except Refuted as fault:
                counts.refuted.append(f"{subject.name}: {kind} {reason}: {fault}")
    places = {variable.name: place for place, variable in enumerate(why.variables)}
    for change in why.counterfactuals(limit=SHOWN):
        counts.checked += 1
        states = [literal.states for literal in change.changes]
        labels = _decided(why, [places[x] for x in change.features], states)
        if set(labels.tolist()) != {why.question.classes.index(change.decision)}:
            counts.refuted.append(f"{subject.name}: {change}: a part of it is decided otherwise")


def text(results: Sequence[dict[str, Any]]) -> str:
    """The table, before and after, and what was checked."""
    from benchmarks.numbers import number_text, plain_table

    header = ["tree", "nodes", "rows", "states of a numeric fact: before", "median after", "mean after", "widened"]
    header += ["of the table", "fit before", "fit after", "flips before", "flips after"]
    header += ["nearest changes before", "after"]
    lines = [
        [
            r["name"],
            f"{r['nodes']:,}",
            str(r["instances"]),
            "1",
            number_text(r["width_median"]),
            number_text(r["width_mean"]),
            percent(r["widened"]),
            f"{r['table']:,}",
            number_text(r["rows_before"]),
            number_text(r["rows_after"]),
            percent(r["flips_before"]),
            percent(r["flips_after"]),
            number_text(r["cells"]),
            number_text(r["regions"]),
        ]
        for r in results
    ]
    checked, refuted = sum(r["checked"] for r in results), sum(len(r["refuted"]) for r in results)
    uncounted = sum(r["uncounted"] for r in results)
    without = f"; without {uncounted} decisions that have more than {MOST_POINTS:,} changes to try" if uncounted else ""
    return "\n".join(
        [
            plain_table(header, lines),
            "",
            "Before: reasons in the states of the instance, as in the paper of 2022. After: general reasons in"
            " intervals. Of the first shortest sufficient reason: how many states its conditions on numbers admit,"
            " which share of them admits more than one, and how many rows of the table (median) meet all its"
            " conditions. Of the shortest necessary reasons with one feature: which share of the changes that they"
            f" admit flips the decision. Nearest changes: means, of cells before and of regions after{without}.",
            "",
            f"{checked:,} reasons and regions, all that are shown, were checked with quia.verify(maximal=True), regions"
            f" by deciding every point: {refuted} did not pass.",
        ]
    )


def percent(share: float | None) -> str:
    """A share in a table; never rounded up to all.

    >>> percent(0.9999), percent(1), percent(None)
    ('99.9 %', '100 %', '–')
    """
    if share is None:
        return "–"
    return "100 %" if share == 1 else f"{int(share * 1000) / 10} %"
