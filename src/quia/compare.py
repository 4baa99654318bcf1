"""Two decisions side by side: are they made for a common reason, and what is the proof either way?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.bias import Bias
from quia.literal import State
from quia.reason import Reason
from quia.region import Region
from quia.variables import UNKNOWN
from quia.widen import hull

if TYPE_CHECKING:
    from quia.explanation import Explanation


class Difference(NamedTuple):
    """A feature in which two instances differ; None is a state that is not known."""

    feature: str
    one: State | None
    other: State | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two instances are decided alike for a common reason.

    They are `congruent` if the states that they share force the decision (paper: Def. 4). There may be a
    `common_reason`, a general sufficient reason for both, though they are not: it only asks that the smallest box with
    both in it forces the decision. Where they are decided alike and not congruent, `witness` has a change of what tells
    them apart after which the decision is another one; if there is no common reason either, the change stays in that
    box, and so proves both.
    """

    decisions: tuple[str, str]
    differences: tuple[Difference, ...]
    congruent: bool
    common_reason: Reason | None
    witness: Bias | None

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        common, witness = self.common_reason, self.witness
        return {
            "congruent": self.congruent,
            "decisions": list(self.decisions),
            "differences": [
                {"feature": feature, "one": one and one.text, "other": other and other.text}
                for feature, one, other in self.differences
            ],
            "common_reason": None
            if common is None
            else {"features": list(common.features), "conditions": [literal.condition for literal in common]},
            "witness": None
            if witness is None
            else {
                "changes": [literal.condition for literal in witness.changes],
                "decision": witness.changed_decision,
            },
        }


def compare(one: Explanation, other: Explanation, *, timeout: float | None = None) -> Comparison:
    """The decisions on two instances of one classifier; `timeout` is for each of the three questions."""
    apart = [v for v in one.classifier.tested if one.states[v] != other.states[v]]
    congruent = one.is_congruent(other.instance, timeout=timeout)
    common = one.common_reason(other.instance, timeout=timeout)
    witness = None
    if not congruent and one.decision == other.decision:
        asked = one if common is not None else _between(one, other, apart)
        witness = asked.bias_of(apart, None, timeout)
    return Comparison(
        (one.decision, other.decision),
        tuple(Difference(one.variables[v].name, *(_state(each, v) for each in (one, other))) for v in apart),
        congruent,
        common,
        witness,
    )


def _between(one: Explanation, other: Explanation, apart: Collection[int]) -> Explanation:
    """The explanation of one instance where only the worlds of the smallest box with both are possible."""
    known = [v for v in apart if UNKNOWN not in (one.states[v], other.states[v])]
    box = {v: hull(one.variables[v], one.states[v], other.states[v]) for v in known}
    possible = one.question.possible.intersection(Region(one.variables, box))
    return replace(one, question=replace(one.question, possible=possible))


def _state(explanation: Explanation, variable: int) -> State | None:
    state = explanation.states[variable]
    return None if state == UNKNOWN else State(explanation.variables[variable], state)
