"""Superfluous reasons: where features tie each other, a sufficient reason may be implied by another one.

The cover of a reason is the possible worlds that it is true of. A reason whose cover lies strictly inside another's is
true, and none of its features can be left out, but the other one says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quia.classifier import Classifier
from quia.constrained import Constrained
from quia.patience import Clock, OutOfTime
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import Ranges, difference
from quia.reason import Members
from quia.search import Search
from quia.widen import Widening

PATIENCE = 2.0
"""For how many seconds another reason is looked for that implies one."""

Box = Mapping[int, Ranges]


@dataclass(frozen=True, eq=False)
class Superfluity(ByFields):
    """Whether sufficient reasons of a decision are superfluous: by their states, or as they are widened."""

    classifier: Classifier
    question: Question
    widening: Widening | None = None

    def __call__(self, members: Members, states: tuple[Ranges, ...] | None = None) -> bool:
        """Whether another reason is true of all possible worlds that this one is true of, and of more."""
        asked = self.classifier
        if not isinstance(asked, Constrained) or not set(members).intersection(asked.constraint.tested):
            return False
        box = self._own(members) if states is None else dict(zip(members, states, strict=True))
        cover = asked.entailed(self.question, box)
        if all(states == box.get(v, self.question.within.states(v)) for v, states in cover.items()):
            return False  # it settles nothing else, and what speaks of its features alone implies no more than it
        try:
            others = self._others(cover, Clock(PATIENCE))
            return any(_is_in(cover, each) and not _is_in(asked.entailed(self.question, each), box) for each in others)
        except OutOfTime:
            return False

    def _own(self, members: Members) -> dict[int, Ranges]:
        return {v: ((self.question.states[v],) * 2,) for v in members}

    def _others(self, cover: Box, clock: Clock) -> Iterator[Box]:
        """The reasons that speak only of what the cover settles, in whole or, if they are widened, in part."""
        search = Search(self.classifier, self.question)
        settled = (v for v in search.changeable if v in cover)
        if self.widening is None:
            kept = [v for v in settled if cover[v] == ((self.question.states[v],) * 2,)]
        else:
            kept = [v for v in settled if difference(self.question.within.states(v), cover[v])]
        search.changeable = tuple(kept)
        search.gather(clock)
        for each in search.known["sufficient"]:
            members = tuple(sorted(each))
            if self.widening is None:
                yield self._own(members)
            else:
                boxes = self.widening.boxes(members, clock)
                yield from (dict(zip(members, box, strict=True)) for box in boxes)


def _is_in(cover: Box, box: Box) -> bool:
    """Whether a box is true wherever the cover's states are."""
    return all(v in cover and not difference(cover[v], states) for v, states in box.items())
