"""The product of two decision graphs: one that tells both classes, which it is a walk through both to make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from quia.consistent import Edges
from quia.graph_arrays import Ints, flat_edges
from quia.ranges import Ranges, intersection, union
from quia.variables import Variable

Nodes = Sequence[tuple[int, int, Edges]]
Arrays = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]

MOST_STEPS = 300_000
"""A product that takes more steps than this is not made."""

_Place = tuple[int, int]
"""A node of the old graph, -1; or a class of its, and a node of the new one below it."""


def product(variables: Sequence[Variable], old: Nodes, new: Nodes, classes: int) -> Arrays | None:
    """The arrays of the graph whose class is old · classes + new; None if it is too large.

    Below each leaf of the old graph is what its path leaves of the new one. A node's edges part just the states that
    are possible on all paths to it, as only nodes that are alike are shared: so it has the weak test-once property.
    """
    made = _Product(variables, old, new, classes).run()
    if made is None:
        return None
    return (np.array(made.tests, np.int32), np.array(made.labels, np.int32), *flat_edges(made.edges))


@dataclass(slots=True)
class _Made:
    """The variable, the class and the edges of each node; children first."""

    tests: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    edges: list[Edges] = field(default_factory=list)


@dataclass(slots=True)
class _Step:
    """A place whose children are being made: what its variable had left before, and the children so far."""

    key: tuple[_Place, tuple[Ranges, ...]]
    variable: int
    edges: Sequence[tuple[Ranges, _Place]]
    before: Ranges
    done: list[int] = field(default_factory=list)


class _Product:
    """A walk through one graph and then the other with what the path has left of each variable's states."""

    def __init__(self, variables: Sequence[Variable], old: Nodes, new: Nodes, classes: int) -> None:
        self.old, self.new, self.classes = old, new, classes
        self.left: list[Ranges] = [((0, variable.size - 1),) for variable in variables]
        self.made = _Made()
        self.unique: dict[tuple[int, int, Edges], int] = {}
        self.known: dict[tuple[_Place, tuple[Ranges, ...]], int] = {}
        self.below_new = _tested_below(new, frozenset())
        self.below_old = _tested_below(old, frozenset(self.below_new[-1]))

    def run(self) -> _Made | None:
        """The nodes of the product; None if there are too many."""
        work: list[_Step] = []
        copy = self._enter((len(self.old) - 1, -1), work)
        for _ in range(MOST_STEPS):
            if not work:
                assert copy is not None
                return _reached(self.made, copy)
            step = work[-1]
            if copy is not None:
                step.done.append(copy)
            if len(step.done) < len(step.edges):
                states, child = step.edges[len(step.done)]
                self.left[step.variable] = states
                copy = self._enter(child, work)
                continue
            work.pop()
            self.left[step.variable] = step.before
            copy = self.known[step.key] = self._add(step)
        return None

    def _enter(self, place: _Place, work: list[_Step]) -> int | None:
        """The node of a place if it is there already; else the place is to be worked on."""
        while True:
            node, label = place
            variable, own, edges = self.old[node] if label < 0 else self.new[node]
            if variable < 0 and label < 0:
                place = (len(self.new) - 1, own)
                continue
            if variable < 0:
                return self._node(-1, label * self.classes + own, ())
            left = self.left[variable]
            clipped = ((intersection(states, left), (child, label)) for states, child in edges)
            possible = [(states, child) for states, child in clipped if states]
            if len(possible) > 1:
                break
            place = possible[0][1]
        below = self.below_old[node] if label < 0 else self.below_new[node]
        key = (place, tuple(self.left[v] for v in below))
        if key in self.known:
            return self.known[key]
        work.append(_Step(key, variable, possible, left))
        return None

    def _add(self, step: _Step) -> int:
        """The node of a place; if all its edges lead to one node, it is that one."""
        leading: dict[int, list[tuple[int, int]]] = {}
        for (states, _), child in zip(step.edges, step.done, strict=True):
            leading.setdefault(child, []).extend(states)
        if len(leading) == 1:
            return step.done[0]
        return self._node(step.variable, -1, tuple((union(pairs), child) for child, pairs in leading.items()))

    def _node(self, variable: int, label: int, edges: Edges) -> int:
        key = (variable, label, edges)
        if key not in self.unique:
            self.unique[key] = len(self.made.tests)
            self.made.tests.append(variable)
            self.made.labels.append(label)
            self.made.edges.append(edges)
        return self.unique[key]


def _tested_below(nodes: Nodes, at_leaves: frozenset[int]) -> list[tuple[int, ...]]:
    """For each node the variables that are tested at it or below it."""
    below: list[frozenset[int]] = []
    for variable, _, edges in nodes:
        below.append(at_leaves if variable < 0 else frozenset((variable,)).union(*(below[c] for _, c in edges)))
    return [tuple(sorted(each)) for each in below]


def _reached(made: _Made, root: int) -> _Made:
    """The nodes that the root reaches, the root last."""
    used = {root}
    for node in range(root, -1, -1):
        if node in used:
            used.update(child for _, child in made.edges[node])
    kept = sorted(used)
    number = {node: at for at, node in enumerate(kept)}
    return _Made(
        [made.tests[node] for node in kept],
        [made.labels[node] for node in kept],
        [tuple((states, number[child]) for states, child in made.edges[node]) for node in kept],
    )
