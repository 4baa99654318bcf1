"""Answers as sentences for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quia.literal import all_of

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.reasons import Reasons

Paint = Callable[[str, str], str]
"""A text and a style ('strong', 'good', 'faint') in, the text as the terminal shows it out."""


def plain(text: str, _style: str) -> str:
    """No colour at all."""
    return text


def coloured(text: str, style: str) -> str:
    """ANSI colours."""
    code = {"strong": "1", "good": "32", "faint": "2"}[style]
    return f"\x1b[{code}m{text}\x1b[0m"


def explanation_text(answer: Answer, *, paint: Paint = plain) -> str:
    """The decision, then why, then what would change it, and whether it is biased."""
    decided = f"Decision: {paint(answer.decision, 'strong')}"
    if answer.against is not None:
        decided += f" (why not {answer.against}?)"
    lines = [decided]
    if answer.frozen:
        lines.append(paint(f"Taken as given: {', '.join(answer.frozen)}", "faint"))
    if answer.unknown:
        lines.append(paint(_not_known(answer), "faint"))
    lines += ["", _constant(answer)] if answer.is_constant else _reasons(answer, paint)
    if answer.bias is not None:
        lines += ["", f"The decision is {answer.bias}."]
    return "\n".join(lines)


def _reasons(answer: Answer, paint: Paint) -> list[str]:
    decided = answer.decision if answer.against is None else f"Not {answer.against}"
    lines = ["", paint(_heading("sufficient reason", answer.sufficient, answer.is_shortest), "strong")]
    lines += [f"  {decided} because {reason}, whatever the rest" for reason in answer.sufficient]
    lines += ["", paint(_heading("necessary reason", answer.necessary, answer.is_shortest), "strong")]
    lines += [f"  could change with: {all_of(literal.denial for literal in reason)}" for reason in answer.necessary]
    if answer.changes:
        lines += ["", paint("Nearest changes", "strong")]
        lines += [
            f"  with {all_of(map(str, change.changes))}: {'' if change.certain else 'could be '}"
            f"{paint(change.decision, 'good')}"
            for change in answer.changes
        ]
    return lines


def _not_known(answer: Answer) -> str:
    it = "it is" if len(answer.unknown) == 1 else "they are"
    return f"Not known: {', '.join(answer.unknown)}; the reasons hold whatever {it}"


def _constant(answer: Answer) -> str:
    free = " (with what is taken as given)" if answer.frozen else ""
    if answer.against is None:
        return f"{answer.decision} whatever the features are{free}: nothing can change this decision."
    if answer.is_never:
        return f"Never {answer.against}: no leaf of the classifier has that class."
    return f"Not {answer.against} whatever the features are{free}: nothing can lead there."


def _heading(name: str, found: Reasons, shortest: bool) -> str:
    what = f"shortest {name}" if shortest else name
    given = len(found)
    if found.count is None and given == found.limit:
        return f"{what.capitalize()}s: the first {given}; there may be more than could be counted"
    if found.count is None:
        return f"{what.capitalize()}s: {given} found before time ran out; there may be more"
    plural = "" if found.count == 1 else "s"
    head = f"{found.count:,} {what}{plural}"
    return head if found.complete else f"{head}, the first {given} of them"
