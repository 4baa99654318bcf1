"""The drawing of a decision graph in a notebook: all of a small one, of a large one its top, the way taken lit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from quia.answer import Answer
from quia.classifier import HasPath
from quia.ranges import covers, union
from quia.show import layout
from quia.show.markup import Child, Markup, element, join, short
from quia.show.neighbourhood import Arrow, Box, Picture, below, condition_signs, top
from quia.show.svg import Point, curve, shape, svg, words
from quia.show.words import Facts, plural
from quia.variables import UNKNOWN

MOST_BOXES = 31
"""So many boxes a drawing has at most; what hangs below others is one box."""
MOST_ON_TOP = 15
"""So many it has where it is the top of a large graph."""
MOST_BRANCHES = 6
_WIDE, _HIGH, _ACROSS, _DOWN = 118, 26, 130, 62
_SIZE, _ROOM = 12, 108
COLOURS = 4
"""How many colours the style has for classes."""


def drawing(
    graph: HasPath, classes: Sequence[str], facts: Facts, *, path: Sequence[int] = (), keeps: Collection[int] = ()
) -> Markup:
    """A graph from its root down, as far as there is room; `path` are the nodes that are passed.

    Leaves are coloured by their class, or where there are some that a decision `keeps`, by whether they are of these.
    """
    drawn, placed = _placed(graph, path)
    wide = (max(x for x, _ in placed.places.values()) + 1) * _ACROSS
    high = max(y for _, y in placed.places.values()) * _DOWN + _HIGH + 8
    ways = {ends: [_spot(place) for place in route] for ends, route in placed.routes.items()}
    names = [_name(graph, classes, facts, box) for box in drawn.boxes]
    shapes = [_shape(graph, box, names[at], _spot(placed.places[at]), keeps) for at, box in enumerate(drawn.boxes)]

    def label(arrow: Arrow) -> Markup:
        return _label(graph, facts, drawn.boxes[arrow.start].nodes[0], arrow, ways[arrow.start, arrow.end])

    lines = [_line(ways[arrow.start, arrow.end], arrow.lit) for arrow in sorted(drawn.arrows, key=lambda a: a.lit)]
    made = svg(
        wide,
        high,
        lines,
        _in_order(shapes, names, drawn.arrows, label),
        style=f"width:100%;max-width:{wide:.0f}px;min-width:{0.75 * wide:.0f}px;height:auto",
        label=_told(graph),
    )
    return element("div", made, class_="drawing", tabindex=0)


def _in_order(
    shapes: Sequence[Markup], names: Sequence[str], arrows: Sequence[Arrow], label: Callable[[Arrow], Markup]
) -> list[Child]:
    """The boxes from the root down, each with what leads on from it.

    Hosts that strip drawings leave their texts: with what is between them, which is not drawn, these can be read.
    """
    leading: dict[int, list[Arrow]] = {}
    for arrow in arrows:
        leading.setdefault(arrow.start, []).append(arrow)
    root = next(at for at in range(len(shapes)) if all(arrow.end != at for arrow in arrows))
    order = list(_breadth(root, leading))
    parts: list[Child] = []
    for at in order:
        if at not in leading:
            continue
        parts += [shapes[at], element("desc", ": ")]
        for place, arrow in enumerate(leading[at], 1):
            end = ". " if place == len(leading[at]) else ", "
            parts += [label(arrow), element("desc", f" → {short(names[arrow.end], 60)}{end}")]
    ends = [at for at in order if at not in leading]
    return [*parts, *([shapes[at], element("desc", " ")] for at in ends)]


def _breadth(root: int, leading: Mapping[int, Sequence[Arrow]]) -> Iterator[int]:
    """The boxes in the order of their distance from the root."""
    queue, seen = deque([root]), {root}
    while queue:
        at = queue.popleft()
        yield at
        for arrow in leading.get(at, ()):
            if arrow.end not in seen:
                seen.add(arrow.end)
                queue.append(arrow.end)


def _told(graph: HasPath) -> str:
    return f"Drawing of a decision graph of {plural(len(graph.nodes), 'node')}"


def _spot(place: Point) -> Point:
    return (place[0] + 0.5) * _ACROSS, place[1] * _DOWN + _HIGH / 2 + 4


def _placed(graph: HasPath, path: Sequence[int]) -> tuple[Picture, layout.Layout]:
    """What is drawn and where: a small graph that shares nodes in layers, anything else as a tree."""
    if not graph.is_tree and len(graph.nodes) <= MOST_BOXES and layout.available():
        drawn = top(graph, MOST_BOXES)
        taken, node = set(pairwise(path)), [box.nodes[0] for box in drawn.boxes]
        lit = replace(
            drawn,
            boxes=tuple(replace(box, lit=box.nodes[0] in path) for box in drawn.boxes),
            arrows=tuple(replace(arrow, lit=(node[arrow.start], node[arrow.end]) in taken) for arrow in drawn.arrows),
        )
        return lit, layout.layered([(arrow.start, arrow.end) for arrow in drawn.arrows])
    drawn = _unfolded(graph, path)
    return drawn, layout.tidy(drawn)


def _unfolded(graph: HasPath, path: Sequence[int]) -> Picture:
    """The first boxes in breadth; a node that several lead to is drawn below each of them."""
    root, taken = len(graph.nodes) - 1, set(pairwise(path))
    boxes, arrows = [_box(graph, root, root in path)], list[Arrow]()
    most = MOST_BOXES if len(graph.nodes) <= MOST_BOXES else MOST_ON_TOP
    queue = deque([0])
    while queue:
        at = queue.popleft()
        test, _, edges = graph.nodes[boxes[at].nodes[0]]
        children = dict.fromkeys(child for _, child in edges)
        if test < 0:
            continue
        if len(boxes) + len(children) > most or len(children) > MOST_BRANCHES:
            boxes[at] = replace(boxes[at], kind="stub")
            continue
        for child in children:
            states = union(pair for some, there in edges if there == child for pair in some)
            lit = boxes[at].lit and (boxes[at].nodes[0], child) in taken
            arrows.append(Arrow(at, len(boxes), states, lit))
            queue.append(len(boxes))
            boxes.append(_box(graph, child, lit))
    return Picture(tuple(boxes), tuple(arrows), whole=all(box.kind != "stub" for box in boxes))


def _box(graph: HasPath, node: int, lit: bool) -> Box:
    return Box("test" if graph.nodes[node][0] >= 0 else "leaf", (node,), lit)


def _line(points: Sequence[Point], lit: bool) -> Markup:
    (x, y), *between, (to_x, to_y) = points
    return curve([(x, y + _HIGH / 2), *between, (to_x, to_y - _HIGH / 2)], class_="edge lit" if lit else "edge")


def _label(graph: HasPath, facts: Facts, node: int, arrow: Arrow, points: Sequence[Point]) -> Markup:
    """What leads along an arrow, beside it."""
    (x, y), (to_x, to_y) = points[0], points[1]
    side = -1 if to_x < x - 1 else 1
    return words(
        condition_signs(graph, facts, node, arrow.states),
        x + 0.6 * (to_x - x) + 5 * side,
        y + _HIGH / 2 + 0.5 * (to_y - y - _HIGH) + 4,
        room=0.9 * _ROOM,
        size=_SIZE,
        class_=f"label {'before' if side < 0 else 'after'}{' lit' if arrow.lit else ''}",
    )


def _shape(graph: HasPath, box: Box, name: str, spot: Point, keeps: Collection[int]) -> Markup:
    x, y = spot
    kind = box.kind
    if kind == "leaf":
        label = graph.nodes[box.nodes[0]][1]
        kind += f" c{(0 if label in keeps else 1) if keeps else label % COLOURS}"
    rounding = 13 if box.kind == "leaf" else 4
    return element(
        "g",
        shape("rect", x=x - _WIDE / 2, y=y - _HIGH / 2, width=_WIDE, height=_HIGH, rx=rounding),
        words(name, x, y + 4, room=_ROOM, size=_SIZE),
        class_=f"box {kind}{' lit' if box.lit else ''}",
    )


def _name(graph: HasPath, classes: Sequence[str], facts: Facts, box: Box) -> str:
    """What a box is called: its feature, its class, or how much is below it."""
    test, label, _ = graph.nodes[box.nodes[0]]
    if box.kind != "stub":
        return classes[label] if test < 0 else facts.variables[test].name
    count, whole, _ = below(graph, box.nodes)
    return f"{'' if whole else 'over '}{plural(count if whole else count - 1, 'node')}"


def way(graph: HasPath, answer: Answer, facts: Facts) -> Markup:
    """The tests that the facts pass, from the first to the class; with a drawing where that is small."""
    path = list(graph.path(answer.question.states))
    steps: list[Child] = []
    for node in path:
        test, label, edges = graph.nodes[node]
        if test < 0:
            steps.append(element("b", short(answer.question.classes[label]), class_="class"))
            continue
        state = answer.question.states[test]
        taken = next((ranges for ranges, _ in edges if covers(ranges, state)), ())
        said = condition_signs(graph, facts, node, taken) if state != UNKNOWN else "not known: all branches lead on"
        steps.append(join([element("b", short(facts.variables[test].name, 60)), f" {short(said, 80)}"]))
    drawn = None
    if len(graph.nodes) <= MOST_BOXES:
        drawn = drawing(graph, answer.question.classes, facts, path=path, keeps=answer.question.keeps)
    return join([drawn, element("ol", [element("li", step) for step in steps[-60:]], start=max(len(steps) - 59, 1))])
