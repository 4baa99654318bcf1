"""Explanations: edge cases, what is refused, and the JSON that others read."""

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quia
from work import counted

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


def constant() -> quia.DecisionGraph:
    return quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": {"x": {"kind": "numeric"}},
            "classes": ["yes", "no", "never"],
            "root": "x",
            "nodes": {
                "x": {"test": "x", "edges": [{"if": "<= 0", "to": "a"}, {"if": "> 0", "to": "b"}]},
                "a": {"class": "yes"},
                "b": {"class": "yes"},
            },
        }
    )


@pytest.mark.parametrize("against", [None, "never", "no"])
def test_a_constant_decision(against: str | None) -> None:
    """The complete reason is ⊤: the empty sufficient reason, no necessary reason, nothing to change."""
    why = quia.explain(constant(), {"x": 1}, against=against)
    assert why.complete_reason.is_true
    assert str(why.complete_reason) == "true"
    assert [len(reason) for reason in why.sufficient_reasons()] == [0]
    assert [len(reason) for reason in why.sufficient_reasons(shortest=True)] == [0]
    assert list(why.necessary_reasons()) == []
    assert why.counterfactuals() == ()
    assert why.importance() == {}
    assert why.count_sufficient() == 1
    assert why.count_necessary() == 0
    assert "whatever the features are" in str(why) or "no leaf" in str(why)


def test_a_single_leaf() -> None:
    leaf = {"quia": 1, "variables": {}, "classes": ["c"], "root": "c", "nodes": {"c": {"class": "c"}}}
    graph = quia.DecisionGraph.from_dict(leaf)
    assert graph.to_dict() == leaf
    assert quia.explain(graph, {}).decision == "c"
    assert quia.explain(graph, []).count_sufficient() == 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"against": "Reject"}, "decision is 'Reject' already"),
        ({"against": "Acept"}, "did you mean 'Accept'"),
        ({"frozen": ["Esay"]}, "did you mean 'Essay'"),
        ({"frozen": "Essay"}, "give a list"),
        ({"frozen": [3]}, "no feature"),
        ({"costs": {"Esay": 1}}, "did you mean 'Essay'"),
        ({"costs": {"Essay": 0}}, "costs are positive"),
        ({"costs": {"Essay": -1}}, "costs are positive"),
        ({"costs": {"Essay": math.nan}}, "costs are positive"),
        ({"costs": {"Essay": math.inf}}, "costs are positive"),
        ({"costs": {"Essay": "much"}}, "costs are positive"),
        ({"costs": {"Essay": 1e-300}}, "too far apart"),
    ],
)
def test_questions_that_make_no_sense(admissions: quia.DecisionGraph, options: dict[str, Any], match: str) -> None:
    with pytest.raises(quia.InstanceError, match=match):
        quia.explain(admissions, APPLICANT, **options)


def test_nearest_changes_where_there_are_more_paths_than_stars() -> None:
    """Two nodes a layer, both reached from both: 2^60 paths, but each change is found by following one."""
    layers = 60
    nodes: dict[str, Any] = {"ok": {"class": "ok"}, "ko": {"class": "ko"}}
    for layer in range(layers):
        left, right = (f"a{layer + 1}", f"b{layer + 1}") if layer + 1 < layers else ("ko", "ko")
        edges = [{"if": ["0"], "to": "ok"}, {"if": ["1"], "to": left}, {"if": ["2"], "to": right}]
        nodes |= {f"{side}{layer}": {"test": f"v{layer}", "edges": edges} for side in "ab"}
    variables = {f"v{layer}": {"kind": "nominal", "states": ["0", "1", "2"]} for layer in range(layers)}
    graph = quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": variables, "classes": ["ok", "ko"], "root": "a0", "nodes": nodes}
    )
    why = quia.explain(graph, ["0"] * layers)
    first, second = why.counterfactuals(limit=2)
    assert [state.text for state in first.changes] == ["1"] * layers
    assert [state.text for state in second.changes] == [*(["1"] * (layers - 1)), "2"]
    assert why.bias(variables).changed_decision == "ko"


def chain_of_cuts(cuts: int, found_at: int) -> quia.DecisionGraph:
    """A chain of cuts of x, each of which asks y: only one of them leads to another class."""
    nodes: dict[str, Any] = {"ok": {"class": "ok"}, "ko": {"class": "ko"}}
    for cut in range(cuts):
        edges = [{"if": f"<= {cut}", "to": f"y{cut}"}, {"if": f"> {cut}", "to": f"x{cut + 1}"}]
        edges[1]["to"] = f"x{cut + 1}" if cut + 1 < cuts else "ok"
        there = "ko" if cut == found_at else "ok"
        nodes[f"x{cut}"] = {"test": "x", "edges": edges}
        nodes[f"y{cut}"] = {"test": "y", "edges": [{"if": f"<= {cut}", "to": "ok"}, {"if": f"> {cut}", "to": there}]}
    variables = {name: {"kind": "numeric"} for name in "xy"}
    return quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": variables, "classes": ["ok", "ko"], "root": "x0", "nodes": nodes}
    )


@pytest.mark.parametrize("end", ["first", "last"])
def test_nearest_changes_among_thousands_of_states(end: str) -> None:
    """Twice as many states are twice the work, not four times."""
    lines = []
    for cuts in (1000, 2000):
        found_at = 0 if end == "first" else cuts - 1
        why = quia.explain(chain_of_cuts(cuts, found_at), {"x": cuts / 2 + 0.5, "y": -1})
        with counted() as work:
            (change,) = why.counterfactuals(limit=1)
        lines.append(work.lines)
        assert change.decision == "ko"
        assert change.changes[0].text == (f"({found_at - 1}, {found_at}]" if found_at else "<= 0")
    assert lines[1] < 3 * lines[0]


def test_costs_add_as_people_write_them(admissions: quia.DecisionGraph) -> None:
    """0.1 + 0.2 and 0.3 are a tie, though not in binary."""
    why = quia.explain(admissions, APPLICANT, frozen=["Interview"], costs={"SAT": 0.1, "Essay": 0.2, "GPA": 0.1})
    assert [str(r) for r in why.necessary_reasons(shortest=True)] == [
        "SAT < 1450 and Essay=fail",
        "GPA=medium and Essay=fail",
    ]
    cheap = quia.explain(admissions, APPLICANT, costs={"Interview": 9, "GPA": 2})
    assert [str(r) for r in cheap.necessary_reasons()] == [
        "SAT < 1450 and Essay=fail",
        "GPA=medium and Essay=fail",
        "Interview=fail",
    ]


def test_limit_is_never_silent(admissions: quia.DecisionGraph) -> None:
    why = quia.explain(admissions, APPLICANT)
    two = why.necessary_reasons(limit=2)
    assert (len(list(two)), len(two), two.complete, two.count) == (2, 2, False, 3)
    three = why.necessary_reasons(limit=3)
    assert (len(list(three)), three.complete) == (3, True)
    assert list(three) == list(three), "replayable"
    assert list(two) == list(three)[:2]
    with pytest.raises(quia.InstanceError, match="limit is -1"):
        why.necessary_reasons(limit=-1)
    with pytest.raises(quia.InstanceError, match="timeout is -1"):
        why.necessary_reasons(timeout=-1)


def test_reasons_can_be_asked_about(admissions: quia.DecisionGraph) -> None:
    reasons = quia.explain(admissions, APPLICANT).necessary_reasons()
    assert reasons.counts_by_length() == {1: 1, 2: 2}
    assert [str(r) for r in reasons.containing("Essay")] == ["SAT < 1450 and Essay=fail", "GPA=medium and Essay=fail"]
    assert [str(r) for r in reasons.containing("Essay").avoiding("GPA")] == ["SAT < 1450 and Essay=fail"]
    assert ["Interview"] in reasons
    assert ["Essay"] not in reasons
    accepted = quia.explain(admissions, APPLICANT | {"Interview": "pass"}).necessary_reasons()
    assert next(iter(accepted)) not in reasons, "the same feature in another state"
    drawn = reasons.sample(50, seed=1)
    assert drawn == reasons.sample(50, seed=1)
    assert set(drawn) == set(reasons)
    with pytest.raises(quia.InstanceError, match="'Esay' is no feature"):
        reasons.containing("Esay")


def test_a_reason_is_a_frozen_set(admissions: quia.DecisionGraph) -> None:
    first, second, third = quia.explain(admissions, APPLICANT).necessary_reasons()
    assert first == next(iter(quia.explain(admissions, APPLICANT).necessary_reasons()))
    assert hash(first) == hash(next(iter(quia.explain(admissions, APPLICANT).necessary_reasons())))
    assert len(second & third) == 1
    assert not first & second
    assert next(iter(first)) in first
    with pytest.raises(AttributeError):
        first.states = ()  # type: ignore[attr-defined]


def test_json_is_the_stated_schema(admissions: quia.DecisionGraph) -> None:
    why = quia.explain(admissions, APPLICANT | {"SAT": np.float32(1400), "more": object()}, against="Accept")
    data = json.loads(why.to_json())
    assert data == {
        "schema": "quia/explanation/1",
        "instance": APPLICANT,
        "states": {"SAT": "< 1450", "GPA": "medium", "Essay": "fail", "Interview": "fail"},
        "decision": "Reject",
        "against": "Accept",
        "necessary": {
            "complete": True,
            "count": 3,
            "reasons": [
                {"Interview": "fail"},
                {"SAT": "< 1450", "Essay": "fail"},
                {"GPA": "medium", "Essay": "fail"},
            ],
        },
        "sufficient": {
            "complete": True,
            "count": 2,
            "reasons": [
                {"Essay": "fail", "Interview": "fail"},
                {"SAT": "< 1450", "GPA": "medium", "Interview": "fail"},
            ],
        },
        "counterfactuals": [{"changes": {"Interview": "pass"}, "decision": "Accept"}],
    }


def test_values_that_json_cannot_hold() -> None:
    graph = quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": {"x": {"kind": "numeric"}},
            "classes": ["yes", "no"],
            "root": "x",
            "nodes": {
                "x": {"test": "x", "edges": [{"if": "<= 0", "to": "a"}, {"if": ["> 0", "missing"], "to": "b"}]},
                "a": {"class": "yes"},
                "b": {"class": "no"},
            },
        }
    )
    missing = json.loads(quia.explain(graph, {"x": math.nan}).to_json())
    assert (missing["instance"], missing["states"], missing["decision"]) == ({"x": None}, {"x": "missing"}, "no")
    assert json.loads(quia.explain(graph, {"x": math.inf}).to_json())["instance"] == {"x": "inf"}
    assert "could change with: x is not missing" in str(quia.explain(graph, {"x": None}))
    untested = quia.DecisionGraph.from_dict(
        graph.to_dict() | {"variables": {"x": {"kind": "numeric"}, "y": {"kind": "numeric"}}}
    )
    for value in (np.array([1, 2]), 10**5000, pd.NA, np.float32(1), "\ud800"):
        json.loads(quia.explain(untested, {"x": 1, "y": value}).to_json())


def test_nnf_can_be_printed_walked_drawn(admissions: quia.DecisionGraph) -> None:
    formula = quia.explain(admissions, APPLICANT).complete_reason
    assert str(formula).startswith("Interview=fail & (")
    walked = list(formula.walk())
    assert len(walked) == formula.node_count == len(formula)
    assert walked[-1][1] == "and"
    assert {state for _, kind, state, _ in walked if kind == "literal"} == {
        "SAT < 1450",
        "GPA=medium",
        "Essay=fail",
        "Interview=fail",
    }
    dot = formula.to_dot()
    assert dot.count("->") == formula.edge_count
    assert 'label="SAT < 1450"' in dot
    assert not formula.is_and_decomposable
    assert formula.condition({"Interview": "pass"}).is_false
    assert str(formula.condition({"Interview": "fail", "Essay": "pass"})) == "GPA=medium & SAT < 1450"
    with pytest.raises(quia.InstanceError, match="no variable 'Esay'"):
        formula.condition({"Esay": "pass"})
    with pytest.raises(quia.FormatError, match="node 0 of the formula"):
        quia.NNF.from_dict({"schema": "quia/nnf/1", "nodes": [{"and": [0]}]}, admissions.variables)


@pytest.mark.parametrize(
    ("reason", "kind", "match", "witness"),
    [
        (["Essay"], "sufficient", "does not force", True),
        (["SAT", "Essay", "Interview"], "sufficient", "not minimal", True),
        (["SAT"], "necessary", "no change of SAT", False),
        (["SAT", "Interview"], "necessary", "changing Interview is enough", True),
        ({"Essay": "pass"}, "sufficient", "but the instance's state is 'fail'", True),
    ],
)
def test_verify_refutes(admissions: quia.DecisionGraph, reason: Any, kind: Any, match: str, witness: bool) -> None:
    with pytest.raises(quia.Refuted, match=match) as fault:
        quia.verify(admissions, APPLICANT, reason, kind)
    assert (fault.value.witness is not None) == witness


def test_verify_takes_states_and_values(admissions: quia.DecisionGraph) -> None:
    for reason in (
        {"SAT": "< 1450", "Essay": "fail"},
        {"SAT": 1400, "Essay": "fail"},
        {"SAT": "1000", "Essay": "fail"},
    ):
        quia.verify(admissions, APPLICANT, reason, "necessary")
    with pytest.raises(quia.Refuted, match="SAT is 1500, but the instance's state is '< 1450'"):
        quia.verify(admissions, APPLICANT, {"SAT": 1500, "Essay": "fail"}, "necessary")
    for essay in ("faill", "pass"):
        with pytest.raises(quia.Refuted, match=f"Essay is '{essay}', but the instance's state is 'fail'"):
            quia.verify(admissions, APPLICANT, {"SAT": 1400, "Essay": essay}, "necessary")
    other = {"SAT": 1500, "GPA": "high", "Essay": "pass", "Interview": "pass"}
    for stranger in quia.explain(admissions, other).sufficient_reasons():
        with pytest.raises(quia.Refuted, match="but the instance's state is"):
            quia.verify(admissions, APPLICANT, stranger, "sufficient")
    with pytest.raises(quia.InstanceError, match="'Reject' already"):
        quia.verify(admissions, APPLICANT, [], "necessary", against="Reject")


def test_bias_against_a_class_speaks_of_that_class() -> None:
    """Changing A makes it x, so the decision is biased by A; but nothing that A could be makes it z."""
    graph = quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": {name: {"kind": "nominal", "states": ["0", "1"]} for name in "AB"},
            "classes": ["x", "y", "z"],
            "root": "a",
            "nodes": {
                "a": {"test": "A", "edges": [{"if": ["0"], "to": "x"}, {"if": ["1"], "to": "b"}]},
                "b": {"test": "B", "edges": [{"if": ["0"], "to": "y"}, {"if": ["1"], "to": "z"}]},
                **{name: {"class": name} for name in "xyz"},
            },
        }
    )
    assert quia.explain(graph, ["1", "0"]).bias("A").changed_decision == "x"
    against = quia.explain(graph, ["1", "0"], against="z")
    assert str(against.bias("A")) == "not biased: whatever A were, the decision would not be z"
    assert str(against.bias(["B"])) == "biased: with B=1, and all else the same, the decision would be z"


@pytest.mark.parametrize("cost", ["1e999999999", Decimal("1e999999999"), "1e-999999999", 10**400, math.inf, "1e400"])
def test_costs_beyond_all_measure_are_refused_at_once(admissions: quia.DecisionGraph, cost: Any) -> None:
    with pytest.raises(quia.InstanceError, match="cost"):
        quia.explain(admissions, APPLICANT, costs={"GPA": cost})


def test_verify_shows_an_instance_that_refutes(admissions: quia.DecisionGraph) -> None:
    with pytest.raises(quia.Refuted) as fault:
        quia.verify(admissions, APPLICANT, ["Essay"], "sufficient")
    witness: Any = fault.value.witness
    assert witness["Essay"] == "fail"
    assert admissions.classify(witness | {"SAT": 1500 if ">=" in witness["SAT"] else 1400}) == "Accept"
    with pytest.raises(quia.InstanceError, match="'Esay' is no feature"):
        quia.verify(admissions, APPLICANT, ["Esay"], "sufficient")
    with pytest.raises(quia.InstanceError, match="kind of reason is 'enough'"):
        quia.verify(admissions, APPLICANT, ["Essay"], "enough")  # type: ignore[arg-type]
