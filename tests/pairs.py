"""Random pairs of models of different kinds over inputs that differ a little, and what both say of every common world.

A pair's decisions are each model's own on plain values; nothing here knows how states of the one fit the other's.
"""

from __future__ import annotations

import math
from itertools import product
from random import Random
from typing import Any

import numpy as np

from contract import EscapeOnly
from ensemble_oracle import as_graph, random_ensemble
from quia import Additive, DecisionGraph, Variable
from quia.joint import Joint, joint
from quia.sums import Rule
from quia.terms import Table
from quia.typical import value_in

CLASSES = ("c0", "c1", "c2")


def random_variables(rng: Random, *, most: int = 3, plain: bool = False) -> list[Variable]:
    """Some of four features, each as a model may have it: other cuts, states in another order, missing or not."""
    made = []
    for name in rng.sample(["a", "b", "n", "x"], rng.randint(1, most)):
        if name in "ab":
            labels = rng.sample(["p", "q", "r"], rng.choice((2, 3, 3)))
            special = {} if plain else {key: rng.choice((None, None, *labels)) for key in ("other", "no_value")}
            made.append(Variable.nominal(name, labels, **special))
        else:
            cuts = [(t, rng.choice(("before", "after"))) for t in rng.choices((0.1, 1.0, 2.5), k=rng.randint(1, 2))]
            # A number between two cuts that has none beside it is written as the oracle does not read it.
            cuts = [(t, "before" if t == 1 else "after") for t, _ in cuts] if plain else cuts
            single = not plain and rng.random() < 0.5
            made.append(Variable.numeric(name, cuts, missing=rng.random() < 0.3, single=single))
    return made


def random_model(rng: Random, variables: list[Variable], kind: str) -> Any:
    """A model of a kind over these variables; each of them matters to most."""
    classes = CLASSES[: rng.choice((2, 2, 3))]
    if kind == "ensemble":
        return random_ensemble(rng, declared=variables, trees=4, depth=3, scores=3)
    if kind == "additive":
        terms = tuple(
            Table(v, np.array([[float(rng.randint(-3, 3))] for _ in range(variable.size)]))
            for v, variable in enumerate(variables)
        )
        cuts = tuple(sorted(rng.sample(range(-3, 4), len(classes) - 1)))
        return Additive(tuple(variables), classes, terms, (0.0,), Rule("cuts", tuple(map(float, cuts))))
    worlds = list(product(*(range(v.size) for v in variables)))
    table = {world: rng.randrange(len(classes)) for world in worlds}
    if kind == "truth table":
        return EscapeOnly(tuple(variables), classes, tuple(range(len(variables))), table, rng)
    return tree_of(variables, classes, table)


KINDS = ("graph", "ensemble", "additive", "truth table")


def tree_of(variables: list[Variable], classes: tuple[str, ...], table: dict[tuple[int, ...], int]) -> DecisionGraph:
    """The tree that tests all variables in order."""
    tests, labels, edges = [], [], []
    number: dict[tuple[int, ...], int] = {}
    for length in range(len(variables), -1, -1):
        for prefix in product(*(range(v.size) for v in variables[:length])):
            is_leaf = length == len(variables)
            number[prefix] = len(tests)
            tests.append(-1 if is_leaf else length)
            labels.append(table[prefix] if is_leaf else -1)
            below = () if is_leaf else range(variables[length].size)
            edges.append(tuple((((s, s),), number[(*prefix, s)]) for s in below))
    return DecisionGraph.build(variables, classes, tests, labels, edges)


def decided_by(model: Any, values: dict[str, Any]) -> str | None:
    """The class that a model gives plain values; None if it gives none."""
    return None if any(not takes(model, v, values) for v in model.tested) else model.classify(values)


def takes(model: Any, v: int, values: dict[str, Any]) -> bool:
    """Whether a model has a state for a value."""
    try:
        return model.variables[v].encode(values[model.variables[v].name]) >= 0
    except Exception:
        return False


def random_pair(rng: Random, *, plain: bool = False, kinds: tuple[str, ...] = KINDS) -> tuple[Any, Any]:
    """Two models with a few features in common."""
    return tuple(random_model(rng, random_variables(rng, plain=plain), rng.choice(kinds)) for _ in range(2))  # type: ignore[return-value]


def values_of(both: Any, states: tuple[int, ...]) -> dict[str, Any]:
    """Plain values in some states."""
    return {v.name: value_in(v, s) for v, s in zip(both.variables, states, strict=True)}


def table_of(both: Joint, old: Any, new: Any) -> dict[tuple[int, ...], int]:
    """For every common world the pair of what each model says of plain values in it."""
    found = {}
    for world in product(*(range(v.size) for v in both.variables)):
        values = values_of(both, world)
        a, b = decided_by(old, values), decided_by(new, values)
        assert a is not None and b is not None, (values, a, b)
        found[world] = both.classes.index(f"old: {a}, new: {b}")
    return found


def random_with_graph(rng: Random, kinds: tuple[str, ...] = KINDS) -> tuple[Joint, dict[str, Any]]:
    """A small joint classifier and a graph that decides as it must; what is not asked about has no cuts there."""
    while True:
        old, new = random_pair(rng, plain=True, kinds=kinds)
        both = joint(old, new)
        is_small = math.prod(v.size for v in both.variables) <= 100
        if is_small and set(both.tested) == set(range(len(both.variables))):
            table = table_of(both, old, new)
            return both, as_graph(both, lambda states: table[tuple(states)])


def trying(variable: Variable) -> list[Any]:
    """Values worth trying: at and next to each threshold, in 64 bits and in 32, and in the middle of 32-bit numbers."""
    if variable.labels is not None:
        return [*variable.labels, "p", "q", "r", "zebra", None]
    found: list[Any] = [None, -math.inf, math.inf, 0.0]
    for cut in variable.cuts:
        single = np.float32(cut.threshold)
        near = [single, np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf))]
        exact = [cut.threshold, *map(float, near), *((float(a) + float(b)) / 2 for a in near for b in near)]
        found += [one for t in exact for one in (t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
    return found
