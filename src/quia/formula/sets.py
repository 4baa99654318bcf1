"""Parts of a formula that speak of one variable only: a state, or a set of states in their order."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from quia.dag import LITERAL, OR
from quia.formula.core import Formula
from quia.ranges import Ranges, union
from quia.variables import Variable


class StateSet(NamedTuple):
    """A variable and some of its states, in their order."""

    variable: Variable
    states: tuple[int, ...]

    @property
    def ranges(self) -> Ranges:
        """The states as ranges."""
        return union((state, state) for state in self.states)


def set_of(node: Formula) -> StateSet | None:
    """What a state, or what `member` makes of several, says; None of any other formula. Complexity: linear."""
    if node.kind == LITERAL and node.variable is not None:
        return StateSet(node.variable, (node.index,))
    variable = node.children[0].variable if node.kind == OR else None
    if variable is None or any(child.variable != variable for child in node.children):
        return None
    states = tuple(child.index for child in node.children)
    return StateSet(variable, states) if all(a < b for a, b in pairwise(states)) else None
