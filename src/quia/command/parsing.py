"""What commands have in common: help that fits a terminal, faults in a sentence, a usage where something is missing."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from quia.errors import QuiaError, did_you_mean, shown
from quia.show.wrapping import bounded

SELDOM = "of a model that adds up numbers or points"
"""The title of options that few models need."""
_MISSING = "the following arguments are required: "


class Usage(QuiaError):
    """A command without what it needs: its message is how it is used, in several lines, and not a fault."""


class Formatter(argparse.HelpFormatter):
    """Help that is as wide as the terminal, within bounds; a text with line breaks keeps them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser of one command, with examples of it, or of all of them."""

    def __init__(self, *, examples: Sequence[str] = (), notes: str = "", **options: Any) -> None:
        self.examples, self.notes = tuple(examples), notes
        self.commands: Any = None
        options.setdefault("formatter_class", Formatter)
        super().__init__(**options)

    def format_help(self) -> str:
        """The help, what is seldom needed behind the rest, and notes and examples at its end."""
        self._action_groups.sort(key=lambda group: group.title == SELDOM)
        return "\n".join(filter(None, [super().format_help().rstrip("\n"), self.notes, self._shown_examples()])) + "\n"

    def _shown_examples(self) -> str:
        if not self.examples:
            return ""
        heading = "example:" if len(self.examples) == 1 else "examples:"
        return "\n".join(["", heading, *(continued(example, help_width()) for example in self.examples)])

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; an option that there is not is told with the one that may be meant."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            chosen = self.commands.choices.get(args[0]) if self.commands and args else self
            (chosen or self).refuse(unknown)
        return found

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments that are none."""
        first = unknown[0]
        if first.startswith("-") and first != "-":
            name = first.partition("=")[0]
            self.error(f"there is no option {shown(name)}{did_you_mean(name, self._option_string_actions)}")
        self.error(f"{shown(first)} is one argument too many")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in a sentence; where something is missing, also how the command is used."""
        if message.startswith(_MISSING):
            missing = message.removeprefix(_MISSING).replace("-o/--output", "-o")
            usage = self.format_usage().rstrip("\n")
            are = "are" if "," in missing else "is"
            lines = [f"{self.prog}: {missing} {are} missing", "", usage, self._shown_examples(), "", self._read_on()]
            raise Usage("\n".join(lines))
        said = message.removeprefix("argument ")
        raise QuiaError(said if "; " in said else f"{said}; {self._read_on()}")  # a fault may have its cure

    def _read_on(self) -> str:
        return f"`{self.prog} --help` tells all"


def help_width() -> int:
    """How wide help is; what is written to a file or a pipe is as wide as on most terminals."""
    return bounded(int(columns) if (columns := os.environ.get("COLUMNS", "")).isdecimal() else _terminal_width())


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def continued(command: str, width: int, indent: str = "  ") -> str:
    """A command that may be copied as it is shown, continued on further lines where it is wider than the terminal.

    >>> print(continued("quia explain model.json --set A=1 --set 'B=two words' -o x.txt", 40))
      quia explain model.json --set A=1 \\
        --set 'B=two words' -o x.txt
    """
    if len(indent + command) <= width:
        return indent + command
    lines, line = [], indent
    for piece in _pieces(command):
        if line.strip() and len(line) + len(piece) + 3 > width:
            lines.append(f"{line} \\")
            line = f"{indent}  {piece}"
        else:
            line += piece if not line.strip() else f" {piece}"
    return "\n".join([*lines, line])


def _pieces(command: str) -> list[str]:
    """The words of a command as they are typed, an option together with its value."""
    words = [word if word in ("&&", "|") else shlex.quote(word) for word in shlex.split(command)]
    pieces: list[str] = []
    for word in words:
        if pieces and pieces[-1].startswith("-") and " " not in pieces[-1] and not word.startswith("-"):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    return pieces
