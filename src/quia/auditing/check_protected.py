"""Claims of protected features: decisions by group, what hangs on them, on rows and on any input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quia.auditing.check_facts import by_class, check_right, expect, expect_counts, needed
from quia.auditing.check_features import depends_claim, expect_rows, ranks
from quia.auditing.check_rows import Reach, Rows
from quia.auditing.check_world import World, check_alike
from quia.auditing.checked import Claim, Wrong
from quia.auditing.document import Group, GroupHanging, Hanging, Protected, Settings, WorstCase
from quia.auditing.said import Said, read_all, texts_of
from quia.errors import QuiaError, listed, shown
from quia.patience import Clock
from quia.ranges import covers


def protected_claims(
    place: str, said: Protected, world: World, rows: Rows | None, settings: Settings
) -> Iterator[Claim]:
    """What is said of some protected features together."""
    together = " and ".join(said.features)
    yield Claim(f"{place}.features", f"{together} are protected", lambda _: _check_features(said, world, settings))
    for at, group in enumerate(said.groups):
        yield from _group_claims(f"{place}.groups[{at}]", group, said, rows, settings)
    if said.hanging is not None:
        yield from _hanging_claims(f"{place}.hanging", said, said.hanging, world, rows, settings)
    for at, case in enumerate(said.worst):
        yield _worst_claim(f"{place}.worst[{at}]", case, said, world, rows, settings)
    if said.depends.can is not None:
        can = "decisions can depend on" if said.depends.can else "no decision depends on"
        yield depends_claim(f"{place}.depends", f"{can} {together}", said.depends, said.in_model, world, known=True)


def _check_features(said: Protected, world: World, settings: Settings) -> None:
    for name in said.features:
        if name not in settings.protected:
            raise Wrong(f"{shown(name)} is none of the features that were to be protected")
    tested = {world.asked.variables[v].name for v in world.asked.tested}
    right = tuple(name for name in said.features if name in tested)
    if said.in_model != right:
        raise Wrong(f"of these the model tests {listed(right) or 'none'}")


def _group_claims(place: str, said: Group, whole: Protected, rows: Rows | None, settings: Settings) -> Iterator[Claim]:
    def check(_: Clock) -> None:
        table = needed(rows)
        _check_name(said, whole, table.world)
        holds = table.holding(read_all(said.where)) & table.is_decided
        expect(said.rows, int(holds.sum()), f"are {said.name}")
        expect_counts(said.decided, by_class(table, holds), f" of {said.name}")

    def check_labels(_: Clock) -> None:
        table = needed(rows)
        if settings.label is None or said.labelled is None or said.right is None:
            raise Wrong("no column has the labels")
        holds = table.holding(read_all(said.where))
        check_right(said.labelled, said.right, said.confusion, table, holds, settings.label)

    decided = listed(f"{number:,} {name}" for name, number in said.decided.items())
    yield Claim(place, f"of {said.rows:,} decisions on {said.name}, there are: {decided}", check)
    if said.labelled is not None or said.right is not None or said.confusion is not None:
        right = f"of {said.labelled} rows that are {said.name} and have a label, {said.right} are decided so"
        yield Claim(f"{place}.labelled", right, check_labels)


def _check_name(said: Group, whole: Protected, world: World) -> None:
    """Raise Wrong if a group has a name twice, the name of another one, or is not of these features."""
    if [group.name for group in whole.groups].count(said.name) > 1:
        raise Wrong(f"two groups are called {said.name!r}")
    if [group.where for group in whole.groups].count(said.where) > 1:
        raise Wrong(f"another group than {said.name!r} has the same people")
    conditions = read_all(said.where)
    if others := [each.feature for each in conditions if each.feature not in whole.features]:
        raise Wrong(f"{others[0]} is not one of {listed(whole.features)}")
    for each in conditions:
        if each.feature in world.variables:
            each.check_text(world.variables[each.feature])
    for other in whole.groups:
        if other is not said and said.name in _names(other, world) and said.name not in _names(said, world):
            raise Wrong(f"{said.name!r} is the name of the group where {_names(other, world)[0]}")


def _names(group: Group, world: World) -> list[str]:
    """What a group may be called."""
    said = read_all(group.where)
    found = {", ".join(each.text for each in said), " and ".join(each.text for each in said)}
    found |= {", ".join(f"{each.feature}={each.text}" for each in said)}
    if all(each.feature in world.variables for each in said):
        try:
            found |= texts_of(said, world.variables, {})
        except QuiaError:  # what never holds has no words
            return sorted(found)
    return sorted(found)


def _hanging_claims(
    place: str, said: Protected, hanging: Hanging, world: World, rows: Rows | None, settings: Settings
) -> Iterator[Claim]:
    def reach(clock: Clock) -> Reach:
        return needed(rows).reach([world.place(name) for name in said.in_model], clock, known=True)

    def check_rows(clock: Clock) -> None:
        found = reach(clock)
        for said_, right in ((hanging.fixed, found.fixed()), (hanging.rows, found.changing())):
            expect_rows(said_, hanging.of, int(right.sum()), len(found.rows))

    def check_turns(clock: Clock) -> None:
        found = reach(clock)
        told = {(turn.decision, turn.otherwise): turn.rows for turn in hanging.turns}
        if len(told) < len(hanging.turns):
            raise Wrong("a turn is counted twice")
        names = world.terms.classes
        for decision, otherwise in told:
            if world.class_index(decision) == world.class_index(otherwise):
                raise Wrong(f"{decision!r} is no other class than {otherwise!r}")
        for a, decision in enumerate(names):
            for b, otherwise in enumerate(names):
                if a != b:
                    turned = found.becoming(b) & (found.decision == a)
                    number = told.get((decision, otherwise), 0)
                    _expect_turn(number, hanging.of, turned, np.ones(len(turned), bool), f"{decision} to {otherwise}")

    what = f"{hanging.rows:,} of {hanging.of:,} decisions hang on {' and '.join(said.in_model)}"
    yield Claim(place, f"{what}; {hanging.fixed:,} rows are fixed", check_rows)
    turns = listed(f"{turn.rows:,} from {turn.decision} to {turn.otherwise}" for turn in hanging.turns)
    yield Claim(f"{place}.turns", f"they could turn: {turns or 'none'}", check_turns)
    rank = ranks(world.terms.classes, settings.favourable)
    for at, group in enumerate(hanging.groups):
        better = listed(f"{number:,} as {name}" for name, number in group.better.items())
        yield Claim(
            f"{place}.groups[{at}]",
            f"of {group.of:,} decisions on {group.group}, {group.rows:,} hang on it; better: {better or 'none'}",
            lambda clock, group=group: _check_group(  # type: ignore[misc]
                group, said, needed(rows), reach(clock), rank
            ),
        )


def _expect_turn(number: int, of: int, turned: Any, among: Any, what: str) -> None:
    try:
        expect_rows(number, of, int((turned & among).sum()), int(among.sum()))
    except Wrong as fault:
        raise Wrong(f"from {what} {fault}") from None


def _check_group(hanging: GroupHanging, said: Protected, rows: Rows, reach: Reach, rank: Sequence[int]) -> None:
    by_name = {group.name: group for group in said.groups}
    if hanging.group not in by_name:
        raise Wrong(f"{shown(hanging.group)} is none of the groups {listed(by_name)}")
    if said.hanging is not None and [each.group for each in said.hanging.groups].count(hanging.group) > 1:
        raise Wrong(f"{shown(hanging.group)} is counted twice")
    mine = rows.holding(read_all(by_name[hanging.group].where))[reach.rows]
    if said.hanging is not None and said.hanging.of >= len(reach.rows):
        expect(hanging.of, int(mine.sum()), f"are {hanging.group} and have a decision")
    if unknown := [name for name in hanging.better if name not in by_name or name == hanging.group]:
        raise Wrong(f"{shown(unknown[0])} is no other group")
    for name, group in by_name.items():
        if name != hanging.group:
            among = _among(read_all(group.where), rows.world, said, reach)
            gets = reach.better(among, rank)
            _expect_turn(hanging.better.get(name, 0), hanging.of, gets, mine, f"{hanging.group} to {name}")
    expect_rows(hanging.rows, hanging.of, int((reach.changing() & mine).sum()), int(mine.sum()))


def _among(where: Sequence[Said], world: World, said: Protected, reach: Reach) -> Any:
    """Which combinations of states have a value in a group."""
    places = {name: at for at, name in enumerate(said.in_model)}
    known = [
        (places[each.feature], each.states(world.variables[each.feature])) for each in where if each.feature in places
    ]
    return np.array([all(covers(states, c[at]) for at, states in known) for c in reach.combinations], bool)


def _worst_claim(
    place: str, said: WorstCase, whole: Protected, world: World, rows: Rows | None, settings: Settings
) -> Claim:
    def check(_: Clock) -> None:
        check_alike(said.values, said.other, whole.in_model)
        for values, decision in ((said.values, said.decision), (said.other, said.other_decision)):
            if (found := world.decision_on(values)) != decision:
                raise Wrong(f"the model decides {found!r}, not {decision!r}, on {shown(dict(values), 300)}")
        rank = ranks(world.terms.classes, settings.favourable)
        if not rank[world.class_index(said.decision)] < rank[world.class_index(said.other_decision)]:
            raise Wrong(f"{said.other_decision!r} is not better than {said.decision!r}")
        needed(rows).check_row(said.row, said.values)

    told = f"row {said.row:,} is decided {said.decision}, and would be {said.other_decision}"
    return Claim(place, f"{told} with other {' and '.join(whole.in_model)}", check)
