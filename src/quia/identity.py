"""Which files something was made of, when, by what and how: what a page says of itself, so that it can be filed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from quia.errors import FormatError, QuiaError
from quia.files import reading

EPOCH = "SOURCE_DATE_EPOCH"
"""The environment variable that fixes the time, so that pages can be made again to the last byte."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file: its name, the path as it was given, its checksum and its size."""

    name: str
    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the page of one decision was made of: the files, when, by what version, and all that was asked.

    `instance` is the table that the `row` is of (they are counted from 1), or the file of the instance itself.
    """

    quia: str
    made: str
    model: FileFacts | None = None
    instance: FileFacts | None = None
    row: int | None = None
    case: str | None = None
    command: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


def file_facts(path: str | os.PathLike[str]) -> FileFacts:
    """What a file is, as it lies there, packed or not; or a folder of files, such as the parts of a Parquet table.

    The SHA-256 of a folder is that of a line for each file, sorted by name, as the program `sha256sum` writes it: the
    file's own, two spaces, and its path in the folder. Names that begin with `.` or `_` are left out, as they are where
    such tables are read.
    """
    given = Path(path)
    name = given.name or given.resolve().name
    if given.is_file():
        checksum, size = _checksum(given)
        return FileFacts(name, str(path), checksum, size)
    if not given.is_dir():
        raise FormatError("is no file and no folder, so it has no checksum", file=str(path))
    lines, total = [], 0
    for member, file in sorted((file.relative_to(given).as_posix(), file) for file in given.rglob("*")):
        if file.is_file() and not any(part.startswith((".", "_")) for part in member.split("/")):
            checksum, size = _checksum(file)
            lines.append(f"{checksum}  {member}\n")
            total += size
    whole = hashlib.sha256("".join(lines).encode(errors="surrogateescape"))
    return FileFacts(name, str(path), whole.hexdigest(), total)


def _checksum(file: Path) -> tuple[str, int]:
    with reading(str(file)), file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell()


def now() -> str:
    """The time, to the second and with its offset from UTC (ISO 8601); a fixed one if SOURCE_DATE_EPOCH has it."""
    fixed = os.environ.get(EPOCH)
    if not fixed:
        return datetime.now().astimezone().isoformat(timespec="seconds")
    try:
        return datetime.fromtimestamp(int(fixed), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        raise QuiaError(f"{EPOCH} is {fixed!r}; give seconds since 1970 as a whole number, or unset it") from None
