"""Reasons of any classifier, by nothing but `escape`: implicit dualisation.

Sufficient reasons are the minimal hitting sets of the necessary ones, and the other way round. So whatever is known of
one kind gives candidates for the other, the cheapest first: a set of features that hits every necessary reason found
so far either is a sufficient reason, or an instance escapes it; what that instance changes, cut down to what is needed,
is a necessary reason not found before.

Glossary: a set of variables is the *dual* of a candidate if it shows that the candidate is no reason.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Self

import numpy as np
import numpy.typing as npt

from quia._kernel import Family, OverBudget
from quia.classifier import Classifier, Reduces, escape_within, offers
from quia.families import MEMORY, Found, OneByOne
from quia.patience import Clock, OutOfTime, Patience
from quia.question import Question
from quia.ranges import size
from quia.reason import Kind, Members
from quia.region import Region
from quia.variables import UNKNOWN

MOST_GATHERED = 10_000
"""Of more reasons than this a family is not gathered: they come as they are found."""
_MOST_STALE = 50  # candidates passed over, as a dual found meanwhile rules them out, before new ones are made

_END = object()

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
            if kind == "necessary" and (witness := self._changed(everything, clock)) is not None:
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

    def as_they_come(self, kind: Kind, clock: Clock) -> Iterator[Members]:
        """All reasons of a kind: those that are known, then each as soon as it is found; the first by one reduction."""
        found, given = self.known[kind], 0
        growing = self._grow(_OTHER[kind], clock)
        while True:
            for members in list(islice(found, given, None)):
                given += 1
                yield tuple(sorted(members))
            if given == len(found) and next(growing, _END) is _END:
                return

    def gather(self, clock: Clock) -> bool:
        """Find all reasons of both kinds, in any order; whether they are not too many."""
        growing = self._grow("sufficient", clock)
        while max(map(len, self.known.values())) <= MOST_GATHERED:
            if next(growing, _END) is _END:
                return True
        return self.complete

    def _grow(self, kind: Kind, clock: Clock) -> Iterator[None]:
        """Find all reasons of both kinds by candidates for one of them, stopping after each that is found.

        Those of the other kind come quickly, as nearly every candidate has a dual while little is known.
        """
        reasons, duals = self.known[kind], self.known[_OTHER[kind]]
        while not self.complete:
            fresh: list[frozenset[int]] = []
            stale = 0
            for candidate in _hitting_sets(duals, None, clock):
                clock()
                members = frozenset(candidate)
                if members in reasons:
                    continue
                if any(members.isdisjoint(each) for each in fresh):
                    stale += 1
                    if stale > _MOST_STALE:
                        break
                    continue
                dual = self._refutation(kind, members, clock)
                if dual is None:
                    reasons[members] = None
                else:
                    duals[dual] = None
                    fresh.append(dual)
                yield
            else:
                self.complete = self.complete or not fresh

    def _refutation(self, kind: Kind, candidate: frozenset[int], clock: Clock) -> frozenset[int] | None:
        """A reason of the other kind that a candidate, which hits all known ones, misses; None if there is none."""
        if kind == "sufficient":
            witness = self._escaped(candidate, clock)
            return None if witness is None else self._necessary_within(witness, clock)
        # With nothing changed the decision is as it is, whatever is unknown.
        if candidate and self._changed(candidate, clock) is not None:
            return None
        return self.sufficient_within(frozenset(self.changeable) - candidate, clock)

    def _necessary_within(self, changed: frozenset[int], clock: Clock) -> frozenset[int]:
        """A necessary reason among variables whose change, all at once, changes the decision; else CutShort."""
        for variable in self._costly_first(changed):
            if variable not in changed:
                continue
            rest = changed - {variable}
            if not any(rest.isdisjoint(each) for each in list(self.known["sufficient"])):
                with _cut_short(changed):
                    changed = self._changed(rest, clock) or changed
        return changed

    def sufficient_within(self, kept: frozenset[int], clock: Clock) -> frozenset[int]:
        """A sufficient reason among variables that force the decision together; else CutShort."""
        order = self._costly_first(kept)
        if offers(self.classifier, Reduces):
            members, is_minimal = self.classifier.reduce(self.question, order, clock.left)
            if not is_minimal:
                raise CutShort(frozenset(members))
            return frozenset(members)
        for variable in order:
            rest = kept - {variable}
            if not any(rest.isdisjoint(each) for each in list(self.known["necessary"])):
                with _cut_short(kept):
                    kept = rest if self._escaped(rest, clock) is None else kept
        return kept

    def _escaped(self, kept: Iterable[int], clock: Clock) -> frozenset[int] | None:
        """What an instance changes that keeps these variables and is decided otherwise; None if there is none."""
        return self._difference(self.question.worlds(frozenset(kept)), clock)

    def _changed(self, changing: frozenset[int], clock: Clock) -> frozenset[int] | None:
        """What an instance changes, of these variables alone, that is decided otherwise; None if there is none."""
        return self._difference(self.question.worlds(frozenset(self.changeable) - changing), clock)

    def _difference(self, region: Region, clock: Clock) -> frozenset[int] | None:
        witness = escape_within(self.classifier, self.question, region, clock)
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


class CutShort(OutOfTime):
    """The time ended before a set was proved to be minimal; as a whole it forces, or changes, the decision."""

    def __init__(self, members: frozenset[int]) -> None:
        super().__init__()
        self.members = members


@contextmanager
def _cut_short(members: frozenset[int]) -> Generator[None]:
    """What is proved of these variables is kept when the time ends."""
    try:
        yield
    except OutOfTime:
        raise CutShort(members) from None


@dataclass(frozen=True, eq=False)
class SearchedReasons:
    """Both kinds of reasons of a decision that no closed form gives.

    Where all are found within the time to wait for them, they are a family. Else they come as they are found, the first
    by a single reduction, in no particular order; if time runs out before even one is proved minimal, what is proved
    until then is given as a *loose* one.
    """

    search: Search
    _shortest: dict[Kind, Found] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(classifier: Classifier, question: Question) -> SearchedReasons:
        """The reasons of a classifier's decision."""
        return SearchedReasons(Search(classifier, question))

    def answer(self, kind: Kind, *, shortest: bool, patience: Patience, wait: float | None = None) -> Found:
        """The reasons of a kind: a family where all are found within `wait` seconds, else as they come."""
        if shortest:
            return self._shortest.get(kind) or self._find_shortest(kind, patience)
        if self._gathered(patience, wait):
            return self._family(self.search.known[kind])
        search, loose = self.search, set[Members]()
        timeout = patience.for_last_step
        are_many = max(map(len, search.known.values())) > MOST_GATHERED
        listing = OneByOne(lambda: _Timed(search, kind, patience.part(timeout), loose), loose=loose)
        more_than = MOST_GATHERED if are_many else None
        return Found(None, search.costs, listing, more_than, lambda: search.complete)

    def known(self, kind: Kind) -> list[Members]:
        """What was found of a kind until now, the cheapest first."""
        return sorted(
            (tuple(sorted(each)) for each in self.search.known[kind]), key=lambda m: (self._cost(m), len(m), m)
        )

    def _gathered(self, patience: Patience, wait: float | None) -> bool:
        """Whether all are known, or found within the time to wait for them."""
        if self.search.complete or wait == 0:
            return self.search.complete
        try:
            with patience.step() as clock:
                if wait is not None:
                    clock.reset(wait if clock.left is None else min(wait, clock.left))
                return self.search.gather(clock)
        except OutOfTime:
            return False

    def _find_shortest(self, kind: Kind, patience: Patience) -> Found:
        try:
            with patience.step() as clock:
                found = self._shortest[kind] = self._family(self._cheapest(kind, clock))
                return found
        except OutOfTime:
            return Found(None, self.search.costs)

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
    """Reasons as they come, as the kernel gives sets: `patience` is for finding them.

    If it ends before there is one, a set that is proved as a whole is given, and is among the `loose` from then on.
    """

    def __init__(self, search: Search, kind: Kind, patience: Patience, loose: set[Members]) -> None:
        self.complete: bool = True
        self._kind, self._search, self._loose = kind, search, loose
        self._patience, self._clock = patience, Clock()
        self._source = search.as_they_come(kind, self._clock)
        self._is_first = True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Members:
        try:
            with self._patience.spending():
                self._clock.reset(self._patience.left)
                found = next(self._source)
        except OutOfTime as late:
            self.complete = False
            proved = self._proved(late) if self._is_first else None
            if proved is None:
                raise StopIteration from None
            self._loose.add(proved)
            found = proved
        self._is_first = False
        return found

    def _proved(self, late: OutOfTime) -> Members | None:
        """What is proved of the first reason; of a sufficient one, at the least that the whole instance forces it."""
        if isinstance(late, CutShort):
            return tuple(sorted(late.members))
        return self._search.changeable if self._kind == "sufficient" else None
