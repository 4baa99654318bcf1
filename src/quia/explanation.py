"""Explanations: the frozen answers that everything else shows."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.arguments import feature_indices, flag, seconds, whole_or_all
from quia.bias import Bias
from quia.caching import cached_property
from quia.classifier import Classifier, loaded
from quia.complete import complete_reason, sustained
from quia.costs import Costs, exact_costs
from quia.counterfactual import Counterfactuals, changes
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.families import KINDS, Answer, Families, Kind
from quia.graph import DecisionGraph
from quia.nnf import NNF
from quia.patience import Patience
from quia.pickling import ByFields
from quia.reason import State
from quia.reasons import Reasons
from quia.variables import UNKNOWN, Variable, decide_instance, tested_values

if TYPE_CHECKING:
    from quia.even_if import EvenIf

SCHEMA = "quia/explanation/1"


class Shares(dict[str, Fraction]):
    """Feature → its share of the sufficient reasons; a feature that is in none has the share 0."""

    def __missing__(self, feature: str) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True, eq=False)
class Found:
    """What was found of an explanation, within a limit and a time."""

    necessary: Reasons
    sufficient: Reasons
    nearest: Counterfactuals

    @property
    def in_time(self) -> bool:
        """Whether time and memory were enough; a limit is no fault."""
        enough = self.nearest.complete or len(self.nearest) == self.necessary.limit
        return self.necessary.count is not None and self.sufficient.count is not None and enough


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
    feature costs (1 where nothing is said), so that 'shortest' means 'cheapest'. A value may be missing if the decision
    does not depend on it: the reasons then hold whatever it is, and do not mention it.

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
    decision = decide_instance(classifier, states, instance)
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

    @property
    def unknown(self) -> tuple[str, ...]:
        """The features that the classifier tests and whose values are missing: the decision is the same for any."""
        return tuple(self.variables[v].name for v in self.classifier.tested if self.states[v] == UNKNOWN)

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
        return self._found(kind, flag(shortest, "shortest"), whole_or_all(limit), Patience(seconds(timeout)))

    def _found(self, kind: Kind, shortest: bool, limit: int | None, patience: Patience) -> Reasons:
        # A method and its arguments, unlike a lambda, can be pickled.
        search = partial(self._answer, kind, shortest)
        return Reasons(kind, self.variables, self.states, limit, patience, search)

    def _answer(self, kind: Kind, shortest: bool, patience: Patience) -> Answer:
        return self._families.answer(kind, shortest=shortest, patience=patience)

    @cached_property
    def _families(self) -> Families:
        if not isinstance(self.classifier, DecisionGraph):
            return Families.of(self.complete_reason.find_necessary, self.costs)
        find = partial(self.classifier.find_necessary, self.states, against=self.against, frozen=self.frozen_variables)
        return Families.of(find, self.costs)

    def count_necessary(self, *, timeout: float | None = None) -> int:
        """How many necessary reasons there are, exactly; TooLarge if time or memory is not enough."""
        return self.necessary_reasons(timeout=timeout).exact_count()

    def count_sufficient(self, *, timeout: float | None = None) -> int:
        """How many sufficient reasons there are, exactly; TooLarge if time or memory is not enough."""
        return self.sufficient_reasons(timeout=timeout).exact_count()

    def importance(self, *, timeout: float | None = None) -> Shares:
        """For each feature the share of the sufficient reasons that it is in, exactly; the largest first.

        TooLarge if time or memory is not enough.
        """
        reasons = self.sufficient_reasons(timeout=timeout)
        counts = reasons.counts_by_feature()
        ranked = sorted(counts, key=lambda name: -counts[name])
        total = reasons.exact_count()
        return Shares({name: Fraction(counts[name], total) for name in ranked})

    def counterfactuals(self, *, limit: int | None = None, timeout: float | None = None) -> Counterfactuals:
        """The nearest changed instances: the fewest (with costs, the cheapest) changes that change the decision.

        Each way to change just the features of a shortest necessary reason for which the class really changes
        (against a class: becomes that class). Where features are unknown, a change after which the class is that one
        whatever they are is `certain`, and comes before those after which it only could be. The `complete` of what is
        returned says whether limit and time were enough for all.
        """
        return self._nearest(whole_or_all(limit), Patience(seconds(timeout)))

    def _nearest(self, limit: int | None, patience: Patience) -> Counterfactuals:
        reasons = self._found("necessary", True, None, patience)
        shortest = (self._members(reason) for reason in reasons)
        sustains = sustained(self.classifier, self.states, self.against)
        all_known = reasons.found
        with patience.last_step() as poll:
            found = changes(self.classifier, self.states, shortest, sustains=sustains, poll=poll)
            return Counterfactuals.within(found, limit, all_known)

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
        decide_instance(self.classifier, states, other_instance)  # refuses what is not decided
        return self._holds_whatever({v for v in self.classifier.tested if states[v] != self.states[v]})

    def holds_without(self, features: Collection[str]) -> bool:
        """Whether the decision would stick whatever these features were, all others kept.

        Against a class, it sticks as long as it is not that class.
        Complexity: linear in the complete reason.
        """
        return self._holds_whatever(feature_indices(self._index, features, "features", or_one=True))

    def even_if(self, features: Collection[str], *, limit: int | None = None, timeout: float | None = None) -> EvenIf:
        """Whether the decision would have stuck even if these features were otherwise, and because of what.

        It sticks if it is the same (against a class: not that class) whatever they are, all others kept, and then
        because of the sufficient reasons that speak of none of them. Printed, the answer is that sentence; or, if the
        decision would not stick, the fewest (cheapest) changes of these features alone that change it.
        """
        from quia.even_if import even_if

        named = feature_indices(self._index, features, "features", or_one=True)
        return even_if(self, named, limit=limit, timeout=timeout)

    def bias(self, protected: Collection[str], *, limit: int | None = None, timeout: float | None = None) -> Bias:
        """Whether the decision can change, against a class: to that class, by changing protected features alone.

        That is told in linear time. `limit` and `timeout` are for the reasons why, which are found when they are read,
        and `timeout` for the nearest change that proves it.
        """
        guarded = feature_indices(self._index, protected, "protected", or_one=True)
        names = tuple(self.variables[v].name for v in guarded)
        others = tuple(sorted(set(range(len(self.variables))).difference(guarded)))
        within = replace(self, frozen_variables=others)
        reasons = within.necessary_reasons(limit=limit, timeout=timeout)
        if self.holds_without(names):
            return Bias(names, False, self.decision, reasons, against=self.against)
        nearest = within.counterfactuals(limit=1, timeout=timeout)
        if not nearest:  # the time was too short even for one
            return Bias(names, True, self.decision, reasons, against=self.against)
        found = (nearest[0].changes, nearest[0].decision, self.against, nearest[0].certain)
        return Bias(names, True, self.decision, reasons, *found)

    def find(self, *, limit: int | None = 10, timeout: float | None = None, shortest: bool = False) -> Found:
        """What is shown of an explanation, found once: both kinds of reasons and the nearest changes.

        At most `limit` of each; `timeout` is for all of it.
        """
        most, patience = whole_or_all(limit), Patience(seconds(timeout))
        necessary, sufficient = (self._found(kind, flag(shortest, "shortest"), most, patience) for kind in KINDS)
        # Where they come one by one, the time is theirs first.
        _ = necessary.complete, sufficient.complete
        return Found(necessary, sufficient, self._nearest(most, patience))

    def to_dict(
        self, *, limit: int | None = 10, timeout: float | None = None, shortest: bool = False
    ) -> dict[str, Any]:
        """The explanation as plain data, with at most `limit` reasons of each kind and as many counterfactuals.

        `timeout` is for all of it.
        """
        return self.as_dict(self.find(limit=limit, timeout=timeout, shortest=shortest))

    def as_dict(self, found: Found) -> dict[str, Any]:
        """The explanation, with what was found, as plain data."""
        known = (v for v in self.classifier.tested if self.states[v] != UNKNOWN)
        return {
            "schema": SCHEMA,
            "instance": {name: _plain(value) for name, value in self.instance.items()},
            "states": {self.variables[v].name: self.variables[v].text(self.states[v]) for v in known},
            **({"unknown": list(self.unknown)} if self.unknown else {}),
            "decision": self.decision,
            "against": self.against,
            "necessary": _reasons_dict(found.necessary),
            "sufficient": _reasons_dict(found.sufficient),
            "counterfactuals": [change.to_dict() for change in found.nearest],
            **({} if found.nearest.complete else {"counterfactuals_complete": False}),
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


def _reasons_dict(found: Reasons) -> dict[str, Any]:
    return {"complete": found.complete, "count": found.count, "reasons": [reason.to_dict() for reason in found]}


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
