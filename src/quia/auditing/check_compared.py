"""Claims of two models: which rows they decide differently, where they always do, and whether they can at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quia.auditing.check_facts import expect, needed
from quia.auditing.check_pairs import MOST_REGIONS
from quia.auditing.check_rows import Rows
from quia.auditing.check_rules import check_counted, check_met, check_texts
from quia.auditing.check_world import World
from quia.auditing.checked import Claim, NotChecked, Wrong
from quia.auditing.document import Comparison, Difference, Group, Protected
from quia.auditing.said import read_all
from quia.errors import shown
from quia.patience import Clock
from quia.ranges import Ranges, intersection
from quia.region import Region


class Both:
    """Two models and the table as each of them reads it, the old one first."""

    def __init__(self, old: World, new: World | str, rows: Rows | None, new_rows: Rows | None) -> None:
        """Instead of the new model there may be why it cannot be asked."""
        self.old, self._new, self._rows, self._new_rows = old, new, rows, new_rows

    @property
    def new(self) -> World:
        """The new model."""
        if isinstance(self._new, str):
            raise NotChecked(self._new)
        return self._new

    @property
    def rows(self) -> tuple[Rows, Rows]:
        """The table as both read it."""
        if isinstance(self._new, str):
            raise NotChecked(self._new)
        return needed(self._rows), needed(self._new_rows)

    @property
    def decided(self) -> Any:
        """Which rows both decide."""
        one, other = self.rows
        return one.is_decided & other.is_decided

    @property
    def names(self) -> tuple[Any, Any]:
        """The classes of rows by name, those of each model."""
        named = []
        for rows in self.rows:
            classes = np.array([*rows.world.terms.classes, ""], object)
            named.append(classes[np.where(rows.decision >= 0, rows.decision, -1)])
        return named[0], named[1]


def comparison_claims(said: Comparison, both: Both, protected: Sequence[Protected]) -> Iterator[Claim]:
    """What is said of two models."""

    def check_rows(_: Clock) -> None:
        one, other = both.names
        decided = both.decided
        expect(said.of, int(decided.sum()), "both decide")
        expect(said.undecided, int((~decided).sum()), "one of them does not decide")
        expect(said.rows, int((decided & (one != other)).sum()), "are decided differently")

    def check_turns(_: Clock) -> None:
        one, other = both.names
        told = {(turn.old, turn.new): turn.rows for turn in said.turns}
        if len(told) < len(said.turns):
            raise Wrong("a pair of classes is counted twice")
        counted: dict[tuple[str, str], int] = {}
        for pair in zip(one[both.decided], other[both.decided], strict=True):
            counted[pair] = counted.get(pair, 0) + 1
        for a, b in {**counted, **told}:
            right = counted.get((a, b), 0)
            # Rows that are decided alike need not be told of.
            if told.get((a, b), 0 if a != b else right) != right:
                raise Wrong(
                    f"{right:,} rows are {a} in the old model and {b} in the new one, not {told.get((a, b), 0)}"
                )

    yield Claim("comparison", f"{said.rows:,} of {said.of:,} rows are decided differently", check_rows)
    yield Claim("comparison.turns", f"they are of {len(said.turns)} pairs of classes", check_turns)
    for at, each in enumerate(said.groups):
        yield Claim(
            f"comparison.groups[{at}]",
            f"of {each.of:,} rows that are {each.group}, {each.rows:,} are decided differently",
            lambda _, each=each: _check_group(each, both, protected),  # type: ignore[misc]
        )
    if said.can_differ is not None:
        can = "can" if said.can_differ else "never"
        says = f"the two models {can} decide differently"
        yield Claim("comparison.can_differ", says, lambda clock: _check_can(said, both, clock), said.witness is None)
    for at in range(len(said.differences)):
        yield from _difference_claims(f"comparison.differences[{at}]", said.differences, at, both)


def _check_group(said: Any, both: Both, protected: Sequence[Protected]) -> None:
    groups: list[Group] = [group for each in protected for group in each.groups if group.name == said.group]
    if not groups:
        raise Wrong(f"{shown(said.group)} is no group of protected features")
    one, other = both.names
    found = []
    for group in groups:
        among = both.rows[0].holding(read_all(group.where)) & both.decided
        found.append((int((among & (one != other)).sum()), int(among.sum())))
    if (said.rows, said.of) not in found:
        raise Wrong(f"it is {found[0][0]:,} of {found[0][1]:,}, not {said.rows:,} of {said.of:,}")


def _difference_claims(place: str, every: Sequence[Difference], at: int, both: Both) -> Iterator[Claim]:
    said = every[at]

    def check_old(clock: Clock) -> None:
        known = [each for each in read_all(said.conditions) if each.feature in both.old.variables]
        both.old.check_forces(known, said.old, clock)
        if said.old == said.new:
            raise Wrong(f"both are {said.old!r}")

    def check_new(clock: Clock) -> None:
        known = [each for each in read_all(said.conditions) if each.feature in both.new.variables]
        both.new.check_forces(known, said.new, clock)

    def check_text(_: Clock) -> None:
        variables = {**(both.new.variables), **both.old.variables}
        check_texts(said.text, said.conditions, variables, said.example)

    def check_counts(_: Clock) -> None:
        before = [read_all(each.conditions) for each in every[:at]]
        counts = (said.rows, said.new_rows, said.cumulated)
        check_counted(counts, read_all(said.conditions), before, both.rows[0], both.decided)

    def check_example(_: Clock) -> None:
        conditions = read_all(said.conditions)
        if said.example.row:
            check_met(said.example, conditions, both.rows[0])
        elif said.rows:
            raise Wrong("rows meet it, and none of them is the example")
        else:
            _check_values_meet(said, both)
        for world, decision in ((both.old, said.old), (both.new, said.new)):
            if (found := world.decision_on(said.example.values)) != decision:
                raise Wrong(f"the example is decided {found!r}, not {decision!r}")

    yield Claim(f"{place}.old", f"whoever has {said.text} is {said.old} in the old model", check_old, hard=True)
    yield Claim(f"{place}.new", f"whoever has {said.text} is {said.new} in the new model", check_new, hard=True)
    yield Claim(f"{place}.text", f"{said.text!r} is what its conditions say", check_text)
    counts = f"{said.rows:,} rows meet {said.text}, {said.new_rows:,} of them no region before"
    yield Claim(f"{place}.rows", f"{counts}, {said.cumulated:,} in all", check_counts)
    yield Claim(f"{place}.example", f"row {said.example.row:,} meets {said.text}", check_example)


def _check_values_meet(said: Difference, both: Both) -> None:
    """Raise Wrong if the values of an example that is no row do not meet the conditions."""
    variables = {**both.new.variables, **both.old.variables}
    for each in read_all(said.conditions):
        if not each.holds(variables.get(each.feature), said.example.values.get(each.feature)):
            raise Wrong(f"its {each.feature} is {shown(said.example.values.get(each.feature))}, which does not meet it")


# ---- all inputs -------------------------------------------------------------------------------------------------


def _check_can(said: Comparison, both: Both, clock: Clock) -> None:
    if said.witness is not None:
        if not said.can_differ:
            raise Wrong("an instance is given that two models are said never to decide differently")
        for world, decision in ((both.old, said.witness.old), (both.new, said.witness.new)):
            if (found := world.decision_on(said.witness.values)) != decision:
                raise Wrong(f"the instance is decided {found!r}, not {decision!r}")
        if said.witness.old == said.witness.new:
            raise Wrong(f"both models decide {said.witness.old!r}")
        return
    differing = _difference(both.old, both.new, clock)
    if (differing is None) == said.can_differ:
        raise Wrong("they never do" if differing is None else f"{differing} is decided differently")


def _difference(old: World, new: World, clock: Clock) -> str | None:
    """An instance that two models decide differently, in words; None if there is none.

    Both are cut where either is; then boxes are split until each has one class in both.
    """
    _check_same_inputs(old, new)
    cuts = [
        {
            mine.index[name]: theirs.variables[name].cuts
            for name in mine.index.keys() & theirs.index.keys()
            if mine.variables[name].is_numeric
        }
        for mine, theirs in ((old, new), (new, old))
    ]
    one, other = World(old.own, old.terms.cutting(cuts[0])), World(new.own, new.terms.cutting(cuts[1]))
    names = list(dict.fromkeys([*one.index, *other.index]))
    box: dict[str, Ranges] = {}
    for world in (one, other):
        for name, v in world.index.items():
            states = world.terms.worlds.possible.states(v)
            box[name] = intersection(box[name], states) if name in box else states
    work = [box]
    for _ in range(MOST_REGIONS):
        if not work:
            return None
        here = work.pop()
        if not all(here.values()):
            continue
        inside = one.terms.worlds.member(_region(one, here))
        if inside is None:  # constraints, which only speak of features that both have, leave nothing
            continue
        point = {name: states[0][0] for name, states in here.items()}
        point |= {name: inside[v] for name, v in one.index.items()}
        decision = _names_at(one, other, point)
        if decision[0] != decision[1]:
            return one.told([point[name] for name in one.index])
        found = _escaping(one, here, decision[0], point, clock) or _escaping(other, here, decision[0], point, clock)
        if found is None:
            continue
        moved = {**point, **found}
        decision = _names_at(one, other, moved)
        if decision[0] != decision[1]:
            return one.told([moved[name] for name in one.index])
        apart = next(name for name in names if moved[name] != point[name])
        middle = (moved[apart] + point[apart]) // 2
        last = here[apart][-1][1]
        halves = (intersection(here[apart], ((0, middle),)), intersection(here[apart], ((middle + 1, last),)))
        work += [{**here, apart: half} for half in halves if half]
    raise NotChecked(f"that takes more than {MOST_REGIONS:,} regions")


def _check_same_inputs(old: World, new: World) -> None:
    """Raise NotChecked if the two have a feature of one name that is not read in the same way."""
    for name in old.index.keys() & new.index.keys():
        a, b = old.variables[name], new.variables[name]
        kinds = [(v.labels, v.is_line, v.single, v.missing, v.other, v.no_value) for v in (a, b)]
        if kinds[0] != kinds[1] or a.is_line:
            raise NotChecked(f"the two models read {name} in different ways")


def _names_at(one: World, other: World, point: dict[str, int]) -> tuple[str, str]:
    labels = [world.asked.classes[world.asked.decide([point[name] for name in world.index])] for world in (one, other)]
    return labels[0], labels[1]


def _region(world: World, box: dict[str, Ranges]) -> Region:
    return Region(world.terms.variables, {v: box[name] for name, v in world.index.items()})


def _escaping(
    world: World, box: dict[str, Ranges], decision: str, point: dict[str, int], clock: Clock
) -> dict[str, int] | None:
    """The states of an instance in a box that a model decides otherwise."""
    kept = [at for at, name in enumerate(world.terms.classes) if name == decision]
    found = world.escape(_region(world, box), kept, clock, [point[name] for name in world.index])
    if found is None:
        return None
    return {name: found[v] for name, v in world.index.items() if found[v] >= 0}
