"""The plain search behind `verify` of additive models: apart from the model's own search, and when it gives up."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from additive_oracle import Model, random_model
from attack_additive import additive_of, value_of
from quia import Additive, Variable, additive_check
from quia.asking import why
from quia.errors import Refuted, Undecided
from quia.patience import Clock
from quia.region import Region
from quia.sums import Rule
from quia.terms import Line, Table

SEEDS = range(4)
EACH = 25
"""Random models for each seed, and twice as many claims, at least, that are false."""


@pytest.mark.parametrize("seed", SEEDS)
def test_verify_does_not_ask_the_models_own_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """False claims are refuted by true witnesses, true ones never, where the model's own search must not be asked."""
    monkeypatch.setattr(Additive, "escape_in_time", lambda *_: pytest.fail("verify asked the model's own search"))
    monkeypatch.setattr(Additive, "gaps", lambda *_: pytest.fail("verify asked the model's own gaps"))
    refuted = 0
    for i in range(EACH):
        rng = Random(f"claims.{seed}.{i}")
        model = random_model(rng, points=150)
        additive = additive_of(model)
        names = [v.name for v in additive.variables]
        world = model.points[rng.randrange(len(model.points))].tolist()
        instance = {x: value_of(f, s) for x, f, s in zip(names, model.features, world, strict=True)}
        label = model.class_of(model.scores_of(world))
        against = rng.choice([None, *(c for c in range(model.class_count) if c != label)])
        keeps = {label} if against is None else set(range(model.class_count)) - {against}
        right = model.reasons([s if v in additive.tested else -1 for v, s in enumerate(world)], keeps, {})
        for kind in ("sufficient", "necessary"):
            drawn = [frozenset(v for v in additive.tested if rng.random() < 0.5) for _ in range(2)]
            for claim in (*drawn, *sorted(right[kind], key=sorted)[:2]):
                asked: dict[str, Any] = {} if against is None else {"against": f"c{against}"}
                try:
                    quia.verify(additive, instance, [names[v] for v in sorted(claim)], kind, **asked)  # type: ignore[arg-type]
                    assert claim in right[kind], (seed, i, claim, kind)
                except Refuted as fault:
                    assert claim not in right[kind], (seed, i, claim, kind)
                    refuted += 1
                    check_witness(model, additive, world, keeps, fault, claim)
    assert refuted >= 2 * EACH


def check_witness(
    model: Model, additive: Additive, world: list[int], keeps: set[int], fault: Refuted, claim: frozenset[int]
) -> None:
    """A witness that is an instance keeps what is claimed, and is decided otherwise."""
    if fault.witness is None or "does not force" not in str(fault):
        return
    found = list(world)
    for v in additive.tested:
        texts = [additive.variables[v].text(s) for s in range(model.sizes[v])]
        found[v] = texts.index(fault.witness[additive.variables[v].name])
    assert all(found[v] == world[v] for v in claim)
    assert model.class_of(model.scores_of(found)) not in keeps


def multinomial(rng: Random, *, features: int = 8, classes: int = 4) -> Additive:
    """Lines for several classes, as a logistic regression over standardized numbers has them; one that is squared."""
    variables = tuple(Variable.line(f"x{i}", -5, 40) for i in range(features))
    terms = []
    for v in range(features):
        steps = (("subtract", rng.uniform(0, 30)), ("divide", rng.uniform(1, 9)))
        terms.append(Line(v, steps, tuple(rng.gauss(0, 1) for _ in range(classes))))
    terms.append(Line(0, (("subtract", 3.0), ("square",)), tuple(rng.gauss(0, 0.05) for _ in range(classes))))
    start = tuple(rng.gauss(0, 1) for _ in range(classes))
    return Additive(variables, tuple(f"c{k}" for k in range(classes)), tuple(terms), start, Rule("argmax"))


def test_it_agrees_with_the_models_own_search_on_long_lines() -> None:
    """Regions of lines that nobody can try out: either both find nothing, or both find an instance."""
    told = set()
    for i in range(40):
        rng = Random(f"multinomial.{i}")
        model = multinomial(rng)
        states = tuple(v.encode(rng.uniform(-5, 40)) for v in model.variables)
        question = why(model, states)
        kept = [v for v in range(len(states)) if rng.random() < rng.choice((0.5, 0.9))]
        region = question.worlds(kept)
        found, own = model.plain_escape(question, region, Clock()), model.escape(question, region)
        assert (found is None) == (own is None), i
        told.add(found is None)
        for each in (found, own):
            if each is not None:
                assert region.contains(each) and model.decide(each) != question.decision
    assert told == {True, False}


def test_one_class_against_all_others_at_once() -> None:
    """That a third class wins though it beats each other somewhere is refuted by weighing what it needs."""
    x = Variable.line("x", 0, 10)
    lines = (Line(0, (), (1.0, 0.0, 0.4)), Table(0, np.array([[0.0, 5.0, 2.0]])))
    model = Additive((x,), ("a", "b", "c"), lines, (0.0, 0.0, 0.0), Rule("argmax"))
    question = quia.explain(model, {"x": 1}, against="c").question
    assert model.plain_escape(question, Region(model.variables), Clock()) is None
    nearer = Additive((x,), ("a", "b", "c"), lines, (0.0, 0.0, 1.5), Rule("argmax"))
    found = nearer.plain_escape(question, Region(model.variables), Clock())
    assert found is not None and nearer.decide(found) == 2


def test_too_many_boxes_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    model = multinomial(Random(1))
    instance = {v.name: 3.0 for v in model.variables}
    with pytest.raises(Undecided, match=r"the 0 seconds of timeout= ended before"):
        quia.verify(model, instance, [], "sufficient", timeout=0)
    monkeypatch.setattr(additive_check, "MOST_BOXES", 0)
    with pytest.raises(Undecided, match="equal but for rounding, so that they cannot be checked plainly; give values"):
        quia.verify(model, instance, [], "sufficient")
