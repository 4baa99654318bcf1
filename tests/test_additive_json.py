"""Additive models in quia's JSON: as people write them, and read again to the last bit; every fault is one sentence."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from quia import Additive, Variable
from quia.errors import GraphError, QuiaError, Unsupported
from quia.load.json import dumps, write
from quia.sums import Rule
from quia.terms import Line, Table, Term

SEEDS = range(3)
EACH = 40

CARD: dict[str, Any] = {
    "quia": 1,
    "kind": "scorecard",
    "variables": {
        "age": {"kind": "numeric"},
        "housing": {"kind": "nominal", "states": ["rents", "owns"]},
        "income": {"kind": "line", "low": 0, "high": 250000},
    },
    "classes": ["deny", "grant"],
    "unit": 10,
    "rule": {"kind": "cuts", "cuts": [60.5]},
    "start": 30,
    "terms": [
        {"variable": "age", "points": {"< 30": 1.5, "[30, 50)": 12, ">= 50": 20.1, "missing": -0.5}},
        {"variable": "housing", "points": {"rents": 0, "owns": 8}},
        {"variable": "income", "steps": [["subtract", 20000], ["clip", 0, 80000]], "weight": 0.001},
        {"variable": "income", "points": {"< 1000": -5, ">= 1000": 0}},
    ],
}


def test_a_model_as_people_write_it() -> None:
    card = Additive.from_dict(CARD)
    assert (card.kind, card.classes, card.unit) == ("scorecard", ("deny", "grant"), 10.0)
    assert card.variables[2] == Variable.line("income", 0, 250000)
    person = {"age": 30, "housing": "owns", "income": 30500}
    assert float(card.scores(card.encode(person))[0]) == 10 * (30 + 12 + 8 + 10.5)
    assert card.classify(person) == "grant"
    assert card.classify({**person, "income": 30499.99}) == "deny"
    assert card.classify({**person, "age": math.nextafter(30, 0)}) == "deny"
    assert card.classify({**person, "age": None, "income": 90000}) == "grant"
    assert card.to_dict() == CARD
    assert json.loads(dumps(card)) == CARD


def test_rows_rest_and_several_scores() -> None:
    data = {
        "quia": 1,
        "variables": {
            "job": {"kind": "nominal", "states": ["cook", "clerk", "any other"], "other": "any other"},
            "town": {"kind": "nominal", "states": ["Ghent", "else"]},
            "age": {"kind": "numeric", "type": "float32", "cuts": ["<= 3"]},
            "size": {"kind": "line"},
        },
        "classes": ["a", "b", "c"],
        "rule": {"kind": "argmax"},
        "terms": [
            {"variable": "job", "points": [[0.1, 0.2, 0.3], [1, 0, 0], [0, 1, 0]]},
            {"variable": "town", "points": {"else": [3, 3, 3], "Ghent": [1, 2, 3]}},
            {"variable": "age", "points": {"[2, 7) or missing": [1, 1, 2], "else": [0.5, 0, 0]}},
            {"variable": "size", "weight": [0.1, 0.2, -0.3]},
        ],
    }
    model = Additive.from_dict(data)
    assert (model.start, model.end, model.kind) == ((0.0, 0.0, 0.0), (), "additive model")
    assert [model.variables[2].text(s) for s in range(5)] == ["< 2", "[2, 3]", "(3, 7)", ">= 7", "missing"]
    assert model.terms[1].values.tolist() == [[1, 2, 3], [3, 3, 3]], "a state may be called so"
    assert model.terms[2].values.tolist() == [[0.5, 0, 0], [1, 1, 2], [1, 1, 2], [0.5, 0, 0], [1, 1, 2]]
    assert model.unbounded == ("size",)
    again = Additive.from_dict(json.loads(dumps(model)))
    assert again.variables == model.variables and again.unbounded == ("size",)
    assert again.classify({"job": "pilot", "town": "Ghent", "age": 1, "size": -7}) == "c"


# ---- to the last bit --------------------------------------------------------------------------------------------


def random_model(rng: Random) -> Additive:
    """Terms of all kinds over variables of all kinds; now and then several about one, or none."""
    scores = rng.choice([1, 1, 2, 3])
    variables = [_random_variable(rng, f"v{at}") for at in range(rng.randint(1, 5))]
    terms: list[Term] = []
    unit = rng.choice([1.0, 1.0, 10.0, 1000.0, 3.0])
    is_whole = unit != 1 or rng.random() < 0.3
    for v, variable in enumerate(variables):
        terms += [_random_term(rng, v, variable, scores, is_whole) for _ in range(rng.choice([0, 1, 1, 2]))]
    rng.shuffle(terms)
    cuts = sorted({_number(rng, is_whole) for _ in range(rng.randint(1, 3))})
    rule = Rule("cuts", tuple(cuts)) if scores == 1 else Rule("argmax")
    classes = tuple(f"c{at}" for at in range(len(cuts) + 1 if scores == 1 else scores))
    constants = [tuple(_number(rng, is_whole) for _ in range(scores)) for _ in range(2)]
    end = constants[1] if rng.random() < 0.3 else ()
    return Additive(tuple(variables), classes, tuple(terms), constants[0], rule, end, "model", ("a note",), unit)


def _random_variable(rng: Random, name: str) -> Variable:
    match rng.randrange(4):
        case 0:
            labels = rng.sample(["", "else", "x or y", "< 3", "ü", "missing", "any other"], rng.randint(2, 5))
            special = [rng.choice([None, labels[0]]), rng.choice([None, labels[-1]])]
            return Variable.nominal(name, labels, other=special[0], no_value=special[1])
        case 1:
            cuts = [(rng.choice([-1.5, 0.1, 1 / 3, 2.0**60, 5e-324, 0.1 + 0.2]), rng.random() < 0.5) for _ in range(4)]
            return Variable.numeric(name, cuts, missing=rng.random() < 0.5, single=rng.random() < 0.3)
        case 2:
            return Variable.line(name, -rng.random() * 10, rng.random() * 10, missing=rng.random() < 0.5)
    return Variable.line(name, missing=rng.random() < 0.5)


def _random_term(rng: Random, v: int, variable: Variable, scores: int, is_whole: bool) -> Term:
    numbers = lambda: tuple(_number(rng, is_whole) for _ in range(scores))  # noqa: E731
    if variable.is_line and rng.random() < 0.6:
        steps: list[tuple[Any, ...]] = [
            ("subtract", rng.random()),
            ("divide", rng.uniform(0.1, 3)),
            ("clip", -1.0, 2.0),
        ]
        chosen = tuple(rng.sample(steps, rng.randint(0, 3)))
        weights = tuple(rng.uniform(-3, 3) for _ in range(scores)) if rng.random() < 0.5 else numbers()
        return Line(v, chosen, weights, numbers() if variable.missing else None)
    among = Variable.numeric("x", [(rng.uniform(-9, 9), rng.random() < 0.5) for _ in range(rng.randint(0, 3))])
    rows = among.size + variable.missing if variable.is_line else variable.size
    return Table(v, np.array([numbers() for _ in range(rows)]), tuple(among.cuts) if variable.is_line else ())


def _number(rng: Random, is_whole: bool) -> float:
    return float(rng.randint(-500, 500)) if is_whole else rng.choice([rng.gauss(0, 1), 0.1, -0.0, 1e-300, 1e17])


def some_states(rng: Random, model: Additive) -> list[int]:
    return [rng.randrange(v.size) for v in model.variables]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_written_is_read_to_the_last_bit(seed: int, tmp_path: Path) -> None:
    for i in range(EACH):
        rng = Random(f"{seed}.{i}")
        model = random_model(rng)
        write(model, tmp_path / "model.json")
        again = quia.load(tmp_path / "model.json")
        assert isinstance(again, Additive)
        assert (again.variables, again.classes, again.rule, again.start, again.end, again.kind) == (
            model.variables, model.classes, model.rule, model.start, model.end, model.kind,
        )  # fmt: skip
        assert again.unit == model.unit or (again.unit == 1 and "points are multiplied by" in again.notes[-1])
        for _ in range(20):
            states = some_states(rng, model)
            assert again.scores(states).tobytes() == model.scores(states).tobytes() or -0.0 in model.scores(states)
            assert again.decide(states) == model.decide(states)
        assert dumps(again) == dumps(Additive.from_dict(again.to_dict()))
        copied = pickle.loads(pickle.dumps(again))
        assert dumps(copied) == dumps(again) and copied.decide(states) == model.decide(states)


def test_the_unit_is_kept_where_people_can_write_it() -> None:
    job = Variable.nominal("job", ["a", "b"])
    table = Table(0, np.array([[1.0], [25.0]]))
    for unit, written in ((10.0, [0.1, 2.5]), (100.0, [0.01, 0.25]), (8.0, [0.125, 3.125])):
        data = Additive((job,), ("x", "y"), (table,), (3.0,), Rule("cuts", (26.0,)), unit=unit).to_dict()
        assert (data["unit"], list(data["terms"][0]["points"].values())) == (unit, written)
    for unit in (3.0, 0.5, math.inf):
        data = Additive((job,), ("x", "y"), (table,), (3.0,), Rule("cuts", (26.0,)), unit=unit).to_dict()
        assert "unit" not in data and data["terms"][0]["points"] == {"a": 1, "b": 25}


def test_decimals_of_people_are_added_exactly() -> None:
    """All cards of two features with tenths: at 0.8, what people add up to 0.8 is enough."""
    for base, one, other in product((-10, -3, 1, 7), range(-3, 11), range(11)):
        data = {
            "quia": 1,
            "variables": {"a": {"kind": "nominal", "states": ["x"]}, "b": {"kind": "nominal", "states": ["x"]}},
            "classes": ["no", "yes"],
            "rule": {"kind": "cuts", "cuts": [0.8]},
            "unit": 10,
            "start": base / 10,
            "terms": [{"variable": "a", "points": {"x": one / 10}}, {"variable": "b", "points": [other / 10]}],
        }
        decided = Additive.from_dict(data).classify({"a": "x", "b": "x"})
        assert decided == ("yes" if Fraction(base + one + other, 10) >= Fraction(8, 10) else "no")


# ---- the schema and faults --------------------------------------------------------------------------------------


def test_models_fit_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[1] / "docs" / "schemas" / "additive-1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(CARD)
    for i in range(EACH):
        validator.validate(json.loads(dumps(random_model(Random(i)))))
    for path, value in SEEN_IN_THE_SCHEMA:
        assert not validator.is_valid(_changed(path, value)), (path, value)


DELETED = object()
AGE, LINE, BINS = ("terms", 0, "points"), ("terms", 2), ("terms", 3)
FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("quia",), 2, "the format version 'quia' is 2; this release reads version 1"),
    (("rule",), DELETED, "the additive model has no 'rule'; it must have"),
    (("nodes",), {}, "the additive model has 'nodes'; it may only have"),
    (("classes",), ["deny"], "the classes are deny, but the scores tell 2 apart"),
    (("kind",), 3, "'kind' has 3, which is no string"),
    (("notes",), "x", "'notes' is 'x'; it must be a list of strings"),
    (("unit",), 0, "'unit' is 0; it is a whole number from 1 to 1e+15"),
    (("unit",), 2.5, "'unit' is 2.5"),
    (("unit",), True, "'unit' is True"),
    (("unit",), 10**400, "'unit' is 1"),
    (("unit",), 2, "the points of '>= 50' is 20.1, which the unit 2 does not make whole; take a larger"),
    (("rule", "kind"), "vote", "the rule is 'vote'; it is one of cuts, argmax"),
    (("rule", "kind"), [], "the rule is []; it is one of"),
    (("rule", "cuts"), [], "the rule 'cuts' has 0 cuts"),
    (("rule", "cuts"), 60, "the cuts of the rule is 60; it must be a list of numbers"),
    (("rule", "cuts"), ["60"], "a cut of the rule is '60'; it must be a number"),
    (("rule", "cuts"), [1e999], "a cut of the rule is inf, which is not finite"),
    (("start",), [1, 2], "'start' is [1, 2]; give a number for each of 1 scores"),
    (("start",), 10**400, "'start' is too large for 64 bits"),
    (("end",), None, "'end' is None; it must be a number"),
    (("variables", "age", "kind"), "curve", "is of kind 'curve'; kinds are 'nominal', 'numeric' and 'line'"),
    (("variables", "income", "low"), "0", "'low' of variable 'income' is '0'; it must be a number"),
    (("variables", "income", "low"), 10**400, "'low' of variable 'income' is too large"),
    (("variables", "income", "high"), -1, "the range of 'income' is 0 to -1; give two numbers, the lower one first"),
    (("variables", "income", "cuts"), [], "variable 'income' has 'cuts'; it may only have kind, low, high, missing"),
    (("variables", "income", "missing"), 1, "'missing' of variable 'income' is 1; it is true or false"),
    (("variables", "income", "missing"), True, "term 3, about 'income', has no points for 'missing'"),
    (("terms",), {}, "'terms' is {}; it must be a list of objects"),
    (("terms", 1), [], "term 1 is []; it must be an object with variable"),
    (("terms", 1, "variable"), "house", "term 1 is about 'house', which is no variable (did you mean 'housing'?)"),
    (("terms", 1, "weight"), 1, "term 1, about 'housing', has both 'points' and 'weight'"),
    (("terms", 1, "points"), DELETED, "term 1, about 'housing', has neither 'points' nor 'weight'"),
    (("terms", 1, "steps"), [], "has 'points', so it may have neither 'steps' nor 'missing'"),
    (("terms", 1, "points"), 3, "term 1, about 'housing', has the points 3; they are an object"),
    (("terms", 1, "points"), [1], "term 1, about 'housing', has points for 1 of 2 states; give a row for each"),
    (("terms", 1, "points"), [1, "2"], "the points of state 1 is '2'; it must be a number"),
    (("terms", 1, "points"), {"rents": 1}, "term 1, about 'housing', has no points for 'owns'; add them, or some for"),
    (("terms", 1, "points", "sells"), 1, "'housing' has no state 'sells'; its states are rents, owns"),
    (("terms", 1, "points", "else"), 1, "has points for 'else', but its other conditions name all states"),
    ((*AGE, "[30, 50)"), DELETED, "term 0, about 'age', has no points for '[30, 50)'; add them"),
    ((*AGE, "> 40"), 2, "term 0, about 'age', has points for '>= 50' twice, by '>= 50' and by '> 40'"),
    ((*AGE, "about 30"), 2, "term 0, about 'age', cannot be read: the condition 'about 30' cannot be read"),
    ((*AGE, "> inf"), 2, "term 0, about 'age', has points for '> inf', which never holds"),
    ((*AGE, "< 30"), None, "term 0, about 'age': the points of '< 30' is None; it must be a number"),
    ((*AGE, "< 30"), [1, 2], "is [1, 2]; give a number for each of 1 scores"),
    ((*AGE, "< 30"), 1e999, "is inf, which is not finite"),
    ((*LINE, "weight"), "1", "term 2, about 'income': its weight is '1'; it must be a number"),
    ((*LINE, "steps"), "add", "term 2, about 'income': 'steps' is 'add'; it must be a list of steps"),
    ((*LINE, "steps"), [["add"]], "term 2, about 'income', has the step ['add']; write it as in ['subtract', 3]"),
    ((*LINE, "steps"), [[["add"], 1]], "term 2, about 'income', has the step [['add'], 1]"),
    ((*LINE, "steps"), [["add", True]], "a step of term 2 is True; it must be a number"),
    ((*LINE, "steps"), [["divide", 0]], "the line of 'income' divides by 0"),
    ((*LINE, "missing"), 0, "the table of 'income' has the shape|has no points for 'missing'"),
    ((*LINE, "variable"), "age", "'age' adds a line, but is no variable over numbers of a range"),
    ((*BINS, "points"), [1, 2], "has the points [1, 2]; they are an object from condition to number"),
    ((*BINS, "points", ">= 1000"), DELETED, "term 3, about 'income', has no points for '>= 1000'"),
]
SEEN_IN_THE_SCHEMA: list[tuple[tuple[Any, ...], Any]] = [
    (("quia",), 2), (("rule",), DELETED), (("nodes",), {}), (("rule", "kind"), "vote"), (("rule", "cuts"), []),
    (("unit",), 0), (("unit",), 2.5), (("variables", "income", "cuts"), []), (("terms", 1, "weight"), 1),
    (("terms", 1, "points"), DELETED), (("terms", 1, "points"), 3), ((*AGE, "< 30"), None), (("terms", 1), []),
    ((*LINE, "steps"), [["add"]]), ((*LINE, "steps"), [["sing", 1]]), (("end",), None),
]  # fmt: skip


def _changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = copy.deepcopy(CARD)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    if value is DELETED:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


@pytest.mark.parametrize(("path", "value", "words"), FAULTS, ids=[f"{p[-1]} {str(v)[:20]}" for p, v, _ in FAULTS])
def test_faults(path: tuple[Any, ...], value: Any, words: str) -> None:
    with pytest.raises(GraphError) as fault:
        Additive.from_dict(_changed(path, value))
    assert any(each in str(fault.value) for each in words.split("|")) and "\n" not in str(fault.value)


def test_a_small_file_makes_no_large_tables() -> None:
    """Each of many terms with one condition has a row for each state that another term makes."""
    many = 4000
    data = _changed(("terms",), [])
    data["terms"] = [{"variable": "age", "points": {**{f"= {i}": 0 for i in range(many)}, "else": 1}}]
    data["terms"] += [{"variable": "age", "points": {"else": 1}}] * many
    with pytest.raises(GraphError, match=r"the tables have 320.* numbers; models of more than 10000000 are not read"):
        Additive.from_dict(data)


@pytest.mark.parametrize("seed", SEEDS)
def test_broken_at_random_it_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    said = []
    for _ in range(2 * EACH):
        text = list(dumps(random_model(rng)))
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice(["", "0", "9", "-", ",", "[", "]", "{", "}", '"', "e", "null"])
        file = tmp_path / "broken.json"
        file.write_text("".join(text))
        try:
            quia.load(file)
        except QuiaError as fault:
            said.append(str(fault))
    assert len(said) > EACH and not any("\n" in fault for fault in said)


def test_other_cutoffs_and_classes(tmp_path: Path) -> None:
    """What they mean is what they mean to the card in CSV that the JSON was made of."""
    csv, kept = tmp_path / "card.csv", tmp_path / "card.json"
    rows = ("base,,0.1", "age,< 30,0.1", 'age,"[30, 50)",0.2', "age,>= 50,0.7", "cutoff,,0.8")
    csv.write_text("\n".join(("feature,condition,points", *rows, "")))
    write(quia.load(csv), kept)
    assert json.loads(kept.read_text())["unit"] == 10
    for options in (
        {"cutoff": 0.8},
        {"cutoff": "0.3"},
        {"cutoff": 0.31},
        {"cutoff": (0.2, 0.8)},
        {"cutoff": 0.3, "classes": ["no", "yes"]},
        {"classes": ["no", "yes"]},
    ):
        wanted, found = quia.load(csv, **options), quia.load(kept, **options)
        assert found.classes == wanted.classes and found.is_exact
        for age in (20, 30, 50):
            assert found.classify({"age": age}) == wanted.classify({"age": age})
    named = quia.load(csv, classes=["no", "yes"])
    write(named, kept)
    assert quia.load(kept, cutoff=0.3).classes == ("no", "yes")
    assert quia.load(kept, cutoff=(0.2, 0.3)).classes == ("below 0.2", "0.2 to below 0.3", "0.3 or more")
    for options, words in (
        ({"cutoff": (2, 1)}, "several that ascend"),
        ({"cutoff": True}, "cutoff is True; give a number"),
        ({"cutoff": "0." + "1" * 18}, "has too many decimals; round it"),
        ({"classes": ["no"]}, "tell 2 classes apart; give 2 names"),
    ):
        with pytest.raises(Unsupported, match=words):
            quia.load(kept, **options)
    content = json.loads(kept.read_text())
    content |= {"rule": {"kind": "argmax"}, "start": [0, 0], "unit": 1, "terms": []}
    kept.write_text(json.dumps(content))
    with pytest.raises(Unsupported, match="this is a scorecard, whose greatest score tells the class; cutoffs are of"):
        quia.load(kept, cutoff=0.3)
