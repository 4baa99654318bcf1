"""What all plots share: Axes to draw on, colours by role that read on light and dark ground, and plain texts.

Nothing here changes how matplotlib draws for others: sizes and colours are given to each text and shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.arguments import whole
from quia.errors import InstanceError, Unsupported, shown
from quia.show.markup import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH = 72.0
"""Points to an inch: sizes of texts are in points, those of figures in inches."""
SIZE, SMALL, LARGE = 10.0, 8.5, 12.0
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""How names are written: a `$` in one is no formula."""


class Inks(NamedTuple):
    """Colours by what they say. Blue and orange are told apart by everybody, and in print by how light they are."""

    text: str
    faint: str
    track: str
    ground: str
    keep: str
    keep_pale: str
    change: str
    change_pale: str


LIGHT = Inks("#1b1f24", "#565f6b", "#d5d9de", "#ffffff", "#0b63a5", "#b5d4ec", "#a34100", "#f6cfae")
DARK = Inks("#f2f4f6", "#aab2bd", "#454c55", "#000000", "#6bb7f0", "#2a5f8a", "#ffa04d", "#8a4f1d")
CLASSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""The palette of Okabe and Ito, which people with any kind of colour blindness tell apart."""


def inks_of(ax: Axes) -> Inks:
    """The colours that read on what is behind an Axes."""
    from matplotlib.colors import to_hex, to_rgba

    for colour in (ax.get_facecolor(), ax.figure.get_facecolor()):
        red, green, blue, opaque = to_rgba(colour)
        if opaque > 0.5:
            is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.45
            return (DARK if is_dark else LIGHT)._replace(ground=to_hex((red, green, blue)))
    return LIGHT


class Margins(NamedTuple):
    """What is beside the part of a figure that has the data, in inches."""

    left: float = 0.3
    right: float = 0.3
    top: float = 0.3
    bottom: float = 0.3


def axes_of(ax: Axes | None, wide: float, high: float, margins: Margins) -> Axes:
    """The Axes that were given, or new ones in a figure of their own: so many inches wide and high, and its margins."""
    check_matplotlib()
    if ax is not None:
        if not hasattr(ax, "get_window_extent") or not hasattr(ax, "set_xlim"):
            raise InstanceError(f"ax is {shown(ax)}; give the Axes of a matplotlib figure, or leave it out")
        return ax
    from matplotlib import pyplot as plt

    whole = (margins.left + wide + margins.right, margins.top + high + margins.bottom)
    figure = plt.figure(figsize=whole)
    place = (margins.left / whole[0], margins.bottom / whole[1], wide / whole[0], high / whole[1])
    return figure.add_axes(place)


def check_matplotlib() -> None:
    """Unsupported, with how to install it, where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        raise Unsupported("plots need matplotlib", cure="pip install 'quia[plot]'")


def rows_of(most: Any) -> int:
    """How many rows a plot may have."""
    if not (rows := whole(most, "most")):
        raise InstanceError("most is 0; a plot has at least one row")
    return rows


def inches_wide(ax: Axes) -> float:
    """How wide an Axes is at present."""
    return float(ax.get_window_extent().width / ax.figure.dpi)


def plain(text: str) -> str:
    """A text in one line, without what no font can draw."""
    return " ".join(clean(text).split())


def width(text: str, size: float = SIZE) -> float:
    """How wide a text is, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    if not text:
        return 0.0
    # On a screen letters are moved to whole pixels, which may make them a little wider.
    return 1.05 * float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0])


def widest(texts: Iterable[str], size: float = SIZE) -> float:
    """How wide the widest of some texts is, in inches."""
    return max((width(text, size) for text in texts), default=0.0) / INCH


def fitted(text: str, points: float, size: float = SIZE) -> str:
    """A text, cut at its end where it is wider than so many points."""
    text = plain(text)
    if width(text, size) <= points:
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if width(f"{text[:middle]}…", size) <= points else (low, middle)
    return f"{text[:low].rstrip()}…"


def wrapped(text: str, points: float, size: float = SIZE, most: int = 3) -> list[str]:
    """A text in lines that are at most so wide, the last of at most `most` cut where more would follow."""
    lines: list[str] = []
    words = plain(text).split(" ")
    while words:
        line = words.pop(0)
        while words and width(f"{line} {words[0]}", size) <= points:
            line = f"{line} {words.pop(0)}"
        if len(lines) == most - 1 and words:
            return [*lines, fitted(" ".join([line, *words]), points, size)]
        lines.append(fitted(line, points, size))
    return lines


class Heading(NamedTuple):
    """What stands above a plot: the headline, and what to see, each in lines."""

    title: list[str]
    about: list[str]

    @property
    def high(self) -> float:
        """How high it is, in inches."""
        return (len(self.title) * LARGE * 1.3 + len(self.about) * SIZE * 1.35 + 16) / INCH


def heading(title: str, about: str, inches: float, most: int = 4) -> Heading:
    """A headline and what is said below it, in lines that fit."""
    points = inches * INCH
    return Heading(wrapped(title, points * 0.93, LARGE, 2), wrapped(about, points, SIZE, most) if about else [])


def head(ax: Axes, said: Heading, inks: Inks, left: float = 0.0) -> None:
    """Put a heading above an Axes, from so many inches left of it on."""
    from matplotlib.transforms import ScaledTranslation

    title = ax.set_title(
        "\n".join(said.title),
        loc="left",
        fontsize=LARGE,
        fontweight="bold",
        color=inks.text,
        pad=10 + len(said.about) * SIZE * 1.35,
        linespacing=1.2,
        **PLAIN,
    )
    # Title and lines begin where the names do.
    title.set_transform(title.get_transform() + ScaledTranslation(-left, 0, ax.figure.dpi_scale_trans))
    if said.about:
        ax.annotate(
            "\n".join(said.about),
            (0, 1),
            xycoords="axes fraction",
            xytext=(-left * INCH, 6.0),
            textcoords="offset points",
            va="bottom",
            ha="left",
            fontsize=SIZE,
            color=inks.text,
            linespacing=1.25,
            gid="about",
            **PLAIN,
        )


def foot(ax: Axes, text: str, inks: Inks, *, down: float, left: float = 0.0) -> None:
    """A small line so many points below an Axes."""
    ax.annotate(
        text,
        (0, 0),
        xycoords="axes fraction",
        xytext=(-left * INCH, -down),
        textcoords="offset points",
        va="top",
        ha="left",
        fontsize=SMALL,
        color=inks.faint,
        linespacing=1.3,
        gid="foot",
        **PLAIN,
    )


def beside(ax: Axes, texts: Sequence[str], inks: Inks, places: Sequence[float]) -> None:
    """A small text at the right end of each row."""
    for place, text in zip(places, texts, strict=True):
        ax.annotate(
            text,
            (1, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=inks.text,
            **PLAIN,
        )


def legend(
    ax: Axes, inks: Inks, handles: Sequence[Any], *, columns: int, left: float = 0.0, down: float = 0.02
) -> None:
    """What signs and colours mean, in rows so many inches below an Axes."""
    from matplotlib.transforms import ScaledTranslation

    made = ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + ScaledTranslation(-left, -down, ax.figure.dpi_scale_trans),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=inks.text,
        borderaxespad=0,
        borderpad=0,
        handlelength=1.4,
        handletextpad=0.6,
        columnspacing=1.4,
    )
    for text in made.get_texts():
        text.set(**PLAIN)


def bare(ax: Axes, inks: Inks) -> None:
    """No frame, no ticks and no grid: what is drawn says it all."""
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.tick_params(length=0, colors=inks.text)


def say(ax: Axes, text: str, inks: Inks) -> None:
    """A sentence where there is nothing to draw."""
    bare(ax, inks)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    lines = wrapped(text, inches_wide(ax) * INCH, SIZE, 6)
    ax.text(0, 1, "\n".join(lines), va="top", ha="left", fontsize=SIZE, color=inks.faint, linespacing=1.4, **PLAIN)
