"""Additive models of several classes: a limit gives so many general reasons, and nothing says that time ran out."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import quia
from quia import Additive, Variable
from quia.additive_boxes import Budget, TooClose
from quia.additive_budgets import Choice, widest
from quia.compile import additive_as_graph
from quia.errors import MissingValue
from quia.patience import Clock
from quia.reason import KINDS
from quia.show.html import page
from quia.show.text import explanation_text
from quia.sums import Rule
from quia.terms import Table

LIMITS = range(1, 11)


def model_of(rng: random.Random, *, classes: int, whole: bool, features: int = 6, states: int = 5) -> Additive:
    """A random model of features that are nominal or cut numbers; `whole` points tie often."""
    variables = [
        Variable.nominal(f"v{v}", [f"s{s}" for s in range(states)])
        if rng.random() < 0.7
        else Variable.numeric(f"v{v}", list(range(1, states)))
        for v in range(features)
    ]

    def points() -> float:
        return float(rng.randint(-3, 3)) if whole else rng.gauss(0, 1)

    terms = [Table(v, np.array([[points() for _ in range(classes)] for _ in range(states)])) for v in range(features)]
    labels = tuple(f"c{c}" for c in range(classes))
    return Additive(tuple(variables), labels, tuple(terms), tuple(points() for _ in labels), Rule("argmax"))


def row_of(rng: random.Random, model: Additive, unknown: float = 0.0) -> dict[str, Any]:
    """A row whose decision does not hang on what is unknown."""
    while True:
        row = {
            v.name: None
            if rng.random() < unknown
            else f"s{rng.randrange(v.size)}"
            if v.labels
            else rng.randrange(v.size) + 0.5
            for v in model.variables
        }
        try:
            model.classify(row)
        except MissingValue:
            continue
        return row


def tied(row: dict[str, Any], one: Variable, other: Variable) -> str:
    """A constraint between two features that a row meets."""
    of_one, of_other = (
        f"{v.name}={row[v.name]}" if v.labels else f"{v.name} {'<=' if row[v.name] < 2 else '>'} 2"
        for v in (one, other)
    )
    return f"{of_one} -> {of_other}"


def said(why: quia.Explanation, **asked: Any) -> str:
    """What is said of a decision in text, on the page and in JSON."""
    answer = why.answer(**asked)
    assert answer.in_time
    return explanation_text(answer) + page(why, answer=answer) + str(answer.to_dict())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("classes", [3, 4])
def test_a_limit_gives_so_many_of_the_reasons_that_the_graph_has(classes: int, whole: bool) -> None:
    rng = random.Random(10 * classes + whole)
    more = 0
    for _ in range(16):
        model = model_of(rng, classes=classes, whole=whole)
        graph = additive_as_graph(model)
        row = row_of(rng, model)
        why = quia.explain(model, row)
        for kind in KINDS:
            every = list(getattr(why, f"{kind}_reasons")(general=True))
            wanted = getattr(quia.explain(graph, row), f"{kind}_reasons")(general=True)
            assert sorted(map(str, every)) == sorted(map(str, wanted))
            for limit in LIMITS:
                found = getattr(why, f"{kind}_reasons")(general=True, limit=limit)
                assert list(found) == every[:limit]
                assert found.complete == (len(every) <= limit)
            more += len(every) > 5
        assert "time ran out" not in said(why)
    assert more > 2


def test_naive_bayes_of_four_classes_lists_its_reasons() -> None:
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    draw = np.random.default_rng(0)
    rows, weights = draw.integers(0, 5, (300, 7)), draw.normal(size=(4, 7, 5))
    labels = [int(weights[:, range(7), row].sum(axis=1).argmax()) for row in rows]
    model = quia.load(naive_bayes.CategoricalNB(min_categories=5).fit(rows, labels))
    graph = additive_as_graph(model)
    for row in rows[:12].tolist():
        every = [str(reason) for reason in quia.explain(model, row).sufficient_reasons(general=True)]
        assert sorted(every) == sorted(map(str, quia.explain(graph, row).sufficient_reasons(general=True)))
        for limit in LIMITS:
            found = quia.explain(model, row).sufficient_reasons(general=True, limit=limit)
            assert [str(reason) for reason in found] == every[:limit]
        assert "time ran out" not in said(quia.explain(model, row))


@pytest.mark.parametrize("seed", range(4))
def test_nothing_says_that_time_ran_out(seed: int) -> None:
    """Whatever is asked: towards one class, features frozen, values unknown, states and worlds that are possible."""
    rng = random.Random(f"asked {seed}")
    for _ in range(10):
        model = model_of(rng, classes=3, whole=bool(seed % 2))
        row = row_of(rng, model)
        other = rng.choice([label for label in model.classes if label != model.classify(row)])
        first, second = model.variables[:2]
        bounds = {v.name: sorted({row[v.name], "s1", "s2"}) for v in model.variables if v.labels}
        asked: list[dict[str, Any]] = [
            {"against": other},
            {"frozen": [first.name]},
            {"against": other, "frozen": [first.name]},
            {"within": bounds},
            {"given": tied(row, first, second)},
            {"costs": {first.name: 2.5}},
        ]
        for each in asked:
            why = quia.explain(model, row, **each)
            assert "time ran out" not in said(why), each
            every = [str(reason) for reason in why.sufficient_reasons(general=True)]
            found = why.sufficient_reasons(general=True, limit=3)
            assert set(map(str, found)) <= set(every) and (len(found) == min(3, len(every)) or found.is_enough)
        assert "time ran out" not in said(quia.explain(model, row_of(rng, model, unknown=0.2)))


def test_batches_list_what_explanations_do() -> None:
    rng = random.Random(5)
    for whole in (True, False):
        model = model_of(rng, classes=3, whole=whole)
        rows = [row_of(rng, model) for _ in range(20)]
        asked: dict[str, Any] = {"limit": 5, "all_reasons": 5, "counterfactuals": 5}
        for row, told in zip(rows, quia.explain_batch(model, rows, **asked).to_pylist(), strict=True):
            assert told["complete"]
            why = quia.explain(model, row)
            for kind in KINDS:
                first = [str(reason) for reason in getattr(why, f"{kind}_reasons")(general=True, limit=5)]
                assert len(told[f"{kind}_reasons"]) == len(first)
                assert told[f"shortest_{kind}"]
            assert len(told["counterfactuals"]) == len(why.counterfactuals(limit=5))


def test_where_too_many_would_have_to_be_compared_the_widest_found_stands_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search finds it, and ends before it has all: that is no lack of time."""
    rng = random.Random(8)
    model, row = next(
        (model, row)
        for model in iter(lambda: model_of(rng, classes=3, whole=False, features=7), None)
        for row in [row_of(rng, model)]
        if len(quia.explain(model, row).sufficient_reasons(general=True, limit=40)) == 40
    )
    every = set(map(str, quia.explain(model, row).sufficient_reasons(general=True, limit=None)))
    monkeypatch.setattr("quia.additive_budgets._MOST_TRIED", 2)
    monkeypatch.setattr("quia.additive_widen._MOST_JOINED", 0)
    monkeypatch.setattr("quia.widen.MOST_CALLS", 5)
    why = quia.explain(model, row)
    found = why.sufficient_reasons(general=True, limit=40)
    assert found and set(map(str, found)) <= every and found.is_enough and not found.complete
    text = said(why, limit=40)
    assert "of them; there may be more" in text and "time ran out" not in text
    (told,) = quia.explain_batch(model, [row], limit=9, all_reasons=9, counterfactuals=9).to_pylist()
    assert told["complete"] and told["sufficient_reasons"] and told["shortest_necessary"] and told["counterfactuals"]


def test_budgets_that_rounding_decides_are_refused() -> None:
    choices = [Choice(((0, 0),), 1, (0.0, 0.0), ((1.0, 1.0),)), Choice(((0, 1),), 2, (1.0, 1.0), ())]
    budgets = [Budget(1.0, True, 0.0), Budget(5.0, True, 0.0)]
    assert list(widest([choices], budgets, Clock())) == [(((0, 0),),)]
    assert list(widest([choices], [Budget(1.0, False, 0.0), budgets[1]], Clock())) == [(((0, 1),),)]
    with pytest.raises(TooClose):
        list(widest([choices], [Budget(1.0, True, 1e-12), budgets[1]], Clock()))
