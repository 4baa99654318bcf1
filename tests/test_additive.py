"""Additive models against their definition by brute force; lines to the last bit; what is malformed is refused."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import attack_additive
import quia
from additive_oracle import LEAST, PALETTES, Model, members, next_number, random_model, random_world, ranges, stepped
from attack_additive import MEDIUM, SMALL, Disagreement, additive_of, check_model, question_of, value_of
from quia import Additive, Variable
from quia.asking import why
from quia.costs import Costs
from quia.cuts import Cut
from quia.errors import GraphError, InstanceError, MissingValue, OutOfRange, Refuted, Unsupported
from quia.extents import extents, within_table
from quia.places import Between, Cuts, number_at, place, places
from quia.question import Question
from quia.region import Region
from quia.sums import Rule
from quia.terms import Line, Table

SEEDS = range(4)
EACH = 12
"""Random models for each seed; raise it for a longer attack, or run attack_additive.py."""


# ---- the oracle itself ------------------------------------------------------------------------------------------


def test_all_worlds_at_once_are_as_each_by_itself() -> None:
    for i in range(60):
        model = random_model(Random(i), points=60)
        for point, scores, label in zip(model.points.tolist(), model.scores.tolist(), model.classes, strict=True):
            assert scores == model.scores_of(point)
            assert label == model.class_of(scores)


def test_the_models_have_what_is_hard() -> None:
    """Ties, sums that only rounding tells apart, constants, several terms of one feature, parabolas, clips, missing."""
    made = [random_model(Random(i), points=300) for i in range(300)]
    terms = [(m.features[t.feature], t) for m in made for t in m.terms]
    assert {m.class_count for m in made} >= {1, 2, 3, 4}
    assert any(f.size == 1 for m in made for f in m.features) and any(f.missing for m in made for f in m.features)
    assert any(len({t.feature for t in m.terms}) < len(m.terms) for m in made)
    assert {name for _, t in terms for name, *_ in t.steps or ()} == {
        "add", "subtract", "multiply", "divide", "clip", "square",
    }  # fmt: skip
    assert any(t.bins for _, t in terms) and any(f.numbers and 0.0 in f.numbers[1:] for f, _ in terms)
    by_cut = [m for m in made if m.cuts is not None]
    assert any(np.isin(m.scores, m.cuts).any() for m in by_cut), "scores on a cut"
    exact = [m for m in by_cut if len(m.points) < 100]
    assert any(
        m.class_of([float(sum(map(Fraction, added), Fraction()))]) != label
        for m in exact
        for point, label in zip(m.points.tolist(), m.classes, strict=True)
        for added in [[*m.start, *(t.added(m.features[t.feature], point[t.feature])[0] for t in m.terms), *m.end]]
    ), "decided by rounding"


@pytest.mark.parametrize("fault", ["no ties", "another order", "without gaps", "one world less"])
def test_the_attack_finds_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Additive.escape_in_time

    def wrong(self: Additive, question: Question, region: Region, timeout: Any) -> Any:
        if fault == "no ties" and self.rule.kind == "cuts":
            self = replace(self, rule=Rule("cuts", tuple(math.nextafter(cut, math.inf) for cut in self.rule.cuts)))
        if fault == "another order":
            self = replace(self, terms=self.terms[::-1])
        if fault == "without gaps":
            region = Region(region.variables, {v: ((s[0][0], s[-1][1]),) for v, s in region.bounds.items() if s})
        found = right(self, question, region, timeout)
        return None if fault == "one world less" and found is not None and sum(found) == 0 else found

    monkeypatch.setattr(Additive, "escape_in_time", wrong)
    assert any(is_refused(f"faulty.{i}") for i in range(200))


def is_refused(seed: str) -> bool:
    try:
        check_model(seed, {**SMALL, "palette": "tenths"})
    except (Disagreement, StopIteration):
        return True
    return False


# ---- everything against it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions_regions_and_boxes(seed: int) -> None:
    for i in range(EACH):
        check_model(f"small.{seed}.{i}", SMALL, regions=10)


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("rule", ["cuts", "argmax"])
def test_sums_that_tie(palette: str, rule: str) -> None:
    for i in range(3):
        check_model(f"{palette}.{rule}.{i}", {**SMALL, "palette": palette, "rule": rule}, regions=10)


ONCE_WRONG = [
    ("11.319", MEDIUM),
    ("2.271", MEDIUM),
    ("5.58", SMALL),
    ("1.226", SMALL),
    ("7001.1219", MEDIUM),  # beside a missing value any numbers may stand, not only those next to what costs nothing
    ("4242.306", SMALL),  # a missing number of a line between two cutoffs: only one in the middle may stand beside it
    ("20261119.251", MEDIUM),  # so small a weight that the margin for rounding was 0
    ("4242.499", MEDIUM),  # near ties of several scores, among few instances
]


@pytest.mark.parametrize(("seed", "limits"), ONCE_WRONG)
def test_what_was_answered_wrongly_once(seed: str, limits: dict[str, Any]) -> None:
    check_model(seed, limits)


def two_classes(rng: Random, **limits: Any) -> Model:
    """A model whose every way out of a decision is one sum."""
    while True:
        model = random_model(rng, points=150, **limits)
        if model.class_count == 2:
            return model


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons_counts_and_costs(seed: int) -> None:
    """Both kinds, in possible worlds, in order, the cheapest, with unknown values; the same of tiny lines."""
    for i in range(EACH):
        rng = Random(f"reasons.{seed}.{i}")
        check_reasons(rng, random_model(rng, points=150))


def check_reasons(rng: Random, model: Model) -> None:
    additive = additive_of(model)
    world = random_world(rng, model)
    world = tuple(s if v in additive.tested else -1 for v, s in enumerate(world))
    (decision,) = model.decisions(world)
    keeps = {decision} | {c for c in range(model.class_count) if rng.random() < 0.2}
    frozen = tuple(v for v in range(len(world)) if rng.random() < 0.15)
    possible = {v: [world[v]] for v in frozen if world[v] >= 0}
    costs = rng.choice((None, Costs(tuple(rng.choice((1, 1, 2, 5)) for _ in world), Fraction(1))))
    question = replace(question_of(additive, world, decision, keeps, {}), frozen=frozen, costs=costs)
    explained = quia.Explanation(additive, {}, question)
    expected = model.reasons(world, keeps, possible)

    def cost(reason: Sequence[int]) -> int:
        return len(reason) if costs is None else sum(costs.whole[v] for v in reason)

    for kind in ("sufficient", "necessary"):
        in_order = sorted((tuple(sorted(r)) for r in expected[kind]), key=lambda r: (cost(r), len(r), r))
        about = (model, question, kind)
        find = getattr(explained, f"{kind}_reasons")
        assert list(find().members()) == in_order, about
        assert getattr(explained, f"count_{kind}")() == len(in_order), about
        least = [r for r in in_order if cost(r) == cost(in_order[0])]
        assert list(find(shortest=True).members()) == least, about
    assert explained.is_constant == (not expected["necessary"])


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explained_instance(seed: int) -> None:
    """Raw values in: reasons verified, changes that change, bias, what is common, even if; all the definitions'."""
    for i in range(EACH):
        rng = Random(f"explained.{seed}.{i}")
        model = two_classes(rng, features=3, states=3)
        additive = additive_of(model)
        names = [v.name for v in additive.variables]
        worlds = [model.points[rng.randrange(len(model.points))].tolist() for _ in range(2)]
        one, other = ({x: value_of(f, s) for x, f, s in zip(names, model.features, w, strict=True)} for w in worlds)
        label, other_label = (model.class_of(model.scores_of(w)) for w in worlds)
        about = (model, one, other)
        explained = quia.explain(additive, one)
        assert explained.decision == f"c{label}" == additive.classify(one), about
        right = model.reasons(worlds[0], {label}, {})
        for kind in ("sufficient", "necessary"):
            for reason in getattr(explained, f"{kind}_reasons")(general=True):
                quia.verify(additive, one, reason, kind, maximal=True)  # type: ignore[arg-type]
            for claim in (c for n in range(len(names) + 1) for c in combinations(range(len(names)), n)):
                assert is_verified(additive, one, [names[v] for v in claim], kind) == (frozenset(claim) in right[kind])
        for change in explained.counterfactuals(missing=True):
            box = {names.index(c.feature): list(members(c.ranges)) for c in change.changes}
            kept = {v: [s] for v, s in enumerate(worlds[0]) if v not in box}
            assert set(model.classes[model.inside({**kept, **box})]) == {int(change.decision[1:])}, about
        protected = [v for v in range(len(names)) if rng.random() < 0.5] or [0]
        guarded = [names[v] for v in protected]
        around = {v: [s] for v, s in enumerate(worlds[0]) if v not in protected}
        assert explained.bias(guarded).biased == bool(model.escaping({label}, around).any()), about
        assert explained.holds_without(guarded) == (not model.escaping({label}, around).any()), about
        assert quia.bias_of_classifier(additive, guarded).biased == model.is_biased(protected), about
        shared = {v: [a] for v, (a, b) in enumerate(zip(*worlds, strict=True)) if a == b}
        is_shared = label == other_label and not model.escaping({label}, shared).any()
        assert explained.is_congruent(other) == is_shared, about
        if is_shared:
            common = explained.common_reason(other)
            assert common is not None
            for each in (one, other):
                quia.verify(additive, each, common, "sufficient")
        assert bool(explained.even_if(guarded).holds) == explained.holds_without(guarded), about


def is_verified(additive: Additive, instance: Any, claim: Any, kind: Any) -> bool:
    try:
        quia.verify(additive, instance, claim, kind)
    except Refuted:
        return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_inequalities_tell_which_changes_are_enough(seed: int) -> None:
    """A set of variables can change the decision if their losses exceed the slack, rounding apart."""
    for i in range(EACH):
        rng = Random(f"sums.{seed}.{i}")
        model = two_classes(rng)
        additive = additive_of(model)
        world = random_world(rng, model)
        (decision,) = model.decisions(world)
        question = question_of(additive, world, decision, {decision}, {})
        (told,) = additive.inequalities(question) or ()
        for chosen in (c for n in range(len(told.variables) + 1) for c in combinations(range(len(told.variables)), n)):
            free = {told.variables[at] for at in chosen}
            kept = {v: [s] for v, s in enumerate(world) if s >= 0 and v not in free}
            lost = math.fsum(told.losses[at] for at in chosen)
            if abs(lost - told.slack) > told.margin:
                assert (lost > told.slack) == model.escaping({decision}, kept).any(), (model, world, chosen)
            elif told.margin == 0 and additive.is_exact and set(model.cuts or ()) <= set(model.scores.ravel().tolist()):
                assert told.ties == model.escaping({decision}, kept).any(), (model, world, chosen)


def test_exact_sums_have_no_margin() -> None:
    """Sums in any order are equal where the margin is 0, and differ by no more than it is elsewhere."""
    kinds = set()
    for i in range(150):
        rng = Random(f"margin.{i}")
        model = random_model(rng, lines=0.0, points=60)
        additive = additive_of(model)
        shuffled = replace(model, terms=tuple(rng.sample(model.terms, len(model.terms))))
        assert np.abs(model.scores - shuffled.scores).max() <= additive.margin
        assert additive.is_exact == (additive.margin == 0)
        kinds.add(additive.is_exact)
    assert kinds == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_why_not_another_class(seed: int) -> None:
    """A class that must beat several others at once, or a score that must be between two cuts."""
    several = 0
    for i in range(EACH):
        rng = Random(f"why not.{seed}.{i}")
        model = random_model(rng, points=150)
        if model.class_count < 3:
            continue
        additive = additive_of(model)
        world = model.points[rng.randrange(len(model.points))].tolist()
        label = model.class_of(model.scores_of(world))
        against = rng.choice([c for c in range(model.class_count) if c != label])
        keeps = set(range(model.class_count)) - {against}
        instance = {f"v{v}": value_of(f, s) for v, (f, s) in enumerate(zip(model.features, world, strict=True))}
        explained = quia.explain(additive, instance, against=f"c{against}")
        several += any(len(way) > 1 for way in additive.ways(explained.question))
        right = model.reasons([s if v in additive.tested else -1 for v, s in enumerate(world)], keeps, {})
        for kind in ("sufficient", "necessary"):
            find = getattr(explained, f"{kind}_reasons")
            assert {frozenset(r) for r in find().members()} == right[kind], (seed, i, kind)
            for reason in find(general=True):
                quia.verify(additive, instance, reason, kind, against=f"c{against}", maximal=True)  # type: ignore[arg-type]
    assert several > 1


def test_it_travels() -> None:
    for i in range(20):
        model = random_model(Random(f"pickle.{i}"), points=60)
        again = pickle.loads(pickle.dumps(additive_of(model)))
        assert again.decide_rows(model.points).tolist() == model.classes.tolist()
        assert repr(again) == repr(additive_of(model)) and again.sizes["terms"] == len(model.terms)


# ---- lines of any length ----------------------------------------------------------------------------------------


def long_lines(rng: Random) -> Additive:
    """One score, of lines that are far too long to try all numbers, and of a table."""
    variables, terms = [], []
    for v in range(rng.randint(1, 3)):
        low, high = sorted(rng.sample((-3.5, -1.0, 0.0, 0.1, 2.0, 50.0, 1e6), 2))
        variables.append(Variable.line(f"x{v}", low, high))
        bend: Any = rng.choice(((), (), ("clip", *sorted((rng.gauss(0, 2), rng.gauss(1, 2)))), ("square",)))
        steps = [("subtract", rng.choice((0.0, 0.1, 1.0, rng.gauss(0, 1)))), ("divide", rng.choice((1.0, 3.0, -0.7)))]
        terms.append(Line(v, (*steps[: rng.randint(0, 2)], *([bend] if bend else [])), (rng.choice((1.0, -0.3, 2.5)),)))
    variables.append(Variable.nominal("job", ["none", "new", "old"]))
    rows = np.array([[rng.choice((0.0, 0.1, 1.0, -2.0, 5.0))] for _ in range(3)])
    model = Additive(tuple(variables), ("no", "yes"), (*terms, Table(len(terms), rows)), (0.1,), Rule("cuts", (0.0,)))
    return replace(model, rule=Rule("cuts", (float(model.scores(random_states(rng, model))[0]),)))


def random_states(rng: Random, model: Additive) -> tuple[int, ...]:
    found = []
    for v in model.variables:
        low, high = v.range or (0, 0)
        number = rng.choice((low, high, rng.uniform(low, high)))
        found.append(v.encode(min(max(number, low), high)) if v.is_line else rng.randrange(v.size))
    return tuple(found)


def corners(model: Additive, box: dict[int, tuple[tuple[int, int], ...]]) -> list[tuple[int, ...]]:
    """The instances of a box among which the least and the greatest score are: a line turns where its steps say so."""
    sides = []
    for v, variable in enumerate(model.variables):
        states = box.get(v, ((0, variable.size - 1),))
        if not variable.is_line:
            sides.append(list(members(states)))
            continue
        ((low, high),) = states
        found = {low, high}
        for term in model.terms:
            if term.variable == v and isinstance(term, Line) and term.steps and term.steps[-1][0] == "square":
                # The state at which what is squared changes its sign, and the one before.
                inner, a, b = term.steps[:-1], low, high
                at_low = stepped(inner, variable.number(low)) < 0
                while a < b:
                    middle = (a + b) // 2
                    a, b = (middle + 1, b) if (stepped(inner, variable.number(middle)) < 0) == at_low else (a, middle)
                found |= {a, max(a - 1, low)}
        sides.append(sorted(found))
    return list(product(*sides))


def is_forced(model: Additive, box: Any, label: int) -> bool:
    return all(model.told(model.scores(corner).tolist()) == label for corner in corners(model, box))


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_of_long_lines_end_at_the_last_bit(seed: int) -> None:
    """What is found forces, or flips; with any end moved by one 64-bit number, or a state more, it does not."""
    moved = 0
    for i in range(EACH):
        rng = Random(f"long.{seed}.{i}")
        model = long_lines(rng)
        states = random_states(rng, model)
        label = model.decide(states)
        explained = quia.Explanation(model, {}, why(model, states))
        for reason in explained.sufficient_reasons().members():
            assert is_forced(model, {v: ((states[v],) * 2,) for v in reason}, label)
            for v in reason:
                assert not is_forced(model, {u: ((states[u],) * 2,) for u in reason if u != v}, label)
        for kind, sign in (("sufficient", True), ("necessary", False)):
            for reason in getattr(explained, f"{kind}_reasons")(general=True):
                said = reason.literals if sign else reason.changes
                box = {model.variables.index(x.variable): x.ranges for x in said}
                kept = {} if sign else {v: ((s, s),) for v, s in enumerate(states) if v not in box}
                wanted = label if sign else 1 - label
                assert is_forced(model, {**kept, **box}, wanted), (seed, i, kind, reason)
                for v, wider in widened(model, box, states if not sign else None):
                    moved += 1
                    assert not is_forced(model, {**kept, **box, v: wider}, wanted), (seed, i, kind, reason, v)
                quia.verify(model, raw(model, states), reason, kind, maximal=True)  # type: ignore[arg-type]
    assert moved > EACH


def widened(model: Additive, box: dict[int, Any], own: Sequence[int] | None) -> list[tuple[int, Any]]:
    """The box with one set a state wider; of a change, never by the instance's own."""
    found = []
    for v, states in box.items():
        size = model.variables[v].size
        near = {states[0][0] - 1, states[-1][1] + 1} if model.variables[v].is_line else set(range(size))
        more = [s for s in near if 0 <= s < size and (own is None or s != own[v]) and not holds(states, s)]
        found += [(v, merged(states, s)) for s in more]
    return found


def holds(states: Any, state: int) -> bool:
    return any(low <= state <= high for low, high in states)


def merged(states: Any, state: int) -> Any:
    if len(states) == 1 and states[0][0] - 1 <= state <= states[0][1] + 1:
        return ((min(states[0][0], state), max(states[0][1], state)),)
    return ranges({*members(states), state})


def raw(model: Additive, states: Sequence[int]) -> dict[str, Any]:
    return {v.name: v.number(s) if v.is_line else v.labels[s] for v, s in zip(model.variables, states, strict=True)}  # type: ignore[index]


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_of_long_lines(seed: int) -> None:
    """In any region, what the corners say: one score is least at one of them."""
    for i in range(EACH):
        rng = Random(f"far.{seed}.{i}")
        model = long_lines(rng)
        for _ in range(10):
            states, others = random_states(rng, model), random_states(rng, model)
            pairs = {v: ((min(a, b), max(a, b)),) for v, (a, b) in enumerate(zip(states, others, strict=True))}
            box = {v: pair for v, pair in pairs.items() if rng.random() < 0.7}
            question = why(model, states)
            for find in (model.escape, lambda q, r, m=model: m.plain_escape(q, r, lambda: None)):
                found = find(question, Region(model.variables, box))
                assert (found is None) == is_forced(model, box, question.decision), (seed, i, box)
                if found is not None:
                    assert Region(model.variables, box).contains(found)
                    assert model.told(model.scores(found).tolist()) != question.decision


# ---- terms, places and lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_many_numbers_at_once_add_what_each_does(seed: int) -> None:
    for i in range(EACH):
        rng = Random(f"terms.{seed}.{i}")
        model = long_lines(rng)
        for term in model.terms[:-1]:
            variable = model.variables[term.variable]
            states = [random_states(rng, model)[term.variable] for _ in range(20)]
            numbers = np.array([variable.number(s) for s in states])
            assert term.of_numbers(numbers).tolist() == [term.at(variable, s) for s in states]
            assert isinstance(term, Line)
            assert [term.at(variable, s)[0] for s in states] == [
                stepped(term.steps, variable.number(s)) * term.weights[0] for s in states
            ]
            greatest, _ = term.extent(variable)
            assert all(abs(term.at(variable, s)[0]) <= greatest[0] * (1 + 2**-40) for s in states)
    table = Table(0, np.array([[1.0], [2.0], [3.0], [9.0]]), (Cut(0.0), Cut(5.0, after=False)))
    numbers = np.array([-1.0, 0.0, LEAST, math.nextafter(5, 0), 5.0, 7.0, math.nan])
    assert table.of_numbers(numbers).ravel().tolist() == [1, 1, 2, 2, 3, 3, 9]
    line = Variable.line("x", -1, 7, missing=True)
    assert [table.at(line, line.encode(n))[0] for n in numbers.tolist()] == [1, 1, 2, 2, 3, 3, 9]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_only_rises_or_falls_between_its_turns(seed: int) -> None:
    for i in range(EACH):
        rng = Random(f"turns.{seed}.{i}")
        model = long_lines(rng)
        (need,) = model.ways(why(model, random_states(rng, model)))[0]
        gaps = model.gaps(need)
        for v in range(len(model.variables) - 1):
            last = len(model.variables[v].cuts)
            borders = sorted({0, *gaps.turns(v), last})
            for low, high in pairwise(borders):
                near = {min(low + k, high) for k in range(3)} | {max(high - k, low) for k in range(3)}
                tried = sorted(near | {rng.randint(low, high) for _ in range(6)})
                values = [gaps.at(v, state) for state in tried]
                assert values in (sorted(values), sorted(values, reverse=True)), (seed, i, v, low, high)
            least, at = gaps.least_of(v, ((0, last),))
            assert least == gaps.at(v, at) <= min(gaps.at(v, random_states(rng, model)[v]) for _ in range(20))


@pytest.mark.parametrize("steps", [
    (("multiply", 0.1), ("add", -0.3)),
    (("divide", 3.0), ("subtract", 1 / 3), ("multiply", 7.0)),
    (("multiply", -1e-9), ("add", 1e-9)),
])  # fmt: skip
def test_the_least_of_a_square_is_found_to_the_last_bit(steps: Any) -> None:
    """What is squared is nearest to 0 at a state that is a few units off where the steps, turned back, say it is."""
    variable = Variable.line("x", -10, 10)
    model = Additive((variable,), ("a", "b"), (Line(0, (*steps, ("square",)), (1.0,)),), (0.0,), Rule("cuts", (1e-30,)))
    ((need,),) = model.ways(why(model, (variable.encode(-10.0),)))
    least, at = model.gaps(need).least_of(0, ((0, variable.size - 1),))
    assert all(model.gaps(need).at(0, at + k) >= least for k in range(-3000, 3000))


def test_places_count_numbers_through() -> None:
    some = [0.0, LEAST, 1.0, 0.1, 31240.5, 1e100, 2.0**510, math.nextafter(1, 2)]
    for number in (*some, *(-n for n in some)):
        assert number_at(place(number)) == number
        assert places(np.array([number])).tolist() == [place(number)]
        if abs(number) < 2.0**510:
            assert place(next_number(number)) == place(number) + 1
    for nothing in (5e-324, -5e-324, 1e-300, LEAST / 2, -0.0):
        assert place(nothing) == 0 and number_at(0) == 0 and math.copysign(1, number_at(0)) == 1
    between = Between(-1.0, 1.0)
    assert between[0] == -1.0 and between[-1] == math.nextafter(1, 0) and len(between) == 2 * place(1.0)
    assert Cuts(-1.0, 1.0)[:2] == [Cut(-1.0), Cut(math.nextafter(-1, 0))]
    with pytest.raises(IndexError):
        between[len(between)]


def test_a_line_has_its_numbers_as_states() -> None:
    line = Variable.line("x", -2, 3, missing=True)
    for value, number in ((-2, -2.0), ("3", 3.0), (-0.0, 0.0), (5e-324, 0.0), (" 0.1 ", 0.1), (np.float32(0.5), 0.5)):
        assert line.number(line.encode(value)) == number
    assert line.encode(None) == line.encode(math.nan) == line.size - 1 and line.text(line.size - 1) == "missing"
    assert line.range == (-2, 3) and line.is_line and line.encode(-2) == 0 and line.encode(3) == line.size - 2
    low, zero = line.encode(0.1), line.encode(0)
    assert line.text(low) == "= 0.1" and line.interval(low, len(line.cuts)).text == ">= 0.1"
    assert line.interval(0, zero).text == "<= 0" and line.interval(zero + 1, low).text == "(0, 0.1]"
    for outside in (3.0000000000000004, -2.1, math.inf, -math.inf, 1e300):
        with pytest.raises(OutOfRange, match="outside its range -2 to 3; give a wider one") as fault:
            line.encode(outside)
        assert fault.value.number == outside and fault.value.feature == "x"
    with pytest.raises(InstanceError, match="x is 'wide', which is not a number"):
        line.encode("wide")
    assert Variable.line("y").range is None and Variable.line("y", 1, 1).size == 1
    for wrong in ((2, 1), (0, math.inf), (math.nan, 1), (-1e300, 0)):
        with pytest.raises(GraphError, match="give two numbers, the lower one first"):
            Variable.line("x", *wrong)


# ---- ranges -----------------------------------------------------------------------------------------------------

INCOME, JOB = Variable.line("income"), Variable.nominal("job", ["none", "new"])
OPEN = Additive(
    (JOB, INCOME),
    ("deny", "grant"),
    (Table(0, np.array([[0.0], [10.0]])), Line(1, (), (0.5,))),
    (0.0,),
    Rule("cuts", (40.0,)),
)


def test_without_a_range_nothing_is_forced() -> None:
    anna = {"job": "new", "income": 80}
    assert OPEN.unbounded == ("income",) and OPEN.classify(anna) == "grant"
    for ask in (
        lambda: quia.explain(OPEN, anna).count_sufficient(),
        lambda: quia.verify(OPEN, anna, ["job"], "sufficient"),
    ):
        with pytest.raises(Unsupported, match=r"income can be any number.*with ranges=\{'income': \(low, high\)\}"):
            ask()
    # What is not known is looked at in its own range alone.
    assert OPEN.classify({"income": 80, "job": None}) == "grant"
    for partly in ({"income": 70, "job": None}, {"income": None, "job": "new"}):
        with pytest.raises(MissingValue, match="the decision depends on it"):
            OPEN.classify(partly)
    model = OPEN.with_ranges({"income": (np.int64(0), Decimal(100))})
    assert model.unbounded == () and model.variables[1].range == (0, 100)
    assert [str(r) for r in quia.explain(model, anna).sufficient_reasons(general=True)] == ["income >= 80"]
    assert within_table(OPEN, [["new", 80], ["none", 100]]).variables[1].range == (80, 100)
    with pytest.raises(OutOfRange, match="income is 101, outside its range 0 to 100"):
        quia.explain(model, {"job": "new", "income": 101})
    assert model.classify({"job": "new", "income": -5}) == "deny"
    wider = model.reaching({"job": "new", "income": -5})
    assert wider.variables[1].range == (-5, 100) and "outside its range 0 to 100" in wider.notes[0]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"incme": (0, 1)}, "ranges has 'incme', which is no variable (did you mean 'income'?)"),
        ({"job": (0, 1)}, "ranges has 'job', whose states are listed; only a line needs a range"),
        ({"income": 5}, "the range of 'income' is 5; give its least and greatest number"),
        ({"income": (0, 1, 2)}, "the range of 'income' is (0, 1, 2); give"),
        ({"income": ("a", 1)}, "the range of 'income' is ('a', 1); give"),
        ({"income": "05"}, "the range of 'income' is '05'; give its least and greatest number, as in (0, 100)"),
        ({"income": ("0", "5")}, "the range of 'income' is ('0', '5'); give"),
        ({"income": (False, True)}, "the range of 'income' is (False, True); give"),
        ({"income": (0, np.True_)}, "; give its least"),
        ({"income": {0, 5}}, "the range of 'income' is {0, 5}; give"),
        ({"income": (0, 10**400)}, "; give its least and greatest number"),
        ({"income": (0, None)}, "the range of 'income' is (0, None); give"),
        ({"income": (0, math.nan)}, "the range of 'income' is 0 to nan; give two numbers, the lower one first"),
        ({"income": (-math.inf, 5)}, "the range of 'income' is -inf to 5; give two numbers, the lower one first, and"),
        ({5: (0, 1)}, "ranges has 5, which is no variable"),
        ({"income": (2, 1)}, "the range of 'income' is 2 to 1; give two numbers, the lower one first"),
    ],
)
def test_ranges_that_are_none(given: Any, fault: str) -> None:
    with pytest.raises((InstanceError, GraphError), match=re.escape(fault)):
        OPEN.with_ranges(given)


def test_extents_of_tables(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("income,job\n5,new\n,none\n-3.5,new\n")
    tables: list[Any] = [
        file,
        str(file),
        {"job": ["new"] * 3, "income": [5, None, "-3.5"]},
        {"income": np.array([5.0, math.nan, -3.5])},
        [("new", 5), ("none", math.nan), ("new", -3.5), ("new", math.inf)],
        [{"income": 5}, {"income": None}, {"income": -3.5}],
    ]
    for table in tables:
        assert extents(OPEN.variables, ["income"], table) == {"income": (-3.5, 5.0)}
    for wrong, fault in (
        ({"incme": [1]}, "the table has no column 'income', whose range it should give"),
        ({"income": [None, ""]}, "column 'income' of the table has no number, so it gives no range"),
        ([("new", 5), ("new",)], "row 1 of the table has 1 values for 2 columns"),
        ({"income": ["wide"]}, "income is 'wide', which is not a number"),
    ):
        with pytest.raises(InstanceError, match=re.escape(fault)):
            extents(OPEN.variables, ["income"], wrong)


# ---- what is malformed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"rule": Rule("softmax64")}, "the rule is 'softmax64'; of an additive model it is 'cuts' or 'argmax'"),
        ({"start": ()}, "0 scores are told apart by the rule 'cuts'"),
        ({"start": (0.0, 0.0)}, "2 scores are told apart by the rule 'cuts'"),
        ({"classes": ("a", "b", "c")}, "the classes are a, b, c, but the scores tell 2 apart"),
        ({"end": (1.0, 2.0)}, "2 numbers are added in the end to 1 scores"),
        ({"start": (math.nan,)}, "a number that the scores begin or end with is not finite"),
        ({"terms": (Table(2, np.zeros((2, 1))),)}, "a term is about variable 2 of 2"),
        ({"terms": (Table(-1, np.zeros((2, 1))),)}, "a term is about variable -1 of 2"),
        ({"terms": (Table(0, np.zeros((3, 1))),)}, "the table of 'job' has the shape (3, 1); it needs a row for"),
        ({"terms": (Table(0, np.zeros((2, 2))),)}, "the table of 'job' has the shape (2, 2)"),
        ({"terms": (Table(0, np.zeros(2)),)}, "the table of 'job' has the shape (2,)"),
        ({"terms": (Table(0, np.array([[0.0], [math.inf]])),)}, "the table of 'job' has a number that is not finite"),
        ({"terms": (Table(0, np.zeros((2, 1)), (Cut(1.0),)),)}, "the table of 'job' has cuts of its own, but"),
        ({"terms": (Table(1, np.zeros((3, 1)), (Cut(1.0), Cut(1.0))),)}, "the cuts in the table of 'income' do not"),
        ({"terms": (Line(0, (), (1.0,)),)}, "'job' adds a line, but is no variable over numbers of a range"),
        ({"terms": (Line(1, (), (1.0, 2.0)),)}, "the line of 'income' has 2 weights for 1 scores"),
        ({"terms": (Line(1, (), (1.0,), (1.0,)),)}, "'income' has no state for missing values, but its line has one"),
        ({"terms": (Line(1, (("log",),), (1.0,)),)}, "a step of the line of 'income' is ('log',); steps are add"),
        ({"terms": (Line(1, (("add",),), (1.0,)),)}, "a step of the line of 'income' is ('add',)"),
        ({"terms": (Line(1, (("add", math.inf),), (1.0,)),)}, "the line of 'income' has a number that is not finite"),
        ({"terms": (Line(1, (("divide", 0.0),), (1.0,)),)}, "the line of 'income' divides by 0"),
        ({"terms": (Line(1, (("square",), ("square",)), (1.0,)),)}, "the line of 'income' is squared, and squared"),
        ({"terms": (Line(1, (("clip", 2.0, 1.0),), (1.0,)),)}, "the line of 'income' is clipped between 2 and 1"),
    ],
)  # fmt: skip
def test_malformed_models_are_refused(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(GraphError, match=re.escape(fault)) as refused:
        replace(OPEN, **given)
    assert "\n" not in str(refused.value)


def test_the_attack_is_a_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert attack_additive.main(4, 1) == 0
    assert "4 models" in capsys.readouterr().out
    monkeypatch.setattr(Additive, "decide", lambda *_: 7)
    assert attack_additive.main(4, 1) == 1
    assert "again: python tests/attack_additive.py 4 1 0" in capsys.readouterr().out
