"""`quia convert`: any model in, quia's JSON out."""

from __future__ import annotations

import argparse

from quia.command import Subparsers, add_model, load_model, model_files, refuse_same_files
from quia.command.possible import add_given, given_files, with_given_of
from quia.command.streams import write_document
from quia.errors import Unsupported


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "convert",
        usage="quia convert MODEL -o FILE [options]",
        description="Reads a model and writes it as quia's JSON.",
        examples=("quia convert examples/credit_scorecard.csv -o card.json",),
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to; - is stdout")
    add_given(parser, "constraints to write into the model, beside its own")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert."""
    from quia.classifier import HasJson, offers
    from quia.load import json

    refuse_same_files({**model_files(arguments), **given_files(arguments)}, {"-o": arguments.output})
    classifier = with_given_of(arguments, load_model(arguments))
    if not offers(classifier, HasJson):
        raise Unsupported(
            f"{arguments.model} is a {classifier.kind}, which quia's JSON cannot hold",
            cure="use it as it is: every command takes it",
        )
    write_document(json.dumps(classifier), arguments.output)
    return 0
