"""CSV, streamed: Arrow reads it in blocks for as long as its rows are those of `quia.rows`, which reads the rest."""

from __future__ import annotations

import codecs
import io
import os
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from quia.batch.table import FAULT, arrow
from quia.csv_dialect import HEAD, line_ends
from quia.errors import QuiaError, shown
from quia.files import is_packed, open_bytes
from quia.rows import RowFile, ragged

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 2**22
_ROWS = 2**14


def estimated_rows(path: str) -> int | None:
    """About how many rows there are, None if that cannot be known."""
    if is_packed(path):
        return None
    with open_bytes(path) as stream:
        head = stream.read(HEAD)
    return max(0, round(os.stat(path).st_size * line_ends(head) / len(head)) - 1)


def batches(table: RowFile, columns: Mapping[str, int], *, empties: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
    """All rows of some columns, given by their places, as texts; a row with too many or few values has a fault.

    An empty text is null, but in the columns `empties`, where it is the name of a state. Where Arrow fails, or would
    read what `quia.rows` reads in another way or refuses, that goes on in its stead, and is slower.
    """
    is_plain = not (table.dialect.spaces or table.dialect.announced)
    read = (yield from _by_arrow(table, columns, empties)) if is_plain else 0
    if read is not None:
        yield from _by_rows(table, columns, empties, start=read)


def _by_arrow(
    table: RowFile, columns: Mapping[str, int], empties: Collection[str]
) -> Generator[pa.RecordBatch, None, int | None]:
    """Rows as Arrow reads them; returns how many there were if others may follow that it cannot be trusted with."""
    from pyarrow import csv as reading

    pa = arrow()
    broken: list[Any] = []

    def keep(row: Any) -> str:
        broken.append(row)
        return "skip"

    position = 0
    with open_bytes(table.file, unpacked=table.unpacked) as stream:
        source = _Watched(stream, table.dialect.delimiter)
        places = [str(place) for place in columns.values()]
        try:
            reader = reading.open_csv(
                source,
                # Without threads, as only then a broken row comes with its number.
                read_options=reading.ReadOptions(
                    block_size=_BLOCK,
                    use_threads=False,
                    column_names=[str(place) for place in range(len(table.names))],
                    skip_rows_after_names=1,
                ),
                parse_options=reading.ParseOptions(
                    delimiter=table.dialect.delimiter, newlines_in_values=True, invalid_row_handler=keep
                ),
                convert_options=reading.ConvertOptions(
                    include_columns=places,
                    column_types=dict.fromkeys(places, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            while (batch := next(reader, None)) is not None and not source.differs:
                mended = _with_broken(_named(batch, columns, empties), position, broken)
                position += mended.num_rows
                yield mended
        except pa.ArrowInvalid:  # a row that does not fit into two of Arrow's blocks
            return position
        if source.differs or (broken and not source.ends_a_line):  # or perhaps the file is cut off
            return position
        if broken:
            empty = _named(pa.RecordBatch.from_pylist([], reader.schema), columns, empties)
            yield _with_broken(empty, position, broken, at_end=True)
    return None


def _by_rows(
    table: RowFile, columns: Mapping[str, int], empties: Collection[str], *, start: int
) -> Iterator[pa.RecordBatch]:
    """The rows from one on, counted from 0, as every command reads them."""
    pa = arrow()
    width = len(table.names)
    nothing = [None] * width
    rows = islice(enumerate(table, 1), start, None)
    while some := list(islice(rows, _ROWS)):
        texts = list(zip(*(row if len(row) == width else nothing for _, (_, row) in some), strict=True))
        arrays = [
            pa.array(texts[at] if name in empties else [text or None for text in texts[at]], pa.string())
            for name, at in columns.items()
        ]
        names = list(columns)
        if any(len(row) != width for _, (_, row) in some):
            faults = [
                None if len(row) == width else _fault(number, len(row), width, table.dialect.delimiter.join(row))
                for number, (_, row) in some
            ]
            arrays, names = [*arrays, pa.array(faults, pa.string())], [*names, FAULT]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def _named(batch: pa.RecordBatch, columns: Mapping[str, int], empties: Collection[str]) -> pa.RecordBatch:
    arrays = [
        column.fill_null("") if name in empties else column for name, column in zip(columns, batch.columns, strict=True)
    ]
    return arrow().RecordBatch.from_arrays(arrays, names=list(columns))


class _Watched(io.RawIOBase):
    """Bytes on their way to Arrow, without empty lines at their beginning, and ended with a line end.

    `differs` is set, and nothing more comes, where they hold what Arrow would read in another way than `quia.rows`: a
    NUL, what is not UTF-8, or a quote that closes a value before its end, or never; and where they cannot be read, as
    Arrow may wait for ever if a stream raises something.
    """

    def __init__(self, stream: IO[bytes], delimiter: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._beside_quotes = np.zeros(256, bool)
        self._beside_quotes[list(f'{delimiter}\r\n"'.encode())] = True
        self._last, self._held = b"\n", b""
        self._is_begun = self._is_quoted = self._has_closed = False
        self.ends_a_line = True
        self.differs = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = b"" if self.differs else self._next(size)
        except (OSError, EOFError, ValueError, zlib.error, QuiaError):  # not text, torn, too much, closed meanwhile
            self.differs = True
        return b"" if self.differs else data

    def _next(self, size: int) -> bytes:
        data = self._held + self._stream.read(size - len(self._held))
        is_last = len(data) < size
        # Arrow takes a \n at the beginning of a block for the rest of a line end, even within quotes.
        self._held = b"\r" if data.endswith(b"\r") and not is_last else b""
        data = data.removesuffix(self._held)
        while data and not self._is_begun:
            data = data.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            self._is_begun = bool(data)
            data = data or self._stream.read(size)
        data = self._whole_letters(data, is_last)
        self.differs = b"\0" in data or not self._quotes_are_sound(data, is_last)
        self._last = data[-1:] or self._last
        if is_last and self._last not in b"\r\n":
            self.ends_a_line = False
            self._last = b"\n"
            data += b"\n"
        return data

    def _whole_letters(self, data: bytes, is_last: bool) -> bytes:
        """The bytes without the beginning of a letter at their end, which comes before the next ones instead."""
        before: bytes = self._decoder.getstate()[0]
        if not before and data.isascii():
            return data
        self._decoder.decode(data, is_last)
        return (before + data).removesuffix(self._decoder.getstate()[0])

    def _quotes_are_sound(self, data: bytes, is_last: bool) -> bool:
        """Whether every quote opens a value, closes it where it ends, or is doubled; in values without they are any."""
        if data and self._has_closed and not self._beside_quotes[data[0]]:
            return False
        if b'"' in data:
            is_text = self._last == b'"' and not self._has_closed  # the quote before; the next one is text, too
            padded = np.frombuffer((b"x" if is_text else self._last) + data, np.uint8)  # before place p is what is at p
            at = np.flatnonzero(padded[1:] == ord('"'))
            # In most files they open and close by turns; of two that are doubled, the first closes, the second opens.
            opening, closing = at[self._is_quoted :: 2], at[not self._is_quoted :: 2]
            followed = closing[:-1] if len(closing) and closing[-1] == len(data) - 1 else closing
            if self._beside_quotes[padded[opening]].all() and self._beside_quotes[padded[followed + 2]].all():
                self._is_quoted ^= bool(len(at) % 2)
                self._has_closed = not self._is_quoted and data.endswith(b'"')
            elif not self._follow(data, at.tolist()):
                return False
        elif data:
            self._has_closed = False
        return not (is_last and self._is_quoted)

    def _follow(self, data: bytes, places: list[int]) -> bool:
        """The same, quote by quote."""
        beside = self._beside_quotes.tolist()
        closed = -1 if self._has_closed else -2
        for place in places:
            if self._is_quoted:
                if place + 1 < len(data) and not beside[data[place + 1]]:
                    return False
                self._is_quoted, closed = False, place
            elif closed == place - 1:
                self._is_quoted = True
            else:
                before = data[place - 1] if place else self._last[0]
                self._is_quoted = before != ord('"') and beside[before]
                behind = data[place + 1 : place + 64].lstrip(b" ")
                if not self._is_quoted and (not behind or (data[place + 1] == ord(" ") and beside[behind[0]])):
                    return False  # `quia.rows` leaves out spaces between a quote and a delimiter
        self._has_closed = closed == len(data) - 1
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()


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
    message = _fault(row.number - 1, row.actual_columns, row.expected_columns, row.text)
    arrays = [*(pa.nulls(1, field.type) for field in schema), pa.array([message], pa.string())]
    return pa.RecordBatch.from_arrays(arrays, names=[*schema.names, FAULT])


def _fault(number: int, values: int, columns: int, text: str) -> str:
    return f"{ragged(number, values, columns)}: {shown(text)}"


def sound(batch: pa.RecordBatch, layout: Any) -> pa.RecordBatch:
    """Rows that have no fault, in the columns of such as have one."""
    pa = arrow()
    return pa.RecordBatch.from_arrays([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=layout)
