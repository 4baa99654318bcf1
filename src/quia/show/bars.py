"""Bars: the one way in which pages draw how much of something there is; the numbers stand beside them as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from quia.show.markup import Child, Markup, element, short
from quia.show.svg import shape, svg
from quia.show.words import share_text

COLOURS = 8
"""How many colours the page's style has for classes: `k0` to `k7`."""


class Count(NamedTuple):
    """What is counted, by its name and its colour."""

    name: str
    rows: int
    colour: int = 0


def bar(share: float, *, colour: int | None = None) -> Markup:
    """A bar as long as its share of the whole, from 0 to 1; the text beside it says the same."""
    kind = "share" if colour is None else f"share k{colour % COLOURS}"
    return _drawn([(0.0, max(100 * min(share, 1.0), 0.5 if share else 0.0), kind)], None)


def stacked(counts: Iterable[Count], of: int, *, about: str) -> Markup:
    """One bar whose pieces are the counts, with what they are as its text equivalent, after what it is `about`."""
    pieces, start, told = [], 0.0, []
    for count in counts:
        wide = 100 * count.rows / of if of else 0.0
        pieces.append((start, wide, f"share k{count.colour % COLOURS}"))
        told.append(f"{count.name} {share_text(count.rows, of)}")
        start += wide
    return _drawn(pieces, f"{about}: {', '.join(told)}")


def _drawn(pieces: Sequence[tuple[float, float, str]], label: str | None) -> Markup:
    return svg(
        100,
        8,
        shape("rect", class_="track", width=100, height=8),
        [shape("rect", class_=kind, x=start or None, width=wide, height=8) for start, wide, kind in pieces if wide],
        label=label,
        preserveAspectRatio="none",
    )


def bar_line(name: Child, drawn: Markup, said: Child, **attributes: Any) -> Markup:
    """A line of a list of bars: what it is of, the bar, and the numbers."""
    return element(
        "li", element("span", name, class_="name"), drawn, element("span", said, class_="said"), **attributes
    )


def bars(counts: Sequence[Count], of: int) -> Markup:
    """A list of bars, each the share of a count in so many."""
    if not counts:
        return element("p", "None.", class_="about")
    lines = (
        bar_line(
            short(count.name, 100),
            bar(count.rows / of if of else 0.0, colour=count.colour),
            share_text(count.rows, of),
        )
        for count in counts
    )
    return element("ul", lines, class_="bars")
