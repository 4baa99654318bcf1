"""The commands of the command line, one module each."""

from __future__ import annotations

import argparse
from typing import Any

Subparsers = Any  # argparse's own class for them is private


def add_model(parser: argparse.ArgumentParser) -> None:
    """The argument that every command has: which model."""
    parser.add_argument("model", metavar="MODEL", help="the model's file; its format is told by its content")
    parser.add_argument("--format", metavar="NAME", help="read MODEL as this format, whatever it looks like")


def write(text: str) -> None:
    """Print to stdout."""
    print(text, flush=True)  # noqa: T201
