"""One piece of the table's work, done in a process of its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import connection, parent_process
from typing import Any

import numpy as np

from benchmarks.algorithms import (
    QUESTIONS,
    ask_batch,
    ask_kernel,
    ask_paper,
    complete_reason_seconds,
    reason_formula,
)
from benchmarks.models import Benchmark, Loaded, read
from quia.variables import UNKNOWN


@dataclass(frozen=True)
class Task:
    """Something to measure: `about` a benchmark, one `instance` of it, or all its rows in a `batch`."""

    benchmark: Benchmark
    what: str
    row: int = -1
    rows: tuple[int, ...] = ()
    limit: float = 60.0
    paper_limit: float = 0.0
    """0: the paper's algorithms are not asked."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What its record will be about."""
        return self.benchmark.name, self.what, self.row


def prepare(memory: int) -> None:
    """Make this process end with its parent, and cap its memory so that the paper's products cannot take it all."""
    atexit.register(loaded.cache_clear)  # the kernel's graphs must go before the kernel does
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


@lru_cache(maxsize=2)
def loaded(benchmark: Benchmark) -> Loaded:
    """A benchmark, read once by each process."""
    return read(benchmark)


def do(task: Task) -> dict[str, Any]:
    """The record that a task makes."""
    record: dict[str, Any] = {"benchmark": task.benchmark.name, "what": task.what}
    if task.what == "about":
        return record | loaded(task.benchmark).describe()
    if task.what == "batch":
        return record | _batch(task)
    return record | {"row": task.row} | _instance(task)


def _batch(task: Task) -> dict[str, Any]:
    benchmark = loaded(task.benchmark)
    states = np.ascontiguousarray(benchmark.states[list(task.rows)])
    measured = {q: ask_batch(q, benchmark.classifier.kernel, states, task.limit) for q in QUESTIONS}
    return {"rows": len(states)} | {
        q: {"seconds": b.seconds / max(b.rows, 1), "unfinished": b.unfinished} for q, b in measured.items()
    }


def _instance(task: Task) -> dict[str, Any]:
    """Both engines on one instance, and whether they agree."""
    benchmark = loaded(task.benchmark)
    states = benchmark.states[task.row]
    kernel = {q: ask_kernel(q, benchmark.classifier.kernel, states, task.limit) for q in QUESTIONS}
    unknown = sum(states[v] == UNKNOWN for v in benchmark.classifier.tested)
    record: dict[str, Any] = {"kernel": {q: [o.count, o.seconds, o.listed] for q, o in kernel.items()}}
    record["unknown"] = int(unknown)
    if not task.paper_limit:
        return record
    formula = reason_formula(benchmark.classifier, states)
    record["complete_reason"] = complete_reason_seconds(benchmark.classifier, states)
    paper = {q: ask_paper(q, formula, task.paper_limit) for q in QUESTIONS}
    record["paper"] = {q: [o.count, o.seconds] for q, o in paper.items()}
    record["differ"] = [
        q
        for q in QUESTIONS
        if paper[q].finished
        and kernel[q].finished
        and (paper[q].count, paper[q].reasons) != (kernel[q].count, kernel[q].reasons or paper[q].reasons)
    ]
    return record
