"""Decision graphs in a box of possible worlds: what no possible instance takes is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quia.boxes import Box, possible_parts
from quia.graph import DecisionGraph
from quia.graph_arrays import Ints
from quia.ranges import Ranges

if TYPE_CHECKING:
    from quia.question import Question
    from quia.region import Region


def bounded(graph: DecisionGraph, possible: Region) -> DecisionGraph:
    """The graph in which a state that is not possible goes where the possible one before it goes, or the first.

    So no edge is left that nothing possible takes, and a tree stays a tree. Possible instances are decided as they are,
    and so are those of which they cannot be told apart.
    Complexity: linear in the graph, but for finding states among a variable's possible ranges.
    """
    edge = np.repeat(np.arange(len(graph.child)), np.diff(graph.range_start))
    node = np.repeat(np.arange(len(graph)), np.diff(graph.edge_start))
    of_range = graph.tests[node[edge]] if len(edge) else edge
    low, high, is_kept = graph.low.copy(), graph.high.copy(), np.ones(len(edge), bool)
    for v, ranges in possible.bounds.items():
        mine = np.flatnonzero(of_range == v)
        low[mine], high[mine] = _stretched(low[mine], high[mine], ranges, graph.variables[v].size)
        is_kept[mine] = low[mine] <= high[mine]
    if is_kept.all():
        return replace(graph, low=low, high=high)
    counts = np.bincount(edge[is_kept], minlength=len(graph.child))
    has_range = counts > 0
    return _reached(
        replace(
            graph,
            edge_start=_starts(np.bincount(node[has_range], minlength=len(graph))),
            child=graph.child[has_range],
            range_start=_starts(counts[has_range]),
            low=low[is_kept],
            high=high[is_kept],
        )
    )


def _stretched(low: Ints, high: Ints, possible: Ranges, size: int) -> tuple[Ints, Ints]:
    """Ranges of states, each with what is impossible up to the next possible one; one with none is empty, 1 to 0."""
    first, last = (np.array(ends) for ends in zip(*possible, strict=True))
    following = np.append(first[1:], size) - 1  # what is impossible after each range goes with its last state
    at = np.minimum(np.searchsorted(last, low), len(last) - 1)
    until = np.maximum(np.searchsorted(first, high, side="right") - 1, 0)
    begin, end = np.maximum(low, first[at]), np.minimum(high, last[until])
    is_empty = (begin > end) | (last[at] < low) | (first[until] > high)
    end = np.where(end == last[until], following[until], end)
    begin = np.where(begin == first[0], 0, begin)
    return np.where(is_empty, 1, begin), np.where(is_empty, 0, end)


def _reached(graph: DecisionGraph) -> DecisionGraph:
    """The graph without the nodes that its root does not reach."""
    is_reached = np.zeros(len(graph), bool)
    fresh = np.array([len(graph) - 1])
    edges = np.diff(graph.edge_start)
    while len(fresh):
        is_reached[fresh] = True
        below = np.unique(graph.child[np.repeat(graph.edge_start[fresh], edges[fresh]) + _within_each(edges[fresh])])
        fresh = below[~is_reached[below]]
    if is_reached.all():
        return graph
    of_edge = is_reached[np.repeat(np.arange(len(graph)), edges)]
    ranges = np.diff(graph.range_start)
    of_range = np.repeat(of_edge, ranges)
    number = np.cumsum(is_reached) - 1
    names = graph.names and tuple(name for name, kept in zip(graph.names, is_reached, strict=True) if kept)
    return replace(
        graph,
        tests=graph.tests[is_reached],
        labels=graph.labels[is_reached],
        edge_start=_starts(edges[is_reached]),
        child=number[graph.child[of_edge]].astype(np.int32),
        range_start=_starts(ranges[of_edge]),
        low=graph.low[of_range],
        high=graph.high[of_range],
        names=names,
    )


def _starts(counts: Ints) -> Ints:
    """Where each of some lists starts that lie end to end, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _within_each(counts: Ints) -> Ints:
    """0, 1, … for each of some lists, end to end."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def clipped(boxes: Sequence[Box], question: Question, members: Sequence[int]) -> list[Box]:
    """Of the largest boxes of a bounded graph, what of them is possible; the widest first."""
    if question.possible.bounds.keys().isdisjoint(members):
        return list(boxes)
    return possible_parts(boxes, [(question.variables[v], question.possible.states(v)) for v in members])
