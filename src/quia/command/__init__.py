"""The commands of the command line, one module each."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from quia.command.parsing import SELDOM
from quia.command.progress import working
from quia.errors import QuiaError, Unsupported
from quia.load import load

if TYPE_CHECKING:
    from quia.classifier import Classifier

Subparsers = Any  # argparse's own class for them is private


def add_model(parser: argparse.ArgumentParser) -> None:
    """The argument that every command has: which model."""
    parser.add_argument("model", metavar="MODEL", help="the model's file; its format is told by its content")
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="read MODEL as this format, whatever it looks like; `quia check --help` lists them",
    )
    add_loading(parser)
    parser.add_argument(
        "--trust-pickle", action="store_true", help="unpickle MODEL, which runs any code that its maker put into it"
    )


def add_loading(parser: argparse.ArgumentParser) -> None:
    """What may be said of how a model is read."""
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="""an option of the format: --option vtree=m.vtree or --option 'classes=["deny", "admit"]'""",
    )
    sums = parser.add_argument_group(SELDOM)
    sums.add_argument(
        "--range",
        dest="ranges",
        metavar="FEATURE=LOW:HIGH",
        action="append",
        default=[],
        help="between which numbers a feature lies that is added as it is; repeat it",
    )
    sums.add_argument(
        "--ranges-from", metavar="FILE.csv", help="take the ranges that --range does not give from this table's columns"
    )
    sums.add_argument(
        "--cutoff", metavar="POINTS", action="append", help="from where on a scorecard tells its next class; repeat it"
    )
    sums.add_argument("--classes", metavar="NAME,NAME", help="what classes are called, that below the cutoff first")


def model_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the model's format that the arguments give."""
    options = distinct((option_pair(text) for text in arguments.option), "--option")
    given = {
        "cutoff": arguments.cutoff,
        "classes": None if arguments.classes is None else [name.strip() for name in arguments.classes.split(",")],
        "ranges": distinct((_range(text) for text in arguments.ranges), "--range") or None,
        "data": arguments.ranges_from,
        "trust_pickle": getattr(arguments, "trust_pickle", False) or None,
    }
    for name, value in given.items():
        if value is not None and name in options:
            raise QuiaError(f"{name!r} is given with --option and by an option of its own; give it once")
    return options | {name: value for name, value in given.items() if value is not None}


def load_model(arguments: argparse.Namespace) -> Classifier:
    """The model that the arguments name."""
    options = model_options(arguments)
    with working("reading the model"):
        return load(arguments.model, format=arguments.format, **options)


def option_pair(text: str, option: str = "--option") -> tuple[str, Any]:
    """NAME=VALUE, where a value that is a JSON list, object, true or false is that, and anything else a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise Unsupported(f"{option} is {text!r}", cure="write NAME=VALUE")
    if name == "format":
        instead = option.replace("option", "format")
        raise Unsupported(
            f"{option} is {text!r}, but how a file is read is no option of a format", cure=f"write {instead} {value}"
        )
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return name, value
    return name, parsed if isinstance(parsed, (list, dict, bool)) else value


def _range(text: str) -> tuple[str, tuple[float, float]]:
    """FEATURE=LOW:HIGH taken apart; a feature's name may hold a = itself.

    >>> _range("income=-5:2e5")
    ('income', (-5.0, 200000.0))
    """
    name, _, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    try:
        if name and colon and "_" not in ends:
            return name, (float(low), float(high))
    except ValueError:
        pass
    raise QuiaError(f"--range is {text!r}; write FEATURE=LOW:HIGH, as in income=0:250000")


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
    named = {"MODEL": arguments.model, "--ranges-from": arguments.ranges_from}
    return named | {name: text for name, text in texts.items() if os.path.isfile(text)}


def _is_same(one: str, other: str) -> bool:
    if not (os.path.exists(one) and os.path.exists(other)):
        return os.path.realpath(one) == os.path.realpath(other)
    is_kept = os.path.isfile(one) or os.path.isdir(one)  # a terminal may well be read from and written to
    return is_kept and os.path.samefile(one, other)


def note(text: str) -> None:
    """Tell on stderr what is not wrong, but should be known."""
    from quia.command.terminal import tell

    tell(f"quia: note: {text}")
