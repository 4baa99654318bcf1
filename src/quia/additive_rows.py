"""What many rows of an additive model can lose, and how much each can bear: one sum decides which changes tell."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.additive_gaps import Gaps
from quia.classifier import Weighed
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.additive import Additive

_MOST_UNITS = 2**52


def weigh_rows(
    model: Additive, rows: npt.NDArray[Any], keeps: frozenset[int], frozen: Collection[int]
) -> list[Weighed] | None:
    """One for each way in which the decision on these rows can change; None if a way needs several things at once."""
    found = []
    for way in model.ways_out(keeps):
        if len(way) != 1:
            return None
        found.append(_weighed(model, model.gaps(way[0]), rows, frozenset(frozen)))
    return found


def _weighed(model: Additive, gaps: Gaps, rows: npt.NDArray[Any], frozen: frozenset[int]) -> Weighed:
    losses = np.zeros(rows.shape)
    slack = np.full(len(rows), gaps.base)
    for v in model.tested:
        variable = model.variables[v]
        states = rows[:, v]
        least = gaps.least_of(v, ((0, variable.size - 1),))[0]
        known = states != UNKNOWN
        own = np.where(known, _added(gaps, v, states), least)  # what is unknown is at its worst already
        slack += own
        if v not in frozen:
            losses[:, v] = own - least
    if model.margin > 0:
        return Weighed(losses, slack, 2 * model.margin)
    return _in_units(losses, slack, gaps.need.ties)


def _added(gaps: Gaps, v: int, states: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What each state adds to a gap; anything where it is unknown."""
    variable = gaps.model.variables[v]
    if not variable.is_line:
        values = np.array([gaps.at(v, state) for state in range(variable.size)])
        return np.asarray(values[np.maximum(states, 0)])
    distinct, where = np.unique(np.maximum(states, 0), return_inverse=True)
    return np.array([gaps.at(v, state) for state in distinct.tolist()])[where.reshape(-1)]


def _in_units(losses: npt.NDArray[np.float64], slack: npt.NDArray[np.float64], ties: bool) -> Weighed:
    """Exact numbers in the largest unit of which all losses are multiples; a tie that changes a decision is no rest."""
    distinct = np.unique(losses[losses > 0]).tolist()
    finest = max((number.as_integer_ratio()[1] for number in distinct), default=1)
    digits = finest.bit_length() - 1
    unit = math.gcd(*(int(math.ldexp(number, digits)) for number in distinct)) or 1
    bearable = np.ceil(np.ldexp(slack, digits)) - 1 if ties else np.floor(np.ldexp(slack, digits))
    budget = np.clip(bearable, -1, _MOST_UNITS).astype(np.int64) // unit
    return Weighed(np.ldexp(losses, digits).astype(np.int64) // unit, budget, 0.0)
