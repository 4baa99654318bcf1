"""A decision graph multiplied with a constraint: below each leaf, what is possible there and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quia.consistent import Edges
from quia.constraint import IMPOSSIBLE, POSSIBLE, Constraint
from quia.errors import TooLarge
from quia.graph import DecisionGraph
from quia.ranges import Ranges, intersection

MOST_COPIES = 4
"""A tree stays a tree if it gets no larger than so many times as large, and a little more; else nodes are shared."""
_LITTLE = 20_000


def multiplied(graph: DecisionGraph, constraint: Constraint) -> DecisionGraph:
    """The graph whose leaves are those of the graph where the constraint holds, and *impossible* elsewhere.

    That is its last class. A tree stays one, in which reasons are found faster, unless it would grow too much.
    TooLarge if it is too large however it is made.
    """
    parts = _unrolled(graph, constraint) if graph.is_tree else None
    try:
        made = DecisionGraph.build(
            graph.variables,
            (*graph.classes, "impossible"),
            *(parts or _appended(graph, constraint)),
            impossible=len(graph.classes),
        )
    except TooLarge as fault:
        raise TooLarge(
            "the constraints and the model together are too large a graph; give fewer constraints, or such that speak"
            " of fewer features at a time",
            limit=fault.limit,
        ) from None
    return replace(made, notes=graph.notes)


Parts = tuple[list[int], list[int], list[Edges]]
"""The variable and the class of each node, and its edges; children first."""


def _appended(graph: DecisionGraph, constraint: Constraint) -> Parts:
    """The constraint once for each class, and below it the graph's leaves; building it parts what must be apart."""
    tests, labels = [-1], [len(graph.classes)]
    edges: list[Edges] = [()]
    root_of: dict[int, int] = {}
    for label in range(len(graph.classes)):
        number = {IMPOSSIBLE: 0, POSSIBLE: len(tests)}
        tests.append(-1)
        labels.append(label)
        edges.append(())
        for node, variable in enumerate(constraint.tests):
            if variable >= 0:
                number[node] = len(tests)
                tests.append(variable)
                labels.append(-1)
                edges.append(tuple((ranges, number[child]) for ranges, child in constraint.edges[node]))
        root_of[label] = number[constraint.root]
    place: list[int] = []
    for test, label, outgoing in graph.nodes:
        if test < 0:
            place.append(root_of[label])
            continue
        place.append(len(tests))
        tests.append(test)
        labels.append(-1)
        edges.append(tuple((ranges, place[child]) for ranges, child in outgoing))
    return _reached(tests, labels, edges)


def _reached(tests: list[int], labels: list[int], edges: list[Edges]) -> Parts:
    """The nodes that the last one reaches."""
    used = [False] * len(tests)
    used[-1] = True
    for node in range(len(tests) - 1, -1, -1):
        if used[node]:
            for _, child in edges[node]:
                used[child] = True
    kept = [node for node in range(len(tests)) if used[node]]
    number = {node: at for at, node in enumerate(kept)}
    return (
        [tests[node] for node in kept],
        [labels[node] for node in kept],
        [tuple((ranges, number[child]) for ranges, child in edges[node]) for node in kept],
    )


def _unrolled(graph: DecisionGraph, constraint: Constraint) -> Parts | None:
    """The tree with a tree of what is left of the constraint below each leaf; None if that would be too large."""
    unrolling = _Unrolling(graph, constraint)
    return unrolling.parts if unrolling.run() else None


class _Unrolling:
    """One walk through a tree with the states that the path leaves of what the constraint is about."""

    def __init__(self, graph: DecisionGraph, constraint: Constraint) -> None:
        self.graph, self.constraint = graph, constraint
        self.parts: Parts = ([], [], [])
        self.most = MOST_COPIES * len(graph) + _LITTLE
        self.impossible = len(graph.classes)

    def run(self) -> bool:
        """Whether it has not got too large."""
        possible: dict[int, Ranges] = {v: ((0, self.graph.variables[v].size - 1),) for v in self.constraint.tested}
        # A frame is a node of the tree or, below a leaf, of the constraint with that leaf's class; its edges; the
        # copies of the children that are done; and the states that its variable had left above it.
        work = [self._frame(len(self.graph) - 1, None, possible)]
        before: list[tuple[int, Ranges | None]] = []
        while True:
            node, label, variable, edges, done = work[-1]
            if len(self.parts[0]) > self.most:
                return False
            if len(done) < len(edges):
                states, child = edges[len(done)]
                before.append((variable, possible.get(variable)))
                if variable in possible:
                    possible[variable] = states
                work.append(self._frame(child, label, possible))
                continue
            work.pop()
            copy = done[0] if len(edges) == 1 else self._add(node, label, variable, edges, done)
            if not work:
                return True
            tested, states_before = before.pop()
            if states_before is not None:
                possible[tested] = states_before
            work[-1][4].append(copy)

    def _frame(
        self, node: int, label: int | None, possible: dict[int, Ranges]
    ) -> tuple[int, int | None, int, Edges, list[int]]:
        """Where the walk goes on: at a leaf of the tree, with the constraint's root."""
        if label is None:
            test, own, edges = self.graph.nodes[node]
            if test >= 0:
                return node, None, test, self._left(edges, possible.get(test)), []
            node, label = self.constraint.root, own
        variable = self.constraint.tests[node]
        edges = self._left(self.constraint.edges[node], possible[variable]) if variable >= 0 else ()
        return node, label, variable, edges, []

    def _left(self, edges: Edges, possible: Ranges | None) -> Edges:
        """What is left of edges on this path."""
        if possible is None:
            return edges
        kept = ((intersection(ranges, possible), child) for ranges, child in edges)
        return tuple((ranges, child) for ranges, child in kept if ranges)

    def _add(self, node: int, label: int | None, variable: int, edges: Edges, done: Sequence[int]) -> int:
        tests, labels, all_edges = self.parts
        tests.append(variable)
        labels.append(-1 if variable >= 0 else self.impossible if node == IMPOSSIBLE else int(label or 0))
        all_edges.append(tuple((ranges, copy) for (ranges, _), copy in zip(edges, done, strict=True)))
        return len(tests) - 1
