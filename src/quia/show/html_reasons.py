"""The parts of the page that say why, and what would change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from quia.errors import listed
from quia.show.markup import Markup, element, join, short
from quia.show.words import Facts, number, percent, plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.classifier import Classifier
    from quia.counterfactual import Counterfactual
    from quia.reason import Kind, Reason
    from quia.reasons import Reasons

MOST_BARS = 12
MOST_LISTED = 1_000
"""How many bars there are in all, and how many of a reason's features a card can light."""
MOST_CHIPS = 60


def section(name: str, title: str, *children: Markup | None, about: str | Markup | None = None) -> Markup:
    """A part of the page with its heading and a line on how to read it."""
    return element(
        "section",
        element("h2", title),
        element("p", about, class_="about") if about else None,
        children,
        class_=f"part {name}",
    )


def verdict(answer: Answer, facts: Facts) -> Markup:
    """The decision in a sentence, with one reason for it and one way out of it."""
    decision, against = answer.decision, answer.against
    decided = [
        "The model decided ",
        element("strong", short(decision), class_="class"),
        *([", not ", element("strong", short(against), class_="class other")] if against is not None else []),
        ".",
    ]
    lead: list[Markup | str] = []
    if answer.is_constant:
        held = decision if against is None else f"not {against}"
        given = ", with what is taken as given" if answer.frozen else ""
        lead = [f"Nothing could change this: it is {short(held)} whatever the features are{given}."]
    elif (reason := next(iter(answer.sufficient), None)) is not None:
        lead = ["That ", facts.clauses(reason), " is enough for it, whatever the rest. "]
    if not answer.is_constant and answer.changes:
        change = answer.changes[0]
        lead += [
            "It would be " if change.certain else "It could be ",
            element("strong", short(change.decision), class_="class other"),
            " if ",
        ]
        lead += [facts.clauses(change.changes, verb="were"), "."]
    if answer.unknown:
        lead.append(f" {_not_known(answer.unknown)}")
    return element(
        "header", element("h1", decided), element("p", lead, class_="lead") if lead else None, class_="verdict"
    )


def _not_known(unknown: Sequence[str]) -> str:
    it = "it is" if len(unknown) == 1 else "they are"
    return f"Not known: {listed(short(name, 60) for name in unknown)}; all this holds whatever {it}."


def reasons(answer: Answer, facts: Facts, kind: Kind) -> Markup:
    """The reasons of a kind as cards."""
    found = answer.sufficient if kind == "sufficient" else answer.necessary
    about = {
        "sufficient": "The facts on any one card force the decision by themselves, whatever everything else is.",
        "necessary": "The decision can only change if every fact on at least one of these cards changes;"
        " and for each card there is such a change.",
    }[kind]
    title = {"sufficient": "Why: sufficient reasons", "necessary": "What would change it: necessary reasons"}[kind]
    cards = [_card(reason, facts, place) for place, reason in enumerate(found, 1)]
    order = "shortest first" if answer.question.costs is None else "cheapest first"
    return section(
        kind,
        title,
        element("p", _how_many(found, len(cards), order), class_="count", data_count=found.count),
        element("ol", cards, class_="cards") if cards else None,
        about=about,
    )


def _how_many(found: Reasons, given: int, order: str) -> str:
    if found.count is None:
        if not given:
            return "They could not be found within the time and memory given."
        more = "these are all" if found.complete else "there may be more"
        return f"{plural(given, 'reason')} found within the time and memory given, {order}; {more}."
    total = plural(found.count, f"{found.kind} reason")
    if given < found.count:
        return f"{total} in all; the first {number(given)}, {order}."
    return f"{total} in all{f', {order}' if given > 1 else ''}."


def _card(reason: Reason, facts: Facts, place: int) -> Markup:
    if not reason:
        return element("li", element("p", "Nothing is needed: it is so whatever the features are.", class_="card"))
    label = join(["Light up", element("span", f" reason {place}", class_="hidden")])
    return element(
        "li",
        element(
            "div",
            _chips([facts.chip(literal) for literal in reason.literals[:MOST_CHIPS]], len(reason)),
            element("button", label, type="button", class_="light", aria_pressed="false"),
            class_="card",
            data_fs=facts.numbers(reason.features[:MOST_LISTED]),
        ),
    )


def _chips(chips: list[Markup], total: int) -> Markup:
    """So many of a reason's facts as fit on a card, and how many more there are."""
    more = total - len(chips)
    rest = element("li", f"and {plural(more, 'fact')} more", class_="more") if more else None
    return element("ul", [element("li", chip) for chip in chips], rest, class_="chips")


def changes(answer: Answer, facts: Facts) -> Markup | None:
    """The smallest changes that flip the decision."""
    found = answer.changes
    if not found:
        return None
    values = answer.plain_instance
    rows = []
    for change in found:
        chips = [
            facts.chip(state, extra=f"now {facts.given(state.feature, values.get(state.feature), 40)}")
            for state in change.changes[:MOST_CHIPS]
        ]
        rows.append(
            element(
                "li",
                element(
                    "div",
                    _chips(chips, len(change.changes)),
                    element("p", element("span", _makes(change), class_="arrow"), _class(change.decision)),
                    class_="card change",
                    data_fs=facts.numbers(state.feature for state in change.changes[:MOST_LISTED]),
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
    return section(
        "changes",
        "What would flip it",
        element("ol", rows, class_="cards"),
        about=f"{many}{', each' if len(found) > 1 else ''} of {size}, with all else as it is."
        " In an interval, any number will do.",
    )


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
    return element(
        "li",
        element("span", short(name), class_="name"),
        element(
            "svg",
            element("rect", class_="track", width=100, height=8),
            element("rect", class_="share", width=f"{max(100 * wide, 0.5):.4g}", height=8),
            viewBox="0 0 100 8",
            preserveAspectRatio="none",
            aria_hidden="true",
        ),
        element("span", said, class_="said"),
        data_f=facts.index[name],
    )


def claims(answer: Answer) -> Markup:
    """What the explanation does and does not claim."""
    items = [
        "It is exact about this model and these facts: the reasons follow from the model by logic, for every value that"
        " the other features could have. Nothing is sampled or estimated.",
        "It is about the model, not about cause. In life, changing one feature may change others,"
        " and some changes that the model allows may be impossible.",
        "It does not say whether the decision is right, fair or lawful, nor whether the data are true.",
        "It does not speak for people: whoever decides with the model may decide otherwise.",
    ]
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
