"""The commands of the command line, one module each."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from quia.command.progress import working
from quia.errors import QuiaError, Unsupported
from quia.load import load

if TYPE_CHECKING:
    from quia.classifier import Classifier

Subparsers = Any  # argparse's own class for them is private


def add_model(parser: argparse.ArgumentParser) -> None:
    """The argument that every command has: which model."""
    parser.add_argument("model", metavar="MODEL", help="the model's file; its format is told by its content")
    parser.add_argument("--format", metavar="NAME", help="read MODEL as this format, whatever it looks like")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="""an option of the format: --option vtree=m.vtree or --option 'classes=["deny", "admit"]'""",
    )
    parser.add_argument(
        "--trust-pickle", action="store_true", help="unpickle MODEL, which runs any code that its maker put into it"
    )


def model_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the model's format that the arguments give."""
    options = distinct((_option(text) for text in arguments.option), "--option")
    return options | ({"trust_pickle": True} if arguments.trust_pickle else {})


def load_model(arguments: argparse.Namespace) -> Classifier:
    """The model that the arguments name."""
    options = model_options(arguments)
    with working("reading the model"):
        return load(arguments.model, format=arguments.format, **options)


def _option(text: str) -> tuple[str, Any]:
    """NAME=VALUE, where a value that is a JSON list, object, true or false is that, and anything else a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise Unsupported(f"--option is {text!r}", cure="write NAME=VALUE")
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return name, value
    return name, parsed if isinstance(parsed, (list, dict, bool)) else value


def distinct(pairs: Iterable[tuple[str, Any]], option: str) -> dict[str, Any]:
    """The pairs that an option gives, one by one; a name that is given twice is refused."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise QuiaError(f"{option} gives {name!r} twice; give it once")
        found[name] = value
    return found


def refuse_same_files(inputs: dict[str, str | None], outputs: dict[str, str | None]) -> None:
    """Refuse to write over what is read, or two things into one file; they are named by their options."""
    named = [(name, file) for name, file in {**inputs, **outputs}.items() if file is not None and file != "-"]
    for (one, file), (other, same) in combinations(named, 2):
        if other in outputs and _is_same(file, same):
            raise QuiaError(f"{one} and {other} are the same file, {same}; write to another one")


def model_files(arguments: argparse.Namespace) -> dict[str, str | None]:
    """The files that the model is read from."""
    texts = {f"--option {text.partition('=')[0]}": text.partition("=")[2] for text in arguments.option}
    return {"MODEL": arguments.model, **{name: text for name, text in texts.items() if os.path.isfile(text)}}


def _is_same(one: str, other: str) -> bool:
    if not (os.path.exists(one) and os.path.exists(other)):
        return os.path.realpath(one) == os.path.realpath(other)
    is_kept = os.path.isfile(one) or os.path.isdir(one)  # a terminal may well be read from and written to
    return is_kept and os.path.samefile(one, other)


def note(text: str) -> None:
    """Tell on stderr what is not wrong, but should be known."""
    print(f"quia: note: {text}", file=sys.stderr)  # noqa: T201
