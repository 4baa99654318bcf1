"""A decision graph multiplied with constraints: below each leaf, what is possible there and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from quia.consistent import Edges
from quia.constraint import IMPOSSIBLE, POSSIBLE, Constraint
from quia.errors import TooLarge
from quia.graph import DecisionGraph
from quia.graph_arrays import flat_edges
from quia.ranges import Ranges, intersection, union

MOST_COPIES = 8
"""A product that is not to get too large is at most so many times as large as the graph, and a little more."""
_LITTLE = 20_000


def touched_product(graph: DecisionGraph, parts: Sequence[Constraint]) -> DecisionGraph | None:
    """The graph with those constraints below each leaf that the path to it says something of; None if it is too large.

    No two of the constraints are about the same variable. The graph's last class is *impossible*. Instances that break
    a constraint have that class only where the path tests what the constraint is about. Elsewhere it could be kept by
    the instance's own states, on the same path: so the reasons of a possible instance, which are smallest sets of
    changes, are those of the whole product, and so are the boxes over their variables. A tree stays a tree.
    """
    made = _Product(graph, parts).run()
    if made is None:
        return None
    tests, labels, edges = made
    return DecisionGraph(
        graph.variables,
        (*graph.classes, "impossible"),
        np.array(tests, np.int32),
        np.array(labels, np.int32),
        *flat_edges(edges),
        notes=graph.notes,
        impossible=len(graph.classes),
    )


Parts = tuple[list[int], list[int], list[Edges]]
"""The variable and the class of each node, and its edges; children first."""

_Place = tuple[int, int, tuple[int, ...]]
"""A node of the graph, -1, (); or, below a leaf, one of the first of the constraints still to come, and a class."""


@dataclass(slots=True)
class _Step:
    """A node that is being copied: its edges, the copies of the children so far, and what its variable had left."""

    place: _Place
    variable: int
    edges: Sequence[tuple[Ranges, _Place]]
    before: Ranges | None
    done: list[int] = field(default_factory=list)


class _Product:
    """One walk through a graph with the states that the path leaves of what constraints are about."""

    def __init__(self, graph: DecisionGraph, parts: Sequence[Constraint]) -> None:
        self.graph, self.parts = graph, parts
        self.every: dict[int, Ranges] = {v: ((0, graph.variables[v].size - 1),) for part in parts for v in part.tested}
        self.left = dict(self.every)
        self.most = MOST_COPIES * len(graph) + _LITTLE
        self.made: Parts = ([], [], [])
        self.leaves: dict[int, int] = {}
        self.known: dict[tuple[_Place, tuple[Ranges, ...]], int] = {}

    def run(self) -> Parts | None:
        """The nodes of the product; None if there are too many."""
        work: list[_Step] = []
        copy = self._enter((len(self.graph) - 1, -1, ()), work)
        while work:
            step = work[-1]
            if copy is not None:
                step.done.append(copy)
            if len(step.done) < len(step.edges):
                states, child = step.edges[len(step.done)]
                if step.before is not None:
                    self.left[step.variable] = states
                copy = self._enter(child, work)
                continue
            work.pop()
            if step.before is not None:
                self.left[step.variable] = step.before
            copy = self._add(step)
            if len(self.made[0]) > self.most:
                return None
        assert copy is not None
        # What comes after the root is not reached.
        tests, labels, edges = self.made
        return tests[: copy + 1], labels[: copy + 1], edges[: copy + 1]

    def _enter(self, place: _Place, work: list[_Step]) -> int | None:
        """The copy of a node if it is there already, or needs none; else it is to be worked on."""
        node, label, parts = place
        if label < 0:
            variable, own, edges = self.graph.nodes[node]
            if variable >= 0:
                return self._begin(place, variable, [(states, (child, -1, ())) for states, child in edges], work)
            touched = tuple(
                at for at, part in enumerate(self.parts) if any(self.left[v] != self.every[v] for v in part.tested)
            )
            label, parts, node = own, (-1, *touched), POSSIBLE
        while node == POSSIBLE:  # the constraint holds: on to the next one
            parts = parts[1:]
            if not parts:
                return self._leaf(label)
            node = self.parts[parts[0]].root
        if node == IMPOSSIBLE:
            return self._leaf(len(self.graph.classes))
        part = self.parts[parts[0]]
        below = [(states, (child, label, parts)) for states, child in part.edges[node]]
        return self._begin((node, label, parts), part.tests[node], below, work)

    def _begin(
        self, place: _Place, variable: int, edges: Sequence[tuple[Ranges, _Place]], work: list[_Step]
    ) -> int | None:
        left = self.left.get(variable)
        if left is not None:
            clipped = ((intersection(states, left), child) for states, child in edges)
            edges = [(states, child) for states, child in clipped if states]
            if len(edges) == 1:
                return self._enter(edges[0][1], work)
        if not self.graph.is_tree:
            known = self.known.get((place, tuple(self.left.values())))
            if known is not None:
                return known
        work.append(_Step(place, variable, edges, left))
        return None

    def _leaf(self, label: int) -> int:
        if label not in self.leaves:
            self.leaves[label] = self._node(-1, label, ())
        return self.leaves[label]

    def _add(self, step: _Step) -> int:
        """The copy of a node; if all its edges lead to one copy, it is that one."""
        leading: dict[int, list[tuple[int, int]]] = {}
        for (states, _), copy in zip(step.edges, step.done, strict=True):
            leading.setdefault(copy, []).extend(states)
        if len(leading) == 1:
            (copy,) = leading
        else:
            copy = self._node(step.variable, -1, tuple((union(pairs), child) for child, pairs in leading.items()))
        if not self.graph.is_tree:
            self.known[step.place, tuple(self.left.values())] = copy
        return copy

    def _node(self, variable: int, label: int, edges: Edges) -> int:
        tests, labels, all_edges = self.made
        tests.append(variable)
        labels.append(label)
        all_edges.append(edges)
        return len(tests) - 1


def whole_product(graph: DecisionGraph, constraint: Constraint) -> DecisionGraph:
    """The graph whose leaves are those of the graph where a constraint holds, and *impossible* elsewhere.

    That is its last class. TooLarge if it is too large.
    """
    try:
        made = DecisionGraph.build(
            graph.variables,
            (*graph.classes, "impossible"),
            *_appended(graph, constraint),
            impossible=len(graph.classes),
        )
    except TooLarge as fault:
        raise TooLarge(
            "the constraints and the model together are too large a graph; give fewer constraints, or such that speak"
            " of fewer features at a time",
            limit=fault.limit,
        ) from None
    return replace(made, notes=graph.notes)


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
    end = place[-1] + 1  # the root is the last one, and of a graph of one leaf a constraint's
    return _reached(tests[:end], labels[:end], edges[:end])


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
