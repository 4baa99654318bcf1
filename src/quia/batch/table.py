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


FAULT = "quia:fault"
"""A column of this name says of a row that it could not even be read, and why."""


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


def encode_table(classifier: Classifier, table: pa.Table | pa.RecordBatch) -> Encoded:
    """The states of every row; a row with a value that is none is told of, not lost.

    Complexity: a bisection a number, one look-up a distinct nominal value.
    """
    # Column by column in memory, as they are made and hashed so.
    states = np.full((len(classifier.variables), table.num_rows), -1, np.int32)
    faults: dict[int, str] = {}
    check_columns(classifier, table.schema.names)
    if FAULT in table.schema.names:
        told = table.column(FAULT).to_pylist()
        faults = {row: message for row, message in enumerate(told) if message is not None}
    for index in classifier.tested:
        variable = classifier.variables[index]
        column, wrong = _encode_column(variable, table.column(variable.name))
        states[index] = column
        for row, message in wrong.items():
            faults.setdefault(row, message)
    return Encoded(states.T, faults)


def check_columns(classifier: Classifier, names: Sequence[str]) -> None:
    """Refuse a table that lacks a column the classifier tests."""
    for index in classifier.tested:
        name = classifier.variables[index].name
        if names.count(name) != 1:
            raise InstanceError(
                f"the table has {'no column' if name not in names else 'more than one column'} {name!r}, which the"
                f" classifier tests{did_you_mean(name, names) if name not in names else ''}"
            )


def _encode_column(variable: Variable, column: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    pa = arrow()
    kind = column.type
    if variable.is_numeric and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        values = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
        states = _states_of_numbers(variable, values)
        if not (states < 0).any():
            return states, {}
        return states, dict.fromkeys(np.flatnonzero(states < 0).tolist(), _fault(variable, None))
    return _encode_distinct(variable, column)


def _states_of_numbers(variable: Variable, values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The state of each number, -1 where it is missing and may not be."""
    numbers = values.astype(np.float64)
    if variable.single:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float32).astype(np.float64)
    states = np.searchsorted(np.array(variable.below), numbers, side="left").astype(np.int32)
    missing = np.isnan(numbers)
    if missing.any():
        states[missing] = len(variable.cuts) + 1 if variable.missing else -1
    return states


def _encode_distinct(variable: Variable, column: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    """Each distinct value is encoded once, by the variable itself."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    known, messages = _encode_values(variable, column.dictionary)
    indices = column.indices
    codes = (indices.fill_null(len(known) - 1) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    states = known[codes]
    wrong = np.flatnonzero(states < 0).tolist() if messages else []
    return states, {row: messages[int(codes[row])] for row in wrong}


def _encode_values(variable: Variable, values: Any) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    """The states of distinct values and, last, of null; and the faults of those that have none."""
    pa = arrow()
    if variable.is_numeric and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        try:
            states = _states_of_numbers(variable, values.cast(pa.float64()).to_numpy(zero_copy_only=False))
            if not (states < 0).any():
                last, fault = _encode_values(variable, pa.nulls(0))
                return np.concatenate([states, last]), {len(states): text for text in fault.values()}
        except pa.ArrowInvalid:
            pass  # some text is no number, or is one that only Python reads: look at them one by one
    known: list[int] = []
    messages: dict[int, str] = {}
    for position, value in enumerate([*values.to_pylist(), None]):
        try:
            known.append(variable.encode(value))
        except QuiaError as fault:
            known.append(-1)
            messages[position] = str(fault)
    return np.array(known, np.int32), messages


def _fault(variable: Variable, value: Any) -> str:
    try:
        variable.encode(value)
    except QuiaError as fault:
        return str(fault)
    raise AssertionError(f"{variable.name} takes {value!r}")


class Distinct(NamedTuple):
    """The first row of each kind in order of appearance, for every row which of them it equals, and their hashes."""

    first: npt.NDArray[np.int64]
    which: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]


def distinct(states: npt.NDArray[np.int32]) -> Distinct:
    """Equal rows found: told apart by a hash of 64 bits, then compared, so two that differ are never taken for one."""
    rows = len(states)
    hashes = row_hashes(states)
    kinds, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) < rows and not np.array_equal(states[first[which]], states):
        _, first, which = np.unique(states, axis=0, return_index=True, return_inverse=True)
        kinds = hashes[first]
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Distinct(first[order].astype(np.int64), rank[which.reshape(-1)], kinds[order])


def row_hashes(states: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """A hash of 64 bits for every row, the same in every run."""
    weights = np.random.default_rng(20220211).integers(1, 2**63, states.shape[1], np.uint64) | np.uint64(1)
    hashes = np.zeros(len(states), np.uint64)
    for column, weight in enumerate(weights):
        hashes += (states[:, column].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * weight
        hashes ^= hashes >> np.uint64(29)
    return hashes
