"""`quia batch`: tables in, tables out, no row lost or reordered, whatever happens."""

import gzip
import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from markupsafe import escape

import quia
from costs import said_by
from quia.batch.summary import Summary, summary_of
from quia.cli import main
from quia.command.progress import Bar
from sanitizer import not_sanitized

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "examples" / "admissions.json"


def applicants(rows: int, seed: int = 0) -> pa.Table:
    rng = Random(seed)
    return pa.table(
        {
            "id": list(range(rows)),
            "SAT": [float(rng.choice([1200, 1449, 1450, 1451])) for _ in range(rows)],
            "GPA": rng.choices(["low", "medium", "high"], k=rows),
            "Essay": rng.choices(["fail", "pass"], k=rows),
            "Interview": rng.choices(["fail", "pass"], k=rows),
        }
    )


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main(["batch", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def read(path: Path) -> list[dict[str, Any]]:
    """What a run has written, as `explain_batch` would give it, whatever the format."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return pq.read_table(path).to_pylist()


def write_input(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        pacsv.write_csv(table, path)
    elif path.suffix == ".gz":
        sink = pa.BufferOutputStream()
        pacsv.write_csv(table, sink)
        path.write_bytes(gzip.compress(bytes(sink.getvalue())))
    elif path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=77)
    elif path.suffix == ".stream":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=77)
    else:
        for part in range(3):
            folder = path / f"year={2020 + part}"
            folder.mkdir(parents=True)
            begin = part * table.num_rows // 3
            pq.write_table(table.slice(begin, (part + 1) * table.num_rows // 3 - begin), folder / "p.parquet")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.stream", "folder"])
def test_every_format_in(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    table = applicants(1000)
    data = write_input(table, tmp_path / name)
    ids = ["--id", "id", *(["--id", "year"] if name == "folder" else [])]
    code, out, err = run(capsys, MODEL, data, "-o", tmp_path / "out", *ids, "--counts", "--part-rows", 90)
    assert (code, err) == (0, "")
    assert "1,000 of 1,000 rows explained" in out
    found = pq.read_table(tmp_path / "out")
    assert [int(i) for i in found["id"].to_pylist()] == list(range(1000))
    wanted = quia.explain_batch(quia.load(MODEL), table, counts=True, shortest=())
    assert found.select(wanted.column_names).to_pylist() == wanted.to_pylist()
    if name == "folder":
        assert found["year"].to_pylist() == ["2020"] * 333 + ["2021"] * 333 + ["2022"] * 334


def test_a_partition_s_value_stays_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """And may be a feature's: a nominal one, a number, or none."""
    table = applicants(4).drop_columns(["GPA", "SAT"])
    folders = [
        "GPA=low/SAT=1450/zip=01",
        "GPA=high/SAT=1449.5/zip=1",
        "GPA=medium/SAT=__HIVE_DEFAULT_PARTITION__/zip=a%2Fb",
    ]
    for index, folder in enumerate(sorted(folders)):
        (tmp_path / "t" / folder).mkdir(parents=True)
        pq.write_table(table.slice(index, 1), tmp_path / "t" / folder / "p.parquet")
    assert run(capsys, MODEL, tmp_path / "t", "-o", tmp_path / "o.jsonl", "--id", "zip", "--id", "id")[0] == 0
    found = read(tmp_path / "o.jsonl")
    assert [(row["zip"], row["id"]) for row in found] == [("1", 0), ("01", 1), ("a/b", 2)]
    rows = [
        dict(row, GPA=gpa, SAT=sat)
        for row, gpa, sat in zip(table.to_pylist()[:2], ["high", "low"], [1449.5, 1450], strict=True)
    ]
    assert [row["decision"] for row in found[:2]] == [quia.load(MODEL).classify(row) for row in rows]
    assert "SAT is missing" in found[2]["error"]


@pytest.mark.parametrize(
    "columns",
    [
        [pa.array([1.0], pa.float32()), pa.array([1449.99999999])],
        [pa.array([1]), pa.array([1449.99999999]), pa.array([1450])],
        [
            pa.array([1]),
            pa.array([1449.99999999], pa.float64()),
            pa.array(["1450"]),
            pa.array(["1"]).dictionary_encode(),
        ],
        [pa.array([1449.99999999]), pa.array([1450], pa.int16())],
        [pa.array(["1450"], pa.large_string()), pa.array(["1e3"])],
    ],
)
def test_files_of_a_folder_keep_their_types(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, columns: list[pa.Array]
) -> None:
    others = {"GPA": ["low"], "Essay": ["pass"], "Interview": ["fail"]}
    (tmp_path / "t").mkdir()
    for index, column in enumerate([*columns, pa.nulls(1)]):
        pq.write_table(pa.table({"SAT": column, **others}), tmp_path / "t" / f"{index}.parquet")
    assert run(capsys, MODEL, tmp_path / "t", "-o", tmp_path / "o.jsonl")[0] == 0
    found = read(tmp_path / "o.jsonl")
    wanted = [
        quia.load(MODEL).classify({"SAT": c.to_pylist()[0], **{k: v[0] for k, v in others.items()}}) for c in columns
    ]
    assert [row["decision"] for row in found] == [*wanted, None]
    assert "SAT is missing" in found[-1]["error"]


def test_a_file_that_lacks_a_column_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    pq.write_table(applicants(3), tmp_path / "t" / "a.parquet")
    pq.write_table(applicants(3).drop_columns(["GPA"]), tmp_path / "t" / "b.parquet")
    code, _, err = run(capsys, MODEL, tmp_path / "t", "-o", tmp_path / "o.jsonl")
    assert (code, f"{tmp_path / 't' / 'b.parquet'}: has no column 'GPA', which other files" in err) == (2, True)


LISTED = ("shortest_necessary", "shortest_sufficient", "necessary_reasons", "sufficient_reasons", "bias_reasons")


@pytest.mark.parametrize("options", [[], ["--states"], ["--coverage"]], ids=["general", "states", "coverage"])
@pytest.mark.parametrize("name", ["out", "out.parquet", "out.jsonl", "out.csv"])
def test_every_format_out(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, options: list[str]) -> None:
    table = applicants(500)
    data = write_input(table, tmp_path / "t.parquet")
    flags = ["--necessary", "--sufficient", "--all", "2", "--counterfactuals", "2", "--protected", "GPA", *options]
    asked = [MODEL, data, "-o", tmp_path / name, "--against", "Accept", *flags, "--part-rows", 64]
    assert run(capsys, *asked)[0] == 0
    asked_for = {"general": "--states" not in options, "coverage": "--coverage" in options}
    wanted = quia.explain_batch(
        quia.load(MODEL), table, against="Accept", all_reasons=2, counterfactuals=2, protected=["GPA"], **asked_for
    ).to_pylist()
    if name == "out.csv":
        with open(tmp_path / name, newline="") as stream:
            found = list(__import__("csv").DictReader(stream))
        assert [row["row"] for row in found] == [str(n + 1) for n in range(500)]
        for one, other in zip(found, wanted, strict=True):
            assert one == {"row": one["row"]} | _in_csv(other, options)
    elif name == "out.jsonl" and "--states" in options:
        for row in wanted:
            for column in LISTED:
                row[column] = row[column] and [_object(reason) for reason in row[column]]
            for change in row["counterfactuals"] or []:
                change["changes"] = _object(change["changes"])
        assert read(tmp_path / name) == [{"row": n + 1} | row for n, row in enumerate(wanted)]
    else:
        assert read(tmp_path / name) == [{"row": n + 1} | row for n, row in enumerate(wanted)]
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == sorted(["t.parquet", name, *([] if name == "out" else [f"{name}.journal"])])
    if name == "out":
        assert {file.name[:5] for file in (tmp_path / name).iterdir()} == {"part-", "_jour"}


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        ([float("nan"), float("inf"), -float("inf"), 0.5], ["null", '"inf"', '"-inf"', "0.5"]),
        ([[1], [2, 3], None, []], ["[1]", "[2, 3]", "null", "[]"]),
        ([["a"], ['"'], None, []], ['["a"]', '["\\""]', "null", "[]"]),
        ([[{"x": 1.0}], [{"x": float("nan")}], None, []], ['[{"x": 1.0}]', '[{"x": null}]', "null", "[]"]),
        ([{"x": 1}, None, {"x": 3}, {"x": 4}], ['{"x": 1}', "null", '{"x": 3}', '{"x": 4}']),
    ],
)
def test_ids_of_any_type_are_carried_along(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, ids: list[Any], texts: list[str]
) -> None:
    pq.write_table(applicants(4).set_column(0, "id", pa.array(ids)), tmp_path / "t.parquet")
    for name in ("o.jsonl", "o.csv", "o.parquet"):
        code, _, err = run(capsys, MODEL, tmp_path / "t.parquet", "-o", tmp_path / name, "--id", "id")
        assert (code, err) == (0, "")
    lines = (tmp_path / "o.jsonl").read_text().splitlines()
    assert [line.removeprefix('{"id": ').partition(', "decision"')[0] for line in lines] == texts
    if not isinstance(ids[0], float):
        assert pq.read_table(tmp_path / "o.parquet")["id"].to_pylist() == ids or "nan" in str(ids)
        with open(tmp_path / "o.csv", newline="") as stream:
            found = [row["id"] for row in __import__("csv").DictReader(stream)]
        assert found == ["" if text == "null" else text for text in texts]


@pytest.mark.parametrize("name", ["o.jsonl", "o.csv", "o.parquet"])
def test_ids_that_python_or_a_format_does_not_have(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    far = applicants(2).set_column(0, "id", pa.array([2**30] * 2, pa.date32()))
    binary = applicants(2).set_column(0, "id", pa.array([b"\xff"] * 2))
    pq.write_table(far, tmp_path / "far.parquet")
    pq.write_table(binary, tmp_path / "binary.parquet")
    assert run(capsys, MODEL, tmp_path / "far.parquet", "-o", tmp_path / f"far-{name}", "--id", "id")[0] == 0
    code, _, err = run(capsys, MODEL, tmp_path / "binary.parquet", "-o", tmp_path / name, "--id", "id")
    if name == "o.csv":
        assert (code, "write another format, or carry other columns along\n" in err) == (2, True)
    else:
        assert (code, err) == (0, "")


@pytest.mark.parametrize("option", ["--limit", "--all", "--counterfactuals", "--part-rows"])
def test_numbers_have_room(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    data = write_input(applicants(10), tmp_path / "t.parquet")
    assert run(capsys, MODEL, data, "-o", tmp_path / "o.csv", option, 10**18)[0] == 0
    code, _, said = run(capsys, MODEL, data, "-o", tmp_path / "p.csv", option, 2**63)
    assert code == 2
    assert "is not a whole number from 0 to 1000000000000000000" in said


def _in_csv(row: dict[str, Any], options: list[str]) -> dict[str, str]:
    """A row as CSV has it: texts of general reasons, or states; lists parted by a bar."""
    found = {}
    for column, value in row.items():
        if "--states" in options and column in LISTED:
            value = value and [" and ".join(f"{s['feature']}: {s['state']}" for s in reason) for reason in value]
        elif "--states" in options and column == "counterfactuals":
            value = value and [
                " and ".join(f"{s['feature']}: {s['state']}" for s in one["changes"]) + f": {one['decision']}"
                for one in value
            ]
        elif column in (*LISTED, "counterfactuals"):
            continue
        if isinstance(value, list):
            value = " | ".join(map(str, value))
        found[column] = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _object(states: list[dict[str, str]]) -> dict[str, str]:
    return {state["feature"]: state["state"] for state in states}


BAD = """id,SAT,GPA,Essay,Interview
1,1400,medium,fail,fail
2,1400,midium,fail,fail
3,,medium,pass,fail
4,many,medium,fail,fail
oh dear
5,1400,medium,"fail",fail
6,1400,medium,fail,fail,7

"7",1500,high,pass,"pass"
8
"""


@pytest.mark.parametrize("rejects", [None, "rejected.csv", "rejected.parquet", "rejected.jsonl"])
@pytest.mark.parametrize("part_rows", [1, 3, 1000])
def test_bad_rows_stay_in_their_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rejects: str | None, part_rows: int
) -> None:
    (tmp_path / "t.csv").write_text(BAD)
    options = ["--rejects", tmp_path / rejects] if rejects else []
    code, out, _ = run(
        capsys, MODEL, tmp_path / "t.csv", "-o", tmp_path / "o.jsonl", *options, "--part-rows", part_rows
    )
    assert code == 0
    assert "3 of 9 rows explained" in out
    assert "6 cannot be explained" in out
    found = read(tmp_path / "o.jsonl")
    matches = {
        2: "did you mean 'medium'",
        3: "SAT is missing",
        4: "SAT is 'many', which is not a number",
        5: "row 5 has 1 values and there are 5 columns: 'oh dear'",
        7: "row 7 has 6 values",
        9: "row 9 has 1 values",
    }
    if rejects is None:
        assert [row["row"] for row in found] == list(range(1, 10))
        bad = [row for row in found if row["decision"] is None]
    else:
        assert [row["row"] for row in found] == [1, 6, 8]
        path = tmp_path / rejects
        bad = pacsv.read_csv(path).to_pylist() if path.suffix == ".csv" else read(path)
        assert [row["GPA"] or None for row in bad] == ["midium", "medium", "medium", None, None, None]
    assert [row["row"] for row in bad] == list(matches)
    for row in bad:
        assert matches[row["row"]] in row["error"]
    assert [row["decision"] for row in found if row["decision"]] == ["Reject", "Reject", "Accept"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("is_ended", [False, True])
def test_every_line_end_and_quote(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, end: str, packed: bool, is_ended: bool
) -> None:
    """Names of several lines and of any length, blank lines, quotes in, around and beside values."""
    lines = [
        f'"a{end}note",{"x" * 100_000},SAT,GPA,Essay,Interview',
        f'"two{end}{end}lines, ""quoted""",,1500,high,pass,"pass"',
        '5" pipe,,1400,low,fail,fail',
        "",
        'a""b,,"1500",high,pass,pass',
    ]
    text = (end.join(lines) + end * is_ended).encode()
    (tmp_path / "t.csv").write_bytes(gzip.compress(text) if packed else text)
    code, _, err = run(capsys, MODEL, tmp_path / "t.csv", "-o", tmp_path / "o.jsonl", "--id", f"a{end}note")
    assert (code, err) == (0, "")
    found = read(tmp_path / "o.jsonl")
    assert [row[f"a{end}note"] for row in found] == [f'two{end}{end}lines, "quoted"', '5" pipe', 'a""b']
    assert [row["decision"] for row in found] == ["Accept", "Reject", "Accept"]


def test_rows_that_are_the_class_already_are_no_rejects(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_input(applicants(50), tmp_path / "t.csv")
    data.write_text(data.read_text().replace("high", "top", 3))
    asked = [MODEL, data, "-o", tmp_path / "o.jsonl", "--against", "Accept", "--rejects", tmp_path / "r.jsonl"]
    assert run(capsys, *asked)[0] == 0
    found, rejected = read(tmp_path / "o.jsonl"), read(tmp_path / "r.jsonl")
    assert (len(found), len(rejected)) == (47, 3)
    assert {row["decision"] for row in found if row["error"]} == {"Accept"}
    assert {row["decision"] for row in found if not row["error"]} == {"Reject"}


def test_a_delimiter_in_quotes_parts_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"a, b, c, d, e, f";SAT;GPA;Essay;Interview\n1;1400;low;fail;fail\n')
    assert run(capsys, MODEL, tmp_path / "t.csv", "-o", tmp_path / "o.jsonl")[0] == 0
    assert [row["decision"] for row in read(tmp_path / "o.jsonl")] == ["Reject"]


def truncations(tmp_path: Path) -> dict[str, bytes]:
    table = applicants(2000)
    whole = {name: write_input(table, tmp_path / name).read_bytes() for name in ("t.csv", "t.csv.gz", "t.parquet")}
    whole |= {name: write_input(table, tmp_path / name).read_bytes() for name in ("t.arrow", "t.stream")}
    cut = {name: data[: len(data) * 2 // 3] for name, data in whole.items()}
    cut["t.csv"] = cut["t.csv"][: cut["t.csv"].rindex(b",")]  # in the middle of a row
    return cut


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.stream"])
def test_a_truncated_input_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(truncations(tmp_path)[name])
    code, out, err = run(capsys, MODEL, tmp_path / name, "-o", tmp_path / "o.parquet", "--part-rows", 300)
    assert (code, out) == (2, "")
    assert err.startswith(f"quia: {tmp_path / name}: ")
    assert err.count("\n") == 1
    assert ("is cut off" if name == "t.csv" else "cannot be read") in err
    assert not (tmp_path / "o.parquet").exists()


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        ("none.csv", [], "none.csv: cannot be read: No such file"),
        ("empty.csv", [], "is empty"),
        ("open.csv", [], "has a quote in the row that begins in line 3 that is not closed where its value ends; close"),
        ("later.csv", [], "has a quote in the row that begins in line 2 that is not closed"),
        ("last.csv", [], "has a quote in the row that begins in line 4 that is not closed"),
        ("block.csv", [], "has a quote in the row that begins in line 3 that is not closed"),
        ("few.csv", [], "no column 'SAT', which the classifier tests (did you mean 'SAR'?)"),
        ("twice.csv", [], "line 1: has two columns called 'SAT'; rename one"),
        ("zeros.csv", [], "line 1: has a NUL character, so it is no CSV; save it as CSV in UTF-8"),
        ("latin.csv", [], "latin.csv, line 2: is not UTF-8 text; save it as UTF-8"),
        ("folder", [], "holds no Parquet file"),
        ("t.csv", ["--id", "case"], "no column 'case' to carry along"),
        ("t.csv", ["--rejects", "r.txt"], "no format known here"),
        ("t.csv", ["--rejects", "/none/r.csv"], "its folder is not there"),
        ("t.csv", ["--protected", "Sex"], "protected is 'Sex', which is no feature"),
        ("t.csv", ["--coverage", "--states"], "only general reasons are counted in the rows of the table"),
        ("t.csv", ["--coverage", "--engine", "spark"], "counts rows of the whole table, and here it is seen in parts"),
        ("t.csv", ["--delimiter", "ab"], "it is one character"),
        ("t.csv", ["--delimiter", '"'], "it is one character of ASCII, no quote or line end"),
        ("t.csv", ["--delimiter", "\n"], "it is one character of ASCII, no quote or line end"),
        ("t.csv", ["--delimiter", "§"], "it is one character of ASCII, no quote or line end"),
        ("t.csv", ["--id", "id", "--id", "id"], "'id' is to be carried along twice; name it once"),
        ("ids.csv", ["--id", "x"], "more than one column 'x' to carry along; rename one"),
        ("ids.csv", ["--id", "biased"], "'biased' cannot be carried along, as answers are called so; rename it"),
        (
            "ids.csv",
            ["--id", "row", "--rejects", "r.csv"],
            "--rejects adds a column 'row', and a needed one of",
        ),
        ("list.parquet", [], "the column 'GPA', which the classifier tests, is of type list<element: string>; make it"),
        ("struct.parquet", [], "the column 'GPA', which the classifier tests, is of type struct<a: int64>; make it"),
        ("t.csv", ["-o", "t.csv/x.parquet"], "cannot be written: Not a directory"),
        ("t.csv", ["-o", "/proc/none/x.parquet"], "cannot be written: No such file"),
        ("t.csv", ["-o", "mine.parquet"], "is there already and no run of quia's left it"),
    ],
)
def test_faults_are_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    data: str,
    options: list[str],
    match: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    good = b"id,SAT,GPA,Essay,Interview\n1,1400,medium,fail,fail\n"
    (tmp_path / "empty.csv").write_bytes(b"\n")
    (tmp_path / "few.csv").write_bytes(good.replace(b"SAT", b"SAR"))
    (tmp_path / "twice.csv").write_bytes(good.replace(b"id", b"SAT"))
    (tmp_path / "zeros.csv").write_bytes(bytes(100))
    (tmp_path / "latin.csv").write_bytes(good.replace(b"medium", b"m\xe9dium"))
    (tmp_path / "t.csv").write_bytes(good)
    (tmp_path / "open.csv").write_bytes(good + b'2,1400,medium,fail,"fail\n' + b"3,1400,low,fail,fail\n" * 3)
    (tmp_path / "later.csv").write_bytes(good.replace(b"\n1", b'\n"1') + b'"2",1400,medium,fail,fail\n')
    (tmp_path / "last.csv").write_bytes(good + good[27:] + b'2,1400,medium,fail,"fail\n')
    (tmp_path / "block.csv").write_bytes(good + b'2,1400,medium,fail,"fail\n' + good[27:] * 200_000)
    (tmp_path / "ids.csv").write_bytes(b"x,x,biased,row,SAT,GPA,Essay,Interview\n1,2,3,4,1400,medium,fail,fail\n")
    for name, value in (("list", ["low"]), ("struct", {"a": 1})):
        pq.write_table(applicants(1).set_column(2, "GPA", pa.array([value])), tmp_path / f"{name}.parquet")
    (tmp_path / "mine.parquet").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    code, out, err = run(capsys, MODEL, data, "-o", "out.parquet", *options)
    assert (code, out) == (2, "")
    assert match in err
    assert err.count("\n") == 1
    assert not Path("out.parquet").exists()
    assert Path("mine.parquet").read_bytes() == b"mine"


def server() -> Any:
    """Children are forked from a server that has everything imported, so that they are at work at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["quia.command.batch", "quia.batch.local", "quia.show.batch", "pyarrow.dataset"])
    return context


def _in_child(arguments: list[str], stderr: str = os.devnull, largest_file: int | None = None) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT), 2)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    code = main(arguments)
    sys.stderr.flush()
    os._exit(code)


@pytest.mark.parametrize("out", ["o.parquet", "o.csv", "folder"])
def test_a_full_disk_is_one_sentence_and_is_survived(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, out: str
) -> None:
    """Files may grow to a limit only; with more room, the same command goes on to the same result."""
    data = write_input(applicants(4000), tmp_path / "t.parquet")
    base = ["batch", str(MODEL), str(data), "--part-rows", "1000", "--id", "id", "-o"]
    limit = 6000 if out == "folder" else 40_000
    said = tmp_path / "stderr"
    child = server().Process(target=_in_child, args=([*base, str(tmp_path / out)], str(said), limit))
    child.start()
    child.join()
    assert child.exitcode == 2
    assert re.fullmatch(
        r"quia: .* cannot be written: File too large; what is done so far is kept: .*\n", said.read_text()
    )
    if out == "folder":
        assert not list((tmp_path / out).glob("part-*")), "this limit is below one part"
    else:
        assert not (tmp_path / out).exists()
    assert not list(tmp_path.rglob("*.partial"))
    assert run(capsys, *base[1:], tmp_path / out)[0] == 0
    assert run(capsys, *base[1:], tmp_path / f"fresh-{out}")[0] == 0
    assert contents(tmp_path / out) == contents(tmp_path / f"fresh-{out}")


def contents(path: Path) -> dict[str, bytes]:
    """The result's files by name, without the journal, which has times of the input in it."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != "_journal"}


def test_another_model_input_or_question_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_input(applicants(300), tmp_path / "t.csv")
    model = tmp_path / "m.json"
    model.write_text(MODEL.read_text())
    asked = [model, data, "-o", tmp_path / "o.parquet"]
    assert run(capsys, *asked)[0] == 0
    before = contents(tmp_path / "o.parquet")
    code, out, _ = run(capsys, *asked)
    assert code == 0, "what is done is done"
    assert "300 of 300" in out
    for other in (["--limit", "3"], ["--states"], ["--coverage"]):
        code, _, err = run(capsys, *asked, *other)
        assert (code, "begun with another question" in err) == (2, True)
    model.write_text(MODEL.read_text().replace("1450", "1451"))
    code, _, err = run(capsys, *asked)
    assert (code, "begun with another model" in err) == (2, True)
    model.write_text(MODEL.read_text())
    text = data.read_text()
    data.write_text(text.replace("1200", "1201", 1))
    code, _, err = run(capsys, *asked)
    assert (code, "another input, or it has changed" in err) == (2, True)
    assert contents(tmp_path / "o.parquet") == before
    data.write_text(text.replace("1200,", "1500,", 1))
    assert run(capsys, *asked, "--restart")[0] == 0
    assert contents(tmp_path / "o.parquet") != before


def test_two_runs_do_not_write_one_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    data = write_input(applicants(10), tmp_path / "t.csv")
    with open(tmp_path / "o.csv.journal", "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        code, _, err = run(capsys, MODEL, data, "-o", tmp_path / "o.csv")
        assert (code, "another run of quia is writing" in err) == (2, True)
        code, _, err = run(capsys, MODEL, data, "-o", tmp_path / "o.csv", "--restart")
        assert (code, "another run of quia is writing" in err) == (2, True)
        assert os.path.samestat(os.fstat(other.fileno()), (tmp_path / "o.csv.journal").stat())
    assert run(capsys, MODEL, data, "-o", tmp_path / "o.csv")[0] == 0


@pytest.mark.parametrize("out", ["o.parquet", "folder"])
def test_killed_twenty_times_it_ends_as_if_undisturbed(tmp_path: Path, out: str) -> None:
    """SIGKILL at random moments; after each, whatever has a final name is whole; in the end all is as it should be."""
    rng = Random(out)
    table = applicants(6000)
    table = table.set_column(
        2, "GPA", pa.array([g if i % 97 else "none" for i, g in enumerate(table["GPA"].to_pylist())])
    )
    data = write_input(table, tmp_path / "t.csv")
    rejects = tmp_path / "rejects.csv"
    asked = ["batch", str(MODEL), str(data), "--part-rows", "100", "--counts", "--rejects", str(rejects), "-o"]

    def start(output: Path) -> Any:
        child = server().Process(target=_in_child, args=([*asked, str(output)],))
        child.start()
        return child

    began = time.monotonic()
    undisturbed = start(tmp_path / f"calm-{out}")
    undisturbed.join()
    took = time.monotonic() - began
    assert undisturbed.exitcode == 0
    calm = rejects.read_bytes()
    rejects.unlink()
    output = tmp_path / out
    kills = 0
    while kills < 20:
        child = start(output)
        child.join(rng.uniform(0, took / 4))
        if child.exitcode is None:
            os.kill(child.pid, signal.SIGKILL)
        child.join()
        kills += child.exitcode == -signal.SIGKILL
        if child.exitcode == 0:  # done before it was killed: look, and begin anew
            assert contents(output) == contents(tmp_path / f"calm-{out}")
            subprocess.run(["rm", "-r", str(output), *map(str, tmp_path.glob(f"{out}.*"))], check=True)
            continue
        assert child.exitcode == -signal.SIGKILL
        for file in [output] if output.is_file() else output.glob("part-*"):
            pq.read_metadata(file)
    last = start(output)
    last.join()
    assert last.exitcode == 0
    assert contents(output) == contents(tmp_path / f"calm-{out}")
    assert rejects.read_bytes() == calm
    assert pq.read_table(output).num_rows + len(calm.splitlines()) - 1 == 6000


@not_sanitized
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    program = "import sys; from quia.cli import main;assert main(['batch', *sys.argv[1:]]) == 0;print(peak())"
    peaks = []
    few = applicants(40_000)
    for name, copies in (("few", 1), ("many", 12)):
        data = tmp_path / f"{name}.parquet"
        pq.write_table(pa.concat_tables([few] * copies), data, row_group_size=40_000)
        asked = [str(MODEL), str(data), "-o", str(tmp_path / name), "--part-rows", "8192", "--necessary"]
        peaks.append(int(said_by(program, *asked).splitlines()[-1]))
    assert peaks[1] < peaks[0] + 60e6
    assert peaks[1] < 300e6


def test_the_summary_counts_what_the_output_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Recounted in plain Python from the result; the parts' sums are those of the whole."""
    table = applicants(700)
    table = table.set_column(
        2, "GPA", pa.array([g if i % 50 else "<b>" for i, g in enumerate(table["GPA"].to_pylist())])
    )
    data = write_input(table, tmp_path / "t.parquet")
    page = tmp_path / "page.html"
    asked = [MODEL, data, "-o", tmp_path / "out", "--id", "id", "--counts", "--protected", "GPA", "--protected", "SAT"]
    code, out, _ = run(capsys, *asked, "--summary", page, "--json", "--part-rows", 100)
    assert code == 0
    facts = json.loads(out)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert facts["rows"] == len(rows) == 700
    assert facts["rejected"] == sum(row["error"] is not None for row in rows) == 14
    decided = [row for row in rows if row["decision"]]
    assert facts["classes"] == Counter(row["decision"] for row in decided)
    for kind in ("necessary", "sufficient"):
        mentions: dict[str, Counter[str]] = {}
        for row in decided:
            features = {state["feature"] for reason in row[f"shortest_{kind}"] for state in reason}
            mentions.setdefault(row["decision"], Counter()).update(features)
        assert facts["features"][kind] == mentions
        lengths = Counter(str(len(row[f"shortest_{kind}"][0])) for row in decided)
        assert facts["lengths"][kind] == lengths
        for column in (f"shortest_{kind}_ties", f"{kind}_count"):
            assert facts["sizes"][column] == Counter(str(len(str(row[column]))) for row in decided)
    assert facts["bias"]["rows"] == Counter(row["decision"] for row in decided if row["biased"])
    responsible = Counter(
        name for row in decided for name in {s["feature"] for reason in row["bias_reasons"] for s in reason}
    )
    assert facts["bias"]["features"] == responsible
    sets = Counter(
        (row["decision"], tuple(state["feature"] for state in row["shortest_sufficient"][0])) for row in decided
    )
    assert {(label, tuple(names)): count for label, names, count, _ in facts["sets"]} == sets
    rarest = facts["sets"][0]
    first = next(
        row
        for row in decided
        if (row["decision"], [s["feature"] for s in row["shortest_sufficient"][0]]) == (rarest[0], rarest[1])
    )
    assert rarest[3] == f"id {first['id']}"

    check_rules(facts["rules"], decided, table)
    html = page.read_text()
    told = re.findall(r'class="if">(.*?)</p>.*?explains ([\d,]+) of', html)
    assert [int(rows.replace(",", "")) for _, rows in told] == [rule["explains"] for rule in facts["rules"]]
    for (said, _), rule in zip(told, facts["rules"], strict=True):
        assert re.findall("<b>(.*?)</b>", said) == [str(escape(each["feature"])) for each in rule["conditions"]]
    assert html.count("<svg") >= 10
    assert "most surprising" in html
    assert not re.search(r"src=|href=\"[^#]|https?://|<script|@import", html), "nothing is fetched"
    assert "<b>'" not in html and "&lt;b&gt;" in html, "values are escaped"


def check_rules(rules: list[dict[str, Any]], decided: list[dict[str, Any]], table: pa.Table) -> None:
    """Recounted from the texts of the result, and from the input by what conditions say of a value."""
    explains = Counter((row["decision"], text) for row in decided for text in row["shortest_sufficient_text"])
    assert {(rule["decision"], rule["text"]): rule["explains"] for rule in rules} == explains
    counts = [rule["explains"] for rule in rules if rule["decision"] == "Reject"]
    assert counts == sorted(counts, reverse=True)
    rows = {row["id"]: row for row in table.to_pylist()}
    for rule in rules:
        fitting = [row for row in decided if all(holds(c, rows[row["id"]]) for c in rule["conditions"])]
        assert rule["rows"] == len(fitting) > 0
        assert rule["decided"] == sum(row["decision"] == rule["decision"] for row in fitting) == rule["rows"]


def holds(condition: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether a value meets a condition of the JSON format."""
    value = row[condition["feature"]]
    if "in" in condition:
        return value in condition["in"]
    return any(
        (low is None or value > low or (value == low and of["low_closed"]))
        and (high is None or value < high or (value == high and of["high_closed"]))
        for of in condition["intervals"]
        for low, high in [(of["low"], of["high"])]
    )


def test_rules_of_frozen_features_and_against_a_class(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is frozen is not said by a rule, so that it may be true of rows that are decided otherwise."""
    data = write_input(applicants(300), tmp_path / "t.parquet")
    asked = [MODEL, data, "-o", tmp_path / "out", "--json", "--restart", "--summary", tmp_path / "page.html"]
    code, out, _ = run(capsys, *asked, "--against", "Accept")
    rules = json.loads(out)["rules"]
    assert code == 0 and {rule["decision"] for rule in rules} == {"not Accept"}
    assert all(rule["decided"] == rule["rows"] > 0 for rule in rules)
    rules = json.loads(run(capsys, *asked, "--frozen", "Interview")[1])["rules"]
    assert any(rule["decided"] < rule["rows"] for rule in rules)
    for options in (["--states"], ["--necessary"], ["--counts"]):
        code, out, _ = run(capsys, MODEL, data, "-o", tmp_path / "out", "--json", "--restart", *options)
        assert json.loads(out)["rules"] == [] and json.loads(out)["general"] is ("--states" not in options)
    rules = json.loads(run(capsys, MODEL, data, "-o", tmp_path / "out", "--json", "--restart")[1])["rules"]
    assert rules and all(rule["rows"] is rule["decided"] is None for rule in rules)


def test_summaries_add_up_and_travel() -> None:
    table = quia.explain_batch(quia.load(MODEL), applicants(300), counts=True, protected=["SAT"], ids=[])
    whole = summary_of(table.combine_chunks().to_batches()[0])
    added = Summary()
    for start in range(0, 300, 70):
        part = table.slice(start, 70).combine_chunks().to_batches()[0]
        added.add(Summary.from_dict(json.loads(json.dumps(summary_of(part, start=start).to_dict()))))
    assert added == whole
    assert added.surprising() == whole.surprising()


def test_a_circuit_is_explained_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    circuit = tmp_path / "c.nnf"
    circuit.write_text("nnf 3 2 2\nL 1\nL 2\nA 2 0 1\n")
    model = quia.load(circuit)
    (tmp_path / "t.csv").write_text("1,2\n1,1\n0,1\n0,0\n")
    assert run(capsys, circuit, tmp_path / "t.csv", "-o", tmp_path / "o.parquet", "--all", "5", "--counts")[0] == 0
    wanted = quia.explain_batch(
        model, [{"1": a, "2": b} for a, b in ((1, 1), (0, 1), (0, 0))], all_reasons=5, counts=True
    )
    assert (
        pq.read_table(tmp_path / "o.parquet").select(["necessary_reasons"]).to_pylist()
        == wanted.select(["necessary_reasons"]).to_pylist()
    )


def test_the_bar_is_drawn_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from quia.batch.local import Progress

    with Bar() as bar:
        bar.show(Progress(10, 0, 20, 1.0))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Bar() as bar:
        bar.show(Progress(10, 0, 20, 1.0))
    assert "10 rows, 10 rows/s, 0:01 left" in capsys.readouterr().err


def test_no_rows_are_no_fault(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,SAT,GPA,Essay,Interview\n")
    (tmp_path / "unended.csv").write_text("id,SAT,GPA,Essay,Interview")
    pq.write_table(applicants(0), tmp_path / "t.parquet")
    for data in ("t.csv", "unended.csv", "t.parquet"):
        for out in ("folder", "o.parquet", "o.csv", "o.jsonl"):
            target = tmp_path / f"{data}-{out}"
            code, text, err = run(capsys, MODEL, tmp_path / data, "-o", target, "--id", "id")
            assert (code, err) == (0, "")
            assert "0 of 0 rows" in text
            if out in ("folder", "o.parquet"):
                assert pq.read_table(target).num_rows == 0
                assert "shortest_necessary" in pq.read_table(target).column_names


def test_a_finished_folder_that_lost_a_part_is_mended(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_input(applicants(300), tmp_path / "t.csv")
    asked = [MODEL, data, "-o", tmp_path / "out", "--part-rows", 50]
    assert run(capsys, *asked)[0] == 0
    before = contents(tmp_path / "out")
    (tmp_path / "out" / "part-000002.parquet").unlink()
    (tmp_path / "out" / "part-000004.parquet").write_bytes(b"PAR1")
    assert run(capsys, *asked)[0] == 0
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("out", ["folder", "o.csv", "o.parquet"])
def test_a_finished_result_that_is_gone_is_made_again_and_a_changed_one_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, out: str
) -> None:
    data = write_input(applicants(300), tmp_path / "t.csv")
    data.write_text(data.read_text().replace("high", "top", 7))
    rejects = tmp_path / "r.csv"
    asked = [MODEL, data, "-o", tmp_path / out, "--part-rows", 50, "--rejects", rejects]
    assert run(capsys, *asked)[0] == 0
    before, rejected = contents(tmp_path / out), rejects.read_bytes()
    rejects.unlink()
    assert run(capsys, *asked)[0] == 0
    assert (contents(tmp_path / out), rejects.read_bytes()) == (before, rejected)
    for changed in [rejects, *([] if out == "folder" else [tmp_path / out])]:
        changed.write_bytes(b"mine" + changed.read_bytes()[4:])
        code, _, err = run(capsys, *asked)
        assert (code, f"{changed} has changed since its run was finished; write elsewhere" in err) == (2, True)
        assert changed.read_bytes().startswith(b"mine")
        assert run(capsys, *asked, "--restart")[0] == 0
        assert (contents(tmp_path / out), rejects.read_bytes()) == (before, rejected)


def test_a_torn_journal_is_gone_on_with(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Cut anywhere, as a power cut might leave it, the journal leads to the same result."""
    data = write_input(applicants(200), tmp_path / "t.csv")
    asked = [MODEL, data, "-o", tmp_path / "out", "--part-rows", 50]
    assert run(capsys, *asked)[0] == 0
    before = contents(tmp_path / "out")
    journal = tmp_path / "out" / "_journal"
    whole = journal.read_bytes()
    for cut in Random(3).sample(range(len(whole)), 12):
        journal.write_bytes(whole[:cut])
        assert run(capsys, *asked)[0] == 0
        assert contents(tmp_path / "out") == before


def test_the_benchmark_prints_its_ratios(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from benchmarks.__main__ import main as bench

    data = write_input(applicants(200), tmp_path / "t.csv")
    assert bench(["batch", str(MODEL), str(data), "--rows", "500", "--folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Each rival explains the rows that the table was made of in the same way.
    rivals = ("a plain Python loop", "the paper's algorithms")
    assert [line.split(":")[0] for line in lines[:4]] == [
        f"{d} drawn, {r}" for d in ("rows", "columns") for r in rivals
    ]
    assert [line.split()[:2] for line in lines[5:7]] == [["rows", "500"], ["columns", "500"]]
    assert all(re.search(r"\d+% +\d+% +\d+x", line) for line in lines[5:7])
    wanted = r"(rows|columns) drawn, general reasons: \d+\.\d\d times the CPU of the rows' own states"
    assert len(lines) == 9 and all(re.match(wanted, line) for line in lines[7:])
