"""The one reader of rows: the names and the values of a CSV file as they stand there, for every command.

Values are texts, with the spaces around them: whether ` Private` is a state's own name, a variable knows.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import IO

from quia import csv_faults, files
from quia.csv_dialect import HEAD, Dialect, find_dialect, line_ends, without_spaces_after_quotes
from quia.errors import FormatError, shown

LONGEST_ROW = 2**26
"""A row with more characters than this is refused."""


@dataclass(frozen=True)
class RowFile:
    """A CSV file, of which nothing but the names of its columns has been read; `line` is the one they are in.

    A gzipped file may unpack to `unpacked` bytes, None for any number, which is for readers that keep no rows.
    """

    file: str
    dialect: Dialect
    names: tuple[str, ...] = ()
    line: int = 1
    unpacked: int | None = field(default=None, kw_only=True)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """All rows with the lines they begin in; those with more or fewer values than there are columns, too.

        Empty lines are no rows. Raises FormatError at a quote that is not closed, at bytes that are no text, at a
        value or row that is too long, and at the end of a file that is cut off.
        """
        with files.reading(self.file):
            yield from islice(self._parsed(), 1, None)

    def whole_rows(self) -> Iterator[list[str]]:
        """All rows, for those who need every one: FormatError if one has not as many values as there are columns."""
        for number, (line, row) in enumerate(self, 1):
            if fault := self.fault(number, line, row):
                raise fault
            yield row

    def row(self, number: int) -> list[str]:
        """One row, of which 1 is the first below the names."""
        last = 0
        for last, (line, row) in enumerate(self, 1):
            if last == number:
                if fault := self.fault(number, line, row):
                    raise fault
                return row
        if not last:
            raise self.no_rows()
        raise FormatError(f"has no row {number}; its last is row {last}", file=self.file)

    def fault(self, number: int, line: int, row: Sequence[str]) -> FormatError | None:
        """What to say of a row that has not as many values as there are columns."""
        if len(row) == len(self.names):
            return None
        return FormatError(ragged(number, len(row), len(self.names)), file=self.file, line=line)

    def no_rows(self) -> FormatError:
        """What to say where some rows are needed."""
        return FormatError("has no rows below the names of its columns", file=self.file)

    def names_for(self, needed: Collection[str]) -> tuple[str, ...]:
        """The names of the columns as those who need some of them have them, with or without spaces around.

        Raises FormatError if one of these is there twice.
        """
        names = fitted(self.names, needed)
        self.refuse_twice(name for name in names if name in needed)
        return names

    def refuse_twice(self, names: Iterable[str]) -> None:
        """Refuse columns of the same name, but for those without one."""
        seen: set[str] = set()
        for name in names:
            if name and name in seen:
                raise FormatError(f"has two columns called {shown(name)}; rename one", file=self.file, line=self.line)
            seen.add(name)

    def _parsed(self) -> Iterator[tuple[int, list[str]]]:
        with files.open_bytes(self.file, unpacked=self.unpacked) as stream:
            lines = _Lines(self.file, stream, self.dialect.delimiter)
            reader = csv.reader(
                iter(lines), delimiter=self.dialect.delimiter, skipinitialspace=self.dialect.spaces, strict=True
            )
            begin, is_announced = 1, self.dialect.announced
            try:
                with csv_faults.long_values_allowed():
                    for row in reader:
                        if not lines.ended:
                            self._refuse_cut_off(row)
                        if row and not is_announced:
                            yield begin, row
                        is_announced = is_announced and not row  # which is the row that was left out
                        begin = reader.line_num + 1
                        lines.length = 0
            except csv.Error as error:
                raise FormatError(self._csv_fault() or f"is not CSV: {error}", file=self.file) from None

    def _refuse_cut_off(self, row: list[str]) -> None:
        if len(row) < len(self.names):
            text = self.dialect.delimiter.join(row)
            raise FormatError(
                f"is cut off: its last line, {shown(text)}, has {len(row)} of {len(self.names)} values; give the whole"
                " file",
                file=self.file,
            )

    def _csv_fault(self) -> str | None:
        """What is wrong with a quote or a value, found by reading again, as an open quote leads on to any place."""
        with files.open_bytes(self.file, unpacked=self.unpacked) as stream:
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            bounded = iter(lambda: lines.readline(LONGEST_ROW), "")
            cleaned = (without_spaces_after_quotes(line, self.dialect.delimiter) for line in bounded)
            found = csv_faults.fault(cleaned, self.dialect.delimiter, spaces=self.dialect.spaces)
        return None if found is None else found[1]


def open_rows(file: str | os.PathLike[str], *, delimiter: str | None = None, bounded: bool = True) -> RowFile:
    """A CSV file whose first row names the columns; what separates them is found there, unless it is given.

    A gzipped file may unpack to as much as a model's file, unless it is not to be `bounded`.
    """
    name = os.fspath(file)
    unpacked = files.LARGEST_FILE if bounded else None
    with files.reading(name):
        files.refuse_workbook(name)
        with files.open_bytes(name, unpacked=unpacked) as stream:
            head = stream.read(HEAD)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise files.not_utf8(name)
        found = RowFile(name, find_dialect(head.decode("utf-8-sig", "replace"), delimiter), unpacked=unpacked)
        line, names = next(found._parsed(), (1, []))
    if not any(text.strip() for text in names):
        raise FormatError("is empty; its first line must name the columns", file=name)
    return RowFile(name, found.dialect, tuple(names), line, unpacked=unpacked)


def ragged(number: int, values: int, columns: int) -> str:
    """What to say of a row with too many or too few values."""
    return f"row {number} has {values} values and there are {columns} columns"


def fitted(names: Sequence[str], needed: Collection[str]) -> tuple[str, ...]:
    """The names with those that are needed spelled as they are there, if only spaces around them differ.

    >>> fitted(["id", " SAT", "x "], ["SAT", "x "])
    ('id', 'SAT', 'x ')
    """
    exact = set(names)
    spelled = {name.strip(): name for name in needed if name not in exact}
    return tuple(name if name in needed else spelled.get(name.strip(), name) for name in names)


class _Lines:
    """The lines of a text; `ended` says whether the last one has a line end, `length` how much was read of a row."""

    def __init__(self, file: str, stream: IO[bytes], delimiter: str) -> None:
        self._file, self._delimiter = file, delimiter
        self._text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        self.ended = True
        self.length = 0  # whoever takes rows sets it back where one ends

    def __iter__(self) -> Iterator[str]:
        for number in count(1):
            try:
                line = self._text.readline(LONGEST_ROW + 1)
            except UnicodeDecodeError:
                raise files.not_utf8(self._file, line=_undecodable_line(self._file)) from None
            if not line:
                return
            self.length += len(line)
            if self.length > LONGEST_ROW:
                raise FormatError(
                    f"has a row of more than {LONGEST_ROW} characters; shorten its values, or leave the longest"
                    " columns out",
                    file=self._file,
                    line=number,
                )
            if "\0" in line:
                raise FormatError(
                    "has a NUL character, so it is no CSV; save it as CSV in UTF-8", file=self._file, line=number
                )
            self.ended = line[-1] in "\r\n"
            yield without_spaces_after_quotes(line, self._delimiter) if '" ' in line else line


def _undecodable_line(file: str) -> int:
    """The first line that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    number = 1
    with files.open_bytes(file) as stream:
        while block := stream.read(HEAD):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as fault:
                return number + line_ends(bytes(fault.object[: fault.start]))
            number += line_ends(block)
    return number
