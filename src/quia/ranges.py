"""Sets of state indices as sorted, disjoint, inclusive ranges: ((0, 2), (5, 5)) is {0, 1, 2, 5}.

A numeric variable can have thousands of states, so an edge keeps ranges, never a list of its states.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

Ranges = tuple[tuple[int, int], ...]


def union(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges that cover just what the pairs cover, neighbours joined.

    >>> union([(5, 5), (0, 1), (2, 2)])
    ((0, 2), (5, 5))
    """
    joined: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def intersection(a: Ranges, b: Ranges) -> Ranges:
    """What both cover. Complexity: linear in the shorter number of ranges, but for a bisection each, and the result.

    >>> intersection(((0, 4), (7, 9)), ((3, 7),))
    ((3, 4), (7, 7))
    """
    if len(a) == len(b) == 1:  # as most are
        low, high = max(a[0][0], b[0][0]), min(a[0][1], b[0][1])
        return ((low, high),) if low <= high else ()
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    common = []
    for first, last in few:
        # The range that begins at or before `first` may reach into this one; all others begin in it.
        for place in range(max(0, bisect_right(many, (first, math.inf)) - 1), len(many)):
            low, high = many[place]
            if low > last:
                break
            if high >= first:
                common.append((max(low, first), min(high, last)))
    return tuple(common)


def difference(a: Ranges, b: Ranges) -> Ranges:
    """What a covers and b does not.

    >>> difference(((0, 9),), ((0, 1), (4, 4)))
    ((2, 3), (5, 9))
    """
    rest = []
    j = 0
    for first, high in a:
        low = first
        while j < len(b) and b[j][1] < low:
            j += 1
        k = j
        while k < len(b) and b[k][0] <= high:
            if low < b[k][0]:
                rest.append((low, b[k][0] - 1))
            low = b[k][1] + 1
            k += 1
        if low <= high:
            rest.append((low, high))
    return tuple(rest)


def size(ranges: Ranges) -> int:
    """How many states the ranges cover."""
    return sum(high - low + 1 for low, high in ranges)


def members(ranges: Ranges) -> Iterator[int]:
    """The states covered, in order.

    >>> list(members(((0, 2), (5, 5))))
    [0, 1, 2, 5]
    """
    for low, high in ranges:
        yield from range(low, high + 1)


def as_listed(ranges: Ranges) -> tuple[tuple[int, int, int], ...]:
    """What sorts sets as the lists of their members are sorted, however many these are.

    >>> sets = [((0, 2),), ((0, 1), (5, 5)), ((0, 1),), ((0, 0), (2, 2)), ((1, 1),)]
    >>> sorted(sets, key=as_listed) == sorted(sets, key=lambda ranges: list(members(ranges)))
    True
    """
    # Of two that begin alike, one that ends is first; of those that go on, the one without a gap for longer.
    last = len(ranges) - 1
    return tuple((low, 0, high) if at == last else (low, 1, -high) for at, (low, high) in enumerate(ranges))


def covers(ranges: Ranges, state: int) -> bool:
    """Whether the state is in the set."""
    return any(low <= state <= high for low, high in ranges)


class Overlap(Exception):
    """Two of several sets share states: which two, and the states."""

    def __init__(self, first: int, second: int, shared: Ranges) -> None:
        self.first, self.second, self.shared = first, second, shared
        super().__init__(first, second, shared)


def owners(sets: Sequence[Ranges], size: int) -> list[int]:
    """Which of several sets each of so many states is in, -1 if in none; Overlap if it is in two.

    >>> owners([((0, 1), (4, 4)), ((2, 2),)], 6)
    [0, 0, 1, -1, 0, -1]
    """
    found = [-1] * size
    for at, ranges in enumerate(sets):
        for low, high in ranges:
            taken = max(found[low : high + 1])
            if taken >= 0:
                raise Overlap(taken, at, intersection(sets[taken], ranges))
            found[low : high + 1] = [at] * (high + 1 - low)
    return found
