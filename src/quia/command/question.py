"""What is asked about one instance: the options that `explain` and `report` share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quia.command import distinct, instance, load_model, note
from quia.command.numbers import seconds_of
from quia.errors import did_you_mean, shown
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.classifier import Classifier
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
    costs = distinct((instance.pair(text, features, "--cost") for text in arguments.cost), "--cost")
    explanation = explain(classifier, given, against=arguments.against, frozen=arguments.frozen, costs=costs or None)
    _note_unlisted(classifier, given)
    return explanation


def _note_unlisted(classifier: Classifier, given: Mapping[str, Any]) -> None:
    """Say which values are no categories of the model's own: a misspelled one would be taken for any other."""
    for index in classifier.tested:
        variable = classifier.variables[index]
        value = given[variable.name]
        labels = [label for label in variable.labels or () if label not in (variable.other, variable.no_value)]
        if variable.other is None or is_missing(value) or str(value).strip() == variable.other:
            continue
        if variable.text(variable.encode(value)) == variable.other:
            note(
                f"{variable.name}={shown(value)} is none of the model's categories, so it counts as"
                f" {variable.other!r}{did_you_mean(value, labels)}"
            )
