"""Numbers as people read them: rounded to the safe side, to as few digits as give away next to nothing."""

from __future__ import annotations

import math
from fractions import Fraction

from quia.cuts import Cut, Interval, number_text

_GIVEN_AWAY = 1000
"""What is rounded off an end of an interval is at most its width divided by this."""
_SHORT = 6
"""A number with so few digits is not rounded."""


def inwards(interval: Interval, least: float, greatest: float, kept: float | None = None) -> Interval:
    """An interval from the least to the greatest number within another, whose ends are shorter to write.

    Where one condition is true, a narrower one is: it forces, or changes, as the wider one does. A number in it that is
    `kept` is in the narrower one too, and an end that is no end (None) stays so.

    >>> income = Interval(Cut(31240.482716049382, after=False), None)
    >>> inwards(income, 31240.482716049382, 250_000.0).text, inwards(income, 31240.482716049382, 250_000.0, 31_241).text
    ('>= 31300', '>= 31241')
    """
    lower, upper = interval
    if not least < greatest:
        return interval
    most = (Fraction(greatest) - Fraction(least)) / _GIVEN_AWAY
    inside = kept if kept is not None and least <= kept <= greatest else None
    if lower is not None and lower.threshold != kept:
        room = most if inside is None else min(most, Fraction(inside) - Fraction(least))
        lower = _shorter(lower, Cut(short_above(least, room), after=False))
    if upper is not None and upper.threshold != kept:
        room = most if inside is None else min(most, Fraction(greatest) - Fraction(inside))
        upper = _shorter(upper, Cut(-short_above(-greatest, room), after=True))
    return Interval(lower, upper)


def _shorter(exact: Cut, rounded: Cut) -> Cut:
    """The rounded cut, unless the exact one is short already."""
    digits = len(_digits(exact.threshold))
    return rounded if digits > _SHORT and len(_digits(rounded.threshold)) < digits else exact


def _digits(number: float) -> str:
    """The digits that a number is written with, but for zeros in front."""
    written = number_text(abs(number)).partition("e")[0]
    return written.replace(".", "").lstrip("0")


def short_above(number: float, room: Fraction) -> float:
    """The number with the fewest decimals, or the most zeros at its end, from a number on to at most so much above it.

    >>> room = Fraction(200)
    >>> short_above(31240.482716049382, room), short_above(299.97, room), short_above(-1e-9, room)
    (31300.0, 300.0, 0.0)
    """
    if room <= 0:
        return number
    exact = Fraction(number)
    unit = math.floor(math.log10(max(abs(exact), abs(exact + room)))) + 1
    finest = unit - 20  # a 64-bit number has no more digits
    while unit > finest:
        step = Fraction(10) ** unit
        short = float(math.ceil(exact / step) * step)
        if exact <= Fraction(short) <= exact + room:
            return short
        unit -= 1
    return number
