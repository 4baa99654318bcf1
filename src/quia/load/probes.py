"""Rows generated for a classifier, at and around every threshold, to compare it with the model that it came from."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.cuts import nearest_single
from quia.ensemble import Ensemble
from quia.errors import InstanceError, Unsupported
from quia.graph import DecisionGraph
from quia.ranges import Ranges, difference, intersection, members, size
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.trees import Trees

_LARGEST = 3e38  # beyond, a number is infinite in 32 bits, which models refuse
_ENCODED_AT_MOST = 400_000
_PREDICTED_AT_MOST = 4_000_000
_UNTESTED = 200  # how many variables that no node tests get a value in a row


def probes(classifier: Classifier, *, limit: int, seed: int = 0) -> list[dict[str, Any]]:
    """Generated rows that reach a node, with values at every border of its test and one ulp beside.

    There are at most `limit`, spread over the nodes, and the same ones for the same seed. Only some of the variables
    that no node tests get a value, since a model may have very many. In an ensemble the nodes are those of all trees,
    and half of the rows differ in single values from others that are decided otherwise; as in an additive
    model, whose other rows are at the borders of its tables.
    """
    rng = random.Random(seed)
    for cells, width in ((_ENCODED_AT_MOST, len(classifier.tested)), (_PREDICTED_AT_MOST, len(classifier.variables))):
        limit = min(limit, max(50, cells // max(1, width)))
    if isinstance(classifier, Ensemble):
        return _ensemble_probes(classifier, limit, rng)
    if isinstance(classifier, Additive):
        return _additive_probes(classifier, limit, rng)
    if not isinstance(classifier, DecisionGraph):
        raise Unsupported(f"no rows are generated for a {classifier.kind}", cure="compare it on rows of your own")
    parent_of, present = _parents(classifier, rng), _variables_with_values(classifier)
    inner = [node for node, (variable, _, _) in enumerate(classifier.nodes) if variable >= 0]
    rows: list[dict[str, Any]] = []
    if not inner:
        return [_row(classifier, present, {}, rng)]
    # Every node once, then again with other values of the variables that it does not test.
    while len(rows) < limit:
        rng.shuffle(inner)
        for node in inner[: limit - len(rows)]:
            variable = classifier.variables[classifier.nodes[node][0]]
            base = _row(classifier, present, _possible_states(classifier, node, parent_of), rng)
            values = _values_around(variable, [states for states, _ in classifier.nodes[node][2]], rng)
            rows.extend({**base, variable.name: value} for value in values)
    return rows[:limit]


def _ensemble_probes(ensemble: Ensemble, limit: int, rng: random.Random) -> list[dict[str, Any]]:
    """Rows that reach random nodes of random trees, at and beside their borders; then rows between two decisions."""
    present, parents = _variables_with_values(ensemble), _parents_in_trees(ensemble.trees)
    inner = np.flatnonzero(ensemble.trees.test >= 0)
    rows: list[dict[str, Any]] = []
    if not len(inner):
        return [_row(ensemble, present, {}, rng)]
    while len(rows) < limit // 2:
        node = int(inner[rng.randrange(len(inner))])
        base = _row(ensemble, present, _states_in_tree(ensemble, node, parents), rng)
        variable, yes, no = _test(ensemble, node)
        values = _values_around(ensemble.variables[variable], [yes, no], rng)
        chosen = rng.sample(values, min(len(values), 8))
        rows.extend({**base, ensemble.variables[variable].name: value} for value in chosen)
    return [*rows, *_between(ensemble, rows, limit - len(rows), rng)][:limit]


def _additive_probes(additive: Additive, limit: int, rng: random.Random) -> list[dict[str, Any]]:
    """Rows with one value at or beside a random border of its variable; then rows between two decisions."""
    present = _variables_with_values(additive)
    rows = [_row(additive, present, {}, rng)]
    while additive.tested and len(rows) < limit // 2:
        variable = additive.variables[rng.choice(additive.tested)]
        base = _row(additive, present, {}, rng)
        if variable.is_line or variable.labels is not None or not variable.cuts:
            values = [_value_in(variable, rng.randrange(variable.size), rng) for _ in range(3)]
        else:
            border = rng.randrange(len(variable.cuts))
            values = _values_around(variable, [((0, border),)], rng)
        rows.extend({**base, variable.name: value} for value in values)
    return [*rows, *_between(additive, rows, limit - len(rows), rng)][:limit]


def _between(
    ensemble: Ensemble | Additive, rows: Sequence[dict[str, Any]], count: int, rng: random.Random
) -> list[dict[str, Any]]:
    """Rows on the way from one row to another that is decided otherwise, value by value, around where that changes."""
    found: list[dict[str, Any]] = []
    decisions = [decision_of(ensemble, row) for row in rows]
    by_class: dict[str, list[int]] = {}
    for index, decision in enumerate(decisions):
        if decision is not None:
            by_class.setdefault(decision, []).append(index)
    if len(by_class) < 2:
        return [rng.choice(rows) for _ in range(count)]
    names = list(rows[0])
    variable_of = {variable.name: variable for variable in ensemble.variables}
    while len(found) < count:
        first, second = rng.sample(sorted(by_class), 2)
        here, there = rows[rng.choice(by_class[first])], rows[rng.choice(by_class[second])]
        rng.shuffle(names)
        low, high = 0, len(names)  # with the first `low` values of the other it is still decided as it was
        while high - low > 1:
            middle = (low + high) // 2
            mixed = {**here, **{name: there[name] for name in names[:middle]}}
            low, high = (middle, high) if decision_of(ensemble, mixed) == first else (low, middle)
        variable = variable_of[names[low]]
        for taken in (low, high):
            mixed = {**here, **{name: there[name] for name in names[:taken]}}
            values = [_value_in(variable, rng.randrange(variable.size), rng) for _ in range(2)]
            found.extend([mixed, *({**mixed, variable.name: value} for value in values)])
    return found


def decision_of(classifier: Classifier, instance: Mapping[str, Any]) -> str | None:
    """The class of an instance; None if the classifier refuses it."""
    try:
        return classifier.classify(instance)
    except InstanceError:
        return None


def _parents(classifier: DecisionGraph, rng: random.Random) -> dict[int, tuple[int, Ranges]]:
    """For each node one of its parents, and the states that lead from that parent to it."""
    parent_of: dict[int, tuple[int, Ranges]] = {}
    for node, (_, _, edges) in enumerate(classifier.nodes):
        for states, child in edges:
            if child not in parent_of or rng.random() < 0.5:
                parent_of[child] = (node, states)
    return parent_of


def _possible_states(
    classifier: DecisionGraph, node: int, parent_of: Mapping[int, tuple[int, Ranges]]
) -> dict[int, Ranges]:
    """The states that each variable can have on a path to a node: those of the edge of its last test there."""
    possible: dict[int, Ranges] = {}
    while node in parent_of:
        node, states = parent_of[node]
        possible.setdefault(classifier.nodes[node][0], states)
    return possible


def _parents_in_trees(trees: Trees) -> npt.NDArray[np.int64]:
    """The parent of each node; -1 for a root."""
    inner = np.flatnonzero(trees.test >= 0)
    parents = np.full(len(trees.test), -1, np.int64)
    parents[trees.yes[inner]] = parents[trees.no[inner]] = inner
    return parents


def _test(ensemble: Ensemble, node: int) -> tuple[int, Ranges, Ranges]:
    """The variable that a node of a tree tests, its states for yes, and those for no."""
    trees = ensemble.trees
    test = int(trees.test[node])
    here = slice(int(trees.range_start[test]), int(trees.range_start[test + 1]))
    yes = tuple(zip(trees.low[here].tolist(), trees.high[here].tolist(), strict=True))
    variable = int(trees.variable[test])
    return variable, yes, difference(((0, ensemble.variables[variable].size - 1),), yes)


def _states_in_tree(ensemble: Ensemble, node: int, parents: npt.NDArray[np.int64]) -> dict[int, Ranges]:
    """The states that each variable can have on the path to a node of a tree; all, if none can."""
    possible: dict[int, Ranges] = {}
    while (parent := int(parents[node])) >= 0:
        variable, yes, no = _test(ensemble, parent)
        states = yes if node == ensemble.trees.yes[parent] else no
        node = parent
        possible[variable] = intersection(possible[variable], states) if variable in possible else states
    return {variable: states for variable, states in possible.items() if states}


def _row(
    classifier: Classifier, present: Sequence[int], possible: Mapping[int, Ranges], rng: random.Random
) -> dict[str, Any]:
    row = {}
    for index in present:
        variable = classifier.variables[index]
        states = possible.get(index, ((0, variable.size - 1),))
        row[variable.name] = _value_in(variable, _random_state(states, rng), rng)
    return row


def _variables_with_values(classifier: Classifier) -> list[int]:
    """The variables that get a value in a row: all tested ones, and the first of the others."""
    tested = set(classifier.tested)
    others = (index for index in range(len(classifier.variables)) if index not in tested)
    return sorted((*tested, *islice(others, _UNTESTED)))


def _random_state(states: Ranges, rng: random.Random) -> int:
    offset = rng.randrange(size(states))
    for low, high in states:
        if offset <= high - low:
            return low + offset
        offset -= high - low + 1
    raise AssertionError("no state")


def _value_in(variable: Variable, state: int, rng: random.Random) -> Any:
    """A value in a state."""
    if variable.labels is not None:
        return _label_value(variable, variable.labels[state])
    if state > len(variable.cuts):
        return math.nan
    if variable.is_line:
        return rng.uniform(*(variable.range or (-100.0, 100.0)))
    low = variable.cuts[state - 1].last_below(variable.single) if state else None
    high = variable.cuts[state].last_below(variable.single) if state < len(variable.cuts) else None
    if low is None and high is None:
        return rng.choice((0.0, 1.0, -1.5, 37.0))
    distance = rng.choice((0.5, 1.0, 10.0))
    if low is None:
        number = _clamped((high or 0.0) - distance)
    else:
        number = low + distance if high is None else low + (high - low) * rng.random()
        number = _clamped(number)
    number = nearest_single(number) if variable.single else number
    if variable.encode(number) == state:
        return number
    return high if high is not None else _clamped(_next_number(low or 0.0, variable.single))


def _label_value(variable: Variable, label: str) -> Any:
    if label == variable.no_value:
        return None
    if label != variable.other:
        return label
    numbers = [_as_number(other) for other in variable.labels or () if other not in (variable.other, variable.no_value)]
    if numbers and None not in numbers:
        return max(number for number in numbers if number is not None) + 1
    return f"{label} of all"


def _as_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _values_around(variable: Variable, edges: Sequence[Ranges], rng: random.Random) -> list[Any]:
    """Values at and beside the borders between a node's edges; for a nominal variable, a sample of its values."""
    if variable.labels is not None:
        states = [state for ranges in edges for state in members(ranges)]
        return [_value_in(variable, state, rng) for state in rng.sample(states, min(len(states), 20))]
    last = len(variable.cuts)
    borders = {high for ranges in edges for _, high in ranges if high < last}
    borders |= {low - 1 for ranges in edges for low, _ in ranges if 0 < low <= last}
    values: list[Any] = []
    for border in sorted(borders):
        below = variable.cuts[border].last_below(variable.single)
        threshold = variable.cuts[border].threshold
        beside = {below, _next_number(below, variable.single)}
        for number in (threshold, *beside):
            beside |= {math.nextafter(number, -math.inf), number, math.nextafter(number, math.inf)}
        values.extend(number for number in sorted(beside) if abs(number) <= _LARGEST)
    if variable.missing:
        values.append(math.nan)
    return values


def _next_number(number: float, single: bool) -> float:
    """The next number in the type that the model compares in."""
    if not single:
        return math.nextafter(number, math.inf)
    return float(np.nextafter(np.float32(number), np.float32(math.inf)))


def _clamped(number: float) -> float:
    return max(-_LARGEST, min(_LARGEST, number))
