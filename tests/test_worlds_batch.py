"""Tables of decisions in possible worlds: every row as `explain` has it, impossible ones told of in its words."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import quia
from quia.batch import local
from quia.batch.arrow import explain_batches
from quia.batch.cache import Cache
from quia.batch.question import ask
from quia.cli import main
from quia.counterfactual import Counterfactual
from test_explain_batch import are_reasons, is_told, listed
from test_worlds import CLINIC, MAN, RULE
from worlds_cases import MODELS, Model, random_case
from worlds_oracle import Case

EACH = 8
ROWS = 6
KINDS = ("necessary", "sufficient")
WORLDS = ("within", "only_up", "only_down", "near", "given")


# ---- every row as `explain` has it ------------------------------------------------------------------------------


def rows_of(rng: Random, model: Model, case: Case) -> pa.Table:
    """The case's instance and others, some of which are impossible, some in the same states."""
    rows = [case.instance, *(model.draw(rng) for _ in range(ROWS))]
    changed = [{**case.instance, name: model.draw(rng)[name]} for name in list(case.instance)]
    rows += [*rng.sample(changed, min(len(changed), 3)), rows[0], rows[1]]
    return pa.Table.from_pylist(rng.sample(rows, len(rows)))


def as_asked(rng: Random, case: Case) -> dict[str, Any]:
    """What is asked of all rows; what a single feature can be said of is said more often than in a case."""
    asked = case.asked
    numeric = [feature.name for feature in case.features if feature.is_numeric]
    for option in ("only_up", "only_down"):
        more = [name for name in numeric if rng.random() < 0.2 and name not in asked.get(option, ())]
        if more:
            asked[option] = [*asked.get(option, ()), *more]
    return asked


def check(model: Model, case: Case, rng: Random) -> int:
    """Every row of a table against `explain`; how many of them are impossible."""
    table = rows_of(rng, model, case)
    names = table.column_names
    asked = as_asked(rng, case)
    protected, limit = rng.sample(names, min(len(names), 2)), rng.choice([1, 2, 50])
    general, marks = rng.random() < 0.7, rng.random() < 0.5
    found = quia.explain_batch(
        model.classifier,
        table,
        **asked,
        limit=limit,
        general=general,
        counts=True,
        all_reasons=limit,
        counterfactuals=3,
        protected=protected,
        superfluous=marks,
    )
    refused = 0
    for row, told in zip(table.to_pylist(), found.to_pylist(), strict=True):
        why, fault = explained(model.classifier, row, asked)
        if why is None:
            already = fault.startswith("the decision is")
            assert told["error"] == (f"the decision is {case.against!r} already" if already else fault)
            assert told["decision"] == (case.against if already else None)
            assert not told["complete"]
            refused += "impossible" in fault
            continue
        assert (told["error"], told["complete"]) == (None, True)
        assert told["decision"] == why.decision
        assert told["unknown"] == list(why.unknown)
        check_row(told, why, limit, general, protected, marks)
    return refused


def explained(classifier: Any, row: dict[str, Any], asked: dict[str, Any]) -> tuple[Any, str]:
    """What `explain` has to say, or why it refuses to."""
    try:
        return quia.explain(classifier, row, **asked), ""
    except quia.QuiaError as fault:
        return None, str(fault)


def check_row(told: dict[str, Any], why: Any, limit: int, general: bool, protected: list[str], marks: bool) -> None:
    for kind in KINDS:
        reasons_of = getattr(why, f"{kind}_reasons")
        assert told[f"{kind}_count"] == getattr(why, f"count_{kind}")()
        assert told[f"shortest_{kind}_ties"] == reasons_of(shortest=True).set_count
        for column, shortest in ((f"shortest_{kind}", True), (f"{kind}_reasons", False)):
            reasons = reasons_of(shortest=shortest, limit=limit, general=general)
            if kind == "sufficient" and marks:
                reasons = reasons.as_shown()
                assert told[f"{column}_superfluous"] == [reason.is_superfluous for reason in reasons]
            check_list(told, column, reasons, general)
    nearest = why.counterfactuals(limit=3)
    assert len(told["counterfactuals"]) == len(nearest)
    for change, wanted in zip(told["counterfactuals"], nearest, strict=True):
        assert is_change(change, wanted, general)
    bias = why.bias(protected, general=general, limit=limit)
    assert told["biased"] is bias.biased
    check_list(told, "bias_reasons", bias.reasons, general)
    assert told.get("bias_vacuous", False) == bias.is_vacuous or not why.question.told


def check_list(told: dict[str, Any], column: str, reasons: Any, general: bool) -> None:
    if general:
        assert are_reasons(told, column, reasons)
    else:
        assert listed(told[column]) == [reason.to_dict() for reason in reasons]


def is_change(told: dict[str, Any], wanted: Counterfactual, general: bool) -> bool:
    literals = tuple(replace(literal, beside=None) for literal in wanted.changes)
    assert (told["decision"], told["certain"]) == (wanted.decision, wanted.certain)
    if general:
        return is_told(told["changes"], literals)
    return [(each["feature"], each["state"]) for each in told["changes"]] == [(x.feature, x.text) for x in literals]


@pytest.mark.parametrize("kind", MODELS)
def test_rows_are_explained_as_one_by_one(kind: str, tmp_path: Path) -> None:
    rng, tried, refused = Random(f"tables {kind}"), 0, 0
    while tried < EACH or not refused:
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is not None and any(case.asked.get(x) for x in WORLDS):
            tried += 1
            try:
                refused += check(model, case, rng)
            except Exception as fault:
                raise AssertionError(f"{fault}: {case.instance}, {case.asked}") from fault


def test_gaps_in_what_is_possible_of_a_number() -> None:
    """Conditions reach over them, and changes do not: rows of which one would are explained one by one."""
    rng, tried = Random(7), 0
    while tried < 12:
        model = MODELS["tree"](rng, Path())
        case = random_case(rng, model)
        numeric = [f for f in model.features if f.is_numeric and len(f.cuts) > 1 and not f.missing]
        if case is None or not numeric:
            continue
        tried += 1
        (low, _), (high, _) = numeric[0].cuts[0], numeric[0].cuts[-1]
        parts = [f"<= {low!r}", f"> {high!r}"]
        check(model, replace(case, within={numeric[0].name: (parts, None)}, near={}), rng)


@pytest.mark.parametrize("kind", ["additive", "lines"])
def test_sums_of_rows_are_not_weighed_where_they_have_bounds(kind: str, tmp_path: Path) -> None:
    """Without bounds, costs and classes to be against, many rows are weighed at once."""
    rng, tried = Random(3), 0
    while tried < 20:
        case = random_case(rng, model := MODELS[kind](rng, tmp_path), unknown=0.0)
        if case is not None and (case.within or case.only_up or case.only_down):
            tried += 1
            check(model, replace(case, costs=None, against=None, given=(), near={}), rng)


THREE = ("no", "perhaps", "yes", "sure")


@pytest.fixture
def three() -> quia.DecisionGraph:
    """1 if a is no or yes, whatever b and c are, or else if b is no."""
    variables = [quia.Variable.nominal(name, THREE) for name in ("a", "b", "c")]
    rest, two = ((1, 1), (3, 3)), ((0, 0), (2, 2))
    edges = [(), (), ((((0, 0),), 1), (((1, 3),), 0)), ((two, 1), (rest, 2))]
    return quia.DecisionGraph.build(variables, ["0", "1"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        ({"a": "yes", "c": "yes"}, {"given": ["a=yes -> c=no"]}),
        ({"a": "yes", "b": None}, {"given": ["a=yes -> b=yes", "b=yes -> c=no"]}),
        ({"a": "yes", "b": None, "c": "yes"}, {"given": ["a=yes -> b=yes", "b=yes -> c=no"]}),
        ({"a": "yes", "b": None}, {"given": "a=yes -> b=yes", "within": {"b": ["no", "sure"]}}),
        ({"a": "yes", "b": None}, {"given": "a=yes -> b=yes", "within": {"b": ["no", "yes"]}}),
        ({"a": "yes", "b": None, "c": "yes"}, {"given": "a=yes & c=yes -> b=yes", "within": {"b": ["no", "sure"]}}),
        ({"a": "yes", "b": "no", "c": "?"}, {"within": {"c": ["no"]}}),
        ({"a": "yes", "b": "no", "c": "yes"}, {"within": {"c": ["no"]}}),
        ({"a": "yes", "b": "no"}, {"within": {"a": ["no", "yes", "sure"]}}),
        ({"a": "sure", "b": "no"}, {"within": {"a": ["perhaps", "sure"], "b": ["no", "yes", "sure"]}}),
    ],
    ids=str,
)
def test_what_is_not_known_may_be_impossible(
    three: quia.DecisionGraph, row: dict[str, Any], asked: dict[str, Any]
) -> None:
    """Also where conditions are on states that lie apart, or on features that the model does not test."""
    row = {"b": "no", **row}
    told = quia.explain_batch(three, [row], all_reasons=9, **asked).to_pylist()[0]
    why, fault = explained(three, row, asked)
    assert told["error"] == (fault or None)
    if why is not None:
        for kind in KINDS:
            reasons = getattr(why, f"{kind}_reasons")(general=True, limit=9)
            assert reasons or kind == "necessary"
            check_list(told, f"{kind}_reasons", reasons, general=True)


# ---- a small clinic ---------------------------------------------------------------------------------------------


@pytest.fixture
def clinic() -> quia.DecisionGraph:
    return quia.DecisionGraph.from_dict(CLINIC)


PEOPLE = [
    MAN,
    {**MAN, "pregnant": "yes"},
    {**MAN, "age": 40},
    {**MAN, "sex": "F", "age": 30.5},
    {**MAN, "sex": "F", "pregnant": "yes", "age": 17},
    {**MAN, "age": "old"},
]
"""The second breaks the rule, the last has no age."""


def test_an_impossible_row_is_a_bad_row(clinic: quia.DecisionGraph) -> None:
    table = pa.Table.from_pylist([{**each, "age": str(each["age"])} for each in PEOPLE])
    found = quia.explain_batch(clinic, table, given=RULE, within={"age": "> 17"}).to_pylist()
    assert found[1]["error"] == (
        "the instance is impossible: it breaks the constraint pregnant=yes -> sex=F, as sex=M and pregnant=yes;"
        " correct the one or the other"
    )
    assert found[4]["error"] == (
        "the instance is impossible: age is 17, but what is possible is within age > 17; correct the one or the other"
    )
    assert found[5]["error"] == "age is 'old', which is not a number"
    assert [each["decision"] for each in found] == ["no", None, "yes", "no", None, None]
    assert [each["complete"] for each in found] == [True, False, True, True, False, False]


def test_a_bias_that_no_possible_world_shows_is_told(clinic: quia.DecisionGraph) -> None:
    plain, ruled = (quia.explain_batch(clinic, [MAN], protected=["pregnant"], given=given) for given in (None, RULE))
    assert "bias_vacuous" not in plain.column_names and plain["biased"].to_pylist() == [True]
    assert ruled["biased"].to_pylist() == [False] and ruled["bias_vacuous"].to_pylist() == [True]


def test_superfluous_reasons_come_last_and_are_marked(clinic: quia.DecisionGraph) -> None:
    found = quia.explain_batch(clinic, [MAN], given=RULE, superfluous=True, all_reasons=9).to_pylist()[0]
    assert found["sufficient_reasons_text"] == ["pregnant=no and age <= 30", "sex=M and age <= 30"]
    assert found["sufficient_reasons_superfluous"] == [False, True]
    plain = quia.explain_batch(clinic, [MAN], given=RULE).column_names
    assert not any(name.endswith("_superfluous") for name in plain)


def test_rows_in_the_same_states_have_neighbourhoods_of_their_own(clinic: quia.DecisionGraph) -> None:
    """Both are in one state of the model; only one of them can get over the threshold."""
    rows = [{**MAN, "age": age} for age in (10, 27, 10)]
    batches = pa.Table.from_pylist(rows).to_batches(max_chunksize=1)
    asked: dict[str, Any] = {"near": {"age": 5}, "frozen": ["pregnant"], "counterfactuals": 2}
    request = ask(clinic, **asked)
    found = [each.to_pylist()[0] for each in explain_batches(iter(batches), clinic, request, cache=Cache())]
    assert [each["counterfactuals_text"] for each in found] == [[], ["age in (30, 32]: yes"], []]
    assert found == quia.explain_batch(clinic, rows, **asked).to_pylist()


def test_rows_in_other_directions_are_kept_apart(clinic: quia.DecisionGraph) -> None:
    rows = [{**MAN, "age": age} for age in (20, 40, 20, 40)]
    cache, request = Cache(), ask(clinic, only_down=["age"], frozen=["sex", "pregnant"], shortest=["necessary"])
    for batch in pa.Table.from_pylist(rows).to_batches(max_chunksize=2):
        (found,) = explain_batches([batch], clinic, request, cache=cache)
        assert found["shortest_necessary_text"].to_pylist() == [[], ["age <= 30"]]


def test_columns_that_only_a_constraint_asks_for_may_be_absent() -> None:
    variables = [quia.Variable.nominal(name, ["no", "yes"]) for name in ("a", "b")]
    graph = quia.DecisionGraph.build(
        variables, ["0", "1"], [-1, -1, 0], [0, 1, -1], [(), (), ((((0, 0),), 0), (((1, 1),), 1))]
    )
    for rows in ([{"a": "no"}, {"a": "yes"}], [{"a": "no", "b": "no"}, {"a": "yes", "b": "no"}]):
        found = quia.explain_batch(graph, rows, given="a=yes -> b=yes", counterfactuals=1).to_pylist()
        for row, told in zip(rows, found, strict=True):
            why, fault = explained(graph, row, {"given": "a=yes -> b=yes"})
            assert told["error"] == (fault or None)
            if why is not None:
                assert told["unknown"] == list(why.unknown)
                nearest = [str(replace(each, now=())) for each in why.counterfactuals(limit=1)]
                assert told["counterfactuals_text"] == nearest
    with pytest.raises(quia.InstanceError, match="no column 'a', which the classifier tests"):
        quia.explain_batch(graph, [{"b": "no"}], given="a=yes -> b=yes")


def test_columns_that_are_needed_to_tell_what_is_near(clinic: quia.DecisionGraph) -> None:
    known = quia.DecisionGraph.from_dict(
        {**CLINIC, "root": "yes", "nodes": {"yes": {"class": "yes"}}}
    )  # which tests nothing
    with pytest.raises(quia.InstanceError, match="no column 'age', which near speaks of"):
        quia.explain_batch(known, [{"sex": "F"}], near={"age": 3})


def test_constraints_of_the_model_itself_hold_for_its_rows() -> None:
    clinic = quia.DecisionGraph.from_dict(CLINIC)
    object.__setattr__(clinic, "given", (RULE,))
    told = quia.explain_batch(clinic, PEOPLE, counterfactuals=3).to_pylist()
    plain = quia.DecisionGraph.from_dict(CLINIC)
    assert told == quia.explain_batch(plain, PEOPLE, counterfactuals=3, given=RULE).to_pylist()
    assert told != quia.explain_batch(plain, PEOPLE, counterfactuals=3).to_pylist()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"within": {"agee": "> 3"}}, "did you mean 'age'"),
        ({"only_up": ["sex"]}, "go neither up nor down"),
        ({"near": {"age": -1}}, "near says -1"),
        ({"given": "sex=F & sex=M"}, "nothing can meet"),
        ({"near": {"age": 3}, "coverage": True}, "coverage is asked for with near"),
        ({"superfluous": 3}, "superfluous is 3"),
    ],
)
def test_what_cannot_be_asked(clinic: quia.DecisionGraph, options: dict[str, Any], match: str) -> None:
    with pytest.raises(quia.InstanceError, match=match):
        quia.explain_batch(clinic, [MAN], **options)


# ---- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """A model, its rows, and a file of constraints."""
    rng = Random(5)
    rows = [
        {"id": n, "sex": rng.choice("FM"), "pregnant": rng.choice(["no", "yes"]), "age": rng.randint(15, 60)}
        for n in range(300)
    ]
    pacsv.write_csv(pa.Table.from_pylist(rows), tmp_path / "rows.csv")
    (tmp_path / "clinic.json").write_text(json.dumps(CLINIC))
    (tmp_path / "rules.txt").write_text(f"# who can be pregnant\n{RULE}\n")
    return tmp_path


def run(ward: Path, *options: str, out: str = "out.parquet") -> int:
    return main(
        ["batch", str(ward / "clinic.json"), str(ward / "rows.csv"), "--id", "id", "-o", str(ward / out), *options]
    )


COMMANDS = [
    (["--within", "age > 18", "--only-up", "age"], {"within": {"age": "> 18"}, "only_up": ["age"]}),
    (["--near", "age=5", "--only-down", "age"], {"near": {"age": 5}, "only_down": ["age"]}),
    (["--near", "age=5", "--states"], {"near": {"age": 5}, "general": False}),
    (["--given", RULE, "--superfluous"], {"given": RULE, "superfluous": True}),
]


@pytest.mark.parametrize(("options", "asked"), COMMANDS, ids=[" ".join(options) for options, _ in COMMANDS])
def test_the_command_answers_as_python_does(ward: Path, options: list[str], asked: dict[str, Any]) -> None:
    more = ["--counterfactuals", "2", "--protected", "sex", "--sufficient", "--necessary", "--part-rows", "70"]
    assert run(ward, *options, *more) == 0
    table = pacsv.read_csv(ward / "rows.csv").cast(pa.schema([(name, pa.string()) for name in TEXTS]))
    model = quia.load(ward / "clinic.json")
    here = quia.explain_batch(model, table, ids=["id"], counterfactuals=2, protected=["sex"], **asked)
    assert pq.read_table(ward / "out.parquet").to_pylist() == here.to_pylist()


TEXTS = ("id", "sex", "pregnant", "age")


def test_impossible_rows_are_counted_and_put_aside(ward: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ward, "--given-file", str(ward / "rules.txt"), "--rejects", str(ward / "bad.csv"), "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    rows = pacsv.read_csv(ward / "rows.csv").to_pylist()
    broken = [row["id"] for row in rows if row["sex"] == "M" and row["pregnant"] == "yes"]
    assert summary["rejected"] == len(broken) and summary["rows"] == 300
    assert list(summary["errors"].values()) == [len(broken)] and RULE in next(iter(summary["errors"]))
    assert pacsv.read_csv(ward / "bad.csv")["id"].to_pylist() == broken
    assert pq.read_table(ward / "out.parquet").num_rows == 300 - len(broken)


def test_rules_are_counted_among_possible_rows_alone(ward: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is true of no row that is decided otherwise; where each row has its own worlds, there are none."""
    assert run(ward, "--given", RULE, "--summary", str(ward / "page.html"), "--json") == 0
    rules = json.loads(capsys.readouterr().out)["rules"]
    assert rules and all(rule["rows"] == rule["decided"] > 0 for rule in rules)
    for options in (["--only-up", "age"], ["--near", "age=3"]):
        assert run(ward, *options, "--json", out=f"{options[0]}.parquet") == 0
        assert json.loads(capsys.readouterr().out)["rules"] == []


QUESTIONS: list[list[str]] = [
    [],
    ["--within", "age > 15"],
    ["--within", "age > 16"],
    ["--only-up", "age"],
    ["--only-down", "age"],
    ["--near", "age=5"],
    ["--near", "age=6"],
    ["--given", RULE],
    ["--given", "pregnant=yes -> age > 12"],
    ["--given", RULE, "--superfluous"],
]


@pytest.mark.parametrize("before", QUESTIONS, ids=" ".join)
def test_a_run_is_not_resumed_in_other_worlds(
    ward: Path, before: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(ward, *before) == 0
    written = (ward / "out.parquet").read_bytes()
    for after in QUESTIONS:
        assert (run(ward, *after) == 0) == (after == before), after
    assert (ward / "out.parquet").read_bytes() == written
    assert "question" in capsys.readouterr().err


def test_a_stopped_run_goes_on(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done in the same worlds is kept; the result is that of a run in one go."""
    asked = ["--given", RULE, "--only-up", "age", "--part-rows", "50", "--threads", "1"]
    assert run(ward, *asked, out="whole.parquet") == 0
    explain, seen = local._explain_part, list[int]()

    def stopping(job: Any, part: Any, *how: Any) -> Any:
        if part.number == 4 and len(seen) < 5:
            raise quia.QuiaError("stopped")
        seen.append(part.number)
        return explain(job, part, *how)

    monkeypatch.setattr(local, "_explain_part", stopping)
    assert run(ward, *asked) != 0
    seen += [-1] * 5
    assert run(ward, *asked) == 0
    assert seen[-2:] == [4, 5] and seen.count(0) == 1
    assert (ward / "out.parquet").read_bytes() == (ward / "whole.parquet").read_bytes()


def test_a_file_of_constraints_is_not_written_over(ward: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = ward / "rules.csv"
    rules.write_text(f"{RULE}\n")
    assert run(ward, "--given-file", str(rules), out="rules.csv") != 0
    assert "--given-file" in capsys.readouterr().err
    assert rules.read_text() == f"{RULE}\n"


# ---- a real tree ------------------------------------------------------------------------------------------------


def test_a_real_tree_of_a_thousand_rows(shared_data: Path) -> None:
    """All through the kernel; a sample of the rows against `explain`."""
    adult = shared_data / "trees" / "adult"
    model = quia.load(adult / "tree.j48.txt")
    with gzip.open(adult / "rows.csv.gz") as file:
        table = pacsv.read_csv(file, convert_options=pacsv.ConvertOptions(strings_can_be_null=False))
    married = '{Husband, Wife, "Own-child", "Other-relative", "Not-in-family"}'
    rule = f'"marital-status"="Married-civ-spouse" -> relationship in {married}'
    for asked in ({"given": rule}, {"within": {"age": "> 20"}}, {"only_up": ["age"]}, {"near": {"age": 4}}):
        found = quia.explain_batch(model, table, counterfactuals=2, limit=4, **asked).to_pylist()
        for at in range(0, table.num_rows, 40):
            why, fault = explained(model, table.slice(at, 1).to_pylist()[0], asked)
            assert found[at]["error"] == (fault or None)
            if why is not None:
                for kind in KINDS:
                    reasons = getattr(why, f"{kind}_reasons")(general=True, shortest=True, limit=4)
                    check_list(found[at], f"shortest_{kind}", reasons, general=True)
                nearest = why.counterfactuals(limit=2)
                assert all(map(is_change, found[at]["counterfactuals"], nearest, [True] * len(nearest)))
