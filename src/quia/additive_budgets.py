"""The widest boxes that several budgets allow at once, as where each of several classes must be kept from winning.

They come as those of `additive_boxes` do, the widest first. What a beginning can still come to is bounded by each
budget alone, and by all of them together, each in its own measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quia.additive_boxes import Budget, TooClose, TooMany
from quia.boxes import Box
from quia.patience import Clock
from quia.ranges import Ranges

_UNITS = 64
"""So finely what is left of a budget is told apart in the bounds."""
_ROUNDED = 2.0**-20
_MOST_TRIED = 20_000
"""So many beginnings of boxes are looked at, and boxes."""

_Floats = npt.NDArray[np.float64]


class Choice(NamedTuple):
    """A set of states that a place may have: how many they are, what they cost of each budget, how much more each
    larger set does."""

    states: Ranges
    size: int
    costs: tuple[float, ...]
    steps: tuple[tuple[float, ...], ...]


def widest(places: Sequence[Sequence[Choice]], budgets: Sequence[Budget], clock: Clock) -> Iterator[Box]:
    """The boxes that all budgets allow and of which no set can be larger: the widest first.

    Those that are equally wide come in the order of their choices. TooMany, if more than 20,000 beginnings must be
    looked at; TooClose, if rounding decides.
    """
    most = tuple(budget.most for budget in budgets)
    kept = [[choice for choice in choices if _allow(budgets, most, choice.costs)] for choices in places]
    if not all(kept) or not _allow(budgets, most, (0.0,) * len(most)):
        return
    costs = [np.array([choice.costs for choice in choices]) for choices in kept]
    sizes = [np.array([choice.size for choice in choices], np.float64) for choices in kept]
    bounds = _Bounds(costs, sizes, np.array(most))
    margin = max(budget.margin for budget in budgets)
    strict = np.array([budget.strict for budget in budgets])
    tried = 0
    # How wide it can become (below 0), the places of what is chosen, how wide that is, what is left.
    work: list[tuple[float, tuple[int, ...], float, _Floats]] = [(-math.inf, (), 1.0, np.array(most))]
    while work:
        clock()
        _, chosen, width, left = heappop(work)
        tried += 1
        if tried > _MOST_TRIED:
            raise TooMany
        at = len(chosen)
        if at == len(kept):
            taken = [choices[c] for choices, c in zip(kept, chosen, strict=True)]
            if not _can_be_larger(budgets, tuple(left.tolist()), taken):
                yield tuple(choice.states for choice in taken)
            continue
        rest = left - costs[at]
        if margin and (np.abs(rest) <= margin).any():
            raise TooClose
        allowed = np.flatnonzero(((rest > 0) | ((rest == 0) & ~strict)).all(axis=1))
        widths = width * sizes[at][allowed]
        can_be = widths * bounds.after(at, rest[allowed])
        for c, bound, wide in zip(allowed.tolist(), can_be.tolist(), widths.tolist(), strict=True):
            heappush(work, (-bound, (*chosen, c), wide, rest[c]))


def _allow(budgets: Sequence[Budget], left: Sequence[float], costs: Sequence[float]) -> bool:
    """Whether all budgets allow that so much of what is left of them is spent."""
    return all(budget.allows(most - cost) for budget, most, cost in zip(budgets, left, costs, strict=True))


def _can_be_larger(budgets: Sequence[Budget], left: Sequence[float], taken: Sequence[Choice]) -> bool:
    return any(_allow(budgets, left, step) for choice in taken for step in choice.steps)


class _Bounds:
    """The widest that the places after each can be, for what is left: no less than the truth."""

    def __init__(self, costs: Sequence[_Floats], sizes: Sequence[_Floats], most: _Floats) -> None:
        # Each budget in units of its own, and the sum of these shares: what all allow, it allows.
        self._most = np.where(most > 0, most, math.inf)
        self._each: list[_Floats] = []
        """Of each place on, the last first: a row for each budget, and for their sum."""
        together = len(most) * _UNITS
        after = np.ones((len(most) + 1, together + 2))
        self._each.append(after)
        for own, size in zip(reversed(costs), reversed(sizes), strict=True):
            units = np.maximum((self._shares(own) - _ROUNDED).astype(np.int64), 0)
            found = np.zeros_like(after)
            for row in range(len(most) + 1):
                for wide, cost in zip(size.tolist(), units[:, row].tolist(), strict=True):
                    if cost < found.shape[1]:
                        bought = wide * after[row, : found.shape[1] - cost]
                        np.maximum(found[row, cost:], bought, out=found[row, cost:])
            after = found
            self._each.append(after)
        self._each.reverse()

    def after(self, place: int, left: _Floats) -> _Floats:
        """The widest that the places after one can be, for each row of what is left of the budgets."""
        table = self._each[place + 1]
        units = np.minimum((self._shares(left) + _ROUNDED).astype(np.int64), table.shape[1] - 1)
        return np.asarray(table[np.arange(table.shape[0]), units].min(axis=1))

    def _shares(self, amounts: _Floats) -> _Floats:
        """Amounts of each budget in its units, and their sum."""
        shares = amounts / self._most * _UNITS
        return np.concatenate([shares, shares.sum(axis=1, keepdims=True)], axis=1)
