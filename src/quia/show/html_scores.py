"""How clear a decision is where scores tell the class: what they are, and how far it is to the other side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from quia.score_standing import Standing, standing
from quia.show.bars import bar, bar_line
from quia.show.codes import points_text
from quia.show.html_section import section
from quia.show.markup import Child, Markup, element, join, short
from quia.show.strips import scale, with_room
from quia.show.svg import percent, shape, stretched
from quia.show.words import plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.classifier import Classifier

MOST_BARS = 6
MOST_CUTS = 20
_GREY = 7
_HIGH, _TOP, _BAR = 38, 6, 14


def scores(classifier: Classifier, answer: Answer) -> Markup | None:
    """The scores and margins of a model that has them; None where there is no other class, or a value is not known."""
    found = standing(classifier, answer.question)
    if found is None or found.nearest is None:
        return None
    classes = answer.question.classes[: len(found.margins) + 1]  # that of what is impossible has no score
    shown = _line(found, answer, classes) if found.cuts else _bars(found, answer, classes)
    return section("scores", "How clear it is", shown, about=_said(found, answer, classes))


def _said(found: Standing, answer: Answer, classes: Sequence[str]) -> Markup:
    """The score, and how far the nearest other class is, in a sentence."""
    assert found.nearest is not None
    other = element("strong", short(classes[found.nearest], 60), class_="class other")
    margin = points_text(found.margins[found.nearest])
    if not found.cuts:
        own = points_text(found.scores[answer.question.decision])
        held = element("strong", short(answer.decision, 60), class_="class")
        return join([held, f" has the greatest score, {own}: {margin} more than ", other, "."])
    score, is_above = points_text(found.scores[0]), found.nearest > answer.question.decision
    cut = _cut_text(found, found.cuts[found.nearest - 1 if is_above else found.nearest])
    side, where = ("below", "from there on") if is_above else ("above", "below that")
    return join([f"The score is {score}, which is {margin} {side} {cut}: {where} it would be ", other, "."])


def _cut_text(found: Standing, cut: float) -> str:
    """A cut as people read it: what is as good as 0 beside what scores can be is 0."""
    low, high = found.extent or (found.scores[0], found.scores[0])
    return "0" if abs(cut) < 1e-6 * max(abs(low), abs(high)) else points_text(cut)


def _line(found: Standing, answer: Answer, classes: Sequence[str]) -> Markup:
    """One score among the cuts that tell classes apart, from the least to the greatest that it could be."""
    score = found.scores[0]
    ends = found.extent or (score, score)
    shown = [*ends, score, *found.cuts]
    low, high = with_room(min(shown), max(shown), 0.04)
    place, _ = scale([score, *found.cuts], low, high)

    def at(number: float) -> str:
        return percent(place(number))

    borders = [low, *found.cuts, high]
    parts: list[Child] = []
    for label, (start, end) in enumerate(pairwise(borders)):
        kind = "allowed" if label in answer.question.keeps else "leads"
        wide = percent(place(end) - place(start))
        parts.append(
            element(
                "g",
                element("title", short(classes[label], 80)),
                shape("rect", class_=kind, x=at(start), y=_TOP, width=wide, height=_BAR),
            )
        )
    middle = _TOP + _BAR / 2
    nearest = min(found.cuts, key=lambda cut: abs(cut - score))
    parts.append(shape("line", class_="way", x1=at(score), x2=at(nearest), y1=middle, y2=middle))
    parts += [
        shape("line", class_="tick", x1=at(cut), x2=at(cut), y1=_TOP - 3, y2=_TOP + _BAR + 3)
        for cut in found.cuts[:MOST_CUTS]
    ]
    text = shape("text", _cut_text(found, nearest), x=at(nearest), y=_HIGH - 3, text_anchor="middle")
    parts += [text, shape("circle", class_="now", cx=at(score), cy=middle, r=6)]
    label_text = f"The score {points_text(score)} on a line from {points_text(ends[0])} to {points_text(ends[1])}"
    return stretched(_HIGH, parts, label=label_text, class_="drawn score")


def _bars(found: Standing, answer: Answer, classes: Sequence[str]) -> Markup:
    """The classes by their scores, the greatest first."""
    order = sorted(range(len(classes)), key=lambda label: (label != answer.question.decision, -found.scores[label]))
    low = min(0.0, *found.scores)
    span = max(max(found.scores) - low, 1e-300)
    lines = [_bar_of(found, label, classes[label], (found.scores[label] - low) / span) for label in order]
    rest = lines[MOST_BARS:]
    folded = element(
        "details", element("summary", f"{plural(len(rest), 'class')} more"), element("ul", rest, class_="bars")
    )
    return element("div", element("ul", lines[:MOST_BARS], class_="bars"), folded if rest else None)


def _bar_of(found: Standing, label: int, name: str, share: float) -> Markup:
    behind = "" if label not in found.margins else f" · {points_text(found.margins[label])} behind"
    drawn = bar(share, colour=_GREY if behind else None)
    return bar_line(short(name, 60), drawn, f"{points_text(found.scores[label])}{behind}")
