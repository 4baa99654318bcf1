"""Tables on a cluster: Spark runs the function that one machine runs, on record batches, in every executor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.batch.arrow import check_ids, check_reference, explain_batches, schema
from quia.batch.question import Request, ask
from quia.batch.read import empty_states
from quia.batch.table import arrow
from quia.batch.wanted import Wanted
from quia.batch.write import format_of
from quia.errors import QuiaError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from quia.classifier import Classifier


def explain(df: DataFrame, classifier: Classifier, /, *, ids: Sequence[str] = (), **question: Any) -> DataFrame:
    """The decision on every row of a DataFrame with its reasons, as `quia.explain_batch` has them.

    `ids` are columns to carry along; the other options are those of `quia.explain_batch` but `coverage`, as no executor
    sees the whole table. The classifier is sent to
    each executor once; a row that cannot be explained says why in the column `error`.
    """
    return explain_frame(df, classifier, ask(classifier, **question), ids=ids)


def explain_frame(df: DataFrame, classifier: Classifier, request: Request, *, ids: Sequence[str] = ()) -> DataFrame:
    """`explain` for a question already asked."""
    pyspark = _pyspark()
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    columns = Wanted.of(request.answering(classifier), request.worlds)
    columns.check(df.columns)
    check_reference(request, None)  # an executor sees a part of the table only
    check_ids(arrow().schema([(name, arrow().null()) for name in df.columns]), ids, request)
    wanted = list(dict.fromkeys([*ids, *columns.among(df.columns)])) or df.columns[:1]
    answers = from_arrow_schema(schema(request))
    result = StructType([*(df.schema[name] for name in ids), *answers.fields])
    # Spark runs a task a core already.
    work = _work(_shipped(df.sparkSession, _Asked(classifier, replace(request, threads=1))), tuple(ids))
    chosen = [pyspark.sql.functions.col(f"`{name.replace('`', '``')}`") for name in wanted]
    return df.select(*chosen).mapInArrow(work, result)


class _Asked(NamedTuple):
    """A classifier and what it is asked, which has the classifier in it: each of them travels once."""

    classifier: Classifier
    request: Request


def _work(
    asked: Callable[[], _Asked], ids: tuple[str, ...]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return explain_batches(batches, *asked(), ids=ids)

    return work


def _shipped(session: SparkSession, asked: _Asked) -> Callable[[], _Asked]:
    """What is asked as an executor gets it: broadcast once, or with Spark Connect, which cannot, in the task."""
    try:
        broadcast = session.sparkContext.broadcast(asked)
    except Exception:  # Spark Connect has its own class of errors, and no sparkContext
        return lambda: asked
    return lambda: broadcast.value


def run(
    classifier: Classifier,
    request: Request,
    data: str,
    output: str,
    *,
    ids: Sequence[str] = (),
    delimiter: str | None = None,
) -> int:
    """Read a table with Spark, explain it, write it; how many rows there were. For `spark-submit`."""
    pyspark = _pyspark()
    check_reference(request, None)  # before a session is started, which takes long
    format = format_of(output) if "." in output.rpartition("/")[2] else "parquet"
    if format == "csv":
        raise Unsupported(f"{output} cannot be written: Spark's CSV has no lists", cure="name it .parquet or .jsonl")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # on this machine workers run what runs this
    session = pyspark.sql.SparkSession.builder.appName("quia batch").getOrCreate()
    try:
        found = explain_frame(_read(session, data, delimiter, empty_states(classifier)), classifier, request, ids=ids)
        getattr(found.write.mode("error"), "json" if format == "jsonl" else "parquet")(output)
        rows: int = getattr(session.read, "json" if format == "jsonl" else "parquet")(output).count()
    except pyspark.errors.PySparkException as fault:
        raise QuiaError(f"Spark could not explain {data} into {output}: {' '.join(str(fault).split())[:400]}") from None
    return rows


def _read(session: SparkSession, data: str, delimiter: str | None, empties: Collection[str]) -> DataFrame:
    """A table; where the empty text is the name of a state (`empties`), a value that CSV leaves empty is that text."""
    name = data.rstrip("/").lower()
    if not name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")):
        return session.read.parquet(data)
    separator = delimiter or ("\t" if ".tsv" in name else ",")
    rows = session.read.options(header=True, sep=separator, escape='"').csv(data)
    return rows.fillna("", subset=[column for column in rows.columns if column in empties])


def _pyspark() -> Any:
    try:
        import pyspark.errors
        import pyspark.sql.functions
    except ImportError:
        raise Unsupported("Spark needs pyspark", cure="pip install 'quia[spark]'") from None
    return pyspark
