"""Which parts of a formula's gates share variables, found by the kernel in memory linear in the formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quia import _kernel, nnf
from quia.formula.core import AND, CONSTANT_TRUE, NOT, OR, STATE, Formula, children_first
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
    gate = {AND: nnf.AND, OR: nnf.OR}
    kinds: list[int] = []
    literals: list[int] = []
    children: list[tuple[int, ...]] = []
    for node in nodes:
        literal = node.children[0] if node.kind == NOT and node.children[0].kind == STATE else node
        literals.append(-1 if literal.variable is None else variables[literal.variable])
        if literal.variable is not None:
            kinds.append(nnf.LITERAL)
            children.append(())
        elif node.children:
            kinds.append(gate.get(node.kind, nnf.AND))  # the negation of a gate has one part, which shares with none
            children.append(tuple(number[child] for child in node.children))
        else:
            kinds.append(nnf.TRUE if node.kind == CONSTANT_TRUE else nnf.FALSE)
            children.append(())
    flat = _kernel.Nnf(
        np.array(kinds, np.uint8),
        np.array(literals, np.int32),
        np.cumsum([0, *map(len, children)], dtype=np.int64),
        np.array([child for parts in children for child in parts], np.int32),
    )
    flags, shared = flat.sharing(gate[kind])
    listed = tuple(variables)
    return Sharing(
        frozenset(nodes[i] for i in np.flatnonzero(flags).tolist()), frozenset(listed[v] for v in shared.tolist())
    )
