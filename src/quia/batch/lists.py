"""Lists of sets of states for many rows, in flat arrays that are cut, joined and put in order without a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.boxes import Box
from quia.counterfactual import Change
from quia.ranges import Ranges
from quia.reason import Members

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

    def last(self, chosen: Bools) -> Lists:
        """With some sets after the others of their row; their order is else as it was."""
        return self._of_sets(self.known, self.set_start, put_last(self.set_start, chosen))

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

    def each_row(self) -> Iterator[list[tuple[Members, Box]]]:
        """For every row its sets of single states, as variables and their states."""
        starts, variables, states = self.member_start.tolist(), self.variables.tolist(), self.low.tolist()
        for first, last in pairwise(self.set_start.tolist()):
            sets = pairwise(starts[first : last + 1])
            yield [(tuple(variables[a:b]), tuple(((s, s),) for s in states[a:b])) for a, b in sets]

    @staticmethod
    def join(parts: Sequence[Lists]) -> Lists:
        """One after the other, all with ranges or all without."""
        low = np.concatenate([part.low for part in parts])
        starts = [part.range_start for part in parts if part.range_start is not None]
        return Lists(
            known=np.concatenate([part.known for part in parts]),
            set_start=join_starts([part.set_start for part in parts]),
            member_start=join_starts([part.member_start for part in parts]),
            variables=np.concatenate([part.variables for part in parts]),
            low=low,
            high=np.concatenate([part.high for part in parts]) if starts else low,
            labels=np.concatenate([part.labels for part in parts]),
            range_start=join_starts(starts) if starts else None,
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
        kept = np.int32 if max(self._high, default=0) < 2**31 else np.int64  # which the states of lines need
        return Lists(
            known=np.array(self._known, bool),
            set_start=np.array(self._set_start, np.int64),
            member_start=np.array(self._member_start, np.int64),
            variables=np.array(self._variables, np.int32),
            low=np.array(self._low, kept),
            high=np.array(self._high, kept),
            labels=np.array(self._labels, np.int32),
            range_start=np.array(self._range_start, np.int64) if self._ranges else None,
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


def put_last(start: Ints, chosen: Bools) -> Ints:
    """Where the items of lists are if in each the chosen ones come after the others.

    >>> put_last(np.array([0, 3, 4]), np.array([True, False, False, True])).tolist()
    [1, 2, 0, 3]
    """
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return np.lexsort((chosen, row))


def join_starts(starts: Sequence[Ints]) -> Ints:
    """Where lists start that are put one after the other."""
    joined = [np.zeros(1, np.int64)]
    end = 0
    for start in starts:
        joined.append(start[1:] + end)
        end += int(start[-1])
    return np.concatenate(joined)
