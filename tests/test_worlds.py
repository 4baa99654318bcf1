"""Questions about possible worlds against brute force, for every kind of classifier; refusals in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest

import attack_worlds
import quia
from quia.boxes import Shape, around, contains, maximal
from quia.ranges import Ranges, covers, union
from worlds_cases import MODELS, random_case

EACH = 6
FEATURES = {"sex": ["F", "M"], "pregnant": ["no", "yes"]}
CLINIC = {
    "quia": 1,
    "variables": {
        **{x: {"kind": "nominal", "states": states} for x, states in FEATURES.items()},
        "age": {"kind": "numeric"},
    },
    "classes": ["no", "yes"],
    "root": "pregnant",
    "nodes": {
        "pregnant": {"test": "pregnant", "edges": [{"if": ["no"], "to": "age"}, {"if": ["yes"], "to": "yes"}]},
        "age": {"test": "age", "edges": [{"if": "<= 30", "to": "no"}, {"if": "> 30", "to": "sex"}]},
        "sex": {"test": "sex", "edges": [{"if": ["F"], "to": "no"}, {"if": ["M"], "to": "yes"}]},
        "no": {"class": "no"},
        "yes": {"class": "yes"},
    },
}
MAN = {"sex": "M", "pregnant": "no", "age": 20}
RULE = "pregnant=yes -> sex=F"


@pytest.mark.parametrize("kind", MODELS)
def test_answers_are_those_of_the_definitions(kind: str, tmp_path: Path) -> None:
    rng, tried = Random(f"worlds {kind}"), 0
    while tried < EACH:
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is not None:
            tried += 1
            try:
                attack_worlds.check(model, case, rng)
            except Exception as fault:
                raise AssertionError(f"{fault}: {case.instance}, {case.asked}") from fault


@pytest.fixture
def clinic() -> quia.DecisionGraph:
    return quia.DecisionGraph.from_dict(CLINIC)


def test_an_impossible_instance_is_refused_by_name(clinic: quia.DecisionGraph) -> None:
    with pytest.raises(quia.InstanceError, match="pregnant=yes -> sex=F"):
        quia.explain(clinic, {**MAN, "pregnant": "yes"}, given=RULE)
    with pytest.raises(quia.InstanceError, match="age"):
        quia.explain(clinic, MAN, within={"age": ">= 52"})
    with pytest.raises(quia.InstanceError):
        quia.verify(clinic, {**MAN, "pregnant": "yes"}, ["age"], "sufficient", given=RULE)


def test_constraints_that_nothing_meets_are_refused(clinic: quia.DecisionGraph) -> None:
    with pytest.raises(quia.InstanceError):
        quia.explain(clinic, MAN, given=["sex=F <-> pregnant=no", "sex=F <-> pregnant=yes"])
    with pytest.raises(quia.QuiaError):
        quia.bias_of_classifier(clinic, ["sex"], given=["sex=F", "sex=M"])


def test_advice_is_possible_and_superfluous_reasons_come_last(clinic: quia.DecisionGraph) -> None:
    why = quia.explain(clinic, MAN, given=RULE)
    assert [set(c.features) for c in why.counterfactuals()] == [{"age"}]
    marked = {frozenset(r.features): r.is_superfluous for r in why.sufficient_reasons()}
    assert marked == {frozenset({"sex", "age"}): True, frozenset({"pregnant", "age"}): False}
    shown = [set(attack_worlds.features_shown(r)) for r in why.to_dict()["sufficient"]["reasons"]]
    assert shown == [{"pregnant", "age"}, {"sex", "age"}]
    told = [line for line in str(why).splitlines() if "because" in line]
    assert "pregnant" in told[0] and "sex" in told[-1]


def test_a_bias_that_no_possible_world_shows_is_vacuous(clinic: quia.DecisionGraph) -> None:
    bias = quia.explain(clinic, MAN, given=RULE).bias(["pregnant"])
    assert not bias and bias.is_vacuous
    assert quia.explain(clinic, MAN).bias(["pregnant"])


def test_nothing_changes_what_no_possible_world_changes(clinic: quia.DecisionGraph) -> None:
    why = quia.explain(clinic, MAN, given=RULE, frozen=["sex"], only_down=["age"])
    assert why.is_constant and not why.counterfactuals() and why.count_necessary() == 0


def test_formulas_and_text_ask_the_same(clinic: quia.DecisionGraph) -> None:
    made = quia.formula.parse(RULE, clinic.variables)
    one, other = (quia.explain(clinic, MAN, given=given).to_dict() for given in (RULE, [made]))
    assert one["sufficient"] == other["sufficient"] and one["necessary"] == other["necessary"]


def test_boxes_around_a_point_have_no_gap_in_their_numbers() -> None:
    """Also where what is possible of a number has one: against all boxes."""
    rng = Random(17)
    for _ in range(300):
        shapes = [Shape(rng.choice((0, 3, 4))) for _ in range(rng.choice((1, 2, 2)))]
        largest = [union((s, s) for s in rng.sample(range(5), rng.randint(1, 5))) for _ in shapes]
        points = list(product(*(all_states(states) for states in largest)))
        own = rng.choice(points)
        bad = [point for point in points if point != own and rng.random() < 0.3]
        centre = tuple(((state, state),) for state in own)
        found = around(lambda box: next((p for p in bad if contains(box, p)), None), centre, tuple(largest), shapes)
        every = product(*(sets(*each) for each in zip(largest, own, shapes, strict=True)))
        right = maximal(box for box in every if not any(contains(box, point) for point in bad))
        assert sorted(maximal(found)) == sorted(right), (largest, own, bad, shapes)


def all_states(states: Ranges) -> list[int]:
    return [state for state in range(5) if covers(states, state)]


def sets(largest: Ranges, own: int, shape: Shape) -> Iterator[Ranges]:
    """Every set of some states with one of them, whose numbers are neighbours."""
    for chosen in product((False, True), repeat=5):
        states = [s for s in range(5) if chosen[s]]
        numbers = [s for s in states if s < shape.numbers]
        is_run = not numbers or numbers[-1] - numbers[0] < len(numbers)
        if own in states and is_run and all(covers(largest, s) for s in states):
            yield union((s, s) for s in states)
