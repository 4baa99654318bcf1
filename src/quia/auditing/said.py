"""Conditions of audits read from plain data: which states of a variable they touch, and which values meet them.

A condition is as `Literal.condition` has it: names, or intervals of numbers and whether a missing value is among them.
It is read apart from what wrote it, and taken exactly, also where it ends between two cuts of the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quia import conditions
from quia.cuts import Cut
from quia.errors import FormatError, InstanceError, QuiaError, listed, shown
from quia.literal import Literal, all_of, together
from quia.places import Cuts
from quia.ranges import Ranges, union
from quia.region import Region
from quia.values import is_missing
from quia.variables import Variable

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of one feature: one of some `names`, or a number in one of some `intervals`, or perhaps `missing`.

    The ends of an interval are the least and the greatest number in it, of 32 bits if it is `single`: then a value is
    rounded to that before it is compared; `cuts` are its ends as they are written.
    """

    feature: str
    text: str
    names: tuple[str, ...] | None = None
    intervals: tuple[tuple[float, float], ...] = ()
    missing: bool = False
    single: bool = False
    cuts: tuple[Cut, ...] = ()

    @staticmethod
    def parse(condition: Mapping[str, Any]) -> Said:
        """What plain data say; FormatError if they are no condition."""
        feature, text = condition.get("feature"), condition.get("text")
        if not isinstance(feature, str) or not isinstance(text, str):
            raise FormatError(f"the condition {shown(condition)} has no feature or no text, which must be strings")
        if "in" in condition:
            names = condition["in"]
            _only(condition, ("feature", "in", "text"))
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise FormatError(f"the condition on {shown(feature)} is in {shown(names)}; it must be a list of names")
            return Said(feature, text, tuple(names))
        _only(condition, ("feature", "type", "intervals", "missing", "text"))
        intervals, kind = condition.get("intervals"), condition.get("type")
        missing = condition.get("missing")
        if not isinstance(intervals, list) or not isinstance(missing, bool) or kind not in (None, "float32"):
            raise FormatError(f"the condition on {shown(feature)} has neither names nor intervals: {shown(condition)}")
        single = kind is not None
        ends = tuple(_ends(feature, each, single) for each in intervals)
        sides = (("low", "low_closed", False), ("high", "high_closed", True))
        cuts = tuple(
            Cut(float(each[end]), after=each[closed] is upper)
            for each in intervals
            for end, closed, upper in sides
            if each[end] is not None
        )
        return Said(feature, text, None, ends, missing, single, cuts)

    def states(self, variable: Variable) -> Ranges:
        """The states of a variable that some value is in for which it holds."""
        if (self.names is None) != variable.is_numeric:
            raise FormatError(f"what is said of {shown(self.feature)} is of another type than the feature")
        if self.names is not None:
            return conditions.states_named(variable, self.names)
        last = len(variable.cuts)
        found = [pair for low, high in self.intervals if (pair := _touched(variable, *self._doubles(low, high)))]
        if self.missing and variable.missing:
            found.append((last + 1, last + 1))
        return union(found)

    def _doubles(self, low: float, high: float) -> tuple[float, float]:
        """The least and the greatest 64-bit number that meet an interval of 32-bit ones, once they are rounded."""
        return (_rounding_to(low, -math.inf), _rounding_to(high, math.inf)) if self.single else (low, high)

    def holds_of(self, numbers: npt.NDArray[np.float64]) -> Bools:
        """Which numbers meet it; NaN is one that is missing."""
        with np.errstate(over="ignore"):
            compared = numbers.astype(np.float32).astype(np.float64) if self.single else numbers
        holds = np.zeros(len(compared), bool)
        for low, high in self.intervals:
            holds |= (low <= compared) & (compared <= high)
        return holds | np.isnan(numbers) if self.missing else holds

    def holds(self, variable: Variable | None, value: Any) -> bool:
        """Whether a value meets it: of a variable, or of a column that the model does not have."""
        if self.names is not None:
            if variable is None:
                return not is_missing(value) and str(value).strip() in self.names
            try:
                return variable.text(variable.encode(value)) in self.names
            except InstanceError:
                return False
        try:
            number = (variable or Variable.numeric(self.feature)).as_number(value)
        except InstanceError:
            return False
        if math.isnan(number) and variable is not None and not variable.missing:
            return False
        return bool(self.holds_of(np.array([number]))[0])

    def literal(self, variable: Variable, beside: Any = None) -> Literal:
        """The same as a literal, of the variable or of one with more cuts, which puts it into words."""
        if self.names is not None:
            return Literal(variable, self.states(variable))
        finer = variable
        if not variable.is_line:
            # A condition on numbers of another type than the model's is put into words by itself.
            own = variable.cuts if variable.single == self.single else ()
            known = set(variable.below) if own else set()
            new = [c for c in self.cuts if not c.has_empty_side and c.last_below(self.single) not in known]
            if new or not own:
                finer = Variable.numeric(variable.name, [*own, *new], missing=variable.missing, single=self.single)
        ranges = self.states(finer)
        if not ranges:
            raise FormatError(f"the condition on {shown(self.feature)} never holds")
        at = variable.encode(beside) if beside is not None and variable.is_line else None
        return Literal(finer, ranges, at)

    def check_text(self, variable: Variable) -> None:
        """FormatError if its text, read back, says something else."""
        literal = self.literal(variable)
        if self.text == literal.text:
            return
        own = literal.variable
        try:
            read = Region.parse([own], {own.name: self.text})
            parts = conditions.alternatives([self.text]) if own.is_numeric else []
        except QuiaError as fault:
            raise FormatError(f"the text {shown(self.text)} cannot be read: {fault}") from None
        finer = own if own.is_line or not own.is_numeric else conditions.refined(own, parts)
        is_same = read.states(0) == self.states(own)
        if not is_same or (finer is not own and conditions.states_touched(finer, parts) != self.states(finer)):
            raise FormatError(f"the text {shown(self.text)} says another thing than what is said of {self.feature}")


def texts_of(said: Sequence[Said], variables: Mapping[str, Variable], beside: Mapping[str, Any]) -> set[str]:
    """The ways to write conditions that hold together; numbers of lines may be rounded beside an instance's values."""
    found = set()
    for values in ({}, beside):
        try:
            literals = [each.literal(variables[each.feature], values.get(each.feature)) for each in said]
        except InstanceError:  # a value that is none
            continue
        found |= {together(literals), all_of(map(str, literals)), all_of(x.signs for x in literals)}
        found |= {" and ".join(str(literal) for literal in literals), " and ".join(x.phrase for x in literals)}
    return found


def read_all(given: Iterable[Mapping[str, Any]]) -> list[Said]:
    """Several conditions, each of another feature."""
    found = [Said.parse(condition) for condition in given]
    names = [each.feature for each in found]
    if len(set(names)) < len(names):
        raise FormatError(f"the conditions on {listed(names)} say two things of one feature")
    return found


def _only(condition: Mapping[str, Any], keys: Sequence[str]) -> None:
    if more := [key for key in condition if key not in keys]:
        raise FormatError(f"the condition {shown(condition)} has {shown(more[0])}, which no condition has")


def _ends(feature: str, interval: Any, single: bool) -> tuple[float, float]:
    """The least and the greatest number of an interval."""
    keys = ("low", "high", "low_closed", "high_closed")
    if not isinstance(interval, Mapping) or sorted(interval) != sorted(keys):
        raise FormatError(
            f"the condition on {shown(feature)} has the interval {shown(interval)}; it has {listed(keys)}"
        )
    low, high, low_closed, high_closed = (interval[key] for key in keys)
    ends = [-math.inf if low is None else low, math.inf if high is None else high]
    is_fit = all(isinstance(end, (int, float)) and not isinstance(end, bool) and end == end for end in ends)
    if not is_fit or not isinstance(low_closed, bool) or not isinstance(high_closed, bool):
        raise FormatError(f"the condition on {shown(feature)} has the interval {shown(interval)}, which is none")
    least, most = float(ends[0]), float(ends[1])
    if single and (np.float32(least) != least or np.float32(most) != most):
        raise FormatError(f"the condition on {shown(feature)} ends at {shown(interval)}, which are no 32-bit numbers")
    least = least if low_closed or low is None else _next(least, math.inf, single)
    most = most if high_closed or high is None else _next(most, -math.inf, single)
    if least > most:
        raise FormatError(f"the condition on {shown(feature)} has the interval {shown(interval)}, which has no number")
    return least, most


def _next(number: float, towards: float, single: bool) -> float:
    return float(np.nextafter(np.float32(number), np.float32(towards))) if single else math.nextafter(number, towards)


def _rounding_to(single: float, towards: float) -> float:
    """The 64-bit number furthest in a direction that is rounded to a 32-bit one."""
    if math.isinf(single):
        return single
    beyond = _next(single, towards, True)
    if math.isinf(beyond):
        return towards
    middle = (single + beyond) / 2
    return middle if float(np.float32(middle)) == single else math.nextafter(middle, single)


def _touched(variable: Variable, low: float, high: float) -> tuple[int, int] | None:
    """The first and the last state with a number from `low` to `high`; None if none has one."""
    if isinstance(variable.cuts, Cuts):
        low, high = max(low, variable.cuts.low), min(high, variable.cuts.high)
        if low > high:
            return None
    first, last = variable.encode(low), variable.encode(high)
    if variable.is_line:  # where a number very near to 0 counts as 0, which may be outside of an interval that it ends
        first += variable.number(first) < low
        last -= variable.number(last) > high
    return (first, last) if first <= last else None
