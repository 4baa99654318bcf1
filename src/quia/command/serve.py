"""`quia serve`: ask a model "what if" on a local web page."""

from __future__ import annotations

import argparse
import csv
import ipaddress
import signal
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from quia.command import Subparsers, instance, write
from quia.errors import FormatError, InstanceError, Unsupported

if TYPE_CHECKING:
    from quia.web.rows import Rows

MOST_ROWS = 100_000


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "serve",
        help="ask a model 'what if' on a local web page",
        description="A web page on this machine: choose or drop a model, change facts, see the reasons change.",
        epilog="example: quia serve examples/admissions.json",
    )
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model's file, or a folder of them")
    parser.add_argument("--format", metavar="NAME", help="read MODEL as this format, whatever it looks like")
    parser.add_argument("--data", metavar="FILE.csv", help="a table to pick rows from (.gz is fine)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    where = parser.add_argument_group("where")
    where.add_argument("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1: this machine)")
    where.add_argument("--port", type=int, default=8642, help="the port (default 8642; 0 is any free one)")
    where.add_argument(
        "--name", action="append", default=[], help="a name that the server is reached by, if it listens elsewhere"
    )
    bounds = parser.add_argument_group("limits")
    bounds.add_argument("--workers", type=int, help="how many questions are worked on at once")
    bounds.add_argument("--seconds", type=float, default=15, help="the longest a question may take (default 15)")
    bounds.add_argument("--memory", metavar="MB", type=int, default=2048, help="for one worker (default 2048)")
    bounds.add_argument("--largest", metavar="MB", type=int, default=16, help="the largest dropped file (default 16)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise Unsupported(f"quia serve needs {package}", cure="pip install 'quia[web]'")
    from quia.web.models import Models
    from quia.web.server import bound, default_workers, serve

    source = None if arguments.model is None else Path(arguments.model)
    if source is not None and not source.exists():
        raise FormatError("there is no such file or folder", file=arguments.model)
    rows = None if arguments.data is None else _table(arguments.data)
    listening = bound(arguments.host, arguments.port)

    def ready(address: str) -> None:
        write(f"quia serves {address} (Ctrl-C stops)")
        if not ipaddress.ip_address(listening.getsockname()[0]).is_loopback:
            write("Others on the network can reach it too, and see the models and rows given.")
        if arguments.open:
            webbrowser.open(address)

    # Whichever way it is stopped, dropped files are removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), listening, Models(source, format=arguments.format) as models:
        serve(
            models,
            rows,
            listening=listening,
            names=arguments.name,
            ready=ready,
            workers=arguments.workers or default_workers(),
            seconds=arguments.seconds,
            memory=arguments.memory * 2**20,
            largest=arguments.largest * 2**20,
        )
    return 0


def _table(file: str) -> Rows:
    from quia.web.rows import Rows

    with instance._open(file) as stream:
        try:
            rows = instance.table_rows(stream)
            names = next(rows, None)
            found = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
        except (csv.Error, UnicodeDecodeError) as fault:
            raise InstanceError(f"{file} cannot be read as a table: {fault}") from None
    if names is None or not found:
        raise InstanceError(f"{file} has no rows; its first line names the columns, and rows follow")
    return Rows(Path(file).name, names, found)
