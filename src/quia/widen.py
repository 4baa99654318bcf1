"""General reasons: a reason's conditions as wide as they can be and still true (Ji & Darwiche 2023).

A sufficient reason's features give the largest boxes around the instance that force the decision; a necessary
reason's, the largest boxes of changes in which every point, all else kept, changes it. Graphs find both in the kernel;
here they are found by `escape` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from quia._kernel import OverBudget
from quia.boxes import (
    Box,
    Point,
    Refute,
    Shape,
    around,
    changing_parts,
    filled,
    forcing_parts,
    growing,
    remainder,
    unions,
)
from quia.classifier import Classifier, EndsNear, Widens, answers_directly, escape_within, offers
from quia.literal import Literal
from quia.patience import Clock, OutOfTime
from quia.question import Question
from quia.ranges import Ranges, difference, union
from quia.reason import Kind, Members, Reason
from quia.reference import Reference
from quia.variables import UNKNOWN, Variable


class Widened(NamedTuple):
    """The boxes over one set of variables that were found, and whether they are all and cannot be wider.

    If they are not all, `in_time` says that it was not for lack of time: no more were looked for.
    """

    boxes: list[Box]
    are_all: bool = True
    are_widest: bool = True
    in_time: bool = True


@dataclass(frozen=True, eq=False)
class Widening:
    """How the reasons of one kind of a decision are widened; with `intervals`, numbers must be neighbours.

    The widest box is the one with the most points; with a `reference` table, the one that fits the most rows.
    """

    classifier: Classifier
    question: Question
    kind: Kind
    intervals: bool = True
    reference: Reference | None = None

    def boxes(
        self,
        of: Members,
        clock: Clock,
        *,
        most: int | None = None,
        certain: bool = False,
        is_ordered: bool = True,
        share: float = 1.0,
    ) -> list[Box]:
        """All largest boxes over a reason's variables, the widest first: what its states, or its changes, can be.

        Of many, more than the `most` that are wanted need not be found; unless those are not the first ones in this
        order (`is_ordered`), and the classifier's structure gives all. Where it does not, they are looked for, in a
        `share` of the time. Where variables are unknown, changes only could change the decision; those that are
        `certain` do, and there may be none. OutOfTime if the clock ends before the structure gives them; SomeBoxes if
        it ends before all are found, or if only `most` are wanted, and too many must be looked for.
        """
        variables, states = self.question.variables, self.question.states
        is_closed = self.question.is_only_frozen
        if is_closed and not certain and all(variables[v].size == 2 for v in of):
            # There is no other state to add, and none but the other one to change to.
            shift = int(self.kind == "necessary")
            return [tuple(((states[v] ^ shift, states[v] ^ shift),) for v in of)]
        asked = (self.question, self.kind, of, self.intervals)
        if answers_directly(self.classifier, self.question) and offers(self.classifier, Widens):
            limit = most if is_ordered else None
            try:
                found = self.classifier.widen(*asked, limit=limit, certain=certain, timeout=clock.left)
            except OverBudget:
                raise OutOfTime from None
            if found is not None:
                return found
        calls = None if most is None else MOST_CALLS
        own = clock if share == 1.0 else clock.share(share)
        if self.kind == "sufficient":
            return sufficient_boxes(self.classifier, self.question, of, self.intervals, own, calls=calls)
        return necessary_boxes(self.classifier, self.question, of, self.intervals, own, calls=calls, certain=certain)

    def boxes_in_time(self, of: Members, clock: Clock, **how: Any) -> Widened:
        """The same as far as time allows."""
        try:
            return self.all_or_some(of, clock, **how)
        except OutOfTime:
            return Widened([], False, in_time=False)

    def all_or_some(self, of: Members, clock: Clock, **how: Any) -> Widened:
        """The same; OutOfTime where the classifier's structure would give them, had there been time."""
        try:
            return Widened(self.boxes(of, clock, **how), are_widest=not self._ends_near(of))
        except SomeBoxes as late:
            return Widened(list(late.boxes), False, late.widest, late.in_time)

    def _ends_near(self, of: Members) -> bool:
        """Whether conditions may end a little before they need to, as rounding makes exact borders a long search."""
        return offers(self.classifier, EndsNear) and self.classifier.ends_near(self.question, self.kind, of)

    def reasons(
        self, of: Members, clock: Clock, *, most: int | None = None, share: float = 1.0
    ) -> tuple[Iterator[Reason], bool, bool]:
        """The general reasons over a reason's variables, widest first, whether these are all, and found in time.

        Those that are not asked for are not made. OutOfTime as `boxes` has it.
        """
        found = self.all_or_some(of, clock, most=most if self.reference is None else None, share=share)
        made = (self._reason(of, box, is_widest=found.are_widest) for box in found.boxes)
        if self.reference is None:
            return made, found.are_all, found.in_time
        return iter(sorted(made, key=lambda reason: -(reason.rows or 0))), found.are_all, found.in_time

    def _reason(self, of: Members, box: Box, *, is_widest: bool = True) -> Reason:
        variables, own = self.question.variables, self.question.states
        literals = tuple(Literal(variables[v], ranges, own[v]) for v, ranges in zip(of, box, strict=True))
        rows = None if self.reference is None else self.reference.fitting(literals)
        if self.kind == "necessary":
            return Reason.changing(literals, rows=rows, is_widest=is_widest)
        return Reason(literals, kind="sufficient", is_general=True, is_widest=is_widest, rows=rows)


MOST_CALLS = 60
"""Where boxes must be looked for, and only some are wanted: so many questions to find another, after one is there."""
_MOST_JOINED = 1000  # steps that join boxes, likewise


class Enough(OutOfTime):
    """As many questions were asked as are worth while: there was time for more."""


class SomeBoxes(OutOfTime):
    """Time, or the calls that are worth while (`in_time`), ended before all boxes were found; each is proved.

    They are `widest` if each at least cannot be wider.
    """

    def __init__(self, boxes: Sequence[Box], *, widest: bool, in_time: bool = False) -> None:
        super().__init__()
        self.boxes, self.widest, self.in_time = boxes, widest, in_time


def _all_or_some(boxes: Iterable[Box]) -> list[Box]:
    """All boxes that come; SomeBoxes with those that came if time runs out."""
    found: list[Box] = []
    try:
        found += boxes  # those that come before the time ends are kept
    except SomeBoxes as late:
        raise SomeBoxes([*found, *late.boxes], widest=late.widest, in_time=late.in_time) from None
    except OutOfTime as late:
        raise SomeBoxes(found, widest=True, in_time=isinstance(late, Enough)) from None
    return found


def sufficient_boxes(
    classifier: Classifier,
    question: Question,
    of: Sequence[int],
    intervals: bool,
    clock: Clock,
    *,
    calls: int | None = None,
) -> list[Box]:
    """The largest boxes around the instance that force the decision whatever the other variables are."""
    own = tuple(_single(question.states[v]) for v in of)
    return forcing_boxes(classifier, question, of, own, intervals, clock, calls=calls)


def forcing_boxes(
    classifier: Classifier,
    question: Question,
    of: Sequence[int],
    centre: Box,
    intervals: bool,
    clock: Clock,
    *,
    calls: int | None = None,
) -> list[Box]:
    """The largest boxes around a centre that force the decision, the widest first; else SomeBoxes."""

    def refute(box: Box) -> Point | None:
        found = escape_within(classifier, question, question.within.replaced(dict(zip(of, box, strict=True))), clock)
        return None if found is None else tuple(found[v] for v in of)

    largest, variables = _largest(question, of), [question.variables[v] for v in of]
    try:
        found = _all_or_some(_boxes_around(refute, centre, largest, _shapes(question, of, intervals), calls))
    except SomeBoxes as late:
        some = forcing_parts(late.boxes, variables, _bounds(question, of))
        raise SomeBoxes(some, widest=late.widest, in_time=late.in_time) from None
    return forcing_parts(found, variables, _bounds(question, of))


def _largest(question: Question, of: Sequence[int]) -> Box:
    """What each variable can be, and what is impossible between."""
    return tuple(filled(question.variables[v], question.within.states(v)) for v in of)


def _bounds(question: Question, of: Sequence[int]) -> dict[int, Ranges]:
    """What is possible at the places of a box, where not everything is."""
    return {place: question.within.bounds[v] for place, v in enumerate(of) if v in question.within.bounds}


def _boxes_around(
    refute: Refute, centre: Box, largest: Box, shapes: Sequence[Shape], calls: int | None = None
) -> Iterator[Box]:
    """As `around`; one is soon there, as it grows from the centre, and if time runs out before, how far it has.

    To find the others only so many `calls` are made.
    """
    first = centre
    try:
        for larger in growing(refute, centre, largest, shapes):
            first = larger
    except OutOfTime:
        raise SomeBoxes([first], widest=False) from None
    yield first
    yield from around(_counted(refute, calls), centre, largest, shapes, known=[first])


def _counted(refute: Refute, calls: int | None) -> Refute:
    """The same, as often as that; then it is enough."""
    left = count() if calls is None else iter(range(calls))

    def counted(box: Box) -> Point | None:
        if next(left, None) is None:
            raise Enough
        return refute(box)

    return counted


def necessary_boxes(
    classifier: Classifier,
    question: Question,
    of: Sequence[int],
    intervals: bool,
    clock: Clock,
    *,
    calls: int | None = None,
    certain: bool = False,
) -> list[Box]:
    """The largest boxes of changes of these variables, all else kept, in which every point changes the decision.

    Where variables are unknown, a point does so that could do it; if `certain`, one that does it whatever they are.
    """
    own = (_single(question.states[v]) for v in of)
    others = tuple(map(difference, _largest(question, of), own))
    shapes = _shapes(question, of, intervals)
    is_partial = UNKNOWN in (question.states[v] for v in classifier.tested)
    find = _changing_points if is_partial and not certain else _changing_boxes
    try:
        found = _all_or_some(find(classifier, question, of, others, shapes, clock, calls))
    except SomeBoxes as late:
        # Two of them may be one with others.
        some = changing_parts(late.boxes, shapes, _bounds(question, of))
        raise SomeBoxes(some, widest=False, in_time=late.in_time) from None
    steps = iter(range(_MOST_JOINED)) if calls is not None else count()

    def step() -> None:
        clock()
        if next(steps, None) is None:
            raise Enough

    try:
        return changing_parts(unions(found, shapes, step), shapes, _bounds(question, of))
    except OutOfTime as late:
        some = changing_parts(found, shapes, _bounds(question, of))
        raise SomeBoxes(some, widest=False, in_time=isinstance(late, Enough)) from None


def _changing_boxes(
    classifier: Classifier,
    question: Question,
    of: Sequence[int],
    others: Box,
    shapes: Sequence[Shape],
    clock: Clock,
    calls: int | None,
) -> Iterator[Box]:
    """Boxes in which every point changes the decision, and that together have all points that do."""
    region = question.worlds_changing(of)
    otherwise = replace(question, keeps=frozenset(range(len(question.classes))) - question.keeps)

    left = count() if calls is None else iter(range(calls))

    def point_in(box: Box, asked: Question) -> Point | None:
        found = escape_within(classifier, asked, region.replaced(dict(zip(of, box, strict=True))), clock)
        return None if found is None else tuple(found[v] for v in of)

    work = [others] if all(others) else []
    while work:
        if next(left, None) is None:
            raise Enough
        within = work.pop()
        point = point_in(within, question)
        if point is None:
            continue
        box = tuple(map(_single, point))
        if point_in(box, otherwise) is None:  # else it only could change the decision, as variables are unknown
            box = next(_boxes_around(lambda b: point_in(b, otherwise), box, others, shapes))
            yield box
        work += remainder(within, box)


def _changing_points(
    classifier: Classifier,
    question: Question,
    of: Sequence[int],
    others: Box,
    shapes: Sequence[Shape],
    clock: Clock,
    calls: int | None,
) -> Iterator[Box]:
    """The points that could change the decision, each a box; halves in which none does are not looked through."""
    region = question.worlds_changing(of)
    left = count() if calls is None else iter(range(calls))
    work = [others] if all(others) else []
    while work:
        if next(left, None) is None:
            raise Enough
        box = work.pop()
        point = escape_within(classifier, question, region.replaced(dict(zip(of, box, strict=True))), clock)
        if point is None:
            continue
        cell = tuple(_with_following(question, v, point[v]) for v in of)
        yield cell
        work += remainder(box, cell)


def _with_following(question: Question, v: int, state: int) -> Ranges:
    """A state with the numbers after it that are impossible, if a possible one comes after them."""
    numbers = Shape.of(question.variables[v]).numbers_of(question.within.states(v))
    after = next((low for low, high in numbers if high > state), None)
    return ((state, max(after - 1, state)),) if after is not None and state < numbers[-1][1] else _single(state)


def common_reason(classifier: Classifier, question: Question, other: Sequence[int], clock: Clock) -> Reason | None:
    """A general sufficient reason for the instance and another encoded one; None if their smallest box has none.

    The features in which they differ are left out first, if they can be.
    """
    variables = question.variables
    changeable = [v for v in classifier.tested if UNKNOWN not in (question.states[v], other[v])]
    both = {v: hull(variables[v], question.states[v], other[v]) for v in changeable}

    def is_forced(box: Mapping[int, Ranges]) -> bool:
        return escape_within(classifier, question, question.within.replaced(box), clock) is None

    if not is_forced(both):
        return None
    kept = dict(both)
    for v in sorted(changeable, key=lambda v: (question.states[v] == other[v], v)):
        rest = {u: states for u, states in kept.items() if u != v}
        kept = rest if is_forced(rest) else kept
    of, centre = tuple(kept), tuple(kept.values())
    try:
        box = forcing_boxes(classifier, question, of, centre, True, clock, calls=MOST_CALLS)[0]
    except SomeBoxes as late:
        box = [*late.boxes, centre][0]
    return Reason(map(Literal, (variables[v] for v in of), box), kind="sufficient", is_general=True)


def hull(variable: Variable, one: int, other: int) -> Ranges:
    """The smallest set of a variable's shape with two states."""
    low, high = sorted((one, other))
    return ((low, high),) if high < Shape.of(variable).numbers else union((*_single(low), *_single(high)))


def _shapes(question: Question, of: Sequence[int], intervals: bool) -> list[Shape]:
    return [Shape.of(question.variables[v], intervals) for v in of]


def _single(state: int) -> Ranges:
    return ((state, state),)
