"""The parts of the page that list reasons: of each a card with its conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quia.reason import is_read_rounded
from quia.show.html_section import each_form, fold
from quia.show.markup import Markup, element, join
from quia.show.trying import values_to_try
from quia.show.words import SUPERFLUOUS, Facts, number, plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.literal import Literal
    from quia.reason import Kind, Reason
    from quia.reasons import Reasons

MOST_LISTED = 1_000
"""How many of a reason's features a card can light."""
MOST_CHIPS = 60


def reasons(forms: Sequence[Answer], facts: Facts, kind: Kind, *, rows: int | None, editable: bool) -> Markup:
    """The reasons of a kind as cards; with `editable`, what a necessary one says can be tried."""
    found = forms[0].sufficient if kind == "sufficient" else forms[0].necessary
    hint = "each alone forces the decision" if kind == "sufficient" else "each can change it, altered properly"

    def listing(answer: Answer, facts: Facts) -> Markup:
        found = answer.sufficient if kind == "sufficient" else answer.necessary
        values = answer.readable_instance
        # Where features are unknown, the changed facts may be decided so or so.
        can_try = editable and answer.is_general and not answer.unknown
        cards, before = [], None
        for place, reason in enumerate(found.as_shown(), 1):
            is_again = reason.features == before
            before = reason.features
            cards.append(_card(reason, facts, values, place, rows, is_again=is_again, can_try=can_try))
        order = "shortest first" if answer.question.costs is None else "cheapest first"
        order = order if found.is_ordered else "as they were found"
        count = len(cards) if found.complete else found.count
        return join(
            [
                element("p", _about(answer, kind), class_="about"),
                element(
                    "p",
                    _how_many(found, len(cards), count, order),
                    class_="count",
                    data_count=count,
                    data_sets=found.set_count,
                ),
                element("ol", cards, class_="cards") if cards else None,
            ]
        )

    return fold(kind, _title(found), *each_form(forms, listing, facts, "div"), hint=hint)


def _title(found: Reasons) -> str:
    """How many reasons of a kind there are, if that is known."""
    count = len(found) if found.complete else found.count
    return f"{found.kind.capitalize()} reasons" if count is None else plural(count, f"{found.kind} reason")


def _about(answer: Answer, kind: Kind) -> str:
    """What the cards of a kind say."""
    if kind == "sufficient":
        force = "Each alone forces the decision, whatever everything else is."
        return f"{force} Its conditions are as wide as they can be and still do." if answer.is_general else force
    changes = "the decision changes" if answer.against is None else f"the decision becomes {answer.against}"
    can = "can change it" if answer.against is None else f"can make it {answer.against}"
    if not answer.is_general:
        return f"Each is a set of facts, none to spare, that {can}: altered properly, and all else kept, {changes}."
    certainly = "" if not answer.unknown else ", for some values of what is not known"
    return (
        f"Each is a set of facts, none to spare, that {can}, and what they would need to be: wherever they meet"
        f" these conditions, all else kept, {changes}{certainly}."
    )


def _how_many(found: Reasons, given: int, count: int | None, order: str) -> str:
    sets = found.set_count
    if sets is None:
        if not given:
            return "They could not be found within the time and memory given."
        more = "these are all" if found.complete else "there may be more"
        return f"{plural(given, 'reason')} found within the time and memory given, {order}; {more}."
    over = f" over {plural(sets, 'set')} of features"
    first = f"the first{'' if given == 1 else f' {number(given)}'}, {order}" if given else "none is listed"
    if found.is_enough:
        first = f"{number(given)} of them, {order}"
    elif count is None and given != found.limit:
        first = f"{number(given)} found before time ran out, {order}"
    if count is None:
        return f"{found.kind.capitalize()} reasons{over} in all; {first}."
    total = plural(count, f"{found.kind} reason") + (over if count != sets else "")
    if given < count:
        return f"{total} in all; {first}."
    return f"{total} in all{f', {order}' if given > 1 else ''}."


def _card(
    reason: Reason,
    facts: Facts,
    values: Mapping[str, Any],
    place: int,
    rows: int | None,
    *,
    is_again: bool,
    can_try: bool,
) -> Markup:
    """A reason; `is_again` if that before it is about the same features."""
    if not reason:
        return element("li", element("p", "Nothing is needed: it is so whatever the features are.", class_="card"))
    label = join(["Light up", element("span", f" reason {place}", class_="hidden")])
    is_region = reason.is_general and reason.kind == "necessary"
    told = reason.changes if is_region else reason.literals
    chips = [facts.chip(literal, extra=_beside(literal, facts, values, reason)) for literal in told[:MOST_CHIPS]]
    fits = "" if reason.rows is None or rows is None else f"fits {number(reason.rows)} of {plural(rows, 'row')}"
    return element(
        "li",
        element(
            "div",
            _said_before(is_region, is_again),
            chip_list(chips, len(reason)),
            element("p", SUPERFLUOUS, class_="need") if reason.is_superfluous else None,
            element("p", _NOT_PROVED[reason.kind == "sufficient"], class_="need") if not reason.is_minimal else None,
            element("p", "true, but not proved to be as wide as it can be", class_="need")
            if not reason.is_widest and not is_read_rounded(reason)
            else None,
            element("p", fits, class_="need") if fits else None,
            element(
                "p",
                try_button(told, values, place) if is_region and can_try else None,
                element("button", label, type="button", class_="light", aria_pressed="false"),
                class_="foot",
            ),
            class_="card",
            data_fs=facts.numbers(reason.features[:MOST_LISTED]),
        ),
    )


_NOT_PROVED = {
    True: "enough for the decision; time ran out before it was proved that all of it is needed",
    False: "enough to change it; time ran out before it was proved that all of it is needed",
}


def _said_before(is_region: bool, is_again: bool) -> Markup | None:
    """What a card says before its conditions."""
    said = (
        "or would need"
        if is_region and is_again
        else "would need"
        if is_region
        else is_again and "or, with the same features"
    )
    return element("p", said, class_="need") if said else None


def _beside(literal: Literal, facts: Facts, values: Mapping[str, Any], reason: Reason) -> str:
    """The value beside a condition that does not name it."""
    if not reason.is_general:
        return ""
    if reason.kind == "necessary":
        return facts.now(literal, values)
    said = facts.given(literal.feature, values.get(literal.feature), 40)
    return "" if said == literal.signs else f"here {said}"


def try_button(changes: Sequence[Literal], values: Mapping[str, Any], place: int) -> Markup | None:
    """What puts values of a region of changes, the nearest ones, into the page's form."""
    found = values_to_try(changes, values)
    if found is None:
        return None
    label = join(["Try it", element("span", f" with change {place}", class_="hidden")])
    return element("button", label, type="button", class_="try", data_set=json.dumps(found))


def chip_list(chips: list[Markup], total: int) -> Markup:
    """So many of a reason's facts as fit on a card, and how many more there are."""
    more = total - len(chips)
    rest = element("li", f"and {plural(more, 'fact')} more", class_="more") if more else None
    return element("ul", [element("li", chip) for chip in chips], rest, class_="chips")
