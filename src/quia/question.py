"""Questions: what is asked about a decision, put once and passed on to whatever answers.

*Why c?* and *why not c\\*?* differ in one thing: which classes keep the decision as it is. For the first it is c alone,
for the second every class but c\\*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quia.caching import cached_property
from quia.costs import Costs
from quia.look import counted, few, tagged
from quia.pickling import ByFields
from quia.region import Region
from quia.variables import UNKNOWN, Variable, tested_values


@dataclass(frozen=True, eq=False)
class Question(ByFields):
    """Why an encoded instance is decided so: every answer is about this, and about nothing else.

    `keeps` are the classes that leave the decision as it is. `possible` is a region with the instance in it, and
    `frozen` are variables that no change may touch: worlds outside of that region, or in which a frozen variable is in
    another state, cannot refute a reason. `against` is the class in 'why not', and `told` says what is possible, both
    for the words alone, as are `own`, the model's variables before what is possible cut them further. A variable in
    state UNKNOWN may be anything that is possible.
    """

    classes: tuple[str, ...]
    states: tuple[int, ...]
    decision: int
    keeps: frozenset[int]
    possible: Region
    against: str | None = None
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None
    told: tuple[str, ...] = ()
    own: tuple[Variable, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The classifier's variables."""
        return self.possible.variables

    def __repr__(self) -> str:
        asked = f"why {self.classes[self.decision]}"
        if self.against is not None:
            asked += f", not {self.against}"
        frozen = f"{few(self.variables[v].name for v in self.frozen)} frozen" if self.frozen else ""
        possible = f"where {few(self.told, 3)}" if self.told else ""
        return tagged("Question", asked, counted(len(self.variables), "feature"), frozen, possible)

    @cached_property
    def within(self) -> Region:
        """The possible worlds: those of `possible` in which what is frozen stays."""
        return self.possible.replaced(Region.at(self.variables, self.states, self.frozen).bounds)

    @property
    def is_only_frozen(self) -> bool:
        """Whether all worlds are possible in which what is frozen stays: what the closed forms answer."""
        return not self.possible.bounds

    def freeze(self, frozen: Collection[int]) -> Question:
        """The same question with other variables frozen."""
        return replace(self, frozen=tuple(sorted(frozen)))

    def worlds(self, kept: Collection[int]) -> Region:
        """The possible worlds in which these variables keep the instance's states."""
        return self.within.replaced(Region.at(self.variables, self.states, kept).bounds)

    def worlds_changing(self, changing: Collection[int]) -> Region:
        """The possible worlds in which only these variables may change, and those that are unknown."""
        may_change = frozenset(changing)
        return self.worlds([v for v in range(len(self.states)) if v not in may_change])

    def differing(self, states: Sequence[int]) -> tuple[int, ...]:
        """The variables in which an encoded instance differs from this one; unknown ones cannot."""
        pairs = enumerate(zip(states, self.states, strict=True))
        return tuple(v for v, (state, own) in pairs if own not in (state, UNKNOWN))


class AboutQuestion:
    """What has a question, and the words for it."""

    question: Question

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The classifier's variables."""
        return self.question.variables

    @property
    def states(self) -> tuple[int, ...]:
        """The state of each variable; UNKNOWN where it is not tested, or its value is missing."""
        return self.question.states

    @property
    def decision(self) -> str:
        """The class that the instance was given."""
        return self.question.classes[self.question.decision]

    @property
    def against(self) -> str | None:
        """The class that it is asked why the decision was not; None for a plain why."""
        return self.question.against

    @property
    def costs(self) -> Costs | None:
        """What changing a feature costs; None where each costs the same."""
        return self.question.costs

    @property
    def frozen(self) -> tuple[str, ...]:
        """The features that no change may touch."""
        return self.names(self.question.frozen)

    def names(self, variables: Iterable[int]) -> tuple[str, ...]:
        """The names of some variables."""
        return tuple(self.variables[v].name for v in variables)


def given_values(variables: Sequence[Variable], instance: Any) -> dict[str, Any]:
    """An instance's values by name; those of variables that are not tested only where they are given."""
    if isinstance(instance, Mapping) or hasattr(instance, "keys"):
        given = set(instance.keys())
        return {v.name: instance[v.name] for v in variables if v.name in given}
    every = range(len(variables))
    return {variables[i].name: value for i, value in zip(every, tested_values(variables, every, instance), strict=True)}
