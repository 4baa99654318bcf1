"""What a command was given, as the page that it writes says it."""

from __future__ import annotations

import argparse
import os
from typing import Any

from quia import __version__
from quia.identity import FileFacts, PageFacts, file_facts, now

_SAID_APART = ("run", "command_line", "model", "instance", "values", "data", "row", "output", "case")
"""What is no setting, or stands on the page by itself."""


def page_facts(arguments: argparse.Namespace, timeout: float) -> PageFacts:
    """What the page of one decision is made of."""
    given = arguments.instance if arguments.data is None else arguments.data
    return PageFacts(
        __version__,
        now(),
        model=_kept(arguments.model),
        instance=_kept(given),
        row=arguments.row,
        case=arguments.case,
        command=arguments.command_line,
        settings=settings_of(arguments) | {"timeout": f"{timeout:g} s"},
    )


def _kept(path: str | None) -> FileFacts | None:
    """What a file is; None of a stream, which cannot be read again."""
    return file_facts(path) if path is not None and (os.path.isfile(path) or os.path.isdir(path)) else None


def settings_of(arguments: argparse.Namespace) -> dict[str, str]:
    """All options that were given or have a value of their own, by their names and as text.

    >>> settings_of(argparse.Namespace(model="m.json", limit=10, frozen=["age", "sex"], only_up=[], states=False))
    {'limit': '10', 'frozen': 'age, sex'}
    """
    given = {name: value for name, value in vars(arguments).items() if name not in _SAID_APART}
    return {
        name.replace("_", "-"): _text(value)
        for name, value in given.items()
        if value is not None and value is not False and value != []
    }


def _text(value: Any) -> str:
    if value is True:
        return "yes"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
