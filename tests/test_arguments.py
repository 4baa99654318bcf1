"""What callers give: refused in one sentence where it is of the wrong kind, taken in whichever type it comes."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import quia

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
ROWS = pd.DataFrame([APPLICANT] * 4)


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


Ask = Callable[[quia.DecisionGraph, Any], object]
LISTS_OF_FEATURES: dict[str, Ask] = {
    "explain frozen": lambda graph, given: quia.explain(graph, APPLICANT, frozen=given),
    "verify frozen": lambda graph, given: quia.verify(graph, APPLICANT, ["Interview"], "necessary", frozen=given),
    "verify reason": lambda graph, given: quia.verify(graph, APPLICANT, given, "necessary"),
    "bias": lambda graph, given: quia.explain(graph, APPLICANT).bias(given),
    "holds_without": lambda graph, given: quia.explain(graph, APPLICANT).holds_without(given),
    "even_if": lambda graph, given: quia.explain(graph, APPLICANT).even_if(given).to_dict(),
    "bias_of_classifier": quia.bias_of_classifier,
    "explain_batch frozen": lambda graph, given: quia.explain_batch(graph, ROWS, frozen=given),
    "explain_batch protected": lambda graph, given: quia.explain_batch(graph, ROWS, protected=given),
    "explain_batch ids": lambda graph, given: quia.explain_batch(graph, ROWS, ids=given),
    "explain_batch shortest": lambda graph, given: quia.explain_batch(graph, ROWS, shortest=given),
}


OR_ONE = ("bias", "holds_without", "even_if", "bias_of_classifier")


@pytest.mark.parametrize("name", LISTS_OF_FEATURES)
def test_a_list_is_wanted(admissions: quia.DecisionGraph, name: str) -> None:
    """A bare text is never taken for a list of its letters; some take it for one feature."""
    ask = LISTS_OF_FEATURES[name]
    with pytest.raises(quia.InstanceError, match="is 3; give a list"):
        ask(admissions, 3)
    if name in OR_ONE:
        assert ask(admissions, "GPA") == ask(admissions, ["GPA"])
        return
    with pytest.raises(quia.InstanceError, match="is the string 'GPA'; give a list"):
        ask(admissions, "GPA")


@pytest.mark.parametrize("ask", list(LISTS_OF_FEATURES.values())[:-2], ids=list(LISTS_OF_FEATURES)[:-2])
@pytest.mark.parametrize(("given", "hint"), [("Esay", "'Essay'"), ("gpa", "'GPA'")])
def test_no_such_feature(admissions: quia.DecisionGraph, ask: Ask, given: str, hint: str) -> None:
    with pytest.raises(quia.InstanceError, match=f"'{given}'.* no feature .did you mean {hint}"):
        ask(admissions, [given])


def test_a_list_may_be_any_iterable(admissions: quia.DecisionGraph) -> None:
    for given in (["GPA"], {"GPA"}, pd.Index(["GPA"]), np.array(["GPA"]), iter(["GPA"])):
        assert quia.bias_of_classifier(admissions, given).protected == ("GPA",)
    table = quia.explain_batch(admissions, ROWS, frozen=iter(["GPA"]), protected=iter(["Essay"]))
    assert table["biased"].to_pylist() == [False] * 4


@pytest.mark.parametrize("model", ["examples/admissions.json", Path("tree.json"), object(), APPLICANT, None])
def test_a_model_must_be_loaded_first(model: Any) -> None:
    for ask in (
        lambda: quia.explain(model, APPLICANT),
        lambda: quia.verify(model, APPLICANT, ["GPA"], "necessary"),
        lambda: quia.bias_of_classifier(model, ["GPA"]),
        lambda: quia.explain_batch(model, ROWS),
    ):
        with pytest.raises(quia.Unsupported, match=r"is not loaded; load it first, with quia.load"):
            ask()


@pytest.mark.parametrize("table", [ROWS, ROWS.to_numpy(), pl.from_pandas(ROWS), pa.Table.from_pandas(ROWS)], ids=type)
def test_a_table_is_no_row(admissions: quia.DecisionGraph, table: Any) -> None:
    with pytest.raises(quia.InstanceError, match=r"^the instance is a whole [A-Za-z]+; give one row, or use explain_"):
        quia.explain(admissions, table)


def test_a_row_may_have_a_column_of_any_name(admissions: quia.DecisionGraph) -> None:
    row = pd.Series(APPLICANT | {"columns": 1, "ndim": 2})
    assert quia.explain(admissions, row).decision == "Reject"
    assert quia.explain(admissions, APPLICANT | {"columns": 1}).decision == "Reject"


@pytest.mark.parametrize("row", [APPLICANT, pd.Series(APPLICANT)], ids=type)
def test_a_row_is_no_table(admissions: quia.DecisionGraph, row: Any) -> None:
    with pytest.raises(quia.InstanceError, match="the data are one row; give a list of rows, or use explain"):
        quia.explain_batch(admissions, row)
    assert quia.explain_batch(admissions, {name: [value] for name, value in APPLICANT.items()}).num_rows == 1


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda why: why.necessary_reasons(shortest="no"), "shortest is 'no'; it is True or False"),
        (lambda why: why.necessary_reasons(limit=1.5), "limit is 1.5; it is a whole number"),
        (lambda why: why.necessary_reasons(limit=True), "limit is True; it is a whole number"),
        (lambda why: why.necessary_reasons(timeout="1"), "timeout is '1'; it is a number of seconds"),
        (lambda why: why.counterfactuals(limit=-1), "limit is -1; it is a whole number"),
        (lambda why: why.counterfactuals(limit="all"), "limit is 'all'; it is a whole number"),
        (lambda why: why.to_dict(limit="all"), "limit is 'all'; it is a whole number"),
        (lambda why: why.necessary_reasons().sample(-1, seed=1), "n is -1; it is a whole number"),
        (lambda why: why.necessary_reasons().sample(1, seed="x"), "seed is 'x'; it is a whole number"),
        (lambda why: quia.explain(why.classifier, APPLICANT, costs=[1, 2]), r"costs is \[1, 2\]; give a mapping"),
        (lambda why: quia.explain_batch(why.classifier, ROWS, threads=-1), "threads is -1; it is a whole number"),
        (lambda why: quia.explain_batch(why.classifier, ROWS, counts="no"), "counts is 'no'; it is True or False"),
        (lambda why: quia.explain_batch(why.classifier, ROWS, timeout=-1), "seconds a row"),
    ],
)
def test_numbers_and_flags_of_the_wrong_kind(admissions: quia.DecisionGraph, ask: Any, match: str) -> None:
    with pytest.raises(quia.InstanceError, match=match):
        ask(quia.explain(admissions, APPLICANT))


def test_numbers_of_any_type(admissions: quia.DecisionGraph) -> None:
    why = quia.explain(admissions, APPLICANT)
    assert len(why.necessary_reasons(limit=np.int64(1), timeout=np.float32(9), shortest=np.bool_(True))) == 1
    assert len(why.counterfactuals(limit=np.uint8(1))) == 1
    assert len(why.counterfactuals(limit=2**70)) == 1
    assert len(why.necessary_reasons(limit=2**70, timeout=10**400)) == 3
    assert len(why.necessary_reasons().sample(2, seed=2**70)) == 2
    assert quia.explain_batch(admissions, ROWS, limit=2**70, all_reasons=2**70, counterfactuals=2**70).num_rows == 4
    assert len(why.necessary_reasons().sample(np.int32(2), seed=np.int64(3))) == 2
    assert quia.explain_batch(admissions, ROWS, limit=np.int16(1), threads=np.int8(1)).num_rows == 4
    for cost in (np.float32(0.1), np.float64(0.1), "0.1", Fraction(1, 10)):
        assert quia.explain(admissions, APPLICANT, costs={"GPA": cost}).costs == ((10, 1, 10, 10), Fraction(1, 10))
    for cost in (np.int64(2), np.uint8(2), np.float16(2), 2):
        assert quia.explain(admissions, APPLICANT, costs=pd.Series({"GPA": cost})).costs == ((1, 2, 1, 1), 1)


def test_a_message_is_one_line(admissions: quia.DecisionGraph) -> None:
    with pytest.raises(quia.InstanceError) as refused:
        quia.explain(admissions, APPLICANT | {"SAT": ROWS})
    assert "\n" not in str(refused.value)
