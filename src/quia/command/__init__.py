"""The commands of the command line, one module each."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from quia.command.progress import working
from quia.errors import Unsupported
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
    options = dict(_option(text) for text in arguments.option)
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


def write(text: str) -> None:
    """Print to stdout."""
    print(text, flush=True)  # noqa: T201
