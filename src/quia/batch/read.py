"""Tables on disk, streamed: CSV, Parquet (a file or a partitioned folder) and Arrow IPC, only the columns needed."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quia.batch.arrow import check_ids
from quia.batch.question import Question
from quia.batch.table import FAULT, arrow, check_columns
from quia.errors import FormatError, InstanceError, shown
from quia.load.files import not_utf8, refuse_workbook

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier

Kind = Literal["csv", "parquet", "arrow", "stream"]

_BLOCK = 2**22
_SAMPLE = 2**16
_SAMPLES = 32


class Part(NamedTuple):
    """Some rows of a source, those from `start` on."""

    number: int
    start: int
    rows: pa.RecordBatch


@dataclass(frozen=True)
class Source:
    """A table on disk. `rows` is how many rows there are, None if that cannot be told; `exact` says if it is sure."""

    path: str
    kind: Kind
    files: tuple[str, ...]
    schema: pa.Schema
    rows: int | None
    exact: bool
    delimiter: str = ","
    texts: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(self.schema.names)

    def fingerprint(self) -> dict[str, Any]:
        """What would differ if the table were changed: names, sizes, times and some of the bytes."""
        with _reading(self.path):
            digest = hashlib.sha256()
            size = newest = 0
            for file in self.files:
                stat = Path(file).stat()
                size += stat.st_size
                newest = max(newest, stat.st_mtime_ns)
                digest.update(f"{Path(file).name} {stat.st_size} {stat.st_mtime_ns} ".encode())
                with open(file, "rb") as stream:
                    for at in range(0, stat.st_size, max(_SAMPLE, stat.st_size // _SAMPLES)):
                        stream.seek(at)
                        digest.update(stream.read(_SAMPLE))
        return {"files": len(self.files), "bytes": size, "newest": newest, "digest": digest.hexdigest()}

    def parts(self, size: int) -> Iterator[Part]:
        """All rows in order, so many at a time."""
        with _reading(self.path):
            batches = self._csv() if self.kind == "csv" else self._batches(size)
            start = 0
            for index, rows in enumerate(regrouped(batches, size)):
                yield Part(index, start, rows)
                start += rows.num_rows

    def _batches(self, size: int) -> Iterator[pa.RecordBatch]:
        pa = arrow()
        if self.kind == "stream":
            with pa.memory_map(self.path) as raw, pa.ipc.open_stream(raw) as stream:
                for batch in stream:
                    yield batch.select(list(self.columns))
            return
        if self.kind == "arrow":
            with pa.memory_map(self.path) as raw, pa.ipc.open_file(raw) as file:
                for index in range(file.num_record_batches):
                    yield file.get_batch(index).select(list(self.columns))
            return
        if not Path(self.path).is_dir():
            from pyarrow import parquet

            with parquet.ParquetFile(self.path, read_dictionary=sorted(self.texts), pre_buffer=True) as file:
                yield from file.iter_batches(batch_size=size, columns=list(self.columns))
            return
        yield from _dataset(self.path, self.texts).to_batches(
            columns=list(self.columns), batch_size=size, batch_readahead=2, fragment_readahead=1, use_threads=True
        )

    def _csv(self) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv

        pa = arrow()
        broken: list[Any] = []

        def keep(row: Any) -> str:
            broken.append(row)
            return "skip"

        reader = csv.open_csv(
            _input(self.path),
            # Without threads, as only then a broken row comes with its number.
            read_options=csv.ReadOptions(block_size=_BLOCK, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=keep),
            convert_options=csv.ConvertOptions(
                include_columns=list(self.columns),
                column_types=dict.fromkeys(self.columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        with reader:
            position = 0
            for batch in reader:
                mended = _with_broken(batch, position, broken)
                position += mended.num_rows
                yield mended
            if broken and position + len(broken) == broken[-1].number - 1 and not _ends_a_line(self.path):
                raise FormatError(
                    f"is cut off: its last line, {shown(broken[-1].text)}, has {broken[-1].actual_columns} of"
                    f" {broken[-1].expected_columns} values; give the whole file",
                    file=self.path,
                )
            rest = pa.RecordBatch.from_pylist([], reader.schema)
            if broken:
                yield _with_broken(rest, position, broken, at_end=True)


def open_source(
    path: str, classifier: Classifier, question: Question, *, ids: Sequence[str] = (), delimiter: str | None = None
) -> Source:
    """A table on disk whose columns fit the classifier; its format is told by its content."""
    with _reading(path):
        kind = _kind(path)
        if kind == "csv":
            found, schema = _open_csv(path, delimiter)
        else:
            found, schema = _open_columns(path, kind)
    names = list(schema.names)
    try:
        check_columns(classifier, names)
        check_ids(schema, ids, question)
    except InstanceError as fault:
        raise InstanceError(f"{path}: {fault}") from None
    tested = [classifier.variables[v].name for v in classifier.tested]
    wanted = tuple(dict.fromkeys([*ids, *tested]))
    if not wanted:  # a constant classifier: some column must be read to know how many rows there are
        wanted = tuple(names[:1])
    layout = arrow().schema([schema.field(name) for name in wanted])
    return Source(path, kind, found.files, layout, found.rows, found.exact, found.delimiter, _texts(layout, ids))


def _texts(layout: Any, ids: Sequence[str]) -> frozenset[str]:
    """The columns of texts, of which Parquet may give the distinct ones and which is where; ids stay as they are."""
    is_text = arrow().types.is_string
    return frozenset(field.name for field in layout if is_text(field.type) and field.name not in ids)


class _Found(NamedTuple):
    files: tuple[str, ...]
    rows: int | None
    exact: bool
    delimiter: str = ","


def _kind(path: str) -> Kind:
    if Path(path).is_dir():
        return "parquet"
    refuse_workbook(path)
    with open(path, "rb") as raw:
        head = raw.read(8)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1":
        return "arrow"
    if head[:4] == b"\xff\xff\xff\xff":
        return "stream"
    return "csv"


def _open_csv(path: str, delimiter: str | None) -> tuple[_Found, Any]:
    pa = arrow()
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else open(path, "rb") as stream:
        head = stream.read(_SAMPLE)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        raise not_utf8(path)
    if b"\0" in head:
        raise FormatError("is neither CSV, Parquet nor Arrow IPC", file=path)
    line, end, _ = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    first = line.decode("utf-8", "strict" if end else "replace")
    if not first.strip():
        raise FormatError("is empty; its first line must name the columns", file=path)
    chosen = delimiter if delimiter is not None else max(",;\t|", key=first.count)
    import csv

    names = next(csv.reader([first.rstrip("\r")], delimiter=chosen))
    size = Path(path).stat().st_size
    lines = head.count(b"\n")
    estimate = None if packed else max(0, round(size * lines / len(head)) - 1) if lines else 0
    return _Found((path,), estimate, False, chosen), pa.schema([(name, pa.string()) for name in names])


def _open_columns(path: str, kind: Kind) -> tuple[_Found, Any]:
    pa = arrow()
    if kind == "stream":
        with pa.memory_map(path) as raw, pa.ipc.open_stream(raw) as stream:
            return _Found((path,), None, False), stream.schema
    if kind == "arrow":
        with pa.memory_map(path) as raw, pa.ipc.open_file(raw) as file:
            rows = sum(file.get_batch(index).num_rows for index in range(file.num_record_batches))
            return _Found((path,), rows, True), file.schema
    if not Path(path).is_dir():
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            return _Found((path,), file.metadata.num_rows, True), file.schema_arrow
    data = _dataset(path, frozenset())
    if not data.files:
        raise FormatError("holds no Parquet file", file=path)
    return _Found(tuple(data.files), data.count_rows(), True), data.schema


def _dataset(path: str, texts: frozenset[str]) -> Any:
    from pyarrow import dataset

    return dataset.dataset(path, format=dataset.ParquetFileFormat(dictionary_columns=texts), partitioning="hive")


def _input(path: str) -> Any:
    pa = arrow()
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return pa.input_stream(path, compression="gzip" if packed else None)


def _ends_a_line(path: str) -> bool:
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        if not packed:
            raw.seek(-1, 2)
            return raw.read(1) == b"\n"
    with gzip.open(path) as stream:
        last = b""
        while block := stream.read(_BLOCK):
            last = block
    return last.endswith(b"\n")


def _with_broken(batch: pa.RecordBatch, position: int, broken: list[Any], *, at_end: bool = False) -> pa.RecordBatch:
    """The batch with the lines in their places that are no rows; those are taken from `broken`."""
    pa = arrow()
    pieces = []
    left = batch
    # The names are row 1, so row number n of the file is n - 2 of the table, broken lines counted.
    while broken and (at_end or broken[0].number - 2 < position + left.num_rows):
        row = broken.pop(0)
        before = row.number - 2 - position
        pieces += [left.slice(0, before), _fault_row(batch.schema, row)]
        left = left.slice(before)
        position = row.number - 1
    if not pieces:
        return batch
    layout = pieces[1].schema
    columns = pa.Table.from_batches(
        [piece if FAULT in piece.schema.names else _sound(piece, layout) for piece in [*pieces, left]]
    ).combine_chunks()
    return columns.to_batches()[0]


def _fault_row(schema: Any, row: Any) -> pa.RecordBatch:
    pa = arrow()
    message = (
        f"row {row.number - 1} has {row.actual_columns} values and there are {row.expected_columns} columns:"
        f" {shown(row.text)}"
    )
    arrays = [*(pa.nulls(1, field.type) for field in schema), pa.array([message], pa.string())]
    return pa.RecordBatch.from_arrays(arrays, names=[*schema.names, FAULT])


def _sound(batch: pa.RecordBatch, layout: Any) -> pa.RecordBatch:
    pa = arrow()
    return pa.RecordBatch.from_arrays([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=layout)


def regrouped(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order, `size` of them a batch but for the last."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        rest = batch
        while count + rest.num_rows >= size:
            yield _one([*waiting, rest.slice(0, size - count)])
            rest = rest.slice(size - count)
            waiting, count = [], 0
        if rest.num_rows:
            waiting.append(rest)
            count += rest.num_rows
    if count:
        yield _one(waiting)


def _one(batches: list[Any]) -> pa.RecordBatch:
    pa = arrow()
    if len(batches) == 1:
        return batches[0]
    if any(FAULT in batch.schema.names for batch in batches):
        layout = next(batch.schema for batch in batches if FAULT in batch.schema.names)
        batches = [b if FAULT in b.schema.names else _sound(b, layout) for b in batches]
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()[0]


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Whatever goes wrong with a file, in one sentence."""
    pa = arrow()
    try:
        yield
    except FileNotFoundError:
        raise FormatError("is not there", file=path) from None
    except (OSError, EOFError, zlib.error, pa.ArrowException) as fault:
        if "invalid UTF8" in str(fault):
            raise not_utf8(path) from None
        reason = getattr(fault, "strerror", None) or " ".join(str(fault).split())
        raise FormatError(f"cannot be read: {reason}", file=path) from None
    except UnicodeDecodeError:
        raise not_utf8(path) from None
