"""The widest boxes that a budget allows: in each place one of some sets of states, none of which can be larger.

They come one after the other, the widest first, without looking through the others: what a beginning can still come to
is known from what is the widest that each rest of the budget buys in the places that are left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from quia.boxes import Box
from quia.patience import Clock
from quia.ranges import Ranges

_MOST_UNITS = 64
"""So finely what is left of a budget is told apart; each unit costs a look at every choice."""
_ROUNDED = 2.0**-20
MOST_TRIED = 20_000
"""So many beginnings of boxes are looked at."""


class Choice(NamedTuple):
    """A set of states that a place may have: how many they are, what they cost, and how much more a larger one does."""

    states: Ranges
    size: int
    cost: float
    step: float


class TooClose(Exception):
    """A sum is so near to the budget that rounding decides."""


class TooMany(Exception):
    """More beginnings would have to be looked at than are worth while."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What sets may cost together: less than `most`, or if it is not `strict`, as much.

    A sum that is no more than the `margin` away from that tells nothing, unless the margin is 0.
    """

    most: float
    strict: bool
    margin: float

    def allows(self, left: float) -> bool:
        """Whether so much may be left of it; TooClose if rounding decides."""
        if self.margin and abs(left) <= self.margin:
            raise TooClose
        return left > 0 or (left == 0 and not self.strict)


def widest(places: Sequence[Sequence[Choice]], budget: Budget, clock: Clock) -> Iterator[Box]:
    """The boxes that a budget allows and of which no set can be larger: the widest first.

    Those that are equally wide come in the order of their choices. The cheapest choice of each place costs nothing.
    TooMany, if more than MOST_TRIED beginnings must be looked at.
    """
    kept = [[choice for choice in choices if budget.allows(budget.most - choice.cost)] for choices in places]
    if not all(kept):
        return
    varied = [place for place, choices in enumerate(kept) if len(choices) > 1]
    box = [choices[0].states for choices in kept]
    step = min((choices[0].step for choices in kept if len(choices) == 1), default=math.inf)
    for chosen in _widest([kept[place] for place in varied], budget, step, clock):
        for place, choice in zip(varied, chosen, strict=True):
            box[place] = choice.states
        yield tuple(box)


def _widest(
    places: Sequence[Sequence[Choice]], budget: Budget, step: float, clock: Clock
) -> Iterator[tuple[Choice, ...]]:
    unit, best = _best(places, budget.most)
    tried = 0
    # How wide it can become (below 0), the places of what is chosen, how wide that is, what is left, the least step.
    work: list[tuple[int, tuple[int, ...], int, float, float]] = [(-best[0][-1], (), 1, budget.most, step)]
    while work:
        clock()
        _, chosen, width, left, least = heappop(work)
        at = len(chosen)
        if at == len(places):
            if not budget.allows(left - least):  # no set can be larger
                yield tuple(places[i][c] for i, c in enumerate(chosen))
            continue
        tried += 1
        if tried > MOST_TRIED:
            raise TooMany
        following = best[at + 1]
        for c, choice in enumerate(places[at]):
            rest = left - choice.cost
            if budget.allows(rest):
                can_be = width * choice.size * following[int(rest / unit + _ROUNDED)]
                heappush(work, (-can_be, (*chosen, c), width * choice.size, rest, min(least, choice.step)))


def _best(places: Sequence[Sequence[Choice]], most: float) -> tuple[float, list[list[int]]]:
    """In what units a budget is told, and the widest that places from each on can be, for each number of units left.

    Costs are rounded down, so that nothing is wider.
    """
    units = int(most) if most == int(most) and 0 < most < _MOST_UNITS else _MOST_UNITS
    unit = most / units or 1.0
    best = [[1] * (units + 2)]
    for choices in reversed(places):
        before = best[-1]
        bought = [(choice.size, max(int(choice.cost / unit - _ROUNDED), 0)) for choice in choices]
        best.append(
            [max([size * before[left - cost] for size, cost in bought if cost <= left]) for left in range(units + 2)]
        )
    return unit, best[::-1]
