"""`quia audit` as scripts and people use it: what it writes, what it refuses, killed, interrupted and run twice."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quia
from quia.auditing.steps import Steps
from quia.batch.journal import Journal
from quia.cli import main
from test_schemas import validator

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "examples" / "admissions.json"
STATES = {"GPA": ["low", "medium", "high"], "Essay": ["fail", "pass"], "Interview": ["fail", "pass"]}


def decided(row: dict[str, Any]) -> str:
    """What the example decides, written anew."""
    essay = row["Essay"] == "pass" or row["Interview"] == "pass"
    if float(row["SAT"]) >= 1450 or row["GPA"] == "high":
        return "Accept" if essay else "Reject"
    return "Accept" if row["GPA"] == "medium" and row["Interview"] == "pass" else "Reject"


def applicants(count: int = 200, seed: int = 0, **more: Any) -> list[dict[str, Any]]:
    rng = Random(seed)
    rows = []
    for number in range(count):
        row: dict[str, Any] = {"id": number, "SAT": rng.choice([1200, 1449, 1450, 1600])}
        row |= {name: rng.choice(states) for name, states in STATES.items()}
        row |= {"outcome": rng.choice(["Accept", "Reject"]), "sex": rng.choice(["f", "m"]), "age": rng.randint(18, 90)}
        rows.append(row | more)
    return rows


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    try:
        code = main(["audit", *map(str, arguments)])
    except SystemExit as ended:
        code = int(str(ended.code))
    out, err = capsys.readouterr()
    return code, out, err


def audited(
    capsys: pytest.CaptureFixture[str], folder: Path, data: Any, *options: Any, model: Path = MODEL, code: int = 0
) -> dict[str, Any]:
    """The document that the command writes, sound by its schema and with every claim holding by `quia verify`."""
    file = folder / "audit.json"
    found, _, err = run(capsys, model, data, "--json", file, *options)
    assert found == code, err
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    validator("audit").validate(document)
    other = [*options][[*options].index("--compare") + 1 :][:1] if "--compare" in options else []
    asked = ["verify", str(model), str(file), "--json", *(["--compare", str(other[0])] if other else [])]
    assert main(asked) in (0, 3)
    answer = json.loads(capsys.readouterr().out)
    assert [claim for claim in answer["claims"] if claim["outcome"] == "refuted"] == []
    return document


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(applicants(), tmp_path / "people.csv")


def test_a_page_a_document_and_a_summary(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    page, document = tmp_path / "audit.html", tmp_path / "audit.json"
    options = ["--label", "outcome", "--protected", "GPA", "--favourable", "Accept", "--case", "A 7 ≠ 8"]
    code, out, err = run(capsys, MODEL, table, "-o", page, "--json", document, *options)
    assert (code, err) == (0, "")
    found = json.loads(document.read_text("utf-8"))
    validator("audit").validate(found)
    rows = applicants()
    counts = Counter(map(decided, rows))
    right = sum(decided(row) == row["outcome"] for row in rows)
    assert {each["decision"]: each["rows"] for each in found["decisions"]["classes"]} == counts
    assert (found["decisions"]["labels"]["rows"], found["decisions"]["labels"]["right"]) == (200, right)
    assert (found["identity"]["case"], found["unfinished"]) == ("A 7 ≠ 8", [])
    assert found["identity"]["command"].startswith(f"quia audit {MODEL} {table} -o ")
    for text in (out, page.read_text("utf-8")):
        assert "A 7 ≠ 8" in text
        assert f"{right} of 200" in text
    assert sorted(file.name for file in tmp_path.iterdir()) == ["audit.html", "audit.json", "people.csv"]


@pytest.mark.parametrize(("option", "start"), [("-o", "<!DOCTYPE html>"), ("--json", "{")])
def test_to_stdout(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, option: str, start: str) -> None:
    code, out, err = run(capsys, MODEL, table, option, "-")
    assert (code, err, out.startswith(start)) == (0, "", True)
    if option == "--json":
        validator("audit").validate(json.loads(out))
    assert list(tmp_path.iterdir()) == [table]
    other = {"-o": "--json", "--json": "-o"}[option]
    code, out, err = run(capsys, MODEL, table, option, "-", other, tmp_path / "file")
    assert (code, err, out.startswith(start), (tmp_path / "file").exists()) == (0, "", True, True)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "folder", "t.arrow"])
def test_every_format_says_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, name: str) -> None:
    options = ["--label", "outcome", "--protected", "GPA", "--protected", "sex"]
    right = audited(capsys, tmp_path, table, *options)
    rows = pa.Table.from_pylist(applicants())
    path = tmp_path / name
    if name == "t.csv.gz":
        path.write_bytes(gzip.compress(table.read_bytes()))
    elif name == "t.parquet":
        pq.write_table(rows, path, row_group_size=30)
    elif name == "t.arrow":
        with pa.ipc.new_file(path, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=77)
    else:
        path.mkdir()
        pq.write_table(rows.slice(0, 90), path / "a.parquet")
        pq.write_table(rows.slice(90), path / "b.parquet")
    found = audited(capsys, tmp_path, path, *options)
    for part in ("decisions", "features", "protected", "monotonicity"):
        assert _texts(found[part]) == _texts(right[part])
    assert [each["rules"][0]["text"] for each in found["rules"]] == [
        each["rules"][0]["text"] for each in right["rules"]
    ]


def _texts(data: Any) -> Any:
    """The same with values as CSV has them, since Parquet has numbers where CSV has texts."""
    if isinstance(data, dict):
        return {name: _texts(value) for name, value in data.items()}
    return [_texts(each) for each in data] if isinstance(data, list) else str(data)


def test_as_python_says_it(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows, model = applicants(), quia.load(MODEL)
    asked: dict[str, Any] = {"label": "outcome", "protected": ["GPA", "age"], "favourable": "Accept", "timeout": 300.0}
    options = ["--label", "outcome", "--protected", "GPA", "--protected", "age", "--favourable", "Accept"]
    right = audited(capsys, tmp_path, table, *options)
    every = [rows, tuple(rows), pandas.DataFrame(rows), pa.Table.from_pylist(rows), str(table), table]
    for data in every:
        found = quia.audit(model, data, **asked)
        plain = found.to_dict()
        for part in ("decisions", "protected", "monotonicity", "unfinished"):
            assert _texts(plain[part]) == _texts(right[part])
        assert plain["identity"]["settings"] == right["identity"]["settings"]
        again = quia.Audit.from_dict(json.loads(json.dumps(plain)))
        assert again == found
        assert (repr(again), str(again)) == (repr(found), str(found))
        assert repr(found) == "<Audit: decision graph, 200 of 200 rows, complete>"
        assert json.loads(found.to_json()) == plain
        assert found.to_html().startswith("<!DOCTYPE html>")


# ---- what is refused --------------------------------------------------------------------------------------------

BAD: list[tuple[list[str], str]] = [
    (["--label", "outcom"], r"the table has no column 'outcom', which is the label; .*\(did you mean 'outcome'\?\)"),
    (["--label", "GPA"], "the label is 'GPA', which is a feature of the model; name another column"),
    (["--label", "sex"], "no label in 'sex' is a class: labels are ., ., the classes Accept, Reject; name .*"),
    (["--protected", "gender"], "the table has no column 'gender', which is protected; its columns are id, SAT, .*"),
    (["--favourable", "Acept"], r"favourable is 'Acept'; the classes are .* \(did you mean 'Accept'\?\)"),
    (["--favourable", "Accept", "--favourable", "Accept"], "favourable names 'Accept' twice; name it once"),
    (["--order", "GPA=low,hihg"], r"the order of 'GPA' has 'hihg'; its states are .* \(did you mean 'high'\?\)"),
    (["--order", "GPA=low"], "--order is 'GPA=low'; write FEATURE=LOWEST,…,HIGHEST"),
    (["--order", "GPA=low,low"], "the order of 'GPA' is .*; list at least two states, each once"),
    (["--order", "gpa=low,high"], r"orders names 'gpa', which is no feature \(did you mean 'GPA'\?\)"),
    (["--order", "SAT=1,2"], "orders names 'SAT', which is a number and has its order; leave it out"),
    (["--order", "GPA=low,high", "--order", "GPA=high,low"], "--order gives 'GPA' twice; give it once"),
    (["--compare-option", "classes=x"], "--compare-format and --compare-option are about --compare, which is not .*"),
    (["--compare-format", "json"], "--compare-format and --compare-option are about --compare, which is not given.*"),
    (["--given", "GPA=low", "--given", "GPA=high"], "nothing can meet 2 constraints together: .*"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[" ".join(options) for options, _ in BAD])
def test_bad_options_in_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, options: list[str], said: str
) -> None:
    code, out, err = run(capsys, MODEL, table, "-o", tmp_path / "a.html", *options)
    assert (code, out) == (2, "")
    _is_one_sentence(err, said)
    assert list(tmp_path.iterdir()) == [table]  # no journal, no page


def _is_one_sentence(err: str, said: str) -> None:
    assert err.count("\n") == 1
    assert re.fullmatch(f"quia: {said}\n", err), err


def test_bad_tables_in_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    header = "SAT,GPA,Essay,Interview\n"
    (tmp_path / "none.csv").write_text(header)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)) * 9)
    written([{k: v for k, v in row.items() if k != "GPA"} for row in applicants(3)], tmp_path / "lacking.csv")
    rows = pa.Table.from_pylist(applicants(3))
    pq.write_table(rows.append_column("tags", pa.array([[1], [2], []])), tmp_path / "list.parquet")
    pq.write_table(rows.slice(0, 0), tmp_path / "none.parquet")
    written([row | {"name": f"n{row['id']}"} for row in applicants(5000)], tmp_path / "names.csv")
    cases = {
        "none.csv": "the table has no rows; an audit needs at least one",
        "none.parquet": "the table has no rows; an audit needs at least one",
        "empty.csv": ".*empty.csv: is empty; its first line must name the columns",
        "bytes.csv": ".*bytes.csv.*: is not UTF-8 text; save it as UTF-8",
        "lacking.csv": ".*lacking.csv: the table has no column 'GPA', which the classifier tests",
        "nowhere.csv": ".*nowhere.csv: cannot be read: No such file or directory",
        "list.parquet --protected tags": ".*list.parquet: the column 'tags' is of type list.*; make it one of texts .*",
        "list.parquet --label tags": ".*list.parquet: the column 'tags' is of type list.*; make it one of texts .*",
        "names.csv --protected name": "'name' has 5,000 different values; .*, give a column with at most 100",
    }
    before = sorted(tmp_path.iterdir())
    for what, said in cases.items():
        name, *options = what.split()
        code, out, err = run(capsys, MODEL, tmp_path / name, "-o", tmp_path / "a.html", *options)
        assert (code, out) == (2, ""), what
        _is_one_sentence(err, said)
        assert sorted(tmp_path.iterdir()) == before


def test_bad_outputs_are_refused_before_the_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("there is no need to begin")

    monkeypatch.setattr(Steps, "take", never)
    model = tmp_path / "m.json"
    model.write_bytes(MODEL.read_bytes())
    (tmp_path / "folder").mkdir()
    cases = {
        (): "there is nowhere to write the audit to; name a page with -o, or a file with --json, or both",
        ("-o", table): "DATA and -o are the same file, .*; write to another one",
        ("--json", model): "MODEL and --json are the same file, .*; write to another one",
        ("-o", tmp_path / "x", "--json", tmp_path / "x"): "-o and --json are the same file, .*",
        ("-o", "-", "--json", "-"): "-o and --json are both -, and stdout takes one; write one of them to a file",
        ("-o", tmp_path / "no" / "x"): "-o is '.*', but there is no folder '.*/no'; make it, or write elsewhere",
        ("-o", tmp_path / "a.html", "--json", tmp_path / "no" / "x"): "--json is '.*', but there is no folder '.*'; .*",
        ("-o", tmp_path / "folder"): "-o is '.*folder', which is a folder; name a file in it",
        ("-o", tmp_path / "c", "--compare", tmp_path / "c"): "--compare and -o are the same file, .*",
    }
    before = sorted(tmp_path.iterdir())
    for options, said in cases.items():
        code, out, err = run(capsys, model, table, *options)
        assert (code, out) == (2, "")
        _is_one_sentence(err, said)
        assert sorted(tmp_path.iterdir()) == before
    assert (table.read_text(), model.read_bytes()) == (written(applicants(), table).read_text(), MODEL.read_bytes())


@pytest.mark.parametrize("share", ["0", "0%", "-1", "1.01", "150%", "nan", "inf", "x", ""])
def test_a_share_is_more_than_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, share: str
) -> None:
    code, out, err = run(capsys, MODEL, table, "-o", tmp_path / "a.html", f"--cover={share}")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith(f"quia: --cover: {share!r} is no share; write 0.9 or 90%")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"label": 5}, "the table has no column 5, which is the label"),
    ({"protected": "sex"}, "protected is the string 'sex'; give a list of features or columns"),
    ({"protected": 5}, "protected is 5; give a list of features or columns"),
    ({"favourable": 5}, "favourable is 5; give a list of classes"),
    ({"favourable": [5]}, "favourable is 5; the classes are"),
    ({"orders": 5}, "orders is 5; give a mapping such as"),
    ({"orders": {"GPA": 5}}, "the order of 'GPA' is 5; list at least two states"),
    ({"orders": {"GPA": [["low"], "high"]}}, r"the order of 'GPA' has \['low'\]; its states are"),
    ({"share": "x"}, "share is 'x'; it is a number above 0, at most 1"),
    ({"share": float("nan")}, "share is nan; it is a number above 0, at most 1"),
    ({"timeout": -1}, "timeout is -1; it is a number of seconds"),
    ({"compare": 5}, "the classifier is a int, which is not loaded"),
    ({"within": 5}, "within is 5; give a mapping"),
    ({"given": 5}, "given is 5; give a constraint"),
    ({"case": 5}, "case is 5; it is a text"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=[str(wrong) for wrong, _ in WRONG])
def test_arguments_of_a_wrong_type(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(quia.QuiaError, match=said):
        quia.audit(quia.load(MODEL), applicants(5), **wrong)


@pytest.mark.parametrize("data", [5, None, [1, 2], iter([]), applicants(5)[0], "no such file"])
def test_data_of_a_wrong_type(data: Any) -> None:
    with pytest.raises(quia.QuiaError):
        quia.audit(quia.load(MODEL), data)
    with pytest.raises(quia.QuiaError, match="which is not loaded"):
        quia.audit(MODEL, applicants(5))  # type: ignore[arg-type]


# ---- what is asked ----------------------------------------------------------------------------------------------


def test_a_column_that_the_model_does_not_know(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    document = audited(capsys, tmp_path, table, "--protected", "sex", "--protected", "GPA", "--label", "outcome")
    sex, gpa, both = document["protected"]
    assert (sex["in_model"], gpa["in_model"], both["in_model"]) == ([], ["GPA"], ["GPA"])
    assert (sex["hanging"], sex["depends"]["can"], both["depends"]["can"]) == (None, False, True)
    groups = {each["name"]: each for each in sex["groups"]}
    for name in ("f", "m"):
        rows = [row for row in applicants() if row["sex"] == name]
        group = groups[f"sex={name}"]
        assert (group["rows"], group["decided"]) == (len(rows), dict(Counter(map(decided, rows))))
        assert group["right"] == sum(decided(row) == row["outcome"] for row in rows)
    turned = sum(any(decided(row | {"GPA": gpa}) != decided(row) for gpa in STATES["GPA"]) for row in applicants())
    assert (gpa["hanging"]["rows"], both["hanging"]["rows"], gpa["hanging"]["of"]) == (turned, turned, 200)


@pytest.mark.parametrize("known", [True, False])
def test_numbers_are_grouped_in_bands(capsys: pytest.CaptureFixture[str], tmp_path: Path, known: bool) -> None:
    """Each row with a number is in one band, and those without are in none."""
    rows = applicants(300, seed=1)
    for row in rows[::50]:
        row["age"] = None
    data = written(rows, tmp_path / "t.csv")
    name = "SAT" if known else "age"
    (found,) = audited(capsys, tmp_path, data, "--protected", name)["protected"]
    counted = 0
    for group in found["groups"]:
        (where,) = group["where"]
        inside = [row for row in rows if row[name] is not None and _meets(row[name], where)]
        assert (len(inside), dict(Counter(map(decided, inside)))) == (
            group["rows"],
            {each: count for each, count in group["decided"].items() if count},
        )
        counted += len(inside)
    assert counted == sum(row[name] is not None for row in rows)
    assert len(found["groups"]) == (4 if known else 5)  # each of few numbers is a group by itself


def _meets(number: float, where: dict[str, Any]) -> bool:
    """Whether a number is in one of a condition's intervals."""

    def inside(low: float | None, high: float | None, low_closed: bool, high_closed: bool) -> bool:
        above = low is None or number > low or (low_closed and number == low)
        return above and (high is None or number < high or (high_closed and number == high))

    return any(inside(**interval) for interval in where["intervals"])


THREE = {
    "quia": 1,
    "variables": {"x": {"kind": "numeric"}, "y": {"kind": "nominal", "states": ["a", "b"]}},
    "classes": ["deny", "review", "grant", "never"],
    "root": "x",
    "nodes": {
        "x": {"test": "x", "edges": [{"if": "< 1", "to": "y"}, {"if": ">= 1", "to": "g"}]},
        "y": {"test": "y", "edges": [{"if": ["a"], "to": "d"}, {"if": ["b"], "to": "r"}]},
        "d": {"class": "deny"},
        "r": {"class": "review"},
        "g": {"class": "grant"},
    },
}


def test_several_classes_in_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whether raising hurts depends on the order of classes and states; a class that nobody has is told as empty."""
    model = tmp_path / "three.json"
    model.write_text(json.dumps(THREE))
    data = written([{"x": x, "y": y} for x in (0, 1, 2) for y in "ab"], tmp_path / "t.csv")

    def asked(*options: str) -> dict[str, Any]:
        document = audited(capsys, tmp_path, data, *options, model=model)
        order = document["monotonicity"]
        return {
            "order": order["order"],
            "assumed": order["is_assumed"],
            **{each["feature"]: (each["hurts"]["can"], each["helps"]["can"]) for each in order["features"]},
        }

    worst = ["deny", "never"]
    best_first = asked("--favourable", "grant", "--favourable", "review", "--order", "y=a,b")
    assert best_first == {
        "order": [worst, ["review"], ["grant"]],
        "assumed": False,
        "x": (False, True),
        "y": (False, True),
    }
    turned = asked("--favourable", "review", "--favourable", "grant", "--order", "y=b,a")
    assert turned == {"order": [worst, ["grant"], ["review"]], "assumed": False, "x": (True, True), "y": (True, False)}
    assumed = asked()
    assert assumed == {
        "order": [["deny", "review", "grant"], ["never"]],
        "assumed": True,
        "x": (False, False),
    }
    document = audited(capsys, tmp_path, data, model=model)
    assert [(each["of"], each["wanted"], each["rules"], each["complete"]) for each in document["rules"]][3] == (
        0,
        0,
        [],
        True,
    )
    assert document["decisions"]["classes"][3]["rows"] == 0


def test_what_is_impossible_is_undecided(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    options = [
        "--given",
        "GPA=low -> Essay=pass",
        "--within",
        "SAT >= 1449",
        "--label",
        "outcome",
        "--protected",
        "GPA",
    ]
    document = audited(capsys, tmp_path, table, *options)
    possible = [
        row for row in applicants() if row["SAT"] >= 1449 and not (row["GPA"] == "low" and row["Essay"] == "fail")
    ]
    found = document["decisions"]
    assert (found["rows"], found["decided"]) == (200, len(possible))
    assert sum(each["rows"] for each in found["undecided"]) == 200 - len(possible)
    for each in found["undecided"]:
        for number in each["first"]:
            assert applicants()[number - 1] not in possible
    assert document["identity"]["settings"]["given"] == ["GPA=low -> Essay=pass"]
    nothing = audited(capsys, tmp_path, table, "--within", "SAT > 5000", "--label", "outcome", "--protected", "GPA")
    assert (nothing["decisions"]["decided"], nothing["unfinished"]) == (0, [])


def test_missing_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A row whose decision hangs on what is missing has none; others are decided, and counted as they are."""
    rows = applicants(200, seed=2)
    rng = Random(5)
    for row in rows:
        for name in ("SAT", *STATES, "outcome", "sex"):
            if rng.random() < 0.15:
                row[name] = None
    document = audited(capsys, tmp_path, written(rows, tmp_path / "t.csv"), "--label", "outcome", "--protected", "sex")
    certain = [row for row in rows if len(set(map(decided, _worlds(row)))) == 1]
    found = document["decisions"]
    assert (found["decided"], 0 < len(certain) < 200) == (len(certain), True)
    assert found["labels"]["without"] == sum(row["outcome"] is None for row in certain)
    counted = {group["name"]: group["rows"] for group in document["protected"][0]["groups"]}
    assert counted == {f"sex={name}": sum(row["sex"] == name for row in certain) for name in ("f", "m")}


def _worlds(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a row may be, whatever is missing."""
    states = {"SAT": [1200, 1600], **STATES}
    for chosen in product(*(states[name] if row[name] is None else [row[name]] for name in states)):
        yield row | dict(zip(states, chosen, strict=True))


def test_no_row_has_a_decision(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = written(applicants(20, GPA="middling"), tmp_path / "t.csv")
    options = ["--label", "outcome", "--protected", "GPA", "--protected", "sex", "--protected", "age"]
    document = audited(capsys, tmp_path, data, *options, "-o", tmp_path / "a.html")
    assert (document["decisions"]["decided"], document["unfinished"]) == (0, [])
    assert [each["first"] for each in document["decisions"]["undecided"]] == [[1, 2, 3, 4, 5]]
    assert all(each["groups"] == [] for each in document["protected"])
    assert [each["depends"]["can"] for each in document["protected"]] == [True, False, False, True]
    assert "decided 0 of 20" in str(quia.Audit.from_dict(document))


@pytest.mark.parametrize("variables", [{}, {"SAT": {"kind": "numeric"}, "GPA": {"kind": "nominal", "states": ["low"]}}])
def test_a_model_that_tests_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, variables: dict[str, Any]
) -> None:
    model = tmp_path / "constant.json"
    constant = {"quia": 1, "variables": variables, "classes": ["Accept", "Reject"], "root": "x"}
    model.write_text(json.dumps(constant | {"nodes": {"x": {"class": "Accept"}}}))
    options = ["--label", "outcome", "--protected", "sex", "--protected", "SAT", "-o", tmp_path / "a.html"]
    document = audited(capsys, tmp_path, table, *options, model=model)
    assert document["decisions"]["classes"][0]["rows"] == 200
    assert [each["matters"] for each in document["features"]] == [False] * len(variables)
    assert [each["depends"]["can"] for each in document["protected"]] == [False] * 3
    (rule,) = document["rules"][0]["rules"]
    assert (rule["conditions"], rule["rows"]) == ([], 200)
    assert document["rules"][1]["rules"] == []


def test_a_newer_model(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    """The same one does not differ; a changed one does, on rows that are counted; one with other inputs is told so."""
    raw = json.loads(MODEL.read_text())
    same = audited(capsys, tmp_path, table, "--compare", MODEL)["comparison"]
    assert (same["rows"], same["of"], same["can_differ"], same["differences"]) == (0, 200, False, [])
    newer = tmp_path / "newer.json"
    raw["nodes"]["gpa"]["edges"][0]["to"] = "yes"
    newer.write_text(json.dumps(raw))
    changed = audited(capsys, tmp_path, table, "--compare", newer, "--protected", "sex")["comparison"]
    differing = [row for row in applicants() if row["SAT"] < 1450 and row["GPA"] == "low"]
    assert (changed["rows"], changed["of"], changed["can_differ"]) == (len(differing), 200, True)
    assert changed["turns"] == [{"old": "Reject", "new": "Accept", "rows": len(differing)}]
    counted = {each["group"]: each["rows"] for each in changed["groups"]}
    assert counted == {f"sex={name}": sum(row["sex"] == name for row in differing) for name in ("f", "m")}
    assert {each["text"] for each in changed["differences"]} == {"SAT < 1450 and GPA=low"}
    newer.write_text(MODEL.read_text().replace('"Essay"', '"Letter"'))
    file = tmp_path / "audit.json"
    code, _, err = run(capsys, MODEL, table, "--json", file, "--compare", newer)
    other = json.loads(file.read_text())["comparison"]
    assert code in (0, 3), err
    assert (other["of"], other["undecided"]) == (0, 200)
    assert any("No row can be compared: " in each and "'Letter'" in each for each in other["inputs"])
    code, out, err = run(capsys, MODEL, table, "--json", file, "--compare", table)
    assert (code, out, err.count("\n"), f"{table}: " in err) == (2, "", 1, True)


# ---- ended early, and gone on with ------------------------------------------------------------------------------


def test_out_of_time(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    """With no time at all rows are counted all the same, and what is not known is told as such."""
    options = ["--timeout", "0", "--label", "outcome", "--protected", "GPA"]
    document = audited(capsys, tmp_path, table, *options, code=3)
    assert {each["decision"]: each["rows"] for each in document["decisions"]["classes"]} == Counter(
        map(decided, applicants())
    )
    assert document["unfinished"]
    assert [each["complete"] for each in document["rules"]] == [False, False]
    assert [each["matters"] for each in document["features"]].count(False) == 0
    found = quia.audit(quia.load(MODEL), applicants(), timeout=0)
    assert (found.complete, repr(found)) == (False, "<Audit: decision graph, 200 of 200 rows, unfinished>")
    assert not (tmp_path / "audit.json.journal").exists()


CHILD = """
import sys, time
from quia.auditing.steps import Steps
from quia.cli import main
take, most = Steps.take, int(sys.argv[1])
def waiting(self, name, kind, work):
    if len(self.journal.done) >= most:
        print("waiting", flush=True)
        time.sleep(600)
    return take(self, name, kind, work)
Steps.take = waiting
sys.exit(main(sys.argv[2:]))
"""


def begun(steps: int, *arguments: Any) -> subprocess.Popen[str]:
    """An audit in a process of its own that has done so many steps and is at the next one."""
    command = [sys.executable, "-c", CHILD, str(steps), "audit", *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "waiting\n"
    return child


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that are done in this process."""
    found: list[str] = []
    write = Journal.write_done

    def writing(self: Journal, part: Any, facts: Any) -> None:
        found.append(part)
        write(self, part, facts)

    monkeypatch.setattr(Journal, "write_done", writing)
    return found


def steps_in(journal: Path) -> list[str]:
    return [json.loads(line)["part"] for line in journal.read_text().splitlines()[1:]]


def without_time(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text())
    for name in ("made", "command"):
        document["identity"].pop(name)
    document.pop("seconds")
    return document


ASKED = ["--label", "outcome", "--protected", "GPA", "--protected", "sex", "--favourable", "Accept"]


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_ended_in_the_middle_it_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, done: list[str], end: int, torn: bool
) -> None:
    calm, file = tmp_path / "calm.json", tmp_path / "a.json"
    asked = [MODEL, table, *ASKED, "--compare", MODEL]
    assert run(capsys, *asked, "--json", calm)[0] == 0
    every, journal = list(done), tmp_path / "a.json.journal"
    assert len(every) > 10
    before: list[str] = []
    for steps in (1, 4, 9):
        done.clear()
        child = begun(steps, *asked, "--json", file)
        child.send_signal(end)
        _, err = child.communicate()
        assert child.returncode == (-signal.SIGKILL if end == signal.SIGKILL else 130)
        assert "Traceback" not in err
        if end == signal.SIGINT:
            assert err.endswith("quia: interrupted\n")
        assert not file.exists()
        assert steps_in(journal) == every[:steps]
        before = steps_in(journal)
        if torn:
            with journal.open("a") as stream:
                stream.write('{"part": "rules for Acc')
    assert run(capsys, *asked, "--json", file)[0] == 0
    assert done == every[len(before) :]  # nothing again
    assert without_time(file) == without_time(calm)
    assert not journal.exists()


def test_another_audit_is_not_gone_on_with(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path, done: list[str]
) -> None:
    page = tmp_path / "a.html"
    child = begun(3, MODEL, table, "-o", page, *ASKED)
    code, out, err = run(capsys, MODEL, table, "-o", page, *ASKED)
    assert (code, out) == (2, "")
    _is_one_sentence(err, f"another run of quia is writing {page}; wait for it, or write elsewhere")
    child.kill()
    child.communicate()
    other = tmp_path / "other.json"
    other.write_text(MODEL.read_text().replace("1450", "1440"))
    changed = written(applicants(seed=1), tmp_path / "changed.csv")
    for what, asked in {
        "model": [other, table, *ASKED],
        "compared": [MODEL, table, *ASKED, "--compare", other],
        "input, or it has changed since": [MODEL, changed, *ASKED],
        "set of options": [MODEL, table, *ASKED, "--cover", "0.5"],
    }.items():
        code, out, err = run(capsys, *asked, "-o", page)
        assert (code, out) == (2, "")
        _is_one_sentence(err, f"{page} was begun with another {what}; go on with that one, .* anew with --restart")
        assert len(steps_in(tmp_path / "a.html.journal")) == 3
    assert done == []
    assert run(capsys, other, table, *ASKED, "-o", page, "--restart")[0] == 0
    assert len(done) > 10
    assert not (tmp_path / "a.html.journal").exists()


def test_a_damaged_journal_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, table: Path) -> None:
    """A file that may have been damaged since: a step with other things in it is one sentence, never a traceback."""
    file, journal = tmp_path / "a.json", tmp_path / "a.json.journal"
    child = begun(4, MODEL, table, "--json", file, *ASKED)
    child.kill()
    child.communicate()
    lines = journal.read_text().splitlines()
    rng = Random(3)
    for _ in range(60):
        at = rng.randrange(1, len(lines))
        entry = json.loads(lines[at])
        _spoil(rng, entry)
        journal.write_text("\n".join([*lines[:at], json.dumps(entry), *lines[at + 1 :]]) + "\n")
        code, _, err = run(capsys, MODEL, table, "--json", file, *ASKED)
        was = json.loads(lines[at])
        if entry == was or entry["part"] != was["part"]:  # a step that is not known is done again
            assert code == 0
        else:
            assert code == 2
            _is_one_sentence(err, f"{journal} is damaged: of '.*' it is not what was written; begin anew with .*")
        file.unlink(missing_ok=True)


def _spoil(rng: Random, entry: Any) -> None:
    """Put something else at a random place."""
    at: Any = entry
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(at[key], (dict, list)) and at[key] and rng.random() < 0.9:
            at = at[key]
            continue
        at[key] = rng.choice([None, -7, 10**9, "x", [], {}, [[-1, 99]], True])
        return


def test_in_a_process_of_its_own(tmp_path: Path, table: Path) -> None:
    """As people run it: a full stdout, a closed one, and one that ends early."""
    command = [sys.executable, "-m", "quia", "audit", str(MODEL), str(table), "-o", str(tmp_path / "a.html")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (found.stdout.startswith("Audit of admissions.json"), found.stderr) == (True, "")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (
            2,
            "quia: standard output cannot be written: No space left on device\n",
        )
