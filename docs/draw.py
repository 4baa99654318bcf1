"""The drawings of the documentation: small graphs in layers, as SVG. `python docs/draw.py` writes them.

No program but this one is needed, and the same graph gives the same bytes, so the tests can tell a stale drawing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import quia
from quia.literal import Literal
from quia.ranges import Ranges, intersection
from quia.reason import Reason
from quia.show.markup import Markup, element
from quia.show.svg import curve, shape, svg_file, words

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"
ROW, GAP, HEIGHT, LETTER, MARGIN = 42, 20, 30, 7.6, 24
ARROWS = {"plain": "#8b98a3", "on": "#1d6a7c", "other": "#b4521f", "faint": "#dbe0e4"}


class Node(NamedTuple):
    """A box (a test or a literal), a circle (∧, ∨) or a rounded leaf, and how it looks."""

    label: str
    shape: str = "box"
    look: str = ""


class Edge(NamedTuple):
    """An arrow."""

    start: int
    end: int
    label: str = ""
    look: str = ""


STYLE = """
text { font: 13px system-ui, "DejaVu Sans", sans-serif; text-anchor: middle; fill: #24292e }
text.label { font-size: 12px; paint-order: stroke; stroke: #fff; stroke-width: 5px; stroke-linejoin: round }
text.faint { fill: #a9b1b8 }
.node { fill: #eef3f6; stroke: #6b7a86; stroke-width: 1.2 }
.node.leaf { fill: #fff; stroke-width: 2 }
.node.on { fill: #d9ecf1; stroke: #1d6a7c; stroke-width: 2.4 }
.node.kept { fill: #1d6a7c; stroke: #1d6a7c } text.kept { fill: #fff }
.node.other { fill: #fbe3d6; stroke: #b4521f; stroke-width: 2.4 }
.node.faint { fill: #fbfcfc; stroke: #ccd3d8 }
.edge { fill: none; stroke: #8b98a3; stroke-width: 1.3 }
.edge.on { stroke: #1d6a7c; stroke-width: 2.6 } .edge.other { stroke: #b4521f; stroke-width: 2.6 }
.edge.faint { stroke: #dbe0e4 }
"""


class Layout(NamedTuple):
    """Where things are: each node's middle, and the points that each edge passes on its way."""

    nodes: list[tuple[float, float]]
    ways: list[list[tuple[float, float]]]


def drawn(nodes: Sequence[Node], edges: Sequence[Edge], title: str) -> str:
    """The graph, its root on top."""
    layout = place(nodes, edges)
    shapes, texts = [], []
    # Faint things first, so that they run below the others.
    for edge, via in sorted(zip(edges, layout.ways, strict=True), key=lambda pair: pair[0].look != "faint"):
        (x1, y1), (x2, y2) = layout.nodes[edge.start], layout.nodes[edge.end]
        points = [(x1, y1 + HEIGHT / 2), *via, (x2, y2 - HEIGHT / 2 - 1)]
        look = f"edge {edge.look}".strip()
        shapes.append(curve(points, bend=0.35, class_=look, marker_end=f"url(#{edge.look or 'plain'})"))
        if edge.label:
            x, y = via[0]
            texts.append(words(edge.label, x, y + 4, class_="label faint" if edge.look == "faint" else "label"))
    for node, (x, y) in zip(nodes, layout.nodes, strict=True):
        wide = _width(node)
        at = {"x": x - wide / 2, "y": y - HEIGHT / 2, "width": wide, "height": HEIGHT}
        rounding = 4 if node.shape == "box" else HEIGHT / 2
        shapes.append(shape("rect", class_=f"node {node.shape} {node.look}".strip(), rx=rounding, **at))
        texts.append(words(node.label, x, y + 4.5, class_=node.look if node.look in ("kept", "faint") else None))
    every = [(x, _width(node) / 2) for node, (x, _) in zip(nodes, layout.nodes, strict=True)]
    every += [(x, 7.0) for via in layout.ways for x, _ in via]
    width = max(x + half for x, half in every) + MARGIN
    height = max(y for _, y in layout.nodes) + HEIGHT / 2 + 14
    sheet = shape("rect", width="100%", height="100%", fill="#fff")
    return f"{svg_file(width, height, _arrows(), sheet, *shapes, *texts, label=title, style=STYLE)}\n"


def _arrows() -> Markup:
    """The heads of arrows, by their names."""
    size = {"viewBox": "0 0 8 8", "refX": 7, "refY": 4, "markerWidth": 9, "markerHeight": 9}
    heads = (
        element(
            "marker",
            element("path", d="M0 0 8 4 0 8z", fill=colour),
            id=name,
            markerUnits="userSpaceOnUse",
            orient="auto",
            **size,
        )
        for name, colour in ARROWS.items()
    )
    return element("defs", heads)


def _width(node: Node) -> float:
    return HEIGHT if node.shape == "circle" else max(46, LETTER * len(node.label) + 20)


def place(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Nodes in every second row, by the longest way from a root, each near to its neighbours.

    An edge that passes a row has a place of its own in it, so that it runs through no node; the first is its label's.
    """
    row = [0] * len(nodes)
    for _ in nodes:  # the longest ways settle in as many rounds as there are nodes
        for edge in edges:
            row[edge.end] = max(row[edge.end], row[edge.start] + 2)
    widths = [_width(node) for node in nodes]
    near: list[list[int]] = [[] for _ in nodes]
    passing: list[list[int]] = []
    for edge in edges:
        via = []
        for level in range(row[edge.start] + 1, row[edge.end]):
            via.append(len(row))
            row.append(level)
            widths.append(LETTER * len(edge.label) if len(via) == 1 and edge.label else 8)
            near.append([])
        stops = [edge.start, *via, edge.end]
        for a, b in pairwise(stops):
            near[a].append(b)
            near[b].append(a)
        passing.append(via)
    x = _across(row, widths, near)
    points = [(x[i], row[i] * ROW + HEIGHT / 2 + 14) for i in range(len(row))]
    return Layout(points[: len(nodes)], [[points[i] for i in via] for via in passing])


def _across(row: Sequence[int], widths: Sequence[float], near: Sequence[Sequence[int]]) -> list[float]:
    """How far to the right each thing is: at the mean of its neighbours, as far as its row has room."""
    rows = [[i for i in range(len(row)) if row[i] == level] for level in range(max(row) + 1)]
    x = [0.0] * len(row)
    for members in rows:
        _spread(members, x, widths)
    for turn in range(60):
        for members in rows if turn % 2 else reversed(rows):
            for i in members:
                above = [x[j] for j in near[i] if (row[j] < row[i]) == bool(turn % 2)] or [x[j] for j in near[i]]
                if above:
                    x[i] = sum(above) / len(above)
            if turn < 40:
                members.sort(key=lambda i: x[i])
            _spread(members, x, widths)
    left = min(x[i] - widths[i] / 2 for i in range(len(row)))
    return [at - left + MARGIN for at in x]


def _spread(members: Sequence[int], x: list[float], widths: Sequence[float]) -> None:
    """Keep the members of a row apart, and their middle where it is."""
    middle = sum(x[i] for i in members) / len(members)
    for left, right in pairwise(members):
        x[right] = max(x[right], x[left] + (widths[left] + widths[right]) / 2 + GAP)
    shift = middle - sum(x[i] for i in members) / len(members)
    for i in members:
        x[i] += shift


# What is drawn.


def decision_graph(
    graph: quia.DecisionGraph,
    title: str,
    *,
    instance: dict[str, object] | None = None,
    keep: Collection[str] | Reason | None = None,
    other: dict[str, object] | None = None,
) -> str:
    """A decision graph; with an instance, its way; with `keep`, the ways that are open if just these features stay.

    With a reason for `keep`, the ways that are open are those that its conditions leave. `other` is a second instance,
    whose way is drawn too, in the other colour. Leaves of a class that is not the instance's are in the other colour
    where they can be reached.
    """
    written = graph.to_dict()["nodes"]
    states = None if instance is None else graph.encode(instance)
    own = None if instance is None else _reached(graph, _conditions(graph, instance, keep))
    second = {} if other is None else _reached(graph, _conditions(graph, other, None))
    kept = keep.features if isinstance(keep, Reason) else keep or ()
    decision = None if states is None else graph.decide(states)
    nodes, edges = [], []
    for number, (test, label, ways) in enumerate(graph.nodes):
        look = "" if own is None else "on" if number in own else "faint"
        if test < 0:
            if label != decision and (number in second or look == "on"):
                look = "other"
            nodes.append(Node(graph.classes[label], "leaf", look))
            continue
        name = graph.variables[test].name
        nodes.append(Node(name, "box", "kept" if look == "on" and name in kept else look))
        texts = [edge["if"] for edge in written[graph.name(number)]["edges"]]
        for (_, child), text in zip(ways, texts, strict=True):
            passed = "" if own is None else "on" if child in own.get(number, ()) else "faint"
            if child in second.get(number, ()) and passed != "on":
                passed = "other"
            edges.append(Edge(number, child, text if isinstance(text, str) else " or ".join(text), passed))
    if other is not None:
        nodes = [n._replace(look="other") if i in second and n.look == "faint" else n for i, n in enumerate(nodes)]
    return drawn(nodes, edges, title)


def _conditions(
    graph: quia.DecisionGraph, instance: dict[str, object], keep: Collection[str] | Reason | None
) -> dict[int, Ranges]:
    """The states that are left to the variables that are not free: those of a reason, or the instance's own."""
    literals: dict[str, Literal] = {}
    if isinstance(keep, Reason):
        literals = {literal.feature: literal for literal in keep.literals}
    own = enumerate(zip(graph.variables, graph.encode(instance), strict=True))
    return {
        v: literals[variable.name].ranges if literals else ((state, state),)
        for v, (variable, state) in own
        if keep is None or variable.name in (literals or keep)
    }


def _reached(graph: quia.DecisionGraph, conditions: dict[int, Ranges]) -> dict[int, set[int]]:
    """The nodes that can be reached if the variables meet these conditions, and the edges passed to get there."""
    root = len(graph) - 1
    reached: dict[int, set[int]] = {root: set()}
    for number in range(root, -1, -1):
        test, _, ways = graph.nodes[number]
        if number not in reached or test < 0:
            continue
        for ranges, child in ways:
            if test not in conditions or intersection(ranges, conditions[test]):
                reached[number].add(child)
                reached.setdefault(child, set())
    return reached


def formula(reason: quia.NNF, title: str) -> str:
    """A complete reason."""
    signs = {"and": "∧", "or": "∨", "true": "⊤", "false": "⊥"}
    nodes, edges = [], []
    for number, kind, state, children in reason.walk():
        nodes.append(Node(state or signs[kind], "circle" if kind in signs else "box", "" if state else "on"))
        edges += [Edge(number, child) for child in children]
    return drawn(nodes, edges, title)


def drawings() -> dict[str, str]:
    """Every drawing by its file's name."""
    admissions = quia.load(EXAMPLES / "admissions.json")
    luna = quia.load(EXAMPLES / "luna.json")
    target = quia.load(EXAMPLES / "target.json")
    applicant = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    dora = {"SAT": 1500, "GPA": "low", "Essay": "fail", "Interview": "fail"}
    person = {"E": "yes", "F": "no", "G": "yes", "W": "yes", "R": "yes"}
    why = quia.explain(admissions, applicant)
    return {
        "graph.svg": decision_graph(admissions, "A decision graph for admissions"),
        "decision.svg": decision_graph(admissions, "The applicant's way through the graph", instance=applicant),
        "complete.svg": formula(why.complete_reason, "The complete reason for the rejection"),
        "sufficient.svg": decision_graph(
            admissions,
            "With Essay and Interview kept, only Reject is left",
            instance=applicant,
            keep=("Essay", "Interview"),
        ),
        "general.svg": decision_graph(
            admissions,
            "With SAT < 1450, GPA ≠ high and Interview = fail, only Reject is left",
            instance=applicant,
            keep=why.sufficient_reasons(general=True)[1],
        ),
        "necessary.svg": decision_graph(
            admissions,
            "With SAT and Essay free and the rest kept, Accept can be reached",
            instance=applicant,
            keep=("GPA", "Interview"),
        ),
        "counterfactual.svg": decision_graph(
            admissions,
            "The applicant's way, and the way with another interview",
            instance=applicant,
            other={**applicant, "Interview": "pass"},
        ),
        "congruent.svg": decision_graph(
            admissions, "Another applicant is rejected on another way", instance=applicant, other=dora
        ),
        "target.svg": decision_graph(target, "Three classes: the way of the instance", instance={"X": "x1", "Y": "y1"}),
        "bias.svg": decision_graph(
            luna, "With everything kept but R, deny can be reached", instance=person, keep=("E", "F", "G", "W")
        ),
    }


def main() -> None:
    """Write the drawings."""
    for name, text in drawings().items():
        (DOCS / "pictures" / name).write_text(text)


if __name__ == "__main__":
    main()
