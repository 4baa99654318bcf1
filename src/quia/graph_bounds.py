"""Decision graphs in a box of possible worlds: what no possible instance takes is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from quia.boxes import Box, Shape, maximal, widest_first
from quia.graph import DecisionGraph
from quia.graph_arrays import Ints
from quia.ranges import intersection

if TYPE_CHECKING:
    from quia.question import Question
    from quia.reason import Kind
    from quia.region import Region


def bounded(graph: DecisionGraph, possible: Region) -> DecisionGraph:
    """The graph in which states that are not possible go with others of their node, which are.

    So no edge is left that nothing possible takes, and a tree stays a tree. Whichever way such states go, they change
    nothing for possible instances: the edges of a path that test one variable get ever narrower, so that the last one
    takes what they all take. Complexity: linear in the graph, times the ranges of a variable's possible states, but for
    sorting ranges.
    """
    node = np.repeat(np.arange(len(graph)), np.diff(graph.edge_start))
    if not len(node):
        return graph
    of_range = np.repeat(np.arange(len(node)), np.diff(graph.range_start))
    is_possible = np.ones(len(of_range), bool)
    for v, ranges in possible.bounds.items():
        mine = np.flatnonzero(graph.tests[node[of_range]] == v)
        low, high = graph.low[mine], graph.high[mine]
        is_possible[mine] = np.any([(low <= b) & (high >= a) for a, b in ranges], axis=0)
    is_taken = np.logical_or.reduceat(is_possible, graph.range_start[:-1])
    if is_taken.all():
        return graph
    # Of each node the first edge that something possible takes; nothing possible comes to a node that has none.
    taken = np.flatnonzero(is_taken)
    first = np.full(len(graph), -1)
    first[node[taken[::-1]]] = taken[::-1]
    is_kept = is_taken | (first[node] < 0)
    owner = np.where(is_kept, np.arange(len(node)), first[node])[of_range]
    order = np.lexsort((graph.low, owner))
    counts = np.bincount(owner, minlength=len(node))[is_kept]
    return _reached(
        replace(
            graph,
            edge_start=_starts(np.bincount(node[is_kept], minlength=len(graph))),
            child=graph.child[is_kept],
            range_start=_starts(counts),
            low=graph.low[order],
            high=graph.high[order],
        )
    )


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


def clipped(boxes: Sequence[Box], question: Question, members: Sequence[int], intervals: bool, kind: Kind) -> list[Box]:
    """Of the largest boxes of a bounded graph, what of them is possible; the widest first.

    Whatever a state that is not possible leads to, a box of possible states is part of a largest one of the graph.
    """
    possible = [question.within.states(v) for v in members]
    shapes = [Shape.of(question.variables[v], intervals) for v in members]
    own = [((question.states[v],) * 2,) if kind == "sufficient" else () for v in members]
    parts = (product(*map(Shape.parts, shapes, map(intersection, box, possible), own)) for box in boxes)
    return widest_first(maximal(each for of_box in parts for each in of_box))
