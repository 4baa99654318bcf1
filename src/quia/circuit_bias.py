"""Whether any decision of a circuit is biased: whether its function depends on a protected variable.

Two instances that differ in protected variables only and are decided differently can be led one into the other by
changing one variable at a time, and somewhere on the way the decision changes; so one variable at a time is enough.

First instances are tried, drawn from both classes: of each it is told in linear time whether changing protected
variables alone can change its decision. That finds most bias and proves no absence. What is left is decided by
compiling a class formula into a decision diagram, which tests a variable just if the function depends on it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping

import numpy as np

from quia.circuit import Circuit, literals_to_negate
from quia.dag import AND
from quia.errors import TooLarge
from quia.formula import from_nnf
from quia.formula.diagram import Diagram, good_order
from quia.nnf import NNF
from quia.region import Region
from quia.variables import Variable

States = tuple[int, ...]

TRIES = 64
"""How many instances are tried before a diagram is compiled."""

DIAGRAM_LIMIT = 200_000
"""How many nodes the diagram may have."""


def differing(circuit: Circuit, protected: Collection[int]) -> tuple[States, States] | None:
    """Two instances that differ in protected variables only and are decided differently; None if there are none.

    Complexity: linear for each instance tried; then that of compiling, TooLarge if it takes more nodes than the limit.
    """
    guarded = [v for v in circuit.tested if v in protected]
    if not guarded:
        return None
    rng = random.Random(0)  # the same answer every time
    drawing = [_Drawing(circuit, label) for label in (0, 1)]
    for _ in range(TRIES):
        for drawn in drawing:
            states = drawn.instance(rng)
            free = Region.at(circuit.variables, states, set(circuit.tested).difference(guarded))
            label = circuit.decide(states)
            changed = None if circuit.formulas[label] is None else circuit.outside(label, states, free)
            if changed is not None:
                return states, changed
    formula = min((each for each in circuit.formulas if each is not None), key=len)
    mattering = [circuit.variables[v] for v in guarded if not _cancels(formula, v)]
    return _by_diagram(circuit, formula, mattering) if mattering else None


class _Drawing:
    """Instances of one class at random, or of any where there is no formula to draw from.

    The formula of the other class is made false, which a random choice among conjuncts does in random ways.
    """

    def __init__(self, circuit: Circuit, label: int) -> None:
        self.count, self.tested = len(circuit.variables), circuit.tested
        self.formula = circuit.formulas[1 - label]
        # Constants apart, everything can be made false.
        self.valid = None if self.formula is None else self.formula.values(lambda v, _: np.zeros(len(v), bool))

    def instance(self, rng: random.Random) -> States:
        states = [-1] * self.count
        for v in self.tested:
            states[v] = rng.randrange(2)
        formula, valid = self.formula, self.valid
        if formula is None or valid is None or valid[-1]:
            return tuple(states)
        for variable, state in literals_to_negate(formula, valid, rng.choice):
            states[variable] = 1 - state
        return tuple(states)


def _cancels(formula: NNF, variable: int) -> bool:
    """Whether the formula is the same, node by node, in either state of the variable, so that it does not matter."""
    name = formula.variables[variable].name
    one, other = (formula.condition({name: formula.variables[variable].text(state)}) for state in (0, 1))
    return one == other


def _by_diagram(circuit: Circuit, formula: NNF, protected: Collection[Variable]) -> tuple[States, States] | None:
    delta = from_nnf(formula)
    diagram = Diagram(good_order((delta,)), limit=DIAGRAM_LIMIT)
    try:
        root = diagram.compile(delta)
        came_from: dict[int, tuple[int, int] | None] = {root: None}  # the node above and the state that leads here
        work = [root]
        while work:
            node = work.pop()
            below = diagram.children[node]
            if below and diagram.order[diagram.level[node]] in protected:
                return _witness(circuit, diagram, node, came_from)
            for state, child in enumerate(below):
                if child not in came_from:
                    came_from[child] = (node, state)
                    work.append(child)
    except TooLarge:
        raise TooLarge(
            f"no biased decision was found, but proving that there is none takes a diagram of more than {DIAGRAM_LIMIT}"
            " nodes; ask about one decision instead",
            limit=DIAGRAM_LIMIT,
        ) from None
    return None


def _witness(
    circuit: Circuit, diagram: Diagram, node: int, came_from: Mapping[int, tuple[int, int] | None]
) -> tuple[States, States]:
    """Two instances that come to a node, part there by its variable, and are decided differently below it."""
    low, high = diagram.children[node]
    parted = (low, diagram.negation(high)), (diagram.negation(low), high)  # one of the two holds somewhere
    world = next(found for pair in parted if (found := diagram.world(diagram.joined(AND, pair))) is not None)
    tested = diagram.order[diagram.level[node]]
    step = came_from[node]
    while step is not None:
        above, state = step
        world[diagram.order[diagram.level[above]]] = state
        step = came_from[above]
    one, other = (
        tuple({**world, tested: side}.get(v, 0) if n in circuit.tested else -1 for n, v in enumerate(circuit.variables))
        for side in (0, 1)
    )
    return one, other
