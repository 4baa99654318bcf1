"""Reason codes: the principal reasons of one decision, as notices of adverse action name them.

They are the features of a shortest sufficient reason. Where the model has a score they are in the order of how much
each alone moves it: δ, the most that a feature could gain towards the other decision, all else kept. Of several
shortest reasons it is the one whose δ are the largest together, the first in order if some are equal.

Glossary: the *rival* is the class that the decision is compared with; what is *missing* is how far the score is off it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from quia.arguments import seconds, whole
from quia.classifier import escape_within
from quia.counterfactual import missing_states, present
from quia.errors import InstanceError, TooLarge, shown
from quia.literal import Literal, State
from quia.look import Shown, counted, few, one_line, tagged
from quia.patience import PATIENCE, Clock, OutOfTime
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import Ranges, difference, intersection
from quia.reason import Members, Reason
from quia.score_moves import Moves, moves_of
from quia.values import plain_value
from quia.variables import UNKNOWN
from quia.widen import Widening

if TYPE_CHECKING:
    from quia.explanation import Explanation

SCHEMA = "quia/reason-codes/1"
_MOST_COMPARED = 1000
"""Of so many shortest reasons at most the one that moves the score most is chosen."""


_AT_LEAST = 1.0
"""So many seconds it may take in any case to tell whether a feature alone changes the decision."""


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """One principal reason: a feature, its `value` as given and `now` in words, and what holds of it.

    In `favourable` states the feature `alone` changes the decision, all else kept, wherever in them: to the rival, or
    where one score tells the classes apart, beyond it. Where it cannot do that alone they are the states that gain
    most; of a line all that gain; of a model that has no score all in which this reason would not hold. `points` is the
    most that the feature could gain, `share` that as a share of what is missing; both None where there is no score.
    """

    rank: int
    feature: str
    value: Any
    now: str
    condition: Literal
    favourable: Literal
    alone: bool
    points: float | None = None
    share: float | None = None

    def __repr__(self) -> str:
        alone = " alone would change it" if self.alone else " is favourable"
        return tagged(
            f"ReasonCode {self.rank}", one_line(self.feature, 60), f"now {self.now}", f"{self.favourable}{alone}"
        )

    def to_dict(self) -> dict[str, Any]:
        """An item of `codes` in the JSON format."""
        return {
            "rank": self.rank,
            "feature": self.feature,
            "value": plain_value(self.value),
            "condition": self.condition.condition,
            "favourable": self.favourable.condition,
            "alone": self.alone,
            "points": self.points,
            "share": self.share,
        }


@dataclass(frozen=True, eq=False)
class ReasonCodes(Shown, ByFields):
    """The principal reasons of one decision, in their order.

    The `reason` has all its features, of which `codes` are the first and `further` the number of the others. `instead`
    is the rival and `missing` the points that it takes to get there, where the model has a score. `others` counts the
    sets of features that are as short a reason, None if they could not be counted; `is_shortest` is False where time
    ran out before it was proved that no reason is shorter.
    """

    decision: str
    against: str | None
    codes: tuple[ReasonCode, ...]
    reason: Reason
    instead: str | None = None
    missing: float | None = None
    others: int | None = None
    is_shortest: bool = True

    @property
    def further(self) -> int:
        """How many features the reason has beside those of the codes."""
        return len(self.reason) - len(self.codes)

    def to_dict(self) -> dict[str, Any]:
        """The codes as plain data: the JSON format `quia/reason-codes/1`."""
        return {
            "schema": SCHEMA,
            "decision": self.decision,
            "against": self.against,
            "instead": self.instead,
            "missing": self.missing,
            "codes": [code.to_dict() for code in self.codes],
            "further": self.further,
            "reason": {
                "features": list(self.reason.features),
                "conditions": [literal.condition for literal in self.reason],
            },
            "others": self.others,
            "shortest": self.is_shortest,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        from quia.show.codes import codes_text

        return codes_text(self)

    def __repr__(self) -> str:
        many = counted(len(self.codes), "principal reason") if self.codes else "no principal reason"
        return tagged("ReasonCodes", f"{many} of {self.decision}", few(code.feature for code in self.codes))


def reason_codes(why: Explanation, n: int, timeout: float | None) -> ReasonCodes:
    """The first n principal reasons of a decision."""
    most, limit = whole(n, "n"), seconds(timeout)
    if not most:
        raise InstanceError(f"n is {shown(n)}; it is how many principal reasons to give, 1 or more")
    if limit is None and why.is_searched:
        limit = PATIENCE
    moves = moves_of(why.classifier, why.question)
    chosen = _chosen(why, moves, limit)
    clock = Clock(limit)
    conditions = _widest(why, chosen.members, clock)
    asked = why.question if moves is None else moves.asked
    alone = {v: found for v in chosen.members if (found := _changing(why, asked, v, clock)) is not None}
    codes = [
        _code(why, rank, v, conditions[v], alone.get(v), moves)
        for rank, v in enumerate(_ordered(why, chosen.members, alone, moves, limit)[:most], 1)
    ]
    reason = Reason(
        (conditions[v] for v in chosen.members), kind="sufficient", is_general=True, is_minimal=chosen.is_minimal
    )
    return ReasonCodes(
        why.decision,
        why.against,
        tuple(codes),
        reason,
        None if moves is None else why.question.classes[moves.rival],
        None if moves is None else moves.missing,
        chosen.others,
        chosen.is_shortest,
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    members: Members
    others: int | None
    is_shortest: bool
    is_minimal: bool


def _chosen(why: Explanation, moves: Moves | None, timeout: float | None) -> _Chosen:
    """The reason whose features move the score most, of the shortest; without a score, the first of them."""
    shortest = why.sufficient_reasons(shortest=True, timeout=timeout)
    found = list(islice(shortest.members(), _MOST_COMPARED))
    if not found:
        raise TooLarge(
            f"no reason was found within {timeout:g} s; give it more time"
            if timeout
            else "no reason was found in time",
            limit=int(timeout or 0),
        )
    if why.costs is None:
        if moves is not None and moves.is_additive:
            found.insert(0, _largest(why, moves))
        length = min(map(len, found))
        found = [members for members in found if len(members) == length]
    if moves is not None:
        gains = _whole({v: moves.gain(v) for v in set().union(*found)})
        members = max(found, key=lambda members: sum(gains[v] for v in members))
    else:
        members = found[0]
    count = shortest.count if shortest.found else None
    loose = not shortest.found and members in shortest._answer.loose
    return _Chosen(members, None if count is None else count - 1, shortest.found, not loose)


def _whole(numbers: Mapping[int, float]) -> dict[int, int]:
    """The numbers times a power of two that makes them whole, so that their sums are exact."""
    ratios = {v: number.as_integer_ratio() for v, number in numbers.items()}
    finest = max((denominator for _, denominator in ratios.values()), default=1)
    return {v: numerator * (finest // denominator) for v, (numerator, denominator) in ratios.items()}


def _largest(why: Explanation, moves: Moves) -> Members:
    """The fewest features that force the decision, of those that gain most alone."""
    ranked = sorted(moves.changeable, key=lambda v: (-moves.gain(v), v))
    few, enough = -1, len(ranked)
    while enough - few > 1:
        tried = (few + enough) // 2
        if why.classifier.escape(why.question, why.question.worlds(ranked[:tried])) is None:
            enough = tried
        else:
            few = tried
    return tuple(sorted(ranked[:enough]))


def _widest(why: Explanation, members: Members, clock: Clock) -> dict[int, Literal]:
    """What holds of each feature of a reason: the widest conditions, or if time runs out, the instance's states."""
    widening = Widening(why.classifier, why.question, "sufficient")
    found = widening.boxes_in_time(members, clock, most=1).boxes if members else []
    variables, own = why.variables, why.states
    if not found:
        return {v: State(variables[v], own[v]) for v in members}
    return {v: Literal(variables[v], states, own[v]) for v, states in zip(members, found[0], strict=True)}


def _changing(why: Explanation, question: Question, v: int, clock: Clock) -> Ranges | None:
    """The widest states of a feature in which it alone, all else kept, changes the decision; None if none do."""
    own = Clock(None if clock.left is None else max(clock.left, _AT_LEAST))  # a letter depends on it
    try:
        changed = escape_within(why.classifier, question, question.worlds_changing((v,)), own)
    except OutOfTime:
        return None
    if changed is None:
        return None
    is_partial = UNKNOWN in (question.states[u] for u in why.classifier.tested)
    try:
        boxes = Widening(why.classifier, question, "necessary").boxes((v,), clock, certain=is_partial)
    except OutOfTime:
        return None if is_partial else ((changed[v], changed[v]),)
    known = (difference(box[0], missing_states(why.variables[v])) for box in boxes)
    return next(filter(None, known), None)


def _ordered(
    why: Explanation, members: Members, alone: Mapping[int, Ranges], moves: Moves | None, timeout: float | None
) -> Sequence[int]:
    """The features of a reason, the one that moves the score most first.

    Without a score: those that alone change the decision first, then those that are in more of the sufficient reasons,
    where these are counted.
    """
    if moves is not None:
        return sorted(members, key=lambda v: (-moves.gain(v), v))
    shares: Mapping[str, Fraction] = {}
    if not why.is_searched:
        with suppress(TooLarge):
            shares = why.importance(timeout=timeout)
    return sorted(members, key=lambda v: (v not in alone, -shares.get(why.variables[v].name, 0), v))


def _code(
    why: Explanation, rank: int, v: int, condition: Literal, alone: Ranges | None, moves: Moves | None
) -> ReasonCode:
    variable, question = why.variables[v], why.question
    if alone is not None:
        favourable: Literal | None = Literal(variable, alone, question.states[v])
    elif moves is not None:
        favourable = Literal(variable, moves.favourable(v), question.states[v])
    else:
        known = difference((condition.negated or condition).ranges, missing_states(variable))
        possible = intersection(known, question.within.states(v)) or known
        favourable = Literal(variable, possible, question.states[v]) if possible else condition.negated
    points = share = None
    if moves is not None:
        points = moves.gain(v)
        share = points / moves.missing if moves.missing > 0 else None
    return ReasonCode(
        rank,
        variable.name,
        why.instance.get(variable.name),
        present(question, why.instance, v),
        condition,
        favourable or condition,
        alone is not None,
        points,
        share,
    )
