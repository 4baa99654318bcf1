"""The command line: `quia explain` and its sisters."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from quia import __version__
from quia.errors import QuiaError

COMMANDS = ("explain", "check", "convert", "learn", "batch", "audit", "verify", "report", "serve")
"""Each is a module of quia.command with `add(subparsers)`, which names its `run(arguments) -> exit code`."""

EXIT_CODES = """exit codes:
  0    answered
  1    the model is not sound, does not decide as the data say, or constraints are not met (check);
       a claim is refuted (verify)
  2    bad usage, model or instance; the reason is on stderr
  3    answered in part: time ran out, or a claim could not be checked (verify)
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command."""
    argv = sys.argv[1:] if argv is None else list(argv)
    return run("quia", _parser, argv)


def run(name: str, parser_for: Callable[[list[str]], argparse.ArgumentParser], argv: list[str]) -> int:
    """Run what argv asks for; every fault becomes one sentence on stderr, after the name, and an exit code."""
    try:
        from quia.command import streams  # not before, as Ctrl-C is heeded from here on

        streams.prepare()
        typed = argparse.Namespace(command_line=shlex.join([name, *argv]))
        arguments = parser_for(argv).parse_args(argv, typed)
        with warnings.catch_warnings():
            warnings.showwarning = _note
            code: int = arguments.run(arguments)
    except QuiaError as fault:
        print(f"{name}: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        streams.forget_stdout()
        return 0
    return code


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a sentence, without the line of code it came from."""
    print(f"quia: note: {message}", file=sys.stderr)


def _parser(argv: list[str]) -> argparse.ArgumentParser:
    """The parser of the command that argv names, which alone is imported; of all, where they are to be listed."""
    if argv[:1] == ["bench"]:
        raise QuiaError(
            "there is no command 'bench'; benchmarks are in quia's repository: make bench BENCH='table --quick'"
        )
    parser = argparse.ArgumentParser(
        prog="quia",
        description="Why a classifier decided as it did, exactly.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"quia {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in argv[:1] if argv and argv[0] in COMMANDS else COMMANDS:
        import_module(f"quia.command.{name}").add(subparsers)
    return parser
