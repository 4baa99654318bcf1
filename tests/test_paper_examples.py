"""The worked examples of the paper come out as printed."""

from pathlib import Path
from typing import Any

import pytest

import quia
from quia import paper

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
LUNA = {"E": "yes", "F": "no", "G": "yes", "W": "yes", "R": "yes"}


def texts(reasons: Any) -> list[str]:
    return [str(reason) for reason in reasons]


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


@pytest.fixture(scope="module")
def luna(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "luna.json")


def test_admissions(admissions: quia.DecisionGraph) -> None:
    """Figures 1 and 2, and §5: two sufficient and three necessary reasons."""
    why = quia.explain(admissions, APPLICANT)
    assert why.decision == "Reject"
    assert texts(why.sufficient_reasons()) == [
        "Essay=fail and Interview=fail",
        "SAT < 1450 and GPA=medium and Interview=fail",
    ]
    assert texts(why.necessary_reasons()) == [
        "Interview=fail",
        "SAT < 1450 and Essay=fail",
        "GPA=medium and Essay=fail",
    ]
    assert texts(why.sufficient_reasons(shortest=True)) == ["Essay=fail and Interview=fail"]
    assert texts(why.necessary_reasons(shortest=True)) == ["Interview=fail"]


def test_admissions_in_general(admissions: quia.DecisionGraph) -> None:
    """Figures 1 and 2, as wide as they are true: a low GPA would do as well, and what would not is what changes it."""
    why = quia.explain(admissions, APPLICANT)
    assert texts(why.sufficient_reasons(general=True)) == [
        "Essay=fail and Interview=fail",
        "SAT < 1450 and GPA ≠ high and Interview=fail",
    ]
    changes = [" and ".join(map(str, reason.changes)) for reason in why.necessary_reasons(general=True)]
    assert changes == ["Interview=pass", "SAT >= 1450 and Essay=pass", "GPA=high and Essay=pass"]


def test_admissions_a_violation_that_keeps_the_decision(admissions: quia.DecisionGraph) -> None:
    """§5: GPA=high, Essay=pass reverses the decision; GPA=low, Essay=pass keeps it, but not congruently."""
    free = quia.explain(admissions, APPLICANT, frozen=["Interview", "SAT"])
    assert texts(free.necessary_reasons()) == ["GPA=medium and Essay=fail"]
    assert texts(free.counterfactuals()) == ["GPA=high (now medium) and Essay=pass (now fail): Accept"]
    why = quia.explain(admissions, APPLICANT)
    kept = APPLICANT | {"GPA": "low", "Essay": "pass"}
    assert admissions.classify(kept) == "Reject"
    assert not why.is_congruent(kept)
    assert why.is_congruent(APPLICANT | {"SAT": 1600, "GPA": "high"})


def test_luna(luna: quia.DecisionGraph) -> None:
    """§1: four sufficient reasons; the complete reason (e+g)(e+w)r(¬f+g+w)."""
    why = quia.explain(luna, LUNA)
    assert why.decision == "admit"
    assert {frozenset(reason.features) for reason in why.sufficient_reasons()} == {
        frozenset("EGR"),
        frozenset("ERW"),
        frozenset("EFR"),
        frozenset("GRW"),
    }
    assert {frozenset(reason.features) for reason in why.necessary_reasons()} == {
        frozenset("EG"),
        frozenset("EW"),
        frozenset("R"),
        frozenset("FGW"),
    }


def test_luna_is_biased(luna: quia.DecisionGraph) -> None:
    """§1: the decision would be different if she did not come from a rich hometown."""
    bias = quia.explain(luna, LUNA).bias(["R"])
    assert bias.biased
    assert texts(bias.reasons) == ["R=yes"]
    assert (texts(bias.changes), bias.changed_decision) == (["R=no"], "deny")
    denied = quia.explain(luna, LUNA | {"R": "no"})
    assert texts(denied.sufficient_reasons()) == ["F=no and R=no"]
    assert not quia.explain(luna, LUNA).bias(["W"])
    biased = quia.bias_of_classifier(luna, ["R"])
    assert biased
    assert (
        str(biased) == "biased: with R=yes the decision is admit, with R=no it is deny, both times with E=yes and F=no"
    )
    assert str(quia.bias_of_classifier(luna, [])) == "not biased: with nothing protected, no decision would change"


def test_iris(examples: Path) -> None:
    """Figure 3: W = 0.8, L = 5.3 is virginica, in the states (0.6, 1.5] and (4.9, ∞)."""
    iris = quia.load(examples / "iris.json")
    assert [iris.variables[3].text(state) for state in range(4)] == ["<= 0.6", "(0.6, 1.5]", "(1.5, 1.7]", "> 1.7"]
    why = quia.explain(iris, {"petalwidth": 0.8, "petallength": 5.3})
    assert why.decision == "Iris-virginica"
    assert texts(why.sufficient_reasons()) == ["petallength > 4.9 and petalwidth in (0.6, 1.5]"]
    assert texts(why.necessary_reasons()) == ["petallength > 4.9", "petalwidth in (0.6, 1.5]"]
    assert iris.notes == ()


def test_target(examples: Path) -> None:
    """Figure 4: why x₂y₁ is c₂ has the necessary reasons x₂ and y₁; why it is not c₃ only y₁."""
    tree = quia.load(examples / "target.json")
    instance = {"X": "x2", "Y": "y1"}
    assert texts(quia.explain(tree, instance).necessary_reasons()) == ["X=x2", "Y=y1"]
    targeted = quia.explain(tree, instance, against="c3")
    assert texts(targeted.necessary_reasons()) == ["Y=y1"]
    assert texts(targeted.counterfactuals()) == ["Y=y2 (now y1): c3"]


def ternary() -> quia.DecisionGraph:
    """Δ = x̄₁(x₂+ȳ₁)(ȳ₁+z₁) over ternary X, Y, Z (§3), as a graph."""
    variables = {name: {"kind": "nominal", "states": [f"{name.lower()}{i}" for i in (1, 2, 3)]} for name in "XYZ"}
    return quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": variables,
            "classes": ["negative", "positive"],
            "root": "x",
            "nodes": {
                "x": {
                    "test": "X",
                    "edges": [{"if": ["x1"], "to": "-"}, {"if": ["x2"], "to": "y"}, {"if": ["x3"], "to": "y'"}],
                },
                "y": {"test": "Y", "edges": [{"if": ["y1"], "to": "z"}, {"if": ["y2", "y3"], "to": "+"}]},
                "y'": {"test": "Y", "edges": [{"if": ["y1"], "to": "-"}, {"if": ["y2", "y3"], "to": "+"}]},
                "z": {"test": "Z", "edges": [{"if": ["z1"], "to": "+"}, {"if": ["z2", "z3"], "to": "-"}]},
                "+": {"class": "positive"},
                "-": {"class": "negative"},
            },
        }
    )


def test_ternary() -> None:
    """§3 and §5: the complete reason of x₂y₂z₁ is x₂(y₂+z₁); its four congruent instances."""
    graph = ternary()
    why = quia.explain(graph, {"X": "x2", "Y": "y2", "Z": "z1"})
    assert texts(why.sufficient_reasons()) == ["X=x2 and Y=y2", "X=x2 and Z=z1"]
    assert texts(why.necessary_reasons()) == ["X=x2", "Y=y2 and Z=z1"]
    congruent = [
        (x, y, z)
        for x in ("x1", "x2", "x3")
        for y in ("y1", "y2", "y3")
        for z in ("z1", "z2", "z3")
        if why.is_congruent((x, y, z)) and (x, y, z) != ("x2", "y2", "z1")
    ]
    assert congruent == [("x2", "y1", "z1"), ("x2", "y2", "z2"), ("x2", "y2", "z3"), ("x2", "y3", "z1")]
    other = {"X": "x3", "Y": "y2", "Z": "z1"}
    assert graph.classify(other) == "positive"
    assert not why.is_congruent(other)


def test_implicate_minimum_length(admissions: quia.DecisionGraph) -> None:
    """Prop. 12 on the formula of Figure 2: the root's shortest implicate has one literal."""
    formula = quia.explain(admissions, APPLICANT).complete_reason
    assert paper.implicate_minimum_lengths(formula)[-1] == 1
    assert paper.snr(formula) == {frozenset({3})}
    assert paper.ssr(formula) == {frozenset({2, 3})}
