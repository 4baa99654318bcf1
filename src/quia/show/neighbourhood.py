"""Which part of a decision graph to draw: all of a small one, of a large one the path and what branches off it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from quia import conditions
from quia.classifier import HasPath
from quia.cuts import Interval
from quia.graph import DecisionGraph
from quia.ranges import Ranges, covers, difference, size, union
from quia.show.words import Facts

MOST_WHOLE = 40
MOST_STEPS = 60
MOST_BRANCHES = 3
MOST_COUNTED = 64


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn node: a test, a leaf, or a stub that stands for what is below `nodes`."""

    kind: str
    nodes: tuple[int, ...]
    lit: bool
    step: int | None = None
    """The number of the path's node that it is, or, for a stub, branches off."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A drawn edge: the test's states that lead along it."""

    start: int
    end: int
    states: Ranges
    lit: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: boxes, and arrows between them by their places in the list."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """A graph of which only the nodes that are looked at are made."""

    graph: HasPath

    @property
    def nodes(self) -> Sequence[tuple[int, int, Sequence[tuple[Ranges, int]]]]:
        """Each node's variable (or -1), class (or -1) and (states, child) edges, children first."""
        return self.graph.nodes_by_need if isinstance(self.graph, DecisionGraph) else self.graph.nodes

    @property
    def is_tree(self) -> bool:
        """Whether no node has two parents."""
        return self.graph.is_tree

    def path(self, states: Sequence[int]) -> Iterator[int]:
        """The nodes that an encoded instance passes."""
        return self.graph.path(states)


def picture(
    graph: HasPath, states: Sequence[int], path: Sequence[int], *, whole: int = MOST_WHOLE, steps: int = MOST_STEPS
) -> Picture:
    """The boxes and arrows to draw for an instance: all of at most `whole` nodes, or the last `steps` of its path."""
    return _whole(graph, states, path) if len(graph.nodes) <= whole else _along(graph, states, path, steps)


def top(graph: HasPath, most: int) -> Picture:
    """The boxes and arrows of the first nodes of a graph, layer by layer, at most about `most`; stubs for the rest."""
    opened = {len(graph.nodes) - 1}
    seen, layer = set(opened), list(opened)
    while layer:
        below = [child for node in layer for _, child in graph.nodes[node][2] if child not in seen]
        if len(seen) + len(set(below)) > most and len(opened) > 1:
            break
        seen.update(below)
        opened.update(layer)
        layer = list(dict.fromkeys(below))
    boxes: list[Box] = []
    place: dict[int, int] = {}
    for node in sorted(seen, reverse=True):  # children first, so parents come before theirs here
        place[node] = len(boxes)
        is_leaf = graph.nodes[node][0] < 0
        boxes.append(Box("leaf" if is_leaf else "test" if node in opened else "stub", (node,), False))
    arrows = [
        Arrow(place[node], place[child], union(pair for some, to in edges if to == child for pair in some), False)
        for node in sorted(opened, reverse=True)
        for edges in (graph.nodes[node][2],)
        for child in dict.fromkeys(child for _, child in edges)
    ]
    return Picture(tuple(boxes), tuple(arrows), whole=len(seen) == len(graph.nodes))


def _whole(graph: HasPath, states: Sequence[int], path: Sequence[int]) -> Picture:
    place = {node: step for step, node in enumerate(path)}
    boxes, arrows = [], []
    for node, (test, _, edges) in enumerate(graph.nodes):
        boxes.append(Box("test" if test >= 0 else "leaf", (node,), node in place, place.get(node)))
        for child in dict.fromkeys(child for _, child in edges):
            ranges = union(pair for some, there in edges if there == child for pair in some)
            lit = node in place and covers(ranges, states[test])
            arrows.append(Arrow(node, child, ranges, lit))
    return Picture(tuple(boxes), tuple(arrows), whole=True)


def _along(graph: HasPath, states: Sequence[int], path: Sequence[int], steps: int) -> Picture:
    # A very long path is drawn from its end, where it is decided.
    first = max(0, len(path) - steps)
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    previous = -1
    for step in range(len(path) - 1, first - 1, -1):
        node = path[step]
        test, _, edges = graph.nodes[node]
        here = len(boxes)
        boxes.append(Box("test" if test >= 0 else "leaf", (node,), True, step))
        if test >= 0:
            if previous >= 0:  # the path ends at a test whose variable is not known
                taken = union(pair for some, _ in edges if covers(some, states[test]) for pair in some)
                arrows.append(Arrow(here, previous, taken, True))
            for kind, children in _grouped(graph, node, states[test]):
                ranges = union(pair for some, child in edges if child in children for pair in some)
                boxes.append(Box(kind, children, False, step))
                arrows.append(Arrow(here, len(boxes) - 1, ranges, False))
        previous = here
    return Picture(tuple(boxes), tuple(arrows), whole=False)


def _grouped(graph: HasPath, node: int, state: int) -> list[tuple[str, tuple[int, ...]]]:
    """The branches not taken, leaves of one class together, many others as one."""
    leaves: dict[int, list[int]] = {}
    inner: dict[int, None] = {}
    for ranges, child in graph.nodes[node][2]:
        if covers(ranges, state):
            continue
        if graph.nodes[child][0] < 0:
            leaves.setdefault(graph.nodes[child][1], []).append(child)
        else:
            inner[child] = None
    groups = [("leaf", tuple(dict.fromkeys(nodes))) for nodes in leaves.values()]
    if len(inner) > MOST_BRANCHES:
        return [*groups, ("stub", tuple(inner))]
    return [*groups, *(("stub", (child,)) for child in inner)]


def below(graph: HasPath, nodes: Iterable[int]) -> tuple[int, bool, list[int]]:
    """How many nodes hang below some nodes, they counted, whether that is all, and the classes found there."""
    work = list(set(nodes))
    count, labels = len(work), set()
    seen = None if graph.is_tree else set(work)
    while work and count <= MOST_COUNTED:
        test, label, edges = graph.nodes[work.pop()]
        if test < 0:
            labels.add(label)
            continue
        children = [child for _, child in edges]
        if seen is not None:  # what is shared is counted once
            children = [child for child in dict.fromkeys(children) if child not in seen]
            seen.update(children)
        count += len(children)
        work += children
    return count, not work, sorted(labels)


def condition_signs(graph: HasPath, facts: Facts, node: int, ranges: Ranges) -> str:
    """The states that lead along an edge, told from the others that are possible there, in little room."""
    test, _, edges = graph.nodes[node]
    variable, possible = facts.variables[test], union(pair for some, _ in edges for pair in some)
    if ranges == possible:
        return "any value"
    if not variable.is_numeric:
        # By those that are left out, where these are fewer: then what is not possible here may be said to be in.
        if 2 < size(ranges) > size(possible) - size(ranges):
            ranges = difference(((0, variable.size - 1),), difference(possible, ranges))
        return facts.signs(test, ranges)
    found = conditions.within(variable, ranges, possible)
    return " or ".join(each if isinstance(each, str) else _short(each) for each in found)


def _short(interval: Interval) -> str:
    """An interval in little room."""
    is_two_sided = interval.lower is not None and interval.upper is not None
    return interval.text if is_two_sided else interval.signs
