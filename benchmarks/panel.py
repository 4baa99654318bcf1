"""Plots of what was measured: panels with two axes and a grid, lines, dots and legends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.numbers import number_text, seconds_text
from quia.show.markup import Child, Markup, element
from quia.show.svg import Axis, rounded, shape, svg, svg_file, words

Tick = Callable[[float], str]


def seconds_tick(number: float) -> str:
    """A time on an axis."""
    return seconds_text(number).replace(".0", "")


def count_tick(number: float) -> str:
    """A count on a logarithmic axis: 1, 10, 100, then powers.

    >>> count_tick(1.0), count_tick(1000.0), count_tick(1e10)
    ('1', '1,000', '10¹⁰')
    """
    if number < 1e5:
        return f"{number:,.0f}"
    return number_text(10 ** round(math.log10(number))).removeprefix("1.0·")


@dataclass
class Panel:
    """A plot: two axes with a grid, and what is drawn on them."""

    x: Axis
    y: Axis
    title: str
    parts: list[Markup] = field(default_factory=list)

    def frame(self, x_tick: Tick | None = None, y_tick: Tick | None = None, x_name: str = "", y_name: str = "") -> None:
        """Grid, ticks and names; a tick is a function from number to text."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        if x_tick is not None:
            for number in self.x.ticks():
                at = self.x.at(number)
                self.parts.append(shape("line", x1=at, x2=at, y1=bottom, y2=top, class_="grid"))
                self.text(at, bottom + 16, x_tick(number), anchor="middle")
        if y_tick is not None:
            for number in self.y.ticks(8 if self.y.log else 5):
                at = self.y.at(number)
                self.parts.append(shape("line", x1=left, x2=right, y1=at, y2=at, class_="grid"))
                self.text(left - 8, at + 4, y_tick(number), anchor="end")
        self.parts.append(shape("line", x1=left, x2=right, y1=bottom, y2=bottom, class_="axis"))
        self.text(left, top - 12, self.title, class_="title")
        if x_name:
            self.text((left + right) / 2, bottom + 34, x_name, anchor="middle")
        if y_name:
            middle = (bottom + top) / 2
            turned = f"rotate(-90 {rounded(left - 52)} {rounded(middle)})"
            self.text(left - 52, middle, y_name, anchor="middle", transform=turned)

    def text(self, x: float, y: float, content: str, anchor: str = "start", **more: Any) -> None:
        """Words at a place."""
        self.parts.append(words(content, x, y, text_anchor=anchor, **more))

    def line(self, points: Iterable[tuple[float, float]], **look: str) -> None:
        """A line through points given in numbers."""
        at = " ".join(f"{rounded(self.x.at(x))},{rounded(self.y.at(y))}" for x, y in points)
        self.parts.append(shape("polyline", points=at, fill="none", **look))

    def dots(self, points: Iterable[tuple[float, float]], radius: float, **look: str) -> None:
        """Dots at points given in numbers; those that would cover each other are drawn once."""
        seen = {(round(self.x.at(x) * 2) / 2, round(self.y.at(y) * 2) / 2) for x, y in points}
        if seen:
            self.parts.append(element("g", [shape("circle", cx=x, cy=y, r=radius) for x, y in sorted(seen)], **look))


class Plot(NamedTuple):
    """Panels and what stands beside them, with what they show as the text equivalent."""

    width: float
    height: float
    panels: Sequence[Panel]
    legend: Child
    label: str

    @property
    def on_page(self) -> Markup:
        """The plot within a page, whose style it takes on."""
        return svg(self.width, self.height, *self._parts, label=self.label, class_="plot")

    def as_file(self, style: str) -> Markup:
        """The plot as a file of its own."""
        return svg_file(self.width, self.height, *self._parts, label=self.label, style=style)

    @property
    def _parts(self) -> list[Child]:
        return [*(panel.parts for panel in self.panels), self.legend]


def legend(entries: Sequence[tuple[str, str]], x: float, y: float) -> list[Markup]:
    """Names beside their colours, in a row."""
    parts = []
    for name, look in entries:
        parts.append(shape("rect", x=x, y=y - 9, width=12, height=12, rx=3, class_=look))
        parts.append(words(name, x + 18, y + 1))
        x += 34 + 7.2 * len(name)
    return parts
