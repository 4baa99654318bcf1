"""Reasons of any classifier, by nothing but `escape`: implicit dualisation.

Sufficient reasons are the minimal hitting sets of the necessary ones, and the other way round. So whatever is known of
one kind gives candidates for the other, the cheapest first: a set of features that hits every necessary reason found
so far either is a sufficient reason, or an instance escapes it; what that instance changes, cut down to what is needed,
is a necessary reason not found before.

Glossary: a set of variables is the *dual* of a candidate if it shows that the candidate is no reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Self

import numpy as np
import numpy.typing as npt

from quia._kernel import Family, OverBudget
from quia.classifier import Classifier
from quia.families import MEMORY, Found, OneByOne
from quia.patience import Clock, OutOfTime, Patience
from quia.question import Question
from quia.ranges import size
from quia.reason import Kind, Members
from quia.region import Region
from quia.variables import UNKNOWN

MOST_GATHERED = 10_000
"""Of more reasons than this a family is not gathered: they come one by one."""
_MOST_STALE = 50  # candidates passed over, as a dual found meanwhile rules them out, before new ones are made

_OTHER: dict[Kind, Kind] = {"necessary": "sufficient", "sufficient": "necessary"}


class Search:
    """The reasons of one decision as far as they are known; they get more as they are asked for.

    Every set that it yields is a reason for good: what is kept serves all later questions.
    """

    def __init__(self, classifier: Classifier, question: Question) -> None:
        self.classifier, self.question = classifier, question
        self.costs = None if question.costs is None else np.array(question.costs.whole, np.int64)
        self.known: dict[Kind, dict[frozenset[int], None]] = {"necessary": {}, "sufficient": {}}
        self.complete = False
        """Whether all reasons of both kinds are known."""
        states, within = question.states, question.within
        self.changeable = tuple(v for v in classifier.tested if states[v] != UNKNOWN and size(within.states(v)) > 1)

    def one(self, kind: Kind, clock: Clock) -> frozenset[int] | None:
        """A reason, minimal, the costly features left out first; None if there is none."""
        if not self.known[kind]:
            everything = frozenset(self.changeable)
            found = self.sufficient_within(everything, clock) if kind == "sufficient" else None
            if kind == "necessary" and (witness := self._changed(everything)) is not None:
                found = self._necessary_within(witness, clock)
            if found is None:
                return None
            self.known[kind][found] = None
        return next(iter(self.known[kind]))

    def in_order(self, kind: Kind, clock: Clock) -> Iterator[Members]:
        """All reasons of a kind by cost, length and variables, each found when it is asked for."""
        given: set[frozenset[int]] = set()
        duals = self.known[_OTHER[kind]]
        is_done = False
        while not is_done:
            is_done = True
            # All members come before a candidate that is dearer, as each holds a candidate: so the order is right.
            for candidate in _hitting_sets(duals, self.costs, clock):
                clock()
                members = frozenset(candidate)
                if members in given:
                    continue
                if members not in self.known[kind]:
                    if self._refute(kind, members, clock):
                        is_done = False
                        break
                    self.known[kind][members] = None
                given.add(members)
                yield candidate
        self.complete = True  # the minimal hitting sets of all duals were given, so these are all duals

    def _refute(self, kind: Kind, candidate: frozenset[int], clock: Clock) -> bool:
        """Whether a candidate is no reason; then several duals that show it, all disjoint, are kept."""
        dual = self._refutation(kind, candidate, clock)
        is_refuted = dual is not None
        while dual is not None:
            self.known[_OTHER[kind]][dual] = None
            candidate |= dual
            # Nothing at all may be enough for a decision, and then there is no other dual.
            dual = self._refutation(kind, candidate, clock) if dual else None
        return is_refuted

    def gather(self, clock: Clock) -> bool:
        """Find all reasons of both kinds, in any order; whether they are not too many."""
        necessary, sufficient = self.known["necessary"], self.known["sufficient"]
        while not self.complete:
            fresh: list[frozenset[int]] = []
            stale = 0
            for candidate in _hitting_sets(necessary, None, clock):
                clock()
                if max(len(necessary), len(sufficient)) > MOST_GATHERED:
                    return False
                members = frozenset(candidate)
                if members in sufficient:
                    continue
                if any(members.isdisjoint(each) for each in fresh):
                    stale += 1
                    if stale > _MOST_STALE:
                        break
                    continue
                dual = self._refutation("sufficient", members, clock)
                if dual is None:
                    sufficient[members] = None
                else:
                    necessary[dual] = None
                    fresh.append(dual)
            else:
                self.complete = not fresh
        return True

    def _refutation(self, kind: Kind, candidate: frozenset[int], clock: Clock) -> frozenset[int] | None:
        """A reason of the other kind that a candidate, which hits all known ones, misses; None if there is none."""
        if kind == "sufficient":
            witness = self._escaped(candidate)
            return None if witness is None else self._necessary_within(witness, clock)
        if self._changed(candidate) is not None:
            return None
        return self.sufficient_within(frozenset(self.changeable) - candidate, clock)

    def _necessary_within(self, changed: frozenset[int], clock: Clock) -> frozenset[int]:
        """A necessary reason among variables whose change, all at once, changes the decision."""
        for variable in self._costly_first(changed):
            if variable not in changed:
                continue
            clock()
            rest = changed - {variable}
            is_forced = any(rest.isdisjoint(each) for each in list(self.known["sufficient"]))
            changed = changed if is_forced else self._changed(rest) or changed
        return changed

    def sufficient_within(self, kept: frozenset[int], clock: Clock) -> frozenset[int]:
        """A sufficient reason among variables that force the decision together."""
        for variable in self._costly_first(kept):
            clock()
            rest = kept - {variable}
            if not any(rest.isdisjoint(each) for each in list(self.known["necessary"])) and self._escaped(rest) is None:
                kept = rest
        return kept

    def _escaped(self, kept: Iterable[int]) -> frozenset[int] | None:
        """What an instance changes that keeps these variables and is decided otherwise; None if there is none."""
        return self._difference(self.question.worlds(frozenset(kept)))

    def _changed(self, changing: frozenset[int]) -> frozenset[int] | None:
        """What an instance changes, of these variables alone, that is decided otherwise; None if there is none."""
        return self._difference(self.question.worlds(frozenset(self.changeable) - changing))

    def _difference(self, region: Region) -> frozenset[int] | None:
        witness = self.classifier.escape(self.question, region)
        return None if witness is None else frozenset(self.question.differing(witness)).intersection(self.changeable)

    def _costly_first(self, variables: Iterable[int]) -> list[int]:
        """In the order in which to try to do without them."""
        whole = None if self.question.costs is None else self.question.costs.whole
        return sorted(variables, key=lambda v: (0 if whole is None else -whole[v], v))


def _hitting_sets(
    sets: Iterable[frozenset[int]], costs: npt.NDArray[np.int64] | None, clock: Clock
) -> Iterator[Members]:
    """The minimal hitting sets by cost, length and variables; OutOfTime where time or memory is not enough for all."""
    try:
        source = Family([sorted(each) for each in list(sets)]).hitting_sets(
            costs=costs, timeout=clock.left, memory=MEMORY
        )
    except OverBudget:
        raise OutOfTime from None
    yield from source
    if not source.complete:
        raise OutOfTime


@dataclass(frozen=True, eq=False)
class SearchedReasons:
    """Both kinds of reasons of a decision that no closed form gives."""

    search: Search
    _shortest: dict[Kind, Found] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(classifier: Classifier, question: Question) -> SearchedReasons:
        """The reasons of a classifier's decision."""
        return SearchedReasons(Search(classifier, question))

    def answer(self, kind: Kind, *, shortest: bool, patience: Patience) -> Found:
        """The reasons of a kind: a family where all could be found, else what can be had one by one."""
        if shortest and kind in self._shortest:
            return self._shortest[kind]
        try:
            with patience.step() as clock:
                if shortest:
                    found = self._shortest[kind] = self._family(self._cheapest(kind, clock))
                    return found
                if self.search.gather(clock):
                    return self._family(self.search.known[kind])
        except OutOfTime:
            pass
        if shortest:
            return Found(None, self.search.costs)
        timeout = patience.for_last_step
        are_many = max(map(len, self.search.known.values())) > MOST_GATHERED
        listing = OneByOne(lambda: _Timed(self.search, kind, timeout))
        return Found(None, self.search.costs, listing, more_than=MOST_GATHERED if are_many else None)

    def _cheapest(self, kind: Kind, clock: Clock) -> list[Members]:
        listing = self.search.in_order(kind, clock)
        first = next(listing, None)
        if first is None:
            return []
        return [first, *takewhile(lambda members: self._cost(members) == self._cost(first), listing)]

    def _cost(self, members: Members) -> int:
        costs = self.search.question.costs
        return len(members) if costs is None else sum(costs.whole[v] for v in members)

    def _family(self, sets: Iterable[Iterable[int]]) -> Found:
        return Found(Family([sorted(each) for each in list(sets)]), self.search.costs)


class _Timed:
    """Reasons one after the other, as the kernel gives them: `timeout` counts the time that finding them takes."""

    def __init__(self, search: Search, kind: Kind, timeout: float | None) -> None:
        self.complete: bool = True
        self._patience, self._clock = Patience(timeout), Clock(timeout)
        self._source = search.in_order(kind, self._clock)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Members:
        try:
            with self._patience.spending():
                self._clock.reset(self._patience.left)
                return next(self._source)
        except OutOfTime:
            self.complete = False
            raise StopIteration from None
