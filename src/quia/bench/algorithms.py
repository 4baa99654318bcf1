"""The four questions of the paper's table, asked of the paper's algorithms and of the kernel, and timed.

Times are CPU seconds of the asking thread, so that what else the machine does matters little. As in the paper, the
time of the paper's algorithms begins when the complete reason is there. The kernel's begins with the instance.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from quia import paper
from quia._kernel import Family, Graph, OverBudget
from quia.complete import closed_form
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
"""What the kernel's batch is asked for. It counts all reasons exactly and lists the shortest ones."""


class TimeIsUp(Exception):
    """The limit of one instance was reached."""


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
    """The complete reason of the decision on an instance, in plain Python, ready for the paper's algorithms."""
    formula = closed_form(graph, states.tolist())
    # Kept with the formula, so that no algorithm's time has them.
    _ = formula.nodes, formula.is_or_decomposable, formula.is_monotone, formula.simplified()
    return formula


def ask_paper(question: str, formula: NNF, limit: float) -> Outcome:
    """A question answered by the paper's algorithm in plain Python."""
    started = time.thread_time()
    deadline = started + limit

    def check() -> None:
        if time.thread_time() > deadline:
            raise TimeIsUp

    try:
        with _alarm(limit):
            found = PAPER[question](formula, check=check)
    except (TimeIsUp, MemoryError, TooLarge):
        return Outcome(None, time.thread_time() - started)
    seconds = time.thread_time() - started
    return Outcome(len(found), seconds, seconds, frozenset(found))


def ask_kernel(question: str, graph: Graph, states: npt.NDArray[np.int32], limit: float) -> Outcome:
    """A question answered by the compiled kernel, one instance at a time."""
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
    return Outcome(count, seconds, time.thread_time() - started, frozenset(map(frozenset, members)))


def _family(question: str, graph: Graph, states: npt.NDArray[np.int32], limit: float) -> Family | None:
    necessary = graph.necessary(states, shortest=question == "SNR", timeout=limit)
    if not necessary.complete:
        return None
    if question in ("NR", "SNR"):
        return necessary
    return necessary.dual(shortest=question == "SSR", timeout=limit)


def ask_batch(question: str, graph: Graph, states: npt.NDArray[np.int32], limit: float, *, least: float = 0.0) -> Batch:
    """A question answered by the kernel for many rows in one call, on one core; again until `least` seconds passed."""
    options: dict[str, Any] = BATCH[question]
    times = 0
    started = time.process_time()
    while not times or time.process_time() - started < least:
        found = graph.batch(states, threads=1, limit=MOST_LISTED, timeout_per_row=limit, **options)
        times += 1
    seconds = (time.process_time() - started) / times
    column: Any = {
        "SR": found.get("count_sufficient"),
        "SSR": found.get("sufficient"),
        "NR": found.get("count_necessary"),
        "SNR": found.get("necessary"),
    }[question]
    return Batch(len(states), seconds, int((column["complete"] == 0).sum()))


@dataclass(frozen=True)
class Batch:
    """Many rows in one call: CPU seconds in all, and rows not finished."""

    rows: int
    seconds: float
    unfinished: int


@contextmanager
def _alarm(limit: float) -> Iterator[None]:
    """Raise TimeIsUp in what runs inside after so many CPU seconds, even where it does not look at the clock."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
