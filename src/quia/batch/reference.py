"""Reference tables from whatever holds rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.batch.question import Request
from quia.batch.read import open_source
from quia.batch.table import as_table, encode_table
from quia.errors import FormatError, InstanceError
from quia.extents import extent
from quia.reference import Reference

if TYPE_CHECKING:
    from quia.classifier import Classifier

_MOST_ROWS = 2**31


def reference(classifier: Classifier, data: Any) -> Reference:
    """The rows of a DataFrame, an Arrow table, a list of mappings or an array, in the classifier's states.

    A value may be missing; any other that is no value of its feature is a fault of the table.
    """
    if isinstance(data, Reference):
        if data.variables != tuple(classifier.variables):
            raise InstanceError("the reference is of a classifier with other variables; make it anew for this one")
        return data
    return _encoded(classifier, as_table(data, classifier.variables), "the reference table", 0)


def reference_file(classifier: Classifier, path: str) -> Reference:
    """The same of a table on disk: CSV, Parquet or Arrow; rows are counted from 1, as every command does."""
    part = next(open_source(path, classifier, Request()).parts(_MOST_ROWS), None)
    if part is None:
        raise FormatError("has no rows, so there is none that a reason could fit", file=path)
    return _encoded(classifier, part.rows, path, 1)


def _encoded(classifier: Classifier, table: Any, name: str, first: int) -> Reference:
    states, faults, _ = encode_table(classifier, table)
    bad = np.flatnonzero(~faults.sound)
    if len(bad):
        others = f", and so have {len(bad) - 1:,} other rows" if len(bad) > 1 else ""
        raise InstanceError(
            f"row {bad[0] + first} of {name} has a fault{others}: {faults.messages[faults.code[bad[0]]]}; mend or drop"
            " such rows"
        )
    return Reference.of(classifier.variables, states, dict(_extents(classifier, table)))


def _extents(classifier: Classifier, table: Any) -> Iterator[tuple[str, tuple[float, float]]]:
    """Between which numbers the columns of numbers lie that are tested; those that have none are left out."""
    import pyarrow.compute as pc

    for index in classifier.tested:
        variable = classifier.variables[index]
        if variable.is_numeric and variable.name in table.schema.names:
            with suppress(InstanceError):
                yield variable.name, extent(variable, pc.unique(table.column(variable.name)))
