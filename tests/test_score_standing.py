"""Where an instance stands by its scores, against what every other instance's scores are."""

from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

import quia
from ensemble_oracle import class_of, random_ensemble, scores_of
from quia.additive import Additive
from quia.question import Question
from quia.region import Region
from quia.score_standing import standing
from quia.sums import Rule
from quia.terms import Line, Table
from quia.variables import UNKNOWN, Variable


def asked(model: quia.Ensemble | Additive, states: tuple[int, ...]) -> Question:
    decision = model.decide(states)
    return Question(model.classes, states, decision, frozenset((decision,)), Region(model.variables))


@pytest.mark.parametrize("seed", range(40))
def test_scores_margins_and_extents_of_ensembles(seed: int) -> None:
    rng = Random(seed)
    model = random_ensemble(rng)
    worlds = list(product(*(range(variable.size) for variable in model.variables)))
    states = rng.choice(worlds)
    found = standing(model, asked(model, states))
    assert found is not None
    own = [float(score) for score in scores_of(model.trees, model.sums, states)]
    assert list(found.scores) == own
    decision, rule = model.decide(states), model.sums.rule
    assert set(found.margins) == set(range(len(model.classes))) - {decision}
    for label, margin in found.margins.items():
        assert margin >= 0
        # What is lacking, and a little more, is enough to get there.
        more = margin + 1e-3 * (1 + margin)
        if rule.kind == "cuts":
            moved = [own[0] + more if label > decision else own[0] - more]
        else:
            moved = [score + more if c == label else score for c, score in enumerate(own)]
        if rule.kind == "logistic" and max(moved) > 30:
            continue  # what is made of such scores is 1, whichever is greater
        reached = class_of(rule, moved)
        assert reached != decision
        if rule.kind == "argmax":
            assert reached == label or moved[reached] >= moved[label]
    if found.extent is not None:
        low, high = found.extent
        room = 1e-6 * (1 + abs(low) + abs(high))
        for world in worlds[:200]:
            assert low - room <= float(scores_of(model.trees, model.sums, world)[0]) <= high + room


def card() -> Additive:
    job, income = Variable.nominal("job", ["none", "new", "old"]), Variable.line("income", 0, 100)
    points = Table(0, np.array([[0.0], [20.0], [50.0]]))
    return Additive(
        (job, income), ("deny", "grant"), (points, Line(1, (), (1.0,))), (10.0,), Rule("cuts", (80.0,)), unit=2
    )


def test_points_are_the_cards_own() -> None:
    why = quia.explain(card(), {"job": "new", "income": 30})
    found = standing(card(), why.question)
    assert found is not None
    assert (found.scores, found.cuts, dict(found.margins), found.nearest) == ((30.0,), (40.0,), {1: 10.0}, 1)
    assert found.extent == (5.0, 80.0)


def test_what_is_not_known_or_has_no_score_stands_nowhere(examples: Path) -> None:
    model, graph = card(), quia.load(str(examples / "admissions.json"))
    states = (2, UNKNOWN)
    every = Region(model.variables)
    assert standing(model, Question(model.classes, states, 0, frozenset((0,)), every)) is None
    why = quia.explain(graph, {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"})
    assert standing(graph, why.question) is None
