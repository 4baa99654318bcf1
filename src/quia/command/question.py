"""What is asked about one instance: the options that `explain` and `report` share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from quia.command import instance, load_model

if TYPE_CHECKING:
    from quia.explanation import Explanation


def add_question(parser: argparse.ArgumentParser) -> None:
    """The options that name an instance and say what is asked about it."""
    instance.add_arguments(parser)
    group = parser.add_argument_group("the question")
    group.add_argument("--against", metavar="CLASS", help="ask why it was not this class")
    group.add_argument(
        "--frozen", metavar="FEATURE", action="append", default=[], help="a feature that cannot change; repeat it"
    )
    group.add_argument(
        "--cost", metavar="FEATURE=N", action="append", default=[], help="what changing a feature costs (else 1)"
    )


def add_timeout(parser: argparse._ArgumentGroup) -> None:
    """How long the answer may take."""
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=seconds_of,
        default=60.0,
        help="count and gather reasons for S seconds a kind at most (default 60); then list what comes one by one",
    )


def explained(arguments: argparse.Namespace) -> Explanation:
    """The explanation that the options ask for."""
    from quia.explanation import explain

    classifier = load_model(arguments)
    features = [v.name for v in classifier.variables]
    given = instance.read(arguments, features)
    costs = dict(instance.pair(text, features, "--cost") for text in arguments.cost)
    return explain(classifier, given, against=arguments.against, frozen=arguments.frozen, costs=costs or None)


def limit_of(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def seconds_of(text: str) -> float:
    """A time, in seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
