"""The points of an additive model: what each feature adds, and what it would at its best for the other decision."""

from __future__ import annotations

import math
from collections.abc import Mapping

from quia.additive import Additive
from quia.answer import Answer
from quia.classifier import Classifier
from quia.score_moves import Moves, moves_of, points_of, scoring
from quia.show.codes import points_text
from quia.show.html_section import section
from quia.show.markup import Markup, element, short
from quia.show.svg import shape, svg
from quia.show.words import Facts, plural
from quia.values import readable_value

MOST_ROWS = 60
MOST_SEEN = 6
"""So many features are in the table, and so many of them are seen at once."""


def points(classifier: Classifier, answer: Answer, facts: Facts) -> Markup | None:
    """A row for each feature, what could gain most first; None where no points are added or there is one class only."""
    model = scoring(classifier)
    moves = moves_of(classifier, answer.question) if isinstance(model, Additive) else None
    if moves is None or not isinstance(model, Additive):
        return None
    rival = answer.question.classes[moves.rival]
    own = points_of(model, answer.question, moves)
    order = sorted(own, key=lambda v: (-moves.gain(v), v))
    rows = [_row(answer, facts, moves, v, own[v]) for v in order[:MOST_ROWS]]
    if len(order) > MOST_ROWS:
        more = element("td", f"… {plural(len(order) - MOST_ROWS, 'feature')} more", colspan=5, class_="more")
        rows.append(element("tr", more))
    other = short(rival, 40)
    heads = ("Feature", "Value", "Points", f"At best for {other}", "Between worst and best")
    head = element("thead", element("tr", [element("th", name, scope="col") for name in heads]))
    added = "adds to the score" if len(model.start) == 1 else f"adds for {other} over {answer.decision}"
    # Where a value is not known, no score is told beside this.
    missing = f"The score is {points_text(moves.missing)} points from {other}. " if answer.unknown else ""
    rest = rows[MOST_SEEN:]
    folded = element(
        "details",
        element("summary", plural(len(order) - MOST_SEEN, "more feature")),
        element("table", head, element("tbody", rest)),
        class_="fold",
        data_part="points",
    )
    return section(
        "points",
        "What each feature adds",
        element("table", head, element("tbody", rows[:MOST_SEEN])),
        folded if rest else None,
        about=f"{missing}{_base(model, answer, own)}Each row says how many points a feature {added}, and how many it"
        f" would at its best for {other}, all else kept.",
    )


def _base(model: Additive, answer: Answer, own: Mapping[int, float]) -> str:
    """With what a score begins to which all rows are added, so that people can check the sum."""
    if len(model.start) > 1 or len(own) < len(model.tested):
        return ""
    score = float(model.scores([max(state, 0) for state in answer.question.states])[0])
    base = score / model.unit - math.fsum(own.values())
    is_rounding = abs(base) < 1e-9 * math.fsum(map(abs, own.values()))
    return f"The score begins with {points_text(0.0 if is_rounding else base)}. "


def _row(answer: Answer, facts: Facts, moves: Moves, v: int, own: float) -> Markup:
    variable = facts.variables[v]
    loss, gain = moves.extent(v)
    share = -loss / (gain - loss) if gain > loss else 1.0
    return element(
        "tr",
        element("th", short(variable.name), scope="row"),
        element("td", facts.given(variable.name, readable_value(answer.instance.get(variable.name)))),
        element("td", points_text(own)),
        element("td", points_text(own + moves.towards * gain + 0.0)),
        element("td", _bar(share)),
        data_f=v,
    )


def _bar(share: float) -> Markup:
    track = shape("rect", class_="track", width=96, height=10, rx=2)
    here = shape("rect", class_="here", width=max(96 * share, 1.0), height=10, rx=2)
    return svg(96, 10, track, here, label=f"{round(100 * share)} % of the way from worst to best", class_="strip")
