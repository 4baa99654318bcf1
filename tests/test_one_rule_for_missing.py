"""One rule for values that are missing, wherever they come from.

A text that is a state's own name is that state. Else an empty or blank text and ? are missing, as null and NaN always
are. Every front end is asked the same about every spelling.
"""

import csv
import json
import math
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quia
from quia.cli import main
from quia.learn import learn
from quia.load import json as quia_json
from quia.load.agreement import compare_predicted
from quia.tables import read_csv
from quia.web import answers, question, schema
from quia.web.rows import Rows

REFUSED = "refused"
TEXTS = ["cook", " cook ", "", " ", "?", " ? ", "baker"]


class Kind(NamedTuple):
    """A variable, and what each of the texts is to it, and null."""

    states: list[str]
    no_value: str | None
    other: str | None
    texts: list[str]
    null: str


def kinds() -> dict[str, Kind]:
    r = REFUSED
    return {
        "plain": Kind(["cook", "smith"], None, None, ["cook", "cook", r, r, r, r, r], r),
        "empty": Kind(["cook", ""], None, None, ["cook", "cook", "", "", r, r, r], r),
        "mark": Kind(["cook", "?"], None, None, ["cook", "cook", r, r, "?", "?", r], r),
        "none": Kind(["cook", "none"], "none", None, ["cook", "cook", "none", "none", "none", "none", r], "none"),
        "other": Kind(["cook", "any"], None, "any", ["cook", "cook", r, r, r, r, "any"], r),
        "all": Kind(["cook", "", "no", "any"], "no", "any", ["cook", "cook", "", "", "no", "no", "any"], "no"),
        "truths": Kind(["true", "false", ""], None, None, [r, r, "", "", r, r, r], r),
        "nan": Kind(["nan", "None"], None, None, [r, r, r, r, r, r, r], r),
    }


def graph_of(kind: Kind) -> quia.DecisionGraph:
    """Whose class is the name of the state."""
    variable = quia.Variable.nominal("job", kind.states, other=kind.other, no_value=kind.no_value)
    size = len(kind.states)
    edges = [*([()] * size), tuple((((s, s),), s) for s in range(size))]
    classes = [f"is {state!r}" for state in kind.states]
    return quia.DecisionGraph.build([variable], classes, [*([-1] * size), 0], [*range(size), -1], edges)


def decided(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except quia.InstanceError:
        return REFUSED


def batch_command(model: Path, table: Path, tmp_path: Path) -> list[str]:
    out = tmp_path / f"{table.name}.out.parquet"
    assert main(["batch", str(model), str(table), "-o", str(out)]) == 0
    found = pq.read_table(out)
    assert [d is None for d in found["decision"].to_pylist()] == [e is not None for e in found["error"].to_pylist()]
    return [REFUSED if d is None else d for d in found["decision"].to_pylist()]


def decisions(table: pa.Table) -> list[str]:
    return [REFUSED if decision is None else decision for decision in table["decision"].to_pylist()]


@pytest.fixture(params=kinds())
def kind(request: pytest.FixtureRequest) -> Kind:
    return kinds()[request.param]


@pytest.fixture
def expected(kind: Kind) -> list[str]:
    return [text if text == REFUSED else f"is {text!r}" for text in kind.texts]


@pytest.fixture
def null(kind: Kind) -> str:
    return kind.null if kind.null == REFUSED else f"is {kind.null!r}"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file; a second column keeps a row with an empty value from being an empty line."""
    file = tmp_path / "t.csv"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([["job", "id"], *([text, number] for number, text in enumerate(TEXTS))])
    return file


def test_python_and_every_kind_of_table(kind: Kind, expected: list[str], null: str) -> None:
    graph = graph_of(kind)
    assert [decided(lambda t=text: quia.explain(graph, {"job": t}).decision) for text in TEXTS] == expected
    for value in (None, math.nan, pd.NA, pd.NaT):
        assert decided(lambda v=value: quia.explain(graph, {"job": v}).decision) == null
    given = [*TEXTS, None]
    for rows in (
        pd.DataFrame({"job": given}),
        pd.DataFrame({"job": pd.Categorical(given)}),
        pl.DataFrame({"job": given}),
        pa.table({"job": given}),
        pa.table({"job": pa.array(given).dictionary_encode()}),
        pa.table({"job": pa.array(given, pa.large_string())}),
        [{"job": value} for value in given],
    ):
        assert decisions(quia.explain_batch(graph, rows)) == [*expected, null]
    mixed = [{"job": value} for value in [*TEXTS, math.nan, None]]
    assert decisions(quia.explain_batch(graph, mixed)) == [*expected, null, null]


def test_commands_and_files(
    kind: Kind, expected: list[str], null: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.json"
    quia_json.write(graph_of(kind), model)

    def explained(*options: str) -> str:
        if main(["explain", str(model), *options, "--json"]) != 0:
            assert capsys.readouterr().err.count("\n") == 1
            return REFUSED
        return str(json.loads(capsys.readouterr().out)["decision"])

    assert [explained("--data", str(table), "--row", str(n + 1)) for n in range(len(TEXTS))] == expected
    assert [explained("--set", f"job={text}") for text in TEXTS] == expected
    instance = tmp_path / "i.json"
    for text, decision in zip([*TEXTS, None], [*expected, null], strict=True):
        instance.write_text(json.dumps({"job": text}))
        assert explained("--instance", str(instance)) == decision

    assert batch_command(model, table, tmp_path) == expected
    quoted = tmp_path / "quoted.csv"
    quoted.write_text("\n".join(["job,id", *(f'"{text}",{number}' for number, text in enumerate(TEXTS))]))
    assert batch_command(model, quoted, tmp_path) == expected
    rows = pa.table({"job": [*TEXTS, None]})
    pq.write_table(rows, tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    for file in ("t.parquet", "t.arrow"):
        assert batch_command(model, tmp_path / file, tmp_path) == [*expected, null]


def test_the_page_and_the_check(kind: Kind, expected: list[str], table: Path) -> None:
    graph = graph_of(kind)
    rows = Rows("t.csv", ["job", "id"], [[text, str(number)] for number, text in enumerate(TEXTS)])
    for number, decision in enumerate(expected, 1):
        body = json.dumps({"instance": rows.row(number)}).encode()
        asked = msgspec.to_builtins(question.from_json(body, schema.Question))
        found = decided(lambda a=asked: answers.answer(graph, a, name="m")["explanation"]["decision"])
        assert found == decision
    records = [{**row, "said": said} for row, said in zip(read_csv(table).records(), expected, strict=True)]
    agreement = compare_predicted(graph, records, "said")
    assert agreement.differing == expected.count(REFUSED)  # refused is what no model says


def test_what_the_page_says_of_them() -> None:
    """Given values as they are shown: the empty name of a state by its quotes, a value that is missing as missing."""
    job = quia.Variable.nominal("job", ["", "cook", "none"], no_value="none")
    age = quia.Variable.numeric("age", [3], missing=True)
    edges = [(), (), ((((0, 0),), 0), (((1, 1), (2, 2)), 1)), ((((0, 1),), 2), (((2, 2),), 1))]
    graph = quia.DecisionGraph.build([job, age], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)
    for given, shown in [
        ({"job": "", "age": ""}, {"job": "''", "age": "missing"}),
        ({"job": "?", "age": " ? "}, {"job": "missing", "age": "missing"}),
        ({"job": None, "age": 1}, {"job": "missing", "age": "1"}),
    ]:
        html = answers.answer(graph, {"instance": given}, name="m")["html"]["instance"]
        found = dict(re.findall(r"<th[^>]*>(\w+)</th><td>([^<]*)</td>", html))
        assert {name: unescape(text) for name, text in found.items()} == shown


@pytest.mark.parametrize("learner", ["sklearn", "j48"])
def test_a_table_to_learn_from_has_no_state_for_them(learner: Any, tmp_path: Path) -> None:
    """What is learned has no state called so, and takes every spelling of a missing value alike."""
    file = tmp_path / "t.csv"
    rows = [("cook", "yes"), ("smith", "no"), ("", "no"), ("?", "no"), (" ", "no")] * 20
    file.write_text("\n".join(["job,goal", *(",".join(row) for row in rows)]))
    try:
        found = learn(read_csv(file), learner=learner, kept_apart=0).classifier
    except quia.Unsupported as fault:
        pytest.skip(str(fault))
    assert not {"", " ", "?"} & set(found.variables[0].labels or ())
    alike = {decided(lambda v=value: found.classify({"job": v})) for value in ("", " ", "?", None, math.nan)}
    assert len(alike) == 1
