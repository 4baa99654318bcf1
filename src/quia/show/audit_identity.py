"""The part of an audit's page that says which model and table were audited, when, by what, and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quia.auditing.document import Document, Identity, ModelFacts, Settings
from quia.show.audit_words import named
from quia.show.identity import Row, command_rows, file_lines, identity_block, lines, made_rows
from quia.show.markup import Child, Markup, short
from quia.show.words import number, plural


def identity(document: Document) -> Markup:
    """Which model and table, when, by what, and how."""
    of = document.identity
    rows: list[Row] = [
        *made_rows(of.case, of.made, of.quia),
        ("Took", f"{document.seconds:,.1f} s"),
        ("Model", lines(_model_lines(of.model))),
        ("Data", lines([*file_lines(of.data.file), plural(of.data.rows, "row")])),
        ("Compared with", None if of.compared is None else lines(_model_lines(of.compared))),
        *command_rows(of.command, list(_settings(of))),
    ]
    return identity_block(rows)


def _model_lines(model: ModelFacts) -> list[Child]:
    sizes = [f"{number(count)} {_singular(what) if count == 1 else what}" for what, count in model.sizes.items()]
    features = f"{plural(model.features, 'feature')}, of which it tests {number(model.tested)}"
    said = f"{', '.join([model.kind, *sizes])}; {features}; classes {named(model.classes)}"
    return [*file_lines(model.file), said, *(short(note, 400) for note in model.notes)]


def _singular(what: str) -> str:
    """What one of a model's parts is called.

    >>> _singular("trees"), _singular("leaves")
    ('tree', 'leaf')
    """
    return "leaf" if what == "leaves" else what.removesuffix("s")


def _settings(of: Identity) -> Iterator[str]:
    """All that the answers depend on, what was not said included."""
    settings = of.settings
    yield from _asked(settings)
    yield f"rules cover {100 * settings.share:g} % of each class"
    yield "no time limit" if settings.timeout is None else f"time limit {settings.timeout:g} s"
    for name, options in (("model read with", settings.options), ("other model read with", settings.compare_options)):
        if options:
            yield f"{name} {_options(options)}"


def _asked(settings: Settings) -> Iterator[str]:
    yield f"label {settings.label}" if settings.label else "no label"
    yield f"protected {named(settings.protected)}"
    if settings.favourable:
        yield f"favourable, the best first: {named(settings.favourable)}"
    for feature, order in (settings.orders or {}).items():
        yield f"order of {feature}: {' < '.join(order)}"
    for feature, condition in (settings.within or {}).items():
        yield f"only possible: {feature} {condition}"
    for constraint in settings.given:
        yield f"given: {constraint}"


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())
