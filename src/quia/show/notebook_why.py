"""What a notebook shows of a decision: the sentence, three reasons and three changes; all else is folded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from quia.answer import Answer
from quia.classifier import HasPath, offers
from quia.errors import TooLarge, listed
from quia.patience import LAST_SHARE, PATIENCE
from quia.show.markup import Child, Markup, element, join, short
from quia.show.notebook_graph import way
from quia.show.notebook_lists import change_line, changes_about, changes_head, shares
from quia.show.notebook_pieces import (
    MOST_FOLDED_FACTS,
    decided,
    folds,
    framed,
    grid,
    heading,
    is_cut,
    numbered,
    reason_line,
    title,
)
from quia.show.strips import Extents, Span, Strip, strips
from quia.show.words import Facts, given_text, no_possible_change, outcome_of, plural, possible_text, without_text
from quia.values import readable_value

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.explanation import Explanation
    from quia.literal import Literal
    from quia.reason import Reason

MOST_SHOWN = 3
"""So many reasons, and as many changes, are seen at once."""
MOST_STRIPS = 4
MOST_CELLS = 30
MOST_ROWS = 60
CLOSED_PATIENCE = 10.0
"""How many seconds there are for an answer that need not be looked for."""


def explanation_view(why: Explanation) -> str:
    """An explanation, after as many seconds as people wait."""
    timeout = PATIENCE if why.is_searched else CLOSED_PATIENCE
    answer = why.answer(limit=10, timeout=timeout)
    share = None
    if answer.sufficient.set_count:
        try:
            share = why.importance(timeout=LAST_SHARE * timeout)
        except TooLarge:
            share = None
    more = ("Features by share", shares(share)) if share else None
    extents = None if why.reference is None else why.reference.extents
    return framed(_parts(answer, why.classifier, more, extents))


def answer_view(answer: Answer) -> str:
    """An answer, which has no model to show the way through."""
    return framed(_parts(answer))


def _parts(
    answer: Answer,
    classifier: Classifier | None = None,
    more: tuple[str, Child] | None = None,
    extents: Extents | None = None,
) -> Iterator[Child]:
    words = Facts(answer.variables)
    yield title(_decision(answer))
    yield element("p", _lead(answer, words), class_="lead")
    if answer.question.told:
        yield element("p", possible_text([short(each, 120) for each in answer.question.told]), class_="faint")
    if answer.bias is not None:
        yield element("p", without_text(answer.bias))
    found = () if answer.is_constant else tuple(answer.sufficient.as_shown())
    if not answer.is_constant:
        yield element("div", element("div", _why(answer, found)), element("div", _unless(answer)), class_="sides")
        yield _picture(answer, extents)
    yield folds(
        _every(f"{plural(len(found), 'reason')} in full", found, _in_full(found)),
        _every(
            f"{plural(len(answer.changes), 'change')} in full",
            [one.changes for one in answer.changes],
            _changes_in_full(answer),
        ),
        None if answer.is_constant else _necessary(answer),
        more,
        ("Facts", _facts(answer, words)),
        ("Way through the model", way(classifier, answer, words))
        if classifier is not None and offers(classifier, HasPath)
        else None,
    )


def _decision(answer: Answer) -> Markup:
    against = [", not ", decided(answer.against, other=True)] if answer.against is not None else []
    return join(["The model decided ", decided(answer.decision), *against, "."])


def _lead(answer: Answer, words: Facts) -> Markup:
    """Why in a sentence, and what would change it."""
    if answer.is_constant:
        held = answer.decision if answer.against is None else f"not {answer.against}"
        given = ", with what is taken as given" if answer.frozen else ""
        whatever = f"Nothing could change this: it is {short(held)} whatever the features are{given}."
        return join([no_possible_change(answer) if answer.question.told else whatever])
    said: list[Child] = []
    reason = answer.shortest
    if reason is not None:
        said += ["It is so because ", words.clauses([each.strict for each in reason]), ", whatever the rest. "]
    if answer.changes:
        change = answer.changes[0]
        said += ["It would be " if change.certain else "It could be ", decided(change.decision, other=True), " if "]
        said += [words.clauses(change.changes, verb="were"), ". "]
    if answer.frozen:
        said.append(f"{given_text(answer)} ")
    if answer.unknown:
        it = "it is" if len(answer.unknown) == 1 else "they are"
        said.append(f"Not known: {listed(answer.unknown, 4)}; all this holds whatever {it}.")
    return join(said)


def _why(answer: Answer, found: Sequence[Reason]) -> Markup:
    reasons, given = answer.sufficient, len(found)
    many, about = "Sufficient reasons", "alone forces it" if given == 1 else "each alone forces it"
    if reasons.complete:
        many = plural(given, "sufficient reason")
    elif reasons.set_count is not None and reasons.set_count > given:
        about = f"over {plural(reasons.set_count, 'set')} of features"
    if not given:
        return join([heading(many), element("p", "None was found in time.", class_="faint")])
    known: list[Literal] = []
    lines = []
    for each in found[:MOST_SHOWN]:
        lines.append(reason_line(each, known=known))
        known += each.literals
    return join([heading(many, about), numbered(lines)])


def _unless(answer: Answer) -> Markup:
    found, values = answer.changes, answer.readable_instance
    if not found:
        none = "none, unless a value goes missing" if found.complete else "none was found in time"
        return join([heading("Nearest changes"), element("p", none, class_="faint")])
    lines = (change_line(each, values) for each in found[:MOST_SHOWN])
    return join([heading(changes_head(found), changes_about(found)), numbered(lines)])


def _picture(answer: Answer, extents: Extents | None) -> Markup | None:
    """The shortest reason and the nearest change on a scale for each feature."""
    reason = answer.shortest
    if not reason:
        return None
    drawn = strips(answer, reason, answer.changes[0].changes if answer.changes else (), extents=extents)
    shown = len(drawn)
    if shown > MOST_STRIPS:  # what would change is seen
        drawn, shown = sorted(drawn, key=lambda strip: not strip.change), MOST_STRIPS - 1
    rows = [
        [
            [element("b", short(each.feature, 40)), " ", short(each.now, 30)],
            _strip(each),
            [
                element("span", short(each.condition, 40), class_="class") if each.condition else None,
                element("span", f" → {short(each.changed, 40)}", class_="class other") if each.changed else None,
            ],
        ]
        for each in drawn[:shown]
    ]
    return element("div", grid(["", "", ""], rows, more=len(drawn) - shown, what="feature"), class_="picture")


def _strip(strip: Strip) -> Markup:
    """Where the value is, what the reason allows and where the change leads; the text beside it says the same."""
    parts = [_stretch(span, "allowed") for span in strip.because]
    parts += [_stretch(span, "leads") for span in strip.change]
    parts += [element("span", class_="border", style=f"left:{100 * at:.1f}%") for at in _borders(strip)]
    if strip.at is not None:
        parts.append(element("span", class_="now", style=f"left:{100 * strip.at:.1f}%"))
    return element("span", parts, class_="strip", aria_hidden="true")


def _stretch(span: Span, kind: str) -> Markup:
    wide = max(span.end - span.start, 0.01)
    return element("span", class_=kind, style=f"left:{100 * min(span.start, 1 - wide):.1f}%;width:{100 * wide:.1f}%")


def _borders(strip: Strip) -> list[float]:
    """Where the states of a nominal feature part."""
    many = len(strip.cells)
    return [n / many for n in range(1, many)] if 1 < many <= MOST_CELLS else []


def _every(name: str, found: Sequence[Collection[Literal]], content: Markup) -> tuple[str, Child] | None:
    """All that was found, unless it is all seen already."""
    is_seen = len(found) <= MOST_SHOWN and not any(map(is_cut, found))
    return None if is_seen else (name, content)


def _in_full(found: Sequence[Reason]) -> Markup:
    return numbered(reason_line(each, most=MOST_FOLDED_FACTS) for each in found)


def _changes_in_full(answer: Answer) -> Markup:
    values = answer.readable_instance
    return numbered(change_line(each, values, most=MOST_FOLDED_FACTS) for each in answer.changes)


def _necessary(answer: Answer) -> tuple[str, Child]:
    """What can change the decision: the necessary reasons."""
    found = answer.necessary
    values = answer.readable_instance if answer.is_general else None
    lines = [reason_line(each, values, most=MOST_FOLDED_FACTS) for each in found.as_shown()]
    count = len(lines) if found.complete else found.count
    many = "Necessary reasons" if count is None else plural(count, "necessary reason")
    about = "Changing all of one can change it."
    if answer.is_general and lines:
        about = f"With each of these, all else kept, it {outcome_of(next(iter(found)), answer)}."
    return many, [element("p", about, class_="faint"), numbered(lines)] if lines else None


def _facts(answer: Answer, words: Facts) -> Markup:
    """The values as they were given, and what they count as; those that are tested first."""
    tested = set(answer.tested)
    given = [v for v, variable in enumerate(words.variables) if variable.name in answer.instance or v in tested]
    given.sort(key=lambda v: v not in tested)
    frozen = set(answer.question.frozen)
    rows = []
    for v in given[:MOST_ROWS]:
        variable, state = answer.in_model(v)
        value = words.given(variable.name, readable_value(answer.instance.get(variable.name)))
        counts = "not tested" if v not in tested else "may be anything" if state < 0 else variable.text(state)
        if variable.is_line and state >= 0:
            counts = "itself"
        rows.append([short(variable.name, 60), value, short(counts, 60) + (", given" if v in frozen else "")])
    return grid(["Feature", "Value", "Counts as"], rows, more=len(given) - MOST_ROWS, what="feature")
