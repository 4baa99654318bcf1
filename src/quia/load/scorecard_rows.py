"""The rows of a scorecard in CSV, and the decimals in them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from quia.errors import FormatError, Unsupported, listed, shown
from quia.rows import RowFile

COLUMNS = {
    "feature": ("feature", "variable", "characteristic"),
    "condition": ("condition", "attribute", "bin", "value"),
    "points": ("points", "score"),
}
"""How each column may be called, in any case; of several that are there, the first is meant."""
MOST_ROWS = 100_000
_DECIMAL = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})")


class Row(NamedTuple):
    """What a row says, and the line that it begins in; it may have no points."""

    line: int
    feature: str
    condition: str
    points: Fraction | None


def looks_like(head: bytes) -> bool:
    """Whether a file that begins so is a table that has the columns of a scorecard."""
    text = head.decode("utf-8-sig", "replace").lstrip("\r\n")
    first = re.split(r"[\r\n]", text, maxsplit=1)[0]
    names = {name.strip(' "').casefold() for name in re.split(r"[,;\t|]", first)}
    return all(not names.isdisjoint(spellings) for spellings in COLUMNS.values())


def read_rows(table: RowFile) -> tuple[list[Row], tuple[str, ...]]:
    """The rows of a card, and a note of the columns that are not read."""
    places = {kind: _column(table, kind) for kind in COLUMNS}
    rows = []
    for number, (line, cells) in enumerate(table, 1):
        if fault := table.fault(number, line, cells):
            raise fault
        feature, condition, points = (cells[places[kind]].strip() for kind in COLUMNS)
        if not (feature or condition or points):
            continue
        if not feature:
            raise FormatError("a row names no feature; name it in each row about it", file=table.file, line=line)
        rows.append(Row(line, feature, condition, _points(points, feature, table.file, line)))
        if len(rows) > MOST_ROWS:
            raise FormatError(f"has more than {MOST_ROWS} rows; scorecards are shorter", file=table.file)
    if not rows:
        raise table.no_rows()
    unread = [name for at, name in enumerate(table.names) if at not in places.values()]
    return rows, (f"columns that are not read: {listed(unread)}",) if unread else ()


def _column(table: RowFile, kind: str) -> int:
    names = [name.strip().casefold() for name in table.names]
    for spelling in COLUMNS[kind]:
        if names.count(spelling) > 1:
            raise FormatError(f"has two columns called {shown(spelling)}; rename one", file=table.file, line=table.line)
        if spelling in names:
            return names.index(spelling)
    raise FormatError(
        f"has no column {kind!r}; a scorecard has columns {listed(COLUMNS)}, and these are {listed(table.names)}",
        file=table.file,
        line=table.line,
    )


def _points(text: str, feature: str, file: str, line: int) -> Fraction | None:
    if not text:
        return None
    found = decimal(text)
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
