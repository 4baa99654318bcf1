"""Decision graphs in one box of possible states, for many rows at once: states that are not possible are left out.

A state keeps its place among those that are possible, so the kernel needs to know of no bounds: its boxes have possible
states only, and the widest of them come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.graph import DecisionGraph
from quia.graph_arrays import Ints
from quia.ranges import Ranges, members, union
from quia.region import Region
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia._kernel import BatchResult


@dataclass(frozen=True, eq=False)
class BoxedGraph:
    """A graph in a box that all rows are in which are asked about."""

    graph: DecisionGraph
    kernel: _kernel.Graph
    numbers: npt.NDArray[np.int32]
    kept: Mapping[int, Ints]
    """Of each variable with bounds the states that are possible, in order."""

    @staticmethod
    def of(graph: DecisionGraph, possible: Region) -> BoxedGraph:
        """The graph in a box. Complexity: linear in the graph, but for finding states among the possible ones."""
        bounded = graph.within(possible)
        bounds = {v: ranges for v, ranges in possible.bounds.items() if v in graph.tested}
        kept = {v: np.fromiter(members(ranges), np.int32) for v, ranges in bounds.items()}
        sizes = [len(kept[v]) if v in kept else each.size for v, each in enumerate(graph.variables)]
        numbers = graph.number_counts.copy()
        of_range = np.repeat(np.repeat(bounded.tests, np.diff(bounded.edge_start)), np.diff(bounded.range_start))
        low, high = bounded.low.copy(), bounded.high.copy()
        for v, states in kept.items():
            numbers[v] = np.searchsorted(states, numbers[v])
            mine = np.flatnonzero(of_range == v)
            low[mine] = np.searchsorted(states, low[mine])
            high[mine] = np.searchsorted(states, high[mine], side="right") - 1
        kernel = bounded.in_kernel(low, high, sizes)
        return BoxedGraph(graph, kernel, numbers, kept)

    def batch(self, rows: npt.NDArray[np.int32], **asked: Any) -> BatchResult:
        """The reasons of each encoded row, as `_kernel.Graph.batch` has them, in the graph's own states."""
        inner = np.array(rows, np.int32)
        for v, states in self.kept.items():
            known = inner[:, v] != UNKNOWN
            inner[known, v] = np.searchsorted(states, inner[known, v])
        if asked.get("numbers") is not None:
            asked["numbers"] = self.numbers
        found = self.kernel.batch(np.ascontiguousarray(inner), **asked)
        if "regions" in found:
            self._widen_back(found["regions"])
        return found

    def _widen_back(self, table: Any) -> None:
        """The conditions of regions in the graph's own states; those on numbers reach over what is impossible."""
        variables, start = table["members"], table["range_start"]
        low, high = np.array(table["range_low"]), np.array(table["range_high"])
        of_range = np.repeat(variables, np.diff(start))
        apart: dict[int, Ranges] = {}  # ranges whose states are not neighbours any more
        for v, states in self.kept.items():
            mine = np.flatnonzero(of_range == v)
            # Names do not follow each other, nor does 'missing' follow a number.
            is_apart = high[mine] >= self.numbers[v]
            for at in mine[is_apart].tolist():
                inside = [(state, state) for state in states[max(low[at], self.numbers[v]) : high[at] + 1].tolist()]
                if low[at] < self.numbers[v]:
                    inside.append((int(states[low[at]]), int(states[self.numbers[v] - 1])))
                apart[at] = union(inside)
            low[mine], high[mine] = states[low[mine]], states[high[mine]]
        if apart:
            low, high, start = _with_ranges(low, high, start, apart)
        table["range_low"], table["range_high"], table["range_start"] = low, high, start


def _with_ranges(low: Ints, high: Ints, start: Ints, instead: dict[int, Ranges]) -> tuple[Ints, Ints, Ints]:
    """Ranges with several in the place of some."""
    count = np.ones(len(low), np.int64)
    count[list(instead)] = [len(ranges) for ranges in instead.values()]
    after = np.concatenate([[0], np.cumsum(count)])
    new_low, new_high = np.repeat(low, count), np.repeat(high, count)
    for at, ranges in instead.items():
        place = slice(after[at], after[at + 1])
        new_low[place], new_high[place] = zip(*ranges, strict=True)
    return new_low, new_high, after[start].astype(start.dtype)
