"""The sums of an additive model in whole units, and as the model rounds them, feature by feature in one order.

Glossary
    gap     what tells the class: the one score, or the difference of two of several scores, in whole units
    margin  so far from where the class changes, rounding may tell another class than exact sums do
    choice  states of a feature that add the same
    level   so many features of the order have a state
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from operator import add, sub
from typing import NamedTuple

import numpy as np

from quia.additive import Additive
from quia.caching import cached_property
from quia.ranges import Ranges, union
from quia.terms import Table

FAR = 2**61
"""No gap is as large: what is added comes to less than 2**57 units."""

Gaps = tuple[int, ...]


class Box(NamedTuple):
    """The gaps from `low` to `high`, each by itself, both included."""

    low: Gaps
    high: Gaps


class Choice(NamedTuple):
    """States of a feature that add the same: which, one of them, and what they add to each gap."""

    states: Ranges
    state: int
    adds: Gaps


class Rounded(NamedTuple):
    """Scores as the model adds them, as far as the states that are known allow, and states that it adds only later.

    What the model decides of the rest depends on nothing else.
    """

    scores: tuple[float, ...]
    waiting: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class WholeSums:
    """An additive model of tables alone, whose scores are counted in units of 2**-`bits`.

    Sums of numbers that have few digits are exact in such units. Others are rounded to them, by less than a quarter of
    what the model itself may round.
    """

    model: Additive

    @cached_property
    def bits(self) -> int:
        """How fine the unit is."""
        if self.model.margin == 0:
            return max((n.denominator.bit_length() - 1 for n in map(Fraction, self._numbers)), default=0)
        finest = Fraction(self.model.margin) / (4 * (len(self.model.terms) + 4))
        return finest.denominator.bit_length() - finest.numerator.bit_length() + 1

    @property
    def _numbers(self) -> list[float]:
        model = self.model
        tables = [np.unique(term.values) for term in model.terms if isinstance(term, Table)]
        return [*model.start, *model.end, *np.concatenate([[0.0], *tables]).tolist()]

    @cached_property
    def margin(self) -> Fraction:
        """How far from a change of the class exact sums are certain to tell what rounded ones do, in units."""
        return 2 * Fraction(self.model.margin) * Fraction(2) ** self.bits

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The two scores of each gap; none if there is one score, whose gap is itself."""
        return tuple(combinations(range(len(self.model.start)), 2)) if self.model.rule.kind == "argmax" else ()

    def gaps(self, scores: Iterable[float]) -> Gaps:
        """The gaps of a row of numbers."""
        whole = [round(Fraction(score) * Fraction(2) ** self.bits) for score in scores]
        return tuple(whole[i] - whole[j] for i, j in self.pairs) if self.model.rule.kind == "argmax" else tuple(whole)

    @cached_property
    def start(self) -> Gaps:
        """The gaps before any feature is known: what they begin with, and what is added whatever the features are."""
        model, tested = self.model, set(self.model.tested)
        always = [term.values[0] for term in model.terms if isinstance(term, Table) and term.variable not in tested]
        rows = [model.start, *always, *([model.end] if model.end else [])]
        return tuple(map(sum, zip(*map(self.gaps, rows), strict=True)))

    @cached_property
    def choices(self) -> dict[int, list[Choice]]:
        """What each tested feature can add."""
        return {v: self._choices(v) for v in self.model.tested}

    def _choices(self, v: int) -> list[Choice]:
        tables = [term.values for term in self.model.terms if term.variable == v and isinstance(term, Table)]
        rows, where = np.unique(np.hstack(tables), axis=0, return_inverse=True)
        states: list[list[int]] = [[] for _ in rows]
        for state, row in enumerate(where.ravel().tolist()):
            states[row].append(state)
        added = [[self.gaps(table[own[0]]) for table in tables] for own in states]
        return [
            Choice(union((s, s) for s in own), own[0], tuple(map(sum, zip(*adds, strict=True))))
            for own, adds in zip(states, added, strict=True)
        ]

    def moves(self, v: int) -> int:
        """How far a feature can move a gap."""
        columns = zip(*(choice.adds for choice in self.choices[v]), strict=True)
        return max((max(column) - min(column) for column in columns), default=0)

    @cached_property
    def boxes(self) -> list[Box]:
        """For each class the gaps that are certain to tell it."""
        if self.model.rule.kind == "cuts":
            scaled = [Fraction(cut) * Fraction(2) ** self.bits for cut in self.model.rule.cuts]
            low = [-FAR, *(math.ceil(cut + self.margin) for cut in scaled)]
            high = [*(math.ceil(cut - self.margin) - 1 for cut in scaled), FAR]
            return [Box((a,), (b,)) for a, b in zip(low, high, strict=True)]
        return [self._greatest(c) for c in range(len(self.model.start))]

    def _greatest(self, c: int) -> Box:
        """The gaps with which score c is the first of the greatest."""
        least = math.ceil(self.margin)
        return Box(
            tuple(least if i == c else -FAR for i, _ in self.pairs),
            # Of two that are equal the first is taken, so that the second must be greater.
            tuple(-max(least, 1) if j == c else FAR for _, j in self.pairs),
        )


class _Step(NamedTuple):
    """What the model can add once one more feature has a state: rows of tables, and whose state tells the row.

    `adds` has (rows by state, place of the state among those that wait), `stay` the places of those that wait on.
    """

    adds: list[tuple[list[list[float]], int]]
    stay: list[int]


class InOrder:
    """The same, with the features in an order: the states of the first so many are known at a level."""

    def __init__(self, sums: WholeSums, order: Sequence[int]) -> None:
        self.sums, self.order = sums, tuple(order)
        self.choices = [sums.choices[v] for v in order]
        self.is_exact = sums.margin == 0
        terms = [term for term in sums.model.terms if isinstance(term, Table)]
        tested = set(sums.model.tested)
        self._rows: list[tuple[int | None, list[list[float]]]] = [
            (term.variable if term.variable in tested else None, term.values.tolist()) for term in terms
        ]
        self._steps = self._planned()

    def constant(self) -> list[list[Box]]:
        """For each level and class the gaps with which it is certain, whatever the features to come add."""
        least = most = (0,) * len(self.sums.start)
        found = []
        for choices in [*reversed(self.choices), []]:
            found.append(
                [Box(tuple(map(sub, box.low, least)), tuple(map(sub, box.high, most))) for box in self.sums.boxes]
            )
            columns = list(zip(*(choice.adds for choice in choices), strict=True))
            least, most = tuple(map(add, least, map(min, columns))), tuple(map(add, most, map(max, columns)))
        return found[::-1]

    @property
    def start(self) -> Rounded | None:
        """The scores with which the model begins; None where sums are exact, so that gaps tell all."""
        if self.is_exact:
            return None
        return self._after(self._steps[0], self.sums.model.start, ())

    def after(self, level: int, rounded: Rounded | None, state: int) -> Rounded | None:
        """The same once the feature of a level has a state."""
        if rounded is None:
            return None
        return self._after(self._steps[level + 1], rounded.scores, (*rounded.waiting, state))

    def told(self, rounded: Rounded) -> int:
        """The class, once all states are known."""
        model = self.sums.model
        return model.told([a + b for a, b in zip(rounded.scores, model.end or [0.0] * len(model.start), strict=True)])

    @staticmethod
    def _after(step: _Step, scores: tuple[float, ...], states: tuple[int, ...]) -> Rounded:
        for rows, at in step.adds:
            scores = tuple(map(add, scores, rows[states[at] if at >= 0 else 0]))
        return Rounded(scores, tuple(states[at] for at in step.stay))

    def _planned(self) -> list[_Step]:
        """For each level what is added there: tables in the model's order, each as soon as all before it are."""
        place = {v: level for level, v in enumerate(self.order)}
        last = {v: at for at, (v, _) in enumerate(self._rows) if v is not None}
        steps: list[_Step] = []
        waiting: list[int] = []
        done = 0
        for level in range(len(self.order) + 1):
            known = [*waiting, *self.order[level - 1 : level]]
            adds = []
            while done < len(self._rows) and ((v := self._rows[done][0]) is None or place[v] < level):
                adds.append((self._rows[done][1], -1 if v is None else known.index(v)))
                done += 1
            stay = [at for at, v in enumerate(known) if last[v] >= done]
            waiting = [known[at] for at in stay]
            steps.append(_Step(adds, stay))
        return steps
