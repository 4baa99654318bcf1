"""What is audited: a classifier in the worlds that count, the rows of a table, and how good each class is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import NoneType

from quia.asking import Terms
from quia.auditing.document import Value, Values
from quia.auditing.rows import Rows
from quia.auditing.table import Table
from quia.constrained import Constrained
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.typical import value_in
from quia.variables import UNKNOWN, Variable


@dataclass(frozen=True, eq=False)
class Subject:
    """A classifier, a table, and an order of classes: `rank` says how good each is, the greater the better."""

    terms: Terms
    table: Table
    rows: Rows
    rank: tuple[int, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the classifier that answers."""
        return self.terms.variables

    @property
    def index(self) -> dict[str, int]:
        """The variables by their names."""
        return {variable.name: v for v, variable in enumerate(self.variables)}

    @property
    def model_tests(self) -> frozenset[int]:
        """The variables that the model itself tests; constraints may be about others too."""
        asked = self.terms.classifier
        return frozenset(asked.model.tested if isinstance(asked, Constrained) else asked.tested)

    def instance(self, states: Sequence[int]) -> Values:
        """Values for an instance of which the states are known; what the classifier does not test is left out."""
        return {self.variables[v].name: self.value(v, states[v]) for v in self.terms.classifier.tested}

    def value(self, v: int, state: int) -> Value:
        """A value that is in a state, as JSON can hold it."""
        value = None if state == UNKNOWN else value_in(self.variables[v], state)
        if isinstance(value, float):
            if not isfinite(value):
                return str(value)
            return int(value) if value == int(value) and abs(value) < 2**53 else value
        return value


def ranks(classes: Sequence[str], favourable: Sequence[str]) -> tuple[int, ...]:
    """How good each class is: `favourable` ones are named, the best first; the others are worse, and all alike.

    >>> ranks(["deny", "review", "grant"], ["grant", "review"]), ranks(["no", "yes"], [])
    ((0, 1, 2), (0, 1))
    """
    for name in favourable:
        if name not in classes:
            raise InstanceError(
                f"favourable is {shown(name)}; the classes are {listed(classes)}{did_you_mean(name, classes)}"
            )
        if list(favourable).count(name) > 1:
            raise InstanceError(f"favourable names {shown(name)} twice; name it once")
    best_first = list(favourable) or [classes[-1]]
    return tuple(len(best_first) - best_first.index(name) if name in best_first else 0 for name in classes)


def from_worst_to_best(classes: Sequence[str], rank: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The classes in their order, those that are alike together.

    >>> from_worst_to_best(["a", "b", "c"], [0, 2, 0])
    (('a', 'c'), ('b',))
    """
    return tuple(
        tuple(name for name, own in zip(classes, rank, strict=True) if own == each) for each in sorted(set(rank))
    )


def orders_of(variables: Sequence[Variable], orders: Mapping[str, Sequence[str]] | None) -> dict[int, tuple[int, ...]]:
    """The states of nominal features in orders that are given by their names, the lowest first."""
    index = {variable.name: v for v, variable in enumerate(variables)}
    found: dict[int, tuple[int, ...]] = {}
    if not isinstance(orders, (Mapping, NoneType)):
        raise InstanceError(f'orders is {shown(orders)}; give a mapping such as {{"GPA": ["low", "high"]}}')
    for name, states in (orders or {}).items():
        if name not in index:
            raise InstanceError(f"orders names {shown(name)}, which is no feature{did_you_mean(name, index)}")
        variable = variables[index[name]]
        if variable.labels is None:
            raise InstanceError(f"orders names {shown(name)}, which is a number and has its order; leave it out")
        if not isinstance(states, (list, tuple)) or any(states.count(x) > 1 for x in states) or len(states) < 2:
            raise InstanceError(f"the order of {shown(name)} is {shown(states)}; list at least two states, each once")
        for state in states:
            if state not in variable.labels:
                raise InstanceError(
                    f"the order of {shown(name)} has {shown(state)}; its states are {listed(variable.labels)}"
                    f"{did_you_mean(state, variable.labels)}"
                )
        found[index[name]] = tuple(variable.labels.index(state) for state in states)
    return found
