"""Separators along an order of features: through what the features before a place are connected to those after it."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from quia import _kernel

_SCALE = 1024
_MOST_KEPT = 1 << 17
"""So many cuts are remembered."""


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
        beside: dict[int, set[int]] = {}
        for scope in scopes:
            for place in scope:
                beside.setdefault(place, set()).update(set(scope) - {place})
        self._variables = frozenset(beside)
        self._separators = _separators(beside, self.sizes, self.features, price)
        self.searched = 0
        self._every_feature, self._every_variable = as_bits(self.features), as_bits(self._variables)
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
            cut = Cut(self._variables, frozenset())
            if observed != self._every_feature:
                self.searched += 1
                found = self._separators.least(np.array(list(_places(observed & self._every_variable)), np.int32))
                cut = Cut(*(frozenset(places.tolist()) for places in found))
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            width = math.prod(self.sizes[place] for place in cut.separator)
            known = self._known[observed] = as_bits(cut.left), as_bits(cut.separator), width
        return known

    def shaken(
        self, order: Sequence[int], most_cuts: int, most_messages: int, timeout: float | None
    ) -> tuple[int, ...]:
        """An order with shorter messages than this one, if one is found by moving features about at random.

        Orders that become longer are accepted less and less. There are thought to be no more than so many messages at a
        level, and no more cuts than that are looked for. It is the same on every machine.
        """
        found = self._separators.shake(
            np.array(order, np.int32), most_cuts=most_cuts, most_messages=most_messages, timeout=timeout
        )
        return tuple(found.tolist())


def _separators(
    beside: Mapping[int, Collection[int]], sizes: Sequence[int], features: Container[int], price: int
) -> _kernel.Separators:
    """The kernel's search for cuts. What a variable costs is the logarithm of its number of states."""
    rows = [sorted(beside.get(place, ())) for place in range(len(sizes))]
    costs = [round(_SCALE * math.log2(size)) * (price if place in features else 1) for place, size in enumerate(sizes)]
    return _kernel.Separators(
        np.cumsum([0, *map(len, rows)]),
        np.array(list(chain.from_iterable(rows)), np.int32),
        np.array(sizes, np.int32),
        np.array(costs, np.int64),
        np.array([place in features for place in range(len(sizes))], np.uint8),
    )
