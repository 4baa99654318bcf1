"""Audits of real models: what is counted and shown is what their own `predict` says, and lies about it are found."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

pd = pytest.importorskip("pandas")

from audit_real import CLASSES, PROTECTED, Real, lies, make  # noqa: E402

MODELS = ("j48", "sklearn", "pmml", "xgboost")
LIES = {"j48": 60, "sklearn": 60, "pmml": 60, "xgboost": 20}


@pytest.fixture(scope="module", params=MODELS)
def real(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    return make(request.param, shared_data, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def decisions(real: Real) -> list[str | None]:
    return real.predict(real.rows)


def test_decisions_and_labels(real: Real, decisions: list[str | None]) -> None:
    found = real.document.decisions
    decided = [one for one in decisions if one is not None]
    assert (found.rows, found.decided, real.document.unfinished) == (len(decisions), len(decided), ())
    assert {each.decision: each.rows for each in found.classes} == Counter(decided)
    assert found.labels is not None
    both = Counter(zip(real.rows["class"], decisions, strict=True))
    assert found.labels.right == sum(both[name, name] for name in CLASSES)
    for each in found.labels.confusion:
        assert each.decided == {name: both[each.label, name] for name in CLASSES}


def _group(row: Any, features: tuple[str, ...]) -> str:
    return " and ".join(f"{name}={row[name]}" for name in features)


@pytest.mark.parametrize("features", [("sex",), ("race",), PROTECTED], ids="-".join)
def test_groups_and_what_hangs_on_them(real: Real, decisions: list[str | None], features: tuple[str, ...]) -> None:
    """Each row decided again with every combination of the features' values, and none of them where that is a value."""
    said = next(each for each in real.document.protected if each.features == features)
    people = [_group(row, features) for row in real.rows.to_dict("records")]
    counted = Counter(zip(people, decisions, strict=True))
    for group in said.groups:
        assert group.decided == {name: counted[group.name, name] for name in CLASSES}
        assert group.rows == sum(group.decided.values())
        right = [
            one == label
            for one, label, who in zip(decisions, real.rows["class"], people, strict=True)
            if who == group.name and one is not None
        ]
        assert (group.labelled, group.right) == (len(right), sum(right))
    assert sum(group.rows for group in said.groups) == sum(one is not None for one in decisions)
    assert set(said.in_model) <= set(features)
    if not said.in_model:
        assert (said.hanging, said.depends.can) == (None, False)
        return
    _compare_hanging(real, said, people, decisions)


def _compare_hanging(real: Real, said: Any, people: list[str], decisions: list[str | None]) -> None:
    variables = {variable.name: variable for variable in real.classifier.variables}
    values = [
        [None if label == variables[name].no_value else label for label in variables[name].labels]
        for name in said.in_model
    ]
    reached: list[set[str]] = [set() for _ in decisions]
    better: list[set[str]] = [set() for _ in decisions]
    for chosen in product(*values):
        other = real.predict(real.rows.assign(**dict(zip(said.in_model, chosen, strict=True))))
        for at, (old, new) in enumerate(zip(decisions, other, strict=True)):
            if old is not None and new is not None and new != old:
                reached[at].add(new)
                if new == CLASSES[1]:
                    row = dict(real.rows.iloc[at]) | dict(zip(said.in_model, chosen, strict=True))
                    better[at].add(_group(row, said.features))
    assert said.hanging is not None
    assert said.hanging.rows == sum(map(bool, reached))
    assert said.hanging.of == sum(one is not None for one in decisions)
    turns = Counter((old, new) for old, every in zip(decisions, reached, strict=True) for new in every)
    assert {(turn.decision, turn.otherwise): turn.rows for turn in said.hanging.turns} == turns
    told = {each.group: each for each in said.hanging.groups}
    for name in set(people):
        mine = [at for at, who in enumerate(people) if who == name and decisions[at] is not None]
        if mine:
            assert (told[name].rows, told[name].of) == (sum(bool(reached[at]) for at in mine), len(mine))
        if mine and len(said.in_model) == len(said.features):
            fares = Counter(who for at in mine for who in better[at] if who in told and who != name)
            assert told[name].better == fares
    assert bool(said.worst) == any(better)
    for case in said.worst:
        assert case.row - 1 in [at for at, every in enumerate(better) if every]
        both = pd.DataFrame([case.values, case.other])
        assert real.predict(both.reindex(columns=real.rows.columns, fill_value="")) == [
            case.decision,
            case.other_decision,
        ]
        assert {name for name in case.values if case.values[name] != case.other[name]} <= set(said.in_model)
    assert said.depends.can or said.hanging.rows == 0


def test_pairs_are_decided_as_they_are_said_to_be(real: Real) -> None:
    """By the library's own predict: what shows that raising hurts or helps, and that a feature matters."""
    document = real.document
    assert document.monotonicity is not None
    shown = []
    rank = {name: CLASSES.index(name) for name in CLASSES}
    for each in document.monotonicity.features:
        for proof, sign in ((each.hurts, -1), (each.helps, 1)):
            if proof.pair is None:
                continue
            assert proof.pair.differing == (each.feature,)
            low, high = proof.pair.one, proof.pair.other
            first, second = proof.pair.decisions
            if not _is_below(low[each.feature], high[each.feature]):
                low, high, first, second = high, low, second, first
            assert _is_below(low[each.feature], high[each.feature])
            assert sign * (rank[second] - rank[first]) > 0
            shown.append(proof.pair)
    shown += [feature.pair for feature in document.features if feature.pair is not None]
    shown += [each.depends.pair for each in document.protected if each.depends.pair is not None]
    assert len(shown) > 3
    for pair in shown:
        rows = pd.DataFrame([_whole(real, pair.one), _whole(real, pair.other)])
        assert real.predict(rows[list(real.rows.columns)]) == list(pair.decisions)


def _is_below(low: Any, high: Any) -> bool:
    return float(low) < float(high)


def _whole(real: Real, values: Any) -> dict[str, Any]:
    """A row with these values, and with the first row's where the model does not look."""
    row = dict(real.rows.iloc[0]) | values
    numbers = set(real.rows.select_dtypes("number"))
    return {name: float(value) if name in numbers and value is not None else value for name, value in row.items()}


def test_rules_hold_for_whoever_meets_them(real: Real, decisions: list[str | None]) -> None:
    """On the rows, and on as many that are shuffled column by column, so that they are like none of these."""
    shuffled = pd.DataFrame(
        {name: real.rows[name].sample(frac=1, random_state=at).to_numpy() for at, name in enumerate(real.rows)}
    )
    for rows, decided, is_table in ((real.rows, decisions, True), (shuffled, real.predict(shuffled), False)):
        records = rows.to_dict("records")
        for rules in real.document.rules:
            seen: set[int] = set()
            for rule in rules.rules:
                meets = [at for at, row in enumerate(records) if all(_holds(c, row) for c in rule.conditions)]
                assert {decided[at] for at in meets} <= {rules.decision, *([] if is_table else [None])}
                if is_table:
                    assert (rule.rows, rule.new) == (len(meets), len(set(meets) - seen))
                    seen |= set(meets)
                    assert rule.cumulated == len(seen)
                    assert rule.example.row - 1 in meets
            if is_table:
                assert rules.of == decided.count(rules.decision)
                assert rules.covered == len(seen) >= rules.wanted


def _holds(condition: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether a row meets a condition as the document has it, read anew."""
    value = row[condition["feature"]]
    if "intervals" not in condition:
        return value in condition["in"]
    return any(
        (i["low"] is None or value > i["low"] or (i["low_closed"] and value == i["low"]))
        and (i["high"] is None or value < i["high"] or (i["high_closed"] and value == i["high"]))
        for i in condition["intervals"]
    )


def test_all_claims_hold(real: Real) -> None:
    found = real.checked(real.document)
    assert [claim for claim in found.claims if claim.outcome == "refuted"] == []
    assert {claim.why for claim in found.having("not checked")} <= {"time ran out"}
    assert found.count("holds") > 100


def test_false_claims_are_refuted(real: Real, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["real"]
    some = list(lies(Random(name), real.document, LIES[name]))
    missed = [what for what, wrong in some if not real.checked(wrong).count("refuted")]
    assert missed == []
