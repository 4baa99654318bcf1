"""The oracle on every worked example of the paper, and on laws that hold for all graphs."""

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan, nextafter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import strategies
from oracle import Reason
from strategies import Case, cases, complete_tree, every_classifier, trees

TERNARY = {x: (f"{x}1", f"{x}2", f"{x}3") for x in "xyz"}


def features(*reasons: str) -> set[Reason]:
    """Reasons written as words: `features("E G", "R")`."""
    return {frozenset(reason.split()) for reason in reasons}


def leaf_tree(feature: dict[str, Any], *conditions: Any) -> dict[str, Any]:
    """One test of X, the k-th condition leading to class k."""
    edges = [{"if": condition, "to": str(k)} for k, condition in enumerate(conditions)]
    leaves = {str(k): {"class": str(k)} for k in range(len(conditions))}
    return {
        "quia": 1,
        "variables": {"X": feature},
        "classes": list(leaves),
        "root": "x",
        "nodes": {"x": {"test": "X", "edges": edges}, **leaves},
    }


# Admissions (Figs. 1 and 2)

ADMISSIONS: dict[str, Any] = json.loads("""
{"quia": 1,
 "variables": {"SAT": {"kind": "numeric"},
               "GPA": {"kind": "nominal", "states": ["low", "medium", "high"]},
               "Essay": {"kind": "nominal", "states": ["fail", "pass"]},
               "Interview": {"kind": "nominal", "states": ["fail", "pass"]}},
 "classes": ["Accept", "Reject"],
 "root": "sat",
 "nodes": {
   "sat": {"test": "SAT", "edges": [{"if": "< 1450", "to": "gpa"},
                                    {"if": ">= 1450", "to": "essay"}]},
   "gpa": {"test": "GPA", "edges": [{"if": ["low"], "to": "no"},
                                    {"if": ["medium"], "to": "interview"},
                                    {"if": ["high"], "to": "essay"}]},
   "essay": {"test": "Essay", "edges": [{"if": ["fail"], "to": "interview"},
                                        {"if": ["pass"], "to": "yes"}]},
   "interview": {"test": "Interview", "edges": [{"if": ["fail"], "to": "no"},
                                                {"if": ["pass"], "to": "yes"}]},
   "yes": {"class": "Accept"}, "no": {"class": "Reject"}}}
""")
APPLICANT = {"SAT": 1300, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


def test_admissions_reasons() -> None:
    """Fig. 2 and §5: two sufficient and three necessary reasons for the rejection."""
    assert oracle.classify(ADMISSIONS, APPLICANT) == "Reject"
    assert oracle.sufficient_reasons(ADMISSIONS, APPLICANT) == features("SAT GPA Interview", "Essay Interview")
    necessary = features("Interview", "SAT Essay", "GPA Essay")
    assert oracle.necessary_reasons(ADMISSIONS, APPLICANT) == necessary
    assert oracle.shortest(necessary) == features("Interview")
    assert oracle.counterfactuals(ADMISSIONS, APPLICANT) == [({"Interview": "pass"}, "Accept")]


def test_admissions_violations_of_the_gpa_reason() -> None:
    """§5, "More on Necessity": of its two violations, one keeps the decision, for another reason."""
    high = APPLICANT | {"GPA": "high", "Essay": "pass"}
    low = APPLICANT | {"GPA": "low", "Essay": "pass"}
    assert oracle.classify(ADMISSIONS, high) == "Accept"
    assert oracle.classify(ADMISSIONS, low) == "Reject"
    assert not oracle.congruent(ADMISSIONS, APPLICANT, low)


def test_admissions_frozen_and_costs() -> None:
    """DESIGN §3: with the interview frozen only the two others are left, the cheapest by cost."""
    frozen = {"Interview"}
    left = features("SAT Essay", "GPA Essay")
    assert oracle.necessary_reasons(ADMISSIONS, APPLICANT, frozen=frozen) == left
    assert oracle.sufficient_reasons(ADMISSIONS, APPLICANT, frozen=frozen) == features("SAT GPA", "Essay")
    found = oracle.counterfactuals(ADMISSIONS, APPLICANT, frozen=frozen, costs={"SAT": 3})
    assert found == [({"GPA": "high", "Essay": "pass"}, "Accept")]


# Luna (§1)


def admits(w: dict[str, str]) -> bool:
    """Δ = (e∨g)(e∨r)(e∨w)(f∨r)(f̄∨g∨w)."""
    e, f, g, r, work = (w[x] == "yes" for x in "EFGRW")
    return (e or g) and (e or r) and (e or work) and (f or r) and (not f or g or work)


LUNAS = complete_tree(dict.fromkeys("EFGRW", ("no", "yes")), admits)
LUNA = {"E": "yes", "F": "no", "G": "yes", "R": "yes", "W": "yes"}


def test_luna() -> None:
    """§1: four sufficient reasons; the clauses of Γ = (e∨g)(e∨w)(r)(f̄∨g∨w) are the necessary ones."""
    assert oracle.classify(LUNAS, LUNA) == "True"
    sufficient = features("E G R", "E R W", "E F R", "G R W")
    assert oracle.sufficient_reasons(LUNAS, LUNA) == sufficient
    assert oracle.necessary_reasons(LUNAS, LUNA) == features("E G", "E W", "R", "F G W")
    shares = {"E": "3/4", "F": "1/4", "G": "1/2", "R": "1", "W": "1/2"}
    assert oracle.importance(LUNAS, LUNA) == {x: Fraction(s) for x, s in shares.items()}


def test_luna_is_biased() -> None:
    """§1: without her hometown Luna is denied, and r̄, f̄ is the only sufficient reason."""
    assert oracle.decision_biased(LUNAS, LUNA, {"R"})
    assert not oracle.decision_biased(LUNAS, LUNA, {"E"})
    assert oracle.holds_without(LUNAS, LUNA, {"E"})
    assert not oracle.holds_without(LUNAS, LUNA, {"E", "G"})
    poor = LUNA | {"R": "no"}
    assert oracle.classify(LUNAS, poor) == "False"
    assert oracle.sufficient_reasons(LUNAS, poor) == features("R F")


def test_bias_of_a_classifier() -> None:
    """§1: Luna's classifier is biased by R; one that ignores R is not, whatever the instance."""
    assert oracle.classifier_biased(LUNAS, {"R"})
    blind = complete_tree({"E": ("no", "yes"), "R": ("no", "yes")}, lambda w: w["E"])
    assert not oracle.classifier_biased(blind, {"R"})
    assert oracle.classifier_biased(blind, {"E", "R"})


# Δ = x̄₁(x₂+ȳ₁)(ȳ₁+z₁) over ternary variables (§3, §5)


def positive(w: dict[str, str]) -> bool:
    """Δ = x̄₁(x₂+ȳ₁)(ȳ₁+z₁)."""
    x, y, z = w["x"], w["y"], w["z"]
    return x != "x1" and (x == "x2" or y != "y1") and (y != "y1" or z == "z1")


TERNARIES = complete_tree(TERNARY, positive)
DELTA = {"x": "x2", "y": "y2", "z": "z1"}


def test_ternary_complete_reason() -> None:
    """§3, after Prop. 3: ∀x₂,y₂,z₁·Δ = x₂(y₂+z₁)."""
    expected = oracle.models(TERNARY, lambda w: w["x"] == "x2" and (w["y"] == "y2" or w["z"] == "z1"))
    assert oracle.forall_each(TERNARY, oracle.models(TERNARY, positive), DELTA) == expected
    assert oracle.complete_reason(TERNARIES, DELTA) == features("x y", "x z", "x y z")
    assert oracle.sufficient_reasons(TERNARIES, DELTA) == features("x y", "x z")
    assert oracle.necessary_reasons(TERNARIES, DELTA) == features("x", "y z")


def test_ternary_congruent_instances() -> None:
    """§5, after Prop. 9: four other instances are congruent to δ, and x₃y₂z₁ is not."""
    others = {("x2", "y2", "z2"), ("x2", "y2", "z3"), ("x2", "y1", "z1"), ("x2", "y3", "z1")}
    assert oracle.complete_reason_models(TERNARIES, DELTA) == others | {("x2", "y2", "z1")}
    different = DELTA | {"x": "x3"}
    assert oracle.classify(TERNARIES, different) == oracle.classify(TERNARIES, DELTA)
    assert not oracle.congruent(TERNARIES, DELTA, different)


def test_prime_implicates_need_positive_literals() -> None:
    """Prop. 10 on Γ = x₂(y₂+z₁): its prime implicates are subsets of δ among positive clauses only."""
    gamma = oracle.complete_reason_models(TERNARIES, DELTA)
    x, y, z = (("x", "x2", True), ("y", "y2", True), ("z", "z1", True))
    assert oracle.prime_implicants(TERNARY, gamma) == {frozenset({x, y}), frozenset({x, z})}
    clauses = {frozenset({x}), frozenset({y, z})}
    assert oracle.prime_implicates(TERNARY, gamma, positive=True) == clauses
    assert frozenset({("x", "x1", False)}) in oracle.prime_implicates(TERNARY, gamma)


# Iris (Fig. 3)


IRIS: dict[str, Any] = json.loads("""
{"quia": 1,
 "variables": {"W": {"kind": "numeric"}, "L": {"kind": "numeric"}},
 "classes": ["setosa", "versicolor", "virginica"],
 "root": "w1",
 "nodes": {
   "w1": {"test": "W", "edges": [{"if": "<= 0.6", "to": "se"}, {"if": "> 0.6", "to": "w2"}]},
   "w2": {"test": "W", "edges": [{"if": "<= 1.7", "to": "l"}, {"if": "> 1.7", "to": "vi"}]},
   "l": {"test": "L", "edges": [{"if": "<= 4.9", "to": "ve"}, {"if": "> 4.9", "to": "w3"}]},
   "w3": {"test": "W", "edges": [{"if": "<= 1.5", "to": "vi"}, {"if": "> 1.5", "to": "ve"}]},
   "se": {"class": "setosa"}, "ve": {"class": "versicolor"}, "vi": {"class": "virginica"}}}
""")
FLOWER = {"W": 0.8, "L": 5.3}


def test_iris() -> None:
    """§4, "Numeric Features", and Fig. 3: W=0.8, L=5.3 is virginica, and needs both features."""
    assert oracle.classify(IRIS, FLOWER) == "virginica"
    assert [len(states) for states in oracle.space(IRIS).values()] == [4, 2]
    assert oracle.state(IRIS, "W", 0.8) == oracle.state(IRIS, "W", 1.5)
    assert oracle.state(IRIS, "W", 0.8) != oracle.state(IRIS, "W", nextafter(1.5, inf))
    assert oracle.sufficient_reasons(IRIS, FLOWER) == features("W L")
    assert oracle.necessary_reasons(IRIS, FLOWER) == features("W", "L")
    changes = {(*change, c) for change, c in oracle.counterfactuals(IRIS, FLOWER)}
    assert changes == {("W", "setosa"), ("W", "versicolor"), ("L", "versicolor")}
    assert oracle.necessary_reasons(IRIS, FLOWER, against="setosa") == features("W")


# A target (Fig. 4)

TARGET = complete_tree(
    {"X": ("x1", "x2"), "Y": ("y1", "y2")},
    lambda w: "c1" if w["X"] == "x1" else {"y1": "c2", "y2": "c3"}[w["Y"]],
)


def test_target() -> None:
    """Fig. 4 and Eq. 2: why x₂y₁ is c₂ has x₂ and y₁, why it is not c₃ only y₁."""
    instance = {"X": "x2", "Y": "y1"}
    assert oracle.classify(TARGET, instance) == "c2"
    assert oracle.necessary_reasons(TARGET, instance) == features("X", "Y")
    assert oracle.necessary_reasons(TARGET, instance, against="c3") == features("Y")
    assert oracle.sufficient_reasons(TARGET, instance, against="c3") == features("Y")
    assert oracle.counterfactuals(TARGET, instance, against="c3") == [({"Y": "y2"}, "c3")]
    assert oracle.necessary_reasons(TARGET, instance, against="c1") == features("X")


@pytest.mark.parametrize(
    ("against", "sufficient", "necessary"),
    [("c2", set(), {frozenset()}), ("nobody's", {frozenset()}, set())],
)
def test_target_constants(against: str, sufficient: set[Reason], necessary: set[Reason]) -> None:
    """Eq. 2 against the instance's own class is ⊥; against a class that no leaf has it is ⊤."""
    instance = {"X": "x2", "Y": "y1"}
    assert oracle.sufficient_reasons(TARGET, instance, against) == sufficient
    assert oracle.necessary_reasons(TARGET, instance, against) == necessary


# Quantification (§3)

SMALL = {"X": (1, 2, 3), "Y": (1, 2, 3)}
Predicate = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("formula", "quantified"),
    [
        (lambda w: True, lambda w: True),
        (lambda w: False, lambda w: False),
        (lambda w: w["X"] == 1, lambda w: w["X"] == 1),
        (lambda w: w["X"] != 1, lambda w: False),
        (lambda w: w["X"] == 2, lambda w: False),
        (lambda w: w["X"] != 2, lambda w: w["X"] == 1),
        (lambda w: w["Y"] == 2, lambda w: w["Y"] == 2),
        (lambda w: w["Y"] != 2, lambda w: w["Y"] != 2),
    ],
)
def test_quantifying_literals(formula: Predicate, quantified: Predicate) -> None:
    """Prop. 1: ∀x₁ of the constants and of every kind of literal."""
    result = oracle.forall(SMALL, oracle.models(SMALL, formula), "X", 1)
    assert result == oracle.models(SMALL, quantified)


def test_quantifying_disjuncts_that_share_a_variable() -> None:
    """§3, after Prop. 5: ∀x₁·(y₁(x₁+x₂+x₄) + x₁ + x₂) = x₁."""
    variables = {"X": (1, 2, 3, 4), "Y": (1, 2)}
    alpha = oracle.models(variables, lambda w: w["Y"] == 1 and w["X"] != 3)
    beta = oracle.models(variables, lambda w: w["X"] in (1, 2))
    x_1 = oracle.models(variables, lambda w: w["X"] == 1)
    assert oracle.forall(variables, alpha | beta, "X", 1) == x_1
    parts = (oracle.forall(variables, part, "X", 1) for part in (alpha, beta))
    assert set().union(*parts) == x_1


def test_quantification_commutes_and_distributes_over_and() -> None:
    """Def. 1 and Prop. 2, on random formulas over X and Y; ∀x₁·Δ implies Δ where X is x₁."""
    rng, every = Random(2), sorted(oracle.models(SMALL, lambda w: True))
    for _ in range(200):
        one, other = (set(rng.sample(every, rng.randint(0, 9))) for _ in range(2))
        assert oracle.forall_each(SMALL, one, {"X": 1, "Y": 2}) == oracle.forall_each(SMALL, one, {"Y": 2, "X": 1})
        both = (oracle.forall(SMALL, formula, "X", 1) for formula in (one, other))
        assert oracle.forall(SMALL, one & other, "X", 1) == set.intersection(*both)
        assert oracle.forall(SMALL, one, "X", 1) <= one


# Conditions and states (DESIGN §4, §5)


@pytest.mark.parametrize(
    ("condition", "inside", "outside"),
    [
        ("<= 5", [5, -inf, "5.0"], [nextafter(5, inf), inf, nan, None]),
        ("< 5", [nextafter(5, -inf), -inf], [5, inf]),
        ("> 5", [nextafter(5, inf), inf], [5]),
        (">= 5", [5, inf], [nextafter(5, -inf), -inf]),
        ("(0.6, 1.5]", [nextafter(0.6, 1), 1.5], [0.6, nextafter(1.5, 2)]),
        ("[0.6, 1.5)", [0.6, nextafter(1.5, 1)], [nextafter(0.6, 0), 1.5]),
        ("(-inf, 1e3)", [-inf, 999], [1000, inf]),
        ("[-1.5e-3, inf)", [-0.0015, inf], [-0.0016, -inf]),
        ("missing", [nan, None], [0, inf]),
        (["<= 1", "missing", "(3, 4)"], [1, None, 3.5], [2, 3, 4]),
    ],
)
def test_numeric_conditions(condition: Any, inside: list[Any], outside: list[Any]) -> None:
    """DESIGN §5: comparisons, intervals, missing and unions, exact to the ulp."""
    assert all(oracle.takes(condition, value, kind="numeric") for value in inside)
    assert not any(oracle.takes(condition, value, kind="numeric") for value in outside)


def test_a_threshold_cut_on_both_sides_is_a_state() -> None:
    """DESIGN §4: `< 5` and `<= 5` are different cuts, with 5 itself between them."""
    d = leaf_tree({"kind": "numeric"}, "< 5", "[5, 5]", ["> 5", "missing"])
    below, at, above, missing = oracle.domain(d, "X")
    assert isinstance(below, float)
    assert isinstance(above, float)
    assert (below < 5, at, above > 5, missing) == (True, 5, True, None)
    assert oracle.state(d, "X", -inf) == below
    assert oracle.state(d, "X", "5") == at
    assert oracle.state(d, "X", inf) == above
    assert oracle.state(d, "X", nan) is None


def test_missing_is_a_state_only_where_it_is_routed() -> None:
    """DESIGN §4: NaN is a state of its own if the model routes it; otherwise it is refused."""
    d = leaf_tree({"kind": "numeric"}, "<= 1", "> 1")
    assert len(oracle.domain(d, "X")) == 2
    with pytest.raises(ValueError, match="X is nan"):
        oracle.state(d, "X", nan)


def test_edges_must_part_the_states() -> None:
    """§4: the edge that an instance follows is unique, so the oracle refuses overlaps and gaps."""
    states = {"kind": "nominal", "states": ["a", "b"]}
    for broken in (leaf_tree(states, ["a"], ["a", "b"]), leaf_tree(states, ["b"])):
        with pytest.raises(ValueError, match="to unpack"):
            oracle.worlds(broken)


# Laws


def answers(case: Case) -> tuple[set[Reason], set[Reason]]:
    """The sufficient and the necessary reasons that a case asks for."""
    question = (case.graph, case.instance, case.against, case.frozen)
    return oracle.sufficient_reasons(*question), oracle.necessary_reasons(*question)


@given(cases())
def test_duality(case: Case) -> None:
    """§5: sufficient and necessary reasons are each other's minimal hitting sets."""
    sufficient, necessary = answers(case)
    assert oracle.minimal_hitting_sets(necessary) == sufficient
    assert oracle.minimal_hitting_sets(sufficient) == necessary
    assert not any(reason & case.frozen for reason in sufficient | necessary)


@given(cases())
def test_shortest_are_some_of_all(case: Case) -> None:
    """§6: the shortest (cheapest) reasons are reasons, and none is shorter (cheaper)."""
    for reasons in answers(case):
        best = oracle.shortest(reasons, case.costs)
        assert best <= reasons
        assert bool(best) == bool(reasons)
        dearer = [oracle.cost(reason, case.costs) for reason in reasons - best]
        assert all(oracle.cost(reason, case.costs) < min(dearer, default=inf) for reason in best)


@given(cases(features=4, states=3))
def test_complete_reason_is_what_the_reasons_say(case: Case) -> None:
    """Defs. 1 and 2 against Def. 5: the minimal sets that satisfy ∀δ·Δ are the sufficient reasons."""
    reason = oracle.complete_reason(case.graph, case.instance, case.against, case.frozen)
    sufficient, _ = answers(case)
    assert oracle.minimal(reason) == sufficient
    upward = oracle.subsets(oracle.free(case.graph, case.frozen))
    assert reason == {s for s in upward if any(least <= s for least in sufficient)}


@given(cases(features=4, states=3))
def test_models_of_the_complete_reason_are_the_congruent_worlds(case: Case) -> None:
    """Prop. 9, with ∀δ·Δ by Def. 1 and congruence by Def. 4."""
    d, instance = case.graph, case.instance
    decision, term = oracle.classify(d, instance), oracle.world_of(d, instance)
    class_formula = {w for w, c in oracle.worlds(d).items() if c == decision}
    given_states = dict(zip(d["variables"], term, strict=True))
    quantified = oracle.forall_each(oracle.space(d), class_formula, given_states)
    as_instances = {w: dict(zip(d["variables"], w, strict=True)) for w in oracle.worlds(d)}
    assert quantified == oracle.complete_reason_models(d, instance)
    assert quantified == {w for w, i in as_instances.items() if oracle.congruent(d, instance, i)}


@given(cases(features=3, states=3))
def test_reasons_are_prime(case: Case) -> None:
    """Props. 10 and 11: the reasons are the prime implicants and (positive) implicates of ∀δ·Δ."""
    d, instance, against = case.graph, case.instance, case.against
    gamma = oracle.complete_reason_models(d, instance, against)
    states = dict(zip(d["variables"], oracle.world_of(d, instance), strict=True))

    def literals(reasons: set[Reason]) -> set[frozenset[oracle.Literal]]:
        return {frozenset((x, states[x], True) for x in reason) for reason in reasons}

    sufficient = literals(oracle.sufficient_reasons(d, instance, against))
    necessary = literals(oracle.necessary_reasons(d, instance, against))
    assert oracle.prime_implicants(oracle.space(d), gamma) == sufficient
    assert oracle.prime_implicates(oracle.space(d), gamma, positive=True) == necessary


@given(cases())
def test_counterfactuals_change_the_class(case: Case) -> None:
    """§5: each shortest necessary reason has a violation that changes the class, to c* if asked."""
    d, (_, necessary) = case.graph, answers(case)
    decision = oracle.classify(d, case.instance)
    found = oracle.counterfactuals(d, case.instance, case.against, case.frozen, case.costs)
    for changes, c in found:
        assert oracle.classify(d, case.instance | changes) == c
        assert c == case.against if case.against else c != decision
    assert {frozenset(changes) for changes, _ in found} == oracle.shortest(necessary, case.costs)


@given(cases(), st.randoms(use_true_random=False))
def test_reasons_on_raw_values(case: Case, rng: Random) -> None:
    """§5, on values instead of states: whoever keeps a sufficient reason keeps the decision."""
    d, instance = case.graph, case.instance
    other = strategies.random_instance(rng, d)
    for reason in oracle.sufficient_reasons(d, instance):
        kept = other | {x: instance[x] for x in reason}
        assert oracle.classify(d, kept) == oracle.classify(d, instance)
        assert oracle.congruent(d, kept, instance)


@given(cases())
def test_states_tell_all_that_values_tell(case: Case) -> None:
    """§4: a continuous instance and its discrete one are classified identically."""
    world = oracle.world_of(case.graph, case.instance)
    assert oracle.worlds(case.graph)[world] == oracle.classify(case.graph, case.instance)


@given(cases(features=3, states=3))
def test_a_biased_classifier_has_a_biased_decision(case: Case) -> None:
    """§1: bias of a classifier is bias of some decision of it."""
    d, protected = case.graph, case.frozen
    every = (dict(zip(d["variables"], w, strict=True)) for w in oracle.worlds(d))
    biased = any(oracle.decision_biased(d, instance, protected) for instance in every)
    assert oracle.classifier_biased(d, protected) == biased


@given(st.data())
def test_a_tree_has_no_more_necessary_reasons_than_wrong_leaves(data: st.DataObject) -> None:
    """Prop. 15."""
    d = data.draw(trees())
    instance = data.draw(strategies.instances(d))
    decision = oracle.classify(d, instance)
    wrong = [node for node in d["nodes"].values() if node.get("class", decision) != decision]
    assert len(oracle.necessary_reasons(d, instance)) <= len(wrong)


def test_every_tiny_classifier() -> None:
    """Def. 5 on all functions from X, Y, Z (2·1·3 states) to three classes, at one instance."""
    variables = {"X": ("0", "1"), "Y": ("0",), "Z": ("0", "1", "2")}
    seen = set()
    for d in every_classifier(variables, "abc"):
        necessary = oracle.necessary_reasons(d, dict.fromkeys(variables, "0"))
        by_hand = {
            changed
            for changed, worlds in {
                frozenset("X"): ["100"],
                frozenset("Z"): ["001", "002"],
                frozenset("XZ"): ["101", "102"],
            }.items()
            if any(oracle.worlds(d)[tuple(w)] != oracle.worlds(d)["0", "0", "0"] for w in worlds)
        }
        assert necessary == oracle.minimal(by_hand)
        seen.add(frozenset(necessary))
    assert len(seen) == 5  # none; X; Z; both; only the two together


# The generators


def traits(d: dict[str, Any]) -> set[str]:
    """What is special about a graph."""
    tests = {name: node for name, node in d["nodes"].items() if "test" in node}
    targets = [edge["to"] for node in tests.values() for edge in node["edges"]]
    variables = [node["test"] for node in tests.values()]
    numeric = [x for x, v in d["variables"].items() if v["kind"] == "numeric"]
    thresholds = [[t for t, _ in oracle.cuts(d, x)] for x in numeric]
    followed = {id(edge) for w in oracle.worlds(d) for edge in path(d, w)}
    edges = [edge for node in tests.values() for edge in node["edges"]]
    mixed = any(len(oracle.parts(e["if"])) > 1 for n in tests.values() if n["test"] in numeric for e in n["edges"])
    return {
        name
        for name, holds in {
            "leaf alone": not tests,
            "shared test": any(targets.count(name) > 1 for name in tests),
            "tree": len(set(targets)) == len(targets),
            "repeated variable": len(set(variables)) < len(variables),
            "many-way": any(len(node["edges"]) > 2 for node in tests.values()),
            "one-way": any(len(node["edges"]) == 1 for node in tests.values()),
            "unreachable": len(set(targets) | {d["root"]}) < len(d["nodes"]),
            "impossible edge": any(id(edge) not in followed for edge in edges),
            "union": mixed,
            "missing": any(None in states for states in oracle.space(d).values()),
            "cut on both sides": any(len(set(ts)) < len(ts) for ts in thresholds),
            "one state": any(len(states) == 1 for states in oracle.space(d).values()),
            "one class": len(set(oracle.worlds(d).values())) == 1,
            "three classes": len(set(oracle.worlds(d).values())) > 2,
        }.items()
        if holds
    }


def path(d: dict[str, Any], world: oracle.World) -> list[dict[str, Any]]:
    """The edges that a world follows."""
    values, node, edges = dict(zip(d["variables"], world, strict=True)), d["nodes"][d["root"]], []
    while "test" in node:
        x, kind = node["test"], d["variables"][node["test"]]["kind"]
        edges += [e for e in node["edges"] if oracle.takes(e["if"], values[x], kind=kind)]
        node = d["nodes"][edges[-1]["to"]]
    return edges


def test_generated_graphs_are_of_every_kind() -> None:
    """Strategies that never make what they promise would test nothing."""
    rng = Random(7)
    counts = Counter(trait for _ in range(400) for trait in traits(strategies.random_graph(rng)))
    assert len(counts) == 14
    assert min(counts.values()) >= 4, counts


def test_generated_trees_are_trees() -> None:
    """No node of a graph with sharing=0 has two parents, apart from what is unreachable."""
    rng = Random(8)
    for _ in range(200):
        d = strategies.random_graph(rng, sharing=0)
        live = {name: node for name, node in d["nodes"].items() if "buried" not in name}
        targets = [edge["to"] for node in live.values() for edge in node.get("edges", ())]
        assert sorted([*targets, d["root"]]) == sorted(live)


def test_generators_repeat_themselves() -> None:
    """The same seed gives the same case, byte for byte."""
    one, other = (repr(strategies.random_case(Random(9))) for _ in range(2))
    assert one == other


def test_raw_values_cover_every_state() -> None:
    """Instances reach every state of every variable, and the values on both sides of each cut."""
    rng = Random(10)
    for _ in range(200):
        d = strategies.random_graph(rng)
        for x, states in oracle.space(d).items():
            values = strategies.raw_values(d, x)
            assert {oracle.state(d, x, value) for value in values} == set(states)
            if d["variables"][x]["kind"] == "numeric":
                assert all(t in values for t, _ in oracle.cuts(d, x))
