"""The parts of an audit's page about the whole model: identity, decisions, rules, features, what can be checked."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from quia.auditing.document import (
    Confusion,
    Document,
    Feature,
    Identity,
    Labels,
    ModelFacts,
    Rule,
    Rules,
    Settings,
    Share,
)
from quia.show.audit_pieces import Palette, Reach, conditions_line, folded, paragraphs, rule_line, shown_and_folded
from quia.show.audit_words import named, not_asked
from quia.show.bars import Count, bar, bar_line, stacked
from quia.show.html_reasons import section
from quia.show.identity import Row, command_rows, file_lines, identity_block, lines, made_rows
from quia.show.markup import Child, Markup, element, join, short
from quia.show.table import table
from quia.show.words import number, plural, share_text

MOST_FEATURES = 15


def identity(document: Document) -> Markup:
    """Which model and table, when, by what, and how."""
    of = document.identity
    rows: list[Row] = [
        *made_rows(of.case, of.made, of.quia),
        ("Took", f"{document.seconds:,.1f} s"),
        ("Model", lines(_model_lines(of.model))),
        ("Data", lines([*file_lines(of.data.file), plural(of.data.rows, "row")])),
        ("Compared with", None if of.compared is None else lines(_model_lines(of.compared))),
        *command_rows(of.command, list(_settings(of))),
    ]
    return identity_block(rows)


def _model_lines(model: ModelFacts) -> list[Child]:
    sizes = [plural(count, what.removesuffix("s")) for what, count in model.sizes.items()]
    features = f"{plural(model.features, 'feature')}, of which it tests {number(model.tested)}"
    said = f"{', '.join([model.kind, *sizes])}; {features}; classes {named(model.classes)}"
    return [*file_lines(model.file), said, *(short(note, 400) for note in model.notes)]


def _settings(of: Identity) -> Iterator[str]:
    """All that the answers depend on, what was not said included."""
    settings = of.settings
    yield from _asked(settings)
    yield f"rules cover {100 * settings.share:g} % of each class"
    yield "no time limit" if settings.timeout is None else f"time limit {settings.timeout:g} s"
    for name, options in (("model read with", settings.options), ("other model read with", settings.compare_options)):
        if options:
            yield f"{name} {_options(options)}"


def _asked(settings: Settings) -> Iterator[str]:
    yield f"label {settings.label}" if settings.label else "no label"
    yield f"protected {named(settings.protected)}"
    if settings.favourable:
        yield f"favourable, the best first: {named(settings.favourable)}"
    for feature, order in (settings.orders or {}).items():
        yield f"order of {feature}: {' < '.join(order)}"
    for feature, condition in (settings.within or {}).items():
        yield f"only possible: {feature} {condition}"
    for constraint in settings.given:
        yield f"given: {constraint}"


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def decisions(document: Document, palette: Palette) -> Markup:
    """By class, against the label, and which rows have none."""
    found = document.decisions
    chart = element(
        "ul",
        [
            bar_line(
                short(each.decision, 60),
                bar(each.rows / each.of if each.of else 0.0, colour=palette[each.decision]),
                share_text(each.rows, each.of),
            )
            for each in found.classes
        ],
        class_="bars",
        aria_label="Decisions by class",
    )
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
        chart,
        None if found.labels is None else _labels(found.labels),
        None
        if not left
        else join(
            [
                element("h3", "Rows without a decision"),
                paragraphs(
                    f"{share_text(each.rows, found.rows)} rows: {short(each.why, 300).rstrip('.')}; the first are"
                    f" {', '.join(map(number, each.first[:5]))}."
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
    rows = [
        [short(each.label, 60), *(share_text(each.decided.get(name, 0), each.rows) for name in classes)]
        for each in confusion
    ]
    return table(["Labelled", *(f"decided {short(name, 40)}" for name in classes)], rows)


def rules(document: Document, palette: Palette) -> Markup:
    """For each class the few rules that cover most of its rows."""
    return section(
        "rules",
        "Rules",
        *(_class_rules(each, palette) for each in document.rules),
        about="Whoever meets the conditions of a rule gets its decision, whatever all other features are: that is"
        " proved for each. They were chosen one after the other, each as what covers the most rows that are left"
        " (those are the new ones), so they are few, though perhaps not the fewest. Shares are of the rows with the"
        " decision.",
        id="rules",
    )


def _class_rules(found: Rules, palette: Palette) -> Markup:
    count = plural(len(found.rules), "rule")
    said = f"{count} cover {share_text(found.covered, found.of)} rows; wanted were {number(found.wanted)}."
    if len(found.rules) == 1:
        said = said.replace(" cover ", " covers ", 1)
    out = "" if found.complete else " Time ran out before they covered what was wanted."
    lines = [_rule(each, found.of, palette[found.decision]) for each in found.rules]
    of = f" They are among the general reasons of {plural(found.explained, 'row')}."
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
    mattering = sorted((each for each in document.features if each.matters is not False), key=_weight)
    heads = ("Feature", "Can a decision depend on it?", "Alone could change", "In a shortest reason")
    first, rest = mattering[:MOST_FEATURES], mattering[MOST_FEATURES:]
    return section(
        "features",
        "Features",
        table(heads, map(_feature, first)) if first else None,
        folded(plural(len(rest), "more feature"), table(heads, map(_feature, rest))) if rest else None,
        element(
            "p",
            element("strong", "Proved not to matter: "),
            f"no decision, on any input, depends on {', '.join(short(name, 60) for name in idle)}"
            f" ({number(len(idle))} of {plural(len(document.features), 'feature')}).",
            class_="proved",
        )
        if idle
        else None,
        about="In how many decisions a feature alone, all else kept, could change the decision; and in how many it is"
        " in a shortest sufficient reason. That some decision depends on it is shown by two inputs in the JSON.",
        id="features",
    )


def _weight(feature: Feature) -> tuple[int, int, str]:
    alone, shortest = (0 if each is None else each.rows for each in (feature.alone, feature.shortest))
    return -alone, -shortest, feature.feature


def _feature(found: Feature) -> list[Child]:
    matters = "yes" if found.matters else f"not known: {(found.why or 'time ran out').rstrip('.')}"
    return [short(found.feature, 60), matters, *(_share(each) for each in (found.alone, found.shortest))]


def _share(share: Share | None) -> Child:
    if share is None:
        return "not known"
    return [bar(share.rows / share.of if share.of else 0.0), element("span", share_text(share.rows, share.of))]


def check(document: Document) -> Markup:
    """What is proved, how to check it again, and what is not known."""
    model = document.identity.model.file
    command = f"quia verify {'MODEL' if model is None else shlex.quote(model.path)} audit.json"
    unknown = [*document.unfinished, *_reasons_why(document)]
    return section(
        "check",
        "Check it yourself",
        element("pre", element("code", command)),
        element("h3", "What is proved"),
        paragraphs(_proved(document)),
        element("h3", "What is not known") if unknown else None,
        paragraphs(unknown[:20]) if unknown else None,
        element("p", f"… {number(len(unknown) - 20)} more: see the JSON", class_="more") if len(unknown) > 20 else None,
        element("h3", "What was not asked") if not_asked(document) else None,
        paragraphs(not_asked(document)) if not_asked(document) else None,
        element("h3", "What this page does not say"),
        paragraphs(_NOT_SAID),
        about="The file that quia audit writes with --json has every claim of this page, and what it takes to check it:"
        " conditions, rows and pairs of inputs. This command checks them again, by a checker of its own, and says how"
        " many hold.",
        id="check",
    )


_NOT_SAID = (
    "It is about the model, not about cause: in life, one feature may change with another.",
    "It does not say whether a decision, or a difference between groups, is right, fair or lawful, nor whether the data"
    " are true.",
)


def _proved(document: Document) -> list[str]:
    """What follows from the model by logic, and how much of it there is."""
    rules = sum(len(each.rules) for each in document.rules)
    idle = sum(each.matters is False for each in document.features)
    never = 0
    if document.monotonicity is not None:
        never = sum(proof.can is False for each in document.monotonicity.features for proof in (each.hurts, each.helps))
    regions = 0 if document.comparison is None else len(document.comparison.differences)
    counted = [
        (rules, "rule", "whoever meets one gets its decision"),
        (idle, "feature", "no decision on any input depends on one of them"),
        (never, "direction", "raising a feature never hurts, or never helps"),
        (regions, "region", "the two models differ throughout each"),
    ]
    told = [f"{plural(count, what)}: {that}." for count, what, that in counted if count]
    free = [f"{named(each.features)}: no decision on any input depends on that." for each in document.protected]
    told += [said for said, each in zip(free, document.protected, strict=True) if each.depends.can is False]
    return [*told, "Every count is of all the rows that it names; nothing is sampled or estimated."]


def _reasons_why(document: Document) -> list[str]:
    """Why something is not known, wherever it is said, each sentence once."""
    found = [
        *((f"Feature {short(each.feature, 60)}", each.why) for each in document.features),
        *((f"Protected {named(each.features)}", why) for each in document.protected for why in _whys(each)),
    ]
    if document.monotonicity is not None:
        found += [
            (f"Raising {short(each.feature, 60)}", proof.why)
            for each in document.monotonicity.features
            for proof in (each.hurts, each.helps)
        ]
    if document.comparison is not None:
        found.append(("Two models", document.comparison.why))
    return list(dict.fromkeys(f"{about}: {why.rstrip('.')}." for about, why in found if why))


def _whys(protected: Any) -> tuple[str | None, str | None]:
    return protected.why, protected.depends.why
