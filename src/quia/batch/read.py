"""Tables on disk, streamed: CSV, Parquet (a file or a partitioned folder) and Arrow IPC, only the columns needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quia.batch import csv_rows, folder
from quia.batch.arrow import check_ids
from quia.batch.columns import answer_names
from quia.batch.csv_rows import sound
from quia.batch.question import Request
from quia.batch.table import FAULT, arrow
from quia.batch.wanted import Wanted
from quia.errors import FormatError, InstanceError
from quia.files import reading, refuse_workbook
from quia.rows import RowFile, fitted, open_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier

Kind = Literal["csv", "parquet", "arrow", "stream"]

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
    table: RowFile | None = field(default=None, repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    texts: frozenset[str] = field(default=frozenset(), repr=False)
    empties: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(self.schema.names)

    @property
    def places(self) -> dict[str, int]:
        """Which column of a CSV file each of those is that are read."""
        return {name: self.names.index(name) for name in self.columns}

    def fingerprint(self) -> dict[str, Any]:
        """What would differ if the table were changed: names, sizes, times and some of the bytes."""
        with _reading(self.path):
            newest = max(Path(file).stat().st_mtime_ns for file in self.files)
            return {"files": len(self.files), "newest": newest, **fingerprint(self.files)}

    def parts(self, size: int) -> Iterator[Part]:
        """All rows in order, so many at a time."""
        with _reading(self.path):
            start = 0
            for index, rows in enumerate(regrouped(self._batches(size), size)):
                yield Part(index, start, rows)
                start += rows.num_rows

    def _batches(self, size: int) -> Iterator[pa.RecordBatch]:
        pa = arrow()
        if self.kind == "csv":
            assert self.table is not None
            yield from csv_rows.batches(self.table, self.places, empties=self.empties)
            return
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
        if Path(self.path).is_dir():
            yield from folder.batches(self.path, self.files, self.schema, self.texts, size)
            return
        from pyarrow import parquet

        with parquet.ParquetFile(self.path, read_dictionary=sorted(self.texts), pre_buffer=True) as file:
            yield from file.iter_batches(batch_size=size, columns=list(self.columns))


def fingerprint(files: Sequence[str]) -> dict[str, Any]:
    """What would differ if files were changed: their names, sizes and some of their bytes."""
    digest = hashlib.sha256()
    bytes_in_all = 0
    for file in files:
        size = Path(file).stat().st_size
        bytes_in_all += size
        digest.update(f"{Path(file).name} {size} ".encode())
        with open(file, "rb") as stream:
            for at in range(0, size, max(_SAMPLE, size // _SAMPLES)):
                stream.seek(at)
                digest.update(stream.read(_SAMPLE))
    return {"bytes": bytes_in_all, "digest": digest.hexdigest()}


def open_source(
    path: str,
    classifier: Classifier,
    request: Request,
    *,
    ids: Sequence[str] = (),
    also: Sequence[str] = (),
    delimiter: str | None = None,
) -> Source:
    """A table on disk whose columns fit the classifier; its format is told by its content.

    `ids` are columns that are carried along into a result; `also` are others that are read, those that are there.
    """
    wanted = Wanted.of(classifier, request.worlds)
    asked = [*wanted.needed, *wanted.welcome, *also]
    table: RowFile | None = None
    names: tuple[str, ...] = ()
    with _reading(path):
        kind = _kind(path)
        if kind == "csv":
            table = open_rows(path, delimiter=delimiter, bounded=False)
            names = fitted(table.names, {*asked, *ids})
            table.refuse_twice(name for name in names if name in asked)
            found = _Found((path,), csv_rows.estimated_rows(path), False)
            schema = arrow().schema([(name, arrow().string()) for name in names])
        else:
            found, schema = _open_columns(path, kind, [*asked, *ids])
    try:
        wanted.check(schema.names)
        check_ids(schema, ids, request)
        # Not even if it is not asked for: the summary would take the column for an answer.
        if taken := next((name for name in ids if name in answer_names()), None):
            raise InstanceError(f"the column {taken!r} cannot be carried along, as answers are called so; rename it")
        tested = wanted.among(schema.names)
        check_types(schema, tested, ", which the classifier tests,")
        also = [name for name in also if name in schema.names]
        check_types(schema, also)
    except InstanceError as fault:
        raise InstanceError(f"{path}: {fault}") from None
    # For a constant classifier, some column must be read to know how many rows there are.
    read = tuple(dict.fromkeys([*ids, *tested, *also])) or tuple(schema.names[:1])
    layout = arrow().schema([schema.field(name) for name in read])
    texts, empties = _texts(layout, ids), empty_states(classifier)
    return Source(path, kind, found.files, layout, found.rows, found.exact, table, names, texts, empties)


def column_names(path: str, needed: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns of a table on disk; of a CSV file, those that are needed as they are spelled there."""
    with _reading(path):
        kind = _kind(path)
        if kind == "csv":
            return fitted(open_rows(path, bounded=False).names, set(needed))
        return tuple(_open_columns(path, kind, needed)[1].names)


def empty_states(classifier: Classifier) -> frozenset[str]:
    """The features that have a state without a name, which CSV writes as it writes no value."""
    tested = (classifier.variables[v] for v in classifier.tested)
    return frozenset(variable.name for variable in tested if not variable.is_missing(""))


def check_types(schema: pa.Schema, names: Iterable[str], what: str = "") -> None:
    """Refuse columns of values that are no states, such as lists; the sentence says `what` they are."""
    pa = arrow()
    for name in names:
        kind = schema.field(name).type
        try:
            pa.array([], kind).dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise InstanceError(
                f"the column {name!r}{what} is of type {kind}; make it one of texts or numbers"
            ) from None


def _texts(layout: Any, ids: Sequence[str]) -> frozenset[str]:
    """The columns of texts, of which Parquet may give the distinct ones and which is where; ids stay as they are."""
    is_text = arrow().types.is_string
    return frozenset(field.name for field in layout if is_text(field.type) and field.name not in ids)


class _Found(NamedTuple):
    files: tuple[str, ...]
    rows: int | None
    exact: bool


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


def _open_columns(path: str, kind: Kind, needed: Sequence[str]) -> tuple[_Found, Any]:
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
    found = folder.look(path, needed)
    return _Found(found.files, found.rows, True), found.schema


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
        batches = [b if FAULT in b.schema.names else sound(b, layout) for b in batches]
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()[0]


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Whatever goes wrong with a file, in one sentence."""
    try:
        with reading(path):
            yield
    except arrow().ArrowException as fault:
        raise FormatError(f"cannot be read: {' '.join(str(fault).split())}", file=path) from None
