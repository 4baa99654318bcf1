"""Protected features: is a decision biased, may another one be?

A decision is biased if it can change by changing protected features alone; a classifier is biased if one of its
decisions is (Darwiche & Hirth, ECAI 2020; the paper's Luna).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quia.arguments import feature_indices, seconds
from quia.asking import Terms
from quia.classifier import Classifier, loaded
from quia.contrast import any_change, find_pair
from quia.errors import TooLarge
from quia.literal import Literal, State, all_of
from quia.look import Shown, tagged
from quia.patience import Clock, OutOfTime
from quia.reasons import Reasons


@dataclass(frozen=True, slots=True)
class Bias(Shown):
    """Whether a decision can change by changing protected features alone, and the proof; None if time ran out before.

    `reasons` are the necessary reasons that speak of protected features only, found when they are read; `changes` are
    regions of protected features' states, in all of which the decision is `changed_decision` (none, where a timeout was
    too short to find the nearest), or, if that is not `certain`, in which it is so for some values of the features that
    are unknown. That a decision is not biased `is_vacuous` if no possible world differs in protected features
    alone. In an explanation `against` a class, the question is whether they alone can change the decision to
    that class.
    """

    protected: tuple[str, ...]
    biased: bool | None
    decision: str
    reasons: Reasons = field(compare=False, repr=False)
    changes: tuple[Literal, ...] = ()
    changed_decision: str | None = None
    against: str | None = None
    certain: bool = True
    is_vacuous: bool = False

    def __bool__(self) -> bool:
        if self.biased is None:
            raise TooLarge(f"time ran out before it was told {self._whether}; give it more time", limit=0)
        return self.biased

    @property
    def _whether(self) -> str:
        change = "change the decision" if self.against is None else f"make the decision {self.against}"
        return f"whether changing {' and '.join(self.protected)} alone can {change}"

    def to_dict(self) -> dict[str, object]:
        """The `bias` item of the JSON format."""
        reasons = self.reasons.to_dict()
        return {
            "protected": list(self.protected),
            "biased": self.biased,
            "reasons": reasons["reasons"],
            "complete": reasons["complete"],
            "changes": [literal.condition for literal in self.changes],
            "decision": self.changed_decision,
            "certain": self.certain,
            **({"vacuous": True} if self.is_vacuous else {}),
        }

    def __repr__(self) -> str:
        return tagged("Bias", str(self))

    def __str__(self) -> str:
        if self.biased is None:
            return f"perhaps biased: time ran out before it was told {self._whether}"
        if not self.biased:
            stays = f"be {self.decision}" if self.against is None else f"not be {self.against}"
            if self.is_vacuous:
                return f"not biased, but vacuously: no possible world differs in {' and '.join(self.protected)} alone"
            return f"not biased: {_whatever(self.protected)}, the decision would {stays}"
        if not self.changes:
            other = "another one" if self.against is None else self.against
            return f"biased: changing {' and '.join(self.protected)} alone can make it {other}; time ran out before how"
        would = "would" if self.certain else "could"
        return (
            f"biased: with {_all(self.changes)}, and all else the same, the decision {would} be {self.changed_decision}"
        )


@dataclass(frozen=True, slots=True)
class ClassifierBias(Shown):
    """Whether some decision of a classifier is biased, and two instances that prove it.

    The instances differ in protected features only, yet are decided differently; features that neither mentions
    may have any value, as long as it is the same in both.
    """

    protected: tuple[str, ...]
    biased: bool
    instance: tuple[State, ...] = ()
    decision: str | None = None
    other: tuple[State, ...] = ()
    other_decision: str | None = None

    def __bool__(self) -> bool:
        return self.biased

    def __repr__(self) -> str:
        return tagged("ClassifierBias", str(self))

    def __str__(self) -> str:
        if not self.biased:
            return f"not biased: {_whatever(self.protected)}, no decision would change"
        shared = [state for state in self.instance if state in self.other]
        mine, theirs = ([s for s in one if s not in shared] for one in (self.instance, self.other))
        return (
            f"biased: with {_all(mine)} the decision is {self.decision}, with {_all(theirs)} it is"
            f" {self.other_decision}" + (f", both times with {_all(shared)}" if shared else "")
        )


def _whatever(protected: Sequence[str]) -> str:
    return f"whatever {', '.join(protected)} were" if protected else "with nothing protected"


def _all(states: Sequence[Literal]) -> str:
    return all_of(map(str, states))


def bias_of_classifier(
    classifier: Classifier,
    protected: Collection[str],
    *,
    within: Mapping[str, Any] | None = None,
    given: Any = None,
    timeout: float | None = None,
) -> ClassifierBias:
    """Whether any decision of the classifier is biased against protected features.

    Two instances prove it. With `within` and `given`, as for `explain`, both of them are possible.

    A graph is walked with two instances at once that must agree on every other feature; of a circuit instances are
    tried, and where none is biased it is compiled; of an additive model the sums are compared; in an ensemble both
    instances are searched for at once; any other classifier is cut into regions until each has one class. Complexity:
    pairs of leaves for trees; else exponential in the worst case, so it gives up with TooLarge at a limit, or when
    `timeout` is over.
    """
    model = loaded(classifier)
    terms = Terms.of(model, within=within, given=given)
    classifier, variables = terms.classifier, terms.variables
    index = {v.name: i for i, v in enumerate(variables)}
    guarded = feature_indices(index, protected, "protected", or_one=True)
    names = tuple(variables[v].name for v in guarded)
    try:
        found = find_pair(terms, any_change(model, guarded), Clock(seconds(timeout)))
    except OutOfTime:
        raise TooLarge(
            "time ran out before a biased decision was found, or none was proved; ask about one decision instead",
            limit=0,
        ) from None
    except TooLarge as fault:
        raise TooLarge(
            f"no biased decision was found, nor proved that there is none: {fault}; ask about one decision instead",
            limit=fault.limit,
        ) from None
    if found is None:
        return ClassifierBias(names, False)
    one, other = (tuple(State(variables[v], s[v]) for v in classifier.tested if s[v] >= 0) for s in found)
    decided, otherwise = (classifier.classes[classifier.decide(states)] for states in found)
    return ClassifierBias(names, True, one, decided, other, otherwise)
