"""`quia verify`: an audit, or a single claim, checked anew."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from quia.command import Subparsers, add_model, instance
from quia.command.numbers import seconds_of
from quia.command.possible import add_possible
from quia.command.question import add_why
from quia.command.streams import write_json
from quia.command.terminal import paint_of, say
from quia.errors import QuiaError

if TYPE_CHECKING:
    from quia.auditing.checked import Checked
    from quia.show.text import Paint

_MOST_SHOWN = 50
"""How many refuted claims are printed; --json has all."""
_FEW = 3
"""So many claims are printed even if they hold."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "verify",
        usage="quia verify MODEL AUDIT.json [options]\n"
        "       quia verify MODEL --set FEATURE=VALUE … --sufficient CONDITION …",
        description="Checks every claim of an audit, or that a single reason is one, with code that shares nothing with"
        " what found it.",
        examples=(
            "quia verify examples/loan.json audit.json",
            "quia verify examples/admissions.json --set SAT=1400 --set GPA=medium --set Essay=fail"
            " --set Interview=fail --sufficient Essay=fail --sufficient Interview=fail --class Reject",
        ),
    )
    add_model(parser)
    parser.add_argument("audit", metavar="AUDIT.json", nargs="?", help="what `quia audit --json` wrote")
    parser.add_argument(
        "--compare", metavar="FILE", help="the other model of AUDIT.json (else the file that it names, if unchanged)"
    )
    claim = parser.add_argument_group("a single claim, instead of an audit")
    kinds = claim.add_mutually_exclusive_group()
    for kind, says in (("sufficient", "forces the decision"), ("necessary", "must give way for it to change")):
        kinds.add_argument(
            f"--{kind}",
            metavar="'FEATURE CONDITION'",
            action="append",
            help=f"what {says}: --{kind} 'age > 30' --{kind} 'sex=F'; repeated, they are one claim; a feature alone"
            " means the instance's own state",
        )
    claim.add_argument("--class", dest="decision", metavar="CLASS", help="claim that the decision is this class")
    claim.add_argument("--maximal", action="store_true", help="claim too that no condition can be wider")
    claim.add_argument("--sets", action="store_true", help="with --maximal: a number's condition may be any set")
    add_why(claim)
    instance.add_arguments(parser)
    add_possible(parser)
    parser.add_argument("--timeout", metavar="S", type=seconds_of, help="check for S seconds at most (default 60)")
    parser.add_argument("--json", action="store_true", help="print JSON (schema quia/verified/1)")
    parser.set_defaults(run=run, timeout=60.0)


def run(arguments: argparse.Namespace) -> int:
    """Check, print; 1 if a claim is refuted, 3 if one was not checked."""
    if arguments.audit is not None:
        _refuse(arguments, "a single claim", ("sufficient", "necessary", "decision", "maximal", "sets", "against"))
        _refuse(arguments, "a single claim", ("frozen", "instance", "values", "row", "within", "given", "given_file"))
        from quia.command.verify_audit import checked

        found = checked(arguments)
        name = arguments.audit
    else:
        _refuse(arguments, "an audit", ("compare",))
        from quia.command.verify_claim import checked

        found = checked(arguments)
        name = arguments.model
    if arguments.json:
        write_json(found.to_dict(), indent=2)
    else:
        say(text(name, found, paint=paint_of(sys.stdout)))
    return 1 if found.count("refuted") else 0 if found.holds else 3


def _refuse(arguments: argparse.Namespace, what: str, options: tuple[str, ...]) -> None:
    for option in options:
        if getattr(arguments, option):
            shown = {"decision": "class", "values": "set"}.get(option, option).replace("_", "-")
            instead = "leave out AUDIT.json or that" if arguments.audit is not None else "give AUDIT.json too"
            raise QuiaError(f"--{shown} is about {what}; {instead}")


def text(name: str, found: Checked, *, paint: Paint = lambda text, _style: text) -> str:
    """How many claims hold; those that are refuted, with what is right; how many were not checked, and why."""
    from quia.show.words import plural

    counts = [f"{found.count('holds'):,} hold{'s' if found.count('holds') == 1 else ''}"]
    counts += [f"{found.count('refuted'):,} refuted"] * bool(found.count("refuted"))
    counts += [f"{found.count('not checked'):,} not checked"] * bool(found.count("not checked"))
    lines = [f"{name}: {plural(len(found.claims), 'claim')}: {', '.join(counts)}"]
    if len(found.claims) <= _FEW:
        lines += [f"  {paint('holds', 'good')}: {claim.says}" for claim in found.having("holds")]
    refuted = list(found.having("refuted"))
    lines += [
        f"  {paint('refuted', 'bad')}: {claim.place}: {claim.says}: {claim.why}" for claim in refuted[:_MOST_SHOWN]
    ]
    if len(refuted) > _MOST_SHOWN:
        lines.append(f"  … and {len(refuted) - _MOST_SHOWN:,} more, which --json has")
    reasons: dict[str, int] = {}
    for claim in found.having("not checked"):
        reasons[claim.why or ""] = reasons.get(claim.why or "", 0) + 1
    lines += [f"  not checked: {plural(number, 'claim')}: {why}" for why, number in reasons.items()]
    return "\n".join(lines)
