"""The smallest sets of numbers that reach a sum, of many rows at once: all are counted, the first are listed.

Glossary: a row has a number for each variable, and a *need*; a set of variables reaches it if its numbers sum to the
need or more. The *top* are as many of the largest numbers as reach it, the least of them the *pivot*. What they sum to
beyond the need is *spare*: less than the pivot, or fewer would do. So any other set of that size comes from the top by
swaps that cost no more than is spare, and only the variables with numbers near the pivot, the *zone*, can take part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch.lists import spread

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]

MOST_IN_ZONE = 62
"""So many variables can swap: their subsets are counted in 63 bits, and are bits of a word."""
_MOST_SPARE = 2**12
_MOST_HALVES = 2**17
_CELLS = 2**21


class Least(NamedTuple):
    """The smallest sets of rows: how many `ties` each row has, -1 where it is not told, and a row's first sets.

    Row r has the sets `start[r] … start[r+1]`, each a row of `chosen`, which says of every variable whether it is in.
    """

    ties: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    chosen: Bools

    def of_rows(self, rows: Array) -> Least:
        """Those of some rows, in this order."""
        sets, start = spread(self.start, rows)
        return Least(self.ties[rows], start, self.chosen[sets])


def least_sets(numbers: Array, need: Array, limit: int, margin: float = 0.0) -> Least:
    """The smallest sets of variables whose numbers sum to the need or more, the first by the order of variables.

    Where a sum that matters is no more than the margin away from the need, a row is not told; nor where there are too
    many sets to count.

    >>> found = least_sets(np.array([[5, 3, 2, 3]]), np.array([7]), 2)
    >>> found.ties.tolist(), found.chosen.astype(int).tolist()
    ([3], [[1, 1, 0, 0], [1, 0, 1, 0]])
    """
    rows, variables = numbers.shape
    if not variables:  # a number that changes nothing spares a second way
        return least_sets(np.zeros((rows, 1), numbers.dtype), need, limit, margin)._replace(
            chosen=np.zeros((int(min(limit, 1) * (need <= 0).sum()), 0), bool)
        )
    order = np.argsort(-numbers, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(numbers, order, axis=1), axis=1)
    size = (sums < need[:, None]).sum(axis=1) + 1
    told = np.ones(rows, bool)
    if margin:
        told = (np.abs(sums - need[:, None]) > margin).all(axis=1) & (np.abs(need) > margin)
    is_empty, is_none = need <= 0, size > variables
    count = np.where(told, is_empty.astype(np.int64), -1)
    work = np.flatnonzero(told & ~is_empty & ~is_none)
    blank = np.flatnonzero(told & is_empty) if limit else np.zeros(0, np.int64)
    found_rows, found = [blank], [np.zeros((len(blank), variables), bool)]
    swaps = _swaps(numbers[work], order[work], sums[work], size[work], need[work], numbers.dtype.type(margin))
    count[work] = -1
    for some in swaps.pieces(limit):
        piece = swaps.take(some)
        at, bits, cost = _listed(piece, limit + 1)
        count[work[some]] = _counted(piece, at, cost, limit)
        kept = _rank(at) < limit
        kept &= count[work[some]][at] >= 0
        found_rows.append(work[some][at[kept]])
        found.append(piece.sets(at[kept], bits[kept]))
    row, chosen = np.concatenate(found_rows), np.concatenate(found)
    by_row = np.argsort(row, kind="stable")
    return Least(count, _starts(np.bincount(row, minlength=rows)), chosen[by_row])


def _starts(lengths: Array) -> npt.NDArray[np.int64]:
    start = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


@dataclass(frozen=True, slots=True)
class _Swaps:
    """What can be swapped: `zone[r, j]` are variables in their order, the first `width[r]` of which are meant.

    Leaving out one that `is_top`, or taking another, has a `cost`; all together may cost no more than is `spare`.
    `fixed` are the variables that are in every set.
    """

    zone: Array
    width: Array
    is_top: Bools
    cost: Array
    spare: Array
    fixed: Bools
    margin: Any

    def pieces(self, limit: int) -> list[Array]:
        """Rows that are alike in size, so many at a time as fit into memory."""
        order = np.lexsort((self.width, self.spare, self.swapped))
        found, begin = [], 0
        while begin < len(order):
            widest = max(int(self.width[order[begin : begin + 4096]].max()), 1)
            end = begin + max(1, min(4096, _CELLS // max(widest * widest, 4 * limit)))
            found.append(order[begin:end])
            begin = end
        return found

    def take(self, rows: Array) -> _Swaps:
        """Those of some rows."""
        widest = int(self.width[rows].max(initial=0))
        parts = (part[rows, :widest] for part in (self.zone, self.is_top, self.cost))
        zone, is_top, cost = parts
        return _Swaps(zone, self.width[rows], is_top, cost, self.spare[rows], self.fixed[rows], self.margin)

    @property
    def swapped(self) -> Array:
        """How many variables of each row can be swapped at once."""
        never = (self.spare + self.margin)[:, None] + 1
        sides = (np.sort(np.where(self.is_top == of_top, self.cost, never), axis=1) for of_top in (True, False))
        spent = np.cumsum(sum(sides), axis=1)
        return np.asarray((spent < never).sum(axis=1))

    @property
    def most_swapped(self) -> int:
        """How many variables can be swapped at once in some row."""
        return int(self.swapped.max(initial=0))

    def sets(self, at: Array, bits: npt.NDArray[np.uint64]) -> Bools:
        """Sets of rows, whose members in the zone are bits."""
        chosen = self.fixed[at]
        for place in range(self.zone.shape[1]):
            is_in = np.flatnonzero(bits >> np.uint64(place) & np.uint64(1))
            chosen[is_in, self.zone[at[is_in], place]] = True
        return chosen


def _swaps(numbers: Array, order: Array, sums: Array, size: Array, need: Array, margin: Any) -> _Swaps:
    rows, variables = numbers.shape
    every = np.arange(rows)
    pivot = numbers[every, order[every, size - 1]][:, None]
    spare = sums[every, size - 1] - need
    is_top = np.empty((rows, variables), bool)
    np.put_along_axis(is_top, order, np.arange(variables) < size[:, None], axis=1)
    following = numbers[every, order[every, np.minimum(size, variables - 1)]]
    nearest = np.where(size < variables, pivot[:, 0] - following, spare + 2 * margin + 1)[:, None]
    cost = np.abs(numbers - pivot)
    most = (spare + margin)[:, None]
    in_zone = np.where(is_top, cost + nearest <= most, cost <= most)
    width = in_zone.sum(axis=1)
    widest = min(int(width.max(initial=0)), MOST_IN_ZONE)
    zone = np.argsort(~in_zone, axis=1, kind="stable")[:, :widest]
    beyond = np.arange(widest) >= width[:, None]
    # What fills a row up is never taken, as that costs too much.
    own_cost = np.where(beyond, most + 1, np.take_along_axis(cost, zone, axis=1))
    own_top = np.take_along_axis(is_top, zone, axis=1) & ~beyond
    return _Swaps(zone, width, own_top, own_cost, spare, is_top & ~in_zone, margin)


def _listed(swaps: _Swaps, most: int) -> tuple[Array, npt.NDArray[np.uint64], Array]:
    """The first so many sets of each row: its place, the set's members in the zone as bits, and what it costs.

    Sets are built variable by variable, those that take a variable before those that do not; of the beginnings that
    can be ended only the first so many of a row are kept, so none of its first sets is lost.
    """
    widest = swaps.cost.shape[1]
    ending = _Ending.of(swaps)
    at = np.flatnonzero(swaps.width <= MOST_IN_ZONE)
    cost, owed = np.zeros(len(at), swaps.cost.dtype), np.zeros(len(at), np.int64)
    bits = np.zeros(len(at), np.uint64)
    limit = swaps.spare + swaps.margin
    for place in range(widest):
        is_top, own = swaps.is_top[at, place], swaps.cost[at, place]
        both = np.repeat(np.arange(len(at)), 2)
        takes = np.tile(np.array([True, False]), len(at))
        # To leave out one of the top owes a variable, to take another pays one back.
        moves = is_top[both] != takes
        spent = cost[both] + np.where(moves, own[both], 0)
        balance = owed[both] + np.where(moves, np.where(is_top[both], 1, -1), 0)
        fits = spent + ending.least(at[both], place + 1, balance) <= limit[at[both]]
        kept = np.flatnonzero(fits)
        kept = kept[_rank(at[both[kept]]) < most]
        chosen = both[kept]
        at, cost, owed = at[chosen], spent[kept], balance[kept]
        bits = bits[chosen] | takes[kept].astype(np.uint64) << np.uint64(place)
    return at, bits, cost


def _rank(rows: Array) -> Array:
    """Which of its row's items each is, where those of a row are together."""
    begins = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])) if len(rows) else np.zeros(0, np.int64)
    return np.arange(len(rows)) - np.repeat(begins, np.diff(np.append(begins, len(rows))))


@dataclass(frozen=True, slots=True)
class _Ending:
    """The least that it costs to leave out, or to take, n variables from a place on: `[place, row, n]`."""

    left_out: Array
    taken: Array

    @staticmethod
    def of(swaps: _Swaps) -> _Ending:
        """What is left to do in the zones."""
        rows, widest = swaps.cost.shape
        most = swaps.most_swapped
        never = (swaps.spare + swaps.margin)[:, None] + 1
        sides = []
        for of_top in (True, False):
            own = np.where(swaps.is_top == of_top, swaps.cost, never)
            sums = np.zeros((widest + 1, rows, most + 2), swaps.cost.dtype)
            sums[:, :, 1:] = never
            for place in range(widest):
                cheapest = np.cumsum(np.sort(own[:, place:], axis=1)[:, :most], axis=1)
                sums[place, :, 1 : cheapest.shape[1] + 1] = np.minimum(cheapest, never)
            sides.append(sums)
        return _Ending(*sides)

    def least(self, at: Array, place: int, owed: Array) -> Array:
        """What it costs at the least to take as many variables as are owed, or to leave out as many as are too many."""
        some = np.minimum(np.abs(owed), self.taken.shape[2] - 1)
        return np.asarray(np.where(owed >= 0, self.taken[place, at, some], self.left_out[place, at, some]))


def _counted(swaps: _Swaps, at: Array, cost: Array, limit: int) -> npt.NDArray[np.int64]:
    """How many sets each row has, -1 where that is not told; `at` are the rows of those listed, and their costs."""
    rows = len(swaps.spare)
    count = np.bincount(at, minlength=rows).astype(np.int64)
    count[swaps.width > MOST_IN_ZONE] = -1
    more = count > limit
    if swaps.margin:
        close = np.abs(cost - swaps.spare[at]) <= swaps.margin
        count[at[close]] = -1
        for row in np.flatnonzero(more).tolist():
            count[row] = _by_halves(swaps, row)
        return count
    small = np.flatnonzero(more & (swaps.spare <= _MOST_SPARE))
    if len(small):
        count[small] = _by_sums(swaps.take(small))
    for row in np.flatnonzero(more & (swaps.spare > _MOST_SPARE)).tolist():
        count[row] = _by_halves(swaps, row)
    return count


def _by_sums(swaps: _Swaps) -> npt.NDArray[np.int64]:
    """How many sets there are, where costs are small whole numbers: by how many swaps cost how much, on either side."""
    most = int(swaps.spare.max())
    left_out, taken = (_ways_to_spend(swaps, of_top, most) for of_top in (True, False))
    # Both together may cost what is spare: for each that one side costs, the other may cost up to the rest.
    rest = swaps.spare[:, None] - np.arange(most + 1)
    up_to = np.cumsum(taken, axis=2)
    others = np.take_along_axis(up_to, np.maximum(rest, 0)[:, None, :], axis=2)
    return np.asarray((left_out * np.where(rest[:, None, :] >= 0, others, 0)).sum(axis=(1, 2)))


def _ways_to_spend(swaps: _Swaps, of_top: bool, most: int) -> npt.NDArray[np.int64]:
    """In how many ways so many variables of a side cost so much: `[row, how many, cost]`."""
    rows = len(swaps.cost)
    ways = np.zeros((rows, swaps.most_swapped + 1, most + 1), np.int64)
    ways[:, 0, 0] = 1
    own = np.where(swaps.is_top == of_top, np.minimum(swaps.cost, most + 1), most + 1)
    times = np.zeros((rows, most + 2), np.int64)
    np.add.at(times, (np.arange(rows)[:, None], own), 1)
    for cost in range(most + 1):
        for turn in range(int(times[:, cost].max())):
            some = np.flatnonzero(times[:, cost] > turn)
            ways[some, 1:, cost:] += ways[some, :-1, : most + 1 - cost]
    return ways


def _by_halves(swaps: _Swaps, row: int) -> int:
    """How many sets a row has, whatever its costs are: both sides are listed and put together; -1 if not told."""
    if swaps.width[row] > MOST_IN_ZONE:
        return -1
    most, own = swaps.spare[row] + swaps.margin, slice(0, int(swaps.width[row]))
    sides = []
    for of_top in (True, False):
        sums, taken = np.zeros(1, swaps.cost.dtype), np.zeros(1, np.int64)
        for each in np.sort(swaps.cost[row, own][swaps.is_top[row, own] == of_top]).tolist():
            fits = sums + each <= most
            sums, taken = np.concatenate([sums, sums[fits] + each]), np.concatenate([taken, taken[fits] + 1])
            if len(sums) > _MOST_HALVES:
                return -1
        sides.append((sums, taken))
    (left, left_size), (right, right_size) = sides
    bounds = (swaps.spare[row] - swaps.margin, swaps.spare[row] + swaps.margin)
    counts = [0, 0]
    for size in range(int(min(left_size.max(), right_size.max())) + 1):
        some = np.sort(right[right_size == size])
        for at, bound in enumerate(bounds):
            counts[at] += int(np.searchsorted(some, bound - left[left_size == size], side="right").sum())
    return counts[0] if counts[0] == counts[1] else -1
