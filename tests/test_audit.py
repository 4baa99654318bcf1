"""Audits compared with brute force: every count and every proof, for each kind of model; and checked claim by claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from audit_oracle import Case, made, random_case
from quia.auditing.checks import check
from quia.auditing.document import Document, Hanging, Protected
from quia.auditing.reading import plain
from test_contract import KINDS

CASES: dict[str, dict[str, Any]] = {
    "tree": {},
    "shared graph": {"missing": 0.1},
    "several classes": {},
    "SDD balanced": {},
    "d4": {},
    "vote": {},
    "ensemble": {},
    "additive": {},
}


def audited(case: Case, **how: Any) -> Document:
    said = case.settings
    options: dict[str, Any] = {
        "label": said.label,
        "protected": said.protected,
        "favourable": said.favourable,
        "orders": said.orders,
        "compare": case.other,
        "within": said.within,
        "given": list(said.given) or None,
    }
    return quia.audit(case.classifier, case.rows, **{**options, **how}).document


def case_of(kind: str, seed: int, folder: Path, **how: Any) -> Case:
    rng = Random(f"audit {kind} {seed}")
    return random_case(rng, KINDS[kind](rng, folder), **{**CASES[kind], **how})


@pytest.mark.parametrize("worlds", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_all_that_is_counted_or_proved_is_what_brute_force_finds(kind: str, worlds: bool, tmp_path: Path) -> None:
    for seed in range(4):
        case = case_of(kind, seed, tmp_path, worlds=worlds, **({"missing": 0.0} if worlds else {}))
        found, right = audited(case), made(case)
        assert found.unfinished == ()
        assert _decisions(found) == _decisions(right)
        assert [_without_pair(f) for f in found.features] == [_without_pair(f) for f in right.features]
        theirs = {each.features: each for each in right.protected}
        assert len(found.protected) == len(case.settings.protected) + 1  # each by itself, and all together
        for mine in found.protected:
            _compare_protected(mine, theirs[mine.features], case)
        assert found.monotonicity is not None and right.monotonicity is not None
        assert found.monotonicity.order == right.monotonicity.order
        assert _proofs(found) == _proofs(right)
        assert found.comparison is not None and right.comparison is not None
        for name in ("of", "rows", "undecided", "can_differ"):
            assert getattr(found.comparison, name) == getattr(right.comparison, name), name
        assert set(found.comparison.turns) == {turn for turn in right.comparison.turns if turn.old != turn.new}
        for rules in found.rules:
            assert rules.complete and rules.covered >= rules.wanted


@pytest.mark.parametrize("worlds", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_every_claim_of_an_audit_is_checked_and_holds(kind: str, worlds: bool, tmp_path: Path) -> None:
    for seed in range(3):
        case = case_of(kind, 100 + seed, tmp_path, worlds=worlds, **({"missing": 0.0} if worlds else {}))
        checked = check(audited(case), case.classifier, other=case.other, table=case.rows)
        assert [claim for claim in checked.claims if claim.outcome != "holds"] == []


def _decisions(document: Document) -> Any:
    found = document.decisions
    return (
        found.rows,
        found.decided,
        {each.decision: each.rows for each in found.classes if each.rows},
        {each.why: (each.rows, each.first[:3]) for each in found.undecided},
        None if found.labels is None else _without_zeros(plain(found.labels)),
    )


def _without_pair(feature: Any) -> Any:
    return replace(feature, pair=None, why=None)


def _proofs(document: Document) -> Any:
    assert document.monotonicity is not None
    return {each.feature: (each.order, each.hurts.can, each.helps.can) for each in document.monotonicity.features}


def _compare_protected(mine: Protected, theirs: Protected, case: Case) -> None:
    assert (mine.features, mine.in_model, mine.depends.can) == (theirs.features, theirs.in_model, theirs.depends.can)
    assert (mine.hanging is None) == (theirs.hanging is None)
    # People are grouped by the values of a feature that is not tested, and by the states of one that is.
    untested = {v.name for v in case.variables}.difference(mine.in_model).intersection(mine.features)
    if not untested:
        assert _by_name(mine.groups) == _by_name(theirs.groups)
    if mine.hanging is not None and theirs.hanging is not None:
        assert _hanging(mine.hanging, bool(untested)) == _hanging(theirs.hanging, bool(untested))
    assert bool(mine.worst) == bool(theirs.worst)


def _by_name(groups: Any) -> Mapping[str, Any]:
    return {group.name: _without_zeros(plain(group)) for group in groups if group.rows}


def _without_zeros(data: Any) -> Any:
    """Plain data in which a class that nothing is decided as is left out."""
    if isinstance(data, dict):
        found = {name: _without_zeros(value) for name, value in data.items() if value != 0}
        if "confusion" in data:
            found["confusion"] = {each["label"]: _without_zeros(each) for each in data["confusion"] if each["rows"]}
        return found
    return [_without_zeros(each) for each in data] if isinstance(data, list) else data


def _hanging(hanging: Hanging, alone: bool) -> Any:
    # Who would fare better is told as groups that somebody is in.
    people = {each.group for each in hanging.groups if each.of}
    groups = {
        each.group: (each.rows, each.of, {name: n for name, n in each.better.items() if n and name in people})
        for each in hanging.groups
        if each.of
    }
    return hanging.rows, hanging.of, hanging.fixed, set(hanging.turns), None if alone else groups


def test_a_value_that_is_missing_is_no_group() -> None:
    """Spaces around a value are none of it, `?` is no value: `quia verify` reads the column so, too."""
    rng = Random(1)
    states = {"SAT": [1200, 1500], "GPA": ["low", "medium", "high"], "Essay": ["pass", "fail"]}
    rows = [
        {name: rng.choice(each) for name, each in states.items()}
        | {"Interview": rng.choice(["pass", "fail"]), "town": rng.choice(["a ", "a", "b", "?", "", None])}
        for _ in range(80)
    ]
    model = quia.load(str(Path(__file__).parents[1] / "examples" / "admissions.json"))
    document = quia.audit(model, rows, protected=["town"]).document
    (town,) = document.protected
    assert {group.name: group.rows for group in town.groups} == {
        "town=a": sum(row["town"] in ("a", "a ") for row in rows),
        "town=b": sum(row["town"] == "b" for row in rows),
    }
    assert [claim for claim in check(document, model, table=rows).claims if claim.outcome != "holds"] == []
