"""Tables with a value that is too long, or with a quote that is not closed: every reader says which of both it is."""

import argparse
import csv
import io
import random
from pathlib import Path

import pytest

from quia import csv_faults, rows
from quia.batch import csv_rows
from quia.command import instance
from quia.errors import QuiaError
from quia.rows import open_rows
from quia.tables import read_csv

LONG = "x" * 2000
TOO_LONG = "has a value of more than 1000 characters in the row that begins in line 3"
OPEN = "has a quote in the row that begins in line 3 that is not closed"
TABLES = {
    f"a,b\n1,2\n3,{LONG}\n5,6\n": TOO_LONG,
    f'a,b\n1,2\n3,"{LONG}"\n5,6\n': TOO_LONG,
    f'a,b\n1,2\n3,"{LONG}""\n,{LONG}"\n5,6\n': TOO_LONG,
    "a,b\n1,2\n" + f'3,"{LONG}\n' + "5,6\n" * 1000: OPEN,
    'a,b\n1,2\n3,"' + "5,6\n" * 1000: OPEN,
}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_faults, "LONGEST_VALUE", 1000)
    monkeypatch.setattr(csv_rows, "_BLOCK", 500)  # so that no longer value than this fits into two of them, either


@pytest.mark.parametrize("text", TABLES)
def test_every_reader_says_what_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    asked = argparse.Namespace(instance=None, data=str(file), row=3, values=[])
    before = csv.field_size_limit()
    for read in (
        lambda: read_csv(file),
        lambda: instance.read(asked, ["a", "b"]),
        lambda: list(csv_rows.batches(open_rows(file), {"a": 0})),
    ):
        with pytest.raises(QuiaError) as caught:
            read()
        assert TABLES[text] in str(caught.value)
        assert len(str(caught.value)) < 400
    assert csv.field_size_limit() == before


def test_a_row_longer_than_arrow_reads(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a" + ",b" * 9 + "\n1" + ",2" * 9 + "\n" + ",".join(["y" * 900] * 10) + "\n3" + ",4" * 9 + "\n")
    found = [row for batch in csv_rows.batches(open_rows(file), {"a": 0}) for row in batch.to_pylist()]
    assert [row["a"] for row in found] == ["1", "y" * 900, "3"]


def test_a_row_that_no_one_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONGEST_ROW", 5000)
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n" + ",".join(["y" * 900] * 20) + "\n3,4\n")
    for read in (lambda: read_csv(file), lambda: list(csv_rows.batches(open_rows(file), {"a": 0}))):
        with pytest.raises(QuiaError, match="line 3: has a row of more than 5000 characters; shorten its values"):
            read()


def test_faults_are_those_of_pythons_reader() -> None:
    rng = random.Random(5)
    csv.field_size_limit(1000)
    found = 0
    try:
        for _ in range(4000):
            parts = ['"', '"', ",", "\n", "a", " ", "\r\n", LONG[: rng.choice((5, 1500))]]
            text = "".join(rng.choices(parts, k=9))
            for spaces in (True, False):
                try:
                    for _ in csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=spaces):
                        pass
                    failed = False
                except csv.Error:
                    failed = True
                fault = csv_faults.fault(io.StringIO(text, newline=""), ",", spaces=spaces)
                assert (fault is not None) == failed, text
                found += failed
    finally:
        csv.field_size_limit(131072)
    assert found > 500
