"""`quia examples`: example models and tables, written into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from quia.command import Subparsers
from quia.command.terminal import say
from quia.errors import QuiaError
from quia.files import read_bytes, write_text

FILES = {
    "admissions.json": "a university admits applicants: a decision graph",
    "luna.json": "the same with a feature that should not matter",
    "target.json": "a graph with three classes, of the paper",
    "iris.json": "which iris is it: a tree of numbers",
    "loan.json": "a bank grants loans: a tree",
    "loan-2.json": "its next version",
    "loans.csv": "600 invented applicants, and what became of them",
    "credit_scorecard.csv": "another bank's scorecard",
    "applicant.csv": "somebody who applies there",
    "abdomen.bif": "why the belly hurts: a Bayesian network",
    "patients.csv": "three of whom it is asked",
}
"""What is written, and what it is."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "examples",
        usage="quia examples [FOLDER]",
        description="Writes example models and tables, all invented, into a folder, so that what the help and the"
        " documentation show can be tried anywhere. A file that is there and says something else stays as it is.",
        examples=("quia examples", "quia explain examples/loan.json --data examples/loans.csv --row 5"),
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default="examples", help="where to (default: examples)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write them, and say what they are."""
    folder = Path(arguments.folder)
    texts = {name: (_source() / name).read_text(encoding="utf-8") for name in FILES}
    for name, text in texts.items():
        file = folder / name
        if file.exists() and (not file.is_file() or read_bytes(str(file)).decode("utf-8", "replace") != text):
            raise QuiaError(f"{file} is there already, and is no example; name another folder: quia examples FOLDER")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise QuiaError(f"the folder {str(folder)!r} cannot be made: {fault.strerror}; name another one") from None
    for name, text in texts.items():
        if not (folder / name).exists():
            write_text(text, str(folder / name))
    width = max(len(str(folder / name)) for name in FILES)
    say("\n".join(f"{folder / name!s:<{width}}  {what}" for name, what in FILES.items()))
    return 0


def _source() -> Path:
    """Where the examples are: in the package if it was installed, beside the source in a clone."""
    import quia

    package = Path(quia.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if all((folder / name).is_file() for name in FILES):
            return folder
    raise QuiaError("the examples are not in this installation of quia; install it anew")
