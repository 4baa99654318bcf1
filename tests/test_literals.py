"""Literals and regions: sets of states, the words for them, and the conditions that name them."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
from itertools import combinations, pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest

from quia.conditions import parse, states_touched, states_where
from quia.cuts import nearest_single
from quia.errors import GraphError, InstanceError
from quia.literal import Literal, State
from quia.ranges import Ranges, union
from quia.region import Region
from quia.variables import MISSING, UNKNOWN, Variable

THRESHOLDS = (0.0, 1.0, 2.5, -3.0, 0.1, 1450.0, 0.1 + 0.2, -1e-9, 1e300, 2.0**53, 2.45)


def random_variable(rng: Random, *, single: bool | None = None) -> Variable:
    if rng.random() < 0.4 and single is None:
        return Variable.nominal("X", rng.sample(["low", "medium", "high", "n/a", "≠", "a or b"], rng.randint(1, 5)))
    cuts = [(t, rng.choice(("before", "after"))) for t in rng.sample(THRESHOLDS, rng.randint(0, 4))]
    is_single = rng.random() < 0.3 if single is None else single
    return Variable.numeric("X", cuts, missing=rng.random() < 0.4, single=is_single)


def random_literal(rng: Random, variable: Variable) -> Literal:
    chosen = rng.sample(range(variable.size), rng.randint(1, variable.size))
    return Literal(variable, union((s, s) for s in chosen))


def values_of(variable: Variable) -> list[Any]:
    """Values at, beside and between the cuts, each state's among them."""
    if variable.labels is not None:
        return list(variable.labels)
    return [*numbers_near(cut.threshold for cut in variable.cuts), *([math.nan, None] if variable.missing else [])]


def numbers_near(thresholds: Any) -> list[float]:
    """The numbers themselves, one ulp beside them, in 64 and in 32 bits, far from them and between them."""
    found = {0.0, -math.inf, math.inf, -1e308, 1e308}
    for t in thresholds:
        for number in (t, nearest_single(t)):
            found |= {number, *(math.nextafter(number, side) for side in (-math.inf, math.inf))}
        ulp = abs(nearest_single(t)) * 2**-23 or 2.0**-149
        found |= {nearest_single(t) + k * ulp for k in (-2, -1, 1, 2)}
    numbers = sorted(number for number in found if not math.isnan(number))
    return numbers + [a / 2 + b / 2 for a, b in pairwise(numbers) if not math.isnan(a / 2 + b / 2)]


@pytest.mark.parametrize("seed", range(5))
def test_a_literal_holds_for_the_values_of_its_states(seed: int) -> None:
    rng = Random(seed)
    for _ in range(150):
        variable = random_variable(rng)
        literal = random_literal(rng, variable)
        states = set(literal.states)
        assert literal.feature == "X" and states and list(literal.states) == sorted(states)
        negated = literal.negated
        assert (negated is None) == (len(states) == variable.size)
        for state in range(variable.size):
            assert literal.covers(state) == (state in states)
            assert negated is None or negated.covers(state) != literal.covers(state)
        assert negated is None or negated.negated == literal
        for value in values_of(variable):
            assert literal.holds(value) == (variable.encode(value) in states)
        assert not literal.holds("none of these") and not literal.holds(object())
        one = len(union((s, s) for s in states)) == 1
        is_missing = variable.missing and variable.size - 1 in states
        assert literal.is_interval == (variable.is_numeric and one and not is_missing)


@pytest.mark.parametrize("seed", range(5))
def test_the_text_of_a_literal_names_its_states_and_no_other(seed: int) -> None:
    """Read as conditions of the JSON format, joined by 'or', the text gives the states back."""
    rng = Random(10 + seed)
    for _ in range(150):
        variable = random_variable(rng)
        literal = random_literal(rng, variable)
        assert set(literal.states) == read_back(variable, literal.text), (variable, literal)
        if len(literal.states) == 1:
            (state,) = literal.states
            single = State(variable, state)
            assert literal.text == variable.text(state) == single.text
            assert str(literal) == str(single) == variable.phrase(state)
            assert literal == single and hash(literal) == hash(single) and single.index == state


@pytest.mark.parametrize("single", [None, False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_structured_condition_decides_every_value_as_the_literal_does(seed: int, single: bool | None) -> None:
    rng = Random(50 + seed)
    for _ in range(100):
        variable = random_variable(rng, single=single)
        literal = random_literal(rng, variable)
        condition = json.loads(json.dumps(literal.condition, allow_nan=False))
        assert condition == literal.condition
        assert (condition["feature"], condition["text"]) == ("X", literal.text)
        for value in values_of(variable):
            assert meets(condition, value) == literal.holds(value), (variable, condition, value)


def test_cuts_beside_infinity_are_told_by_finite_numbers() -> None:
    for single, beyond in ((False, math.inf), (True, math.inf), (True, 1e39)):
        largest = nearest_single(3.4028234663852886e38) if single else math.nextafter(math.inf, 0)
        before = "before" if beyond == math.inf else "after"
        variable = Variable.numeric("X", [(-beyond, "after"), 0, (beyond, before)], single=single)
        assert variable.size == 4
        for ranges in (((0, 0),), ((1, 1),), ((0, 2),), ((3, 3),), ((2, 3),), ((0, 0), (3, 3))):
            literal = Literal(variable, ranges)
            condition = json.loads(json.dumps(literal.condition, allow_nan=False))
            for value in (-math.inf, -largest, -1.0, 0.0, 1.0, largest, math.inf):
                assert meets(condition, value) == literal.holds(value), (condition, value)


def test_nothing_is_minus_zero() -> None:
    condition = State(Variable.numeric("W", [-0.0]), 0).condition
    assert (repr(condition["intervals"][0]["high"]), condition["text"]) == ("0.0", "<= 0")


def meets(condition: dict[str, Any], value: Any) -> bool:
    """Whether a value meets a condition as its documentation reads."""
    if "in" in condition:
        return value in condition["in"]
    if value is None or math.isnan(value):
        return bool(condition["missing"])
    with np.errstate(over="ignore"):
        x = float(np.float32(value)) if condition.get("type") == "float32" else value
    return any(
        (i["low"] is None or x > i["low"] or (i["low_closed"] and x == i["low"]))
        and (i["high"] is None or x < i["high"] or (i["high_closed"] and x == i["high"]))
        for i in condition["intervals"]
    )


def read_back(variable: Variable, text: str) -> set[int]:
    """The states that a text means, by the values that it admits."""
    if variable.labels is not None:
        if text.startswith("≠ ") and text not in variable.labels:
            return {s for s, label in enumerate(variable.labels) if label != text[2:]}
        if text in variable.labels:
            return {variable.labels.index(text)}
        names = re.fullmatch(r"(not )?in \{(.*)\}", text)
        assert names is not None, text
        named = {variable.labels.index(name) for name in names[2].split(", ")}
        return set(range(variable.size)) - named if names[1] else named
    conditions = ["(-inf, inf)"] if text == "not missing" else text.split(" or ")
    numbers = (x for x in values_of(variable) if x == x and x is not None)
    states = {variable.encode(x) for x in numbers if admits(conditions, x, variable)}
    return states | ({variable.size - 1} if MISSING in conditions else set())


def admits(conditions: list[str], x: float, variable: Variable) -> bool:
    """Whether a number is in one of these, compared in the model's type."""
    x = nearest_single(x) if variable.single else x
    for condition in conditions:
        if condition in (MISSING, "(-inf, inf)"):
            if condition != MISSING:
                return True
            continue
        compared = re.fullmatch(r"(<=|>=|<|>) (\S+)", condition)
        pairs = [compared.groups()] if compared else []
        if not compared:
            interval = re.fullmatch(r"([(\[])(.*), (.*)([)\]])", condition)
            assert interval is not None, condition
            opening, a, b, closing = interval.groups()
            pairs = [(">" if opening == "(" else ">=", a), ("<" if closing == ")" else "<=", b)]
        if all(compare(x, sign, rounded(float(t), variable)) for sign, t in pairs):
            return True
    return False


def rounded(t: float, variable: Variable) -> float:
    """A number that is written, as the model would take it; one that is too large for 32 bits stays one."""
    single = nearest_single(t)
    return single if variable.single and math.isfinite(single) else t


def compare(x: float, sign: str, t: float) -> bool:
    return {"<=": x <= t, ">=": x >= t, "<": x < t, ">": x > t}[sign]


@pytest.mark.parametrize(
    ("ranges", "text", "signs", "words", "denial", "shown"),
    [
        (((0, 0),), "<= 1", "≤ 1", "at most 1", "> 1 or missing", "W <= 1"),
        (((2, 2),), ">= 2", "≥ 2", "at least 2", "< 2 or missing", "W >= 2"),
        (((1, 1),), "(1, 2)", "> 1 and < 2", "more than 1 and less than 2", "<= 1 or >= 2 or missing", "W in (1, 2)"),
        (((0, 1),), "< 2", "< 2", "less than 2", ">= 2 or missing", "W < 2"),
        (((0, 2),), "not missing", "not missing", "known", "is missing", "W is not missing"),
        (((3, 3),), "missing", "missing", "missing", "is not missing", "W is missing"),
        (((2, 3),), ">= 2 or missing", "≥ 2 or missing", "at least 2 or missing", "< 2", "W >= 2 or missing"),
        (
            ((0, 3),),
            "(-inf, inf) or missing",
            "any number or missing",
            "any number or missing",
            "in {}",
            "W in (-inf, inf) or missing",
        ),
        (
            ((0, 0), (2, 3)),
            "<= 1 or >= 2 or missing",
            "≤ 1, ≥ 2 or missing",
            "at most 1, at least 2 or missing",
            "in (1, 2)",
            "W <= 1 or >= 2 or missing",
        ),
        (
            ((1, 1), (3, 3)),
            "(1, 2) or missing",
            "> 1 and < 2, or missing",
            "more than 1 and less than 2, or missing",
            "<= 1 or >= 2",
            "W in (1, 2) or missing",
        ),
    ],
)
def test_words_for_numbers(ranges: Ranges, text: str, signs: str, words: str, denial: str, shown: str) -> None:
    width = Variable.numeric("W", [1, (2, "before")], missing=True)
    literal = Literal(width, ranges)
    assert (literal.text, literal.signs, literal.words) == (text, signs, words)
    assert (literal.denial, str(literal)) == (f"W {denial}", shown)
    assert (literal.phrase, literal.sentence) == (f"W {words}", f"W is {words}")


def test_without_a_missing_state_a_comparison_is_denied_by_its_opposite() -> None:
    width = Variable.numeric("W", [1, (2, "before")])
    found = [Literal(width, ranges).denial for ranges in (((0, 0),), ((2, 2),), ((0, 1),), ((1, 1),), ((0, 2),))]
    assert found == ["W > 1", "W < 2", "W >= 2", "W <= 1 or >= 2", "W in {}"]


def test_a_number_that_is_all_there_is_beside_missing_is_known() -> None:
    age = Variable.numeric("age", missing=True)
    assert (State(age, 0).text, State(age, 0).signs, State(age, 0).words) == ("(-inf, inf)", "not missing", "known")
    assert (str(State(age, 0)), State(age, 0).denial) == ("age is not missing", "age is missing")
    assert (str(State(age, 1)), State(age, 1).denial) == ("age is missing", "age is not missing")


@pytest.mark.parametrize(
    ("states", "text", "words", "denial"),
    [
        ((1,), "medium", "medium", "GPA ≠ medium"),
        ((0, 1), "in {low, medium}", "low or medium", "GPA not in {low, medium}"),
        ((0, 1, 2), "not in {top, none}", "other than top or none", "GPA in {top, none}"),
        ((0, 1, 3, 4), "≠ high", "other than high", "GPA=high"),
        ((0, 1, 2, 3, 4), "in {low, medium, high, top, none}", "any value", "GPA in {}"),
    ],
)
def test_words_for_names(states: tuple[int, ...], text: str, words: str, denial: str) -> None:
    gpa = Variable.nominal("GPA", ["low", "medium", "high", "top", "none"])
    literal = Literal(gpa, union((s, s) for s in states))
    assert (literal.text, literal.words, literal.denial) == (text, words, denial)
    assert str(literal) == (f"GPA={text}" if len(states) == 1 else f"GPA {text}")
    assert literal.phrase == f"GPA {words}"
    assert literal.sentence == f"GPA is {words.replace('other than', 'not')}"
    assert literal.signs == words.replace("other than high", "≠ high").replace("other than", "not")


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (range(1), "other than 0"),
        (range(2), "other than 0 or 1"),
        (range(19), f"other than {', '.join(map(str, range(18)))} or 18"),
        (range(20), f"{', '.join(map(str, range(20, 39)))} or 39"),
        (range(37), "37, 38 or 39"),
    ],
)
def test_many_names_are_told_by_those_left_out(left_out: range, words: str) -> None:
    code = Variable.nominal("code", map(str, range(40)))
    literal = Literal(code, ((left_out.stop, 39),))
    assert literal.words == words
    assert literal.text.startswith("not in {0, 1") == (1 < len(left_out) < 20)
    assert len(literal.text.split(", ")) <= 20


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ((1, 2), "M or missing"),  # as it is said, though one is left out
        ((2, 3), "X or missing"),
        ((0, 1, 2), "F, M or missing"),
        ((2,), "missing"),
        ((0, 1, 3, 4), "known"),
        ((0, 1, 3), "F, M or X"),
        ((1, 2, 3, 4), "other than F"),
    ],
)
def test_a_state_for_missing_values_comes_last_in_words(states: tuple[int, ...], words: str) -> None:
    sex = Variable.nominal("sex", ["F", "M", "missing", "X", "any other"], other="any other", no_value="missing")
    assert Literal(sex, union((s, s) for s in states)).words == words


def test_a_state_that_is_not_only_for_missing_values_is_not_called_unknown() -> None:
    both = Variable.nominal("sex", ["F", "M", "X", "missing"], other="missing", no_value="missing")
    assert Literal(both, ((0, 2),)).words == "F, M or X"
    named = Variable.nominal("sex", ["F", "M", "X", "missing"])
    assert Literal(named, ((0, 2),)).words == "other than missing"


def test_a_state_without_a_name_is_shown_by_its_quotes() -> None:
    job = Variable.nominal("job", ["", "cook", "maid"])
    assert (Literal(job, ((0, 1),)).sentence, State(job, 0).phrase) == ("job is '' or cook", "job ''")


def test_of_two_states_the_other_one_is_no_denial() -> None:
    """One of two states is named, not called 'not the other'."""
    sex = Variable.nominal("sex", ["F", "M"])
    assert (str(State(sex, 0)), State(sex, 0).words, State(sex, 0).denial) == ("sex=F", "F", "sex ≠ F")
    assert str(State(sex, 0).negated) == "sex=M"
    assert (Literal(sex, ((0, 1),)).words, State(Variable.nominal("one", ["only"]), 0).words) == ("any value", "only")


def test_a_literal_says_something() -> None:
    with pytest.raises(GraphError, match="a literal of 'X' has the states"):
        Literal(Variable.nominal("X", ["a"]), ())


def test_literals_of_other_variables_are_not_equal() -> None:
    one, other = Variable.nominal("X", ["a", "b"]), Variable.nominal("X", ["a", "c"])
    assert State(one, 0) != State(other, 0) and State(one, 0) != State(one, 1)
    assert State(one, 0) != "X=a" and len({State(one, 0), Literal(one, ((0, 0),)), State(one, 1)}) == 2


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_literals_and_regions_travel(way: Any) -> None:
    width, sex = Variable.numeric("W", [1, 2], missing=True), Variable.nominal("sex", ["F", "M"])
    for value in (
        Literal(width, ((0, 0), (3, 3))),
        State(width, 2),
        Region((width, sex), {0: ((0, 1),), 1: ((1, 1),)}),
        Region((width, sex)),
    ):
        again = way(value)
        assert type(again) is type(value) and again == value and str(again) == str(value)


# ---- regions ----------------------------------------------------------------------------------------------------


def random_condition(rng: Random) -> str:
    a, b = sorted(rng.sample(THRESHOLDS, 2))
    if rng.random() < 0.5:
        return f"{rng.choice(('<=', '<', '>', '>='))} {a!r}"
    return f"{rng.choice('([')}{a!r}, {b!r}{rng.choice(')]')}"


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_condition_is_parsed_to_every_state_that_it_touches(seed: int, single: bool) -> None:
    """A state is in the region if and only if the condition holds for some number of it."""
    rng = Random(20 + seed)
    for _ in range(100):
        variable = random_variable(rng, single=single)
        given = [random_condition(rng) for _ in range(rng.randint(1, 3))]
        thresholds = [float(t) for text in given for t in re.findall(r"[-+.\de]*\d", text)]
        tried = numbers_near([*thresholds, *(cut.threshold for cut in variable.cuts)])
        expected = {variable.encode(x) for x in tried if admits(given, x, variable)}
        if variable.missing and rng.random() < 0.3:
            given.append(MISSING)
            expected.add(variable.size - 1)
        if not expected:
            with pytest.raises(InstanceError, match="never holds; widen it"):
                Region.parse([variable], {"X": given})
            continue
        region = Region.parse([variable], {"X": given if len(given) > 1 or rng.random() < 0.5 else given[0]})
        assert {s for s in range(variable.size) if region.contains((s,))} == expected, (variable, given)
        if not single:  # where the variable is cut at the conditions' ends, they are what the JSON format says
            cuts = [c for each in map(parse, given) if not isinstance(each, str) for c in each if c is not None]
            fine = Variable.numeric("X", [*variable.cuts, *cuts], missing=variable.missing)
            assert Region.parse([fine], {"X": given}).states(0) == states_where(fine, map(parse, given))


def test_names_are_parsed_to_their_states() -> None:
    gpa, width = Variable.nominal("GPA", ["low", "medium", "high"]), Variable.numeric("W", [1])
    region = Region.parse([gpa, width], {"GPA": ("high", "low"), "W": "> 3"})
    assert (region.states(0), region.states(1)) == (((0, 0), (2, 2)), ((1, 1),))
    assert str(region) == "GPA ≠ medium and W > 1"
    assert Region.parse([gpa], {"GPA": "low"}).states(0) == ((0, 0),)
    assert str(Region.parse([gpa], {})) == "anything"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"GBA": "low"}, "there is no variable 'GBA' (did you mean 'GPA'?)"),
        ({"GPA": "lo"}, "'GPA' has no state 'lo'; its states are low, high (did you mean 'low'?)"),
        ({"GPA": []}, "the condition on 'GPA' is [], which never holds; widen it"),
        ({"W": "3"}, "the condition '3' cannot be read"),
        ({"W": 3}, "the condition 3 is not a string"),
        ({"W": "missing"}, "the condition on 'W' is 'missing', which never holds; widen it"),
        ({"W": "> inf"}, "which never holds"),
        ({"W": "(2, 1)"}, "holds for no number"),
    ],
)
def test_conditions_that_are_none(given: dict[str, Any], fault: str) -> None:
    variables = [Variable.nominal("GPA", ["low", "high"]), Variable.numeric("W", [1])]
    with pytest.raises(InstanceError, match=re.escape(fault)):
        Region.parse(variables, given)


@pytest.mark.parametrize("seed", range(5))
def test_intersection_is_what_is_in_both(seed: int) -> None:
    rng = Random(30 + seed)
    variables = tuple(random_variable(rng) for _ in range(3))
    worlds = list(product(*(range(variable.size) for variable in variables)))
    for _ in range(60):
        one, other = (
            Region(variables, {v: random_literal(rng, x).ranges for v, x in enumerate(variables) if rng.random() < 0.6})
            for _ in range(2)
        )
        both = one.intersection(other)
        assert other.intersection(one) == both and one.intersection(one) == one
        inside = [w for w in worlds if both.contains(w)]
        assert inside == [w for w in worlds if one.contains(w) and other.contains(w)]
        assert both.is_empty == (not inside)
        if inside:
            world = rng.choice(worlds)
            near = both.nearest(world)
            assert near in inside
            apart = {v for v in range(3) if near[v] != world[v]}
            assert apart == {v for v in range(3) if not any(a <= world[v] <= b for a, b in both.states(v))}
            unknown = both.nearest([UNKNOWN] * 3)
            assert unknown in inside
            partial = tuple(UNKNOWN if rng.random() < 0.5 else s for s in rng.choice(inside))
            assert both.contains(partial), "whatever the unknown ones are"


def test_a_region_at_an_instance_holds_what_is_kept_and_known() -> None:
    variables = tuple(Variable.nominal(name, ["x", "y"]) for name in "ABC")
    region = Region.at(variables, (1, UNKNOWN, 0), [0, 1])
    assert region.bounds == {0: ((1, 1),)} and region.states(2) == ((0, 1),)
    assert region.replaced({2: ((0, 0),)}).bounds == {0: ((1, 1),), 2: ((0, 0),)}
    assert [str(literal) for literal in region.literals] == ["A=y"]


@pytest.mark.parametrize("seed", range(5))
def test_what_a_literal_says_is_read_as_the_literal(seed: int) -> None:
    """In 32 bits too, where states are written with fewer digits than the model has."""
    rng = Random(40 + seed)
    for _ in range(300):
        variable = random_variable(rng, single=rng.choice((True, False, None)))
        literal = random_literal(rng, variable)
        assert Region.parse([variable], {"X": literal.text}).states(0) == literal.ranges, literal
        assert Region.parse([variable], {"X": [literal.text]}).states(0) == literal.ranges
        if variable.is_numeric:
            assert Region.parse([variable], {"X": literal.text.split(" or ")}).states(0) == literal.ranges


HARD_NAMES = ("a", "b", "c", "a, b", "b, c", ", ", "", "≠ a", "in {a, b}", "not in {a, b}", "!= b", "a or b", "}", " a")


def test_names_that_look_like_more_are_read_as_names() -> None:
    """The name of a state means that state; what can be read in two ways is refused; all else is read back."""
    rng = Random(60)
    counts = {"name": 0, "refused": 0, "read": 0}
    for _ in range(150):
        pool = rng.choice((HARD_NAMES, HARD_NAMES[:6]))
        labels = rng.sample(pool, rng.randint(1, min(7, len(pool))))
        variable = Variable.nominal("X", labels)
        chosen = (states for n in range(len(labels)) for states in combinations(range(len(labels)), n + 1))
        literals = [Literal(variable, union((s, s) for s in states)) for states in chosen]
        for literal in literals:
            assert Region.parse([variable], {"X": [labels[s] for s in literal.states]}).states(0) == literal.ranges
            given = {"X": literal.text}
            if literal.text in labels:
                counts["name"] += len(literal.states) > 1
                assert Region.parse([variable], given).states(0) == State(variable, labels.index(literal.text)).ranges
            elif is_listed_twice(literal, literals):
                counts["refused"] += 1
                with pytest.raises(InstanceError, match="can be read in two ways, as names have commas; give a list"):
                    Region.parse([variable], given)
            else:
                counts["read"] += 1
                assert Region.parse([variable], given).states(0) == literal.ranges, literal
    assert min(counts.values()) > 0, counts


def is_listed_twice(literal: Literal, literals: list[Literal]) -> bool:
    """Whether the names in a literal's text, with commas between them, are those of other states too."""
    listing = literal.text.removeprefix("not ").removeprefix("in {")[:-1]
    listings = [", ".join(map(each.variable.text, each.states)) for each in literals if len(each.states) > 1]
    return literal.text.endswith("}") and len(literal.states) > 1 and listings.count(listing) > 1


def test_what_people_write_for_several_states() -> None:
    gpa = Variable.nominal("GPA", ["low", "medium", "high", "top"])
    given: dict[str, Any] = {"in {top, low}": {0, 3}, "!= high": {0, 1, 3}, "≠ high": {0, 1, 3}, "in {low}": {0}}
    given["not in {medium, low}"] = {2, 3}
    for text, states in given.items():
        assert set(Literal(gpa, Region.parse([gpa], {"GPA": text}).states(0)).states) == states
    assert Region.parse([gpa], {"GPA": ["low", "≠ low"]}).states(0) == ((0, 3),)
    for text in ("≠ best", "in {low, best}", "in {}"):
        with pytest.raises(InstanceError, match=r"'GPA' has no state '(best|)'"):
            Region.parse([gpa], {"GPA": text})
    commas = Variable.nominal("X", ["a, b", "c", "d", "e"])
    assert Region.parse([commas], {"X": "in {c, d}"}).states(0) == ((1, 2),)
    assert Region.parse([commas], {"X": "in {d, c}"}).states(0) == ((1, 2),), "in any order where names allow it"


def test_conditions_with_infinite_ends() -> None:
    width = Variable.numeric("W", [(-math.inf, "after"), 1], missing=True)
    given = {"<= inf": ((0, 2),), ">= -inf": ((0, 2),), "> -inf": ((1, 2),), "< inf": ((0, 2),), "(1, inf)": ((2, 2),)}
    for single in (False, True):
        width = Variable.numeric("W", width.cuts, missing=True, single=single)
        for condition, states in given.items():
            assert Region.parse([width], {"W": condition}).states(0) == states, condition
        for condition in ("> inf", "< -inf"):
            with pytest.raises(InstanceError, match="never holds"):
                Region.parse([width], {"W": condition})


def test_a_number_that_is_written_is_in_the_region_that_names_it() -> None:
    """0.1 is above a cut before 0.1, as 32 bits make it larger; so `<= 0.1` can hold there."""
    width = Variable.numeric("W", [(0.1, "before")], single=True)
    assert width.encode(0.1) == 1 and width.text(1) == ">= 0.1"
    assert Region.parse([width], {"W": "<= 0.1"}).contains((width.encode(0.1),))


def test_conditions_at_zero_on_a_line() -> None:
    """Numbers very near to 0 count as 0, so that the number before 0 is not the one before it in 64 bits."""
    line = Variable.line("x", -1, 1)
    zero = line.encode(0.0)
    first, last = 0, line.encode(1.0)
    expected = {"< 0": (first, zero - 1), "<= 0": (first, zero), "> 0": (zero + 1, last), ">= 0": (zero, last)}
    for text, pair in {**expected, "= 0": (zero, zero)}.items():
        assert states_touched(line, [parse(text)]) == (pair,), text
        assert states_where(line, [parse(text)]) == (pair,), text
