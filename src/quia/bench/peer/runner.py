"""Runs one peer in its own environment: a job in, a line of JSON for every answer out.

This file and the peers beside it know nothing of quia and import nothing of it. A job names the tree (arrays of
nodes: variable or -1, threshold, the nodes for `<=` and `>`, class), the instances, some background rows and a limit
in seconds. A peer is a module with `prepare(job)`, which returns {question: function from instance to answer}; an
answer is {"count": reasons found, "reasons": lists of feature indices, "whole": whether these are all}.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

MOST_KEPT = 50


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
        questions = peer.prepare(job)
        signal.signal(signal.SIGALRM, ring)
        for question, ask in questions.items():
            for row, instance in enumerate(job["rows"]):
                record = {"row": row, "question": question, **_timed(ask, instance, job["limit"])}
                out.write(json.dumps(record) + "\n")
                out.flush()


def _timed(ask: Any, instance: list[float], limit: float) -> dict[str, Any]:
    wall, started = time.perf_counter(), time.process_time()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        answer = ask(instance)
    except TimeIsUp:
        answer = {"count": None, "reasons": [], "whole": False}
    except Exception as fault:
        answer = {"count": None, "reasons": [], "whole": False, "fault": f"{type(fault).__name__}: {fault}"[:200]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # A peer may work in processes of its own, which this one's CPU time does not have.
    seconds = max(time.process_time() - started, 0.0)
    answer["reasons"] = [sorted(set(reason)) for reason in answer["reasons"][:MOST_KEPT]]
    return {**answer, "seconds": seconds, "wall": time.perf_counter() - wall}


def decide(tree: dict[str, list[Any]], instance: list[float]) -> int:
    """The class of an instance: the walk that every peer's wrapper needs."""
    node = 0
    while tree["variable"][node] >= 0:
        below = instance[tree["variable"][node]] <= tree["threshold"][node]
        node = tree["left" if below else "right"][node]
    return int(tree["label"][node])


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(*sys.argv[1:4])
