"""What an instance needs to be decided so by an ensemble: sums of one number of each tree that must not be negative.

The numbers are those of exact arithmetic, as far as 64 bits go; a margin says how far the source's own rounding, and
that of the sums here, can be from it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.ensemble_box import Box, firsts_of
from quia.sums import Sums

if TYPE_CHECKING:
    from quia.ensemble import Ensemble

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

_MOST = {True: 2.0**22, False: 2.0**40}
"""Whole numbers up to these, in 32 and in 64 bits, are added exactly, and stay apart when they are divided."""


@dataclass(frozen=True, slots=True)
class Need:
    """That `constant` and a number of each tree, `value` by row, add up to -`margin` or more; only `counts` may add."""

    value: Floats
    counts: npt.NDArray[np.bool_]
    constant: float
    margin: float

    def most(self, box: Box) -> float:
        """The most that the sum can be in a box, if each tree had its own way."""
        rows = self.counts[box.row]
        value, tree = self.value[box.row[rows]], box.tree[rows]
        return float(np.maximum.reduceat(value, firsts_of(tree)).sum() + self.constant) if len(tree) else self.constant

    def most_with(self, box: Box) -> Floats:
        """The most that each tree that counts can add with each state."""
        rows = self.counts[box.row]
        value, tree = self.value[box.row[rows]], box.tree[rows]
        if not len(tree):
            return np.zeros((0, len(box.variable)))
        every = np.where(box.admits[rows], value[:, None], -np.inf)
        return np.maximum.reduceat(every, firsts_of(tree), axis=0)

    def can_be_met(self, total: Any) -> Any:
        """Whether a sum, or each of an array of them, is enough."""
        return total >= -self.margin


def needs_of(ensemble: Ensemble, keeps: Collection[int], leaf: Ints, tree: Ints) -> Iterator[list[Need]]:
    """For each way to a class that does not keep a decision, what it needs; `leaf` and `tree` are those of the rows."""
    arithmetic = _Arithmetic(ensemble, leaf, tree)
    cuts = ensemble.sums.rule.cuts
    others = [c for c in range(len(ensemble.classes)) if c not in keeps]
    if cuts:
        for first, last in _runs(others):
            yield [
                *([arithmetic.at_least(cuts[first - 1])] if first else []),
                *([arithmetic.below(cuts[last])] if last < len(cuts) else []),
            ]
        return
    for winner in others:
        yield [arithmetic.wins(winner, other) for other in range(len(ensemble.classes)) if other != winner]


class _Arithmetic:
    """The contributions of leaves to scores, and how far sums of them can be from the source's."""

    def __init__(self, ensemble: Ensemble, leaf: Ints, tree: Ints) -> None:
        sums, trees = ensemble.sums, ensemble.trees
        self.sums, self.tree = sums, tree
        weights = np.full(len(trees), 1 / sums.divisor)
        if sums.groups:
            of_group = [group.weight / group.divisor / sums.divisor for group in sums.groups]
            weights = np.repeat(of_group, [group.trees for group in sums.groups])
        self.values = trees.values[leaf] * weights[tree][:, None]
        self.output = np.array(sums.outputs, np.intp)[tree]
        end = sums.end or (0.0,) * len(sums.start)
        self.constants = [start / sums.divisor + last for start, last in zip(sums.start, end, strict=True)]
        self.magnitudes = [
            abs(start) / sums.divisor + abs(last) + self._most(np.abs(self.contribution(i)))
            for i, (start, last) in enumerate(zip(sums.start, end, strict=True))
        ]
        self.unit = _common_unit(sums, trees.values[leaf], self.magnitudes)
        # Each addition, division and multiplication is off by half a unit in the last place of what is at most the
        # sum of all magnitudes; numbers below the normal ones by half of the least number.
        operations = len(trees) + 3 * len(sums.groups) + 8
        half, least = (2.0**-24, 2.0**-149) if sums.single else (2.0**-53, 2.0**-1074)
        spread = max([1.0, *(g.weight for g in sums.groups)]) / min(
            [1.0, sums.divisor, *(g.divisor for g in sums.groups)]
        )
        self.off = [1.25 * operations * ((half + 2.0**-52) * most + least * spread) for most in self.magnitudes]

    def contribution(self, score: int) -> Floats:
        """What each row adds to a score."""
        shared = self.output < 0
        own = self.values[:, score if self.values.shape[1] > 1 else 0]
        return np.where(shared | (self.output == score), own, 0.0)

    def at_least(self, cut: float) -> Need:
        """That the only score reaches a cut."""
        return self._need(self.contribution(0), self.constants[0] - cut, self._cut_margin(cut, -0.5))

    def below(self, cut: float) -> Need:
        """That the only score does not reach a cut."""
        return self._need(-self.contribution(0), cut - self.constants[0], self._cut_margin(cut, 0.5))

    def _cut_margin(self, cut: float, step: float) -> float:
        if self.unit and self.sums.divisor == 1 and (cut / self.unit).is_integer():
            return -step * self.unit
        return self.off[0] + 2.0**-50 * abs(cut)

    def wins(self, winner: int, other: int) -> Need:
        """That one score is told from another as the greater one, or as the first of equals."""
        difference = self.contribution(winner) - self.contribution(other)
        constant = self.constants[winner] - self.constants[other]
        if self.unit and self.sums.rule.kind == "argmax":
            step = self.unit / self.sums.divisor
            return self._need(difference, constant, step / 2 if winner < other else -step / 2)
        off = self.off[winner] + self.off[other]
        return self._need(difference, constant, off + self._blur(winner, other))

    def _blur(self, winner: int, other: int) -> float:
        """How much smaller a score may be that the rule's rounding makes equal to another."""
        kind = self.sums.rule.kind
        if kind == "softmax32":
            return 2.0**-20 + 2.0**-23 * (self.magnitudes[winner] + self.magnitudes[other])
        if kind == "softmax64":
            return 2.0**-48
        if kind == "logistic":
            own, off = self.contribution(winner), self.off[winner]
            most = self.constants[winner] + self._most(own) + off
            least = self.constants[winner] - self._most(-own) - off
            # From there on 1 / (1 + exp(-score)) may be 1 whatever the score is, or 0.
            return math.inf if most > 33 or least < -700 else 2.0**-48 * math.exp(max(most, 0.0))
        return 0.0

    def _most(self, values: Floats) -> float:
        return float(np.maximum.reduceat(values, firsts_of(self.tree)).sum()) if len(values) else 0.0

    def _need(self, value: Floats, constant: float, margin: float) -> Need:
        shared = self.output < 0
        counts = shared | np.isin(self.tree, np.unique(self.tree[value != 0]))
        return Need(value, counts, constant, margin)


def _common_unit(sums: Sums, values: Floats, magnitudes: list[float]) -> float:
    """A power of two of which all numbers are small multiples, so that they are added exactly; 0 if there is none."""
    if sums.groups or any(sums.end):
        return 0.0
    for places in range(0, 21, 4):
        unit = 2.0**-places
        if max(magnitudes) * sums.divisor / unit > _MOST[sums.single]:
            return 0.0
        if all((number / unit).is_integer() for number in sums.start) and (np.mod(values, unit) == 0).all():
            return unit
    return 0.0


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of neighbours."""
    for at, number in enumerate(numbers):
        if not at or numbers[at - 1] != number - 1:
            end = at
            while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
                end += 1
            yield number, numbers[end]
