"""An audit as a page that can be filed, and as the few lines that a terminal shows; both of the document alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from quia.auditing.document import Document
from quia.show.audit_check import check
from quia.show.audit_identity import identity
from quia.show.audit_models import comparison, monotonicity
from quia.show.audit_parts import decisions, features, rules
from quia.show.audit_pieces import Palette, contents, finding, paragraphs
from quia.show.audit_protected import protected
from quia.show.audit_words import (
    PROTECTED,
    data_name,
    favourable_sentence,
    findings,
    model_name,
    named,
    possible_sentence,
    rules_sentence,
    summary_sentences,
    together,
    unfinished_sentence,
)
from quia.show.markup import Markup, clean, element, short
from quia.show.whole_file import whole_file
from quia.show.words import number, part_text, plural, told_apart

WIDTH = 80
MOST_RULES = 2
"""How many rules of a class the terminal shows."""
MOST_CLASSES = 3
MOST_UNFINISHED = 5
MOST_GROUPS = 3


def page(document: Document) -> str:
    """One self-contained HTML file that loads nothing, runs nothing and sends nothing."""
    palette = Palette(document)
    parts = [
        _headline(document),
        identity(document),
        decisions(document, palette),
        rules(document, palette),
        features(document),
        protected(document, palette),
        monotonicity(document, palette),
        comparison(document, palette),
        check(document),
    ]
    title = f"Audit of {model_name(document)} on {data_name(document)}, by quia"
    return whole_file(title, element("article", parts, class_="quia audit"), styles=("page.css", "audit.css"))


def _headline(document: Document) -> Markup:
    """What was audited, what matters most, and what time did not suffice for."""
    possible = possible_sentence(document)
    return element(
        "header",
        element("h1", "Audit of ", element("span", model_name(document), class_="class")),
        element("p", " ".join(summary_sentences(document)), class_="lead"),
        element("p", possible, class_="possible") if possible else None,
        element(
            "ul", [finding(each.about, each.figure, each.said) for each in findings(document)], class_="cards findings"
        ),
        element("p", unfinished_sentence(document), class_="told"),
        paragraphs(_unfinished(document)) if document.unfinished else None,
        _contents(document),
        class_="verdict",
    )


def _contents(document: Document) -> Markup:
    """The ways to the parts of the page."""
    parts = [
        ("Identity", True),
        ("Decisions", True),
        ("Rules", True),
        ("Features", True),
        ("Protected", bool(document.protected)),
        ("Monotonicity", document.monotonicity is not None),
        ("Compared", document.comparison is not None),
        ("Check", True),
    ]
    return contents(name for name, is_there in parts if is_there)


def text(document: Document) -> str:
    """What an auditor must know first, in lines of at most 80 characters."""
    return clean("\n".join(line for paragraph in _paragraphs(document) for line in _wrapped(paragraph)))


def _wrapped(paragraph: str) -> list[str]:
    indent = len(paragraph) - len(paragraph.lstrip())
    return wrap(paragraph, WIDTH, subsequent_indent=" " * (indent + 2), break_on_hyphens=False) or [""]


def _paragraphs(document: Document) -> Iterator[str]:
    case = document.identity.case
    yield f"Audit of {model_name(document)}, {document.identity.made}" + (f", case {case}" if case else "")
    yield " ".join(summary_sentences(document))
    if possible := possible_sentence(document):
        yield possible
    if favourable := favourable_sentence(document):
        yield favourable
    told = findings(document)
    if told:
        yield ""
    for found in told:
        yield f"{found.about}: {found.figure}"
        yield f"  {found.said}"
        if found.about == PROTECTED:
            yield from _by_group(document)
    yield from _rule_lines(document)
    idle = [each.feature for each in document.features if each.matters is False]
    if idle:
        yield ""
        of = plural(len(document.features), "feature")
        yield f"Proved not to matter: {named(idle)} ({number(len(idle))} of {of})"
    yield ""
    yield unfinished_sentence(document)
    for each in _unfinished(document):
        yield f"  {each}"


def _unfinished(document: Document) -> list[str]:
    """The beginning of what time did not suffice for."""
    told = [short(each, 150) for each in document.unfinished[:MOST_UNFINISHED]]
    left = len(document.unfinished) - len(told)
    return [*told, *([f"… {number(left)} more: see the JSON"] if left else [])]


def _by_group(document: Document) -> Iterator[str]:
    """For the groups that most hangs on, how much."""
    protected = together(document.protected)
    hanging = protected.hanging
    if hanging is None or not hanging.rows:
        return
    shown = told_apart([*(group.name for group in protected.groups), *(group.group for group in hanging.groups)])
    decided = {group.name: sum(group.decided.values()) for group in protected.groups}
    conditions = {group.name: [each["text"] for each in group.where] for group in protected.groups}
    for each in sorted(hanging.groups, key=lambda group: -group.rows)[:MOST_GROUPS]:
        own = conditions.get(each.group, [])

        def alike(name: str, own: Sequence[str] = own) -> int:
            return sum(a == b for a, b in zip(own, conditions.get(name, own), strict=True))

        # Of groups as which as many would have fared better, the one that differs the least.
        better = max(each.better.items(), key=lambda item: (item[1], alike(item[0])), default=("", 0))
        every = decided.get(each.group, each.of)
        fared = ""
        if better[1]:
            fared = f"; better as {shown.get(better[0], better[0])}: {part_text(better[1], each.of, every)}"
        yield f"  {shown[each.group]}: {part_text(each.rows, each.of, every)}{fared}"


def _rule_lines(document: Document) -> Iterator[str]:
    for found in document.rules[:MOST_CLASSES]:
        yield ""
        yield f"{short(found.decision, 40)}: {rules_sentence(found)}"
        for rule in found.rules[:MOST_RULES]:
            yield f"  {plural(rule.rows, 'row')}: {short(rule.text, 110)}"
