"""An audit checked: every claim anew, by code that shares nothing with what found it.

Conditions that force a class, and pairs of instances, are checked as `quia.verify` checks; counts are recounted on the
table; that there is no pair is proved in another way, or not checked if time runs out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from quia.arguments import seconds
from quia.auditing.check_compared import Both, comparison_claims
from quia.auditing.check_facts import decisions_claims, expect, file_claims, model_claims, needed
from quia.auditing.check_features import Shortest, feature_claims, monotonicity_claims
from quia.auditing.check_protected import protected_claims
from quia.auditing.check_rows import Rows
from quia.auditing.check_rules import rules_claims
from quia.auditing.check_whole import whole_claims
from quia.auditing.check_world import World
from quia.auditing.checked import Checked, Claim, NotChecked, check_all
from quia.auditing.document import Document, Settings
from quia.auditing.unfinished import unfinished
from quia.classifier import Classifier, loaded
from quia.patience import Clock


@dataclass(frozen=True, slots=True)
class Files:
    """Where the files lie that an audit is said to be of; None where one is not given."""

    model: str | None = None
    data: str | None = None
    other: str | None = None


def check(
    document: Document,
    classifier: Classifier,
    *,
    other: Classifier | None = None,
    table: Any = None,
    files: Files | None = None,
    timeout: float | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Checked:
    """Every claim of an audit, with what became of it.

    `table` is whatever holds the rows; `other` is the model that was compared. What would need one that is not given is
    not checked, nor is what takes more than its share of `timeout` seconds. `told` is called before each claim with
    how many are done, and how many there are.
    """
    clock = Clock(seconds(timeout))
    settings = document.identity.settings
    world = World.of(loaded(classifier), settings)
    rows = None if table is None else Rows.of(world, table)
    both = Both(world, "the other model is not given", rows, None)
    if other is not None and document.comparison is not None:
        both = _both(world, loaded(other), rows, table, settings)
    claims = [
        *_identity(document, classifier, other, rows, files or Files()),
        *_claims(document, world, rows, both, clock),
    ]
    return check_all(claims, clock, told)


def _both(world: World, other: Classifier, rows: Rows | None, table: Any, settings: Settings) -> Both:
    try:
        new = World.of_other(other, settings)
    except NotChecked as why:
        return Both(world, str(why), rows, None)
    return Both(world, new, rows, None if table is None else Rows.of(new, table))


def _identity(
    document: Document, classifier: Classifier, other: Classifier | None, rows: Rows | None, files: Files
) -> Iterator[Claim]:
    identity = document.identity
    if identity.model.file is not None:
        yield from file_claims("identity.model", "the model", identity.model.file, files.model)
    yield from model_claims("identity.model", identity.model, classifier)
    if identity.data.file is not None:
        yield from file_claims("identity.data", "the table", identity.data.file, files.data)
    count = f"the table has {identity.data.rows:,} rows"
    yield Claim("identity.data.rows", count, lambda _: expect(identity.data.rows, len(needed(rows))))
    if identity.compared is not None:
        if identity.compared.file is not None:
            yield from file_claims("identity.compared", "the other model", identity.compared.file, files.other)
        yield from model_claims("identity.compared", identity.compared, other)


def _claims(document: Document, world: World, rows: Rows | None, both: Both, clock: Clock) -> Iterator[Claim]:
    settings = document.identity.settings
    yield from whole_claims(document, world, rows)
    yield from decisions_claims(document.decisions, rows)
    for at, rules in enumerate(document.rules):
        yield from rules_claims(f"rules[{at}]", rules, world, rows, settings.share)
    shortest = Shortest(world, rows, clock)
    for at, feature in enumerate(document.features):
        yield from feature_claims(f"features[{at}]", feature, world, rows, shortest)
    yield Claim("unfinished", "what is left open is told", lambda _: expect(document.unfinished, unfinished(document)))
    for at, protected in enumerate(document.protected):
        yield from protected_claims(f"protected[{at}]", protected, world, rows, settings)
    if document.monotonicity is not None:
        yield from monotonicity_claims(document.monotonicity, world, settings)
    if document.comparison is not None:
        yield from comparison_claims(document.comparison, both, document.protected)
