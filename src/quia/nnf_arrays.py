"""The flat arrays of a formula without negations, and the passes over all of its nodes, most of them the kernel's.

`nnf.NNF` is made of them; `dag` says what they share with the other way of keeping a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.caching import cached_property
from quia.dag import AND, FALSE, LITERAL, TRUE, Ints, fold, with_last_uses
from quia.literal import Literal, State
from quia.pickling import ByFields
from quia.ranges import Ranges, covers
from quia.variables import Variable

KINDS = ("false", "true", "literal", "and", "or")
Node = tuple[int, int, int, tuple[int, ...]]
"""For plain loops: kind, variable, state, children."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class FlatFormula(ByFields):
    """Nodes as ints, children before parents, the root last; a literal is a variable and one or some of its states.

    `kind[n]` is one of FALSE, TRUE, LITERAL, AND, OR; a literal is state `state[n]` of variable `variable[n]`, or, if
    `state[n]` is -2 - k, one of the states in `sets[k]`: two or more, but not all, or one of a line; the children of
    node n are `child[child_start[n]] … child[child_start[n+1] - 1]`.
    """

    variables: tuple[Variable, ...]
    kind: Ints
    variable: Ints
    state: Ints
    child_start: Ints
    child: Ints
    sets: tuple[Ranges, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.kind, self.variable, self.state, self.child_start, self.child):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def node_count(self) -> int:
        """How many nodes there are, shared ones counted once."""
        return len(self.kind)

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return len(self.child)

    @cached_property
    def kernel(self) -> _kernel.Nnf:
        """The formula in the compiled kernel, which knows a literal's variable, not its state."""
        return self._in_kernel(self.variable)

    def _in_kernel(self, literal: Ints) -> _kernel.Nnf:
        return _kernel.Nnf(
            self.kind.astype(np.uint8),
            literal.astype(np.int32),
            self.child_start.astype(np.int64),
            self.child.astype(np.int32),
        )

    @cached_property
    def literals(self) -> Ints:
        """The numbers of the nodes that are literals."""
        return np.flatnonzero(self.kind == LITERAL)

    def literal(self, variable: int, state: int) -> Literal:
        """What a literal with these numbers says."""
        known = self.variables[variable]
        return State(known, state) if state >= 0 else Literal(known, self.sets[-2 - state])

    def hold(self, variables: Ints, states: Ints, instance: Ints) -> npt.NDArray[np.bool_]:
        """Whether each of these literals, by their numbers, holds for an encoded instance."""
        own = instance[variables]
        found: npt.NDArray[np.bool_] = np.equal(own, states)
        for place in np.flatnonzero(states < -1).tolist() if self.sets else ():
            found[place] = covers(self.sets[-2 - states[place]], own[place])
        return found

    def fates(self, choose: Callable[[Ints, Ints], Any]) -> npt.NDArray[np.uint8]:
        """What becomes of each literal, as the kernel takes it: `choose` gets the literals' variables and states."""
        fate = np.zeros(len(self), np.uint8)
        fate[self.literals] = choose(self.variable[self.literals], self.state[self.literals])
        return fate

    def values(self, true: Callable[[Ints, Ints], Any]) -> npt.NDArray[np.bool_]:
        """Whether each node is true; `true` tells of the literals' variables and states, whole arrays, which are."""
        return self.kernel.values(self.fates(true)).astype(bool)

    def replaced(self, choose: Callable[[Ints, Ints], Any]) -> Self:
        """The formula with its literals replaced, constants and repeated nodes simplified away. Complexity: linear.

        `choose` gets the literals' variables and states, whole arrays, and says which are ⊥ (0), ⊤ (1) or stay (2).
        """
        kernel, states = self._by_state
        kind, literal, child_start, child = kernel.replaced(self.fates(choose))
        variable, state = states[:, literal]
        return replace(self, kind=kind, variable=variable, state=state, child_start=child_start, child=child)

    @cached_property
    def _by_state(self) -> tuple[_kernel.Nnf, Ints]:
        """The formula in the kernel, with a number for each state that occurs, and the variables and states by number.

        The kernel says -1 where a node is no literal, which as an index leads to the last variable and state, -1 too.
        """
        pairs = np.stack([self.variable[self.literals], self.state[self.literals]])
        states, number = np.unique(pairs, axis=1, return_inverse=True)
        literal = np.full(len(self), -1, np.int32)
        literal[self.literals] = number.ravel()
        return self._in_kernel(literal), np.append(states, [[-1], [-1]], axis=1).astype(self.state.dtype)

    @cached_property
    def mentioned(self) -> tuple[int, ...]:
        """The indices of the variables that occur."""
        return tuple(int(v) for v in np.unique(self.variable[self.kind == LITERAL]))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """For plain loops: each node's kind, variable, state and children."""
        kind, variable, state = self.kind.tolist(), self.variable.tolist(), self.state.tolist()
        start, child = self.child_start.tolist(), self.child.tolist()
        return tuple((kind[n], variable[n], state[n], tuple(child[start[n] : start[n + 1]])) for n in range(len(kind)))

    def walk(self) -> Iterator[tuple[int, str, str | None, tuple[int, ...]]]:
        """Every node, children first: its number, kind, what it says if it is a literal, its children."""
        for number, (kind, variable, state, children) in enumerate(self.nodes):
            yield number, KINDS[kind], str(self.literal(variable, state)) if kind == LITERAL else None, children

    def fold(
        self,
        constant: Callable[[bool], T],
        literal: Callable[[int, int], T],
        conjunction: Callable[[list[T]], T],
        disjunction: Callable[[list[T]], T],
    ) -> T:
        """One value for the formula from one for each part; every shared node is worked out once.

        A value is let go when the last node that needs it is done, so a deep formula does not hold all of them.
        Complexity: linear in the edges, without recursion.
        """
        nodes, children = self.nodes, [node[3] for node in self.nodes]

        def value(number: int, parts: list[T]) -> T:
            kind, variable, state, _ = nodes[number]
            if kind == LITERAL:
                return literal(variable, state)
            if kind in (TRUE, FALSE):
                return constant(kind == TRUE)
            return conjunction(parts) if kind == AND else disjunction(parts)

        return fold(with_last_uses(range(len(self)), children.__getitem__), children.__getitem__, value)

    def holds(self, is_true: Callable[[int, int], bool]) -> bool:
        """Whether the formula is true where `is_true(variable, state)` says which literals are."""

        def each(variables: Ints, states: Ints) -> list[bool]:
            return [is_true(v, s) for v, s in zip(variables.tolist(), states.tolist(), strict=True)]

        return bool(self.values(each)[-1])
