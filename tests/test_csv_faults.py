"""Tables with a value that is too long, or with a quote that is not closed: every reader says which of both it is."""

import argparse
import csv
import io
import random
from pathlib import Path

import pytest

from quia import csv_faults
from quia.batch import csv_rows
from quia.command import instance
from quia.errors import QuiaError
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


@pytest.mark.parametrize("text", TABLES)
def test_every_reader_says_what_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    asked = argparse.Namespace(instance=None, data=str(file), row=3, values=[])
    before = csv.field_size_limit()
    for read in (
        lambda: read_csv(file),
        lambda: instance.read(asked, ["a", "b"]),
        lambda: csv_rows.refuse_open_quotes(str(file), ","),
    ):
        with pytest.raises(QuiaError) as caught:
            read()
        assert TABLES[text] in str(caught.value)
        assert len(str(caught.value)) < 400
    assert csv.field_size_limit() == before


def test_a_row_longer_than_arrow_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "_BLOCK", 4000)
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n" + ",".join(["y" * 900] * 20) + "\n3,4\n")
    with pytest.raises(QuiaError, match="has a row of about 8000 bytes or more; shorten its values"):
        list(csv_rows.batches(str(file), ["a"], ","))


def test_faults_are_those_of_pythons_reader() -> None:
    rng = random.Random(5)
    csv.field_size_limit(1000)
    found = 0
    try:
        for _ in range(4000):
            parts = ['"', '"', ",", "\n", "a", " ", "\r\n", LONG[: rng.choice((5, 1500))]]
            text = "".join(rng.choices(parts, k=9))
            for strict in (True, False):
                spaces = rng.random() < 0.5
                try:
                    reader = csv.reader(
                        io.StringIO(text, newline=""), strict=strict, skipinitialspace=spaces, delimiter=","
                    )
                    rows = sum(1 for _ in reader)
                    failed = False
                except csv.Error:
                    failed, rows = True, 0
                fault = csv_faults.fault(io.StringIO(text, newline=""), ",", strict=strict, spaces=spaces)
                # What is never closed is no error of the lenient reader, but is one of the table.
                if strict or failed:
                    assert (fault is not None) == failed, (text, rows)
                    found += failed
    finally:
        csv.field_size_limit(131072)
    assert found > 500
