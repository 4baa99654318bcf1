"""The drawing of a decision graph in a notebook: all of a small one, of a large one its top, the way taken lit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from quia.answer import Answer
from quia.classifier import HasPath
from quia.ranges import Ranges, covers, union
from quia.show import layout
from quia.show.markup import Child, Markup, element, fitted, join, short
from quia.show.neighbourhood import below, condition_signs
from quia.show.words import Facts, plural
from quia.variables import UNKNOWN

MOST_BOXES = 31
"""So many boxes a drawing has at most; what hangs below others is one box."""
MOST_ON_TOP = 15
"""So many it has where it is the top of a large graph."""
MOST_BRANCHES = 6
_WIDE, _HIGH, _ACROSS, _DOWN = 118, 26, 130, 62
_LETTERS = 15.0
COLOURS = 4
"""How many colours the style has for classes."""


Spot = tuple[float, float]


class _Box(NamedTuple):
    """A drawn node: a test, a leaf, or a stub for what is below `node`."""

    node: int
    kind: str
    lit: bool


class _Arrow(NamedTuple):
    start: int
    end: int
    states: Ranges
    lit: bool


def drawing(
    graph: HasPath, classes: Sequence[str], facts: Facts, *, path: Collection[int] = (), keeps: Collection[int] = ()
) -> Markup:
    """A graph from its root down, as far as there is room; `path` are the nodes that are passed.

    Leaves are coloured by their class, or where there are some that a decision `keeps`, by whether they are of these.
    """
    boxes, arrows, places, routes = _placed(graph, frozenset(path))
    wide = (max(x for x, _ in places) + 1) * _ACROSS
    high = max(y for _, y in places) * _DOWN + _HIGH + 8
    spots = [_spot(place) for place in places]
    ways = {arrow: [_spot(place) for place in route] for arrow, route in zip(arrows, routes, strict=True)}
    parts: list[Child] = [_line(ways[arrow], arrow.lit) for arrow in sorted(arrows, key=lambda arrow: arrow.lit)]
    shapes = [_shape(graph, classes, facts, box, spot, keeps) for box, spot in zip(boxes, spots, strict=True)]
    names = [_name(graph, classes, facts, box) for box in boxes]
    parts += _in_order(shapes, names, arrows, lambda a: _label(graph, facts, boxes[a.start].node, a, ways[a]))
    size = f"width:100%;max-width:{wide:.0f}px;min-width:{0.75 * wide:.0f}px;height:auto"
    svg = element("svg", parts, viewBox=f"0 0 {wide:.0f} {high:.0f}", style=size, role="img", aria_label=_told(graph))
    return element("div", svg, class_="drawing", tabindex=0)


def _in_order(
    shapes: Sequence[Markup], names: Sequence[str], arrows: Sequence[_Arrow], label: Callable[[_Arrow], Markup]
) -> list[Child]:
    """The boxes from the root down, each with what leads on from it.

    Hosts that strip drawings leave their texts: with what is between them, which is not drawn, these can be read.
    """
    leading: dict[int, list[_Arrow]] = {}
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


def _breadth(root: int, leading: Mapping[int, Sequence[_Arrow]]) -> Iterator[int]:
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


def _spot(place: Spot) -> Spot:
    return (place[0] + 0.5) * _ACROSS, place[1] * _DOWN + _HIGH / 2 + 4


def _placed(graph: HasPath, path: frozenset[int]) -> tuple[list[_Box], list[_Arrow], list[Spot], list[list[Spot]]]:
    """What is drawn and where: a small graph that shares nodes in layers, anything else as a tree."""
    if not graph.is_tree and len(graph.nodes) <= MOST_BOXES and layout.available():
        boxes = [_Box(node, _kind(graph, node), node in path) for node in range(len(graph.nodes))]
        arrows = [arrow for at in range(len(boxes)) for arrow in _arrows(graph, boxes, at, path)]
        found = layout.layered([(arrow.start, arrow.end) for arrow in arrows])
        places = [found.places[at] for at in range(len(boxes))]
        return boxes, arrows, places, [found.routes[arrow.start, arrow.end] for arrow in arrows]
    boxes, arrows = _top(graph, path)
    places = _tidy(len(boxes), arrows)
    return boxes, arrows, places, [[places[arrow.start], places[arrow.end]] for arrow in arrows]


def _arrows(graph: HasPath, boxes: Sequence[_Box], at: int, path: frozenset[int]) -> list[_Arrow]:
    """The arrows from one box of a whole graph."""
    edges = graph.nodes[at][2]
    return [
        _Arrow(
            at,
            child,
            union(pair for some, there in edges if there == child for pair in some),
            boxes[at].lit and child in path,
        )
        for child in dict.fromkeys(child for _, child in edges)
    ]


def _top(graph: HasPath, path: frozenset[int]) -> tuple[list[_Box], list[_Arrow]]:
    """The first boxes in breadth; a node that several lead to is drawn below each of them."""
    root = len(graph.nodes) - 1
    boxes, arrows = [_Box(root, _kind(graph, root), root in path)], list[_Arrow]()
    most = MOST_BOXES if len(graph.nodes) <= MOST_BOXES else MOST_ON_TOP
    queue = deque([0])
    while queue:
        at = queue.popleft()
        test, _, edges = graph.nodes[boxes[at].node]
        children = dict.fromkeys(child for _, child in edges)
        if test < 0:
            continue
        if len(boxes) + len(children) > most or len(children) > MOST_BRANCHES:
            boxes[at] = boxes[at]._replace(kind="stub")
            continue
        for child in children:
            states = union(pair for some, there in edges if there == child for pair in some)
            lit = boxes[at].lit and child in path
            arrows.append(_Arrow(at, len(boxes), states, lit))
            queue.append(len(boxes))
            boxes.append(_Box(child, _kind(graph, child), lit))
    return boxes, arrows


def _kind(graph: HasPath, node: int) -> str:
    return "test" if graph.nodes[node][0] >= 0 else "leaf"


def _tidy(count: int, arrows: Sequence[_Arrow]) -> list[Spot]:
    """Where each box of a tree goes: those without children side by side, the others above the middle of theirs."""
    children: dict[int, list[int]] = {}
    for arrow in arrows:
        children.setdefault(arrow.start, []).append(arrow.end)
    deep = [0] * count
    for arrow in arrows:
        deep[arrow.end] = deep[arrow.start] + 1
    across, free = [0.0] * count, 0
    work: list[tuple[int, bool]] = [(0, False)]
    while work:
        box, is_back = work.pop()
        own = children.get(box, [])
        if is_back:
            across[box] = (across[own[0]] + across[own[-1]]) / 2
        elif own:
            work.append((box, True))
            work += [(child, False) for child in reversed(own)]
        else:
            across[box], free = float(free), free + 1
    return [(x, float(y)) for x, y in zip(across, deep, strict=True)]


def _line(points: Sequence[Spot], lit: bool) -> Markup:
    (x, y), *rest = points
    y += _HIGH / 2
    d = [f"M{x:.0f} {y:.0f}"]
    for place, (to_x, centre) in enumerate(rest, 1):
        to_y = centre - (_HIGH / 2 if place == len(rest) else 0)
        middle = (y + to_y) / 2
        d.append(f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}")
        x, y = to_x, to_y
    return element("path", d="".join(d), class_="edge lit" if lit else "edge")


def _label(graph: HasPath, facts: Facts, node: int, arrow: _Arrow, points: Sequence[Spot]) -> Markup:
    """What leads along an arrow, beside it."""
    text = condition_signs(graph, facts, node, arrow.states)
    (x, y), (to_x, to_y) = points[0], points[1]
    side = -1 if to_x < x - 1 else 1
    shown = fitted(text, 0.9 * _LETTERS)
    at_x, at_y = x + 0.6 * (to_x - x) + 5 * side, y + _HIGH / 2 + 0.5 * (to_y - y - _HIGH) + 4
    return element(
        "text",
        element("title", short(text, 200)) if shown != text else None,
        shown,
        x=f"{at_x:.0f}",
        y=f"{at_y:.0f}",
        class_=f"label {'before' if side < 0 else 'after'}{' lit' if arrow.lit else ''}",
    )


def _shape(
    graph: HasPath, classes: Sequence[str], facts: Facts, box: _Box, spot: Spot, keeps: Collection[int]
) -> Markup:
    x, y = spot
    text, kind = _name(graph, classes, facts, box), box.kind
    if kind == "leaf":
        label = graph.nodes[box.node][1]
        kind += f" c{(0 if label in keeps else 1) if keeps else label % COLOURS}"
    shown = fitted(text, _LETTERS)
    return element(
        "g",
        element("title", short(text, 200)) if shown != text else None,
        element(
            "rect",
            x=f"{x - _WIDE / 2:.0f}",
            y=f"{y - _HIGH / 2:.0f}",
            width=_WIDE,
            height=_HIGH,
            rx=13 if box.kind == "leaf" else 4,
        ),
        element("text", shown, x=f"{x:.0f}", y=f"{y + 4:.0f}"),
        class_=f"box {kind}{' lit' if box.lit else ''}",
    )


def _name(graph: HasPath, classes: Sequence[str], facts: Facts, box: _Box) -> str:
    """What a box is called: its feature, its class, or how much is below it."""
    test, label, _ = graph.nodes[box.node]
    if box.kind != "stub":
        return classes[label] if test < 0 else facts.variables[test].name
    count, whole, _ = below(graph, (box.node,))
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
