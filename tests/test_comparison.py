"""Two models side by side: every count, proof, witness and region against each model's own decisions, row by row."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import quia
from contract import EscapeOnly
from ensemble_oracle import random_ensemble
from pairs import KINDS, random_model, random_pair, random_variables, table_of, tree_of, trying
from quia import Additive, Ensemble, Variable
from quia.auditing import comparison
from quia.auditing.comparison import compare
from quia.auditing.document import Comparison
from quia.errors import Unsupported
from quia.joint import joint
from quia.joint_same import are_same
from quia.patience import Clock
from quia.sums import Rule
from quia.terms import Line, Table
from quia.trees import Trees

SEEDS = range(4)
GROUPS = ("even", "third")


def decided(model: Any, row: dict[str, Any]) -> str | None:
    """What a model says of a row; None if it says nothing."""
    try:
        return model.classes[model.decide(model.encode(row))]
    except quia.InstanceError:
        return None


def random_rows(rng: Random, old: Any, new: Any, count: int) -> list[dict[str, Any]]:
    """Rows with values that matter to one of the models, a few of which are missing, or known to neither."""
    worth: dict[str, list[Any]] = {}
    for variable in (*old.variables, *new.variables):
        worth.setdefault(variable.name, []).extend(trying(variable))
    return [{name: rng.choice(values) for name, values in worth.items()} for _ in range(count)]


def batches_of(rows: list[dict[str, Any]]) -> Any:
    """The rows in parts, each with its number."""
    names = list(rows[0])
    table = pa.table({"number": list(range(len(rows))), **{name: [row[name] for row in rows] for name in names}})
    return lambda: table.to_batches(max_chunksize=7)


def group_of(batch: Any) -> Any:
    """Every second row, of the others every third; the rest is in no group."""
    numbers = np.array(batch.column("number").to_pylist())
    return np.where(numbers % 2 == 0, 0, np.where(numbers % 3 == 0, 1, -1))


def compared(old: Any, new: Any, rows: list[dict[str, Any]], seconds: float | None = None, **how: Any) -> Comparison:
    return compare(old, new, batches_of(rows), group_of=group_of, group_names=GROUPS, clock=Clock(seconds), **how)


def holds(condition: dict[str, Any], value: Any, variable: Variable) -> bool:
    """Whether a value meets a condition as the document has it."""
    if "in" in condition:  # a value that is missing, or not listed, may have a state with a name
        try:
            return variable.text(variable.encode(value)) in condition["in"]
        except quia.InstanceError:
            return False
    if value is None:
        return condition["missing"]
    number = float(np.float32(value)) if condition.get("type") == "float32" else float(value)
    return any(
        (each["low"] is None or each["low"] < number or (each["low_closed"] and each["low"] == number))
        and (each["high"] is None or number < each["high"] or (each["high_closed"] and each["high"] == number))
        for each in condition["intervals"]
    )


def check_rows(old: Any, new: Any, rows: list[dict[str, Any]], found: Comparison) -> list[int]:
    """Counts by classes and groups, recomputed; the numbers of the rows that differ."""
    pairs = [(decided(old, row), decided(new, row)) for row in rows]
    both = [at for at, pair in enumerate(pairs) if None not in pair]
    differ = [at for at in both if pairs[at][0] != pairs[at][1]]
    assert (found.of, found.rows, found.undecided) == (len(both), len(differ), len(rows) - len(both))
    assert {(turn.old, turn.new): turn.rows for turn in found.turns} == Counter(pairs[at] for at in differ)
    assert [turn.rows for turn in found.turns] == sorted((turn.rows for turn in found.turns), reverse=True)
    for name, group in zip(GROUPS, found.groups, strict=True):
        of = {"even": lambda at: at % 2 == 0, "third": lambda at: at % 2 and at % 3 == 0}[name]
        assert (group.group, group.rows, group.of) == (name, len(list(filter(of, differ))), len(list(filter(of, both))))
    if differ:
        assert found.witness is not None
        assert found.witness.values == {x: plain(rows[differ[0]][x]) for x in found.witness.values}
        assert (found.witness.old, found.witness.new) == pairs[differ[0]]
    return differ


def plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and math.isinf(value) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_against_each_model_by_itself(seed: int) -> None:
    rng = Random(seed)
    kinds: Counter[Any] = Counter()
    for _ in range(60):
        old, new = random_pair(rng) if rng.random() < 0.5 else nearly_equal(rng)
        rows = random_rows(rng, old, new, rng.choice((2, 40)))
        found = compared(old, new, rows)
        differ = check_rows(old, new, rows, found)
        try:
            both = joint(old, new)
        except Unsupported:
            assert found.can_differ is (True if differ else None) and (differ or found.why)
            continue
        table = table_of(both, old, new)
        apart = [world for world, label in table.items() if label not in both.equal]
        assert found.can_differ == bool(apart or differ), (old, new)
        kinds[found.can_differ, bool(differ)] += 1
        if found.can_differ:
            assert found.witness is not None
            values = {x: float(v) if v in ("inf", "-inf") else v for x, v in found.witness.values.items()}
            assert (decided(old, values), decided(new, values)) == (found.witness.old, found.witness.new)
            assert found.witness.old != found.witness.new
        if found.can_differ and not differ:
            assert len(found.differences) == 1 and found.differences[0].example.row == 0
        check_differences(both, table, old, new, rows, differ, found)
    assert kinds[True, True] and kinds[True, False] and kinds[False, False], kinds


def nearly_equal(rng: Random) -> tuple[Any, Any]:
    """A model, and a tree that decides as it does but for one world at the most."""
    old = random_model(rng, random_variables(rng), rng.choice(KINDS))
    table = {world: old.decide(world) for world in product(*(range(v.size) for v in old.variables))}
    if rng.random() < 0.5:
        odd = rng.choice(sorted(table))
        table[odd] = (table[odd] + 1) % len(old.classes)
    return old, tree_of(list(old.variables), old.classes, table)


def check_differences(
    both: Any, table: Any, old: Any, new: Any, rows: list[dict[str, Any]], differ: list[int], found: Comparison
) -> None:
    """Whoever meets the conditions is decided so by both; rows are counted, the first new one is the example."""
    index = {variable.name: v for v, variable in enumerate(both.variables)}
    seen: set[int] = set()
    for each in found.differences:
        meeting = [
            world
            for world in table
            if all(
                holds(c, quia.typical.value_in(both.variables[index[c["feature"]]], world[index[c["feature"]]]),
                      both.variables[index[c["feature"]]])
                for c in each.conditions
            )
        ]  # fmt: skip
        assert {both.classes[table[world]] for world in meeting} == {f"old: {each.old}, new: {each.new}"}
        met = {
            at
            for at in differ
            if all(holds(c, rows[at][c["feature"]], both.variables[index[c["feature"]]]) for c in each.conditions)
        }
        if not differ:
            assert (each.rows, each.new_rows, each.cumulated) == (0, 0, 0)
            continue
        # A row that lacks a value for which one model has a state of its own is in no region.
        met = {at for at in met if is_common(both, old, new, rows[at])}
        assert each.rows == len(met), (old, new, each)
        assert each.new_rows == len(met - seen)
        assert each.example.row == min(met - seen) + 1
        seen |= met
        assert each.cumulated == len(seen)
        assert each.example.values == {x: plain(rows[each.example.row - 1][x]) for x in each.example.values}
    if differ and found.complete and all(is_common(both, old, new, rows[at]) for at in differ):
        assert len(seen) >= 0.9 * len(differ) or len(found.differences) == 12


def is_common(both: Any, old: Any, new: Any, row: dict[str, Any]) -> bool:
    """Whether both models as one say of a row what each says."""
    return decided(both, row) == f"old: {decided(old, row)}, new: {decided(new, row)}"


def test_within_and_given_leave_out_what_is_impossible() -> None:
    rng = Random(5)
    x, a = Variable.numeric("x", [1, 2, 3]), Variable.nominal("a", ["p", "q"])
    worlds = list(product(range(4), range(2)))
    for kind in ("graph", "ensemble", "additive"):
        table = {world: rng.randrange(2) for world in worlds}
        old = random_model(rng, [x, a], kind)
        table = {world: old.decide(world) for world in worlds}
        table[3, 0] = (table[3, 0] + 1) % len(old.classes)
        new = tree_of([x, a], old.classes, table)
        rows = [{"x": 1.5, "a": "p"}, {"x": 3.5, "a": "q"}, {"x": 0.5, "a": "q"}]
        assert compared(old, new, rows).can_differ is (len(old.classes) > 1)
        for how in ({"within": {"x": "<= 3"}}, {"within": {"a": "q"}}, {"given": "x > 3 -> a = q"}):
            found = compared(old, new, rows, **how)
            assert found.can_differ is False, (kind, how)
            assert found.of + found.undecided == 3
        assert compared(old, new, rows, within={"x": "<= 3"}).undecided == 1
        found = compared(old, new, rows, within={"x": "> 3.25"})
        assert found.undecided == 2
        if found.can_differ:
            assert found.witness is not None and float(found.witness.values["x"]) > 3.25  # type: ignore[arg-type]


def test_time_that_runs_out_is_told() -> None:
    """Rows are counted whatever the time; what is said of all inputs is then not known."""
    x = [Variable.nominal(f"v{i}", ["0", "1"]) for i in range(8)]
    worlds = list(product(range(2), repeat=8))
    table = {world: sum(world) % 2 for world in worlds}
    old, new = (EscapeOnly(tuple(x), ("no", "yes"), tuple(range(8)), table, Random(1)) for _ in range(2))
    rows = [{v.name: "1" for v in x}]
    found = compared(old, new, rows, 0.0)
    assert (found.of, found.rows, found.can_differ, found.complete) == (1, 0, None, False)
    assert found.why == "time ran out before an input that differs was found, or none was proved"
    assert compared(old, new, rows).can_differ is False
    other = replace_class(table)
    late = compared(old, EscapeOnly(tuple(x), ("no", "yes"), tuple(range(8)), other, Random(1)), rows, 0.0)
    assert late.can_differ is None or late.rows


def replace_class(table: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    return {world: 1 - label if sum(world) == 0 else label for world, label in table.items()}


def test_what_trying_misses_is_found_by_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_TRIED", 1)
    rng = Random(9)
    for kind in ("graph", "ensemble", "additive"):
        for _ in range(10):
            variables = random_variables(rng)
            old, new = random_model(rng, variables, kind), random_model(rng, variables, "truth table")
            names = {v.name: None for v in variables}
            found = compared(old, new, [names])
            both = joint(old, new)
            table = table_of(both, old, new)
            expected = any(label not in both.equal for label in table.values()) or bool(found.rows)
            assert found.can_differ == expected


def test_a_table_that_lacks_a_column() -> None:
    old = tree_of([Variable.numeric("x", [1])], ("no", "yes"), {(0,): 0, (1,): 1})
    new = tree_of([Variable.numeric("y", [1])], ("no", "yes"), {(0,): 0, (1,): 1})
    found = compared(old, new, [{"x": 1.0}, {"x": 2.0}])
    assert (found.of, found.rows, found.undecided) == (0, 0, 2)
    assert found.inputs == (
        "Only the old model has the feature x.",
        "Only the new model has the feature y.",
        "No row can be compared: the table has no column 'y', which the classifier tests.",
    )
    assert found.can_differ is True


def test_models_that_ask_nothing() -> None:
    old, new = (tree_of([], ("no", "yes"), {(): label}) for label in (0, 1))
    found = compared(old, new, [{"x": 1.0}, {"x": 2.0}])
    assert (found.of, found.rows, found.can_differ, found.witness and found.witness.values) == (2, 2, True, {})
    assert [(each.text, each.conditions, each.rows) for each in found.differences] == [("whatever the input is", (), 2)]
    assert compared(old, old, [{"x": 1.0}]).can_differ is False


def test_a_line_without_a_range_is_not_guessed() -> None:
    def line(cut: float) -> Additive:
        terms = (Line(0, (), (0.5,)),)
        return Additive((Variable.line("income"),), ("deny", "grant"), terms, (0.0,), Rule("cuts", (cut,)))

    assert compared(line(9.0), line(9.0), [{"income": 3.0}]).can_differ is False
    found = compared(line(9.0), line(9.0000001), [{"income": 3.0}])
    assert found.can_differ is None and found.why is not None and "range" in found.why


def reordered(rng: Random, ensemble: Ensemble) -> Ensemble:
    """The same with its variables in another order, its nodes in another order and its tests the other way round."""
    order = rng.sample(range(len(ensemble.variables)), len(ensemble.variables))
    place = {v: at for at, v in enumerate(order)}
    trees = ensemble.trees
    tests = []
    for test, v in enumerate(trees.variable.tolist()):
        span = range(int(trees.range_start[test]), int(trees.range_start[test + 1]))
        yes = {s for r in span for s in range(int(trees.low[r]), int(trees.high[r]) + 1)}
        other = [s for s in range(ensemble.variables[v].size) if s not in yes]
        tests.append((place[v], tuple((s, s) for s in other)))
    start, test, first, second, values = [0], [], [], [], []
    for tree in range(len(trees)):
        queue = [int(trees.start[tree])]  # breadth first, the children turned round
        offset = len(test)
        for at in queue:
            if trees.test[at] < 0:
                links = (-1, -1)
                values.append(trees.values[trees.leaf_of_node[at]].tolist())
            else:
                links = (offset + len(queue), offset + len(queue) + 1)
                queue += [int(trees.no[at]), int(trees.yes[at])]
            test.append(int(trees.test[at]))
            first.append(links[0])
            second.append(links[1])
        start.append(len(test))
    made = Trees.build(start, test, first, second, values, tests)
    return replace(ensemble, variables=tuple(ensemble.variables[v] for v in order), trees=made)


def test_the_same_trees_are_the_same_at_once() -> None:
    rng = Random(3)
    changed = 0
    for _ in range(100):
        old = random_ensemble(rng, variables=3, points=200)
        new = reordered(rng, old)
        both = joint(old, new)
        assert are_same(both)
        table = table_of(both, old, new)
        assert set(table.values()) <= both.equal
        start = tuple(number + 1.0 for number in new.sums.start)
        assert not are_same(joint(old, replace(new, sums=replace(new.sums, start=start))))
        values = new.trees.values.copy()
        at = rng.randrange(len(values))
        values[at] += rng.choice((1.0, -3.0))
        other = replace(new, trees=replace(new.trees, values=values))
        both = joint(old, other)
        if not set(table_of(both, old, other).values()) <= both.equal:
            changed += 1
            assert not are_same(both)
    assert changed > 10


def test_the_same_points_are_the_same_at_once() -> None:
    x, a = Variable.numeric("x", [1, 2]), Variable.nominal("a", ["p", "q"])
    points = Table(0, np.array([[1.0], [2.0], [2.0]])), Table(1, np.array([[0.0], [5.0]]))
    old = Additive((x, a), ("no", "yes"), points, (0.0,), Rule("cuts", (3.0,)))
    x, a = Variable.numeric("x", [1]), Variable.nominal("a", ["q", "p"])
    points = Table(1, np.array([[1.0], [2.0]])), Table(0, np.array([[5.0], [0.0]]))
    new = Additive((a, x), ("no", "yes"), points, (0.0,), Rule("cuts", (3.0,)))
    assert are_same(joint(old, new))
    assert not are_same(joint(old, replace(new, start=(1.0,))))
    assert not are_same(joint(old, replace(new, terms=new.terms[:1])))
