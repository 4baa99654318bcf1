"""What the terminal is like: how wide lines may be, and whether colours are seen."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from quia.command.streams import write
from quia.show.text import Paint, coloured, plain
from quia.show.wrapping import bounded, wrapped


def width_of(stream: TextIO | None) -> int | None:
    """How wide lines on a stream are; None, for lines as long as they get, where it is no terminal.

    COLUMNS says how wide, also of what is no terminal.
    """
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return bounded(int(said))
    if not _is_terminal(stream):
        return None
    try:
        return bounded(os.get_terminal_size(stream.fileno()).columns) if stream is not None else None
    except (OSError, ValueError):  # a terminal that does not tell
        return bounded(0)


def paint_of(stream: TextIO | None) -> Paint:
    """Colours where they are seen; NO_COLOR and a dumb terminal have none, FORCE_COLOR wants them anywhere else."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return plain
    if os.name == "nt" and not {"WT_SESSION", "ANSICON", "TERM"} & os.environ.keys():  # a console of old
        return plain
    forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return coloured if forced or _is_terminal(stream) else plain


def say(text: str) -> None:
    """Print to stdout, in lines that fit."""
    write(wrapped(text, width_of(sys.stdout)))


def tell(text: str) -> None:
    """Print to stderr, in lines that fit."""
    print(wrapped(text, width_of(sys.stderr)), file=sys.stderr)  # noqa: T201


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
