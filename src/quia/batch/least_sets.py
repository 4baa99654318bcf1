"""The smallest sets of numbers that reach a sum, of many rows at once: all are counted, the first are listed.

A row has a number for each variable, and a *need*; a set of variables reaches it if its numbers add up to the need or
more. The kernel works in whole numbers, to which numbers that are rounded anyway are brought here.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.batch.lists import spread

Array = npt.NDArray[Any]

_BITS = 58
"""So many bits the whole numbers have that others are brought to."""
_MOST_NODES = 100_000
"""Where counting takes more sums than that, a row is not told."""


class Least(NamedTuple):
    """The smallest sets of rows: how many `ties` each row has, -1 where it is not told, and a row's first sets.

    Row r has the sets `start[r] … start[r+1]`, and set k the variables `members[member_start[k]] …`, in their order.
    """

    ties: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    member_start: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]

    def of_rows(self, rows: Array) -> Least:
        """Those of some rows, in this order."""
        sets, start = spread(self.start, rows)
        places, member_start = spread(self.member_start, sets)
        return Least(self.ties[rows], start, member_start, self.members[places])

    def each_set(self) -> list[tuple[int, ...]]:
        """The sets, row after row."""
        ends = self.member_start.tolist()
        members = self.members.tolist()
        return [tuple(members[begin:end]) for begin, end in pairwise(ends)]


def least_sets(numbers: Array, need: Array, limit: int, margin: float = 0.0, *, threads: int = 1) -> Least:
    """The smallest sets of variables whose numbers add up to the need or more, the first by the order of variables.

    Whole numbers are exact. Of others, where a sum that matters is no more than the margin away from the need, a row is
    not told; nor are rows that have too many sets to count.

    >>> found = least_sets(np.array([[5, 3, 2, 3]]), np.array([7]), 2)
    >>> found.ties.tolist(), found.each_set()
    ([3], [(0, 1), (0, 2)])
    """
    band = 0
    if numbers.dtype.kind == "f":
        largest = max(float(numbers.sum(axis=1).max(initial=0.0)), 2.0**-900)
        scale = 2.0 ** (_BITS - math.frexp(largest)[1])
        band = math.ceil(min(margin * scale, 2.0**_BITS)) + numbers.shape[1] + 1
        numbers, need = np.rint(numbers * scale), np.rint(np.clip(need * scale, -(2.0**_BITS), 2.0 ** (_BITS + 1)))
    whole = np.ascontiguousarray(numbers, np.int64)
    found = _kernel.least_sets(
        whole, np.ascontiguousarray(need, np.int64), limit, band=band, most_nodes=_MOST_NODES, threads=threads
    )
    return Least(*found)
