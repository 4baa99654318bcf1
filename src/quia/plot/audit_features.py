"""How often each feature matters to decisions, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quia.auditing.document import Document, Feature, Share
from quia.plot.canvas import (
    INCH,
    PLAIN,
    SMALL,
    Inks,
    Margins,
    axes_of,
    bare,
    beside,
    check_matplotlib,
    foot,
    head,
    heading,
    inks_of,
    plain,
    rows_of,
    say,
    widest,
    wrapped,
)
from quia.show.audit_parts import weight
from quia.show.audit_words import named
from quia.show.words import number, part_text, plural, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _ROW = 5.2, 0.44


def plot_features(document: Document, ax: Axes | None, most: int) -> Axes:
    """Two bars for each feature: in how many decisions it alone could change them, and is in a shortest reason."""
    check_matplotlib()
    most = rows_of(most)
    mattering = sorted((each for each in document.features if each.matters is not False), key=weight)
    idle = [plain(each.feature) for each in document.features if each.matters is False]
    found = mattering[:most]
    cut = told_apart((each.feature for each in found), 32)
    names = [plain(cut[each.feature]) for each in found]
    told = [(_share(each.alone, document), _share(each.shortest, document)) for each in found]
    left, right = widest(names) + 0.15, widest((each for pair in told for each in pair), SMALL) + 0.2
    about = (
        "In how many decisions a feature alone, all else kept, could change the decision (upper bar), and in how many"
        " it is in a shortest reason (lower bar)."
    )
    said = heading("How often each feature matters", about, left + _WIDE + right)
    rest = len(mattering) - len(found)
    lines = [*([f"{plural(rest, 'feature')} more that may matter"] if rest else []), *_idle(idle, document)]
    under = [line for text in lines for line in wrapped(text, (left + _WIDE + right) * INCH, SMALL, 3)]
    margins = Margins(left + 0.25, right + 0.15, said.high, 0.25 + len(under) * SMALL * 1.35 / INCH)
    ax = axes_of(ax, _WIDE, max(len(found), 2) * _ROW, margins)
    inks = inks_of(ax)
    head(ax, said, inks, left)
    if not found:
        say(ax, "No decision depends on any feature: that is proved.", inks)
    else:
        _paired(ax, found, names, told, inks)
    if under:
        foot(ax, "\n".join(under), inks, down=8, left=left)
    return ax


def _paired(ax: Axes, found: list[Feature], names: list[str], told: list[tuple[str, str]], inks: Inks) -> None:
    bare(ax, inks)
    bar: dict[str, Any] = {"height": 0.34}
    for step, colour, name in ((-0.19, inks.keep, "alone"), (0.19, inks.keep_pale, "shortest")):
        places = [place + step for place in range(len(found))]
        shares = [_part(getattr(each, name)) for each in found]
        ax.barh(places, [1.0] * len(found), color=inks.track, alpha=0.5, gid="track", **bar)
        ax.barh(places, shares, color=colour, gid=name, **bar)
        beside(ax, [pair[step > 0] for pair in told], inks, places)
    ax.set_yticks(range(len(found)), names, color=inks.text, **PLAIN)
    ax.set_xlim(0, 1)
    ax.set_ylim(len(found) - 0.5, -0.5)


def _part(share: Share | None) -> float:
    return share.rows / share.of if share is not None and share.of else 0.0


def _share(share: Share | None, document: Document) -> str:
    if share is None or not share.of:
        return "not known"
    return part_text(share.rows, share.of, document.decisions.decided)


def _idle(names: list[str], document: Document) -> list[str]:
    if not names:
        return []
    return [
        f"Proved not to matter ({number(len(names))} of {plural(len(document.features), 'feature')}): {named(names)}."
    ]
