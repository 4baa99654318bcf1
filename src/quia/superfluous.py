"""Superfluous reasons: where features tie each other, a sufficient reason may be implied by another one.

The cover of a reason is the possible worlds that it is true of. A reason whose cover lies strictly inside another's is
true, and none of its features can be left out, but the other one says more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quia.caching import cached_property
from quia.classifier import Classifier, answers_directly, escape_within
from quia.constrained import Constrained
from quia.families import Found
from quia.patience import Clock, OutOfTime, Patience
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import Ranges, difference
from quia.reason import Members
from quia.search import Search
from quia.widen import Widening

PATIENCE = 2.0
"""For how many seconds in all it is looked for reasons that imply others of one decision."""

_Sets = tuple[Ranges, ...]


@dataclass(frozen=True, eq=False)
class Superfluity(ByFields):
    """Whether sufficient reasons of a decision are superfluous: by their states, or as they are widened.

    One that is not found to be so in time is not called so.
    """

    classifier: Classifier
    question: Question
    find: Callable[[Patience], Found]
    """How all sufficient reasons are found."""
    widening: Widening | None = None

    @cached_property
    def _patience(self) -> Patience:
        return Patience(PATIENCE)

    @cached_property
    def _known(self) -> dict[tuple[Members, _Sets | None], bool]:
        return {}

    def __call__(self, members: Members, states: _Sets | None = None) -> bool:
        """Whether another reason is true of all possible worlds that this one is true of, and of more."""
        asked, key = self.classifier, (tuple(members), states)
        if not isinstance(asked, Constrained) or not set(members).intersection(asked.constraint.tested):
            return False
        if key not in self._known:
            with self._patience.step() as clock:
                try:
                    if states is None:
                        is_implied = self._is_implied(asked, members, clock)
                    else:
                        is_implied = self._is_covered(asked, members, states, clock)
                except OutOfTime:
                    is_implied = False
            self._known[key] = is_implied
        return self._known[key]

    def _is_implied(self, asked: Constrained, members: Members, clock: Clock) -> bool:
        """Whether what a reason settles forces the decision still where one of its own states is changed.

        Another reason then speaks of what is left of that, and is true of the world with that change.
        """
        question = self.question
        cover = asked.entailed(question, {v: _single(question.states[v]) for v in members})
        settled = {v for v in self._changeable if cover.get(v) == _single(question.states[v])}
        if settled <= set(members):
            return False  # none of them can be left out
        for v in members:
            if v not in asked.constraint.tested:
                continue  # nothing that is settled depends on it, so it cannot be left out
            if v not in self._changes:
                self._changes[v] = asked.least_changes(question, v, clock)
            for changes in self._changes[v]:
                kept = settled - changes
                if escape_within(asked, question, question.worlds(kept), clock) is None:
                    return True
        return False

    @cached_property
    def _changes(self) -> dict[int, Sequence[frozenset[int]]]:
        """Of each variable, the smallest sets of variables that change with it."""
        return {}

    @cached_property
    def _changeable(self) -> tuple[int, ...]:
        return Search(self.classifier, self.question).changeable

    def _is_covered(self, asked: Constrained, members: Members, states: _Sets, clock: Clock) -> bool:
        """Whether another widened reason has all possible worlds of a box, and more."""
        cover, within = self._cover(asked, members, states), self.question.within
        bounded = {v for v in self._changeable if v in cover and difference(within.states(v), cover[v])}
        if not bounded <= set(members):
            # What no constraint ties cannot be left out, as nothing else that is bounded depends on it.
            found = self._among(bounded, frozenset(members).difference(asked.constraint.tested), clock)
        elif any(cover[v] != ranges for v, ranges in zip(members, states, strict=True)):
            found = iter((members,))  # no other set of features is a reason
        else:
            return False  # and it is one of the largest boxes
        return any(
            _is_in(cover, of, box) and not _is_in(self._cover(asked, of, box), members, states)
            for of in found
            for box in self._widened(of, clock)
        )

    def _cover(self, asked: Constrained, members: Members, states: _Sets) -> Mapping[int, Ranges]:
        """What is left of each variable's states in the possible worlds of a box."""
        if (members, states) not in self._covers:
            self._covers[members, states] = asked.entailed(self.question, dict(zip(members, states, strict=True)))
        return self._covers[members, states]

    @cached_property
    def _covers(self) -> dict[tuple[Members, _Sets], Mapping[int, Ranges]]:
        return {}

    def _widened(self, of: Members, clock: Clock) -> Sequence[_Sets]:
        """The widened reasons over a set of features, as sets of states."""
        assert self.widening is not None
        if of not in self._boxes:
            self._boxes[of] = self.widening.boxes(of, clock)
        return self._boxes[of]

    @cached_property
    def _boxes(self) -> dict[Members, Sequence[_Sets]]:
        return {}

    def _among(self, variables: Collection[int], needed: frozenset[int], clock: Clock) -> Iterator[Members]:
        """The sufficient reasons that speak of these variables alone, and of all that are needed."""
        if answers_directly(self.classifier, self.question):
            every = self.find(Patience(clock.left))
            if every.family is not None:
                others = frozenset(self._changeable).difference(variables)
                yield from every.restrict(needed, others).listing()
                return
        search = Search(self.classifier, self.question)
        search.changeable = tuple(sorted(variables))
        search.gather(clock)
        yield from (tuple(sorted(each)) for each in search.known["sufficient"] if needed <= each)


def _is_in(cover: Mapping[int, Ranges], members: Members, states: _Sets) -> bool:
    """Whether a box has all that a cover has."""
    return all(v in cover and not difference(cover[v], ranges) for v, ranges in zip(members, states, strict=True))


def _single(state: int) -> Ranges:
    return ((state, state),)
