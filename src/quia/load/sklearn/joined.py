"""The trees of an ensemble end to end, and the table of their different tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quia.errors import TooLarge
from quia.load.sklearn.sources import Split
from quia.load.sklearn.tree import LEAF, Tree
from quia.ranges import Ranges
from quia.trees import Trees

_MOST_NODES = 50_000_000

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Joined:
    """The nodes of all trees, each with the number of its test (-1 at a leaf), and the tests themselves.

    Test i sends `column[i] <= threshold[i]` to the left, and a missing value if `missing_left[i]`.
    """

    start: Ints
    left: Ints
    right: Ints
    test: Ints
    values: npt.NDArray[np.float64]
    column: Ints
    threshold: npt.NDArray[np.float64]
    missing_left: npt.NDArray[np.bool_]

    @property
    def splits(self) -> dict[int, set[Split]]:
        """The tests of each column."""
        splits: dict[int, set[Split]] = {}
        for column, *split in zip(
            self.column.tolist(), self.threshold.tolist(), self.missing_left.tolist(), strict=True
        ):
            splits.setdefault(column, set()).add((split[0], split[1]))
        return splits

    def asked(self, test: int) -> tuple[int, float, bool]:
        """What a test compares: a column, a threshold, and whether a missing value goes left."""
        return int(self.column[test]), float(self.threshold[test]), bool(self.missing_left[test])

    def trees(self, states: Callable[[int, float, bool], tuple[int, Ranges]]) -> Trees:
        """The trees over the variable that each test is about, and those of its states that it sends left."""
        numbers: dict[tuple[int, Ranges], int] = {}
        arrays = (self.column, self.threshold, self.missing_left)
        number = [
            numbers.setdefault(states(*test), len(numbers))
            for test in zip(*(array.tolist() for array in arrays), strict=True)
        ]
        test = np.array([*number, LEAF], np.int32)[self.test]  # at a leaf, where the test is -1, the last
        return Trees.build(self.start, test, self.left, self.right, self.values, list(numbers))


def joined(trees: Sequence[Tree], *, routes_missing: bool) -> Joined:
    """The trees joined, equal tests shared; where missing values never arrive, where they go does not tell tests apart.

    Complexity: sorting the nodes.
    """
    counts = [len(tree.left) for tree in trees]
    if sum(counts) > _MOST_NODES:
        raise TooLarge(f"the model has more than {_MOST_NODES} nodes; fit fewer or smaller trees", limit=_MOST_NODES)
    start = np.concatenate([[0], np.cumsum(counts)])
    first = np.repeat(start[:-1], counts)
    left, right, column, threshold, missing_left = (
        np.concatenate([tree[field] for tree in trees]) for field in range(5)
    )
    inner = left != LEAF
    column, threshold, missing_left = column[inner], threshold[inner], missing_left[inner] & routes_missing
    order = np.lexsort((missing_left, threshold, column))
    new = np.ones(len(order), bool)
    new[1:] = False
    for array in (column, threshold, missing_left):
        new[1:] |= array[order[1:]] != array[order[:-1]]
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    test = np.full(len(left), LEAF, np.int64)
    test[inner] = number
    one = order[new]
    return Joined(
        start,
        np.where(inner, left + first, LEAF),
        np.where(inner, right + first, LEAF),
        test,
        np.concatenate([tree.values[tree.left == LEAF] for tree in trees]),
        column[one],
        threshold[one],
        missing_left[one],
    )
