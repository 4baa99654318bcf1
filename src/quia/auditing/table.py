"""The table of an audit: a file, or rows in memory, that can be read as often as needed, some columns of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from quia.auditing.document import Value, Values
from quia.batch.question import Request
from quia.batch.read import check_types, column_names, open_source
from quia.batch.table import FAULT, arrow, as_table
from quia.batch.wanted import Wanted
from quia.errors import InstanceError, did_you_mean, listed
from quia.values import is_missing
from quia.variables import Variable

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.asking import Terms

_PART = 2**16


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in batches, each with the number of its first row, counted from 1.

    `columns` are those that are read, `named` all that are there.
    """

    columns: tuple[str, ...]
    batches: Callable[[], Iterator[tuple[int, pa.RecordBatch]]]
    rows: int | None = None
    named: tuple[str, ...] = ()

    def require(self, name: str, what: str) -> None:
        """Refuse a table that lacks a column."""
        if name not in self.columns:
            raise InstanceError(
                f"the table has no column {name!r}, which is {what}; its columns are {listed(self.named)}"
                f"{did_you_mean(name, self.named)}"
            )

    def values(self, numbers: Collection[int], variables: Sequence[Variable]) -> dict[int, Values]:
        """What the rows with these numbers have in each column; numbers of numeric variables as such."""
        wanted = sorted(numbers)
        by_name = {variable.name: variable for variable in variables}
        found: dict[int, Values] = {}
        for start, batch in self.batches() if wanted else ():
            here = [number for number in wanted if start <= number < start + batch.num_rows]
            if here:
                rows = batch.take(arrow().array([number - start for number in here])).to_pylist()
                for number, row in zip(here, rows, strict=True):
                    found[number] = {
                        name: plain_value(by_name.get(name), value) for name, value in row.items() if name != FAULT
                    }
        return found


def plain_value(variable: Variable | None, value: Any) -> Value:
    """A value as JSON can hold it: a number of a numeric variable as one, a missing one as None.

    >>> plain_value(Variable.numeric("age", [30]), "39"), plain_value(None, "39"), plain_value(None, float("nan"))
    (39, '39', None)
    """
    if (is_missing(value) if variable is None else variable.is_missing(value)) and not isinstance(value, str):
        return None
    if variable is not None and variable.is_numeric:
        try:
            number = variable.as_number(value)
        except (InstanceError, ValueError):
            return str(value)
        if not isfinite(number):
            return None if number != number else str(value)
        return int(number) if number == int(number) and abs(number) < 2**53 else number
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def open_table(data: Any, terms: Terms, also: Sequence[str]) -> Table:
    """The columns that a classifier needs, and those called `also` that are there, of a file or of rows in memory."""
    classifier = terms.classifier
    own = tuple(dict.fromkeys(also))
    if isinstance(data, str):
        source = open_source(data, classifier, Request(terms=terms), also=own)

        def parts() -> Iterator[tuple[int, Any]]:
            for part in source.parts(_PART):
                yield part.start + 1, part.rows

        return Table(source.columns, parts, source.rows if source.exact else None, column_names(data, own))
    table = as_table(data, classifier.variables)
    wanted = Wanted.of(classifier, terms.worlds)
    wanted.check(table.schema.names)
    check_types(table.schema, (name for name in own if name in table.schema.names))
    names = [*wanted.among(table.schema.names), *(name for name in own if name in table.schema.names)]
    read = table.select(list(dict.fromkeys(names))) if names else table

    def batches() -> Iterator[tuple[int, Any]]:
        start = 1
        for batch in read.to_batches(max_chunksize=_PART):
            yield start, batch
            start += batch.num_rows

    return Table(tuple(read.schema.names), batches, table.num_rows, tuple(table.schema.names))
