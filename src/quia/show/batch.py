"""What a batch run found: in words for a terminal, and as a page with pictures that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from quia.show.bars import Count, bar, bars
from quia.show.html_section import section
from quia.show.markup import Markup, element, join, short
from quia.show.table import table
from quia.show.whole_file import whole_file
from quia.show.words import number, plural, share_text

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
    parts = [_totals(summary, title), _counted("Decisions", summary.classes, decided, "rows with a decision", colour)]
    parts += [_rules(decision, most) for decision, most in _by_decision(rules)]
    for kind, by_class in summary.features.items():
        parts += [
            _section(
                f"Features in the shortest {_TITLES[kind]} of “{short(label)}”",
                bars([Count(name, rows, colour[label]) for name, rows in _top(counts)], summary.classes[label]),
                f"In how many of the {plural(summary.classes[label], 'row')} decided so a feature is in a listed"
                " shortest reason.",
            )
            for label, counts in sorted(by_class.items())
        ]
    for kind, lengths in summary.lengths.items():
        parts.append(_distribution(f"How long the shortest {_TITLES[kind]} are", _in_order(lengths)))
    for column, digits in summary.sizes.items():
        named = [(_magnitude(n), digits[n]) for n in sorted(digits)]
        parts.append(_distribution(f"How many: {column.replace('_', ' ')}", named))
    if summary.asked_bias:
        parts += _bias(summary, decided, colour)
    if summary.sets:
        parts.append(_surprises(summary))
    if summary.errors:
        errors = dict(summary.errors.most_common(20))
        parts.append(_counted("Rows that cannot be explained", errors, summary.rejected, "rows that cannot be", {}))
    return whole_file(title, element("article", parts, class_="quia"))


def _totals(summary: Summary, title: str) -> Markup:
    facts = [
        (summary.rows, "rows"),
        (summary.explained, "explained"),
        (summary.rejected, "cannot be explained"),
        (summary.incomplete, "out of time or memory"),
    ]
    if summary.already:
        facts.append((summary.already, "of that class already"))
    if summary.asked_bias:
        facts.append((sum(summary.biased.values()), "biased"))
    told = [element("li", element("b", number(n)), f" {name}") for n, name in facts]
    return element("header", element("h1", short(title)), element("ul", told, class_="totals"), class_="verdict")


def _section(title: str, shown: Markup, note: str) -> Markup:
    return section("batch", title, shown, about=note)


def _counted(title: str, counts: Mapping[str, int], of: int, what: str, colour: Mapping[str, int]) -> Markup:
    """Counts as bars, the most frequent first, each a share of so many."""
    ranked = [Count(name, rows, colour.get(name, 0)) for name, rows in _top(counts, most=max(len(counts), 1))]
    return _section(title, bars(ranked, of), f"Shares of the {number(of)} {what}.")


def _distribution(title: str, counts: Sequence[tuple[str, int]]) -> Markup:
    """Counts in an order of their own, each a share of all of them."""
    of = sum(rows for _, rows in counts)
    lines = bars([Count(name, rows) for name, rows in counts], of)
    return _section(title, lines, f"Shares of the {plural(of, 'row')} for which it is known.")


def _bias(summary: Summary, decided: int, colour: Mapping[str, int]) -> list[Markup]:
    biased = sum(summary.biased.values())
    classes = [Count(label, rows, colour[label]) for label, rows in _top(summary.biased)]
    features = [Count(name, rows) for name, rows in _top(summary.bias_features)]
    return [
        _section(
            "Biased decisions",
            bars(classes, decided),
            "They change if protected features change, and nothing else. Shares of the"
            f" {plural(decided, 'row')} with a decision.",
        ),
        _section(
            "Protected features responsible",
            bars(features, biased),
            f"Shares of the {plural(biased, 'biased decision')}; several features may be responsible for one.",
        ),
    ]


def _rules(decision: str, rules: Sequence[Rule]) -> Markup:
    note = (
        "The most frequent shortest sufficient reasons. A rule explains decisions of which it is a listed one; it is"
        " true of more rows, and whatever else these are, they are decided so. Where features are frozen, rows that"
        " differ in them may not be."
    )
    rows = [(str(rule.reason), number(rule.explains), _count(rule.rows), _decided(rule)) for rule in rules]
    heads = ("Rule", "Explains", "True of", f"Of these {short(decision, 40)}")
    return _section(f"Why “{short(decision)}”, most often", table(heads, rows), note)


def _count(rows: int | None) -> str:
    return "not counted" if rows is None else plural(rows, "row")


def _decided(rule: Rule) -> str:
    return "not counted" if rule.rows is None or rule.decided is None else share_text(rule.decided, rule.rows)


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
    return _section("The most surprising reasons", table(heads, rows), note)


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
