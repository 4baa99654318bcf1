"""How much each feature alone moves a score towards another class, where a model has scores.

Glossary: the *gap* is what a score lacks to the rival class, above 0 where the decision is clear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from quia.additive import Additive
from quia.additive_gaps import Gaps
from quia.additive_needs import Need, beats, reaches
from quia.classifier import Classifier
from quia.constrained import Constrained
from quia.constraint import Constraint
from quia.counterfactual import missing_states
from quia.ensemble import Ensemble
from quia.question import Question
from quia.ranges import Ranges, covers, difference, members, union
from quia.sums import Rule
from quia.variables import UNKNOWN


@dataclass(frozen=True, eq=False)
class Moves:
    """What each feature of an instance, all else kept, could gain towards the `rival`, and what is `missing`.

    That a value goes missing counts only where nothing else gains anything. `unit` and `towards` (1, or -1 where a
    lower score leads there) turn what is gained into the source's points. What a `constraint` leaves of a feature, all
    else kept, is all that it can gain.
    """

    question: Question
    rival: int
    missing: float
    tested: tuple[int, ...]
    parts: Callable[[int], Part]
    is_additive: bool
    is_ordered: bool
    unit: float = 1.0
    towards: float = 1.0
    constraint: Constraint | None = None
    _known: dict[int, Part] = field(default_factory=dict)

    @property
    def asked(self) -> Question:
        """How to get to the rival: of classes that one score tells apart, or beyond it."""
        if self.question.against is not None:
            return self.question
        decision, every = self.question.decision, range(len(self.question.classes))
        if not self.is_ordered:
            return replace(self.question, keeps=frozenset(every) - {self.rival})
        keeps = every[: self.rival] if self.rival > decision else every[self.rival + 1 :]
        impossible = every[-1:] if self.constraint is not None else ()  # which is no class of the model's
        return replace(self.question, keeps=frozenset((*keeps, *impossible)))

    def gain(self, v: int) -> float:
        """The most that a feature could gain alone, in points."""
        return max(self._part(v).gain(self._states(v)), 0.0) / self.unit

    def is_enough(self, gain: float) -> bool:
        """Whether so many points lead to the rival: a tie does if it is the rival's by the rule.

        One score that reaches a cut is past it, and of equal scores the first counts.
        """
        has_ties = (self.rival > self.question.decision) == self.is_ordered
        return gain > self.missing or (has_ties and gain == self.missing)

    def extent(self, v: int) -> tuple[float, float]:
        """The most that a feature could lose alone, and the most that it could gain, in points."""
        states = self._possible(v)
        return min(self._part(v).loss(states), 0.0) / self.unit, self.gain(v)

    def favourable(self, v: int) -> Ranges:
        """The states that gain most; of a line, all that gain."""
        return self._part(v).favourable(self._states(v))

    @property
    def changeable(self) -> list[int]:
        """The features that are known, and may change."""
        return [v for v in self.tested if self.question.states[v] != UNKNOWN and v not in self.question.frozen]

    def _part(self, v: int) -> Part:
        if v not in self._known:
            self._known[v] = self.parts(v)
        return self._known[v]

    def _possible(self, v: int) -> Ranges:
        """What a feature can be, all else kept."""
        states = self.question.within.states(v)
        if self.constraint is None:
            return states
        left = self.constraint.left_by(self.question.worlds_changing((v,)))
        return states if left is None else left.get(v, states)

    def _states(self, v: int) -> Ranges:
        possible = self._possible(v)
        known = difference(possible, missing_states(self.question.variables[v]))
        return known if known and self._part(v).gain(known) > 0 else possible


@dataclass(frozen=True, eq=False)
class Part:
    """What the states of one feature gain: that of each is told by `at`; of a line, `turns` are where it may turn."""

    at: Callable[[int], float]
    turns: Sequence[int] | None = None

    def _candidates(self, states: Ranges) -> list[int]:
        if self.turns is None:
            return list(members(states))
        ends = {end for pair in states for end in pair}
        return sorted({*ends, *(turn for turn in self.turns if covers(states, turn))})

    def gain(self, states: Ranges) -> float:
        """The most that one of some states gains."""
        return max(map(self.at, self._candidates(states)))

    def loss(self, states: Ranges) -> float:
        """The least that one of some states gains, below 0 if it loses."""
        return min(map(self.at, self._candidates(states)))

    def favourable(self, states: Ranges) -> Ranges:
        """Of some states those that gain most; of a line all that gain, or if none do, those that gain most."""
        candidates = self._candidates(states)
        most = max(map(self.at, candidates))
        if self.turns is None or most <= 0:
            return union((state, state) for state in candidates if self.at(state) == most)
        found = [(state, state) for state in candidates if self.at(state) > 0]
        for low, high in pairwise(candidates):
            if not covers(states, low + 1) or high == low + 1:
                continue
            ends = self.at(low + 1) > 0, self.at(high - 1) > 0
            if all(ends):
                found.append((low + 1, high - 1))
            elif any(ends):
                edge = self._edge(low + 1, high - 1, ends[0])
                found.append((low + 1, edge) if ends[0] else (edge, high - 1))
        return union(found)

    def _edge(self, low: int, high: int, from_low: bool) -> int:
        """The last state from one end on that gains; the state at the other end does not."""
        good, bad = (low, high) if from_low else (high, low)
        while abs(bad - good) > 1:
            middle = (good + bad) // 2
            if self.at(middle) > 0:
                good = middle
            else:
                bad = middle
        return good


def moves_of(classifier: Classifier, question: Question) -> Moves | None:
    """The moves of a decision towards the class that it is asked against, or the nearest; None if there is no score.

    An ensemble of which values are missing has none: its scores are those of an instance of which all is known.
    """
    if not _rivals(question):
        return None
    model = scoring(classifier)
    if isinstance(model, Additive):
        found = _of_additive(model, question)
    elif isinstance(model, Ensemble) and all(question.states[v] != UNKNOWN for v in model.tested):
        found = _of_ensemble(model, question)
    else:
        return None
    if not isinstance(classifier, Constrained):
        return found
    # Where features tie each other, what each gains alone adds up to nothing that is possible.
    return replace(found, constraint=classifier.constraint, is_additive=False)


def scoring(classifier: Classifier) -> Classifier:
    """The model that adds up scores, whatever worlds are possible."""
    return classifier.model if isinstance(classifier, Constrained) else classifier


def _rivals(question: Question) -> list[int]:
    """The classes that the decision could change to."""
    return [c for c in range(len(question.classes)) if c not in question.keeps]


def need_of(rule: Rule, scores: int, decision: int, rival: int) -> Need:
    """What a score needs to get from the decision to a rival."""
    return reaches(rule.cuts, decision, rival) if rule.kind == "cuts" else beats(rival, decision, scores)


def _of_additive(model: Additive, question: Question) -> Moves:
    def gap(rival: int) -> tuple[float, Gaps]:
        gaps = model.gaps(need_of(model.rule, len(model.start), question.decision, rival))
        # What is unknown is taken at its best for the rival, as it could be so.
        return gaps.least(question.worlds(model.tested))[0], gaps

    (missing, gaps), rival = min(((gap(c), c) for c in _rivals(question)), key=lambda pair: (pair[0][0], pair[1]))

    def part(v: int) -> Part:
        own = gaps.at(v, question.states[v])
        is_line = question.variables[v].is_line
        return Part(lambda state: own - gaps.at(v, state), gaps.turns(v) if is_line else None)

    unit = model.unit
    # Of a single score people know the points themselves; of several they see how far one is ahead of another.
    towards = -gaps.need.weights[0] if len(model.start) == 1 else 1.0
    return Moves(
        question, rival, max(missing, 0.0) / unit, model.tested, part, True, model.rule.kind == "cuts", unit, towards
    )


def points_of(model: Additive, question: Question, moves: Moves) -> dict[int, float]:
    """What each feature that is known adds: to the one score, or to how far the rival is ahead, in points."""
    gaps = model.gaps(need_of(model.rule, len(model.start), question.decision, moves.rival))
    known = (v for v in model.tested if question.states[v] != UNKNOWN)
    return {v: -moves.towards * gaps.at(v, question.states[v]) / moves.unit + 0.0 for v in known}


def _of_ensemble(model: Ensemble, question: Question) -> Moves:
    rule, count = model.sums.rule, len(model.sums.start)

    own = [max(state, 0) for state in question.states]

    def gap(need: Need, states: Sequence[int]) -> float:
        scores = model.scores(states).tolist()
        return math.fsum((*(w * s for w, s in zip(need.weights, scores, strict=True)), need.offset))

    needs = {c: need_of(rule, count, question.decision, c) for c in _rivals(question)}
    missing, rival = min((gap(need, own), c) for c, need in needs.items())

    def part(v: int) -> Part:
        def at(state: int) -> float:
            return missing - gap(needs[rival], [*own[:v], state, *own[v + 1 :]])

        return Part(cache(at))  # a pass through all trees, and asked for several times

    return Moves(question, rival, max(missing, 0.0), model.tested, part, False, rule.kind == "cuts")
