"""An audit file of `quia verify`: which files it is about, and what became of its claims."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from quia.auditing.check_facts import sha256_of
from quia.auditing.check_table import read_table
from quia.auditing.checked import Checked
from quia.auditing.checks import Files, check
from quia.auditing.reading import read_document
from quia.command import model_options
from quia.command.progress import Bar, working
from quia.errors import FormatError, QuiaError, shown
from quia.load import load

if TYPE_CHECKING:
    from quia.auditing.document import Document, FileFacts
    from quia.classifier import Classifier


def checked(arguments: argparse.Namespace) -> Checked:
    """Every claim of the audit file, with what became of it."""
    document = read_document(arguments.audit)
    try:
        return _checked(document, arguments)
    except QuiaError as fault:
        if (other := _other_model(document.identity.model.file, arguments.model)) is None:
            raise
        raise FormatError(f"{other}; {fault}", file=arguments.audit) from fault


def _other_model(facts: FileFacts | None, path: str) -> str | None:
    """That a file is not the model which was audited; None if it is, or that is not known."""
    if facts is None or not Path(path).is_file():
        return None
    sha256 = sha256_of(path)
    if sha256 == facts.sha256.lower():
        return None
    return f"is of another model: its SHA-256 is {shown(facts.sha256)}, that of {path} is {sha256!r}"


def _checked(document: Document, arguments: argparse.Namespace) -> Checked:
    settings = document.identity.settings
    compared = document.identity.compared
    data = arguments.data or _found(document.identity.data.file, arguments.audit)
    other_file = arguments.compare or (_found(compared.file, arguments.audit) if compared is not None else None)
    classifier = _loaded(arguments.model, arguments, settings.options, model_options(arguments), arguments.format)
    other = None
    if other_file is not None:
        other = _loaded(other_file, arguments, settings.compare_options, {}, None)
    table = None
    if data is not None:
        with working("reading the table"):
            table = read_table(data, document, classifier, other)
    start = monotonic()
    with Bar("claims") as bar:
        return check(
            document,
            classifier,
            other=other,
            table=table,
            files=Files(arguments.model, data, other_file),
            timeout=arguments.timeout,
            told=lambda done, total: bar.show((done, 0, total, monotonic() - start)),
        )


def _loaded(
    file: str,
    arguments: argparse.Namespace,
    recorded: dict[str, Any] | None,
    given: dict[str, Any],
    format_given: str | None,
) -> Classifier:
    """A model, read as the audit says that it was where the arguments say nothing.

    Whether a file may be unpickled, which runs its code, an audit file cannot say.
    """
    options = {name: value for name, value in (recorded or {}).items() if name != "trust_pickle"}
    options |= given
    named = options.pop("format", None)
    if arguments.trust_pickle:
        options["trust_pickle"] = True
    with working("reading the model"):
        return load(file, format=format_given or named, **options)


def _found(facts: FileFacts | None, audit: str) -> str | None:
    """The file that an audit names, as it is given or beside the audit, if its checksum is the one that is recorded."""
    if facts is None:
        return None
    beside = Path(audit).parent
    for path in (Path(facts.path), beside / facts.path, beside / facts.name):
        with suppress(FormatError, OSError, ValueError):
            if path.is_file() and sha256_of(str(path)) == facts.sha256.lower():
                return str(path)
    return None
