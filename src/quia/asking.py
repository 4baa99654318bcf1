"""Asking: what callers say of a question, read once, and put about any instance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from quia import conditions
from quia.arguments import feature_indices
from quia.classifier import Classifier
from quia.costs import Costs, exact_costs
from quia.cuts import Cut
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.question import Question
from quia.region import Region
from quia.variables import Variable, decide_instance
from quia.worlds import Worlds, worlds_of


class Asked(NamedTuple):
    """A question about an instance, and the classifier that answers it."""

    classifier: Classifier
    question: Question


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked whatever the instance: against which class (None: why this one), in which worlds, what is frozen.

    `classes` and `own`, its variables, are the model's; the classifier that answers may have one class more, for what
    is impossible, and its variables more cuts.
    """

    classes: tuple[str, ...]
    worlds: Worlds
    against: str | None = None
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None
    own: tuple[Variable, ...] = ()

    @staticmethod
    def of(
        classifier: Classifier,
        *,
        against: str | None = None,
        frozen: Collection[str] = (),
        costs: Mapping[str, Any] | None = None,
        **worlds: Any,
    ) -> Terms:
        """The terms that features and classes name; `worlds` as for `worlds_of`."""
        classes = tuple(classifier.classes)
        if against is not None and against not in classes:
            raise InstanceError(
                f"against is {shown(against)}; the classes are {listed(classes)}{did_you_mean(against, classes)}"
            )
        found = worlds_of(classifier, **worlds)
        variables = found.possible.variables
        return Terms(
            classes,
            found,
            against,
            feature_indices({v.name: i for i, v in enumerate(variables)}, frozen, "frozen"),
            None if costs is None else exact_costs(variables, costs),
            tuple(classifier.variables),
        )

    @property
    def classifier(self) -> Classifier:
        """The classifier that answers."""
        return self.worlds.classifier

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the classifier that answers."""
        return self.worlds.possible.variables

    @property
    def target(self) -> int | None:
        """The index of the class that is asked against."""
        return None if self.against is None else self.classes.index(self.against)

    def keeps(self, decision: int) -> frozenset[int]:
        """The classes that leave a decision as it is; without the decision itself, there is nothing to ask."""
        every = frozenset(range(len(self.classes)))
        own = frozenset((decision,)) if self.target is None else every - {self.target}
        return own | self.worlds.impossible

    def question(self, states: Sequence[int], decision: int, near: Region | None = None) -> Question:
        """The question about an encoded instance that is decided so; `near` is what lies near to it."""
        keeps = self.keeps(decision)
        if decision not in keeps:
            raise InstanceError(
                f"the decision is {self.against!r} already, so there is no 'why not {self.against}'; ask why it is, or"
                " against another class"
            )
        return Question(
            tuple(self.classifier.classes),
            tuple(states),
            decision,
            keeps,
            self.worlds.bounds(states, near),
            self.against,
            self.frozen,
            self.costs,
            self.worlds.told,
            self.own,
        )

    def cutting(self, cuts: Mapping[int, Iterable[Cut]]) -> Terms:
        """The same terms over variables with more cuts."""
        return replace(self, worlds=self.worlds.cutting(cuts))

    def near_to(self, values: Mapping[int, float]) -> tuple[Terms, Region]:
        """The terms cut where the neighbourhood of these values ends, and what lies in it."""
        around = self.worlds.neighbourhood(values)
        cuts = {v: conditions.refined(self.variables[v], [said]).cuts for v, said in around.items()}
        terms = self.cutting({v: new for v, new in cuts.items() if not self.variables[v].is_line})
        bounds = {v: conditions.states_touched(terms.variables[v], [said]) for v, said in around.items()}
        return terms, Region(terms.variables, bounds)

    def at(self, instance: Any) -> Asked:
        """The question about an instance as it is given, which must be possible."""
        terms, near = self.near_to(self.worlds.near_values(instance)) if self.worlds.near else (self, None)
        asked = terms.classifier
        states = asked.encode(instance)
        terms.worlds.check_instance(states, instance)
        return Asked(asked, terms.question(states, decide_instance(asked, states, instance), near))


def ask(classifier: Classifier, instance: Any, **how: Any) -> Asked:
    """The question that a caller puts about an instance as given; `how` is as for `Terms.of`."""
    return Terms.of(classifier, **how).at(instance)


def why(classifier: Classifier, states: Sequence[int]) -> Question:
    """The plain question about an encoded instance: why is it decided so?"""
    return Terms.of(classifier).question(states, classifier.decide(states))
