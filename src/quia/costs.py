"""What it costs to change a feature: exact whole numbers, so that 0.1 + 0.2 and 0.3 are a tie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, NamedTuple

from quia.errors import InstanceError, did_you_mean, shown
from quia.look import one_line
from quia.variables import Variable

LARGEST_SUM = 2**53
"""Costs are brought to whole numbers; their sum must stay below this."""


class Costs(NamedTuple):
    """The cost of each variable as a whole number of `unit`s."""

    whole: tuple[int, ...]
    unit: Fraction

    def __repr__(self) -> str:
        return f"Costs(whole={one_line(repr(self.whole), 100)}, unit={self.unit!r})"


def exact_costs(variables: Sequence[Variable], given: Mapping[str, Any]) -> Costs:
    """Each variable's cost, 1 where none is given.

    >>> exact_costs([Variable.numeric("age"), Variable.numeric("debt")], {"age": 0.1, "debt": 2})
    Costs(whole=(1, 20), unit=Fraction(1, 10))
    """
    if not hasattr(given, "items"):
        raise InstanceError(f"costs is {shown(given)}; give a mapping from feature to number")
    names = {v.name for v in variables}
    exact = {}
    for name, cost in given.items():
        if name not in names:
            raise InstanceError(f"a cost is given for {shown(name)}, which is no feature{did_you_mean(name, names)}")
        exact[name] = _exact(name, cost)
    unit = Fraction(1, math.lcm(1, *(cost.denominator for cost in exact.values())))
    whole = tuple(int(exact.get(v.name, Fraction(1)) / unit) for v in variables)
    if sum(whole) >= LARGEST_SUM:
        raise InstanceError(
            f"the costs {shown(dict(given))} are too large or too far apart to add exactly; give small whole numbers"
        )
    return Costs(whole, unit)


def _exact(name: str, cost: Any) -> Fraction:
    try:
        if isinstance(cost, Rational):
            exact = Fraction(int(cost.numerator), int(cost.denominator))
        elif isinstance(cost, (Decimal, str)) and "/" not in str(cost) and not 0 < float(cost) < math.inf:
            exact = Fraction(0)  # or 1e999999999 would be written out
        else:  # the text, not the binary value: 0.1 is a tenth
            exact = Fraction(str(cost)) if isinstance(cost, (Real, str)) else Fraction(cost)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        exact = Fraction(0)
    if isinstance(cost, bool) or exact <= 0:
        raise InstanceError(f"the cost of {name} is {shown(cost)}; costs are positive numbers, not too large or small")
    return exact
