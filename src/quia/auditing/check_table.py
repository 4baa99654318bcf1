"""The table of an audit on disk, with all columns that its claims speak of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quia.auditing.document import Document
from quia.batch.columns import answer_names
from quia.batch.question import ask
from quia.batch.read import column_names, open_source
from quia.batch.table import arrow
from quia.classifier import Classifier
from quia.errors import FormatError

_ALL = 2**31


def read_table(path: str, document: Document, classifier: Classifier, other: Classifier | None) -> Any:
    """The rows of a table: the columns that the models test, and those that the document speaks of."""
    settings = document.identity.settings
    request = ask(classifier, within=settings.within, given=list(settings.given) or None)
    tested = {classifier.variables[v].name for v in classifier.tested}
    if other is not None:
        tested |= {other.variables[v].name for v in other.tested}
    wanted = dict.fromkeys([*_mentioned(document), *sorted(tested)])
    there = column_names(path, list(wanted))
    # A column that is called as an answer is could only be the label's, and is refused with that word for it.
    taken = set(answer_names()) - {settings.label}
    ids = [name for name in wanted if name in there and name not in taken]
    parts = [part.rows for part in open_source(path, classifier, request, ids=ids).parts(_ALL)]
    if not parts:
        raise FormatError("has no rows", file=path)
    return arrow().Table.from_batches(parts)


def _mentioned(document: Document) -> Iterator[str]:
    settings = document.identity.settings
    if settings.label is not None:
        yield settings.label
    yield from settings.protected
    for rules in document.rules:
        for rule in rules.rules:
            yield from rule.example.values
    for protected in document.protected:
        for case in protected.worst:
            yield from case.values
    if document.comparison is not None:
        for difference in document.comparison.differences:
            yield from difference.example.values
