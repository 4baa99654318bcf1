"""Which instance is meant: a JSON file, values on the command line, or a row of a table."""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any, TextIO

from quia import csv_faults
from quia.command import distinct
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.load.files import not_utf8, refuse_workbook


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name an instance."""
    group = parser.add_argument_group(
        "which instance (one way of the three; --set also changes single values of the other two)"
    )
    group.add_argument("--instance", metavar="FILE", help="a JSON object from feature to value; - is stdin")
    group.add_argument(
        "--set", dest="values", metavar="FEATURE=VALUE", action="append", default=[], help="one value; repeat it"
    )
    group.add_argument("--data", metavar="FILE.csv", help="a table whose first line names the columns (.gz is fine)")
    group.add_argument("--row", metavar="N", type=int, help="which row of --data; 1 is the first below the names")


def read(arguments: argparse.Namespace, features: Sequence[str]) -> dict[str, Any]:
    """The instance that the options name; --set overrides single values of the other two."""
    if arguments.instance is not None and arguments.data is not None:
        raise InstanceError("both --instance and --data are given; give one of them")
    if (arguments.data is None) != (arguments.row is None):
        raise InstanceError("--data and --row go together: which table, and which row of it")
    given: dict[str, Any] = {}
    if arguments.instance is not None:
        given = _from_json(arguments.instance)
    elif arguments.data is not None:
        given = _from_table(arguments.data, arguments.row)
    elif not arguments.values:
        raise InstanceError("no instance is given; use --instance FILE, --set FEATURE=VALUE or --data FILE.csv --row N")
    return given | distinct((pair(text, features, "--set") for text in arguments.values), "--set")


def pair(text: str, features: Sequence[str], option: str) -> tuple[str, str]:
    """FEATURE=VALUE taken apart; a feature's name may hold a = itself.

    >>> pair("a=b=c", ["a=b", "d"], "--set")
    ('a=b', 'c')
    """
    splits = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    known = [split for split in splits if split[0] in features]
    if known:
        return known[-1]
    if not splits:
        raise InstanceError(f"{option} is {shown(text)}; write FEATURE=VALUE")
    name = splits[0][0]
    raise InstanceError(
        f"{option} names {shown(name)}, which is no feature; features are {listed(features)}"
        f"{did_you_mean(name, features)}"
    )


def _from_json(file: str) -> dict[str, Any]:
    if file == "-" and sys.stdin is None:
        raise InstanceError("there is no standard input to read an instance from: it is closed")
    try:
        with reading(file), nullcontext(sys.stdin) if file == "-" else _open(file) as stream:
            given = json.loads(stream.read())
    except (ValueError, RecursionError) as fault:
        raise InstanceError(f"{file} is not JSON: {fault}") from None
    if not isinstance(given, dict):
        raise InstanceError(f"{file} holds {shown(given)}; an instance is an object from feature to value")
    return given


def _from_table(file: str, row: int) -> dict[str, Any]:
    if row < 1:
        raise InstanceError(f"--row is {row}; rows are counted from 1, the first below the names")
    with reading(file):
        names, rows = open_table(file)
        values = next(islice(rows, row - 1, None), None)
    if values is None:
        raise InstanceError(f"{file} has no row {row}")
    if len(values) != len(names):
        raise InstanceError(f"row {row} of {file} has {len(values)} values; there are {len(names)} columns")
    return dict(zip(names, values, strict=True))


def open_table(file: str) -> tuple[list[str], Iterator[list[str]]]:
    """The names of a table's columns, and its rows, whatever of , ; tab and | parts them; empty lines are none.

    Use both within `reading`.
    """
    refuse_workbook(file)
    with _open(file) as stream:
        text = stream.read()
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    rows = _rows(file, text, delimiter)
    names = next(rows, None)
    if names is None:
        raise InstanceError(f"{file} is empty; its first line must name the columns")
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise InstanceError(f"{file} has two columns called {name!r}; rename one")
        seen.add(name)
    return names, rows


def _rows(file: str, text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows that are not empty; a quote that is never closed, and so takes in the end, is an error."""
    end = "\u2063 end of the table"
    try:
        with csv_faults.long_values_allowed():
            for row in csv.reader(io.StringIO(f"{text}\n{end}"), delimiter=delimiter):
                if row == [end]:
                    return
                if row and row[-1].endswith(end):
                    raise InstanceError(
                        f"{file} has a quote that is not closed, in the row {shown(row[0])} …; close it"
                    )
                if row:
                    yield row
    except csv.Error as error:
        found = csv_faults.fault(io.StringIO(text), delimiter, strict=False)
        raise InstanceError(f"{file} {found[1] if found else f'cannot be read as a table: {error}'}") from None


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Whatever goes wrong with a file, in one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise not_utf8(file) from None
    except csv.Error as fault:
        raise InstanceError(f"{file} cannot be read as a table: {fault}") from None
    except (OSError, EOFError, zlib.error) as fault:
        raise InstanceError(f"{file} cannot be read: {getattr(fault, 'strerror', None) or fault}") from None


def _open(file: str) -> TextIO:
    with open(file, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return (
        gzip.open(file, "rt", encoding="utf-8-sig", newline="")
        if packed
        else open(file, encoding="utf-8-sig", newline="")
    )
