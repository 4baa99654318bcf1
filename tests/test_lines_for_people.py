"""Numbers that are not cut, as people read them: rounded to the safe side, and nowhere a list of all their states."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest

import quia
from quia import Additive, Variable
from quia.cuts import number_text
from quia.literal import Literal
from quia.rounding import inwards
from quia.show.html import page
from quia.sums import Rule
from quia.terms import Line, Table
from quia.web.answers import compare, describe, typical

ANNA = {"job": "new", "income": 31_240.5, "age": 33, "debt": 12_000.25, "home": "rents"}


@pytest.fixture
def card() -> Additive:
    job, home = Variable.nominal("job", ["none", "new", "old"]), Variable.nominal("home", ["rents", "owns"])
    income, debt = Variable.line("income", 0, 250_000), Variable.line("debt", 0, 90_000, missing=True)
    age = Variable.numeric("age", [25, 40, 60])
    terms = (
        Table(0, np.array([[0.0], [10.0], [25.0]])),
        Line(1, (), (0.0007,)),
        Table(2, np.array([[0.0], [5.0], [12.0], [7.0]])),
        Line(3, (), (-0.0011,), missing=(-30.0,)),
        Table(4, np.array([[0.0], [15.0]])),
    )
    return Additive((job, income, age, debt, home), ("deny", "grant"), terms, (0.0,), Rule("cuts", (40.0,)))


@pytest.mark.parametrize("seed", range(200))
def test_rounding_goes_inwards_by_a_thousandth_at_most(seed: int) -> None:
    draw = random.Random(seed)
    scale = 10.0 ** draw.randint(-6, 9)
    first, second = draw.uniform(-scale, scale), draw.uniform(-scale, scale)
    line = Variable.line("x", -2 * scale, 2 * scale)
    low, high = sorted((line.encode(first), line.encode(second)))
    ends = Fraction(line.number(low)), Fraction(line.number(high))
    own = draw.choice([draw.uniform(*map(float, ends)), float(ends[0]), float(ends[1]), 3 * scale, None])
    exact = line.interval(low, high)
    lower, upper = inwards(exact, float(ends[0]), float(ends[1]), own)
    least = Fraction(lower.threshold) if not lower.after else Fraction(np.nextafter(lower.threshold, np.inf))
    most = Fraction(upper.threshold) if upper.after else Fraction(np.nextafter(upper.threshold, -np.inf))
    room = (ends[1] - ends[0]) / 1000
    assert ends[0] <= least <= ends[0] + room
    assert ends[1] - room <= most <= ends[1]
    if own is not None and ends[0] <= Fraction(own) <= ends[1]:
        assert least <= Fraction(own) <= most
    else:
        digits = [number_text(abs(cut.threshold)).partition("e")[0] for cut in (lower, upper)]
        assert all(len(text.replace(".", "").strip("0")) <= 5 + abs(scale > 1e3) * 3 for text in digits)


def test_what_is_read_is_narrower_than_what_is_written(card: Additive) -> None:
    income = card.variables[1]
    states = ((income.encode(31_240.48271604938), income.size - 1),)
    exact, read = Literal(income, states), Literal(income, states, income.encode(60_000))
    assert exact == read
    assert str(exact) == "income >= 31240.48271604938"
    assert (str(read), read.signs, read.words) == ("income >= 31300", "≥ 31300", "at least 31300")
    assert read.text == exact.text == ">= 31240.48271604938"
    assert read.condition == exact.condition
    assert str(Literal(income, states, income.encode(31_241.5))) == "income >= 31241"
    assert str(Literal(income, ((income.encode(31_240.5), income.size - 1),), income.size - 1)) == "income >= 31240.5"
    own = income.encode(31_240.5)
    others = Literal(income, ((own, own),)).negated
    assert others is not None
    assert (str(others), others.words) == ("income ≠ 31240.5", "other than 31240.5")


def test_reasons_are_true_as_they_are_read(card: Additive) -> None:
    why = quia.explain(card, ANNA)
    sufficient = list(why.sufficient_reasons(general=True))
    assert len(sufficient) == 4
    for reason in sufficient:
        quia.verify(card, ANNA, reason, "sufficient", maximal=True)
        read = {literal.feature: str(literal).removeprefix(f"{literal.feature} ") for literal in reason}
        numbers = {name: text for name, text in read.items() if name in ("income", "debt")}
        said = {literal.feature: numbers.get(literal.feature, literal.text) for literal in reason}
        quia.verify(card, ANNA, said, "sufficient")
        assert all(len(text) < 20 for text in numbers.values())
        # Every line gives way: none is held at the instance's own number.
        assert not any("31240.5" in text or "12000.25" in text for text in numbers.values())
    for reason in why.necessary_reasons(general=True):
        for literal in reason.changes:
            if literal.variable.is_line:
                end = float(str(literal).rpartition(" ")[2])
                others = {other.feature: other for other in reason.changes if other is not literal}
                changed = {name: "old" if name == "job" else "owns" if name == "home" else 50 if name == "age" else 0.0
                           for name in others}  # fmt: skip
                assert card.classify(ANNA | changed | {literal.feature: end}) == "grant"


def test_the_nearest_change_crosses_the_smallest_share_of_its_range() -> None:
    """In numbers: between 1e-300 and 1 lie more of them than between 1 and 1000."""
    near, far = Variable.line("near", 0, 1000), Variable.line("far", 0, 1000)
    card = Additive(
        (far, near), ("no", "yes"), (Line(0, (), (1.0,)), Line(1, (), (10.0,))), (0.0,), Rule("cuts", (900.0,))
    )
    changes = quia.explain(card, {"near": 0, "far": 300}).counterfactuals()
    assert [change.features for change in changes] == [("near",), ("far",)]


def test_nothing_lists_the_states_of_a_line(card: Additive) -> None:
    """Each of these would need more memory than there is."""
    why = quia.explain(card, ANNA)
    other = ANNA | {"income": 31_000}
    common = why.common_reason(other)
    assert common is not None
    for instance in (ANNA, other):
        assert all(literal.holds(instance[literal.feature]) for literal in common)
        quia.verify(card, instance, common, "sufficient")
    assert compare(card, {"one": ANNA, "other": other})["congruent"] is False
    described = describe(card, name="a card", identity="1")
    income = described["variables"][1]
    assert (income["states"], income["cuts"], income["range"]) == ([], [], [0.0, 250_000.0])
    assert typical(card.variables[1]) == 130_000
    formula = quia.NNF.from_dict(json.loads(json.dumps(why.complete_reason.to_dict())), card.variables)
    assert str(formula) == str(why.complete_reason)
    shown = page(why)
    assert "What each feature adds" in shown
    assert "The score begins with 0." in shown
    assert "which is 16.33 below" in shown
    assert "any value in its range, and none outside: income 0 to 250000, debt 0 to 90000." in shown
    assert "54571.82142857142" not in shown.partition('id="quia-explanation"')[0]


def test_numbers_in_32_bits_are_read_with_their_own_digits(card: Additive) -> None:
    given = ANNA | {"income": np.float32(31_240.1), "debt": np.float32(12_000.3)}
    why = quia.explain(card, given)
    codes = why.reason_codes()
    shown = page(why).partition('id="quia-explanation"')[0]
    assert "31240.1<" in shown and "here 31240.1" in shown and "now 31240.1" in shown
    assert "31240.099609375" not in shown.replace("= 31240.099609375", "").replace("exactly 31240.099609375", "")
    for text in (str(why), str(codes), codes._repr_html_()):
        assert "31240.1" in text and "31240.099609375" not in text and "12000.2998" not in text
    assert {code.feature: code.to_dict()["value"] for code in codes.codes}["income"] == 31240.099609375, (
        "as it is added"
    )


def test_what_is_favourable_of_a_line_needs_no_number() -> None:
    lines = [Variable.line(name, -300, 300) for name in "abc"]
    terms = tuple(Line(at, (), (weight,)) for at, weight in enumerate((0.01, -0.01, 0.05)))
    model = Additive(tuple(lines), ("deny", "grant"), terms, (0.0,), Rule("cuts", (12.0,)))
    person = {"a": -171.1662690995219, "b": 193.38894578858836, "c": 100.1234567890123}
    codes = quia.explain(model, person).reason_codes()
    assert [code.feature for code in codes.codes] == ["c", "b", "a"][: len(codes.codes)]
    for code in codes.codes:
        way = {"a": "any higher a", "b": "any lower b", "c": "any higher c"}[code.feature]
        assert code.alone or (f"favourable is {way}\n" in str(codes) and f"<td>{way}</td>" in codes._repr_html_())
        assert not code.favourable.holds(person[code.feature])
    assert any(not code.alone for code in codes.codes)
