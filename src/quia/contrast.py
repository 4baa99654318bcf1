"""Contrasts: two instances that differ in few features, and are decided in two different ways.

Whether a decision hangs on a protected feature, whether a feature matters at all, whether more of it ever hurts: each
asks for such a pair, or for the proof that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from quia.asking import Terms
from quia.classifier import Classifier, FindsPairs, escape_within, offers
from quia.constrained import Constrained
from quia.constraint import POSSIBLE
from quia.errors import TooLarge, Unsupported
from quia.patience import Clock, OutOfTime
from quia.question import Question
from quia.ranges import Ranges, difference, intersection, union
from quia.region import Region
from quia.variables import UNKNOWN, Variable

Pair = tuple[Sequence[int], Sequence[int]]
"""The states of two instances; what is UNKNOWN in both may be anything, as long as it is the same in both."""

MOST_REGIONS = 100_000
"""How many regions the search by `escape` looks at before it gives up."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Which pairs are looked for: alike but in the `changing` variables, with one of some pairs of classes.

    `classes` are pairs of class indices, that of the first instance and that of the second, which are not the same.
    With an `order`, which has states of the one changing variable, each once, the state of the first instance comes
    before that of the second in it. States are those of the classifier that is asked, whose variables what is possible
    may have cut further.
    """

    changing: tuple[int, ...]
    classes: frozenset[tuple[int, int]]
    order: Sequence[int] | None = None

    def __post_init__(self) -> None:
        assert all(a != b for a, b in self.classes), "one class is no contrast"
        assert self.order is None or len(self.changing) == 1, "an order is of one variable"

    def is_stepwise(self, classes: int) -> bool:
        """Whether two states that show it have two neighbours between them that do, all else the same.

        So it is for 'any other class', and for 'a class of lower rank': what no step does, no number of steps does.

        >>> worse(3, (0, 1, 2), 0, (0, 1)).is_stepwise(3), Contrast((0,), frozenset({(2, 0)})).is_stepwise(3)
        (True, False)
        """
        every = range(classes)
        return all(
            (a, b) in self.classes or (b, c) in self.classes for a, c in self.classes for b in every if b not in (a, c)
        )


def any_change(classifier: Classifier, changing: Sequence[int]) -> Contrast:
    """The contrast of any two decisions, if some variables change."""
    every = range(len(classifier.classes))
    return Contrast(tuple(changing), frozenset((a, b) for a in every for b in every if a != b))


def worse(classes: int, rank: Sequence[int], variable: int, order: Sequence[int]) -> Contrast:
    """The contrast of a decision and one of lower rank, as a variable goes up in an order of its states.

    >>> sorted(worse(3, (0, 1, 1), 4, range(10)).classes)
    [(1, 0), (2, 0)]
    """
    falls = ((a, b) for a, b in product(range(classes), repeat=2) if rank[b] < rank[a])
    return Contrast((variable,), frozenset(falls), order)


def rising(variable: Variable) -> Sequence[int]:
    """The states of a numeric variable, the lowest numbers first; missing values are none of them."""
    return range(len(variable.cuts) + 1)


def find_pair(terms: Terms, contrast: Contrast, clock: Clock) -> Pair | None:
    """Two possible instances that a contrast looks for; None if there are none.

    They are found in the classifier's own way where it has one. OutOfTime when the clock ends, TooLarge at limits.
    """
    worlds, classifier = terms.worlds, terms.classifier
    classes = frozenset(pair for pair in contrast.classes if worlds.impossible.isdisjoint(pair))
    asked = replace(contrast, classes=classes)
    if not classes or set(classifier.tested).isdisjoint(contrast.changing):
        return None
    if offers(classifier, FindsPairs):
        try:
            return classifier.find_pair(asked, worlds.possible, clock)
        except Unsupported:
            return _Regions(terms, asked).search(clock)
    if isinstance(classifier, Constrained) and offers(classifier.model, FindsPairs):
        try:
            found = classifier.model.find_pair(asked, worlds.possible, clock.share(0.5))
        except (OutOfTime, TooLarge, Unsupported):
            found = None
        else:
            if found is None:  # what is in no world is in none that is possible
                return None
            found = _made_possible(classifier, asked, worlds.possible, found)
        if found is not None:
            return found
    return _Regions(terms, asked).search(clock)


def _made_possible(classifier: Constrained, contrast: Contrast, possible: Region, pair: Pair) -> Pair | None:
    """A pair that the model has in all worlds, if both are possible for some of what is unknown in them."""
    one = classifier.constraint.completed(pair[0], possible)
    if one is None:
        return None
    known = [v for v in contrast.changing if pair[1][v] != UNKNOWN]
    other = [pair[1][v] if v in known else state for v, state in enumerate(one)]
    return (one, other) if classifier.constraint.path(other) == POSSIBLE else None


@dataclass(frozen=True, slots=True)
class _Part:
    """Where a pair may be: both in a region, and with an order, the first at some places in it, the second at some."""

    region: Region
    mine: range
    theirs: range


class _Regions:
    """The search by `escape` alone.

    A region without two classes that are looked for holds no pair; one with two such instances that differ in changing
    variables only holds one; any other is cut in two between them.
    """

    def __init__(self, terms: Terms, contrast: Contrast) -> None:
        self.worlds, self.classifier, self.contrast = terms.worlds, terms.classifier, contrast
        self.tested = frozenset(self.classifier.tested)
        self.every = frozenset(range(len(self.classifier.classes)))
        self.possible_classes = self.every - self.worlds.impossible
        self.partners: dict[int, frozenset[int]] = {
            a: frozenset(b for first, b in contrast.classes if first == a) for a, _ in contrast.classes
        }

    def search(self, clock: Clock) -> Pair | None:
        """The pair; None if there is none."""
        places = range(len(self.contrast.order or ()))
        work = [_Part(self.worlds.possible, places, places)]
        for _ in range(MOST_REGIONS):
            if not work:
                return None
            part = work.pop()
            found = self._two_classes(part, clock)
            if found is None:
                continue
            one, other = found
            apart = [v for v in self.tested.difference(self.contrast.changing) if one[v] != other[v]]
            if apart:
                v = min(apart)
                work += [replace(part, region=half) for half in _halves(part.region, v, one[v], other[v])]
            elif self._is_ordered(one, other):
                whole = part.region.nearest(one)
                changed = self.tested.intersection(self.contrast.changing)
                return whole, [other[v] if v in changed else state for v, state in enumerate(whole)]
            else:
                work += self._ordered_parts(part, one, other)
        raise TooLarge(f"looking for two such instances took more than {MOST_REGIONS} regions", limit=MOST_REGIONS)

    def _two_classes(self, part: _Part, clock: Clock) -> Pair | None:
        """Two instances of a part that have classes that are looked for, whatever they differ in."""
        mine, theirs = self._with_places(part.region, part.mine), self._with_places(part.region, part.theirs)
        start = None if mine.is_empty or theirs.is_empty else self.worlds.member(mine)
        if start is None:
            return None
        left = frozenset(self.partners)
        one: Sequence[int] | None = start
        if self.classifier.decide(start) not in left:
            one = self._escape(start, left, mine, clock)
        while one is not None:
            decision = self.classifier.decide(one)
            other = self._escape(one, self.partners[decision], theirs, clock)
            if other is not None:
                return one, other
            left -= {decision}
            is_all = self.contrast.order is None and self.partners[decision] == self.possible_classes - {decision}
            one = None if is_all or not left else self._escape(one, left, mine, clock)
        return None

    def _escape(
        self, near: Sequence[int], wanted: frozenset[int], region: Region, clock: Clock
    ) -> Sequence[int] | None:
        """A possible instance in a region that has one of these classes, near to one if it can be."""
        decision = self.classifier.decide(near)
        classes = tuple(self.classifier.classes)
        question = Question(classes, tuple(near), decision, self.every - wanted, self.worlds.possible)
        return escape_within(self.classifier, question, region, clock)

    def _with_places(self, region: Region, places: range) -> Region:
        """The part of a region in which the changing variable has states at these places of the order."""
        order = self.contrast.order
        if order is None:
            return region
        (v,) = self.contrast.changing
        states = order[places.start : places.stop]
        ranges: Ranges = ()
        if isinstance(states, range) and abs(states.step) == 1:  # a line's are too many to be listed
            ranges = ((min(states[0], states[-1]), max(states[0], states[-1])),) if len(states) else ()
        else:
            ranges = union((state, state) for state in states)
        return region.replaced({v: intersection(ranges, region.states(v))})

    def _place(self, states: Sequence[int]) -> int:
        assert self.contrast.order is not None
        return self.contrast.order.index(states[self.contrast.changing[0]])

    def _is_ordered(self, one: Sequence[int], other: Sequence[int]) -> bool:
        return self.contrast.order is None or self._place(one) < self._place(other)

    def _ordered_parts(self, part: _Part, one: Sequence[int], other: Sequence[int]) -> list[_Part]:
        """The pairs of places of a part, cut between those of two instances that are in the wrong order."""
        middle = (self._place(one) + self._place(other) + 1) // 2
        first, second = ((_before(places, middle), _from(places, middle)) for places in (part.mine, part.theirs))
        parts = ((first[0], second[0]), (first[1], second[1]), (first[0], second[1]))
        return [_Part(part.region, mine, theirs) for mine, theirs in parts if mine and theirs and mine[0] < theirs[-1]]


def _before(places: range, middle: int) -> range:
    return range(places.start, min(places.stop, middle))


def _from(places: range, middle: int) -> range:
    return range(max(places.start, middle), places.stop)


def _halves(region: Region, variable: int, one: int, other: int) -> list[Region]:
    """The region cut in two between two states of a variable."""
    ranges = region.states(variable)
    lower = intersection(ranges, ((0, (one + other) // 2),))
    return [region.replaced({variable: half}) for half in (difference(ranges, lower), lower)]
