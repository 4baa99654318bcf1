"""How a message is led along an order of features: small steps, each of which looks at one variable of a network.

A message after some features has an axis for each variable of a separator. A move multiplies factors into it and sums
out a hidden variable, or takes the state that is observed of a feature; so one separator becomes the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from quia.compile.cuts import Cut
from quia.compile.factors import Factor, check_cells, joined, marginal

_SMALL = 1 << 12
"""A part of a network with tables of no more cells is passed in one move."""
_CHEAP = 1 << 9
"""A hidden variable is summed out in advance where that takes no more cells."""

Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """From the variables `before` to those `after`, by the product of factors, observing a feature if there is one."""

    before: Places
    after: Places
    factors: tuple[Factor, ...]
    feature: int | None = None

    def cells(self, sizes: Sequence[int]) -> int:
        """How many numbers it takes."""
        return _cells({*self.before, *self.after, *(v for factor in self.factors for v in factor.scope)}, sizes)


def moves_along(
    factors: Iterable[Factor], target: int, order: Sequence[int], cuts: Sequence[Cut], sizes: Sequence[int]
) -> Iterator[Move]:
    """The moves along an order with these cuts; `target` is kept to the end, and in no separator."""
    waiting = list(factors)
    before: Places = ()
    for feature, cut in zip(order, cuts, strict=True):
        reached = cut.left | {target}
        met = [factor for factor in waiting if reached.issuperset(factor.scope)]
        waiting = [factor for factor in waiting if not reached.issuperset(factor.scope)]
        after = tuple(sorted(cut.separator))
        part = _Part(feature, before, after, target, sizes)
        if _cells({feature, target, *before, *after}, sizes) <= _SMALL:
            yield Move(before, after, (part.at_once(met),), feature)
        else:
            yield from part.one_by_one(met)
        before = after


@dataclass(frozen=True, slots=True)
class _Part:
    """What lies between two separators, with the one feature that is observed there."""

    feature: int
    before: Places
    after: Places
    target: int
    sizes: Sequence[int]

    def at_once(self, factors: Sequence[Factor]) -> Factor:
        """All factors of the part as one."""
        kept = {self.target, self.feature, *self.before, *self.after}
        return marginal(factors, kept, self.sizes)

    def one_by_one(self, factors: Sequence[Factor]) -> Iterator[Move]:
        """A move for each variable that is not in the separator after it, and for the feature."""
        pool = self._summed_in_advance(list(factors))
        here = set(self.before)
        left = ({v for factor in pool for v in factor.scope} | here) - {self.target, *self.after} | {self.feature}
        while left:
            place = min(left, key=lambda v: (_cells(here | joined(pool, v), self.sizes), v))
            met = [factor for factor in pool if place in factor.scope]
            pool = [factor for factor in pool if place not in factor.scope]
            left.discard(place)
            whole = here.union({place} - {self.target}, *(factor.scope for factor in met)) - {self.target}
            there = whole - ({place} - set(self.after))
            check_cells(whole | {self.target}, self.sizes)
            # What nothing speaks of any more goes at the same time.
            done = {v for v in there & left - {self.feature} if not any(v in factor.scope for factor in pool)}
            left -= done
            there -= done
            if not left:
                met, there = met + pool, set(self.after)
            is_feature = place == self.feature
            yield Move(tuple(sorted(here)), tuple(sorted(there)), tuple(met), place if is_feature else None)
            here = there

    def _summed_in_advance(self, pool: list[Factor]) -> list[Factor]:
        """The factors, without the hidden variables that few others of them depend on."""
        kept = {self.target, self.feature, *self.before, *self.after}
        while True:
            left = {v for factor in pool for v in factor.scope} - kept
            cheap = [v for v in sorted(left) if _cells(joined(pool, v), self.sizes) <= _CHEAP]
            if not cheap:
                return pool
            met = [factor for factor in pool if cheap[0] in factor.scope]
            made = marginal(met, joined(pool, cheap[0]) - {cheap[0]}, self.sizes)
            pool = [*(factor for factor in pool if cheap[0] not in factor.scope), made]


def _cells(scope: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod(sizes[place] for place in scope)
