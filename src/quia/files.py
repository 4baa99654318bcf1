"""Reading and writing files, which are untrusted: bounded, told apart by content, and never half-written."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from quia.errors import FormatError

LARGEST_FILE = 2**30
"""A model file that unpacks to more bytes than this is refused."""


MOST_UNPACKED = 100
"""A gzipped model that unpacks to more than this many times its size is refused, if that is more than `ALWAYS_READ`."""
ALWAYS_READ = 2**24
MOST_VALUES = 10_000_000
"""A JSON file with more values than this is refused; each takes up to eighty bytes, whatever it takes in the file."""


@contextlib.contextmanager
def reading(file: str) -> Iterator[None]:
    """Whatever goes wrong while a file is read, in one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise not_utf8(file) from None
    except (OSError, EOFError, zlib.error) as fault:
        raise FormatError(f"cannot be read: {getattr(fault, 'strerror', None) or fault}", file=file) from None


def is_packed(file: str) -> bool:
    """Whether a file is gzipped."""
    with open(file, "rb") as raw:
        return raw.read(2) == b"\x1f\x8b"


def open_bytes(file: str, *, unpacked: int | None = None) -> IO[bytes]:
    """A file's bytes, unpacked if it is gzipped; with `unpacked`, never more than so many of a gzipped one.

    Use it within `reading`.
    """
    if not is_packed(file):
        return open(file, "rb")
    stream: Any = gzip.open(file)  # noqa: SIM115
    return stream if unpacked is None else io.BufferedReader(_Bounded(stream, file, unpacked), 2**16)


class _Bounded(io.RawIOBase):
    """What is unpacked from a file, refused when it is more than `most` bytes."""

    def __init__(self, stream: Any, file: str, most: int) -> None:
        self._stream, self._file, self._most = stream, file, most
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        taken: int = self._stream.readinto(buffer)
        self._left -= taken
        if self._left < 0:
            raise FormatError(
                f"unpacks to more than {self._most} bytes; if it is what it should be, unpack it and give the file"
                " itself",
                file=self._file,
            )
        return taken

    def close(self) -> None:
        self._stream.close()
        super().close()


def read_bytes(file: str, *, unpacked: int | None = MOST_UNPACKED) -> bytes:
    """What is in a file, unpacked if it is gzipped, but never more than the largest allowed.

    `unpacked` is how many times its size a gzipped file may unpack to, None for as much as any file.
    """
    largest = LARGEST_FILE
    with reading(file):
        if unpacked is not None and is_packed(file):
            largest = min(largest, max(ALWAYS_READ, unpacked * os.stat(file).st_size))
        with open_bytes(file) as stream:
            data = stream.read(largest + 1)
    if len(data) > LARGEST_FILE:
        raise FormatError(f"holds more than {LARGEST_FILE} bytes; model files are smaller", file=file)
    if len(data) > largest:
        raise FormatError(
            f"unpacks to more than {largest} bytes, {unpacked} times its size; if it is what it should be, unpack it"
            " and give the file itself",
            file=file,
        )
    return data


def refuse_many_values(data: bytes | str, file: str | None) -> None:
    """Refuse a JSON text of so many values that reading it would take gigabytes."""
    marks = sum(data.count(m) for m in b",[{") if isinstance(data, bytes) else sum(data.count(m) for m in ",[{")
    if marks > MOST_VALUES:
        raise FormatError(f"holds more than {MOST_VALUES} values; JSON models are smaller", file=file)


def decode(data: bytes, file: str | None) -> str:
    """The bytes as UTF-8 text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise not_utf8(file, line=data.count(b"\n", 0, fault.start) + 1) from None


def not_utf8(file: str | None, *, line: int | None = None) -> FormatError:
    """What to say of a text in another encoding."""
    return FormatError("is not UTF-8 text; save it as UTF-8", file=file, line=line)


def is_workbook(data: bytes) -> bool:
    """Whether this is an Excel workbook: a zip that has a folder `xl`, or a file of the older format."""
    return _is_workbook(data[:8], io.BytesIO(data))


def _is_workbook(head: bytes, whole: IO[bytes]) -> bool:
    if head == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        return True
    if not head.startswith(b"PK\x03\x04"):
        return False
    import zipfile  # seldom needed, and `import quia` is to be light

    try:
        with zipfile.ZipFile(whole) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def refuse_workbook(file: str) -> None:
    """Refuse a table that is an Excel workbook."""
    with open(file, "rb") as raw:
        found = _is_workbook(raw.read(8), raw)
    if found:
        raise FormatError("is an Excel workbook; save the sheet as CSV", file=file)


def write_text(text: str, file: str | os.PathLike[str]) -> None:
    """Write a file, which is replaced only when the new one is whole, and keeps its mode.

    Where a link leads is replaced, not the link; what is no file, such as a pipe, is written into.
    """
    path = Path(file)
    try:
        if _is_stream(path):
            with path.open("a", encoding="utf-8") as stream:
                stream.write(text)
        else:
            with replacing(path) as partial:
                partial.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise FormatError(f"cannot be written: {fault.strerror}", file=str(path)) from None


def _is_stream(path: Path) -> bool:
    """Whether there is something that cannot be replaced; /dev/stdout cannot even where it leads to a file."""
    return path.exists() and (not path.is_file() or str(path).startswith(("/dev/std", "/dev/fd/", "/proc/")))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside a path, which takes its place and has its mode once it is whole and on the disk.

    If anything goes wrong, what was there stays. Every file that must not be half-written is written by way of this.
    """
    path = Path(os.path.realpath(path))  # a link stays, and leads to the new file
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.touch()
        if path.exists():
            shutil.copymode(path, partial)  # before there is anything in it to read
        yield partial
        with partial.open("rb+") as stream:
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
