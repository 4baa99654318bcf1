"""Explanations: edge cases, what is refused, and the JSON that others read."""

import json
import math
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quia
from quia.patience import OutOfTime
from quia.show.text import explanation_text
from quia.widen import Widening
from strategies import complete_tree
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
    [only] = why.counterfactuals(limit=2)
    assert [literal.text for literal in only.changes] == ["≠ 0"] * layers
    assert only.now == ("0",) * layers
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
    sat = {"feature": "SAT", "missing": False}
    low = [{"low": None, "high": 1450.0, "low_closed": False, "high_closed": False}]
    high = [{"low": 1450.0, "high": None, "low_closed": True, "high_closed": False}]
    below, above = ({**sat, "intervals": low, "text": "< 1450"}, {**sat, "intervals": high, "text": ">= 1450"})
    no_essay, essay, no_interview, interview = (
        {"feature": feature, "in": [state], "text": state}
        for feature in ("Essay", "Interview")
        for state in ("fail", "pass")
    )
    not_high = {"feature": "GPA", "in": ["low", "medium"], "text": "≠ high"}
    data = json.loads(why.to_json())
    assert data == {
        "schema": "quia/explanation/2",
        "instance": APPLICANT,
        "states": {"SAT": "< 1450", "GPA": "medium", "Essay": "fail", "Interview": "fail"},
        "decision": "Reject",
        "against": "Accept",
        "general": True,
        "necessary": {
            "complete": True,
            "count": 3,
            "sets": 3,
            "reasons": [
                {
                    "features": ["Interview"],
                    "states": {"Interview": "fail"},
                    "conditions": [no_interview],
                    "changes": [interview],
                },
                {
                    "features": ["SAT", "Essay"],
                    "states": {"SAT": "< 1450", "Essay": "fail"},
                    "conditions": [below, no_essay],
                    "changes": [above, essay],
                },
                {
                    "features": ["GPA", "Essay"],
                    "states": {"GPA": "medium", "Essay": "fail"},
                    "conditions": [not_high, no_essay],
                    "changes": [{"feature": "GPA", "in": ["high"], "text": "high"}, essay],
                },
            ],
        },
        "sufficient": {
            "complete": True,
            "count": 2,
            "sets": 2,
            "reasons": [
                {
                    "features": ["Essay", "Interview"],
                    "states": {"Essay": "fail", "Interview": "fail"},
                    "conditions": [no_essay, no_interview],
                },
                {
                    "features": ["SAT", "GPA", "Interview"],
                    "states": {"SAT": "< 1450", "GPA": "medium", "Interview": "fail"},
                    "conditions": [below, not_high, no_interview],
                },
            ],
        },
        "counterfactuals": [
            {
                "features": ["Interview"],
                "changes": [interview],
                "now": {"Interview": "fail"},
                "decision": "Accept",
                "certain": True,
            }
        ],
    }


def test_json_of_states(admissions: quia.DecisionGraph) -> None:
    data = json.loads(quia.explain(admissions, APPLICANT).to_json(general=False))
    assert data["general"] is False
    for kind in ("necessary", "sufficient"):
        for reason in data[kind]["reasons"]:
            assert reason.keys() == {"features", "states", "conditions"}
            assert {c["feature"]: c["text"] for c in reason["conditions"]} == reason["states"]
    assert data["counterfactuals"][0]["now"] == {"Interview": "fail"}


def test_json_of_bias(admissions: quia.DecisionGraph) -> None:
    answer = quia.explain(admissions, APPLICANT).to_dict(protected=["SAT", "Essay", "Interview"])
    bias = answer["bias"]
    assert bias["changes"] == [{"feature": "Interview", "in": ["pass"], "text": "pass"}]
    assert (bias["decision"], bias["certain"], bias["complete"]) == ("Accept", True, True)
    assert bias["reasons"] == answer["necessary"]["reasons"][:2]
    states = quia.explain(admissions, APPLICANT).to_dict(protected=["Interview"], general=False)["bias"]["reasons"]
    assert [reason.keys() for reason in states] == [{"features", "states", "conditions"}]


def test_values_now_are_as_they_were_given(admissions: quia.DecisionGraph) -> None:
    why = quia.explain(admissions, APPLICANT | {"SAT": np.float32(1400)}, frozen=["Interview"])
    second, first = why.counterfactuals()
    assert str(first) == "SAT >= 1450 (now 1400) and Essay=pass (now fail): Accept"
    assert json.loads(json.dumps(first.to_dict()))["now"] == {"SAT": 1400.0, "Essay": "fail"}
    assert second.now == ("medium", "fail")
    assert first == pickle.loads(pickle.dumps(first))


def by_x(no: list[str], yes: list[str]) -> quia.DecisionGraph:
    """x alone decides, by the intervals that it is in."""
    nodes = {
        "x": {"test": "x", "edges": [{"if": no, "to": "no"}, {"if": yes, "to": "yes"}]},
        "no": {"class": "no"},
        "yes": {"class": "yes"},
    }
    return quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": {"x": {"kind": "numeric"}}, "classes": ["yes", "no"], "root": "x", "nodes": nodes}
    )


def test_several_reasons_with_the_same_features_are_told_of() -> None:
    why = quia.explain(by_x(["(0, 10]", "(20, 30]"], ["<= 0", "(10, 20]", "> 30"]), {"x": 15})
    assert str(why) == (
        "Decision: yes\n\n1 sufficient reason\n  yes because x in (10, 20], whatever the rest\n\n"
        "2 necessary reasons over 1 set of features\n  would change with: x in (0, 10]\n"
        "  would change with: x in (20, 30]\n\nNearest changes\n  with x in (0, 10] (now 15): no\n"
        "  with x in (20, 30] (now 15): no"
    )
    sets = explanation_text(why.answer(intervals=False))
    assert "yes because x <= 0 or in (10, 20] or > 30, whatever the rest" in sets
    assert "would change with: x in (0, 10] or in (20, 30]" in sets
    states = explanation_text(why.answer(general=False))
    assert "1 necessary reason\n  could change with: x <= 10 or > 20\n" in states
    assert "Nearest changes\n  with x in (0, 10] (now 15): no\n" in states
    data = why.to_dict()["necessary"]
    assert (data["count"], data["sets"], data["complete"]) == (2, 1, True)
    cut = explanation_text(why.answer(limit=1))
    assert "Necessary reasons over 1 set of features: the first 1\n" in cut
    assert "Sufficient reasons over 1 set of features\n\nNecessary" in explanation_text(why.answer(limit=0))
    assert "Nearest changes, the first 1 of them\n  with x in (0, 10] (now 15): no" in cut


def test_against_a_class_the_class_is_named(examples: Path) -> None:
    iris = quia.load(examples / "iris.json")
    flower = {"sepallength": 5, "sepalwidth": 3, "petallength": 5, "petalwidth": 2}
    text = str(quia.explain(iris, flower, against="Iris-setosa"))
    assert "Not Iris-setosa because petalwidth > 0.6, whatever the rest" in text
    assert "would be Iris-setosa with: petalwidth <= 0.6" in text


def test_that_a_value_goes_missing_is_no_advice() -> None:
    text = str(quia.explain(by_x(["missing"], ["(-inf, inf)"]), {"x": 15}))
    assert "yes because x is not missing, whatever the rest" in text
    assert "would change with: x is missing" in text
    assert text.endswith("Nearest changes: none, unless a value goes missing")


def test_what_is_not_known_only_could_change_a_decision() -> None:
    """a and b, or c: with no c, what a and b say is enough; without b, it depends on c."""
    graph = quia.DecisionGraph.from_dict(
        complete_tree(
            dict.fromkeys("abc", "01"), lambda w: "yes" if w["a"] == w["b"] == "1" or (w["c"] > w["a"]) else "no"
        )
    )
    text = str(quia.explain(graph, {"a": "1", "b": "1", "c": None}))
    assert "could change with: a=0" in text
    assert "would" not in text
    assert "with a=0 (now 1): could be no" in text


def ladder(features: int) -> quia.DecisionGraph:
    """Pairs of features, of which each pair needs one that is high: so many pairs have 2^pairs sufficient reasons."""
    nodes: dict[str, Any] = {"yes": {"class": "yes"}, "no": {"class": "no"}}
    for pair in range(features // 2):
        onward = f"a{pair + 1}" if pair + 1 < features // 2 else "yes"
        nodes[f"a{pair}"] = {
            "test": f"x{pair}",
            "edges": [{"if": "> 5", "to": onward}, {"if": "<= 5", "to": f"b{pair}"}],
        }
        nodes[f"b{pair}"] = {"test": f"y{pair}", "edges": [{"if": "> 5", "to": onward}, {"if": "<= 5", "to": "no"}]}
    variables = {f"{name}{pair}": {"kind": "numeric"} for pair in range(features // 2) for name in "xy"}
    return quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": variables, "classes": ["yes", "no"], "root": "a0", "nodes": nodes}
    )


def test_more_sets_of_features_than_are_listed() -> None:
    why = quia.explain(ladder(18), [9] * 18)
    text = explanation_text(why.answer(limit=3))
    assert "\nSufficient reasons over 512 sets of features: the first 3\n" in text
    data = why.to_dict(limit=3)["sufficient"]
    assert (data["count"], data["sets"], data["complete"], len(data["reasons"])) == (None, 512, False, 3)
    assert why.answer(limit=3).in_time
    every = why.answer(limit=None)
    assert "\n512 sufficient reasons\n" in explanation_text(every)
    assert every.to_dict()["sufficient"]["count"] == 512


def test_time_that_runs_out_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Widening):
        def boxes(self, of: Any, clock: Any, **options: Any) -> Any:
            if of[-1] > 16 or self.kind == "necessary":
                raise OutOfTime
            return super().boxes(of, clock, **options)

    monkeypatch.setattr("quia.explanation.Widening", Late)
    monkeypatch.setattr("quia.counterfactual.Widening", Late)
    answer = quia.explain(ladder(18), [9] * 18).answer()
    text = explanation_text(answer)
    assert "Sufficient reasons over 512 sets of features: 1 found before time ran out; there may be more\n" in text
    assert "Necessary reasons over 9 sets of features: 0 found before time ran out; there may be more\n" in text
    assert "Nearest changes: none found before time ran out; there may be more" in text
    assert not answer.in_time


def test_rows_of_a_reference_table(admissions: quia.DecisionGraph) -> None:
    rows = [APPLICANT | {"SAT": sat, "GPA": gpa} for sat in (1300, 1440, 1500) for gpa in ("low", "medium", "high")]
    why = quia.explain(admissions, APPLICANT, data=rows)
    text = str(why)
    assert "Reject because Essay=fail and Interview=fail, whatever the rest (fits 9 of 9 rows)\n" in text
    assert "SAT < 1450 and GPA ≠ high and Interview=fail, whatever the rest (fits 4 of 9 rows)\n" in text
    assert "would change with: SAT >= 1450 and Essay=pass (fits 0 of 9 rows)\n" in text
    assert "SAT < 1450 and GPA=medium and Interview=fail, whatever the rest (fits 2 of 9 rows)" in explanation_text(
        why.answer(general=False)
    )
    data = why.to_dict()
    assert data["rows"] == 9
    assert [reason["rows"] for reason in data["sufficient"]["reasons"]] == [9, 4]
    assert [reason["rows"] for reason in data["necessary"]["reasons"]] == [0, 0, 0]
    states = why.to_dict(general=False)
    assert [reason["rows"] for reason in states["sufficient"]["reasons"]] == [9, 2]
    assert all("rows" not in reason for reason in states["necessary"]["reasons"])


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
    assert "would change with: x <= 0\n" in str(quia.explain(graph, {"x": None}))
    assert "could change with: x is not missing" in explanation_text(
        quia.explain(graph, {"x": None}).answer(general=False)
    )
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
