"""Claims that a document is whole: nothing that was asked for is left out, and nothing is there twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from quia.auditing.check_facts import expect, needed
from quia.auditing.check_features import ranks
from quia.auditing.check_rows import Bools, Rows
from quia.auditing.check_world import World
from quia.auditing.checked import Claim, Wrong
from quia.auditing.document import Document, Protected, Settings
from quia.auditing.said import read_all
from quia.errors import did_you_mean, listed, shown
from quia.patience import Clock

_MOST_WORST = 5


def whole_claims(document: Document, world: World, rows: Rows | None) -> Iterator[Claim]:
    """That every part of an audit is there, as its settings and its model ask."""
    settings = document.identity.settings
    names = [variable.name for variable in world.terms.variables]
    features = [each.feature for each in document.features]
    yield Claim("features", "every feature is told of, once", lambda _: _expect_names(features, names, names))
    decisions = [each.decision for each in document.rules]
    yield Claim("rules", "every class of a row has its rules, once", lambda _: _check_rules(decisions, world, rows))
    sets = [each.features for each in document.protected]
    yield Claim(
        "protected", "protected features are told of one by one, and together", lambda _: _check_sets(sets, settings)
    )
    for at, protected in enumerate(document.protected):
        yield from _protected_claims(f"protected[{at}]", protected, world, rows, settings)
    yield Claim("monotonicity", "every feature that can be raised is told of", lambda _: _check_raised(document, world))
    yield Claim("decisions.labels", "labels are told of if there are any", lambda _: _check_labels(document))
    yield Claim("comparison", "another model is told of if there is one", lambda _: _check_compared(document))


def _expect_names(said: Sequence[str], right: Sequence[str], known: Sequence[str]) -> None:
    """Raise Wrong unless the features are these, in this order."""
    for at, name in enumerate(said):
        if name not in known:
            raise Wrong(f"{shown(name)} is no feature of the model{did_you_mean(name, known)}")
        if name in said[:at]:
            raise Wrong(f"{name} is there twice")
        if name not in right:
            raise Wrong(f"{name} should not be there")
    if left_out := [name for name in right if name not in said]:
        raise Wrong(f"{listed(left_out, most=5)} {'is' if len(left_out) == 1 else 'are'} left out")
    if list(said) != list(right):
        raise Wrong("the features are not in the model's order")


def _check_rules(decisions: Sequence[str], world: World, rows: Rows | None) -> None:
    for at, name in enumerate(decisions):
        world.class_index(name)
        if name in decisions[:at]:
            raise Wrong(f"{name} is there twice")
    table = needed(rows)
    found = [world.terms.classes[label] for label in np.unique(table.decision[table.is_decided]).tolist()]
    if left_out := [name for name in found if name not in decisions]:
        raise Wrong(f"rows are decided {listed(left_out)}, which has no rules here")


def _check_sets(said: Sequence[tuple[str, ...]], settings: Settings) -> None:
    right: list[tuple[str, ...]] = [(name,) for name in settings.protected]
    right += [settings.protected] if len(right) > 1 else []
    if list(said) != right:
        told = listed(" and ".join(names) for names in right)
        raise Wrong(f"what was to be protected is {told or 'nothing'}, in this order, each once")


def _check_raised(document: Document, world: World) -> None:
    if document.monotonicity is None:
        raise Wrong("it is left out")
    variables, orders = world.terms.variables, document.identity.settings.orders or {}
    right = [variable.name for variable in variables if variable.is_numeric or variable.name in orders]
    _expect_names([each.feature for each in document.monotonicity.features], right, [each.name for each in variables])


def _check_labels(document: Document) -> None:
    column = document.identity.settings.label
    labels = document.decisions.labels
    if (labels is None) != (column is None):
        raise Wrong("no column has the labels" if column is None else f"the labels, {column}, are left out")
    if labels is not None:
        expect(labels.column, column)
    for protected in document.protected:
        for group in protected.groups:
            if any((part is None) != (column is None) for part in (group.labelled, group.right, group.confusion)):
                raise Wrong(f"the labels of {group.name} are {'there' if column is None else 'left out'}")


def _check_compared(document: Document) -> None:
    if (document.comparison is None) != (document.identity.compared is None):
        raise Wrong("it is left out" if document.comparison is None else "no other model is named")


# ---- protected features -----------------------------------------------------------------------------------------


def _protected_claims(
    place: str, said: Protected, world: World, rows: Rows | None, settings: Settings
) -> Iterator[Claim]:
    together = " and ".join(said.features)
    yield Claim(
        f"{place}.groups",
        f"whoever has a value for {together} is in one group",
        lambda _: _check_parted(said, world, needed(rows)),
    )
    yield Claim(
        f"{place}.hanging", f"what hangs on {together} is told for every group", lambda _: _check_hanging(said, rows)
    )
    yield Claim(
        f"{place}.worst",
        f"{len(said.worst)} of those who would fare better are named",
        lambda clock: _check_worst(said, world, rows, settings, clock),
    )


def _check_parted(said: Protected, world: World, rows: Rows) -> None:
    """Raise Wrong unless each decided row that has a value for all the features is in one group."""
    groups = np.zeros(len(rows), np.int64)
    for group in said.groups:
        groups += rows.holding(read_all(group.where))
    if (several := rows.is_decided & (groups > 1)).any():
        raise Wrong(f"row {int(np.argmax(several)) + 1:,} is in {int(groups[np.argmax(several)])} groups")
    known = rows.is_decided.copy()
    for name in said.features:
        known &= _has_value(name, world, rows)
    if (left_out := known & (groups == 0)).any():
        raise Wrong(f"{int(left_out.sum()):,} rows are in no group, such as row {int(np.argmax(left_out)) + 1:,}")


def _has_value(name: str, world: World, rows: Rows) -> Bools:
    """Which rows have a value by which they can be grouped: a state of what is tested, or what is not missing."""
    v = world.index.get(name)
    if v is not None and v in world.asked.tested:
        return np.asarray(rows.states[:, v] >= 0)
    return rows.having(name)


def _check_hanging(said: Protected, rows: Rows | None) -> None:
    if said.hanging is None:
        if said.in_model:
            raise Wrong("it is left out")
        return
    if not said.in_model:
        raise Wrong("the model tests none of these features")
    named = [each.group for each in said.hanging.groups]
    if twice := [name for at, name in enumerate(named) if name in named[:at]]:
        raise Wrong(f"{shown(twice[0])} is there twice")
    # Where time ran out before all rows were looked at, nobody of a small group may have been.
    if said.hanging.of < int(needed(rows).is_decided.sum()):
        return
    if left_out := [group.name for group in said.groups if group.rows and group.name not in named]:
        raise Wrong(f"{listed(left_out, most=5)} {'is' if len(left_out) == 1 else 'are'} left out")


def _check_worst(said: Protected, world: World, rows: Rows | None, settings: Settings, clock: Clock) -> None:
    if len(said.worst) > _MOST_WORST:
        raise Wrong(f"they are {len(said.worst):,}, and {_MOST_WORST} at most are told")
    numbers = [case.row for case in said.worst]
    if len(set(numbers)) < len(numbers):
        raise Wrong(f"a row is there twice: {listed(numbers)}")
    if said.worst or not said.in_model or said.hanging is None:
        return
    table = needed(rows)
    if said.hanging.of < int(table.is_decided.sum()):
        return
    reach = table.reach([world.place(name) for name in said.in_model], clock, known=True)
    every = np.ones(len(reach.combinations), bool)
    better = reach.better(every, ranks(world.terms.classes, settings.favourable))
    if better.any():
        raise Wrong(f"row {int(reach.rows[np.argmax(better)]) + 1:,} would fare better, and nobody is named")
