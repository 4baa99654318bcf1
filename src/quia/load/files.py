"""Reading and writing model files, which are untrusted: bounded, and never half-written."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from quia.errors import FormatError

LARGEST_FILE = 2**30
"""A model file that unpacks to more bytes than this is refused."""


def read_bytes(file: str) -> bytes:
    """What is in a file, unpacked if it is gzipped, but never more than the largest allowed."""
    try:
        with open(file, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if packed else raw as stream:
                data = stream.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise FormatError(f"cannot be read: {reason}", file=file) from None
    if len(data) > LARGEST_FILE:
        raise FormatError(f"holds more than {LARGEST_FILE} bytes; model files are smaller", file=file)
    return data


def decode(data: bytes, file: str | None) -> str:
    """The bytes as UTF-8 text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise FormatError(f"is not UTF-8 text (byte {fault.start})", file=file, line=line) from None


def write_text(text: str, file: str | os.PathLike[str]) -> None:
    """Write a file, which is replaced only when the new one is whole."""
    path = Path(file)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise FormatError(f"cannot be written: {fault.strerror}", file=str(path)) from None
