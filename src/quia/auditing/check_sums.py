"""Whether raising a feature moves a sum in one direction only: then no decision that is told by the sum turns back.

Where every addend moves so, their sum does, however it is rounded, and so does the class that it tells. Of a tree,
every two leaves are compared that differ in the feature alone; of an additive model, what its terms add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from quia.additive import Additive
from quia.auditing.check_world import World
from quia.constrained import Constrained
from quia.ensemble import Ensemble
from quia.ranges import Ranges, difference, intersection, members
from quia.terms import Line, Table
from quia.trees import Trees
from quia.variables import Variable


def never_turns(world: World, v: int, is_asked: Callable[[int, int], bool], order: Sequence[int] | None) -> bool:
    """Whether it is proved so that no pair of classes that is asked for comes about if one variable is raised.

    `order` has its states, the lowest first; None stands for all numbers of a line. False proves nothing.
    """
    model = world.asked.model if isinstance(world.asked, Constrained) else world.asked
    if not isinstance(model, (Ensemble, Additive)):
        return False
    rule = model.sums.rule if isinstance(model, Ensemble) else model.rule
    classes = range(len(world.terms.classes))
    asked = [(a, b) for a in classes for b in classes if is_asked(a, b)]
    if rule.kind != "cuts":
        return False
    # What reaches more cuts has a later class.
    signs = [sign for sign in (1, -1) if all(sign * (b - a) < 0 for a, b in asked)]
    if isinstance(model, Ensemble):
        return order is not None and any(_trees_move(model.trees, model.variables, v, order, sign) for sign in signs)
    terms = [term for term in model.terms if term.variable == v]
    return any(all(_term_moves(term, model.variables[v], order, sign) for term in terms) for sign in signs)


def _term_moves(term: Line | Table, variable: Variable, order: Sequence[int] | None, sign: int) -> bool:
    """Whether what a term adds never falls, or with the sign -1 never rises."""
    if isinstance(term, Table):
        rows = range(len(term.cuts) + 1) if order is None else [term.row(variable, state) for state in order]
        values = [float(term.values[row, 0]) for row in rows]
        return all(sign * low <= sign * high for low, high in pairwise(values))
    direction = sign * term.weights[0]
    for name, *operands in term.steps:
        if name in ("multiply", "divide"):
            direction = direction if operands[0] > 0 else -direction
        elif name not in ("add", "subtract", "clip"):
            return False
    is_rising = order is None or all(low < high for low, high in pairwise(order))
    return direction >= 0 and is_rising


def _trees_move(trees: Trees, variables: Sequence[Variable], v: int, order: Sequence[int], sign: int) -> bool:
    """Whether what each tree adds never falls, or with the sign -1 never rises."""
    place = {state: at for at, state in enumerate(order)}
    for tree in range(len(trees)):
        nodes = range(int(trees.start[tree]), int(trees.start[tree + 1]))
        if not any(trees.test[n] >= 0 and trees.variable[trees.test[n]] == v for n in nodes):
            continue
        leaves = _leaves(trees, variables, nodes[0])
        every = ((0, variables[v].size - 1),)
        places = [[place[s] for s in members(box.get(v, every)) if s in place] for box, _ in leaves]
        for (low, low_value), at in zip(leaves, places, strict=True):
            for (high, high_value), beyond in zip(leaves, places, strict=True):
                falls = sign * high_value < sign * low_value
                if falls and at and beyond and min(at) < max(beyond) and _meet(low, high, v):
                    return False
    return True


def _leaves(trees: Trees, variables: Sequence[Variable], root: int) -> list[tuple[dict[int, Ranges], float]]:
    """The states of each variable on the way to each leaf of a tree, and what the leaf adds."""
    work: list[tuple[int, dict[int, Ranges]]] = [(root, {})]
    found = []
    while work:
        node, box = work.pop()
        test = int(trees.test[node])
        if test < 0:
            found.append((box, float(trees.values[trees.leaf_of_node[node], 0])))
            continue
        v = int(trees.variable[test])
        here = range(int(trees.range_start[test]), int(trees.range_start[test + 1]))
        yes: Ranges = tuple((int(trees.low[at]), int(trees.high[at])) for at in here)
        states = box.get(v, ((0, variables[v].size - 1),))
        for child, left in ((trees.yes, intersection(states, yes)), (trees.no, difference(states, yes))):
            if left:
                work.append((int(child[node]), {**box, v: left}))
    return found


def _meet(one: dict[int, Ranges], other: dict[int, Ranges], v: int) -> bool:
    """Whether two boxes have instances that are alike but in one variable."""
    return all(u == v or u not in other or intersection(states, other[u]) for u, states in one.items())
