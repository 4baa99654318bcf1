"""Runs one peer in its own environment: a job in, a line of JSON for every answer out.

This file and the peers beside it know nothing of quia and import nothing of it. A job names the tree (arrays of
nodes: variable or -1, threshold, the nodes for `<=` and `>`, class), the instances, some background rows and a limit
in seconds. A peer is a module with `prepare(job)`, which returns {question: Steps}. Only what the tool itself does is
timed, and only after it was asked once before, so that what it loads on first use is not in the time.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

MOST_KEPT = 50
Answer = dict[str, Any]
"""{"count": reasons found, "reasons": lists of feature indices, "whole": whether these are all}"""


def unchanged(given: Any) -> Any:
    """What is given."""
    return given


class Steps(NamedTuple):
    """How a question is asked: the tool's work, which is timed, between what is ours, which is not.

    `ready` makes the tool's input of an instance, `ask` its output of that, and `told` our answer of that.
    """

    ask: Callable[[Any], Any]
    ready: Callable[[list[float]], Any] = unchanged
    told: Callable[[Any], Answer] = unchanged


class TimeIsUp(Exception):
    """The limit of one answer was reached."""


def ring(number: int, frame: FrameType | None) -> None:
    """Stop the work in hand."""
    raise TimeIsUp


def main(name: str, job_file: str, out_file: str) -> None:
    """Ask one peer every question about every instance."""
    with open(job_file, encoding="utf-8") as stream:
        job: dict[str, Any] = json.load(stream)
    # What peers print goes to stderr, as their answers are what counts here.
    with open(out_file, "a", encoding="utf-8") as out, contextlib.redirect_stdout(sys.stderr):
        peer = importlib.import_module(f"{name}_peer")
        questions: dict[str, Steps] = peer.prepare(job)
        signal.signal(signal.SIGALRM, ring)
        for question, steps in questions.items():
            _timed(steps, job["rows"][0], job["limit"])
            for row, instance in enumerate(job["rows"]):
                record = {"row": row, "question": question, **_timed(steps, instance, job["limit"])}
                out.write(json.dumps(record) + "\n")
                out.flush()


def _timed(steps: Steps, instance: list[float], limit: float) -> Answer:
    answer: Answer = {"count": None, "reasons": [], "whole": False}
    raw: Any = None
    given = steps.ready(instance)
    wall, own, of_children = time.perf_counter(), time.process_time(), _of_children()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        raw = steps.ask(given)
    except TimeIsUp:
        pass
    except Exception as fault:
        answer["fault"] = f"{type(fault).__name__}: {fault}"[:200]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # Each clock by itself: the children's may stand at thousands of seconds, whose sum with ours would be rounded.
    seconds = max(time.process_time() - own, 0.0) + _of_children() - of_children
    wall = time.perf_counter() - wall
    if raw is not None:
        answer = steps.told(raw)
    answer["reasons"] = [sorted(set(reason)) for reason in answer["reasons"][:MOST_KEPT]]
    return {**answer, "seconds": seconds, "wall": wall}


def _of_children() -> float:
    """The CPU seconds of the processes that a peer started and that ended: solvers do its work there."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def decide(tree: dict[str, list[Any]], instance: list[float]) -> int:
    """The class of an instance."""
    node = 0
    while tree["variable"][node] >= 0:
        below = instance[tree["variable"][node]] <= tree["threshold"][node]
        node = tree["left" if below else "right"][node]
    return int(tree["label"][node])


def decider(tree: dict[str, list[Any]]) -> Callable[[Any], Any]:
    """The classes of many rows at once, for tools that ask for those of thousands: as quick as a model's own."""
    import numpy as np

    variable, threshold, left, right, label = (
        np.array(tree[name]) for name in ("variable", "threshold", "left", "right", "label")
    )

    def decide_all(rows: Any) -> Any:
        values = np.asarray(rows, float)
        node = np.zeros(len(values), int)
        while len(inner := np.flatnonzero(variable[node] >= 0)):
            at = node[inner]
            below = values[inner, variable[at]] <= threshold[at]
            node[inner] = np.where(below, left[at], right[at])
        return label[node]

    return decide_all


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(*sys.argv[1:4])
