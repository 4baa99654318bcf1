"""`quia report`: one decision as one page."""

from __future__ import annotations

import argparse
from pathlib import Path

from quia.command import Subparsers, add_model, instance, write
from quia.command.explain import _limit, _seconds
from quia.command.progress import working
from quia.load import load


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "report",
        help="one decision as one page",
        description="Writes why a model decided as it did as one HTML file that needs no network and no other file.",
        epilog="example: quia report examples/admissions.json --set SAT=1400 --set GPA=medium --set Essay=fail"
        " --set Interview=fail -o page.html",
    )
    add_model(parser)
    instance.add_arguments(parser)
    question = parser.add_argument_group("the question")
    question.add_argument("--against", metavar="CLASS", help="ask why it was not this class")
    question.add_argument(
        "--frozen", metavar="FEATURE", action="append", default=[], help="a feature that cannot change; repeat it"
    )
    question.add_argument(
        "--cost", metavar="FEATURE=N", action="append", default=[], help="what changing a feature costs (else 1)"
    )
    answer = parser.add_argument_group("the answer")
    answer.add_argument("-o", "--output", metavar="FILE", required=True, help="where to; - is stdout")
    answer.add_argument("--limit", metavar="N", type=_limit, default=10, help="at most N of each kind (default 10)")
    answer.add_argument("--timeout", metavar="S", type=_seconds, help="stop looking for reasons after S seconds")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, write the page, and say by the exit code whether time was enough."""
    from quia.explanation import explain
    from quia.load.files import write_text
    from quia.show.html import page

    with working("reading the model"):
        classifier = load(arguments.model, format=arguments.format)
    features = [v.name for v in classifier.variables]
    given = instance.read(arguments, features)
    costs = dict(instance.pair(text, features, "--cost") for text in arguments.cost)
    explanation = explain(classifier, given, against=arguments.against, frozen=arguments.frozen, costs=costs or None)
    with working("looking for reasons"):
        answer = explanation.to_dict(limit=arguments.limit, timeout=arguments.timeout)
        text = page(explanation, limit=arguments.limit, model=Path(arguments.model).name, answer=answer)
    if arguments.output == "-":
        write(text.rstrip("\n"))
    else:
        write_text(text, arguments.output)
    return 3 if answer["necessary"]["count"] is None or answer["sufficient"]["count"] is None else 0
