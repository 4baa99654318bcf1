"""The command line: `quia explain` and its sisters."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from quia import __version__
from quia.errors import QuiaError

COMMANDS = ("explain", "check", "convert", "learn", "batch", "report", "serve", "bench")
"""Each is a module of quia.command with `add(subparsers)`, which names its `run(arguments) -> exit code`."""

EXIT_CODES = """exit codes:
  0    answered
  1    the model is not sound, or does not decide as the data say (check)
  2    bad usage, model or instance; the reason is on stderr
  3    answered in part: time ran out
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; every fault becomes one sentence on stderr and an exit code."""
    try:
        from quia.command import streams  # not before, as Ctrl-C is heeded from here on

        streams.prepare()
        arguments = _parser().parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = _note
            code: int = arguments.run(arguments)
    except QuiaError as fault:
        print(f"quia: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("quia: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        streams.forget_stdout()
        return 0
    return code


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a sentence, without the line of code it came from."""
    print(f"quia: note: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="quia",
        description="Why a classifier decided as it did, exactly.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"quia {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"quia.command.{name}").add(subparsers)
    return parser
