"""Lines that fit a terminal: broken between words, conditions kept whole, what follows indented."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import combining, east_asian_width

NARROWEST, WIDEST = 60, 100
"""Lines are not broken to fewer columns than this, and are no longer than that: longer ones are hard to read."""

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def bounded(columns: int) -> int:
    """How wide lines are on a terminal of so many columns; 0 says that nobody knows."""
    return min(max(columns or 80, NARROWEST), WIDEST)


def columns_of(text: str) -> int:
    """How many columns a text takes on a terminal: its colours none, wide characters two.

    >>> columns_of("\\x1b[1mage\\x1b[0m"), columns_of("年齢"), columns_of("e\\u0301")
    (3, 4, 1)
    """
    bare = _STYLE.sub("", text)
    if bare.isascii():
        return len(bare)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in bare)


def line_of(words: Sequence[str], width: int | None, *, indent: int = 0, hang: int = 2) -> str:
    """Words in a row, broken before those that do not fit.

    A word may hold spaces; it is broken there only if it fits on no line, and then has lines of its own.

    >>> print(line_of(["deny", "because", "age <= 30.5", "and job = none"], 26))
    deny because age <= 30.5
      and job = none
    >>> print(line_of(["deny", "because", "job in {none, temporary}", "and sex=F"], 20, indent=1))
     deny because
       job in {none,
         temporary}
       and sex=F
    """
    if width is None:
        return " " * indent + " ".join(words)
    lines: list[str] = []
    row: list[str] = []
    for word in words:
        start = indent + (hang if lines else 0)
        if columns_of(word) > width - indent - hang:
            lines += [" " * start + " ".join(row)] if row else []
            start = indent + (hang if lines else 0)
            lines.append(_wrapped_line(" " * start + word, width))
            row = []
        elif row and start + columns_of(" ".join([*row, word])) > width:
            lines.append(" " * start + " ".join(row))
            row = [word]
        else:
            row.append(word)
    if row or not lines:
        lines.append(" " * (indent + (hang if lines else 0)) + " ".join(row))
    return "\n".join(lines)


def wrapped(text: str, width: int | None) -> str:
    """A text of several lines, each broken where it is too long; what continues it stands two columns deeper.

    It is broken before an `and`, or after a comma, colon or the like, if that leaves no line rather empty, so that
    conditions stay whole; else between any two words.

    >>> print(wrapped("  181 rows: income <= 29500 and marital-status = married", 34))
      181 rows: income <= 29500
        and marital-status = married
    """
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if columns_of(line) <= width:
        return line
    indent = len(line) - len(line.lstrip(" "))
    words = line[indent:].split(" ")
    lines: list[str] = []
    while words:
        before = indent + (2 if lines else 0)
        fits = _how_many_fit(words, width - before)
        if fits < len(words):
            good = [at for at in range(1, fits + 1) if _is_good_break(words[at - 1], words[at])]
            if good and columns_of(" ".join(words[: good[-1]])) >= (width - before) * 2 // 3:
                fits = good[-1]
        lines.append(" " * before + " ".join(words[:fits]))
        words = words[fits:]
    return "\n".join(lines)


def _how_many_fit(words: Sequence[str], room: int) -> int:
    used = -1
    for at, word in enumerate(words):
        used += 1 + columns_of(word)
        if used > room:
            return max(at, 1)
    return len(words)


def _is_good_break(word: str, following: str) -> bool:
    if word.endswith((",", ";", ":")) or following in ("and", "->", "<->"):
        return True
    return following.startswith("(") and word != "in"
