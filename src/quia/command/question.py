"""What is asked about one instance: the options that `explain` and `report` share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quia.command import distinct, instance, load_model, note
from quia.command.numbers import seconds_of
from quia.command.possible import add_possible, possible_of
from quia.command.progress import working
from quia.errors import did_you_mean, shown
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.explanation import Explanation
    from quia.reference import Reference


def add_question(parser: argparse.ArgumentParser) -> None:
    """The options that name an instance and say what is asked about it."""
    instance.add_arguments(parser)
    group = parser.add_argument_group("the question")
    add_why(group)
    group.add_argument(
        "--cost", metavar="FEATURE=N", action="append", default=[], help="what changing a feature costs (else 1)"
    )
    group.add_argument(
        "--reference",
        metavar="FILE",
        help="a table of instances (CSV, Parquet or Arrow): say how many of its rows each reason fits, and of reasons"
        " with the same features give first what fits the most",
    )
    add_possible(parser)


def add_why(group: argparse._ArgumentGroup) -> None:
    """Against which class it is asked, and what cannot change."""
    group.add_argument("--against", metavar="CLASS", help="ask why it was not this class")
    group.add_argument(
        "--frozen", metavar="FEATURE", action="append", default=[], help="a feature that cannot change; repeat it"
    )


def add_form(parser: argparse._ArgumentGroup) -> None:
    """What reasons say of their features."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--states",
        action="store_true",
        help="reasons by the instance's own states, the smallest intervals that the model tells apart, instead of"
        " conditions as wide as they are true",
    )
    form.add_argument(
        "--sets",
        action="store_true",
        help="conditions on a number may be any set, such as '<= 20 or > 60', not only an interval",
    )


def form_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same as options of `Explanation.answer`."""
    return {"general": not arguments.states, "intervals": not arguments.sets}


def add_timeout(parser: argparse._ArgumentGroup) -> None:
    """How long the answer may take."""
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=seconds_of,
        help="look for reasons and changes for S seconds at most (default 60; for a model whose reasons have no closed"
        " form, such as a forest, 5 unless all are asked for); then show what was found until then",
    )


LONGEST = 60.0
"""How many seconds an answer may take, where nothing is said."""


def timeout_of(arguments: argparse.Namespace, explanation: Explanation) -> float:
    """The seconds that were asked for, or else as many as people wait."""
    from quia.patience import PATIENCE

    if arguments.timeout is not None:
        return float(arguments.timeout)
    return PATIENCE if explanation.is_searched and not getattr(arguments, "all", False) else LONGEST


def explained(arguments: argparse.Namespace) -> Explanation:
    """The explanation that the options ask for."""
    from quia.explanation import explain

    classifier = load_model(arguments)
    features = [v.name for v in classifier.variables]
    given = instance.read(arguments, features)
    costs = distinct((instance.pair(text, features, "--cost") for text in arguments.cost), "--cost")
    explanation = explain(
        classifier,
        given,
        against=arguments.against,
        frozen=instance.features_of(arguments.frozen, classifier, "--frozen"),
        costs=costs or None,
        data=_reference(classifier, arguments.reference),
        **possible_of(arguments, classifier),
    )
    _note_unlisted(classifier, given)
    return explanation


def _reference(classifier: Classifier, file: str | None) -> Reference | None:
    """The table that reasons are counted in, if there is one."""
    if file is None:
        return None
    from quia.batch.reference import reference_file

    with working("reading the reference table"):
        return reference_file(classifier, file)


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
