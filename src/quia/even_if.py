"""Even if … because: would a decision have been the same with some features otherwise, and what holds it up?

A decision sticks whatever some features are, all others kept, if and only if one of its sufficient reasons speaks of
none of them: that reason is what is left to force it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from quia.literal import Literal, all_of
from quia.look import Shown, tagged
from quia.reason import Reason
from quia.reasons import Reasons
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.explanation import Explanation

_MOST_TOLD = 3  # reasons in the sentence


@dataclass(frozen=True, slots=True)
class EvenIf(Shown):
    """Whether a decision would have stuck even if some features were otherwise, and because of what; true if so.

    If it `holds`, `because` are the sufficient reasons that speak of none of the features, general unless they were
    asked for as states, lazily. If not, `changes` are a region of the features in which, all else the same, the
    decision is `changed_decision`, or could be where that is not `certain`, as features are unknown; none, where a
    timeout was too short to find the nearest. Against a class, to stick is not to become that class. That it sticks
    `is_vacuous` if no possible world differs in these features alone.
    """

    features: tuple[str, ...]
    holds: bool
    decision: str
    against: str | None
    because: Reasons
    changes: tuple[Literal, ...] = ()
    changed_decision: str | None = None
    certain: bool = True
    is_vacuous: bool = False

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        though = ", though no possible world differs in that alone" if self.is_vacuous else ""
        return f"{self.headline}{self._reason() if self.holds else ''}{though}"

    def __repr__(self) -> str:
        return tagged("EvenIf", self.headline)

    @property
    def headline(self) -> str:
        """The answer without its reasons."""
        if not self.holds:
            would = "would" if self.certain else "could"
            if not self.changes:
                return f"no: {_listed(self.features)} alone can change the decision; time ran out before how"
            changed = all_of(map(str, self.changes))
            return f"no: with {changed}, and all else the same, the decision {would} be {self.changed_decision}"
        stays = f"would be {self.decision}" if self.against is None else f"would not be {self.against}"
        otherwise = f"{_listed(self.features)} were otherwise" if self.features else "nothing were otherwise"
        return f"the decision {stays} even if {otherwise}"

    def _reason(self) -> str:
        found = list(islice(self.because, _MOST_TOLD + 1))
        if found == [Reason()]:
            return ", because nothing can change it"
        told = "".join(f", {'or ' if place else ''}because {reason}" for place, reason in enumerate(found[:_MOST_TOLD]))
        return told + (", and for more reasons" if len(found) > _MOST_TOLD else "")

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, with the reasons that `because` lists."""
        return {
            "features": list(self.features),
            "holds": self.holds,
            "decision": self.decision,
            "against": self.against,
            "because": self.because.to_dict(),
            "changes": [literal.condition for literal in self.changes],
            "changed_decision": self.changed_decision,
            "certain": self.certain,
            **({"vacuous": True} if self.is_vacuous else {}),
        }


def even_if(
    why: Explanation,
    features: Sequence[int],
    *,
    general: bool,
    intervals: bool,
    limit: int | None,
    timeout: float | None,
) -> EvenIf:
    """The answer for an explanation and some of its variables, which may be otherwise even if they are frozen."""
    kept = tuple(v for v in why.question.frozen if v not in features)
    sticking = why if kept == why.question.frozen else replace(why, question=why.question.freeze(kept))
    bias = why.bias_of(features, None, timeout)
    if not bias and sticking.is_searched:
        # What holds whatever some features are is found quickest where these are not known.
        states = tuple(UNKNOWN if v in features else state for v, state in enumerate(why.states))
        sticking = replace(sticking, question=replace(sticking.question, states=states))
    reasons = sticking.sufficient_reasons(general=general, intervals=intervals, limit=limit, timeout=timeout)
    because = reasons.avoiding(*bias.protected)
    found = (bias.changes, bias.changed_decision, bias.certain, bias.is_vacuous)
    return EvenIf(bias.protected, not bias.biased, why.decision, why.against, because, *found)


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
