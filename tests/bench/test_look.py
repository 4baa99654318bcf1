"""The benchmark of pages: each decision has a process of its own, and what is printed is what was measured there."""

import csv
import gzip
import io
import json

import pytest

from bench import tiny_data
from benchmarks import look
from benchmarks.__main__ import main

pytest.importorskip("pandas")
pytest.importorskip("xgboost")


@pytest.fixture
def data(tmp_path):
    """The layout of the real folder: a small tree, and the rows that it is of as a table to learn from."""
    folder = tiny_data.write_folder(tmp_path / "data", seed=6)
    with gzip.open(folder / "trees" / "tree1" / "rows.csv.gz", "rt", newline="") as stream:
        rows = [row for row in csv.reader(stream) if "?" not in row]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    (folder / "train").mkdir()
    (folder / "train" / "tree1.csv.gz").write_bytes(gzip.compress(out.getvalue().encode()))
    return folder


def test_pages_are_measured_beside_their_answers(data, tmp_path, capsys):
    out = tmp_path / "numbers.json"
    few = ["--rows", "1", "--repeat", "1", "--rounds", "2"]
    assert main(["look", "--data", str(data), "--benchmark", "tree1", *few, "--json", str(out)]) == 0
    results = json.loads(out.read_text())["results"]
    assert [each["name"] for each in results] == [
        "tree1, J48",
        "tree1, sklearn, 20 rows a leaf",
        "tree1, sklearn, 1 row a leaf",
        "tree1, XGBoost 2x6",
    ]
    rows = [row for each in results for row in each["rows"]]
    assert len(rows) == 4 and all(row[part] > 0 for row in rows for part in look.PARTS)
    assert all(row["command report"] > row["explain"] + row["import"] + row["page"] for row in rows)
    assert all(row["bytes"] > 10_000 and min(row["listed"]) > 0 for row in rows), "a page of a decision with reasons"
    assert capsys.readouterr().out == look.text(results) + "\n"


def test_of_several_processes_the_fastest_counts_and_ratios_are_of_all_rows(monkeypatch, tmp_path):
    import quia

    slow = dict.fromkeys(look.PARTS, 3.0) | {"page": 9.0, "bytes": 7}
    times = iter([slow, slow | {"explain": 2.0}, slow | {"page": 1.0}, slow | {"explain": 1.0, "page": 2.0}])
    monkeypatch.setattr(look, "_once", lambda _: next(times))
    graph = quia.load("examples/loan.json")
    result = look.measure("made", graph, [{}, {}], 2, tmp_path)
    assert [(row["explain"], row["page"]) for row in result["rows"]] == [(2.0, 9.0), (1.0, 1.0)]
    assert result["nodes"] == 37
    assert look.ratio(result["rows"], "page", "explain") == 10 / 3


def test_what_is_not_there_is_named(tmp_path, capsys):
    assert main(["look", "--data", str(tmp_path)]) == 2
    assert "--data" in capsys.readouterr().err
