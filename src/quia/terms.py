"""Terms: what a variable's value adds to the scores of an additive model.

A `Table` has a row of numbers for each state, a `Line` computes its numbers from the value, step by step in 64 bits as
the source does, so that the sums come out to the last bit.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.cuts import Cut, number_text
from quia.errors import GraphError, listed, shown
from quia.look import ByName
from quia.pickling import ByFields
from quia.variables import Variable

Floats = npt.NDArray[np.float64]
Step = tuple[Any, ...]
"""('add' | 'subtract' | 'multiply' | 'divide', number), ('clip', low, high) or ('square',)."""

OPERANDS = {"add": 1, "subtract": 1, "multiply": 1, "divide": 1, "clip": 2, "square": 0}
"""The steps, and how many numbers each has."""
_ROUNDING = 2.0**-53


@dataclass(frozen=True, eq=False, repr=False)
class Table(ByName, ByFields):
    """What each state of a variable adds to each score: `values[state, score]`.

    A line's states are too many to list: there, the rows are for the intervals between `cuts`, and a last one for a
    missing value if the variable has a state for that.
    """

    variable: int
    values: Floats
    cuts: tuple[Cut, ...] = ()

    @cached_property
    def _rows(self) -> list[list[float]]:
        return [list(map(float, row)) for row in self.values]

    @cached_property
    def _below(self) -> list[float]:
        return [cut.last_below(False) for cut in self.cuts]

    def row(self, variable: Variable, state: int) -> int:
        """The row of a state."""
        if not variable.is_line:
            return state
        if variable.is_missing_state(state):
            return len(self.cuts) + 1
        return bisect_left(self._below, variable.number(state))

    def at(self, variable: Variable, state: int) -> list[float]:
        """What a state adds to each score."""
        return self._rows[self.row(variable, state)]

    def of_numbers(self, numbers: Floats) -> Floats:
        """What each number of a line adds to each score; NaN is a missing value."""
        rows = np.searchsorted(np.array(self._below), numbers, side="left")
        rows = np.where(np.isnan(numbers), len(self.cuts) + 1, rows)
        return np.asarray(self.values[rows.clip(max=len(self.values) - 1)])

    def breaks(self, variable: Variable) -> Iterator[int]:
        """The states of a line beside which it is another number: the last before each cut, and the first beyond."""
        last = len(variable.cuts)
        for below in self._below:
            # Numbers that are all but 0 count as 0, so that the number below a cut may not be the state before it.
            first = bisect_right(variable.below, below)
            yield from (state for state in (first - 1, first, first + 1) if 0 <= state <= last)

    def check(self, variable: Variable, scores: int) -> None:
        """Raise GraphError unless it is a table for this variable and so many scores."""
        rows = len(self.cuts) + 1 + variable.missing if variable.is_line else variable.size
        if self.values.shape != (rows, scores):
            raise GraphError(
                f"the table of {variable.name!r} has the shape {self.values.shape}; it needs a row for each of"
                f" {rows} states and a column for each of {scores} scores"
            )
        if not np.isfinite(self.values).all():
            raise GraphError(f"the table of {variable.name!r} has a number that is not finite")
        if self.cuts and not variable.is_line:
            raise GraphError(f"the table of {variable.name!r} has cuts of its own, but {variable.name!r} is no line")
        if any(not a < b for a, b in pairwise(self._below)) or any(cut.has_empty_side for cut in self.cuts):
            raise GraphError(f"the cuts in the table of {variable.name!r} do not ascend")

    def extent(self, variable: Variable) -> tuple[Floats, Floats]:
        """The greatest absolute number that it adds to each score, and the error of that: none."""
        greatest = np.abs(self.values).max(axis=0)
        return greatest, np.zeros_like(greatest)


@dataclass(frozen=True, eq=False, repr=False)
class Line(ByName, ByFields):
    """What a number adds to each score: `steps` one after the other, then times that score's weight.

    `missing` is what a missing value adds to each score, if the variable has a state for that.

    >>> income = Variable.line("income", 0, 100)
    >>> Line(0, (("subtract", 10.0), ("divide", 4.0)), (2.0,)).at(income, income.encode(20))
    [5.0]
    """

    variable: int
    steps: tuple[Step, ...]
    weights: tuple[float, ...]
    missing: tuple[float, ...] | None = None

    def at(self, variable: Variable, state: int) -> list[float]:
        """What a state adds to each score."""
        if variable.is_missing_state(state):
            assert self.missing is not None
            return list(self.missing)
        number = _run(self.steps, variable.number(state))
        return [number * weight for weight in self.weights]

    def of_numbers(self, numbers: Floats) -> Floats:
        """What each number adds to each score; NaN is a missing value."""
        value = numbers
        for step in self.steps:
            value = _apply(step, value)
        added: Floats = value[:, None] * np.array(self.weights)
        gone = np.isnan(numbers)
        if self.missing is not None and gone.any():
            added[gone] = np.array(self.missing)
        return added

    def breaks(self, variable: Variable) -> Iterator[int]:
        """The states beside which it bends: where numbers are clipped, or change their sign and are squared."""
        for at, (name, *operands) in enumerate(self.steps):
            for number in operands if name == "clip" else (0.0,) if name == "square" else ():
                yield from _reaching(variable, self.steps[:at], number)

    def polynomial(self) -> tuple[float, float, float] | None:
        """The coefficients of x², x and 1 of what the steps compute where nothing is clipped; None if it has others."""
        a, b, c = 0.0, 1.0, 0.0
        for name, *operands in self.steps:
            match name:
                case "add":
                    c += operands[0]
                case "subtract":
                    c -= operands[0]
                case "multiply":
                    a, b, c = (each * operands[0] for each in (a, b, c))
                case "divide":
                    a, b, c = (each / operands[0] for each in (a, b, c))
                case "square":
                    if a:
                        return None
                    a, b, c = b * b, 2 * b * c, c * c
                case _:
                    continue
        return a, b, c

    def check(self, variable: Variable, scores: int) -> None:
        """Raise GraphError unless it is a line of this variable for so many scores."""
        if not variable.is_line:
            raise GraphError(f"{variable.name!r} adds a line, but is no variable over numbers of a range")
        if len(self.weights) != scores or (self.missing is not None and len(self.missing) != scores):
            raise GraphError(f"the line of {variable.name!r} has {len(self.weights)} weights for {scores} scores")
        if variable.missing != (self.missing is not None):
            raise GraphError(
                f"{variable.name!r} has {'a' if variable.missing else 'no'} state for missing values, but its line has"
                f" {'none' if variable.missing else 'one'}"
            )
        for step in self.steps:
            if not step or OPERANDS.get(step[0]) != len(step) - 1:
                raise GraphError(
                    f"a step of the line of {variable.name!r} is {shown(step)}; steps are {listed(OPERANDS)}"
                )
        numbers = [*self.weights, *(self.missing or ()), *(number for step in self.steps for number in step[1:])]
        if not all(map(math.isfinite, numbers)):
            raise GraphError(f"the line of {variable.name!r} has a number that is not finite")
        if any(step[0] == "divide" and step[1] == 0 for step in self.steps):
            raise GraphError(f"the line of {variable.name!r} divides by 0")
        wrong = next((step for step in self.steps if step[0] == "clip" and step[1] > step[2]), None)
        if wrong is not None:
            raise GraphError(
                f"the line of {variable.name!r} is clipped between {number_text(wrong[1])} and {number_text(wrong[2])};"
                " give the lower number first"
            )
        names = [step[0] for step in self.steps]
        if names.count("square") > 1 or ("square" in names and "clip" in names):
            raise GraphError(f"the line of {variable.name!r} is squared, and squared again or clipped")

    def extent(self, variable: Variable) -> tuple[Floats, Floats]:
        """The greatest absolute number that it adds to each score in the range, and how far rounding takes it off."""
        low, high = variable.range or (0.0, 0.0)
        size, error = max(abs(low), abs(high)), 0.0
        for name, *operands in self.steps:
            match name:
                case "add" | "subtract":
                    size += abs(operands[0])
                case "multiply":
                    size, error = size * abs(operands[0]), error * abs(operands[0])
                case "divide":
                    size, error = size / abs(operands[0]), error / abs(operands[0])
                case "square":
                    size, error = size * size, 2 * size * error
            error += _ROUNDING * size
        weights = np.abs(self.weights)
        greatest = weights * size
        if self.missing is not None:
            greatest = np.maximum(greatest, np.abs(self.missing))
        return greatest, weights * (error + _ROUNDING * size)


Term = Table | Line


def _run(steps: Sequence[Step], number: float) -> float:
    """The steps on one number."""
    for name, *operands in steps:
        match name:
            case "add":
                number = number + operands[0]
            case "subtract":
                number = number - operands[0]
            case "multiply":
                number = number * operands[0]
            case "divide":
                number = number / operands[0]
            case "clip":
                number = min(max(number, operands[0]), operands[1])
            case "square":
                number = number * number
    return number


def _apply(step: Step, numbers: Floats) -> Floats:
    """A step on many numbers."""
    name: str = step[0]
    operands: tuple[float, ...] = step[1:]
    match name:
        case "add":
            return numbers + operands[0]
        case "subtract":
            return numbers - operands[0]
        case "multiply":
            return numbers * operands[0]
        case "divide":
            return numbers / operands[0]
        case "clip":
            return np.clip(numbers, operands[0], operands[1])
    return numbers * numbers


def _reaching(variable: Variable, steps: Sequence[Step], number: float) -> Iterator[int]:
    """The states of a line beside which steps that only rise, or only fall, reach a number, and leave it behind."""
    last = len(variable.cuts)

    def run(state: int) -> float:
        return _run(steps, variable.number(state))

    rises = run(0) <= run(last)
    for is_past in (number.__le__, number.__lt__):
        low, high = 0, last + 1  # the first state that is past it is one of these
        while low < high:
            middle = (low + high) // 2
            if is_past(run(middle)) == rises:
                high = middle
            else:
                low = middle + 1
        if 0 < low <= last:
            yield from (low - 1, low)
