"""Tables of decisions of additive models: every row as `explain` has it, lines and all."""

import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import quia
from quia.batch.arrow import explain_batches
from quia.batch.local import Job, run
from quia.batch.question import ask
from quia.batch.read import open_source
from quia.batch.reference import reference as reference_of
from quia.patience import Clock
from quia.sums import Rule
from quia.terms import Line, Table, Term
from quia.widen import necessary_boxes, sufficient_boxes
from test_explain_batch import are_reasons, listed


def random_model(rng: Random, *, lines: bool, classes: int = 2, whole: bool = True, features: int = 0) -> quia.Additive:
    """A small additive model: names, bins and lines, some with a state for missing values."""

    def number() -> float:
        return float(rng.randrange(-4, 9)) if whole else rng.gauss(0, 3)

    scores = 1 if classes == 2 else classes
    variables: list[quia.Variable] = []
    terms: list[Term] = []
    for v in range(features or rng.randrange(2, 6)):
        kind = rng.choice(["names", "bins", *(["line", "line"] if lines else [])])
        missing = rng.random() < 0.3
        name = f"x{v}"
        if kind == "names":
            labels = [f"s{n}" for n in range(rng.randrange(2, 5))]
            variables.append(quia.Variable.nominal(name, labels, no_value=labels[-1] if missing else None))
        elif kind == "bins":
            variables.append(quia.Variable.numeric(name, [10 * n for n in range(rng.randrange(1, 5))], missing=missing))
        else:
            variables.append(quia.Variable.line(name, -5, 40, missing=missing))
            gone = tuple(number() for _ in range(scores)) if missing else None
            steps = rng.choice([(), (("subtract", 3.0), ("divide", 7.0)), (("clip", 0.0, 20.0),)])
            terms.append(Line(v, steps, tuple(number() / 4 for _ in range(scores)), gone))
            continue
        terms.append(Table(v, np.array([[number() for _ in range(scores)] for _ in range(variables[-1].size)])))
    rule = Rule("cuts", (number(),)) if scores == 1 else Rule("argmax")
    names = tuple(f"c{c}" for c in range(classes))
    start = tuple(number() for _ in range(scores))
    return quia.Additive(tuple(variables), names, tuple(terms), start, rule)


def random_row(rng: Random, model: quia.Additive, *, unknown: float = 0.0) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for variable in model.variables:
        if rng.random() < (0.2 if variable.missing else unknown):
            row[variable.name] = None
        elif variable.labels is not None:
            row[variable.name] = rng.choice(variable.labels)
        else:
            row[variable.name] = rng.choice([rng.uniform(-5, 40), float(rng.randrange(-5, 41))])
    return row


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows))


def explained(model: quia.Additive, row: dict[str, Any], **options: Any) -> quia.Explanation | str:
    """What `explain` says, or why it does not."""
    try:
        return quia.explain(model, row, **options)
    except quia.QuiaError as fault:
        return str(fault)


def check_row(
    model: quia.Additive, row: dict[str, Any], found: dict[str, Any], limit: int, general: bool, **options: Any
) -> None:
    """That a row of a table says what `explain` says."""
    why = explained(model, row, **options)
    if isinstance(why, str):
        assert "already" in found["error"] if "already" in why else found["error"] == why
        assert found["shortest_sufficient"] is None
        return
    assert (found["decision"], found["error"], found["complete"]) == (why.decision, None, True)
    assert found["unknown"] == list(why.unknown)
    for kind in ("necessary", "sufficient"):
        shortest = getattr(why, f"{kind}_reasons")(shortest=True, limit=limit, general=general)
        if general:
            assert are_reasons(found, f"shortest_{kind}", shortest)
        else:
            assert listed(found[f"shortest_{kind}"]) == [reason.to_dict() for reason in shortest]
        assert found[f"shortest_{kind}_ties"] == shortest.set_count


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize(
    ("lines", "whole", "classes"),
    [(False, True, 2), (False, False, 2), (True, False, 2), (False, True, 3)],
)
def test_rows_of_additive_models_are_explained_as_one_by_one(
    lines: bool, whole: bool, classes: int, general: bool
) -> None:
    rng = Random(f"{lines} {whole} {classes} {general}")
    for _ in range(10):
        model = random_model(rng, lines=lines, whole=whole, classes=classes)
        rows = [random_row(rng, model, unknown=rng.choice([0, 0.2])) for _ in range(6)]
        rows += rows[:2]
        frozen = [rng.choice(model.variables).name] if rng.random() < 0.3 else []
        costs = {model.variables[0].name: 2} if rng.random() < 0.2 else None
        against = rng.choice(model.classes) if classes == 2 and rng.random() < 0.3 else None
        options: dict[str, Any] = {"frozen": frozen, "costs": costs, "against": against}
        limit = rng.choice([1, 3, 10])
        table = quia.explain_batch(model, table_of(rows), limit=limit, general=general, **options)
        for row, found in zip(rows, table.to_pylist(), strict=True):
            check_row(model, row, found, limit, general, **options)


def credit_line() -> quia.Additive:
    job = quia.Variable.nominal("job", ["none", "new", "old"])
    income, age = quia.Variable.line("income", 0, 100), quia.Variable.line("age", 18, 90, missing=True)
    terms = (
        Table(0, np.array([[0.0], [10.0], [25.0]])),
        Line(1, (), (0.5,)),
        Line(2, (), (0.1,), (3.0,)),
    )
    return quia.Additive((job, income, age), ("deny", "grant"), terms, (0.0,), Rule("cuts", (40.0,)))


@pytest.mark.parametrize(
    "make", [table_of, lambda rows: table_of([{k: str(v) for k, v in row.items()} for row in rows])]
)
def test_numbers_outside_a_range_are_faults_of_their_rows(make: Any) -> None:
    model = credit_line()
    values = [60.0, 100.0, math.nextafter(100.0, 101), -1.0, -0.0, 250.0, math.inf]
    rows = [{"job": "old", "income": income, "age": 50.0} for income in values]
    told = quia.explain_batch(model, make(rows)).to_pylist()
    for row, found in zip(rows, told, strict=True):
        check_row(model, row, found, 10, True)
    assert [found["decision"] is None for found in told] == [False, False, True, True, False, True, True]


def test_conditions_on_a_line_are_exact_numbers() -> None:
    """As data they bound just the numbers with which the decision stays: one that is next to a bound changes it."""
    model = credit_line()
    row = {"job": "old", "income": 60, "age": 50}
    found = quia.explain_batch(model, [row]).to_pylist()[0]
    (job, income), *_ = found["shortest_sufficient"]
    assert (job["condition"], income["high"], income["low_closed"]) == ("≠ none", None, True)
    worst = {"job": "new", "age": 18}
    assert model.classify(worst | {"income": income["low"]}) == "grant"
    assert model.classify(worst | {"income": math.nextafter(income["low"], 0)}) == "deny"
    alone = next(each for (each,) in found["shortest_necessary"] if each["feature"] == "income")
    inside, outside = math.nextafter(alone["high"], 0), math.nextafter(alone["high"], 100)
    assert model.classify(row | {"income": alone["high"] if alone["high_closed"] else inside}) == "deny"
    assert model.classify(row | {"income": outside if alone["high_closed"] else alone["high"]}) == "grant"


def test_rows_that_reasons_on_lines_fit_are_counted() -> None:
    rng = Random(3)
    model = credit_line()
    rows = [
        {
            "job": rng.choice(["none", "new", "old"]),
            "income": rng.uniform(0, 100),
            "age": rng.choice([None, 30.0, 60.5]),
        }
        for _ in range(40)
    ]
    told = quia.explain_batch(model, table_of(rows), coverage=True, counterfactuals=2, protected=["age"], limit=2)
    reference = reference_of(model, table_of(rows))
    for row, found in list(zip(rows, told.to_pylist(), strict=True))[:12]:
        why = quia.explain(model, row, data=reference)
        for kind in ("necessary", "sufficient"):
            reasons = getattr(why, f"{kind}_reasons")(general=True, shortest=True, limit=2)
            assert are_reasons(found, f"shortest_{kind}", reasons)
            fits = [
                sum(
                    all(each.holds(other[each.feature]) for each in (r.changes if kind == "necessary" else r.literals))
                    for other in rows
                )
                for r in reasons
            ]
            assert found[f"shortest_{kind}_rows"] == fits == [reason.rows for reason in reasons]
        near = why.counterfactuals(limit=2)
        assert [[c["condition"] for c in change["changes"]] for change in found["counterfactuals"]] == [
            [each.text for each in change.changes] for change in near
        ]
        assert found["biased"] == why.bias(["age"]).biased


def test_a_run_from_a_file_and_in_parts_says_the_same(tmp_path: Path) -> None:
    """CSV in and out, a cache across parts, and distinct rows that differ in the last bit of a number."""
    model = credit_line()
    numbers = [60.0, math.nextafter(60.0, 61), 20.0, 20.000000000000004, 500.0]
    table = table_of([{"job": job, "income": income, "age": None} for job in ("old", "new") for income in numbers] * 3)
    whole = quia.explain_batch(model, table, general=False)
    assert len({str(row) for row in whole["shortest_sufficient"].to_pylist()}) > 4
    request = ask(model, general=False)
    parts = explain_batches(table.to_batches(max_chunksize=7), model, request)
    assert pa.Table.from_batches(list(parts)).to_pylist() == whole.to_pylist()
    csv.write_csv(table, tmp_path / "rows.csv")
    source = open_source(str(tmp_path / "rows.csv"), model, request)
    for name, format in (("out.csv", "csv"), ("out.parquet", "parquet")):
        job = Job(
            classifier=model,
            model="credit",
            source=source,
            request=request,
            output=tmp_path / name,
            format=format,
            is_folder=False,
            part_rows=7,
        )
        summary = run(job)
        assert (summary.rows, summary.rejected, summary.classes) == (30, 6, {"grant": 12, "deny": 12})
    assert parquet.read_table(tmp_path / "out.parquet").drop_columns(["row"]).to_pylist() == whole.to_pylist()
    texts = csv.read_csv(tmp_path / "out.csv")["shortest_sufficient"].to_pylist()
    assert texts[1] == "job: old and income: = 60.00000000000001"


@pytest.mark.parametrize("whole", [True, False])
def test_boxes_are_those_that_a_search_finds_the_widest_first(whole: bool) -> None:
    """By what each state adds, however few are asked for, and by nothing but `escape`."""
    rng = Random(int(whole))
    several = 0
    for _ in range(40):
        model = random_model(rng, lines=False, whole=whole, features=6)
        row = random_row(rng, model)
        why = explained(model, row)
        if isinstance(why, str):
            continue
        for kind, search in (("sufficient", sufficient_boxes), ("necessary", necessary_boxes)):
            for reason in getattr(why, f"{kind}_reasons")():
                of = tuple(why.names(range(len(model.variables))).index(name) for name in reason.features)
                for intervals in (True, False):
                    wanted = search(model, why.question, of, intervals, Clock())
                    several += len(wanted) > 1
                    assert model.widen(why.question, kind, of, intervals) == wanted
                    assert model.widen(why.question, kind, of, intervals, limit=2) == wanted[:2]
    assert several > 10


@pytest.mark.parametrize("cut", [math.nextafter(0.0, 1), 0.1, 0.0, -1e-30])
def test_a_cut_between_the_sums_that_there_are_is_told_from_them(cut: float) -> None:
    """Sums of whole numbers are exact, a cut that is none is not next to them: by all instances."""
    tables = (Table(0, np.array([[0.0], [1.0], [2.0]])), Table(1, np.array([[0.0], [2.0]])))
    variables = (quia.Variable.nominal("a", ["x", "y", "z"]), quia.Variable.nominal("b", ["x", "y"]))
    model = quia.Additive(variables, ("no", "yes"), tables, (-1.0,), Rule("cuts", (cut,)))
    rows = [{"a": a, "b": b} for a in "xyz" for b in "xy"]
    told = quia.explain_batch(model, rows).to_pylist()
    for row, found in zip(rows, told, strict=True):
        assert found["decision"] == model.classify(row)
        for reason, text in zip(found["shortest_sufficient"], found["shortest_sufficient_text"], strict=True):
            fits = [
                other
                for other in rows
                if all(
                    other[each["feature"]] in (each["one_of"] or set("xyz") - set(each["none_of"])) for each in reason
                )
            ]
            assert row in fits, text
            assert {model.classify(other) for other in fits} == {found["decision"]}, text
        check_row(model, row, found, 10, True)
