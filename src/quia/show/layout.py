"""Where the boxes of a drawing go: graphs are layered by the fast-sugiyama library (extra `draw`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

from quia.show.neighbourhood import Picture


class Layout(NamedTuple):
    """Where each node is, in steps across and layers down, and the points that each edge passes."""

    places: dict[int, tuple[float, float]]
    routes: dict[tuple[int, int], list[tuple[float, float]]]


def available() -> bool:
    """Whether the library is installed."""
    return find_spec("fast_sugiyama") is not None


def layered(edges: Sequence[tuple[int, int]]) -> Layout:
    """Nodes 0, 1, … of one connected graph without cycles, in layers, the sources on top, few edges crossing.

    >>> layered([(0, 1), (0, 2)]).places[0][1] if available() else 0.0
    0.0
    """
    from fast_sugiyama import from_edges

    positions, _, height, connected = from_edges(list(edges), vertex_spacing=1, dummy_vertices=True)[0]
    nodes = {node for edge in edges for node in edge}
    places = {int(node): (float(x), float(height - y)) for node, (x, y) in positions}
    pieces = [(int(start), int(end)) for start, end in connected or ()]
    # An edge over several layers comes in pieces, through dummy nodes that no other edge shares.
    following = {start: end for start, end in pieces if start not in nodes}
    routes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for start, piece in pieces:
        if start not in nodes:
            continue
        end, points = piece, [places[start], places[piece]]
        while end not in nodes:
            end = following[end]
            points.append(places[end])
        routes[start, end] = points
    return Layout({node: places[node] for node in nodes}, routes)


def spine(drawn: Picture) -> Layout:
    """A path straight down, and each branch off it to the right of the test's next box.

    A layered layout would draw this comb of boxes as a slope, whose beginning and end are not seen together.
    """
    places: dict[int, tuple[float, float]] = {}
    top = min(box.step or 0 for box in drawn.boxes)
    taken: dict[int, int] = {}
    for number, box in enumerate(drawn.boxes):
        row = (box.step or 0) - top
        if box.lit:
            places[number] = (0.0, float(row))
        else:
            taken[row] = taken.get(row, 0) + 1
            places[number] = (float(taken[row]), row + 1.0)
    return Layout(places, {(a.start, a.end): [places[a.start], places[a.end]] for a in drawn.arrows})


def is_tree(drawn: Picture) -> bool:
    """Whether no box has two arrows to it."""
    ends = [arrow.end for arrow in drawn.arrows]
    return len(ends) == len(set(ends))


def tidy(drawn: Picture) -> Layout:
    """A tree: what has nothing below it side by side, and each test above the middle of its branches.

    >>> from quia.show.neighbourhood import Arrow, Box
    >>> boxes = tuple(Box("test" if place == 0 else "leaf", (place,), False) for place in range(3))
    >>> tidy(Picture(boxes, (Arrow(0, 1, ((0, 0),), False), Arrow(0, 2, ((1, 1),), False)), True)).places
    {1: (0.0, 1.0), 2: (1.0, 1.0), 0: (0.5, 0.0)}
    """
    children: dict[int, list[int]] = {}
    for arrow in drawn.arrows:
        children.setdefault(arrow.start, []).append(arrow.end)
    ends = {arrow.end for arrow in drawn.arrows}
    places: dict[int, tuple[float, float]] = {}
    across = 0.0
    work = [(box, 0.0, False) for box in range(len(drawn.boxes)) if box not in ends]
    while work:
        box, depth, is_done = work.pop()
        below = children.get(box, [])
        if not below:
            places[box], across = (across, depth), across + 1
        elif is_done:
            places[box] = ((places[below[0]][0] + places[below[-1]][0]) / 2, depth)
        else:
            work += [(box, depth, True), *((child, depth + 1, False) for child in reversed(below))]
    return Layout(places, {(a.start, a.end): [places[a.start], places[a.end]] for a in drawn.arrows})
