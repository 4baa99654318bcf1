"""What is wrong with a CSV text that a reader refuses: a value that is too long, or a quote that is not closed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

LONGEST_VALUE = 2**23
"""A value with more characters than this is refused."""


@contextmanager
def long_values_allowed() -> Iterator[None]:
    """Python's reader takes values of up to 131,072 characters; within this, as long ones as all readers here do."""
    before = csv.field_size_limit(LONGEST_VALUE)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def fault(lines: Iterable[str], delimiter: str, *, spaces: bool = False) -> tuple[int, str] | None:
    """The line in which the first row that cannot be read begins, and what is wrong with it; None if nothing is.

    `spaces` says whether some may stand before an opening quote. The memory is that of the longest line, however far
    an open quote leads on.

    >>> fault(['a,b\\\\n', '1,"2\\\\n', '3,4\\\\n'], ",")[0]
    2
    """
    begin, length, inside = 1, 0, False
    for number, line in enumerate(lines, 1):
        place = 0
        if not inside:
            begin, length = number, 0
        while place < len(line):
            if inside:
                end = line.find('"', place)
                length += (len(line) if end < 0 else end) - place
                if end < 0:
                    break
                after = line[end + 1 : end + 2]
                place = end + 2
                if after == '"':
                    length += 1
                    continue
                inside = False
                if after not in (delimiter, "\r", "\n", ""):
                    return begin, _not_closed(begin)
                if length > LONGEST_VALUE:
                    return begin, _too_long(begin)
                length = 0
                continue
            start = place
            while spaces and line[start : start + 1] == " ":
                start += 1
            if line[start : start + 1] == '"':
                inside, length, place = True, 0, start + 1
                continue
            end = line.find(delimiter, place)
            length += len(line[place:].rstrip("\r\n") if end < 0 else line[place:end])
            if length > LONGEST_VALUE:
                return begin, _too_long(begin)
            length = 0
            place = len(line) if end < 0 else end + 1
    return (begin, _not_closed(begin)) if inside else None


def _too_long(begin: int) -> str:
    return (
        f"has a value of more than {LONGEST_VALUE} characters in the row that begins in line {begin}; shorten it, or"
        " leave its column out"
    )


def _not_closed(begin: int) -> str:
    return (
        f"has a quote in the row that begins in line {begin} that is not closed where its value ends; close it, or"
        " double it if it belongs to the value"
    )
