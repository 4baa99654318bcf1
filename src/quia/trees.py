"""Many trees of yes/no tests in flat arrays, as an ensemble has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.look import counted, tagged
from quia.pickling import ByFields

if TYPE_CHECKING:
    from quia.ranges import Ranges

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Trees(ByFields):
    """Trees whose nodes ask one of a table of tests, each about the states of one variable.

    Tree t has the nodes `start[t] … start[t+1] - 1`, parents before children, its root first. Node n asks test
    `test[n]` and leads to the node `yes[n]` or `no[n]`; at a leaf all three are -1. Row i of `values` belongs to the
    i-th leaf, in the order of the nodes: a single number, or one for each score.

    Test i is about variable `variable[i]`; its answer is yes for the states in the ranges
    `range_start[i] … range_start[i+1] - 1`, each from `low` to `high`, both included.
    """

    start: Ints
    test: Ints
    yes: Ints
    no: Ints
    values: npt.NDArray[np.float64]
    variable: Ints
    range_start: Ints
    low: Ints
    high: Ints

    def __repr__(self) -> str:
        return tagged("Trees", counted(len(self), "tree"), f"{self.leaf_count:,} leaves")

    def __post_init__(self) -> None:
        for array in self.arrays:
            array.setflags(write=False)

    @staticmethod
    def build(
        start: Sequence[int] | Ints,
        test: Sequence[int] | Ints,
        yes: Sequence[int] | Ints,
        no: Sequence[int] | Ints,
        values: Any,
        tests: Sequence[tuple[int, Ranges]],
    ) -> Trees:
        """The trees of node arrays and a table of tests: (variable, the states whose answer is yes)."""
        pairs = [pair for _, ranges in tests for pair in ranges]
        numbers = np.array(values, np.float64)
        return Trees(
            np.array(start, np.int64),
            np.array(test, np.int32),
            np.array(yes, np.int32),
            np.array(no, np.int32),
            numbers.reshape(len(numbers), -1),
            np.array([variable for variable, _ in tests], np.int32),
            np.cumsum([0, *(len(ranges) for _, ranges in tests)], dtype=np.int64),
            np.array([low for low, _ in pairs], np.int32),
            np.array([high for _, high in pairs], np.int32),
        )

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The flat arrays, in the order of the fields."""
        return (
            self.start, self.test, self.yes, self.no, self.values, self.variable, self.range_start, self.low, self.high,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that some node asks about."""
        asked = np.unique(self.test[self.test >= 0])
        return tuple(np.unique(self.variable[asked]).tolist())

    @cached_property
    def leaf_of_node(self) -> Ints:
        """The row of values of each node that is a leaf."""
        return np.cumsum(self.test < 0) - 1

    @property
    def leaf_count(self) -> int:
        """How many leaves all trees have together."""
        return len(self.values)
