"""What libraries make of a sum before they decide, and where that makes them decide otherwise, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from quia.cuts import nearest_single
from quia.sums import Rule

_MOST = {False: 0x7FEFFFFFFFFFFFFF, True: 0x7F7FFFFF}  # the bits of the greatest finite number

_SMALLEST_SCORE = nearest_single(1e-6)  # a base score below this is raised to it, one that near to 1 is lowered


def least(holds: Callable[[float], bool], *, single: bool) -> float:
    """The least finite number, of 32 bits or 64, for which something holds that holds for all greater ones too.

    >>> least(lambda number: number >= 0.1, single=False)
    0.1
    """
    low, high = -_MOST[single] - 1, _MOST[single]  # numbers in their order, counted from zero
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(_number(middle, single)) else (middle, high)
    return _number(high, single)


def _number(place: int, single: bool) -> float:
    bits = np.array([abs(place)], np.uint32 if single else np.uint64)
    return math.copysign(float(bits.view(np.float32 if single else np.float64)[0]), place)


def logistic_single(score: float) -> float:
    """1 / (1 + exp(-score)) as XGBoost has it, in 32 bits."""
    return nearest_single(1 / nearest_single(nearest_single(math.exp(min(-score, 88.7))) + 1))


def logistic(score: float) -> float:
    """1 / (1 + exp(-score)) in 64 bits."""
    return 1.0 / (1.0 + math.exp(min(-score, 700.0)))


def logistic_rule() -> Rule:
    """The second class where its chance, rounded to 32 bits, is above a half: from a sum a little above zero on."""
    return Rule("cuts", (least(lambda score: logistic_single(score) > 0.5, single=True),))


def logit(probability: float) -> float:
    """The margin of a probability, which XGBoost keeps away from 0 and 1."""
    if not 0 <= probability <= 1:
        raise ValueError(f"the base score {probability} is not a probability")
    inside = min(max(probability, _SMALLEST_SCORE), nearest_single(1 - _SMALLEST_SCORE))
    return nearest_single(-math.log(nearest_single(nearest_single(1 / inside) - 1)))
