"""The rows of a scorecard in CSV, and the decimals in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from quia.csv_dialect import ANNOUNCED, find_dialect
from quia.errors import FormatError, Unsupported, did_you_mean, listed, shown
from quia.load.scorecard_numbers import (
    Number,
    comparisons,
    decimal_mark,
    is_grouped,
    numbers_said,
    thousands,
    with_point,
)
from quia.rows import RowFile

COLUMNS = {
    "feature": ("feature", "variable", "characteristic"),
    "condition": ("condition", "attribute", "bin", "value"),
    "points": ("points", "score"),
}
"""How each column may be called, in any case; of several that are there, the first is meant."""
ELSE = ("else", "otherwise")
MOST_ROWS = 100_000
_DECIMAL = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})")


class Row(NamedTuple):
    """What a row says, and the line that it begins in; it may have no points.

    Where semicolons separate values, `mark` is what is before decimals, and may separate the ends of an interval too.
    """

    line: int
    feature: str
    condition: str
    points: Fraction | None
    mark: str | None = None


def looks_like(head: bytes) -> bool:
    """Whether a file that begins so is a table that has the columns of a scorecard."""
    names = {name.casefold() for name in _split(head)[0]}
    return all(not names.isdisjoint(spellings) for spellings in COLUMNS.values())


def _split(head: bytes) -> list[list[str]]:
    """The first two rows of what may be a table."""
    text = head.decode("utf-8-sig", "replace")
    delimiter = find_dialect(text).delimiter
    lines = re.split(r"[\r\n]+", ANNOUNCED.sub("", text, count=1).lstrip("\r\n"), maxsplit=2)[:2]
    return [[name.strip(' "') for name in line.split(delimiter)] for line in lines]


def read_rows(table: RowFile) -> tuple[list[Row], tuple[str, ...]]:
    """The rows of a card, and a note of the columns that are not read."""
    places = {kind: _column(table, kind) for kind in COLUMNS}
    texts = []
    for number, (line, cells) in enumerate(table, 1):
        if fault := table.fault(number, line, cells):
            raise fault
        feature, condition, points = (cells[places[kind]].strip() for kind in COLUMNS)
        if not (feature or condition or points):
            continue
        if not feature:
            raise FormatError("a row names no feature; name it in each row about it", file=table.file, line=line)
        texts.append((line, feature, condition, points))
        if len(texts) > MOST_ROWS:
            raise FormatError(f"has more than {MOST_ROWS} rows; scorecards are shorter", file=table.file)
    if not texts:
        raise table.no_rows()
    mark = _mark(texts, table.file) if table.dialect.delimiter == ";" else None
    rows = [
        Row(line, feature, condition, _points(points, mark, feature, table.file, line), mark)
        for line, feature, condition, points in texts
    ]
    unread = [name for at, name in enumerate(table.names) if at not in places.values() and name.strip()]
    return rows, (f"columns that are not read: {listed(unread)}",) if unread else ()


def _mark(texts: Sequence[tuple[int, str, str, str]], file: str) -> str:
    """What is before the decimals of a card; numbers that are names of no number, such as codes, do not tell."""
    numeric = {feature for _, feature, said, _ in texts if said.casefold() in ELSE or comparisons(said) is not None}
    numbers = [
        Number(number, line)
        for line, feature, said, points in texts
        for number in (points, *(numbers_said(said) if feature in numeric else ()))
    ]
    return decimal_mark(numbers, file)


def _column(table: RowFile, kind: str) -> int:
    names = [name.strip().casefold() for name in table.names]
    for spelling in COLUMNS[kind]:
        if names.count(spelling) > 1:
            raise FormatError(f"has two columns called {shown(spelling)}; rename one", file=table.file, line=table.line)
        if spelling in names:
            return names.index(spelling)
    raise FormatError(_lacking(table.names, table.file), file=table.file, line=table.line)


def no_card(head: bytes, file: str) -> str | None:
    """What a table that begins so lacks to be a scorecard; None if it is no table."""
    names, *others = _split(head)
    is_table = all(len(row) == len(names) for row in others if any(row))
    is_text = all(name.isprintable() and "\ufffd" not in name for name in names)
    return _lacking(names, file) if len(names) > 1 and is_table and is_text else None


def _lacking(names: Sequence[str], file: str) -> str:
    """What is said of a table that lacks columns of a scorecard."""
    spelled = {name.strip().casefold() for name in names}
    missing = [kind for kind, spellings in COLUMNS.items() if spelled.isdisjoint(spellings)]
    if len(missing) == len(COLUMNS):
        return (
            f"is a table of rows, not a model; learn a tree from them: quia learn {shlex.quote(file)} -o tree.json"
            f" (a scorecard would have the columns {listed(COLUMNS)})"
        )
    card = f"a scorecard has the columns {listed(COLUMNS)}; this file has"
    known = {name for spellings in COLUMNS.values() for name in spellings}
    hinted = [n if n.strip().casefold() in known else f"{n}{did_you_mean(n.strip(), missing)}" for n in names]
    return f"{card} {listed(hinted)}, but no {' and no '.join(map(shown, missing))}"


def _points(text: str, mark: str | None, feature: str, file: str, line: int) -> Fraction | None:
    if not text:
        return None
    found = decimal(with_point(text, mark))
    if found is None and is_grouped(text):
        raise FormatError(thousands(text), file=file, line=line)
    if found is None:
        raise FormatError(
            f"the points of {shown(feature)} are {shown(text)}, which is no number; write it as in 25 or -12.5",
            file=file,
            line=line,
        )
    return found


def decimal(text: str) -> Fraction | None:
    """A decimal, exactly; None if the text is none.

    >>> decimal("-12.50"), decimal("1e3"), decimal("12,5")
    (Fraction(-25, 2), None, None)
    """
    text = text.strip().replace("−", "-")
    return Fraction(text.removesuffix(".")) if _DECIMAL.fullmatch(text) else None


def needed(row: Row, file: str | None) -> Fraction:
    """The points of a row that must have some."""
    if row.points is None:
        raise FormatError(f"{shown(row.feature)} has no points here; write 0 for none", file=file, line=row.line)
    return row.points


def given(value: Any, what: str) -> Fraction:
    """A number that a caller gives, as the decimal that they wrote."""
    found = None
    if isinstance(value, (int, float, Decimal, str)) and not isinstance(value, bool):
        text = format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)
        found = decimal(text)
    if found is None:
        raise Unsupported(f"{what} is {shown(value)}", cure="give a number such as 600 or 12.5")
    return found
