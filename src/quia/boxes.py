"""Boxes: a set of states for each of some variables, and the operations that find the largest ones.

Glossary: a *shape* is what a variable's set may be: any set, or an interval of numbers that *missing* may join.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from quia.ranges import Ranges, as_listed, covers, difference, intersection, members, size, union
from quia.variables import Variable

Box = tuple[Ranges, ...]
Point = Sequence[int]


@dataclass(frozen=True, slots=True)
class Shape:
    """What the set of states of a variable may be: `numbers` counts the first states that must be neighbours.

    >>> shape = Shape.of(Variable.numeric("W", [1, 2, 3], missing=True))
    >>> shape.without(((0, 4),), 1, ((3, 3),)), shape.without(((0, 4),), 1, ((4, 4),))
    ([((2, 4),)], [((0, 0), (4, 4)), ((2, 4),)])
    """

    numbers: int

    @staticmethod
    def of(variable: Variable, intervals: bool = True) -> Shape:
        """The shape of a variable's sets; those of a line, which has too many states to list, are always intervals."""
        return Shape(len(variable.cuts) + 1 if variable.is_line or (intervals and variable.is_numeric) else 0)

    def without(self, states: Ranges, state: int, kept: Ranges) -> list[Ranges]:
        """The largest sets within `states` that have no more this state, but have those that are kept."""
        if state >= self.numbers:
            return [difference(states, ((state, state),))]
        above, below = ((state, self.numbers - 1),), ((0, state),)
        numbers = self.numbers_of(kept)
        wanted = [above, below] if not numbers else [above if numbers[0][0] < state else below]
        return [difference(states, side) for side in wanted]

    def parts(self, states: Ranges) -> list[Ranges]:
        """The largest sets of this shape within some states.

        >>> Shape.of(Variable.numeric("W", [1, 2, 3], missing=True)).parts(((0, 1), (3, 4)))
        [((0, 1), (4, 4)), ((3, 4),)]
        """
        numbers = self.numbers_of(states)
        if len(numbers) <= 1:
            return [states]
        others = difference(states, numbers)
        return [union((run, *others)) for run in numbers]

    def numbers_of(self, states: Ranges) -> Ranges:
        """The states that must be neighbours."""
        return intersection(states, ((0, self.numbers - 1),)) if self.numbers else ()

    def joined(self, one: Ranges, other: Ranges) -> list[Ranges]:
        """The largest sets of this shape within the union of two, each of which has all of one's numbers."""
        whole = union((*one, *other))
        numbers = self.numbers_of(whole)
        if len(numbers) <= 1:
            return [whole]
        beside = difference(whole, numbers)
        return [union((*self.numbers_of(each), *beside)) for each in (one, other)]


def filled(variable: Variable, possible: Ranges) -> Ranges:
    """The possible states of a variable, and the numbers between them.

    These need not be looked at, as nothing has them: an interval may reach over them.
    """
    numbers = Shape.of(variable).numbers_of(possible)
    return union((*possible, (numbers[0][0], numbers[-1][1]))) if len(numbers) > 1 else possible


def is_within(inner: Box, outer: Box) -> bool:
    """Whether a box has no point that another has not."""
    return all(not difference(a, b) for a, b in zip(inner, outer, strict=True))


def contains(box: Box, point: Point) -> bool:
    """Whether a point is in a box."""
    return all(map(covers, box, point))


def maximal(boxes: Iterable[Box]) -> list[Box]:
    """The boxes that are in no other, each once."""
    kept: list[Box] = []
    for box in boxes:
        if not any(is_within(box, other) for other in kept):
            kept = [other for other in kept if not is_within(other, box)]
            kept.append(box)
    return kept


def width(box: Box) -> int:
    """How many points are in a box."""
    return math.prod(map(size, box))


def widest_first(boxes: Iterable[Box]) -> list[Box]:
    """The order of every listing: the most points first, equals by their states."""
    return sorted(boxes, key=lambda box: (-width(box), tuple(map(as_listed, box))))


def forcing_parts(boxes: Iterable[Box], variables: Sequence[Variable], possible: Mapping[int, Ranges]) -> list[Box]:
    """What of boxes around an instance is possible, if at some places only these states are: the widest first.

    What is impossible does not count, but as nobody has it, conditions on numbers reach over it.
    """
    kept = widest_first(maximal(_possible(boxes, possible)))
    gaps = [place for place, states in possible.items() if filled(variables[place], states) != states]
    return [_changed(box, gaps, lambda at, states: _reaching_over(variables[at], states, possible[at])) for box in kept]


def changing_parts(boxes: Iterable[Box], shapes: Sequence[Shape], possible: Mapping[int, Ranges]) -> list[Box]:
    """What of boxes of changes is possible, if at some places only these states are: the largest, the widest first.

    Each state of theirs can be changed to, so that no condition reaches over what is impossible.
    """
    parts = (product(*map(Shape.parts, shapes, box)) for box in _possible(boxes, possible))
    return widest_first(maximal(each for of_box in parts for each in of_box))


def _possible(boxes: Iterable[Box], possible: Mapping[int, Ranges]) -> Iterator[Box]:
    for box in boxes:
        part = _changed(box, possible, lambda at, states: intersection(states, possible[at]))
        if all(part):
            yield part


def _changed(box: Box, places: Iterable[int], change: Callable[[int, Ranges], Ranges]) -> Box:
    changed = list(box)
    for place in places:
        changed[place] = change(place, changed[place])
    return tuple(changed)


def _reaching_over(variable: Variable, states: Ranges, possible: Ranges) -> Ranges:
    """Some of the possible states, with the impossible numbers between two of them that follow each other.

    >>> _reaching_over(Variable.numeric("W", [1, 2, 3, 4], missing=True), ((1, 1), (3, 3), (5, 5)), ((1, 1), (3, 5)))
    ((1, 3), (5, 5))
    """
    shape = Shape.of(variable)
    runs: list[tuple[int, int]] = []
    ends = {high: following for (_, high), (following, _) in pairwise(shape.numbers_of(possible))}
    for low, high in shape.numbers_of(states):
        if runs and ends.get(runs[-1][1]) == low:
            runs[-1] = (runs[-1][0], high)
        else:
            runs.append((low, high))
    return union((*runs, *difference(states, shape.numbers_of(states))))


def replaced(box: Box, place: int, states: Ranges) -> Box:
    """The box with another set at a place."""
    return (*box[:place], states, *box[place + 1 :])


def remainder(box: Box, inner: Box) -> Iterator[Box]:
    """What is left of a box without another one, as boxes that have no point in common."""
    for place, (states, taken) in enumerate(zip(box, inner, strict=True)):
        if rest := difference(states, taken):
            yield replaced(box, place, rest)
        box = replaced(box, place, intersection(states, taken))


Refute = Callable[[Box], Point | None]
"""A point of a box that must not be in it; None if there is none."""


def growing(refute: Refute, centre: Box, largest: Box, shapes: Sequence[Shape]) -> Iterator[Box]:
    """Ever larger boxes around a centre that `refute` finds nothing in; the last cannot grow by a state.

    Every side of it grows in turn by half of what is left there, so that no variable is widened at the others' cost; a
    point that is found bounds its side for good. Complexity: a call for each step of a bisection of each side, and for
    each other state that is not added.
    """
    box = centre
    yield box
    work = [(at, side) for at, each in enumerate(zip(centre, largest, shapes, strict=True)) for side in _sides(*each)]
    while work:
        left: list[tuple[int, Sequence[int]]] = []
        for place, reach in work:
            taken = reach[: (len(reach) + 1) // 2]
            wider = replaced(box, place, union((*box[place], *_set(taken))))
            point = refute(wider)
            if point is None:
                box = wider
                yield box
                rest = reach[len(taken) :]
            elif point[place] < shapes[place].numbers:
                rest = reach[: reach.index(point[place])]
            else:
                rest = [state for state in reach if state != point[place]]
            if rest:
                left.append((place, rest))
        work = left


def _each(states: Ranges) -> Sequence[int]:
    """The states one by one: neighbours, of which there may be very many, as a range."""
    return range(states[0][0], states[0][1] + 1) if len(states) == 1 else list(members(states))


def _set(states: Sequence[int]) -> Ranges:
    """The set of some states."""
    if isinstance(states, range) and states:
        return ((min(states[0], states[-1]), max(states[0], states[-1])),)
    return union((state, state) for state in states)


def _sides(centre: Ranges, largest: Ranges, shape: Shape) -> Iterator[Sequence[int]]:
    """The states that a set may grow by: numbers on either side of it, the nearest first, and the others."""
    numbers = shape.numbers_of(centre)
    if numbers:
        low, high = numbers[0][0], numbers[-1][1]
        within = next((pair for pair in shape.numbers_of(largest) if pair[0] <= low <= pair[1]), (low, high))
        yield from filter(None, (range(high + 1, within[1] + 1), range(low - 1, within[0] - 1, -1)))
    others = difference(largest, centre)
    if free := list(members(difference(others, ((0, shape.numbers - 1),)) if shape.numbers else others)):
        yield free


def around(
    refute: Refute, centre: Box, largest: Box, shapes: Sequence[Shape], *, known: Sequence[Box] = ()
) -> Iterator[Box]:
    """The largest boxes around a centre that `refute` finds nothing in, but those in `known` ones.

    Boxes that are in others may come with them.

    A point that is to be avoided is so by one of the variables in which it is not in the centre; each is tried, those
    before it having to keep the point's state, so that no box is reached twice. Complexity: a call for each step of a
    bisection where only one variable is at fault; else exponential in how many boxes there are.
    """
    avoided: list[Point] = []
    found: list[Box] = list(known)
    work: list[tuple[Box, tuple[tuple[int, int], ...]]] = [(_units(refute, centre, largest, shapes), ())]
    while work:
        box, owed = work.pop()
        if not all(covers(box[place], state) for place, state in owed) or any(is_within(box, f) for f in found):
            continue
        point = next((p for p in avoided if contains(box, p)), None)
        if point is None:
            point = refute(box)
            if point is None:
                found.append(box)
                yield box
                continue
            point = _nearest(refute, centre, box, point, shapes)
            avoided.append(point)
        apart = _apart(centre, point)
        for turn, place in enumerate(apart):
            others = tuple((other, point[other]) for other in apart[:turn])
            cut = shapes[place].without(box[place], point[place], centre[place])
            work += [(replaced(box, place, states), (*owed, *others)) for states in cut]


def _apart(centre: Box, point: Point) -> list[int]:
    """The places at which a point is not in the centre."""
    apart = [place for place, state in enumerate(point) if not covers(centre[place], state)]
    if not apart:
        raise ValueError("the centre itself has a point that must not be in a box around it")
    return apart


def _nearest(refute: Refute, centre: Box, box: Box, point: Point, shapes: Sequence[Shape]) -> Point:
    """A point of the box to be avoided that leaves the centre in no variable, and by no number, without need.

    A cut at the border of what is safe, not at any point beyond, is one cut instead of one for each state there.
    Complexity: a call for each variable, and for each step of a bisection where it is a number.
    """
    for place in range(len(centre)):
        apart = _apart(centre, point)
        if place in apart:
            at_centre = (at == place or at not in apart for at in range(len(centre)))
            nearer = refute(tuple(c if is_at else b for c, b, is_at in zip(centre, box, at_centre, strict=True)))
            point = point if nearer is None else nearer
    apart = _apart(centre, point)
    sides = [
        _towards(*each) if at in apart else each[0] for at, each in enumerate(zip(centre, point, shapes, strict=True))
    ]
    for place in apart:
        reach = _each(intersection(sides[place], box[place]))
        if not shapes[place].numbers_of(centre[place]) or point[place] >= shapes[place].numbers:
            continue
        if reach[0] < centre[place][0][0]:
            reach = reach[::-1]
        safe, bound = 0, reach.index(point[place])  # the first so many are safe, and that one is not
        while safe < bound:
            tried = (safe + bound) // 2
            nearer = refute(tuple(replaced(tuple(sides), place, _set(reach[safe : tried + 1]))))
            if nearer is None:
                safe = tried + 1
            else:
                point, bound = nearer, reach.index(nearer[place])
        sides[place] = ((reach[bound], reach[bound]),)
    return point


def _towards(centre: Ranges, state: int, shape: Shape) -> Ranges:
    """The states from next to the centre up to a state; of what is no number, or has none at the centre, that state."""
    numbers = shape.numbers_of(centre)
    if not numbers or state >= shape.numbers:
        return ((state, state),)
    low, high = numbers[0][0], numbers[-1][1]
    return ((state, low - 1),) if state < low else ((high + 1, state),)


def _units(refute: Refute, centre: Box, largest: Box, shapes: Sequence[Shape]) -> Box:
    """The largest box without the points to be avoided that leave the centre in one variable alone.

    Numbers around a missing value are left as they are: which of them go is a choice.
    """
    box = largest
    for place, (own, shape) in enumerate(zip(centre, shapes, strict=True)):

        def fault(states: Ranges, place: int = place) -> int | None:
            point = refute(replaced(centre, place, states))
            return None if point is None else point[place]

        states = box[place]
        numbers = shape.numbers_of(own)
        if numbers:
            last = shape.numbers - 1
            for side in (((numbers[-1][1] + 1, last),), ((0, numbers[0][0] - 1),)):
                outside = intersection(states, side) if side[0][0] <= side[0][1] else ()
                states = difference(states, difference(outside, _safe_part(fault, outside, own)))
        free = difference(states, ((0, shape.numbers - 1),)) if shape.numbers else states
        while free and (at := fault(free)) is not None:
            if covers(own, at):
                raise ValueError("the centre itself has a point that must not be in a box around it")
            free = difference(free, ((at, at),))
        box = replaced(box, place, union((*shape.numbers_of(states), *free)))
    return box


def _safe_part(fault: Callable[[Ranges], int | None], side: Ranges, own: Ranges) -> Ranges:
    """The states of a side, from the centre's on as far as none is at fault: by bisection."""
    reach = _each(side)
    if reach and reach[0] < own[0][0]:
        reach = reach[::-1]
    safe, bound = 0, len(reach)  # so many are safe, and so many at most can be
    tried = bound
    while safe < bound:
        found = fault(_set(reach[safe:tried]))
        if found is None:
            safe = tried
        else:
            bound = reach.index(found)
        tried = max(safe + 1, (safe + bound) // 2)
    return _set(reach[:safe])


def unions(boxes: Iterable[Box], shapes: Sequence[Shape], step: Callable[[], None]) -> list[Box]:
    """The largest boxes in what some boxes cover together.

    Two boxes give those that join their sets of one variable and have what is common of the others (consensus); what
    is in another is dropped, until nothing new comes. Every box that is covered is in one of the result: cut in two,
    each half is, and those two are joined.
    """
    found: list[Box] = []
    work = maximal(boxes)
    while work:
        step()
        box = work.pop()
        if any(is_within(box, other) for other in found):
            continue
        found = [other for other in found if not is_within(other, box)]
        for other in found:
            work += [new for new in _consensus(box, other, shapes) if not any(is_within(new, f) for f in (box, other))]
        found.append(box)
    return maximal(found)


def _consensus(one: Box, other: Box, shapes: Sequence[Shape]) -> Iterator[Box]:
    common = tuple(map(intersection, one, other))
    empty = [place for place, states in enumerate(common) if not states]
    if len(empty) > 1:
        return
    for place in empty or range(len(one)):
        for states in shapes[place].joined(one[place], other[place]):
            yield replaced(common, place, states)
