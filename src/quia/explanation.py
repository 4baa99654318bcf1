"""Explanations: the frozen answers that everything else shows."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from quia.arguments import feature_indices, flag, seconds, whole_or_all
from quia.bias import Bias
from quia.classifier import Classifier, loaded
from quia.complete import complete_reason, sustained
from quia.costs import Costs, exact_costs
from quia.counterfactual import Counterfactual, changes
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.families import Answer, Families, Kind
from quia.graph import DecisionGraph
from quia.nnf import NNF
from quia.pickling import ByFields
from quia.reason import State
from quia.reasons import Reasons
from quia.variables import Variable, tested_values

SCHEMA = "quia/explanation/1"


class Shares(dict[str, Fraction]):
    """Feature → its share of the sufficient reasons; a feature that is in none has the share 0."""

    def __missing__(self, feature: str) -> Fraction:
        return Fraction(0)


def explain(
    classifier: Classifier,
    instance: Any,
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
) -> Explanation:
    """Why a classifier decided on an instance as it did; with `against`, why it did not decide for that class.

    `frozen` features cannot change: they count as given, and no reason mentions them. `costs` say what changing a
    feature costs (1 where nothing is said), so that 'shortest' means 'cheapest'.

    >>> import quia
    >>> switch = quia.DecisionGraph.from_dict({
    ...     "quia": 1, "variables": {"E": {"kind": "nominal", "states": ["no", "yes"]}},
    ...     "classes": ["deny", "admit"], "root": "e", "nodes": {
    ...         "e": {"test": "E", "edges": [{"if": ["no"], "to": "d"}, {"if": ["yes"], "to": "a"}]},
    ...         "d": {"class": "deny"}, "a": {"class": "admit"}}})
    >>> print(quia.explain(switch, {"E": "no"}).complete_reason)
    E=no
    """
    classifier = loaded(classifier)
    states = classifier.encode(instance)
    decision = classifier.decide(states)
    index = {v.name: i for i, v in enumerate(classifier.variables)}
    return Explanation(
        classifier,
        _values(classifier, instance),
        states,
        classifier.classes[decision],
        _target(classifier, decision, against),
        feature_indices(index, frozen, "frozen"),
        None if costs is None else exact_costs(classifier.variables, costs),
    )


@dataclass(frozen=True, eq=False)
class Explanation(ByFields):
    """Why one decision was made: `explain` makes it; its reasons are worked out when they are asked for.

    It can be pickled: then what is asked travels, and the reasons are worked out anew.
    """

    classifier: Classifier
    instance: Mapping[str, Any]
    states: tuple[int, ...]
    decision: str
    against: str | None
    frozen_variables: tuple[int, ...]
    costs: Costs | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The classifier's variables."""
        return self.classifier.variables

    @property
    def frozen(self) -> tuple[str, ...]:
        """The features that no change may touch."""
        return tuple(self.variables[v].name for v in self.frozen_variables)

    @cached_property
    def complete_reason(self) -> NNF:
        """The formula that says why (paper Def. 2); ⊤ if nothing could make the decision another one."""
        return complete_reason(self.classifier, self.states, against=self.against, frozen=self.frozen_variables)

    @property
    def is_constant(self) -> bool:
        """Whether no change of features that may change can change the decision: its complete reason is ⊤."""
        return self._holds_whatever(set(range(len(self.variables))).difference(self.frozen_variables))

    def _holds_whatever(self, changing: Collection[int]) -> bool:
        """Whether the decision sticks whatever these variables are, all others kept, frozen or not."""
        if isinstance(self.classifier, DecisionGraph):
            return self.classifier.holds_without(self.states, changing, against=self.against)
        kept = np.ones(len(self.variables), bool)
        kept[list(changing)] = False
        return bool(self._unfrozen_reason.values(lambda variables, _: kept[variables])[-1])

    @cached_property
    def _unfrozen_reason(self) -> NNF:
        """The complete reason with no feature held fixed."""
        if not self.frozen_variables:
            return self.complete_reason
        return complete_reason(self.classifier, self.states, against=self.against)

    def necessary_reasons(
        self, *, shortest: bool = False, limit: int | None = None, timeout: float | None = None
    ) -> Reasons:
        """Minimal sets of facts which, altered properly, change the decision (prime implicates)."""
        return self._reasons("necessary", shortest, limit, timeout)

    def sufficient_reasons(
        self, *, shortest: bool = False, limit: int | None = None, timeout: float | None = None
    ) -> Reasons:
        """Minimal sets of facts that alone force the decision (prime implicants)."""
        return self._reasons("sufficient", shortest, limit, timeout)

    def _reasons(self, kind: Kind, shortest: bool, limit: int | None, timeout: float | None) -> Reasons:
        # A method and its arguments, unlike a lambda, can be pickled.
        search = partial(self._answer, kind, shortest=flag(shortest, "shortest"), timeout=seconds(timeout))
        return Reasons(kind, self.variables, self.states, whole_or_all(limit), search)

    def _answer(self, kind: Kind, *, shortest: bool, timeout: float | None) -> Answer:
        return self._families.answer(kind, shortest=shortest, timeout=timeout)

    @cached_property
    def _families(self) -> Families:
        if not isinstance(self.classifier, DecisionGraph):
            return Families.of(self.complete_reason.find_necessary, self.costs)
        find = partial(self.classifier.find_necessary, self.states, against=self.against, frozen=self.frozen_variables)
        return Families.of(find, self.costs)

    def count_necessary(self) -> int:
        """How many necessary reasons there are, exactly."""
        return self._count("necessary")

    def count_sufficient(self) -> int:
        """How many sufficient reasons there are, exactly."""
        return self._count("sufficient")

    def _count(self, kind: Kind) -> int:
        return self._reasons(kind, False, None, None).exact_count()

    def importance(self) -> Shares:
        """For each feature the share of the sufficient reasons that it is in, exactly; the largest first."""
        counts = self.sufficient_reasons().counts_by_feature()
        ranked = sorted(counts, key=lambda name: -counts[name])
        total = self.count_sufficient()
        return Shares({name: Fraction(counts[name], total) for name in ranked})

    def counterfactuals(self, *, limit: int | None = None) -> tuple[Counterfactual, ...]:
        """The nearest changed instances: the fewest (with costs, the cheapest) changes that change the decision.

        Each way to change just the features of a shortest necessary reason for which the class really changes
        (against a class: becomes that class).
        """
        most = whole_or_all(limit)
        shortest = (self._members(reason) for reason in self.necessary_reasons(shortest=True))
        sustains = sustained(self.classifier, self.states, self.against)
        found = changes(self.classifier, self.states, shortest, sustains=sustains)
        return tuple(islice(found, most))

    def _members(self, reason: Iterable[State]) -> tuple[int, ...]:
        return tuple(self._index[state.feature] for state in reason)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self.variables)}

    def is_congruent(self, other_instance: Any) -> bool:
        """Whether another instance is decided the same for a common reason: their shared states force the decision.

        Paper: Def. 4, Prop. 9. Frozen or not, features may differ. Against a class, the decision is: not that class.
        """
        states = self.classifier.encode(other_instance)
        return self._holds_whatever({v for v in self.classifier.tested if states[v] != self.states[v]})

    def holds_without(self, features: Collection[str]) -> bool:
        """Whether the decision would stick whatever these features were, all others kept.

        Against a class, it sticks as long as it is not that class.
        Complexity: linear in the complete reason.
        """
        return self._holds_whatever(feature_indices(self._index, features, "features", or_one=True))

    def bias(self, protected: Collection[str]) -> Bias:
        """Whether the decision can change, against a class: to that class, by changing protected features alone."""
        guarded = feature_indices(self._index, protected, "protected", or_one=True)
        names = tuple(self.variables[v].name for v in guarded)
        if self.holds_without(names):
            return Bias(names, False, self.decision, against=self.against)
        others = [v.name for i, v in enumerate(self.variables) if i not in guarded]
        within = explain(self.classifier, self.instance, against=self.against, frozen=others, costs=self._given_costs())
        change = within.counterfactuals(limit=1)[0]
        reasons = tuple(within.necessary_reasons())
        return Bias(names, True, self.decision, reasons, change.changes, change.decision, self.against)

    def _given_costs(self) -> dict[str, Fraction] | None:
        if self.costs is None:
            return None
        return {v.name: c * self.costs.unit for v, c in zip(self.variables, self.costs.whole, strict=True)}

    def to_dict(
        self, *, limit: int | None = 10, timeout: float | None = None, shortest: bool = False
    ) -> dict[str, Any]:
        """The explanation as plain data, with at most `limit` reasons of each kind and as many counterfactuals."""

        def reasons(found: Reasons) -> dict[str, Any]:
            return {
                "complete": found.complete,
                "count": found.count,
                "reasons": [reason.to_dict() for reason in found],
            }

        necessary = self.necessary_reasons(limit=limit, timeout=timeout, shortest=shortest)
        sufficient = self.sufficient_reasons(limit=limit, timeout=timeout, shortest=shortest)
        return {
            "schema": SCHEMA,
            "instance": {name: _plain(value) for name, value in self.instance.items()},
            "states": {self.variables[v].name: self.variables[v].text(self.states[v]) for v in self.classifier.tested},
            "decision": self.decision,
            "against": self.against,
            "necessary": reasons(necessary),
            "sufficient": reasons(sufficient),
            "counterfactuals": [change.to_dict() for change in self.counterfactuals(limit=limit)],
        }

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(**options), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        from quia.show.text import explanation_text

        return explanation_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of `quia report`."""
        from quia.show.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        question = f"why not {self.against!r}" if self.against is not None else "why"
        return f"<Explanation: {question}, decision {self.decision!r}>"


def _target(classifier: Classifier, decision: int, against: str | None) -> str | None:
    if against is None:
        return None
    if against not in classifier.classes:
        raise InstanceError(
            f"against is {shown(against)}; the classes are {listed(classifier.classes)}"
            f"{did_you_mean(against, classifier.classes)}"
        )
    if against == classifier.classes[decision]:
        raise InstanceError(
            f"the decision is {against!r} already, so there is no 'why not {against}'; ask why it is, or against"
            " another class"
        )
    return against


def _values(classifier: Classifier, instance: Any) -> dict[str, Any]:
    """The instance's values of the classifier's variables, by name; those not tested only where they are given."""
    variables = classifier.variables
    if isinstance(instance, Mapping) or hasattr(instance, "keys"):
        given = set(instance.keys())
        return {v.name: instance[v.name] for v in variables if v.name in given}
    every = range(len(variables))
    return {variables[i].name: value for i, value in zip(every, tested_values(variables, every, instance), strict=True)}


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


_MOST_BITS = 10_000  # Python writes larger numbers in no other way
