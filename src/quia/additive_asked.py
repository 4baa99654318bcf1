"""What is asked of boxes over some variables of an additive model, and whether a box is that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from operator import add
from typing import TYPE_CHECKING

from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.boxes import Box, Shape, width
from quia.caching import cached_property
from quia.errors import TooLarge
from quia.patience import Clock
from quia.question import Question
from quia.ranges import Ranges, covers, difference, members, size
from quia.region import Region
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.reason import Kind

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
    _refuting: list[tuple[int, ...]] = field(default_factory=list)
    """Points that were found: no box with one of them is good."""

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
        told = self._told_by_sums(box)
        if told is not None:
            return told
        states = dict(zip(self.of, box, strict=True))
        if self.is_sufficient:
            return self._is_forced(box, self.question, self.question.within.replaced(states))
        if self.could_be_enough:
            return self._could_change(box)
        return self._is_forced(box, self._otherwise, self.question.worlds_changing(self.of).replaced(states))

    def room(self, box: Box) -> float:
        """About by how much the worst of a box is better than it must be, below 0 where the box is not good.

        Where several needs take part at once, a box may be good though there is none.
        """
        gaps = [[worst.gap(box) for worst in way] for way in self._worsts]
        gap = min((max(way, default=-math.inf) for way in gaps), default=math.inf)
        left = gap if self.is_sufficient else -gap
        return left if self.is_rounded_alike else left - self.model.margin

    @cached_property
    def _worsts(self) -> list[list[_Worst]]:
        """For each need of each way, what it is at its worst."""
        return [[_Worst(self, self.model.gaps(need)) for need in way] for way in self.ways]

    def _told_by_sums(self, box: Box) -> bool | None:
        """Whether a box is good, where sums tell that, each for itself; None if they are too close, or do not."""
        if self.is_sufficient:
            return self._is_closed(box)
        told = [self._is_taken(way, box) for way in self._worsts]
        if True in told:
            return True
        return (told or [False])[0] if len(told) <= 1 else None

    def _is_closed(self, box: Box) -> bool | None:
        """Whether nothing in a box goes any way: of each, one need is met nowhere."""
        is_sure = True
        for way in self._worsts:
            told = [worst.is_good(box) for worst in way]
            if True not in told:
                if None not in told and len(told) <= 1:
                    return False
                is_sure = False
        return True if is_sure else None

    def _is_taken(self, way: Sequence[_Worst], box: Box) -> bool | None:
        """Whether all in a box goes a way: each of its needs is met everywhere."""
        if len(way) > 1 and self.could_be_enough:  # what is unknown may be better for one, and worse for another
            return None
        told = [worst.is_good(box) for worst in way]
        return False if False in told else None if None in told else True

    def _is_forced(self, box: Box, question: Question, region: Region) -> bool:
        """Whether all of a region keeps the decision of a question; what is all but a tie, as far as is soon told."""
        if self.is_rounded_alike and not self.is_coarse:
            return self.model.escape(question, region) is None
        if not self._is_tied and self._is_close(box) and self._has_long_lines(box):
            return False
        if any(all(map(covers, box, point)) for point in self._refuting):
            return False
        try:
            found = self.model.escape_soon(question, region, self.clock)
        except TooLarge:  # too near to a tie
            return False
        if found is not None:
            self._refuting.append(tuple(found[v] for v in self.of))
        return found is None

    def _is_close(self, box: Box) -> bool:
        """Whether a need that decides alone is all but a tie at its worst."""
        if self.is_sufficient:
            alone = [way[0] for way in self._worsts if len(way) == 1]
        else:
            alone = self._worsts[0] if len(self.ways) == 1 else []
        return any(abs(worst.gap(box)) <= self.model.margin for worst in alone)

    def _has_long_lines(self, box: Box) -> bool:
        """Whether a line has many numbers, in a box or beside it."""
        variables = self.model.variables
        return self._is_beside_long_lines or any(
            variables[v].is_line and size(states) > _MOST_POINTS for v, states in zip(self.of, box, strict=True)
        )

    @cached_property
    def _is_beside_long_lines(self) -> bool:
        region = self.question.within if self.is_sufficient else self.question.worlds_changing(self.of)
        beside = (v for v in self.model.tested if v not in self.of)
        return any(self.model.variables[v].is_line and size(region.states(v)) > _MOST_POINTS for v in beside)

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

        if width(box) > _MOST_POINTS:
            return False
        return all(escapes(tuple(((state, state),) for state in point)) for point in product(*map(members, box)))

    @cached_property
    def _otherwise(self) -> Question:
        keeps = frozenset(range(len(self.question.classes))) - self.question.keeps
        return replace(self.question, keeps=keeps)

    @cached_property
    def is_partial(self) -> bool:
        """Whether something is unknown."""
        return UNKNOWN in (self.question.states[v] for v in self.model.tested)

    @property
    def could_be_enough(self) -> bool:
        """Whether a change counts that could change the decision, for some values of what is unknown."""
        return self.is_partial and not self.certain

    def beside(self, gaps: Gaps) -> float:
        """What the other variables add to a gap, at the worst for what is asked."""
        if self._is_plain:  # exact sums, of which what is not beside can be taken away
            if self.is_sufficient:
                return gaps.least_of_all - math.fsum(gaps.least_anywhere[v] for v in self.of)
            return gaps.of_states(self.question.states) - math.fsum(
                gaps.at(v, self.question.states[v]) for v in self.of
            )
        found = self.each_beside(gaps)
        return math.fsum((*gaps.constants, *(added for v, added in found.items() if v not in self.of)))

    @cached_property
    def _is_plain(self) -> bool:
        """Whether sums are exact, all worlds are possible, and nothing is unknown."""
        question, model = self.question, self.model
        is_free = question.is_only_frozen and not question.frozen
        return is_free and model.margin == 0 and all(question.states[v] != UNKNOWN for v in model.tested)

    def each_beside(self, gaps: Gaps) -> dict[int, float]:
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


@dataclass(frozen=True, eq=False)
class _Worst:
    """The gap of a need where it is the worst for what is asked: the questions about one box differ in few places."""

    asked: Asked
    gaps: Gaps
    _last: list[tuple[Box, list[float]]] = field(default_factory=lambda: [((), [])])
    """The box that was last asked about, and what each of its places adds."""

    def gap(self, box: Box) -> float:
        """The worst gap in a box, rounded once."""
        return math.fsum((*self._beside, *self._each(box)))

    def is_good(self, box: Box) -> bool | None:
        """Whether the need is met nowhere in a box, or everywhere, as is asked; None if rounding does not tell."""
        told = self.asked.fits(self.gaps, self.gap(box))
        if told is None and self.asked.is_rounded_alike:
            return self.gaps.need.holds(self._as_source(box)) != self.asked.is_sufficient
        return told

    def _each(self, box: Box) -> list[float]:
        """What each place of a box adds at its worst."""
        known, each = self._last[0]
        if box is known:
            return each
        if len(known) == len(box):
            before = zip(range(len(box)), box, known, each, strict=True)
            each = [added if new is old else self.asked.worst(self.gaps, at, new) for at, new, old, added in before]
        else:
            each = [self.asked.worst(self.gaps, at, states) for at, states in enumerate(box)]
        self._last[0] = box, each
        return each

    @cached_property
    def _beside(self) -> tuple[float, float]:
        """What all else adds: its sum, and what that lacks as it is rounded."""
        each = self.asked.each_beside(self.gaps)
        added = [*self.gaps.constants, *(number for v, number in each.items() if v not in self.asked.of)]
        total = math.fsum(added)
        return total, math.fsum((*added, -total))

    def _as_source(self, box: Box) -> float:
        """The worst gap of the score as the source adds it: which is rounded alike however it is reached."""
        added = list(self._in_order)
        for at, number in zip(self._places, self._each(box), strict=True):
            added[at] = number
        return math.fsum((reduce(add, added), self.gaps.need.offset))

    @cached_property
    def _in_order(self) -> list[float]:
        """What is added to the gap one after the other; that of the places of a box is to be replaced."""
        model, gaps, (weight,) = self.asked.model, self.gaps, self.gaps.need.weights
        beside = self.asked.each_beside(gaps)
        added = [beside[v] if v in beside else gaps.at(v, 0) for v in self._added]
        return [weight * model.start[0], *added, *(weight * number for number in model.end)]

    @cached_property
    def _places(self) -> list[int]:
        return [1 + self._added.index(v) for v in self.asked.of]

    @cached_property
    def _added(self) -> list[int]:
        return [term.variable for term in self.asked.model.terms]
