"""Ensembles by brute force: the definitions of `Trees` and `Sums`, point by point, and random ensembles to try them on.

Of quia it takes the data classes alone, to make random ensembles of; nothing here searches, bounds or adds in another
order than the definition. `decide` is plain Python with NumPy's scalars; `Table` does the same for every point at once,
and a test compares the two.

Glossary
    states    a state for each variable, as an index
    bounds    for some variables the states that they may be in, as ranges; a box
    keeps     the classes that leave a decision as it is
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from random import Random
from typing import Any

import numpy as np

from quia import Ensemble, Variable
from quia.sums import Group, Rule, Sums
from quia.trees import Trees

Ranges = Sequence[tuple[int, int]]
Bounds = Mapping[int, Ranges]

# NumPy's own exponential of arrays may differ in the last bit from the C library's, which models are scored with.
_C = ctypes.CDLL(ctypes.util.find_library("m"))
_C.expf.restype, _C.expf.argtypes = ctypes.c_float, [ctypes.c_float]


# ---- the definitions --------------------------------------------------------------------------------------------


def says_yes(trees: Trees, test: int, state: int) -> bool:
    """Whether a state is in one of the ranges of a test."""
    ranges = range(trees.range_start[test], trees.range_start[test + 1])
    return any(trees.low[r] <= state <= trees.high[r] for r in ranges)


def leaf_of(trees: Trees, tree: int, states: Sequence[int]) -> int:
    """The row of values of the leaf that an instance reaches in a tree."""
    at = int(trees.start[tree])
    while trees.test[at] >= 0:
        test = int(trees.test[at])
        at = int((trees.yes if says_yes(trees, test, states[int(trees.variable[test])]) else trees.no)[at])
    return int(np.sum(trees.test[:at] < 0))


def scores_of(trees: Trees, sums: Sums, states: Sequence[int]) -> list[Any]:
    """The scores of an instance, added as `Sums` says."""
    number: Callable[[float], Any] = np.float32 if sums.single else np.float64
    count = len(sums.start)

    def add(scores: list[Any], tree: int) -> None:
        values = trees.values[leaf_of(trees, tree, states)]
        if sums.outputs[tree] >= 0:
            scores[sums.outputs[tree]] += number(values[0])
        else:
            for i in range(count):
                scores[i] += number(values[i])

    scores = [number(first) for first in sums.start]
    if not sums.groups:
        for tree in range(len(trees)):
            add(scores, tree)
    tree = 0
    for group in sums.groups:
        part = [number(0)] * count
        for _ in range(group.trees):
            add(part, tree)
            tree += 1
        for i in range(count):
            if group.divisor != 1:
                part[i] = part[i] / number(group.divisor)
            if group.weight != 1:
                part[i] = part[i] * number(group.weight)
            scores[i] = scores[i] + part[i]
    for i in range(count):
        if sums.divisor != 1:
            scores[i] = scores[i] / number(sums.divisor)
        if sums.end and sums.end[i] != 0:
            scores[i] = scores[i] + number(sums.end[i])
    return scores


def class_of(rule: Rule, scores: Sequence[float]) -> int:
    """The class that scores tell, as `Rule` says."""
    if rule.kind == "cuts":
        return sum(float(scores[0]) >= cut for cut in rule.cuts)
    told = [float(score) for score in scores]
    if rule.kind == "softmax32":
        single = [np.float32(score) for score in scores]
        powers = [np.float32(_C.expf(score - max(single))) for score in single]
        total = np.float32(sum(map(float, powers)))
        told = [float(power / total) for power in powers]
    elif rule.kind == "softmax64":
        powers64 = [math.exp(score - max(told)) for score in told]
        told = [power / sum(powers64) for power in powers64]
    elif rule.kind == "logistic":
        told = [1 / (1 + _exp(-score)) for score in told]
    return told.index(max(told))


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def decide(ensemble: Ensemble, states: Sequence[int]) -> int:
    """The class of an instance."""
    return class_of(ensemble.sums.rule, scores_of(ensemble.trees, ensemble.sums, states))


# ---- all points at once -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Every point of an ensemble, its scores and its class."""

    ensemble: Ensemble

    @cached_property
    def points(self) -> np.ndarray:
        """All points, in the order of `itertools.product`."""
        sizes = [v.size for v in self.ensemble.variables]
        return np.indices(sizes, np.int32).reshape(len(sizes), -1).T.copy()

    @cached_property
    def scores(self) -> np.ndarray:
        """The scores of each point: additions of arrays round as those of their members."""
        trees, sums = self.ensemble.trees, self.ensemble.sums
        kind = np.float32 if sums.single else np.float64
        values = trees.values.astype(kind)

        def add(scores: np.ndarray, tree: int) -> None:
            leaves = self._leaves(tree)
            if sums.outputs[tree] >= 0:
                scores[:, sums.outputs[tree]] += values[leaves, 0]
            else:
                scores += values[leaves]

        scores = np.tile(np.array(sums.start, kind), (len(self.points), 1))
        if not sums.groups:
            for tree in range(len(trees)):
                add(scores, tree)
        tree = 0
        for group in sums.groups:
            part = np.zeros_like(scores)
            for _ in range(group.trees):
                add(part, tree)
                tree += 1
            if group.divisor != 1:
                part /= kind(group.divisor)
            if group.weight != 1:
                part *= kind(group.weight)
            scores += part
        if sums.divisor != 1:
            scores /= kind(sums.divisor)
        for i, last in enumerate(sums.end):
            if last != 0:
                scores[:, i] += kind(last)
        return scores

    def _leaves(self, tree: int) -> np.ndarray:
        trees = self.ensemble.trees
        row = np.cumsum(trees.test < 0) - 1
        at = np.full(len(self.points), trees.start[tree], np.int64)
        for node in range(trees.start[tree], trees.start[tree + 1]):
            if (test := int(trees.test[node])) >= 0:
                variable = int(trees.variable[test])
                size = self.ensemble.variables[variable].size
                answers = np.array([says_yes(trees, test, s) for s in range(size)])
                here = at == node
                at[here] = np.where(answers[self.points[here, variable]], trees.yes[node], trees.no[node])
        return row[at]

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of each point; equal scores are decided once."""
        every, inverse = np.unique(self.scores, axis=0, return_inverse=True)
        rule = self.ensemble.sums.rule
        if rule.kind == "cuts":
            told = (every[:, :1].astype(np.float64) >= np.array(rule.cuts)).sum(axis=1)
        elif rule.kind == "argmax":
            told = every.argmax(axis=1)
        else:
            told = np.array([class_of(rule, scores) for scores in every])
        return told[inverse.reshape(-1)].astype(np.int32)

    def inside(self, bounds: Bounds) -> np.ndarray:
        """Which points are in a box."""
        found = np.ones(len(self.points), bool)
        for v, ranges in bounds.items():
            column = self.points[:, v]
            found &= np.any([(low <= column) & (column <= high) for low, high in ranges] or [column < 0], axis=0)
        return found

    def escaping(self, keeps: Collection[int], bounds: Bounds) -> np.ndarray:
        """Which points of a box are decided otherwise."""
        return self.inside(bounds) & ~np.isin(self.classes, list(keeps))

    def reasons(self, states: Sequence[int], keeps: Collection[int], bounds: Bounds) -> dict[str, set[frozenset[int]]]:
        """All sufficient and necessary reasons of an instance, as variables; `bounds` are the possible worlds."""
        known = [v for v, state in enumerate(states) if state >= 0]
        refuting = self.points[self.escaping(keeps, bounds)][:, known] != np.array([states[v] for v in known], int)
        changes = {frozenset(known[i] for i in np.flatnonzero(row)) for row in np.unique(refuting, axis=0)}
        if len(refuting) and not known:
            changes = {frozenset()}
        every = [frozenset(v for i, v in enumerate(known) if mask >> i & 1) for mask in range(1 << len(known))]
        return {
            "sufficient": _minimal([s for s in every if all(s & change for change in changes)]),
            "necessary": _minimal([s for s in every if any(change <= s for change in changes)]),
        }


def _minimal(sets: Collection[frozenset[int]]) -> set[frozenset[int]]:
    found: list[frozenset[int]] = []
    for one in sorted(sets, key=len):
        if not any(other <= one for other in found):
            found.append(one)
    return set(found)


# ---- random ensembles -------------------------------------------------------------------------------------------

PALETTES: dict[str, tuple[float, ...]] = {
    "whole": (-2.0, -1.0, 0.0, 1.0, 2.0),
    "tenths": (0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.7),
    "thirds": (1 / 3, 2 / 3, -1 / 3, 1.0, -1.0),
    "far apart": (1e16, -1e16, 1.0, -1.0, 0.5, 3e7, -3e7),
    "near": (1.0, 1.0 + 2.0**-52, 1.0 + 2.0**-23, 1.0 - 2.0**-24, -1.0),
    "tiny": (1e-9, -1e-9, 1e-17, 3e-8, -6e-8, 0.0),
    "saturated": (40.0, 37.0, 36.5, 17.0, -17.0, -40.0, 1e-9),
    "subnormal": (1e-40, 3e-45, -1e-40, 5e-324, -5e-324, 1e-310, 0.0),
    "shares": (0.0, 1.0, 0.5, 0.25, 0.75, 1 / 3, 2 / 3, 0.1, 0.9),
}
"""Leaf values whose sums tie, or differ in the last bit, or depend on the order of additions."""


def random_variable(rng: Random, name: str, most: int) -> Variable:
    """A variable of at most so many states, one at least."""
    size = rng.choice((1, *range(2, most + 1), *range(2, most + 1)))
    if rng.random() < 0.4:
        return Variable.nominal(name, [f"s{i}" for i in range(size)])
    missing = size > 1 and rng.random() < 0.4
    sides = ("before", "after")
    return Variable.numeric(name, [(float(t), rng.choice(sides)) for t in range(size - 1 - missing)], missing=missing)


def random_test(rng: Random, variable: Variable) -> tuple[tuple[int, int], ...]:
    """The states whose answer is yes: mostly those below a cut, missing on either side; or any set, or none, or all."""
    kind = rng.random()
    numbers = len(variable.cuts) + 1
    if variable.is_numeric and kind < 0.8 and numbers > 1:
        chosen = set(range(rng.randrange(1, numbers)))
        if rng.random() < 0.2:
            chosen = set(range(numbers)) - chosen
        if variable.missing and rng.random() < 0.5:
            chosen.add(numbers)
    elif kind > 0.96:
        chosen = set()
    elif kind > 0.92:
        chosen = set(range(variable.size))
    else:
        chosen = {s for s in range(variable.size) if rng.random() < 0.5}
    return _ranges(rng, chosen)


def _ranges(rng: Random, states: Collection[int]) -> tuple[tuple[int, int], ...]:
    """States as ranges; neighbours are joined, or not."""
    found: list[tuple[int, int]] = []
    for state in sorted(states):
        if found and found[-1][1] == state - 1 and rng.random() < 0.9:
            found[-1] = (found[-1][0], state)
        else:
            found.append((state, state))
    return tuple(found)


def random_ensemble(
    rng: Random,
    *,
    variables: int = 5,
    fewest: int = 1,
    states: int = 4,
    trees: int = 8,
    depth: int = 4,
    scores: int = 4,
    points: int = 2000,
    palette: str | None = None,
    rule: str | None = None,
    declared: Sequence[Variable] | None = None,
) -> Ensemble:
    """An ensemble of at most so many variables, states, trees, … and points, with any arithmetic and any rule."""
    have = list(declared or [random_variable(rng, f"v{i}", states) for i in range(rng.randint(fewest, variables))])
    while math.prod(v.size for v in have) > points:
        have.pop()
    rule = rule or rng.choice(("cuts", "cuts", "argmax", "softmax32", "softmax64", "logistic"))
    outputs = 1 if rule == "cuts" else rng.choice((1, *range(2, scores + 1), *range(2, scores + 1)))
    count = rng.choice((1, *range(2, trees + 1), *range(2, trees + 1)))
    is_shared = rng.random() < 0.4
    grown = _grow(rng, have, count, depth)
    name = palette or rng.choice((*PALETTES, "any"))
    width = outputs if is_shared else 1

    def value() -> float:
        return rng.gauss(0, 1) if name == "any" or rng.random() < 0.02 else rng.choice(PALETTES[name])

    values = [[value() for _ in range(width)] for _ in range(grown.pop("leaves"))]
    arrays = Trees.build(values=values, **grown)
    groups: list[Group] = []
    while sum(g.trees for g in groups) < count and (groups or rng.random() < 0.3):
        size = rng.randint(1, count - sum(g.trees for g in groups))
        groups.append(Group(size, rng.choice((1.0, 2.0, 3.0, float(size))), rng.choice((1.0, 0.5, 0.1, 3.0))))
    sums = Sums(
        tuple(
            -1 if is_shared else (t % outputs if rng.random() < 0.9 else rng.randrange(outputs)) for t in range(count)
        ),
        tuple(rng.choice((0.0, 0.0, value())) for _ in range(outputs)),
        Rule("cuts", (0.0,)) if rule == "cuts" else Rule(rule),  # type: ignore[arg-type]
        rng.random() < 0.4,
        tuple(groups),
        rng.choice((1.0, 1.0, 3.0, float(count))),
        rng.choice(((), tuple(rng.choice((0.0, value())) for _ in range(outputs)))),
    )
    if rule == "cuts":
        sums = replace(sums, rule=_random_cuts(rng, have, arrays, sums))
    elif rng.random() < 0.6:  # all scores of some point are 0
        known = Ensemble(tuple(have), tuple(f"c{i}" for i in range(outputs)), arrays, replace(sums, end=()))
        sums = replace(sums, end=tuple(0.0 - float(score) for score in rng.choice(Table(known).scores)))
    classes = tuple(f"c{i}" for i in range(sums.rule.class_count(outputs)))
    return Ensemble(tuple(have), classes, arrays, sums)


def _random_cuts(rng: Random, variables: Sequence[Variable], trees: Trees, sums: Sums) -> Rule:
    """Cuts at scores that are reached, or beside them by one unit in the last place."""
    least = Ensemble(tuple(variables), ("a", "b"), trees, sums)
    reached = sorted({float(score) for score in Table(least).scores[:, 0]})
    cuts = set()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        cut = rng.choice(reached)
        side = rng.choice((None, -math.inf, math.inf))
        if side is not None and sums.single:
            cut = float(np.nextafter(np.float32(cut), np.float32(side)))
        elif side is not None:
            cut = math.nextafter(cut, side)
        cuts.add(cut + 0.0)  # not -0.0
    return Rule("cuts", tuple(sorted(cuts)))


def _grow(rng: Random, variables: Sequence[Variable], count: int, depth: int) -> dict[str, Any]:
    """The node arrays of random trees, parents first, each level or each branch after the other."""
    table: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    arrays: dict[str, Any] = {"start": [0], "test": [], "yes": [], "no": [], "tests": table, "leaves": 0}
    test, yes, no = arrays["test"], arrays["yes"], arrays["no"]
    for _ in range(count):
        stops, by_level = rng.choice((0.0, 0.1, 0.3)), rng.random() < 0.5
        waiting: list[tuple[int, list[int], int]] = [(0, [], 0)]  # its level, and where its number is to be written
        while waiting:
            level, slot, at = waiting.pop(0 if by_level else -1)
            if slot:
                slot[at] = len(test)
            yes.append(-1), no.append(-1)
            if level == depth or rng.random() < stops * (1 + level / 2) or not variables:
                test.append(-1)
                arrays["leaves"] += 1
                continue
            if not table or rng.random() < 0.7:
                v = rng.randrange(len(variables))
                table.append((v, random_test(rng, variables[v])))
                test.append(len(table) - 1)
            else:
                test.append(rng.randrange(len(table)))
            here = len(test) - 1
            waiting += [(level + 1, yes, here), (level + 1, no, here)]
        arrays["start"].append(len(test))
    return arrays


# ---- random questions -------------------------------------------------------------------------------------------


def random_bounds(rng: Random, sizes: Sequence[int], share: float) -> dict[int, Ranges]:
    """A box with gaps, which need not hold any given instance; never empty."""
    found: dict[int, Ranges] = {}
    for v, size in enumerate(sizes):
        if rng.random() < share:
            chosen = {s for s in range(size) if rng.random() < 0.6} or {rng.randrange(size)}
            if rng.random() < 0.2:
                chosen = {rng.randrange(size)}
            found[v] = _joined(chosen)
    return found


def _joined(states: Collection[int]) -> Ranges:
    found: list[tuple[int, int]] = []
    for state in sorted(states):
        if found and found[-1][1] == state - 1:
            found[-1] = (found[-1][0], state)
        else:
            found.append((state, state))
    return tuple(found)


def random_keeps(rng: Random, classes: int, decision: int) -> set[int]:
    """Classes that keep a decision: its own, all but one, several, none, all."""
    every = set(range(classes))
    return rng.choice(
        (
            {decision},
            {decision},
            every - {rng.randrange(classes)},
            {c for c in every if rng.random() < 0.5},
            set(),
            every,
        )
    )


def random_states(rng: Random, table: Table, unknown: float = 0.2) -> tuple[int, ...]:
    """A point, of which some states are not known (-1)."""
    point = table.points[rng.randrange(len(table.points))].tolist()
    return tuple(-1 if rng.random() < unknown else state for state in point)


# ---- graphs -----------------------------------------------------------------------------------------------------


def as_graph(classifier: Any, decided: Callable[[Sequence[int]], int]) -> dict[str, Any]:
    """A decision tree in the JSON format that asks about every tested variable and decides as the definition does."""
    variables = classifier.variables
    tested = [v for v in classifier.tested if variables[v].size > 1]
    nodes: dict[str, Any] = {}
    for length in range(len(tested) + 1):
        for prefix in product(*(range(variables[v].size) for v in tested[:length])):
            name = _name(prefix)
            if length == len(tested):
                states = [0] * len(variables)
                for v, state in zip(tested, prefix, strict=True):
                    states[v] = state
                nodes[name] = {"class": classifier.classes[decided(states)]}
                continue
            variable = variables[tested[length]]
            edges = [{"if": [variable.text(s)], "to": _name((*prefix, s))} for s in range(variable.size)]
            nodes[name] = {"test": variable.name, "edges": edges}
    declared = {
        v.name: {"kind": "numeric"} if v.is_numeric else {"kind": "nominal", "states": list(v.labels or ())}
        for v in variables
    }
    return {"quia": 1, "variables": declared, "classes": list(classifier.classes), "root": "n", "nodes": nodes}


def random_with_graph(rng: Random) -> tuple[Ensemble, dict[str, Any]]:
    """A small ensemble and a graph that decides as it does; what is not asked about has no cuts, as in such a graph."""
    made = random_ensemble(rng, variables=4, states=3, trees=4, depth=3, points=81)
    variables = tuple(
        v if i in made.tested or not v.is_numeric else Variable.numeric(v.name) for i, v in enumerate(made.variables)
    )
    ensemble = replace(made, variables=variables)
    return ensemble, as_graph(ensemble, partial(decide, ensemble))


def _name(prefix: Sequence[int]) -> str:
    return "n" + "".join(f".{state}" for state in prefix)
