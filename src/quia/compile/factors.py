"""Factors: tables over some variables of a network, multiplied and summed out, exactly or in doubles.

A factor's `scope` are the places of its variables, ascending, and its table has an axis for each of them. Its numbers
are at least 0, so that errors of rounding stay relative; `error` bounds them, and is 0 where they are whole numbers
of any size. A network's factors may each be multiplied by a number: that multiplies all scores alike.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

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


def product(factors: Sequence[Factor], sizes: Sequence[int]) -> Factor:
    """The product of factors, exact or not as they all are: a table over all their variables."""
    return reduce(lambda a, b: _multiplied(a, b, sizes), factors) if factors else ONE


def summed_out(factor: Factor, place: int) -> Factor:
    """The factor with a variable summed out."""
    axis = factor.scope.index(place)
    table = factor.table.sum(axis=axis)
    error = 0.0 if factor.is_exact else factor.error + factor.table.shape[axis] * _UNIT
    return Factor(tuple(v for v in factor.scope if v != place), _as_array(table, factor.is_exact), error)


def marginal(factors: Sequence[Factor], kept: Iterable[int], sizes: Sequence[int]) -> Factor:
    """The product of factors, with all variables summed out but those kept.

    Variables are summed out in an order that keeps tables small. TooLarge where one would have more than MOST_CELLS.
    """
    waiting = list(factors)
    left = {place for factor in waiting for place in factor.scope} - set(kept)
    while left:
        place = min(left, key=lambda v: (_cells(joined(waiting, v), sizes), v))
        met = [factor for factor in waiting if place in factor.scope]
        waiting = [factor for factor in waiting if place not in factor.scope]
        waiting.append(summed_out(product(met, sizes), place))
        left.discard(place)
    return product(sorted(waiting, key=lambda factor: factor.table.size), sizes)


def _as_array(value: Any, exact: bool) -> npt.NDArray[Any]:
    return np.asarray(value, object if exact else np.float64)


def check_cells(scope: Collection[int], sizes: Sequence[int]) -> None:
    """TooLarge if a table over these variables would have too many entries."""
    if _cells(scope, sizes) > MOST_CELLS:
        raise TooLarge(
            f"{len(scope)} variables depend on each other so closely that a table of {_cells(scope, sizes):,} numbers"
            f" would be needed, more than {MOST_CELLS:,}; choose fewer features, or another order",
            limit=MOST_CELLS,
        )


def joined(factors: Iterable[Factor], place: int) -> set[int]:
    """The variables of the factors that have this one."""
    return {v for factor in factors if place in factor.scope for v in factor.scope}


def _cells(scope: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod(sizes[place] for place in scope)


def _multiplied(a: Factor, b: Factor, sizes: Sequence[int]) -> Factor:
    scope = tuple(sorted({*a.scope, *b.scope}))
    check_cells(scope, sizes)
    first, second = (factor.table.reshape([sizes[v] if v in factor.scope else 1 for v in scope]) for factor in (a, b))
    made = first * second
    if a.is_exact:
        return Factor(scope, _as_array(made, True))
    if _least(a) * _least(b) < LEAST and ((first > 0) & (second > 0) & (made < LEAST)).any():
        raise too_far_apart()
    return Factor(scope, made, (a.error + b.error + _UNIT) * (1 + 1e-6))


def _least(factor: Factor) -> float:
    """The least of its numbers above 0."""
    above = factor.table[factor.table > 0]
    return float(above.min()) if above.size else 1.0


def too_far_apart() -> TooLarge:
    """Doubles cannot hold both of two probabilities."""
    return TooLarge(
        "the network's probabilities are too far apart: one is less than 1e-280 of another; raise the smallest of them"
        " or choose fewer features",
        limit=LEAST,
    )
