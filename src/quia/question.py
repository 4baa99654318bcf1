"""Questions: what is asked about a decision, put once and passed on to whatever answers.

*Why c?* and *why not c\\*?* differ in one thing: which classes keep the decision as it is. For the first it is c alone,
for the second every class but c\\*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quia.arguments import feature_indices
from quia.caching import cached_property
from quia.costs import Costs, exact_costs
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.pickling import ByFields
from quia.region import Region
from quia.variables import UNKNOWN, Variable, decide_instance, tested_values

if TYPE_CHECKING:
    from quia.classifier import Classifier


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked whatever the instance: against which class (None: why this one), what is frozen, what it costs."""

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    against: str | None = None
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None

    @staticmethod
    def of(
        classifier: Classifier,
        *,
        against: str | None = None,
        frozen: Collection[str] = (),
        costs: Mapping[str, Any] | None = None,
    ) -> Terms:
        """The terms that features and classes name."""
        variables, classes = tuple(classifier.variables), tuple(classifier.classes)
        if against is not None and against not in classes:
            raise InstanceError(
                f"against is {shown(against)}; the classes are {listed(classes)}{did_you_mean(against, classes)}"
            )
        return Terms(
            variables,
            classes,
            against,
            feature_indices({v.name: i for i, v in enumerate(variables)}, frozen, "frozen"),
            None if costs is None else exact_costs(variables, costs),
        )

    @property
    def target(self) -> int | None:
        """The index of the class that is asked against."""
        return None if self.against is None else self.classes.index(self.against)

    def keeps(self, decision: int) -> frozenset[int]:
        """The classes that leave a decision as it is; without the decision itself, there is nothing to ask."""
        every = frozenset(range(len(self.classes)))
        return frozenset((decision,)) if self.target is None else every - {self.target}

    def question(self, states: Sequence[int], decision: int) -> Question:
        """The question about an encoded instance that is decided so."""
        keeps = self.keeps(decision)
        if decision not in keeps:
            raise InstanceError(
                f"the decision is {self.against!r} already, so there is no 'why not {self.against}'; ask why it is, or"
                " against another class"
            )
        every = Region(self.variables)
        return Question(self.classes, tuple(states), decision, keeps, every, self.against, self.frozen, self.costs)


@dataclass(frozen=True, eq=False)
class Question(ByFields):
    """Why an encoded instance is decided so: every answer is about this, and about nothing else.

    `keeps` are the classes that leave the decision as it is. `possible` is a region with the instance in it, and
    `frozen` are variables that no change may touch: worlds outside of that region, or in which a frozen variable is in
    another state, cannot refute a reason. `against` is the class in 'why not', for the words alone. A variable in state
    UNKNOWN may be anything that is possible.
    """

    classes: tuple[str, ...]
    states: tuple[int, ...]
    decision: int
    keeps: frozenset[int]
    possible: Region
    against: str | None = None
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The classifier's variables."""
        return self.possible.variables

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


def ask(
    classifier: Classifier,
    instance: Any,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
) -> Question:
    """The question that a caller puts about an instance as given."""
    terms = Terms.of(classifier, against=against, frozen=frozen, costs=costs)
    states = classifier.encode(instance)
    return terms.question(states, decide_instance(classifier, states, instance))


def why(classifier: Classifier, states: Sequence[int]) -> Question:
    """The plain question about an encoded instance: why is it decided so?"""
    return Terms.of(classifier).question(states, classifier.decide(states))


def given_values(variables: Sequence[Variable], instance: Any) -> dict[str, Any]:
    """An instance's values by name; those of variables that are not tested only where they are given."""
    if isinstance(instance, Mapping) or hasattr(instance, "keys"):
        given = set(instance.keys())
        return {v.name: instance[v.name] for v in variables if v.name in given}
    every = range(len(variables))
    return {variables[i].name: value for i, value in zip(every, tested_values(variables, every, instance), strict=True)}
