"""How a CSV text is written: what separates its values, whether spaces stand before its quotes, what its head shows."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

DELIMITERS = ",;\t|"
HEAD = 2**16
"""So many bytes of a file are looked at to see how it is written."""

ANNOUNCED = re.compile(rf'[\r\n]*"?sep=([{re.escape(DELIMITERS)}])"?(?:[\r\n]+|$)', re.IGNORECASE)
"""A first line that names the delimiter."""


class Dialect(NamedTuple):
    """What separates values; with `spaces`, those before a value belong to none, as quotes come after them.

    It is `announced` where the first line says nothing but what separates values, such as `sep=;`, as spreadsheets do.
    """

    delimiter: str = ","
    spaces: bool = False
    announced: bool = False


def find_dialect(head: str, delimiter: str | None = None) -> Dialect:
    """The dialect of a text that begins so.

    The delimiter is the one that the first row has most of outside quotes; of several, the second row has as many.

    >>> find_dialect('id;"a, b, c, d";SAT').delimiter, find_dialect('id, "a, b"').spaces
    (';', True)
    >>> find_dialect("sep=|\\na,b")
    Dialect(delimiter='|', spaces=False, announced=True)
    """
    announced = ANNOUNCED.match(head)
    if delimiter is None and announced:
        delimiter = announced[1]
    if delimiter is None:
        rows = re.split(r"[\r\n]+", _QUOTED.sub('"', head).lstrip("\r\n"), maxsplit=2)
        first, second = rows[0], rows[1] if len(rows) > 2 else ""
        delimiter = max(DELIMITERS, key=lambda one: (first.count(one), first.count(one) == second.count(one)))
    before_quotes = re.finditer(_quoted(re.escape(delimiter)), head)
    return Dialect(delimiter, delimiter != " " and any(found[1] for found in before_quotes), announced is not None)


def _quoted(delimiters: str) -> str:
    """A pattern for a quoted value and the spaces before it; a quote within a value that began without one is none."""
    return rf'(?:^|(?<=[{delimiters}\r\n]))( *)"(?:[^"]|"")*"'


_QUOTED = re.compile(_quoted(re.escape(DELIMITERS)))


def without_spaces_after_quotes(line: str, delimiter: str) -> str:
    """A line in which nothing stands between a closing quote and the delimiter.

    >>> without_spaces_after_quotes('"a" ,"say ""b"" ", 5" ,c', ",")
    '"a","say ""b"" ", 5",c'
    """
    maybe, surely = _closing(delimiter)
    return surely.sub(r"\1", line) if delimiter != " " and maybe.search(line) else line


@cache
def _closing(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for a quote with spaces behind it: the first is found fast, the second is surely a closing one.

    What is before an odd number of quotes tells that they close: an opening quote follows a delimiter.
    """
    mark = re.escape(delimiter)
    end = rf" +(?=[{mark}\r\n]|$)"
    return re.compile(f'"{end}'), re.compile(rf'(?<=[^{mark}"\r\n])((?:"")*"){end}')


def line_ends(data: bytes) -> int:
    """How many lines end in a block of bytes, whatever ends them."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
