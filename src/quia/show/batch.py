"""What a batch run found: in words for a terminal, and as a page with pictures that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from quia.show.audit_pieces import chip, condition_chip, contents, finding
from quia.show.bars import Count, bar, bars
from quia.show.html_section import section
from quia.show.markup import Markup, element, join, short
from quia.show.table import table
from quia.show.whole_file import whole_file
from quia.show.words import listed, number, plural, share_text

if TYPE_CHECKING:
    from quia.batch.rules import Rule
    from quia.batch.summary import Summary

_TITLES = {"necessary": "necessary reasons", "sufficient": "sufficient reasons"}


def text(summary: Summary, rules: Sequence[Rule], *, output: str, rejects: str | None, seconds: float) -> str:
    """A few lines for a terminal."""
    rows = f"{summary.explained:,} of {summary.rows:,} rows explained into {output}"
    lines = [f"{rows} ({summary.rows / max(seconds, 1e-9):,.0f} rows/s)"]
    lines += [f"  {label}: {count:,}" for label, count in summary.classes.most_common(12)]
    if summary.already:
        lines.append(f"  {summary.already:,} are of the class asked against already")
    if summary.incomplete:
        lines.append(f"  {summary.incomplete:,} ran out of time or memory: their column `complete` is false")
    if summary.rejected:
        where = f"in {rejects}" if rejects else "in their column `error`"
        lines.append(f"  {summary.rejected:,} cannot be explained; why is {where}, most often:")
        lines += [f"    {count:,}: {_cut(message)}" for message, count in summary.errors.most_common(3)]
    for kind, by_class in summary.features.items():
        for label, counts in by_class.items():
            if counts:
                lines.append(f"  in the shortest {_TITLES[kind]} of {label}: {_shares(counts, summary.classes[label])}")
    for decision, most in _by_decision(rules):
        lines.append(f"  why {decision}, most often:")
        lines += [f"    {rule.explains:,} {_times(rule.explains)} {rule.reason}" for rule in most[:3]]
    if summary.asked_bias:
        biased = sum(summary.biased.values())
        lines.append(f"  {biased:,} decisions are biased{_by(summary.bias_features)}")
    return "\n".join(lines)


def _by_decision(rules: Sequence[Rule]) -> list[tuple[str, list[Rule]]]:
    return [(each, [rule for rule in rules if rule.decision == each]) for each in sorted({r.decision for r in rules})]


def _times(rows: int) -> str:
    return "row:" if rows == 1 else "rows:"


def _cut(message: str, most: int = 100) -> str:
    return message if len(message) <= most else f"{message[: most - 1]}…"


def _shares(counts: Mapping[str, int], whole: int) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    return ", ".join(f"{name} {count / whole:.0%}" for name, count in ranked)


def _by(features: Mapping[str, int]) -> str:
    ranked = sorted(features.items(), key=lambda item: (-item[1], item[0]))
    return " (" + ", ".join(f"{name} in {count:,}" for name, count in ranked) + ")" if ranked else ""


def page(summary: Summary, rules: Sequence[Rule], *, title: str) -> str:
    """One HTML page, with its pictures in it, that loads nothing and runs nothing."""
    colour = {label: place for place, label in enumerate(sorted(summary.classes))}
    decided = sum(summary.classes.values())
    parts = {
        "Decisions": _counted("Decisions", summary.classes, decided, "rows with a decision", colour),
        "Rules": _rules(summary, rules, colour) if rules else None,
        "Features": _features(summary, colour) if summary.features else None,
        "Lengths": _lengths(summary) if summary.lengths or summary.sizes else None,
        "Bias": _bias(summary, decided, colour) if summary.asked_bias else None,
        "Surprises": _surprises(summary) if summary.sets else None,
        "Unexplained": _unexplained(summary) if summary.errors else None,
    }
    made = [part for part in parts.values() if part is not None]
    head = _headline(summary, rules, decided, title, [name for name, part in parts.items() if part is not None])
    # An audit's style has all that this page shows: findings, classes in colours, rules and how far they reach.
    main = element("article", head, made, class_="quia audit batch")
    return whole_file(title, main, styles=("page.css", "audit.css"))


def _headline(summary: Summary, rules: Sequence[Rule], decided: int, title: str, parts: Sequence[str]) -> Markup:
    """What was explained, and what matters most in it."""
    found = [finding("Explained", f"{number(summary.explained)} of {plural(summary.rows, 'row')}", _left(summary))]
    if decided:
        label, rows = summary.classes.most_common(1)[0]
        others = plural(len(summary.classes) - 1, "other decision")
        found.append(finding("Most frequent decision", short(label, 60), f"{share_text(rows, decided)}; {others}"))
    if rules:
        most = max(rules, key=lambda rule: rule.explains)
        said = [_conditions(most), " → ", short(most.decision, 60)]
        found.append(finding("The reason met most often", plural(most.explains, "row"), said))
    if summary.asked_bias:
        biased = sum(summary.biased.values())
        by = _by(summary.bias_features).strip(" ()") or "no decision hangs on a protected feature alone"
        found.append(finding("Biased decisions", share_text(biased, decided), by))
    lead = f"{plural(summary.rows, 'row')}, each decision explained by itself, and what they have in common."
    return element(
        "header",
        element("h1", short(title)),
        element("p", lead, class_="lead"),
        element("ul", found, class_="cards findings"),
        contents(parts),
        class_="verdict",
    )


def _left(summary: Summary) -> str:
    """Which rows were not, or not completely, explained."""
    left = [
        (summary.rejected, "cannot be explained"),
        (summary.already, "of the class asked against already"),
        (summary.incomplete, "out of time or memory"),
    ]
    return ", ".join(f"{number(rows)} {name}" for rows, name in left if rows) or "each one, completely"


def _section(name: str, title: str, *shown: Markup, note: str | None = None) -> Markup:
    return section("batch", title, *shown, about=note, id=name)


def _counted(title: str, counts: Mapping[str, int], of: int, what: str, colour: Mapping[str, int]) -> Markup:
    """Counts as bars, the most frequent first, each a share of so many."""
    ranked = [Count(name, rows, colour.get(name, 0)) for name, rows in _top(counts, most=max(len(counts), 1))]
    return _section(title.lower(), title, bars(ranked, of), note=f"Shares of the {number(of)} {what}.")


def _rules(summary: Summary, rules: Sequence[Rule], colour: Mapping[str, int]) -> Markup:
    note = (
        "The most frequent shortest sufficient reasons. A rule explains decisions of which it is a listed one; it may"
        " be true of more rows, and whatever else these are, they are decided so. Where features are frozen, rows that"
        " differ in them may not be."
    )
    shown = []
    for decision, most in _by_decision(rules):
        # A reason not to be of some class explains decisions for all others.
        of = summary.classes.get(decision, summary.explained)
        lines = [_rule(rule, of, colour.get(decision)) for rule in most]
        named = chip(decision, colour[decision]) if decision in colour else short(decision, 60)
        shown += [element("h3", named), element("ol", lines, class_="rules")]
    return _section("rules", "Rules", *shown, note=note)


def _rule(rule: Rule, of: int, colour: int | None) -> Markup:
    told = [element("p", f"explains {share_text(rule.explains, of)}")] if of else []
    if rule.rows is not None and rule.decided is not None:
        so = "all" if rule.decided == rule.rows else number(rule.decided)
        told.append(element("p", f"true of {plural(rule.rows, 'row')}, {so} of these decided so"))
    reach = element("div", bar(rule.explains / of, colour=colour) if of else None, told, class_="reach")
    return element("li", element("p", _conditions(rule), class_="if"), reach)


def _conditions(rule: Rule) -> Markup:
    chips = [condition_chip(literal.feature, literal.signs) for literal in rule.reason.literals]
    return listed(chips) if chips else join(["whatever the features are"])


def _features(summary: Summary, colour: Mapping[str, int]) -> Markup:
    """In how many rows each feature is in a shortest reason, by the kind of reason and the class."""
    shown = []
    for kind, by_class in summary.features.items():
        shown.append(element("h3", f"In the shortest {_TITLES[kind]}"))
        for label, counts in sorted(by_class.items()):
            named = [Count(name, rows, colour[label]) for name, rows in _top(counts)]
            of = element("span", f" {plural(summary.classes[label], 'row')}", class_="same")
            shown += [element("h4", chip(label, colour[label]), of), bars(named, summary.classes[label])]
    note = "In how many of the rows of a class a feature is in a listed shortest reason."
    return _section("features", "Features", *shown, note=note)


def _lengths(summary: Summary) -> Markup:
    """How long reasons are, and how many there are."""
    shown = []
    for kind, lengths in summary.lengths.items():
        shown += _distribution(f"How long the shortest {_TITLES[kind]} are", _in_order(lengths))
    for column, digits in summary.sizes.items():
        shown += _distribution(
            f"How many: {column.replace('_', ' ')}", [(_magnitude(n), digits[n]) for n in sorted(digits)]
        )
    return _section(
        "lengths", "Lengths and numbers of reasons", *shown, note="Shares of the rows for which it is known."
    )


def _distribution(title: str, counts: Sequence[tuple[str, int]]) -> list[Markup]:
    """Counts in an order of their own, each a share of all of them."""
    of = sum(rows for _, rows in counts)
    return [element("h3", title), bars([Count(name, rows) for name, rows in counts], of)]


def _bias(summary: Summary, decided: int, colour: Mapping[str, int]) -> Markup:
    biased = sum(summary.biased.values())
    classes = [Count(label, rows, colour[label]) for label, rows in _top(summary.biased)]
    features = [Count(name, rows) for name, rows in _top(summary.bias_features)]
    return _section(
        "bias",
        "Biased decisions",
        bars(classes, decided),
        element("h3", "Protected features responsible"),
        bars(features, biased),
        note="They change if protected features change, and nothing else: shares of the"
        f" {plural(decided, 'row')} with a decision. Several features may be responsible for one: shares of the"
        f" {plural(biased, 'biased decision')}.",
    )


def _unexplained(summary: Summary) -> Markup:
    counts = [Count(message, rows) for message, rows in summary.errors.most_common(20)]
    of = f"Shares of the {plural(summary.rejected, 'row')} that cannot be."
    return _section("unexplained", "Rows that cannot be explained", bars(counts, summary.rejected), note=of)


def _surprises(summary: Summary) -> Markup:
    note = (
        "The first row of each of the rarest reasons. A reason whose features one in 2ⁿ rows of its class has is n bits"
        " of surprise."
    )
    found = summary.surprising()
    most = max((bits for bits, *_ in found), default=0.0) or 1.0
    rows = [
        (row, label, ", ".join(names) or "(none needed)", join([bar(bits / most), f"{bits:.1f}"]))
        for bits, row, label, names in found
    ]
    heads = ("Row", "Class", "Features of its shortest sufficient reason", "Bits")
    return _section("surprises", "The most surprising reasons", table(heads, rows), note=note)


def _top(counts: Mapping[str, int], most: int = 15) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _in_order(counts: Mapping[int, int]) -> list[tuple[str, int]]:
    return [(f"{n} feature{'' if n == 1 else 's'}", counts[n]) for n in sorted(counts)]


def _magnitude(digits: int) -> str:
    """Numbers of so many digits.

    >>> _magnitude(0), _magnitude(1), _magnitude(3)
    ('0', '1 to 9', '100 to 999')
    """
    if digits == 0:
        return "0"
    if digits <= 6:
        return f"{10 ** (digits - 1):,} to {10**digits - 1:,}"
    return f"10^{digits - 1} to 10^{digits}"
