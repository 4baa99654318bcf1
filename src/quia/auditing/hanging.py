"""Which decisions hang on protected features: would they change if only these changed, to what, and as whom?

Where the features have few combinations of states, every row is decided with each of them; else, as for a number that
is not cut, the classifier is asked for an escape in which nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from quia.asking import Terms
from quia.auditing.document import GroupHanging, Hanging, Turn
from quia.auditing.groups import Grouping
from quia.auditing.known import known_states, with_known
from quia.auditing.rows import Bools, Ints, Rows
from quia.batch.table import distinct
from quia.classifier import DecidesRows, escape_within, offers
from quia.errors import MissingValue
from quia.explanation import Explanation
from quia.patience import Clock, OutOfTime
from quia.question import Question
from quia.ranges import covers, members, size
from quia.reference import admitting
from quia.region import Region
from quia.variables import UNKNOWN

MOST_COMBINATIONS = 5_000
"""So many combinations of protected features' states are tried on every row."""
_CELLS = 2**22
_WORST = 5


class Worse(NamedTuple):
    """A row that would have fared better: which, as what states, and the class it would have."""

    row: int
    other: tuple[int, ...]
    decision: int


@dataclass(frozen=True, eq=False)
class Protection:
    """What is asked: about `variables` that a classifier tests, in the worlds of some terms; rows are grouped by them.

    `rank` is how good each class is.
    """

    rows: Rows
    terms: Terms
    grouping: Grouping
    variables: tuple[int, ...]
    rank: Sequence[int]

    def found(self, clock: Clock) -> tuple[Hanging, list[Worse]]:
        """How many decisions hang on the features, of those rows that there was time for, and the worst of them."""
        tally = _Tally(self)
        possible = self.terms.worlds.possible
        sizes = [size(known_states(self.terms.variables[v], possible.states(v))) for v in self.variables]
        try:
            if prod(sizes) <= MOST_COMBINATIONS:
                for rows, outcome in self._decided(clock):
                    tally.add(rows, outcome)
            else:
                for row in self.rows.in_fixed_order().tolist():
                    clock()
                    with suppress(_Uncertain):
                        tally.add_one(row, self._asked(row, clock))
        except OutOfTime:
            pass  # what was looked at so far is what is told, with its number
        return tally.hanging(), tally.worst()

    def _decided(self, clock: Clock) -> Iterator[tuple[Ints, _Outcome]]:
        """Rows and the classes they have with each combination, so many rows at a time."""
        classifier, possible = self.terms.classifier, self.terms.worlds.possible
        chosen = list(self.variables)
        every_state = (members(known_states(classifier.variables[v], possible.states(v))) for v in chosen)
        combinations = np.array(list(product(*every_state)), np.int64)
        rest = np.array(self.rows.states)
        rest[:, chosen] = 0
        first, which, _ = distinct(rest)
        by_rest = np.argsort(which, kind="stable")
        starts = np.searchsorted(which[by_rest], np.arange(len(first) + 1))
        impossible = list(self.terms.worlds.impossible)
        groups = self._in_groups(combinations)
        order = np.random.default_rng(18).permutation(len(first))
        step = max(1, _CELLS // max(1, len(combinations) * rest.shape[1]))
        for begin in range(0, len(order), step):
            clock()
            some = order[begin : begin + step]
            every = np.repeat(rest[first[some]], len(combinations), axis=0)
            every[:, chosen] = np.tile(combinations, (len(some), 1))
            classes = self._classes(classifier, every).reshape(len(some), len(combinations))
            rows = np.concatenate([by_rest[starts[r] : starts[r + 1]] for r in some.tolist()])
            of_row = np.repeat(np.arange(len(some)), np.diff(starts)[some])
            yield rows, _Outcome(classes[of_row], ~np.isin(classes, impossible)[of_row], combinations, groups)

    @staticmethod
    def _classes(classifier: object, every: Ints) -> Ints:
        """The class of each instance; below 0 where it depends on what is not known."""
        if offers(classifier, DecidesRows):
            return classifier.decide_rows(every)
        unique, which, _ = distinct(every)
        return np.array([class_of(classifier, row) for row in every[unique].tolist()], np.int32)[which]

    def _in_groups(self, combinations: Ints) -> Bools:
        """For each group which combinations of states are in it, whatever else people are grouped by."""
        names = [self.terms.variables[v].name for v in self.variables]
        found = np.ones((len(self.grouping.members), len(combinations)), bool)
        for place, parting in enumerate(self.grouping.partings):
            if parting.variable.name in names:
                v = names.index(parting.variable.name)
                variable, column = self.terms.variables[self.variables[v]], combinations[:, v]
                admitted = np.array([admitting(variable, states, column) for states in parting.touched])
                found &= admitted[[member[place] for member in self.grouping.members]]
        return found

    def _asked(self, row: int, clock: Clock) -> _Reached:
        """What a row could become, by the classifier's escapes alone."""
        terms, classifier = self.terms, self.terms.classifier
        states, own = self.rows.states[row].tolist(), int(self.rows.decision[row])
        others = [v for v in classifier.tested if v not in self.variables]
        known = {v: known_states(terms.variables[v], terms.worlds.possible.states(v)) for v in self.variables}
        region = Region.at(classifier.variables, states, others).replaced(known)
        question = terms.question(states, own)
        every = frozenset(range(len(terms.classes)))
        reached: dict[int, tuple[int, ...]] = {}
        for label in sorted(every - {own}):
            found = self._escaped(question, every - {label}, region, clock)
            if found is not None:
                reached[label] = found
        better_classes = frozenset(c for c in reached if self.rank[c] > self.rank[own])
        better = []
        for group in range(len(self.grouping.members)) if better_classes else ():
            if group != self.grouping.of_row[row]:
                index = {terms.variables[v].name: v for v in self.variables}
                both = zip(self.grouping.partings, self.grouping.members[group], strict=True)
                where = {index[p.variable.name]: p.touched[at] for p, at in both if p.variable.name in index}
                inside = region.intersection(Region(classifier.variables, where))
                if self._escaped(question, every - better_classes, inside, clock) is not None:
                    better.append(group)
        return _Reached(reached, tuple(better), bool(reached) or self._can_differ(states, own, region))

    def _can_differ(self, states: Sequence[int], own: int, region: Region) -> bool:
        """Whether there are two possible worlds that a row is, or could be with other protected features."""
        terms = with_known(self.terms, self.variables)
        possible = terms.worlds.possible
        one = terms.worlds.member(possible.intersection(region))
        if one is None:
            return False
        if any(states[v] != UNKNOWN and not covers(possible.states(v), states[v]) for v in self.variables):
            return True  # a value of it is missing, and that is none of those that it could change to
        known = [one[v] if v in self.variables and s == UNKNOWN else s for v, s in enumerate(states)]
        return Explanation(terms.classifier, {}, terms.question(known, own)).can_differ(self.variables)

    def _escaped(
        self, question: Question, keeps: frozenset[int], region: Region, clock: Clock
    ) -> tuple[int, ...] | None:
        """An instance of a region with a class that is not among some; _Uncertain if that hangs on what is unknown."""
        asked = replace(question, keeps=keeps | self.terms.worlds.impossible)
        found = escape_within(self.terms.classifier, asked, region, clock)
        if found is None:
            return None
        certain = [
            own if own == UNKNOWN and v not in self.variables else new
            for v, (own, new) in enumerate(zip(question.states, found, strict=True))
        ]
        if class_of(self.terms.classifier, certain) < 0:
            raise _Uncertain
        return tuple(found)


def class_of(classifier: object, states: Sequence[int]) -> int:
    """The class of an instance, -1 where it depends on what is not known."""
    try:
        return int(classifier.decide(states))  # type: ignore[attr-defined]
    except MissingValue:
        return -1


class _Uncertain(Exception):
    """Whether a row could become something hangs on what is not known of it, and one escape does not tell."""


class _Outcome(NamedTuple):
    """The class of each row with each combination, which of these are possible, and which are in each group."""

    classes: Ints
    possible: Bools
    combinations: Ints
    groups: Bools


class _Reached(NamedTuple):
    """An instance for each class that a row could get, the groups as which it would fare better, if it can differ."""

    classes: dict[int, tuple[int, ...]]
    better: tuple[int, ...]
    can_differ: bool


@dataclass(eq=False)
class _Tally:
    """What was found so far, counted in rows of the table."""

    asked: Protection
    of: int = 0
    rows: int = 0
    fixed: int = 0

    def __post_init__(self) -> None:
        labels, groups = len(self.asked.terms.classes), len(self.asked.grouping.members)
        self.turns = np.zeros((labels, labels), np.int64)
        self.of_group, self.rows_of_group = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        self.better = np.zeros((groups, groups), np.int64)
        self.worse: list[tuple[tuple[int, float, int], Worse]] = []

    def add(self, rows: Ints, outcome: _Outcome) -> None:
        """Rows that were decided with each combination."""
        asked = self.asked
        own, repeats = asked.rows.decision[rows], asked.rows.repeats[rows]
        group, rank = asked.grouping.of_row[rows], np.array([*asked.rank, -1, -1])
        certain = outcome.possible & (outcome.classes >= 0)
        differs = certain & (outcome.classes != own[:, None])
        hangs = differs.any(axis=1)
        # A row is one of the possible combinations, unless a value of it is missing, and needs another one to differ.
        states = asked.rows.states[rows][:, list(asked.variables)]
        fits = (states[:, None, :] == outcome.combinations[None, :, :]) | (states == UNKNOWN)[:, None, :]
        has_own = (fits.all(axis=2) & outcome.possible).any(axis=1)
        self._count(group, repeats, hangs, outcome.possible.sum(axis=1) <= has_own)
        for c in range(len(self.turns)):
            turned = (differs & (outcome.classes == c)).any(axis=1)
            np.add.at(self.turns[:, c], own[turned], repeats[turned])
        ranks = np.where(certain, rank[np.where(certain, outcome.classes, -1)], -1)
        fares = ranks > rank[own][:, None]
        for g in range(len(self.better)):
            gains = fares[:, outcome.groups[g]].any(axis=1) & (group >= 0) & (group != g)
            np.add.at(self.better[:, g], group[gains], repeats[gains])
        for at in np.flatnonzero(fares.any(axis=1)).tolist():
            best = int(np.argmax(ranks[at] - 1e-6 * self._changes(rows[at], outcome.combinations)))
            gain = int(ranks[at, best] - rank[own[at]])
            share = float(fares[at].sum() / certain[at].sum())
            self._worst(int(rows[at]), gain, share, outcome.combinations[best], int(outcome.classes[at, best]))

    def _changes(self, row: int, combinations: Ints) -> Ints:
        return np.asarray((combinations != self.asked.rows.states[row][list(self.asked.variables)]).sum(axis=1))

    def add_one(self, row: int, reached: _Reached) -> None:
        """A row of which is known what it could become."""
        asked, at = self.asked, np.array([row])
        own, group = int(asked.rows.decision[row]), int(asked.grouping.of_row[row])
        repeats = int(asked.rows.repeats[row])
        self._count(
            asked.grouping.of_row[at],
            asked.rows.repeats[at],
            np.array([bool(reached.classes)]),
            np.array([not reached.can_differ]),
        )
        for label in reached.classes:
            self.turns[own, label] += repeats
        for g in reached.better if group >= 0 else ():
            self.better[group, g] += repeats
        best = max(reached.classes, key=lambda c: (asked.rank[c], -c), default=own)
        if asked.rank[best] > asked.rank[own]:
            states = np.array([reached.classes[best][v] for v in asked.variables])
            share = len(reached.better) / max(1, len(asked.grouping.members) - 1)
            self._worst(row, asked.rank[best] - asked.rank[own], share, states, best)

    def _count(self, group: Ints, repeats: Ints, hangs: Bools, fixed: Bools) -> None:
        self.of += int(repeats.sum())
        self.rows += int(repeats[hangs].sum())
        self.fixed += int(repeats[fixed].sum())
        known = group >= 0
        np.add.at(self.of_group, group[known], repeats[known])
        np.add.at(self.rows_of_group, group[known & hangs], repeats[known & hangs])

    def _worst(self, row: int, gain: int, share: float, states: Ints, label: int) -> None:
        """Keep it if it is one of the worst: who would gain most, as most others; else who comes first in the table."""
        asked = self.asked
        key = (-gain, -share, int(asked.rows.first[row]))
        if len(self.worse) == _WORST and key >= self.worse[-1][0]:
            return
        other = asked.rows.states[row].copy()
        other[list(asked.variables)] = states
        self.worse = sorted([*self.worse, (key, Worse(row, tuple(other.tolist()), label))])[:_WORST]

    def worst(self) -> list[Worse]:
        """The worst cases, the worst first."""
        return [case for _, case in self.worse]

    def hanging(self) -> Hanging:
        """The counts by the names of classes and groups."""
        classes, names = self.asked.terms.classes, self.asked.grouping.names
        turns = tuple(Turn(classes[a], classes[b], int(self.turns[a, b])) for a, b in np.argwhere(self.turns).tolist())
        used = set(np.unique(self.asked.grouping.of_row).tolist())  # nobody is in the others, which are not told
        groups = tuple(
            GroupHanging(
                name,
                int(self.rows_of_group[g]),
                int(self.of_group[g]),
                {names[h]: int(count) for h, count in enumerate(self.better[g]) if count and h in used},
            )
            for g, name in enumerate(names)
            if self.of_group[g]
        )
        return Hanging(self.rows, self.of, self.fixed, turns, groups)
