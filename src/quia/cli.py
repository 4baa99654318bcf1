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
from quia.errors import QuiaError, did_you_mean, shown
from quia.overview import COMMANDS, EXIT_CODES, help_text


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv[:1] == ["help"]:  # as many other programs have it
        argv = [*argv[1:2], "--help"]
    return run("quia", _parser, argv)


def run(name: str, parser_for: Callable[[list[str]], argparse.ArgumentParser], argv: list[str]) -> int:
    """Run what argv asks for; every fault becomes one sentence on stderr, after the name, and an exit code."""
    try:
        from quia.command import streams  # not before, as Ctrl-C is heeded from here on
        from quia.command.parsing import Usage

        streams.prepare()
        typed = argparse.Namespace(command_line=shlex.join([name, *argv]))
        try:
            arguments = parser_for(argv).parse_args(argv, typed)
        except Usage as usage:
            print(usage, file=sys.stderr)
            return 2
        with warnings.catch_warnings():
            warnings.showwarning = _note
            code: int = arguments.run(arguments)
    except QuiaError as fault:
        _tell(f"{name}: {fault}")
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
    _tell(f"quia: note: {message}")


def _tell(text: str) -> None:
    from quia.command.terminal import tell

    tell(text)


def _parser(argv: list[str]) -> argparse.ArgumentParser:
    """The parser of the command that argv names, which alone is imported; or one that shows the help."""
    from quia.command.parsing import Parser

    command = argv[0] if argv else ""
    if command == "bench":
        raise QuiaError(
            "there is no command 'bench'; benchmarks are in quia's repository: make bench BENCH='table --quick'"
        )
    if command and not command.startswith("-") and command not in COMMANDS:
        raise QuiaError(f"there is no command {shown(command)}{did_you_mean(command, COMMANDS)}; `quia` lists them")
    parser = Parser(prog="quia", usage="quia COMMAND …", add_help=False)
    parser.add_argument("--version", action="version", version=f"quia {__version__}")
    parser.add_argument("-h", "--help", action="store_const", const=lambda _: _show_help(EXIT_CODES), dest="run")
    parser.set_defaults(run=lambda _: _show_help())
    if command in COMMANDS:
        parser.commands = parser.add_subparsers(metavar="COMMAND", prog="quia")
        import_module(f"quia.command.{command}").add(parser.commands)
    return parser


def _show_help(*more: str) -> int:
    """Print what quia is and can, and three examples."""
    from quia.command.parsing import continued, help_width
    from quia.command.streams import write
    from quia.command.terminal import paint_of

    width = help_width()
    write(help_text(paint_of(sys.stdout), lambda command: continued(command, width), *more))
    return 0
