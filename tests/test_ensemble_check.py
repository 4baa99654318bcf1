"""The plain search behind `verify` of ensembles: against brute force, apart from the kernel, and out of time."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from attack_ensembles import MEDIUM, SMALL
from ensemble_oracle import (
    PALETTES,
    Table,
    random_bounds,
    random_ensemble,
    random_keeps,
    random_states,
)
from quia import ensemble_box, ensemble_plain
from quia.asking import why
from quia.errors import Refuted, Undecided
from quia.patience import Clock
from quia.question import Question
from quia.region import Region
from quia.sums import RULES

SEEDS = range(4)
EACH = 30
"""Random ensembles for each seed."""


def check_plain(seed: str, limits: dict[str, Any], regions: int = 8) -> None:
    """What is found is in the region and decided otherwise; nothing is found where nothing is."""
    rng = Random(seed)
    table = Table(random_ensemble(rng, **limits))
    ensemble = table.ensemble
    sizes = [v.size for v in ensemble.variables]
    for _ in range(regions):
        states = random_states(rng, table, rng.choice((0.0, 0.3)))
        decision = int(table.classes[np.ravel_multi_index([max(s, 0) for s in states], sizes)])
        keeps = random_keeps(rng, len(ensemble.classes), decision)
        bounds = random_bounds(rng, sizes, rng.choice((0.0, 0.3, 0.6, 1.0)))
        question = Question(ensemble.classes, states, decision, frozenset(keeps), Region(ensemble.variables))
        region = Region(ensemble.variables, {v: tuple(r) for v, r in bounds.items()})
        found = ensemble.plain_escape(question, region, Clock())
        right = table.escaping(keeps, bounds)
        about = (seed, states, keeps, bounds, found)
        assert (found is None) == (not right.any()), about
        assert found is None or right[np.ravel_multi_index(found, sizes)], about


@pytest.mark.parametrize("seed", SEEDS)
def test_it_finds_what_there_is_and_nothing_else(seed: int) -> None:
    for i in range(EACH):
        check_plain(f"plain.{seed}.{i}", SMALL)


@pytest.mark.parametrize("seed", SEEDS)
def test_larger_ensembles(seed: int) -> None:
    for i in range(EACH // 10):
        check_plain(f"medium.{seed}.{i}", MEDIUM, regions=5)


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("rule", RULES)
def test_sums_that_tie(palette: str, rule: str) -> None:
    for i in range(EACH // 10):
        check_plain(f"{palette}.{rule}.{i}", {**SMALL, "palette": palette, "rule": rule})


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions_without_the_kernel(seed: int) -> None:
    for i in range(EACH):
        table = Table(random_ensemble(Random(f"{seed}.{i}"), points=60))
        for point, label in zip(table.points.tolist(), table.classes.tolist(), strict=True):
            assert ensemble_plain.decide(table.ensemble, point) == label


@pytest.mark.parametrize("seed", SEEDS)
def test_verify_does_not_ask_the_kernel_to_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kernel search that is wrong, wrong reasons are found, and refuted by true witnesses."""
    refuted = 0
    for i in range(EACH):
        rng = Random(f"wrong.{seed}.{i}")
        table = Table(random_ensemble(rng, points=200))
        ensemble = table.ensemble
        at = rng.randrange(len(table.points))
        names = [v.name for v in ensemble.variables]
        instance = {v.name: _value(v, s) for v, s in zip(ensemble.variables, table.points[at].tolist(), strict=True)}
        if any(value is None for value in instance.values()):
            continue
        tested = [v for v in range(len(names)) if v in ensemble.tested]
        right = {
            kind: {frozenset(names[v] for v in reason) for reason in found}
            for kind, found in table.reasons(
                [s if v in tested else -1 for v, s in enumerate(table.points[at].tolist())],
                {int(table.classes[at])},
                {},
            ).items()
        }
        with monkeypatch.context() as patch:
            patch.setattr(quia.Ensemble, "escape", lambda *_: pytest.fail("verify asked the kernel to search"))
            for kind in ("sufficient", "necessary"):
                claimed = {x for x in names if rng.random() < 0.5}
                for claim in (claimed, *sorted(right[kind], key=sorted)[:2]):
                    try:
                        quia.verify(ensemble, instance, sorted(claim), kind)  # type: ignore[arg-type]
                        assert frozenset(claim) in right[kind]
                    except Refuted as fault:
                        assert frozenset(claim) not in right[kind]
                        refuted += 1
                        _check_witness(table, instance, fault, sorted(claim))
    assert refuted > EACH // 4


def _value(variable: quia.Variable, state: int) -> Any:
    """A raw value in a state; None of those for missing values."""
    if variable.labels is not None:
        return variable.labels[state]
    if variable.is_missing_state(state):
        return None
    return next(t for t in np.arange(-1, 10, 0.5) if variable.encode(float(t)) == state)


def _check_witness(table: Table, instance: dict[str, Any], fault: Refuted, claim: list[str]) -> None:
    """A witness that is an instance is decided otherwise."""
    ensemble = table.ensemble
    if fault.witness is None or "does not force" not in str(fault):
        return
    states = [v.encode(instance[v.name]) for v in ensemble.variables]
    own = tuple(states)
    for v in ensemble.tested:
        texts = [ensemble.variables[v].text(s) for s in range(ensemble.variables[v].size)]
        states[v] = texts.index(fault.witness[ensemble.variables[v].name])
        if ensemble.variables[v].name in claim:
            assert states[v] == own[v]
    sizes = [v.size for v in ensemble.variables]
    assert table.classes[np.ravel_multi_index(states, sizes)] != table.classes[np.ravel_multi_index(own, sizes)]


def test_without_time_it_is_undecided() -> None:
    rng = Random(3)
    ensemble = random_ensemble(rng, variables=6, fewest=6, trees=8, palette="any", rule="cuts", points=5000)
    instance = {v.name: _value(v, 0) for v in ensemble.variables}
    with pytest.raises(Undecided, match=r"the 0 seconds of timeout= ended before"):
        quia.verify(ensemble, instance, [], "sufficient", timeout=0)


def test_with_too_many_leaves_it_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(3)
    ensemble = random_ensemble(rng, variables=6, fewest=6, trees=8, palette="any", rule="cuts", points=5000)
    instance = {v.name: _value(v, 0) for v in ensemble.variables}
    monkeypatch.setattr(ensemble_box, "MOST_CELLS", 10)
    with pytest.raises(Undecided, match="too many to check plainly"):
        quia.verify(ensemble, instance, list(instance)[:1], "sufficient")


@pytest.mark.parametrize("name", ["appendicitis", "wine-recognition", "glass2"])
def test_real_boosted_trees(name: str, shared_data: Path) -> None:
    """A reason by deletion that the plain search finds is proved, and refuted with a feature more or less."""
    folder = shared_data / "xreason" / name
    rows = list(csv.DictReader((folder / "instances.csv").read_text().splitlines()))
    features = list(rows[0])[:-3]
    count = (folder / "model.txt").read_text().count("booster")
    labels = [str(c) for c in range(max(count // 50, 2))]
    ensemble = quia.load(folder / "model.txt", features=features, classes=labels, base_score=0.5)
    assert isinstance(ensemble, quia.Ensemble)
    for row in rows[:3]:
        instance = {x: float(row[x]) for x in features}
        question = why(ensemble, ensemble.encode(instance))
        kept = list(ensemble.tested)
        for v in ensemble.tested:
            fewer = [u for u in kept if u != v]
            if ensemble.plain_escape(question, question.worlds(fewer), Clock(60)) is None:
                kept = fewer
        names = [features[v] for v in kept]
        quia.verify(ensemble, instance, names, "sufficient", timeout=60)
        other = next(x for x in features if x not in names)
        with pytest.raises(Refuted, match="is not minimal"):
            quia.verify(ensemble, instance, [*names, other], "sufficient", timeout=60)
        with pytest.raises(Refuted, match="does not force") as fault:
            quia.verify(ensemble, instance, names[1:], "sufficient", timeout=60)
        assert fault.value.witness is not None
