"""A decision on an image as a plot: the image, over it what forces the decision and what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quia.plot.canvas import (
    INCH,
    Inks,
    Margins,
    axes_of,
    bare,
    head,
    heading,
    inks_of,
    legend,
)
from quia.plot.words import headline, nothing_changes
from quia.show.pixels import BECAUSE, CHANGE, NOT_SEEN, SAID, SIDES, UNSEEN, Mark, PixelPicture, pixel_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quia.answer import Answer
    from quia.reason import Reason

_LARGEST = 4.6


def plot_pixels(answer: Answer, reason: Reason | None, shape: Any, ax: Axes | None) -> Axes:
    """The instance as a grey image with marks on its pixels."""
    drawn = pixel_picture(answer, shape, reason)
    rows, columns = drawn.shape
    inch = _LARGEST / max(rows, columns)
    wide, high = columns * inch, rows * inch
    about = " ".join(part for part in (drawn.reason_text, drawn.change_text) if part)
    about = nothing_changes(answer) if answer.is_constant else about or "No reason was found within the time given."
    said = heading(headline(answer), about, max(wide, 4.0))
    ax = axes_of(ax, wide, high, Margins(0.3, 0.3 + max(4.0 - wide, 0), said.high, 0.95))
    inks = inks_of(ax)
    bare(ax, inks)
    _image(ax, drawn, inks)
    side = min(ax.get_window_extent().width / columns, ax.get_window_extent().height / rows) / ax.figure.dpi
    size = (max(side * INCH * 0.74, 2.5)) ** 2
    for mark in drawn.because:
        _mark(ax, mark, "because", size)
    for mark in drawn.change:
        _mark(ax, mark, "change", size)
    ax.set_aspect("equal", anchor="NW")
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    head(ax, said, inks)
    _legend(ax, drawn, inks)
    return ax


def _image(ax: Axes, drawn: PixelPicture, inks: Inks) -> None:
    import numpy as np
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    unseen = to_rgb(UNSEEN)
    pixels = [[unseen if each is None else (each,) * 3 for each in row] for row in drawn.brightness]
    ax.imshow(np.array(pixels), interpolation="nearest", gid="image")
    rows, columns = drawn.shape
    frame = Rectangle((-0.5, -0.5), columns, rows, fill=False, edgecolor=inks.faint, linewidth=1, clip_on=False)
    ax.add_patch(frame)


_SHAPES = {("because", -1): "s", ("because", 1): "s", ("because", 0): "D", ("change", 1): "^", ("change", -1): "v"}


def _style(kind: str, towards: int) -> dict[str, Any]:
    """Marks are told apart by their shape and by whether they are filled, not by their colour alone."""
    colour = BECAUSE if kind == "because" else CHANGE
    filled = colour if towards == 1 or kind == "change" else "#000000"
    return {"marker": _SHAPES.get((kind, towards), "D"), "facecolors": filled, "edgecolors": colour}


def _mark(ax: Axes, mark: Mark, kind: str, size: float) -> None:
    row, column = mark.place
    name = SIDES[mark.towards]
    ax.scatter([column], [row], s=size, linewidths=1.6, gid=f"{kind} {name}", zorder=3, **_style(kind, mark.towards))


def _legend(ax: Axes, drawn: PixelPicture, inks: Inks) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for key in drawn.kinds:
        style = _style(*key)
        fill, edge = style["facecolors"], style["edgecolors"]
        handles.append(
            Line2D(
                [],
                [],
                linestyle="none",
                marker=style["marker"],
                markerfacecolor=fill,
                markeredgecolor=edge,
                markersize=7,
                markeredgewidth=1.6,
                label=SAID[key],
            )
        )
    if drawn.has_unseen:
        handles.append(Patch(facecolor=UNSEEN, label=NOT_SEEN))
    if handles:
        legend(ax, inks, handles, columns=2, down=0.06)
