"""What people are, as far as it is known: a value that is missing is no group that somebody could be in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from quia.asking import Terms
from quia.ranges import Ranges, difference
from quia.variables import Variable


def known_states(variable: Variable, states: Ranges) -> Ranges:
    """Some states of a variable but that of missing values, unless there is no other among them.

    >>> known_states(Variable.numeric("age", [30], missing=True), ((0, 2),))
    ((0, 1),)
    """
    missing = len(variable.cuts) + 1 if variable.missing else None
    if variable.labels is not None:
        missing = None if variable.no_value is None else variable.labels.index(variable.no_value)
    return states if missing is None else difference(states, ((missing, missing),)) or states


def with_known(terms: Terms, variables: Iterable[int]) -> Terms:
    """The terms in which values of some variables are known."""
    worlds = terms.worlds
    bounds = {v: known_states(terms.variables[v], worlds.possible.states(v)) for v in variables}
    return replace(terms, worlds=replace(worlds, possible=worlds.possible.replaced(bounds)))
