"""Two models as one: every pair of decisions, escape and reason against what each model says by itself."""

from __future__ import annotations

import math
import pickle
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import booleans
import quia
from contract import completions, escaping, random_region
from pairs import KINDS, decided_by, random_model, random_pair, random_variables, table_of, tree_of, trying, values_of
from quia import Additive, DecisionGraph, Variable
from quia.cuts import among_doubles, first_above, nearest_single
from quia.differing_inputs import differing_inputs
from quia.errors import MissingValue, Unsupported
from quia.joint import joint
from quia.question import Question
from quia.refine import cut_at
from quia.region import Region
from quia.sums import Rule
from quia.terms import Line

SEEDS = range(4)


def made(rng: Random, **how: Any) -> tuple[Any, Any, Any]:
    """A pair of models that have values in common, and both as one."""
    while True:
        old, new = random_pair(rng, **how)
        try:
            both = joint(old, new)
        except Unsupported:
            continue
        if math.prod(v.size for v in both.variables) <= 400:
            return old, new, both


@pytest.mark.parametrize("seed", SEEDS)
def test_every_common_world_has_the_pair_of_decisions(seed: int) -> None:
    rng = Random(seed)
    for _ in range(40):
        old, new, both = made(rng)
        table = table_of(both, old, new)
        for world, label in table.items():
            assert both.decide(world) == label, (old, new, world)
        rows = np.array(list(table), np.int32)
        assert both.decide_rows(rows).tolist() == list(table.values())
        if both.graph is not None:
            assert both.graph.decide_rows(rows).tolist() == list(table.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_values_at_and_next_to_thresholds_are_decided_as_both_do(seed: int) -> None:
    """What both models take is encoded so that it is decided as they do, in 32 and in 64 bits."""
    rng = Random(100 + seed)
    compared = 0
    for _ in range(60):
        old, new, both = made(rng)
        own = [variable for model in (old, new) for variable in model.variables]
        worth = {v.name: [value for w in own if w.name == v.name for value in trying(w)] for v in both.variables}
        for _ in range(60):
            values = {name: rng.choice(some) for name, some in worth.items()}
            decided = decided_by(old, values), decided_by(new, values)
            if None in decided:
                continue
            try:
                assert both.classify(values) == f"old: {decided[0]}, new: {decided[1]}", (old, new, values)
            except quia.InstanceError:
                # A missing value has no common state if one model takes any for it.
                assert None in values.values() or "zebra" in values.values(), values
                continue
            compared += 1
    assert compared > 500


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_finds_what_there_is_and_nothing_else(seed: int) -> None:
    rng = Random(200 + seed)
    for _ in range(60):
        old, new, both = made(rng)
        table = table_of(both, old, new)
        for classifier in (both, both.answering):
            for _ in range(6):
                world = rng.choice(sorted(table))
                states = tuple(s if v in both.tested else -1 for v, s in enumerate(world))
                keeps = rng.choice([
                    frozenset((table[world],)), both.equal, both.equal | {table[world]},
                    frozenset(c for c in range(len(both.classes)) if rng.random() < 0.6),
                ])  # fmt: skip
                possible = random_region(rng, both.variables, rng.choice((0.0, 0.3)))
                question = Question(both.classes, states, table[world], keeps, possible)
                region = random_region(rng, both.variables, rng.choice((0.0, 0.5)))
                expected = escaping(table, question, region)
                found = classifier.escape(question, region)
                if found is None:
                    assert not expected, (old, new, question, region)
                else:
                    assert set(completions(both.variables, found)) & set(expected), (old, new, question, region)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_unknown_may_be_any_common_state(seed: int) -> None:
    rng = Random(300 + seed)
    for _ in range(60):
        old, new, both = made(rng)
        table = table_of(both, old, new)
        for world in rng.sample(sorted(table), min(8, len(table))):
            states = tuple(-1 if rng.random() < 0.4 else s for s in world)
            expected = {table[w] for w in completions(both.variables, states)}
            (row,) = both.decide_rows(np.array([states], np.int32))
            if len(expected) == 1:
                assert {both.decide(states)} == {row} == expected, (old, new, states)
                continue
            assert row < -1 and states[-2 - row] == -1, (old, new, states)
            with pytest.raises(MissingValue) as fault:
                both.decide(states)
            assert states[[v.name for v in both.variables].index(fault.value.feature)] == -1


@pytest.mark.parametrize("seed", SEEDS)
def test_more_cuts_change_nothing(seed: int) -> None:
    rng = Random(400 + seed)
    for _ in range(30):
        old, new, both = made(rng)
        cuts = {v: [quia.cuts.Cut(rng.choice((-1.0, 0.5, 2.0)))] for v in range(len(both.variables))}
        finer = both.refined(cut_at(both.variables, cuts))
        assert table_of(finer, old, new) == {
            w: finer.decide(w) for w in product(*(range(v.size) for v in finer.variables))
        }


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons_force_both_classes(seed: int) -> None:
    rng = Random(500 + seed)
    for _ in range(20):
        old, new, both = made(rng)
        table = table_of(both, old, new)
        world = rng.choice(sorted(table))
        answers = []
        for classifier in (both, both.answering):
            why = quia.explain(classifier, values_of(both, world))
            assert why.decision == both.classes[table[world]]
            reasons = why.sufficient_reasons(general=True)
            answers.append([str(reason) for reason in reasons])
            for reason in reasons:
                index = {v.name: i for i, v in enumerate(both.variables)}
                meeting = [w for w in table if all(any(a <= w[index[x.feature]] <= b for a, b in x.ranges)
                                                   for x in reason.literals)]  # fmt: skip
                assert {table[w] for w in meeting} == {table[world]}, (old, new, world, reason)
        assert answers[0] == answers[1]


def test_cuts_of_rounded_numbers_are_exact() -> None:
    rng = Random(7)
    ends = [0.0, -(2.0**-149), 2.0**-149, 1.0, nearest_single(0.1), 3.4028234663852886e38, -3.4028234663852886e38]
    ends += [-math.inf, *(nearest_single(rng.uniform(-1, 1) * 10.0 ** rng.randint(-44, 38)) for _ in range(2000))]
    for below in ends:
        cut = among_doubles(below)
        last = cut.last_below(False)
        with np.errstate(over="ignore"):
            assert np.float32(last) <= below, below
            assert np.float32(math.nextafter(last, math.inf)) > below, below
        assert first_above(below, single=True) > below


def test_a_line_beside_cuts() -> None:
    """A number that one model adds and the other cuts: both decide as they do, to the last bit of it."""
    income = Variable.line("income", 0, 100)
    added = Additive((income,), ("deny", "grant"), (Line(0, (), (0.5,)),), (0.0,), Rule("cuts", (20.0,)))
    for cut, side, single in product((40.0, 39.9, 250.0, -3.0, 0.0), ("before", "after"), (False, True)):
        variable = Variable.numeric("income", [(cut, side)], single=single, missing=True)
        graph = tree_of([variable], ("deny", "grant"), {(0,): 0, (1,): 1, (2,): 1})
        for old, new in ((added, graph), (graph, added)):
            both = joint(old, new)
            edge = float(np.float32(cut))
            tried = [0.0, 100.0, 40.0, math.nextafter(40.0, 0), *(t for t in (cut, edge) if 0 < t < 100)]
            tried += [t for base in list(tried) for t in (math.nextafter(base, 0), math.nextafter(base, 99))]
            tried = [x for x in tried if x == 0 or x > 2.0**-510]  # nearer to 0, numbers of a line count as 0
            names = [f"old: {old.classify([x])}, new: {new.classify([x])}" for x in tried]
            assert [both.classify([x]) for x in tried] == names
            rows = np.array([both.encode([x]) for x in tried])
            assert [both.classes[c] for c in both.decide_rows(rows)] == names
            question = Question(both.classes, both.encode([0.0]), 0, both.equal, Region(both.variables))
            found = both.escape(question, Region(both.variables))
            if cut == 40.0 and side == "before" and not single:
                assert found is None
            elif found is not None:
                number = both.variables[0].number(found[0])
                assert old.classify([number]) != new.classify([number])
            else:
                assert all(old.classify([x]) == new.classify([x]) for x in tried), (cut, side, single)


def test_states_that_no_number_of_a_line_is_in() -> None:
    """Cuts beyond the range of a line, and between numbers that all count as 0: nothing escapes into such a state."""
    income = Variable.line("income", 0, 100)
    added = Additive((income,), ("deny", "grant"), (Line(0, (), (0.5,)),), (0.0,), Rule("cuts", (20.0,)))
    cuts = [-5.0, -3.0, 1e-200, 2e-200, (40.0, "before"), 250.0, 300.0]
    variable = Variable.numeric("income", cuts)
    # Only states with no number in the range are decided otherwise.
    inside = {variable.encode(x) for x in (0.0, 1.0, 40.0, 100.0)}
    table = {(s,): int(variable.below[s] >= 40 if s < 5 else True) for s in range(variable.size)}
    table = {(s,): label if s in inside else 1 - label for (s,), label in table.items()}
    graph = tree_of([variable], ("deny", "grant"), table)
    for old, new in ((added, graph), (added, hidden(graph, Random(1))), (hidden(graph, Random(1)), added)):
        both = joint(old, new)
        question = Question(both.classes, both.encode([0.0]), 0, both.equal, Region(both.variables))
        assert both.escape(question, Region(both.variables)) is None
        for label in range(4):
            question = Question(both.classes, both.encode([0.0]), 0, frozenset((label,)), Region(both.variables))
            found = both.escape(question, Region(both.variables))
            assert found is not None and both.decide(found) != label


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_reduced_is_minimal(seed: int) -> None:
    rng = Random(600 + seed)
    for _ in range(40):
        old, new, both = made(rng)
        table = table_of(both, old, new)
        world = rng.choice(sorted(table))
        keeps = frozenset({table[world]} | {c for c in range(len(both.classes)) if rng.random() < 0.2})
        question = Question(both.classes, world, table[world], keeps, Region(both.variables))
        members, is_minimal = both.reduce(question, both.tested, None)
        assert is_minimal
        for left_out in (None, *members):
            kept = [v for v in members if v != left_out]
            worlds = [w for w in table if all(w[v] == world[v] for v in kept)]
            assert ({table[w] for w in worlds} <= keeps) == (left_out is None), (old, new, world, members)


def test_two_lines_have_one_range() -> None:
    ranges = ((0, 50), (-10, 20), None)
    models = []
    for ends in ranges:
        line = Variable.line("income") if ends is None else Variable.line("income", *ends)
        models.append(Additive((line,), ("deny", "grant"), (Line(0, (), (0.5,)),), (0.0,), Rule("cuts", (9.0,))))
    assert joint(models[0], models[1]).variables[0].range == (-10, 50)
    assert joint(models[2], models[0]).variables[0].range == (0, 50)
    assert joint(models[0], models[2]).classify([18.0]) == "old: grant, new: grant"


@pytest.mark.parametrize("kind", KINDS)
def test_equal_models_never_differ_and_one_cell_is_found(kind: str) -> None:
    """Whatever kind it is of, a model beside a tree that decides as it does; and then one that differs in one world."""
    rng = Random(11)
    for _ in range(15):
        variables = random_variables(rng, most=3)
        model = random_model(rng, variables, kind)
        worlds = list(product(*(range(v.size) for v in model.variables)))
        table = {world: model.decide(world) for world in worlds}
        tree = tree_of(list(model.variables), model.classes, table)
        odd = rng.choice(worlds)
        table[odd] = (table[odd] + 1) % len(model.classes)
        other = tree_of(list(model.variables), model.classes, table)
        # Without the graph that it is, each is asked by `escape` alone.
        for new, differs in ((tree, False), (other, len(model.classes) > 1)):
            for both in (joint(model, new), joint(new, model), joint(model, hidden(new, rng))):
                question = Question(both.classes, worlds[0], 0, both.equal, Region(both.variables))
                for classifier in (both, both.answering):
                    found = classifier.escape(question, Region(both.variables))
                    assert (found is not None) == differs
                    if found is not None and set(both.tested) == set(range(len(both.variables))):
                        names = [v.name for v in both.variables]
                        assert tuple(found[names.index(v.name)] for v in model.variables) == odd


@pytest.mark.parametrize("form", [".odd", "SDD balanced", "c2d", "two circuits"])
def test_circuits_beside_trees_and_each_other(form: str, tmp_path: Path) -> None:
    rng = Random(13)
    for _ in range(6):
        n = rng.choice((2, 3))
        masks = [rng.getrandbits(1 << n) for _ in range(2)]
        old, new = (booleans.FORMS[form](mask, n, rng, tmp_path) for mask in masks)
        for one, other in ((old, new), (old, old), (old, DecisionGraph.from_dict(booleans.tree(masks[1], n)))):
            both = joint(one, other)
            table = table_of(both, one, other)
            assert {world: both.decide(world) for world in table} == table
            question = Question(both.classes, min(table), table[min(table)], both.equal, Region(both.variables))
            expected = {world for world, label in table.items() if label not in both.equal}
            found = both.escape(question, Region(both.variables))
            assert (found is None) == (not expected)
            assert found is None or set(completions(both.variables, found)) & expected


def hidden(graph: DecisionGraph, rng: Random) -> Any:
    """The same as a truth table."""
    from contract import EscapeOnly

    worlds = product(*(range(v.size) for v in graph.variables))
    table = {world: graph.decide(world) for world in worlds}
    return EscapeOnly(graph.variables, graph.classes, tuple(range(len(graph.variables))), table, rng)


def test_inputs_that_differ_are_told() -> None:
    job = Variable.nominal("job", ["none", "cook", "nurse"])
    age, height = Variable.numeric("age", [30], missing=True), Variable.numeric("height", [1.5])
    old = tree_of([job, age, height], ("no", "yes"), {w: sum(w) % 2 for w in product(range(3), range(3), range(2))})
    job, age = Variable.nominal("job", ["cook", "none", "clerk"]), Variable.numeric("age", [30.1], single=True)
    new = tree_of([job, age], ("no", "yes", "maybe"), {w: sum(w) % 3 for w in product(range(3), range(2))})
    assert differing_inputs(old, new) == (
        "Only the old model has the feature height.",
        "The classes of the old model are no, yes, those of the new one no, yes, maybe.",
        "Only the old model knows the state nurse of job: what is said of all inputs is about the values that both"
        " take.",
        "Only the new model knows the state clerk of job: what is said of all inputs is about the values that both"
        " take.",
        "Only the old model says where a missing value of age goes: what is said of all inputs is about those that have"
        " one.",
        "Only the new model rounds age to 32 bits before it compares: next to a threshold the two may differ for that"
        " alone.",
    )
    assert joint(old, new).variables[0].labels == ("none", "cook")
    assert differing_inputs(old, old) == ()


def test_a_number_beside_a_name_is_refused() -> None:
    one = tree_of([Variable.numeric("x", [1])], ("no", "yes"), {(0,): 0, (1,): 1})
    other = tree_of([Variable.nominal("x", ["1", "2"])], ("no", "yes"), {(0,): 0, (1,): 1})
    with pytest.raises(Unsupported, match="x is a number for the old model and a name for the new one"):
        joint(one, other)
    assert differing_inputs(other, one)[0].startswith("x is a number for the new model")
    third = tree_of([Variable.nominal("x", ["a", "b"])], ("no", "yes"), {(0,): 0, (1,): 1})
    with pytest.raises(Unsupported, match="no state that both models take"):
        joint(other, third)


def test_it_is_pickled() -> None:
    old, new, both = made(Random(3))
    again = pickle.loads(pickle.dumps(both))
    assert table_of(again, old, new) == {w: again.decide(w) for w in table_of(both, old, new)}
