"""Orders of features along which a network has small separators, so that its messages are short."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from quia._kernel import OverBudget
from quia.compile.chain import Scores
from quia.compile.cuts import Cut, Cuts, as_bits
from quia.compile.factors import MOST_CELLS, Outline, cells_of
from quia.compile.moves import Part, Places
from quia.patience import Clock, OutOfTime

_FEW = 1 << 25
"""An order that takes no more numbers is as good as any."""
_MANY = 1 << 28
"""Where every order takes more, it is worth the time to make one better."""
_VERY_MANY = 1 << 31
"""Where it still takes more then, it is worth the time to make another one better."""
_MESSAGES = 1 << 12
"""Messages become no more than about this: most of those to come are recognised, or looked at together."""
_DEAR = 64
"""The price of features in separators that keeps them out of these wherever hidden variables will do."""
_MOST_PLANS = 4000
"""So many ways from one separator to the next are planned at the most, while an order is made better."""
_MOST_CUTS = 1 << 15
"""So many cuts are looked for at the most, while an order is shaken."""
_SHORT = 8
"""Where no separator has more states than these, another order would hardly have shorter messages."""
_MOST_MESSAGES = 1 << 16
"""There are no more messages than about this at a level, where an order is shaken."""


def arranged(scores: Scores, clock: Callable[[], None]) -> tuple[Places, Cuts]:
    """An order of the features that matter along which messages are short, and the cuts of that.

    It is one that always goes on to the nearest feature. Where that makes long messages, it is also tried backwards:
    they are then long where they are few; and with features kept out of separators, as they may connect all of a
    network at one place. Where all of these take long, they are made better, forwards and backwards again.
    """
    starts: list[_Found] = []
    for price in (1, _DEAR):
        plans = _Plans(scores, price, clock)
        nearest = _found(_nearest(plans.cuts, scores.relevant, clock), plans)
        if nearest.numbers <= _FEW:
            return nearest.order, plans.cuts
        starts.append(min(nearest, _found(nearest.order[::-1], plans), key=_by_numbers))
    starts.sort(key=_by_numbers)
    # Where all take tables that are too large, whoever makes these says so.
    best = min([*starts, *_improved(starts)], key=lambda each: (each.plans.is_too_large(each.order), each.numbers))
    return best.order, best.plans.cuts


def cuts_along(scores: Scores, order: Places, clock: Callable[[], None]) -> Cuts:
    """The cuts along an order that is given."""
    plans = [_Plans(scores, price, clock) for price in (1, _DEAR)]
    return min(plans, key=lambda each: each.numbers(order)).cuts


def is_short(order: Places, cuts: Cuts) -> bool:
    """Whether no other order would have much shorter messages."""
    return all(cuts.width(as_bits(order[: place + 1])) <= _SHORT for place in range(len(order)))


def shortened(scores: Scores, order: Places, cuts: Cuts, clock: Clock) -> tuple[Places, Cuts] | None:
    """An order with shorter messages than this one, and its cuts; None if none is found.

    Short messages are worth more than what it saves to lead them on: those of one sub-classifier are the more alike.
    So this is for where a graph takes long.
    """
    shaken = scores.cuts(1)
    try:
        found = shaken.shaken(order, _MOST_CUTS, _MOST_MESSAGES, clock.left)
    except OverBudget:
        raise OutOfTime from None
    if _length(found, shaken) >= _length(order, cuts) or _Plans(scores, 1, clock).is_too_large(found):
        return None
    return found, shaken


class _Plan(NamedTuple):
    """About how many numbers it takes to lead a message on, and whether a table is too large to be made."""

    numbers: int
    is_too_large: bool


class _Plans:
    """What it would take to lead all messages along orders, told by the variables of a network alone.

    How to go on from some observed features to one more does not hang on the order of these, and is planned once.
    """

    def __init__(self, scores: Scores, price: int, clock: Callable[[], None]) -> None:
        self.cuts = scores.cuts(price)
        self._target, self._sizes = scores.target, scores.network.sizes
        self._outlines = [Outline(frozenset(factor.scope)) for factor in scores.factors]
        self._clock = clock
        self._known: dict[tuple[int, int], _Plan] = {}

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, order: Places) -> int:
        """About how many numbers it takes to lead all messages along an order."""
        total, messages = 0, 1
        for feature, plan in zip(order, self._along(order), strict=True):
            total += messages * plan.numbers
            messages = min(messages * self._sizes[feature], _MESSAGES)
        return total

    def is_too_large(self, order: Places) -> bool:
        """Whether an order takes a table that is too large to be made."""
        return any(plan.is_too_large for plan in self._along(order))

    def _along(self, order: Places) -> Iterator[_Plan]:
        observed = 0
        for feature in order:
            if (observed, feature) not in self._known:
                self._clock()
                self._known[observed, feature] = self._plan(observed, feature)
            yield self._known[observed, feature]
            observed |= 1 << feature

    def _plan(self, observed: int, feature: int) -> _Plan:
        """From some observed features to one more."""
        start = self.cuts.after(observed) if observed else Cut(frozenset(), frozenset())
        end = self.cuts.after(observed | 1 << feature)
        passed = start.left | {self._target} if observed else frozenset[int]()
        reached = end.left | {self._target}
        met = [table for table in self._outlines if table.scope <= reached and not table.scope <= passed]
        part = Part(feature, tuple(start.separator), tuple(end.separator), self._target, self._sizes)
        numbers, messages, is_too_large = 0, 1, False
        for move in part.moves(met):
            cells = cells_of(move.scope, self._sizes)
            largest = max([cells, *(table.cells for table in move.tables)])
            is_too_large |= largest > MOST_CELLS
            # What is too large is dear, and the dearer the larger it is, so that there is a way to smaller ones.
            numbers += cells * messages * max(1, largest // MOST_CELLS) ** 2
            if move.feature is not None:
                messages = self._sizes[feature]
        return _Plan(numbers, is_too_large)


def _nearest(cuts: Cuts, features: Iterable[int], clock: Callable[[], None]) -> Places:
    """An order that takes at each place the feature with the smallest separator after it."""
    left, order, observed = sorted(features), list[int](), 0
    while left:
        best, least = left[0], math.inf
        for feature in left:
            clock()
            width = cuts.width(observed | 1 << feature)
            if width < least:
                best, least = feature, width
            if width == 1:
                break
        order.append(best)
        left.remove(best)
        observed |= 1 << best
    return tuple(order)


def _length(order: Places, cuts: Cuts) -> int:
    """How long all messages along an order are together, about."""
    total, messages, observed = 0, 1, 0
    for feature in order:
        observed |= 1 << feature
        messages = min(messages * cuts.sizes[feature], _MOST_MESSAGES)
        total += messages * cuts.width(observed)
    return total


class _Found(NamedTuple):
    """An order, and about how many numbers it takes."""

    numbers: int
    order: Places
    plans: _Plans


def _found(order: Places, plans: _Plans) -> _Found:
    return _Found(plans.numbers(order), order, plans)


def _by_numbers(found: _Found) -> int:
    return found.numbers


def _improved(starts: Sequence[_Found]) -> list[_Found]:
    """Better orders, as long as it is worth looking for one: each start sifted, then that backwards."""
    found: list[_Found] = []
    for start in starts:
        for is_backwards in (False, True):
            enough = _VERY_MANY if found else _MANY
            if min([*starts, *found], key=_by_numbers).numbers <= enough:
                return found
            found.append(_sifted(_found(found[-1].order[::-1], start.plans) if is_backwards else start))
    return found


def _sifted(start: _Found) -> _Found:
    """A better order: one feature after the other is moved to where the order takes the fewest numbers."""
    best, plans = start, start.plans
    most = len(plans) + _MOST_PLANS
    while best.numbers > _MANY:
        before = best
        for feature in before.order:
            others = [each for each in best.order if each != feature]
            for place in range(len(others) + 1):
                if len(plans) > most:
                    return best
                tried = (*others[:place], feature, *others[place:])
                best = min(best, _found(tried, plans), key=_by_numbers)
        if best.numbers * 5 > before.numbers * 4:
            break
    return best
