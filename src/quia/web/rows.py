"""The rows that instances are picked from."""

from __future__ import annotations

from typing import NamedTuple


class Rows(NamedTuple):
    """A table: its name, its columns, and its rows as texts.

    >>> Rows("t.csv", ["age", "job"], [["30", "cook"]]).row(1)
    {'age': '30', 'job': 'cook'}
    """

    name: str
    columns: list[str]
    rows: list[list[str]]

    def row(self, number: int) -> dict[str, str]:
        """A row, counted from 1, by column."""
        return dict(zip(self.columns, self.rows[number - 1], strict=False))
