"""Tables of what several features together add to scores, as trees over these features' states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import TooLarge
from quia.trees import Trees

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_CELLS = 5_000_000
"""How many cells the tables of a model may have together, where states that never differ are one."""


class Joint(NamedTuple):
    """A table over bins of one or more variables: `values[bin, …, score]`; `bins[i][state]` is the bin of a state."""

    variables: tuple[int, ...]
    bins: tuple[Ints, ...]
    values: Floats


def trees_of(tables: Sequence[Joint]) -> Trees:
    """A tree for each table, which halves the states of its variables until they add the same.

    >>> both = Joint((0, 1), (np.array([0, 1]), np.array([1, 0, 0])), np.array([[[1.0], [2.0]], [[1.0], [3.0]]]))
    >>> trees = trees_of([both])
    >>> trees.leaf_count, trees.values[:, 0].tolist()
    (3, [1.0, 2.0, 3.0])
    """
    grown = _Grown()
    cells = 0
    for table in tables:
        reduced, starts = _reduced(table, MOST_CELLS - cells)
        cells += math.prod(reduced.shape[:-1])
        grown.add(table.variables, reduced, starts)
    return grown.trees()


def _reduced(table: Joint, most: int) -> tuple[Floats, list[Ints]]:
    """The table over runs of states that never differ, and the first state of each run."""
    starts = [np.flatnonzero(np.diff(bins, prepend=-1)) for bins in table.bins]
    if math.prod(map(len, starts)) > most:
        raise TooLarge(
            f"the tables of what features add together have more than {MOST_CELLS} cells; train with fewer bins a pair",
            limit=MOST_CELLS,
        )
    values = table.values[np.ix_(*(bins[first] for bins, first in zip(table.bins, starts, strict=True)))]
    for axis, first in enumerate(starts):
        slices = np.moveaxis(values, axis, 0).reshape(len(first), -1)
        new = np.concatenate([[True], (slices[1:] != slices[:-1]).any(axis=1)])
        values, starts[axis] = values.compress(new, axis), first[new]
    return values, starts


class _Grown:
    """The trees so far, in lists."""

    def __init__(self) -> None:
        self.start, self.test, self.yes, self.no = [0], list[int](), list[int](), list[int]()
        self.values: list[Any] = []
        self.tests: dict[tuple[int, int], int] = {}  # (variable, last state of yes) → its number

    def add(self, variables: Sequence[int], values: Floats, starts: Sequence[Ints]) -> None:
        """Grow the tree of one table."""
        parts = [values]
        firsts = [(0,) * len(starts)]  # for each part, its place in the table along each axis
        for part, at in zip(parts, firsts, strict=True):  # the lists grow while they are walked
            axis = _longest(part)
            if axis is None:
                self._node(-1, -1, -1)
                self.values.append(part[(0,) * len(starts)])
                continue
            middle = (part.shape[axis] + 1) // 2
            border = int(starts[axis][at[axis] + middle])
            number = self.tests.setdefault((variables[axis], border - 1), len(self.tests))
            first = self.start[-1] + len(parts)
            self._node(number, first, first + 1)
            before = (slice(None),) * axis
            parts += (part[(*before, slice(middle))], part[(*before, slice(middle, None))])
            firsts += (at, (*at[:axis], at[axis] + middle, *at[axis + 1 :]))
        self.start.append(len(self.test))

    def _node(self, test: int, yes: int, no: int) -> None:
        self.test.append(test)
        self.yes.append(yes)
        self.no.append(no)

    def trees(self) -> Trees:
        tests = [(variable, ((0, last),)) for variable, last in self.tests]
        return Trees.build(self.start, self.test, self.yes, self.no, self.values, tests)


def _longest(part: Floats) -> int | None:
    """The longest axis along which a part of a table differs; None if it is the same everywhere."""
    for length, axis in sorted(((length, axis) for axis, length in enumerate(part.shape[:-1])), reverse=True):
        if (
            length > 1
            and (part[(slice(None),) * axis + (slice(1, None),)] != part[(slice(None),) * axis + (slice(-1),)]).any()
        ):
            return axis
    return None
