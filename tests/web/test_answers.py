"""What the page is answered, against brute force: comparisons, facts taken away, and what its form is made of."""

import html
import json
import math
import re
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

import oracle
import quia
from quia.compare import compare
from quia.variables import Variable
from quia.web import answers
from strategies import complete_tree, random_case, random_instance, random_neighbour
from web.conditions_read import states_of
from web.here import LONG

CASES = 400


@pytest.fixture(autouse=True)
def _all_the_time_that_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "TIMEOUT", LONG)


def graph_of(d: dict[str, Any]) -> quia.DecisionGraph:
    return quia.DecisionGraph.from_dict(d)


def points(graph: quia.DecisionGraph, d: dict[str, Any], changes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All that a region in JSON admits, in the oracle's states."""
    variables = {v.name: v for v in graph.variables}
    names = [change["feature"] for change in changes]
    admitted = [
        [s for s in oracle.domain(d, name) if variables[name].encode(s) in states_of(variables[name], change)]
        for name, change in zip(names, changes, strict=True)
    ]
    assert all(admitted)
    return (dict(zip(names, point, strict=True)) for point in product(*admitted))


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_comparisons_in_words() -> None:
    """The page says of two what `compare` finds, which tests/test_compare.py holds against brute force."""
    rng = Random(5)
    seen = {"congruent": 0, "common reason": 0, "neither": 0, "different": 0}
    for _ in range(CASES):
        d = random_case(rng).graph
        graph = graph_of(d)
        one = random_instance(rng, d)
        other = random_neighbour(rng, d, one) if rng.random() < 0.3 else random_instance(rng, d)
        found = answers.compare(graph, {"one": one, "other": other})
        said, told = text_of(found.pop("html")), compare(quia.explain(graph, one), quia.explain(graph, other))
        assert found == told.to_dict()
        assert ("They are congruent: " in said) == oracle.congruent(d, one, other)
        assert ("for a common reason" in said) == (told.common_reason is not None)
        if found["decisions"][0] != found["decisions"][1]:
            seen["different"] += 1
            assert said.startswith("Decided differently: {} and {}".format(*found["decisions"]))
            continue
        assert said.startswith(f"Both {found['decisions'][0]}, ")
        if told.common_reason is not None:
            seen["congruent" if told.congruent else "common reason"] += 1
            assert all(literal.sentence in said for literal in told.common_reason)
            assert ("They are not congruent, though: " in said) == (not told.congruent)
        else:
            seen["neither"] += 1
            assert ", but for no common reason" in said
            assert "someone between the two for whom " in said
        if told.witness is not None:
            assert all(literal.sentence in said for literal in told.witness.changes)
            assert f"decided {told.witness.changed_decision}." in said
    assert min(seen.values()) > 10, seen


def test_common_reasons_drop_what_is_only_needed_with_another_feature() -> None:
    """Of a ∧ b ∧ c or d ∧ e, two who share a to d but not e need a, b and c, and not d."""

    def decide(world: dict[str, str]) -> str:
        enough = world["a"] == world["b"] == world["c"] == "1" or world["d"] == world["e"] == "1"
        return "yes" if enough else "no"

    graph = graph_of(complete_tree(dict.fromkeys("abcde", "01"), decide))
    one = dict.fromkeys("abcde", "1")
    found = answers.compare(graph, {"one": one, "other": {**one, "e": "0"}})
    assert found["common_reason"]["features"] == ["a", "b", "c"]
    assert [condition["in"] for condition in found["common_reason"]["conditions"]] == [["1"], ["1"], ["1"]]


def test_answers_are_the_explanations_and_what_holds_without_some_facts() -> None:
    rng = Random(6)
    seen = {"holds": 0, "falls": 0, "against what is decided": 0, "limited": 0, "in states": 0}
    for _ in range(CASES):
        case = random_case(rng)
        d, graph = case.graph, graph_of(case.graph)
        decision = oracle.classify(d, case.instance)
        limit = rng.randrange(4)
        without = sorted(name for name in d["variables"] if rng.random() < 0.4)
        asked = {
            "instance": case.instance,
            "against": case.against,
            "frozen": sorted(case.frozen),
            "costs": case.costs or {},
            "without": without,
            "limit": limit,
            "states": rng.random() < 0.3,
        }
        found = answers.answer(graph, asked, name="m")
        against = None if case.against == decision else case.against
        seen["against what is decided"] += case.against == decision
        expected = quia.explain(graph, case.instance, against=against, frozen=case.frozen, costs=case.costs)
        assert found["explanation"] == expected.to_dict(limit=limit, general=not asked["states"])
        assert found["explanation"]["general"] != asked["states"]
        seen["in states"] += asked["states"]
        for kind in ("necessary", "sufficient"):
            given = found["explanation"][kind]
            assert len(given["reasons"]) == min(limit, given["count"])
            seen["limited"] += limit < given["count"]
        reasons = oracle.sufficient_reasons(d, case.instance, against, case.frozen)
        assert set().union(*reasons) <= set(found["mentioned"]) <= set(d["variables"]) - case.frozen
        if not without:
            assert found["without"] is None
            continue
        told = found["without"]
        assert sorted(told["features"]) == without
        assert told["holds"] == oracle.holds_without(d, case.instance, without, against)
        seen["holds" if told["holds"] else "falls"] += 1
        if told["holds"]:
            assert told["changes"] == []
            assert "still stands" in told["text"]
            continue
        assert {change["feature"] for change in told["changes"]} <= set(without)
        assert f"it would be {told['decision']}." in told["text"]
        world = dict(zip(d["variables"], oracle.world_of(d, case.instance), strict=True))
        for changed in points(graph, d, told["changes"]):
            assert oracle.worlds(d)[tuple((world | changed).values())] == told["decision"] != decision
    assert min(seen.values()) > 20, seen


def test_a_report_has_the_answer_that_was_asked_for() -> None:
    rng = Random(7)
    for _ in range(20):
        case = random_case(rng)
        graph = graph_of(case.graph)
        asked = {"instance": case.instance, "against": case.against, "frozen": [*case.frozen], "limit": 2}
        asked["states"] = rng.random() < 0.5
        page = answers.report(graph, asked, name="the model")
        held = page.split('id="quia-explanation"', 1)[1].split(">", 1)[1].split("</script>", 1)[0]
        assert json.loads(held) == answers.answer(graph, asked, name="the model")["explanation"]
        assert "the model" in page


def test_the_form_is_made_of_what_the_model_has() -> None:
    rng = Random(8)
    for _ in range(CASES):
        d = random_case(rng).graph
        graph = graph_of(d)
        told = answers.describe(graph, name="m.json", identity="7")
        assert (told["id"], told["name"], told["nodes"]) == ("7", "m.json", len(graph))
        assert told["classes"] == d["classes"]
        assert told["example"].keys() == d["variables"].keys()
        assert graph.classify(told["example"]) in d["classes"]
        for index, variable in enumerate(told["variables"]):
            own = graph.variables[index]
            assert variable["name"] == own.name
            assert variable["kind"] == d["variables"][own.name]["kind"]
            assert variable["tested"] == (index in graph.tested)
            assert variable["missing"] == (None in oracle.domain(d, own.name))
            assert len(variable["states"]) == own.size
            assert len(variable["signs"]) == own.size
            assert variable["signs"] == variable["states"] or own.is_numeric
            assert variable["cuts"] == [cut.threshold for cut in own.cuts]
            json.dumps(variable, allow_nan=False)


@pytest.mark.parametrize(
    "variable",
    [
        Variable.numeric("x"),
        Variable.numeric("x", [3]),
        Variable.numeric("x", [(3, "before")]),
        Variable.numeric("x", [1, math.nextafter(1, 2)]),
        Variable.numeric("x", [1, (math.nextafter(1, 2), "before"), 2]),
        Variable.numeric("x", [-math.inf, 0]),
        Variable.numeric("x", [1e308, 1.7e308]),
        Variable.numeric("x", [1e300]),
        Variable.numeric("x", range(9), missing=True),
        Variable.numeric("x", [0.1, 0.2, 0.3], single=True),
    ],
)
def test_a_form_begins_in_the_middle(variable: Variable) -> None:
    value = answers.typical(variable)
    assert math.isfinite(float(value))
    assert variable.encode(value) == (len(variable.cuts) + 1) // 2


def test_a_form_has_no_number_that_json_has_not() -> None:
    graph = quia.DecisionGraph.build([Variable.numeric("x", [-math.inf, 3])], ["c"], [-1], [0], [()])
    told = answers.describe(graph, name="m", identity="1")
    assert told["variables"][0]["cuts"] == [None, 3.0]
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("variable", "states", "signs"),
    [
        (Variable.nominal("x", ["<= 3", "(1, 2]"]), ["<= 3", "(1, 2]"], ["<= 3", "(1, 2]"]),
        (Variable.numeric("x"), ["(-inf, inf)"], ["any number"]),
        (Variable.numeric("x", [3], missing=True), ["<= 3", "> 3", "missing"], ["≤ 3", "> 3", "missing"]),
        (
            Variable.numeric("x", [0.5, (1.5, "before")]),
            ["<= 0.5", "(0.5, 1.5)", ">= 1.5"],
            ["≤ 0.5", "> 0.5 and < 1.5", "≥ 1.5"],
        ),
    ],
)
def test_a_form_has_the_states_as_people_read_them(variable: Variable, states: list[str], signs: list[str]) -> None:
    graph = quia.DecisionGraph.build([variable], ["c"], [-1], [0], [()])
    [described] = answers.describe(graph, name="m", identity="1")["variables"]
    assert (described["states"], described["signs"]) == (states, signs)
