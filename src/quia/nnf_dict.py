"""An NNF as plain data, and back: what `NNF.to_dict` writes and `NNF.from_dict` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from quia.dag import AND, FALSE, LITERAL, TRUE
from quia.errors import FormatError, listed, shown
from quia.nnf import NNF, from_nodes
from quia.nnf_arrays import KINDS, Node
from quia.variables import Variable

SCHEMA = "quia/nnf/1"


def write(formula: NNF) -> dict[str, Any]:
    """The formula's nodes, children first, the root last."""
    nodes: list[Any] = []
    for kind, variable, state, children in formula.nodes:
        if kind == LITERAL:
            nodes.append({"literal": [formula.variables[variable].name, formula.variables[variable].text(state)]})
        elif kind in (TRUE, FALSE):
            nodes.append({"constant": kind == TRUE})
        else:
            nodes.append({KINDS[kind]: list(children)})
    return {"schema": SCHEMA, "nodes": nodes}


def read(data: Any, variables: Iterable[Variable]) -> NNF:
    """The formula over these variables; the conjunction of nothing is ⊤, the disjunction of nothing ⊥."""
    known = tuple(variables)
    nodes = data.get("nodes") if isinstance(data, Mapping) else None
    if (
        not isinstance(data, Mapping)
        or data.get("schema") != SCHEMA
        or not isinstance(nodes, (list, tuple))
        or not nodes
    ):
        raise FormatError(f"{shown(data)} is no formula; it must have 'schema': '{SCHEMA}' and a list of 'nodes'")
    index = {v.name: i for i, v in enumerate(known)}

    @cache
    def states(variable: int) -> dict[str, int]:
        return {known[variable].text(state): state for state in range(known[variable].size)}

    return from_nodes(known, [_node(node, number, index, states) for number, node in enumerate(nodes)])


def _node(node: Any, number: int, index: Mapping[str, int], states: Callable[[int], dict[str, int]]) -> Node:
    kind, value = next(iter(node.items())) if isinstance(node, Mapping) and len(node) == 1 else (None, None)
    if kind == "constant" and isinstance(value, bool):
        return (TRUE if value else FALSE, -1, -1, ())
    if isinstance(value, (list, tuple)):
        if kind == "literal" and len(value) == 2 and all(isinstance(text, str) for text in value):
            variable = index.get(value[0], -1)
            state = states(variable).get(value[1]) if variable >= 0 else None
            if state is not None:
                return (LITERAL, variable, state, ())
        if kind in ("and", "or") and all(type(child) is int and 0 <= child < number for child in value):
            gate = KINDS.index(kind)
            return (gate, -1, -1, tuple(value)) if value else (TRUE if gate == AND else FALSE, -1, -1, ())
    raise FormatError(
        f"node {number} of the formula is {shown(node)}; it must be a literal of {listed(index)}, a constant, or"
        " 'and' / 'or' of nodes before it"
    )
