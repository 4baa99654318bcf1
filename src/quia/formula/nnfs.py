"""The bridge between discrete formulas and NNFs: from a class formula to the paper's algorithms and to circuits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quia.circuit import Circuit
from quia.errors import GraphError, InstanceError, Unsupported, listed
from quia.formula.core import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    negation,
    state_number,
)
from quia.formula.forms import positive_form
from quia.formula.quantify import forall
from quia.nnf import NNF, Builder
from quia.variables import Variable


def to_nnf(formula: Formula, variables: Iterable[Variable] | None = None) -> NNF:
    """The formula as a positive NNF, which `quia.paper` takes, over its own variables or over these.

    Negations are moved down to the states, x̄ᵢ becomes the disjunction of the variable's other states, and constants are
    simplified away. Complexity: linear, but for negated states of variables with many.

    >>> e, f = Variable.nominal("E", ["no", "yes"]), Variable.nominal("F", ["no", "yes"])
    >>> print(to_nnf(~(state_number(e, 0) | state_number(f, 1))))
    E=yes & F=no
    """
    every = formula.variables if variables is None else tuple(variables)
    number = {variable: i for i, variable in enumerate(every)}
    for variable in formula.variables:
        if variable not in number:
            raise GraphError(
                f"the formula mentions {variable.name!r}, which is not among {listed(v.name for v in every)}"
            )
    build = Builder(every)

    def leaf(node: Formula) -> int:
        if node.variable is None:
            return build.constant(node is TRUE)
        return build.literal(number[node.variable], node.index) if node.variable.size > 1 else build.true

    return build.nnf(positive_form(formula).fold(leaf, lambda node, parts: build.simplified(node.kind, parts)))


def from_nnf(formula: NNF) -> Formula:
    """The NNF as a discrete formula, which can be quantified, compared and compiled.

    A set of states is a disjunction of them. Complexity: linear, in the states of the sets too.
    """

    def literal(variable: int, state: int) -> Formula:
        said = formula.literal(variable, state)
        return disjunction(state_number(said.variable, each) for each in said.states)

    return formula.fold(
        lambda value: TRUE if value else FALSE,
        literal,
        conjunction,
        disjunction,
    )


def complete_reason(instance: Mapping[str, Any], formula: Formula, variables: Iterable[Variable] | None = None) -> NNF:
    """Why a class formula takes an instance: Γ = ∀δ·Δ, a monotone NNF, ready for `quia.paper`.

    The instance gives every variable of the formula a value, and may give others one. If Δ is ∨-decomposable so is Γ,
    and it is made in linear time, without a classifier being compiled. Paper: Def. 2, Prop. 3.

    >>> from quia import paper
    >>> from quia.formula import parse
    >>> e, f, g = (Variable.nominal(name, ["no", "yes"]) for name in "EFG")
    >>> gamma = complete_reason({"E": "yes", "F": "no", "G": "yes"}, parse("E & (F | G)", [e, f, g]))
    >>> print(gamma, paper.ssr(gamma))
    E=yes & G=yes {frozenset({0, 2})}
    """
    if not formula.satisfied_by(instance):
        raise InstanceError(
            "the instance does not satisfy the formula; ask with the formula of the class that it is in"
        )
    given = {v.name: instance[v.name] for v in formula.variables}
    return to_nnf(forall(given, formula), formula.variables if variables is None else variables)


def circuit(
    formula: Formula, variables: Iterable[Variable] | None = None, *, classes: tuple[str, str] = ("0", "1")
) -> Circuit:
    """The circuit that decides for the second class where a formula of Boolean variables holds, and else for the first.

    Nothing is compiled: decisions for a class are explained in closed form if its formula, this one or its negation,
    is ∨-decomposable (of a CNF the formula is, of a DNF its negation). Complexity: linear.

    >>> from quia.formula import parse
    >>> e, f = Variable.nominal("E", ["no", "yes"]), Variable.nominal("F", ["no", "yes"])
    >>> circuit(parse("E | F", [e, f]), classes=("deny", "admit")).classify({"E": "no", "F": "yes"})
    'admit'
    """
    every = formula.variables if variables is None else tuple(variables)
    formulas = [to_nnf(each, every) for each in (negation(formula), formula)]
    usable = [each if each.is_or_decomposable else None for each in formulas]
    if usable[0] is None and usable[1] is None:
        raise Unsupported(
            "neither the formula nor its negation is ∨-decomposable, so no decision has a closed form",
            cure="compile it, with quia.formula.compiled",
        )
    return Circuit(every, tuple(classes), (usable[0], usable[1]), kind="formula")
