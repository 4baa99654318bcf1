"""Questions: what is asked of a decision, put once."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import quia
from quia.asking import Terms, ask, why
from quia.errors import InstanceError
from quia.question import given_values
from quia.region import Region
from quia.variables import UNKNOWN

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


@pytest.fixture(scope="module")
def admissions(examples: Path) -> Any:
    return quia.load(examples / "admissions.json")


@pytest.fixture(scope="module")
def iris() -> Any:
    """Three classes, one of which no leaf has, and a feature that is not tested."""
    cut = [{"if": "<= 1", "to": "a"}, {"if": "> 1", "to": "b"}]
    return quia.DecisionGraph.from_dict({
        "quia": 1,
        "variables": {"W": {"kind": "numeric"}, "note": {"kind": "nominal", "states": ["x", "y"]}},
        "classes": ["a", "b", "c"],
        "root": "w",
        "nodes": {"w": {"test": "W", "edges": cut}, "a": {"class": "a"}, "b": {"class": "b"}},
    })  # fmt: skip


def test_why_keeps_the_decision_alone_and_why_not_all_but_the_class(iris: Any) -> None:
    plain, against = Terms.of(iris), Terms.of(iris, against="c")
    assert (plain.target, plain.keeps(1)) == (None, {1})
    assert (against.target, against.keeps(0), against.keeps(1)) == (2, {0, 1}, {0, 1})
    assert against.keeps(2) == {0, 1}, "the decision is not kept, so there is nothing to ask"
    _, question = ask(iris, {"W": 0.5}, against="b")
    assert (question.states, question.decision, question.keeps, question.against) == ((0, UNKNOWN), 0, {0, 2}, "b")
    assert (question.classes, question.variables) == (("a", "b", "c"), iris.variables)
    assert why(iris, (1, UNKNOWN)).keeps == {1}


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"against": "d"}, "against is 'd'; the classes are a, b, c"),
        (
            {"against": "a"},
            "the decision is 'a' already, so there is no 'why not a'; ask why it is",
        ),
        ({"frozen": ["V"]}, "'V'"),
        ({"frozen": "W"}, "'W'"),
        ({"costs": {"V": 1}}, "a cost is given for 'V', which is no feature"),
        ({"costs": {"W": 0}}, "W"),
        ({"costs": 3}, "costs is 3; give a mapping from feature to number"),
    ],
)
def test_what_cannot_be_asked(iris: Any, asked: dict[str, Any], fault: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(fault)):
        ask(iris, {"W": 1}, **asked)
    with pytest.raises(InstanceError, match=re.escape(fault)):
        quia.explain(iris, {"W": 1}, **asked)
    if "costs" not in asked:
        with pytest.raises(InstanceError, match=re.escape(fault)):
            quia.verify(iris, {"W": 1}, ["W"], "sufficient", **asked)


def test_what_is_frozen_holds_the_possible_worlds(admissions: Any) -> None:
    _, question = ask(admissions, APPLICANT, frozen=["GPA", "Essay"])
    (gpa, essay), names = question.frozen, [v.name for v in question.variables]
    assert (names[gpa], names[essay]) == ("GPA", "Essay")
    assert question.within == Region.at(question.variables, question.states, (gpa, essay))
    assert question.is_only_frozen
    other = question.freeze([gpa])
    assert other.frozen == (gpa,) and set(other.within.bounds) == {gpa} and other.is_only_frozen
    assert question.freeze(()).within.bounds == {} and question.freeze(()).frozen == ()
    assert (other.keeps, other.states, other.costs) == (question.keeps, question.states, question.costs)


def test_freezing_leaves_what_else_is_impossible(admissions: Any) -> None:
    _, question = ask(admissions, APPLICANT, frozen=["GPA"])
    (gpa,), sat = question.frozen, 0
    tight = replace(question, possible=Region(question.variables, {sat: ((0, 0),), gpa: ((0, 1),)}))
    assert not tight.is_only_frozen and tight.within.states(gpa) == ((question.states[gpa],) * 2,)
    assert tight.freeze(()).within.bounds == {sat: ((0, 0),), gpa: ((0, 1),)}
    assert not tight.freeze(()).is_only_frozen
    assert set(tight.freeze([2]).within.bounds) == {sat, gpa, 2}
    assert gpa != sat


def test_unknown_variables_cannot_be_held(admissions: Any) -> None:
    _, question = ask(admissions, {**APPLICANT, "GPA": None}, frozen=["GPA"])
    gpa = question.frozen[0]
    assert question.states[gpa] == UNKNOWN and question.within.bounds == {}
    assert question.worlds(range(4)).bounds.keys() == set(range(4)) - {gpa}
    assert gpa not in question.differing((0,) * 4)


def test_worlds_keep_or_change(admissions: Any) -> None:
    _, question = ask(admissions, APPLICANT)
    own = {v: ((s, s),) for v, s in enumerate(question.states)}
    assert question.worlds([1, 2]).bounds == {1: own[1], 2: own[2]}
    assert question.worlds_changing([1, 2]).bounds == {0: own[0], 3: own[3]}
    assert question.worlds([]).bounds == {}
    tight = replace(question, possible=Region(question.variables, {1: ((0, 1),), 2: ((0, 0),)}))
    assert tight.worlds([1]).bounds == {1: own[1], 2: ((0, 0),)}, (
        "what is kept is the instance's state, the rest possible"
    )
    changed = [s if v != 1 else 1 - s for v, s in enumerate(question.states)]
    assert question.differing(changed) == (1,) and question.differing(question.states) == ()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_questions_travel(admissions: Any, way: Any) -> None:
    _, question = ask(admissions, APPLICANT, against="Accept", frozen=["GPA"], costs={"SAT": 0.5})
    assert question.is_only_frozen  # kept from now on, and not taken along
    again = way(question)
    for name in question.__dataclass_fields__:
        assert getattr(again, name) == getattr(question, name)
    terms = Terms.of(admissions, against="Accept", frozen=["GPA"], costs={"SAT": 0.5})
    assert way(terms) == terms


def test_values_as_they_were_given(iris: Any) -> None:
    assert given_values(iris.variables, {"W": "1", "other": 2}) == {"W": "1"}
    assert given_values(iris.variables, [3, None]) == {"W": 3, "note": None}
    with pytest.raises(InstanceError, match="the instance has 1 values; the classifier has 2 variables"):
        given_values(iris.variables, [3])


def test_a_plain_why_has_no_class_that_is_never_given(iris: Any) -> None:
    assert not quia.explain(iris, {"W": 1}, frozen=["W"]).answer().is_never
    answer = quia.explain(iris, {"W": 1}, against="c").answer()
    assert answer.is_never and answer.is_constant
    assert not quia.explain(iris, {"W": 1}, against="b", frozen=["W"]).answer().is_never
