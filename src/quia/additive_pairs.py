"""Contrasts of additive models: two sums over the same features, but for those that change.

The two instances are one instance of a *doubled* model, which has every score twice and every changing variable twice,
once for each side, and adds both sides in the source's own order, to the last bit. That the first has one class and the
second another are needs of that model, which `additive_search` meets together.

With an order only neighbouring states are looked at, if what is asked for allows that, and of a line the pieces on
which every term of it only rises or only falls. Rounding keeps that order: where no term of a score falls, the score
does not.

Glossary: a *step* is the states that the changing variable may have on the first side, and on the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quia.additive_needs import Need
from quia.additive_search import FEW_BOXES, MOST_BOXES, Together
from quia.additive_sums import ExactSum, Pair
from quia.caching import cached_property
from quia.errors import TooLarge
from quia.patience import Clock
from quia.ranges import covers, intersection, size
from quia.region import Region
from quia.sums import Rule
from quia.terms import Line, Table, Term

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.contrast import Contrast

_FEW_INSTANCES = 10_000
"""Among so many, no search is long."""
_MANY_BOXES = 2000
"""So many boxes of others are looked at: where they are not enough, it is mostly rounding that decides."""
_MOST_CUTS, _FEW_CUTS = 100, 10
"""So often a step is cut whose instances are in the wrong order, and one of very many states."""


def find_pair(model: Additive, contrast: Contrast, possible: Region, clock: Clock) -> Pair | None:
    """Two instances in a region that a contrast looks for; None if there are none.

    TooLarge where sums are so nearly equal, in so many ways, that it cannot be told.
    """
    if possible.is_empty or not contrast.classes or set(model.tested).isdisjoint(contrast.changing):
        return None
    order = contrast.order
    if isinstance(order, range) and order.step < 0:
        turned = replace(contrast, classes=frozenset((b, a) for a, b in contrast.classes), order=order[::-1])
        found = find_pair(model, turned, possible, clock)
        return None if found is None else (found[1], found[0])
    exact = ExactSum.of(model)
    if exact is not None:
        is_told, found = exact.find_pair(contrast, possible, clock)
        if is_told:
            return found
    return _Doubled(model, contrast, possible).search(clock)


class _Step(NamedTuple):
    """The first and the last state that the changing variable may have on the first side, and on the second."""

    mine: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True, eq=False)
class _Doubled:
    """A contrast of a model, and the model of both sides."""

    model: Additive
    contrast: Contrast
    possible: Region

    @cached_property
    def changing(self) -> list[int]:
        """The variables that change, if they are tested; the others are alike on both sides."""
        return [v for v in self.model.tested if v in self.contrast.changing]

    @cached_property
    def both(self) -> Additive:
        """The model of both sides: the copies of the changing variables come after all variables."""
        model, scores = self.model, len(self.model.start)
        copies = {v: len(model.variables) + at for at, v in enumerate(self.changing)}
        terms: list[Term] = []
        for term in model.terms:
            if term.variable in copies:
                terms += [_placed(term, term.variable, scores, (True, False))]
                terms += [_placed(term, copies[term.variable], scores, (False, True))]
            else:
                terms.append(_placed(term, term.variable, scores, (True, True)))
        return replace(
            model,
            variables=(*model.variables, *(model.variables[v] for v in self.changing)),
            classes=tuple(map(str, range(2 * scores))),
            terms=tuple(terms),
            start=model.start * 2,
            end=model.end * 2,
            rule=Rule("argmax"),
            given=(),
        )

    @cached_property
    def _ways(self) -> dict[tuple[int, int], Together]:
        found = {}
        for a, b in self.contrast.classes:
            way = [need for side, label in enumerate((a, b)) for need in self._needs(side, label)]
            found[a, b] = Together(self.both, way)
        return found

    def _needs(self, side: int, label: int) -> Iterator[Need]:
        """What it takes for one side to have a class."""
        others = frozenset(range(len(self.model.classes))) - {label}
        (way,) = self.model.ways_out(others)
        rest = (0.0,) * len(self.model.start)
        for need in way:
            yield need._replace(weights=(*rest, *need.weights) if side else (*need.weights, *rest))

    def search(self, clock: Clock) -> Pair | None:
        """The pair; None if there is none, TooLarge if that cannot be told."""
        left = [
            (classes, step)
            for classes in self._classes
            for step in (self._steps() if self.contrast.order is not None else (None,))
            if step is None or not self._is_ruled_out(classes, step)
        ]
        for boxes in (FEW_BOXES, _MANY_BOXES):  # what is easy first
            unclear: list[tuple[tuple[int, int], _Step | None]] = []
            for classes, step in left:
                try:
                    found = self._in_order(classes, step, boxes, clock)
                except TooLarge:
                    unclear.append((classes, step))
                    continue
                if found is not None:
                    return found
            left = unclear
            if not left:
                return None
        raise TooLarge(
            "whether there are two such instances could not be told: scores are equal, or nearly so, in too many ways",
            limit=_MANY_BOXES,
        )

    @cached_property
    def _classes(self) -> list[tuple[int, int]]:
        """The pairs of classes that are looked for; without an order only once, and not the other way round too."""
        asked = self.contrast.classes
        return sorted((a, b) for a, b in asked if self.contrast.order is not None or a < b or (b, a) not in asked)

    def _in_order(self, classes: tuple[int, int], step: _Step | None, boxes: int, clock: Clock) -> Pair | None:
        """A pair of a step; where the second state found is not after the first, the step is cut between them."""
        if step is None:
            return self._found(classes, None, boxes, clock)
        (v,) = self.changing
        work = [step]
        for _ in range(_MOST_CUTS if step.mine[1] - step.mine[0] <= _MOST_CUTS else _FEW_CUTS):
            if not work:
                return None
            part = work.pop()
            found = self._found(classes, part, boxes, clock)
            if found is None:
                continue
            here, there = found[0][v], found[1][v]
            if self._comes_before(here, there):
                return found
            work += _cut(part, (here + there + 1) // 2)
        raise TooLarge("too many states are in the wrong order", limit=_MOST_CUTS)

    def _comes_before(self, one: int, other: int) -> bool:
        order = self.contrast.order
        assert order is not None
        return order.index(one) < order.index(other)

    def _found(self, classes: tuple[int, int], step: _Step | None, boxes: int, clock: Clock) -> Pair | None:
        """Two instances of a step that have two classes, in whatever order."""
        bounds = dict(self.possible.bounds)
        count = len(self.model.variables)
        for at, v in enumerate(self.changing):
            bounds[v] = bounds[count + at] = self.possible.states(v)
            if step is not None:
                bounds[v] = intersection((step.mine,), bounds[v])
                bounds[count + at] = intersection((step.theirs,), bounds[count + at])
        region = Region(self.both.variables, bounds)
        if region.is_empty:
            return None
        instances = math.prod(size(region.states(v)) for v in self.both.tested)
        found = self._ways[classes].escape(region, clock, MOST_BOXES if instances <= _FEW_INSTANCES else boxes)
        if found is None:
            return None
        other = list(found[:count])
        for at, v in enumerate(self.changing):
            other[v] = found[count + at]
        return found[:count], tuple(other)

    def _steps(self) -> Iterator[_Step]:
        """The steps in which a pair is, if there is one."""
        (v,) = self.changing
        order, variable = self.contrast.order, self.model.variables[v]
        assert order is not None
        is_stepwise = self.contrast.is_stepwise(len(self.model.classes))
        if not variable.is_line or not isinstance(order, range) or order.step != 1:
            states = [state for state in order if covers(self.possible.states(v), state)]
            for a, b in pairwise(states) if is_stepwise else combinations(states, 2):
                yield _Step((a, a), (b, b))
            return
        pieces = list(self._pieces(v, order))
        for one, other in ((p, p) for p in pieces) if is_stepwise else combinations_with_replacement(pieces, 2):
            is_one = one == other and one[1] - one[0] == 1
            yield _Step((one[0],) * 2, (one[1],) * 2) if is_one else _Step(one, other)

    def _pieces(self, v: int, order: range) -> Iterator[tuple[int, int]]:
        """The states of a line in pieces on which no term both rises and falls; each begins where the last one ends."""
        variable = self.model.variables[v]
        breaks = {state for term in self._terms for state in term.breaks(variable)}
        last = None
        for low, high in intersection(((order[0], order[-1]),), self.possible.states(v)) if order else ():
            if last is not None:
                yield last, low
            yield from pairwise(sorted({low, high, *(state for state in breaks if low < state < high)}))
            last = high

    @cached_property
    def _terms(self) -> list[Term]:
        return [term for term in self.model.terms if term.variable in self.changing]

    def _is_ruled_out(self, classes: tuple[int, int], step: _Step) -> bool:
        """Whether no term allows the one class to become the other in a step, rounded or not.

        A score of which no term falls does not fall; a class whose score does not fall still beats one whose score does
        not rise.
        """
        if step.mine != step.theirs and (step.mine[0] != step.mine[1] or step.theirs[0] != step.theirs[1]):
            return False  # not one piece
        (v,) = self.changing
        ends = [(t.at(self.model.variables[v], step.mine[0]), t.at(self.model.variables[v], step.theirs[1]))
                for t in self._terms]  # fmt: skip
        falls, rises = (
            [any(is_so(before[k], after[k]) for before, after in ends) for k in range(len(self.model.start))]
            for is_so in (float.__gt__, float.__lt__)
        )
        one, other = classes
        if self.model.rule.kind == "cuts":
            return not (rises if other > one else falls)[0]
        return not falls[one] and not rises[other]


def _placed(term: Term, variable: int, scores: int, sides: tuple[bool, bool]) -> Term:
    """A term of a variable that adds to the scores of one side, or of both."""
    if isinstance(term, Line):
        nothing = (0.0,) * scores
        return replace(
            term,
            variable=variable,
            weights=tuple(w for side in sides for w in (term.weights if side else nothing)),
            missing=None
            if term.missing is None
            else tuple(w for side in sides for w in (term.missing if side else nothing)),
        )
    values = [term.values if side else np.zeros_like(term.values) for side in sides]
    return Table(variable, np.hstack(values), term.cuts)


def _cut(step: _Step, middle: int) -> list[_Step]:
    """The parts of a step below a state, from it on, and around it, where the second state can be after the first."""
    (low, high), (first, last) = step
    below, beyond = (low, min(high, middle - 1)), (max(low, middle), high)
    their_below, their_beyond = (first, min(last, middle - 1)), (max(first, middle), last)
    parts = ((below, their_below), (beyond, their_beyond), (below, their_beyond))
    return [_Step(a, b) for a, b in parts if a[0] <= a[1] and b[0] <= b[1] and a[0] < b[1]]
