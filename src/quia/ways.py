"""Ways from the states of common variables, which two models share, to those that a model has itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.pickling import ByFields
from quia.places import last_until, place
from quia.ranges import Ranges, members, union
from quia.refine import first_states
from quia.variables import Variable

Rows = npt.NDArray[Any]


class Way(Protocol):
    """How each state of a common variable lies in one of a model's own; some of these may have none."""

    @property
    def is_onto(self) -> bool:
        """Whether each of the model's own states surely has a common one."""
        ...

    def own(self, state: int) -> int:
        """The own state that a common one lies in."""
        ...

    def own_rows(self, states: Rows) -> Rows:
        """The own states that many common ones lie in."""
        ...

    def own_ranges(self, ranges: Ranges) -> Ranges:
        """The own states that some common ones lie in."""
        ...

    def common_ranges(self, ranges: Ranges) -> Ranges:
        """The common states that lie in some own ones; there may be none."""
        ...

    def refined(self, variable: Variable, finer: Variable) -> Way:
        """The same from the states of the common variable with more cuts."""
        ...


@dataclass(frozen=True, slots=True)
class Same:
    """The states are the same; the model's own variable may have one more at its end."""

    size: int
    own_size: int

    @property
    def is_onto(self) -> bool:
        """Whether there is none more."""
        return self.size == self.own_size

    def own(self, state: int) -> int:
        """The state itself."""
        return state

    def own_rows(self, states: Rows) -> Rows:
        """The states themselves."""
        return states

    def own_ranges(self, ranges: Ranges) -> Ranges:
        """The ranges themselves."""
        return ranges

    def common_ranges(self, ranges: Ranges) -> Ranges:
        """The ranges, without a state that is not common."""
        return tuple((low, min(high, self.size - 1)) for low, high in ranges if low < self.size)

    def refined(self, variable: Variable, finer: Variable) -> Way:
        """The way from the new states."""
        if variable.size == finer.size:
            return self
        listed = ListedWay(np.arange(self.size), self.own_size)
        return listed.refined(variable, finer)


@dataclass(frozen=True, eq=False)
class ListedWay(ByFields):
    """For each common state the own one, of which there are `own_size`."""

    of: npt.NDArray[np.int64]
    own_size: int

    @cached_property
    def _fibres(self) -> list[Ranges]:
        """For each own state the common ones."""
        order = np.argsort(self.of, kind="stable")
        ends = np.searchsorted(self.of[order], np.arange(self.own_size + 1)).tolist()
        states = order.tolist()
        return [union((s, s) for s in states[a:b]) for a, b in pairwise(ends)]

    @cached_property
    def _has_no_gap(self) -> bool:
        return bool(np.isin(np.diff(self.of), (0, 1)).all())

    @cached_property
    def _of(self) -> list[int]:
        return [int(state) for state in self.of]

    @cached_property
    def is_onto(self) -> bool:
        """Whether each of the model's own states has a common one."""
        return all(self._fibres)

    def own(self, state: int) -> int:
        """The own state that a common one lies in."""
        return self._of[state]

    def own_rows(self, states: Rows) -> Rows:
        """The own states that many common ones lie in."""
        return self.of[states]

    def own_ranges(self, ranges: Ranges) -> Ranges:
        """The own states that some common ones lie in."""
        if self._has_no_gap:  # as numbers have none, of which there may be many
            return union((self._of[low], self._of[high]) for low, high in ranges)
        return union((self._of[s], self._of[s]) for s in members(ranges))

    def common_ranges(self, ranges: Ranges) -> Ranges:
        """The common states that lie in some own ones; there may be none."""
        return union(pair for own in members(ranges) for pair in self._fibres[own])

    def refined(self, variable: Variable, finer: Variable) -> Way:
        """The same from the states of the common variable with more cuts."""
        if variable.size == finer.size:
            return self
        return ListedWay(np.repeat(self.of, np.diff(first_states(variable, finer))), self.own_size)


@dataclass(frozen=True, slots=True)
class OnLine:
    """From all numbers of a line, each a state, to the intervals of a model that cuts them.

    `starts[s]` is the first number in the own state s, and the last one of them how many numbers there are. If the line
    has a state for missing values, `missing` is that of the model.
    """

    starts: tuple[int, ...]
    missing: int | None

    @staticmethod
    def of(line: Variable, below: Sequence[float], missing: int | None) -> OnLine:
        """The way from a line to the states that end with some numbers, but the last."""
        low, numbers = place(line.number(0)), len(line.cuts) + 1
        ends = (min(max(_place(number) - low + 1, 0), numbers) for number in below)
        return OnLine((0, *ends, numbers), missing)

    @property
    def is_onto(self) -> bool:
        """Not surely: a line has a range, and states may lie outside of it."""
        return False

    def own(self, state: int) -> int:
        """The own state that a number is in."""
        if state >= self.starts[-1]:
            assert self.missing is not None
            return self.missing
        return bisect_right(self.starts, state) - 1

    def own_rows(self, states: Rows) -> Rows:
        """The own states that many numbers are in."""
        found = np.searchsorted(np.array(self.starts[:-1]), states, side="right") - 1
        return found if self.missing is None else np.where(states >= self.starts[-1], self.missing, found)

    def own_ranges(self, ranges: Ranges) -> Ranges:
        """The own states that some numbers are in."""
        found = []
        for low, high in ranges:
            if high >= self.starts[-1]:
                found.append((self.own(high), self.own(high)))
            if low < self.starts[-1]:
                states = range(self.own(low), self.own(min(high, self.starts[-1] - 1)) + 1)
                found += [(s, s) for s in states if self.starts[s] < self.starts[s + 1]]
        return union(found)

    def common_ranges(self, ranges: Ranges) -> Ranges:
        """The numbers in some own states; there may be none."""
        found = []
        for low, high in ranges:
            if self.missing is not None and low <= self.missing <= high:
                found.append((self.starts[-1], self.starts[-1]))
            last = min(high, len(self.starts) - 2)
            if low <= last and self.starts[low] < self.starts[last + 1]:
                found.append((self.starts[low], self.starts[last + 1] - 1))
        return union(found)

    def refined(self, variable: Variable, finer: Variable) -> Way:
        """The same: a line has no more cuts."""
        assert variable.size == finer.size
        return self


def _place(number: float) -> int:
    """The place of the last number on a line that is not above a number, which may be infinite."""
    return place(last_until(max(min(number, 2.0**600), -(2.0**600))))
