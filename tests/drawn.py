"""What is on an Axes, to be asked by tests of plots."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text


def artists(ax: Axes, gid: str) -> list[Any]:
    """What was drawn under a name."""
    return [each for each in ax.findobj() if each.get_gid() == gid]


def texts(ax: Axes) -> list[str]:
    """Everything that can be read."""
    return [each.get_text() for each in ax.findobj(Text) if each.get_visible() and each.get_text()]


def said(ax: Axes) -> str:
    """The same in one line, without breaks."""
    return " ".join(" ".join(texts(ax)).split())


def spans(ax: Axes, gid: str, row: int) -> list[tuple[float, float]]:
    """From where to where the bands of a name go in a row."""
    found = []
    for each in artists(ax, gid):
        for path in each.get_paths():
            box = path.get_extents()
            if abs((box.y0 + box.y1) / 2 - row) < 0.4:
                found.append((float(box.x0), float(box.x1)))
    return sorted(found)


def bars(ax: Axes, gid: str) -> list[float]:
    """How long the bars of a name are, from the first on."""
    return [float(each.get_width()) for each in artists(ax, gid)]


def marks(ax: Axes, gid: str) -> set[tuple[int, int]]:
    """The rows and columns of the marks of a name."""
    return {(round(y), round(x)) for each in artists(ax, gid) for x, y in each.get_offsets()}
