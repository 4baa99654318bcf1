"""The contract of every classifier: what `quia.classifier.Classifier` promises, checked by brute force.

A `Subject` is a classifier with the truth table that it must have, which `oracle.py` makes from the JSON format, so by
no code of the classifier. Its `twin` knows the table and nothing else: it offers `escape` alone, by trying all worlds,
and must be explained just as the original is.

Glossary
    world     a state for each variable, as an index
    changed   the variables with known states that a world changes
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby, product
from random import Random
from typing import Any

import pytest

import general_oracle
import oracle
import quia
from quia.classifier import ClassifierBase
from quia.costs import Costs
from quia.errors import MissingValue, Refuted
from quia.question import Question
from quia.ranges import Ranges, union
from quia.region import Region
from quia.variables import UNKNOWN, Variable

World = tuple[int, ...]
Table = Mapping[World, int]
"""The class of every world."""


@dataclass(frozen=True)
class Subject:
    """A classifier, and in the JSON format a graph that decides as it must."""

    classifier: Any
    d: Mapping[str, Any]

    @cached_property
    def table(self) -> Table:
        """What the oracle says of every world."""
        return {self.encoded(world): self.classes.index(c) for world, c in oracle.worlds(self.d).items()}

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self.classifier.variables)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.classifier.classes)

    def encoded(self, world: Sequence[Any]) -> World:
        """A world of the oracle in indices."""
        values = dict(zip(self.d["variables"], world, strict=True))
        return tuple(v.encode(values[v.name]) for v in self.variables)

    def twin(self, rng: Random) -> EscapeOnly:
        """The classifier with nothing but `escape`."""
        return EscapeOnly(self.variables, self.classes, tuple(self.classifier.tested), self.table, rng)


class EscapeOnly(ClassifierBase):
    """A truth table: of all instances that escape, `escape` gives any, so that nothing may depend on which."""

    kind = "truth table"

    def __init__(
        self, variables: tuple[Variable, ...], classes: tuple[str, ...], tested: World, table: Table, rng: Random
    ) -> None:
        self.variables, self.classes, self._tested, self.table, self.rng = variables, classes, tested, table, rng

    @property
    def tested(self) -> tuple[int, ...]:
        return self._tested

    def decide(self, states: Sequence[int]) -> int:
        found = {self.table[world] for world in completions(self.variables, states)}
        if len(found) > 1:
            name = next(self.variables[v].name for v in self.tested if states[v] == UNKNOWN)
            raise MissingValue(f"{name} is not known", feature=name)
        return found.pop()

    def escape(self, question: Question, region: Region) -> World | None:
        # It may say nothing of variables that are not tested.
        found = escaping(self.table, question, region)
        if not found:
            return None
        world = self.rng.choice(found)
        return tuple(state if v in self.tested else UNKNOWN for v, state in enumerate(world))


def completions(variables: Sequence[Variable], states: Sequence[int]) -> Iterator[World]:
    """The worlds that an encoded instance may be."""
    return product(*(range(v.size) if s == UNKNOWN else (s,) for v, s in zip(variables, states, strict=True)))


def is_within(region: Region, world: World) -> bool:
    """Whether a world is in a region, state by state."""
    return all(any(low <= world[v] <= high for low, high in ranges) for v, ranges in region.bounds.items())


def escaping(table: Table, question: Question, region: Region) -> list[World]:
    """All possible worlds in a region that are decided otherwise (DESIGN: `escape`)."""
    return [
        w
        for w, c in table.items()
        if c not in question.keeps and is_within(region, w) and is_within(question.within, w)
    ]


# ---- questions --------------------------------------------------------------------------------------------------


def random_states(rng: Random, variable: Variable) -> Ranges:
    """Some of a variable's states, one at least."""
    chosen = [s for s in range(variable.size) if rng.random() < 0.6] or [rng.randrange(variable.size)]
    return union((s, s) for s in chosen)


def random_region(rng: Random, variables: tuple[Variable, ...], share: float = 0.5) -> Region:
    """A box, which need not hold any given instance."""
    chosen = (v for v in range(len(variables)) if rng.random() < share)
    return Region(variables, {v: random_states(rng, variables[v]) for v in chosen})


def random_world(rng: Random, subject: Subject, unknown: float = 0.25) -> World:
    """An encoded instance as `encode` gives it, unknown as far as its decision allows."""
    tested = subject.classifier.tested
    world = rng.choice(sorted(subject.table))
    states = [s if v in tested else UNKNOWN for v, s in enumerate(world)]
    for v in rng.sample(tested, len(tested)):
        fewer = [UNKNOWN if at == v else s for at, s in enumerate(states)]
        if rng.random() < unknown and len(decisions(subject, fewer)) == 1:
            states = fewer
    return tuple(states)


def decisions(subject: Subject, states: Sequence[int]) -> set[int]:
    """The classes that an instance may have."""
    return {subject.table[world] for world in completions(subject.variables, states)}


def random_question(rng: Random, subject: Subject) -> Question:
    """Why is an instance decided so, in possible worlds among which it is; `keeps` are any classes with its own."""
    states = random_world(rng, subject)
    (decision,) = decisions(subject, states)
    others = {c for c in range(len(subject.classes)) if rng.random() < 0.3}
    frozen = tuple(v for v in range(len(states)) if rng.random() < 0.15)
    drawn = random_region(rng, subject.variables, rng.choice((0.0, 0.3, 0.6)))
    bounds = {v: union([*r, *([(states[v], states[v])] if states[v] >= 0 else [])]) for v, r in drawn.bounds.items()}
    possible = Region(subject.variables, bounds)
    costs = rng.choice((None, Costs(tuple(rng.choice((1, 1, 2, 5)) for _ in states), Fraction(1))))
    return Question(subject.classes, states, decision, frozenset({decision} | others), possible, None, frozen, costs)


# ---- the definitions, in indices --------------------------------------------------------------------------------


def changes(subject: Subject, question: Question) -> set[frozenset[int]]:
    """What the possible worlds that are decided otherwise change."""
    everywhere = Region(subject.variables)
    return {
        frozenset(v for v, s in enumerate(question.states) if s not in (UNKNOWN, world[v]))
        for world in escaping(subject.table, question, everywhere)
    }


def all_reasons(subject: Subject, question: Question) -> dict[str, set[frozenset[int]]]:
    """Minimal sets that every change meets, and minimal changes (paper: §5)."""
    refuting = changes(subject, question)
    known = [v for v, s in enumerate(question.states) if s != UNKNOWN]
    every: list[Any] = list(oracle.subsets(known))  # type: ignore[arg-type]
    return {
        "sufficient": oracle.minimal(s for s in every if all(s & change for change in refuting)),
        "necessary": oracle.minimal(s for s in every if any(change <= s for change in refuting)),
    }


def in_contract_order(found: Collection[frozenset[int]], costs: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """Sets by cost, length and variables: the order of every listing."""
    members = map(tuple, map(sorted, found))
    return sorted(members, key=lambda members: (cost(members, costs), len(members), members))


def cost(members: Collection[int], costs: Sequence[int] | None) -> int:
    """What changing these variables costs; without costs, how many they are."""
    return len(members) if costs is None else sum(costs[v] for v in members)


# ---- the contract -----------------------------------------------------------------------------------------------


def check_escape(subject: Subject, classifier: Any, rng: Random, *, regions: int = 12) -> None:
    """`escape` gives a possible world of the region that is decided otherwise, and None just if there is none."""
    for _ in range(regions):
        question = random_question(rng, subject)
        if rng.random() < 0.2:  # whatever is kept, even without the decision itself
            question = replace(question, keeps=frozenset(c for c in range(len(subject.classes)) if rng.random() < 0.5))
        region = random_region(rng, subject.variables, rng.choice((0.2, 0.5, 1.0)))
        if rng.random() < 0.1:
            region = region.replaced({rng.randrange(len(subject.variables)): ()})
        found = classifier.escape(question, region)
        expected = escaping(subject.table, question, region)
        about = (subject.d, question, region)
        if found is None:
            assert not expected, about
            continue
        assert len(found) == len(subject.variables), about
        assert all(found[v] >= 0 for v in subject.classifier.tested), about
        possible = set(completions(subject.variables, found))
        assert possible & set(expected), about
        assert {subject.table[world] for world in possible}.isdisjoint(question.keeps), about
        assert classifier.decide(found) not in question.keeps, about


def check_decisions(subject: Subject, classifier: Any, instances: Sequence[Mapping[str, Any]]) -> None:
    """`encode`, `decide` and `classify` are the oracle's."""
    for world, label in subject.table.items():
        assert classifier.decide(world) == label, (subject.d, world)
    for instance in instances:
        states = classifier.encode(instance)
        known = {x: value for x, value in instance.items() if not _is_unknown(subject, x, value)}
        assert [s != UNKNOWN for s in states] == [
            v in subject.classifier.tested and variable.name in known for v, variable in enumerate(subject.variables)
        ]
        assert states == tuple(
            variable.encode(instance[variable.name]) if s != UNKNOWN else UNKNOWN
            for s, variable in zip(states, subject.variables, strict=True)
        )
        expected = oracle.decision(subject.d, known)
        if expected is None:
            with pytest.raises(MissingValue) as fault:
                classifier.decide(states)
            assert fault.value.feature in {subject.variables[v].name for v, s in enumerate(states) if s == UNKNOWN}
            continue
        assert classifier.classes[classifier.decide(states)] == expected, (subject.d, instance)
        if len(known) == len(instance):
            assert classifier.classify(instance) == expected


def _is_unknown(subject: Subject, feature: str, value: Any) -> bool:
    variable = next(v for v in subject.variables if v.name == feature)
    return variable.is_missing(value) and not variable.missing and variable.no_value is None


def check_reasons(subject: Subject, classifier: Any, rng: Random) -> None:
    """Reasons in any possible worlds, by the definition."""
    check_reasons_of(subject, classifier, random_question(rng, subject))


def check_reasons_of(subject: Subject, classifier: Any, question: Question) -> None:
    """The reasons that answer a question, and the nearest changes, by the definition."""
    costs = None if question.costs is None else question.costs.whole
    why = quia.Explanation(classifier, {}, question)
    expected = all_reasons(subject, question)
    for kind in ("sufficient", "necessary"):
        reasons = getattr(why, f"{kind}_reasons")()
        about = (subject.d, question, kind)
        listed = in_contract_order(expected[kind], costs)
        assert list(reasons.members()) == listed, about
        assert reasons.complete and reasons.count == len(listed), about
        least = [members for members in listed if cost(members, costs) == cost(listed[0], costs)]
        assert list(getattr(why, f"{kind}_reasons")(shortest=True).members()) == least, about
    assert why.is_constant == (not expected["necessary"]), (subject.d, question)
    check_changes(subject, why, expected["necessary"])


def check_changes(subject: Subject, why: Any, necessary: set[frozenset[int]]) -> None:
    """Counterfactuals: of each shortest necessary reason the largest boxes of changes that lead to one class.

    What is certain comes first, and every set of features before any comes twice.
    """
    question = why.question
    costs = None if question.costs is None else question.costs.whole
    least = min((cost(reason, costs) for reason in necessary), default=0)
    expected = {
        (box, label, certain)
        for reason in necessary
        if cost(reason, costs) == least
        for box, label, certain in regions(subject, question, sorted(reason))
    }
    changes = why.counterfactuals(missing=True)
    found = [(literals_of(c.changes), subject.classes.index(c.decision), c.certain) for c in changes]
    assert len(found) == len(set(found)) and set(found) == expected, (subject.d, question)
    for certain, of in groupby(changes, key=lambda c: c.certain):
        features = [c.features for c in of]
        turns = [features[:at].count(each) for at, each in enumerate(features)]
        assert turns == sorted(turns), (subject.d, question, certain)
    assert [c.certain for c in changes] == sorted((c.certain for c in changes), reverse=True)


def literals_of(literals: Iterable[Any]) -> general_oracle.Box:
    """Literals as plain data."""
    return tuple((literal.feature, literal.states) for literal in literals)


def regions(
    subject: Subject, question: Question, members: Sequence[int]
) -> Iterator[tuple[general_oracle.Box, int, bool]]:
    """The largest boxes of changes of these variables that lead to one class, certainly or perhaps."""
    names = [subject.variables[v].name for v in members]
    leads_to: dict[tuple[int, ...], set[int]] = {}
    for world, label in subject.table.items():
        changed = [v for v, s in enumerate(question.states) if s not in (UNKNOWN, world[v])]
        if changed == list(members) and is_within(question.within, world):
            leads_to.setdefault(tuple(world[v] for v in members), set()).add(label)
    for label in range(len(subject.classes)):
        if label not in question.keeps:
            sure = {point for point, labels in leads_to.items() if labels == {label}}
            perhaps = {point for point, labels in leads_to.items() if label in labels}
            yield from ((box, label, True) for box in _largest(subject, names, sure))
            wider = _largest(subject, names, perhaps)
            yield from ((box, label, False) for box in wider if not set(general_oracle.points(box)) <= sure)


def _largest(subject: Subject, names: Sequence[str], points: Collection[tuple[int, ...]]) -> list[general_oracle.Box]:
    """The largest boxes, in intervals, all of whose points are among these."""
    pools = [general_oracle.sets_of_states(subject.d, x, intervals=True) for x in names]
    boxes = (tuple(zip(names, chosen, strict=True)) for chosen in product(*pools))
    return general_oracle.maximal(box for box in boxes if all(point in points for point in general_oracle.points(box)))


def check_general_reasons(
    subject: Subject, classifier: Any, instance: Mapping[str, Any], asked: dict[str, Any]
) -> None:
    """General reasons, as sets and as intervals, the nearest changes, and a common reason, by the definitions."""
    d = {**subject.d, "variables": {v.name: subject.d["variables"][v.name] for v in subject.variables}}
    known = {x: value for x, value in instance.items() if not _is_unknown(subject, x, value)}
    to_the_oracle = (d, known, asked["against"], asked["frozen"], asked["costs"])
    why = quia.explain(classifier, instance, **asked)
    about = (subject.d, instance, asked)
    for kind, intervals, shortest in product(("sufficient", "necessary"), (True, False), (True, False)):
        how = {"intervals": intervals, "shortest": shortest}
        expected = general_oracle.general_reasons(kind, *to_the_oracle, **how)
        reasons = getattr(why, f"{kind}_reasons")(general=True, **how)
        found = [literals_of(r.literals if kind == "sufficient" else r.changes) for r in reasons]
        assert found == expected, (about, kind, how)
    expected_regions = general_oracle.counterfactual_regions(*to_the_oracle)
    assert [(literals_of(c.changes), c.decision, c.certain) for c in why.counterfactuals()] == expected_regions, about


def answers(why: Any, other: Mapping[str, Any], features: Collection[str]) -> dict[str, Any]:
    """Everything public that an explanation says, as plain values."""
    even_if, bias = why.even_if(features), why.bias(features)
    listed = {
        f"{kind} {shortest} {general}": [
            r.to_dict() for r in getattr(why, f"{kind}_reasons")(shortest=shortest, general=general)
        ]
        for kind, shortest, general in product(("necessary", "sufficient"), (False, True), (False, True))
    }
    return {
        "decision": why.decision,
        "about": (why.states, why.instance, why.against, why.frozen, why.unknown, why.costs, why.is_constant),
        "counts": (why.count_necessary(), why.count_sufficient()),
        "importance": list(why.importance().items()),
        "counterfactuals": [(str(c), c.to_dict()) for c in why.counterfactuals()],
        "first": [c.to_dict() for c in why.counterfactuals(limit=2)],
        "bias": (str(bias), bias.to_dict()),
        "even if": (str(even_if), even_if.to_dict()),
        "without": why.holds_without(features),
        "congruent": why.is_congruent(other),
        "common": None if (common := why.common_reason(other)) is None else str(common),
        "JSON": why.to_dict(limit=None),
        "shortest JSON": why.to_dict(shortest=True, limit=3),
        "text": str(why),
        **listed,
    }


def verdict(check: Callable[[], None]) -> str:
    """What `verify` says of a claim, but for the instance that refutes it, of which there may be several."""
    try:
        check()
    except Refuted as refuted:
        return str(refuted).split(": the instance with")[0].split(", as the instance with")[0]
    return "is a reason"
