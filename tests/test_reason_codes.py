"""Reason codes against brute force: which reason, in which order, how much each feature gains, what it does alone."""

import json
import math
import pickle
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quia
from ensemble_oracle import random_ensemble, scores_of
from quia import Additive, Variable
from quia.asking import why as asked
from quia.cli import main
from quia.sums import Rule
from quia.terms import Line, Table

SEEDS = range(60)
ROOT = Path(__file__).parents[1]
APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


def points_card(draw: random.Random) -> Additive:
    """A small card of whole points, in which many features gain alike."""
    sizes = [draw.randint(2, 4) for _ in range(draw.randint(2, 5))]
    variables = [Variable.nominal(f"f{i}", [f"s{s}" for s in range(size)]) for i, size in enumerate(sizes)]
    tables = [Table(i, np.array([[float(draw.randint(0, 6))] for _ in range(n)])) for i, n in enumerate(sizes)]
    cut = draw.randint(2, 4 * len(sizes))
    rule = Rule("cuts", (float(cut),))
    return Additive(tuple(variables), ("deny", "grant"), tuple(tables), (0.0,), rule, unit=2.0)


def forces(card: Any, own: tuple[int, ...], kept: tuple[int, ...]) -> bool:
    decided = card.decide(own)
    free = [range(v.size) if i not in kept else (own[i],) for i, v in enumerate(card.variables)]
    return all(card.decide(world) == decided for world in product(*free))


def shortest_by_brute_force(card: Any, own: tuple[int, ...]) -> list[tuple[int, ...]]:
    for length in range(len(own) + 1):
        found = [kept for kept in combinations(range(len(own)), length) if forces(card, own, kept)]
        if found:
            return found
    raise AssertionError


@pytest.mark.parametrize("seed", SEEDS)
def test_codes_of_a_card_by_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    card = points_card(draw)
    own = tuple(draw.randrange(v.size) for v in card.variables)
    instance = {v.name: v.labels[state] for v, state in zip(card.variables, own, strict=True)}
    codes = quia.explain(card, instance).reason_codes(3)

    cut, towards = card.rule.cuts[0], 1 if card.decide(own) == 0 else -1
    worth = [[towards * float(number) / 2 for (number,) in table.values] for table in card.terms]
    gains = [max(points) - points[state] for points, state in zip(worth, own, strict=True)]
    missing = cut / 2 * towards - sum(points[state] for points, state in zip(worth, own, strict=True))
    shortest = shortest_by_brute_force(card, own)
    most = max(sum(gains[v] for v in kept) for kept in shortest)

    names = {v.name: i for i, v in enumerate(card.variables)}
    chosen = tuple(names[feature] for feature in codes.reason.features)
    assert chosen in shortest
    assert sum(gains[v] for v in chosen) == most
    assert (codes.others, codes.is_shortest) == (len(shortest) - 1, True)
    if shortest == [()]:
        assert codes.codes == ()
        return
    assert (codes.missing, codes.instead) == (missing, card.classes[1 - card.decide(own)])
    order = sorted(chosen, key=lambda v: (-gains[v], v))
    assert [(code.rank, names[code.feature]) for code in codes.codes] == list(enumerate(order[:3], 1))
    assert codes.further == len(chosen) - len(codes.codes)
    quia.verify(card, instance, codes.reason, "sufficient", maximal=True)
    for code in codes.codes:
        v = names[code.feature]
        assert (code.points, code.value) == (gains[v], instance[code.feature])
        assert code.share == (gains[v] / missing if missing else None)
        flips = [
            s for s in range(card.variables[v].size) if card.decide((*own[:v], s, *own[v + 1 :])) != card.decide(own)
        ]
        best = [s for s, points in enumerate(worth[v]) if points == max(worth[v])]
        assert code.alone == bool(flips)
        assert list(code.favourable.states) == (flips or best)


def test_codes_of_lines_are_exact_at_their_bounds() -> None:
    income, debt = Variable.line("income", 0, 250_000), Variable.line("debt", 0, 90_000, missing=True)
    home = Variable.nominal("home", ["rents", "owns"])
    pays, owes = Line(0, (), (0.0007,)), Line(1, (), (-0.0011,), missing=(5.0,))
    terms = pays, owes, Table(2, np.array([[0.0], [10.0]]))
    card = Additive((income, debt, home), ("deny", "grant"), terms, (0.0,), Rule("cuts", (30.0,)))
    anna = {"income": 31_240.5, "debt": 12_000.25, "home": "rents"}
    codes = quia.explain(card, anna).reason_codes()
    first, *others = codes.codes
    assert (first.feature, first.alone) == ("income", True)
    (bound,) = first.favourable.condition["intervals"]
    edge = bound["low"] if bound["low_closed"] else math.nextafter(bound["low"], math.inf)
    assert card.classify(anna | {"income": edge}) == "grant"
    assert card.classify(anna | {"income": math.nextafter(edge, 0)}) == "deny"
    exact = Fraction(0.0007) * (250_000 - Fraction(31_240.5))
    assert first.points == pytest.approx(float(exact), rel=1e-14)
    # A missing debt would gain the most, but is no advice.
    by_name = {code.feature: code for code in others}
    assert by_name["debt"].points == pytest.approx(0.0011 * 12_000.25)
    assert (by_name["debt"].favourable.text, by_name["debt"].alone) == ("< 12000.25", False)
    # What people read is rounded to the safe side, and verified as such.
    shown = str(first.favourable).removeprefix("income >= ")
    assert len(shown) <= 6
    assert card.classify(anna | {"income": float(shown)}) == "grant"


def test_a_graph_has_no_score() -> None:
    """What alone changes the decision comes first, then what is in more reasons."""
    graph = quia.load(ROOT / "examples" / "admissions.json")
    codes = quia.explain(graph, APPLICANT).reason_codes()
    assert [(code.feature, code.alone, code.points, code.share) for code in codes.codes] == [
        ("Interview", True, None, None),
        ("Essay", False, None, None),
    ]
    assert (codes.missing, codes.instead) == (None, None)
    assert [str(code.favourable) for code in codes.codes] == ["Interview=pass", "Essay=pass"]


@pytest.mark.parametrize("seed", range(40))
def test_codes_of_ensembles_by_their_scores(seed: int) -> None:
    draw = random.Random(seed)
    model = random_ensemble(draw, points=300)
    own = tuple(draw.randrange(v.size) for v in model.variables)
    why = quia.Explanation(model, {}, asked(model, own))
    codes = why.reason_codes(99)
    names = {v.name: i for i, v in enumerate(model.variables)}
    chosen = tuple(names[feature] for feature in codes.reason.features)
    shortest = shortest_by_brute_force(model, own)
    assert chosen in shortest
    assert codes.others == len(shortest) - 1
    if codes.instead is None:
        assert len(model.classes) == 1
        return

    rival, decision = model.classes.index(codes.instead), model.decide(own)

    def short(states: Sequence[int]) -> float:
        scores = [float(score) for score in scores_of(model.trees, model.sums, states)]
        if model.sums.rule.kind != "cuts":
            return scores[decision] - scores[rival]
        cuts = model.sums.rule.cuts
        return cuts[rival - 1] - scores[0] if rival > decision else scores[0] - cuts[rival]

    def gains(v: int) -> list[float]:
        return [short(own) - short((*own[:v], s, *own[v + 1 :])) for s in range(model.variables[v].size)]

    assert codes.missing == pytest.approx(max(short(own), 0), abs=1e-12)
    moved = {v: max(known_gains(model.variables[v], gains(v))) for v in names.values()}
    order = sorted(chosen, key=lambda v: (-round(moved[v], 9), v))
    assert [round(moved[names[code.feature]], 9) for code in codes.codes] == [round(moved[v], 9) for v in order]
    assert sum(moved[v] for v in chosen) == pytest.approx(max(sum(moved[v] for v in kept) for kept in shortest))
    for code in codes.codes:
        v = names[code.feature]
        assert code.points == pytest.approx(max(moved[v], 0), abs=1e-12)
        decided = {s: model.decide((*own[:v], s, *own[v + 1 :])) for s in range(model.variables[v].size)}
        flips = {s for s, c in decided.items() if is_there(model, decision, rival, c)}
        advice = {s for s in flips if not model.variables[v].is_missing_state(s)}
        assert code.alone == bool(advice)
        if code.alone:
            assert set(code.favourable.states) <= advice


def is_there(model: Any, decision: int, rival: int, c: int) -> bool:
    """Whether a class is the rival, or beyond it where one score tells the classes apart."""
    if model.sums.rule.kind != "cuts":
        return c == rival
    return c >= rival if rival > decision else c <= rival


def known_gains(variable: Variable, gains: Sequence[float]) -> Sequence[float]:
    """Without that of a missing value, unless only that gains."""
    known = [gain for state, gain in enumerate(gains) if not variable.is_missing_state(state)]
    return known if max(known) > 0 else gains


def test_what_is_said_and_sent(capsys: pytest.CaptureFixture[str]) -> None:
    codes = quia.explain(quia.load(ROOT / "examples" / "admissions.json"), APPLICANT).reason_codes()
    given = [f"--set={name}={value}" for name, value in APPLICANT.items()]
    command = ["explain", str(ROOT / "examples" / "admissions.json"), *given, "--reason-codes"]
    assert main(command) == 0
    assert capsys.readouterr().out == f"{codes}\n"
    assert main([*command, "1", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert (one["codes"], one["further"]) == (codes.to_dict()["codes"][:1], 1)
    assert json.loads(codes.to_json()) == codes.to_dict() == pickle.loads(pickle.dumps(codes)).to_dict()
    assert codes._repr_html_().count("<tr>") == 3
    assert main([*command, "--shortest"]) == 2
    assert "--shortest says nothing of reason codes" in capsys.readouterr().err
    assert main([*command, "0"]) == 2
    assert "'0' is not a whole number from 1 on" in capsys.readouterr().err


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "4", None])
def test_a_number_of_codes_that_is_none_is_refused(n: Any) -> None:
    why = quia.explain(quia.load(ROOT / "examples" / "admissions.json"), APPLICANT)
    with pytest.raises(quia.InstanceError, match=r"^n is "):
        why.reason_codes(n)
