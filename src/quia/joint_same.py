"""Two models that are one and the same, told from what they are made of: no search need prove that they never differ.

A model that was exported twice has its nodes in another order, its tests the other way round, its features in another
order, or more cuts than it uses; none of that makes another function of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quia.additive import Additive
from quia.classifier import HasJson, offers
from quia.ensemble import Ensemble
from quia.joint import Joint
from quia.ranges import Ranges, covers, difference
from quia.side import Side
from quia.terms import Line

Known = dict[Any, int]
"""The number of each tree, or part of one, that was seen."""


def are_same(both: Joint) -> bool:
    """Whether two models are seen to be the same at once; if not, they may still never differ."""
    old, new = both.old.model, both.new.model
    if tuple(old.classes) != tuple(new.classes):
        return False
    if isinstance(old, Ensemble) and isinstance(new, Ensemble):
        known: Known = {}
        return old.sums == new.sums and _trees(both.old, old, known) == _trees(both.new, new, known)
    if isinstance(old, Additive) and isinstance(new, Additive):
        alike = (old.start, old.end, old.rule) == (new.start, new.end, new.rule)
        return alike and _terms(both.old, old) == _terms(both.new, new)
    return type(old) is type(new) and offers(old, HasJson) and offers(new, HasJson) and _json(old) == _json(new)


def _json(model: HasJson) -> dict[str, Any]:
    """What a model's JSON says of its decisions; two files that differ in the names of their nodes are not the same."""
    return {key: value for key, value in model.to_dict().items() if key not in ("notes", "given")}


def _trees(side: Side, ensemble: Ensemble, known: Known) -> list[int]:
    """The number of each tree, the same for all that decide alike by the same tests."""
    trees = ensemble.trees
    tests = [_test(side, ensemble, test) for test in range(len(trees.variable))]
    number = [0] * len(trees.test)
    leaf_of_node, values = trees.leaf_of_node.tolist(), trees.values.tolist()
    asked, yes, no = trees.test.tolist(), trees.yes.tolist(), trees.no.tolist()
    for node in range(len(number) - 1, -1, -1):  # parents come before their children
        if asked[node] < 0:
            key: Any = tuple(values[leaf_of_node[node]])
        else:
            common, states, rest = tests[asked[node]]
            below = number[yes[node]], number[no[node]]
            if below[0] == below[1] or not states or not rest:  # the test makes no difference
                number[node] = below[0] if states else below[1]
                continue
            is_first = covers(states, 0)
            key = (common, states, *below) if is_first else (common, rest, below[1], below[0])
        number[node] = known.setdefault(key, len(known))
    return [number[start] for start in trees.start[:-1].tolist()]


def _test(side: Side, ensemble: Ensemble, test: int) -> tuple[int, Ranges, Ranges]:
    """A test in common states: the variable, the states whose answer is yes, and the others."""
    trees = ensemble.trees
    first, last = trees.range_start[test : test + 2].tolist()
    own = tuple(sorted(zip(trees.low[first:last].tolist(), trees.high[first:last].tolist(), strict=True)))
    v = int(trees.variable[test])
    if v not in side.at:  # no node asks it
        return -1, (), ()
    states = side.ways[v].common_ranges(own)
    every = ((0, side.variables[side.at[v]].size - 1),)
    return side.at[v], states, difference(every, states)


def _terms(side: Side, model: Additive) -> list[Any]:
    """What is added, in common states, in its order."""
    found: list[Any] = []
    for term in model.terms:
        common = side.at.get(term.variable)
        if isinstance(term, Line):
            found.append((common, term.steps, term.weights, term.missing))
        elif common is None:  # it adds the same whatever the value is
            found.append(term.values[0].tolist())
        elif model.variables[term.variable].is_line:
            found.append((common, term.cuts, term.values.tolist()))
        else:
            way, size = side.ways[term.variable], side.variables[common].size
            # Beside a line, states are too many to list: such a term is like no other.
            rows = None if side.variables[common].is_line else way.own_rows(np.arange(size))
            found.append(term if rows is None else (common, term.values[rows].tolist()))
    return found
