"""Tables of rows from CSV files: texts as they stand there, and which columns are numbers."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from quia import csv_faults
from quia.errors import FormatError, did_you_mean, listed, shown
from quia.load.files import decode, read_bytes, refuse_workbook
from quia.values import is_missing

_SEPARATORS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Table:
    """Column names, and rows of texts of the same length."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, index: int) -> list[str]:
        """The texts of one column."""
        return [row[index] for row in self.rows]

    def index(self, name: str) -> int:
        """Where a column is."""
        if name not in self.names:
            raise FormatError(
                f"there is no column {shown(name)}{did_you_mean(name, self.names)}; columns are {listed(self.names)}"
            )
        return self.names.index(name)

    def kinds(self) -> tuple[Literal["numeric", "nominal"], ...]:
        """For each column whether all its values are numbers; a column without any value is nominal.

        >>> Table(("a", "b"), (("1", "x"), ("?", "2"))).kinds()
        ('numeric', 'nominal')
        """
        return tuple("numeric" if _numbers(self.column(index)) else "nominal" for index in range(len(self.names)))

    def records(self) -> list[dict[str, str]]:
        """Each row as a mapping from column to text."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Task:
    """The rows to learn from, and which column to learn."""

    table: Table
    goal: int
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def inputs(self) -> list[int]:
        """The columns to learn from: all that have some value, but for those that only name the rows."""
        return [index for index in self._with_values if index not in self.identifiers]

    @cached_property
    def identifiers(self) -> frozenset[int]:
        """The columns of texts that only name the rows, such as an id, a person or a remark.

        They have more than twenty different values, and more than nine for ten rows that have one, so that no rule
        about one of them says anything of another row.
        """
        kinds = self.table.kinds()
        nominal = [index for index in self._with_values if kinds[index] == "nominal"]
        return frozenset(index for index in nominal if _nearly_all_differ([row[index] for row in self.rows]))

    @cached_property
    def _with_values(self) -> list[int]:
        others = [index for index in range(len(self.table.names)) if index != self.goal]
        return [index for index in others if any(not is_missing(row[index]) for row in self.rows)]


def read_csv(file: str | os.PathLike[str]) -> Table:
    """The table in a CSV file, whose first row names the columns; the separator is what the first row has most of."""
    name = os.fspath(file)
    data = read_bytes(name, unpacked=None)  # a table of zeros packs better than any model
    refuse_workbook(name)
    text = decode(data, name)
    head = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=head.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    rows: list[tuple[str, ...]] = []
    try:
        with csv_faults.long_values_allowed():
            for row in lines:
                if not row:
                    continue
                if rows and len(row) != len(rows[0]):
                    raise FormatError(
                        f"has {len(row)} values where there are {len(rows[0])} columns", file=name, line=lines.line_num
                    )
                rows.append(tuple(value.strip() for value in row))
    except csv.Error as error:
        found = csv_faults.fault(io.StringIO(text, newline=""), separator, spaces=True)
        raise FormatError(found[1] if found else f"is not CSV: {error}", file=name) from None
    if len(rows) < 2:
        raise FormatError("has no rows below the names of its columns", file=name)
    seen: set[str] = set()
    for column in rows[0]:
        if not column or column in seen:
            raise FormatError(f"has two columns called {column!r}, or one without a name", file=name, line=1)
        seen.add(column)
    return Table(rows[0], tuple(rows[1:]))


def number_with_comma(texts: list[str]) -> str | None:
    """One of the texts that has a comma, if all of them are numbers but for commas.

    >>> number_with_comma(["0,495", "1", "?"]), number_with_comma(["0.5", "a, b"])
    ('0,495', None)
    """
    present = list(dict.fromkeys(text for text in texts if not is_missing(text)))
    if not all(text.lstrip("+-").replace(",", "").replace(".", "").isdecimal() for text in present):
        return None
    return next((text for text in present if "," in text), None)


def _nearly_all_differ(texts: list[str]) -> bool:
    present = [text for text in texts if not is_missing(text)]
    return len(set(present)) > max(20, 0.9 * len(present))


def _numbers(texts: list[str]) -> bool:
    present = [text for text in texts if not is_missing(text)]
    return bool(present) and all(_is_number(text) for text in present)


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and abs(float(text)) < float("inf")  # neither 1_000 nor nan nor inf
    except ValueError:
        return False
