"""Reasons of additive models: diagrams of sums, what comes one by one, and the search, each against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

import quia
from additive_oracle import random_box, random_model, random_world
from attack_additive import additive_of, question_of
from quia import Additive, Variable, additive_reasons
from quia._kernel import OverBudget, Thresholds
from quia.costs import Costs
from quia.explanation import Explanation
from quia.patience import Clock, Patience
from quia.sums import Rule
from quia.terms import Line, Table

KINDS = ("necessary", "sufficient")


def thresholds(losses: np.ndarray, limits: np.ndarray, bands: np.ndarray | None = None) -> Thresholds:
    """Inequalities over the variables 0, 2, 4 …"""
    variables = np.arange(0, 2 * losses.shape[1], 2, dtype=np.int32)
    bands = np.zeros(len(limits), np.int64) if bands is None else bands
    return Thresholds(variables, losses.astype(np.int64), limits.astype(np.int64), bands)


def minimal_sets(losses: np.ndarray, limits: np.ndarray, every: bool) -> list[tuple[int, ...]]:
    """By definition, by length and variables."""
    holds = all if every else any
    found: list[tuple[int, ...]] = []
    for length in range(losses.shape[1] + 1):
        for chosen in combinations(range(losses.shape[1]), length):
            meets = holds(own[list(chosen)].sum() > limit for own, limit in zip(losses, limits, strict=True))
            if meets and not any(set(other) <= set(chosen) for other in found):
                found.append(chosen)
    return [tuple(2 * v for v in chosen) for chosen in found]


def test_minimal_sets_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        losses = rng.integers(0, 6, (int(rng.integers(1, 4)), int(rng.integers(0, 7))))
        limits = rng.integers(-1, 14, len(losses))
        asked = thresholds(losses, limits)
        for every in (False, True):
            family = asked.minimal_sets(every=every)
            assert family is not None
            assert list(family.listing()) == minimal_sets(losses, limits, every)
        if len(losses) == 1:
            assert list(asked.listing()) == minimal_sets(losses, limits, False)


def test_a_band_in_which_a_sum_lies_leaves_the_family_open() -> None:
    losses, limit = np.array([[3, 5, 9]]), np.array([7])
    assert thresholds(losses, limit, np.array([0])).minimal_sets() is not None
    assert thresholds(losses, limit, np.array([1])).minimal_sets() is None  # 3 + 5 is 8
    # One by one come the sets that are minimal for some limit in the band: up to 8 these, with 9 what is beside 9 too.
    assert list(thresholds(losses, limit, np.array([1])).listing()) == [(4,), (0, 2)]
    assert list(thresholds(losses, limit, np.array([2])).listing()) == [(4,), (0, 2), (0, 4), (2, 4)]


@pytest.mark.parametrize(
    ("losses", "limits", "bands", "fault"),
    [
        ([[1, -1]], [0], [0], "negative"),
        ([[2**61, 1]], [0], [0], "2\\^61"),
        ([[1, 2]], [0, 1], [0], "a row for each limit"),
        ([[1, 2]], [0], [-1], "band"),
    ],
)
def test_malformed_inequalities_are_refused(losses: list, limits: list, bands: list, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        thresholds(np.array(losses), np.array(limits), np.array(bands))


def test_limits_of_time_and_memory_end_a_diagram() -> None:
    losses = np.random.default_rng(1).integers(1, 2**50, (1, 50))
    with pytest.raises(OverBudget):
        thresholds(losses, losses.sum(1) // 3).minimal_sets(memory=1 << 20)
    with pytest.raises(OverBudget):
        thresholds(losses, losses.sum(1) // 3).minimal_sets(timeout=0.01)
    assert len(next(thresholds(losses, losses.sum(1) // 3).listing())) > 3


def found(model: Additive, question: quia.question.Question, kind: str, shortest: bool = False) -> list[frozenset[int]]:
    """The reasons of a kind, in their order."""
    answer = Explanation(model, {}, question).find(kind, shortest, Patience(None))
    return [frozenset(members) for members in answer.listing()]


def in_order(sets: set[frozenset[int]]) -> list[frozenset[int]]:
    return sorted(sets, key=lambda members: (len(members), sorted(members)))


def questions(seed: int, count: int, **limits: int):
    """Random questions about random models: any class that keeps the decision, worlds cut down, unknown values."""
    for i in range(count):
        rng = Random(f"{seed}.{i}")
        model = random_model(rng, **limits)
        additive = additive_of(model)
        world = random_world(rng, model, rng.choice((0.0, 0.3)))
        world = tuple(s if v in additive.tested else -1 for v, s in enumerate(world))
        (decision,) = model.decisions(world)
        keeps = {decision} | {c for c in range(model.class_count) if rng.random() < 0.3}
        drawn = random_box(rng, model, rng.choice((0.0, 0.3)))
        possible = {v: sorted({*states, *([world[v]] if world[v] >= 0 else [])}) for v, states in drawn.items()}
        question = question_of(additive, world, decision, keeps, possible)
        yield model, additive, question, model.reasons(world, keeps, possible), rng


SMALL = {"features": 5, "states": 3, "scores": 4, "points": 400}


@pytest.mark.parametrize("memory", [additive_reasons.MEMORY, 0], ids=["diagrams", "one by one"])
def test_reasons_are_those_of_the_definition(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(additive_reasons, "MEMORY", max(memory, 4000))  # a listing needs some
    monkeypatch.setattr(additive_reasons, "_AT_ONCE", min(memory, additive_reasons._AT_ONCE))
    if not memory:
        monkeypatch.setattr(additive_reasons, "_MOST_LISTED", 0)
        monkeypatch.setattr(additive_reasons.AdditiveReasons, "_diagram", lambda *_: None)
    tried = 0
    for model, additive, question, reasons, _ in questions(11, 250, **SMALL):
        for kind in KINDS:
            expected = in_order(reasons[kind])
            about = f"{kind} reasons of {model} for {question}"
            assert sorted(found(additive, question, kind), key=lambda m: (len(m), sorted(m))) == expected, about
            shortest = [members for members in expected if len(members) == len(expected[0])]
            assert found(additive, question, kind, shortest=True) == shortest, about
            tried += len(expected)
    assert tried > 400


def test_the_cheapest_reasons_are_those_of_the_definition() -> None:
    for model, additive, question, reasons, rng in questions(12, 60, **SMALL):
        costs = Costs(tuple(rng.randint(1, 4) for _ in model.features), 1)
        asked = replace(question, costs=costs)
        for kind in KINDS:
            price = {members: sum(costs.whole[v] for v in members) for members in reasons[kind]}
            cheapest = {members for members in reasons[kind] if price[members] == min(price.values())}
            assert set(found(additive, asked, kind, shortest=True)) == cheapest


def test_a_sufficient_reason_is_found_by_reduction() -> None:
    for _, additive, question, reasons, rng in questions(13, 60, **SMALL):
        kept = [v for v in additive.tested if question.states[v] >= 0]
        rng.shuffle(kept)
        members, is_minimal = additive.reduce(question, kept, None)
        assert is_minimal and frozenset(members) in reasons["sufficient"]


def points_card(features: int, seed: int) -> tuple[Additive, dict[str, str]]:
    """A card of whole points, and an applicant."""
    rng = np.random.default_rng(seed)
    variables = tuple(Variable.nominal(f"f{i}", list("abcd")) for i in range(features))
    terms = tuple(Table(i, rng.integers(0, 50, (4, 1)).astype(float)) for i in range(features))
    card = Additive(variables, ("deny", "grant"), terms, (0.0,), Rule("cuts", (22.0 * features,)))
    return card, {variable.name: "abcd"[rng.integers(4)] for variable in variables}


def test_sixty_features_are_counted_by_a_small_diagram() -> None:
    card, applicant = points_card(60, 1)
    why = quia.explain(card, applicant)
    # Counted by a plain loop over sums: how many sets reach each sum, the smallest loss last.
    (inequality,) = card.inequalities(why.question)
    losses = sorted((int(loss) for loss in inequality.losses if loss), reverse=True)
    for count, limit in ((why.count_necessary(), int(inequality.slack)), (why.count_sufficient(), None)):
        limit = sum(losses) - int(inequality.slack) - 1 if limit is None else limit
        limit -= inequality.ties if count is why.count_necessary() else 0
        ways, minimal = {0: 1}, 0
        for loss in losses:
            for total, number in list(ways.items()):
                if total + loss > limit:
                    minimal += number
            grown = dict(ways)
            for total, number in ways.items():
                if total + loss <= limit:
                    grown[total + loss] = grown.get(total + loss, 0) + number
            ways = grown
        assert count == minimal
    family = why.find("sufficient", False, Patience(None)).family
    assert family is not None and family.node_count < 50_000
    assert len(list(why.sufficient_reasons(limit=5))) == 5


def test_sums_that_share_nothing_come_one_by_one() -> None:
    rng = np.random.default_rng(5)
    variables = tuple(Variable.nominal(f"f{i}", ["no", "yes"]) for i in range(70))
    terms = tuple(Table(i, np.array([[0.0], [w]])) for i, w in enumerate(rng.random(70)))
    model = Additive(variables, ("no", "yes"), terms, (0.0,), Rule("cuts", (20.0,)))
    why = quia.explain(model, dict.fromkeys([v.name for v in variables], "yes"))
    reasons = why.sufficient_reasons(limit=3, timeout=20)
    first = [reason.features for reason in reasons]
    assert len(first) == 3 and not reasons.complete
    losses = {variable.name: float(term.values[1, 0]) for variable, term in zip(variables, terms, strict=True)}
    by_weight = sorted(losses.values(), reverse=True)
    fewest = next(n for n in range(70) if sum(by_weight[:n]) >= 20)
    assert [len(features) for features in first] == [fewest] * 3
    assert all(sum(losses[f] for f in features) >= 20 for features in first)
    for reason in reasons:
        quia.verify(model, why.instance, reason, "sufficient")


def test_rounding_at_the_threshold_is_the_models_own() -> None:
    # 0.1 + 0.2 + 0.3 is above 0.6 in 64 bits, 0.3 + 0.2 + 0.1 is not: what counts is the order of the terms.
    variables = tuple(Variable.nominal(name, ["no", "yes"]) for name in "abcd")

    def model(order: tuple[float, ...]) -> Additive:
        weights = (*order, 5.0)
        terms = tuple(Table(i, np.array([[0.0], [w]])) for i, w in enumerate(weights))
        return Additive(variables, ("low", "high"), terms, (0.0,), Rule("cuts", (0.6000000000000001,)))

    person = {"a": "yes", "b": "yes", "c": "yes", "d": "no"}
    above, below = model((0.1, 0.2, 0.3)), model((0.3, 0.2, 0.1))
    assert (above.classify(person), below.classify(person)) == ("high", "low")
    why = quia.explain(above, person)
    assert [set(r.features) for r in why.sufficient_reasons()] == [{"a", "b", "c"}]
    assert [set(r.features) for r in why.necessary_reasons()] == [{"a"}, {"b"}, {"c"}]
    assert [set(r.features) for r in quia.explain(below, person).necessary_reasons()] == [{"d"}]


def test_a_class_that_must_beat_several_others() -> None:
    # Three classes over two lines: the third wins only where both others lose, in a corner that no single end shows.
    x, y = Variable.line("x", 0, 10), Variable.line("y", 0, 10)
    terms = (Line(0, (), (1.0, 0.0, 0.5)), Line(1, (), (0.0, 1.0, 0.5)))
    model = Additive((x, y), ("a", "b", "c"), terms, (0.0, 0.0, 0.25), Rule("argmax"))
    why = quia.explain(model, {"x": 8, "y": 3}, against="c")
    assert why.decision == "a"
    assert [set(r.features) for r in why.necessary_reasons()] == [{"x"}, {"y"}]
    nearest = why.counterfactuals()
    assert {change.decision for change in nearest} == {"c"}
    out_of_reach = replace(model, start=(0.0, 0.0, -1.0))
    assert not list(quia.explain(out_of_reach, {"x": 8, "y": 3}, against="c").necessary_reasons())
    question = quia.explain(out_of_reach, {"x": 8, "y": 3}, against="c").question
    assert out_of_reach.escape_in_time(question, question.within, Clock(60).left) is None
