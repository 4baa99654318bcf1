"""stdout and stderr as they may be: closed, full, or in an encoding that has no ≠."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from typing import Any

from quia.errors import QuiaError

_READABLE = {"≠": "!=", "≤": "<=", "≥": ">=", "…": "...", "–": "-", "×": "x", "·": "*", "━": "#", "─": "-"}


def prepare() -> None:
    """Make both fit for any text; whatever is told to a closed stderr is lost."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    codecs.register_error("quia.readable", _readable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="quia.readable")


def _readable(fault: UnicodeError) -> tuple[str | bytes, int]:
    """What is written for a character that cannot be; a byte of a file's name that is no text stays as it is."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    character = fault.object[fault.start]
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00]), fault.start + 1
    return _READABLE.get(character, "?"), fault.start + 1


def write(text: str) -> None:
    """Print to stdout."""
    if sys.stdout is None:
        raise QuiaError("there is no standard output to write to: it is closed")
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        raise
    except OSError as fault:
        forget_stdout()
        raise QuiaError(f"standard output cannot be written: {fault.strerror}") from None


def write_json(value: Any, *, indent: int | None = None) -> None:
    """Print as JSON, which is ASCII where stdout is not UTF-8, so that it is read back whatever the encoding."""
    encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
    write(json.dumps(value, ensure_ascii=encoding != "utf-8", indent=indent))


def write_document(text: str, file: str) -> None:
    """Write to a file, or the same bytes to stdout if it is `-`."""
    from quia.files import write_text

    if file != "-":
        write_text(text, file)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    write(text.rstrip("\n"))


def forget_stdout() -> None:
    """Let what is left in its buffer go nowhere, so that Python does not try to write it again at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a real stream
        return
