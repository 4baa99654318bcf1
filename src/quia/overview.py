"""What the commands are, in a line each, and what is said of all of them."""

from __future__ import annotations

from collections.abc import Callable

GROUPS = {
    "explain decisions": {
        "explain": "why a model decided as it did, and what would change that",
        "report": "the same as a page that needs no network",
        "serve": "ask a model 'what if' on a local web page",
        "batch": "the reasons for every row of a table",
    },
    "look at whole models": {
        "check": "what is in a model, and is it sound",
        "audit": "rules, who is treated differently, what a new version changed",
        "verify": "are the claims of an audit true, or is a reason one",
    },
    "get models": {
        "learn": "learn a tree from a table",
        "convert": "write a model as quia's JSON",
        "examples": "write example models and tables into a folder",
    },
    "set up": {"completion": "complete commands with TAB in bash, zsh and fish"},
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}
"""Each is a module of quia.command with `add(subparsers)`, which names its `run(arguments) -> exit code`."""

EXAMPLES = (
    (
        "why this applicant is denied a loan, and what would change it",
        "quia explain examples/loan.json --data examples/loans.csv --row 5",
    ),
    (
        "the principal reasons of a scorecard, as a letter would name them",
        "quia explain examples/credit_scorecard.csv --data examples/applicant.csv --row 1 --reason-codes",
    ),
    (
        "a tree from a table",
        "quia learn examples/loans.csv -o tree.json",
    ),
)
"""What each does, and how."""

EXIT_CODES = """exit codes
  0    answered
  1    the model is not sound, does not decide as the data say, or constraints
       are not met (check); a claim is refuted (verify)
  2    bad usage, model or instance; the reason is on stderr
  3    answered in part: time ran out, or a claim could not be checked (verify)
  130  interrupted"""


def help_text(paint: Callable[[str, str], str], shown: Callable[[str], str], *more: str) -> str:
    """The help of all commands; `paint` colours a text, and `shown` is a command as it fits."""
    width = max(map(len, COMMANDS))
    lines = [f"{paint('quia', 'strong')}: why a classifier decided as it did, exactly", "", "usage: quia COMMAND …"]
    for group, commands in GROUPS.items():
        lines += ["", paint(group, "strong")]
        lines += [f"  {paint(f'{name:<{width}}', 'feature')}  {line}" for name, line in commands.items()]
    lines += ["", paint("examples", "strong") + " (where there is no folder examples/, `quia examples` makes it)"]
    for what, command in EXAMPLES:
        lines += [paint(f"  # {what}", "faint"), shown(command)]
    lines += [
        "",
        "`quia COMMAND --help` tells all of a command; docs/start.md in quia's repository",
        "is an introduction of five minutes, docs/index.md leads on.",
    ]
    return "\n".join([*lines, *(f"\n{text}" for text in more)])
