"""Bayesian-network classifiers by brute force: all worlds of a network, each with its probability as a fraction.

This module imports nothing of quia: it is what compiled networks are compared with. Nothing here eliminates, factors or
shares anything, so keep networks tiny.

Glossary
    net       a network: each variable, by its name, in the order of the file
    world     a state for each variable
    e         an instance: a state for each feature, in their order
    c         a class: a state of the target
    score     P(c, e); what is not a feature is summed out
    table     the class of every instance
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import numpy as np

Instance = tuple[str, ...]
Scores = tuple[Fraction, ...]
Table = Mapping[Instance, str]


@dataclass(frozen=True)
class Variable:
    """A variable: its states, its parents, and its probabilities as decimals, as a file has them.

    There is a row for each choice of the parents' states, the last parent's the quickest, of a decimal for each state.
    """

    states: tuple[str, ...]
    parents: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


Net = Mapping[str, Variable]
ScoresOf = Callable[[Net, str, Sequence[str]], Mapping[Instance, Sequence[Any]]]
"""`scores` or `proportional`, which decide alike."""

AFFIRMATIVE = {
    "yes": "no",
    "true": "false",
    "present": "absent",
    "positive": "negative",
    "abnormal": "normal",
    "on": "off",
    "y": "n",
    "t": "f",
    "1": "0",
}
"""Of two states with these names the first one is the positive one, whatever the file's order; case does not matter."""


# Probabilities


def distribution(row: Iterable[str]) -> Scores:
    """The decimals of a row as they are written, divided by their sum.

    >>> distribution(["0.333", "0.333", "0.333"])
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    exact = [Fraction(decimal) for decimal in row]
    return tuple(p / sum(exact) for p in exact)


def conditional(net: Net, name: str) -> dict[Instance, Scores]:
    """P(variable | parents), by the parents' states."""
    variable = net[name]
    choices = list(product(*(net[parent].states for parent in variable.parents)))
    return {given: distribution(row) for given, row in zip(choices, variable.rows, strict=True)}


def parents_first(net: Net) -> list[str]:
    """The variables, each after its parents."""
    found: list[str] = []
    while len(found) < len(net):
        found += [x for x in net if x not in found and set(net[x].parents) <= set(found)]
    return found


def worlds(net: Net) -> Iterator[tuple[dict[str, str], Fraction]]:
    """Every world that is not impossible, with its probability: the product of P(state | parents' states)."""
    reached: list[tuple[dict[str, str], Fraction]] = [({}, Fraction(1))]
    for name in parents_first(net):
        rows = conditional(net, name)
        reached = [
            ({**world, name: state}, p * q)
            for world, p in reached
            for state, q in zip(net[name].states, rows[tuple(world[x] for x in net[name].parents)], strict=True)
            if q
        ]
    yield from reached


def instances(net: Net, features: Sequence[str]) -> list[Instance]:
    """Every choice of the features' states, the last feature's the quickest."""
    return list(product(*(net[x].states for x in features)))


def scores(net: Net, target: str, features: Sequence[str]) -> dict[Instance, Scores]:
    """P(c, e) for every instance and every class."""
    classes = net[target].states
    sums = {e: dict.fromkeys(classes, Fraction(0)) for e in instances(net, features)}
    for world, p in worlds(net):
        sums[tuple(world[x] for x in features)][world[target]] += p
    return {e: tuple(of.values()) for e, of in sums.items()}


def proportional(net: Net, target: str, features: Sequence[str]) -> dict[Instance, tuple[int, ...]]:
    """The same times one number that makes them whole: arrays of worlds are multiplied, which takes less time.

    What is hidden is summed out once no table is left that it is in, so it matters in which order the variables are.
    """
    hidden = [x for x in net if x != target and x not in features]
    axes = [*features, target, *hidden]
    found = np.array(1, object)
    last = {y: x for x in net for y in (*net[x].parents, x)}
    for x in net:
        rows = list(conditional(net, x).values())
        common = lcm(*(p.denominator for row in rows for p in row))
        family = [*net[x].parents, x]
        table = np.array([[int(p * common) for p in row] for row in rows], object)
        table = table.reshape([len(net[y].states) for y in family])
        in_order = sorted(range(len(family)), key=lambda i: axes.index(family[i]))
        shape = [len(net[y].states) if y in family else 1 for y in axes]
        found = found * table.transpose(in_order).reshape(shape)
        done = tuple(axes.index(y) for y in hidden if last[y] == x)
        found = found.sum(axis=done, keepdims=True)
    of_all = found.reshape(-1, len(net[target].states))
    return {e: tuple(of) for e, of in zip(instances(net, features), of_all.tolist(), strict=True)}


# Decisions


def greatest(net: Net, target: str, features: Sequence[str], scores: ScoresOf = scores) -> dict[Instance, str]:
    """For every instance the class of the greatest score; of ties the first."""
    classes = net[target].states
    return {e: classes[of.index(max(of))] for e, of in scores(net, target, features).items()}


def at_least(
    net: Net, target: str, features: Sequence[str], threshold: Fraction, positive: str, scores: ScoresOf = scores
) -> dict[Instance, str]:
    """Of two classes the positive one where P(positive, e) ≥ t · P(e), ties and the impossible included."""
    classes = net[target].states
    (negative,) = set(classes) - {positive}
    at = classes.index(positive)
    decided = {e: of[at] >= threshold * sum(of) for e, of in scores(net, target, features).items()}
    return {e: positive if is_positive else negative for e, is_positive in decided.items()}


def positive_of(states: Sequence[str]) -> str | None:
    """The affirmative one of a known pair of states; None if they are none.

    >>> positive_of(["Yes", "No"]), positive_of(["absent", "present"]), positive_of(["low", "high"])
    ('Yes', 'present', None)
    """
    pair = {state.lower(): state for state in states}
    return next((pair[yes] for yes, no in AFFIRMATIVE.items() if pair.keys() == {yes, no}), None)


def leaves(net: Net, target: str) -> list[str]:
    """The variables that are parents of none, but for the target: the features where none are given."""
    parents = {parent for variable in net.values() for parent in variable.parents}
    return [x for x in net if x not in parents and x != target]


# Graphs


def levels_of(table: Table, states: Mapping[str, Sequence[str]], order: Sequence[str]) -> dict[str, int]:
    """How many nodes test each feature in the reduced graph that tests them in this order; `states` are the features'.

    A node is what is still to be decided once the features before are known: a sub-table that depends on its first
    feature. Two that are equal are one. So the graph is the only one, and none with this order is smaller.
    """
    at = [list(states).index(x) for x in order]
    every = product(*(states[x] for x in order))
    classes = [table[tuple(e[at.index(place)] for place in range(len(at)))] for e in every]
    found = {}
    below = {tuple(classes)}  # the sub-tables of the features from here on
    for x in order:
        parts = {sub: _parts(sub, len(states[x])) for sub in below}
        found[x] = sum(len(set(slices)) > 1 for slices in parts.values())
        below = {part for slices in parts.values() for part in slices}
    return found


def _parts(sub: Sequence[str], count: int) -> list[tuple[str, ...]]:
    """A sub-table for each state of its first feature."""
    size = len(sub) // count
    return [tuple(sub[i * size : (i + 1) * size]) for i in range(count)]


def size_of(table: Table, states: Mapping[str, Sequence[str]], order: Sequence[str]) -> int:
    """How many nodes that graph has, with a leaf for each class that occurs."""
    return sum(levels_of(table, states, order).values()) + len(set(table.values()))


def matters(table: Table, states: Mapping[str, Sequence[str]]) -> set[str]:
    """The features that make a difference: two instances differ in nothing else but the class."""
    found = set()
    for at, x in enumerate(states):
        classes: dict[Instance, set[str]] = {}
        for e, c in table.items():
            classes.setdefault((*e[:at], *e[at + 1 :]), set()).add(c)
        if any(len(several) > 1 for several in classes.values()):
            found.add(x)
    return found
