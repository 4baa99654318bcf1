"""How many rows the rules of a decision cover, as bars."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from quia.auditing.document import Document, Rules
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.plot.canvas import (
    INCH,
    PLAIN,
    SIZE,
    SMALL,
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
from quia.show.audit_words import favourable_class, rules_sentence
from quia.show.words import number, plural, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _LINE = 5.2, 0.19


def plot_rules(document: Document, decision: str | None, ax: Axes | None, most: int) -> Axes:
    """A bar for each rule of a decision: the rows that meet it, those that meet none before it in full colour."""
    check_matplotlib()
    most, found = rows_of(most), _rules(document, decision)
    title = f"Rules for {plain(found.decision)}"
    about = (
        "Whoever meets a rule gets the decision, whatever the rest is. In full colour: rows that meet no rule above it."
    )
    rules = found.rules[:most]
    told = [f"{share_text(rule.rows, found.of)}" for rule in rules]
    right = widest(told, SMALL) + 0.2
    said = heading(title, f"{rules_sentence(found)[:1].upper()}{rules_sentence(found)[1:]}. {about}", _WIDE + right)
    texts = [wrapped(rule.text, (_WIDE + right) * INCH, SIZE, 2) for rule in rules]
    # A line of text is one unit high, a bar and the space below it two.
    bars = list(accumulate(len(lines) + 2.0 for lines in texts))
    high = max(bars[-1] if bars else 3.0, 3.0)
    ax = axes_of(ax, _WIDE, high * _LINE, Margins(0.25, right + 0.15, said.high + 0.05, 0.4))
    inks = inks_of(ax)
    head(ax, said, inks)
    if not rules:
        say(ax, "There is no rule to draw.", inks)
        return ax
    bare(ax, inks)
    places = [place - 1.4 for place in bars]
    of = found.of or 1
    for gid, colour, shares in (
        ("track", inks.track, [1.0] * len(rules)),
        ("rows", inks.keep_pale, [rule.rows / of for rule in rules]),
        ("new", inks.keep, [rule.new / of for rule in rules]),
    ):
        ax.barh(places, shares, color=colour, alpha=0.5 if gid == "track" else 1, gid=gid, height=0.9)
    for place, lines in zip(places, texts, strict=True):
        text = "\n".join(lines)
        ax.text(0, place - 0.6, text, va="bottom", ha="left", fontsize=SIZE, color=inks.text, **PLAIN)
    beside(ax, told, inks, places)
    ax.set_xlim(0, 1)
    ax.set_ylim(high, 0)
    rest = len(found.rules) - len(rules)
    if rest:
        more = number(found.covered - rules[-1].cumulated)
        foot(ax, f"{plural(rest, 'rule')} more, which cover {more} rows more", inks, down=2)
    return ax


def _rules(document: Document, decision: str | None) -> Rules:
    """The rules of a decision; of the favourable one if none is said."""
    wanted = favourable_class(document) if decision is None else decision
    known = {each.decision: each for each in document.rules}
    if wanted not in known:
        if not known:
            raise InstanceError("the audit has no rules to draw; its model has no class, or time ran out")
        if decision is None:
            return next(iter(known.values()))
        hint = did_you_mean(decision, known)
        raise InstanceError(f"decision is {shown(decision)}; the audit has rules for {listed(known)}{hint}")
    return known[wanted]
