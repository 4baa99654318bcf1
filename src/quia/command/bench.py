"""`quia bench`: the paper's table, the kernel and the peers, measured here."""

from __future__ import annotations

from importlib import import_module

from quia.command import Subparsers

SUBCOMMANDS = ("table", "kernel", "circuits", "batch", "peers")
"""Each is a module of quia.bench with `add(subparsers)`, which names its `run(arguments) -> exit code`."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "bench",
        help="measure: the paper's table, the kernel, other tools",
        description="Measures what this project and others do, on this machine.",
    )
    commands = parser.add_subparsers(metavar="WHAT", required=True)
    for name in SUBCOMMANDS:
        import_module(f"quia.bench.{name}").add(commands)
