"""`quia explain`: why a model decided as it did."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from quia.command import Subparsers, add_model
from quia.command.instance import features_of
from quia.command.numbers import limit_of, whole
from quia.command.progress import working
from quia.command.question import add_form, add_question, add_timeout, explained, form_of, timeout_of
from quia.command.streams import write, write_json
from quia.command.terminal import paint_of, width_of
from quia.errors import Unsupported

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.explanation import Explanation


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "explain",
        usage="quia explain MODEL --set FEATURE=VALUE … [options]\n"
        "       quia explain MODEL --data FILE.csv --row N [options]",
        description="Why a model decided on an instance as it did, and what would change the decision.",
        examples=(
            "quia explain examples/admissions.json --set SAT=1400 --set GPA=medium --set Essay=fail"
            " --set Interview=fail",
            "quia explain examples/loan.json --data examples/loans.csv --row 5 --against grant --frozen age,sex",
        ),
    )
    add_model(parser)
    add_question(parser)
    parser.add_argument(
        "--protected", metavar="FEATURE", action="append", default=[], help="is the decision biased by this feature?"
    )
    answer = parser.add_argument_group("the answer")
    answer.add_argument("--shortest", action="store_true", help="only the shortest (with costs, cheapest) reasons")
    add_form(answer)
    many = answer.add_mutually_exclusive_group()
    many.add_argument("--all", action="store_true", help="every reason")
    many.add_argument("--limit", metavar="N", type=limit_of, default=10, help="at most N of each kind (default 10)")
    answer.add_argument(
        "--reason-codes",
        metavar="N",
        type=whole,
        nargs="?",
        const=4,
        help="only the N principal reasons (default 4): the features of a shortest sufficient reason, what moves the"
        " score most first, each with the condition that would have been favourable",
    )
    add_timeout(answer)
    answer.add_argument(
        "--json",
        action="store_true",
        help="print JSON (schema quia/explanation/2; of reason codes quia/reason-codes/1)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, print, and say by the exit code whether time was enough."""
    explanation = explained(arguments)
    if arguments.reason_codes is not None:
        return _reason_codes(arguments, explanation)
    limit = None if arguments.all else arguments.limit
    with working("looking for reasons"):
        answer = explanation.answer(
            limit=limit,
            timeout=timeout_of(arguments, explanation),
            shortest=arguments.shortest,
            protected=features_of(arguments.protected, explanation.classifier, "--protected"),
            **form_of(arguments),
        )
        shown = answer.to_dict() if arguments.json else _text(answer)
    if isinstance(shown, str):
        write(shown)
    else:
        write_json(shown, indent=2)
    return 0 if answer.in_time else 3


def _reason_codes(arguments: argparse.Namespace, explanation: Explanation) -> int:
    """Print the principal reasons instead."""
    from quia.show.codes import codes_text

    asked = [f"--{name}" for name in ("protected", "shortest", "states", "sets", "all") if getattr(arguments, name)]
    if asked:
        raise Unsupported(
            f"{asked[0]} says nothing of reason codes, which are of one reason",
            cure=f"leave out {asked[0]} or --reason-codes",
        )
    with working("looking for reasons"):
        codes = explanation.reason_codes(arguments.reason_codes, timeout=timeout_of(arguments, explanation))
    if arguments.json:
        write_json(codes.to_dict(), indent=2)
    else:
        write(codes_text(codes, paint=paint_of(sys.stdout), width=width_of(sys.stdout)))
    return 0 if codes.is_shortest else 3


def _text(answer: Answer) -> str:
    from quia.show.text import explanation_text

    return explanation_text(answer, paint=paint_of(sys.stdout), width=width_of(sys.stdout))
