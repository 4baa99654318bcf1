"""From a cut-off of a probability to the least sum that reaches it, in the model's own arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from quia.errors import Unsupported
from quia.load.sklearn.floats import number_of, ordinal_of

_BESIDE = 2000  # how many numbers on either side of a border are tried, to see that there is only one


def least(holds: Any, *, sure: bool = True) -> float:
    """The least sum for which a test holds, found by halving the floats.

    An error if it does not hold from there on, which is looked at where that must be `sure`.
    """
    low, high = np.array([-1e300]), np.array([1e300])
    below, above = (int(ordinal_of(x)[0]) for x in (low, high))
    ends = holds(np.array([low, high]))
    if ends[0] or not ends[1]:
        raise Unsupported("the cut-off of label puts every row into one class", cure="choose one that splits them")
    while above - below > 1:
        middle = (below + above) // 2
        if holds(number_of(np.array([[middle]])))[0]:
            above = middle
        else:
            below = middle
    around = number_of(np.arange(above - _BESIDE, above + _BESIDE)[:, None])
    if sure and (holds(around) != (np.arange(2 * _BESIDE) >= _BESIDE)).any():
        raise Unsupported(
            "the probabilities of the model do not grow with its sums to the last bit, so that a cut-off is not exact",
            cure="leave label out, or choose another cut-off",
        )
    return float(number_of(np.array([above]))[0])
