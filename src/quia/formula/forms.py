"""Turning a formula into an equivalent one of a better form."""

from __future__ import annotations

from quia.dag import AND, NOT, OR
from quia.formula.core import FALSE, TRUE, Formula, children_first, joined, member, negation


def negation_normal_form(formula: Formula) -> Formula:
    """The formula with negations moved down to the states by de Morgan's laws. Complexity: linear."""
    opposite = {TRUE: FALSE, FALSE: TRUE}
    plain: dict[Formula, Formula] = {}
    negated: dict[Formula, Formula] = {}
    for node in children_first(formula):
        if node.kind == NOT:
            plain[node], negated[node] = negated[node.children[0]], plain[node.children[0]]
        elif node.kind in (AND, OR):
            plain[node] = joined(node.kind, (plain[child] for child in node.children))
            negated[node] = joined(OR if node.kind == AND else AND, (negated[child] for child in node.children))
        else:
            plain[node] = node
            negated[node] = opposite[node] if node in opposite else negation(node)
    return plain[formula]


def positive_form(formula: Formula) -> Formula:
    """The NNF with each negated state x̄ᵢ replaced by the disjunction of the variable's other states (paper §2)."""

    def positive(node: Formula, parts: list[Formula]) -> Formula:
        if node.kind != NOT:
            return joined(node.kind, parts)
        variable, index = parts[0].variable, parts[0].index
        assert variable is not None
        return member(variable, (other for other in range(variable.size) if other != index))

    return negation_normal_form(formula).fold(lambda node: node, positive)
