"""The benchmark of audits: its counts are those of the loop over predict, and what is refuted or differs is told."""

import csv
import gzip
import io
import json

import pytest

from bench import tiny_data
from benchmarks import audit, audit_rival
from benchmarks.__main__ import main

pytest.importorskip("pandas")
pytest.importorskip("xgboost")


@pytest.fixture
def data(tmp_path):
    """The layout of the real folder: a small tree, and the rows that it is of as a table to learn from."""
    folder = tiny_data.write_folder(tmp_path / "data", seed=6)
    with gzip.open(folder / "trees" / "tree1" / "rows.csv.gz", "rt", newline="") as stream:
        rows = [row for row in csv.reader(stream) if "?" not in row]
    place = rows[0].index("colour")
    rows[1:] = [[*row[:-1], "a" if row[place] == "red" else row[-1]] for row in rows[1:]]
    out = io.StringIO()
    csv.writer(out).writerows([rows[0], *(rows[1:] * 3)])
    (folder / "train").mkdir()
    (folder / "train" / "tree1.csv.gz").write_bytes(gzip.compress(out.getvalue().encode()))
    return folder


def asked(data, *more):
    return ["audit", "--data", str(data), "--benchmark", "tree1", "--protected", "colour", "--rounds", "3", *more]


def test_the_command_prints_steps_and_compares(data, tmp_path, capsys):
    out = tmp_path / "numbers.json"
    assert main(asked(data, "--rows", "60", "--timeout", "30", "--json", str(out))) == 0
    printed = capsys.readouterr().out
    assert "J48 tree, 60 rows" in printed and "XGBoost 3x6, 60 rows" in printed and "by 4 calls of" in printed
    tree, boosted = json.loads(out.read_text())["results"]
    for each in (tree, boosted):
        assert each["check"]["refuted"] == [] and each["check"]["holds"] > 20
        assert each["cpu"] == pytest.approx(sum(each["steps"].values()))
        assert (each["rows"], each["decided"]) == (60, 60)
    assert boosted["rival"]["rows"][0] > 0
    assert boosted["rival"]["rows"] == [each["rows"] for each in boosted["hanging"]]
    assert (tree["limit"], boosted["limit"]) == (None, 30.0)


def test_a_count_that_differs_is_told(data, monkeypatch, capsys):
    monkeypatch.setattr(audit_rival, "counted", lambda *_: {"rows": [10**6], "calls": 1, "cpu": 1.0})
    assert main(asked(data)) == 1
    assert "and 1,000,000 by the loop" in capsys.readouterr().out
    result = {"decided": 9, "hanging": [{"features": ["a"], "rows": 3, "of": 5}], "rival": {"rows": [4]}}
    assert audit.differing(result) == []  # of some rows only, so they cannot be compared


def test_what_is_not_there_is_named(tmp_path, capsys):
    assert main(asked(tmp_path)) == 2
    assert "tree.j48.txt is not there; name the folder above trees/ and train/" in capsys.readouterr().err
