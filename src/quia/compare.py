"""Two decisions side by side: are they made for a common reason, and what is the proof either way?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.bias import Bias
from quia.literal import State, all_of
from quia.look import Shown, counted, tagged
from quia.reason import Reason
from quia.region import Region
from quia.variables import UNKNOWN
from quia.widen import hull

if TYPE_CHECKING:
    from quia.explanation import Explanation

_MOST_TOLD = 20


class Difference(NamedTuple):
    """A feature in which two instances differ; None is a state that is not known."""

    feature: str
    one: State | None
    other: State | None


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
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

    @property
    def headline(self) -> str:
        """Whether the two are decided alike, and for a common reason."""
        one, other = self.decisions
        if one != other:
            return f"decided differently: {one} and {other}"
        return f"both {one}, {'but for no' if self.common_reason is None else 'for a'} common reason"

    def __str__(self) -> str:
        lines = [self.headline]
        if self.common_reason is not None:
            lines.append(f"  because {self.common_reason}, whatever the rest")
        if self.congruent:
            lines.append("  congruent: the states that they share force the decision")
        elif self.witness is not None and self.witness.changes:
            changed = all_of(map(str, self.witness.changes))
            would = "is" if self.witness.certain else "could be"
            lines.append(
                f"  not congruent: with {changed} and all they share, it {would} {self.witness.changed_decision}"
            )
        for feature, one, other in self.differences[:_MOST_TOLD]:
            sides = ("not known" if state is None else state.text for state in (one, other))
            lines.append(f"  {feature}: {' and '.join(sides)}")
        more = len(self.differences) - _MOST_TOLD
        return "\n".join([*lines, *([f"  … {counted(more, 'feature')} more"] if more > 0 else [])])

    def __repr__(self) -> str:
        return tagged("Comparison", self.headline, f"differing in {counted(len(self.differences), 'feature')}")

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
