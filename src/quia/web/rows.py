"""The rows that instances are picked from."""

from __future__ import annotations

from typing import NamedTuple

from quia.errors import InstanceError


class Rows(NamedTuple):
    """A table: its name, its columns, and its rows as texts.

    >>> Rows("t.csv", ["age", "job"], [["30", "cook"]]).row(1)
    {'age': '30', 'job': 'cook'}
    """

    name: str
    columns: list[str]
    rows: list[list[str]]

    def row(self, number: int) -> dict[str, str]:
        """A row, counted from 1, by column; InstanceError if it has not as many values as there are columns."""
        values = self.rows[number - 1]
        if len(values) != len(self.columns):
            raise InstanceError(
                f"row {number} of {self.name} has {len(values)} values; there are {len(self.columns)} columns"
            )
        return dict(zip(self.columns, values, strict=True))
