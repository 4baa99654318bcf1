"""Answers: what is known of many rows, in flat arrays that are cut, joined and put in order without a loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.boxes import Box
from quia.counterfactual import Change
from quia.ranges import Ranges
from quia.reason import Members

LARGEST_COUNT = 10**38 - 1
"""What a decimal of 38 digits holds, which every engine can read."""

Ints = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """For every row a list of sets of states, in compressed sparse rows.

    Row i has the sets `set_start[i] … set_start[i+1]`; set k speaks of the variables `variables[j]` for j in
    `member_start[k] … member_start[k+1]`, each in one of the states `low[r] … high[r]` for r in `range_start[j] …
    range_start[j+1]`; without `range_start`, in the one state `low[j]`, which `high[j]` is too. A set leads to class
    `labels[k]` if it is a change; where it could lead to class c, as that depends on what is unknown, `labels[k]` is
    -2 - c. A row that is not `known` has no list at all.
    """

    known: Bools
    set_start: Ints
    member_start: Ints
    variables: Ints
    low: Ints
    high: Ints
    labels: Ints
    range_start: Ints | None = None

    @staticmethod
    def of_states(
        known: Bools, set_start: Ints, member_start: Ints, variables: Ints, states: Ints, labels: Ints
    ) -> Lists:
        """Lists of sets in which each variable has one state."""
        return Lists(
            known=known,
            set_start=set_start,
            member_start=member_start,
            variables=variables,
            low=states,
            high=states,
            labels=labels,
        )

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        states = (self.low,) if self.range_start is None else (self.range_start, self.low, self.high)
        return sum(int(each.nbytes) for each in (self.set_start, self.member_start, self.variables, *states))

    def take(self, rows: Ints) -> Lists:
        """The lists of these rows, in this order."""
        sets, set_start = spread(self.set_start, rows)
        return self._of_sets(self.known[rows], set_start, sets)

    def first(self, lengths: Ints) -> Lists:
        """So many of each row's sets, the first."""
        sets, set_start = first_of(self.set_start, lengths)
        return self._of_sets(self.known, set_start, sets)

    def _of_sets(self, known: Bools, set_start: Ints, sets: Ints) -> Lists:
        members, member_start = spread(self.member_start, sets)
        if self.range_start is None:
            low = high = self.low[members]
            range_start = None
        else:
            ranges, range_start = spread(self.range_start, members)
            low, high = self.low[ranges], self.high[ranges]
        return Lists(
            known=known,
            set_start=set_start,
            member_start=member_start,
            variables=self.variables[members],
            low=low,
            high=high,
            labels=self.labels[sets],
            range_start=range_start,
        )

    def regions(self, row: int) -> list[tuple[Members, Box]]:
        """The sets of one row as variables and their states."""
        first, last = self.set_start[row : row + 2].tolist()
        starts = self.member_start[first : last + 1].tolist()
        begin, end = starts[0], starts[-1]
        variables = self.variables[begin:end].tolist()
        if self.range_start is None:
            box: list[Ranges] = [((state, state),) for state in self.low[begin:end].tolist()]
        else:
            ends = self.range_start[begin : end + 1].tolist()
            lows, highs = self.low[ends[0] : ends[-1]].tolist(), self.high[ends[0] : ends[-1]].tolist()
            pairs = tuple(zip(lows, highs, strict=True))
            box = [pairs[a - ends[0] : b - ends[0]] for a, b in pairwise(ends)]
        sets = pairwise(start - begin for start in starts)
        return [(tuple(variables[a:b]), tuple(box[a:b])) for a, b in sets]

    @staticmethod
    def join(parts: Sequence[Lists]) -> Lists:
        """One after the other, all with ranges or all without."""
        low = np.concatenate([part.low for part in parts])
        starts = [part.range_start for part in parts if part.range_start is not None]
        return Lists(
            known=np.concatenate([part.known for part in parts]),
            set_start=_join_starts([part.set_start for part in parts]),
            member_start=_join_starts([part.member_start for part in parts]),
            variables=np.concatenate([part.variables for part in parts]),
            low=low,
            high=np.concatenate([part.high for part in parts]) if starts else low,
            labels=np.concatenate([part.labels for part in parts]),
            range_start=_join_starts(starts) if starts else None,
        )

    def nothing(self) -> Lists:
        """The lists of one row of which nothing is known."""
        none, start = np.zeros(0, np.int32), np.zeros(2, np.int64)
        return Lists(
            known=np.zeros(1, bool),
            set_start=start,
            member_start=start[:1],
            variables=none,
            low=none,
            high=none,
            labels=none,
            range_start=None if self.range_start is None else start[:1],
        )


class Gathered:
    """Lists that are made row by row, set by set; with `ranges`, of sets of states, else of single ones."""

    def __init__(self, *, ranges: bool) -> None:
        self._ranges = ranges
        self._known: list[bool] = []
        self._set_start, self._member_start, self._range_start = [0], [0], [0]
        self._variables: list[int] = []
        self._low: list[int] = []
        self._high: list[int] = []
        self._labels: list[int] = []

    def add(self, variables: Iterable[int], box: Iterable[Ranges], label: int = -1) -> None:
        """One more set of the row in work."""
        self._variables.extend(variables)
        for states in box:
            self._low += [low for low, _ in states]
            self._high += [high for _, high in states]
            self._range_start.append(len(self._low))
        self._member_start.append(len(self._variables))
        self._labels.append(label)

    def add_changes(self, changes: Iterable[Change]) -> None:
        """Changes of the row in work."""
        for change in changes:
            self.add(change.variables, change.box, change.label if change.certain else -2 - change.label)

    def end_row(self, known: bool) -> None:
        """The row in work is done; whether its list could be found."""
        self._known.append(known)
        self._set_start.append(len(self._labels))

    def lists(self) -> Lists:
        """What was gathered."""
        return Lists(
            known=np.array(self._known, bool),
            set_start=np.array(self._set_start, np.int64),
            member_start=np.array(self._member_start, np.int64),
            variables=np.array(self._variables, np.int32),
            low=np.array(self._low, np.int32),
            high=np.array(self._high, np.int32),
            labels=np.array(self._labels, np.int32),
            range_start=np.array(self._range_start, np.int64) if self._ranges else None,
        )


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number for every row: -1 where it is not known; those beyond 64 bits are in `large`, by row."""

    values: npt.NDArray[np.int64]
    large: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def of(numbers: Sequence[int | None]) -> Numbers:
        """These numbers; None is not known."""
        large = {row: number for row, number in enumerate(numbers) if number is not None and number >= 2**63}
        small = [-1 if number is None or row in large else number for row, number in enumerate(numbers)]
        return Numbers(np.array(small, np.int64), large)

    def beyond(self, most: int) -> list[int]:
        """The rows whose number is larger than this."""
        return [row for row, number in self.large.items() if number > most]

    def take(self, rows: Ints) -> Numbers:
        """The numbers of these rows, in this order."""
        if not self.large:
            return Numbers(self.values[rows])
        return Numbers(
            self.values[rows], {to: self.large[at] for to, at in enumerate(rows.tolist()) if at in self.large}
        )

    @staticmethod
    def join(parts: Sequence[Numbers]) -> Numbers:
        """One after the other."""
        large: dict[int, int] = {}
        begin = 0
        for part in parts:
            large.update({begin + row: number for row, number in part.large.items()})
            begin += len(part.values)
        return Numbers(np.concatenate([part.values for part in parts]), large)


@dataclass(frozen=True, slots=True)
class Answers:
    """The class of every row, its lists and numbers by the name of their column, and whether all could be found."""

    decision: Ints
    complete: Bools
    lists: dict[str, Lists]
    numbers: dict[str, Numbers]

    def __len__(self) -> int:
        return len(self.decision)

    @property
    def nbytes(self) -> int:
        """How much memory they take, about."""
        return 16 * len(self) * (1 + len(self.numbers)) + sum(part.nbytes for part in self.lists.values())

    def nothing(self) -> Answers:
        """The answers of one row of which nothing is known."""
        return Answers(
            np.full(1, -1, self.decision.dtype),
            np.zeros(1, bool),
            {name: part.nothing() for name, part in self.lists.items()},
            dict.fromkeys(self.numbers, Numbers(np.full(1, -1, np.int64))),
        )

    def take(self, rows: Ints) -> Answers:
        """The answers of these rows, in this order."""
        return Answers(
            self.decision[rows],
            self.complete[rows],
            {name: part.take(rows) for name, part in self.lists.items()},
            {name: part.take(rows) for name, part in self.numbers.items()},
        )

    @staticmethod
    def join(parts: Sequence[Answers]) -> Answers:
        """One after the other; all are answers to the same question."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        return Answers(
            np.concatenate([part.decision for part in parts]),
            np.concatenate([part.complete for part in parts]),
            {name: Lists.join([part.lists[name] for part in parts]) for name in first.lists},
            {name: Numbers.join([part.numbers[name] for part in parts]) for name in first.numbers},
        )


def spread(start: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Where the items of chosen lists are, one list after the other, and where each then starts.

    >>> items, starts = spread(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> items.tolist(), starts.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    begin = start[chosen]
    length = start[1:][chosen] - begin
    after = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(length, out=after[1:])
    return np.repeat(begin - after[:-1], length) + np.arange(after[-1]), after


def first_of(start: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Where the first so many items of each list are, and where each list then starts.

    >>> items, starts = first_of(np.array([0, 2, 2, 5]), np.array([1, 0, 2]))
    >>> items.tolist(), starts.tolist()
    ([0, 2, 3], [0, 1, 1, 3])
    """
    after = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=after[1:])
    return np.repeat(start[:-1] - after[:-1], lengths) + np.arange(after[-1]), after


def _join_starts(starts: Sequence[Ints]) -> Ints:
    joined = [np.zeros(1, np.int64)]
    end = 0
    for start in starts:
        joined.append(start[1:] + end)
        end += int(start[-1])
    return np.concatenate(joined)
