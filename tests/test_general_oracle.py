"""The oracle of general reasons itself: examples worked out by hand, and laws that hold for all graphs."""

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import general_oracle as general
import oracle
from general_oracle import Box
from strategies import Case, random_case, random_neighbour

EACH = 40
SMALL = {"features": 4, "states": 4, "tests": 10}


def said(d: dict[str, Any], boxes: list[Box]) -> list[dict[str, set[Any]]]:
    """Boxes with the states themselves in the place of their indices."""
    return [{x: {oracle.space(d)[x][s] for s in states} for x, states in box} for box in boxes]


def one_test(kind: dict[str, Any], *edges: tuple[Any, str]) -> dict[str, Any]:
    """A test of X, each condition leading to a class."""
    classes = sorted({c for _, c in edges})
    return {
        "quia": 1,
        "variables": {"X": kind},
        "classes": classes,
        "root": "x",
        "nodes": {
            "x": {"test": "X", "edges": [{"if": condition, "to": c} for condition, c in edges]},
            **{c: {"class": c} for c in classes},
        },
    }


# By hand


def test_admissions(examples: Path) -> None:
    """Figures 1 and 2: with a low GPA the applicant is rejected just so, with a high one an essay can help."""
    d = json.loads((examples / "admissions.json").read_text())
    applicant = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    low_sat = oracle.space(d)["SAT"][0]
    high_sat = oracle.space(d)["SAT"][1]
    assert said(d, general.general_reasons("sufficient", d, applicant)) == [
        {"Essay": {"fail"}, "Interview": {"fail"}},
        {"SAT": {low_sat}, "GPA": {"low", "medium"}, "Interview": {"fail"}},
    ]
    assert said(d, general.general_reasons("necessary", d, applicant)) == [
        {"Interview": {"pass"}},
        {"SAT": {high_sat}, "Essay": {"pass"}},
        {"GPA": {"high"}, "Essay": {"pass"}},
    ]
    [(box, decision, certain)] = general.counterfactual_regions(d, applicant)
    assert (said(d, [box]), decision, certain) == ([{"Interview": {"pass"}}], "Accept", True)


HILL = one_test(
    {"kind": "numeric"}, ("< 1", "low"), ("[1, 2)", "high"), (["[2, 3)", ">= 3"], "low"), ("missing", "low")
)
"""Numbers in four states and missing values; only those from 1 to 2 are high."""


def test_a_hill_seen_from_beside_it() -> None:
    for intervals, expected in ((True, [(("X", (2, 3, 4)),)]), (False, [(("X", (0, 2, 3, 4)),)])):
        assert general.sufficient_boxes(HILL, {"X": 2.5}, {"X"}, intervals=intervals) == expected
        assert general.necessary_boxes(HILL, {"X": 2.5}, {"X"}, intervals=intervals) == [(("X", (1,)),)]
    # What is missing may join numbers on either side.
    boxes = general.sufficient_boxes(HILL, {"X": None}, {"X"})
    assert boxes == [(("X", (2, 3, 4)),), (("X", (0, 4)),)]


def test_a_hill_seen_from_its_top() -> None:
    top = {"X": 1.5}
    assert general.sufficient_boxes(HILL, top, {"X"}) == [(("X", (1,)),)]
    assert general.necessary_boxes(HILL, top, {"X"}) == [(("X", (2, 3, 4)),), (("X", (0, 4)),)]
    assert general.necessary_boxes(HILL, top, {"X"}, intervals=False) == [(("X", (0, 2, 3, 4)),)]
    assert general.negated(HILL, (("X", (2, 3, 4)),)) == (("X", (0, 1)),)
    # Never advice: that a value be missing.
    assert general.counterfactual_regions(HILL, top) == [
        ((("X", (0,)),), "low", True),
        ((("X", (2, 3)),), "low", True),
    ]
    assert general.counterfactual_regions(HILL, top, missing=True)[0] == ((("X", (0, 4)),), "low", True)


def test_how_far_it_is() -> None:
    assert general.crossed(HILL, "X", 0, 3) == 1
    assert general.crossed(HILL, "X", 1, 2) == Fraction(1, 3)
    assert general.crossed(HILL, "X", 0, 4) == general.crossed(HILL, "X", 4, 3) == Fraction(1, 4)
    colours = one_test({"kind": "nominal", "states": ["r", "g", "b"]}, (["r"], "a"), (["g", "b"], "b"))
    assert general.crossed(colours, "X", 0, 2) == Fraction(1, 2)
    assert general.moved(HILL, {"X": 0}, (("X", (2, 3)),)) == Fraction(2, 3)


def test_every_feature_that_changes_the_decision_alone_comes_before_any_comes_twice() -> None:
    """X leads to b or c on either side, and Y, more states away, to b."""
    d = {
        "quia": 1,
        "variables": {"X": {"kind": "numeric"}, "Y": {"kind": "numeric"}},
        "classes": ["a", "b", "c"],
        "root": "y",
        "nodes": {
            "y": {"test": "Y", "edges": [{"if": "< 3", "to": "x"}, {"if": ">= 3", "to": "b"}]},
            "x": {
                "test": "X",
                "edges": [{"if": "< 1", "to": "b"}, {"if": "[1, 2)", "to": "a"}, {"if": ">= 2", "to": "c"}],
            },
            **{c: {"class": c} for c in "abc"},
        },
    }
    assert general.counterfactual_regions(d, {"X": 1, "Y": 0}) == [
        ((("X", (0,)),), "b", True),
        ((("Y", (1,)),), "b", True),
        ((("X", (2,)),), "c", True),
    ]
    assert [r[1] for r in general.counterfactual_regions(d, {"X": 1, "Y": 0}, against="c")] == ["c"]
    dear = general.counterfactual_regions(d, {"X": 1, "Y": 0}, costs={"X": 2})
    assert dear == [((("Y", (1,)),), "b", True)]


def test_unknown_values_make_changes_uncertain() -> None:
    """Whatever Y is, x0 is a; x1 is b or c by Y; x2 is c."""
    d = {
        "quia": 1,
        "variables": {x: {"kind": "nominal", "states": [f"{x}{i}" for i in range(3)]} for x in "XY"},
        "classes": ["a", "b", "c"],
        "root": "x",
        "nodes": {
            "x": {"test": "X", "edges": [{"if": [f"X{i}"], "to": to} for i, to in enumerate(("a", "y", "c"))]},
            "y": {"test": "Y", "edges": [{"if": ["Y0"], "to": "b"}, {"if": ["Y1", "Y2"], "to": "c"}]},
            **{c: {"class": c} for c in "abc"},
        },
    }
    assert general.counterfactual_regions(d, {"X": "X0"}) == [
        ((("X", (2,)),), "c", True),
        ((("X", (1,)),), "b", False),
        ((("X", (1, 2)),), "c", False),
    ]
    assert general.necessary_boxes(d, {"X": "X0"}, {"X"}) == [(("X", (1, 2)),)]


def test_the_smallest_box_with_two_instances_in_it() -> None:
    assert general.smallest_box(HILL, {"X": 0}, {"X": 2.5}) == (("X", (0, 1, 2)),)
    assert general.smallest_box(HILL, {"X": 0}, {"X": None}) == (("X", (0, 4)),)
    assert not general.forces(HILL, general.smallest_box(HILL, {"X": 0}, {"X": 2.5}), {"low"})
    assert general.forces(HILL, general.smallest_box(HILL, {"X": 0}, {"X": None}), {"low"})
    assert general.smallest_box(HILL, {}, {"X": 0}) == ()


def test_rows_in_a_box() -> None:
    rows = [{"X": 0}, {"X": 0.5}, {"X": 2.5}, {"X": None}, {}]
    assert general.rows_in(HILL, (("X", (0, 4)),), rows) == 3
    listed = general.general_reasons("sufficient", HILL, {"X": None}, rows=rows)
    assert listed == [(("X", (0, 4)),), (("X", (2, 3, 4)),)]
    assert general.rows_in(HILL, (), rows) == 5


# Laws


def decided_cases(seed: int) -> Iterator[Case]:
    rng = Random(seed)
    for _ in range(EACH):
        case = random_case(rng, **SMALL)
        if oracle.classify(case.graph, case.instance) != case.against:
            yield case


@pytest.mark.parametrize("seed", range(6))
def test_sufficient_boxes_are_primes_of_the_general_reason(seed: int) -> None:
    """They lie in the general reason, none in another, and each says something of each of its features."""
    for case in decided_cases(seed):
        d, asked = case.graph, (case.graph, case.instance, case.against, case.frozen)
        worlds = general.general_reason(*asked)
        sufficient = oracle.sufficient_reasons(*asked)
        for features, intervals in product(sufficient, (True, False)):
            boxes = general.sufficient_boxes(d, case.instance, features, case.against, case.frozen, intervals=intervals)
            assert boxes, case
            for box in boxes:
                inside = {w for w in oracle.worlds(d) if general.is_in(box, general.indices(d, w))}
                assert inside <= worlds, (case, box)
                assert not any(general.contains(other, box) for other in boxes if other != box)
                assert all(len(states) < len(oracle.space(d)[x]) for x, states in box), "else it could be dropped"


@pytest.mark.parametrize("seed", range(6))
def test_every_point_of_a_necessary_box_changes_the_decision(seed: int) -> None:
    for case in decided_cases(100 + seed):
        d, asked = case.graph, (case.graph, case.instance, case.against, case.frozen)
        keeps = general.classes_that_keep(d, case.instance, case.against)
        for features in oracle.necessary_reasons(*asked):
            changing = general.changing_points(d, case.instance, features, case.against, case.frozen)
            for intervals in (True, False):
                boxes = general.necessary_boxes(
                    d, case.instance, features, case.against, case.frozen, intervals=intervals
                )
                # Together they are all the changes there are.
                assert {point for box in boxes for point in general.points(box)} == changing, case
                for box in boxes:
                    for point in general.points(box):
                        new = {x: oracle.space(d)[x][s] for (x, _), s in zip(box, point, strict=True)}
                        assert oracle.classify(d, {**case.instance, **new}) not in keeps


@pytest.mark.parametrize("seed", range(4))
def test_sets_are_as_wide_as_intervals_at_least(seed: int) -> None:
    for case in decided_cases(200 + seed):
        asked = (case.graph, case.instance, case.against, case.frozen, case.costs)
        for kind in ("sufficient", "necessary"):
            narrow, wide = (general.general_reasons(kind, *asked, intervals=i) for i in (True, False))
            for box in narrow:
                assert any([x for x, _ in box] == [x for x, _ in w] and general.contains(w, box) for w in wide), case
            of_features = [
                list(dict.fromkeys(frozenset(x for x, _ in box) for box in found)) for found in (narrow, wide)
            ]
            plain = oracle.sufficient_reasons if kind == "sufficient" else oracle.necessary_reasons
            assert of_features == [general.in_order(case.graph, plain(*asked[:4]), case.costs)] * 2


@pytest.mark.parametrize("seed", range(4))
def test_sufficient_boxes_and_changes_exclude_one_another(seed: int) -> None:
    """Every box that forces the decision and every box that changes it lie apart in a feature that they share."""
    for case in decided_cases(300 + seed):
        asked = (case.graph, case.instance, case.against, case.frozen)
        changes = general.general_reasons("necessary", *asked, intervals=False)
        for box, change in product(general.general_reasons("sufficient", *asked, intervals=False), changes):
            forced, changed = dict(box), dict(change)
            assert any(set(forced[x]).isdisjoint(changed[x]) for x in forced.keys() & changed), case


@pytest.mark.parametrize("seed", range(4))
def test_the_general_reason_says_more_than_the_complete_one(seed: int) -> None:
    """The complete reason implies it, and it implies that the decision is kept; the instance meets it."""
    for case in decided_cases(400 + seed):
        d, asked = case.graph, (case.graph, case.instance, case.against)
        worlds = general.general_reason(*asked)
        assert oracle.complete_reason_models(*asked) <= worlds, case
        assert worlds.isdisjoint(oracle.refutations(*asked)), case
        assert oracle.world_of(d, case.instance) in worlds


@pytest.mark.parametrize("seed", range(4))
def test_regions_are_the_nearest_changes_put_together(seed: int) -> None:
    for case in decided_cases(500 + seed):
        d, asked = case.graph, (case.graph, case.instance, case.against, case.frozen, case.costs)
        cells = {
            (tuple((x, general.own_state(d, changes, x)) for x in d["variables"] if x in changes), c)
            for changes, c in oracle.counterfactuals(*asked)
        }
        regions = general.counterfactual_regions(*asked, missing=True)
        found = {
            (tuple(zip((x for x, _ in box), point, strict=True)), c)
            for box, c, _ in regions
            for point in general.points(box)
        }
        assert found == cells, case
        assert all(certain for *_, certain in regions)
        firsts = [frozenset(x for x, _ in box) for box, *_ in regions]
        assert len(set(firsts[: len(set(firsts))])) == len(set(firsts)) or case.costs, "each before any is there twice"


@pytest.mark.parametrize("seed", range(4))
def test_instances_with_a_common_reason(seed: int) -> None:
    """Congruent ones always have one, those of different classes never."""
    rng = Random(600 + seed)
    seen = set()
    for case in decided_cases(600 + seed):
        d = case.graph
        other = random_neighbour(rng, d, case.instance)
        keeps = {oracle.classify(d, case.instance)}
        forced = general.forces(d, general.smallest_box(d, case.instance, other), keeps)
        seen.add(forced)
        if forced:
            assert oracle.classify(d, other) in keeps
        if oracle.congruent(d, case.instance, other):
            assert forced, "what their shared states force, fewer worlds force too"
    assert seen == {True, False}
