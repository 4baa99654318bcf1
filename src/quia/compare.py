"""Two decisions side by side: are they made for a common reason, and what is the proof either way?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.bias import Bias
from quia.literal import State
from quia.reason import Reason
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.explanation import Explanation


class Difference(NamedTuple):
    """A feature in which two instances differ; None is a state that is not known."""

    feature: str
    one: State | None
    other: State | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two instances are decided alike for a common reason (paper: Def. 4).

    If so, `common_reason` is a sufficient reason for both; if not, though they are decided alike, `witness` has a
    change of what tells them apart after which the decision is another one.
    """

    decisions: tuple[str, str]
    differences: tuple[Difference, ...]
    common_reason: Reason | None
    witness: Bias | None

    @property
    def congruent(self) -> bool:
        """Whether there is a common reason."""
        return self.common_reason is not None

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        witness = None
        if self.witness is not None:
            changes = {state.feature: state.text for state in self.witness.changes}
            witness = {"changes": changes, "decision": self.witness.changed_decision}
        return {
            "congruent": self.congruent,
            "decisions": list(self.decisions),
            "differences": [
                {"feature": feature, "one": one and one.text, "other": other and other.text}
                for feature, one, other in self.differences
            ],
            "common_reason": None if self.common_reason is None else self.common_reason.to_dict(),
            "witness": witness,
        }


def compare(one: Explanation, other: Explanation, *, timeout: float | None = None) -> Comparison:
    """The decisions on two instances of one classifier; `timeout` is for the witness."""
    apart = [v for v in one.classifier.tested if one.states[v] != other.states[v]]
    common = one.common_reason(other.instance)
    is_alike = one.decision == other.decision
    return Comparison(
        (one.decision, other.decision),
        tuple(Difference(one.variables[v].name, *(_state(each, v) for each in (one, other))) for v in apart),
        common,
        one.bias_of(apart, None, timeout) if common is None and is_alike else None,
    )


def _state(explanation: Explanation, variable: int) -> State | None:
    state = explanation.states[variable]
    return None if state == UNKNOWN else State(explanation.variables[variable], state)
