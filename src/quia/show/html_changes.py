"""The part of the page that says what would change the decision, the nearest changes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quia.show.html_reasons import MOST_CHIPS, MOST_LISTED, chip_list, try_button
from quia.show.html_section import section
from quia.show.markup import Markup, element, short
from quia.show.words import Facts, plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.counterfactual import Counterfactual

MOST_SEEN = 3
"""So many changes are seen at once; the others are folded."""


def changes(answer: Answer, facts: Facts, *, editable: bool) -> Markup | None:
    """The smallest changes that flip the decision; with `editable`, they can be tried."""
    found = answer.changes
    if not found:
        return None
    values = answer.readable_instance
    rows = []
    for place, change in enumerate(found, 1):
        chips = [facts.chip(literal, extra=facts.now(literal, values)) for literal in change.changes[:MOST_CHIPS]]
        rows.append(
            element(
                "li",
                element(
                    "div",
                    chip_list(chips, len(change.changes)),
                    element(
                        "p",
                        element(
                            "span",
                            element("span", _makes(change), class_="arrow"),
                            element("strong", short(change.decision), class_="class other"),
                        ),
                        try_button(change.changes, values, place)
                        if editable and _can_be_tried(change, answer)
                        else None,
                        class_="foot",
                    ),
                    class_="card change",
                    data_fs=facts.numbers(literal.feature for literal in change.changes[:MOST_LISTED]),
                ),
            )
        )
    cut = not found.complete
    # The cheapest may be of different sizes.
    sizes = sorted({len(change.changes) for change in found})
    size = plural(sizes[0], "fact") if len(sizes) == 1 else f"{sizes[0]} to {plural(sizes[-1], 'fact')}"
    what = "smallest" if answer.question.costs is None else "cheapest"
    many = f"The first {len(found)} of the {what} changes" if cut else f"The {what} changes, {len(found)} in all"
    if len(found) == 1 and not cut:
        many = f"The only {what} change"
    if not found.are_nearest:
        many = f"{plural(len(found), 'change')} found before time ran out; there may be smaller ones"
    rest = rows[MOST_SEEN:]
    folded = element(
        "details",
        element("summary", plural(len(rest), "more change")),
        element("ol", rest, class_="cards", start=MOST_SEEN + 1),
        class_="fold",
        data_part="changes",
    )
    return section(
        "changes",
        "Nearest changes" if found.are_nearest else "Changes",
        element("ol", rows[:MOST_SEEN], class_="cards"),
        folded if rest else None,
        about=f"{many}{', each' if len(found) > 1 else ''} of {size}, with all else as it is."
        " Any value that meets a condition will do.",
    )


def _can_be_tried(change: Counterfactual, answer: Answer) -> bool:
    """Whether what is changed so is decided at all: what is not certain depends on what is not known.

    Nor is it decided where what is not known counts, and only what is possible keeps it from making a difference.
    """
    return change.certain and not (answer.unknown and answer.question.told)


def _makes(change: Counterfactual) -> str:
    return "makes it " if change.certain else "could, by what is not known, make it "
