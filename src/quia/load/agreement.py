"""Whether a loaded classifier decides as its model does: on the caller's rows, and at and around every threshold."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.cuts import nearest_single
from quia.ensemble import Ensemble
from quia.errors import InstanceError, Unsupported, did_you_mean
from quia.graph import DecisionGraph
from quia.load import load, load_with_predictor
from quia.ranges import Ranges, difference, intersection, members, size
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.trees import Trees

Row = Mapping[str, Any]
Predict = Callable[[Sequence[Row]], Sequence[str | None]]
"""From rows to the model's own class of each; None for a row that the model refuses."""

MOST_SHOWN = 10
PROBES = 2000
"""How many generated rows a model is compared on."""

_LARGEST = 3e38  # beyond, a number is infinite in 32 bits, which models refuse
_ENCODED_AT_MOST = 400_000
_PREDICTED_AT_MOST = 4_000_000
_UNTESTED = 200  # how many variables that no node tests get a value in a row


class Model(NamedTuple):
    """A loaded classifier beside the model's own decisions."""

    classifier: Classifier
    predict: Predict


class Disagreement(NamedTuple):
    """A row on which the two differ; `ours` is None where the loaded classifier refuses the row."""

    row: Row
    ours: str | None
    theirs: str

    def __str__(self) -> str:
        values = list(self.row.items())
        shown = ", ".join(f"{name}={value!r}" for name, value in values[:12]) + (", …" if len(values) > 12 else "")
        ours = "refused" if self.ours is None else f"{self.ours!r}"
        return f"{shown} is {self.theirs!r} for the model, {ours} for what was loaded"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a loaded classifier and its model decided alike; the first few rows on which they did not.

    >>> print(Agreement(rows=3, agreed=3, refused=0, differing=0))
    3 of 3 rows agree
    """

    rows: int
    agreed: int
    refused: int
    differing: int
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.differing == 0

    def __str__(self) -> str:
        report = f"{self.agreed} of {self.rows - self.refused} rows agree"
        if self.refused:
            report += f"; the model refuses {self.refused} more"
        return "\n".join([report, *(f"  {one}" for one in self.disagreements)])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "rows": self.rows,
            "agreed": self.agreed,
            "refused": self.refused,
            "differing": self.differing,
            "disagreements": [{"row": dict(d.row), "ours": d.ours, "theirs": d.theirs} for d in self.disagreements],
        }


def compare(model: Model, rows: Iterable[Row], *, most_shown: int = MOST_SHOWN) -> Agreement:
    """The agreement on these rows: a row that both refuse agrees, one that only the model refuses counts as refused."""
    row_list = list(rows)
    as_instance = getattr(model.predict, "instance", dict)
    instances = [as_instance(row) for row in row_list]
    ours = [_classify(model.classifier, instance) for instance in instances]
    asked = [i for i, decision in enumerate(ours) if decision is not None]
    theirs: list[str | None] = [None] * len(row_list)
    for i, decision in zip(asked, model.predict([instances[i] for i in asked]), strict=True):
        theirs[i] = decision
    refused = sum(own is not None and their is None for own, their in zip(ours, theirs, strict=True))
    differing = [
        Disagreement(row, own, their)
        for row, own, their in zip(row_list, ours, theirs, strict=True)
        if their is not None and own != their
    ]
    agreed = len(row_list) - refused - len(differing)
    return Agreement(len(row_list), agreed, refused, len(differing), tuple(differing[:most_shown]))


def check(
    source: Any,
    rows: Iterable[Row] = (),
    *,
    predicted: str | None = None,
    limit: int = PROBES,
    format: str | None = None,
    **options: Any,
) -> Agreement:
    """Load a model, and compare it with its own decisions on rows, and at and around its thresholds.

    A live estimator, a skops file or a trusted pickle predicts the rows itself; for any other model `predicted` names
    the column of the rows that holds its decisions.
    """
    if predicted is not None:
        return compare_predicted(load(source, format=format, **options), rows, predicted)
    model = load_with_predictor(source, format=format, **{"check": False, **options})
    return compare(model, [*rows, *probes(model.classifier, limit=limit)])


def compare_predicted(classifier: Classifier, rows: Iterable[Row], column: str) -> Agreement:
    """The agreement of our classes with the model's own, which a column of the rows holds."""
    row_list = list(rows)
    for row in row_list:
        if column not in row:
            raise InstanceError(
                f"a row has no column {column!r}, which should hold the model's own class{did_you_mean(column, row)}"
            )
    differing = []
    for row in row_list:
        own, their = _classify(classifier, row), str(row[column])
        if own != their:
            differing.append(Disagreement(row, own, their))
    return Agreement(len(row_list), len(row_list) - len(differing), 0, len(differing), tuple(differing[:MOST_SHOWN]))


def probes(classifier: Classifier, *, limit: int, seed: int = 0) -> list[dict[str, Any]]:
    """Generated rows that reach a node, with values at every border of its test and one ulp beside.

    There are at most `limit`, spread over the nodes, and the same ones for the same seed. Only some of the variables
    that no node tests get a value, since a model may have very many. In an ensemble the nodes are those of all trees,
    and half of the rows differ in single values from others that are decided otherwise.
    """
    rng = random.Random(seed)
    for cells, width in ((_ENCODED_AT_MOST, len(classifier.tested)), (_PREDICTED_AT_MOST, len(classifier.variables))):
        limit = min(limit, max(50, cells // max(1, width)))
    if isinstance(classifier, Ensemble):
        return _ensemble_probes(classifier, limit, rng)
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


def _between(
    ensemble: Ensemble, rows: Sequence[dict[str, Any]], count: int, rng: random.Random
) -> list[dict[str, Any]]:
    """Rows on the way from one row to another that is decided otherwise, value by value, around where that changes."""
    found: list[dict[str, Any]] = []
    decisions = [_classify(ensemble, row) for row in rows]
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
            low, high = (middle, high) if _classify(ensemble, mixed) == first else (low, middle)
        variable = variable_of[names[low]]
        for taken in (low, high):
            mixed = {**here, **{name: there[name] for name in names[:taken]}}
            values = [_value_in(variable, rng.randrange(variable.size), rng) for _ in range(2)]
            found.extend([mixed, *({**mixed, variable.name: value} for value in values)])
    return found


def _classify(classifier: Classifier, instance: Row) -> str | None:
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
