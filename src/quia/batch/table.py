"""Tables in: whatever holds rows becomes an Arrow table, and its columns become states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch.wanted import Wanted
from quia.errors import InstanceError, MissingValue, QuiaError, Unsupported, shown
from quia.places import Cuts, place, places
from quia.values import is_missing
from quia.variables import Variable

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier


FAULT = "quia:fault"
"""A column of this name says of a row that it could not even be read, and why."""


class Faults(NamedTuple):
    """Why some rows have no states: `code` is the number of a row's message, or -1."""

    code: npt.NDArray[np.int32]
    messages: tuple[str, ...] = ()

    @property
    def sound(self) -> npt.NDArray[np.bool_]:
        """The rows that have none."""
        return self.code < 0

    def and_then(self, later: Faults) -> Faults:
        """These, and of rows that have none of them the later ones."""
        if not later.messages:
            return self
        code = np.where(self.sound & ~later.sound, later.code + len(self.messages), self.code)
        return Faults(code, self.messages + later.messages)

    @staticmethod
    def none(rows: int) -> Faults:
        """So many sound rows."""
        return Faults(np.full(rows, -1, np.int32))


States = npt.NDArray[Any]
"""State indices: integers of 64 bits where the numbers of a line are states, else of 32."""


def states_type(variables: Iterable[Variable]) -> type[np.int32 | np.int64]:
    """What holds the states of these variables."""
    return np.int64 if any(variable.is_line for variable in variables) else np.int32


class Encoded(NamedTuple):
    """Rows as state indices, why some of them could not be encoded, and which of them lack a value.

    A state is -1 where a variable is not tested, or where its value is missing; `missing` says of each variable with
    such values which rows these are, and what would be said of them if the decision depended on it.
    """

    states: States
    faults: Faults
    missing: dict[int, Faults]


def arrow() -> Any:
    """The pyarrow module, or a sentence about how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise Unsupported("explaining tables needs pyarrow", cure="pip install 'quia[arrow]'") from None
    return pa


def from_numpy(values: npt.NDArray[Any], none: npt.NDArray[np.bool_] | None = None) -> Any:
    """Numbers or truth values as an Arrow array, null where there is `none`.

    Unlike `pyarrow.array`, it does not import pandas just to see that this is no Series.
    """
    pa = arrow()
    bits = values.dtype == bool
    data = np.packbits(values, bitorder="little") if bits else np.ascontiguousarray(values)
    valid = None if none is None or not none.any() else pa.py_buffer(np.packbits(~none, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, pa.py_buffer(data)])


def from_texts(texts: Sequence[str]) -> Any:
    """Texts as an Arrow array, with no pandas either."""
    pa = arrow()
    encoded = [text.encode(errors="backslashreplace") for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum([len(one) for one in encoded], out=offsets[1:])
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def to_numpy(column: Any, none: float | None = None) -> npt.NDArray[Any]:
    """Numbers or truth values of an Arrow array, with `none`, or else NaN, for null; pandas is not imported for it."""
    pa = arrow()
    column = whole(column)
    kind = column.type
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"{kind} is no type of numbers")
    validity, data = column.buffers()
    begin, end = column.offset, column.offset + len(column)
    if data is None:
        return np.zeros(0, kind.to_pandas_dtype())
    if pa.types.is_boolean(kind):
        values = _bits(data, begin, end)
    else:
        values = np.frombuffer(data, kind.to_pandas_dtype(), end)[begin:]
    if not column.null_count:
        return values
    # Wide enough for `none`, whatever the array's own type.
    values = values.astype(np.float64 if none is None else bool if values.dtype == bool else np.int64)
    values[~_bits(validity, begin, end)] = np.nan if none is None else none
    return values


def _bits(data: Any, begin: int, end: int) -> npt.NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little", count=end)[begin:].astype(bool)


def whole(column: Any) -> Any:
    """A column as one array."""
    pa = arrow()
    if not isinstance(column, pa.ChunkedArray):
        return column
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):  # older pyarrow
        return combined.chunk(0) if combined.num_chunks else pa.array([], column.type)
    return combined


def as_table(data: Any, variables: Sequence[Variable]) -> pa.Table:
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
        return _from_rows(pa, data, variables)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError) as fault:
        raise InstanceError(f"the data cannot be made a table: {fault}") from None


def _from_rows(pa: Any, data: Any, variables: Sequence[Variable]) -> pa.Table:
    if isinstance(data, (list, tuple)) and all(isinstance(row, Mapping) for row in data):
        names = list(dict.fromkeys(name for row in data for name in row))
        if wrong := [name for name in names if not isinstance(name, str)]:
            raise InstanceError(f"a row has the column {shown(wrong[0])}; names of columns are texts")
        if not names:  # rows without a column are still rows
            return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(data, pa.struct([])))])
        columns = [[row.get(name) for row in data] for name in names]
    else:
        array = np.asarray(data)
        if array.ndim != 2:
            raise InstanceError(
                f"the data are {shown(data)}; give a DataFrame, an Arrow table, a list of mappings or an array of rows"
            )
        if array.shape[1] != len(variables):
            raise InstanceError(f"the rows have {array.shape[1]} values; the classifier has {len(variables)} variables")
        names, columns = [v.name for v in variables], array.T.tolist()
    by_name = {v.name: v for v in variables}
    made = [_column(pa, by_name.get(name), values) for name, values in zip(names, columns, strict=True)]
    return pa.table(dict(zip(names, made, strict=True)))


def _column(pa: Any, variable: Variable | None, values: Sequence[Any]) -> Any:
    """Values as a column; those of several types, which Arrow does not take, as the texts that stand for them."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
        return pa.array([_text(variable, value) for value in values], pa.string())


def _text(variable: Variable | None, value: Any) -> str | None:
    if variable is not None and variable.labels is not None:
        try:
            return variable.text(variable.encode(value))
        except InstanceError:
            pass
    if is_missing(value):
        return None
    try:
        text = str(value) if variable is None or isinstance(value, str) else repr(float(value))
    except (TypeError, ValueError, OverflowError):
        text = str(value)
    return text.encode(errors="backslashreplace").decode()


def encode_table(classifier: Classifier, table: pa.Table | pa.RecordBatch) -> Encoded:
    """The states of every row; a row with a value that is none is told of, not lost.

    Complexity: a bisection a number, one look-up a distinct nominal value.
    """
    # Column by column in memory, as they are made and hashed so.
    states = np.full((len(classifier.variables), table.num_rows), -1, states_type(classifier.variables))
    faults = Faults.none(table.num_rows)
    Wanted.of(classifier).check(table.schema.names)
    if FAULT in table.schema.names:
        told = whole(table.column(FAULT)).dictionary_encode()
        faults = Faults(to_numpy(told.indices, -1).astype(np.int32), tuple(told.dictionary.to_pylist()))
    missing: dict[int, Faults] = {}
    for index in classifier.tested:
        variable = classifier.variables[index]
        if variable.name not in table.schema.names:  # only a constraint asks for it
            missing[index] = Faults(np.zeros(table.num_rows, np.int32), (f"{variable.name} is not known",))
            continue
        states[index], wrong, lacking = _encode_column(variable, table.column(variable.name))
        faults = faults.and_then(wrong)
        if not lacking.sound.all():
            missing[index] = lacking
    return Encoded(states.T, faults, missing)


def with_columns(
    variables: Sequence[Variable], also: Iterable[int], table: Any, states: States
) -> tuple[States, Faults]:
    """The states with those of some other variables that a table has, and what is wrong with the values of these."""
    known, faults = np.array(states, states_type(variables)), Faults.none(len(states))
    for index in also:
        if variables[index].name in table.schema.names:
            known[:, index], wrong, _ = _encode_column(variables[index], table.column(variables[index].name))
            faults = faults.and_then(wrong)
    return known, faults


def numbers_of(variable: Variable, column: Any) -> tuple[npt.NDArray[np.float64], Faults]:
    """The numbers of a column, NaN where one is missing, and what is wrong with those that are none."""
    pa = arrow()
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return to_numpy(column).astype(np.float64), Faults.none(len(column))
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = whole(column.unify_dictionaries())
    known, wrong = [], {}
    for position, value in enumerate([*column.dictionary.to_pylist(), None]):
        try:
            known.append(variable.as_number(value))
        except QuiaError as fault:
            known.append(np.nan)
            wrong[position] = str(fault)
    codes = to_numpy(column.indices, len(known) - 1)
    return np.array(known, np.float64)[codes], _faults(wrong, len(known), codes)


class _Column(NamedTuple):
    """The states of a column, -1 where there is none: because the value is wrong, or because it is missing."""

    states: States
    wrong: Faults
    missing: Faults


def _encode_column(variable: Variable, column: Any) -> _Column:
    pa = arrow()
    kind = column.type
    if variable.is_numeric and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        values = to_numpy(column)
        states = _states_of_numbers(variable, values)
        missing, outside = states == -1, states == _OUTSIDE
        messages = (_fault(variable, None),) if missing.any() else ()
        wrong = _outside(variable, values, outside) if outside.any() else Faults.none(len(states))
        states[outside] = -1
        return _Column(states, wrong, Faults(missing.astype(np.int32) - 1, messages))
    return _encode_distinct(variable, column)


_OUTSIDE = -2
"""What is said of a number outside the range of a line, which is no state."""


def _outside(variable: Variable, values: npt.NDArray[Any], outside: npt.NDArray[np.bool_]) -> Faults:
    """What is wrong with the numbers outside of a line's range, each distinct one told of once."""
    distinct, which = np.unique(values[outside].astype(np.float64), return_inverse=True)
    code = np.full(len(values), -1, np.int32)
    code[outside] = which.reshape(-1)
    return Faults(code, tuple(_fault(variable, number) for number in distinct.tolist()))


def _states_of_numbers(variable: Variable, values: npt.NDArray[Any]) -> States:
    """The state of each number, -1 where it is missing and may not be."""
    numbers = values.astype(np.float64)
    if isinstance(variable.cuts, Cuts):
        return _states_on_line(variable, variable.cuts, numbers)
    if variable.single:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float32).astype(np.float64)
    states = np.searchsorted(np.array(variable.below), numbers, side="left").astype(np.int32)
    missing = np.isnan(numbers)
    if missing.any():
        states[missing] = len(variable.cuts) + 1 if variable.missing else -1
    return states


def _states_on_line(variable: Variable, ends: Cuts, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The state of each number of a line, -1 where it is missing and may not be, _OUTSIDE where it is out of range."""
    missing = np.isnan(numbers)
    within = (ends.low <= numbers) & (numbers <= ends.high)
    states = places(np.where(within, numbers, ends.low)) - place(ends.low)
    states[missing] = len(variable.cuts) + 1 if variable.missing else -1
    states[~within & ~missing] = _OUTSIDE
    return states


def _encode_distinct(variable: Variable, column: Any) -> _Column:
    """Each distinct value is encoded once, by the variable itself."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = whole(column.unify_dictionaries())
    known, wrong, missing = _encode_values(variable, column.dictionary)
    codes = to_numpy(column.indices, len(known) - 1)
    return _Column(known[codes], _faults(wrong, len(known), codes), _faults(missing, len(known), codes))


def _faults(messages: Mapping[int, str], values: int, codes: npt.NDArray[Any]) -> Faults:
    """The faults of rows, given by the position of each row's value those of the values."""
    number = np.full(values, -1, np.int32)
    number[list(messages)] = np.arange(len(messages))
    return Faults(number[codes], tuple(messages.values()))


def _encode_values(variable: Variable, values: Any) -> tuple[States, dict[int, str], dict[int, str]]:
    """The states of distinct values and, last, of null; and the faults of those that are wrong, or missing."""
    pa = arrow()
    if variable.is_numeric and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        try:
            states = _states_of_numbers(variable, to_numpy(values.cast(pa.float64())))
            if not (states < 0).any():
                last, _, missing = _encode_values(variable, pa.nulls(0))
                return np.concatenate([states, last]), {}, {len(states): text for text in missing.values()}
        except pa.ArrowInvalid:
            pass  # some text is no number, or is one that only Python reads: look at them one by one
    known: list[int] = []
    wrong: dict[int, str] = {}
    missing = {}
    for position, value in enumerate([*values.to_pylist(), None]):
        try:
            known.append(variable.encode(value))
        except QuiaError as fault:
            known.append(-1)
            (missing if isinstance(fault, MissingValue) else wrong)[position] = str(fault)
    return np.array(known, states_type((variable,))), wrong, missing


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


def distinct(states: States) -> Distinct:
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


def row_hashes(states: States) -> npt.NDArray[np.uint64]:
    """A hash of 64 bits for every row, the same in every run."""
    weights = np.random.default_rng(20220211).integers(1, 2**63, states.shape[1], np.uint64) | np.uint64(1)
    hashes = np.zeros(len(states), np.uint64)
    for column, weight in enumerate(weights):
        hashes += (states[:, column].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * weight
        hashes ^= hashes >> np.uint64(29)
    return hashes
