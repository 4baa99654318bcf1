"""General reasons of additive models: how wide the conditions over a reason's variables can be.

Where all variables have states that are listed, and one need alone changes the decision, the largest boxes are found by
what each state adds. Where a line takes part there are infinitely many, as what one line is given another lacks; then
one box is made: see `additive_sharing`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from quia.additive_boxes import Budget, Choice, TooClose, TooMany, widest
from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.boxes import Box, Shape, widest_first, width
from quia.caching import cached_property
from quia.patience import Clock
from quia.question import Question
from quia.ranges import Ranges, covers, difference, members, size, union
from quia.region import Region
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.reason import Kind

_MOST_TRIED = 20_000
"""So many choices of conditions are compared; where there are more, `escape` alone finds boxes."""
_MOST_POINTS = 1000
"""So many changes are tried one by one, where that alone tells what they do."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of boxes over some variables: that they force the decision, or that every point changes it.

    Where values are unknown, a change counts that could change the decision, or if `certain`, one that does.
    """

    model: Additive
    question: Question
    kind: Kind
    of: tuple[int, ...]
    intervals: bool
    certain: bool
    clock: Clock

    @property
    def is_sufficient(self) -> bool:
        """Whether the boxes are around the instance, and force the decision."""
        return self.kind == "sufficient"

    @cached_property
    def ways(self) -> Sequence[Sequence[Need]]:
        """The ways in which the decision can change."""
        return self.model.ways(self.question)

    @cached_property
    def shapes(self) -> list[Shape]:
        """What the sets of states may be."""
        return [Shape.of(self.question.variables[v], self.intervals) for v in self.of]

    @cached_property
    def largest(self) -> Box:
        """What each variable can be: around the instance anything possible, in a change anything but its own state."""
        within = self.question.within
        if self.is_sufficient:
            return tuple(within.states(v) for v in self.of)
        return tuple(difference(within.states(v), ((self.question.states[v],) * 2,)) for v in self.of)

    def is_good(self, box: Box) -> bool:
        """Whether a box is what is asked for; where that is a matter of rounding, and of many numbers, it is not."""
        self.clock()
        told = self._told_by_sum(box)
        if told is not None:
            return told
        states = dict(zip(self.of, box, strict=True))
        if self.is_sufficient:
            return self._is_forced(self.question, self.question.within.replaced(states))
        if self._could_be_enough:
            return self._could_change(box)
        return self._is_forced(self._otherwise, self.question.worlds_changing(self.of).replaced(states))

    def _is_forced(self, question: Question, region: Region) -> bool:
        """Whether all of a region keeps the decision of a question; what is all but a tie, as far as is soon told."""
        if self.is_rounded_alike and not self.is_coarse:
            return self.model.escape(question, region) is None
        if not self._is_tied and any(
            self.model.variables[v].is_line and size(region.states(v)) > _MOST_POINTS for v in self.model.tested
        ):
            leasts = [self.model.gaps(way[0]).least(region)[0] for way in self.model.ways(question) if len(way) == 1]
            if any(abs(least) <= self.model.margin for least in leasts):
                return False
        return self.model.is_soon_forced(question, region, self.clock)

    @cached_property
    def _is_tied(self) -> bool:
        """Whether the instance itself is all but a tie, so that every box around it is."""
        states = self.question.states
        if not self.is_sufficient or any(states[v] == UNKNOWN for v in self.model.tested):
            return False
        needs = [need for way in self.ways for need in way]
        return any(abs(self.model.gaps(need).of_states(states)) <= self.model.margin for need in needs)

    @cached_property
    def is_coarse(self) -> bool:
        """Whether lines take part where several needs must be met at once: borders are not exact to the last bit."""
        question = self.question if self.is_sufficient else self._otherwise
        return any(len(way) > 1 for way in self.model.ways(question)) and any(
            variable.is_line and variable.size > _MOST_POINTS for variable in self.model.variables
        )

    @cached_property
    def is_rounded_alike(self) -> bool:
        """Whether a gap is least, and rounded so too, where each variable adds the least: of one score it is."""
        used = [term.variable for term in self.model.terms]
        return len(self.model.start) == 1 and len(set(used)) == len(used)

    def _could_change(self, box: Box) -> bool:
        """Whether each change in a box could change the decision, for some values of what is unknown."""
        region = self.question.worlds_changing(self.of)

        def escapes(box: Box) -> bool:
            return self.model.escape(self.question, region.replaced(dict(zip(self.of, box, strict=True)))) is not None

        told = [self._sum_is_good(self.model.gaps(way[0]), box) for way in self.ways if len(way) == 1]
        if True in told or (len(told) == len(self.ways) == 1 and told[0] is False):
            return True in told
        if len(self.ways) == len(told) == 1 and self.is_rounded_alike:
            gaps = self.model.gaps(self.ways[0][0])
            corner = (gaps.greatest_of(v, states)[1] for v, states in zip(self.of, box, strict=True))
            return escapes(tuple(((state, state),) for state in corner))
        if width(box) > _MOST_POINTS:
            return False
        return all(escapes(tuple(((state, state),) for state in point)) for point in product(*map(members, box)))

    def _told_by_sum(self, box: Box) -> bool | None:
        """Whether a box is good, where one sum tells; None if it is too close, or there are several."""
        if len(self.ways) != 1 or len(self.ways[0]) != 1:
            return None
        gaps = self.model.gaps(self.ways[0][0])
        return self.fits(gaps, self._worst_of(gaps, box))

    def _worst_of(self, gaps: Gaps, box: Box) -> float:
        return math.fsum((self.beside(gaps), *(self.worst(gaps, place, states) for place, states in enumerate(box))))

    @cached_property
    def _otherwise(self) -> Question:
        keeps = frozenset(range(len(self.question.classes))) - self.question.keeps
        return replace(self.question, keeps=keeps)

    @cached_property
    def _could_be_enough(self) -> bool:
        is_partial = UNKNOWN in (self.question.states[v] for v in self.model.tested)
        return is_partial and not self.certain

    def _sum_is_good(self, gaps: Gaps, box: Box) -> bool | None:
        return self.fits(gaps, self._worst_of(gaps, box))

    def beside(self, gaps: Gaps) -> float:
        """What the other variables add to a gap, at the worst for what is asked."""
        if self._is_plain:  # exact sums, of which what is not beside can be taken away
            if self.is_sufficient:
                return gaps.least_of_all - math.fsum(gaps.least_anywhere[v] for v in self.of)
            return gaps.of_states(self.question.states) - math.fsum(
                gaps.at(v, self.question.states[v]) for v in self.of
            )
        found = self._each_beside(gaps)
        return math.fsum((*gaps.constants, *(added for v, added in found.items() if v not in self.of)))

    @cached_property
    def _is_plain(self) -> bool:
        """Whether sums are exact, all worlds are possible, and nothing is unknown."""
        question, model = self.question, self.model
        is_free = question.is_only_frozen and not question.frozen
        return is_free and model.margin == 0 and all(question.states[v] != UNKNOWN for v in model.tested)

    def _each_beside(self, gaps: Gaps) -> dict[int, float]:
        """What each variable adds if it is not one of those: kept, as sets of one question follow each other."""
        asked = (self.question, self.is_sufficient, self.certain)
        kept = gaps.last_asked
        if kept is not None and kept[0] == asked:
            return kept[1]
        found = {}
        for v in self.model.tested:
            state = self.question.states[v]
            if self.is_sufficient or (state == UNKNOWN and not self.certain):
                found[v] = gaps.least_of(v, self.question.within.states(v))[0]
            elif state == UNKNOWN:
                found[v] = gaps.greatest_of(v, self.question.within.states(v))[0]
            else:
                found[v] = gaps.at(v, state)
        object.__setattr__(gaps, "last_asked", (asked, found))
        return found

    def worst(self, gaps: Gaps, place: int, states: Ranges) -> float:
        """What a variable adds to a gap, in the state of a set that is the worst for what is asked."""
        find = gaps.least_of if self.is_sufficient else gaps.greatest_of
        return find(self.of[place], states)[0]

    def fits(self, gaps: Gaps, worst: float) -> bool | None:
        """Whether a box whose worst gap is that is good; None if rounding does not tell."""
        if abs(worst) <= self.model.margin and self.model.margin > 0:
            return None
        return gaps.need.holds(worst) != self.is_sufficient


def boxes(asked: Asked, limit: int | None = None) -> list[Box] | None:
    """All largest boxes, or the first so many, the widest first; None if only a search finds them."""
    if len(asked.ways) != 1 or len(asked.ways[0]) != 1:
        return None
    gaps = asked.model.gaps(asked.ways[0][0])
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
