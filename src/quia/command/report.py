"""`quia report`: one decision as one page."""

from __future__ import annotations

import argparse
from pathlib import Path

from quia.command import Subparsers, add_model, model_files, refuse_same_files
from quia.command.identity import page_facts
from quia.command.instance import features_of
from quia.command.numbers import limit_of, shape_of
from quia.command.possible import given_files
from quia.command.progress import working
from quia.command.question import add_form, add_question, add_timeout, explained, form_of, timeout_of
from quia.command.streams import write_document


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "report",
        usage="quia report MODEL --set FEATURE=VALUE … -o FILE [options]\n"
        "       quia report MODEL --data FILE.csv --row N -o FILE [options]",
        description="Writes why a model decided as it did as one HTML file that needs no network and no other file.",
        examples=("quia report examples/loan.json --data examples/loans.csv --row 5 -o page.html",),
    )
    add_model(parser)
    add_question(parser)
    parser.add_argument(
        "--protected", metavar="FEATURE", action="append", default=[], help="does the decision hang on this feature?"
    )
    answer = parser.add_argument_group("the answer")
    answer.add_argument("-o", "--output", metavar="FILE", required=True, help="where to; - is stdout")
    answer.add_argument("--limit", metavar="N", type=limit_of, default=10, help="at most N of each kind (default 10)")
    add_form(answer)
    add_timeout(answer)
    answer.add_argument(
        "--image-shape", metavar="HxW", type=shape_of, help="features are the pixels of such an image (28x28): draw it"
    )
    answer.add_argument("--case", metavar="TEXT", help="which case the page is filed under; it is said at its foot")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, write the page, and say by the exit code whether time was enough."""
    from quia.show.html import page
    from quia.show.pixels import places

    inputs = {"--instance": arguments.instance, "--data": arguments.data, "--reference": arguments.reference}
    refuse_same_files({**model_files(arguments), **inputs, **given_files(arguments)}, {"-o": arguments.output})
    explanation = explained(arguments)
    if arguments.image_shape is not None:
        places(explanation.variables, arguments.image_shape)  # refused before anything is looked for
    timeout = timeout_of(arguments, explanation)
    with working("looking for reasons"):
        answer = explanation.answer(
            limit=arguments.limit,
            timeout=timeout,
            protected=features_of(arguments.protected, explanation.classifier, "--protected"),
            **form_of(arguments),
        )
        text = page(
            explanation,
            timeout=timeout,
            model=Path(arguments.model).name,
            answer=answer,
            identity=page_facts(arguments, timeout),
            image_shape=arguments.image_shape,
        )
    write_document(text, arguments.output)
    return 0 if answer.in_time else 3
