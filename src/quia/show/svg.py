"""Drawings: the one place where SVG is made, for pages, for the pictures of the documentation and for benchmarks.

`svg(width, height, *parts, label=…)` is a drawing. Its parts are made by `shape`, an element whose numbers are rounded,
by `words`, a text that is cut where it has no more room, and by `path`. An `Axis` tells where numbers go. A strip that
shows where 39 is between 17 and 90, and what of that counts as the same, is

>>> age = Axis(17, 90, 0, 96)
>>> same = shape("rect", class_="here", x=age.at(30), width=age.length(30, 41.5), height=10, rx=2)
>>> print(svg(96, 10, same, shape("circle", cx=age.at(39), cy=5, r=3), label="39, in 17 to 90", class_="strip"))
<svg viewBox="0 0 96 10" role="img" aria-label="39, in 17 to 90" class="strip"><rect class="here" x="17.1" \
width="15.1" height="10" rx="2"/><circle cx="28.9" cy="5" r="3"/></svg>
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from quia.show.markup import Child, Markup, element, fitted, letters, short, trusted

Point = tuple[float, float]

_LETTER, _BOLD_LETTER = 0.62, 0.68
"""How wide an average letter is, as a share of the font's size: of wide fonts, so that others fit too."""
_MOST_TITLE = 400
_NAMESPACE = "http://www.w3.org/2000/svg"


def svg(
    width: float,
    height: float,
    *parts: Child,
    label: str | None = None,
    role: str = "img",
    sized: bool = False,
    **attributes: Any,
) -> Markup:
    """A drawing, with what it shows as its text equivalent; without a `label` it only repeats what is said beside it.

    It is as large as the page's style says or, if `sized`, as its numbers say.
    """
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {rounded(width)} {rounded(height)}",
        width=rounded(width) if sized else None,
        height=rounded(height) if sized else None,
        role=None if label is None else role,
        aria_label=label,
        aria_hidden="true" if label is None else None,
        **attributes,
    )


def stretched(height: float, *parts: Child, label: str | None = None, **attributes: Any) -> Markup:
    """A drawing as wide as there is room, whose letters stay as they are: places across are told by `percent`.

    >>> print(stretched(10, shape("rect", x=percent(0.25), width=percent(1 / 3), height=10), label="a third"))
    <svg height="10" role="img" aria-label="a third"><rect x="25%" width="33.33%" height="10"/></svg>
    """
    return element(
        "svg",
        *parts,
        height=rounded(height),
        role=None if label is None else "img",
        aria_label=label,
        aria_hidden="true" if label is None else None,
        **attributes,
    )


def percent(share: float) -> str:
    """A place across a stretched drawing, from 0 to 1.

    >>> percent(0.5), percent(1 / 3)
    ('50%', '33.33%')
    """
    return f"{round(100 * share, 2) + 0.0:g}%"


def svg_file(width: float, height: float, *parts: Child, label: str, style: str) -> Markup:
    """A drawing as a file of its own, in its own style; each part is a line, so that people can read what changed."""
    lines = [("\n", part) for part in (element("style", trusted(style)), *parts)]
    return svg(width, height, *lines, "\n", label=label, sized=True, xmlns=_NAMESPACE)


def shape(tag: str, /, *children: Child, **attributes: Any) -> Markup:
    """An element of a drawing: like any other, but its numbers are rounded to a tenth.

    >>> print(shape("rect", x=1 / 3, width=20.0, class_="here"))
    <rect x="0.3" width="20" class="here"/>
    """
    return element(tag, *children, **{k: rounded(v) if type(v) is float else v for k, v in attributes.items()})


def rounded(number: float) -> str:
    """A number of a drawing, to a tenth.

    >>> rounded(1234567.89), rounded(-0.01), rounded(2)
    ('1234567.9', '0', '2')
    """
    return f"{round(number, 1) + 0.0:.1f}".removesuffix(".0")


def words(
    text: str,
    x: float,
    y: float,
    *,
    room: float = math.inf,
    size: float = 13,
    bold: bool = False,
    middle: bool = False,
    **attributes: Any,
) -> Markup:
    """A text at a place, cut where it would be wider than its room; the whole of it is told to who points at it.

    It is cut at its end or, where others begin in the same way, in its `middle`.

    >>> print(words("hours-per-week", 50, 9, room=60, size=10))
    <text x="50" y="9"><title>hours-per-week</title>hours-pe…</text>
    """
    seen = fitted(text, room / (size * (_BOLD_LETTER if bold else _LETTER)), middle=middle)
    title = None if seen == text else element("title", short(text, _MOST_TITLE))
    return shape("text", title, seen, x=x, y=y, **attributes)


def text_width(text: str, *, size: float = 13, bold: bool = False) -> float:
    """About how wide a text is, and rather more than less."""
    return letters(text) * size * (_BOLD_LETTER if bold else _LETTER)


def path(points: Iterable[Point], **attributes: Any) -> Markup:
    """A line through points.

    >>> print(path([(0, 1), (2.25, 3)], class_="line"))
    <path d="M0 1L2.2 3" class="line"/>
    """
    return element("path", d="M" + "L".join(f"{rounded(x)} {rounded(y)}" for x, y in points), **attributes)


def curve(points: Sequence[Point], *, bend: float = 0.5, **attributes: Any) -> Markup:
    """A smooth line down through points; with more `bend` it leaves them the straighter.

    >>> print(curve([(0, 0), (10, 20)]))
    <path d="M0 0C0 10 10 10 10 20"/>
    """
    d = f"M{rounded(points[0][0])} {rounded(points[0][1])}"
    for (x, y), (to_x, to_y) in pairwise(points):
        turn = bend * (to_y - y)
        d += f"C{' '.join(map(rounded, (x, y + turn, to_x, to_y - turn, to_x, to_y)))}"
    return element("path", d=d, **attributes)


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from `low` to `high` laid out from `start` to `end` of a drawing, evenly or, if `log`, by their size."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, number: float) -> float:
        """Where a number is; what lies outside, and infinity, is put on the edge.

        >>> Axis(0, 10, 0, 100).at(2.5), Axis(1, 100, 0, 100, log=True).at(10), Axis(0, 10, 0, 100).at(float("-inf"))
        (25.0, 50.0, 0.0)
        """
        low, high = self._scaled(self.low), self._scaled(self.high)
        if low == high:
            return (self.start + self.end) / 2
        share = (self._scaled(min(max(number, self.low), self.high)) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def length(self, low: float, high: float) -> float:
        """How far two numbers are apart."""
        return abs(self.at(high) - self.at(low))

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers to mark, at most so many.

        >>> Axis(1e-6, 1, 0, 100, log=True).ticks(4), Axis(17, 70, 0, 100).ticks(), Axis(0, 0.3, 0, 100).ticks(4)
        ([1e-06, 0.0001, 0.01, 1.0], [20.0, 40.0, 60.0], [0.0, 0.1, 0.2, 0.3])
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1, max(1, -(-(last - first + 1) // most)))]
        if not 0 < self.high - self.low < math.inf:
            return [self.low] if self.low == self.high else []
        power = math.floor(math.log10((self.high - self.low) / most))
        for factor in (1, 2, 5, 10, 20):
            step = factor * 10.0**power
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            if last - first < most:
                break
        return [round(place * step, max(0, -power)) + 0.0 for place in range(first, last + 1)]

    def _scaled(self, number: float) -> float:
        return math.log10(number) if self.log else number
