"""Numbers on the command line, each refused in a sentence if it is none of its kind."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

_MOST = 10**18
"""The largest limit: no list is so long, and the kernel's numbers have room for it."""


def limit_of(text: str) -> int:
    """A whole number from 0 on."""
    return whole_from(0, _MOST)(text)


def whole(text: str) -> int:
    """A whole number from 1 on."""
    return whole_from(1)(text)


def whole_from(least: int, most: int | None = None) -> Callable[[str], int]:
    """What reads a whole number within bounds."""
    bounds = f"from {least} on" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        number = int(text) if text.isdecimal() and len(text) < 1000 else -1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {bounds}")
        return number

    return read


def shape_of(text: str) -> tuple[int, int]:
    """The rows and columns of an image, as in 28x28."""
    rows, sign, columns = text.lower().replace("×", "x").partition("x")
    ends = [int(part) if part.isdecimal() and len(part) < 10 else 0 for part in (rows.strip(), columns.strip())]
    if not sign or 0 in ends:
        raise argparse.ArgumentTypeError(f"{text!r} is not an image's rows and columns; write them as in 28x28")
    return ends[0], ends[1]


def seconds_of(text: str) -> float:
    """A time, in seconds."""
    if not (seconds := _number(text)) >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def positive_seconds(text: str) -> float:
    """A positive number of seconds."""
    if not 0 < (seconds := _number(text)) < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return seconds


def _number(text: str) -> float:
    """The number that a text is; NaN, which is in no bounds, if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
