"""The options that the benchmark commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from quia.errors import Unsupported

if TYPE_CHECKING:
    from quia.bench.benchmarks import Benchmark

DEFAULT_DATA = Path("..") / "shared" / "data"


def add_data(parser: argparse.ArgumentParser) -> None:
    """Which folder, and which benchmarks of it."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        help=f"trees and graphs: trees/*/tree.j48.txt, graphs/*.odd.gz (default {DEFAULT_DATA})",
    )
    parser.add_argument(
        "--benchmark", metavar="NAME", action="append", default=[], help="only this one, or trees, or graphs; repeat it"
    )


def benchmarks_of(arguments: argparse.Namespace) -> list[Benchmark]:
    """The benchmarks that the options name."""
    from quia.bench.benchmarks import Benchmark, find

    if getattr(arguments, "model", None):
        rows = arguments.rows_of
        return [Benchmark(Path(arguments.model).name, "model", Path(arguments.model), Path(rows) if rows else None)]
    if arguments.data is None and not DEFAULT_DATA.is_dir():
        raise Unsupported(
            f"no data are given, and {DEFAULT_DATA} is not here",
            cure="name a folder with --data DIR, or let `quia bench table` fetch data sets with --openml",
        )
    return find(arguments.data or DEFAULT_DATA, arguments.benchmark)
