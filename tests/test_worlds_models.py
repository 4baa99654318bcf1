"""Constraints that live in models: kept, written, read and respected by every kind; what `quia check` says of them."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import attack_worlds
import quia
from quia.cli import main
from quia.cuts import Cut
from quia.errors import Contradiction
from quia.given_check import check_given, check_rows
from quia.load import json as own_json
from quia.own_constraints import MOST_CONSTRAINTS, MOST_LETTERS, with_given
from quia.refine import cut_at
from quia.trees import Trees
from quia.variables import Variable
from worlds_cases import MODELS, Model, random_case, random_formula, random_within
from worlds_oracle import Case, Formula, Worlds

ROOT = Path(__file__).parents[1]
ADMISSIONS = ROOT / "examples" / "admissions.json"
APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
RULE = "Essay=pass -> Interview=pass"
RULES = [RULE, "SAT < 1300 -> GPA in {low, medium}"]
EACH = 4

jsonschema = pytest.importorskip("jsonschema")


@dataclass(frozen=True)
class Held(Case):
    """A case some of whose constraints the model itself has, so that they are not asked."""

    held: tuple[Formula, ...] = ()

    @property
    def asked(self) -> dict[str, Any]:
        given = [formula.text for formula in self.given if formula not in self.held]
        others = {name: value for name, value in super().asked.items() if name != "given"}
        return {**others, **({"given": given} if given else {})}


def holding(classifier: Any, given: Sequence[str]) -> Any:
    """A classifier that has constraints of its own; of one that somebody wrote, as an attribute."""
    try:
        return with_given(classifier, given)
    except quia.Unsupported:
        made = copy.copy(classifier)
        made.given = tuple(given)
        return made


def sufficient(classifier: Any, instance: Any, **how: Any) -> set[frozenset[str]]:
    """The features of the sufficient reasons."""
    return {frozenset(r.features) for r in quia.explain(classifier, instance, **how).sufficient_reasons()}


@pytest.mark.parametrize("kind", MODELS)
def test_a_models_own_constraints_are_respected(kind: str, tmp_path: Path) -> None:
    rng, tried = Random(f"own constraints {kind}"), 0
    while tried < EACH:
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is None or not case.given:
            continue
        tried += 1
        held = Held(**{f.name: getattr(case, f.name) for f in fields(Case)}, held=case.given[: rng.choice((1, 2))])
        own = replace(model, classifier=holding(model.classifier, [formula.text for formula in held.held]))
        states = model.classifier.encode(case.instance)
        assert own.classifier.decide(states) == model.classifier.decide(states)
        try:
            attack_worlds.check(own, held, rng)
        except Exception as fault:
            raise AssertionError(f"{fault}: {case.instance}, {[f.text for f in held.held]}, {held.asked}") from fault


# ---- kept ---------------------------------------------------------------------------------------------------------


def age_and_debt() -> tuple[Variable, Variable]:
    return Variable.numeric("age", [30]), Variable.nominal("debt", ["no", "yes"])


def an_ensemble(trees: int = 2) -> quia.Ensemble:
    from quia.sums import Rule, Sums

    every = Trees.build(
        [0, 3, 6][: trees + 1],
        [0, -1, -1, 1, -1, -1][: 3 * trees],
        [1, -1, -1, 4, -1, -1][: 3 * trees],
        [2, -1, -1, 5, -1, -1][: 3 * trees],
        [-1.0, 1.0, -0.5, 0.75][: 2 * trees],
        [(0, ((0, 0),)), (1, ((1, 1),))][:trees],
    )
    rule = Rule("cuts", (0.0,))
    return quia.Ensemble(age_and_debt(), ("deny", "grant"), every, Sums((0,) * trees, (0.0,), rule))


CARD = {
    "quia": 1,
    "variables": {
        "age": {"kind": "numeric"},
        "debt": {"kind": "nominal", "states": ["no", "yes"]},
        "income": {"kind": "line", "low": 0, "high": 100},
    },
    "classes": ["deny", "grant"],
    "rule": {"kind": "cuts", "cuts": [40]},
    "terms": [
        {"variable": "age", "points": {"<= 30": 0, "> 30": 10}},
        {"variable": "debt", "points": {"no": 5, "yes": 0}},
        {"variable": "income", "weight": 0.5},
    ],
}
DEBT = "age < 18 -> debt=no"


@pytest.fixture(params=["graph", "ensemble", "additive"])
def written(request: pytest.FixtureRequest) -> Any:
    """A model of a kind that JSON holds, with constraints of its own."""
    if request.param == "graph":
        return quia.load(ADMISSIONS, given=RULES)
    if request.param == "ensemble":
        return with_given(an_ensemble(), [DEBT, "age >= 65 | debt=no"])
    return quia.Additive.from_dict({**CARD, "given": [DEBT, "income > 50 -> age > 20"]})


def test_json_holds_them(written: Any, tmp_path: Path) -> None:
    data = json.loads(json.dumps(written.to_dict()))
    assert data["given"] == list(written.given)
    again = type(written).from_dict(data)
    assert again.given == written.given and again.to_dict() == written.to_dict()
    own_json.write(written, tmp_path / "model.json")
    read = quia.load(tmp_path / "model.json")
    assert read.given == written.given
    name = {quia.DecisionGraph: "graph", quia.Ensemble: "ensemble", quia.Additive: "additive"}[type(written)]
    schema = json.loads((ROOT / "docs" / "schemas" / f"{name}-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    for wrong in ("age > 3", [3], {"age": 3}):
        assert not jsonschema.Draft202012Validator(schema).is_valid({**data, "given": wrong})
    # One more is kept beside those that the file has, and one that it has already is not taken twice.
    more = quia.load(tmp_path / "model.json", given=[written.given[0], f"!({written.variables[0].name} > 99999)"])
    assert more.given == (*written.given, f"!({written.variables[0].name} > 99999)")


def test_formulas_are_written_as_texts_that_say_the_same(written: Any) -> None:
    plain = replace(written, given=())
    made = tuple(quia.formula.parse(text, plain.variables) for text in written.given)
    held = with_given(plain, made)
    assert held.given == made
    again = type(written).from_dict(json.loads(json.dumps(held.to_dict())))
    assert all(isinstance(text, str) for text in again.given)
    for one, other in zip(written.given, again.given, strict=True):
        assert quia.formula.equivalent(*quia.formula.parse_all([one, other], plain.variables))


def test_what_makes_a_model_of_a_model_keeps_them(written: Any) -> None:
    for way in (lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy, lambda x: replace(x, notes=("a",))):
        assert way(written).given == written.given
    finer = cut_at(written.variables, {0: [Cut(12.5)]})
    assert written.refined(finer).given == written.given
    if isinstance(written, quia.Additive):
        assert written.with_ranges({"income": (0, 200)}).given == written.given
        assert written.reaching({"age": 20, "debt": "no", "income": 900}).given == written.given


def test_graphs_that_differ_in_them_differ() -> None:
    graph = quia.load(ADMISSIONS)
    assert graph != quia.load(ADMISSIONS, given=RULE) == quia.load(ADMISSIONS, given=[RULE])


def test_the_single_tree_of_an_ensemble_keeps_them() -> None:
    from quia.load.ensembles import simplest

    tree = simplest(with_given(an_ensemble(trees=1), DEBT))
    assert isinstance(tree, quia.DecisionGraph) and tree.given == (DEBT,)


def test_a_circuit_that_was_asked_can_be_pickled() -> None:
    sick, old = Variable.nominal("sick", ["no", "yes"]), Variable.numeric("age", [65])
    circuit = with_given(quia.formula.circuit(quia.formula.parse("sick | age > 65", [sick, old])), "age < 90")
    asked = {"sick": "no", "age": 40}
    before = quia.explain(circuit, asked).to_dict()
    again = pickle.loads(pickle.dumps(circuit))
    assert again.given == ("age < 90",) and quia.explain(again, asked).to_dict() == before


# ---- loaded -------------------------------------------------------------------------------------------------------

J48 = """J48 pruned tree
------------------

outlook = sunny
|   humidity <= 75: yes (2.0)
|   humidity > 75: no (3.0)
outlook = overcast: yes (4.0)
outlook = rainy: no (5.0/2.0)
"""
CARD_TABLE = """feature,condition,points
age,<= 30,0
age,> 30,10
debt,no,5
debt,yes,0
"""


def of_file(name: str, text: str, **options: Any) -> Callable[..., Any]:
    def load(folder: Path, **given: Any) -> Any:
        (folder / name).write_text(text)
        return quia.load(folder / name, **options, **given)

    return load


def of_sklearn(folder: Path, **given: Any) -> Any:
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier().fit([[0.0, 0.0], [1.0, 1.0]], ["no", "yes"])
    return quia.load(tree, features=["a", "b"], **given)


def of_formulas(folder: Path, **given: Any) -> Any:
    states = {"a": ["no", "yes"], "b": ["no", "yes"]}
    return quia.load({"1": "a & !b", "0": "!a | b"}, variables=states, **given)


LOADERS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "weka": (of_file("tree.txt", J48), "outlook=sunny -> humidity > 60", "outlook=rain"),
    "scorecard": (of_file("card.csv", CARD_TABLE, cutoff=10), DEBT, "debt=maybe"),
    "sdd": (of_file("a.sdd", "sdd 1\nL 0 0 1\n"), '"1"="1" | "1"="0"', "x=1"),
    "nnf": (of_file("a.nnf", "nnf 1 0 2\nL 1\n"), '"1"="1" -> "2"="0"', "z=1"),
    "sklearn": (of_sklearn, "a < 0.25 -> b < 0.75", "c=yes"),
    "formulas": (of_formulas, "a -> b", "a -> c"),
}


@pytest.mark.parametrize("name", LOADERS)
def test_every_format_is_loaded_with_constraints(name: str, tmp_path: Path) -> None:
    load, right, wrong = LOADERS[name]
    model = load(tmp_path, given=right)
    assert model.given == (right,)
    with pytest.raises(quia.InstanceError, match="which cannot be read: column"):
        load(tmp_path, given=[right, wrong])
    with pytest.raises(quia.InstanceError, match="nothing can meet"):
        load(tmp_path, given=[right, "false"])
    with pytest.raises(quia.InstanceError, match="give a constraint such as"):
        load(tmp_path, given=3)


def test_a_formula_circuit_gives_what_constraints_leave(tmp_path: Path) -> None:
    model = LOADERS["formulas"][0](tmp_path, given="a -> b")
    assert sufficient(model, {"a": "no", "b": "no"}) == {frozenset()}  # the other class is impossible
    assert quia.bias_of_classifier(model, ["a"]).biased is False
    assert quia.bias_of_classifier(LOADERS["formulas"][0](tmp_path), ["a"]).biased is True
    with pytest.raises(quia.InstanceError, match="it breaks the constraint a -> b"):
        quia.explain(model, {"a": "yes", "b": "no"})
    quia.verify(model, {"a": "no", "b": "no"}, [], "sufficient")
    assert model.classify({"a": "yes", "b": "no"}) == "1"


def test_ranges_that_leave_nothing_possible_are_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps({**CARD, "given": ["income > 50"]}))
    assert quia.load(tmp_path / "card.json").given == ("income > 50",)
    with pytest.raises(quia.InstanceError, match="nothing can meet the constraint income > 50"):
        quia.load(tmp_path / "card.json", ranges={"income": (0, 40)})


def test_cutoffs_keep_them(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps({**CARD, "given": [DEBT]}))
    assert quia.load(tmp_path / "card.json", cutoff=20).given == (DEBT,)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("age > 3", "'given' is 'age > 3'; it must be a list of constraints"),
        ([None], "'given' has None; a constraint is a string"),
        (["age > "], "'given' has 'age > ', which cannot be read: column 6"),
        (["ago > 3"], "did you mean 'age'"),
        (["age > 3", "age < 3", "debt=no"], r"'given': nothing can meet 2 constraints together: age > 3; age < 3;"),
        (["debt"] * 2 + [f"age > {n}" for n in range(MOST_CONSTRAINTS)], "'given': there are 10,001 constraints"),
        (
            ["age > 3 | " * (MOST_LETTERS // 10) + "age > 4"],
            "'given': the constraints have more than 1,000,000 letters",
        ),
    ],
)
def test_faults_in_a_file_are_one_sentence(given: Any, match: str) -> None:
    for wrong in ({**CARD, "given": given}, {**an_ensemble().to_dict(), "given": given}):
        with pytest.raises(quia.GraphError, match=match) as told:
            (quia.Additive if "terms" in wrong else quia.Ensemble).from_dict(wrong)
        assert "\n" not in str(told.value) and len(str(told.value)) < 500


# ---- checked ------------------------------------------------------------------------------------------------------


def random_model(rng: Random, folder: Path, kind: str) -> tuple[Model, Case]:
    """A model, and a case about it whose instance is of no matter."""
    while True:
        model = MODELS[kind](rng, folder)
        case = Case(model.features, model.classes, model.decide, model.draw(rng))
        given = tuple(random_formula(rng, model.features) for _ in range(rng.choice((1, 2, 3, 4, 6, 8))))
        feature = rng.choice(model.features)
        within = {feature.name: random_within(rng, feature)} if rng.random() < 0.3 else {}
        case = replace(case, given=given, within=within)
        if np.prod(Worlds(case).sizes) <= 1500:
            return model, case


def classes_left(case: Case) -> set[str]:
    """The classes that possible worlds get."""
    worlds = Worlds(case)
    return {case.classes[c] for c in np.unique(worlds.labels[worlds.is_possible_at_all])}


def meets_nothing(case: Case, given: Sequence[Formula]) -> bool:
    return not Worlds(replace(case, given=tuple(given))).is_possible_at_all.any()


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_found_of_constraints_is_what_all_worlds_say(kind: str, tmp_path: Path) -> None:
    rng = Random(f"checked {kind}")
    contradictory = ruled_out = spared = 0
    for _ in range(40):
        model, case = random_model(rng, tmp_path, kind)
        texts = [formula.text for formula in case.given]
        within = {name: said for name, (said, _) in case.within.items()} or None
        if meets_nothing(case, ()):  # a condition that never holds is refused before anything else
            with pytest.raises(quia.InstanceError, match="never holds"):
                check_given(model.classifier, texts, within=within)
            continue
        found = check_given(model.classifier, texts, within=within)
        assert found.can_be_met == (not meets_nothing(case, case.given)), case.asked
        by_text = dict(zip(texts, case.given, strict=True))
        if not found.can_be_met:
            contradictory += 1
            few = [by_text[text] for text in found.contradicting if text in by_text]
            has_conditions = len(few) < len(found.contradicting)
            alone = case if has_conditions else replace(case, within={})
            assert meets_nothing(alone, few), found
            assert not any(meets_nothing(alone, rest) for rest in combinations(few, len(few) - 1)), found
            assert all(text in found.contradiction for text in found.contradicting if len(text) < 200)
            continue
        assert set(found.impossible) == set(case.classes) - classes_left(case), case.asked
        assert not found.undecided
        ruled_out += bool(found.impossible)
        for text in found.idle:
            assert implies(case, [], [by_text[text]]), text
        needed = [formula for text, formula in by_text.items() if text not in (*found.idle, *found.implied)]
        assert implies(case, needed, case.given), found
        for at, formula in enumerate(needed):
            assert not implies(case, needed[:at] + needed[at + 1 :], [formula]), (found, formula.text)
        spared += len(needed) < len(by_text)
    assert contradictory and ruled_out and spared, (contradictory, ruled_out, spared)


def implies(case: Case, kept: Sequence[Formula], others: Sequence[Formula]) -> bool:
    """Whether all worlds that meet some formulas meet others too."""
    worlds = Worlds(replace(case, given=(*kept, *others), within={}))  # cut for all of them
    every = [worlds.values(world) for world in worlds.points.tolist()]
    return all(any(not f.holds(w) for f in kept) or all(f.holds(w) for f in others) for w in every)


def is_broken(case: Case, row: dict[str, Any], given: Sequence[Formula], within: Any) -> bool:
    """Whether no world that agrees with a row, as far as it is known, is possible."""
    worlds = Worlds(replace(case, instance=row, given=tuple(given), within=within))
    return not (worlds.is_possible_at_all & worlds.agrees(worlds.names)).any()


@pytest.mark.parametrize("kind", ["several classes", "ensemble", "lines", "vote"])
def test_rows_are_counted_as_all_worlds_say(kind: str, tmp_path: Path) -> None:
    rng = Random(f"rows {kind}")
    some = jointly = 0
    for _ in range(15):
        model, case = random_model(rng, tmp_path, kind)
        if meets_nothing(case, case.given):
            continue
        rows = [model.draw(rng) for _ in range(12)]
        rows = [{x: None if rng.random() < 0.3 else value for x, value in row.items()} for row in rows]
        within = {name: said for name, (said, _) in case.within.items()} or None
        texts = [formula.text for formula in case.given]
        found = check_rows(holding(model.classifier, texts[:1]), rows, texts[1:], within=within)
        assert (found.rows, found.unreadable.rows, found.fault) == (12, 0, None)
        expected: dict[str, list[int]] = {}
        for number, row in enumerate(rows, 1):
            for text, formula in dict(zip(texts, case.given, strict=True)).items():
                if is_broken(case, row, [formula], {}):
                    expected.setdefault(text, []).append(number)
        conditions = [number for number, row in enumerate(rows, 1) if is_broken(case, row, (), case.within)]
        has = bool(conditions)  # what is said of the one condition comes first
        assert [each.rows for each in found.each[:has]] == [len(conditions)] * has
        told = {each.said: (each.rows, each.first) for each in found.each[has:]}
        assert told == {text: (len(numbers), tuple(numbers[:5])) for text, numbers in expected.items()}
        alone = {*conditions, *(number for numbers in expected.values() for number in numbers)}
        every = [n for n, row in enumerate(rows, 1) if is_broken(case, row, case.given, case.within)]
        assert (found.broken.rows, found.broken.first) == (len(every), tuple(every[:5]))
        assert found.together.rows == len(set(every) - alone)
        some += len(every)
        jointly += found.together.rows
    assert some
    assert jointly or kind != "several classes"


def test_what_cannot_be_read_is_counted_apart() -> None:
    graph = quia.load(ADMISSIONS, given=RULES)
    rows: list[Any] = [
        {**APPLICANT, "Essay": "pass"},
        {**APPLICANT, "GPA": "top"},
        APPLICANT,
        quia.FormatError("row 4 has 2 values"),
        {"SAT": "1100", "GPA": "high", "Essay": ""},
    ]
    found = check_rows(graph, rows)
    assert (found.rows, found.broken.first, found.unreadable.first) == (5, (1, 5), (2, 4))
    assert found.fault is not None and found.fault.startswith("GPA is 'top'")
    assert check_rows(graph, [{"SAT": 1100, "GPA": "low"}]).absent == ("Essay", "Interview")
    assert check_rows(graph, [{"SAT": 1100, "GPA": "low"}]).broken.rows == 0


def test_a_line_without_a_range_is_checked_as_far_as_it_can_be() -> None:
    open_card = {
        **CARD,
        "variables": {**CARD["variables"], "income": {"kind": "line"}},
        "given": ["income > 5 | debt=no"],
    }
    model = quia.Additive.from_dict(open_card)
    found = check_given(model)
    assert found.undecided and found.why is not None and "can be any number" in found.why
    rows = [{"age": 3, "debt": "yes", "income": income} for income in (-1e100, 5, 5.5, "1e9")]
    assert check_rows(model, rows).broken.first == (1, 2)


def test_time_that_runs_out_is_told() -> None:
    found = check_given(with_given(an_ensemble(), DEBT), timeout=0)
    assert not found.in_time and len(found.undecided) == 1 and found.why == "time ran out"


def test_contradictions_of_a_question_are_few() -> None:
    graph = quia.load(ADMISSIONS, given=RULES)
    with pytest.raises(Contradiction) as told:
        quia.explain(graph, APPLICANT, given=["GPA=low", "Essay=pass", "SAT > 3", "Interview=fail"])
    assert told.value.constraints == (RULE, "Essay=pass", "Interview=fail")
    within = {"SAT": "< 1000", "Interview": "fail"}
    with pytest.raises(Contradiction, match="nothing within SAT < 1000 meets the constraint SAT >= 1100;") as told:
        quia.explain(graph, APPLICANT, given=["GPA=low", "SAT >= 1100"], within=within)
    assert (told.value.constraints, told.value.conditions) == (("SAT >= 1100",), ("SAT < 1000",))
    again = pickle.loads(pickle.dumps(told.value))
    assert (str(again), again.constraints) == (str(told.value), told.value.constraints)
    more = ["SAT < 900 -> Interview=pass", "GPA=medium -> Essay=pass"]
    with pytest.raises(quia.InstanceError, match="it breaks one of the constraints Essay=pass -> Interview=pass; GPA="):
        quia.explain(graph, {**APPLICANT, "Essay": None}, given=more)


def test_contradictions_among_very_many_are_few_too() -> None:
    names = [f"x{i}" for i in range(60)]
    variables = [Variable.nominal(name, ["no", "yes"]) for name in names]
    graph = quia.DecisionGraph.build(variables, ["any"], [-1], [0], [()])
    chain = [f"{a} -> {b}" for a, b in pairwise(names)]
    rules = [*chain, "x3", *(f"x{i} | x{i + 7}" for i in range(50)), "!x9", "x20"]
    with pytest.raises(Contradiction) as told:
        with_given(graph, rules)
    assert set(told.value.constraints) == {"x3", "!x9", *chain[3:9]}


def test_constraints_with_many_numbers_take_little_or_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a file says may cost time and memory in proportion to its length; the square of it is refused."""
    numbers = [Variable.numeric(name) for name in "xy"]
    graph = quia.DecisionGraph.build(numbers, ["any"], [-1], [0], [()])
    even = " | ".join(f"x = {2 * n}" for n in range(5000))
    why = quia.explain(with_given(graph, even), {"x": 8, "y": 1})
    assert why.classifier.variables[0].size == 10_001
    with pytest.raises(quia.InstanceError, match="it breaks the constraint"):
        quia.explain(with_given(graph, even), {"x": 9, "y": 1})
    monkeypatch.setattr("quia.formula.diagram.MOST_CHILDREN", 1_000_000)
    with pytest.raises(quia.TooLarge, match="the constraints take more than"):
        with_given(graph, " | ".join(f"(x = {n} & y = {n})" for n in range(5000)))


# ---- commands -----------------------------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def checked_json(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    """What `quia check --json` says, as its schema has it."""
    code, out, _ = printed(capsys, "check", *words, "--json")
    data = json.loads(out)
    schema = json.loads((ROOT / "docs" / "schemas" / "check-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    return code, data.get("given")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rules.txt"
    file.write_text("# what is known\n\n" + "".join(f"  {rule}\r\n" for rule in RULES))
    return file


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text(
        "SAT,GPA,Essay,Interview,said\n1400,low,pass,fail,Reject\n1400,low,pass,pass,Accept\n"
        "x,low,pass,pass,Reject\n1100,high,fail,fail,Reject\n1100,high\n"
    )
    return file


def test_convert_keeps_and_adds_constraints(capsys: pytest.CaptureFixture[str], rules: Path, tmp_path: Path) -> None:
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    assert printed(capsys, "convert", ADMISSIONS, "-o", model, "--given-file", rules)[0] == 0
    assert quia.load(model).given == tuple(RULES)
    assert printed(capsys, "convert", model, "-o", again, "--given", "GPA=low -> SAT < 1500")[0] == 0
    assert quia.load(again).given == (*RULES, "GPA=low -> SAT < 1500")
    words = [word for name, value in APPLICANT.items() for word in ("--set", f"{name}={value}")]
    held = printed(capsys, "explain", model, *words)[1]
    assert held == printed(capsys, "explain", ADMISSIONS, *words, "--given-file", rules)[1]
    assert held != printed(capsys, "explain", ADMISSIONS, *words)[1]
    page = tmp_path / "page.html"
    assert printed(capsys, "report", model, *words, "-o", page)[0] == 0
    assert "Essay=pass -&gt; Interview=pass" in page.read_text()
    code, _, err = printed(capsys, "convert", model, "-o", again, "--given", "Essay=pass & Interview=fail")
    assert code == 2 and RULE in err and RULES[1] not in err
    code, _, err = printed(capsys, "convert", model, "-o", rules, "--given-file", rules)
    assert code == 2 and "the same file" in err


def test_learn_writes_constraints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    (tmp_path / "t.csv").write_text("age,debt,said\n" + "".join(f"{n},{n % 3},{n > 20}\n" for n in range(40)))
    words = ["learn", tmp_path / "t.csv", "-o", tmp_path / "m.json", "--given", "age < 18 -> debt < 1"]
    assert printed(capsys, *words)[0] == 0
    assert quia.load(tmp_path / "m.json").given == ("age < 18 -> debt < 1",)


def test_check_says_what_constraints_leave(capsys: pytest.CaptureFixture[str], rules: Path) -> None:
    code, found = checked_json(
        capsys, ADMISSIONS, "--given-file", rules, "--given", RULE, "--given", "GPA=low | GPA != low"
    )
    assert code == 0
    assert found == {
        "constraints": [RULE, "GPA=low | GPA != low", RULES[1]],
        "within": [],
        "can_be_met": True,
        "idle": ["GPA=low | GPA != low"],
        "implied": [],
        "repeated": [RULE],
        "impossible_classes": [],
        "undecided_classes": [],
    }
    code, out, _ = printed(capsys, "check", ADMISSIONS, "--given-file", rules, "--given", RULE)
    assert f"  given: 2 constraints, which can be met together\n    {RULE} (said more than once)\n" in out
    assert "  every class is possible" in out
    narrow = ["--given", RULE, "--within", "Interview=fail"]
    code, found = checked_json(capsys, ADMISSIONS, *narrow)
    assert (code, found["impossible_classes"], found["within"]) == (0, ["Accept"], ["Interview=fail"])
    assert "  no possible world is decided: Accept" in printed(capsys, "check", ADMISSIONS, *narrow)[1]
    assert checked_json(capsys, ADMISSIONS) == (0, None)


def test_check_names_the_few_that_contradict(capsys: pytest.CaptureFixture[str], rules: Path) -> None:
    words = [
        ADMISSIONS,
        "--given-file",
        rules,
        "--given",
        "Essay=pass",
        "--within",
        "Interview=fail",
        "--given",
        "SAT > 3",
    ]
    code, found = checked_json(capsys, *words)
    assert (code, found["can_be_met"]) == (1, False)
    assert found["contradicting"] == ["Interview=fail", "Essay=pass", RULE]
    code, out, _ = printed(capsys, "check", *words)
    assert code == 1
    assert (
        "which cannot be met: nothing within Interview=fail meets the constraints Essay=pass; Essay=pass -> Int" in out
    )


def test_check_counts_rows_that_break_constraints(
    capsys: pytest.CaptureFixture[str], rules: Path, table: Path, tmp_path: Path
) -> None:
    code, found = checked_json(capsys, ADMISSIONS, "--given-file", rules, "--data", table)
    assert code == 1
    rows = found["rows"]
    assert (rows["rows"], rows["broken"], rows["first_broken"]) == (5, 2, [1, 4])
    assert rows["by_constraint"] == [
        {"constraint": RULE, "rows": 1, "first": [1]},
        {"constraint": RULES[1], "rows": 1, "first": [4]},
    ]
    assert (rows["unreadable"], rows["first_unreadable"]) == (2, [3, 5])
    assert rows["fault"] == "SAT is 'x', which is not a number"
    code, out, _ = printed(capsys, "check", ADMISSIONS, "--given-file", rules, "--data", table)
    assert "  rows: 2 of 3 break what is given (1, 4)\n" in out
    assert "  not read: 2 rows more (3, 5), the first as SAT is 'x', which is not a number" in out
    # The constraints of a model do as well as those given beside it.
    printed(capsys, "convert", ADMISSIONS, "-o", tmp_path / "model.json", "--given-file", rules)
    assert (
        printed(capsys, "check", tmp_path / "model.json", "--data", table)[1].splitlines()[8:] == out.splitlines()[8:]
    )
    few = tmp_path / "few.csv"
    few.write_text("SAT,GPA\n1400,low\n")
    code, found = checked_json(capsys, ADMISSIONS, "--given-file", rules, "--data", few)
    assert (code, found["rows"]["absent_columns"]) == (0, ["Essay", "Interview"])
    assert (
        "taken as unknown: Essay, Interview"
        in printed(capsys, "check", ADMISSIONS, "--given-file", rules, "--data", few)[1]
    )
    few.write_text("SAT,GPA\n")
    code, _, err = printed(capsys, "check", ADMISSIONS, "--given-file", rules, "--data", few)
    assert (code, "has no rows" in err) == (2, True)


def test_check_compares_decisions_beside_constraints(
    capsys: pytest.CaptureFixture[str], rules: Path, tmp_path: Path
) -> None:
    table = tmp_path / "said.csv"
    table.write_text("SAT,GPA,Essay,Interview,said\n1400,low,pass,pass,Reject\n")
    words = ["check", ADMISSIONS, "--given-file", rules, "--data", table, "--predicted", "said"]
    code, out, _ = printed(capsys, *words)
    assert code == 0
    assert "none of 1 breaks what is given" in out and "1 of 1 rows agree" in out
    code, _, err = printed(capsys, "check", ADMISSIONS, "--data", table)
    assert code == 2 and "cannot be asked for its own decisions" in err


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", 0, "rules.txt has no constraint"),
        (b"# nothing\n\n  # here\n", 0, "rules.txt has no constraint"),
        (b"GPA=low\n\n   GPA=hihg\n", 2, "rules.txt, line 3: the constraint 'GPA=hihg' cannot be read: column 8:"),
        (b"SAT\n", 2, "rules.txt, line 1: the constraint 'SAT' cannot be read: column 1: 'SAT' stands alone"),
        (b"\xff\xfe\x00", 2, "rules.txt: has a NUL character, so it is no text"),
        (b"GPA=low\n\x93\n", 2, "rules.txt, line 2: is not UTF-8 text"),
        (b"GPA=low\n" * 200_000, 2, "rules.txt: holds more than 1,000,000 bytes"),
        (b"\xef\xbb\xbfGPA=low\r\n", 0, ""),
    ],
)
def test_files_of_constraints(content: bytes, code: int, said: str, capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"
    file.write_bytes(content)
    for command in (["check", ADMISSIONS], ["convert", ADMISSIONS, "-o", tmp_path / "out.json"]):
        found, _, err = printed(capsys, *command, "--given-file", file)
        assert (found, said in err, bool(err)) == (code, True, bool(said)), err
        assert err.count("\n") == bool(said)
