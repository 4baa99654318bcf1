"""Orders of features along which a network has small separators, so that its messages are short."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quia.compile.chain import Scores
from quia.compile.cuts import Cuts
from quia.compile.moves import Places, moves_along
from quia.errors import TooLarge

_SHORT = 1 << 13
"""Along an order that takes no more numbers, every message is quickly led."""
_MANY = 12
"""After so many features the messages become no more: most of those to come are recognised, or looked at together."""
_TOO_MANY = 1 << 100
_DEAR = 64
"""The price of features in separators that keeps them out of these wherever hidden variables will do."""


def arranged(scores: Scores, clock: Callable[[], None]) -> tuple[Places, Cuts]:
    """An order of the features that matter along which messages are short, and the cuts of that.

    It is one that always goes on to the nearest feature. Where that makes long messages, it is also tried backwards:
    they are then long where they are few; and with features kept out of separators, as they may connect all of a
    network at one place.
    """
    found: list[tuple[int, Places, Cuts]] = []
    for price in (1, _DEAR):
        cuts = scores.cuts(price)
        nearest = _nearest(cuts, scores.relevant, clock)
        numbers = _numbers(scores, nearest, cuts)
        if numbers <= _SHORT:
            return nearest, cuts
        backwards = nearest[::-1]
        found += [(numbers, nearest, cuts), (_numbers(scores, backwards, cuts), backwards, cuts)]
    _, order, cuts = min(found, key=lambda each: each[0])
    return order, cuts


def cuts_along(scores: Scores, order: Places) -> Cuts:
    """The cuts along an order that is given."""
    return min((scores.cuts(price) for price in (1, _DEAR)), key=lambda cuts: _numbers(scores, order, cuts))


def _numbers(scores: Scores, order: Places, cuts: Cuts) -> int:
    """About how many numbers it takes to lead all messages along an order; too many, if a table is too large."""
    sizes = scores.network.sizes
    total, seen = 0, 0
    try:
        for move in moves_along(scores.rounded, scores.target, order, cuts.along(order), sizes):
            total += move.cells(sizes) << min(seen, _MANY)
            seen += move.feature is not None
    except TooLarge:
        return _TOO_MANY
    return total >> min(seen, _MANY)


def _nearest(cuts: Cuts, features: Iterable[int], clock: Callable[[], None]) -> Places:
    """An order that takes at each place the feature with the smallest separator after it."""
    left, order = list(features), list[int]()
    while left:
        clock()
        feature = min(left, key=lambda x: (cuts.width(frozenset([*order, x])), x))
        order.append(feature)
        left.remove(feature)
    return tuple(order)
