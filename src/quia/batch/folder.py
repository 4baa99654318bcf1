"""Folders of Parquet files, each read with its own types; `key=value` in a path is a column of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from quia.batch.table import arrow
from quia.errors import FormatError

if TYPE_CHECKING:
    import pyarrow as pa

_NULL = "__HIVE_DEFAULT_PARTITION__"


class Look(NamedTuple):
    """A folder's files, how many rows they have, and columns that hold the values of all."""

    files: tuple[str, ...]
    rows: int
    schema: pa.Schema


def look(path: str, needed: Sequence[str]) -> Look:
    """What is in a folder; refused if one of its files lacks a needed column that another has."""
    from pyarrow import dataset, parquet

    pa = arrow()
    files = tuple(dataset.dataset(path, format="parquet").files)
    if not files:
        raise FormatError("holds no Parquet file", file=path)
    rows = 0
    schemas = []
    for file in files:
        with parquet.ParquetFile(file) as opened:
            rows += opened.metadata.num_rows
            schemas.append(_with_keys(opened.schema_arrow, keys(path, file)))
    for name in needed:
        lacking = [file for file, schema in zip(files, schemas, strict=True) if name not in schema.names]
        if 0 < len(lacking) < len(files):
            raise FormatError(
                f"has no column {name!r}, which other files of {path} have; add it, or take the file away",
                file=lacking[0],
            )
    names = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    # A column that stands twice in a file is so in the whole, for the caller to refuse if it is needed.
    names += [name for name in names if any(schema.names.count(name) > 1 for schema in schemas)]
    return Look(files, rows, pa.schema([pa.field(name, _type(name, schemas)) for name in names]))


def keys(path: str, file: str) -> dict[str, str | None]:
    """What the names of a file's folders say of its rows, as text: `01` is not 1.

    >>> keys("/data", "/data/zip=01/name=a%2Fb/x.parquet")
    {'zip': '01', 'name': 'a/b'}
    """
    folders = Path(file).relative_to(path).parent.parts
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(key): None if value == _NULL else unquote(value) for key, _, value in pairs}


def batches(
    path: str, files: Sequence[str], schema: pa.Schema, texts: frozenset[str], size: int
) -> Iterator[pa.RecordBatch]:
    """All rows, file by file, in the columns of `schema`; `texts` come as dictionaries."""
    from pyarrow import parquet

    pa = arrow()
    encoded = pa.dictionary(pa.int32(), pa.string())
    layout = pa.schema([pa.field(f.name, encoded if f.name in texts else f.type) for f in schema])
    for file in files:
        said = keys(path, file)
        stored = [name for name in layout.names if name not in said]
        with parquet.ParquetFile(file, read_dictionary=sorted(texts & set(stored)), pre_buffer=True) as opened:
            # Where the path says all, some column must be read to know how many rows there are.
            for batch in opened.iter_batches(batch_size=size, columns=stored or None):
                columns = [
                    pa.array([said[f.name]] * batch.num_rows, pa.string()) if f.name in said else batch.column(f.name)
                    for f in layout
                ]
                made = [_cast(column, f.type) for column, f in zip(columns, layout, strict=True)]
                yield pa.RecordBatch.from_arrays(made, schema=layout)


def _with_keys(schema: Any, said: dict[str, str | None]) -> Any:
    pa = arrow()
    return pa.schema([*(f for f in schema if f.name not in said), *((name, pa.string()) for name in said)])


def _type(name: str, schemas: Sequence[Any]) -> Any:
    """A type that holds a column's values in all files: the widest of numbers, or else text."""
    pa = arrow()
    kinds = dict.fromkeys(field.type for schema in schemas for field in schema if field.name == name)
    try:
        columns = [pa.schema([(name, kind)]) for kind in kinds]
        return pa.unify_schemas(columns, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return pa.string()


def _cast(column: Any, kind: Any) -> Any:
    pa = arrow()
    if column.type == kind:
        return column
    if not pa.types.is_dictionary(kind):
        return column.cast(kind)
    return column.cast(kind.value_type).dictionary_encode().cast(kind)
