"""Graphs where only some worlds are possible: a box of states, and leaves that nothing possible reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest

import general_oracle
import quia
from contract import (
    Subject,
    World,
    check_reasons_of,
    completions,
    decisions,
    escaping,
    literals_of,
    random_region,
)
from quia.contrast import Contrast
from quia.costs import Costs
from quia.errors import GraphError, MissingValue
from quia.patience import Clock
from quia.question import Question
from quia.ranges import Ranges, union
from quia.region import Region
from quia.variables import UNKNOWN
from strategies import random_graph

SEEDS = range(3)
EACH = 12


def random_subject(rng: Random, *, classes: int = 4) -> Subject:
    """A tree or a shared graph, in which one class may be impossible."""
    d = random_graph(rng, features=4, states=4, tests=10, classes=classes, sharing=rng.choice((0.0, 0.4)))
    graph = quia.DecisionGraph.from_dict(d)
    return Subject(replace(graph, impossible=rng.randrange(-1, len(graph.classes))), d)


def possible_decisions(subject: Subject, states: Sequence[int]) -> set[int]:
    """The classes that an instance may have, if it can be possible."""
    found = decisions(subject, states)
    return found - {subject.classifier.impossible} or found


def random_question(rng: Random, subject: Subject) -> Question | None:
    """Why is a possible instance decided so, among possible worlds; None if there is no possible one."""
    impossible, tested = getattr(subject.classifier, "impossible", -1), subject.classifier.tested
    worlds = sorted(world for world, label in subject.table.items() if label != impossible)
    if not worlds:
        return None
    states = [s if v in tested else UNKNOWN for v, s in enumerate(rng.choice(worlds))]
    for v in rng.sample(tested, len(tested)):
        fewer = [UNKNOWN if at == v else s for at, s in enumerate(states)]
        if rng.random() < 0.25 and len(decisions(subject, fewer) - {impossible}) == 1:
            states = fewer
    (decision,) = decisions(subject, states) - {impossible}
    others = {c for c in range(len(subject.classes)) if rng.random() < 0.25}
    kept = frozenset({decision, *others} | ({impossible} - {-1}))
    drawn = random_region(rng, subject.variables, rng.choice((0.0, 0.4, 0.8)))
    bounds = {v: union([*r, *([(states[v], states[v])] if states[v] >= 0 else [])]) for v, r in drawn.bounds.items()}
    frozen = tuple(v for v in range(len(states)) if rng.random() < 0.15)
    costs = rng.choice((None, Costs(tuple(rng.choice((1, 1, 2, 5)) for _ in states), Fraction(1))))
    possible = Region(subject.variables, bounds)
    return Question(subject.classes, tuple(states), decision, kept, possible, None, frozen, costs)


# ---- the definitions, in indices --------------------------------------------------------------------------------


def general_boxes(
    subject: Subject, question: Question, kind: str, members: Sequence[int], intervals: bool
) -> list[general_oracle.Box]:
    """The largest boxes of possible states over a reason's variables (DESIGN §4, §6), the widest first."""
    refuting = escaping(subject.table, question, Region(subject.variables))
    own = question.states
    known = [v for v, state in enumerate(own) if state != UNKNOWN]
    names = [subject.variables[v].name for v in members]
    if kind == "necessary":
        refuting = [w for w in refuting if [v for v in known if w[v] != own[v]] == list(members)]
    points = {tuple(w[v] for v in members) for w in refuting}
    pools = []
    for v, name in zip(members, names, strict=True):
        sets = general_oracle.sets_of_states(subject.d, name, intervals)
        allowed = states_in(question.within.states(v))
        if kind == "necessary":
            pools.append([s for s in sets if allowed.issuperset(s) and own[v] not in s])
            continue
        ends_well = [s for s in sets if s == reaching_over(question, v, s)]
        pools.append([tuple(x for x in s if x in allowed) for s in ends_well if own[v] in s])
    boxes = (tuple(zip(names, chosen, strict=True)) for chosen in product(*pools))
    is_good = points.isdisjoint if kind == "sufficient" else points.issuperset
    found = general_oracle.maximal(box for box in boxes if is_good(general_oracle.points(box)))
    if kind == "necessary":
        return found
    return [
        tuple((name, reaching_over(question, v, states)) for v, (name, states) in zip(members, box, strict=True))
        for box in found
    ]


def states_in(ranges: Ranges) -> set[int]:
    """The states in some ranges."""
    return {s for low, high in ranges for s in range(low, high + 1)}


def reaching_over(question: Question, v: int, states: Sequence[int]) -> tuple[int, ...]:
    """Of some states those that are possible, with the impossible numbers between two that follow each other."""
    variable, possible = question.variables[v], states_in(question.within.states(v))
    numbers = sorted(s for s in possible if variable.is_numeric and s <= len(variable.cuts))
    between = [range(a, b) for a, b in pairwise(numbers) if a in states and b in states]
    return tuple(sorted(possible.intersection(states).union(*between)))


# ---- one question -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons_are_those_of_the_definition(seed: int) -> None:
    rng = Random(seed)
    for _ in range(EACH * 2):
        subject = random_subject(rng)
        if (question := random_question(rng, subject)) is not None:
            check_reasons_of(subject, subject.classifier, question)


@pytest.mark.parametrize("seed", SEEDS)
def test_general_reasons_are_those_of_the_definition(seed: int) -> None:
    rng = Random(100 + seed)
    for _ in range(EACH):
        subject = random_subject(rng)
        if (question := random_question(rng, subject)) is None:
            continue
        why = quia.Explanation(subject.classifier, {}, question)
        for kind, intervals in product(("sufficient", "necessary"), (True, False)):
            members = list(getattr(why, f"{kind}_reasons")().members())
            reasons = getattr(why, f"{kind}_reasons")(general=True, intervals=intervals)
            found = [literals_of(r.literals if kind == "sufficient" else r.changes) for r in reasons]
            expected = [box for of in members for box in general_boxes(subject, question, kind, of, intervals)]
            assert found == expected, (subject.d, subject.classifier.impossible, question, kind, intervals)


# ---- impossible leaves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_unknown_values_are_not_such_that_the_instance_is_impossible(seed: int) -> None:
    rng = Random(300 + seed)
    for _ in range(EACH * 2):
        subject = random_subject(rng)
        worlds = sorted(subject.table)
        drawn = [[UNKNOWN if rng.random() < 0.4 else s for s in rng.choice(worlds)] for _ in range(10)]
        found = subject.classifier.decide_rows(np.array(drawn, np.int32))
        for states, label in zip(drawn, found.tolist(), strict=True):
            about = (subject.d, subject.classifier.impossible, states)
            expected = possible_decisions(subject, states)
            if len(expected) == 1:
                assert label == subject.classifier.decide(states) == expected.pop(), about
                continue
            assert label <= -2 and states[-2 - label] == UNKNOWN, about
            with pytest.raises(MissingValue) as fault:
                subject.classifier.decide(states)
            assert fault.value.feature == subject.variables[-2 - label].name, about


@pytest.mark.parametrize("seed", SEEDS)
def test_a_biased_pair_is_possible(seed: int) -> None:
    rng = Random(400 + seed)
    for _ in range(EACH * 2):
        subject = random_subject(rng)
        impossible = subject.classifier.impossible
        protected = [v for v in range(len(subject.variables)) if rng.random() < 0.5]
        pairs: dict[World, set[int]] = {}
        for world, label in subject.table.items():
            pairs.setdefault(tuple(s for v, s in enumerate(world) if v not in protected), set()).add(label)
        every = [label for label in range(len(subject.classifier.classes)) if label != impossible]
        asked = Contrast(tuple(protected), frozenset((a, b) for a in every for b in every if a != b))
        found = subject.classifier.find_pair(asked, Region(subject.variables), Clock())
        about = (subject.d, impossible, protected, found)
        assert (found is not None) == any(len(labels - {impossible}) > 1 for labels in pairs.values()), about
        if found is not None:
            labels = [{subject.table[w] for w in completions(subject.variables, states)} for states in found]
            assert [len(each) for each in labels] == [1, 1] and impossible not in set.union(*labels), about
            assert labels[0] != labels[1], about
            apart = {v for v, pair in enumerate(zip(*found, strict=True)) if len(set(pair)) > 1}
            assert apart <= set(protected), about


SWITCHES = [quia.Variable.nominal(name, ["off", "on"]) for name in "abc"]


def switched(impossible: int) -> quia.DecisionGraph:
    """If a is on, c decides; it is impossible that a is off and b is on; leaves are shared."""
    no, yes = ((0, 0),), ((1, 1),)
    edges = [(), (), (), ((no, 0), (yes, 1)), ((no, 0), (yes, 2)), ((no, 4), (yes, 3))]
    return quia.DecisionGraph.build(
        SWITCHES, ["no", "yes", "never"], [-1, -1, -1, 2, 1, 0], [0, 1, 2, -1, -1, -1], edges, impossible=impossible
    )


def test_the_impossible_class_is_part_of_a_graph() -> None:
    graph = switched(2)
    assert graph == switched(2) != switched(-1)
    assert graph.kernel.is_tree and "impossible" not in repr(graph)
    assert graph.decide((0, UNKNOWN, 0)) == 0 and graph.decide((0, 1, 0)) == 2
    with pytest.raises(GraphError, match="the impossible class is 3; give the index of one of the 3 classes, or -1"):
        switched(3)
    with pytest.raises(ValueError, match="impossible is class 7 of 3"):
        quia._kernel.Graph(*_arrays(graph), 3, 7)


def _arrays(graph: quia.DecisionGraph) -> Iterator[Any]:
    types = (np.int32, np.int32, np.int64, np.int32, np.int64, np.int32, np.int32)
    yield from (array.astype(kind) for array, kind in zip(graph.arrays, types, strict=True))
    yield np.array([v.size for v in graph.variables], np.int32)


def test_the_kernel_keeps_the_impossible_class_unless_it_is_told_what_to_keep() -> None:
    graph, states = switched(2).kernel, np.array([1, 1, 0], np.int32)
    assert list(graph.necessary(states).listing()) == [(2,)]
    assert list(graph.necessary(states, keeps=np.array([1, 0, 1], np.uint8)).listing()) == [(2,)]
    assert list(graph.necessary(states, keeps=np.array([1, 0, 0], np.uint8)).listing()) == [(0,), (2,)]
    assert list(switched(-1).kernel.necessary(states).listing()) == [(0,), (2,)]


def test_batches_keep_the_impossible_class() -> None:
    rng = Random(5)
    for _ in range(EACH):
        subject = random_subject(rng)
        asked = [q for q in (random_question(rng, subject) for _ in range(5)) if q is not None]
        if not asked:
            continue
        rows = np.array([q.states for q in asked], np.int32)
        found = subject.classifier.batch(rows, shortest=False, limit=1000)
        for row, question in enumerate(asked):
            plain = replace(
                question,
                keeps=frozenset({question.decision, subject.classifier.impossible} - {-1}),
                possible=Region(subject.variables), frozen=(), costs=None,
            )  # fmt: skip
            why = quia.Explanation(subject.classifier, {}, plain)
            for kind in ("necessary", "sufficient"):
                expected = list(getattr(why, f"{kind}_reasons")().members())
                assert members_of(found[kind], row) == expected, (subject.d, subject.classifier.impossible, question)


def members_of(column: Any, row: int) -> list[tuple[int, ...]]:
    """The reasons that a batch lists for a row."""
    listed = range(column["reason_start"][row], column["reason_start"][row + 1])
    start, members = column["member_start"], column["members"]
    return [tuple(members[start[k] : start[k + 1]].tolist()) for k in listed]
