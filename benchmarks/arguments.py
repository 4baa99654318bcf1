"""The options that the benchmark commands share."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from quia.errors import Unsupported

if TYPE_CHECKING:
    from benchmarks.models import Benchmark

DEFAULT_DATA = Path("..") / "shared" / "data"


def add_data(parser: argparse.ArgumentParser) -> None:
    """Which folder, and which benchmarks of it."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        help=f"trees and graphs: trees/*/tree.j48.txt, graphs/*.odd.gz (default {DEFAULT_DATA}, or generated ones)",
    )
    parser.add_argument(
        "--benchmark", metavar="NAME", action="append", default=[], help="only this one, or trees, or graphs; repeat it"
    )


def benchmarks_of(arguments: argparse.Namespace, *, or_generated: bool = True) -> list[Benchmark]:
    """The benchmarks that the options name; generated ones where there is no folder of others."""
    from benchmarks.models import Benchmark, find, generated

    if getattr(arguments, "model", None):
        rows = arguments.rows_of
        return [Benchmark(Path(arguments.model).name, "model", Path(arguments.model), Path(rows) if rows else None)]
    if arguments.data is not None or DEFAULT_DATA.is_dir():
        return find(arguments.data or DEFAULT_DATA, arguments.benchmark)
    if not or_generated:
        raise Unsupported(
            f"no data are given, and {DEFAULT_DATA} is not here", cure="name a folder of learned trees with --data DIR"
        )
    sys.stderr.write("note: no folder of learned trees is named (--data DIR), so generated classifiers are measured\n")
    return generated(default_cache() / "generated", arguments.benchmark)


def default_cache() -> Path:
    """Where fetched data, learned trees and generated ones are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "quia"
