"""`python -m benchmarks batch`: rows a second of `quia batch`, beside the bare kernel and a plain Python loop."""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.memory import peak
from quia.command import Subparsers, add_model
from quia.command.streams import write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from quia.graph import DecisionGraph

DRAWN = ("rows", "columns")
_LOOPED = 300
_KERNEL_ROWS = 200_000
_WRITTEN = 100_000
_GENERAL_ROWS = 50_000
_RUNS = 3


class Measured(NamedTuple):
    """What a piece of work took: seconds, seconds of all cores, peak memory in MB (0 where it was not looked at)."""

    seconds: float
    cpu: float
    megabytes: float = 0.0


def add(subparsers: Subparsers) -> None:
    """Register the benchmark."""
    parser = subparsers.add_parser(
        "batch",
        help="tables of decisions: rows a second, beside the bare kernel and a plain Python loop",
        description="Explains tables of growing size, shortest reasons of both kinds, with reading and writing, and"
        " prints rows a second, the ratio to the bare kernel on as many cores and to a plain Python loop. Tables are"
        " drawn from the rows of DATA: whole rows (many are equal, as in real logs), and each column by itself (next to"
        " none are).",
    )
    add_model(parser)
    parser.add_argument("data", metavar="DATA", help="a table that the model can explain; rows are drawn from it")
    parser.add_argument(
        "--rows",
        metavar="N",
        type=int,
        action="append",
        help="a size of table; repeat it (default: 10^4, 10^5 and 10^6)",
    )
    parser.add_argument("--large", action="store_true", help="10^7 rows too")
    parser.add_argument("--csv", action="store_true", help="tables as CSV (else Parquet)")
    parser.add_argument("--threads", metavar="N", type=int, default=os.cpu_count() or 1, help="default: all cores")
    parser.add_argument("--folder", metavar="FOLDER", help="where to put the tables (default: a temporary folder)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from quia.graph import DecisionGraph
    from quia.load import load

    classifier = load(arguments.model, format=arguments.format)
    assert isinstance(classifier, DecisionGraph), "the bare kernel walks graphs"
    source = _sample(arguments.data)
    sizes = arguments.rows or [10**4, 10**5, 10**6]
    sizes = [*sizes, *([10**7] if arguments.large else [])]
    looped = {}
    for drawn in DRAWN:
        rows = next(_tables(source, drawn, _LOOPED, _LOOPED))
        looped[drawn] = _loop(classifier, rows)
        write(f"{drawn} drawn, a plain Python loop: {looped[drawn]:,.0f} rows/s ({_LOOPED} rows, with quia.explain)")
        by_paper = _paper_loop(classifier, rows)
        write(f"{drawn} drawn, the paper's algorithms: {by_paper:,.0f} rows/s (quia.paper, snr and ssr)")
    write(_HEAD)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for drawn in DRAWN:
            for size in sizes:
                write(_line(arguments, classifier, source, drawn, size, looped[drawn], Path(folder)))
    for drawn in DRAWN:
        write(_general(classifier, next(_tables(source, drawn, _GENERAL_ROWS, _GENERAL_ROWS)), drawn))
    return 0


def _general(classifier: DecisionGraph, table: pa.Table, drawn: str) -> str:
    """What general reasons cost more than the rows' own states, in `quia.explain_batch`; the best of several runs."""
    from quia.batch.arrow import explain_batch

    cpu = {}
    for general in (False, True):
        taken = []
        for _ in range(_RUNS):
            started = time.process_time()
            explain_batch(classifier, table, general=general)
            taken.append(time.process_time() - started)
        cpu[general] = min(taken)
    ratio = cpu[True] / cpu[False]
    return (
        f"{drawn} drawn, general reasons: {ratio:.2f} times the CPU of the rows' own states ({table.num_rows:,} rows,"
        f" {cpu[True]:.2f} s and {cpu[False]:.2f} s)"
    )


_HEAD = (
    f"{'drawn':8} {'rows':>10} | {'kernel rows/s':>13} | {'batch rows/s':>12} {'of kernel':>9} {'of its CPU':>10}"
    f" {'of loop':>8} {'peak MB':>8}"
)


def _line(
    arguments: argparse.Namespace,
    classifier: DecisionGraph,
    source: pa.Table,
    drawn: str,
    size: int,
    looped: float,
    folder: Path,
) -> str:
    data = folder / f"{drawn}-{size}.{'csv' if arguments.csv else 'parquet'}"
    _write(source, drawn, size, data)
    if hasattr(os, "sync"):
        os.sync()  # or the batch, which waits until its parts are on the disk, would wait for the input too
    table = next(_tables(source, drawn, min(size, _KERNEL_ROWS), _KERNEL_ROWS))
    # Before and after, as other work on the machine may come and go.
    before = _kernel(classifier, table, arguments.threads)
    batch = _batch(arguments, data, folder / f"{drawn}-{size}-out")
    after = _kernel(classifier, table, arguments.threads)
    kernel = Measured((before.seconds + after.seconds) / 2, (before.cpu + after.cpu) / 2)
    data.unlink()
    bare = min(size, _KERNEL_ROWS) / kernel.seconds
    cpu = (kernel.cpu / min(size, _KERNEL_ROWS)) / (batch.cpu / size)
    return (
        f"{drawn:8} {size:10,} | {bare:13,.0f} | {size / batch.seconds:12,.0f} {size / batch.seconds / bare:9.0%}"
        f" {cpu:10.0%} {size / batch.seconds / looped:7,.0f}x {batch.megabytes:8,.0f}"
    )


def _batch(arguments: argparse.Namespace, data: Path, output: Path) -> Measured:
    """The command as anybody runs it, its start included."""
    program = (
        f"{inspect.getsource(peak)}\nimport sys\nfrom quia.cli import main\nended = main()\nprint(peak())\nexit(ended)"
    )
    asked = ["batch", arguments.model, str(data), "-o", str(output), "--threads", str(arguments.threads)]
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", program, *asked], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return Measured(seconds, used.ru_utime + used.ru_stime, int(said.split()[-1]) / 2**20)


def _kernel(classifier: DecisionGraph, table: pa.Table, threads: int) -> Measured:
    """The kernel alone, on rows that are encoded already, every one of them worked out, in general reasons."""
    rows = _states(classifier, table)
    started, cpu = time.perf_counter(), time.process_time()
    classifier.kernel.batch(rows, threads=threads, general=True, numbers=classifier.number_counts)
    # Rows that cannot be explained cost nothing, and are rows of the table: as they do and are for the batch.
    return Measured(time.perf_counter() - started, time.process_time() - cpu)


def _loop(classifier: DecisionGraph, table: pa.Table) -> float:
    """Rows a second when they are explained one by one."""
    from quia.errors import InstanceError
    from quia.explanation import explain

    rows = table.to_pylist()
    _ = classifier.kernel  # made on first use, once
    started = time.perf_counter()
    for row in rows:
        try:
            why = explain(classifier, row)
        except InstanceError:
            continue
        list(why.necessary_reasons(general=True, shortest=True, limit=10))
        list(why.sufficient_reasons(general=True, shortest=True, limit=10))
    return len(rows) / (time.perf_counter() - started)


def _paper_loop(classifier: DecisionGraph, table: pa.Table) -> float:
    """Rows a second by the published algorithms: quia's complete reason, then its shortest reasons of both kinds."""
    from benchmarks.alarm import without_collections
    from quia import paper
    from quia.asking import why
    from quia.complete import complete_reason

    questions = [why(classifier, row) for row in _states(classifier, table).tolist()]
    with without_collections():
        started = time.perf_counter()
        for question in questions:
            formula = complete_reason(classifier, question)
            paper.snr(formula)
            paper.ssr(formula)
        return float(table.num_rows / (time.perf_counter() - started))


def _states(classifier: DecisionGraph, table: pa.Table) -> npt.NDArray[np.int32]:
    """The rows that can be explained, encoded."""
    import numpy as np

    from quia.batch.missing import encode_decided

    states, faults, _ = encode_decided(classifier, table)
    return np.ascontiguousarray(states[faults.sound])


def _sample(data: str) -> pa.Table:
    """The rows to draw from."""
    import pyarrow as pa
    from pyarrow import csv, dataset

    with open(data, "rb") as raw:
        is_parquet = raw.read(4) == b"PAR1"
    table: Any = dataset.dataset(data).head(1_000_000) if is_parquet else csv.read_csv(data)
    return pa.table(table)


def _tables(source: pa.Table, drawn: str, size: int, most: int) -> Iterator[pa.Table]:
    """A table of so many drawn rows, in pieces; the same on every run."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(8)
    for begin in range(0, size, most):
        count = min(most, size - begin)
        if drawn == "rows":
            yield source.take(pa.array(random.integers(0, source.num_rows, count)))
        else:
            columns = [column.take(pa.array(random.integers(0, source.num_rows, count))) for column in source.columns]
            yield pa.table(columns, names=source.column_names)


def _write(source: pa.Table, drawn: str, size: int, path: Path) -> None:
    from pyarrow import csv, parquet

    writer: Any = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    with writer(path, source.schema) as sink:
        for table in _tables(source, drawn, size, _WRITTEN):
            sink.write_table(table)
