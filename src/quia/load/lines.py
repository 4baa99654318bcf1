"""Reading text files of lines that hold words and integers, with `c` lines as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from quia.errors import FormatError, shown

MOST_VARIABLES = 100_000
"""A file with more variables than this is refused."""

_INTEGER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty, its words, and where it is."""

    text: str
    words: list[str]
    number: int
    file: str | None

    def numbers(self, *, start: int = 0) -> list[int]:
        """The words from index `start` on, as integers."""
        for word in self.words[start:]:
            if _INTEGER.fullmatch(word) is None:
                self.fail(f"has {shown(word, 30)} where a whole number should be")
        return [int(word) for word in self.words[start:]]

    def header(self, name: str, count: int) -> list[int]:
        """The numbers of a header line, which begins with its name."""
        values = self.numbers(start=1) if self.words[0] == name else []
        if len(values) != count or min(values) < 0:
            self.fail(f"is {shown(self.text, 40)}; the header must be '{name}' and {count} numbers")
        return values

    def fail(self, fault: str) -> NoReturn:
        """Raise a FormatError that names this line."""
        raise FormatError(fault, file=self.file, line=self.number)


def numbered_lines(text: str, file: str | None) -> Iterator[Line]:
    """The lines that are neither empty nor comments; a file without any is a fault."""
    empty = True
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words and words[0] != "c":
            empty = False
            yield Line(line.strip(), words, number, file)
    if empty:
        raise FormatError("is empty", file=file, line=1)
