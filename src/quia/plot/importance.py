"""Each feature's share of the sufficient reasons of one decision, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quia.plot.canvas import (
    PLAIN,
    SMALL,
    Margins,
    axes_of,
    bare,
    check_matplotlib,
    foot,
    head,
    heading,
    inks_of,
    plain,
    rows_of,
    say,
    widest,
)
from quia.plot.words import headline
from quia.show.words import number, percent, plural, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quia.explanation import Explanation

_WIDE, _ROW = 5.2, 0.3


def plot_importance(explanation: Explanation, ax: Axes | None, most: int, timeout: float | None) -> Axes:
    """A bar for each of the `most` features that are in the most reasons; how many are left out is said."""
    check_matplotlib()
    most = rows_of(most)
    shares = explanation.importance(timeout=timeout)
    count = explanation.count_sufficient(timeout=timeout)
    shown = list(shares.items())[:most]
    cut = {name: plain(text) for name, text in told_apart((name for name, _ in shown), 32).items()}
    names = [cut[name] for name, _ in shown]
    left = widest(names) + 0.15
    said = heading(headline(explanation), _about(count, bool(shown)), _WIDE + left + 0.3)
    rest = len(shares) - len(shown)
    margins = Margins(left + 0.25, 0.6, said.high, 0.45 if rest else 0.2)
    ax = axes_of(ax, _WIDE, max(len(shown), 2) * _ROW, margins)
    inks = inks_of(ax)
    head(ax, said, inks, left)
    if not shown:
        say(ax, "Nothing could change this decision: it needs no feature at all.", inks)
        return ax
    bare(ax, inks)
    places = range(len(shown))
    ax.barh(places, [1.0] * len(shown), height=0.62, color=inks.track, alpha=0.5, gid="track")
    ax.barh(places, [float(share) for _, share in shown], height=0.62, color=inks.keep, gid="share")
    ax.set_yticks(places, names, color=inks.text, **PLAIN)
    for place, (_, share) in enumerate(shown):
        ax.annotate(
            percent(float(share)),
            (1, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=inks.text,
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    if rest:
        largest = percent(float(list(shares.values())[len(shown)]))
        foot(ax, f"{plural(rest, 'feature')} more, in at most {largest} of the reasons", inks, down=8, left=left)
    return ax


def _about(count: int, has_features: bool) -> str:
    if not has_features:
        return ""
    if count == 1:
        return "The features of its only sufficient reason: what forces the decision, whatever the rest is."
    return f"In how many of its {number(count)} sufficient reasons each feature is."
