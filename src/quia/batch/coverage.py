"""Coverage: how many rows of a reference table regions fit, counted for many regions at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from quia.batch.lists import Ints
from quia.batch.regions import Conditions, Regions
from quia.batch.table import States, distinct, states_type
from quia.errors import InstanceError
from quia.reference import Reference, admitting
from quia.variables import Variable

Words = npt.NDArray[np.uint64]

BLOCK = 2**16
"""Of so many distinct rows at a time the conditions are looked at."""
MOST_CELLS = 2**29
"""A reference has at most so many states, of four bytes each (of a table with lines eight)."""
_WORDS_AT_ONCE = 2**19


def table_reference(variables: tuple[Variable, ...], states: States) -> Reference:
    """The reference that encoded rows are, equal ones found by their hashes."""
    first, which, _ = distinct(states)
    return Reference(variables, np.asfortranarray(states[first]), np.bincount(which, minlength=len(first)))


def joined_reference(variables: tuple[Variable, ...], parts: Iterable[States]) -> Reference:
    """The reference that encoded rows are which come in parts; refused if its distinct rows fill the memory."""
    rows: States = np.zeros((0, len(variables)), states_type(variables))
    repeats = np.zeros(0, np.int64)
    waiting: list[Reference] = []

    def join() -> None:
        nonlocal rows, repeats
        every = np.concatenate([rows, *(one.rows for one in waiting)])
        counts = np.concatenate([repeats, *(one.repeats for one in waiting)])
        waiting.clear()
        first, which, _ = distinct(every)
        rows, repeats = every[first], np.zeros(len(first), np.int64)
        np.add.at(repeats, which, counts)
        if rows.size > MOST_CELLS:
            raise InstanceError(
                f"coverage needs the {len(rows):,} and more distinct rows of the table in memory, and it has"
                f" {len(variables):,} features; leave coverage out, or explain a sample of the table"
            )

    for states in parts:
        waiting.append(table_reference(variables, states))
        # Joining copies all there is, so it waits until that is worth it.
        if sum(len(one.rows) for one in waiting) > len(rows):
            join()
    join()
    return Reference(variables, np.asfortranarray(rows), repeats)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts the rows of a reference.

    Each condition is a bit for every distinct row, and a region the rows whose bits are set in all of its conditions.
    A row that is there n times counts n: rows are sorted by that, so that the bits of large numbers are few.
    Complexity: for each block of rows, a look at every row for each distinct condition, and a bit of each row for each
    condition of each distinct region.
    """

    reference: Reference

    def rows_of(self, regions: Regions) -> npt.NDArray[np.int64]:
        """For each region how many rows are in it."""
        counts = np.zeros(len(regions), np.int64)
        order = np.argsort(-self.reference.repeats, kind="stable")
        by_length = _by_length(regions)
        for begin in range(0, len(order), BLOCK):
            rows = order[begin : begin + BLOCK]
            bits = _bits(regions.conditions, self.reference, rows)
            planes = _planes(self.reference.repeats[rows])
            for chosen, members in by_length:
                counts[chosen] += _fitting(bits, planes, members)
        return counts


def _by_length(regions: Regions) -> list[tuple[Ints, Ints]]:
    """Regions with as many conditions: their numbers, and the conditions of each in a row of a matrix."""
    length = np.diff(regions.start)
    found = []
    for size in np.unique(length).tolist():
        chosen = np.flatnonzero(length == size)
        found.append((chosen, regions.members[regions.start[chosen][:, None] + np.arange(size)]))
    return found


def _bits(conditions: Conditions, reference: Reference, rows: Ints) -> Words:
    """For each condition which rows it holds in, 64 to a word."""
    packed = np.zeros((len(conditions), -(-len(rows) // 64) * 8), np.uint8)
    column: dict[int, Ints] = {}
    for at, (variable, ranges) in enumerate(conditions):
        if variable not in column:
            column[variable] = reference.rows[rows, variable]
        holds = admitting(reference.variables[variable], ranges, column[variable])
        packed[at, : -(-len(rows) // 8)] = np.packbits(holds)
    return packed.view(np.uint64)


def _planes(repeats: npt.NDArray[np.int64]) -> list[Words]:
    """How often each row is there, in binary: for each digit the rows in whose number it is 1."""
    planes = []
    for digit in range(int(repeats[0]).bit_length()):
        rows = int(np.count_nonzero(repeats >> digit))  # sorted, so these are the first
        packed = np.zeros(-(-rows // 64) * 8, np.uint8)
        packed[: -(-rows // 8)] = np.packbits((repeats[:rows] >> digit & 1).astype(bool))
        planes.append(packed.view(np.uint64))
    return planes


def _fitting(bits: Words, planes: list[Words], members: Ints) -> npt.NDArray[np.int64]:
    """How many rows all conditions in each row of a matrix hold in."""
    counts = np.zeros(len(members), np.int64)
    step = max(1, _WORDS_AT_ONCE // max(bits.shape[1], 1))
    for begin in range(0, len(members), step):
        some = members[begin : begin + step]
        common = np.full((len(some), bits.shape[1]), ~np.uint64(0))
        for place in range(members.shape[1]):
            common &= bits[some[:, place]]
        for digit, plane in enumerate(planes):
            counts[begin : begin + step] += _ones(common[:, : len(plane)] & plane) << digit
    return counts


def _ones(words: Words) -> npt.NDArray[np.int64]:
    """How many bits are set in each row of a matrix."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))
    return _ones_by_table(words)


def _ones_by_table(words: Words) -> npt.NDArray[np.int64]:
    """The same with a NumPy before 2, which cannot count bits."""
    halves = np.ascontiguousarray(words).view(np.uint16).reshape(len(words), -1)
    return np.asarray(_ones_in_halves()[halves].sum(axis=1, dtype=np.int64))


@cache
def _ones_in_halves() -> npt.NDArray[np.uint8]:
    return np.array([number.bit_count() for number in range(2**16)], np.uint8)
