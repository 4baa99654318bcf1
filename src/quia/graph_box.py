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
from quia.ranges import Ranges, intersection, members, union
from quia.region import Region
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia._kernel import BatchResult


def has_gaps(graph: DecisionGraph, possible: Region) -> bool:
    """Whether of some number that the graph tests what is possible lies apart, so that it is no interval."""
    return any(len(_numbers(graph.variables[v], ranges)) > 1 for v, ranges in _bounds(graph, possible).items())


def _bounds(graph: DecisionGraph, possible: Region) -> dict[int, Ranges]:
    return {v: ranges for v, ranges in possible.bounds.items() if v in graph.tested}


def _numbers(variable: Variable, ranges: Ranges) -> Ranges:
    return intersection(ranges, ((0, len(variable.cuts)),)) if variable.is_numeric else ()


@dataclass(frozen=True, eq=False)
class BoxedGraph:
    """A graph in a box in which no number has gaps; all rows that are asked about are in it."""

    graph: DecisionGraph
    kernel: _kernel.Graph
    numbers: npt.NDArray[np.int32]
    kept: Mapping[int, Ints]
    """Of each variable with bounds the states that are possible, in order."""

    @staticmethod
    def of(graph: DecisionGraph, possible: Region) -> BoxedGraph:
        """The graph in a box. Complexity: linear in the graph, times the ranges of a variable's possible states."""
        bounds = _bounds(graph, possible)
        kept = {v: np.fromiter(members(ranges), np.int32) for v, ranges in bounds.items()}
        sizes = np.array([len(kept[v]) if v in kept else each.size for v, each in enumerate(graph.variables)], np.int32)
        numbers = graph.number_counts.copy()
        for v, ranges in bounds.items():
            numbers[v] = sum(high - low + 1 for low, high in _numbers(graph.variables[v], ranges))
        tests, labels, edge_start, child, range_start, low, high = _reached(*_left(graph, kept))
        kernel = _kernel.Graph(
            tests, labels, edge_start, child, range_start, low, high, sizes, len(graph.classes), graph.impossible
        )
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
        """The conditions of regions in the graph's own states."""
        variables, start = table["members"], table["range_start"]
        low, high = np.array(table["range_low"]), np.array(table["range_high"])
        of_range = np.repeat(variables, np.diff(start))
        apart: dict[int, Ranges] = {}  # ranges whose states are not neighbours any more
        for v, states in self.kept.items():
            mine = np.flatnonzero(of_range == v)
            width = high[mine] - low[mine]
            low[mine], high[mine] = states[low[mine]], states[high[mine]]
            for at in mine[high[mine] - low[mine] > width].tolist():
                within = states[np.searchsorted(states, low[at]) : np.searchsorted(states, high[at]) + 1]
                apart[at] = union((state, state) for state in within.tolist())
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


Arrays = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]
"""Tests, labels, edge_start, child, range_start, low, high: as those of a graph."""


def _left(graph: DecisionGraph, kept: Mapping[int, Ints]) -> Arrays:
    """What is left of the edges, in places among the possible states; those of no possible state are gone."""
    edge_node = np.repeat(np.arange(len(graph)), np.diff(graph.edge_start))
    range_edge = np.repeat(np.arange(len(graph.child)), np.diff(graph.range_start))
    of_range = graph.tests[edge_node[range_edge]]
    low, high = graph.low.astype(np.int32), graph.high.astype(np.int32)
    for v, states in kept.items():
        mine = np.flatnonzero(of_range == v)
        low[mine] = np.searchsorted(states, graph.low[mine], side="left")
        high[mine] = np.searchsorted(states, graph.high[mine], side="right") - 1
    is_left = low <= high
    ranges_left = np.bincount(range_edge[is_left], minlength=len(graph.child))
    edges = np.flatnonzero(ranges_left)
    edges_left = np.bincount(edge_node[edges], minlength=len(graph))
    return (
        graph.tests,
        graph.labels,
        np.concatenate([[0], np.cumsum(edges_left)]),
        graph.child[edges],
        np.concatenate([[0], np.cumsum(ranges_left[edges])]),
        low[is_left],
        high[is_left],
    )


def _reached(tests: Ints, labels: Ints, edge_start: Ints, child: Ints, range_start: Ints, low: Ints, high: Ints) -> Any:
    """The nodes that the root reaches and that have a choice; one with a single edge is what that leads to."""
    count = np.diff(edge_start)
    to = np.arange(len(tests))
    for node in np.flatnonzero(count == 1).tolist():  # children first
        to[node] = to[child[edge_start[node]]]
    child = to[child] if len(child) else child
    is_used = np.zeros(len(tests), bool)
    front = to[-1:]
    while len(front):
        is_used[front] = True
        below = np.unique(child[_items(edge_start, front)])
        front = below[~is_used[below]]
    nodes = np.flatnonzero(is_used)
    edges = _items(edge_start, nodes)
    ranges = _items(range_start, edges)
    number = np.cumsum(is_used) - 1
    return (
        tests[nodes].astype(np.int32),
        labels[nodes].astype(np.int32),
        np.concatenate([[0], np.cumsum(count[nodes])]).astype(np.int64),
        number[child[edges]].astype(np.int32),
        np.concatenate([[0], np.cumsum(np.diff(range_start)[edges])]).astype(np.int64),
        low[ranges].astype(np.int32),
        high[ranges].astype(np.int32),
    )


def _items(start: Ints, chosen: Ints) -> Ints:
    """Where the items of chosen lists are, one list after the other."""
    length = start[chosen + 1] - start[chosen]
    before = np.cumsum(length) - length
    return np.repeat(start[chosen] - before, length) + np.arange(int(length.sum()))
