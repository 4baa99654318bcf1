"""Values to try: of a region of changes, those nearest to what the features are now, as people would write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any

from quia.cuts import first_above
from quia.literal import Literal
from quia.ranges import members
from quia.variables import Variable

Value = str | int | float
MOST_PLACES = 20
_EXACT = Context(prec=1_200)  # of any 64-bit number all its digits


def values_to_try(changes: Iterable[Literal], present: Mapping[str, Any]) -> dict[str, Value] | None:
    """Each feature's value in a region that is nearest to its present one; None if JSON has no such value."""
    found = {literal.feature: nearest_value(literal, present.get(literal.feature)) for literal in changes}
    return None if None in found.values() else {name: value for name, value in found.items() if value is not None}


def nearest_value(literal: Literal, present: Any) -> Value | None:
    """A value in one of a literal's states, near a present one; None if none is a finite number.

    A number has as many decimals as the present one, or as few more as it takes to be in. A name is the first that is
    neither missing nor any other, if there is one.

    >>> gain = Variable.numeric("gain", [5095.5, 7055.5])
    >>> nearest_value(Literal(gain, ((2, 2),)), 2174), nearest_value(Literal(gain, ((0, 1),)), "99999.5")
    (7056, 7055.5)
    >>> nearest_value(Literal(Variable.numeric("W", [0.6, 0.9]), ((1, 1),)), 2)
    0.9
    >>> nearest_value(Literal(Variable.nominal("GPA", ["low", "medium", "high"]), ((1, 2),)), "low")
    'medium'
    """
    variable = literal.variable
    if variable.labels is not None:
        special = (variable.no_value, variable.other)
        names = [variable.labels[state] for state in members(literal.ranges)]
        return next((name for name in names if name not in special), names[0])
    now = _number(variable, present)
    ends = list(_ends(literal))
    if not ends:
        return 0 if literal.holds(0) else None
    if now is None:
        return _between(literal, ends)
    end, is_low = min(ends, key=lambda pair: abs(pair[0] - now))
    tried = _written(end, is_low, _places(present))
    return next((_plain(value) for value in (*tried, end) if literal.holds(value)), None)


def _number(variable: Variable, value: Any) -> float | None:
    """A present value as a finite number, if it is one."""
    if variable.is_missing(value):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _ends(literal: Literal) -> Iterator[tuple[float, bool]]:
    """The least and the greatest number of each interval, where these are finite, and whether it is the least."""
    variable, last = literal.variable, len(literal.variable.cuts)
    for low, high in literal.ranges:
        if low <= last:
            least = first_above(variable.below[low - 1], single=variable.single) if low else -math.inf
            greatest = variable.below[high] if high < last else math.inf
            yield from ((end, is_low) for end, is_low in ((least, True), (greatest, False)) if math.isfinite(end))


def _between(literal: Literal, ends: list[tuple[float, bool]]) -> Value | None:
    """A number in the first interval, where none is present to be near to."""
    first = [end for end, _ in ends[:2]]
    middle = sum(end / len(first) for end in first)
    short = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((_plain(value) for value in (*short, middle, first[0]) if literal.holds(value)), None)


def _places(present: Any) -> int:
    """How many decimals a value is written with."""
    try:
        exponent = Decimal(str(present).strip()).as_tuple().exponent
    except InvalidOperation:
        return 0
    return min(max(-exponent, 0), MOST_PLACES) if isinstance(exponent, int) else 0


def _written(end: float, is_low: bool, places: int) -> Iterator[float]:
    """The numbers next to the end of an interval, within it, with so many decimals and more."""
    rounding = ROUND_CEILING if is_low else ROUND_FLOOR
    for more in range(places, MOST_PLACES + 1):
        yield float(Decimal(end).quantize(Decimal(1).scaleb(-more), rounding=rounding, context=_EXACT))


def _plain(value: float) -> Value:
    """A whole number without its point, where it is written out in full."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
