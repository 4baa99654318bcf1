"""Claims of rules: whoever meets one gets its class, so many rows do, and one of them is the example."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from quia.auditing.check_facts import expect, needed
from quia.auditing.check_rows import Bools, Rows
from quia.auditing.check_world import World
from quia.auditing.checked import Claim, Wrong
from quia.auditing.document import Condition, Example, Rule, Rules
from quia.auditing.said import Said, read_all, texts_of
from quia.errors import shown
from quia.patience import Clock
from quia.variables import Variable


def rules_claims(place: str, said: Rules, world: World, rows: Rows | None, share: float) -> Iterator[Claim]:
    """What is said of the rules of one class."""

    def check_cover(_: Clock) -> None:
        table = needed(rows)
        label = world.class_index(said.decision)
        expect(said.of, int((table.decision == label).sum()), f"are decided {said.decision}")
        exact = math.ceil(Fraction(str(share)) * said.of)
        if said.wanted not in (exact, math.ceil(share * said.of)):
            raise Wrong(f"{share:.0%} of {said.of:,} are {exact:,}")
        covered = np.zeros(len(table), bool)
        for rule in said.rules:
            covered |= table.holding(read_all(rule.conditions)) & table.is_decided
        expect(said.covered, int(covered.sum()), "meet one of the rules")
        if said.complete != (said.covered >= said.wanted):
            raise Wrong(f"{said.covered:,} are covered and {said.wanted:,} wanted, so it is not {said.complete}")
        if said.explained > said.of or (said.rules and not said.explained):
            raise Wrong(
                f"{said.explained:,} of {said.of:,} rows cannot have been explained for {len(said.rules)} rules"
            )

    told = f"{len(said.rules)} rules cover {said.covered:,} of {said.of:,} rows that are decided {said.decision}"
    yield Claim(place, told, check_cover)
    for at in range(len(said.rules)):
        yield from _rule_claims(f"{place}.rules[{at}]", said, at, world, rows)


def _rule_claims(place: str, said: Rules, at: int, world: World, rows: Rows | None) -> Iterator[Claim]:
    rule = said.rules[at]

    def check_forces(clock: Clock) -> None:
        world.check_forces(read_all(rule.conditions), said.decision, clock)

    def check_counts(_: Clock) -> None:
        table = needed(rows)
        before = [read_all(each.conditions) for each in said.rules[:at]]
        check_counted((rule.rows, rule.new, rule.cumulated), read_all(rule.conditions), before, table, table.is_decided)

    def check_example(_: Clock) -> None:
        check_met(rule.example, read_all(rule.conditions), needed(rows))
        expect_decision(world, rule, said.decision)

    yield Claim(f"{place}.conditions", f"whoever has {rule.text} is decided {said.decision}", check_forces, hard=True)
    yield Claim(f"{place}.text", f"{rule.text!r} is what its conditions say", lambda _: _check_text(rule, world))
    counts = f"{rule.rows:,} rows meet {rule.text}, {rule.new:,} of them no rule before, {rule.cumulated:,} in all"
    yield Claim(f"{place}.rows", counts, check_counts)
    yield Claim(f"{place}.example", f"row {rule.example.row:,} meets {rule.text}", check_example)


def _check_text(rule: Rule, world: World) -> None:
    check_texts(rule.text, rule.conditions, world.variables, rule.example)


def expect_decision(world: World, rule: Rule, decision: str) -> None:
    """Raise Wrong unless the example of a rule is decided so."""
    if (found := world.decision_on(rule.example.values)) != decision:
        raise Wrong(f"row {rule.example.row:,} is decided {found!r}, not {decision!r}")


def check_texts(
    text: str, given: tuple[Condition, ...], variables: Mapping[str, Variable], example: Example | None
) -> None:
    """Raise Wrong unless conditions are written as they are, each by itself and all together."""
    said = read_all(given)
    for each in said:
        if each.feature not in variables:
            raise Wrong(f"{shown(each.feature)} is no feature of the model")
        each.check_text(variables[each.feature])
    right = texts_of(said, variables, {} if example is None else example.values)
    if text not in right and said:
        raise Wrong(f"the conditions say {min(right, key=len)!r}")


def check_counted(
    counts: tuple[int, int, int], said: list[Said], before: list[list[Said]], rows: Rows, among: Bools
) -> None:
    """Raise Wrong unless so many rows meet conditions, so many of them none before, and so many these or those."""
    holds, earlier = rows.holding(said) & among, np.zeros(len(rows), bool)
    for each in before:
        earlier |= rows.holding(each) & among
    expect(counts[0], int(holds.sum()), "meet it")
    expect(counts[1], int((holds & ~earlier).sum()), "meet it and none before it")
    expect(counts[2], int((holds | earlier).sum()), "meet it or one before it")


def check_met(example: Example, said: list[Said], rows: Rows) -> None:
    """Raise Wrong unless an example is a row of the table that meets conditions."""
    at = rows.check_row(example.row, example.values)
    if not rows.holding(said)[at]:
        raise Wrong(f"row {example.row:,} does not meet it")
