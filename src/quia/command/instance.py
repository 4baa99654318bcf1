"""Which instance is meant: a JSON file, values on the command line, or a row of a table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quia.command import distinct
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.files import decode, read_bytes, reading
from quia.rows import open_rows

if TYPE_CHECKING:
    from quia.classifier import Classifier


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name an instance."""
    group = parser.add_argument_group("which instance (one of three ways; --set can also change values of the others)")
    group.add_argument("--instance", metavar="FILE", help="a JSON object from feature to value; - is stdin")
    group.add_argument(
        "--set", dest="values", metavar="FEATURE=VALUE", action="append", default=[], help="one value; repeat it"
    )
    group.add_argument("--data", metavar="FILE.csv", help="a table whose first line names the columns (.gz is fine)")
    group.add_argument("--row", metavar="N", type=int, help="which row of --data; 1 is the first below the names")


def read(arguments: argparse.Namespace, features: Sequence[str]) -> dict[str, Any]:
    """The instance that the options name; --set overrides single values of the other two."""
    if arguments.instance is not None and arguments.data is not None:
        raise InstanceError("both --instance and --data are given; give one of them")
    if (arguments.data is None) != (arguments.row is None):
        raise InstanceError("--data and --row go together: which table, and which row of it")
    given: dict[str, Any] = {}
    if arguments.instance is not None:
        given = _from_json(arguments.instance)
    elif arguments.data is not None:
        given = _from_table(arguments.data, arguments.row, features)
    elif not arguments.values:
        raise InstanceError("no instance is given; use --instance FILE, --set FEATURE=VALUE or --data FILE.csv --row N")
    return given | distinct((pair(text, features, "--set") for text in arguments.values), "--set")


def pair(text: str, features: Sequence[str], option: str) -> tuple[str, str]:
    """FEATURE=VALUE taken apart; a feature's name may hold a = itself.

    >>> pair("a=b=c", ["a=b", "d"], "--set")
    ('a=b', 'c')
    """
    splits = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    known = [split for split in splits if split[0] in features]
    if known:
        return known[-1]
    if not splits:
        raise InstanceError(f"{option} is {shown(text)}; write FEATURE=VALUE")
    name = splits[0][0]
    raise InstanceError(
        f"{option} names {shown(name)}, which is no feature; features are {listed(features)}"
        f"{did_you_mean(name, features)}"
    )


def features_of(texts: Sequence[str], classifier: Classifier, option: str, also: Sequence[str] = ()) -> list[str]:
    """The features that a repeated option names, one each time or several with commas; others are left to be refused.

    `also` are columns that may be named as well.

    >>> from quia import DecisionGraph, Variable
    >>> age, sex = Variable.numeric("age", [30]), Variable.nominal("sex", ["F", "M"])
    >>> graph = DecisionGraph.build([age, sex], ["no"], [-1], [0], [()])
    >>> features_of(["age,sex"], graph, "--frozen"), features_of(["sex", "age"], graph, "--frozen")
    (['age', 'sex'], ['sex', 'age'])
    """
    known = [*(variable.name for variable in classifier.variables), *also]
    found: list[str] = []
    for text in texts:
        pieces = [piece.strip() for piece in text.split(",")]
        if text in known or len(pieces) == 1:
            found.append(text)
            continue
        for piece in pieces:
            if piece not in known:
                raise InstanceError(
                    f"{option} is {shown(text)}, and {shown(piece)} is no feature{did_you_mean(piece, known)}; give"
                    f" features with commas between them, or {option} FEATURE for each"
                )
        found += pieces
    return found


def _from_json(file: str) -> dict[str, Any]:
    if file == "-" and sys.stdin is None:
        raise InstanceError("there is no standard input to read an instance from: it is closed")
    try:
        given = json.loads(_standard_input() if file == "-" else decode(read_bytes(file), file))
    except (ValueError, RecursionError) as fault:
        raise InstanceError(f"{file} is not JSON: {fault}") from None
    if not isinstance(given, dict):
        raise InstanceError(f"{file} holds {shown(given)}; an instance is an object from feature to value")
    return given


def _standard_input() -> str:
    with reading("-"):
        return sys.stdin.read()


def _from_table(file: str, row: int, features: Sequence[str]) -> dict[str, Any]:
    if row < 1:
        raise InstanceError(f"--row is {row}; rows are counted from 1, the first below the names")
    table = open_rows(file)
    return dict(zip(table.names_for(features), table.row(row), strict=True))
