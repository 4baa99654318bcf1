"""Reason codes as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from quia.cuts import number_text
from quia.show.text import Paint, plain, together_words
from quia.show.words import percent, plural
from quia.show.wrapping import line_of, wrapped

if TYPE_CHECKING:
    from quia.reason_codes import ReasonCode, ReasonCodes

_DIGITS = 4


def points_text(points: float) -> str:
    """Points as people read them: four digits, and whole ones in full.

    >>> points_text(16.331925), points_text(15.0), points_text(123456.7), points_text(0.00012345)
    ('16.33', '15', '123457', '0.0001234')
    """
    if points == 0 or not math.isfinite(points):
        return number_text(points)
    decimals = max(_DIGITS - 1 - math.floor(math.log10(abs(points))), 0)
    return number_text(round(points, decimals)) if decimals else str(round(points))


def codes_text(codes: ReasonCodes, *, paint: Paint = plain, width: int | None = None) -> str:
    """The decision, its principal reasons in order, the rule that they are of, and how many others are as short."""
    lines = [wrapped(decided_text(codes, paint), width), ""]
    if not codes.codes:
        return "\n".join([*lines, "No feature is a reason: nothing can change this decision."])
    lines.append(paint(_heading(codes), "strong"))
    for code in codes.codes:
        told = [
            f"{code.rank}.",
            paint(code.feature, "feature") + ",",
            f"now {code.now}{':' if code.points is None else ','}",
        ]
        if code.points is not None:
            told += ["could gain", f"{gain_text(code)}:"]
        lines.append(line_of([*told, *_advice(code, paint)], width, indent=2, hang=3))
    return "\n".join(
        [*lines, "", line_of(_rule_words(codes, paint), width), *(wrapped(line, width) for line in beside(codes))]
    )


def decided_text(codes: ReasonCodes, paint: Paint = plain) -> str:
    """The decision, and how far it is from another one."""
    decision = paint(codes.decision, "strong")
    if codes.missing is None or codes.instead is None:
        against = "" if codes.against is None else f" (why not {codes.against}?)"
        return f"Decision: {decision}{against}"
    return f"Decision: {decision}, {_points(codes.missing)} from {codes.instead}"


def _points(points: float) -> str:
    text = points_text(points)
    return f"{text} point{'' if text == '1' else 's'}"


def _heading(codes: ReasonCodes) -> str:
    given = len(codes.codes)
    if codes.further:
        return f"The first {given} of {given + codes.further} principal reasons"
    return plural(given, "principal reason")


def gain_text(code: ReasonCode) -> str:
    """What a feature could gain; empty where there is no score."""
    if code.points is None:
        return ""
    share = "" if code.share is None else f" ({percent(code.share)} of what is missing)"
    return f"{_points(code.points)}{share}"


def _advice(code: ReasonCode, paint: Paint) -> list[str]:
    if code.alone:
        return [paint(str(code.favourable), "good"), "alone would change the decision"]
    return ["favourable is", paint(favourable(code), "good")]


def favourable(code: ReasonCode) -> str:
    """What is favourable; of a line, where that is all that is on one side of the number, in words that need none."""
    states, own = code.favourable.ranges, code.favourable.beside
    if code.favourable.variable.is_line and own is not None and not code.alone:
        if states == ((0, own - 1),):
            return f"any lower {code.feature}"
        if states == ((own + 1, len(code.favourable.variable.cuts)),):
            return f"any higher {code.feature}"
    return str(code.favourable)


def rule(codes: ReasonCodes) -> str:
    """What forces the decision."""
    return " ".join(_rule_words(codes))


def _rule_words(codes: ReasonCodes, paint: Paint = plain) -> list[str]:
    stays = f"it is {codes.decision}," if codes.against is None else f"it is not {codes.against},"
    return ["As long as", *together_words(codes.reason.literals, paint, ","), stays, "whatever the rest."]


def beside(codes: ReasonCodes) -> list[str]:
    """What else is to be known of that rule."""
    if not codes.is_shortest:
        return ["Time ran out before it was proved that no reason is shorter."]
    if not codes.others:
        return []
    as_short = "other set of features is" if codes.others == 1 else "other sets of features are"
    return [f"{codes.others:,} {as_short} as short a reason."]
