"""Typical values: for a state of a variable a value in it that reads well."""

from __future__ import annotations

import math
from fractions import Fraction

from quia.cuts import first_above, nearest_single
from quia.variables import Variable


def value_in(variable: Variable, state: int) -> str | float | None:
    """A value that is in a state, as short as one can be: None for a missing one, the name of a nominal state.

    Of numbers it is an integer if one fits, the roundest near the middle; else one with few digits. Where a variable
    compares in 32 bits, it is a 32-bit number.

    >>> age = Variable.numeric("age", [30, 45, 45.5], missing=True)
    >>> [value_in(age, state) for state in range(age.size)]
    [20.0, 40.0, 45.3, 70.0, None]
    """
    if variable.labels is not None:
        label = variable.labels[state]
        return None if label == variable.no_value else label
    if variable.is_missing_state(state):
        return None
    if variable.is_line:
        return variable.number(state)
    below = variable.below
    first = first_above(below[state - 1], single=variable.single) if state else -math.inf
    last = below[state] if state < len(below) else math.inf
    return _number_between(first, last, single=variable.single)


def _number_between(first: float, last: float, *, single: bool) -> float:
    """A short number from `first` to `last`, one of 32 bits if it is `single`."""
    greatest = -first_above(-math.inf, single=single)
    if first == math.inf or last == -math.inf:  # infinity has a state of its own
        return first if first == math.inf else last
    low, high = _window(max(first, -greatest), min(last, greatest), greatest)
    found = _roundest(low, high, 10, 0 if single else _LAST_DECIMAL, single=single)
    if found is None and single:  # decimals are rounded in 32 bits, halves are not
        found = _roundest(low, high, 2, _LAST_BIT, single=single)
    return high if found is None else found


def _window(low: float, high: float, greatest: float) -> tuple[float, float]:
    """What is near to the one end of numbers that go on without an end at the other; around 0 if they do at both."""
    if low == -greatest and high == greatest:
        return -1.0, 1.0
    if low == -greatest:
        return max(low, high - max(abs(high), 1.0)), high
    if high == greatest:
        return low, min(high, low + max(abs(low), 1.0))
    return low, high


def _roundest(low: float, high: float, base: int, least: int, *, single: bool) -> float | None:
    """The multiple of the greatest power of the base between two numbers, the nearest to the middle; None if none is.

    Powers from the size of the numbers down to the `least` are tried.
    """
    middle = (Fraction(low) + Fraction(high)) / 2
    size = max(abs(low), abs(high))
    power = math.floor(math.log(size, base)) if size else 0
    for exponent in range(max(power, 0), least - 1, -1):
        step = Fraction(base) ** exponent
        near = round(middle / step)
        for multiple in (near, near - 1, near + 1):  # in a range of few multiples the nearest may be out
            number = _as_float(multiple * step)
            if low <= number <= high and (not single or nearest_single(number) == number):
                return number + 0.0
    return None


def _as_float(number: Fraction) -> float:
    """The nearest 64-bit number, an infinite one if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


_LAST_DECIMAL, _LAST_BIT = -345, -1080  # the powers that no digit, and no bit, of a 64-bit number is below
