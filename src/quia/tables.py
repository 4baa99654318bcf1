"""Tables to learn from: texts, which columns are numbers, and which only name the rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from quia import files
from quia.errors import FormatError, did_you_mean, listed, shown
from quia.files import reading
from quia.rows import open_rows
from quia.values import is_missing


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
    """The table in a CSV file to learn from, whose first row names the columns; spaces around values belong to none."""
    found = open_rows(file)
    with reading(found.file):
        size = os.stat(found.file).st_size
    if size > files.LARGEST_FILE:
        raise FormatError(f"holds more than {files.LARGEST_FILE} bytes; give fewer rows", file=found.file)
    names = tuple(name.strip() for name in found.names)
    found.refuse_twice(names)
    if "" in names:
        raise FormatError(
            f"has a column without a name, number {names.index('') + 1}; name it, or leave it out",
            file=found.file,
            line=found.line,
        )
    rows = tuple(tuple(value.strip() for value in row) for row in found.whole_rows())
    if not rows:
        raise found.no_rows()
    return Table(names, rows)


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
