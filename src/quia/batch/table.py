"""Tables in: whatever holds rows becomes an Arrow table, and its columns become states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import InstanceError, QuiaError, Unsupported, did_you_mean, shown
from quia.variables import Variable

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier


class Encoded(NamedTuple):
    """Rows as state indices (-1 where a variable is not tested), and why some of them could not be encoded."""

    states: npt.NDArray[np.int32]
    faults: dict[int, str]


def arrow() -> Any:
    """The pyarrow module, or a sentence about how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise Unsupported("explaining tables needs pyarrow", cure="pip install 'quia[arrow]'") from None
    return pa


def as_table(data: Any, names: Sequence[str]) -> pa.Table:
    """Rows as an Arrow table: from a Table, RecordBatch, DataFrame (pandas, polars), array or list of rows."""
    pa = arrow()
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    package = type(data).__module__.partition(".")[0]
    try:
        if package == "pandas" and hasattr(data, "columns"):
            return pa.Table.from_pandas(data, preserve_index=False)
        if package == "polars" and hasattr(data, "to_arrow"):
            return pa.table(data.to_arrow())
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
        if isinstance(data, Mapping):
            return pa.table(dict(data))
        return _from_rows(pa, data, names)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as fault:
        raise InstanceError(f"the data cannot be made a table: {fault}") from None


def _from_rows(pa: Any, data: Any, names: Sequence[str]) -> pa.Table:
    if isinstance(data, (list, tuple)) and all(isinstance(row, Mapping) for row in data):
        return pa.Table.from_pylist([dict(row) for row in data])
    array = np.asarray(data)
    if array.ndim != 2:
        raise InstanceError(
            f"the data are {shown(data)}; give a DataFrame, an Arrow table, a list of mappings or an array of rows"
        )
    if array.shape[1] != len(names):
        raise InstanceError(f"the rows have {array.shape[1]} values; the classifier has {len(names)} variables")
    return pa.table({name: pa.array(array[:, i].tolist()) for i, name in enumerate(names)})


def encode_table(classifier: Classifier, table: pa.Table) -> Encoded:
    """The states of every row; a row with a value that is none is told of, not lost.

    Complexity: a bisection a number, one look-up a distinct nominal value.
    """
    states = np.full((table.num_rows, len(classifier.variables)), -1, np.int32)
    faults: dict[int, str] = {}
    present = set(table.column_names)
    for index in classifier.tested:
        variable = classifier.variables[index]
        if variable.name not in present:
            raise InstanceError(
                f"the table has no column {variable.name!r}, which the classifier tests"
                f"{did_you_mean(variable.name, table.column_names)}"
            )
        column, wrong = _encode_column(variable, table.column(variable.name))
        states[:, index] = column
        for row, message in wrong.items():
            faults.setdefault(row, message)
    return Encoded(states, faults)


def _encode_column(variable: Variable, column: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    pa = arrow()
    kind = column.type
    if variable.is_numeric and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return _encode_numbers(variable, column)
    return _encode_distinct(variable, column)


def _encode_numbers(variable: Variable, column: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    numbers = column.to_numpy().astype(np.float64)
    if variable.single:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float32).astype(np.float64)
    states = np.searchsorted(np.array(variable.below), numbers, side="left").astype(np.int32)
    missing = np.isnan(numbers)
    states[missing] = len(variable.cuts) + 1 if variable.missing else -1
    if variable.missing or not missing.any():
        return states, {}
    message = _fault(variable, None)
    return states, dict.fromkeys(np.flatnonzero(missing).tolist(), message)


def _encode_distinct(variable: Variable, column: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    """Each distinct value is encoded once, by the variable itself."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    known: list[int] = []
    messages: dict[int, str] = {}
    for position, value in enumerate([*column.dictionary.to_pylist(), None]):
        try:
            known.append(variable.encode(value))
        except QuiaError as fault:
            known.append(-1)
            messages[position] = str(fault)
    codes = column.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
    states = np.array(known, np.int32)[codes]
    wrong = np.flatnonzero(states < 0).tolist() if messages else []
    return states, {row: messages[int(codes[row])] for row in wrong}


def _fault(variable: Variable, value: Any) -> str:
    try:
        variable.encode(value)
    except QuiaError as fault:
        return str(fault)
    raise AssertionError(f"{variable.name} takes {value!r}")


def distinct(states: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """One row of each kind, and for every row which of them it equals.

    Rows are told apart by a hash of 64 bits, then compared, so two that differ are never taken for one.
    """
    rows, columns = states.shape
    if not rows or not columns:
        return np.zeros(min(rows, 1), np.int64), np.zeros(rows, np.int64)
    weights = np.random.default_rng(20220211).integers(1, 2**63, columns, np.uint64) | np.uint64(1)
    hashes = np.zeros(rows, np.uint64)
    for column in range(columns):
        hashes += (states[:, column].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * weights[column]
        hashes ^= hashes >> np.uint64(29)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(states[first][which], states):
        _, first, which = np.unique(states, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)
