"""What quia writes is what its JSON Schema files say, and they do not say just anything."""

import copy
import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import quia
import strategies
from quia.cli import main
from quia.load import sdd
from quia.web.answers import describe

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "docs" / "schemas"
VERSIONS = {"explanation": 2, "batch": 2}
MODELS = sorted((ROOT / "examples").glob("*.json"))


@cache
def validator(name: str, version: int | None = None) -> Any:
    schema = json.loads((SCHEMAS / f"{name}-{version or VERSIONS.get(name, 1)}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def example_instance(graph: quia.DecisionGraph, seed: int) -> dict[str, Any]:
    """Some value for every feature."""
    draw = random.Random(seed)
    return {v.name: draw.uniform(-1, 8) if v.is_numeric else draw.choice(v.labels) for v in graph.variables}


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    main([str(argument) for argument in arguments])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_examples(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = quia.load(file)
    validator("graph").validate(json.loads(file.read_text()))
    validator("graph").validate(graph.to_dict())
    validator("check").validate(printed(capsys, "check", file, "--json"))
    for seed in range(20):
        instance = example_instance(graph, seed)
        why = quia.explain(graph, instance)
        validator("explanation").validate(json.loads(why.to_json()))
        validator("explanation").validate(why.to_dict(general=False))
        validator("explanation").validate(why.to_dict(intervals=False, protected=[v.name for v in graph.variables]))
        validator("nnf").validate(json.loads(json.dumps(why.complete_reason.to_dict())))
        for label in graph.classes:
            if label != why.decision:
                validator("explanation").validate(quia.explain(graph, instance, against=label).to_dict(limit=1))


def test_random_graphs() -> None:
    draw = random.Random(11)
    for _ in range(200):
        data = strategies.random_graph(draw)
        graph = quia.DecisionGraph.from_dict(data)
        why = quia.explain(graph, strategies.random_instance(draw, data))
        validator("graph").validate(data)
        validator("graph").validate(graph.to_dict())
        validator("explanation").validate(json.loads(why.to_json()))
        validator("explanation").validate(json.loads(why.to_json(general=False)))
        validator("nnf").validate(why.complete_reason.to_dict())
        general = json.loads(json.dumps(why.general_reason.to_dict()))
        validator("nnf", int(general["schema"][-1])).validate(general)


def test_what_the_command_line_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    luna = ROOT / "examples" / "luna.json"
    values = [text for name in "EFGRW" for text in ("--set", f"{name}=yes")]
    table = tmp_path / "table.csv"
    table.write_text("E,F,G,R,W\nyes,yes,yes,no,no\n")
    for more in (["--states"], ["--sets"], ["--reference", str(table)], ["--states", "--reference", str(table)]):
        validator("explanation").validate(printed(capsys, "explain", luna, *values, *more, "--json"))
    for more in ([], ["--shortest"], ["--protected", "R"], ["--protected", "G"], ["--frozen", "E"], ["--timeout", "0"]):
        validator("explanation").validate(printed(capsys, "explain", luna, *values, *more, "--json"))
    broken = tmp_path / "broken.json"
    broken.write_text('{"quia": 1}')
    answer = printed(capsys, "check", broken, "--json")
    validator("check").validate(answer)
    assert answer["sound"] is False


def test_agreement_with_a_column_of_decisions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    iris = ROOT / "examples" / "iris.json"
    graph = quia.load(iris)
    rows = [example_instance(graph, seed) for seed in range(30)]
    names = list(rows[0])
    lines = [",".join([*names, "said"])]
    lines += [",".join([*(str(row[name]) for name in names), graph.classify(row)]) for row in rows]
    lines.append(lines[1].replace("Iris-", "Not-"))
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    answer = printed(capsys, "check", iris, "--data", tmp_path / "rows.csv", "--predicted", "said", "--json")
    validator("check").validate(answer)
    assert (answer["agreement"]["agreed"], answer["agreement"]["differing"]) == (30, 1)


def explained_table(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> Any:
    """What `quia batch --json` prints of twenty rows, the last one with a fault."""
    admissions = ROOT / "examples" / "admissions.json"
    graph = quia.load(admissions)
    rows = [example_instance(graph, seed) for seed in range(19)] + [example_instance(graph, 19) | {"GPA": "top"}]
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (folder / "rows.csv").write_text("\n".join(lines))
    return printed(
        capsys, "batch", admissions, folder / "rows.csv", "-o", folder / "out.jsonl", "--json", "--restart", *options
    )


def test_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for options in (
        [],
        ["--counts"],
        ["--protected", "GPA"],
        ["--against", "Accept", "--all", "3"],
        ["--timeout", "0"],
    ):
        told = explained_table(capsys, tmp_path, *options)
        validator("batch").validate(told)
        assert (told["rows"], told["rejected"]) == (20, 1)


def test_what_the_server_says_of_a_model() -> None:
    for classifier in (*map(quia.load, MODELS), sdd.read(b"sdd 1\nL 0 0 1\n")):
        validator("model").validate(json.loads(json.dumps(describe(classifier, name="a model", identity="1"))))


def test_the_schemas_refuse_what_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = quia.load(ROOT / "examples" / "admissions.json")
    instance = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    why = quia.explain(graph, instance)
    right = {
        "explanation": why.to_dict(),
        "nnf": why.complete_reason.to_dict(),
        "graph": graph.to_dict(),
        "check": printed(capsys, "check", ROOT / "examples" / "admissions.json", "--json"),
        "batch": explained_table(capsys, tmp_path),
        "model": describe(graph, name="a model", identity="1"),
        "reason-codes": why.reason_codes().to_dict(),
    }
    for name, data in right.items():
        assert validator(name).is_valid(data)
        for key in data:
            wrong = copy.deepcopy(data)
            del wrong[key]
            assert not validator(name).is_valid(wrong) or key in ("nodes", "leaves", "edges", "depth"), (name, key)
            wrong = {**copy.deepcopy(data), key: -17.5}
            assert not validator(name).is_valid(wrong), (name, key)
        assert not validator(name).is_valid({**data, "more": 1}), name


def test_every_schema_is_listed_in_the_docs() -> None:
    page = (ROOT / "docs" / "howto" / "output.md").read_text()
    for file in SCHEMAS.glob("*.json"):
        assert f"](../schemas/{file.name})" in page


def test_every_format_has_a_schema() -> None:
    """Each `quia/…/1` that the source writes, in the version that it writes."""
    source = Path(quia.__file__).parent
    named = {found for file in source.rglob("*.py") for found in re.findall(r'"quia/([a-z-]+)/(\d)"', file.read_text())}
    assert {"-".join(found) for found in named} <= {file.stem for file in SCHEMAS.glob("*.json")}
    assert {"batch", "check", "explanation", "model", "nnf", "reason-codes"} <= {name for name, _ in named}
