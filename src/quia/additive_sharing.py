"""Boxes over variables of which some are lines: how what is left of a decision's gap is shared among them.

What one line is given another lacks, so there are infinitely many largest boxes; one of them is made, the same each
time. First all that costs nothing is in it. Then every line gives way by the same share of its way to each end of its
range, and after that, in the order of the variables, each end as far as it can, to the last bit (where a class must
beat several others, to some ten thousandth of its way, as there each bit is a search); and every other variable takes
what states it can, the cheapest first. Either the lines come first or the others do, whichever box is wider: the
product of the shares of their ranges, and of their states, that are in it is larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quia.additive_asked import Asked
from quia.additive_gaps import Gaps
from quia.bisecting import furthest, turning
from quia.boxes import Box, maximal, replaced
from quia.caching import cached_property
from quia.ranges import Ranges, covers, difference, intersection, members, size, union
from quia.variables import Variable

_HALVINGS = 60
"""So many bits a share has: a 64-bit number has no more."""
_STEPS = 64
"""So many places along a line are tried for a change to grow from."""
_COARSELY = 14
"""So many where several sums take part at once: near their ties each question is a search."""


def boxes(asked: Asked) -> list[Box]:
    """One box around the instance, or one of changes for each class that can be reached; the widest first."""
    found = maximal(box for centre in _centres(asked) for box in [_Sharing(asked, centre).box()])
    return sorted(found, key=lambda box: (-width(asked, box), box))


def width(asked: Asked, box: Box) -> float:
    """The product of the shares of their states, or of the length of their ranges, that are in the sets of a box."""
    return math.prod(
        _share(asked.question.variables[v], states, possible)
        for v, states, possible in zip(asked.of, box, asked.largest, strict=True)
    )


def _share(variable: Variable, states: Ranges, possible: Ranges) -> float:
    if not variable.is_line:
        return size(states) / size(possible)
    whole = _length(variable, possible)
    return _length(variable, states) / whole if whole else 1.0


def _length(variable: Variable, states: Ranges) -> float:
    last = len(variable.cuts)
    return math.fsum(variable.number(min(high, last)) - variable.number(low) for low, high in states if low <= last)


def _centres(asked: Asked) -> Iterator[tuple[int, ...]]:
    """Where boxes grow from: the instance's states, or changes that go as far as they can on a way."""
    own = asked.question.states
    if asked.is_sufficient:
        yield tuple(own[v] for v in asked.of)
        return
    points = []
    for way in asked.ways:
        if len(way) == 1:
            gaps = asked.model.gaps(way[0])
            furthest = tuple(gaps.least_of(v, states)[1] for v, states in zip(asked.of, asked.largest, strict=True))
            points += [furthest, *_beyond_turns(asked, gaps, furthest)]
    points = [point for point in points if _is_good_point(asked, point)]
    if len(set(points)) < len(asked.ways):  # several needs, or rounding decides: then whatever changes the decision
        changing = dict(zip(asked.of, asked.largest, strict=True))
        found = asked.model.escape(asked.question, asked.question.worlds_changing(asked.of).replaced(changing))
        point = () if found is None else tuple(found[v] for v in asked.of)
        points += [_inwards(asked, point)] if found is not None and _is_good_point(asked, point) else []
    yield from points


def _beyond_turns(asked: Asked, gaps: Gaps, point: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The point with a line that turns at another end of what it can be: there may be changes on either side."""
    for place, (v, states) in enumerate(zip(asked.of, asked.largest, strict=True)):
        if gaps.turns(v):
            last = len(asked.question.variables[v].cuts)
            ends = {min(end, last) for pair in states if pair[0] <= last for end in pair}
            yield from ((*point[:place], end, *point[place + 1 :]) for end in sorted(ends - {point[place]}))


def _inwards(asked: Asked, point: tuple[int, ...]) -> tuple[int, ...]:
    """A change that is found at the border of others, moved to the middle of those along each line."""
    for place, v in enumerate(asked.of):
        variable = asked.question.variables[v]
        if not variable.is_line or variable.is_missing_state(point[place]):
            continue
        low, high = next(pair for pair in asked.largest[place] if pair[0] <= point[place] <= pair[1])
        ends = variable.number(low), variable.number(min(high, len(variable.cuts)))
        numbers = [ends[0] + (ends[1] - ends[0]) * step / _STEPS for step in range(_STEPS + 1)]
        steps = [variable.encode(min(max(number, ends[0]), ends[1])) for number in numbers]
        good = [state for state in steps if _is_good_point(asked, (*point[:place], state, *point[place + 1 :]))]
        if good:
            point = (*point[:place], good[len(good) // 2], *point[place + 1 :])
    return point


def _is_good_point(asked: Asked, point: tuple[int, ...]) -> bool:
    return asked.is_good(tuple(((state, state),) for state in point))


def _steps_before(gaps: Gaps, v: int, low: int, high: int, added: float) -> int:
    """How many numbers a line goes from a low one on before it adds more than something, or less if it falls."""
    rises = gaps.at(v, low) < gaps.at(v, high)
    return furthest(lambda steps: (gaps.at(v, low + steps) < added) == rises, 0, high - low)


class _Side(NamedTuple):
    """An end of a line's interval: its place in the box, whether it is the upper one, whence and how far it goes."""

    place: int
    is_upper: bool
    own: int
    furthest: int


@dataclass(frozen=True, eq=False)
class _Sharing:
    """How a box grows from a point."""

    asked: Asked
    centre: tuple[int, ...]

    def box(self) -> Box:
        """The wider of the two boxes: lines first, or the others first."""
        free = self._free()
        others = self._with_states(free)
        lines = self._with_lines(self._begun(free))
        lines_first = self._with_states(lines)
        others_first = lines if others == free else self._with_lines(self._begun(others))
        return max((lines_first, others_first), key=lambda box: width(self.asked, box))

    @cached_property
    def _gaps(self) -> list[Gaps]:
        return [self.asked.model.gaps(need) for way in self.asked.ways for need in way]

    def _variable(self, place: int) -> Variable:
        return self.asked.question.variables[self.asked.of[place]]

    def _costs(self, place: int, states: Ranges) -> list[float]:
        """What going to the worst of some states costs, for each need."""
        v, own = self.asked.of[place], self.centre[place]
        if self.asked.is_sufficient:
            return [gaps.at(v, own) - gaps.least_of(v, states)[0] for gaps in self._gaps]
        return [gaps.greatest_of(v, states)[0] - gaps.at(v, own) for gaps in self._gaps]

    def _free(self) -> Box:
        """The centre with all states, and all of a line on either side, that cost nothing."""
        box: Box = tuple(((state, state),) for state in self.centre)
        for side in self._sides(box):
            reach = ((side.own, side.furthest),) if side.is_upper else ((side.furthest, side.own),)
            wider = replaced(box, side.place, union((*box[side.place], *reach)))
            if max(self._costs(side.place, reach)) <= 0 and self.asked.is_good(wider):
                box = wider
        return self._with_states(box, most=0.0)

    def _sides(self, box: Box) -> list[_Side]:
        """The ends of intervals of lines that can still move."""
        found = []
        for place, states in enumerate(box):
            variable = self._variable(place)
            last = len(variable.cuts)
            own = self.centre[place]
            if variable.is_line and variable.is_missing_state(own):
                own = states[0][0]  # the number that was chosen
            if not variable.is_line or own > last:
                continue
            low, high = next(pair for pair in states if pair[0] <= own <= pair[1])
            reach = next(pair for pair in self.asked.largest[place] if pair[0] <= own <= pair[1])
            if min(high, last) < min(reach[1], last):
                found.append(_Side(place, True, own, min(reach[1], last)))
            if low > reach[0]:
                found.append(_Side(place, False, own, reach[0]))
        return found

    def _begun(self, box: Box) -> Box:
        """The box in which lines that are missing may also be a number, that which costs the least, if they can."""
        for place, states in enumerate(box):
            variable, v = self._variable(place), self.asked.of[place]
            if not variable.is_line or not variable.is_missing_state(states[0][0]):
                continue
            numbers = intersection(self.asked.largest[place], ((0, len(variable.cuts)),))
            tried = [
                number
                for gaps in self._gaps
                if numbers
                for number in self._numbers_to_begin(gaps, v, numbers, states[0][0])
            ]
            for number in dict.fromkeys(tried):
                begun = replaced(box, place, union((*states, (number, number))))
                if self.asked.is_good(begun):
                    box = begun
                    break
        return box

    def _numbers_to_begin(self, gaps: Gaps, v: int, numbers: Ranges, missing: int) -> Iterator[int]:
        """The number of a line that is best for a need, then those beside which it adds what a missing one does.

        What is best for one need may be too much for another; what adds about the same, if any, is for none.
        """
        best = gaps.greatest_of if self.asked.is_sufficient else gaps.least_of
        yield best(v, numbers)[1]
        for low, high in () if gaps.turns(v) else numbers:
            before = low + _steps_before(gaps, v, low, high, gaps.at(v, missing))
            yield from (before, min(before + 1, high))

    def _with_lines(self, box: Box) -> Box:
        """Every line gives way by the same share, then each end as far as it can."""
        sides = self._sides(box)
        if not sides:
            return box
        box = self._shared(box, sides, self._largest_share(box, sides))
        for side in sides:
            if self.asked.is_coarse:
                box = self._shared(box, [side], self._largest_share(box, [side]))
            else:
                box = self._as_far_as_it_can(box, side)
        return box

    def _largest_share(self, box: Box, sides: Sequence[_Side]) -> float:
        """How far these ends can go, as a share of their way."""

        def shared(share: float) -> Box:
            return self._shared(box, sides, share)

        if self.asked.is_good(shared(1.0)):
            return 1.0
        parts = 1 << (_COARSELY if self.asked.is_coarse else _HALVINGS)

        def is_good(part: int) -> bool:
            wider = shared(part / parts)
            return wider == box or self.asked.is_good(wider)

        if self.asked.is_coarse:  # what room there is tells little
            return furthest(is_good, 0, parts - 1, parts) / parts
        near = int(parts * turning(lambda share: self.asked.room(shared(share)), self._enough))
        return furthest(is_good, near, parts - 1) / parts

    @property
    def _enough(self) -> float:
        """What is so near to no room that looking for the border itself is faster than coming nearer."""
        return 4 * self.asked.model.margin

    def _shared(self, box: Box, sides: Sequence[_Side], share: float) -> Box:
        """The box in which these ends have gone a share of their way."""
        for side in sides:
            box = self._moved(box, side, self._reached(side, share))
        return box

    def _reached(self, side: _Side, share: float) -> int:
        """The state of an end that has gone a share of its way."""
        variable = self._variable(side.place)
        here, there = variable.number(side.own), variable.number(side.furthest)
        return variable.encode(min(max(here + share * (there - here), min(here, there)), max(here, there)))

    def _moved(self, box: Box, side: _Side, to: int) -> Box:
        reach = (side.own, to) if side.is_upper else (to, side.own)
        return replaced(box, side.place, union((*box[side.place], reach)))

    def _as_far_as_it_can(self, box: Box, side: _Side) -> Box:
        """The box with an end moved by as many states as it can."""
        sign = 1 if side.is_upper else -1
        here = next(pair for pair in box[side.place] if pair[0] <= side.own <= pair[1])[side.is_upper]
        here = min(here, side.furthest) if side.is_upper else here  # the state after the last number is no number
        rest = side._replace(own=here)

        def moved(steps: int) -> Box:
            return self._moved(box, side, here + sign * steps)

        share = turning(lambda share: self.asked.room(self._moved(box, side, self._reached(rest, share))), self._enough)
        near = (self._reached(rest, share) - here) * sign
        return moved(furthest(lambda steps: self.asked.is_good(moved(steps)), near, (side.furthest - here) * sign))

    def _with_states(self, box: Box, most: float = math.inf) -> Box:
        """The box with all states that are listed, and that of a missing value, that it can have: cheapest first."""
        for place in range(len(box)):
            tried: set[int] = set()
            while True:
                near = [(cost, state) for cost, state in self._next(place, box[place], tried) if cost <= most]
                if not near:
                    break
                _, state = min(near)
                tried.add(state)
                wider = replaced(box, place, union((*box[place], (state, state))))
                if self.asked.is_good(wider):
                    box = wider
        return box

    def _next(self, place: int, states: Ranges, tried: set[int]) -> Iterator[tuple[float, int]]:
        """The states that could be added next, each with what it costs at the most."""
        variable, shape = self._variable(place), self.asked.shapes[place]
        possible = difference(self.asked.largest[place], states)
        if variable.is_line:
            last = len(variable.cuts)
            near = [last + 1] if variable.missing and covers(possible, last + 1) else []
        elif shape.numbers and shape.numbers_of(states):
            low, high = shape.numbers_of(states)[0][0], shape.numbers_of(states)[-1][1]
            beside = [s for s in (low - 1, high + 1) if s < shape.numbers and covers(possible, s)]
            near = [*beside, *members(difference(possible, ((0, shape.numbers - 1),)))]
        else:
            near = list(members(possible))
        for state in near:
            if state not in tried:
                yield max(self._costs(place, ((state, state),))), state
