"""The part of the page that is read first: the decision in a sentence, with one reason and one way out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quia.errors import listed
from quia.show.html_section import each_form
from quia.show.markup import Markup, element, join, short
from quia.show.words import Facts, given_text, no_possible_change, possible_text

if TYPE_CHECKING:
    from quia.answer import Answer


def verdict(forms: Sequence[Answer], facts: Facts) -> Markup:
    """The decision in a sentence, with one reason for it and one way out of it."""
    answer = forms[0]
    decided = [
        "The model decided ",
        element("strong", short(answer.decision), class_="class"),
        *([", not ", _class(answer.against)] if answer.against is not None else []),
        ".",
    ]
    lead: list[str | None] = [_nothing(answer)]
    if not answer.is_constant:
        lead = [*each_form(forms, _because, facts), _unless(answer, facts)]
    if not answer.is_constant:
        lead.append(given_text(answer) or None)
    if answer.unknown:
        lead.append(_not_known(answer.unknown))
    told = [piece for part in lead if part is not None for piece in (part, " ")]
    possible = answer.question.told
    return element(
        "header",
        element("h1", decided),
        element("p", told[:-1], class_="lead") if told else None,
        element("p", possible_text([short(each, 200) for each in possible]), class_="possible") if possible else None,
        class_="verdict",
    )


def switch(forms: Sequence[Answer]) -> Markup | None:
    """What shows the other form, if there is one; the page's style does it, without any script."""
    if len(forms) == 1:
        return None
    return element(
        "label",
        element("input", type="checkbox", class_="by-states"),
        " Show reasons in the model’s own states, instead of the widest conditions that are true",
        class_="switch",
    )


def _nothing(answer: Answer) -> Markup:
    if answer.question.told:
        return join([no_possible_change(answer)])
    held = answer.decision if answer.against is None else f"not {answer.against}"
    given = ", with what is taken as given" if answer.frozen else ""
    return join([f"Nothing could change this: it is {short(held)} whatever the features are{given}."])


def _because(answer: Answer, facts: Facts) -> Markup | None:
    """One reason for it."""
    reason = answer.shortest
    return None if reason is None else join(["It is so because ", facts.clauses(reason), ", whatever the rest."])


def _unless(answer: Answer, facts: Facts) -> Markup | None:
    """One way out of it."""
    if not answer.changes:
        return None
    change = answer.changes[0]
    return join(
        [
            "It would be " if change.certain else "It could be ",
            _class(change.decision),
            " if ",
            facts.clauses(change.changes, verb="were", values=answer.readable_instance),
            ".",
        ]
    )


def _not_known(unknown: Sequence[str]) -> str:
    it = "it is" if len(unknown) == 1 else "they are"
    return f"Not known: {listed(short(name, 60) for name in unknown)}; all this holds whatever {it}."


def _class(name: str) -> Markup:
    return element("strong", short(name), class_="class other")
