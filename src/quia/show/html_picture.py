"""The shortest reason on the page as a picture of intervals, with the nearest change as arrows in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quia.show.markup import Child, Markup, element, join, short
from quia.show.strips import Extents, Span, Strip, Tick, strips
from quia.show.svg import percent, shape, stretched, svg
from quia.show.words import plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.counterfactual import Counterfactual
    from quia.reason import Reason

MOST_ROWS = 8
"""So many features are drawn at once; more are folded, and of those that are too many only how many is said."""
MOST_FOLDED = 200
_HIGH, _TOP, _BAR = 34, 4, 12
_MOST_CELLS = 60
_LETTER = 0.021
"""The share of a strip that a letter takes where it is narrowest, on a phone."""


def picture(answer: Answer, *, extents: Extents | None = None) -> Markup | None:
    """The shortest reason that was found, and the nearest change; None if there is no reason."""
    reason = answer.shortest
    if not reason:
        return None
    nearest = answer.changes[0] if answer.changes else None
    drawn = strips(answer, reason, () if nearest is None else nearest.changes, extents=extents)
    if len(drawn) > MOST_ROWS:  # what would change is seen at once
        drawn = sorted(drawn, key=lambda strip: not strip.change)
    rows = [_row(strip) for strip in drawn[: MOST_ROWS + MOST_FOLDED]]
    left = len(drawn) - len(rows)
    more = element("p", f"… {plural(left, 'feature')} more", class_="more") if left else None
    folded = (
        element(
            "details",
            element("summary", f"{plural(len(drawn) - MOST_ROWS, 'feature')} more"),
            element("ul", rows[MOST_ROWS:], class_="strips"),
            more,
        )
        if len(rows) > MOST_ROWS
        else None
    )
    return element(
        "section",
        element("h2", _title(answer, reason)),
        _legend(answer, nearest, drawn),
        element("ul", rows[:MOST_ROWS], class_="strips"),
        folded,
        class_="part picture",
    )


def _title(answer: Answer, reason: Reason) -> str:
    found = answer.sufficient
    is_shortest = found.is_ordered or found.complete
    if found.complete and len(found) == 1:
        name = "The only reason"
    elif answer.question.costs is not None and is_shortest:
        name = "The cheapest reason"
    else:
        name = "The shortest reason" if is_shortest else "The shortest reason that was found"
    return f"{name}: {plural(len(reason), 'condition')}"


def _legend(answer: Answer, change: Counterfactual | None, drawn: Sequence[Strip]) -> Markup:
    """What the signs mean."""
    held = short(answer.decision if answer.against is None else f"not {answer.against}", 60)
    parts: list[Child] = [
        element("span", _sign("allowed"), f"as long as all of these hold, it is {held}, whatever the rest"),
        element("span", _sign("now"), "the value here"),
    ]
    if change is not None:
        which = "the nearest change" if answer.changes.are_nearest else "a change"
        makes = "makes" if change.certain else "could make"
        parts.append(element("span", _sign("led"), f"{which}, which {makes} it {short(change.decision, 60)}"))
    if any(strip.data is not None for strip in drawn):
        parts.append(element("span", _sign("data"), "where the table’s values lie"))
    if not all(strip.to_scale for strip in drawn):
        parts.append(element("span", "numbers that are close are drawn apart"))
    return element("p", parts, class_="legend")


def _sign(kind: str) -> Markup:
    drawn = {
        "allowed": shape("rect", class_="allowed", y=3, width=22, height=8, rx=2),
        "data": shape("rect", class_="data", y=9, width=22, height=2),
        "now": shape("circle", class_="now", cx=11, cy=7, r=5),
        "led": join([shape("path", class_="way", d="M1 7H15"), shape("path", class_="head", d="M21 7l-8 -4v8z")]),
    }
    return svg(22, 14, drawn[kind], sized=True, class_="sign")


def _row(strip: Strip) -> Markup:
    """A feature: its name and value, the strip, and the condition."""
    said: list[Child] = []
    if strip.condition:
        said.append(element("span", short(strip.condition), class_="state"))
    if strip.changed:
        said.append(element("span", "→ ", short(strip.changed), class_="led"))
    return element(
        "li",
        element(
            "span", element("b", short(strip.feature, 60)), " ", element("span", short(strip.now, 40), class_="was")
        ),
        _drawn(strip),
        element("span", said, class_="said"),
        data_f=strip.index,
    )


def _drawn(strip: Strip) -> Markup:
    """The strip; its places are percentages, so that it is as wide as there is room, and its letters are not."""
    middle = _TOP + _BAR / 2
    parts: list[Child] = [shape("rect", class_="track", y=_TOP, width="100%", height=_BAR, rx=3)]
    parts += [_bar(span, "allowed", _TOP, _BAR) for span in strip.because]
    parts += [_bar(span, "leads", _TOP, _BAR) for span in strip.change]
    if strip.data is not None:
        parts.append(_bar(strip.data, "data", _TOP + _BAR + 1, 1.5))
    parts += _cells(strip.cells)
    labelled = _labelled(strip.ticks, 0.5 if strip.at is None else strip.at)
    parts += [_tick(tick, is_labelled=tick in labelled) for tick in strip.ticks]
    if strip.arrow is not None:
        start, end = strip.arrow
        parts.append(shape("line", class_="way", x1=percent(start), x2=percent(end), y1=middle, y2=middle))
        back = 7 if end < start else -7
        head = shape("path", class_="head", d=f"M0 {middle:g}l{back} -5v10z")
        parts.append(shape("svg", head, x=percent(end), overflow="visible"))
    if strip.at is not None:
        parts.append(shape("circle", class_="now", cx=percent(strip.at), cy=middle, r=5))
    told = f"{strip.feature}: now {strip.now}"
    told += f"; the reason needs {strip.condition}" if strip.condition else ""
    told += f"; the change needs {strip.changed}" if strip.changed else ""
    high = _HIGH if strip.ticks else _TOP * 2 + _BAR
    return stretched(high, parts, label=short(told, 400), class_="drawn")


def _bar(span: Span, kind: str, top: float, high: float) -> Markup:
    wide = max(span.end - span.start, 0.004)
    start = min(span.start, 1 - wide)
    return shape("rect", class_=kind, x=percent(start), y=top, width=percent(wide), height=high, rx=3)


def _cells(names: Sequence[str]) -> list[Child]:
    """Borders between the states of a nominal feature, and the name of each for whoever points at it."""
    if not 1 < len(names) <= _MOST_CELLS:
        return []
    wide = 1 / len(names)
    borders: list[Child] = [
        shape("line", class_="border", x1=percent(n * wide), x2=percent(n * wide), y1=_TOP, y2=_TOP + _BAR)
        for n in range(1, len(names))
    ]
    return borders + [
        element(
            "g",
            element("title", short(name, 80)),
            shape("rect", class_="cell", x=percent(n * wide), width=percent(wide), y=_TOP, height=_BAR),
        )
        for n, name in enumerate(names)
    ]


def _labelled(ticks: Sequence[Tick], near: float) -> list[Tick]:
    """Those whose texts do not run into each other's, the nearest to a place first; the others are in the condition."""
    chosen: list[Tick] = []
    for tick in sorted(ticks, key=lambda each: abs(each.at - near)):
        room = [abs(tick.at - other.at) - _LETTER * (len(tick.text) + len(other.text)) / 2 for other in chosen]
        if min(room, default=1.0) > _LETTER:
            chosen.append(tick)
    return chosen


def _tick(tick: Tick, *, is_labelled: bool) -> Markup:
    anchor = "start" if tick.at < 0.04 else "end" if tick.at > 0.92 else "middle"
    at = percent(tick.at)
    return join(
        [
            shape("line", class_="tick", x1=at, x2=at, y1=_TOP - 2, y2=_TOP + _BAR + 2) if tick.is_end else None,
            shape("text", short(tick.text, 14), x=at, y=_HIGH - 4, text_anchor=anchor) if is_labelled else None,
        ]
    )
