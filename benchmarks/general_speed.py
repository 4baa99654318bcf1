"""What general form costs: a batch with it over the same batch without, and one explanation as it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.widths_models import Subject

REPEATS = 5
BATCH_ROWS = 5000
MOST_RATIO = 2.0
"""A batch in general form may take so many times the CPU of the same batch without."""
MOST_SECONDS = 0.010
"""One explanation of the largest tree, as text, may take so long."""


def measure(subjects: Sequence[Subject], rows: int) -> dict[str, Any]:
    """A batch of the first tree's table in both forms, by each tree, and explanations of the largest tree as text."""
    largest = max(subjects, key=lambda subject: len(subject.classifier))
    return {
        "batch": [measure_batch(subject) for subject in subjects if subject.reference.equals(subjects[0].reference)],
        "text": measure_text(largest, rows),
    }


def measure_batch(subject: Subject) -> dict[str, Any]:
    """The CPU of a batch with the shortest reasons of both kinds, in general form and without."""
    from quia.batch.arrow import explain_batch

    table = subject.reference.slice(0, BATCH_ROWS)
    forms: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(REPEATS):  # in turns, as other work on the machine may come and go
        for general, seconds in forms.items():
            seconds.append(cpu_seconds(partial(explain_batch, subject.classifier, table, general=general)))
    plain, wide = min(forms[False]), min(forms[True])
    return {
        "name": subject.name,
        "nodes": len(subject.classifier),
        "rows": table.num_rows,
        "plain": plain,
        "general": wide,
        "ratio": wide / plain,
    }


def measure_text(subject: Subject, rows: int) -> dict[str, Any]:
    """The CPU of one explanation as `str` shows it, over some rows, each the best of several."""
    from benchmarks.widths_models import fully_known
    from quia.explanation import explain

    instances = fully_known(subject, rows)
    str(explain(subject.classifier, instances[0]))  # the kernel is made on first use, once

    def shown(row: dict[str, Any]) -> str:
        return str(explain(subject.classifier, row))

    seconds = [min(cpu_seconds(partial(shown, row)) for _ in range(REPEATS)) for row in instances]
    return {
        "name": subject.name,
        "nodes": len(subject.classifier),
        "rows": len(seconds),
        "mean": fmean(seconds),
        "median": median(seconds),
        "max": max(seconds),
    }


def cpu_seconds(work: Callable[[], Any]) -> float:
    """The seconds of all cores that a piece of work takes, without Python's search for cyclic garbage."""
    from benchmarks.alarm import without_collections

    with without_collections():
        started = time.process_time()
        work()
        return time.process_time() - started


def text(measured: dict[str, Any]) -> str:
    """The ratios, and whether each is within its bar."""
    from benchmarks.numbers import plain_table, ratio_text, seconds_text

    header = ["a batch by", "nodes", "rows", "states", "general", "ratio", f"at most {MOST_RATIO:g}"]
    rows = [
        [
            batch["name"],
            f"{batch['nodes']:,}",
            f"{batch['rows']:,}",
            seconds_text(batch["plain"]),
            seconds_text(batch["general"]),
            ratio_text(batch["ratio"]),
            verdict(batch["ratio"] <= MOST_RATIO),
        ]
        for batch in measured["batch"]
    ]
    shown = measured["text"]
    return "\n".join(
        [
            "",
            "CPU seconds of a batch with the shortest reasons of both kinds, in states and in general form:",
            "",
            plain_table(header, rows),
            "",
            f"One explanation as text, {shown['name']}, {shown['nodes']:,} nodes, {shown['rows']} rows: mean"
            f" {seconds_text(shown['mean'])}, median {seconds_text(shown['median'])}, most"
            f" {seconds_text(shown['max'])}; the mean may be {seconds_text(MOST_SECONDS)} at most:"
            f" {verdict(shown['mean'] <= MOST_SECONDS)}.",
        ]
    )


def verdict(is_within: bool) -> str:
    """Whether a bar is kept."""
    return "kept" if is_within else "MISSED"
