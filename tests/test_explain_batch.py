"""Tables of decisions: every row as `explain` has it, none lost, none reordered."""

import pickle
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import quia
from quia.batch.arrow import explain_batches, explain_table
from quia.batch.cache import Cache
from quia.batch.question import ask
from quia.batch.reference import reference as reference_of
from quia.batch.table import _encode_column, distinct, from_numpy, to_numpy
from quia.errors import MissingValue
from quia.literal import Literal
from quia.reason import Reason
from strategies import random_case, random_graph, random_instance


def listed(reasons: Any) -> list[dict[str, str]]:
    return [{state["feature"]: state["state"] for state in reason} for reason in reasons]


def is_told(found: list[dict[str, Any]], literals: Sequence[Literal]) -> bool:
    """Whether the conditions of a table say what literals say, each in its own way."""
    return len(found) == len(literals) and all(map(is_same, found, literals))


def is_same(found: dict[str, Any], literal: Literal) -> bool:
    condition, labels = literal.condition, literal.variable.labels
    assert (found["feature"], found["condition"]) == (literal.feature, literal.text)
    if labels is None:
        assert found["one_of"] is found["none_of"] is None
        no_number = {"low": 0.0, "high": 0.0, "low_closed": False, "high_closed": False}
        ends = {name: found[name] for name in no_number}
        return [ends] == (condition["intervals"] or [no_number]) and found["missing"] is condition["missing"]
    assert found["low"] is found["high"] is found["low_closed"] is found["high_closed"] is None
    assert (found["one_of"] is None) != (found["none_of"] is None)
    assert len(found["one_of"] or found["none_of"]) <= max(1, len(labels) // 2)
    admitted = found["one_of"] or [label for label in labels if label not in found["none_of"]]
    return admitted == condition["in"] and found["missing"] is (literal.variable.no_value in admitted)


def are_reasons(found: dict[str, Any], column: str, reasons: Iterable[Reason]) -> bool:
    """Whether the columns of a list say what general reasons say."""
    shown = [reason.changes if reason.kind == "necessary" else reason.literals for reason in reasons]
    # A table's texts are exact, whoever's row it is; what is said of one instance is rounded beside its numbers.
    wanted = [tuple(replace(literal, beside=None) for literal in literals) for literals in shown]
    assert found[f"{column}_text"] == [str(Reason(literals)) for literals in wanted]
    return len(found[column]) == len(wanted) and all(map(is_told, found[column], wanted))


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_explained_as_one_by_one(seed: int, general: bool) -> None:
    rng = Random(seed)
    for _ in range(40):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        rows = [random_instance(rng, case.graph) for _ in range(6)]
        rows += rows[:2]
        options = {"against": case.against, "frozen": case.frozen, "costs": case.costs}
        table = quia.explain_batch(
            graph, pa.Table.from_pylist(rows), counts=True, limit=3, general=general, **options
        ).to_pylist()
        assert len(table) == len(rows)
        for row, found in zip(rows, table, strict=True):
            assert found["decision"] == graph.classify(row)
            if found["decision"] == case.against:
                assert "already" in found["error"]
                assert found["shortest_necessary"] is None
                continue
            assert (found["error"], found["complete"]) == (None, True)
            why = quia.explain(graph, row, **options)
            for kind in ("necessary", "sufficient"):
                shortest = getattr(why, f"{kind}_reasons")(shortest=True, limit=3, general=general)
                if general:
                    assert are_reasons(found, f"shortest_{kind}", shortest)
                else:
                    assert listed(found[f"shortest_{kind}"]) == [reason.to_dict() for reason in shortest]
                    assert f"shortest_{kind}_text" not in found
                assert found[f"shortest_{kind}_ties"] == shortest.set_count
                assert found[f"{kind}_count"] == getattr(why, f"count_{kind}")()


@pytest.mark.parametrize("seed", range(3))
def test_the_widest_reason_of_a_table_is_the_one_that_fits_most_of_its_rows(seed: int) -> None:
    """Row by row as `explain` has it with the table as reference, whatever the limit cuts off."""
    rng = Random(seed)
    for _ in range(25):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        table = pa.Table.from_pylist([random_instance(rng, case.graph) for _ in range(30)])
        options = {"against": case.against, "frozen": case.frozen, "costs": case.costs}
        limit = rng.choice([1, 2, 20])
        protected = list(case.graph["variables"])[:2]
        told = quia.explain_batch(
            graph, table, limit=limit, coverage=True, all_reasons=limit, protected=protected, **options
        )
        reference = reference_of(graph, table)
        for row, found in list(zip(table.to_pylist(), told.to_pylist(), strict=True))[:6]:
            if found["decision"] == case.against:
                assert found["shortest_sufficient_rows"] is None
                continue
            why = quia.explain(graph, row, data=reference, **options)
            for kind in ("necessary", "sufficient"):
                for column, shortest in ((f"shortest_{kind}", True), (f"{kind}_reasons", False)):
                    reasons = getattr(why, f"{kind}_reasons")(general=True, shortest=shortest, limit=limit)
                    assert are_reasons(found, column, reasons)
                    assert found[f"{column}_rows"] == [reason.rows for reason in reasons]
            assert len(found["bias_reasons_rows"]) == len(found["bias_reasons"])


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


ROWS = [
    {"id": 1, "SAT": 1449.0, "GPA": "medium", "Essay": "fail", "Interview": "fail"},
    {"id": 2, "SAT": 1450.0, "GPA": "high", "Essay": "pass", "Interview": "fail"},
    {"id": 3, "SAT": 1449.0, "GPA": "medium", "Essay": "fail", "Interview": "fail"},
]


def in_order(rows: list[dict[str, Any]]) -> list[list[Any]]:
    return [[row[name] for name in ("SAT", "GPA", "Essay", "Interview")] for row in rows]


@pytest.mark.parametrize(
    "data",
    [
        pa.Table.from_pylist(ROWS),
        pa.RecordBatch.from_pylist(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"GPA": "category", "SAT": "int64"}),
        pd.DataFrame(ROWS).astype(str),
        pl.DataFrame(ROWS),
        ROWS,
        np.array(in_order(ROWS), object),
        in_order(ROWS),
    ],
    ids=["table", "batch", "pandas", "categories", "texts", "polars", "mappings", "array", "lists"],
)
def test_tables_of_every_kind(admissions: quia.DecisionGraph, data: Any) -> None:
    table = quia.explain_batch(admissions, data)
    assert table["decision"].to_pylist() == ["Reject", "Accept", "Reject"]
    assert table["shortest_sufficient_text"].to_pylist()[0] == ["Essay=fail and Interview=fail"]
    assert table["error"].null_count == 3


def test_bad_rows_are_told_of_in_their_place(admissions: quia.DecisionGraph) -> None:
    rows: list[dict[str, Any]] = [*ROWS, ROWS[0] | {"GPA": "midium"}, ROWS[0] | {"SAT": None, "Essay": "pass"}, ROWS[1]]
    table = quia.explain_batch(admissions, rows)
    assert table["decision"].to_pylist() == ["Reject", "Accept", "Reject", None, None, "Accept"]
    assert table["complete"].to_pylist() == [True, True, True, False, False, True]
    errors = table["error"].to_pylist()
    assert "did you mean 'medium'" in errors[3]
    assert "SAT is missing" in errors[4]
    assert table["shortest_necessary"].to_pylist()[3] is None


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        ([{"SAT": 1}], {}, "no column 'GPA'"),
        ([[1, 2]], {}, "have 2 values; the classifier has 4"),
        ([1, 2], {}, "give a DataFrame"),
        (ROWS, {"against": "Acept"}, "did you mean 'Accept'"),
        (ROWS, {"frozen": ["Esay"]}, "did you mean 'Essay'"),
        (ROWS, {"limit": -1}, "limit is -1"),
        (ROWS, {"costs": {"SAT": 0}}, "positive"),
        (ROWS, {"general": "no"}, "general is 'no'; it is True or False"),
        (ROWS, {"general": False, "coverage": True}, "only general reasons are counted in the rows of the table"),
    ],
)
def test_tables_that_do_not_fit(admissions: quia.DecisionGraph, data: Any, options: Any, match: str) -> None:
    with pytest.raises(quia.InstanceError, match=match):
        quia.explain_batch(admissions, data, **options)


def test_no_rows_and_no_tests(admissions: quia.DecisionGraph) -> None:
    empty = quia.explain_batch(admissions, pd.DataFrame(ROWS).iloc[:0], counts=True)
    assert empty.num_rows == 0
    leaf = {"quia": 1, "variables": {}, "classes": ["c"], "root": "c", "nodes": {"c": {"class": "c"}}}
    constant = quia.explain_batch(quia.DecisionGraph.from_dict(leaf), pd.DataFrame(ROWS))
    assert constant["decision"].to_pylist() == ["c"] * 3
    assert constant["shortest_sufficient"].to_pylist() == [[[]]] * 3
    assert constant["shortest_necessary"].to_pylist() == [[]] * 3


def test_values_of_several_types_in_one_column() -> None:
    """Arrow has no such column; each value counts as it does alone."""
    graph = quia.DecisionGraph.from_dict(MIXED)
    values = [2**70, "3", True, np.True_, 1.5, "1", -1, 0.5, "no", None, Fraction(3, 2), np.float32(1.1)]
    rows = [{"A": a, "B": b} for a in values for b in ("0", 1, 1.0, True, "\ud800", 10**400, None)]
    table = quia.explain_batch(graph, rows).to_pylist()
    assert len(table) == len(rows)
    for row, found in zip(rows, table, strict=True):
        try:
            assert found["decision"] == quia.explain(graph, row).decision, row
        except quia.InstanceError:
            assert found["error"], row


MIXED = {
    "quia": 1,
    "variables": {"A": {"kind": "numeric"}, "B": {"kind": "nominal", "states": ["0", "1"]}},
    "classes": ["low", "off", "on"],
    "root": "a",
    "nodes": {
        "a": {"test": "A", "edges": [{"if": "<= 1", "to": "low"}, {"if": "> 1", "to": "b"}]},
        "b": {"test": "B", "edges": [{"if": ["0"], "to": "off"}, {"if": ["1"], "to": "on"}]},
        "low": {"class": "low"},
        "off": {"class": "off"},
        "on": {"class": "on"},
    },
}


def test_names_of_columns_are_texts() -> None:
    with pytest.raises(quia.InstanceError, match="a row has the column 0; names of columns are texts"):
        quia.explain_batch(quia.DecisionGraph.from_dict(MIXED), [{0: 1.0, "A": 1, "B": "0"}])


def test_rows_without_a_column_are_rows() -> None:
    always = {"quia": 1, "variables": {}, "classes": ["yes"], "root": "y", "nodes": {"y": {"class": "yes"}}}
    table = quia.explain_batch(quia.DecisionGraph.from_dict(always), [{}, {}])
    assert table["decision"].to_pylist() == ["yes", "yes"]


def test_numbers_at_the_cuts_are_the_same_in_bulk() -> None:
    rng = Random(3)
    for _ in range(60):
        d = random_graph(rng)
        graph = quia.DecisionGraph.from_dict(d)
        rows = [random_instance(rng, d) for _ in range(20)]
        found = quia.explain_batch(graph, pa.Table.from_pylist(rows))["decision"].to_pylist()
        assert found == [graph.classify(row) for row in rows]


def test_distinct_rows() -> None:
    rng = np.random.default_rng(0)
    states = rng.integers(-1, 3, (5000, 4), dtype=np.int32)
    first, which, _ = distinct(states)
    assert np.all(np.diff(first) > 0), "in order of appearance"
    assert np.array_equal(states[first][which], states)
    assert len(first) == len(np.unique(states, axis=0))


def test_a_real_tree(shared_data: Path) -> None:
    """Adult: the decisions are Weka's own, row by row, but for two that depend on values that are missing."""
    folder = shared_data / "trees" / "adult"
    tree = quia.load(folder / "tree.j48.txt")
    rows = pd.read_csv(folder / "rows.csv.gz")
    table = quia.explain_batch(tree, rows, counts=True)
    weka = [line for line in (folder / "weka_predictions.txt").read_text().split("\n") if line]
    pairs = [(ours, theirs) for ours, theirs in zip(table["decision"].to_pylist(), weka, strict=True) if ours]
    assert len(pairs) == 998
    assert all(ours == theirs for ours, theirs in pairs)
    assert all("is missing" in error for error in table["error"].drop_null().to_pylist())
    lacking = [unknown for unknown in table["unknown"].to_pylist() if unknown]
    assert len(lacking) == 80
    assert {name for unknown in lacking for name in unknown} == {"workclass", "occupation", "native-country"}


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_other_columns_are_those_of_one_explanation(seed: int, general: bool) -> None:
    """All reasons up to a limit, counterfactuals and bias, row by row as `explain` has them."""
    rng = Random(seed + 100)
    for _ in range(40):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        rows = [random_instance(rng, case.graph) for _ in range(5)]
        protected = rng.sample(list(case.graph["variables"]), min(2, len(case.graph["variables"])))
        options = {"against": case.against, "frozen": case.frozen, "costs": case.costs}
        table = quia.explain_batch(
            graph,
            pa.Table.from_pylist(rows),
            shortest=["necessary"],
            general=general,
            limit=1000,
            all_reasons=4,
            counterfactuals=3,
            protected=protected,
            **options,
        )
        assert "shortest_sufficient" not in table.column_names
        for row, found in zip(rows, table.to_pylist(), strict=True):
            if found["decision"] == case.against:
                assert found["necessary_reasons"] is found["counterfactuals"] is found["biased"] is None
                continue
            why = quia.explain(graph, row, **options)
            for kind in ("necessary", "sufficient"):
                wanted = getattr(why, f"{kind}_reasons")(limit=4, general=general)
                if general:
                    assert are_reasons(found, f"{kind}_reasons", wanted)
                else:
                    assert listed(found[f"{kind}_reasons"]) == [reason.to_dict() for reason in wanted]
            changes = why.counterfactuals(limit=3)
            told = [(change["decision"], change["certain"]) for change in found["counterfactuals"]]
            assert told == [(change.decision, change.certain) for change in changes]
            for one, change in zip(found["counterfactuals"], changes, strict=True):
                if general:
                    assert is_told(one["changes"], change.changes)
                else:
                    assert listed([one["changes"]]) == [{c.feature: c.text for c in change.changes}]
            if general:
                assert found["counterfactuals_text"] == [str(replace(change, now=())) for change in changes]
            bias = why.bias(protected)
            assert found["biased"] is bias.biased
            if general:
                others = [name for name in case.graph["variables"] if name not in protected]
                alone = quia.explain(graph, row, **options | {"frozen": others})
                assert are_reasons(found, "bias_reasons", alone.necessary_reasons(general=True))
            else:
                assert listed(found["bias_reasons"]) == [reason.to_dict() for reason in bias.reasons]


@pytest.mark.parametrize("states", [["M", "F", "?"], ["M", "F", "X"]])
def test_conditions_of_missing_values(states: list[str]) -> None:
    """A number that must be missing is between no two numbers; a name for what is missing is among the names."""
    graph = quia.DecisionGraph.from_dict(
        {
            "quia": 1,
            "variables": {
                "age": {"kind": "numeric", "missing": True},
                "sex": {"kind": "nominal", "states": states, **({"missing": "?"} if "?" in states else {})},
            },
            "classes": ["no", "yes"],
            "root": "age",
            "nodes": {
                "age": {"test": "age", "edges": [{"if": "missing", "to": "sex"}, {"if": ["<= 5", "> 5"], "to": "no"}]},
                "sex": {"test": "sex", "edges": [{"if": states[1:], "to": "yes"}, {"if": states[:1], "to": "no"}]},
                "no": {"class": "no"},
                "yes": {"class": "yes"},
            },
        }
    )
    (found,) = quia.explain_batch(graph, [{"age": None, "sex": "F"}]).to_pylist()
    age, sex = found["shortest_sufficient"][0]
    assert [age[name] for name in ("condition", "low", "high", "low_closed", "high_closed", "missing")] == [
        "missing",
        0.0,
        0.0,
        False,
        False,
        True,
    ]
    assert (sex["one_of"], sex["none_of"], sex["missing"]) == (None, ["M"], "?" in states)
    assert found["shortest_sufficient_text"] == ["age is missing and sex ≠ M"]
    assert found["shortest_necessary_text"] == ["age is not missing", "sex=M"]


@pytest.mark.parametrize("seed", range(3))
def test_streams_with_and_without_memory_are_equal(seed: int) -> None:
    """The cache, even when it is far too small, changes nothing; nor does the encoded form of the columns."""
    rng = Random(seed)
    for _ in range(2):
        d = random_graph(rng)
        graph = quia.DecisionGraph.from_dict(d)
        question = ask(graph, counts=True, all_reasons=2, threads=1)
        pool = [random_instance(rng, d) for _ in range(12)]
        batches = [pa.RecordBatch.from_pylist([rng.choice(pool) for _ in range(9)]) for _ in range(8)]
        wanted = [explain_table(graph, batch, question).to_pylist() for batch in batches]
        for cache in (Cache(), Cache(most_rows=3), Cache(most_bytes=200)):
            for encoded in (False, True):
                found = explain_batches(iter(batches), graph, question, cache=cache, encoded=encoded)
                assert [batch.to_pylist() for batch in found] == wanted
        assert max(len(g.rows) for g in (cache._young, cache._old) if g) <= 9, "a batch, if all is full"


def test_coverage_is_not_counted_in_parts(admissions: quia.DecisionGraph) -> None:
    batch, question = pa.RecordBatch.from_pylist(ROWS), ask(admissions, coverage=True)
    with pytest.raises(quia.InstanceError, match="the whole table, and here it is seen in parts; give a reference"):
        next(explain_batches([batch], admissions, question))
    reference = reference_of(admissions, ROWS * 5)
    (found,) = explain_batches([batch.slice(1)], admissions, question, reference=reference)
    assert found["shortest_sufficient_rows"].to_pylist() == [[5, 5], [10]]


def test_equal_rows_are_explained_once_across_batches(admissions: quia.DecisionGraph) -> None:
    cache = Cache()
    batches = [pa.RecordBatch.from_pylist(ROWS)] * 5
    question = ask(admissions)
    assert len(list(explain_batches(batches, admissions, question, cache=cache))) == 5
    assert (cache.asked, cache.answered) == (10, 8)  # two distinct rows a batch, worked out in the first


def test_the_cache_forgets_but_keeps_what_is_met_again(admissions: quia.DecisionGraph) -> None:
    question = ask(admissions)
    cache = Cache(most_rows=4)
    faces = [
        ROWS[0] | {"SAT": 1400.0, "GPA": g, "Essay": e} for g in ("low", "medium", "high") for e in ("fail", "pass")
    ]
    for face in faces * 3:
        batch = pa.RecordBatch.from_pylist([face, ROWS[1]])
        list(explain_batches([batch], admissions, question, cache=cache))
        assert sum(len(g.rows) for g in (cache._young, cache._old) if g) <= 8
    # The row that is always there is always known, but for the first time.
    assert cache.answered >= 17


def test_a_graph_travels_without_its_kernel(admissions: quia.DecisionGraph) -> None:
    quia.explain_batch(admissions, ROWS)
    copy = pickle.loads(pickle.dumps(admissions))
    assert copy == admissions
    assert quia.explain_batch(copy, ROWS).equals(quia.explain_batch(admissions, ROWS))


def test_texts_of_numbers_are_read_as_python_reads_them() -> None:
    """Whatever Arrow's own reader thinks of them: each text is in the state that `Variable.encode` says."""
    cuts = [-1.5, 0.1, 0.3, 1e22, 7.0]
    texts = [
        "0.1",
        " 0.1 ",
        "+7",
        "7e0",
        "inf",
        "-inf",
        "1e400",
        "0.30000000000000004",
        ".5",
        "5.",
        "-0",
        "1e-400",
        "٣",
    ]
    for missing in (False, True):
        variable = quia.Variable.numeric("x", cuts, missing=missing)
        for chosen in ([*texts, "?", "", "nan", "1_000", "abc", None], texts, ["1", "2", None], ["0.1", "NaN"]):
            states, wrong, lacking = _encode_column(variable, pa.chunked_array([chosen[:2], chosen[2:]], pa.string()))
            for row, value in enumerate(chosen):
                for faults, kind in ((wrong, quia.InstanceError), (lacking, MissingValue)):
                    if not faults.sound[row]:
                        with pytest.raises(kind, match=re.escape(faults.messages[faults.code[row]])):
                            variable.encode(value)
                if wrong.sound[row] and lacking.sound[row]:
                    assert states[row] == variable.encode(value)


def test_ids_are_carried_along(admissions: quia.DecisionGraph) -> None:
    table = quia.explain_batch(admissions, ROWS, ids=["id", "SAT"])
    assert table.select(["id", "SAT"]).to_pylist() == [{"id": r["id"], "SAT": r["SAT"]} for r in ROWS]
    with pytest.raises(quia.InstanceError, match="no column 'ID' to carry along"):
        quia.explain_batch(admissions, ROWS, ids=["ID"])
    with pytest.raises(quia.InstanceError, match="has one of that name"):
        quia.explain_batch(admissions, [row | {"error": 1} for row in ROWS], ids=["error"])


def test_ids_that_cannot_be_carried(admissions: quia.DecisionGraph) -> None:
    table = pa.Table.from_pylist(ROWS)
    twice = table.append_column("id", table["id"])
    for given, ids, match in (
        (table, ["id", "id"], "'id' is to be carried along twice; name it once"),
        (twice, ["id"], "more than one column 'id' to carry along"),
        (table, ["case"], "no column 'case' to carry along"),
    ):
        with pytest.raises(quia.InstanceError, match=match):
            quia.explain_batch(admissions, given, ids=ids)
    assert quia.explain_batch(admissions, table, ids=iter(["id"]))["id"].to_pylist() == [1, 2, 3]


def test_narrow_codes_and_nulls() -> None:
    """A dictionary that fills all codes of 8 bits leaves none for null; slices begin anywhere, bits too."""
    labels = [f"s{n}" for n in range(128)]
    variable = quia.Variable.nominal("v", labels)
    codes = pa.array([*range(128), None, 5, None], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(labels))
    for begin in (0, 1, 9, 127):
        states, wrong, lacking = _encode_column(variable, column.slice(begin))
        assert states.tolist() == [-1 if code is None else code for code in codes.to_pylist()[begin:]]
        assert wrong.sound.all() and np.flatnonzero(~lacking.sound).tolist() == [128 - begin, 130 - begin]
    rng = np.random.default_rng(1)
    for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()):
        values = [None if rng.random() < 0.2 else int(rng.integers(0, 2)) for _ in range(50)]
        array = pa.array([None if v is None else bool(v) if kind == pa.bool_() else v for v in values], kind)
        for begin in (0, 3, 8, 17):
            part = pa.chunked_array([array.slice(begin, 5), array.slice(begin + 5)])
            assert [None if n == 7 else n for n in to_numpy(part.cast(pa.int64()), 7).tolist()] == values[begin:]
            assert to_numpy(part.drop_null()).tolist() == [v for v in values[begin:] if v is not None]
            if kind != pa.bool_():
                floats = to_numpy(part)
                assert [None if np.isnan(n) else n for n in floats] == values[begin:] or not part.null_count
        mask = np.array([v is None for v in values])
        numbers = np.array([v or 0 for v in values], kind.to_pandas_dtype())
        assert from_numpy(numbers, mask).equals(array)
