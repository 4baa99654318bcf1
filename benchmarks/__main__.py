"""`python -m benchmarks`: the paper's table, the kernel and other tools, measured here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from quia.cli import run

COMMANDS = (
    "table",
    "kernel",
    "circuits",
    "batch",
    "widths",
    "worlds",
    "ensembles",
    "additive",
    "networks",
    "audit",
    "look",
    "peers",
)
"""Each is a module of benchmarks with `add(subparsers)`, which names its `run(arguments) -> exit code`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a benchmark."""
    argv = sys.argv[1:] if argv is None else list(argv)
    return run("benchmarks", _parser, argv)


def _parser(_argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures what this project and others do, on this machine."
    )
    subparsers = parser.add_subparsers(metavar="WHAT", required=True)
    for name in COMMANDS:
        import_module(f"benchmarks.{name}").add(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
