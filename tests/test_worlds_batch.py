"""Tables of decisions in possible worlds: every row as `explain` has it, impossible ones told of in its words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quia
from quia.batch.arrow import explain_batches
from quia.batch.cache import Cache
from quia.batch.question import ask
from quia.cli import main
from quia.counterfactual import Counterfactual
from test_explain_batch import are_reasons, is_told, listed
from test_worlds import CLINIC, MAN, RULE
from worlds_cases import MODELS, Model, random_case
from worlds_oracle import Case, Worlds

EACH = 4
ROWS = 6
KINDS = ("necessary", "sufficient")


# ---- every row as `explain` has it ------------------------------------------------------------------------------


def rows_of(rng: Random, model: Model, case: Case) -> pa.Table:
    """The case's instance and others, some of which are impossible, some in the same states."""
    rows = [case.instance, *(model.draw(rng) for _ in range(ROWS))]
    changed = [{**case.instance, name: model.draw(rng)[name]} for name in list(case.instance)]
    rows += [*rng.sample(changed, min(len(changed), 3)), rows[0], rows[1]]
    return pa.Table.from_pylist(rng.sample(rows, len(rows)))


def as_asked(rng: Random, case: Case, names: list[str]) -> dict[str, Any]:
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
    asked = as_asked(rng, case, names)
    protected, limit, general = rng.sample(names, min(len(names), 2)), rng.choice([1, 2, 50]), rng.random() < 0.7
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
    )
    refused = 0
    for row, told in zip(table.to_pylist(), found.to_pylist(), strict=True):
        try:
            why = quia.explain(model.classifier, row, **asked)
        except quia.QuiaError as fault:
            already = "already" in str(fault)
            assert told["error"] == (f"the decision is {case.against!r} already" if already else str(fault))
            assert (told["decision"] == case.against if already else told["decision"] is None), told
            assert not told["complete"]
            refused += "impossible" in str(fault)
            continue
        assert (told["error"], told["complete"]) == (None, True)
        assert told["decision"] == why.decision
        assert told["unknown"] == list(why.unknown)
        check_row(told, why, limit, general, protected)
    return refused


def check_row(told: dict[str, Any], why: Any, limit: int, general: bool, protected: list[str]) -> None:
    for kind in KINDS:
        reasons_of = getattr(why, f"{kind}_reasons")
        assert told[f"{kind}_count"] == getattr(why, f"count_{kind}")()
        assert told[f"shortest_{kind}_ties"] == reasons_of(shortest=True).set_count
        for column, shortest in ((f"shortest_{kind}", True), (f"{kind}_reasons", False)):
            check_list(told, column, reasons_of(shortest=shortest, limit=limit, general=general), general)
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
    rng, tried = Random(f"tables {kind}"), 0
    while tried < EACH:
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is not None and any(case.asked.get(x) for x in ("within", "only_up", "only_down", "near", "given")):
            tried += 1
            try:
                check(model, case, rng)
            except Exception as fault:
                raise AssertionError(f"{fault}: {case.instance}, {case.asked}") from fault
