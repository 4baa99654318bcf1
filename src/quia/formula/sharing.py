"""Which parts of a formula's gates share variables, found by the kernel in memory linear in the formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quia import _kernel
from quia.dag import AND, LITERAL, NOT, flat
from quia.formula.core import Formula, children_first
from quia.variables import Variable


class Sharing(NamedTuple):
    """The gates of one kind two of whose parts mention the same variable, and the variables that are so shared."""

    gates: frozenset[Formula]
    variables: frozenset[Variable]


def sharing(formula: Formula, kind: int) -> Sharing:
    """The conjunctions (disjunctions) whose parts share variables. Complexity: a pass for each 256 variables."""
    nodes = list(children_first(formula))
    number = {node: i for i, node in enumerate(nodes)}
    variables = {variable: i for i, variable in enumerate(formula.variables)}
    kinds: list[int] = []
    literals: list[int] = []
    children: list[tuple[int, ...]] = []
    for node in nodes:
        literal = node.children[0] if node.kind == NOT and node.is_literal else node
        if literal.variable is not None:
            kinds.append(LITERAL)
            literals.append(variables[literal.variable])
            children.append(())
        else:
            kinds.append(AND if node.kind == NOT else node.kind)  # a negation has one part, which shares with none
            literals.append(-1)
            children.append(tuple(number[child] for child in node.children))
    nodes_in_kernel = _kernel.Nnf(np.array(kinds, np.uint8), np.array(literals, np.int32), *flat(children))
    flags, shared = nodes_in_kernel.sharing(kind)
    listed = tuple(variables)
    return Sharing(
        frozenset(nodes[i] for i in np.flatnonzero(flags).tolist()), frozenset(listed[v] for v in shared.tolist())
    )
