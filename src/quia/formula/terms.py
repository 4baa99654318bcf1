"""Positive terms, as callers give them: what a formula is conditioned on, and what is quantified from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quia.dag import AND
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.formula.core import TRUE, Formula, parts_of
from quia.variables import Variable


def positive_term(term: Any, variables: Sequence[Variable]) -> dict[Variable, int]:
    """A positive term over a formula's variables, as the state of each of its variables.

    It is a formula that is a positive term, an iterable of states, or a mapping from name to value. A mapping that
    names all of the variables is an instance, and may name others; if it leaves one out, each name must be of one.
    """
    if isinstance(term, Mapping):
        by_name = {variable.name: variable for variable in variables}
        if len(by_name) < len(variables):
            raise InstanceError("two variables of the formula have the same name; give states instead of names")
        if any(name not in term for name in by_name):
            for name in term:
                if name not in by_name:
                    raise InstanceError(
                        f"the formula mentions no variable {shown(name)}{did_you_mean(name, by_name)}, only"
                        f" {listed(by_name)}; if it is meant, give its state, a formula, instead of its name"
                    )
        return {by_name[name]: by_name[name].encode(value) for name, value in term.items() if name in by_name}
    literals = list(parts_of(term, AND)) if isinstance(term, Formula) else list(term)
    given: dict[Variable, int] = {}
    for literal in literals:
        if literal is TRUE:
            continue
        if not isinstance(literal, Formula) or literal.variable is None:
            raise InstanceError(f"{shown(literal)} is no state; a positive term has only states, one of each variable")
        if given.setdefault(literal.variable, literal.index) != literal.index:
            raise InstanceError(f"the term gives {literal.variable.name!r} two states; it may give each variable one")
    return given
