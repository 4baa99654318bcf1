"""The parts of an audit's page about the whole model: decisions, rules and features."""

from __future__ import annotations

from collections.abc import Sequence

from quia.auditing.document import (
    Confusion,
    Document,
    Feature,
    Labels,
    Rule,
    Rules,
    Share,
)
from quia.show.audit_pieces import (
    MOST_SHOWN,
    Palette,
    Reach,
    conditions_line,
    folded,
    paragraphs,
    rule_line,
    shown_and_folded,
)
from quia.show.audit_words import any_input, named, rules_sentence, unlooked
from quia.show.bars import Count, bar, bar_line, stacked
from quia.show.html_section import section
from quia.show.markup import Child, Markup, element, join, short
from quia.show.table import table
from quia.show.words import number, part_text, plural, share_text

MOST_FEATURES = 15
MOST_COLUMNS = 5
"""With more classes than these, a table of labels says only what was decided most often."""


def decisions(document: Document, palette: Palette) -> Markup:
    """By class, against the label, and which rows have none."""
    found = document.decisions
    lines = [
        bar_line(
            short(each.decision, 60),
            bar(each.rows / each.of if each.of else 0.0, colour=palette[each.decision]),
            share_text(each.rows, each.of),
        )
        for each in found.classes
    ]
    overview = stacked(
        [Count(each.decision, each.rows, palette[each.decision]) for each in found.classes],
        found.decided,
        about="Decisions by class",
    )
    left = found.rows - found.decided
    return section(
        "decisions",
        "Decisions",
        element("div", overview, class_="whole"),
        join([shown_and_folded(lines, "class", tag="ul", class_="bars")]),
        None if found.labels is None else _labels(found.labels),
        None
        if not left
        else join(
            [
                element("h3", "Rows without a decision"),
                paragraphs(
                    f"{share_text(each.rows, found.rows)} rows: {short(each.why, 300).rstrip('.')};"
                    f" {'row' if each.rows == 1 else 'the first are'} {', '.join(map(number, each.first[:5]))}."
                    for each in found.undecided
                ),
            ]
        ),
        about=f"Of {plural(found.rows, 'row')}, {share_text(found.decided, found.rows)} have a decision; the shares of"
        " classes are of these.",
        id="decisions",
    )


def _labels(found: Labels) -> Markup:
    others = [f"{short(name, 60)} ({plural(rows, 'row')})" for name, rows in found.other.items()]
    left_out = [
        *([f"{plural(found.without, 'row')} without a label"] if found.without else []),
        *([f"labels that are no class: {named(others)}"] if others else []),
    ]
    tail = f" Left out: {'; '.join(left_out)}." if left_out else ""
    return join(
        [
            element("h3", f"Against the label {short(found.column, 60)}"),
            element("p", f"{share_text(found.right, found.rows)} rows are decided as labelled.{tail}", class_="about"),
            confusion_table(found.confusion),
        ]
    )


def confusion_table(confusion: Sequence[Confusion]) -> Markup:
    """For each label how its rows were decided, each a share of these rows."""
    classes = list(dict.fromkeys(name for each in confusion for name in each.decided))
    if len(classes) > MOST_COLUMNS:
        return table(("Labelled", "Decided so", "Most often otherwise"), map(_mostly, confusion))
    rows = [
        [short(each.label, 60), *(share_text(each.decided.get(name, 0), each.rows) for name in classes)]
        for each in confusion
    ]
    return table(["Labelled", *(f"decided {short(name, 40)}" for name in classes)], rows)


def _mostly(found: Confusion) -> tuple[str, str, str]:
    """How many rows with a label were decided so, and what was the most frequent other decision."""
    wrong = {name: rows for name, rows in found.decided.items() if name != found.label and rows}
    other = max(wrong, key=wrong.__getitem__, default=None)
    right = share_text(found.decided.get(found.label, 0), found.rows)
    return short(found.label, 60), right, "—" if other is None else f"{other}: {share_text(wrong[other], found.rows)}"


def rules(document: Document, palette: Palette) -> Markup:
    """For each class the few rules that cover most of its rows."""
    first, rest = document.rules[:MOST_SHOWN], document.rules[MOST_SHOWN:]
    return section(
        "rules",
        "Rules",
        *(_class_rules(each, palette) for each in first),
        folded(plural(len(rest), "more class"), [_class_rules(each, palette) for each in rest]) if rest else None,
        about="Whoever meets the conditions of a rule gets its decision, whatever all other features are: that is"
        " proved for each. They were chosen one after the other, each as what covers the most rows that are left"
        " (those are the new ones), so they are few, though perhaps not the fewest. Shares are of the rows with the"
        " decision.",
        id="rules",
    )


def _class_rules(found: Rules, palette: Palette) -> Markup:
    if not found.rules:
        none = element("p", f"{rules_sentence(found).capitalize()}.", class_="about")
        return join([element("h3", palette.chip(found.decision)), none])
    said = f"{rules_sentence(found)}; wanted were {number(found.wanted)}."
    out = "" if found.complete else " Time ran out before they covered what was wanted."
    lines = [_rule(each, found.of, palette[found.decision]) for each in found.rules]
    of = f" They are among the general reasons of {plural(found.explained, 'row')}."
    if found.learned:
        of = f" They are among {plural(found.explained, 'rule')} that were learned from the rows, and then proved."
    return join(
        [
            element("h3", palette.chip(found.decision)),
            element("p", f"{said}{out}{of}", class_="about"),
            join([shown_and_folded(lines, "rule", class_="rules")]),
        ]
    )


def _rule(found: Rule, of: int, colour: int) -> Markup:
    reach = Reach(found.rows, found.new, found.cumulated)
    return rule_line(conditions_line(found.conditions), reach, of, found.example, colour=colour)


def features(document: Document) -> Markup:
    """What each feature does: those that matter as a table, those that are proved not to in a sentence."""
    idle = [each.feature for each in document.features if each.matters is False]
    mattering = sorted((each for each in document.features if each.matters is not False), key=weight)
    heads = ("Feature", "Can a decision depend on it?", "Alone could change", "In a shortest reason")
    first, rest = mattering[:MOST_FEATURES], mattering[MOST_FEATURES:]
    return section(
        "features",
        "Features",
        table(heads, (_feature(each, document) for each in first)) if first else None,
        folded(plural(len(rest), "more feature"), table(heads, (_feature(each, document) for each in rest)))
        if rest
        else None,
        element(
            "p",
            element("strong", "Proved not to matter: "),
            f"no decision, on {any_input(document)}, depends on {', '.join(short(name, 60) for name in idle)}"
            f" ({number(len(idle))} of {plural(len(document.features), 'feature')}).",
            class_="proved",
        )
        if idle
        else None,
        about="In how many decisions a feature alone, all else kept, could change the decision; and in how many it is"
        " in a shortest sufficient reason. That some decision depends on it is shown by two inputs in the JSON.",
        id="features",
    )


def weight(feature: Feature) -> tuple[int, int, str]:
    """The order of features: those that alone change the most decisions first."""
    alone, shortest = (0 if each is None else each.rows for each in (feature.alone, feature.shortest))
    return -alone, -shortest, feature.feature


def _feature(found: Feature, document: Document) -> list[Child]:
    matters = "yes" if found.matters else f"not known: {(found.why or 'time ran out').rstrip('.')}"
    return [short(found.feature, 60), matters, *(_share(each, document) for each in (found.alone, found.shortest))]


def _share(share: Share | None, document: Document) -> Child:
    if share is None:
        return "not known"
    if not share.of:
        return f"not known: {unlooked(document)}"
    said = part_text(share.rows, share.of, document.decisions.decided)
    return [bar(share.rows / share.of), element("span", said)]
