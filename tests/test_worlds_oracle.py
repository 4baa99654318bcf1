"""The oracle of possible worlds itself: by hand, by laws, and against today's answers where everything is possible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import attack_worlds
import oracle
import quia
from worlds_cases import MODELS, random_case
from worlds_oracle import Case, Feature, Formula, Worlds, atom

AGE, SEX, PREGNANT = (
    Feature("age", (), ((30.0, True),)),
    Feature("sex", ("F", "M")),
    Feature("pregnant", ("no", "yes")),
)
ONLY_WOMEN = Formula("->", (atom(PREGNANT, ["yes"], "pregnant=yes"), atom(SEX, ["F"], "sex=F")))


def sick(values: dict[str, object]) -> str:
    """Who is pregnant, or over 30 and a man."""
    return "yes" if values["pregnant"] == "yes" or (values["age"] > 30 and values["sex"] == "M") else "no"  # type: ignore[operator]


CASE = Case((AGE, SEX, PREGNANT), ("no", "yes"), sick, {"age": 20, "sex": "M", "pregnant": "no"})


def test_a_constraint_shortens_reasons_by_hand() -> None:
    free, bound = Worlds(CASE), Worlds(replace(CASE, given=(ONLY_WOMEN,)))
    assert free.sufficient == {frozenset({"age", "pregnant"})}
    assert free.necessary == {frozenset({"age"}), frozenset({"pregnant"})}
    assert bound.sufficient == {frozenset({"age", "sex"}), frozenset({"age", "pregnant"})}
    assert bound.necessary == {frozenset({"age"}), frozenset({"sex", "pregnant"})}
    assert bound.superfluous == {frozenset({"age", "sex"})}, "who is a man is not pregnant"
    assert bound.counterfactuals() == {((("age", (1,)),), "yes", True)}
    assert bound.is_vacuous(["pregnant"]) and not bound.is_vacuous(["sex"])
    assert ONLY_WOMEN.text == "pregnant=yes -> sex=F"


def test_bounds_by_hand() -> None:
    near = Worlds(replace(CASE, near={"age": 5}))
    assert near.cells["age"] == Feature("age", (), ((15.0, False), (25.0, True), (30.0, True))).cells()
    assert near.necessary == {frozenset({"pregnant"})}
    down = Worlds(replace(CASE, only_down=("age",), within={"pregnant": ("no", atom(PREGNANT, ["no"]))}))
    assert down.necessary == set() and down.sufficient == {frozenset()} and not down.counterfactuals()
    impossible = replace(CASE, instance={"age": 20, "sex": "M", "pregnant": "yes"}, given=(ONLY_WOMEN,))
    assert not Worlds(impossible).possible_classes


def test_cells_lie_between_all_cuts() -> None:
    cells = Feature("n", (), ((1.0, True), (1.0, False)), True).cells([(3.0, False)])
    assert [first for first, _ in cells] == [float("-inf"), 1.0, 1.0000000000000002, 3.0, None]


@pytest.mark.parametrize("kind", MODELS)
def test_laws(kind: str, tmp_path: Path) -> None:
    """Each kind of reason hits the other; fewer worlds give no longer reasons; all are drawn with constraints."""
    rng, some = Random(kind), 0
    for _ in range(12):
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is None:
            continue
        worlds, free = Worlds(case), Worlds(replace(case, given=(), within={}, near={}, only_up=(), only_down=()))
        some += bool(case.given)
        assert worlds.sufficient == oracle.minimal_hitting_sets(worlds.necessary)
        assert worlds.minimal_changes == worlds.necessary
        if worlds.sizes == free.sizes:  # the same cells
            assert all(any(short <= long for short in worlds.sufficient) for long in free.sufficient)
    assert some


@pytest.mark.parametrize("kind", MODELS)
def test_where_everything_is_possible_the_answers_are_those_of_today(kind: str, tmp_path: Path) -> None:
    rng = Random(f"today {kind}")
    for _ in range(4):
        model = MODELS[kind](rng, tmp_path)
        case = random_case(rng, model)
        if case is None:
            continue
        case = replace(case, given=(), within={}, near={}, only_up=(), only_down=())
        worlds, why = Worlds(case), quia.explain(model.classifier, case.instance, **case.asked)
        attack_worlds.check_reasons(worlds, why)
        attack_worlds.check_general(worlds, why)
        attack_worlds.check_changes(worlds, why)
        attack_worlds.check_without(worlds, why, rng)
        attack_worlds.check_other(worlds, why, model, rng)
        attack_worlds.check_verify(worlds, why, model, rng)
        attack_worlds.check_codes(worlds, why)
        attack_worlds.check_bias_of_classifier(worlds, model, rng)
