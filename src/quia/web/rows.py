"""The rows that instances are picked from."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from quia.errors import InstanceError
from quia.rows import RowFile


class Rows(NamedTuple):
    """A table: its name, its columns, its rows as texts, and why some of these, by their numbers, are none.

    >>> Rows("t.csv", ["age", " job"], [["30", "cook"]]).row(1)
    {'age': '30', ' job': 'cook', 'job': 'cook'}
    """

    name: str
    columns: list[str]
    rows: list[list[str]]
    faults: Mapping[int, str] = MappingProxyType({})

    def row(self, number: int) -> dict[str, str]:
        """A row, counted from 1, by column, whose name also goes without the spaces around it.

        Raises InstanceError if it has not as many values as there are columns.
        """
        if number in self.faults:
            raise InstanceError(self.faults[number])
        values = dict(zip(self.columns, self.rows[number - 1], strict=True))
        return values | {name.strip(): value for name, value in values.items() if name.strip() not in values}


def rows_of(table: RowFile, *, most: int) -> Rows:
    """The first rows of a table, `most` of them; those that cannot be picked stay in their places."""
    table.refuse_twice(name.strip() for name in table.names)
    found = list(islice(table, most))
    if not found:
        raise table.no_rows()
    name = Path(table.file).name
    named = RowFile(name, table.dialect, table.names)  # a page does not say where files are
    faults = {number: named.fault(number, line, row) for number, (line, row) in enumerate(found, 1)}
    return Rows(
        name, list(table.names), [row for _, row in found], {n: str(fault) for n, fault in faults.items() if fault}
    )
