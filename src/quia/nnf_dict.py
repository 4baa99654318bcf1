"""An NNF as plain data, and back: what `NNF.to_dict` writes and `NNF.from_dict` reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from quia.conditions import Condition, alternatives, states_named, states_where
from quia.cuts import Cut, Interval
from quia.dag import AND, FALSE, LITERAL, TRUE
from quia.errors import FormatError, GraphError, listed, shown
from quia.literal import Literal
from quia.nnf import NNF, from_nodes
from quia.nnf_arrays import KINDS, Node
from quia.ranges import Ranges, size
from quia.variables import MISSING, Variable

SCHEMA = "quia/nnf/1"
WITH_SETS = "quia/nnf/2"
"""The schema of a formula in which a literal may have several states, as conditions."""


def write(formula: NNF) -> dict[str, Any]:
    """The formula's nodes, children first, the root last."""
    nodes: list[Any] = []
    for kind, variable, state, children in formula.nodes:
        if kind == LITERAL and state >= 0:
            nodes.append({"literal": [formula.variables[variable].name, formula.variables[variable].text(state)]})
        elif kind == LITERAL:
            nodes.append({"condition": formula.literal(variable, state).condition})
        elif kind in (TRUE, FALSE):
            nodes.append({"constant": kind == TRUE})
        else:
            nodes.append({KINDS[kind]: list(children)})
    return {"schema": WITH_SETS if any("condition" in node for node in nodes) else SCHEMA, "nodes": nodes}


def read(data: Any, variables: Iterable[Variable]) -> NNF:
    """The formula over these variables; the conjunction of nothing is ⊤, the disjunction of nothing ⊥."""
    nodes = data.get("nodes") if isinstance(data, Mapping) else None
    if (
        not isinstance(data, Mapping)
        or data.get("schema") not in (SCHEMA, WITH_SETS)
        or not isinstance(nodes, (list, tuple))
        or not nodes
    ):
        raise FormatError(
            f"{shown(data)} is no formula; it must have 'schema': '{SCHEMA}' or '{WITH_SETS}' and a list of 'nodes'"
        )
    reader = _Reader(tuple(variables), has_sets=data["schema"] == WITH_SETS)
    made = [reader.node(node, number) for number, node in enumerate(nodes)]
    return from_nodes(reader.variables, made, tuple(reader.sets))


class _Reader:
    """Reads nodes, and collects the sets of states in them."""

    def __init__(self, variables: tuple[Variable, ...], *, has_sets: bool) -> None:
        self.variables, self.has_sets = variables, has_sets
        self.index = {v.name: i for i, v in enumerate(variables)}
        self.by_text: dict[int, dict[str, int]] = {}
        self.sets: dict[Ranges, int] = {}

    def node(self, node: Any, number: int) -> Node:
        kind, value = next(iter(node.items())) if isinstance(node, Mapping) and len(node) == 1 else (None, None)
        if kind == "constant" and isinstance(value, bool):
            return (TRUE if value else FALSE, -1, -1, ())
        found = None
        if kind == "literal":
            found = self._state(value)
        elif kind == "condition" and self.has_sets:
            found = self._set(value)
        elif (
            kind in ("and", "or")
            and isinstance(value, (list, tuple))
            and all(type(child) is int and 0 <= child < number for child in value)
        ):
            gate = KINDS.index(kind)
            return (gate, -1, -1, tuple(value)) if value else (TRUE if gate == AND else FALSE, -1, -1, ())
        if found is not None:
            return found
        literal = "a literal or condition" if self.has_sets else "a literal"
        raise FormatError(
            f"node {number} of the formula is {shown(node)}; it must be {literal} of {listed(self.index)}, a constant,"
            " or 'and' / 'or' of nodes before it"
        )

    def _state(self, value: Any) -> Node | None:
        """The literal of a feature and a state's text."""
        if not (isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(text, str) for text in value)):
            return None
        variable = self.index.get(value[0])
        if variable is None:
            return None
        known = self.variables[variable]
        if known.is_line:
            number = _number_state(known, value[1])
            return None if number is None else (LITERAL, variable, number, ())
        if variable not in self.by_text:
            self.by_text[variable] = {known.text(state): state for state in range(known.size)}
        state = self.by_text[variable].get(value[1])
        return None if state is None else (LITERAL, variable, state, ())

    def _set(self, condition: Any) -> Node | None:
        """The literal of a condition, which must be told as `Literal.condition` tells it, but for its text."""
        feature = condition.get("feature") if isinstance(condition, Mapping) else None
        variable = self.index.get(feature) if isinstance(feature, str) else None
        if variable is None:
            return None
        known = self.variables[variable]
        ranges = _states_of(known, condition)
        if not ranges or {**Literal(known, ranges).condition, "text": None} != {**condition, "text": None}:
            return None
        if size(ranges) == known.size > 1:
            return (TRUE, -1, -1, ())
        state = ranges[0][0] if size(ranges) == 1 else -2 - self.sets.setdefault(ranges, len(self.sets))
        return (LITERAL, variable, state, ())


def _number_state(variable: Variable, text: str) -> int | None:
    """The state of a line with this text, None if there is none."""
    try:
        states = states_where(variable, alternatives([text]))
    except GraphError:
        return None
    return states[0][0] if size(states) == 1 and variable.text(states[0][0]) == text else None


def _states_of(variable: Variable, condition: Mapping[str, Any]) -> Ranges:
    """The states that a condition admits, as far as it can be read; none where it cannot."""
    parts = condition.get("intervals" if variable.is_numeric else "in")
    if not isinstance(parts, (list, tuple)):
        return ()
    if not variable.is_numeric:
        try:
            return states_named(variable, parts)
        except GraphError:
            return ()
    wanted: list[Condition] = [MISSING] if condition.get("missing") is True and variable.missing else []
    for part in parts:
        if not (isinstance(part, Mapping) and _is_end(part.get("low")) and _is_end(part.get("high"))):
            return ()
        low, high = part.get("low"), part.get("high")
        lower = None if low is None else Cut(float(low), after=part.get("low_closed") is False)
        upper = None if high is None else Cut(float(high), after=part.get("high_closed") is True)
        wanted.append(Interval(lower, upper))
    return states_where(variable, wanted)


def _is_end(value: Any) -> bool:
    """Whether a value is no bound, or a number that 64 bits can hold."""
    if value is None or type(value) is float:
        return value is None or math.isfinite(value)
    return type(value) is int and value.bit_length() < 1024
