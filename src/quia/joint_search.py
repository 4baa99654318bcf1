"""Where two models give a pair of classes that is not among some: found, or proved to be nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quia.consistent import Edges
from quia.patience import Clock
from quia.question import Question
from quia.ranges import covers, difference, intersection
from quia.region import Region
from quia.side import Side

Sides = tuple[Side, Side]
Pairs = frozenset[tuple[int, int]]


def outside(
    sides: Sides, kept: Iterable[tuple[int, int]], question: Question, region: Region, clock: Clock
) -> list[int] | None:
    """An instance in a region whose pair of classes is not kept, near the question's if it can be; None: none is.

    If one of the models is a graph, the other is asked about the box of each of its paths; else the region is cut.
    Complexity: exponential in the worst case, so the clock is asked at every step.
    """
    pairs = frozenset(kept)
    for at, side in enumerate(sides):
        if side.nodes is not None:
            turned = pairs if at == 0 else frozenset((b, a) for a, b in pairs)
            return _along_paths(side, side.nodes, sides[1 - at], turned, question, region, clock)
    return _by_cutting(sides, pairs, question, region, clock)


def _along_paths(
    side: Side,
    nodes: Sequence[tuple[int, int, Edges]],
    other: Side,
    kept: Pairs,
    question: Question,
    region: Region,
    clock: Clock,
) -> list[int] | None:
    """The same where one model is a graph: below a node it is enough that the other keeps to what all leaves allow."""
    allowed = {a: frozenset(b for mine, b in kept if mine == a) for a in side.classes}
    common: list[frozenset[int]] = []  # what is kept whatever leaf below a node is reached
    for variable, label, edges in nodes:
        below = [common[child] for _, child in edges]
        common.append(allowed[label] if variable < 0 else frozenset.intersection(*below))
    work = [(len(nodes) - 1, region)]
    while work:
        clock()
        node, box = work.pop()
        variable, _, edges = nodes[node]
        if variable < 0 or common[node]:
            found = other.escape(question, common[node], box, clock)
            if found is None:
                continue
            if variable < 0 or (side.decide(found), other.decide(found)) not in kept:
                return found
        parts = [(child, intersection(states, box.states(variable))) for states, child in edges]
        ordered = sorted(parts, key=lambda part: covers(part[1], question.states[variable]))
        work += [(child, box.replaced({variable: states})) for child, states in ordered if states]
    return None


def _by_cutting(sides: Sides, kept: Pairs, question: Question, region: Region, clock: Clock) -> list[int] | None:
    """The same for any two models: where one of them has one class, the other is asked; else a region is cut in two."""
    work = [region]
    while work:
        clock()
        box = work.pop()
        one: Sequence[int] = box.nearest(question.states)
        pair = _pair(sides, one)
        if pair not in kept:
            return list(one)
        apart: list[list[int]] = []
        for at in (0, 1):
            mine, other = sides[at], sides[1 - at]
            elsewhere = mine.escape(question, frozenset((pair[at],)), box, clock)
            if elsewhere is None:
                keeps = frozenset(each[1 - at] for each in kept if each[at] == pair[at])
                found = other.escape(question, keeps, box, clock)
                if found is not None:
                    return found
                break
            if _pair(sides, elsewhere) not in kept:
                return elsewhere
            apart.append([v for v in mine.tested if elsewhere[v] != one[v]])
            last = elsewhere
        else:
            both = [v for v in apart[1] if v in apart[0]] or apart[1]
            work += _cut(box, both[0], one[both[0]], last[both[0]])
    return None


def _pair(sides: Sides, states: Sequence[int]) -> tuple[int, int]:
    return sides[0].decide(states), sides[1].decide(states)


def _cut(box: Region, variable: int, one: int, other: int) -> list[Region]:
    """A region cut between two states of a variable, the part with the first one last."""
    low, high = min(one, other), max(one, other)
    lower = ((0, (low + high) // 2),)
    states = box.states(variable)
    parts = [intersection(states, lower), difference(states, lower)]
    return [box.replaced({variable: part}) for part in (parts if one == high else reversed(parts))]
