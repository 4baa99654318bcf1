"""The parts of the page that say why, and what would change it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quia.cuts import number_text
from quia.errors import listed
from quia.reason import is_read_rounded
from quia.show.bars import bar, bar_line
from quia.show.markup import Markup, element, join, short
from quia.show.trying import values_to_try
from quia.show.words import SUPERFLUOUS, Facts, no_possible_change, number, percent, plural, possible_text

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.classifier import Classifier
    from quia.counterfactual import Counterfactual
    from quia.literal import Literal
    from quia.reason import Kind, Reason
    from quia.reasons import Reasons

MOST_BARS = 12
MOST_LISTED = 1_000
"""How many bars there are in all, and how many of a reason's features a card can light."""
MOST_CHIPS = 60


def section(
    name: str, title: str, *children: Markup | None, about: str | Markup | None = None, id: str | None = None
) -> Markup:
    """A part of the page with its heading and a line on how to read it."""
    return element(
        "section",
        element("h2", title),
        element("p", about, class_="about") if about else None,
        children,
        class_=f"part {name}",
        id=id,
    )


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
    if answer.unknown:
        lead.append(_not_known(answer.unknown))
    told = [piece for part in lead if part is not None for piece in (part, " ")]
    possible = answer.question.told
    return element(
        "header",
        element("h1", decided),
        element("p", told[:-1], class_="lead") if told else None,
        element("p", possible_text([short(each, 200) for each in possible]), class_="possible") if possible else None,
        _switch() if len(forms) > 1 else None,
        class_="verdict",
    )


def _switch() -> Markup:
    """What shows the other form; the page's style does it, without any script."""
    return element(
        "label",
        element("input", type="checkbox", class_="by-states"),
        " Show reasons in the model’s own states, instead of the widest conditions that are true",
        class_="switch",
    )


def each_form(
    forms: Sequence[Answer], made: Callable[[Answer, Facts], Markup | None], facts: Facts, tag: str = "span"
) -> list[Markup | None]:
    """The same of each form of the reasons: where there are several, one is seen at a time."""
    if len(forms) == 1:
        return [made(forms[0], facts)]
    found = ((made(each, facts), "in-general" if each.is_general else "in-states") for each in forms)
    return [part and element(tag, part, class_=form) for part, form in found]


def _nothing(answer: Answer) -> Markup:
    if answer.question.told:
        return join([no_possible_change(answer)])
    held = answer.decision if answer.against is None else f"not {answer.against}"
    given = ", with what is taken as given" if answer.frozen else ""
    return join([f"Nothing could change this: it is {short(held)} whatever the features are{given}."])


def _because(answer: Answer, facts: Facts) -> Markup | None:
    """One reason for it."""
    reason = next(iter(answer.sufficient), None)
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


def reasons(forms: Sequence[Answer], facts: Facts, kind: Kind, *, rows: int | None, editable: bool) -> Markup:
    """The reasons of a kind as cards; with `editable`, what a necessary one says can be tried."""
    title = {"sufficient": "Why: sufficient reasons", "necessary": "What would change it: necessary reasons"}[kind]

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

    return section(kind, title, *each_form(forms, listing, facts, "div"))


def _about(answer: Answer, kind: Kind) -> str:
    """What the cards of a kind say."""
    if kind == "sufficient":
        force = "Each card alone forces the decision, whatever everything else is."
        return f"{force} Its conditions are as wide as they can be and still do." if answer.is_general else force
    changes = "the decision changes" if answer.against is None else f"the decision becomes {answer.against}"
    can = "can change it" if answer.against is None else f"can make it {answer.against}"
    if not answer.is_general:
        return (
            f"Each card is a set of facts, none to spare, that {can}: altered properly, and all else kept, {changes}."
        )
    certainly = "" if not answer.unknown else ", for some values of what is not known"
    return (
        f"Each card is a set of facts, none to spare, that {can}, and what they would need to be: wherever they meet"
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
            _chips(chips, len(reason)),
            element("p", SUPERFLUOUS, class_="need") if reason.is_superfluous else None,
            element("p", _NOT_PROVED[reason.kind == "sufficient"], class_="need") if not reason.is_minimal else None,
            element("p", "true, but not proved to be as wide as it can be", class_="need")
            if not reason.is_widest and not is_read_rounded(reason)
            else None,
            element("p", fits, class_="need") if fits else None,
            element(
                "p",
                _try(told, values, place) if is_region and can_try else None,
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


def _try(changes: Sequence[Literal], values: Mapping[str, Any], place: int) -> Markup | None:
    """What puts values of a region of changes, the nearest ones, into the page's form."""
    found = values_to_try(changes, values)
    if found is None:
        return None
    label = join(["Try it", element("span", f" with change {place}", class_="hidden")])
    return element("button", label, type="button", class_="try", data_set=json.dumps(found))


def _chips(chips: list[Markup], total: int) -> Markup:
    """So many of a reason's facts as fit on a card, and how many more there are."""
    more = total - len(chips)
    rest = element("li", f"and {plural(more, 'fact')} more", class_="more") if more else None
    return element("ul", [element("li", chip) for chip in chips], rest, class_="chips")


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
                    _chips(chips, len(change.changes)),
                    element(
                        "p",
                        element("span", element("span", _makes(change), class_="arrow"), _class(change.decision)),
                        _try(change.changes, values, place) if editable and _can_be_tried(change, answer) else None,
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
    return section(
        "changes",
        "Nearest changes" if found.are_nearest else "Changes",
        element("ol", rows, class_="cards"),
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


def _class(name: str) -> Markup:
    return element("strong", short(name), class_="class other")


def shares(importance: Mapping[str, Fraction] | None, facts: Facts, count: int | None) -> Markup | None:
    """Each feature's share of the sufficient reasons as bars."""
    if importance is None or not importance or not count:
        return None
    bars = [_bar(name, share, facts, count) for name, share in list(importance.items())[:MOST_LISTED]]
    rest = bars[MOST_BARS:]
    if len(importance) > MOST_LISTED:
        rest.append(element("li", f"… {plural(len(importance) - MOST_LISTED, 'feature')} more", class_="more"))
    return section(
        "shares",
        "How often each feature is part of the why",
        element("ul", bars[:MOST_BARS], class_="bars"),
        element(
            "details",
            element("summary", f"{plural(len(importance) - MOST_BARS, 'feature')} more"),
            element("ul", rest, class_="bars"),
        )
        if rest
        else None,
        about="The share of all sufficient reasons that speak of the feature. 100 % means: no reason does without it.",
    )


def _bar(name: str, share: Fraction, facts: Facts, count: int) -> Markup:
    wide = float(share)
    said = (
        f"{percent(wide)}" if count >= 10**15 else f"{number(int(share * count))} of {number(count)} · {percent(wide)}"
    )
    return bar_line(short(name), bar(wide), said, data_f=facts.index[name])


def claims(answer: Answer) -> Markup:
    """What the explanation does and does not claim."""
    possible = "some changes that the model allows may be impossible"
    if answer.question.told:
        possible = "of what is impossible only that is known which was said to be"
    items = [
        "It is exact about this model and these facts: the reasons follow from the model by logic, for every value that"
        " the other features could have. Nothing is sampled or estimated.",
        f"It is about the model, not about cause. In life, changing one feature may change others, and {possible}.",
        "It does not say whether the decision is right, fair or lawful, nor whether the data are true.",
        "It does not speak for people: whoever decides with the model may decide otherwise.",
    ]
    ranges = [(v, v.range) for v in answer.question.variables if v.range is not None]
    if ranges:
        ends = (f"{short(v.name, 60)} {number_text(low)} to {number_text(high)}" for v, (low, high) in ranges)
        items.append(
            f"A number that counts itself could have any value in its range, and none outside: {listed(ends)}."
        )
    if answer.frozen:
        items.append(f"Taken as given, and so in no reason: {listed(short(name, 60) for name in answer.frozen)}.")
    return section(
        "claims", "What this page says, and what it does not", element("ul", [element("li", i) for i in items])
    )


def notes(classifier: Classifier, model: str | None) -> Markup:
    """Where the explanation comes from."""
    from quia import __version__

    said = [f"Model: {short(model)}. "] if model else []
    if (nodes := classifier.sizes.get("nodes")) is not None:
        said.append(f"A {classifier.kind} of {plural(nodes, 'node')}. ")
    said += [f"{short(note, 400)}. " for note in classifier.notes]
    return element("footer", element("p", join(said), f"Made by quia {__version__}."), class_="notes")
