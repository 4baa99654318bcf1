"""Parts of a result on disk: Parquet, CSV or JSON lines, whole or not there, and joined in the end."""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quia.batch.table import arrow
from quia.batch.texts import csv_columns, csv_names, json_lines
from quia.errors import QuiaError, Unsupported
from quia.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["parquet", "csv", "jsonl"]
_SUFFIXES: dict[str, Format] = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def format_of(path: str, *, or_folder: bool = False) -> Format:
    """The format that a file's name asks for."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        folder = "; a folder of Parquet parts has no ending, or a / at its end" if or_folder else ""
        raise Unsupported(
            f"{path} is to be written in no format known here", cure=f"name it {', '.join(_SUFFIXES)}{folder}"
        )
    return _SUFFIXES[suffix]


def is_folder_name(path: str) -> bool:
    """Whether a name asks for a folder of parts.

    >>> [is_folder_name(name) for name in ("reasons", "reasons.v2/", "of.2024", "reasons.csv", "reasons.json")]
    [True, True, True, False, False]
    """
    has_ending = re.fullmatch(r"\.[a-zA-Z][a-zA-Z0-9]*", Path(path).suffix) is not None
    return Path(path).is_dir() or not has_ending or path.endswith(("/", os.sep))


def part_suffix(format: Format, *, joined: bool) -> str:
    """How a part's file is called; Parquet that is to be joined waits as Arrow IPC, which costs little to read."""
    return "arrow" if format == "parquet" and joined else format


def write_batch(batch: pa.RecordBatch, path: Path) -> None:
    """A record batch as a file, in the format of its name; it is there whole or not at all."""
    pa = arrow()
    with _writing(path) as partial:
        if path.suffix == ".arrow":
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, batch.schema, options=options) as writer:
                writer.write_batch(batch)
        elif path.suffix == ".parquet":
            with _parquet(partial, batch.schema) as writer:
                writer.write_batch(batch)
        else:
            partial.write_bytes(_text(batch, path.suffix[1:]))


def join_parts(parts: Sequence[Path], path: Path, schema: Any) -> None:
    """All parts as one file."""
    pa = arrow()
    format = format_of(str(path))
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):  # by a run that was killed here
        left.unlink(missing_ok=True)
    with _writing(path) as partial:
        if format == "parquet":
            with _parquet(partial, schema) as writer:
                for part in parts:
                    with pa.memory_map(str(part)) as raw:
                        table = pa.ipc.open_file(raw).read_all()
                    writer.write_table(table, row_group_size=max(table.num_rows, 1))
            return
        with open(partial, "wb") as sink:
            if format == "csv":
                sink.write(_csv_header(schema))
            for part in parts:
                with open(part, "rb") as stream:
                    shutil.copyfileobj(stream, sink, 2**20)


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """A file that takes the place of another when it is whole; what hinders that is said in one sentence."""
    try:
        with replacing(path) as partial:
            yield partial
    except (OSError, arrow().ArrowException) as fault:
        raise unwritable(path, fault) from None


def unwritable(path: Path, fault: Exception) -> QuiaError:
    """What to say when a file cannot be written."""
    number = getattr(fault, "errno", None)
    reason = os.strerror(number) if number else " ".join(str(fault).split())
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        cure = "get the permission to write there, or write elsewhere"
    elif number in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG):
        cure = "write elsewhere"
    elif not isinstance(fault, OSError):  # Arrow's word on a type that a format does not have
        cure = "write another format, or carry other columns along"
    else:
        cure = "what is done so far is kept: make room and run the same command again"
    return QuiaError(f"{path} cannot be written: {reason}; {cure}")


def _parquet(path: Path, schema: Any) -> Any:
    from pyarrow import parquet

    # Statistics of features and states serve no query; their columns are most of the file.
    plain = [field.name for field in schema if not arrow().types.is_nested(field.type)]
    return parquet.ParquetWriter(
        str(path), schema, compression="snappy", write_statistics=plain, store_schema=False, write_batch_size=4096
    )


def _text(batch: pa.RecordBatch, format: str) -> bytes:
    from pyarrow import csv

    pa = arrow()
    if format == "jsonl":
        return json_lines(batch)
    sink = pa.BufferOutputStream()
    csv.write_csv(csv_columns(batch), sink, csv.WriteOptions(include_header=False))
    return bytes(sink.getvalue())


def _csv_header(schema: Any) -> bytes:
    quoted = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in csv_names(schema.names))
    return (",".join(quoted) + "\n").encode()


def write_json(value: Any, path: Path) -> None:
    """Plain data as a JSON file, whole or not at all."""
    with _writing(path) as partial:
        partial.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
