"""Regions: boxes of instances, each feature in some of its states or in any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quia import conditions
from quia.errors import GraphError, InstanceError, did_you_mean, shown
from quia.literal import Literal, all_of
from quia.look import called
from quia.ranges import Ranges, covers, intersection
from quia.variables import UNKNOWN, Variable


@dataclass(frozen=True, slots=True)
class Region:
    """The instances whose variables are in these states; of a variable without `bounds`, any.

    >>> age, sex = Variable.numeric("age", [30, 65]), Variable.nominal("sex", ["F", "M"])
    >>> young = Region.parse([age, sex], {"age": "<= 65", "sex": ["F"]})
    >>> str(young), young.contains((1, 0)), young.contains((2, 0))
    ('age <= 65 and sex=F', True, False)
    """

    variables: tuple[Variable, ...] = field(repr=False)
    bounds: Mapping[int, Ranges] = field(default_factory=dict)

    @staticmethod
    def parse(variables: Sequence[Variable], given: Mapping[str, Any]) -> Region:
        """The region that conditions describe: `"<= 3"`, `"(0.6, 1.5]"`, a state's name, or a list of these.

        What a literal's `text` says is read too: `"<= 3 or missing"`, `"≠ high"`, `"in {low, medium}"`.
        Every instance for which they can hold is in it: where a condition cuts a state in two, the state is.
        """
        index = {variable.name: i for i, variable in enumerate(variables)}
        bounds = {}
        for name, condition in given.items():
            if name not in index:
                raise InstanceError(f"there is no variable {shown(name)}{did_you_mean(name, index)}")
            bounds[index[name]] = _states(variables[index[name]], condition)
        return Region(tuple(variables), bounds)

    @staticmethod
    def at(variables: tuple[Variable, ...], states: Sequence[int], kept: Iterable[int]) -> Region:
        """The instances that have an encoded one's states of the variables that are kept, where it has one."""
        return Region(variables, {v: ((states[v], states[v]),) for v in kept if states[v] != UNKNOWN})

    def states(self, variable: int) -> Ranges:
        """The states that a variable may be in."""
        found = self.bounds.get(variable)
        return ((0, self.variables[variable].size - 1),) if found is None else found

    def intersection(self, other: Region) -> Region:
        """What is in both."""
        if not other.bounds:
            return self
        bounds = dict(self.bounds)
        for variable, ranges in other.bounds.items():
            bounds[variable] = intersection(bounds[variable], ranges) if variable in bounds else ranges
        return Region(self.variables, bounds)

    def replaced(self, changes: Mapping[int, Ranges]) -> Region:
        """The region with other states of some variables."""
        return Region(self.variables, {**self.bounds, **changes})

    @property
    def flat(self) -> tuple[Any, Any, Any, Any]:
        """The bounds as the kernel takes them: the variables, where the ranges of each start, low and high ends."""
        import numpy as np  # which takes longer to import than all else

        bounded = sorted(self.bounds)
        pairs = [pair for v in bounded for pair in self.bounds[v]]
        return (
            np.array(bounded, np.int32),
            np.cumsum([0, *(len(self.bounds[v]) for v in bounded)], dtype=np.int64),
            np.array([low for low, _ in pairs], np.int32),
            np.array([high for _, high in pairs], np.int32),
        )

    @property
    def is_empty(self) -> bool:
        """Whether no instance is in it."""
        return not all(self.bounds.values())

    def contains(self, states: Sequence[int]) -> bool:
        """Whether an encoded instance is in it, whatever its unknown variables are."""
        return all(covers(ranges, states[v]) or states[v] == UNKNOWN for v, ranges in self.bounds.items())

    def nearest(self, states: Sequence[int]) -> tuple[int, ...]:
        """An instance in the region that has an encoded one's states where it can."""
        found = [max(state, 0) for state in states]
        for v, ranges in self.bounds.items():
            found[v] = states[v] if covers(ranges, states[v]) else ranges[0][0]
        return tuple(found)

    @property
    def literals(self) -> Iterator[Literal]:
        """What is said of each variable that has bounds."""
        return (Literal(self.variables[v], ranges) for v, ranges in sorted(self.bounds.items()))

    def __str__(self) -> str:
        return all_of(map(str, self.literals)) or "anything"

    def __repr__(self) -> str:
        if not self.bounds:
            return "Region(anything)"
        bounds = ((self.variables[v], ranges) for v, ranges in sorted(self.bounds.items()))
        texts = (str(Literal(v, ranges)) if ranges else f"{v.name} in {{}}" for v, ranges in bounds)
        return called("Region", texts, len(self.bounds))


def _states(variable: Variable, condition: Any) -> Ranges:
    """The states of a variable for which a condition can hold."""
    several = condition if isinstance(condition, (list, tuple, set, frozenset)) else [condition]
    try:
        if variable.is_numeric:
            found = conditions.states_touched(variable, conditions.alternatives(several))
        else:
            found = conditions.states_listed(variable, several)
    except GraphError as fault:
        raise InstanceError(f"the condition on {variable.name!r} is {shown(condition)}: {fault}") from None
    if not found:
        raise InstanceError(f"the condition on {variable.name!r} is {shown(condition)}, which never holds; widen it")
    return found
