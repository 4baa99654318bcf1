"""`python -m benchmarks table`: the paper's Table 1, as printed, by its own algorithms, and by the kernel."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.arguments import add_data, benchmarks_of
from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write

if TYPE_CHECKING:
    from benchmarks.models import Benchmark
    from benchmarks.steps import Steps
    from benchmarks.store import Store
    from benchmarks.work import Task

QUICK = {"rows": 100, "paper_rows": 5, "limit": 5.0, "paper_limit": 0.5, "compile_limit": 10.0}
"""A meaningful table in about a minute: the kernel on a hundred instances of each, the paper's algorithms on a few."""
FULL = {"rows": 1000, "paper_rows": 1000, "limit": 60.0, "paper_limit": 60.0, "compile_limit": 60.0}
"""What the paper did."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "table",
        help="the paper's Table 1, reproduced and beside what quia does",
        description="Runs the paper's algorithms (paper.py) and the kernel on the same instances and puts them beside"
        " the paper's printed figures. A killed run goes on where it was. Times are CPU seconds.",
        epilog="The whole table, as the paper has it, takes paper.py about a day on two cores; --quick a minute.",
    )
    add_data(parser)
    source = parser.add_argument_group("where trees come from")
    source.add_argument(
        "--openml", action="store_true", help="fetch the data sets from OpenML and learn J48 trees with Weka"
    )
    source.add_argument(
        "--learn", action="store_true", help="learn J48 trees anew with Weka from the train/*.csv.gz of --data"
    )
    source.add_argument("--cache", metavar="DIR", help="where fetched data and learned trees are kept")
    how = parser.add_argument_group("how much")
    how.add_argument("--quick", action="store_true", help="a meaningful table in about a minute")
    how.add_argument("--rows", metavar="N", type=whole, help="instances of each benchmark (default 1000)")
    how.add_argument("--paper-rows", metavar="N", type=whole, help="of them for paper.py (default all)")
    how.add_argument("--limit", metavar="S", type=positive_seconds, help="seconds for an answer (default 60)")
    how.add_argument(
        "--paper-limit", metavar="S", type=positive_seconds, help="the same for paper.py (default as --limit)"
    )
    how.add_argument(
        "--compile-limit",
        metavar="S",
        type=positive_seconds,
        help="CPU seconds to compile a network (default 60; quick: 10)",
    )
    how.add_argument("--jobs", metavar="N", type=whole, default=os.cpu_count() or 1, help="processes (default: cores)")
    how.add_argument(
        "--memory", metavar="GiB", type=positive_seconds, default=4.0, help="cap for each process (default 4)"
    )
    parser.add_argument("--out", metavar="DIR", default="quia-bench", help="where results go (default quia-bench)")
    parser.add_argument("--fresh", action="store_true", help="forget the results that are in --out")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure what is missing, then write the table."""
    from benchmarks import networks_table, report
    from benchmarks.store import Store, key_of

    settings = settings_of(arguments)
    asked, others = networks_table.chosen(arguments)
    benchmarks = [] if others is None else _benchmarks(others)
    folder = Path(arguments.out) / "networks"
    compiled = networks_table.compiled(asked, folder, settings["compile_limit"], fresh=arguments.fresh)
    benchmarks += networks_table.benchmarks_of(compiled, folder)
    plan = settings | {"benchmarks": [b.name for b in benchmarks], "models": [_print_of(b) for b in benchmarks]}
    with Store(arguments.out, plan, fresh=arguments.fresh) as store:
        for record in compiled:
            if key_of(record) not in store.records:
                store.add(record)
        measure(store, benchmarks, settings, jobs=arguments.jobs, memory=int(arguments.memory * 2**30))
        kinds: dict[str, str] = {b.name: b.kind for b in benchmarks}
        files = report.write(Path(arguments.out), list(store.records.values()), kinds, settings)
    write(files["table.md"].read_text("utf-8"))
    write(f"{files['report.html']}: the same with plots; {arguments.out}/ has the numbers.")
    return 0


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """How much is measured: the quick or the full settings, and what was asked for otherwise."""
    settings = dict(QUICK if arguments.quick else FULL)
    if arguments.limit is not None and not arguments.quick:
        settings["paper_limit"] = arguments.limit
    settings |= {name: value for name in settings if (value := getattr(arguments, name)) is not None}
    return settings


def _benchmarks(arguments: argparse.Namespace) -> list[Benchmark]:
    if not (arguments.openml or arguments.learn):
        return benchmarks_of(arguments)
    from benchmarks import learn

    return learn.benchmarks(
        arguments.data,
        openml=arguments.openml,
        cache=arguments.cache,
        names=arguments.benchmark,
    )


def _print_of(benchmark: Benchmark) -> str:
    """A fingerprint of a benchmark's files: results of other files are not results of these."""
    from hashlib import sha256

    digest = sha256(benchmark.model.read_bytes())
    if benchmark.data is not None:
        digest.update(benchmark.data.read_bytes())
    return digest.hexdigest()[:16]


def tasks(benchmarks: Sequence[Benchmark], settings: dict[str, Any], sizes: dict[str, int]) -> Iterator[Task]:
    """All there is to measure once it is known how many instances each benchmark has."""
    from benchmarks.kernel import spread_out
    from benchmarks.work import Task

    for benchmark in benchmarks:
        rows = spread_out(sizes[benchmark.name], settings["rows"])
        chosen = spread_out(len(rows), settings["paper_rows"])
        compared = {rows[i] for i in chosen}
        for row in rows:
            limit = settings["paper_limit"] if row in compared else 0.0
            yield Task(benchmark, "instance", row, (), settings["limit"], limit)
        yield Task(benchmark, "batch", -1, tuple(rows), settings["limit"])


def measure(store: Store, benchmarks: Sequence[Benchmark], settings: dict[str, Any], *, jobs: int, memory: int) -> None:
    """Do what the store lacks, in several processes."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from benchmarks.steps import Steps
    from benchmarks.work import Task, prepare
    from quia.errors import TooLarge

    # A process that is started anew, not forked, has no threads or locks of this one in it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, prepare, (memory,)) as pool:
        try:
            about = [Task(b, "about") for b in benchmarks]
            _do_all(pool, store, about, Steps(len(about)), jobs)
            sizes = {b.name: store.records[b.name, "about", -1]["instances"] for b in benchmarks}
            todo = list(tasks(benchmarks, settings, sizes))
            _do_all(pool, store, todo, Steps(sum(map(_weight, todo))), jobs)
        except BrokenProcessPool:
            raise TooLarge(
                "a process was ended from outside, most likely for want of memory; run the command again to go on,"
                " with fewer --jobs",
                limit=memory,
            ) from None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise


def _weight(task: Task) -> float:
    """How long a task may take, roughly, in instances that the kernel answers."""
    if task.what == "batch":
        return len(task.rows)
    return 100.0 if task.paper_limit else 1.0


def _do_all(pool: Any, store: Store, todo: Sequence[Task], steps: Steps, jobs: int) -> None:
    from concurrent.futures import FIRST_COMPLETED, Future, wait

    from benchmarks.work import do

    with steps:
        missing = [task for task in todo if task.key not in store.records]
        steps.skip(sum(_weight(task) for task in todo) - sum(map(_weight, missing)))
        running: dict[Future[dict[str, Any]], Task] = {}
        queue = iter(missing)
        while True:
            # Few are handed out at a time, so that little is lost when the run is killed.
            while len(running) < 4 * jobs and (task := next(queue, None)) is not None:
                running[pool.submit(do, task)] = task
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                store.add(future.result())
                steps.step(_weight(task), on=task.benchmark.name)
