"""`quia completion`: a script that makes a shell complete quia's commands, options and files."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from quia.command import Subparsers
from quia.command.completion_scripts import SCRIPTS, Command, Option, Value
from quia.command.streams import write
from quia.load import FORMATS
from quia.overview import COMMANDS

INSTALL = {
    "bash": "source <(quia completion bash)",
    "zsh": "source <(quia completion zsh)",
    "fish": "quia completion fish > ~/.config/fish/completions/quia.fish",
}
"""How each shell is told."""
FILES = ("MODEL", "DATA", "DATA.csv", "OUT", "OTHER", "FILE", "FILE.csv", "PAGE.html", "AUDIT.json", "FOLDER")
"""What arguments are called that name a file or a folder."""
OF_FORMATS = ("format", "compare_format")
"""The options whose value is the name of a format."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "completion",
        usage="quia completion bash|zsh|fish",
        description="Prints a script that makes a shell complete quia's commands, options, formats and files with TAB.",
        notes="\ninto ~/.bashrc, into ~/.zshrc after compinit, or once for fish:\n"
        + "\n".join(f"  {line}" for line in INSTALL.values()),
        examples=(INSTALL["bash"],),
    )
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="which shell the script is for")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    write(SCRIPTS[arguments.shell](commands(), INSTALL[arguments.shell]))
    return 0


def commands() -> list[Command]:
    """What every command takes, as its parser has it."""
    from quia.command.parsing import Parser

    parser = Parser(prog="quia")
    subparsers = parser.add_subparsers()
    for name in COMMANDS:
        import_module(f"quia.command.{name}").add(subparsers)
    return [_command(name, line, subparsers.choices[name]) for name, line in COMMANDS.items()]


def _command(name: str, line: str, parser: Any) -> Command:
    options = [
        Option(tuple(each.option_strings), _line(each), _value(each), isinstance(each, argparse._AppendAction))
        for each in parser._actions
        if each.option_strings
    ]
    values = [value for each in parser._actions if not each.option_strings and (value := _value(each))]
    return Command(name, line, tuple(options), tuple(values))


def _line(action: argparse.Action) -> str:
    """What an option is for, in few words."""
    text = " ".join((action.help or "").split()).replace("%%", "%")
    for end in (";", ":", " (", ", "):
        text = text.partition(end)[0]
    return text


def _value(action: argparse.Action) -> Value | None:
    """What an argument takes; None of one that takes nothing."""
    if action.nargs == 0:
        return None
    called = str(action.metavar or action.dest.upper())
    if action.dest in OF_FORMATS:
        return Value(called, tuple(FORMATS), is_file=False)
    choices = tuple(map(str, action.choices)) if action.choices is not None else ()
    return Value(called, choices, called in FILES)
