"""`quia explain`: why a model decided as it did."""

from __future__ import annotations

import argparse
import os
import sys

from quia.command import Subparsers, add_model
from quia.command.numbers import limit_of
from quia.command.progress import working
from quia.command.question import add_question, add_timeout, explained
from quia.command.streams import write, write_json


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "explain",
        help="why a model decided as it did",
        description="Why a model decided on an instance as it did, and what would change the decision.",
        epilog="example: quia explain examples/admissions.json --set SAT=1400 --set GPA=medium --set Essay=fail"
        " --set Interview=fail",
    )
    add_model(parser)
    add_question(parser)
    parser.add_argument(
        "--protected", metavar="FEATURE", action="append", default=[], help="is the decision biased by this feature?"
    )
    answer = parser.add_argument_group("the answer")
    answer.add_argument("--shortest", action="store_true", help="only the shortest (with costs, cheapest) reasons")
    many = answer.add_mutually_exclusive_group()
    many.add_argument("--all", action="store_true", help="every reason")
    many.add_argument("--limit", metavar="N", type=limit_of, default=10, help="at most N of each kind (default 10)")
    add_timeout(answer)
    answer.add_argument("--json", action="store_true", help="print JSON (schema quia/explanation/1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, print, and say by the exit code whether time was enough."""
    explanation = explained(arguments)
    limit = None if arguments.all else arguments.limit
    with working("looking for reasons"):
        found = explanation.find(limit=limit, timeout=arguments.timeout, shortest=arguments.shortest)
        bias = None
        if arguments.protected:
            bias = explanation.bias(arguments.protected, limit=limit, timeout=arguments.timeout)
        if arguments.json:
            answer = explanation.as_dict(found) | ({} if bias is None else {"bias": bias.to_dict()})
        else:
            from quia.show.text import coloured, explanation_text, plain

            paint = coloured if _wants_colour() else plain
            text = explanation_text(explanation, found, shortest=arguments.shortest, paint=paint)
            if bias is not None:
                text += f"\n\nThe decision is {bias}."
    if arguments.json:
        write_json(answer, indent=2)
    else:
        write(text)
    return 0 if found.in_time else 3


def _wants_colour() -> bool:
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
        and os.environ.get("TERM") != "dumb"
    )
