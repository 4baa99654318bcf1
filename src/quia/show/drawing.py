"""A decision graph as a drawing: boxes and lines, the instance's path lit, and what each line is taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from quia.answer import Answer
from quia.classifier import HasPath
from quia.show import layout
from quia.show.markup import Markup, element, short
from quia.show.neighbourhood import Arrow, Box, Picture, below, condition_signs
from quia.show.svg import Point, curve, shape, svg, text_width, words
from quia.show.words import Facts, plural

_WIDE, _HIGH, _ACROSS, _DOWN, _EDGE = 160, 40, 180, 104, 8
_LABEL_SIZE, _LABEL_HIGH, _BETWEEN = 12, 16, 8
_LEAST_ROOM = 24
_SAME = 12
"""Labels that begin with the same letters, so many, are cut where they differ less."""
_MOST_TITLE = 400


class Label(NamedTuple):
    """What is said at a line: where its middle is, how much room it has, and whether it is cut in the middle."""

    text: str
    x: float
    y: float
    room: float
    lit: bool
    middle: bool = False


def drawing(graph: HasPath, answer: Answer, drawn: Picture, facts: Facts, prefix: str) -> Markup:
    """The drawing in a frame in which it can be moved."""
    placed = layout.layered([(a.start, a.end) for a in drawn.arrows]) if drawn.whole else layout.spine(drawn)
    spots = {box: _spot(*xy) for box, xy in placed.places.items()}
    routes = {ends: _route([_spot(*point) for point in points]) for ends, points in placed.routes.items()}
    ordered = sorted(drawn.arrows, key=lambda arrow: arrow.lit)
    texts = [condition_signs(graph, facts, drawn.boxes[a.start].nodes[0], a.states) for a in ordered]
    said = labels(ordered, texts, routes)
    ends = [x + _WIDE / 2 for x, _ in spots.values()] + [x for points in routes.values() for x, _ in points]
    wide = max(*ends, *(label.x + label.room / 2 for label in said)) + _EDGE
    high = max(y for _, y in spots.values()) + _HIGH / 2 + _EDGE
    root = min((y, x) for x, y in spots.values())[1]
    steps = plural(sum(box.lit for box in drawn.boxes) - 1, "test")
    made = svg(
        wide,
        high,
        [curve(routes[a.start, a.end], class_="edge lit" if a.lit else "edge") for a in ordered],
        [_box(graph, answer, box, spots[n], facts, prefix) for n, box in enumerate(drawn.boxes)],
        [_said(label) for label in said],
        label=f"Drawing of the decision graph; the way taken passes {steps}. The list below says the same.",
        role="group",
        sized=True,
    )
    return element(
        "div",
        made,
        class_="drawing",
        data_root=f"{root:.0f}",
        tabindex=0,
        role="region",
        aria_label="Drawing of the decision graph, scrollable",
    )


def _spot(across: float, down: float) -> Point:
    return across * _ACROSS + _WIDE / 2 + _EDGE, down * _DOWN + _HIGH / 2 + _EDGE


def _route(points: Sequence[Point]) -> list[Point]:
    """From the middle of one box to that of another, without what lies in these."""
    (x, y), *between, (to_x, to_y) = points
    return [(x, y + _HIGH / 2), *between, (to_x, to_y - _HIGH / 2)]


def labels(
    arrows: Sequence[Arrow], texts: Sequence[str], routes: Mapping[tuple[int, int], Sequence[Point]]
) -> list[Label]:
    """What is said at each line: on it where no other label is, and if there is no such place, cut to its room."""
    entering = [arrow.end for arrow in arrows]
    beginnings = Counter((arrow.start, text[:_SAME]) for arrow, text in zip(arrows, texts, strict=True))
    placed: dict[int, Label] = {}
    # Those on the path first, then the others from left to right: each takes the room that they leave.
    for number in sorted(range(len(arrows)), key=lambda n: (not arrows[n].lit, routes[arrows[n].start, arrows[n].end])):
        arrow, route = arrows[number], routes[arrows[number].start, arrows[number].end]
        wanted = min(text_width(texts[number], size=_LABEL_SIZE, bold=arrow.lit), _ACROSS - _BETWEEN)
        best: tuple[float, Point] | None = None
        for x, y in _places(route, alone=entering.count(arrow.end) == 1):
            room = _room(x, y, placed.values())
            if best is None or room > best[0]:
                best = room, (x, y)
            if room >= wanted:
                break
        assert best is not None
        room, (x, y) = best
        is_alike = beginnings[arrow.start, texts[number][:_SAME]] > 1
        placed[number] = Label(texts[number], x, y, max(min(room, wanted), _LEAST_ROOM), arrow.lit, is_alike)
    return [placed[number] for number in range(len(arrows))]


def _places(route: Sequence[Point], *, alone: bool) -> Iterator[Point]:
    """Where a label may be, the best first: above a box that no other line leads to, or else along the first bend."""
    (x, y), (to_x, to_y) = route[:2]
    if alone and len(route) == 2:
        yield to_x, y + 0.78 * (to_y - y)
    for t in (0.5, 0.6, 0.4, 0.7, 0.3, 0.8):
        # The curve's own points: its ends are upright, and its bends half way down.
        yield x + (to_x - x) * t * t * (3 - 2 * t), y + (to_y - y) * t * (1.5 - 1.5 * t + t * t)


def _room(x: float, y: float, others: Collection[Label]) -> float:
    """How wide a label in this place may be."""
    near = (2 * (abs(x - other.x) - other.room / 2 - _BETWEEN) for other in others if abs(y - other.y) < _LABEL_HIGH)
    return min(near, default=_ACROSS - _BETWEEN)


def _said(label: Label) -> Markup:
    return words(
        label.text,
        label.x,
        label.y + 4,
        room=label.room,
        size=_LABEL_SIZE,
        bold=label.lit,
        middle=label.middle,
        class_="edge-label lit" if label.lit else "edge-label",
    )


def _box(graph: HasPath, answer: Answer, box: Box, spot: Point, facts: Facts, prefix: str) -> Markup:
    x, y = spot
    test, label, _ = graph.nodes[box.nodes[0]]
    feature: int | None = None
    small = None
    if box.kind == "leaf":
        text = answer.question.classes[label]
        kept = label in answer.question.keeps
        class_ = "box leaf" if kept else "box leaf other"
    elif box.kind == "test":
        text, class_, feature = facts.variables[test].name, "box test", test
    else:
        count, whole, found = below(graph, box.nodes)
        classes = [answer.question.classes[each] for each in found]
        text = f"{plural(count, 'node')} more" if whole else f"over {plural(count - 1, 'node')}"
        small = "all " + classes[0] if len(classes) == 1 and whole else f"{len(classes)} classes"
        class_ = "box stub"
    left, top, inner = x - _WIDE / 2, y - _HIGH / 2, _WIDE - 2 * _EDGE
    made = element(
        "g",
        element("title", short(text, _MOST_TITLE)),
        shape("rect", x=left, y=top, width=_WIDE, height=_HIGH, rx=20 if box.kind == "leaf" else 6),
        words(text, x, y + (4 if small is None else -3), room=inner, bold=box.kind != "stub"),
        small and words(small, x, y + 13, room=inner, size=11, class_="small"),
        class_=class_ + (" lit" if box.lit else ""),
        data_f=feature,
    )
    return element("a", made, href=f"#{prefix}step{box.step}") if box.kind == "stub" else made
