"""Separators along an order of features: through what the features before a place are connected to those after it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_ENTRY, _EXIT = 0, 1
_SCALE = 1024
_UNLIMITED = 1 << 60
_MOST_KEPT = 1 << 17
"""So many cuts are remembered."""

End = tuple[int, int]
"""A variable's entry or exit: flow goes in at the one, through the variable, and out at the other."""


def as_bits(places: Iterable[int]) -> int:
    """A set of variables as the bits of a number, which is small and quickly found again."""
    return sum(1 << place for place in places)


def _places(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@dataclass(frozen=True, slots=True)
class Cut:
    """The smallest separator between some features, which were observed, and all others.

    `left` are the variables that the observed ones reach, those of the separator among them. The separator may have
    features too: observed ones are remembered in it, others are told apart in advance.
    """

    left: frozenset[int]
    separator: frozenset[int]


class Cuts:
    """The cuts of one network, each found once: it depends on which features are observed, not on their order.

    `searched` counts the cuts that were looked for.

    >>> rain, sprinkler, wet = range(3)
    >>> found = Cuts([(0, 2), (1, 2)], [2, 2, 2], features=(rain, sprinkler))
    >>> [sorted(cut.separator) for cut in found.along((rain, sprinkler))]
    [[0], []]
    """

    def __init__(
        self, scopes: Iterable[Sequence[int]], sizes: Sequence[int], features: Iterable[int], price: int = 1
    ) -> None:
        self.sizes = tuple(sizes)
        self.features = frozenset(features)
        self._neighbours: dict[int, set[int]] = {}
        for scope in scopes:
            for place in scope:
                self._neighbours.setdefault(place, set()).update(set(scope) - {place})
        self._capacity = {place: round(_SCALE * math.log2(sizes[place])) for place in self._neighbours}
        for place in self.features & self._capacity.keys():
            self._capacity[place] *= price
        self.searched = 0
        self._every_feature = as_bits(self.features)
        self._known: dict[int, tuple[int, int, int]] = {}  # observed: what is left, the separator, and its states

    def after(self, observed: int) -> Cut:
        """The cut between observed features, as bits, and the others."""
        left, separator, _ = self._after(observed)
        return Cut(frozenset(_places(left)), frozenset(_places(separator)))

    def along(self, order: Sequence[int]) -> list[Cut]:
        """The cuts after each feature of an order. They are nested: what is left of one is left of the next."""
        return [self.after(as_bits(order[: place + 1])) for place in range(len(order))]

    def width(self, observed: int) -> int:
        """How many states the separator after some features has."""
        return self._after(observed)[2]

    def _after(self, observed: int) -> tuple[int, int, int]:
        known = self._known.get(observed)
        if known is None:
            cut = Cut(frozenset(self._neighbours), frozenset())
            if observed != self._every_feature:
                self.searched += 1
                cut = self._least(frozenset(_places(observed)))
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            width = math.prod(self.sizes[place] for place in cut.separator)
            known = self._known[observed] = as_bits(cut.left), as_bits(cut.separator), width
        return known

    def _least(self, observed: frozenset[int]) -> Cut:
        """The least cut nearest to what is observed, by a flow along shortest paths.

        What a variable lets through is the logarithm of its number of states.
        """
        through = dict.fromkeys(self._neighbours, 0)
        flow: dict[tuple[int, int], int] = {}  # from a variable's exit to another's entry
        while True:
            came, end = self._search(observed, through, flow)
            if end is None:
                left = frozenset(place for place, side in came if side == _ENTRY)
                return Cut(left, frozenset(place for place in left if (place, _EXIT) not in came))
            path = [end]
            while (before := came[path[-1]]) is not None:
                path.append(before)
            path.reverse()
            room = min(self._room(a, b, through, flow) for a, b in pairwise(path))
            for (a, a_side), (b, _) in pairwise(path):
                if a == b:
                    through[a] += room if a_side == _ENTRY else -room
                elif a_side == _EXIT:
                    flow[a, b] = flow.get((a, b), 0) + room
                else:
                    flow[b, a] -= room

    def _room(self, start: End, end: End, through: Mapping[int, int], flow: Mapping[tuple[int, int], int]) -> int:
        (a, a_side), (b, _) = start, end
        if a == b:
            return self._capacity[a] - through[a] if a_side == _ENTRY else through[a]
        return _UNLIMITED if a_side == _EXIT else flow.get((b, a), 0)

    def _search(
        self, observed: frozenset[int], through: Mapping[int, int], flow: Mapping[tuple[int, int], int]
    ) -> tuple[dict[End, End | None], End | None]:
        """Where a flow could still go, breadth first, and the exit of another feature if it gets there."""
        came: dict[End, End | None] = {(place, _ENTRY): None for place in observed if place in through}
        waiting = deque(came)
        while waiting:
            here = waiting.popleft()
            place, side = here
            if side == _EXIT and place in self.features and place not in observed:
                return came, here
            other = (place, 1 - side)
            if other not in came and self._room(here, other, through, flow) > 0:
                came[other] = here
                waiting.append(other)
            for neighbour in self._neighbours[place]:
                there = (neighbour, 1 - side)
                if there not in came and (side == _EXIT or flow.get((neighbour, place), 0) > 0):
                    came[there] = here
                    waiting.append(there)
        return came, None
