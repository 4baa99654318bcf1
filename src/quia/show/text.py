"""Answers as sentences for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from quia.literal import beside_others, conjuncts
from quia.reason import is_read_rounded
from quia.show.words import SUPERFLUOUS, no_possible_change, possible_text
from quia.show.wrapping import line_of, wrapped

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.counterfactual import Counterfactual
    from quia.literal import Literal
    from quia.reason import Reason
    from quia.reasons import Reasons

Paint = Callable[[str, str], str]
"""A text and a style ('strong', 'good', 'bad', 'feature', 'faint') in, the text as the terminal shows it out."""

_CODES = {"strong": "1", "good": "32", "bad": "31", "feature": "36", "faint": "2"}


def plain(text: str, _style: str) -> str:
    """No colour at all."""
    return text


def coloured(text: str, style: str) -> str:
    """ANSI colours: few, and such that are read on light and on dark."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else ""


def explanation_text(answer: Answer, *, paint: Paint = plain, width: int | None = None) -> str:
    """The decision, then why, then what would change it, and whether it is biased; in lines of at most that width."""
    decided = f"Decision: {paint(answer.decision, 'strong')}"
    if answer.against is not None:
        decided += f" (why not {answer.against}?)"
    lines = [decided]
    if answer.frozen:
        lines.append(paint(wrapped(f"Taken as given: {', '.join(answer.frozen)}", width), "faint"))
    if answer.question.told:
        lines.append(paint(wrapped(possible_text(answer.question.told), width), "faint"))
    if answer.unknown:
        lines.append(paint(wrapped(_not_known(answer), width), "faint"))
    lines += ["", wrapped(_constant(answer), width)] if answer.is_constant else _reasons(answer, paint, width)
    if answer.bias is not None:
        lines += ["", wrapped(f"The decision is {answer.bias}.", width)]
    return "\n".join(lines)


def _reasons(answer: Answer, paint: Paint, width: int | None) -> list[str]:
    lines = []
    for found, said in ((answer.sufficient, _forced), (answer.necessary, _changed)):
        told = [
            _line([*said(answer, reason, paint), *_proved(reason).split(), *_fitting(answer, reason, paint)], width)
            for reason in found.as_shown()
        ]
        lines += ["", paint(wrapped(_heading(found, len(told), answer.is_shortest), width), "strong"), *told]
    if answer.necessary.limit != 0:
        lines += ["", paint(wrapped(_changes_heading(answer), width), "strong")]
    return lines + [_line(_change(change, paint), width) for change in answer.changes]


def _line(words: Sequence[str], width: int | None) -> str:
    return line_of(words, width, indent=2, hang=4)


def conditions(parts: Sequence[str], features: Sequence[str], paint: Paint, end: str = "") -> list[str]:
    """Conditions as words that a line is not broken within, an `and` before each but the first."""
    told = [_coloured_feature(part, feature, paint) for part, feature in zip(parts, features, strict=True)]
    return [f"{'and ' if at else ''}{part}{end if at == len(told) - 1 else ''}" for at, part in enumerate(told)]


def together_words(literals: Sequence[Literal], paint: Paint, end: str = "") -> list[str]:
    """Literals that hold together, as such words."""
    parts, where = conjuncts(literals)
    features = [literal.feature for literal in literals]
    if not where:
        return conditions(parts, features, paint, end)
    return [*conditions(parts, features, paint, ","), f"{where.removeprefix(', ')}{end}"]


def _coloured_feature(part: str, feature: str, paint: Paint) -> str:
    """A condition, which begins with its feature, maybe behind a bracket."""
    bracket = "(" if part.startswith("(") and not feature.startswith("(") else ""
    rest = part.removeprefix(bracket).removeprefix(feature)
    return f"{bracket}{paint(feature, 'feature')}{rest}"


def _forced(answer: Answer, reason: Reason, paint: Paint) -> list[str]:
    """What a sufficient reason says."""
    decided = answer.decision if answer.against is None else f"Not {answer.against}"
    what = together_words(reason.literals, paint, ",") or [f"{reason},"]
    return [decided, "because", *what, paint("whatever the rest", "faint")]


def _changed(answer: Answer, reason: Reason, paint: Paint) -> list[str]:
    """What a necessary reason says: a general one, which changes lead to another decision wherever they lead."""
    if not reason.is_general:
        parts = [beside_others(literal.denial) if len(reason) > 1 else literal.denial for literal in reason]
        features = [literal.feature for literal in reason]
        return ["could", "change", "with:", *conditions(parts, features, paint)]
    would = "could" if answer.unknown else "would"
    become = "change" if answer.against is None else f"be {answer.against}"
    return [f"{would} {become} with:", *together_words(reason.changes, paint)]


def _change(change: Counterfactual, paint: Paint) -> list[str]:
    """What a counterfactual says: changes, each with what it is now, and the class that they lead to."""
    now = change.now or ("",) * len(change.changes)
    parts = [
        f"{literal} (now {value})" if value else str(literal)
        for literal, value in zip(change.changes, now, strict=True)
    ]
    if len(parts) > 1:
        parts = [beside_others(part) for part in parts]
    perhaps = [] if change.certain else ["could", "be"]
    return ["with", *conditions(parts, change.features, paint, ":"), *perhaps, paint(change.decision, "good")]


def _proved(reason: Reason) -> str:
    """What is not proved of a reason, or that it says nothing new."""
    if reason.is_superfluous:
        return f"({SUPERFLUOUS})"
    if not reason.is_widest and not is_read_rounded(reason):
        return "(true, but not proved to be as wide as it can be)"
    if reason.is_minimal:
        return ""
    enough = "enough for the decision" if reason.kind == "sufficient" else "enough to change it"
    return f"({enough}; time ran out before it was proved that all of it is needed)"


def _fitting(answer: Answer, reason: Reason, paint: Paint) -> list[str]:
    """How many rows of the reference table a reason fits, if there is one."""
    if reason.rows is None or answer.rows is None:
        return []
    return [paint(f"(fits {reason.rows:,} of {answer.rows:,} rows)", "faint")]


def _not_known(answer: Answer) -> str:
    it = "it is" if len(answer.unknown) == 1 else "they are"
    return f"Not known: {', '.join(answer.unknown)}; the reasons hold whatever {it}"


def _constant(answer: Answer) -> str:
    if answer.question.told:
        return no_possible_change(answer)
    free = " (with what is taken as given)" if answer.frozen else ""
    if answer.against is None:
        return f"{answer.decision} whatever the features are{free}: nothing can change this decision."
    if answer.is_never:
        return f"Never {answer.against}: no leaf of the classifier has that class."
    return f"Not {answer.against} whatever the features are{free}: nothing can lead there."


def _heading(found: Reasons, given: int, shortest: bool) -> str:
    """How many reasons there are, and how many of them follow."""
    what = f"{'shortest ' if shortest else ''}{found.kind} reason"
    sets = found.set_count
    count = given if found.complete else found.count
    over = "" if sets is None else f" over {_counted(sets, 'set')} of features"
    if count is not None:
        head = _counted(count, what) + ("" if count == sets else over)
        return head if found.complete or not given else f"{head}, the first {given:,} of them"
    named = f"{what.capitalize()}s{over}"
    if found.is_enough:
        return f"{named}: {given:,} of them; there may be more"
    if given != found.limit:
        return f"{named}: {given:,} found before time ran out; there may be more"
    if not given:
        return named
    if not found.is_ordered:
        more = "; there may be more than could be counted" if sets is None else ""
        return f"{named}: {given:,} of them, as they were found{more}"
    return f"{named}: the first {given:,}" + ("; there may be more than could be counted" if sets is None else "")


def _changes_heading(answer: Answer) -> str:
    """What follows of the nearest changes; there may be none that is advice, or none that is known to be nearest."""
    found, given = answer.changes, len(answer.changes)
    if not found.are_nearest:
        return f"Changes: {given or 'none'} found before time ran out; there may be nearer ones"
    if found.complete:
        return "Nearest changes" if given else "Nearest changes: none, unless a value goes missing"
    if given == answer.necessary.limit:
        return f"Nearest changes, the first {given:,} of them"
    if found.is_enough:
        return f"Nearest changes: {given or 'none'} of them; there may be more"
    return f"Nearest changes: {given or 'none'} found before time ran out; there may be more"


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
