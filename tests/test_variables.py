"""Values and states: exact at the cut and one ulp beside it."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quia
from quia.conditions import parse, states_where
from quia.cuts import Cut, nearest_single
from quia.errors import GraphError, InstanceError
from quia.variables import Variable

numbers = st.floats(allow_nan=False)
sides = st.sampled_from(["before", "after"])


@given(st.lists(st.tuples(numbers, sides), max_size=6), st.data())
def test_states_equal_the_comparisons(cuts: list[tuple[float, str]], data: st.DataObject) -> None:
    variable = Variable.numeric("x", cuts)
    near = [n for t, _ in cuts for n in (t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
    values = [data.draw(numbers), *near, math.inf, -math.inf, 0.0, -0.0]
    for a in values:
        for b in values:
            apart = any((a <= t) != (b <= t) if side == "after" else (a < t) != (b < t) for t, side in cuts)
            assert (variable.encode(a) != variable.encode(b)) == apart


@given(st.lists(numbers, max_size=6), st.data())
def test_single_precision_states_equal_the_cast_comparisons(cuts: list[float], data: st.DataObject) -> None:
    """scikit-learn casts the value to float32 and compares with the float64 threshold."""
    variable = Variable.numeric("x", cuts, single=True)
    singles = [float(np.float32(t)) for t in cuts if abs(t) < 3.4e38]
    beside = [float(np.nextafter(np.float32(t), np.float32(s))) for t in singles for s in (-np.inf, np.inf)]
    values = [data.draw(st.floats(allow_nan=False, min_value=-3e38, max_value=3e38)), *singles, *beside, 0.0]
    for a in values:
        for b in values:
            apart = any((float(np.float32(a)) <= t) != (float(np.float32(b)) <= t) for t in cuts)
            assert (variable.encode(a) != variable.encode(b)) == apart


@given(st.floats())
def test_nearest_single_is_the_cast(number: float) -> None:
    with np.errstate(over="ignore"):
        assert np.array_equal(nearest_single(number), float(np.float32(number)), equal_nan=True)


def test_adjacent_cuts_make_no_empty_state() -> None:
    above = math.nextafter(1.0, 2.0)
    assert Variable.numeric("x", [(1.0, "after"), (above, "before")]).size == 2
    assert Variable.numeric("x", [(1.0, "after"), (1.0, "before")]).size == 3
    assert Variable.numeric("x", [0.1, 0.1 + 1e-12], single=True).size == 2
    assert Variable.numeric("x", [math.inf, (-math.inf, "before")]).size == 1


@pytest.mark.parametrize(
    "value", [3, 3.0, "3", " 3 ", "3e0", np.float32(3), np.int64(3), Decimal(3), Fraction(3), True]
)
def test_values_that_are_numbers(value: Any) -> None:
    assert Variable.numeric("x", [0.5]).encode(value) == 1


@pytest.mark.parametrize("value", ["three", "1_000", [], {}, object(), 10**400, "0x10"])
def test_values_that_are_no_numbers(value: Any) -> None:
    with pytest.raises(quia.InstanceError, match="x is "):
        Variable.numeric("x", [0.5]).encode(value)


def test_a_decimal_comma_is_told_from_other_texts() -> None:
    width = Variable.numeric("x", [2])
    with pytest.raises(InstanceError, match="x is '2,5', which is not a number; write decimals with a point, and no"):
        width.encode("2,5")
    with pytest.raises(InstanceError, match=r"x is 'wide, I think', which is not a number$"):
        width.encode("wide, I think")


@pytest.mark.parametrize("value", [None, math.nan, "nan", "", "?", np.float64("nan"), Decimal("sNaN")])
def test_missing_is_a_state_where_it_is_routed(value: Any) -> None:
    routed = Variable.numeric("x", [0.5], missing=True)
    assert routed.text(routed.encode(value)) == "missing"
    with pytest.raises(quia.InstanceError, match="does not say where a missing value goes"):
        Variable.numeric("x", [0.5]).encode(value)


@pytest.mark.parametrize("single", [False, True])
def test_intervals_up_to_infinity_exclude_it(single: bool) -> None:
    variable = Variable.numeric("x", [-math.inf, 1, (math.inf, "before")], single=single)
    texts = [variable.text(state) for state in range(variable.size)]
    assert (texts[0], texts[-1]) == ("<= -inf", ">= inf")
    for state, text in enumerate(texts):
        assert states_where(variable, [parse(text)]) == ((state, state),), text


@pytest.mark.parametrize("value", ["1", 1, 1.0, True, np.int8(1), np.True_])
def test_boolean_values(value: Any) -> None:
    assert Variable.nominal("b", ["0", "1"]).encode(value) == 1


@pytest.mark.parametrize("value", [True, 1, 1.0, np.int8(1), np.True_, Decimal(1)])
@pytest.mark.parametrize("words", [["False", "True"], ["false", "true"]])
def test_truth_values_are_numbers(words: list[str], value: Any) -> None:
    """Models do not tell True from 1; but where states are numbered, a number is the state's."""
    assert Variable.nominal("b", words).encode(value) == 1
    assert Variable("b", tuple(reversed(words)), numbered=True).encode(1) == 1


@pytest.mark.parametrize("value", [False, 0, 0.0, np.int8(0), np.False_, Decimal(0)])
def test_falsehood_is_a_number_too(value: Any) -> None:
    assert Variable.nominal("b", ["true", "false"]).encode(value) == 1
    assert Variable.nominal("b", ["0", "1"]).encode(value) == 0


@pytest.mark.parametrize("value", [2**1023, 2**1024, -(2**1024), 10**400])
def test_numbers_beyond_all_measure_are_no_state(value: int) -> None:
    with pytest.raises(InstanceError, match="its states are 0, 1"):
        Variable.nominal("b", ["0", "1"]).encode(value)


def test_states_in_phrases() -> None:
    age = Variable.numeric("age", [Cut(18.0), Cut(65.0, False)], missing=True)
    assert [age.phrase(state) for state in range(4)] == ["age <= 18", "age in (18, 65)", "age >= 65", "age is missing"]
    assert Variable.nominal("sex", ["F", "M"]).phrase(1) == "sex=M"


def test_texts_of_truth_values_and_spaces_around_texts() -> None:
    """Where states are `true` and `false`, as in PMML, their other spellings count; elsewhere a text is what it is."""
    member = Variable.nominal("member", ["false", "true", "any other"], other="any other")
    texts = {" true": "true", "TRUE": "true", "False": "false", "0": "false", "1": "true", "yes": "any other"}
    assert {text: member.text(member.encode(text)) for text in texts} == texts
    town = Variable.nominal("town", [" Ghent", "Lyon", "True", "any other"], other="any other")
    known = {" Ghent": " Ghent", "Ghent": "any other", " Lyon ": "Lyon", "TRUE": "any other"}
    assert {text: town.text(town.encode(text)) for text in known} == known


def test_a_record_is_a_row_and_a_table_is_none() -> None:
    graph = quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": {"x": {"kind": "numeric"}},
            "classes": ["no", "yes"],
            "root": "x",
            "nodes": {
                "x": {"test": "x", "edges": [{"if": "<= 0", "to": "n"}, {"if": "> 0", "to": "y"}]},
                "n": {"class": "no"},
                "y": {"class": "yes"},
            },
        }
    )
    frame = pd.DataFrame({"x": [1.0]})
    assert graph.classify(frame.to_records(index=False)[0]) == "yes"
    for wrong in (frame, np.array(1.0), np.zeros((1, 1))):
        with pytest.raises(InstanceError, match="the instance is"):
            graph.classify(wrong)


def test_whole_numbers_are_not_rounded() -> None:
    code = Variable.nominal("code", [str(2**53), "7.0", "1e+16", "other"], other="other")
    for value, label in ((2**53, str(2**53)), (2**53 + 1, "other"), (7, "7.0"), (10**16, "1e+16"), (10**5000, "other")):
        assert code.text(code.encode(value)) == label


def test_an_unknown_state_is_named_with_its_cure() -> None:
    gpa = Variable.nominal("GPA", ["low", "medium", "high"])
    with pytest.raises(quia.InstanceError) as fault:
        gpa.encode("midium")
    assert str(fault.value) == "GPA is 'midium'; its states are low, medium, high (did you mean 'medium'?)"


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Variable.nominal("x", []), "no states"),
        (lambda: Variable.nominal("x", ["a", "a"]), "'a' twice"),
        (lambda: Variable.nominal("x", "abc"), "list of strings"),
        (lambda: Variable.nominal("x", ["a", 1]), "states are strings"),
        (lambda: Variable.nominal("", ["a"]), "name"),
        (lambda: Variable.numeric("x", [math.nan]), "is cut at nan"),
        (lambda: Variable.numeric("x", [(1, "beside")]), "is cut at"),
        (lambda: Variable.numeric("x", ["one"]), "is cut at 'one'"),
    ],
)
def test_variables_that_are_none(make: Any, match: str) -> None:
    with pytest.raises(quia.GraphError, match=match):
        make()


def test_values_that_are_not_listed_or_missing() -> None:
    """One state may take what is not listed, another what is missing; neither takes what is the other's."""
    town = Variable.nominal("town", ["Ghent", "1", "any other", "lost"], other="any other", no_value="lost")
    for value, label in (("Ghent", "Ghent"), ("Paris", "any other"), (1.0, "1"), (2, "any other"), ("lost", "lost")):
        assert town.text(town.encode(value)) == label
    for value in (None, float("nan"), "", "?", " "):
        assert town.text(town.encode(value)) == "lost"
    with pytest.raises(InstanceError, match="town is missing"):
        Variable.nominal("town", ["Ghent", "other"], other="other").encode(None)
    with pytest.raises(InstanceError, match="its states are Ghent, none"):
        Variable.nominal("town", ["Ghent", "none"], no_value="none").encode("Paris")
    with pytest.raises(GraphError, match="no state 'Bari'"):
        Variable.nominal("town", ["Ghent"], other="Bari")


@given(
    number=st.floats(width=32, allow_nan=False, allow_infinity=False), other=st.floats(-1e9, 1e9), after=st.booleans()
)
def test_short_texts_of_single_numbers(number: float, other: float, after: bool) -> None:
    """A number as it is read in the text of a cut is on the side that the text says, and nothing lies between."""
    for threshold in (number, other):
        variable = Variable.numeric("x", [(threshold, after)], single=True)
        if not variable.cuts or abs(threshold) > 3e38:
            continue
        sign, text = variable.text(0).split()
        assert variable.encode(text) == (0 if sign == "<=" else 1)
        beside = np.nextafter(np.float32(text), np.float32(np.inf if sign == "<=" else -np.inf))
        assert variable.encode(float(beside)) == (1 if sign == "<=" else 0)
        assert len(text) <= len(repr(threshold))
