"""What a batch run found: in words for a terminal, and as a page with pictures that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quia.batch.rules import Rule
    from quia.batch.summary import Summary

_TITLES = {"necessary": "necessary reasons", "sufficient": "sufficient reasons"}
_COLOURS = ("#2f6fab", "#c2622d", "#3d8c5c", "#8a5aa8", "#a83a4a", "#5f7a1f", "#6b6b6b", "#00838f")


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
    """One HTML page, with its pictures in it."""
    colour = {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(sorted(summary.classes))}
    sections = [_totals(summary), _section("Decisions", _bars(summary.classes.most_common(), colour))]
    sections += [_rules(decision, most) for decision, most in _by_decision(rules)]
    for kind, by_class in summary.features.items():
        sections += [
            _section(
                f"Features in the shortest {_TITLES[kind]} of “{label}”",
                _bars(_top(counts), dict.fromkeys(counts, colour[label]), summary.classes[label]),
                "Share of this class's rows that have the feature in a listed shortest reason.",
            )
            for label, counts in sorted(by_class.items())
        ]
    for kind, lengths in summary.lengths.items():
        sections.append(_section(f"How long the shortest {_TITLES[kind]} are", _bars(_in_order(lengths))))
    for column, digits in summary.sizes.items():
        named = [(_magnitude(n), digits[n]) for n in sorted(digits)]
        sections.append(_section(f"How many: {column.replace('_', ' ')}", _bars(named)))
    if summary.asked_bias:
        sections.append(
            _section(
                "Biased decisions",
                _bars(_top(summary.biased), colour, summary.rows),
                "They change if protected features change, and nothing else.",
            )
        )
        sections.append(_section("Protected features responsible", _bars(_top(summary.bias_features))))
    if summary.sets:
        sections.append(_surprises(summary))
    if summary.errors:
        sections.append(_section("Rows that cannot be explained", _bars(summary.errors.most_common(20))))
    return _PAGE.format(title=escape(title), sections="\n".join(sections))


def _totals(summary: Summary) -> str:
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
    return '<p class="facts">' + "".join(f"<span><b>{n:,}</b> {name}</span>" for n, name in facts) + "</p>"


def _section(title: str, picture: str, note: str = "") -> str:
    about = f"<p>{escape(note)}</p>" if note else ""
    return f"<section><h2>{escape(title)}</h2>{about}{picture}</section>"


def _rules(decision: str, rules: Sequence[Rule]) -> str:
    rows = "".join(
        f"<tr><td>{escape(str(rule.reason))}</td><td>{rule.explains:,}</td><td>{_count(rule.rows)}</td>"
        f"<td>{_count(rule.decided)}{_share(rule)}</td></tr>"
        for rule in rules
    )
    note = (
        "The most frequent shortest sufficient reasons. A rule explains decisions of which it is a listed one; it is"
        " true of more rows, and whatever else these are, they are decided so. Where features are frozen, rows that"
        " differ in them may not be."
    )
    head = f"<tr><th>rule</th><th>explains</th><th>true of</th><th>of these {escape(decision)}</th></tr>"
    return _section(f"Why “{decision}”, most often", f"<table>{head}{rows}</table>", note)


def _count(rows: int | None) -> str:
    return "not counted" if rows is None else f"{rows:,}"


def _share(rule: Rule) -> str:
    return f" ({rule.decided / rule.rows:.0%})" if rule.rows and rule.decided is not None else ""


def _surprises(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{escape(row)}</td><td>{escape(label)}</td><td>{escape(', '.join(names)) or '(none needed)'}</td>"
        f"<td>{_spark(bits)}{bits:.1f}</td></tr>"
        for bits, row, label, names in summary.surprising()
    )
    note = (
        "The first row of each of the rarest reasons. A reason whose features one in 2ⁿ rows of its class has is n bits"
        " of surprise."
    )
    head = "<tr><th>row</th><th>class</th><th>features of its shortest sufficient reason</th><th>bits</th></tr>"
    return _section("The most surprising reasons", f"<table>{head}{rows}</table>", note)


def _spark(bits: float) -> str:
    width = min(60, round(bits * 3))
    return f'<svg width="64" height="10" aria-hidden="true"><rect width="{width}" height="10" fill="#c2622d"/></svg>'


def _bars(items: Sequence[tuple[str, int]], colours: Mapping[str, str] | None = None, whole: int | None = None) -> str:
    """Horizontal bars, a line each; with `whole`, lengths are shares of it."""
    if not items:
        return "<p>none</p>"
    most = max(count for _, count in items)
    total = whole or sum(count for _, count in items)
    lines = []
    for line, (name, count) in enumerate(items):
        y = line * 22
        width = max(1.0, 400 * count / (whole or most))
        label = name if len(name) <= 34 else name[:33] + "…"
        lines.append(
            f'<g><title>{escape(name)}: {count:,}</title><text x="236" y="{y + 15}" text-anchor="end">{escape(label)}'
            f'</text><rect x="244" y="{y + 3}" width="{width:.1f}" height="16" rx="2"'
            f' fill="{(colours or {}).get(name, _COLOURS[0])}"/><text class="n" x="{250 + width:.1f}" y="{y + 15}">'
            f"{count:,} ({count / total:.1%})</text></g>"
        )
    return f'<svg viewBox="0 0 780 {len(items) * 22}" role="img">{"".join(lines)}</svg>'


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


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.3rem; }} h2 {{ font-size: 1.05rem; margin: 2rem 0 .4rem; }}
section p {{ margin: .2rem 0 .6rem; opacity: .75; font-size: .9rem; }}
.facts span {{ display: inline-block; margin-right: 1.6rem; }} .facts b {{ font-size: 1.3rem; }}
svg text {{ font: 13px system-ui, sans-serif; fill: currentColor; }} svg .n {{ opacity: .75; }}
svg {{ max-width: 100%; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
td, th {{ text-align: left; padding: .2rem .9rem .2rem 0; vertical-align: top; border-bottom: 1px solid #8884; }}
</style></head>
<body><h1>{title}</h1>
{sections}
</body></html>
"""
