"""Regions: the sets of conditions of many lists, each distinct one once, so that it is put into words once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch.answers import Bools, Ints, Lists, first_of, spread
from quia.batch.table import from_numpy, to_numpy
from quia.ranges import Ranges

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Distinct conditions: a variable each, and the ranges of its states, as in `Lists`."""

    variables: Ints
    range_start: Ints
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.variables)

    def take(self, chosen: Ints) -> Conditions:
        """These ones, in this order."""
        ranges, range_start = spread(self.range_start, chosen)
        return Conditions(self.variables[chosen], range_start, self.low[ranges], self.high[ranges])

    def __iter__(self) -> Iterator[tuple[int, Ranges]]:
        """Each as a variable and its ranges."""
        pairs = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        starts = self.range_start.tolist()
        for at, variable in enumerate(self.variables.tolist()):
            yield variable, tuple(pairs[starts[at] : starts[at + 1]])


@dataclass(frozen=True, slots=True)
class Regions:
    """Distinct regions: region k is where the conditions `members[j]`, j in `start[k] … start[k+1]`, all hold."""

    conditions: Conditions
    start: Ints
    members: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def features(self) -> Ints:
        """For each region a number that it shares with those that speak of the same variables."""
        hashes = _sums(_mixed(self.conditions.variables[self.members].astype(np.uint64)), self.start)
        return np.unique(hashes, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True, slots=True)
class Listed:
    """Lists by the number of each set's region; row i has the sets `set_start[i] … set_start[i+1]`.

    With a reference table, `rows` says of each region how many rows of it are there.
    """

    known: Bools
    set_start: Ints
    which: Ints
    labels: Ints
    regions: Regions
    rows: Ints | None = None

    def take(self, rows: Ints) -> Listed:
        """The lists of these rows, in this order."""
        sets, set_start = spread(self.set_start, rows)
        return replace(
            self, known=self.known[rows], set_start=set_start, which=self.which[sets], labels=self.labels[sets]
        )

    def first(self, most: int) -> Listed:
        """At most so many sets of each row."""
        lengths = np.minimum(np.diff(self.set_start), most)
        sets, set_start = first_of(self.set_start, lengths)
        return replace(self, set_start=set_start, which=self.which[sets], labels=self.labels[sets])

    def counted(self, rows: Ints) -> Listed:
        """With the rows of each region; of those that are listed for the same features, the one with most comes first.

        Their order is else as it was.
        """
        row = np.repeat(np.arange(len(self.known)), np.diff(self.set_start))
        features = self.regions.features[self.which]
        is_next = np.ones(len(row), np.int64)
        is_next[1:] = (row[1:] != row[:-1]) | (features[1:] != features[:-1])
        order = np.lexsort((-rows[self.which], np.cumsum(is_next)))
        return replace(self, which=self.which[order], labels=self.labels[order], rows=rows)


def distinct_regions(lists: Lists) -> Listed:
    """The lists with each region once, in an order that does not depend on that of the rows.

    Complexity: linear. Regions and conditions are told apart by hashes of 64 bits, then compared.
    """
    range_start = np.arange(len(lists.low) + 1) if lists.range_start is None else lists.range_start
    every = Conditions(lists.variables, range_start, lists.low, lists.high)
    hashes = _condition_hashes(every)
    start = lists.member_start
    region = _distinct(
        _sums(hashes, start),
        lambda first: _same_regions(every, start, first),
        lambda: [tuple(islice(each, b - a)) for each in [iter(every)] for a, b in pairwise(start.tolist())],
    )
    members, region_start = spread(start, region.first)
    kept = every.take(members)
    condition = _distinct(hashes[members], lambda first: _same_conditions(kept, kept.take(first)), lambda: list(kept))
    regions = Regions(kept.take(condition.first), region_start, condition.which)
    return Listed(lists.known, lists.set_start, region.which, lists.labels, regions)


class _Distinct(NamedTuple):
    """An item of each kind, and of which kind every item is."""

    first: Ints
    which: Ints


def _distinct(hashes: Hashes, are_same: Callable[[Ints], bool], keys: Callable[[], Sequence[Any]]) -> _Distinct:
    """Equal items found by their hashes, or, should two that differ share one, by their `keys`.

    `are_same` is asked whether every item equals the one of a number.
    """
    encoded = from_numpy(hashes).dictionary_encode()  # which is twice as fast as sorting them all
    which = _ranks(to_numpy(encoded.dictionary))[to_numpy(encoded.indices)]
    first = _first(which, len(encoded.dictionary))
    if not are_same(first[which]):
        given = keys()
        rank = {key: at for at, key in enumerate(sorted(set(given)))}
        which = np.array([rank[key] for key in given], np.int64)
        first = _first(which, len(rank))
    return _Distinct(first, which)


def _ranks(values: Ints) -> Ints:
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values)] = np.arange(len(values))
    return ranks


def _first(which: Ints, kinds: int) -> Ints:
    first = np.empty(kinds, np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return first


def _same_conditions(some: Conditions, others: Conditions) -> bool:
    return (
        np.array_equal(some.variables, others.variables)
        and np.array_equal(some.range_start, others.range_start)
        and np.array_equal(some.low, others.low)
        and np.array_equal(some.high, others.high)
    )


def _same_regions(every: Conditions, start: Ints, first: Ints) -> bool:
    members, others_start = spread(start, first)
    sizes = np.diff(every.range_start)
    if not (
        np.array_equal(start, others_start)
        and np.array_equal(every.variables[members], every.variables)
        and np.array_equal(sizes[members], sizes)
    ):
        return False
    ranges, _ = spread(every.range_start[start], first)
    return np.array_equal(every.low[ranges], every.low) and np.array_equal(every.high[ranges], every.high)


_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)


def _condition_hashes(every: Conditions) -> Hashes:
    ranges = _mixed(every.low.astype(np.uint64) << np.uint64(32) | every.high.astype(np.uint64))
    sums = ranges if len(ranges) == len(every) else _sums(ranges, every.range_start)
    return _mixed(sums + every.variables.astype(np.uint64) * _ODD[0])


def _mixed(values: Hashes) -> Hashes:
    """Numbers scattered, so that their sums tell sets of them apart."""
    values = (values + _ODD[0]) * _ODD[1]  # so that 0 does not stay 0, and counts
    values ^= values >> np.uint64(32)
    values *= _ODD[2]
    values ^= values >> np.uint64(29)
    return values


def _sums(values: Hashes, start: Ints) -> Hashes:
    """The sum, in 64 bits, of each list of values."""
    sums = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=sums[1:])
    return sums[start[1:]] - sums[start[:-1]]
