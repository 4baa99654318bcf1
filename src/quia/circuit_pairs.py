"""Contrasts of a circuit: whether its function depends on a variable, or falls or rises with it.

Two instances that differ in several variables and are decided differently can be led one into the other by changing one
variable at a time, and somewhere on the way the decision changes; so one variable at a time is enough. And a circuit
has two classes, so that without an order any two such instances will do, in one order or the other.

First instances are tried, drawn from both classes: of each it is told in linear time whether changing these variables
alone can change its decision. That finds most pairs and proves no absence. What is left is decided by compiling a class
formula into a decision diagram, which tests a variable just if the function depends on it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quia.circuit import Circuit, literals_to_negate
from quia.dag import AND
from quia.errors import TooLarge
from quia.formula import from_nnf
from quia.formula.diagram import Diagram, Node, good_order
from quia.nnf import NNF
from quia.patience import Clock
from quia.region import Region
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.contrast import Contrast

States = tuple[int, ...]
Pair = tuple[States, States]

TRIES = 64
"""How many instances are tried before a diagram is compiled."""

DIAGRAM_LIMIT = 200_000
"""How many nodes the diagram may have."""


def find_pair(circuit: Circuit, contrast: Contrast, possible: Region, clock: Clock) -> Pair | None:
    """Two instances in a region that a contrast looks for; None if there are none.

    Complexity: linear for each instance tried; then that of compiling, TooLarge if it takes more nodes than the limit.
    """
    asked = _Asked(circuit, contrast, possible)
    return asked.tried(clock) or asked.proved(clock)


class _Asked:
    """A contrast of a circuit in a region.

    `changing` are the variables that may change, tested and with both states possible; `wanted` are the pairs of
    classes at their states 0 and 1.
    """

    def __init__(self, circuit: Circuit, contrast: Contrast, possible: Region) -> None:
        self.circuit, self.possible, self.contrast = circuit, possible, contrast
        self.only = {v: r[0][0] for v, r in possible.bounds.items() if r in (((0, 0),), ((1, 1),))}
        self.changing = [v for v in circuit.tested if v in contrast.changing and v not in self.only]
        self.wanted = set(contrast.classes)
        if contrast.order is None:
            self.wanted |= {(b, a) for a, b in contrast.classes}
        elif len(contrast.order) < 2:
            self.wanted = set()
        elif contrast.order[0] > contrast.order[1]:
            self.wanted = {(b, a) for a, b in contrast.classes}
        if possible.is_empty or not self.wanted:
            self.changing = []

    def tried(self, clock: Clock) -> Pair | None:
        """A pair among instances that are drawn; None proves nothing."""
        circuit, rng = self.circuit, random.Random(0)  # the same answer every time
        drawing = [_Drawing(circuit, label, self.only) for label in (0, 1)]
        for _ in range(TRIES if self.changing else 0):
            for drawn in drawing:
                clock()
                states = drawn.instance(rng)
                for other in self._changed(states):
                    found = self._ordered(states, other)
                    if found is not None:
                        return found
        return None

    def _changed(self, states: States) -> Iterable[States]:
        """What changing variables make of an instance: the one that can, or what is decided otherwise."""
        if self.contrast.order is not None:
            return (tuple(1 - s if v in self.changing else s for v, s in enumerate(states)),)
        label = self.circuit.decide(states)
        if self.circuit.formulas[label] is None:
            return ()
        kept = set(self.circuit.tested).difference(self.changing)
        free = self.possible.replaced(Region.at(self.circuit.variables, states, kept).bounds)
        other = self.circuit.outside(label, states, free)
        return () if other is None else (other,)

    def _ordered(self, one: Sequence[int], other: Sequence[int]) -> Pair | None:
        """The two instances as the contrast has first and second; None if they are no such pair."""
        for pair in ((one, other), (other, one)):
            classes = (self.circuit.decide(pair[0]), self.circuit.decide(pair[1]))
            if classes in self.contrast.classes and self._in_order(*pair):
                return self._within(pair[0]), self._within(pair[1])
        return None

    def _in_order(self, one: Sequence[int], other: Sequence[int]) -> bool:
        order = self.contrast.order
        (v, *_) = self.contrast.changing
        return order is None or order.index(one[v]) < order.index(other[v])

    def _within(self, states: Sequence[int]) -> States:
        """The instance as far as it is tested; of the rest, what is possible, where that is bounded."""
        tested = self.circuit.tested
        return tuple(state if v in tested else self.only.get(v, UNKNOWN) for v, state in enumerate(states))

    def proved(self, clock: Clock) -> Pair | None:
        """A pair, or the proof that there is none, from a diagram."""
        label, formula = min(
            ((label, each) for label, each in enumerate(self.circuit.formulas) if each is not None),
            key=lambda pair: len(pair[1]),
        )
        given = {self.circuit.variables[v].name: self.circuit.variables[v].text(s) for v, s in self.only.items()}
        left = formula.condition(given) if given else formula
        mattering = [self.circuit.variables[v] for v in self.changing if not _cancels(left, v)]
        holds = {(a == label, b == label) for a, b in self.wanted}
        return self._by_diagram(left, mattering, holds, clock) if mattering else None

    def _by_diagram(
        self, formula: NNF, changing: Collection[Variable], holds: Collection[tuple[bool, bool]], clock: Clock
    ) -> Pair | None:
        """A pair where a node of the diagram tests a changing variable and the formula `holds` so below it."""
        delta = from_nnf(formula)
        diagram = _Timed(good_order((delta,)), clock)
        try:
            root = diagram.compile(delta)
            came_from: dict[int, tuple[int, int] | None] = {root: None}  # the node above and the state that leads here
            work = [root]
            while work:
                clock()
                node = work.pop()
                below = diagram.children[node]
                if below and diagram.order[diagram.level[node]] in changing:
                    world = _parted(diagram, node, holds)
                    if world is not None:
                        return self._witness(diagram, node, world, came_from)
                for state, child in enumerate(below):
                    if child not in came_from:
                        came_from[child] = (node, state)
                        work.append(child)
        except TooLarge:
            raise TooLarge(
                f"no such pair was found, but proving that there is none takes a diagram of more than {DIAGRAM_LIMIT}"
                " nodes",
                limit=DIAGRAM_LIMIT,
            ) from None
        return None

    def _witness(
        self,
        diagram: Diagram,
        node: Node,
        world: dict[Variable, int],
        came_from: Mapping[int, tuple[int, int] | None],
    ) -> Pair | None:
        """Two instances that come to a node, part there by its variable, and are as a world below it."""
        tested = diagram.order[diagram.level[node]]
        step = came_from[node]
        while step is not None:
            above, state = step
            world[diagram.order[diagram.level[above]]] = state
            step = came_from[above]
        one, other = (
            tuple(self.only.get(n, {**world, tested: side}.get(v, 0)) for n, v in enumerate(self.circuit.variables))
            for side in (0, 1)
        )
        return self._ordered(one, other)


class _Timed(Diagram):
    """A diagram that is made while a clock runs."""

    def __init__(self, order: Sequence[Variable], clock: Clock) -> None:
        super().__init__(order, limit=DIAGRAM_LIMIT)
        self.clock = clock

    def node(self, level: int, children: tuple[Node, ...]) -> Node:
        """The node with these children, as long as there is time."""
        self.clock()
        return super().node(level, children)


class _Drawing:
    """Instances of one class at random, or of any where there is no formula to draw from.

    The formula of the other class is made false, which a random choice among conjuncts does in random ways. Some
    variables have `only` one state.
    """

    def __init__(self, circuit: Circuit, label: int, only: Mapping[int, int]) -> None:
        self.count, self.tested, self.only = len(circuit.variables), circuit.tested, only
        self.formula = circuit.formulas[1 - label]
        # Constants and what has one state apart, everything can be made false.
        known = np.array([only.get(v, -1) for v in range(self.count)])
        self.valid = None if self.formula is None else self.formula.values(lambda v, s: known[v] == s)

    def instance(self, rng: random.Random) -> States:
        states = [-1] * self.count
        for v in self.tested:
            states[v] = self.only.get(v, rng.randrange(2))
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


def _parted(diagram: Diagram, node: Node, holds: Collection[tuple[bool, bool]]) -> dict[Variable, int] | None:
    """States of what is tested below a node with which its two children hold, or do not, in one of these ways."""
    for ways in sorted(holds):
        sides = [
            child if is_true else diagram.negation(child)
            for child, is_true in zip(diagram.children[node], ways, strict=True)
        ]
        world = diagram.world(diagram.joined(AND, sides))
        if world is not None:
            return world
    return None
