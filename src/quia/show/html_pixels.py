"""A decision on an image, on the page: the instance as a picture, what forces the decision and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quia.show.html_section import section
from quia.show.markup import Child, Markup, element, short
from quia.show.pixels import BECAUSE, CHANGE, NOT_SEEN, SAID, SIDES, UNSEEN, Mark, PixelPicture, pixel_picture
from quia.show.svg import svg
from quia.show.words import Facts

if TYPE_CHECKING:
    from quia.answer import Answer

_LEVELS = 32
"""So many greys are told apart, each of which is one path."""


def image(answer: Answer, facts: Facts, shape: Any) -> Markup:
    """The picture with its legend, and what it shows in sentences."""
    drawn = pixel_picture(answer, shape)
    said = [text for text in (drawn.reason_text, drawn.change_text) if text]
    return section(
        "image",
        "What forces it in the image" if drawn.because else "The image",
        element("p", " ".join(said), class_="about") if said else None,
        _drawn(drawn, facts, " ".join([f"The image that was decided {short(drawn.decision, 60)}.", *said])),
        _legend(drawn),
    )


def _drawn(drawn: PixelPicture, facts: Facts, told: str) -> Markup:
    """The image and its marks; a pixel is one unit wide and high."""
    rows, columns = drawn.shape
    return svg(
        columns,
        rows,
        element("rect", width=columns, height=rows, fill=UNSEEN),
        _greys(drawn.brightness),
        [_mark(mark, "because", facts) for mark in drawn.because],
        [_mark(mark, "change", facts) for mark in drawn.change],
        label=short(told, 400),
        class_="pixels",
    )


def _greys(brightness: Sequence[Sequence[float | None]]) -> Iterable[Markup]:
    """The image, a path for each grey: pixels of the same grey that are side by side are one stretch of it."""
    stretches: dict[int, list[str]] = {}
    for y, row in enumerate(brightness):
        x = 0
        while x < len(row):
            level, start = _level(row[x]), x
            while x < len(row) and _level(row[x]) == level:
                x += 1
            if level is not None:
                stretches.setdefault(level, []).append(f"M{start} {y}h{x - start}v1h-{x - start}z")
    for level, found in sorted(stretches.items()):
        grey = round(255 * level / (_LEVELS - 1))
        yield element("path", d="".join(found), fill=f"#{grey:02x}{grey:02x}{grey:02x}", shape_rendering="crispEdges")


def _level(brightness: float | None) -> int | None:
    return None if brightness is None else round(brightness * (_LEVELS - 1))


def _mark(mark: Mark, kind: str, facts: Facts) -> Markup:
    row, column = mark.place
    feature = mark.literal.feature
    told = f"{short(feature, 60)}: {'would need' if kind == 'change' else 'needs'} {short(mark.literal.signs, 80)}"
    return element(
        "g",
        element("title", told),
        _shape(kind, mark.towards, column, row),
        class_=f"{kind} {SIDES[mark.towards]}",
        data_f=facts.index[feature],
    )


def _shape(kind: str, towards: int, x: float, y: float) -> Markup:
    """What is drawn on a pixel: squares, filled where it must be bright, for a reason, and triangles for a change."""
    colour = BECAUSE if kind == "because" else CHANGE
    is_filled = kind == "change" or towards == 1
    line = {"fill": colour if is_filled else "#000000", "stroke": colour, "stroke_width": 0.14}
    if towards == 0:
        return element("path", d=f"M{x + 0.5:g} {y + 0.1:g}l.4 .4l-.4 .4l-.4 -.4z", **line)
    if kind == "because":
        return element("rect", x=f"{x + 0.17:g}", y=f"{y + 0.17:g}", width=0.66, height=0.66, **line)
    up = f"M{x + 0.5:g} {y + 0.14:g}l.38 .68h-.76z"
    down = f"M{x + 0.5:g} {y + 0.86:g}l.38 -.68h-.76z"
    return element("path", d=up if towards > 0 else down, **line)


def _legend(drawn: PixelPicture) -> Markup | None:
    """What the marks mean."""
    parts: list[Child] = [
        element("span", _sign(_shape(kind, towards, 0, 0)), SAID[kind, towards]) for kind, towards in drawn.kinds
    ]
    if drawn.has_unseen:
        parts.append(element("span", _sign(None), NOT_SEEN))
    return element("p", parts, class_="legend") if parts else None


def _sign(shape: Markup | None) -> Markup:
    ground = element("rect", width=1, height=1, fill=UNSEEN if shape is None else "#000000")
    return svg(14, 14, element("g", ground, shape, transform="scale(14)"), sized=True, class_="sign")
