"""A bounded memory of answers, so that equal rows are explained once across a run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch.answers import Answers
from quia.batch.lists import Ints
from quia.batch.table import States as Rows

Hashes = npt.NDArray[np.uint64]

ROWS = 2**16
BYTES = 2**26


@dataclass(frozen=True, slots=True)
class _Generation:
    """Rows with their answers; `hashes` are sorted, and `place` says where the row of each is."""

    hashes: Hashes
    place: Ints
    rows: Rows
    answers: Answers

    @staticmethod
    def of(rows: Rows, hashes: Hashes, answers: Answers) -> _Generation:
        """One row a hash: of two rows that share theirs, the second is worked out whenever it comes."""
        own, place = np.unique(hashes, return_index=True)
        return _Generation(own, place, rows, answers)

    def find(self, hashes: Hashes, rows: Rows) -> Ints:
        """Where each row is, or -1."""
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found = np.flatnonzero(self.hashes[at] == hashes)
        place = self.place[at[found]]
        equal = (self.rows[place] == rows[found]).all(axis=1)
        result = np.full(len(rows), -1, np.int64)
        result[found[equal]] = place[equal]
        return result


class _Fresh(NamedTuple):
    """Answers on their way into the young generation."""

    rows: Rows
    hashes: Hashes
    answers: Answers


@dataclass(eq=False)
class Cache:
    """The answers to one question for the rows met lately.

    There are two generations: when the young one is full it becomes the old one, which is forgotten. A row found in
    the old one joins the young one, so what is met again and again stays. Where rows hardly ever come again, looking
    for them is given up but for a trial now and then.
    """

    most_rows: int = ROWS
    most_bytes: int = BYTES
    asked: int = 0
    answered: int = 0
    _young: _Generation | None = None
    _old: _Generation | None = None
    _fresh: list[_Fresh] = field(default_factory=list, repr=False)
    _idle: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def look_up(self, hashes: Hashes, rows: Rows, answer: Callable[[Rows], Answers]) -> tuple[list[Answers], Ints]:
        """Answers for distinct rows, and where in them, joined, each row's is; `answer` works out those not known.

        Rows are told from their hashes and compared.
        """
        with self._lock:
            young, old = self._young, self._old
            self._idle = max(0, self._idle - 1)
            is_idle = self._idle > 0
            self.asked += len(rows)
        if is_idle or not len(rows):
            return [answer(rows)], np.arange(len(rows))
        place = np.full(len(rows), -1, np.int64)
        parts: list[Answers] = []
        fresh: list[_Fresh] = []
        end = 0
        left = np.arange(len(rows))
        for generation in (young, old):
            if generation is None or not len(left):
                continue
            at = generation.find(hashes[left], rows[left])
            hits = left[at >= 0]
            if len(hits):
                parts.append(generation.answers.take(at[at >= 0]))
                place[hits] = np.arange(end, end + len(hits))
                end += len(hits)
                left = left[at < 0]
                if generation is old:
                    fresh.append(_Fresh(rows[hits], hashes[hits], parts[-1]))
        if len(left):
            own = np.ascontiguousarray(rows[left])
            parts.append(answer(own))
            place[left] = np.arange(end, end + len(left))
            fresh.append(_whole(own, hashes[left], parts[-1]))
        with self._lock:
            self.answered += len(rows) - len(left)
            self._add(fresh)
            known = len(rows) - len(left)
            if len(rows) >= _LEAST and self.asked > self.most_rows and known < _WORTH_IT * len(rows):
                self._idle = _TRIAL
        return parts, place

    def _add(self, fresh: list[_Fresh]) -> None:
        self._fresh += [one for one in fresh if len(one.rows)]
        young = self._young
        # Joining copies all there is, so it waits until that is worth it.
        waiting = sum(len(one.rows) for one in self._fresh)
        if not waiting or (young is not None and _SHARE * waiting < len(young.rows) and waiting < self.most_rows):
            return
        parts, self._fresh = self._fresh, []
        size = sum(one.answers.nbytes for one in parts)
        if young is not None and (
            len(young.rows) + waiting > self.most_rows or young.answers.nbytes + size > self.most_bytes
        ):
            self._old, young = young, None
        if young is not None:
            parts = [_Fresh(young.rows, _in_place(young), young.answers), *parts]
        self._young = _Generation.of(
            np.concatenate([one.rows for one in parts]),
            np.concatenate([one.hashes for one in parts]),
            Answers.join([one.answers for one in parts]),
        )


_LEAST = 1000
_WORTH_IT = 0.1
_TRIAL = 10
_SHARE = 4


def _whole(rows: Rows, hashes: Hashes, answers: Answers) -> _Fresh:
    """Those whose answer is whole: what a time limit has cut short may come out whole another time."""
    if answers.complete.all():
        return _Fresh(rows, hashes, answers)
    kept = np.flatnonzero(answers.complete)
    return _Fresh(rows[kept], hashes[kept], answers.take(kept))


def _in_place(generation: _Generation) -> Hashes:
    """The hash of each row, in the rows' own order; one that gave way to another of the same hash is not found."""
    hashes = np.zeros(len(generation.rows), np.uint64)
    hashes[generation.place] = generation.hashes
    return hashes
