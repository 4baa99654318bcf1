"""What each feature could do to the score of one decision, where a model adds scores up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quia.additive import Additive
from quia.asking import Terms
from quia.classifier import Classifier
from quia.errors import Unsupported, with_article
from quia.plot.canvas import (
    INCH,
    PLAIN,
    SMALL,
    Inks,
    Margins,
    axes_of,
    bare,
    fitted,
    foot,
    head,
    heading,
    inches_wide,
    inks_of,
    plain,
    rows_of,
    say,
    widest,
    width,
    wrapped,
)
from quia.question import Question, given_values
from quia.score_moves import Moves, moves_of, points_of, scoring
from quia.show.codes import points_text
from quia.show.words import Facts, plural, told_apart
from quia.values import readable_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _ROW = 4.8, 0.32
_MOST_WEIGHED = 20_000
"""Of so many states at most the scores are looked at, each of which takes a pass through all trees."""


def plot_moves(classifier: Classifier, instance: Any, ax: Axes | None, most: int) -> Axes:
    """A bar for each feature: from the most that it could lose to the most that it could gain towards the rival."""
    asked, question = Terms.of(classifier).at(instance)
    model = scoring(asked)
    if isinstance(model, Additive):
        model.refuse_unbounded()
    moves = moves_of(asked, question)
    if moves is None:
        what = "with only one class" if len(question.classes) < 2 else "of which values are missing"
        raise Unsupported(
            f"a decision of {with_article(classifier.kind)} {what} has no score to draw",
            cure="plot its reasons, with explain(…).plot()",
        )
    weighed, left_out = _weighed(moves, question, isinstance(model, Additive))
    extents = {v: moves.extent(v) for v in weighed}
    ranked = sorted(extents, key=lambda v: (-extents[v][1], extents[v][0], v))
    shown = ranked[: rows_of(most)]
    own = points_of(model, question, moves) if isinstance(model, Additive) else {}
    return _drawn(question, moves, shown, extents, own, _more(len(ranked) - len(shown), left_out), ax, instance)


def _weighed(moves: Moves, question: Question, is_additive: bool) -> tuple[list[int], int]:
    """The features whose moves are looked at, and how many others there are, where looking at all takes too long."""
    every = moves.changeable
    if is_additive:
        return every, 0
    kept, states = [], 0
    for v in sorted(every, key=lambda v: question.variables[v].size):
        states += question.variables[v].size
        if states > _MOST_WEIGHED:
            break
        kept.append(v)
    return sorted(kept), len(every) - len(kept)


def _more(rest: int, left_out: int) -> list[str]:
    said = [f"{plural(rest, 'feature')} more, none of which could gain more"] if rest else []
    were = "was" if left_out == 1 else "were"
    return [*said, *([f"{plural(left_out, 'feature')} more {were} not looked at"] if left_out else [])]


def _drawn(
    question: Question,
    moves: Moves,
    shown: Sequence[int],
    extents: dict[int, tuple[float, float]],
    own: dict[int, float],
    more: list[str],
    ax: Axes | None,
    instance: Any,
) -> Axes:
    rival, decision = (plain(question.classes[c]) for c in (moves.rival, question.decision))
    names = _names(question, shown, instance)
    told = [_told(own.get(v), moves, *extents[v]) for v in shown]
    left, right = widest(names) + 0.15, widest(told, SMALL) + 0.25
    unit = "points" if own else "score"
    far = f"The score is {points_text(moves.missing)} from {rival}"
    if own:
        far = f"The score is {points_text(moves.missing)} points from {rival}"
    bars = f"{far}. Each bar shows how far one feature alone, all else kept, could move it"
    beside = "; beside it, its points now and at best" if own else "; beside it, the most it could gain"
    said = heading(f"The model decided {decision}", f"{bars}{beside}.", left + _WIDE + right)
    under = [line for text in more for line in wrapped(text, (left + _WIDE) * INCH, SMALL, 2)]
    bottom = 0.55 + len(under) * SMALL * 1.35 / INCH
    margins = Margins(left + 0.25, right + 0.15, said.high + 0.2, bottom)
    ax = axes_of(ax, _WIDE, max(len(shown), 2) * _ROW, margins)
    inks = inks_of(ax)
    said_at = said._replace(about=[*said.about, ""])  # room for what is written at the line
    head(ax, said_at, inks, left)
    if not shown:
        say(ax, "No feature alone can move the score.", inks)
        return ax
    bare(ax, inks)
    _bars(ax, [extents[v] for v in shown], moves, inks)
    ax.set_yticks(range(len(shown)), names, color=inks.text, **PLAIN)
    for place, text in enumerate(told):
        ax.annotate(
            text,
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=inks.text,
            **PLAIN,
        )
    _lines(ax, moves.missing, rival, right, inks)
    ax.set_xlabel(f"{unit} gained towards {rival}", fontsize=SMALL, color=inks.faint, **PLAIN)
    if under:
        foot(ax, "\n".join(under), inks, down=24, left=left)
    return ax


def _bars(ax: Axes, extents: Sequence[tuple[float, float]], moves: Moves, inks: Inks) -> None:
    """What each feature could lose and gain; what is enough for the other decision in full colour."""
    for place, (loss, gain) in enumerate(extents):
        ax.barh(place, loss, height=0.6, color=inks.keep_pale, gid="loss")
        colour = inks.change if moves.is_enough(gain) else inks.change_pale
        ax.barh(place, gain, height=0.6, color=colour, gid="gain")
    low = min(0.0, *(loss for loss, _ in extents))
    high = max(moves.missing, *(gain for _, gain in extents)) or 1.0
    room = 0.02 * (high - low)
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(len(extents) - 0.5, -0.5)


def _lines(ax: Axes, missing: float, rival: str, right: float, inks: Inks) -> None:
    """Where the score is, and where the other decision begins; the texts above them lead away from each other."""
    low, high = ax.get_xlim()
    inch = inches_wide(ax) / (high - low)
    begins, rooms = f"{rival} from here", {"left": (high - missing) * inch + right, "right": missing * inch}
    fitting = [side for side, room in rooms.items() if width(begins, SMALL) <= room * INCH]
    towards = fitting[0] if fitting else max(rooms, key=rooms.__getitem__)
    for at, text, colour, style, side in (
        (0.0, "now", inks.text, "-", "right"),
        (missing, fitted(begins, rooms[towards] * INCH, SMALL), inks.change, "--", towards),
    ):
        ax.axvline(at, color=colour, linewidth=1.4, linestyle=style, gid="now" if text == "now" else "rival")
        ax.annotate(
            text,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=SMALL,
            color=colour,
            **PLAIN,
        )


def _names(question: Question, shown: Sequence[int], instance: Any) -> list[str]:
    """Each feature and its value."""
    facts, given = Facts(question.variables), given_values(question.variables, instance)
    cut = told_apart((question.variables[v].name for v in shown), 28)
    return [
        f"{plain(cut[name])}: {plain(facts.given(name, readable_value(given.get(name)), 18))}"
        for name in (question.variables[v].name for v in shown)
    ]


def _told(own: float | None, moves: Moves, loss: float, gain: float) -> str:
    if own is None:
        return f"+{points_text(gain)}" if gain else "nothing"
    return f"{points_text(own)} → {points_text(own + moves.towards * gain + 0.0)}"
