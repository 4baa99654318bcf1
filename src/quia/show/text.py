"""Explanations as sentences for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quia.explanation import Explanation, Found
    from quia.reason import Reason, State
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


def explanation_text(
    explanation: Explanation,
    found: Found | None = None,
    *,
    shortest: bool = False,
    paint: Paint = plain,
) -> str:
    """The decision, then why, then what would change it; with `shortest`, only the shortest reasons were asked for."""
    decided = f"Decision: {paint(explanation.decision, 'strong')}"
    if explanation.against is not None:
        decided += f" (why not {explanation.against}?)"
    lines = [decided]
    if explanation.frozen:
        lines.append(paint(f"Taken as given: {', '.join(explanation.frozen)}", "faint"))
    if explanation.unknown:
        lines.append(paint(_not_known(explanation), "faint"))
    if explanation.is_constant:
        return "\n".join([*lines, "", _constant(explanation)])

    found = found or explanation.find(shortest=shortest)
    sufficient, necessary, changes = found.sufficient, found.necessary, found.nearest
    lines += ["", paint(_heading("sufficient reason", sufficient, shortest), "strong")]
    lines += [_because(explanation, reason) for reason in sufficient]
    lines += ["", paint(_heading("necessary reason", necessary, shortest), "strong")]
    lines += [f"  could change with: {_negation(reason)}" for reason in necessary]
    if changes:
        lines += ["", paint("Nearest changes", "strong")]
        lines += [
            f"  with {' and '.join(map(str, change.changes))}: {'' if change.certain else 'could be '}"
            f"{paint(change.decision, 'good')}"
            for change in changes
        ]
    return "\n".join(lines)


def _not_known(explanation: Explanation) -> str:
    it = "it is" if len(explanation.unknown) == 1 else "they are"
    return f"Not known: {', '.join(explanation.unknown)}; the reasons hold whatever {it}"


def _constant(explanation: Explanation) -> str:
    free = " (with what is taken as given)" if explanation.frozen else ""
    if explanation.against is None:
        return f"{explanation.decision} whatever the features are{free}: nothing can change this decision."
    classifier = explanation.classifier
    if not any(classifier.classes[label] == explanation.against for label in classifier.given_classes):
        return f"Never {explanation.against}: no leaf of the classifier has that class."
    return f"Not {explanation.against} whatever the features are{free}: nothing can lead there."


def _heading(name: str, found: Reasons, shortest: bool) -> str:
    what = f"shortest {name}" if shortest else name
    given = len(found)
    if found.count is None:
        return f"{what.capitalize()}s: {given} found before time ran out; there may be more"
    plural = "" if found.count == 1 else "s"
    head = f"{found.count:,} {what}{plural}"
    return head if found.complete else f"{head}, the first {given} of them"


def _because(explanation: Explanation, reason: Reason) -> str:
    decided = explanation.decision if explanation.against is None else f"Not {explanation.against}"
    return f"  {decided} because {reason}, whatever the rest"


def _negation(reason: Reason) -> str:
    return " and ".join(_changed(state) for state in reason)


def _changed(state: State) -> str:
    """What a feature must be for its state to have changed."""
    text = state.text
    if not state.variable.is_numeric:
        return f"{state.feature} ≠ {text}"
    opposite = {"<=": ">", "<": ">=", ">": "<=", ">=": "<"}
    operator, _, number = text.partition(" ")
    if operator in opposite and not state.variable.missing:
        return f"{state.feature} {opposite[operator]} {number}"
    return f"{state.feature} not missing" if text == "missing" else f"{state.feature} not {_in(text)}"


def _in(text: str) -> str:
    return text if text[0] in "<>" else f"in {text}"
