"""General reasons of additive models: how wide the conditions over a reason's variables can be.

Where all variables have states that are listed, the largest boxes are found by what each state adds: around an instance
where each way out of the decision takes one need; of changes for each way by itself, joined where there are several.
Where a line takes part there are infinitely many, as what one line is given another lacks; then one box is made: see
`additive_sharing`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from quia.additive_asked import Asked
from quia.additive_boxes import Budget, Choice, TooClose, TooMany, widest
from quia.additive_budgets import widest as widest_of_several
from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.additive_offers import offered as offered_of_several
from quia.boxes import Box, Shape, unions, widest_first
from quia.ranges import Ranges, covers, difference, members, size, union

_MOST_TRIED = 20_000
"""So many choices of conditions are compared; where there are more, `escape` alone finds boxes."""
_MOST_JOINED, _MOST_STEPS = 200, 1000
"""So many boxes of several ways are joined, in so many steps."""


def boxes(asked: Asked, limit: int | None = None) -> list[Box] | None:
    """All largest boxes, or the first so many, the widest first; None if only a search finds them."""
    ways = _ways_that_matter(asked)
    if asked.is_sufficient:
        if any(len(way) > 1 for way in ways):
            return None
        return _boxes(asked, [need for way in ways for need in way], limit) if ways else [asked.largest]
    if any(len(way) > 1 for way in ways) and asked.could_be_enough:
        return None  # what is unknown may be better for one need, and worse for another
    if len(ways) < 2:
        return _boxes(asked, ways[0], limit) if ways else []
    if asked.certain and asked.is_partial:
        return None  # what is unknown may tell which way
    found = _of_all_ways(asked, ways)
    return None if found is None else found[:limit]


def _ways_that_matter(asked: Asked) -> list[Sequence[Need]]:
    """The ways in which what is asked about can change the decision, each without needs that are met anyhow."""
    if len(asked.ways) == 1 and len(asked.ways[0]) == 1:
        return list(asked.ways)
    changing = dict(zip(asked.of, asked.largest, strict=True))
    within = asked.question.within if asked.is_sufficient else asked.question.worlds_changing(asked.of)
    extents = {need: asked.model.gaps(need).extremes(within.replaced(changing)) for way in asked.ways for need in way}
    margin = asked.model.margin

    def is_never(need: Need) -> bool:
        least, _ = extents[need]
        return least > margin if margin else not need.holds(least)

    def is_always(need: Need) -> bool:
        _, greatest = extents[need]
        return greatest < -margin if margin else need.holds(greatest)

    alive = [way for way in asked.ways if not any(map(is_never, way))]
    return [[need for need in way if not is_always(need)] or way[:1] for way in alive]


def _of_all_ways(asked: Asked, ways: Sequence[Sequence[Need]]) -> list[Box] | None:
    """The largest boxes of changes that each go one of several ways; None if they are too many."""
    found: list[Box] = []
    for way in ways:
        own = _boxes(asked, way, _MOST_JOINED + 1)
        if own is None or len(found) + len(own) > _MOST_JOINED:
            return None
        found += own
    steps = iter(range(_MOST_STEPS))

    def step() -> None:
        asked.clock()
        if next(steps, None) is None:
            raise TooMany

    try:
        return widest_first(unions(found, asked.shapes, step))
    except TooMany:
        return None


def _boxes(asked: Asked, needs: Sequence[Need], limit: int | None) -> list[Box] | None:
    """All largest boxes in which each of some needs is met nowhere, or all of them everywhere, as is asked."""
    if len(needs) == 1:
        return _of_one_need(asked, asked.model.gaps(needs[0]), limit)
    every = [asked.model.gaps(need) for need in needs]
    offered = []
    for place in range(len(asked.of)):
        choices = offered_of_several(asked, every, place)
        if choices is None:
            return None
        offered.append(choices)
    budgets = []
    for at, gaps in enumerate(every):
        gap = math.fsum((asked.beside(gaps), *(each.best[at] for each in offered)))
        most, strict = (gap, gaps.need.ties) if asked.is_sufficient else (-gap, not gaps.need.ties)
        budgets.append(Budget(most, strict, asked.model.margin))
    try:
        found = list(islice(widest_of_several([each.choices for each in offered], budgets, asked.clock), limit))
    except (TooMany, TooClose):
        return None
    return found if found or not asked.is_sufficient else None


def _of_one_need(asked: Asked, gaps: Gaps, limit: int | None) -> list[Box] | None:
    """The same of one need."""
    offered = [_offered(asked, gaps, place) for place in range(len(asked.of))]
    gap = math.fsum((asked.beside(gaps), *(each.best for each in offered)))
    most, strict = (gap, gaps.need.ties) if asked.is_sufficient else (-gap, not gaps.need.ties)
    try:
        budget = Budget(most, strict, asked.model.margin)
        found: list[Box] | None = list(islice(widest([each.choices for each in offered], budget, asked.clock), limit))
    except TooMany:
        return None
    except TooClose:
        found = _where_rounding_decides(asked, gaps)
    if found is None or (asked.is_sufficient and not found):  # then a line beside them is a matter of rounding
        return None
    return found[:limit]


def _where_rounding_decides(asked: Asked, gaps: Gaps) -> list[Box] | None:
    """All largest boxes, where some must be asked about."""
    try:
        found = _maximal_choices(asked, gaps)
    except _Rounded:
        return None
    return None if found is None else widest_first(found)


class _Offered(NamedTuple):
    """What sets of states a variable may have, in their order, and what the best of them adds to a gap."""

    choices: list[Choice]
    best: float


def _offered(asked: Asked, gaps: Gaps, place: int) -> _Offered:
    """The choices of a variable, made once for each of its states."""
    v = asked.of[place]
    key = (v, asked.question.states[v], asked.kind, asked.intervals, asked.largest[place])
    known = gaps.offered.get(key)
    if known is None:
        found = _choices(asked, gaps, place)
        best = _best(asked, (choice.worst for choice in found)) if found else 0.0
        made = [
            Choice(
                choice.states,
                size(choice.states),
                abs(choice.worst - best),
                min((abs(found[at].worst - choice.worst) for at in choice.larger), default=math.inf),
            )
            for choice in found
        ]
        made.sort(key=lambda choice: list(members(choice.states)))
        known = gaps.offered[key] = _Offered(made, best)
    return known


class _Rounded(Exception):
    """Rounding decides, and tells states apart that add the same to a gap."""


class _Choice(NamedTuple):
    """A set of states that a variable may have, what its worst adds, and the next larger sets, by their places."""

    states: Ranges
    worst: float
    larger: tuple[int, ...]


def _maximal_choices(asked: Asked, gaps: Gaps) -> list[Box] | None:
    """The boxes of which no set can be larger; None if there are too many to look through."""
    every = [_choices(asked, gaps, place) for place in range(len(asked.of))]
    if not all(every):
        return []
    order = sorted(range(len(every)), key=lambda place: len(every[place]))
    best = [_best(asked, (choice.worst for choice in every[place])) for place in order]
    left = [math.fsum(best[at:]) for at in range(len(best) + 1)]
    beside = asked.beside(gaps)
    found: list[Box] = []
    tried = 0
    work: list[tuple[int, ...]] = [()]
    while work:
        asked.clock()
        chosen = work.pop()
        at = len(chosen)
        so_far = math.fsum((beside, *(every[order[i]][c].worst for i, c in enumerate(chosen))))
        if at == len(order):
            if _is_maximal(asked, gaps, every, order, chosen, so_far):
                found.append(_box(every, order, chosen))
            continue
        tried += len(every[order[at]])
        if tried > _MOST_TRIED:
            return None
        work += [
            (*chosen, c)
            for c, choice in enumerate(every[order[at]])
            if asked.fits(gaps, so_far + choice.worst + left[at + 1]) is not False
        ]
    return found


def _box(every: Sequence[Sequence[_Choice]], order: Sequence[int], chosen: Sequence[int]) -> Box:
    return tuple(every[place][chosen[order.index(place)]].states for place in range(len(every)))


def _is_maximal(
    asked: Asked,
    gaps: Gaps,
    every: Sequence[Sequence[_Choice]],
    order: Sequence[int],
    chosen: tuple[int, ...],
    worst: float,
) -> bool:
    """Whether a box is good, and none with a larger set in one place is."""

    def is_good(choice: tuple[int, ...], total: float) -> bool:
        told = asked.fits(gaps, total)
        if told is None and asked.model.margin and not asked.is_rounded_alike:
            raise _Rounded
        return asked.is_good(_box(every, order, choice)) if told is None else told

    if not is_good(chosen, worst):
        return False
    for at, place in enumerate(order):
        own = every[place][chosen[at]]
        for larger in own.larger:
            other = (*chosen[:at], larger, *chosen[at + 1 :])
            if is_good(other, worst - own.worst + every[place][larger].worst):
                return False
    return True


def _best(asked: Asked, worsts: Iterable[float]) -> float:
    return max(worsts) if asked.is_sufficient else min(worsts)


def _choices(asked: Asked, gaps: Gaps, place: int) -> list[_Choice]:
    """The sets of states of a variable that are the largest for what their worst adds."""
    v, shape, possible = asked.of[place], asked.shapes[place], asked.largest[place]
    added = {state: gaps.at(v, state) for state in members(possible)}
    own = asked.question.states[v] if asked.is_sufficient else None
    found: dict[Ranges, float] = {}
    for limit in sorted(set(added.values()), reverse=asked.is_sufficient):
        if own is not None and limit > added[own]:
            continue
        admitted = [s for s, value in added.items() if (value >= limit if asked.is_sufficient else value <= limit)]
        for states in _shaped(shape, union((s, s) for s in admitted), own):
            found.setdefault(states, asked.worst(gaps, place, states))
    sets = list(found)
    if not shape.numbers or (own is not None and own < shape.numbers):  # each is in the next one
        return [_Choice(s, found[s], (at + 1,) if at + 1 < len(sets) else ()) for at, s in enumerate(sets)]
    return [_Choice(s, found[s], _next_larger(sets, s)) for s in sets]


def _shaped(shape: Shape, states: Ranges, own: int | None) -> Iterator[Ranges]:
    """The largest sets of a shape in some states; with an own state, the one around it."""
    numbers = shape.numbers_of(states)
    beside = difference(states, numbers)
    runs = [run for run in numbers if own is None or own >= shape.numbers or covers((run,), own)]
    for run in runs:
        yield union((run, *beside))
    if not runs and beside:
        yield beside


def _next_larger(sets: Sequence[Ranges], states: Ranges) -> tuple[int, ...]:
    """The places of the smallest sets that have more states than this one, and all of its own."""
    wider = [at for at, other in enumerate(sets) if other != states and not difference(states, other)]
    return tuple(
        at for at in wider if not any(at != least and not difference(sets[least], sets[at]) for least in wider)
    )
