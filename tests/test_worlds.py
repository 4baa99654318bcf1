"""Questions about possible worlds against brute force, for every kind of classifier; refusals in one sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import attack_worlds
import contract
import quia
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


@pytest.mark.parametrize("intervals", [True, False])
def test_a_condition_reaches_over_what_is_impossible_and_a_change_does_not(
    clinic: quia.DecisionGraph, intervals: bool
) -> None:
    """However it is found: nobody is between 50 and 60, so 'age in (40, 70]' says what 'up to 50, or over 60' does."""
    ages = {"within": {"age": "<= 20 or (40, 50] or (60, 70]", "pregnant": ["no"]}, "frozen": ["sex"]}
    old, young = {**MAN, "age": 50}, {**MAN, "age": 20}
    for model in (clinic, contract.Subject(clinic, CLINIC).twin(Random(1))):
        (reason,) = quia.explain(model, old, **ages).sufficient_reasons(general=True, intervals=intervals)
        assert str(reason) == "age in (40, 70]"
        quia.verify(model, old, reason, "sufficient", maximal=True, intervals=intervals, **ages)
        with pytest.raises(quia.Refuted, match="not maximal"):
            quia.verify(model, old, {"age": "(40, 50]"}, "sufficient", maximal=True, intervals=intervals, **ages)
        changes = list(quia.explain(model, young, **ages).necessary_reasons(general=True, intervals=intervals))
        told = [literal.text for change in changes for literal in change.changes]
        assert told == (["(40, 50]", "(60, 70]"] if intervals else ["(40, 50] or (60, 70]"]), "nobody can become 55"
        for change in changes:
            quia.verify(model, young, change, "necessary", maximal=True, intervals=intervals, **ages)


def test_a_share_is_one_of_the_range_that_the_model_knows() -> None:
    """Cuts of constraints are no part of it."""
    width = quia.Variable.numeric("width", [0, 10])
    made = quia.DecisionGraph.build(
        [width], ["no", "yes"], [-1, -1, 0], [0, 1, -1], [(), (), ((((0, 1),), 0), (((2, 2),), 1))]
    )
    for given in (None, "width > -1000 & width < 1000"):
        assert quia.explain(made, {"width": 8}, near={"width": "10%"}, given=given).is_constant
        assert not quia.explain(made, {"width": 9.5}, near={"width": "10%"}, given=given).is_constant


def test_what_cannot_be_otherwise_alone_is_told(clinic: quia.DecisionGraph) -> None:
    """A pregnant patient cannot be male: that the decision would stick then says nothing."""
    why = quia.explain(clinic, {"sex": "F", "pregnant": "yes", "age": 20}, given=RULE)
    stuck = why.even_if(["sex"])
    assert stuck.is_vacuous
    assert stuck.to_dict()["vacuous"]
    assert str(stuck) == (
        "the decision would be yes even if sex were otherwise, because pregnant=yes, though no possible world differs"
        " in that alone"
    )
    assert not why.even_if(["age"]).is_vacuous
    assert "vacuous" not in why.even_if(["age"]).to_dict()


def test_boxes_of_impossible_numbers_alone_are_none() -> None:
    """Where boxes of changes are put together, what they share may be nothing but what nobody has."""
    x, y, c = quia.Variable.numeric("x", [3]), quia.Variable.numeric("y", [2]), quia.Variable.nominal("c", ["a", "b"])
    edges = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 2), (((1, 1),), 1))]
    graph = quia.DecisionGraph.build([x, y, c], ["K0", "K1"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)
    given = ["y != 0.5", "x > 2.5 <-> (c=b <-> (x <= 3 <-> y <= 1))"]
    d = graph.to_dict()
    for model in (graph, contract.Subject(graph, d).twin(Random(3))):
        why = quia.explain(model, {"x": 4, "y": 3, "c": "b"}, given=given)
        found = [r.changes for r in why.necessary_reasons(general=True, intervals=False)]
        told = {tuple(map(str, changes)) for changes in found}
        assert told == {("x in (2.5, 3]", "y < 0.5 or in (0.5, 1]"), ("x <= 2.5", "y in (1, 2]")}


def test_another_instance_must_be_possible_too(clinic: quia.DecisionGraph) -> None:
    """By the same conditions and constraints, in the same words; directions are the first one's own."""
    why = quia.explain(clinic, MAN, given=RULE, within={"age": "<= 60"}, only_up=["age"])
    assert why.is_congruent({**MAN, "age": 10})
    with pytest.raises(quia.InstanceError, match="age is 70, but what is possible is within age <= 60"):
        why.is_congruent({**MAN, "age": 70})
    with pytest.raises(quia.InstanceError, match="it breaks the constraint pregnant=yes -> sex=F, as sex=M and"):
        why.common_reason({**MAN, "pregnant": "yes"})
