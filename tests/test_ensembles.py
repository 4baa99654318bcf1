"""Ensembles in the kernel against their definition by brute force; what is malformed is refused by name."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import attack_ensembles
import quia
from attack_ensembles import MEDIUM, SMALL, Disagreement, check_ensemble, check_escape
from ensemble_oracle import (
    PALETTES,
    Table,
    decide,
    leaf_of,
    random_bounds,
    random_ensemble,
    random_keeps,
    random_states,
    scores_of,
)
from quia import Ensemble, Variable, _kernel
from quia.errors import GraphError, MissingValue
from quia.question import Question
from quia.region import Region
from quia.sums import RULES, Group, Rule, Sums
from quia.trees import Trees

SEEDS = range(4)
EACH = 40
"""Random ensembles for each seed; raise it for a longer attack, or run attack_ensembles.py."""


# ---- the oracle itself ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_all_points_at_once_are_as_each_by_itself(seed: int) -> None:
    rng = Random(seed)
    for _ in range(EACH):
        ensemble = random_ensemble(rng, points=60)
        table = Table(ensemble)
        for point, scores, label in zip(table.points.tolist(), table.scores, table.classes, strict=True):
            assert list(scores) == scores_of(ensemble.trees, ensemble.sums, point)
            assert label == decide(ensemble, point)


def test_the_ensembles_have_what_is_hard() -> None:
    """All rules, ties, groups, one state, tests that always answer alike, orders of nodes, and several classes met."""
    made = [random_ensemble(Random(i), points=300) for i in range(400)]
    tables = [Table(ensemble) for ensemble in made]
    assert {e.sums.rule.kind for e in made} == set(RULES)
    assert {e.sums.single for e in made} == {True, False}
    assert any(g.divisor != 1 and g.weight != 1 for e in made for g in e.sums.groups)
    assert any(e.sums.divisor != 1 and e.sums.end and e.sums.groups for e in made)
    assert any(v.size == 1 for e in made for v in e.variables)
    assert any(v.missing for e in made for v in e.variables)
    assert any(len(t.trees.test) == len(t.trees) for t in made), "trees of one leaf each"
    assert sum(len(set(t.classes.tolist())) > 1 for t in tables) > 230
    assert sum(len(set(t.classes.tolist())) > 2 for t in tables) > 50
    of_several = [t for t in tables if t.scores.shape[1] > 1 and t.ensemble.sums.rule.kind == "argmax"]
    assert any((np.sort(t.scores)[:, -1] == np.sort(t.scores)[:, -2]).any() for t in of_several), "ties"
    squashed = [t for t in tables if t.ensemble.sums.rule.kind in ("softmax32", "softmax64", "logistic")]
    assert any((t.classes != t.scores.argmax(axis=1)).any() for t in squashed), "rounding makes scores equal"
    by_cuts = [t for t in tables if t.ensemble.sums.rule.kind == "cuts"]
    assert any(np.isin(t.scores, t.ensemble.sums.rule.cuts).any() for t in by_cuts), "scores on a cut"
    sizes = [np.diff(e.trees.range_start) for e in made]
    assert any((s == 0).any() for s in sizes) and any((s > 1).any() for s in sizes)


@pytest.mark.parametrize("fault", ["in 64 bits", "without gaps", "one world less", "outside", "another class"])
def test_the_attack_finds_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = attack_ensembles.escape

    def wrong(ensemble: Ensemble, states: Any, keeps: Any, bounds: Any) -> Any:
        table = Table(ensemble)
        if fault == "in 64 bits":
            sums = ensemble.sums
            wide = Sums(sums.outputs, sums.start, sums.rule, False, sums.groups, sums.divisor, sums.end)
            table = Table(Ensemble(ensemble.variables, ensemble.classes, ensemble.trees, wide))
        if fault == "without gaps":
            bounds = {v: ((ranges[0][0], ranges[-1][1]),) for v, ranges in bounds.items()}
        found = table.points[table.escaping(keeps, {} if fault == "outside" else bounds)].tolist()
        if fault == "one world less":
            found = found[1:]
        if fault == "another class":
            return right(ensemble, states, [*keeps][1:], bounds)
        return found[0] if found else None

    monkeypatch.setattr(attack_ensembles, "escape", wrong)
    assert any(_is_refused(f"faulty.{i}") for i in range(400))


def _is_refused(seed: str) -> bool:
    try:
        check_ensemble(seed, SMALL)
    except Disagreement:
        return True
    return False


# ---- the kernel -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_have_the_same_bits(seed: int) -> None:
    for i in range(EACH):
        table = Table(random_ensemble(Random(f"{seed}.{i}"), points=100))
        ensemble = table.ensemble
        for point, scores in zip(table.points, table.scores, strict=True):
            assert ensemble.kernel.scores(point).tolist() == scores.tolist()
            assert ensemble.scores(point.tolist()).tolist() == scores.tolist()
        assert ensemble.kernel.decide_rows(table.points).tolist() == table.classes.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_finds_what_there_is_and_nothing_else(seed: int) -> None:
    for i in range(EACH):
        check_ensemble(f"small.{seed}.{i}", SMALL)


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_of_larger_ensembles(seed: int) -> None:
    for i in range(EACH // 6):
        check_ensemble(f"medium.{seed}.{i}", MEDIUM, regions=12)


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("rule", RULES)
def test_escape_where_sums_tie(palette: str, rule: str) -> None:
    for i in range(EACH // 10):
        check_ensemble(f"{palette}.{rule}.{i}", {**SMALL, "palette": palette, "rule": rule})


@pytest.mark.parametrize("rule", RULES)
def test_every_point_alone_and_everything_at_once(rule: str) -> None:
    """The smallest boxes force what their point is decided; the largest one has each class that there is."""
    for i in range(EACH // 6):
        rng = Random(f"{rule}.{i}")
        table = Table(random_ensemble(rng, rule=rule, points=60))
        every = range(len(table.ensemble.classes))
        unknown = [-1] * len(table.ensemble.variables)
        for point, label in zip(table.points.tolist(), table.classes.tolist(), strict=True):
            box = {v: ((s, s),) for v, s in enumerate(point)}
            for keeps in ({label}, set(every) - {label}):
                check_escape(table, rng.choice((point, unknown)), keeps, box)
        for label in every:
            check_escape(table, unknown, {label}, {})
            check_escape(table, unknown, set(every) - {label}, {})


def test_sums_are_in_the_order_and_width_of_their_source() -> None:
    x = Variable.nominal("x", ["no", "yes"])

    def scored(values: list[float], **how: Any) -> float:
        trees = Trees.build(range(len(values) + 1), *[[-1] * len(values)] * 3, values, [])
        sums = Sums((0,) * len(values), (0.0,), Rule("cuts", (0.0,)), **how)
        return float(Ensemble((x,), ("a", "b"), trees, sums).scores([0])[0])

    assert scored([0.1, 0.2, 0.3]) == 0.1 + 0.2 + 0.3 != scored([0.3, 0.2, 0.1])
    assert scored([1e16, 1.0, -1e16]) == 0.0
    assert scored([1e16, 1.0, -1e16], groups=(Group(1), Group(2))) == 1e16 + (1.0 - 1e16)
    assert scored([0.1], single=True) == float(np.float32(0.1))
    assert scored([1.0], divisor=3.0, end=(0.1,)) == 1.0 / 3.0 + 0.1
    assert scored([1.0, 1.0], groups=(Group(2, 3.0, 0.7),)) == 2.0 / 3.0 * 0.7


def test_ties_go_to_the_first_class_and_a_cut_to_the_second() -> None:
    x = Variable.nominal("x", ["no", "yes"])
    leaves = Trees.build([0, 1], [-1], [-1], [-1], [[1.0, 1.0, 1.0]], [])
    for kind in RULES[1:]:
        three = Ensemble((x,), ("a", "b", "c"), leaves, Sums((-1,), (0.0,) * 3, Rule(kind)))
        assert three.decide([0]) == 0
    one = Trees.build([0, 1], [-1], [-1], [-1], [1.0], [])
    for cuts, expected in (((1.0,), 1), ((np.nextafter(1.0, 2.0),), 0), ((0.5, 1.0, 2.0), 2)):
        classes = tuple("abcd"[: len(cuts) + 1])
        assert Ensemble((x,), classes, one, Sums((0,), (0.0,), Rule("cuts", cuts))).decide([1]) == expected


# ---- the classifier ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_possible_worlds_and_regions(seed: int) -> None:
    for i in range(EACH):
        rng = Random(f"worlds.{seed}.{i}")
        table = Table(random_ensemble(rng, points=200))
        ensemble = table.ensemble
        sizes = [v.size for v in ensemble.variables]
        for _ in range(8):
            states = random_states(rng, table)
            decision = int(table.classes[rng.randrange(len(table.classes))])
            keeps = random_keeps(rng, len(ensemble.classes), decision)
            worlds, region = (random_bounds(rng, sizes, 0.4) for _ in range(2))
            frozen = tuple(v for v in range(len(sizes)) if rng.random() < 0.1)
            possible = Region(ensemble.variables, {v: tuple(r) for v, r in worlds.items()})
            asked = Question(ensemble.classes, states, decision, frozenset(keeps), possible, None, frozen)
            box = Region(ensemble.variables, {v: tuple(r) for v, r in region.items()})
            found = ensemble.escape(asked, box)
            held = {v: ((states[v], states[v]),) for v in frozen if states[v] >= 0}
            right = table.escaping(keeps, {**worlds, **held}) & table.inside(region)
            assert (found is None) == (not right.any())
            assert found is None or right[np.ravel_multi_index(found, sizes)]


@pytest.mark.parametrize("seed", SEEDS)
def test_all_reasons(seed: int) -> None:
    for i in range(EACH // 2):
        rng = Random(f"reasons.{seed}.{i}")
        table = Table(random_ensemble(rng, points=200))
        ensemble = table.ensemble
        at = rng.randrange(len(table.points))
        states, decision = table.points[at].tolist(), int(table.classes[at])
        tested = tuple(s if v in ensemble.tested else -1 for v, s in enumerate(states))
        keeps = frozenset(random_keeps(rng, len(ensemble.classes), decision) | {decision})
        everything = Region(ensemble.variables)
        question = Question(ensemble.classes, tested, decision, keeps, everything)
        why = quia.Explanation(ensemble, {}, question)
        expected = table.reasons(tested, keeps, {})
        for kind in ("sufficient", "necessary"):
            found = getattr(why, f"{kind}_reasons")()
            assert {frozenset(members) for members in found.members()} == expected[kind]
            assert found.complete and found.count == len(expected[kind])


@pytest.mark.parametrize("seed", SEEDS)
def test_unknown_states_are_taken_where_they_make_no_difference(seed: int) -> None:
    outcomes = set()
    for i in range(EACH):
        rng = Random(f"unknown.{seed}.{i}")
        table = Table(random_ensemble(rng, points=200))
        for _ in range(5):
            states = random_states(rng, table, 0.5)
            inside = table.inside({v: ((s, s),) for v, s in enumerate(states) if s >= 0})
            classes = set(table.classes[inside].tolist())
            outcomes.add(len(classes) == 1)
            if len(classes) == 1:
                assert table.ensemble.decide(states) == classes.pop()
                continue
            with pytest.raises(MissingValue) as fault:
                table.ensemble.decide(states)
            v = next(v for v, x in enumerate(table.ensemble.variables) if x.name == fault.value.feature)
            assert states[v] == -1 and v in table.ensemble.tested
    assert outcomes == {True, False}


def test_the_leaf_that_an_instance_reaches_is_counted_in_the_order_of_nodes() -> None:
    trees = Trees.build([0, 5], [0, 1, -1, -1, -1], [1, 3, -1, -1, -1], [2, 4, -1, -1, -1], [1.0, 2.0, 3.0],
                        [(0, ((0, 0),)), (1, ((1, 1),))])  # fmt: skip
    assert [leaf_of(trees, 0, states) for states in ([1, 0], [0, 1], [0, 0])] == [0, 1, 2]


# ---- what is malformed ------------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    """Two trees of one test each, with one score."""
    ints, longs, floats = np.int32, np.int64, np.float64
    return {
        "start": np.array([0, 3, 6], longs),
        "test": np.array([0, -1, -1, 1, -1, -1], ints),
        "yes": np.array([1, -1, -1, 4, -1, -1], ints),
        "no": np.array([2, -1, -1, 5, -1, -1], ints),
        "values": np.array([[1.0], [2.0], [3.0], [4.0]]),
        "test_variable": np.array([0, 1], ints),
        "range_start": np.array([0, 1, 2], longs),
        "low": np.array([0, 1], ints),
        "high": np.array([0, 1], ints),
        "state_counts": np.array([2, 3], ints),
        "outputs": np.array([0, 0], ints),
        "begin": np.array([0.0]),
        "end": np.array([0.0]),
        "group_trees": np.array([], longs),
        "group_divisor": np.array([], floats),
        "group_weight": np.array([], floats),
        "divisor": 1.0,
        "single": False,
        "rule": 0,
        "cuts": np.array([0.5]),
    }


def _kernel_of(arrays: dict[str, Any]) -> _kernel.Ensemble:
    keywords = {"divisor", "single", "rule", "cuts"}
    places = [value for name, value in arrays.items() if name not in keywords]
    return _kernel.Ensemble(*places, **{name: arrays[name] for name in keywords})


def test_the_arrays_of_these_tests_are_right() -> None:
    assert _kernel_of(_arrays()).decide_rows(np.array([[0, 0]], np.int32)).tolist() == [1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": [0, 3]}, "arrays of nodes"),
        ({"start": [1, 3, 6]}, "arrays of nodes"),
        ({"start": [0, 3, 5]}, "arrays of nodes"),
        ({"yes": [1, -1, -1, 4, -1]}, "arrays of nodes"),
        ({"no": [2, -1, -1, 5, -1, -1, -1]}, "arrays of nodes"),
        ({"range_start": [0, 1]}, "arrays of tests"),
        ({"range_start": [1, 1, 2]}, "arrays of tests"),
        ({"range_start": [0, 1, 3]}, "arrays of tests"),
        ({"high": [0, 1, 1]}, "arrays of tests"),
        ({"test_variable": [0, 2]}, "tests variable 2 of 2"),
        ({"test_variable": [-1, 1]}, "tests variable -1 of 2"),
        ({"range_start": [0, 3, 2]}, "ends before it starts"),
        ({"low": [0, 2]}, "range that variable 1"),
        ({"low": [-1, 1]}, "range that variable 0"),
        ({"high": [2, 1]}, "range that variable 0"),
        ({"low": [0, 0], "high": [0, 0], "range_start": [0, 0, 2]}, "out of order"),
        ({"state_counts": [2, 3, 0]}, "without a state"),
        ({"start": [0, 0, 6]}, "tree without a node"),
        ({"start": [0, 7, 6]}, "ends before it starts"),
        ({"start": [0, -4, 6]}, "ends before it starts"),
        ({"test": [2, -1, -1, 1, -1, -1]}, "asks a test"),
        ({"yes": [0, -1, -1, 4, -1, -1]}, "child does not come after"),
        ({"no": [-1, -1, -1, 5, -1, -1]}, "child does not come after"),
        ({"yes": [3, -1, -1, 4, -1, -1]}, "child does not come after"),
        ({"no": [2, -1, -1, 6, -1, -1]}, "child does not come after"),
        ({"start": [0, 2, 6]}, "child does not come after|hang together"),
        ({"start": [0, 3, 7], "test": [0, -1, -1, 1, -1, -1, -1], "yes": [1, -1, -1, 4, -1, -1, -1],
          "no": [2, -1, -1, 5, -1, -1, -1]}, "hang together"),
        ({"no": [1, -1, -1, 5, -1, -1]}, "two parents"),
        ({"begin": [], "end": []}, "begin and to end"),
        ({"end": [0.0, 0.0]}, "begin and to end"),
        ({"rule": 5}, "unknown rule"),
        ({"rule": -1}, "unknown rule"),
        ({"rule": 1}, "cuts or scores"),
        ({"cuts": []}, "cuts or scores"),
        ({"begin": [0.0, 0.0], "end": [0.0, 0.0]}, "cuts or scores"),
        ({"cuts": [1.0, 0.5]}, "ascend"),
        ({"outputs": [0, 1]}, "score that is not there"),
        ({"outputs": [-2, 0]}, "score that is not there"),
        ({"values": [[1.0], [2.0], [3.0]]}, "3 values for 4 leaves"),
        ({"values": [[1.0, 1.0]] * 4}, "8 values for 4 leaves"),
        ({"outputs": [0, -1]}, "trees for one score and trees for all"),
        ({"values": [[1.0], [2.0], [3.0], [np.nan]]}, "a value that is not finite"),
        ({"values": [[1.0], [2.0], [3.0], [np.inf]]}, "a value that is not finite"),
        ({"begin": [np.nan]}, "begin with that is not finite"),
        ({"end": [-np.inf]}, "end with that is not finite"),
        ({"cuts": [np.nan]}, "a cut that is not finite"),
        ({"group_trees": [0, 2], "group_divisor": [1.0, 1.0], "group_weight": [1.0, 1.0]}, "group of no trees"),
        ({"group_trees": [3], "group_divisor": [1.0], "group_weight": [1.0]}, "or too many"),
        ({"group_trees": [1], "group_divisor": [1.0], "group_weight": [1.0]}, "leave trees out"),
        ({"group_trees": [2], "group_divisor": [], "group_weight": [1.0]}, "arrays of groups"),
        ({"group_trees": [2], "group_divisor": [1.0], "group_weight": []}, "arrays of groups"),
        ({"group_trees": [2], "group_divisor": [0.0], "group_weight": [1.0]}, "not above 0"),
        ({"group_trees": [2], "group_divisor": [1.0], "group_weight": [np.inf]}, "not above 0"),
        ({"group_trees": [2], "group_divisor": [1.0], "group_weight": [-1.0]}, "not above 0"),
        ({"values": [[1e39], [2.0], [3.0], [4.0]], "single": True}, "beyond its numbers"),
        ({"begin": [1.7e308], "end": [1.7e308]}, "beyond its numbers"),
        ({"divisor": 0.0}, "divisor that is not above 0"),
        ({"divisor": np.nan}, "divisor that is not above 0"),
    ],
)  # fmt: skip
def test_the_kernel_refuses_malformed_arrays(changes: dict[str, Any], words: str) -> None:
    arrays = _arrays()
    for name, value in changes.items():
        given = np.array(value, arrays[name].dtype) if isinstance(value, list) else value
        arrays[name] = given.reshape(len(given), -1) if name == "values" else given
    with pytest.raises(ValueError, match=words) as fault:
        _kernel_of(arrays)
    assert str(fault.value).startswith("the ensemble ")


def test_the_kernel_refuses_states_and_boxes_that_are_not_there() -> None:
    kernel = _kernel_of(_arrays())
    none, starts = np.array([], np.int32), np.array([0], np.int64)
    row, keeps = np.array([0, 0], np.int32), np.array([0, 1], np.uint8)
    for states in ([0], [0, 3], [-1, 0]):
        with pytest.raises(ValueError, match=r"state"):
            kernel.scores(np.array(states, np.int32))
        with pytest.raises(ValueError, match=r"state"):
            kernel.decide_rows(np.array([states], np.int32))
    with pytest.raises(ValueError, match="there are 1 states; the ensemble has 2 variables"):
        _kernel.Inquiry(kernel, row[:1], keeps)
    with pytest.raises(ValueError, match="state 7 of variable 0 is out of bounds"):
        _kernel.Inquiry(kernel, row + np.array([7, 0], np.int32), keeps)
    with pytest.raises(ValueError, match="3 entries"):
        _kernel.Inquiry(kernel, row, np.zeros(3, np.uint8))
    asked = _kernel.Inquiry(kernel, row, keeps)
    for order in ([0, 0], [2], [-1]):
        with pytest.raises(ValueError, match="twice, or there is none"):
            asked.sufficient(np.array(order, np.int32), none, starts, none, none)
    one, pair = np.array([0], np.int32), np.array([0, 1], np.int64)
    for bounded, start, low, high in (
        ([2], [0, 1], [0], [0]),
        ([-1], [0, 1], [0], [0]),
        ([0], [0, 1], [0], [2]),
        ([0], [0, 1], [-1], [0]),
        ([0], [0, 1], [1], [0]),
        ([0], [0, 2], [0], [0]),
        ([0], [0], [0], [0]),
        ([0, 1], [0, 9, 1], [0], [0]),
        ([0], [0, 0], [], []),
    ):
        with pytest.raises(ValueError, match=r".+"):
            asked.escape(
                np.array(bounded, np.int32),
                np.array(start, np.int64),
                np.array(low, np.int32),
                np.array(high, np.int32),
            )
    with pytest.raises(ValueError, match="does not hold the state of variable 0"):
        asked.sufficient(one, one, pair, one + 1, one + 1)
    assert asked.escape(one, pair, one, one) is None


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Rule("votes"), "the rule is 'votes'"),  # type: ignore[arg-type]
        (lambda: Rule("cuts"), "has 0 cuts"),
        (lambda: Rule("argmax", (0.5,)), "has 1 cuts"),
        (lambda: Rule("cuts", (1.0, 1.0)), "ascend"),
        (lambda: Rule("cuts", (np.nan,)), "numbers that ascend"),
        (lambda: Sums((0,), (), Rule("argmax")), "0 scores"),
        (lambda: Sums((0,), (0.0, 0.0), Rule("cuts", (0.0,))), "2 scores"),
        (lambda: Sums((2,), (0.0, 0.0), Rule("argmax")), "score 2 of 2"),
        (lambda: Sums((0,), (0.0, 0.0), Rule("argmax"), end=(1.0,)), "1 numbers are added"),
        (lambda: Sums((0, 0), (0.0,), Rule("argmax"), groups=(Group(1),)), "1 of 2 trees"),
        (lambda: Sums((0, 0), (0.0,), Rule("argmax"), groups=(Group(2), Group(0))), "empty"),
        (lambda: Sums((0,), (np.inf,), Rule("argmax")), "not finite"),
        (lambda: Sums((0,), (0.0,), Rule("argmax"), divisor=0.0), "not above 0"),
        (lambda: _two(("a",)), "tell 2 apart"),
        (lambda: _two(("a", "b"), outputs=(0,)), "2 trees add to 1"),
    ],
)
def test_what_cannot_be_an_ensemble_is_refused(made: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        made()


def _two(classes: tuple[str, ...], outputs: tuple[int, ...] = (0, 0)) -> Ensemble:
    leaves = Trees.build([0, 1, 2], [-1, -1], [-1, -1], [-1, -1], [1.0, 2.0], [])
    x = Variable.nominal("x", ["no", "yes"])
    return Ensemble((x,), classes, leaves, Sums(outputs, (0.0,), Rule("cuts", (0.0,))))
