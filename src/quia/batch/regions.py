"""Regions: the sets of conditions of many lists, in a table, so that each is kept, and put into words, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch.lists import Bools, Ints, Lists, first_of, join_starts, put_last, spread
from quia.batch.table import from_numpy, to_numpy
from quia.boxes import Box
from quia.ranges import Ranges
from quia.reason import Members
from quia.region import Region

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
    """A table of regions: region k is where the conditions `members[j]`, j in `start[k] … start[k+1]`, all hold."""

    conditions: Conditions
    start: Ints
    members: Ints

    @staticmethod
    def of(conditions: Conditions, start: Ints) -> Regions:
        """Regions whose conditions come one after the other."""
        return Regions(conditions, start, np.arange(len(conditions)))

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        of = self.conditions
        parts = (self.start, self.members, of.variables, of.range_start, of.low, of.high)
        return sum(int(part.nbytes) for part in parts)

    def __iter__(self) -> Iterator[tuple[Members, Box]]:
        """Each as variables and their states."""
        conditions, members = list(self.conditions), self.members.tolist()
        for a, b in pairwise(self.start.tolist()):
            of = [conditions[member] for member in members[a:b]]
            yield tuple(variable for variable, _ in of), tuple(states for _, states in of)

    @property
    def features(self) -> Ints:
        """For each region a number that it shares with those that speak of the same variables."""
        hashes = _sums(_mixed(self.conditions.variables[self.members].astype(np.uint64)), self.start)
        return np.unique(hashes, return_inverse=True)[1].reshape(-1)

    def take(self, chosen: Ints) -> Regions:
        """These ones, in this order, with no condition that they do not have."""
        members, start = spread(self.start, chosen)
        return Regions.of(self.conditions.take(self.members[members]), start)

    @staticmethod
    def join(parts: Sequence[Regions]) -> Regions:
        """One after the other."""
        conditions = Conditions(
            np.concatenate([part.conditions.variables for part in parts]),
            join_starts([part.conditions.range_start for part in parts]),
            np.concatenate([part.conditions.low for part in parts]),
            np.concatenate([part.conditions.high for part in parts]),
        )
        before = np.cumsum([0, *(len(part.conditions) for part in parts[:-1])])
        members = [part.members + shift for part, shift in zip(parts, before.tolist(), strict=True)]
        return Regions(conditions, join_starts([part.start for part in parts]), np.concatenate(members))


def reaching_over(regions: Regions, possible: Region) -> Bools:
    """Which regions have states that are not possible, between others that are."""
    conditions = regions.conditions
    of_range = np.repeat(conditions.variables, np.diff(conditions.range_start))
    width = conditions.high - conditions.low + 1
    for v, ranges in possible.bounds.items():
        mine = np.flatnonzero(of_range == v)
        for low, high in ranges:
            shared = np.minimum(conditions.high[mine], high) - np.maximum(conditions.low[mine], low) + 1
            width[mine] -= np.maximum(shared, 0)
    width[~np.isin(of_range, list(possible.bounds))] = 0
    of_condition = np.repeat(np.arange(len(conditions)), np.diff(conditions.range_start))
    reaches = np.bincount(of_condition, width, len(conditions))[regions.members] > 0
    of_region = np.repeat(np.arange(len(regions)), np.diff(regions.start))
    return np.bincount(of_region, reaches, len(regions)) > 0


@dataclass(frozen=True, slots=True)
class Listed:
    """Lists of regions, by their numbers in a table; row i has the sets `set_start[i] … set_start[i+1]`.

    `labels` as in `Lists`. With a reference table, `rows` says of each region how many rows of it are there.
    """

    known: Bools
    set_start: Ints
    which: Ints
    labels: Ints
    regions: Regions
    rows: Ints | None = None

    @staticmethod
    def of(lists: Lists) -> Listed:
        """Lists of sets of states as lists of regions."""
        range_start = np.arange(len(lists.low) + 1) if lists.range_start is None else lists.range_start
        conditions = Conditions(lists.variables, range_start, lists.low, lists.high)
        regions = Regions.of(conditions, lists.member_start)
        return Listed(lists.known, lists.set_start, np.arange(len(regions)), lists.labels, regions)

    @property
    def nbytes(self) -> int:
        """How much memory they take, their table included."""
        return int(self.set_start.nbytes + self.which.nbytes) + self.regions.nbytes

    def take(self, rows: Ints) -> Listed:
        """The lists of these rows, in this order."""
        sets, set_start = spread(self.set_start, rows)
        return replace(
            self, known=self.known[rows], set_start=set_start, which=self.which[sets], labels=self.labels[sets]
        )

    def first(self, lengths: Ints) -> Listed:
        """So many of each row's sets, the first."""
        sets, set_start = first_of(self.set_start, lengths)
        return replace(self, set_start=set_start, which=self.which[sets], labels=self.labels[sets])

    def last(self, chosen: Bools) -> Listed:
        """With some sets after the others of their row; their order is else as it was."""
        order = put_last(self.set_start, chosen)
        return replace(self, which=self.which[order], labels=self.labels[order])

    def at_most(self, most: int) -> Listed:
        """At most so many sets of each row."""
        return self.first(np.minimum(np.diff(self.set_start), most))

    @staticmethod
    def join(parts: Sequence[Listed]) -> Listed:
        """One after the other; regions that none of them has any more are left out of the table."""
        used = [part._compact() for part in parts]
        before = np.cumsum([0, *(len(part.regions) for part in used[:-1])])
        return Listed(
            np.concatenate([part.known for part in used]),
            join_starts([part.set_start for part in used]),
            np.concatenate([part.which + shift for part, shift in zip(used, before.tolist(), strict=True)]),
            np.concatenate([part.labels for part in used]),
            Regions.join([part.regions for part in used]),
        )

    def nothing(self) -> Listed:
        """The lists of one row of which nothing is known."""
        none = np.zeros(0, np.int64)
        return Listed(np.zeros(1, bool), np.zeros(2, np.int64), none, none.astype(np.int32), self.regions.take(none))

    def _compact(self) -> Listed:
        is_used = np.zeros(len(self.regions), bool)
        is_used[self.which] = True
        if is_used.all():
            return self
        place = np.cumsum(is_used) - 1
        return replace(self, which=place[self.which], regions=self.regions.take(np.flatnonzero(is_used)))

    def distinct(self) -> Listed:
        """With each region, and each condition, once in the table, in an order that depends on nothing but them.

        Complexity: linear in the table. Both are told apart by hashes of 64 bits, then compared.
        """
        used = self._compact()
        every = used.regions.conditions.take(used.regions.members)
        start = used.regions.start
        hashes = _condition_hashes(every)
        region = _distinct(
            _sums(hashes, start),
            lambda first: _same_regions(every, start, first),
            lambda: [tuple(islice(each, b - a)) for each in [iter(every)] for a, b in pairwise(start.tolist())],
        )
        members, region_start = spread(start, region.first)
        kept = every.take(members)
        condition = _distinct(
            hashes[members], lambda first: _same_conditions(kept, kept.take(first)), lambda: list(kept)
        )
        regions = Regions(kept.take(condition.first), region_start, condition.which)
        return replace(used, which=region.which[used.which], regions=regions)

    def each_row(self) -> Iterator[list[tuple[Members, Box]]]:
        """For every row its regions, as variables and their states."""
        regions, which = list(self.regions), self.which.tolist()
        for first, last in pairwise(self.set_start.tolist()):
            yield [regions[k] for k in which[first:last]]

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
    ranges = _mixed(every.low.astype(np.uint64) * _ODD[1] + every.high.astype(np.uint64))
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
