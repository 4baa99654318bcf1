"""Literals: a feature and some of its states, and the one place that puts states into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quia.cuts import Interval
from quia.errors import GraphError, InstanceError
from quia.ranges import Ranges, covers, difference, members, size
from quia.variables import MISSING, Variable


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A variable and a set of its states that is not empty, as sorted ranges: what is said of one feature.

    >>> gpa = Variable.nominal("GPA", ["low", "medium", "high"])
    >>> str(Literal(gpa, ((0, 1),))), str(Literal(gpa, ((0, 0),))), Literal(gpa, ((0, 1),)).text
    ('GPA ≠ high', 'GPA=low', '≠ high')
    >>> width = Variable.numeric("W", [0.6, 1.5])
    >>> [str(Literal(width, ranges)) for ranges in (((0, 1),), ((1, 1),), ((0, 0), (2, 2)))]
    ['W <= 1.5', 'W in (0.6, 1.5]', 'W <= 0.6 or > 1.5']
    >>> Literal(width, ((1, 1),)).sentence, Literal(width, ((1, 2),)).denial
    ('W is more than 0.6 and at most 1.5', 'W <= 0.6')
    """

    variable: Variable
    ranges: Ranges

    def __post_init__(self) -> None:
        if not self.ranges or self.ranges[0][0] < 0 or self.ranges[-1][1] >= self.variable.size:
            raise GraphError(
                f"a literal of {self.variable.name!r} has the states {self.ranges}; give one or more of its"
                f" {self.variable.size}, by number from 0 on"
            )

    @property
    def feature(self) -> str:
        """The feature's name."""
        return self.variable.name

    @property
    def states(self) -> tuple[int, ...]:
        """The indices of the states."""
        return tuple(members(self.ranges))

    @property
    def is_interval(self) -> bool:
        """Whether this is one interval of numbers."""
        return self.variable.is_numeric and len(self.ranges) == 1 and not self._missing

    @property
    def negated(self) -> Literal | None:
        """The literal of the other states; None if there are none."""
        rest = difference(((0, self.variable.size - 1),), self.ranges)
        return Literal(self.variable, rest) if rest else None

    def covers(self, state: int) -> bool:
        """Whether a state is one of these."""
        return covers(self.ranges, state)

    def holds(self, value: Any) -> bool:
        """Whether a value is in one of the states; a value that is none of the feature's is in none."""
        try:
            return self.covers(self.variable.encode(value))
        except InstanceError:
            return False

    @property
    def text(self) -> str:
        """The states without the feature's name, as in the JSON format where they are one: `< 1450`, `≠ high`."""
        if self._is_single:
            return self.variable.text(self.ranges[0][0])
        if self.variable.is_numeric:
            return " or ".join([*(interval.text for interval in self._intervals), *self._missing])
        return self._names("in {", "}")

    @property
    def signs(self) -> str:
        """The states with the signs that people read: `≤ 3`, `> 0.6 and ≤ 1.5`, `medium`."""
        if self.variable.is_numeric:
            return " or ".join([*(interval.signs for interval in self._intervals), *self._missing])
        return self.text

    @property
    def words(self) -> str:
        """The states as they are read aloud after 'is': `at most 3`, `medium`, `low or medium`."""
        if self.variable.is_numeric:
            return " or ".join([*(interval.words for interval in self._intervals), *self._missing])
        return self.variable.text(self.ranges[0][0]) if self._is_single else self._names("", "", "not ", " or ")

    @property
    def sentence(self) -> str:
        """What it says, to be read aloud: `W is at most 3`, `GPA is low or medium`."""
        return f"{self.feature} is {self.words}"

    @property
    def denial(self) -> str:
        """What it is for this not to hold, with the feature's name: `GPA ≠ low`, `W > 1.5`, `W not in (0.6, 1.5]`."""
        if self._is_single and not self.variable.is_numeric:
            return f"{self.feature} ≠ {self.text}"
        intervals, missing = self._intervals, self._missing
        rest = self.negated
        if rest is not None and (not self.variable.is_numeric or len(intervals) + len(missing) > 1):
            return str(rest)
        if not self.variable.is_numeric:
            return f"{self.feature} not {self.text}"
        if missing and not intervals:
            return f"{self.feature} not missing"
        if len(intervals) == 1 and not self.variable.missing and None in intervals[0] and intervals[0] != (None, None):
            upper, lower = intervals[0]  # the ends change places
            return f"{self.feature} {Interval(lower, upper).text}"
        return f"{self.feature} not {' or '.join([*map(_within, intervals), *missing])}"

    def __str__(self) -> str:
        if not self.variable.is_numeric:
            return f"{self.feature}={self.text}" if self._is_single else f"{self.feature} {self.text}"
        intervals, missing = self._intervals, self._missing
        if not intervals:
            return f"{self.feature} is missing"
        return f"{self.feature} {' or '.join([*map(_within, intervals), *missing])}"

    @property
    def _is_single(self) -> bool:
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]

    @property
    def _missing(self) -> Sequence[str]:
        """That a missing value is among the states, in words."""
        is_among = self.variable.missing and covers(self.ranges, len(self.variable.cuts) + 1)
        return (MISSING,) if is_among else ()

    @property
    def _intervals(self) -> Sequence[Interval]:
        """The intervals of a numeric variable's states that are numbers."""
        last = len(self.variable.cuts)
        return [self.variable.interval(low, min(high, last)) for low, high in self.ranges if low <= last]

    def _names(self, opening: str, closing: str, but: str = "≠ ", comma: str = ", ") -> str:
        """The names of several states of a nominal variable, or of the one that is missing."""
        total = self.variable.size
        if size(self.ranges) == total - 1:
            (rest,) = members(difference(((0, total - 1),), self.ranges))
            return f"{but}{self.variable.text(rest)}"
        return f"{opening}{comma.join(map(self.variable.text, members(self.ranges)))}{closing}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return self.ranges == other.ranges and self.variable == other.variable

    def __hash__(self) -> int:
        return hash((self.variable.name, self.ranges))


class State(Literal):
    """A literal with one state.

    >>> state = State(Variable.nominal("GPA", ["low", "medium"]), 1)
    >>> str(state), state.feature, state.text, state.index
    ('GPA=medium', 'GPA', 'medium', 1)
    """

    __slots__ = ()

    def __init__(self, variable: Variable, index: int) -> None:
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "ranges", ((index, index),))

    @property
    def index(self) -> int:
        """The state's number."""
        return self.ranges[0][0]

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.variable, self.index)


def _within(interval: Interval) -> str:
    """An interval behind a feature's name."""
    text = interval.text
    return text if (interval.lower is None) != (interval.upper is None) else f"in {text}"
