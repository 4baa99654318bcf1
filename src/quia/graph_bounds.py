"""Decision graphs in a box of possible worlds: edges that no possible instance takes lead nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from quia.boxes import Box, Shape, maximal, widest_first
from quia.graph import DecisionGraph
from quia.ranges import intersection

if TYPE_CHECKING:
    from quia.question import Question
    from quia.reason import Kind


def bounded(graph: DecisionGraph, question: Question) -> DecisionGraph:
    """The graph in which edges that take none of the possible states lead where a possible one of their node leads.

    That is the instance's own, if the node has it, so that there is nothing to change by. It is exact, as the edges of
    a path that test one variable get ever narrower: its last one takes what they all take.
    Complexity: linear in the graph, times the ranges of a variable's possible states, but for sorting edges.
    """
    node = np.repeat(np.arange(len(graph)), np.diff(graph.edge_start))
    if not len(node):
        return graph
    of_range = np.repeat(graph.tests[node], np.diff(graph.range_start))
    worth = np.ones(len(of_range), np.int8)
    for v, ranges in question.possible.bounds.items():
        mine = np.flatnonzero(of_range == v)
        low, high, own = graph.low[mine], graph.high[mine], question.states[v]
        worth[mine] = np.any([(low <= b) & (high >= a) for a, b in ranges], axis=0)
        worth[mine] += (low <= own) & (own <= high)
    worth = np.maximum.reduceat(worth, graph.range_start[:-1])
    best = np.lexsort((-worth, node))  # of each node the best edge is the first
    instead = graph.child[best[graph.edge_start[node]]]
    return replace(graph, child=np.where(worth > 0, graph.child, instead).astype(np.int32))


def clipped(boxes: Sequence[Box], question: Question, members: Sequence[int], intervals: bool, kind: Kind) -> list[Box]:
    """Of the largest boxes of a bounded graph, what of them is possible; the widest first.

    Whatever a state that is not possible leads to, a box of possible states is part of a largest one of the graph.
    """
    possible = [question.within.states(v) for v in members]
    shapes = [Shape.of(question.variables[v], intervals) for v in members]
    own = [((question.states[v],) * 2,) if kind == "sufficient" else () for v in members]
    parts = (product(*map(Shape.parts, shapes, map(intersection, box, possible), own)) for box in boxes)
    return widest_first(maximal(each for of_box in parts for each in of_box))
