"""CSV, streamed: every line is a row or is told of, whatever its quotes and line ends."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from quia import csv_faults
from quia.batch.table import FAULT, arrow
from quia.errors import FormatError, shown
from quia.load.files import not_utf8

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 2**22
_SAMPLE = 2**16


class Header(NamedTuple):
    """The first line, what parts its columns, and about how many rows there are, None if that cannot be told."""

    names: tuple[str, ...]
    delimiter: str
    rows: int | None


def header(path: str, delimiter: str | None) -> Header:
    """What a CSV says of itself at its beginning."""
    with _bytes(path) as stream:
        head = stream.read(_SAMPLE)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        raise not_utf8(path)
    if b"\0" in head:
        raise FormatError("is neither CSV, Parquet nor Arrow IPC", file=path)
    with _text(path) as lines:
        first = lines.readline()
    if not first.strip():
        raise FormatError("is empty; its first line must name the columns", file=path)
    chosen = delimiter if delimiter is not None else _delimiter(first)
    with _text(path) as lines:
        _, names = next(_rows(path, lines, chosen))
    return Header(tuple(names), chosen, None if _is_packed(path) else _estimate(path, head))


def _delimiter(line: str) -> str:
    """What most likely parts the columns of a first line: what is in quotes does not.

    >>> _delimiter('id;"a, b, c";SAT')
    ';'
    """
    return max(",;\t|", key=re.sub('"[^"]*"', "", line).count)


def _estimate(path: str, head: bytes) -> int:
    lines = head.count(b"\n") or head.count(b"\r")
    return max(0, round(os.stat(path).st_size * lines / len(head)) - 1)


def batches(
    path: str, columns: Sequence[str], delimiter: str, *, empties: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """All rows, as texts; a line that is none has a fault in its place.

    An empty text is null, but in the columns `empties`, where it is the name of a state.
    Raises FormatError if lines were lost in a quote that is not closed where it should be.
    """
    from pyarrow import csv as reading

    pa = arrow()
    broken: list[Any] = []

    def keep(row: Any) -> str:
        broken.append(row)
        return "skip"

    source = _Counting(arrow().input_stream(path, compression="gzip" if _is_packed(path) else None))
    with _lost_in_quotes_told(path, delimiter):
        reader = reading.open_csv(
            source,
            # Without threads, as only then a broken row comes with its number.
            read_options=reading.ReadOptions(block_size=_BLOCK, use_threads=False),
            parse_options=reading.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=keep),
            convert_options=reading.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    with reader:
        position = 0
        while True:
            with _lost_in_quotes_told(path, delimiter):
                batch = next(reader, None)
            if batch is None:
                break
            mended = _with_broken(_filled(batch, empties), position, broken)
            position += mended.num_rows
            yield mended
        if source.lines != position + len(broken) + 1 or source.quotes % 2:
            refuse_open_quotes(path, delimiter)
        if broken and position + len(broken) == broken[-1].number - 1 and not source.ends_a_line:
            raise FormatError(
                f"is cut off: its last line, {shown(broken[-1].text)}, has {broken[-1].actual_columns} of"
                f" {broken[-1].expected_columns} values; give the whole file",
                file=path,
            )
        if broken:
            yield _with_broken(pa.RecordBatch.from_pylist([], reader.schema), position, broken, at_end=True)


def _filled(batch: pa.RecordBatch, empties: Collection[str]) -> pa.RecordBatch:
    if not empties:
        return batch
    named = zip(batch.schema.names, batch.columns, strict=True)
    columns = [column.fill_null("") if name in empties else column for name, column in named]
    return arrow().RecordBatch.from_arrays(columns, schema=batch.schema)


class _Counting(io.RawIOBase):
    """A stream of bytes whose lines and quotes are counted as they pass; its last line is ended if it is not."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._last = b""
        self.lines = self.quotes = 0
        self.ends_a_line = True

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size if size >= 0 else None)
        while len(data) < size and (more := self._stream.read(size - len(data))):
            data += more
        # A \r\n is one end, even if the \n is in the next block.
        split = self._last == b"\r" and data.startswith(b"\n")
        self.lines += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") - split
        self.quotes += data.count(b'"')
        self._last = data[-1:] or self._last
        if len(data) < size and self._last not in (b"\n", b"\r", b""):
            self.ends_a_line = False
            self.lines += 1
            self._last = b"\n"
            data += b"\n"
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def _lost_in_quotes_told(path: str, delimiter: str) -> Iterator[None]:
    """A quote that swallows more than Arrow's block is told as what it is."""
    try:
        yield
    except arrow().ArrowInvalid as error:
        refuse_open_quotes(path, delimiter)
        if "block" in str(error):  # a row has to fit into two of Arrow's blocks
            raise FormatError(
                f"has a row of about {2 * _BLOCK} bytes or more; shorten its values, or leave the longest columns out",
                file=path,
            ) from None
        raise


def refuse_open_quotes(path: str, delimiter: str) -> None:
    """Refuse a file in which a quoted value is not closed, or goes on after its closing quote."""
    with _text(path) as lines:
        for _ in _rows(path, lines, delimiter):
            pass


def _rows(path: str, lines: IO[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows as Python's own reader sees them, which unlike Arrow's knows where quotes may stand; and their lines."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begin = 1
    try:
        with csv_faults.long_values_allowed():
            for row in reader:
                yield begin, row
                begin = reader.line_num + 1
    except csv.Error as error:
        with _text(path) as again:
            found = csv_faults.fault(again, delimiter)
        raise FormatError(found[1] if found else f"is not CSV: {error}", file=path) from None


def _is_packed(path: str) -> bool:
    with open(path, "rb") as raw:
        return raw.read(2) == b"\x1f\x8b"


def _bytes(path: str) -> IO[bytes]:
    return gzip.open(path) if _is_packed(path) else open(path, "rb")  # type: ignore[return-value]


def _text(path: str) -> IO[str]:
    return io.TextIOWrapper(_bytes(path), encoding="utf-8-sig", newline="")


def _with_broken(batch: pa.RecordBatch, position: int, broken: list[Any], *, at_end: bool = False) -> pa.RecordBatch:
    """The batch with the lines in their places that are no rows; those are taken from `broken`."""
    pa = arrow()
    pieces = []
    left = batch
    # The names are row 1, so row number n of the file is n - 2 of the table, broken lines counted.
    while broken and (at_end or broken[0].number - 2 < position + left.num_rows):
        row = broken.pop(0)
        before = row.number - 2 - position
        pieces += [left.slice(0, before), _fault_row(batch.schema, row)]
        left = left.slice(before)
        position = row.number - 1
    if not pieces:
        return batch
    layout = pieces[1].schema
    columns = pa.Table.from_batches(
        [piece if FAULT in piece.schema.names else sound(piece, layout) for piece in [*pieces, left]]
    ).combine_chunks()
    return columns.to_batches()[0]


def _fault_row(schema: Any, row: Any) -> pa.RecordBatch:
    pa = arrow()
    message = (
        f"row {row.number - 1} has {row.actual_columns} values and there are {row.expected_columns} columns:"
        f" {shown(row.text)}"
    )
    arrays = [*(pa.nulls(1, field.type) for field in schema), pa.array([message], pa.string())]
    return pa.RecordBatch.from_arrays(arrays, names=[*schema.names, FAULT])


def sound(batch: pa.RecordBatch, layout: Any) -> pa.RecordBatch:
    pa = arrow()
    return pa.RecordBatch.from_arrays([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=layout)
