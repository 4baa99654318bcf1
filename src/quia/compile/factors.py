"""Factors: tables over some variables of a network, multiplied and summed out, exactly or in doubles.

A factor's `scope` are the places of its variables, ascending, and its table has an axis for each of them. Its numbers
are at least 0, so that errors of rounding stay relative; `error` bounds them, and is 0 where they are whole numbers
of any size. A network's factors may each be multiplied by a number: that multiplies all scores alike. An outline is a
factor's scope alone, of which all is done likewise, to see what it would take.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from quia.compile.network import Exact, Network
from quia.errors import TooLarge

MOST_CELLS = 1 << 22
"""A table that would have more entries than this is not made."""
LEAST = 1e-280
"""Where doubles would make a number smaller than this of two that are not 0, they are given up."""
_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Factor:
    """A table over the variables of its scope."""

    scope: tuple[int, ...]
    table: npt.NDArray[Any]
    error: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether its numbers are whole."""
        return self.table.dtype == object

    def times(self, other: Factor, sizes: Sequence[int]) -> Factor:
        """The product of both, exact or not as they are."""
        scope = tuple(sorted({*self.scope, *other.scope}))
        check_cells(scope, sizes)
        first, second = (
            each.table.reshape([sizes[v] if v in each.scope else 1 for v in scope]) for each in (self, other)
        )
        made = first * second
        if self.is_exact:
            return Factor(scope, _as_array(made, True))
        if _least(self) * _least(other) < LEAST and ((first > 0) & (second > 0) & (made < LEAST)).any():
            raise too_far_apart()
        return Factor(scope, made, (self.error + other.error + _UNIT) * (1 + 1e-6))

    def without(self, place: int, sizes: Sequence[int]) -> Factor:
        """The factor with a variable summed out."""
        table = self.table.sum(axis=self.scope.index(place))
        error = 0.0 if self.is_exact else self.error + sizes[place] * _UNIT
        return Factor(tuple(v for v in self.scope if v != place), _as_array(table, self.is_exact), error)


ONE = Factor((), np.asarray(1, object))
"""What is multiplied where there is nothing to multiply."""


def factors_of(network: Network, places: Iterable[int]) -> list[Factor]:
    """What variables contribute to the joint probability, as whole numbers: their tables times a common denominator."""
    made = []
    for place in places:
        node = network.nodes[place]
        scope = (*node.parents, place)
        table = np.transpose(whole_numbers(node.table), np.argsort(scope))
        made.append(Factor(tuple(sorted(scope)), table))
    return made


def whole_numbers(fractions: Exact) -> Exact:
    """Fractions times their common denominator."""
    flat = fractions.reshape(-1)
    denominator = math.lcm(*{entry.denominator for entry in flat})
    made = np.empty(len(flat), object)
    made[:] = [int(entry.numerator) * (denominator // entry.denominator) for entry in flat]
    return made.reshape(fractions.shape)


def in_doubles(factor: Factor) -> Factor:
    """The factor with its numbers divided by the greatest of them, and rounded."""
    greatest = max(factor.table.reshape(-1))
    flat = [entry / greatest for entry in factor.table.reshape(-1)]  # whole numbers: correctly rounded
    table = np.array(flat, np.float64).reshape(factor.table.shape)
    if ((table < LEAST) & (factor.table > 0)).any():
        raise too_far_apart()
    return Factor(factor.scope, table, _UNIT)


class Table(Protocol):
    """What can be multiplied and summed out: a factor, or the outline of one."""

    @property
    def scope(self) -> Collection[int]:
        """The variables that it depends on."""
        ...

    def times(self, other: Self, sizes: Sequence[int]) -> Self:
        """The product of both."""
        ...

    def without(self, place: int, sizes: Sequence[int]) -> Self:
        """The table with a variable summed out."""
        ...


T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Outline:
    """A factor without its numbers: its variables alone tell what it would take to make it.

    `cells` are those of the largest table on the way to it.

    >>> Outline(frozenset([0, 1])).times(Outline(frozenset([1, 2])), [2, 3, 4]).without(1, [2, 3, 4])
    Outline(scope=frozenset({0, 2}), cells=24)
    """

    scope: frozenset[int]
    cells: int = 0

    def times(self, other: Outline, sizes: Sequence[int]) -> Outline:
        """The product of both."""
        scope = self.scope | other.scope
        return Outline(scope, max(self.cells, other.cells, cells_of(scope, sizes)))

    def without(self, place: int, sizes: Sequence[int]) -> Outline:
        """The outline with a variable summed out."""
        return Outline(self.scope - {place}, self.cells)


class Pool(Generic[T]):
    """Tables that wait to be multiplied, found by their variables.

    >>> pool = Pool([Outline(frozenset(scope)) for scope in ([0, 1], [1, 2], [2, 3])], [2, 2, 2, 2])
    >>> sorted(pool.joined(1)), pool.cells(1), len(pool.take(1)), sorted(pool.joined(2))
    ([0, 1, 2], 8, 2, [2, 3])
    """

    def __init__(self, tables: Iterable[T], sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._all: dict[int, T] = {}
        self._with: dict[int, dict[int, T]] = {}
        self._joined: dict[int, frozenset[int]] = {}
        self._cells: dict[int, int] = {}
        self._numbers = count()
        for table in tables:
            self.add(table)

    def __contains__(self, place: int) -> bool:
        return bool(self._with.get(place))

    def __iter__(self) -> Iterator[T]:
        return iter(self._all.values())

    @property
    def variables(self) -> set[int]:
        """The variables of all tables."""
        return {place for place, tables in self._with.items() if tables}

    def joined(self, place: int) -> frozenset[int]:
        """The variables of the tables that have this one."""
        if place not in self._joined:
            scopes = [table.scope for table in self._with.get(place, {}).values()]
            self._joined[place] = frozenset().union(*scopes)
            self._cells[place] = cells_of(self._joined[place], self._sizes)
        return self._joined[place]

    def cells(self, place: int) -> int:
        """How many entries a table over these has."""
        self.joined(place)
        return self._cells[place]

    def add(self, table: T) -> None:
        """One more table."""
        number = next(self._numbers)
        self._all[number] = table
        for place in table.scope:
            self._with.setdefault(place, {})[number] = table
            self._joined.pop(place, None)

    def take(self, place: int) -> list[T]:
        """The tables that have a variable, which wait no more."""
        taken = dict(self._with.get(place, {}))
        for number, table in taken.items():
            del self._all[number]
            for other in table.scope:
                del self._with[other][number]
                self._joined.pop(other, None)
        return list(taken.values())


def product(factors: Sequence[Factor], sizes: Sequence[int]) -> Factor:
    """The product of factors, exact or not as they all are: a table over all their variables."""
    return multiplied(factors, sizes) if factors else ONE


def multiplied(tables: Sequence[T], sizes: Sequence[int]) -> T:
    """The product of one table or more."""
    return reduce(lambda a, b: a.times(b, sizes), tables)


def marginal(tables: Sequence[T], kept: Iterable[int], sizes: Sequence[int]) -> T:
    """The product of one table or more, with all variables summed out but those kept.

    Variables are summed out in an order that keeps tables small. TooLarge where one would have more than MOST_CELLS.
    """
    pool = Pool(tables, sizes)
    left = pool.variables - set(kept)
    while left:
        place = min(left, key=lambda v: (pool.cells(v), v))
        pool.add(multiplied(pool.take(place), sizes).without(place, sizes))
        left.discard(place)
    return multiplied(sorted(pool, key=lambda table: cells_of(table.scope, sizes)), sizes)


def check_cells(scope: Collection[int], sizes: Sequence[int]) -> None:
    """TooLarge if a table over these variables would have too many entries."""
    if cells_of(scope, sizes) > MOST_CELLS:
        raise TooLarge(
            f"{len(scope)} variables depend on each other so closely that a table of {cells_of(scope, sizes):,} numbers"
            f" would be needed, more than {MOST_CELLS:,}; choose fewer features, or another order",
            limit=MOST_CELLS,
        )


def cells_of(scope: Iterable[int], sizes: Sequence[int]) -> int:
    """How many entries a table over these variables has."""
    return math.prod(sizes[place] for place in scope)


def _as_array(value: Any, exact: bool) -> npt.NDArray[Any]:
    return np.asarray(value, object if exact else np.float64)


def _least(a: Factor) -> float:
    """The least of its numbers above 0."""
    above = a.table[a.table > 0]
    return float(above.min()) if above.size else 1.0


def too_far_apart() -> TooLarge:
    """Doubles cannot hold both of two probabilities."""
    return TooLarge(
        "the network's probabilities are too far apart: one is less than 1e-280 of another; raise the smallest of them"
        " or choose fewer features",
        limit=LEAST,
    )
