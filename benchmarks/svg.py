"""Small drawings as SVG text: panels with logarithmic axes, lines, dots and bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from benchmarks.numbers import number_text, seconds_text


def tag(name: str, content: str = "", **attributes: object) -> str:
    """An element; `class_` is written class, and underscores are hyphens.

    >>> tag("line", x1=1.0, stroke_width=2)
    '<line x1="1" stroke-width="2"/>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def _value(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else escape(str(value), quote=True)


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high` laid out from pixel `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = True

    def at(self, number: float) -> float:
        """Where a number is; what lies outside is put on the edge."""
        number = min(max(number, self.low), self.high)
        if self.log:
            share = (math.log10(number) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        else:
            share = (number - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 8) -> list[float]:
        """Round numbers to mark, at most so many.

        >>> Axis(1e-6, 1, 0, 100).ticks(4)
        [1e-06, 0.0001, 0.01, 1.0]
        >>> Axis(0, 70, 0, 100, log=False).ticks(8)
        [0, 20, 40, 60]
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, -(-(last - first + 1) // most))
            return [10.0**power for power in range(first, last + 1, step)]
        span = self.high - self.low
        step_size = 10.0 ** math.floor(math.log10(span / most * 2))
        step_size *= next(k for k in (1, 2, 5, 10) if span / (step_size * k) <= most / 2 + 1)
        return [
            round(i * step_size) if step_size >= 1 else i * step_size for i in range(int(self.high / step_size) + 1)
        ]


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
    parts: list[str] = field(default_factory=list)

    def frame(self, x_tick: object = None, y_tick: object = None, x_name: str = "", y_name: str = "") -> None:
        """Grid, ticks and names; a tick is a function from number to text."""
        if callable(x_tick):
            for number in self.x.ticks(5):
                at = self.x.at(number)
                self.parts.append(tag("line", x1=at, x2=at, y1=self.y.start, y2=self.y.end, class_="grid"))
                self.text(at, self.y.start + 16, x_tick(number), anchor="middle")
        if callable(y_tick):
            for number in self.y.ticks():
                at = self.y.at(number)
                self.parts.append(tag("line", x1=self.x.start, x2=self.x.end, y1=at, y2=at, class_="grid"))
                self.text(self.x.start - 8, at + 4, y_tick(number), anchor="end")
        self.parts.append(tag("line", x1=self.x.start, x2=self.x.end, y1=self.y.start, y2=self.y.start, class_="axis"))
        self.text(self.x.start, self.y.end - 12, self.title, class_="title")
        if x_name:
            self.text((self.x.start + self.x.end) / 2, self.y.start + 34, x_name, anchor="middle")
        if y_name:
            middle = (self.y.start + self.y.end) / 2
            turned = f"rotate(-90 {self.x.start - 52:.1f} {middle:.1f})"
            self.text(self.x.start - 52, middle, y_name, anchor="middle", transform=turned)

    def text(self, x: float, y: float, content: str, anchor: str = "start", **more: str) -> None:
        """Words at a place."""
        self.parts.append(tag("text", escape(content), x=x, y=y, text_anchor=anchor, **more))

    def line(self, points: Iterable[tuple[float, float]], **look: str) -> None:
        """A line through points given in numbers."""
        at = " ".join(f"{self.x.at(x):.1f},{self.y.at(y):.1f}" for x, y in points)
        self.parts.append(tag("polyline", points=at, fill="none", **look))

    def dots(self, points: Iterable[tuple[float, float]], radius: float, **look: str) -> None:
        """Dots at points given in numbers; those that would cover each other are drawn once."""
        seen = {(round(self.x.at(x) * 2) / 2, round(self.y.at(y) * 2) / 2) for x, y in points}
        inner = "".join(tag("circle", cx=x, cy=y, r=radius) for x, y in sorted(seen))
        if inner:
            self.parts.append(tag("g", inner, **look))


def drawing(width: int, height: int, panels: Sequence[Panel], more: Sequence[str] = (), *, label: str = "") -> str:
    """Panels as one image."""
    inner = "".join("".join(panel.parts) for panel in panels) + "".join(more)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(label, quote=True)}">{inner}</svg>'
    )


def legend(entries: Sequence[tuple[str, str]], x: float, y: float) -> list[str]:
    """Names beside their colours, in a row."""
    parts = []
    for name, look in entries:
        parts.append(tag("rect", x=x, y=y - 9, width=12, height=12, rx=3, class_=look))
        parts.append(tag("text", escape(name), x=x + 18, y=y + 1))
        x += 34 + 7.2 * len(name)
    return parts
