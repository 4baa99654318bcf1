"""How a message is led along an order of features: small steps, each of which looks at one variable of a network.

A message after some features has an axis for each variable of a separator. A move multiplies tables into it and sums
out a hidden variable, or takes the state that is observed of a feature; so one separator becomes the next. Of outlines,
moves tell what they would take, without numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from quia.compile.cuts import Cut
from quia.compile.factors import Factor, Pool, T, cells_of, check_cells, marginal, multiplied

_SMALL = 1 << 12
"""A part of a network with tables of no more cells is passed in one move."""
_CHEAP = 1 << 9
"""A hidden variable is summed out in advance where that takes no more cells."""

Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move(Generic[T]):
    """From the variables `before` to those `after`, by the product of tables, observing a feature if there is one."""

    before: Places
    after: Places
    tables: tuple[T, ...]
    feature: int | None = None

    @property
    def scope(self) -> set[int]:
        """All variables that it looks at."""
        return {*self.before, *self.after}.union(*(table.scope for table in self.tables))


def moves_along(
    factors: Iterable[Factor], target: int, order: Sequence[int], cuts: Sequence[Cut], sizes: Sequence[int]
) -> Iterator[Move[Factor]]:
    """The moves along an order with these cuts; `target` is kept to the end, and in no separator.

    TooLarge where one of them would look at too many variables at once.
    """
    waiting = list(factors)
    before: Places = ()
    for feature, cut in zip(order, cuts, strict=True):
        part = Part(feature, before, tuple(sorted(cut.separator)), target, sizes)
        reached = cut.left | {target}
        for move in part.moves([factor for factor in waiting if reached.issuperset(factor.scope)]):
            check_cells(move.scope, sizes)
            yield move
        waiting = [factor for factor in waiting if not reached.issuperset(factor.scope)]
        before = part.after


@dataclass(frozen=True, slots=True)
class Part:
    """What lies between two separators, with the one feature that is observed there."""

    feature: int
    before: Places
    after: Places
    target: int
    sizes: Sequence[int]

    def moves(self, tables: Sequence[T]) -> Iterator[Move[T]]:
        """The moves from the one separator to the other, by the tables that lie between."""
        kept = {self.feature, self.target, *self.before, *self.after}
        if self._cells(kept) > _SMALL:
            yield from self._one_by_one(tables)
        else:
            at_once = (marginal(tables, kept, self.sizes),) if tables else ()
            yield Move(self.before, self.after, at_once, self.feature)

    def _one_by_one(self, tables: Iterable[T]) -> Iterator[Move[T]]:
        """A move for each variable that is not in the separator after it, and for the feature."""
        pool = self._summed_in_advance(tables)
        here = frozenset(self.before)
        left = (pool.variables | here) - {self.target, *self.after} | {self.feature}
        while left:
            place = min(left, key=lambda v: (self._cells(here | pool.joined(v)), v))
            met = pool.take(place)
            left.discard(place)
            there = here.union({place}, *(table.scope for table in met)) - {self.target}
            there -= {place}.difference(self.after)
            # What nothing speaks of any more goes at the same time.
            done = {v for v in there & left if v != self.feature and v not in pool}
            left -= done
            there -= done
            if not left:
                met, there = [*met, *pool], frozenset(self.after)
            yield Move(tuple(sorted(here)), tuple(sorted(there)), tuple(met), place if place == self.feature else None)
            here = there

    def _summed_in_advance(self, tables: Iterable[T]) -> Pool[T]:
        """The tables, without the hidden variables that few others of them depend on."""
        pool = Pool(tables, self.sizes)
        left = sorted(pool.variables - {self.target, self.feature, *self.before, *self.after})
        while True:
            cheap = next((v for v in left if pool.cells(v) <= _CHEAP), None)
            if cheap is None:
                return pool
            pool.add(multiplied(pool.take(cheap), self.sizes).without(cheap, self.sizes))
            left.remove(cheap)

    def _cells(self, scope: Collection[int]) -> int:
        return cells_of(scope, self.sizes)
