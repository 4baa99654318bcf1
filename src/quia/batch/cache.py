"""A bounded memory of answers, so that equal rows are explained once across a run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quia.batch.answers import Answers, Ints

Rows = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]

ROWS = 2**16
BYTES = 2**26


@dataclass(frozen=True, slots=True)
class _Generation:
    """Rows by ascending hash, with their answers."""

    hashes: Hashes
    rows: Rows
    answers: Answers

    def find(self, hashes: Hashes, rows: Rows) -> Ints:
        """Where each row is, or -1."""
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found = np.flatnonzero(self.hashes[at] == hashes)
        equal = (self.rows[at[found]] == rows[found]).all(axis=1)
        result = np.full(len(rows), -1, np.int64)
        result[found[equal]] = at[found[equal]]
        return result


@dataclass(eq=False)
class Cache:
    """The answers to one question for the rows met lately.

    There are two generations: when the young one is full it becomes the old one, which is forgotten. A row found in
    the old one joins the young one, so what is met again and again stays.
    """

    most_rows: int = ROWS
    most_bytes: int = BYTES
    asked: int = 0
    answered: int = 0
    _young: _Generation | None = None
    _old: _Generation | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def look_up(self, hashes: Hashes, rows: Rows, answer: Callable[[Rows], Answers]) -> Answers:
        """The answers for distinct rows, told from their hashes and compared; `answer` works out those not known."""
        if not len(rows):
            return answer(rows)
        with self._lock:
            young, old = self._young, self._old
        place = np.full(len(rows), -1, np.int64)
        parts: list[Answers] = []
        known = np.zeros(len(rows), bool)
        end = 0
        for generation in (young, old):
            if generation is None:
                continue
            left = np.flatnonzero(~known)
            at = generation.find(hashes[left], rows[left])
            hits = left[at >= 0]
            if not len(hits):
                continue
            parts.append(generation.answers.take(at[at >= 0]))
            place[hits] = np.arange(end, end + len(hits))
            known[hits] = True
            end += len(hits)
        missing = np.flatnonzero(~known)
        if len(missing):
            parts.append(answer(np.ascontiguousarray(rows[missing])))
            place[missing] = np.arange(end, end + len(missing))
        joined = Answers.join(parts)
        answers = joined if np.array_equal(place, np.arange(len(place))) else joined.take(place)
        in_young = np.zeros(len(rows), bool) if young is None else young.find(hashes, rows) >= 0
        # What a time limit has cut short may come out whole another time.
        fresh = np.flatnonzero(~in_young & answers.complete)
        with self._lock:
            self.asked += len(rows)
            self.answered += len(rows) - len(missing)
            if len(fresh):
                self._add(hashes[fresh], rows[fresh], answers.take(fresh))
        return answers

    def _add(self, hashes: Hashes, rows: Rows, answers: Answers) -> None:
        young = self._young
        if young is not None and (
            len(young.hashes) + len(hashes) > self.most_rows or young.answers.nbytes + answers.nbytes > self.most_bytes
        ):
            self._old, young = young, None
        if young is not None:
            hashes = np.concatenate([young.hashes, hashes])
            rows = np.concatenate([young.rows, rows])
            answers = Answers.join([young.answers, answers])
        # One row a hash: of two rows that share theirs, the second is worked out whenever it comes.
        order = np.unique(hashes, return_index=True)[1]
        self._young = _Generation(hashes[order], rows[order], answers.take(order))
