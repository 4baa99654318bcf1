"""Additive models compiled into graphs: decisions to the last bit, reduced graphs, reasons, limits and refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from additive_oracle import PALETTES, Model, random_model
from attack_additive import additive_of, value_of
from ensemble_oracle import random_ensemble
from quia import Additive, DecisionGraph, Variable
from quia.cli import main
from quia.compile import additive_as_graph
from quia.compile.intervals import Compilation
from quia.compile.whole_sums import InOrder, WholeSums
from quia.errors import InstanceError, MissingValue, TooLarge, Unsupported
from quia.own_constraints import with_given
from quia.sums import Rule
from quia.terms import Line, Table

SEEDS = range(6)
EACH = 25
"""Random models for each seed; raise it for a longer attack."""


def random_tables(rng: Random, **limits: Any) -> tuple[Model, Additive]:
    """A random model that adds no number as it is; lines that are only cut are among its features."""
    while True:
        model = random_model(rng, **{"points": 300, "lines": 0.15, **limits})
        additive = additive_of(model)
        adds_lines = {term.variable for term in additive.terms if isinstance(term, Line)}
        if adds_lines.isdisjoint(additive.tested):
            return model, additive


def encoded(graph: DecisionGraph, model: Model, world: Sequence[int]) -> tuple[int, ...]:
    """A world of the oracle as the graph has it, from raw values: of a line it has intervals."""
    values = [value_of(feature, state) for feature, state in zip(model.features, world, strict=True)]
    return tuple(v.encode(value) for v, value in zip(graph.variables, values, strict=True))


def order_of(graph: DecisionGraph, names: Sequence[str]) -> list[int]:
    return [[v.name for v in graph.variables].index(name) for name in names]


def nodes_needed(model: Model, order: Sequence[int]) -> int:
    """How many nodes a reduced graph has in an order: the functions that remain and depend on the next feature."""
    others = [v for v in range(len(model.sizes)) if v not in order]
    table = model.classes.reshape(model.sizes).transpose(*order, *others)
    count = len(np.unique(table))
    for level, v in enumerate(order):
        rest = table.reshape(math.prod(model.sizes[u] for u in order[:level]), model.sizes[v], -1)
        functions = np.unique(rest.reshape(len(rest), -1), axis=0).reshape(-1, *rest.shape[1:])
        count += int((functions != functions[:, :1]).any(axis=(1, 2)).sum())
    return count


def check_reduced(graph: DecisionGraph, order: Sequence[int]) -> None:
    """Tests come in the order, no node has equal children, no two nodes are equal, each child has one edge."""
    place = {v: at for at, v in enumerate(order)}
    seen = set()
    for test, label, edges in graph.nodes:
        children = [child for _, child in edges]
        assert len(set(children)) == len(children) != 1
        for child in children:
            assert graph.tests[child] < 0 or place[test] < place[int(graph.tests[child])]
        key = (test, label, tuple(sorted(edges)))
        assert key not in seen
        seen.add(key)


def check(model: Model, additive: Additive, order: Sequence[str] | None = None) -> DecisionGraph:
    graph = additive_as_graph(additive, order=order)
    assert [v.name for v in graph.variables] == [v.name for v in additive.variables]
    assert graph.classes == additive.classes
    decided = [graph.decide(encoded(graph, model, world)) for world in model.points.tolist()]
    assert decided == model.classes.tolist(), model
    if order is not None:
        in_order = order_of(graph, order)
        check_reduced(graph, in_order)
        assert len(graph) == nodes_needed(model, in_order), model
    return graph


# ---- against brute force ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_every_decision_and_no_node_too_many(seed: int) -> None:
    for i in range(EACH):
        rng = Random(f"compiled.{seed}.{i}")
        model, additive = random_tables(rng)
        check(model, additive)
        names = [additive.variables[v].name for v in rng.sample(additive.tested, len(additive.tested))]
        check(model, additive, names)


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("rule", ["cuts", "argmax"])
def test_sums_that_tie(palette: str, rule: str) -> None:
    near = 0
    for i in range(8):
        rng = Random(f"{palette}.{rule}.{i}")
        model, additive = random_tables(rng, palette=palette, rule=rule, features=6, states=3, lines=0.0)
        names = [additive.variables[v].name for v in rng.sample(additive.tested, len(additive.tested))]
        check(model, additive, names)
        near += additive.margin > 0
    assert near or palette in ("whole", "points"), "rounding decides some"


def test_several_terms_of_a_feature_and_numbers_that_are_only_cut() -> None:
    made = [random_tables(Random(f"kinds.{i}")) for i in range(200)]
    assert any(len({t.variable for t in a.terms}) < len(a.terms) for _, a in made)
    assert any(v.is_line and v.missing and at in a.tested for _, a in made for at, v in enumerate(a.variables))
    assert {len(a.classes) for _, a in made} >= {1, 2, 3, 4}
    cut = [(m, a) for m, a in made if any(v.is_line for v in a.variables)]
    assert cut
    for model, additive in cut:
        graph = check(model, additive)
        assert not any(v.is_line for v in graph.variables)


def test_values_that_are_not_known() -> None:
    """The same decision whatever they are, or the same refusal."""
    refused = 0
    for i in range(60):
        rng = Random(f"unknown.{i}")
        model, additive = random_tables(rng, lines=0.0)
        graph = additive_as_graph(additive)
        for _ in range(20):
            world = [s if rng.random() < 0.6 else -1 for s in model.points[rng.randrange(len(model.points))].tolist()]
            labels = model.decisions(world)
            if len(labels) == 1:
                assert {graph.decide(world)} == labels
            else:
                refused += 1
                with pytest.raises(MissingValue):
                    graph.decide(world)
    assert refused > 50


def test_reasons_are_those_of_the_model() -> None:
    for i in range(40):
        rng = Random(f"reasons.{i}")
        model, additive = random_tables(rng, features=4, states=3, lines=0.0)
        graph = additive_as_graph(additive)
        world = model.points[rng.randrange(len(model.points))].tolist()
        values = {f"v{v}": value_of(f, s) for v, (f, s) in enumerate(zip(model.features, world, strict=True))}
        by_sums, by_graph = quia.explain(additive, values), quia.explain(graph, values)
        assert by_sums.decision == by_graph.decision
        for kind in ("sufficient", "necessary"):
            for general in (True, False):
                both = [getattr(each, f"{kind}_reasons")(general=general) for each in (by_sums, by_graph)]
                one, other = ({str(reason) for reason in reasons} for reasons in both)
                assert one == other, (model, world, kind, general)
        expected = model.reasons([s if v in additive.tested else -1 for v, s in enumerate(world)],
                                 {additive.classes.index(by_graph.decision)}, {})  # fmt: skip
        assert {frozenset(r) for r in by_graph.sufficient_reasons().members()} == expected["sufficient"]


# ---- models of a known shape ------------------------------------------------------------------------------------


def card(points: Any, cuts: Sequence[float], *, start: float = 0.0) -> Additive:
    """A card of features with these points for their states."""
    variables = tuple(Variable.nominal(f"f{v}", [f"s{s}" for s in range(len(own))]) for v, own in enumerate(points))
    terms = tuple(Table(v, np.array(own, float).reshape(-1, 1)) for v, own in enumerate(points))
    classes = tuple(f"c{c}" for c in range(len(cuts) + 1))
    return Additive(variables, classes, terms, (start,), Rule("cuts", tuple(cuts)), kind="scorecard")


def random_card(seed: int, features: int, states: int, most: int) -> Additive:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, most + 1, (features, states))
    return card(points, [float(points.mean(axis=1).sum().round())])


def compiled(additive: Additive, order: Sequence[int] | None = None, most: int = 10**6) -> Compilation:
    return Compilation(InOrder(WholeSums(additive), order or additive.tested), most, lambda: None)


def test_at_least_so_many_of_so_many() -> None:
    """k of n take a node for each place and count, that is k · (n - k + 1), and two leaves; deep ones too."""
    for n, k in ((5, 3), (10, 1), (12, 12), (2500, 3)):
        graph = additive_as_graph(card([[0, 1]] * n, [float(k)]))
        assert len(graph) == k * (n - k + 1) + 2
        assert [graph.decide([1] * met + [0] * (n - met)) for met in (k - 1, k)] == [0, 1]


def test_a_large_card_without_enumeration() -> None:
    """Of 4**60 instances no more is looked at than nodes come out, but for a few."""
    additive = random_card(0, 60, 4, 50)
    made = compiled(additive)
    assert made.visited < 1.1 * len(made) < 100_000
    graph = additive_as_graph(additive)
    assert len(graph) < 30_000
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, (2000, 60))
    sums = additive.decide_rows(rows)
    assert 0.2 < sums.mean() < 0.8
    assert [graph.decide(row) for row in rows.tolist()] == sums.tolist()


def test_a_large_card_of_decimals_that_tie() -> None:
    """Sums that are equal on paper, but rounded, are told apart by what has been added so far, not by instances."""
    rng = np.random.default_rng(2)
    points = rng.integers(0, 21, (25, 3)) * 0.1
    additive = card(points, [round(float(points.mean(axis=1).sum()), 1)])
    assert additive.margin > 0
    made = compiled(additive)
    assert made.visited < 10_000
    graph = additive_as_graph(additive)
    assert len(graph) <= len(made)
    rows = rng.integers(0, 3, (4000, 25))
    scores = np.array([additive.scores(row)[0] for row in rows.tolist()])
    (cut,) = additive.rule.cuts
    assert (abs(scores - cut) < 1e-9).sum() > 20, "ties"
    assert len(np.unique(scores[abs(scores - cut) < 1e-9])) > 1, "that rounding decides"
    assert [graph.decide(row) for row in rows.tolist()] == (scores >= cut).tolist()


def test_cuts_that_no_sum_comes_near() -> None:
    for cuts, label in (([1e300], 0), ([-1e300], 1), ([-1e300, 2.5, 1e300], None)):
        graph = additive_as_graph(card([[0, 1], [0, 2]], cuts))
        told = [graph.decide(world) for world in product((0, 1), repeat=2)]
        assert told == ([label] * 4 if label is not None else [1, 1, 1, 2])


def test_a_model_that_adds_nothing() -> None:
    graph = additive_as_graph(card([[7, 7], [3, 3]], [10.0]))
    assert len(graph) == 1 and graph.classify({}) == "c1"
    assert graph.notes == ("compiled from a scorecard into 1 node",)


# ---- orders and limits ------------------------------------------------------------------------------------------


def test_the_smallest_of_some_orders_is_kept() -> None:
    smaller = 0
    for i in range(40):
        additive = random_card(i, 8, 3, 30)
        sums = WholeSums(additive)
        by_moves = sorted(additive.tested, key=lambda v: -sums.moves(v))
        sizes = [len(compiled(additive, order)) for order in (by_moves, additive.tested, by_moves[::-1])]
        assert len(additive_as_graph(additive)) == min(sizes)
        smaller += min(sizes) < sizes[0]
    assert smaller, "the first is not always the best"


def test_the_order_is_said() -> None:
    additive = random_card(3, 3, 3, 30)
    noted = replace(additive, notes=("made by hand",))
    names = ["f2", "f0", "f1"]
    graph = additive_as_graph(noted, order=names)
    assert graph.notes == (
        "made by hand", f"compiled from a scorecard into {len(graph)} nodes, in the order f2, f0, f1"
    )  # fmt: skip
    assert graph.tests[-1] == 2
    check_reduced(graph, [2, 0, 1])


def test_features_that_add_nothing_may_be_left_out_of_an_order() -> None:
    additive = card([[0, 1], [5, 5], [0, 1]], [6.0])
    for order in (["f2", "f0"], ["f1", "f2", "f0"]):
        assert order_of(additive_as_graph(additive, order=order), ["f2"]) == [2]
        assert additive_as_graph(additive, order=order).tests[-1] == 2


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (["f0", "fo1"], r"order has 'fo1', which is no feature \(did you mean 'f1'"),
        (["f0", "f1", "f0"], "order names 'f0' twice; name each feature once"),
        (["f0"], "order leaves out f1; name every feature that the model adds"),
        ("f0", "order is the string 'f0'; give a list of features"),
        ([3, "f1"], "order has 3, which is no feature"),
    ],
)
def test_orders_that_are_refused(order: Any, words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        additive_as_graph(card([[0, 1], [0, 1]], [1.0]), order=order)


def test_limits() -> None:
    additive = random_card(0, 12, 3, 1000)
    enough = compiled(additive).visited
    names = [v.name for v in additive.variables]
    assert additive_as_graph(additive, order=names, nodes=enough)
    words = f"a scorecard of 12 features takes more than {enough - 1:,} nodes as a graph in this order; use the model"
    with pytest.raises(TooLarge, match=f"{words} as it is, or allow more with nodes="):
        additive_as_graph(additive, order=names, nodes=enough - 1)
    with pytest.raises(TooLarge, match="more than 7 nodes as a graph; use") as fault:
        additive_as_graph(additive, nodes=7)
    assert fault.value.limit == 7
    with pytest.raises(TooLarge, match="did not become a graph within 0 seconds; use the model as it is, or give it"):
        additive_as_graph(additive, timeout=0)
    assert additive_as_graph(additive, timeout=600)
    with pytest.raises(InstanceError, match="timeout is -1"):
        additive_as_graph(additive, timeout=-1)
    with pytest.raises(InstanceError, match="nodes is 'all'"):
        additive_as_graph(additive, nodes="all")  # type: ignore[arg-type]


def test_an_order_that_is_too_large_gives_way_to_another() -> None:
    """Where rounding decides ties, only the model's own order keeps apart as little as must be."""
    rng = np.random.default_rng(5)
    points = rng.integers(0, 21, (14, 3)) * 0.1
    additive = card(points, [round(float(points.mean(axis=1).sum()), 1)])
    sums = WholeSums(additive)
    by_moves = sorted(additive.tested, key=lambda v: -sums.moves(v))
    with pytest.raises(TooLarge):
        compiled(additive, by_moves, most=5000)
    assert additive_as_graph(additive, nodes=5000)


# ---- what loads -------------------------------------------------------------------------------------------------


def all_rows(count: int, states: int) -> np.ndarray:
    return np.indices((states,) * count).reshape(count, -1).T.copy()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB"])
def test_naive_bayes_on_every_row(name: str, classes: int) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    states, count = (2, 10) if name == "BernoulliNB" else (3, 7)
    rng = np.random.default_rng(classes)
    rows = rng.integers(0, states, (200, count))
    labels = np.array(["a", "b", "c"])[np.digitize(rows @ rng.normal(size=count), [0.0, 2.0][: classes - 1])]
    fitted = getattr(bayes, name)().fit(rows, labels)
    graph = quia.load(fitted, as_graph=True)
    assert isinstance(graph, DecisionGraph) and len(graph) < 1000
    every = all_rows(count, states)
    theirs = fitted.predict(every)
    assert len(set(theirs)) == classes
    assert [graph.classify(row) for row in every.tolist()] == theirs.tolist()
    assert isinstance(quia.load(fitted), Additive)
    assert isinstance(quia.load(fitted, as_graph=False), Additive)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_naive_bayes_behind_an_encoder(name: str) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(4)
    rows = np.array(["low", "middle", "high"])[rng.integers(0, 3, (150, 5))]
    labels = np.where((rows == "high").sum(axis=1) > 1, "yes", "no")
    fitted = make_pipeline(OneHotEncoder(), getattr(bayes, name)()).fit(rows, labels)
    graph = quia.load(fitted, as_graph=True)
    every = np.array(["low", "middle", "high"])[all_rows(5, 3)]
    assert [graph.classify(row) for row in every.tolist()] == fitted.predict(every).tolist()
    assert [v.name for v in graph.variables] == [f"x{i}" for i in range(5)]


def test_cards_of_every_format(examples: Path, tmp_path: Path) -> None:
    file = examples / "credit_scorecard.csv"
    plain, graph = quia.load(file), quia.load(file, as_graph=True)
    quia_json = tmp_path / "card.json"
    quia_json.write_text(json.dumps(plain.to_dict()))  # type: ignore[attr-defined]
    again = quia.load(quia_json, as_graph="yes")
    assert len(again) == len(graph)  # type: ignore[arg-type]
    rng = Random(1)
    for _ in range(200):
        states = [rng.randrange(v.size) for v in plain.variables]
        assert plain.decide(states) == graph.decide(states) == again.decide(states)


def test_constraints_are_kept(tmp_path: Path) -> None:
    additive = with_given(card([[0, 1, 2], [0, 2], [0, 3]], [3.0]), "f0=s2 -> f1=s1")
    graph = additive_as_graph(additive)
    assert graph.given == additive.given == ("f0=s2 -> f1=s1",)
    file = tmp_path / "card.json"
    file.write_text(json.dumps(additive.to_dict()))
    loaded = quia.load(file, as_graph=True, given="f2=s1 -> f1=s1")
    assert isinstance(loaded, DecisionGraph)
    assert loaded.given == ("f0=s2 -> f1=s1", "f2=s1 -> f1=s1")
    instance = {"f0": "s0", "f1": "s0", "f2": "s0"}
    plain = quia.load(file, given="f2=s1 -> f1=s1")
    reasons = [
        {str(r) for r in quia.explain(each, instance).necessary_reasons(general=True)} for each in (plain, loaded)
    ]
    assert reasons[0] == reasons[1] != {str(r) for r in quia.explain(graph, instance).necessary_reasons(general=True)}


def test_what_is_refused(examples: Path) -> None:
    amount = Variable.line("amount", 0, 10)
    sums = Additive((amount,), ("no", "yes"), (Line(0, (), (1.0,)),), (0.0,), Rule("cuts", (5.0,)))
    with pytest.raises(Unsupported, match=r"amount can be any number, and .* without as_graph, or fit it again"):
        additive_as_graph(sums)
    with pytest.raises(Unsupported, match="a decision graph is a graph already; use it as it is, without as_graph"):
        quia.load(examples / "admissions.json", as_graph=True)
    trees = random_ensemble(Random(1))
    with pytest.raises(Unsupported, match="is no sum of what each feature adds, which is what becomes a graph; use"):
        additive_as_graph(trees)
    assert quia.load(examples / "admissions.json", as_graph="no") == quia.load(examples / "admissions.json")
    for wrong in ("maybe", 1, "1"):
        with pytest.raises(InstanceError, match=f"as_graph is {wrong!r}; it is True or False"):
            quia.load(examples / "credit_scorecard.csv", as_graph=wrong)


def test_a_weight_of_zero_is_no_line() -> None:
    amount, job = Variable.line("amount", 0, 10), Variable.nominal("job", ["no", "yes"])
    terms = Line(0, (), (0.0,)), Table(1, np.array([[0.0], [9.0]]))
    graph = additive_as_graph(Additive((amount, job), ("no", "yes"), terms, (0.0,), Rule("cuts", (5.0,))))
    assert graph.tested == (1,)
    assert graph.classify({"amount": 11, "job": "yes"}) == "yes"


def test_numbers_that_are_cut_on_either_side() -> None:
    """A line of which only intervals count, in two terms with cuts of their own, before and after a number."""
    from quia.cuts import Cut

    amount = Variable.line("amount", -100, 100, missing=True)
    terms = (
        Table(0, np.array([[0.0], [4.0], [1.0], [9.0]]), (Cut(1.0, after=False), Cut(7.5))),
        Table(0, np.array([[0.0], [2.0], [-9.0]]), (Cut(1.0),)),
    )
    additive = Additive((amount,), ("low", "middle", "high"), terms, (0.0,), Rule("cuts", (1.0, 5.0)))
    graph = additive_as_graph(additive)
    numbers = [1.0, 7.5, -100.0, 0.0, 100.0]
    beside = [math.nextafter(number, end) for number in numbers[:2] for end in (-math.inf, math.inf)]
    for number in [*numbers, *beside, None]:
        assert graph.classify([number]) == additive.classify([number])
    assert [graph.classify([number]) for number in (0.5, 1.0, 2.0, 8.0, None)] == [
        "low", "middle", "high", "middle", "low",
    ]  # fmt: skip


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    file, made = str(examples / "credit_scorecard.csv"), str(tmp_path / "graph.json")
    assert main(["convert", file, "--option", "as_graph=yes", "-o", made]) == 0
    graph = quia.load(made)
    assert isinstance(graph, DecisionGraph)
    applicant = ["--data", str(examples / "applicant.csv"), "--row", "1", "--shortest", "--json"]
    answers = []
    for words in ([file], [file, "--option", "as_graph=true"], [made]):
        capsys.readouterr()
        assert main(["explain", *words, *applicant]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    for key in ("decision", "sufficient", "necessary"):
        assert key in answers[0]
        assert answers[0][key] == answers[1][key] == answers[2][key]
    assert main(["check", file, "--option", "as_graph=yes"]) == 0
    assert "compiled from a scorecard into" in capsys.readouterr().out
    assert main(["check", file, "--option", "as_graph=perhaps"]) == 2
    assert "as_graph is 'perhaps'; it is True or False" in capsys.readouterr().err


def test_it_is_fetched_when_it_is_used() -> None:
    assert quia.compile.additive_as_graph is additive_as_graph
    with pytest.raises(AttributeError, match=r"module 'quia\.compile' has no attribute 'additives'"):
        quia.compile.additives
    assert "additive_as_graph" in dir(quia.compile)
