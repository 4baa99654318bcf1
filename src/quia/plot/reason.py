"""A reason as a plot: a row for each feature, with its value, what the reason allows and where the change leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quia.errors import InstanceError, shown
from quia.plot.canvas import (
    INCH,
    PLAIN,
    SIZE,
    SMALL,
    Inks,
    Margins,
    axes_of,
    bare,
    check_matplotlib,
    fitted,
    foot,
    head,
    heading,
    inches_wide,
    inks_of,
    legend,
    plain,
    rows_of,
    say,
    widest,
    width,
    wrapped,
)
from quia.plot.pixels import plot_pixels
from quia.plot.words import headline, nothing_changes
from quia.reason import Reason
from quia.show.strips import Span, Strip, Tick, strips
from quia.show.words import given_text, outcome, outcome_of, plural, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quia.answer import Answer
    from quia.explanation import Explanation

_WIDE, _ROW = 4.4, 0.62
_LIMIT = 10
"""As many reasons as a page shows: the shortest of these is drawn, there as here."""
_TEXT = 2.4
"""The widest that a condition is written, in inches."""
_BAND = 0.3
"""How high what is allowed is drawn, as a share of a row."""


def plot_reason(
    explanation: Explanation,
    ax: Axes | None,
    reason: Reason | None,
    image_shape: tuple[int, int] | None,
    most: int,
    timeout: float | None,
) -> Axes:
    """The shortest reason, or that given, and the nearest change."""
    check_matplotlib()
    most = rows_of(most)
    answer = explanation.answer(limit=_LIMIT, timeout=timeout)
    if reason is not None:
        check_reason(answer, reason)
    if image_shape is not None:
        return plot_pixels(answer, reason, image_shape, ax)
    chosen = answer.shortest if reason is None else reason
    nearest = answer.changes[0] if answer.changes else None
    led = () if nearest is None else nearest.changes
    which = "the nearest change" if answer.changes.are_nearest else "this change"
    changed = "" if nearest is None else outcome(nearest)
    if chosen is not None and chosen.kind == "necessary":
        led, which, changed = chosen.changes, "this change", outcome_of(chosen, answer)
        chosen = None
    extents = None if explanation.reference is None else explanation.reference.extents
    drawn = strips(answer, chosen, led, extents=extents)
    if len(drawn) > most:  # what would change is seen
        drawn = sorted(drawn, key=lambda strip: not strip.change)
    about = _about(answer, chosen, f"With {which} it {plain(changed)}." if led else "")
    return _drawn(answer, drawn[:most], len(drawn) - most, about, changed, ax)


def check_reason(answer: Answer, reason: Any) -> None:
    """Refuse what is no reason of this decision."""
    if not isinstance(reason, Reason):
        raise InstanceError(
            f"reason is {shown(reason)}; give one of those that sufficient_reasons() or necessary_reasons() list"
        )
    known = {variable.name: v for v, variable in enumerate(answer.variables)}
    for literal in reason:
        v = known.get(literal.feature)
        if v is None or answer.variables[v] != literal.variable:
            raise InstanceError(f"reason speaks of {shown(literal.feature)}, which is no feature of this decision")
        if not literal.covers(answer.states[v]):
            raise InstanceError(f"reason says {shown(str(literal))}, which does not hold of this instance")


def _about(answer: Answer, reason: Reason | None, change: str) -> str:
    """What is seen, in a sentence or two."""
    if answer.is_constant:
        return ""
    said = []
    if reason:
        held = plain(answer.decision if answer.against is None else f"not {answer.against}")
        holds = "this condition holds" if len(reason) == 1 else f"these {len(reason)} conditions hold"
        said.append(f"As long as {holds}, it is {held}, whatever the rest.")
    said.append(change)
    said.append(plain(given_text(answer)))
    if answer.unknown:
        said.append(f"Not known: {', '.join(map(plain, answer.unknown[:5]))}{' …' if len(answer.unknown) > 5 else ''}.")
    return " ".join(part for part in said if part)


def _drawn(answer: Answer, shown: Sequence[Strip], rest: int, about: str, changed: str, ax: Axes | None) -> Axes:
    cut = told_apart((strip.feature for strip in shown), 30)
    names = [plain(cut[strip.feature]) for strip in shown]
    values = [fitted(strip.now, 2.2 * INCH, SMALL) for strip in shown]
    texts = [_texts(strip) for strip in shown]
    left = max(widest(names), widest(values, SMALL)) + 0.18
    right = widest((text for pair in texts for text in pair), SMALL) + 0.2
    wide = left + _WIDE + right
    said = heading(headline(answer), about, wide)
    notes = _notes(shown, rest)
    under = wrapped(notes, wide * INCH, SMALL, 3) if notes else []
    margins = Margins(left + 0.25, right + 0.15, said.high + 0.05, 0.45 + len(under) * SMALL * 1.35 / INCH)
    ax = axes_of(ax, _WIDE, max(len(shown), 1) * _ROW, margins)
    inks = inks_of(ax)
    head(ax, said, inks, left)
    if not shown:
        nothing = "No reason was found within the time given."
        say(ax, nothing_changes(answer) if answer.is_constant else nothing, inks)
        return ax
    bare(ax, inks)
    ax.set_xlim(0, 1)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    room = inches_wide(ax) * INCH
    for place, (strip, name, value, said_beside) in enumerate(zip(shown, names, values, texts, strict=True)):
        _row(ax, place, strip, inks, room)
        _beside(ax, place, (name, value), said_beside, inks)
    _legend(ax, shown, changed, left, inks)
    if under:
        foot(ax, "\n".join(under), inks, down=24, left=left)
    return ax


def _texts(strip: Strip) -> tuple[str, str]:
    """What is allowed and what the change is, as they are written beside a row."""
    allowed = fitted(strip.condition, _TEXT * INCH, SMALL) if strip.condition else ""
    led = fitted(f"→ {strip.changed}", _TEXT * INCH, SMALL) if strip.changed else ""
    return allowed, led


def _row(ax: Axes, place: int, strip: Strip, inks: Inks, room: float) -> None:
    """The track, what is allowed, where the change leads, and the value on it."""
    middle = place - 0.08
    ax.plot([0, 1], [middle, middle], color=inks.track, linewidth=4, solid_capstyle="round", zorder=1, gid="track")
    if strip.data is not None:
        ends = (strip.data.start, strip.data.end)
        ax.plot(ends, [middle, middle], color=inks.faint, linewidth=4, solid_capstyle="butt", zorder=1.5, gid="data")
    for span in strip.change:  # nothing shows through the hatching but what the reason allows
        _band(ax, span, middle, inks.ground, "none", "behind")
    for span in strip.because:
        _band(ax, span, middle, inks.keep_pale, inks.keep, "allowed")
    for span in strip.change:
        _band(ax, span, middle, "none", inks.change, "change", hatch="////")
    _borders(ax, strip, middle, inks)
    for tick in _readable(strip.ticks, 0.5 if strip.at is None else strip.at, room):
        side = "left" if tick.at < 0.03 else "right" if tick.at > 0.97 else "center"
        ax.text(
            tick.at,
            middle + _BAND / 2 + 0.05,
            tick.text,
            ha=side,
            va="top",
            fontsize=SMALL - 0.5,
            color=inks.faint,
            gid="tick",
            **PLAIN,
        )
    _cells(ax, strip, middle, inks, room)
    if strip.arrow is not None:
        start, end = strip.arrow
        ax.annotate(
            "",
            (end, middle),
            (start, middle),
            arrowprops={
                "arrowstyle": "-|>,head_length=0.55,head_width=0.28",
                "color": inks.change,
                "linewidth": 2.0,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            zorder=4,
            gid="arrow",
        )
    if strip.at is not None:
        ax.plot(
            [strip.at],
            [middle],
            marker="o",
            markersize=9,
            color=inks.text,
            markeredgecolor=inks.ground,
            markeredgewidth=1.5,
            zorder=5,
            clip_on=False,
            gid="value",
        )


def _band(ax: Axes, span: Span, middle: float, face: str, edge: str, gid: str, hatch: str | None = None) -> None:
    """A stretch of the scale; one so narrow that it would not be seen is drawn as wide as can be."""
    wide = max(span.end - span.start, 0.006)
    start = min(span.start, 1 - wide)
    ax.broken_barh(
        [(start, wide)],
        (middle - _BAND / 2, _BAND),
        facecolor=face,
        edgecolor=edge,
        linewidth=1.2,
        hatch=hatch,
        zorder=2,
        gid=gid,
        clip_on=False,
    )


def _borders(ax: Axes, strip: Strip, middle: float, inks: Inks) -> None:
    """Between the states of a nominal feature, where they are not too many."""
    if 1 < len(strip.cells) <= 40:
        for place in range(1, len(strip.cells)):
            ends = (middle - 0.06, middle + 0.06)
            ax.plot([place / len(strip.cells)] * 2, ends, color=inks.faint, linewidth=0.8, zorder=3, gid="border")


def _cells(ax: Axes, strip: Strip, middle: float, inks: Inks, room: float) -> None:
    """The names of the states below their cells, where there is room for them."""
    if not strip.cells:
        return
    wide = room / len(strip.cells) - 4
    if wide < 12:
        return
    names = [plain(name) or "''" for name in strip.cells]
    for place, name in enumerate(names):
        if width(name, SMALL - 0.5) > wide and len(names) > 2:
            continue
        ax.text(
            (place + 0.5) / len(strip.cells),
            middle + _BAND / 2 + 0.05,
            fitted(name, wide, SMALL - 0.5),
            ha="center",
            va="top",
            fontsize=SMALL - 0.5,
            color=inks.faint,
            gid="state",
            **PLAIN,
        )


def _readable(ticks: Sequence[Tick], near: float, room: float) -> list[Tick]:
    """Those whose texts do not run into each other's, the nearest to the value first."""
    chosen: list[Tick] = []
    for tick in sorted(ticks, key=lambda each: abs(each.at - near)):
        apart = [
            abs(tick.at - other.at) * room - (width(tick.text, SMALL) + width(other.text, SMALL)) / 2
            for other in chosen
        ]
        if min(apart, default=99.0) > 5:
            chosen.append(tick)
    return chosen


def _beside(ax: Axes, place: int, named: tuple[str, str], said: tuple[str, str], inks: Inks) -> None:
    """The name and the value left of a row, and what is allowed and the change right of it."""
    allowed, led = said
    is_pair = bool(allowed and led)
    for x, offset, text, up, size, colour, side in (
        (0, -10, named[0], 7, SIZE, inks.text, "right"),
        (0, -10, named[1], -7, SMALL, inks.faint, "right"),
        (1, 10, allowed, 7 if is_pair else 1, SMALL, inks.keep, "left"),
        (1, 10, led, -7 if is_pair else 1, SMALL, inks.change, "left"),
    ):
        if text:
            ax.annotate(
                text,
                (x, place - 0.08),
                xytext=(offset, up),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=size,
                color=colour,
                **PLAIN,
            )


def _legend(ax: Axes, shown: Sequence[Strip], changed: str, left: float, inks: Inks) -> None:
    """What the signs mean, in a line below."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], linestyle="none", marker="o", markersize=8, color=inks.text, label="the value"),
    ]
    if any(strip.because for strip in shown):
        handles.append(Patch(facecolor=inks.keep_pale, edgecolor=inks.keep, label="what the reason allows"))
    if any(strip.change for strip in shown):
        told = fitted(f"where it {changed}", 2.6 * INCH, SMALL)
        handles.append(Patch(facecolor="none", edgecolor=inks.change, hatch="////", label=told))
    if any(strip.data is not None for strip in shown):
        handles.append(Line2D([], [], color=inks.faint, linewidth=4, label="where the data lie"))
    legend(ax, inks, handles, columns=len(handles), left=left)


def _notes(shown: Sequence[Strip], rest: int) -> str:
    more = [f"{plural(rest, 'feature')} more."] if rest > 0 else []
    apart = [] if all(strip.to_scale for strip in shown) else ["Numbers that are close are drawn apart."]
    return " ".join([*more, *apart])
