"""Decision graphs in a box of possible worlds: edges that no possible instance takes lead nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from quia.boxes import Box, Shape, maximal, widest_first
from quia.graph import DecisionGraph
from quia.ranges import Ranges, difference, intersection, union

if TYPE_CHECKING:
    from quia.question import Question
    from quia.reason import Kind
    from quia.region import Region


def bounded(graph: DecisionGraph, possible: Region) -> DecisionGraph:
    """The graph in which edges that take none of the possible states lead where a possible one of their node leads.

    Whichever that is: a way that is there twice adds nothing, and one to where the instance itself goes changes
    nothing. It is exact, as the edges of a path that test one variable get ever narrower: its last one takes what they
    all take. Complexity: linear in the graph, times the ranges of a variable's possible states, but for sorting edges.
    """
    node = np.repeat(np.arange(len(graph)), np.diff(graph.edge_start))
    if not len(node):
        return graph
    of_range = np.repeat(graph.tests[node], np.diff(graph.range_start))
    is_possible = np.ones(len(of_range), bool)
    for v, ranges in possible.bounds.items():
        mine = np.flatnonzero(of_range == v)
        low, high = graph.low[mine], graph.high[mine]
        is_possible[mine] = np.any([(low <= b) & (high >= a) for a, b in ranges], axis=0)
    is_possible = np.logical_or.reduceat(is_possible, graph.range_start[:-1])
    possible_first = np.lexsort((~is_possible, node))
    instead = graph.child[possible_first[graph.edge_start[node]]]
    return replace(graph, child=np.where(is_possible, graph.child, instead).astype(np.int32))


def clipped(boxes: Sequence[Box], question: Question, members: Sequence[int], intervals: bool, kind: Kind) -> list[Box]:
    """Of the largest boxes of a bounded graph, what of them is possible; the widest first.

    Whatever a state that is not possible leads to, a box of possible states is part of a largest one of the graph.
    """
    possible = [question.within.states(v) for v in members]
    shapes = [Shape.of(question.variables[v], intervals) for v in members]
    own = [question.states[v] if kind == "sufficient" else -1 for v in members]
    parts = (product(*map(_runs, box, possible, shapes, own)) for box in boxes)
    return widest_first(maximal(each for of_box in parts for each in of_box))


def _runs(states: Ranges, possible: Ranges, shape: Shape, own: int) -> Iterator[Ranges]:
    """The largest sets of a shape among the states that are possible, with a state that must be in it."""
    left = intersection(states, possible)
    numbers = shape.numbers_of(left)
    others = difference(left, numbers)
    is_number = 0 <= own < shape.numbers
    for run in numbers:
        if not is_number or run[0] <= own <= run[1]:
            yield union((run, *others))
    if not numbers and others and not is_number:
        yield others
