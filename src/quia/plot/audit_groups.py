"""Decisions by protected group, as stacked bars."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from quia.arguments import several
from quia.auditing.document import Document, Group, Protected
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.plot.canvas import (
    CLASSES,
    INCH,
    PLAIN,
    SMALL,
    Inks,
    Margins,
    axes_of,
    bare,
    beside,
    check_matplotlib,
    fitted,
    foot,
    head,
    heading,
    inks_of,
    legend,
    plain,
    rows_of,
    say,
    widest,
)
from quia.show.audit_protected import FEW
from quia.show.audit_words import favourable_class, named, together, untested_sentence
from quia.show.words import part_text, plural, share_text, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _ROW = 5.2, 0.34
_MOST_CLASSES = 7
"""More classes than these have one colour, the grey one, together."""


def plot_groups(document: Document, features: Any, ax: Axes | None, most: int) -> Axes:
    """A stacked bar for each group of people: the share of each decision, that which people hope for first."""
    check_matplotlib()
    most, found = rows_of(most), _chosen(document, features)
    best = favourable_class(document)
    groups = found.groups[:most]
    cut = told_apart((group.name for group in groups), 36)
    names = [plain(cut[group.name]) for group in groups]
    told = [_rate(group, best) for group in groups]
    left, right = widest(names) + 0.15, widest(told, SMALL) + 0.2
    title = f"Decisions by {named([plain(name) for name in found.features])}"
    said = heading(title, _hanging(found, document), left + _WIDE + right)
    rest = len(found.groups) - len(groups)
    under = 0.25 + 0.2 * -(-min(len(document.decisions.classes), _MOST_CLASSES + 1) // 4) + (0.2 if rest else 0)
    ax = axes_of(ax, _WIDE, max(len(groups), 2) * _ROW, Margins(left + 0.25, right + 0.15, said.high, under))
    inks = inks_of(ax)
    head(ax, said, inks, left)
    if not groups:
        say(ax, "No row has a value of these features, so there is no group.", inks)
        return ax
    bare(ax, inks)
    counts = {each.decision: each.rows for each in document.decisions.classes}
    ranked = sorted(counts, key=lambda name: (name != best, -counts[name]))
    _stack(ax, groups, ranked, inks)
    ax.set_yticks(range(len(groups)), names, color=inks.text, **PLAIN)
    beside(ax, told, inks, range(len(groups)))
    ax.set_xlim(0, 1)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    legend(ax, inks, ax.get_legend_handles_labels()[0], columns=4, left=left, down=0.08)
    if rest:
        foot(ax, f"{plural(rest, 'group')} more", inks, down=(under - 0.25) * INCH, left=left)
    return ax


def _chosen(document: Document, features: Any) -> Protected:
    """What was found of protected features: of those asked for, or of all together."""
    if not document.protected:
        raise InstanceError("the audit has no protected feature, so no groups; name some, with protected=")
    if features is None:
        return together(document.protected)
    names = {features} if isinstance(features, str) else set(several(features, "features"))
    known = [each.features for each in document.protected]
    chosen = next((each for each in document.protected if set(each.features) == names), None)
    if chosen is None:
        one = next(iter(names)) if len(names) == 1 else None
        hint = did_you_mean(one, [name for each in known for name in each]) if isinstance(one, str) else ""
        told = listed(" and ".join(each) for each in known)
        raise InstanceError(f"features is {shown(features)}; the audit has groups by {told}{hint}")
    return chosen


def _stack(ax: Axes, groups: Collection[Group], classes: list[str], inks: Inks) -> None:
    colours = {name: CLASSES[min(place, _MOST_CLASSES)] for place, name in enumerate(classes)}
    begins = [0.0] * len(groups)
    for place, name in enumerate(classes):
        shares = [group.decided.get(name, 0) / (sum(group.decided.values()) or 1) for group in groups]
        others = len(classes) - _MOST_CLASSES
        label = fitted(name, 110, SMALL) if place < _MOST_CLASSES else plural(others, "other class")
        ax.barh(
            range(len(groups)),
            shares,
            left=begins,
            height=0.66,
            color=colours[name],
            edgecolor=inks.ground,
            linewidth=0.8,
            label=label if place <= _MOST_CLASSES else "_",
            gid=f"decided {name}",
        )
        begins = [begin + share for begin, share in zip(begins, shares, strict=True)]


def _rate(group: Group, best: str | None) -> str:
    """How many of a group have the favourable decision."""
    decided = sum(group.decided.values())
    if not decided:
        return "no decisions"
    if best is None:
        return plural(decided, "decision")
    return share_text(group.decided.get(best, 0), decided) + (", few rows" if decided < FEW else "")


def _hanging(found: Protected, document: Document) -> str:
    """What is said above the groups: which class is counted, and how many decisions hang on the features."""
    best = favourable_class(document)
    told = "" if best is None else f"Beside each group: how many are decided “{plain(best)}”."
    hanging = found.hanging
    if not found.in_model:
        return f"{told} {untested_sentence(found)}"
    if hanging is None or not hanging.of:
        return f"{told} How many decisions hang on {named(found.in_model, 'or')} is not known."
    many = part_text(hanging.rows, hanging.of, document.decisions.decided)
    return f"{told} {many} decisions would change if only {named(found.in_model, 'or')} changed."
