"""Pairs of instances that one variable tells apart: ensembles of two instances, and the search, against brute force."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from ensemble_oracle import Bounds, Table, class_of, random_bounds, random_ensemble
from quia import Ensemble, Variable, _kernel
from quia.contrast import Contrast, any_change
from quia.errors import Unsupported
from quia.patience import Clock, OutOfTime
from quia.region import Region
from quia.sums import RULES, Rule, Sums
from quia.trees import Trees

EACH = 150
"""Random ensembles for each rule; raise it for a longer attack."""

Classes = frozenset[tuple[int, int]]


# ---- the definition ---------------------------------------------------------------------------------------------


def pairs_by_definition(
    table: Table, changing: Collection[int], classes: Classes, order: Sequence[int] | None, bounds: Bounds
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of points in a box, alike but in the changing variables, with such classes, in such an order."""
    inside = table.inside(bounds)
    alike: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    for point, label in zip(table.points[inside].tolist(), table.classes[inside].tolist(), strict=True):
        rest = tuple(state for v, state in enumerate(point) if v not in changing)
        alike.setdefault(rest, []).append((tuple(point), label))

    def is_in_order(one: Sequence[int], other: Sequence[int]) -> bool:
        (v,) = changing
        return one[v] in order and other[v] in order and order.index(one[v]) < order.index(other[v])

    return {
        (one, other)
        for points in alike.values()
        for one, mine in points
        for other, theirs in points
        if (mine, theirs) in classes and (order is None or is_in_order(one, other))
    }


def random_classes(rng: Random, count: int) -> tuple[Classes, bool]:
    """Pairs of different classes: all, a fall of ranks, or any; and whether they show in steps, by what was drawn."""
    unequal = [(a, b) for a in range(count) for b in range(count) if a != b]
    kind = rng.random()
    if kind < 0.35:
        return frozenset(unequal), True
    if kind < 0.75:
        rank = [rng.randrange(3) for _ in range(count)]
        return frozenset((a, b) for a, b in unequal if rank[b] < rank[a]), True
    return frozenset(pair for pair in unequal if rng.random() < 0.4), False


# ---- ensembles of two instances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_an_ensemble_of_two_instances_has_the_scores_and_classes_of_both(rule: str) -> None:
    rng = Random(RULES.index(rule))
    for _ in range(EACH):
        ensemble = random_ensemble(rng, points=100, rule=rule)
        table = Table(ensemble)
        variable = rng.randrange(len(ensemble.variables))
        first, second = (rng.randrange(ensemble.variables[variable].size) for _ in range(2))
        both = ensemble.kernel.paired(variable, first, second)
        known = {tuple(point): at for at, point in enumerate(table.points.tolist())}
        rows = table.points[table.points[:, variable] == first]
        decided = both.decide_rows(rows)
        for row, label in zip(rows.tolist(), decided.tolist(), strict=True):
            mine = known[tuple(row)]
            theirs = known[tuple(second if v == variable else state for v, state in enumerate(row))]
            assert label == table.classes[mine] * len(ensemble.classes) + table.classes[theirs]
            wanted = [*table.scores[mine].tolist(), *table.scores[theirs].tolist()]
            assert both.scores(np.array(row, np.int32)).tolist() == wanted


def test_what_cannot_be_paired_is_refused() -> None:
    ensemble = random_ensemble(Random(3), rule="cuts")
    both = ensemble.kernel.paired(0, 0, 0)
    for asked, words in (((0, 0, 0), "two instances already"),):
        with pytest.raises(ValueError, match=words):
            both.paired(*asked)
    size = ensemble.variables[0].size
    for asked, words in (
        ((-1, 0, 0), "no variable -1"),
        ((0, 0, size), "out of bounds"),
        ((0, -1, 0), "out of bounds"),
    ):
        with pytest.raises(ValueError, match=words):
            ensemble.kernel.paired(*asked)
    with pytest.raises(ValueError, match="effort"):
        _kernel.Inquiry(both, np.full(len(ensemble.variables), -1, np.int32), np.ones(4, np.uint8)).attempt(
            -1, *Region(ensemble.variables).flat
        )


# ---- the search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_pairs_are_found_if_and_only_if_there_are_some(rule: str) -> None:
    rng = Random(100 + RULES.index(rule))
    there = {True: 0, False: 0}
    for _ in range(EACH):
        ensemble = random_ensemble(rng, points=300, rule=rule)
        table = Table(ensemble)
        sizes = [v.size for v in ensemble.variables]
        for variable in range(len(sizes)):
            bounds = random_bounds(rng, sizes, rng.choice((0.0, 0.5)))
            classes, _ = random_classes(rng, len(ensemble.classes))
            order = None if rng.random() < 0.4 else rng.sample(range(sizes[variable]), rng.randint(1, sizes[variable]))
            wanted = pairs_by_definition(table, {variable}, classes, order, bounds)
            asked = Contrast((variable,), classes, order)
            found = ensemble.find_pair(asked, Region(ensemble.variables, bounds), Clock(60))
            assert (found is None) == (not wanted)
            assert found is None or (tuple(found[0]), tuple(found[1])) in wanted
            there[found is None] += 1
    assert min(there.values()) > EACH / 10, "both answers are tried"


def test_several_variables_that_change_together() -> None:
    rng = Random(7)
    refused = 0
    for _ in range(EACH):
        ensemble = random_ensemble(rng, points=200, fewest=2)
        table = Table(ensemble)
        sizes = [v.size for v in ensemble.variables]
        changing = rng.sample(range(len(sizes)), rng.randint(0, len(sizes)))
        bounds = random_bounds(rng, sizes, 0.3)
        classes, is_stepwise = random_classes(rng, len(ensemble.classes))
        possible = Region(ensemble.variables, bounds)
        wanted = pairs_by_definition(table, changing, classes, None, bounds)
        try:
            found = ensemble.find_pair(Contrast(tuple(changing), classes), possible, Clock(60))
        except Unsupported:
            refused += 1
            assert not is_stepwise
        else:
            assert (found is None) == (not wanted)
            assert found is None or (tuple(found[0]), tuple(found[1])) in wanted
    assert 0 < refused < EACH / 3


def stump_sums(values: Sequence[tuple[float, float]], cut: float) -> Ensemble:
    """A score of one number x with a cut at 0, and one of y: each tree asks one of them whether it is high: yes, no."""
    variables = (Variable.numeric("x", [0.0], missing=True), Variable.numeric("y", [0.0]))
    count = len(values)
    trees = Trees.build(
        list(range(0, 3 * count + 1, 3)),
        [test for t in range(count) for test in (t % 2, -1, -1)],
        [child for t in range(count) for child in (3 * t + 1, -1, -1)],
        [child for t in range(count) for child in (3 * t + 2, -1, -1)],
        [value for pair in values for value in pair],
        [(0, ((1, 1),)), (1, ((1, 1),))],
    )
    sums = Sums((0,) * count, (0.0,), Rule("cuts", (cut,)), single=True)
    return Ensemble(variables, ("deny", "grant"), trees, sums)


@pytest.mark.parametrize(("large", "is_lost"), [(1.0, False), (2.0**23, True)])
def test_the_last_bit_of_a_sum_decides(large: float, is_lost: bool) -> None:
    """What x adds reaches the cut beside 1, and is lost in rounding beside a large number, where exact sums differ."""
    model = stump_sums([(1.25, 1.0), (large, large)], large + 1.25 - 0.125)
    found = model.find_pair(any_change(model, (0,)), Region(model.variables), Clock(60))
    assert (found is None) == is_lost
    assert len({model.decide((x, 0)) for x in range(3)}) == (1 if is_lost else 2)


@pytest.mark.parametrize("kind", ["softmax32", "softmax64"])
def test_a_third_score_may_make_two_others_tie(kind: Any) -> None:
    """Powers are divided by their sum, and quotients of two numbers that differ may be rounded to the same one."""
    rule, little = Rule(kind), -6e-8 if kind == "softmax32" else -1.2e-16
    third = next(z / 64 for z in range(-64, 64) if class_of(rule, (little, 0.0, z / 64)) == 0)
    assert class_of(rule, (little, 0.0, -100.0)) == 1
    arrays = [0, 3, 6], [0, -1, -1, 1, -1, -1], [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1]
    trees = Trees.build(*arrays, [third, -100.0, little, -9.0], [(0, ((1, 1),)), (1, ((1, 1),))])
    sums = Sums((2, 0), (0.0, 0.0, 0.0), rule, single=kind == "softmax32")
    model = Ensemble((Variable.numeric("x", [0.0]), Variable.numeric("y", [0.0])), ("a", "b", "c"), trees, sums)
    rises = Contrast((0,), frozenset({(1, 0)}), (0, 1))
    found = model.find_pair(rises, Region(model.variables), Clock(60))
    assert found is not None and [*map(list, found)] == [[0, 1], [1, 1]]


def test_missing_is_in_no_order_unless_it_is_said() -> None:
    model = stump_sums([(1.0, -1.0), (0.0, 0.0)], 0.0)  # missing is answered with no, as low numbers are
    possible = Region(model.variables)
    falls = frozenset({(1, 0)})
    assert model.find_pair(Contrast((0,), falls, (0, 1)), possible, Clock(60)) is None
    found = model.find_pair(Contrast((0,), falls, (0, 1, 2)), possible, Clock(60))
    assert found is not None and (found[0][0], found[1][0]) == (1, 2)


def test_time_ends() -> None:
    rng = Random(1)
    ensemble = random_ensemble(rng, fewest=4, trees=8, rule="cuts", palette="any")
    every = any_change(ensemble, ensemble.tested)
    with pytest.raises(OutOfTime):
        ensemble.find_pair(every, Region(ensemble.variables), Clock(-1))


def test_a_model_that_never_falls_is_proved_so_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many trees there are: only neighbouring states, one look at each, and nothing is left open."""
    rng = Random(5)
    variables = tuple(Variable.numeric(f"x{i}", range(9)) for i in range(6))
    tests, values, test = [], [], []
    for _ in range(300):
        v, cut = rng.randrange(6), rng.randrange(1, 10)
        tests.append((v, ((cut, 9),)))
        low = rng.gauss(0, 1)
        values += [low + rng.random(), low]
        test += [len(tests) - 1, -1, -1]
    children = [[child for t in range(300) for child in (3 * t + side, -1, -1)] for side in (1, 2)]
    trees = Trees.build(range(0, 901, 3), test, *children, values, tests)
    model = Ensemble(
        variables, ("deny", "grant"), trees, Sums((0,) * 300, (0.0,), Rule("cuts", (float(sum(values)) / 2,)))
    )
    efforts = []
    inquire = _kernel.Inquiry

    class Counted:
        def __init__(self, *args: Any) -> None:
            self.inquiry = inquire(*args)

        def attempt(self, effort: int, *box: Any, timeout: float | None) -> Any:
            efforts.append(effort)
            return self.inquiry.attempt(effort, *box, timeout=timeout)

    monkeypatch.setattr(_kernel, "Inquiry", Counted)
    for variable in range(6):
        falls = Contrast((variable,), frozenset({(1, 0)}), range(10))
        assert model.find_pair(falls, Region(variables), Clock(60)) is None
        assert model.find_pair(any_change(model, (variable,)), Region(variables), Clock(60)) is not None
    assert efforts.count(0) == len(efforts) <= 6 * 2 * 9


# ---- models of a library ----------------------------------------------------------------------------------------


def boosted(rows: np.ndarray, labels: np.ndarray, **options: Any) -> Any:
    """A boosted model whose classes are 0 and 1."""
    made = pytest.importorskip("xgboost").XGBClassifier
    return made(n_estimators=60, max_depth=5, n_jobs=1, **options).fit(rows, labels)


def people(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers, some missing, and labels that rise and fall with them, with noise."""
    rows = rng.normal(size=(800, 5)).round(1)
    labels = (rows[:, 0] + np.sin(3 * rows[:, 1]) + rows[:, 2] * rows[:, 3] + rng.normal(size=800) > 0).astype(int)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows, labels


FALLS, RISES = frozenset({(1, 0)}), frozenset({(0, 1)})


def test_a_model_trained_to_rise_never_falls() -> None:
    rows, labels = people(np.random.default_rng(0))
    model = quia.load(boosted(rows, labels, monotone_constraints=(1, 1, 0, -1, 0)))
    possible = Region(model.variables)
    for variable, never, ever in ((0, FALLS, RISES), (1, FALLS, RISES), (3, RISES, FALLS)):
        order = range(len(model.variables[variable].cuts) + 1)
        assert model.find_pair(Contrast((variable,), never, order), possible, Clock(60)) is None
        assert model.find_pair(Contrast((variable,), ever, order), possible, Clock(60)) is not None


def number_in(variable: Variable, state: int) -> float:
    """A number of a state: the last one below its upper cut."""
    if state < len(variable.cuts):
        return variable.cuts[state].last_below(variable.single)
    return np.nan if variable.is_missing_state(state) else variable.cuts[-1].threshold + 1


def test_the_library_itself_confirms_the_pairs() -> None:
    rng = np.random.default_rng(1)
    rows, labels = people(rng)
    trained = boosted(rows, labels)
    model = quia.load(trained)
    confirmed = 0
    for variable, each in enumerate(model.variables):
        for classes in (FALLS, RISES):
            contrast = Contrast((variable,), classes, range(len(each.cuts) + 1))
            found = model.find_pair(contrast, Region(model.variables), Clock(60))
            if found is None:
                continue
            numbers = np.array([[number_in(v, s) for v, s in zip(model.variables, one, strict=True)] for one in found])
            assert numbers[0, variable] < numbers[1, variable]
            assert tuple(trained.predict(numbers).tolist()) in classes
            confirmed += 1
    assert confirmed >= 6
