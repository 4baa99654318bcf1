"""Whether two possible instances, alike but in few features, are decided in two given ways: proved apart from audits.

A decision graph is taken apart into the boxes of its leaves, and every two of them are compared. Any other model is cut
into regions until none can hold such a pair, by the plain search of `verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from quia.auditing.check_world import World
from quia.auditing.checked import NotChecked
from quia.classifier import HasPath, offers
from quia.constrained import ConstrainedGraph
from quia.patience import Clock
from quia.ranges import Ranges, intersection, members, size, union
from quia.region import Region
from quia.variables import Variable

MOST_BOXES = 4000
"""How many boxes of leaves are compared with each other."""
MOST_REGIONS = 200_000
"""How many regions are looked at."""

Found = tuple[Sequence[int], Sequence[int]]
Boxes = list[tuple[dict[int, Ranges], int]]


def find_pair(
    world: World,
    changing: Collection[int],
    is_asked: Callable[[int, int], bool],
    order: Sequence[int] | None,
    clock: Clock,
) -> Found | None:
    """Two possible instances that differ in changing variables at most, of two classes that are asked for; or None.

    With an `order` of states of the one changing variable, the first instance's comes before the second's.
    """
    if not set(changing).intersection(world.own.tested):
        return None
    boxes = _boxes(world, clock)
    if boxes is not None:
        return _by_boxes(world, boxes, changing, is_asked, order, clock)
    if order is None:
        return _differing(world, changing, is_asked, clock)
    return _ordered(world, next(iter(changing)), is_asked, order, clock)


def rising(variable: Variable, possible: Ranges) -> Sequence[int]:
    """The possible states of a numeric variable that are numbers, the lowest first."""
    numbers = intersection(possible, ((0, len(variable.cuts)),))
    if size(numbers) > MOST_REGIONS:
        raise NotChecked(f"{variable.name} has too many numbers to compare each with each")
    return tuple(members(numbers))


# ---- graphs -----------------------------------------------------------------------------------------------------


def _boxes(world: World, clock: Clock) -> Boxes | None:
    """The possible states of each variable on the way to each leaf; None if it is no graph, or there are too many."""
    asked: Any = world.asked.whole if isinstance(world.asked, ConstrainedGraph) else world.asked
    if not offers(asked, HasPath):
        return None
    possible = world.terms.worlds.possible
    nodes = asked.nodes
    work: list[tuple[int, dict[int, Ranges]]] = [(len(nodes) - 1, dict(possible.bounds))]
    found: Boxes = []
    while work:
        clock()
        at, box = work.pop()
        variable, label, edges = nodes[at]
        if label >= 0:
            if label not in world.terms.worlds.impossible:
                found.append((box, label))
            continue
        states = box.get(variable, possible.states(variable))
        for ranges, child in edges:
            if left := intersection(states, ranges):
                work.append((child, {**box, variable: left}))
        if len(found) + len(work) > MOST_BOXES:
            return None
    return found


def _by_boxes(
    world: World,
    boxes: Boxes,
    changing: Collection[int],
    is_asked: Callable[[int, int], bool],
    order: Sequence[int] | None,
    clock: Clock,
) -> Found | None:
    variables = world.terms.variables
    classes = range(len(world.terms.classes))
    asked = np.array([[is_asked(a, b) for b in classes] for a in classes], bool)
    labels = np.array([label for _, label in boxes], np.intp)
    meets = asked[labels][:, labels]
    bounded = sorted({v for box, _ in boxes for v in box})
    for v in (v for v in bounded if v not in changing):
        clock()
        admits = np.zeros((len(boxes), variables[v].size), np.float32)
        for at, (box, _) in enumerate(boxes):
            for low, high in box.get(v, ((0, variables[v].size - 1),)):
                admits[at, low : high + 1] = 1
        meets &= (admits @ admits.T) > 0
    if order is not None:
        v = next(iter(changing))
        rank = {state: at for at, state in enumerate(order)}
        every = ((0, variables[v].size - 1),)
        places = [[rank[s] for s in members(box.get(v, every)) if s in rank] for box, _ in boxes]
        least = np.array([min(each, default=len(rank)) for each in places])
        most = np.array([max(each, default=-1) for each in places])
        meets &= least[:, None] < most[None, :]
    for i, j in np.argwhere(meets)[:1].tolist():
        return _joined(world, boxes[i][0], boxes[j][0], changing, order)
    return None


def _joined(
    world: World, one: dict[int, Ranges], other: dict[int, Ranges], changing: Collection[int], order: Any
) -> Found:
    """An instance of each of two boxes, which are alike in all that does not change."""
    every = [((0, variable.size - 1),) for variable in world.terms.variables]
    first, second = [], []
    for v, whole in enumerate(every):
        mine, theirs = one.get(v, whole), other.get(v, whole)
        if v not in changing:
            state = intersection(mine, theirs)[0][0]
            first.append(state)
            second.append(state)
        elif order is None:
            first.append(mine[0][0])
            second.append(theirs[0][0])
        else:
            first.append(next(s for s in order if s in set(members(mine))))
            second.append(next(s for s in reversed(order) if s in set(members(theirs))))
    return first, second


# ---- any model --------------------------------------------------------------------------------------------------


def _differing(
    world: World, changing: Collection[int], is_asked: Callable[[int, int], bool], clock: Clock
) -> Found | None:
    """By regions: one with a single class holds no pair; in one with two, an instance of each shows where to cut."""
    classes = range(len(world.terms.classes))
    if not all(is_asked(a, b) for a in classes for b in classes if a != b):
        raise NotChecked("only pairs of any two different classes are looked for where several features change")
    work = [world.terms.worlds.possible]
    for _ in range(MOST_REGIONS):
        if not work:
            return None
        region = work.pop()
        one = world.terms.worlds.member(region)
        if one is None:
            continue
        other = world.escape(region, [world.asked.decide(one)], clock, one)
        if other is None:
            continue
        apart = _apart(world, one, other, changing)
        if not apart:
            return one, [b if v in changing else a for v, (a, b) in enumerate(zip(one, other, strict=True))]
        work += _halves(region, apart[0], one, other)
    raise NotChecked(f"that takes more than {MOST_REGIONS:,} regions")


def _ordered(
    world: World, v: int, is_asked: Callable[[int, int], bool], order: Sequence[int], clock: Clock
) -> Found | None:
    """By pairs of regions that are alike but in one variable, whose states in the first all come before the second's.

    An order is halved again and again, so that any two of its states are in the two halves of some part of it.
    """
    classes = range(len(world.terms.classes))
    seconds = {a: [b for b in classes if is_asked(a, b)] for a in classes}
    parts = [tuple(order)]
    work: list[tuple[int, Region, Ranges, Ranges]] = []
    while parts:
        part = parts.pop()
        if len(part) > 1:
            halves = part[: len(part) // 2], part[len(part) // 2 :]
            parts += halves
            lower, upper = (union((state, state) for state in half) for half in halves)
            work += [(a, world.terms.worlds.possible, lower, upper) for a in classes if seconds[a]]
    for _ in range(MOST_REGIONS):
        if not work:
            return None
        a, region, lower, upper = work.pop()
        one = world.escape(region.replaced({v: lower}), [c for c in classes if c != a], clock)
        if one is None:
            continue
        near = [upper[0][0] if at == v else state for at, state in enumerate(one)]
        others = [c for c in classes if c not in seconds[a]]
        other = world.escape(region.replaced({v: upper}), others, clock, near)
        if other is None:
            continue
        apart = _apart(world, one, other, (v,))
        if not apart:
            return one, [other[v] if at == v else state for at, state in enumerate(one)]
        work += [(a, half, lower, upper) for half in _halves(region, apart[0], one, other)]
    raise NotChecked(f"that takes more than {MOST_REGIONS:,} regions")


def _apart(world: World, one: Sequence[int], other: Sequence[int], changing: Collection[int]) -> list[int]:
    return [v for v in world.asked.tested if v not in changing and one[v] != other[v]]


def _halves(region: Region, v: int, one: Sequence[int], other: Sequence[int]) -> list[Region]:
    """The region cut in two, between two instances."""
    middle = (one[v] + other[v]) // 2
    states, last = region.states(v), region.variables[v].size - 1
    halves = (intersection(states, ((0, middle),)), intersection(states, ((middle + 1, last),)))
    return [region.replaced({v: half}) for half in halves if half]
