"""Extents: between which numbers the columns of a table lie."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from quia.classifier import TakesRanges
from quia.errors import InstanceError, did_you_mean, shown
from quia.rows import open_rows
from quia.variables import Variable


def within_table(classifier: TakesRanges, table: Any) -> TakesRanges:
    """The classifier with ranges from a table for the features that have none yet."""
    if not classifier.unbounded:
        return classifier
    return classifier.with_ranges(extents(classifier.variables, classifier.unbounded, table))


def extents(variables: Sequence[Variable], wanted: Sequence[str], table: Any) -> dict[str, tuple[float, float]]:
    """The least and the greatest number in some columns of a table; what is missing or infinite does not count.

    The table is a DataFrame, an Arrow table, a mapping of columns, an array or a list of rows in the variables' order,
    a list of mappings, or the path of a CSV file.

    >>> extents([Variable.line("age")], ["age"], [{"age": 40}, {"age": "23"}, {"age": None}])
    {'age': (23.0, 40.0)}
    """
    by_name = {variable.name: at for at, variable in enumerate(variables)}
    columns = _columns(table, [variable.name for variable in variables], wanted)
    return {name: extent(variables[by_name[name]], columns[name]) for name in wanted}


def _columns(table: Any, names: Sequence[str], wanted: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(table, (str, os.PathLike)):
        rows = open_rows(table)
        return _picked(rows.names, list(rows.whole_rows()), wanted)
    known = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if known is None and isinstance(table, Mapping):
        known = list(table)
    if known is not None and not isinstance(table, np.ndarray):
        _check(wanted, [str(name) for name in known])
        return {name: table[name] for name in wanted}
    try:
        rows_given = list(table)
    except TypeError:
        raise InstanceError(
            f"data is {shown(table)}; give a DataFrame, an Arrow table, rows, or the path of a CSV file"
        ) from None
    if rows_given and isinstance(rows_given[0], Mapping):
        _check(wanted, list(rows_given[0]))
        return {name: [row.get(name) for row in rows_given] for name in wanted}
    return _picked(names, rows_given, wanted)


def _picked(names: Sequence[str], rows: Sequence[Any], wanted: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of rows whose values come in the order of names."""
    _check(wanted, names)
    places = {name: list(names).index(name) for name in wanted}
    wrong = next((at for at, row in enumerate(rows) if len(row) != len(names)), None)
    if wrong is not None:
        raise InstanceError(f"row {wrong} of the table has {len(rows[wrong])} values for {len(names)} columns")
    return {name: [row[at] for row in rows] for name, at in places.items()}


def _check(wanted: Sequence[str], names: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InstanceError(
                f"the table has no column {shown(name)}, whose range it should give{hint}; give it with ranges="
            )


def extent(variable: Variable, column: Any) -> tuple[float, float]:
    """The least and the greatest number in a column; what is missing or infinite does not count."""
    values = np.asarray(column)
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64).ravel()
        finite = numbers[np.isfinite(numbers)]
    else:
        finite = np.array([number for number in _numbers(variable, values.tolist()) if math.isfinite(number)])
    if not len(finite):
        raise InstanceError(
            f"column {variable.name!r} of the table has no number, so it gives no range; give it with ranges="
        )
    return float(finite.min()), float(finite.max())


def _numbers(variable: Variable, values: Iterable[Any]) -> Iterable[float]:
    return (variable.as_number(value) for value in values if not variable.is_missing(value))
