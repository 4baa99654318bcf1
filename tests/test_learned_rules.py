"""What audits are made of, against brute force over all instances: rules, bands of numbers, what hangs on features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from audit_oracle import Case, random_case
from contract import World
from quia.asking import Terms
from quia.auditing import hanging, reasons, rules
from quia.auditing.groups import Parting, grouping_of, groups_told, parting_of_column, parting_of_states
from quia.auditing.learned import learned
from quia.auditing.reasons import Mentioned, alone
from quia.auditing.rows import Rows, read_rows
from quia.auditing.subject import ranks
from quia.auditing.table import open_table
from quia.patience import Clock, OutOfTime
from quia.variables import UNKNOWN, Variable
from test_contract import KINDS

LEARNED = ("ensemble", "vote", "two models")
HOW: dict[str, dict[str, Any]] = {"plain": {}, "unknown values": {"missing": 0.15}, "worlds": {"worlds": True}}


class Asked:
    """A random case with its rows as audits have them, and all its possible instances."""

    def __init__(self, kind: str, seed: Any, folder: Path, **how: Any) -> None:
        rng = Random(f"{kind} {seed} {sorted(how)}")
        self.case: Case = random_case(rng, KINDS[kind](rng, folder), **{"rows": 60, **how})
        said = self.case.settings
        self.terms = Terms.of(self.case.classifier, within=said.within, given=list(said.given) or None)
        assert [v.size for v in self.terms.variables] == [v.size for v in self.case.variables]
        self.rows = read_rows(open_table(self.case.rows, self.terms, ["site"]), self.terms, ["site"])

    def meeting(self, conditions: Any) -> list[World]:
        return [world for world in self.case.worlds if _meets(world, conditions)]

    def rows_meeting(self, conditions: Any, label: int) -> set[int]:
        """The numbers of the table's rows that are decided so and meet conditions."""
        return {
            number
            for number, (states, found) in enumerate(zip(self.case.states, self.case.found, strict=True))
            if found == label and _meets(states, conditions)
        }


def _meets(states: Sequence[int], conditions: Any) -> bool:
    return all(any(low <= states[v] <= high for low, high in ranges) for v, ranges in conditions)


def cases(kind: str, how: str, folder: Path, count: int) -> Iterator[Asked]:
    return (Asked(kind, seed, folder, **HOW[how]) for seed in range(count))


class Ending(Clock):
    """A clock that ends when it was asked so often, whatever the time."""

    __slots__ = ("asked",)

    def __init__(self, asked: int) -> None:
        super().__init__(None)
        self.asked = asked

    def __call__(self) -> None:
        self.asked -= 1
        if self.asked < 0:
            raise OutOfTime

    def share(self, share: float) -> Clock:
        return self


# ---- rules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", LEARNED)
def test_what_is_learned_forces_its_class(kind: str, how: str, tmp_path: Path) -> None:
    """Whoever meets it has the class, among all possible instances, and some row that is left meets it."""
    found = 0
    for asked in cases(kind, how, tmp_path, 12):
        rows = asked.rows
        for label in range(len(asked.case.classes)):
            left = rows.decision == label
            while left.any():
                conditions = learned(rows, label, left, asked.terms, Clock())
                if conditions is None:
                    break
                found += 1
                assert {asked.case.truth[world] for world in asked.meeting(conditions)} == {label}
                for v, ranges in conditions:  # in order, not adjacent, and not everything
                    assert ranges != ((0, asked.terms.variables[v].size - 1),)
                    assert all(a[1] + 1 < b[0] for a, b in pairwise(ranges))
                fits = rules.meeting(rows, asked.terms, conditions)
                assert fits.tolist() == [_meets(row, conditions) for row in rows.states.tolist()]
                assert (fits & left).any()
                left &= ~fits
            known = (rows.states[:, list(asked.terms.classifier.tested)] != UNKNOWN).all(axis=1)
            assert not (left & known).any()  # small models leave none
    assert found > 10


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", [*LEARNED, "several classes", "shared graph", "additive", "d4"])
def test_rules_cover_what_is_said(kind: str, how: str, tmp_path: Path) -> None:
    for seed, asked in enumerate(cases(kind, how, tmp_path, 6)):
        share = Random(seed).choice([0.1, 0.5, 0.75, 0.9, 1.0])
        for label in range(len(asked.case.classes)):
            every = {number for number, found in enumerate(asked.case.found) if found == label}
            chosen = asked.rows.decision == label
            found = rules.cover(asked.rows, chosen, asked.terms, share, Clock())
            wanted = next(n for n in range(len(every) + 1) if n >= share * len(every) - 1e-9)
            assert rules.wanted(len(every), share) == wanted
            fits = [asked.rows_meeting(rule.conditions, label) for rule in found.rules]
            for rule, mine in zip(found.rules, fits, strict=True):
                assert {asked.case.truth[world] for world in asked.meeting(rule.conditions)} == {label}
                assert asked.rows.count(rule.covered) == len(mine)
            assert found.is_enough
            assert (len(set().union(*fits)) >= wanted, found.explained >= len(found.rules) > 0) == (True, bool(wanted))
            _check_greedy(fits, wanted)
            counted = list(rules.cumulated(found.rules, asked.rows))
            seen: set[int] = set()
            for mine, (covered, new, cumulated) in zip(fits, counted, strict=True):
                assert (covered, new, cumulated) == (len(mine), len(mine - seen), len(mine | seen))
                seen |= mine


def _check_greedy(fits: Sequence[set[int]], wanted: int) -> None:
    """Each adds at least as much as any after it would, and without the last there are not enough."""
    seen: set[int] = set()
    for at, mine in enumerate(fits):
        assert len(seen) < wanted
        assert len(mine - seen) == max(len(other - seen) for other in fits[at:]) > 0
        seen |= mine


@pytest.mark.parametrize("kind", [*LEARNED, "several classes"])
def test_out_of_time_less_is_found_and_all_of_it_is_true(kind: str, tmp_path: Path) -> None:
    ended = 0
    for seed in range(4):
        asked = Asked(kind, seed, tmp_path)
        label = int(asked.rows.decision[0])
        chosen = asked.rows.decision == label
        for most in (0, 1, 2, 3, 5, 8, 13, 21, 34):
            found = rules.cover(asked.rows, chosen, asked.terms, 1.0, Ending(most))
            covered: set[int] = set()
            for rule in found.rules:
                assert {asked.case.truth[world] for world in asked.meeting(rule.conditions)} == {label}
                covered |= asked.rows_meeting(rule.conditions, label)
            assert found.is_enough == (len(covered) == asked.rows.count(chosen))
            ended += not found.is_enough
        with pytest.raises(OutOfTime):
            learned(asked.rows, label, chosen, asked.terms, _ended(asked.rows, label))
    assert ended >= 4


def _ended(rows: Rows, label: int) -> Clock:
    return Clock(0) if (rows.decision != label).any() else Ending(0)


# ---- groups -----------------------------------------------------------------------------------------------------


def column_rows(values: Sequence[Any], repeats: Sequence[int]) -> Rows:
    """Rows with one further column and no variables; a None is no value."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    codes = np.array([-1 if value is None else known.index(value) for value in values], np.int64)
    n = len(values)
    decision = np.arange(n, dtype=np.int32) % 2
    counted = np.array(repeats, np.int64)
    first = np.arange(1, n + 1)
    return Rows(np.zeros((n, 0), np.int8), {"x": codes}, {"x": known}, decision, counted, first, int(counted.sum()), ())


def random_numbers(rng: Random) -> list[float | None]:
    kind = rng.choice(["few", "whole", "any", "far", "one"])
    draw = {
        "few": lambda: float(rng.randrange(4)),
        "whole": lambda: float(rng.randrange(-50, 50)),
        "any": lambda: rng.gauss(0, 1),
        "far": lambda: rng.choice([1e300, -1e300, 5e-324, 0.1, 0.1 + 2**-56, 1.0]) * rng.choice([1, 1, 0.5]),
        "one": lambda: 7.0,
    }[kind]
    return [None if rng.random() < 0.1 else draw() for _ in range(rng.randint(1, 80))]


def literal_of(parting: Parting, number: float) -> list[int]:
    """Which literals a number meets, by what their conditions say."""
    return [at for at, literal in enumerate(parting.literals) if _inside(literal.condition["intervals"], number)]


def _inside(intervals: Any, number: float) -> bool:
    return any(
        (i["low"] is None or number > i["low"] or (i["low_closed"] and number == i["low"]))
        and (i["high"] is None or number < i["high"] or (i["high_closed"] and number == i["high"]))
        for i in intervals
    )


def test_bands_of_a_column_part_all_numbers() -> None:
    """Every number is in one band, whether it is in the table or not, and each band has somebody in it."""
    several = 0
    for seed in range(300):
        rng = Random(seed)
        values = random_numbers(rng)
        rows = column_rows(values, [rng.randint(1, 3) for _ in values])
        parting = parting_of_column(rows, "x")
        if not parting.variable.is_numeric:  # few numbers are told one by one
            assert len({value for value in values if value is not None}) <= 6
            continue
        several += len(parting.literals) > 1
        assert len(parting.literals) <= 5
        for number in [value for value in values if value is not None] + [-1e308, 1e308, 0.0, rng.gauss(0, 30)]:
            assert len(literal_of(parting, number)) == 1
        of_row = [-1 if value is None else literal_of(parting, value)[0] for value in values]
        assert parting.of_row.tolist() == of_row
        assert {at for at in of_row if at >= 0} == set(range(len(parting.literals)))
        _check_told(rows, parting, of_row)
    assert several > 100


def _check_told(rows: Rows, parting: Parting, of_row: Sequence[int]) -> None:
    labelled = np.array([at % 3 - 1 for at in range(len(rows))], np.int32)
    told = groups_told(rows, grouping_of(rows, [parting]), ["no", "yes"], labelled)
    used = [at for at in range(len(parting.literals)) if at in of_row]
    assert len(told) == len(used)
    for at, group in zip(used, told, strict=True):
        mine = [row for row, place in enumerate(of_row) if place == at]
        counts = [sum(int(rows.repeats[row]) for row in mine if rows.decision[row] == c) for c in (0, 1)]
        assert (group.rows, group.decided) == (sum(counts), {"no": counts[0], "yes": counts[1]})
        known = [row for row in mine if labelled[row] >= 0]
        right = [row for row in known if labelled[row] == rows.decision[row]]
        assert group.labelled == sum(int(rows.repeats[row]) for row in known)
        assert group.right == sum(int(rows.repeats[row]) for row in right)


def test_few_numbers_of_a_feature_are_parted_one_by_one() -> None:
    """Of a feature that is a number but is not tested, and nobody is left out or in no band."""
    values = [3.0, 1.0, None, 2.0, 3.0]
    rows = column_rows(values, [1] * 5)
    parting = parting_of_column(rows, "x", Variable.line("x"))
    assert [literal.text for literal in parting.literals] == ["<= 1", "(1, 2]", "> 2"]
    assert parting.of_row.tolist() == [2, 0, -1, 1, 2]


def test_bands_of_a_variable_part_its_states() -> None:
    for seed in range(200):
        rng = Random(seed)
        cuts = sorted({float(rng.randrange(100)) for _ in range(rng.randint(1, 30))})
        variable = Variable.numeric("x", [(cut, rng.choice(["before", "after"])) for cut in cuts])
        states = [rng.choice([rng.randrange(variable.size), rng.randrange(min(3, variable.size))]) for _ in range(40)]
        states = [UNKNOWN if rng.random() < 0.1 else state for state in states]
        rows = column_rows([1.0] * 40, [rng.randint(1, 3) for _ in states])
        parting = parting_of_states(rows, variable, np.array(states))
        places = parting.of_states(np.arange(variable.size)).tolist()
        assert sorted(set(places)) == list(range(len(parting.literals)))  # each state in one, and none is empty
        assert places == sorted(places)
        assert len(parting.literals) <= (variable.size if variable.size <= 6 else 5)
        assert parting.of_row.tolist() == [-1 if state == UNKNOWN else places[state] for state in states]
        for number in [*cuts, *(cut + 0.5 for cut in cuts), -1e9, 1e9]:
            assert literal_of(parting, number) == [places[variable.encode(number)]]


def test_groups_by_several_columns() -> None:
    for seed in range(50):
        rng = Random(seed)
        values = [rng.choice(["a", "b", "c", None]) for _ in range(30)]
        rows = column_rows(values, [1] * 30)
        one = parting_of_column(rows, "x")
        other = replace(one, of_row=np.roll(one.of_row, 1))
        grouping = grouping_of(rows, [one, other])
        pairs = list(zip(one.of_row.tolist(), other.of_row.tolist(), strict=True))
        known = [pair for pair in pairs if min(pair) >= 0]
        assert set(grouping.members) == set(known)
        assert len(grouping.members) == len(set(known))
        for pair, at in zip(pairs, grouping.of_row.tolist(), strict=True):
            assert at == (-1 if min(pair) < 0 else grouping.members.index(pair))


# ---- two ways that must agree -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["several classes", "ensemble", "vote", "additive", "d4", "two models"])
def test_what_hangs_on_features_by_deciding_and_by_escape(
    kind: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differing, left_out, every = 0, 0, 0
    for asked in cases(kind, how, tmp_path, 12):
        tested = list(asked.terms.classifier.tested)
        rng = Random(len(tested))
        for count in (1, 2):
            if len(tested) < count:
                continue
            chosen = tuple(sorted(rng.sample(tested, count)))
            partings = [
                parting_of_states(asked.rows, asked.terms.variables[v], asked.rows.states[:, v]) for v in chosen
            ]
            rank = ranks(asked.case.classes, asked.case.settings.favourable)
            grouping = grouping_of(asked.rows, [*partings, parting_of_column(asked.rows, "site")])
            protection = hanging.Protection(asked.rows, asked.terms, grouping, chosen, rank)
            by_deciding, worst = protection.found(Clock())
            with monkeypatch.context() as patched:
                patched.setattr(hanging, "MOST_COMBINATIONS", 0)
                by_escape, other_worst = protection.found(Clock())
            if how == "unknown values" and by_escape.of < by_deciding.of:
                left_out += by_deciding.of - by_escape.of  # an escape does not tell of these, and they are not counted
                assert by_deciding.rows - by_escape.rows in range(by_deciding.of - by_escape.of + 1)
                continue
            assert by_escape == by_deciding
            assert bool(worst) == bool(other_worst)
            differing += by_deciding.rows
            every += by_deciding.of
            for case in [*worst, *other_worst]:
                old = asked.rows.states[case.row].tolist()
                changed = {v for v, (a, b) in enumerate(zip(old, case.other, strict=True)) if a != b}
                assert changed
                assert changed <= set(chosen)
                decided = asked.case.decided(tuple(case.other), asked.case.truth)
                assert decided == case.decision
                assert rank[case.decision] > rank[int(asked.rows.decision[case.row])]
    assert differing
    assert left_out < every


def test_nobody_fares_better_as_the_own_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a band of numbers decisions may differ: that is no other group."""
    edges = [{"if": "< 0", "to": "no"}, {"if": ">= 19", "to": "yes"}]
    edges += [{"if": f"[{n}, {n + 1})", "to": "yes" if n % 2 else "no"} for n in range(19)]
    leaves = {"no": {"class": "no"}, "yes": {"class": "yes"}}
    nodes = {"x": {"test": "x", "edges": edges}, **leaves}
    graph = quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": {"x": {"kind": "numeric"}}, "classes": ["no", "yes"], "root": "x", "nodes": nodes}
    )
    terms = Terms.of(graph)
    rows = read_rows(open_table([{"x": n % 20} for n in range(100)], terms, []), terms, [])
    parting = parting_of_states(rows, graph.variables[0], rows.states[:, 0])
    assert len(parting.literals) == 5
    grouping = grouping_of(rows, [parting])
    protection = hanging.Protection(rows, terms, grouping, (0,), (0, 1))
    found = protection.found(Clock())[0]
    for group in found.groups:
        assert group.better == {name: group.of // 2 for name in grouping.names if name != group.group}
    monkeypatch.setattr(hanging, "MOST_COMBINATIONS", 0)
    assert protection.found(Clock())[0] == found


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["tree", "several classes", "shared graph", "additive", "d4"])
def test_what_a_feature_alone_changes_by_reasons_and_by_deciding(
    kind: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing = 0
    for asked in cases(kind, how, tmp_path, 8):
        by_reasons = _mentioned(alone(asked.rows, asked.terms, Clock()))
        with monkeypatch.context() as patched:
            patched.setattr(reasons, "answers_many", lambda _: False)
            by_deciding = _mentioned(alone(asked.rows, asked.terms, Clock()))
        assert by_reasons == by_deciding
        assert set(by_reasons) == set(range(len(asked.rows)))
        for row, features in by_deciding.items():
            assert features == _alone(asked, row)
            changing += len(features)
    assert changing


def _mentioned(found: Mentioned) -> dict[int, list[int]]:
    return {
        row: np.flatnonzero(features).tolist()
        for row, features in zip(found.rows.tolist(), found.features, strict=True)
    }


def _alone(asked: Asked, row: int) -> list[int]:
    """By the definition: the variables that some other state of changes the decision, whatever is not known."""
    states, own = asked.rows.states[row].tolist(), int(asked.rows.decision[row])
    found = []
    for v in asked.terms.classifier.tested:
        others = (tuple(s if u == v else x for u, x in enumerate(states)) for s in range(asked.terms.variables[v].size))
        decisions = {asked.case.decided(world, asked.case.truth) for world in others}
        if decisions - {own, None}:
            found.append(v)
    return found
