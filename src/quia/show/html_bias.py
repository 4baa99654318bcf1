"""The part of the page that says whether a decision hangs on protected features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quia.show.html_section import section
from quia.show.markup import Markup, element, short
from quia.show.words import Facts, without_text

if TYPE_CHECKING:
    from quia.answer import Answer


def bias(answer: Answer, facts: Facts) -> Markup | None:
    """Whether changing protected features alone can change the decision, and the proof; None if that was not asked."""
    found = answer.bias
    if found is None:
        return None
    values = answer.readable_instance
    proof = None
    if found.changes:
        chips = [element("li", facts.chip(literal, extra=facts.now(literal, values))) for literal in found.changes]
        makes = "makes it " if found.certain else "could, by what is not known, make it "
        changed = element("strong", short(str(found.changed_decision)), class_="class other")
        proof = element(
            "ul",
            element(
                "li",
                element(
                    "div",
                    element("ul", chips, class_="chips"),
                    element("p", element("span", element("span", makes, class_="arrow"), changed), class_="foot"),
                    class_="card change",
                ),
            ),
            class_="cards",
        )
    becomes = "change" if answer.against is None else f"become {short(answer.against)}"
    return section(
        "bias",
        f"Does it hang on {' and '.join(map(short, found.protected))}?",
        element("p", without_text(found), class_="told"),
        proof,
        about=f"It does if the decision can {becomes} by changing {' and '.join(map(short, found.protected))} alone,"
        " all else kept. What is said is proved, not estimated.",
    )
