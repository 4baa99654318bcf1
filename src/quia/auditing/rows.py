"""The rows of an audit: those of a table that have a decision, equal ones once, with how often they are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.asking import Terms
from quia.auditing.document import Undecided
from quia.auditing.table import Table
from quia.batch.missing import encode_decided
from quia.batch.one_by_one import decisions_of
from quia.batch.table import States, arrow, distinct, states_type, to_numpy, whole
from quia.classifier import Classifier
from quia.values import is_missing

Ints = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]

MOST_REASONS_TOLD = 50
"""Of so many reasons why rows have no decision, the most frequent, each is told; the others are told together."""
_FIRST = 5
_MOST_WAITING = 2**18


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in states of the classifier's variables; those that are alike, in further columns too, are one row here.

    `also` has for each further column which of its `values` a row has, -1 for none. `repeats` is how often a row is in
    the table, `first` the number of the first of these, counted from 1 on. `total` counts all rows of the table, those
    that are `undecided` too.
    """

    states: States
    also: Mapping[str, Ints]
    values: Mapping[str, Sequence[Any]]
    decision: npt.NDArray[np.int32]
    repeats: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    total: int
    undecided: tuple[Undecided, ...]

    def __len__(self) -> int:
        return len(self.states)

    @property
    def decided(self) -> int:
        """How many rows of the table have a decision."""
        return int(self.repeats.sum())

    def count(self, chosen: Bools | Ints) -> int:
        """How many rows of the table some of these stand for, which a mask or their places name."""
        return int(self.repeats[chosen].sum())

    def in_fixed_order(self) -> Ints:
        """All rows in an order that has nothing to do with that of the table, the same in every run.

        Where time ends before all rows were looked at, those that were are drawn evenly.
        """
        return np.random.default_rng(18).permutation(len(self))


def read_rows(table: Table, terms: Terms, also: Sequence[str]) -> Rows:
    """The rows of a table, with the values of the columns called `also`."""
    gathering = _Gathering(terms.classifier, tuple(also))
    for start, batch in table.batches():
        encoded = encode_decided(terms.classifier, batch, terms.worlds)
        gathering.add(start, batch, encoded.states, encoded.faults)
    return gathering.rows()


class _Gathering:
    """Rows as they come, joined now and then, so that no more of them are kept than there are different ones."""

    def __init__(self, classifier: Classifier, also: tuple[str, ...]) -> None:
        self.classifier, self.also = classifier, also
        self.values: dict[str, dict[Any, int]] = {name: {} for name in also}
        self.total = 0
        self.waiting: list[tuple[Ints, Ints, Ints]] = []
        self.faults: Counter[str] = Counter()
        self.first_faulty: dict[str, list[int]] = {}

    def add(self, start: int, batch: Any, states: States, faults: Any) -> None:
        """One batch more."""
        self.total += len(states)
        sound = faults.sound
        for code, count in zip(*np.unique(faults.code[~sound], return_counts=True), strict=True):
            message = faults.messages[code]
            self.faults[message] += int(count)
            first = self.first_faulty.setdefault(message, [])
            first += (np.flatnonzero(faults.code == code)[: _FIRST - len(first)] + start).tolist()
        rows = np.flatnonzero(sound)
        every = np.column_stack([states, *(self._codes(name, batch.column(name)) for name in self.also)])[rows]
        kept, which, _ = distinct(np.ascontiguousarray(every))
        self.waiting.append((every[kept], np.bincount(which, minlength=len(kept)), rows[kept] + start))
        if sum(len(part[0]) for part in self.waiting[1:]) > max(_MOST_WAITING, len(self.waiting[0][0])):
            self._join()

    def _codes(self, name: str, column: Any) -> Ints:
        """Which of a column's values each row has; new ones are numbered as they come."""
        pa = arrow()
        column = whole(column)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        known = self.values[name]
        codes = np.array([_code(known, value) for value in column.dictionary.to_pylist()] + [-1], np.int64)
        return np.asarray(codes[to_numpy(column.indices, len(codes) - 1)])

    def _join(self) -> None:
        if len(self.waiting) > 1:
            every, repeats, first = (np.concatenate(parts) for parts in zip(*self.waiting, strict=True))
            kept, which, _ = distinct(every)  # in order of appearance, so that the first of each is the first
            counts = np.zeros(len(kept), np.int64)
            np.add.at(counts, which, repeats)
            self.waiting = [(every[kept], counts, first[kept])]

    def rows(self) -> Rows:
        """All of them."""
        self._join()
        width = len(self.classifier.variables)
        kind = states_type(self.classifier.variables)
        if self.waiting:
            every, repeats, first = self.waiting[0]
        else:
            every, repeats, first = np.zeros((0, width + len(self.also)), np.int64), np.zeros(0), np.zeros(0)
        states = np.ascontiguousarray(every[:, :width].astype(kind))
        return Rows(
            states,
            {name: every[:, width + at] for at, name in enumerate(self.also)},
            {name: list(values) for name, values in self.values.items()},
            decisions_of(self.classifier, states),
            repeats.astype(np.int64),
            first.astype(np.int64),
            self.total,
            tuple(self._undecided()),
        )

    def _undecided(self) -> Iterator[Undecided]:
        ranked = sorted(self.faults.items(), key=lambda item: (-item[1], item[0]))
        for message, count in ranked[:MOST_REASONS_TOLD]:
            yield Undecided(message, count, tuple(self.first_faulty[message]))
        rest = ranked[MOST_REASONS_TOLD:]
        if rest:
            first = sorted(number for message, _ in rest for number in self.first_faulty[message])[:_FIRST]
            yield Undecided(f"{len(rest):,} other reasons", sum(count for _, count in rest), tuple(first))


def _code(known: dict[Any, int], value: Any) -> int:
    """The number of a value, -1 for a missing one; texts that differ in spaces around them are one."""
    if isinstance(value, str):
        value = value.strip()
    if is_missing(value):
        return -1
    return known.setdefault(value, len(known))
