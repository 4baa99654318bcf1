"""The part of the page that says how often each feature is in a sufficient reason."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from quia.show.bars import bar, bar_line
from quia.show.html_section import fold
from quia.show.markup import Markup, element, short
from quia.show.words import Facts, number, percent, plural

MOST_BARS = 12
MOST_LISTED = 1_000
"""How many bars are seen at once, and how many there are in all."""


def shares(importance: Mapping[str, Fraction] | None, facts: Facts, count: int | None) -> Markup | None:
    """Each feature's share of the sufficient reasons as bars."""
    if importance is None or not importance or not count:
        return None
    bars = [_bar(name, share, facts, count) for name, share in list(importance.items())[:MOST_LISTED]]
    rest = bars[MOST_BARS:]
    if len(importance) > MOST_LISTED:
        rest.append(element("li", f"… {plural(len(importance) - MOST_LISTED, 'feature')} more", class_="more"))
    return fold(
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
