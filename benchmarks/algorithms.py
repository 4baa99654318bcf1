"""The four questions of the paper's table, asked of the paper's algorithms and of the kernel, and timed.

Times are CPU seconds of the asking thread, so that what else the machine does matters little. As in the paper, the
time of the paper's algorithms begins when the complete reason is there. The kernel's begins with the instance.
The paper's algorithms run as they are published, with nothing else in their loops: an alarm stops them (`alarm`), and
Python's search for cyclic garbage, of which they make none, is put off as `timeit` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.alarm import TimeIsUp, limited, without_collections
from quia import paper
from quia._kernel import Family, Graph, OverBudget
from quia.asking import why
from quia.complete import closed_form, complete_reason
from quia.errors import TooLarge
from quia.graph import DecisionGraph
from quia.nnf import NNF

QUESTIONS = ("SR", "SSR", "NR", "SNR")
PAPER: dict[str, Callable[..., paper.Family]] = {"SR": paper.sr, "SSR": paper.ssr, "NR": paper.nr, "SNR": paper.snr}
MOST_LISTED = 100_000
"""A family with more members than this is counted and not listed."""
BATCH: dict[str, dict[str, bool]] = {
    "SR": {"necessary": False, "sufficient": False, "count_sufficient": True},
    "SSR": {"necessary": False, "sufficient": True},
    "NR": {"necessary": False, "sufficient": False, "count_necessary": True},
    "SNR": {"necessary": True, "sufficient": False},
}
"""What the kernel's batch is asked for: to count all reasons exactly, or to list the shortest ones."""
LISTED: dict[str, dict[str, bool]] = {
    "SR": {"necessary": False, "sufficient": True, "shortest": False},
    "SSR": BATCH["SSR"],
    "NR": {"necessary": True, "sufficient": False, "shortest": False},
    "SNR": BATCH["SNR"],
}
"""What it is asked for beside the paper's algorithms: to list all that they list."""


@dataclass(frozen=True)
class Outcome:
    """One question answered, or not: how many reasons, in how many CPU seconds.

    `count` is None where the limit was reached first. `reasons` are the reasons themselves, and `listed` the seconds
    until they all were there, where they are few enough to list.
    """

    count: int | None
    seconds: float
    listed: float | None = None
    reasons: frozenset[frozenset[int]] | None = None

    @property
    def finished(self) -> bool:
        """Whether the answer is whole."""
        return self.count is not None


def reason_formula(graph: DecisionGraph, states: npt.NDArray[np.int32]) -> NNF:
    """The complete reason of the decision on an instance, without the kernel, ready for the paper's algorithms."""
    formula = closed_form(graph, why(graph, states.tolist()))
    # Kept with the formula, so that no algorithm's time has them.
    _ = formula.nodes, formula.is_or_decomposable, formula.is_monotone, formula.simplified()
    return formula


def complete_reason_seconds(graph: DecisionGraph, states: npt.NDArray[np.int32]) -> float:
    """CPU seconds from an instance to a formula that the paper's algorithms can take, by the quickest way there is.

    That is quia's own call. `closed_form`, which follows the paper's equations in Python to be read, takes up to a
    hundred times as long, and nobody who wants reasons has to wait for it.
    """
    question = why(graph, states.tolist())
    with without_collections():
        started = time.thread_time()
        formula = complete_reason(graph, question)
        _ = formula.nodes, formula.is_or_decomposable
        return time.thread_time() - started


def ask_paper(question: str, formula: NNF, limit: float) -> Outcome:
    """A question answered by the paper's algorithm in plain Python."""
    algorithm = PAPER[question]
    with without_collections():
        started = time.thread_time()
        try:
            with limited(limit):
                found = algorithm(formula)
                seconds = time.thread_time() - started
        except (TimeIsUp, MemoryError, TooLarge):
            return Outcome(None, time.thread_time() - started)
    return Outcome(len(found), seconds, seconds, frozenset(found))


def ask_kernel(question: str, graph: Graph, states: npt.NDArray[np.int32], limit: float) -> Outcome:
    """A question answered by the compiled kernel, one instance at a time."""
    with without_collections():
        started = time.thread_time()
        try:
            family = _family(question, graph, states, limit)
            count = family.count() if family is not None else None
        except OverBudget:
            count, family = None, None
        seconds = time.thread_time() - started
        if count is None or family is None:
            return Outcome(None, seconds)
        if count > MOST_LISTED:
            return Outcome(count, seconds)
        members = list(islice(family.listing(), count))
        listed = time.thread_time() - started
    return Outcome(count, seconds, listed, frozenset(map(frozenset, members)))


def _family(question: str, graph: Graph, states: npt.NDArray[np.int32], limit: float) -> Family | None:
    necessary = graph.necessary(states, shortest=question == "SNR", timeout=limit)
    if not necessary.complete:
        return None
    if question in ("NR", "SNR"):
        return necessary
    return necessary.dual(shortest=question == "SSR", timeout=limit)


def ask_batch(
    question: str,
    graph: Graph,
    states: npt.NDArray[np.int32],
    limit: float,
    *,
    listed: bool = False,
    least: float = 0.0,
) -> Batch:
    """A question answered by the kernel for many rows in one call, on one core; again until `least` seconds passed.

    All reasons are counted, the shortest ones listed; with `listed` all are listed, up to MOST_LISTED of a row.
    """
    options: dict[str, Any] = (LISTED if listed else BATCH)[question]
    times = 0
    started = time.process_time()
    while not times or time.process_time() - started < least:
        found = graph.batch(states, threads=1, limit=MOST_LISTED, timeout_per_row=limit, **options)
        times += 1
    seconds = (time.process_time() - started) / times
    # Of what was not asked for there is no column, so there is one.
    (name,) = (name for name in ("count_sufficient", "sufficient", "count_necessary", "necessary") if options.get(name))
    column: Any = found.get(name)
    return Batch(len(states), seconds, int((column["complete"] == 0).sum()))


@dataclass(frozen=True)
class Batch:
    """Many rows in one call: CPU seconds in all, and rows not finished."""

    rows: int
    seconds: float
    unfinished: int
