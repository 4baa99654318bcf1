"""What is asked of boxes over some variables of an additive model, and whether a box is that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.boxes import Box, Shape, width
from quia.caching import cached_property
from quia.patience import Clock
from quia.question import Question
from quia.ranges import Ranges, difference, members, size
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
