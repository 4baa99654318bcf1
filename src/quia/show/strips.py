"""A reason as a picture: for each feature its value, what the reason allows, and where a change leads, on one scale.

The scale goes from 0 to 1, whatever draws it. Numbers that lie too close together to be told apart are moved apart,
so that every end of an interval can be read; their order is kept.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.cuts import number_text
from quia.literal import Literal
from quia.ranges import covers
from quia.variables import MISSING, UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.reason import Reason

APART = 0.12
"""The least share of the scale between two numbers that are drawn, unless there are many."""
_NUMBERS_END, _MISSING_START = 0.88, 0.92
"""Where a scale of numbers ends, and the place for a missing value begins, if there is one."""

_GREATEST = 1.7e308

Extents = Mapping[str, tuple[float, float]]
"""Feature → the least and the greatest number that a table has of it."""


class Span(NamedTuple):
    """A stretch of the scale."""

    start: float
    end: float


class Tick(NamedTuple):
    """A place on the scale, and what is there: where an interval ends, or a name."""

    at: float
    text: str
    is_end: bool = True


@dataclass(frozen=True, slots=True)
class Strip:
    """What a picture shows of one feature.

    `now` is its value in words, and `at` where that is, None if it is not known. The reason allows the spans of
    `because`, said by `condition`; a change leads to those of `change`, said by `changed`: both are empty where there
    is none. `ticks` are the ends of intervals; of a nominal feature, `cells` are its states in the order in which they
    are drawn, each as wide as the others. `data` is where a table's numbers lie, if one was given. It is not
    `to_scale` where numbers were moved apart.
    """

    index: int
    feature: str
    now: str
    at: float | None
    because: tuple[Span, ...] = ()
    condition: str = ""
    change: tuple[Span, ...] = ()
    changed: str = ""
    ticks: tuple[Tick, ...] = ()
    cells: tuple[str, ...] = ()
    data: Span | None = None
    to_scale: bool = True

    @property
    def arrow(self) -> Span | None:
        """From the value to the nearest place that the change leads to; None if either is not known."""
        if self.at is None or not self.change:
            return None
        if self.cells:
            # Cells have no order, so that any is as near as another: to the middle of the first.
            first = self.change[0]
            return Span(self.at, first.start + 0.5 / len(self.cells))
        at = self.at
        ends = [min(max(at, span.start), span.end) for span in self.change]
        return Span(at, min(ends, key=lambda end: abs(end - at)))


def strips(
    answer: Answer, because: Reason | None, change: Sequence[Literal] = (), *, extents: Extents | None = None
) -> list[Strip]:
    """A strip for each feature of a sufficient reason, then for those that a change concerns beside them.

    >>> import quia
    >>> from quia.variables import Variable
    >>> age = Variable.numeric("age", [30, 65])
    >>> edges = [(), (), ((((0, 1),), 0), (((2, 2),), 1))]
    >>> graph = quia.DecisionGraph.build([age], ["pays", "free"], [-1, -1, 0], [0, 1, -1], edges)
    >>> answer = quia.explain(graph, {"age": 40}).answer()
    >>> (strip,) = strips(answer, answer.sufficient[0], answer.changes[0].changes)
    >>> strip.now, strip.condition, strip.changed, [tick.text for tick in strip.ticks]
    ('40', '≤ 65', '> 65', ['65'])
    >>> strip.because[0].end == strip.change[0].start == strip.ticks[0].at > strip.at
    True
    """
    index = {variable.name: v for v, variable in enumerate(answer.variables)}
    reasons = {} if because is None else {literal.feature: literal for literal in because.literals}
    changes = {literal.feature: literal for literal in change}
    values = answer.readable_instance
    return [
        _strip(answer, index[name], values.get(name), reasons.get(name), changes.get(name), (extents or {}).get(name))
        for name in dict.fromkeys([*reasons, *changes])
    ]


def _strip(
    answer: Answer,
    index: int,
    value: Any,
    because: Literal | None,
    change: Literal | None,
    extent: tuple[float, float] | None,
) -> Strip:
    said = next(literal for literal in (because, change) if literal is not None)
    variable, state = said.variable, answer.states[index]
    texts = ("" if because is None else because.signs, "" if change is None else change.signs)
    if variable.is_numeric:
        return _of_number(index, variable, state, value, (because, change), texts, extent)
    return _of_names(index, variable, state, value, (because, change), texts)


def _of_names(
    index: int,
    variable: Variable,
    state: int,
    value: Any,
    literals: tuple[Literal | None, Literal | None],
    texts: tuple[str, str],
) -> Strip:
    """States as cells: the instance's own first, then what the reason allows, then where the change leads."""
    because, change = (() if literal is None else literal.ranges for literal in literals)

    places = sorted(range(variable.size), key=lambda each: (*_rank(each, state, because, change), each))
    wide = 1 / variable.size
    spans = tuple(
        _joined(Span(place * wide, (place + 1) * wide) for place, each in enumerate(places) if covers(ranges, each))
        for ranges in (because, change)
    )
    return Strip(
        index,
        variable.name,
        _said(variable, state, value),
        None if state == UNKNOWN else (places.index(state) + 0.5) * wide,
        spans[0],
        texts[0],
        spans[1],
        texts[1],
        cells=tuple(variable.text(each) for each in places),
    )


def _rank(each: int, state: int, because: Any, change: Any) -> tuple[int, int]:
    """Where a state comes: what is allowed and what is led to are each in one row, and meet where both are."""
    allowed, led = covers(because, each), covers(change, each)
    return (0 if each == state else 1), (1 if led else 0) if allowed else (2 if led else 3)


def _of_number(
    index: int,
    variable: Variable,
    state: int,
    value: Any,
    literals: tuple[Literal | None, Literal | None],
    texts: tuple[str, str],
    extent: tuple[float, float] | None,
) -> Strip:
    named = [literal for literal in literals if literal is not None]
    number = None if state == UNKNOWN or variable.is_missing_state(state) else variable.as_number(value)
    ends = sorted({cut.threshold for one in named for pair in one.intervals for cut in pair if cut is not None})
    shown = [end for end in (*ends, *(() if number is None else (number,))) if math.isfinite(end)]
    low, high = _domain(variable, shown, extent)
    place, to_scale = scale(shown, low, high)
    has_missing = variable.is_missing_state(state) or any(one.admits_missing for one in named)
    share = _NUMBERS_END if has_missing else 1.0

    def at(each: float) -> float:
        return share * place(each)

    def spans(literal: Literal | None) -> tuple[Span, ...]:
        if literal is None:
            return ()
        found = [
            Span(
                at(low if pair.lower is None else pair.lower.threshold),
                at(high if pair.upper is None else pair.upper.threshold),
            )
            for pair in literal.intervals
        ]
        return tuple([*found, Span(_MISSING_START, 1.0)] if literal.admits_missing else found)

    ticks = [Tick(at(end), number_text(end)) for end in ends if math.isfinite(end)]
    if has_missing:
        ticks.append(Tick(1.0, MISSING, is_end=False))
    where = at(number) if number is not None else (_MISSING_START + 1) / 2 if state != UNKNOWN else None
    return Strip(
        index,
        variable.name,
        _said(variable, state, value),
        where,
        spans(literals[0]),
        texts[0],
        spans(literals[1]),
        texts[1],
        tuple(ticks),
        data=None if extent is None else Span(at(extent[0]), at(extent[1])),
        to_scale=to_scale,
    )


def _said(variable: Variable, state: int, value: Any) -> str:
    """A value in words."""
    if state == UNKNOWN:
        return "not known"
    return MISSING if variable.is_missing(value) else str(value).strip() or "''"


def _domain(variable: Variable, shown: Sequence[float], extent: tuple[float, float] | None) -> tuple[float, float]:
    """From where to where numbers are drawn: a line's range, a table's, or about where the model cuts them."""
    if variable.range is not None:
        return min(variable.range[0], *shown, variable.range[0]), max(variable.range[1], *shown, variable.range[1])
    cuts = [] if variable.is_line else [cut.threshold for cut in (*variable.cuts[:1], *variable.cuts[-1:])]
    known = [number for number in (*shown, *(extent or ()), *(() if extent else cuts)) if math.isfinite(number)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return with_room(low, high, 0.1)


def with_room(low: float, high: float, share: float) -> tuple[float, float]:
    """Two numbers moved away from each other by a share of the way between them, or by something if they are one."""
    room = share * (high - low) or abs(high) / 2 or 1.0
    return max(low - room, -_GREATEST), min(high + room, _GREATEST)


def scale(shown: Iterable[float], low: float, high: float) -> tuple[Callable[[float], float], bool]:
    """Where a number between `low` and `high` is drawn, and whether that is to scale.

    Those that are `shown` are apart by as much as can be read.

    >>> place, to_scale = scale([10, 11], 0, 100)
    >>> round(place(11) - place(10), 3), place(0), place(100), to_scale
    (0.106, 0.0, 1.0, False)
    """
    points = sorted({low, *(min(max(number, low), high) for number in shown), high})
    if len(points) < 2:
        return (lambda _: 0.5), True
    least = min(APART, 0.6 / (len(points) - 1))
    shares = [_share(low, high, b) - _share(low, high, a) for a, b in pairwise(points)]
    room = [max(share, least) for share in shares]
    places = [0.0, *(min(sum_ / sum(room), 1.0) for sum_ in accumulate(room))]
    places[-1] = 1.0

    def place(number: float) -> float:
        after = bisect_right(points, number)
        if after == 0 or after == len(points):
            return 0.0 if after == 0 else 1.0
        share = _share(points[after - 1], points[after], number)
        return places[after - 1] + (places[after] - places[after - 1]) * share

    return place, all(share >= least for share in shares)


def _share(low: float, high: float, number: float) -> float:
    """How much of the way between two numbers lies below a third."""
    way = high - low
    # Where the way is longer than the greatest number, half of it is not.
    return (number - low) / way if math.isfinite(way) else (number / 2 - low / 2) / (high / 2 - low / 2)


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans that touch each other as one."""
    joined: list[Span] = []
    for span in spans:
        if joined and math.isclose(joined[-1].end, span.start, abs_tol=1e-9):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return tuple(joined)
