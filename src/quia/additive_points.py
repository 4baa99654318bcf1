"""Points in the unit in which people write them, and in that in which they are added.

A sum of 0.1 and 0.7 is below 0.8 in binary fractions. So decimals are multiplied by a unit that makes them whole, such
as 10, and added as whole numbers; shown to people they are divided by it, which gives the decimals that they wrote.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from quia.errors import GraphError, shown

LARGEST_UNIT = 10**15


@dataclass(frozen=True, slots=True)
class Points:
    """Numbers of people, each `unit` times as large where they are added.

    >>> tenths = Points.in_units_of(10)
    >>> tenths.number(12.5, "it"), tenths.number(0.1, "it"), tenths.written([125.0, 1.0, 20.0])
    (125.0, 1.0, [12.5, 0.1, 2])
    """

    unit: Fraction

    @staticmethod
    def in_units_of(unit: Any) -> Points:
        """Points with a unit that is read from a file."""
        if type(unit) not in (int, float) or not 1 <= unit <= LARGEST_UNIT or unit != int(unit):
            raise GraphError(f"'unit' is {shown(unit)}; it is a whole number from 1 to {LARGEST_UNIT:.0e}")
        return Points(Fraction(unit))

    def number(self, value: Any, what: str, *, exact: bool = True) -> float:
        """What is added for a number of people; it must be `exact`, or may be rounded."""
        if type(value) not in (int, float):
            raise GraphError(f"{what} is {shown(value)}; it must be a number")
        try:
            if not math.isfinite(value):
                raise GraphError(f"{what} is {shown(value)}, which is not finite")
            if self.unit == 1:
                return float(value)
            wanted = Fraction(repr(value)) * self.unit
            added = float(wanted)
        except OverflowError:
            raise GraphError(f"{what} is too large for 64 bits") from None
        if exact and wanted.denominator != 1:
            raise GraphError(f"{what} is {shown(value)}, which the unit {self.unit} does not make whole; take a larger")
        return added

    def row(self, data: Any, what: str, scores: int, *, exact: bool = True) -> tuple[float, ...]:
        """A number for each score; where there is one score, it may stand alone."""
        several = data if isinstance(data, (list, tuple)) else (data,)
        if len(several) != scores:
            raise GraphError(f"{what} is {shown(data)}; give a number for each of {scores} scores")
        return tuple(self.number(value, what, exact=exact) for value in several)

    def written(self, numbers: Iterable[float]) -> list[int | float]:
        """The numbers of people of what is added."""
        return [as_number(number / float(self.unit)) for number in numbers]

    def written_row(self, numbers: Sequence[float]) -> Any:
        """As `written`; one number stands alone."""
        found = self.written(numbers)
        return found[0] if len(found) == 1 else found

    def are_written_exactly(self, whole: Iterable[float], others: Iterable[float]) -> bool:
        """Whether these numbers, of which some must be whole, are the same when they are read again."""
        try:
            Points.in_units_of(float(self.unit))
            return all(
                self.number(self.written([number])[0], "it", exact=exact) == number
                for numbers, exact in ((whole, True), (others, False))
                for number in numbers
            )
        except GraphError:
            return False


def as_number(number: float) -> int | float:
    """A number as people write it in JSON: whole ones without a point, but for -0.0 and those beyond 2**53."""
    is_whole = number == int(number) and abs(number) <= 2**53 and (number != 0 or math.copysign(1, number) > 0)
    return int(number) if is_whole else number
