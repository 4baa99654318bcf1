"""Contrasts of every kind of classifier against their definition: all instances, all pairs, in all possible worlds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import additive_oracle
import quia
from attack_additive import additive_of, region_of
from quia import Additive, DecisionGraph, TooLarge, Unsupported, Variable, circuit_pairs, contrast, graph_pairs
from quia.asking import Terms
from quia.contrast import Contrast, any_change, find_pair, rising, worse
from quia.load import nnf
from quia.patience import Clock, OutOfTime
from quia.sums import Rule
from quia.terms import Line, Table
from quia.variables import UNKNOWN
from worlds_cases import MODELS, Model, is_small, random_formula, random_within
from worlds_oracle import Case, Worlds

States = tuple[int, ...]


@dataclass(frozen=True)
class Situation:
    """A classifier in possible worlds: the class of every possible instance, by brute force, in states."""

    terms: Terms
    table: dict[States, int]

    @property
    def sizes(self) -> list[int]:
        return [variable.size for variable in self.terms.variables]


def random_situation(rng: Random, model: Model) -> Situation | None:
    """Some bounds and constraints, or none; None if nothing is possible then, or there are too many worlds."""
    case = Case(model.features, model.classes, model.decide, {feature.name: None for feature in model.features})
    for _ in range(rng.choice((0, 0, 1, 2))):
        case = replace(case, given=(*case.given, random_formula(rng, model.features)))
    for feature in model.features:
        if rng.random() < rng.choice((0.0, 0.4)):
            case = replace(case, within={**case.within, feature.name: random_within(rng, feature)})
    worlds = Worlds(case)
    if not is_small(worlds) or not worlds.is_possible_at_all.any():
        return None
    terms = Terms.of(model.classifier, **{x: how for x, how in case.asked.items() if x in ("given", "within")})
    by_name = {variable.name: variable for variable in terms.variables}
    # The states of cells: both are cut where the model, a bound or a constraint is.
    states = [[by_name[x].encode(first) for first, _ in worlds.cells[x]] for x in worlds.names]
    table: dict[States, int] = {}
    for world, label, is_possible in zip(
        worlds.points.tolist(), worlds.labels.tolist(), worlds.is_possible_at_all, strict=True
    ):
        encoded = dict(zip(worlds.names, (states[v][cell] for v, cell in enumerate(world)), strict=True))
        if is_possible:
            key = tuple(encoded[variable.name] for variable in terms.variables)
            assert table.setdefault(key, label) == label
    return Situation(terms, table)


def random_contrast(rng: Random, situation: Situation) -> Contrast:
    """Any classes, ranks of classes, or some pairs of classes; one variable, in an order or not, or several."""
    variables, classes = situation.terms.variables, len(situation.terms.classes)
    pairs = [(a, b) for a, b in product(range(classes), repeat=2) if a != b]
    v = rng.randrange(len(variables))
    numeric = rising(variables[v]) if variables[v].is_numeric else range(variables[v].size)
    shuffled = rng.sample(range(variables[v].size), rng.randint(0, variables[v].size))
    order: Sequence[int] = rng.choice((numeric, numeric, numeric[::-1], shuffled))
    kind = rng.random()
    if kind < 0.5:
        return worse(classes, [rng.randrange(3) for _ in range(classes)], v, order)
    asked = frozenset(pairs if kind < 0.75 else rng.sample(pairs, rng.randint(0, len(pairs))))
    if rng.random() < 0.4:
        return Contrast((v,), asked, order)
    several = rng.sample(range(len(variables)), min(len(variables), rng.choice((1, 1, 2, 3))))
    return Contrast(tuple(several), asked)


def is_pair(situation: Situation, contrast: Contrast, one: States, other: States) -> bool:
    """The definition: both possible, alike but in changing variables, the classes and the order as asked."""
    table = situation.table
    if one not in table or other not in table or (table[one], table[other]) not in contrast.classes:
        return False
    if any(a != b for v, (a, b) in enumerate(zip(one, other, strict=True)) if v not in contrast.changing):
        return False
    if contrast.order is None:
        return True
    place = {state: at for at, state in enumerate(contrast.order)}
    (v,) = contrast.changing
    return one[v] in place and other[v] in place and place[one[v]] < place[other[v]]


def there_is_a_pair(situation: Situation, contrast: Contrast) -> bool:
    """Whether any two of all instances are such a pair."""
    alike: dict[States, list[States]] = {}
    for world in situation.table:
        alike.setdefault(tuple(s for v, s in enumerate(world) if v not in contrast.changing), []).append(world)
    return any(is_pair(situation, contrast, *two) for group in alike.values() for two in product(group, repeat=2))


def completions(situation: Situation, one: States, other: States) -> Iterator[tuple[States, States]]:
    """The pairs that two instances stand for: what is unknown in both is the same in both."""
    for states in product(*(range(n) if s == UNKNOWN else (s,) for n, s in zip(situation.sizes, one, strict=True))):
        theirs = (a if b == UNKNOWN else b for a, b in zip(states, other, strict=True))
        yield states, tuple(theirs)


def check(situation: Situation, contrast: Contrast) -> bool:
    """What is found is such a pair, whatever is unknown in it, and nothing is found just if there is none."""
    found = find_pair(situation.terms, contrast, Clock(60.0))
    about = (situation.terms.classifier, situation.terms.worlds.told, contrast, found)
    assert (found is not None) == there_is_a_pair(situation, contrast), about
    if found is None:
        return False
    one, other = map(tuple, found)
    assert [s == UNKNOWN for s in one] == [s == UNKNOWN for s in other], about
    meant = list(completions(situation, one, other))
    possible = [two for two in meant if two[0] in situation.table and two[1] in situation.table]
    assert possible and all(is_pair(situation, contrast, *two) for two in possible), about
    decide, table = situation.terms.classifier.decide, situation.table
    assert (decide(one), decide(other)) == (table[possible[0][0]], table[possible[0][1]]), about
    return True


def attack(kind: str, rng: Random, count: int, folder: Path) -> list[bool]:
    """So many random contrasts of models of a kind: whether each was found, or none."""
    found: list[bool] = []
    while len(found) < count:
        situation = random_situation(rng, MODELS[kind](rng, folder))
        if situation is not None:
            found += [check(situation, random_contrast(rng, situation)) for _ in range(4)]
    return found


@pytest.mark.parametrize("kind", MODELS)
def test_pairs_are_those_of_the_definition(kind: str, tmp_path: Path) -> None:
    found = attack(kind, Random(18), 60, tmp_path)
    assert 3 < sum(found) < 57, "both outcomes are met with"


@pytest.mark.parametrize("kind", ["FBDD", "SDD balanced", "c2d", "two circuits"])
def test_pairs_of_circuits_that_are_compiled(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_pairs, "TRIES", 0)
    assert sum(attack(kind, Random(3), 80, tmp_path)) > 10


@pytest.mark.parametrize("limits", [{"lines": 0.0}, {"lines": 0.3}, {"lines": 0.9, "rule": "argmax"}], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_larger_additive_models(seed: int, limits: dict[str, Any]) -> None:
    """Sums that round, ties, lines, several scores: what is told is right, and nearly everything is."""
    rng, told = Random(seed), 0
    for _ in range(60):
        model = additive_oracle.random_model(rng, features=5, states=6, points=600, **limits)
        additive = additive_of(model)
        box = additive_oracle.random_box(rng, model, rng.choice((0.0, 0.3)))
        inside = model.inside(box)
        table = {
            tuple(w): c for w, c in zip(model.points[inside].tolist(), model.classes[inside].tolist(), strict=True)
        }
        situation = Situation(Terms.of(additive), table)
        asked = random_contrast(rng, situation)
        try:
            found = additive.find_pair(asked, region_of(additive, box), Clock(60.0))
        except TooLarge:
            continue
        told += 1
        assert (found is not None) == there_is_a_pair(situation, asked), (model, box, asked)
        assert found is None or is_pair(situation, asked, *found), (model, box, asked, found)
    assert told > 55


def test_neighbours_are_enough_just_where_that_is_said() -> None:
    """By brute force: sequences of classes in which no neighbours are such a pair, but two others are."""
    rng = Random(4)
    pairs = [(a, b) for a, b in product(range(3), repeat=2) if a != b]
    outcomes = set()
    for _ in range(300):
        asked = Contrast((0,), frozenset(rng.sample(pairs, rng.randint(0, 6))))
        skipping = any(
            (walk[0], walk[-1]) in asked.classes and not {(walk[0], walk[1]), (walk[1], walk[2])} & asked.classes
            for walk in product(range(3), repeat=3)
        )
        assert asked.is_stepwise(3) == (not skipping)
        outcomes.add(skipping)
    assert outcomes == {True, False}
    assert all(worse(4, rank, 0, ()).is_stepwise(4) for rank in product(range(3), repeat=4))


# ---- proofs -----------------------------------------------------------------------------------------------------


def card(points: Sequence[Sequence[float]], cut: float, steepness: float | None = None) -> Additive:
    """Points for each state of each feature; with a steepness, a line `x` from 0 to 100 beside them."""
    variables = [Variable.numeric(f"v{i}", range(len(own) - 1)) for i, own in enumerate(points)]
    terms: list[Any] = [Table(i, np.array(own, float)[:, None]) for i, own in enumerate(points)]
    if steepness is not None:
        terms.append(Line(len(variables), (("subtract", 40.0),), (steepness,)))
        variables.append(Variable.line("x", 0, 100))
    return Additive(tuple(variables), ("deny", "grant"), tuple(terms), (0.0,), Rule("cuts", (cut,)))


def raising(model: Any, feature: int, *, hurts: bool) -> Any:
    """Whether raising a feature can make the second class the first, or the first the second."""
    terms = Terms.of(model)
    rank = (0, 1) if hurts else (1, 0)
    return find_pair(terms, worse(2, rank, feature, rising(terms.variables[feature])), Clock(60.0))


def test_points_that_fall_where_no_sum_can_cross_the_cut_do_not_hurt() -> None:
    """All other points are multiples of 5, so that a fall from 3 to 1 shows only if the cut is one above these."""
    others = [[0, 5, 20], [10, 15], [0, 25, 35]]
    for cut, crosses in ((41, False), (42, True), (43, True), (44, False), (45, False), (40, False)):
        found = raising(card([[0, 3, 1], *others], cut), 0, hurts=True)
        assert (found is not None) == crosses, cut
        assert found is None or (found[0][0], found[1][0]) == (1, 2)
    many = card([[0, 3, 1], *([0, 5, 10 * i] for i in range(60))], 1000 + 2)  # more instances than could be tried
    assert raising(many, 0, hurts=True)
    many = card([[0, 3, 1], *([0, 5, 10 * i] for i in range(60))], 1000 + 4)
    assert raising(many, 0, hurts=True) is None


def test_a_class_between_two_does_not_hide_them() -> None:
    """From the best class to the worst there is no step of neighbours, but the first state and the last show it."""
    for unit in (1.0, 0.1):  # exact sums, and such as are rounded
        points = Table(0, np.array([[20.0], [10.0], [0.0]]) * unit), Table(1, np.array([[0.0], [1.0], [3.0]]) * unit)
        variables = Variable.numeric("v", [1, 2]), Variable.nominal("w", ["a", "b", "c"])
        model = Additive(variables, ("low", "middle", "high"), points, (0.0,), Rule("cuts", (5 * unit, 15 * unit)))
        asked = Contrast((0,), frozenset({(2, 0)}), rising(variables[0]))
        found = find_pair(Terms.of(model), asked, Clock(60.0))
        assert found is not None and (found[0][0], found[1][0]) == (0, 2)
        assert find_pair(Terms.of(model), replace(asked, order=(2, 1, 0)), Clock(60.0)) is None


def test_what_never_falls_is_proved_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is rounded: 0.1 and 0.7 are no binary fractions, and a line has 2**60 states."""

    def refuse(*_: Any) -> None:
        raise AssertionError("nothing is to be searched")

    model = card([[0.1, 0.1, 0.7], [0.3, -0.2, 0.9]], 0.8, steepness=0.1)
    assert raising(model, 1, hurts=True) and raising(model, 2, hurts=False) and raising(model, 0, hurts=False)
    monkeypatch.setattr("quia.additive_search.Together.escape", refuse)
    assert raising(model, 0, hurts=True) is None
    assert raising(model, 2, hurts=True) is None
    assert raising(card([[0.1, 0.7]], 0.8, steepness=-0.1), 1, hurts=False) is None


def test_a_line_that_rises_and_falls() -> None:
    """A parabola around 40, clipped or shifted: both directions are shown, and on one side of it only one."""
    x = Variable.line("x", 0, 100)
    bent = Additive(
        (x, Variable.numeric("y", [1])),
        ("deny", "grant"),
        (Line(0, (("subtract", 40.0), ("square",)), (0.01,)), Table(1, np.array([[0.0], [3.3]]))),
        (0.0,),
        Rule("cuts", (9.0,)),
    )
    for within, hurts, helps in (({}, True, True), ({"x": ">= 41"}, False, True), ({"x": "< 40"}, True, False)):
        terms = Terms.of(bent, within=within)
        for rank, expected in (((0, 1), hurts), ((1, 0), helps)):
            asked = worse(2, rank, 0, rising(terms.variables[0]))
            found = find_pair(terms, asked, Clock(60.0))
            assert (found is not None) == expected, (within, rank)
            if found is not None:
                labels = tuple(map(bent.decide, found))
                assert labels in asked.classes and found[0][0] < found[1][0] and found[0][1] == found[1][1]


def test_a_line_on_which_two_scores_rise_is_never_taken_the_wrong_way_round() -> None:
    """The second score rises faster, so that more of x can hurt by rounding alone: if it is told at all, it is true."""
    x, y = Variable.line("x", 0, 100), Variable.numeric("y", [1, 2])
    terms = Line(0, (), (0.1, 0.3)), Table(1, np.array([[0.0, 0.0], [7.7, 0.0], [3.1, 0.4]]))
    model = Additive((x, y), ("deny", "grant"), terms, (0.0, 0.0), Rule("argmax"))
    for hurts in (True, False):
        try:
            found = raising(model, 0, hurts=hurts)
        except TooLarge:
            found = None
        assert found is not None or hurts, "this is easily shown"
        if found is not None:
            assert found[0][0] < found[1][0] and found[0][1] == found[1][1]
            assert tuple(map(model.decide, found)) == ((1, 0) if hurts else (0, 1))


def test_a_line_without_a_range_is_refused() -> None:
    model = Additive((Variable.line("x"),), ("no", "yes"), (Line(0, (), (1.0,)),), (0.0,), Rule("cuts", (3.0,)))
    with pytest.raises(Unsupported, match="x can be any number"):
        find_pair(Terms.of(model), any_change(model, [0]), Clock())
    assert raising(model.with_ranges({"x": (0, 2)}), 0, hurts=False) is None
    assert raising(model.with_ranges({"x": (0, 4)}), 0, hurts=False)


# ---- limits -----------------------------------------------------------------------------------------------------


class Over(Clock):
    """A clock that ends after so many looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def __call__(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise OutOfTime

    def share(self, share: float) -> Clock:
        return self

    @property
    def left(self) -> float | None:
        return 60.0 if self.looks > 0 else 0.0


@pytest.mark.parametrize("kind", MODELS)
def test_time_ends_every_search(kind: str, tmp_path: Path) -> None:
    rng = Random(5)
    ended = 0
    for _ in range(40):
        situation = random_situation(rng, MODELS[kind](rng, tmp_path))
        if situation is not None:
            asked = random_contrast(rng, situation)
            try:
                found = find_pair(situation.terms, asked, Over(1))
            except OutOfTime:
                ended += 1
            else:
                assert (found is not None) == there_is_a_pair(situation, asked)
    assert ended


def xor(features: int) -> DecisionGraph:
    """A graph that gives its class by the parity of all features but the last, which it tests first, in vain."""
    variables = [Variable.nominal(f"v{i}", ["0", "1"]) for i in range(features + 1)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    tops = []
    for _ in range(2):
        below = [0, 1]
        for v in range(features):
            nodes = []
            for parity in (0,) if v == features - 1 else (0, 1):
                tests.append(v)
                labels.append(-1)
                edges.append(((((0, 0),), below[parity]), (((1, 1),), below[1 - parity])))
                nodes.append(len(tests) - 1)
            below = nodes
        tops.append(below[0])
    tests.append(features)
    labels.append(-1)
    edges.append(((((0, 0),), tops[0]), (((1, 1),), tops[1])))
    return DecisionGraph.build(variables, ["even", "odd"], tests, labels, edges)


def test_limits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = xor(5)
    terms = Terms.of(graph)
    assert find_pair(terms, any_change(graph, [5]), Clock()) is None
    assert find_pair(terms, any_change(graph, [0]), Clock())
    monkeypatch.setattr(graph_pairs, "SEARCH_LIMIT", 10)
    with pytest.raises(TooLarge, match="took more than 10 steps"):
        find_pair(terms, any_change(graph, [5]), Clock())
    with pytest.raises(TooLarge, match=r"no biased decision was found, nor .* 10 steps; ask about one decision"):
        quia.bias_of_classifier(graph, ["v5"])
    vote = MODELS["vote"](Random(3), Path()).classifier
    monkeypatch.setattr(contrast, "MOST_REGIONS", 0)
    with pytest.raises(TooLarge, match="took more than 0 regions"):
        find_pair(Terms.of(vote), any_change(vote, range(len(vote.variables))), Clock())
    alpha = "L 2\nL -3\nA 2 0 1\nL -2\nL 3\nA 2 3 4\nO 2 2 2 5\nO 3 2 5 2\nL 1\nL -1\n"  # v2 ⊕ v3, in two ways
    circuit = nnf.read(f"nnf 13 14 3\n{alpha}A 2 6 8\nA 2 7 9\nO 1 2 10 11\n".encode())
    assert find_pair(Terms.of(circuit), any_change(circuit, [0]), Clock()) is None
    monkeypatch.setattr(circuit_pairs, "DIAGRAM_LIMIT", 1)
    with pytest.raises(TooLarge, match="a diagram of more than 1 nodes"):
        find_pair(Terms.of(circuit), any_change(circuit, [0]), Clock())


if __name__ == "__main__":
    number, seed = map(int, sys.argv[1:3])
    for each in sys.argv[3:] or MODELS:
        with TemporaryDirectory() as made:
            told = attack(each, Random(seed), number, Path(made))
            print(f"{each}: {sum(told)} of {len(told)} found, all right")
