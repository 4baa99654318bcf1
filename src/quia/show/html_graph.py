"""The decision graph on the page: a drawing with the instance's path lit, and the path step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quia.answer import Answer
from quia.classifier import HasPath
from quia.ranges import covers
from quia.show import layout
from quia.show.html_section import fold
from quia.show.markup import Markup, element, fitted, join, short
from quia.show.neighbourhood import MOST_STEPS, Arrow, Box, Picture, below, condition_signs, picture
from quia.show.words import Facts, plural
from quia.variables import UNKNOWN

MOST_DEEP = 30
_WIDE, _HIGH, _ACROSS, _DOWN = 160, 40, 180, 104
_LETTERS = 17.5
"""How many letters of a feature's name fit into a box."""


def way(graph: HasPath, answer: Answer, facts: Facts, branches: int, prefix: str) -> Markup:
    """The drawing and the steps."""
    path = list(graph.path(answer.question.states))
    drawn = picture(graph, answer.question.states, path)
    figure = (
        _drawing(graph, answer, drawn, facts, prefix)
        if len(drawn.boxes) > 1 and (layout.available() or not drawn.whole)
        else None
    )
    about = "The tests that these facts pass, from the first to the class."
    if graph.nodes[path[-1]][0] >= 0:
        about = (
            "The tests that these facts pass, to the first whose value is not known: all its branches that are possible"
        )
        about += " lead to the same class."
    if figure is not None:
        about += " The lit line is the way taken" + (
            "." if drawn.whole else "; boxes with dashes stand for branches not taken: open them in the list of steps."
        )
    return fold(
        "way",
        "The way through the model",
        figure,
        _steps(graph, answer, path, facts, branches, prefix),
        hint=plural(sum(graph.nodes[node][0] >= 0 for node in path), "test"),
        about=about,
    )


def _drawing(graph: HasPath, answer: Answer, drawn: Picture, facts: Facts, prefix: str) -> Markup:
    placed = layout.layered([(a.start, a.end) for a in drawn.arrows]) if drawn.whole else layout.spine(drawn)
    spots = {box: _spot(*xy) for box, xy in placed.places.items()}
    wide = max(x for x, _ in spots.values()) + _WIDE / 2 + 8
    high = max(y for _, y in spots.values()) + _HIGH / 2 + 8
    root = min((y, x) for x, y in spots.values())[1]
    ordered = sorted(drawn.arrows, key=lambda arrow: arrow.lit)
    parts = [_line(arrow, [_spot(*p) for p in placed.routes[arrow.start, arrow.end]]) for arrow in ordered]
    parts += [_box(graph, answer, box, spots[n], facts, prefix) for n, box in enumerate(drawn.boxes)]
    parts += [
        _label(graph, facts, drawn, arrow, [_spot(*p) for p in placed.routes[arrow.start, arrow.end]])
        for arrow in ordered
    ]
    steps = plural(sum(box.lit for box in drawn.boxes) - 1, "test")
    svg = element(
        "svg",
        parts,
        viewBox=f"0 0 {wide:.0f} {high:.0f}",
        width=f"{wide:.0f}",
        height=f"{high:.0f}",
        role="group",
        aria_label=f"Drawing of the decision graph; the way taken passes {steps}. The list below says the same.",
    )
    return element(
        "div",
        svg,
        class_="drawing",
        data_root=f"{root:.0f}",
        tabindex=0,
        role="region",
        aria_label="Drawing of the decision graph, scrollable",
    )


def _spot(across: float, down: float) -> tuple[float, float]:
    return across * _ACROSS + _WIDE / 2 + 8, down * _DOWN + _HIGH / 2 + 8


def _line(arrow: Arrow, points: Sequence[tuple[float, float]]) -> Markup:
    (x, y), *rest = points
    y += _HIGH / 2
    d = [f"M{x:.0f} {y:.0f}"]
    for place, (to_x, centre) in enumerate(rest, 1):
        to_y = centre - (_HIGH / 2 if place == len(rest) else 0)
        middle = (y + to_y) / 2
        d.append(f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}")
        x, y = to_x, to_y
    return element("path", d="".join(d), class_="edge lit" if arrow.lit else "edge")


def _label(graph: HasPath, facts: Facts, drawn: Picture, arrow: Arrow, points: Sequence[tuple[float, float]]) -> Markup:
    (x, y), (to_x, to_y) = points[0], points[1]
    node = drawn.boxes[arrow.start].nodes[0]
    text = condition_signs(graph, facts, node, arrow.states)
    # Above its box if that has no other arrow, so that the labels of neighbours stay apart.
    alone = len(points) == 2 and sum(other.end == arrow.end for other in drawn.arrows) == 1
    share = 0.5 if len(points) > 2 else 0.78 if alone else 0.66
    x = to_x if alone else x + (to_x - x) * share
    return element(
        "text",
        element("title", short(text, 400)),
        fitted(text, 1.2 * _LETTERS),
        x=f"{x:.0f}",
        y=f"{y + _HIGH / 2 + (to_y - y - _HIGH) * share + 4:.0f}",
        class_="edge-label lit" if arrow.lit else "edge-label",
    )


def _box(graph: HasPath, answer: Answer, box: Box, spot: tuple[float, float], facts: Facts, prefix: str) -> Markup:
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
        count, whole, labels = below(graph, box.nodes)
        classes = [answer.question.classes[each] for each in labels]
        text = f"{'' if whole else 'over '}{plural(count if whole else count - 1, 'node')} more"
        small = "all " + classes[0] if len(classes) == 1 and whole else f"{len(classes)} classes"
        class_ = "box stub"
    shape = element(
        "rect",
        x=f"{x - _WIDE / 2:.0f}",
        y=f"{y - _HIGH / 2:.0f}",
        width=_WIDE,
        height=_HIGH,
        rx=20 if box.kind == "leaf" else 6,
    )
    drawn = element(
        "g",
        element("title", short(text, 400)),
        shape,
        element("text", fitted(text, _LETTERS), x=f"{x:.0f}", y=f"{y + (4 if small is None else -3):.0f}"),
        small and element("text", fitted(small, 1.3 * _LETTERS), x=f"{x:.0f}", y=f"{y + 13:.0f}", class_="small"),
        class_=class_ + (" lit" if box.lit else ""),
        data_f=feature,
    )
    return element("a", drawn, href=f"#{prefix}step{box.step}") if box.kind == "stub" else drawn


def _steps(graph: HasPath, answer: Answer, path: Sequence[int], facts: Facts, branches: int, prefix: str) -> Markup:
    left = [branches]
    seen: dict[int, None] = {}
    items: list[Markup] = []
    first = max(0, len(path) - MOST_STEPS)
    if first:
        items.append(element("li", f"… {plural(first, 'test')} before", class_="more"))
    for step in range(first, len(path)):
        test, label, edges = graph.nodes[path[step]]
        if test < 0:
            items.append(
                element("li", element("span", short(answer.question.classes[label]), class_="leaf"), class_="end")
            )
            continue
        state = answer.question.states[test]
        is_known = state != UNKNOWN
        taken = next((ranges for ranges, _ in edges if covers(ranges, state)), ())
        others = [(ranges, child) for ranges, child in edges if not covers(ranges, state)]
        said = short(condition_signs(graph, facts, path[step], taken), 80) if is_known else "not known"
        items.append(
            element(
                "li",
                element(
                    "span",
                    element("b", short(facts.variables[test].name)),
                    " ",
                    element("span", said, class_="state"),
                    class_="fact",
                    data_f=test,
                ),
                element(
                    "details",
                    element("summary", plural(len(others), "other branch" if is_known else "branch")),
                    join(_outline(graph, answer, path[step], others, facts, left, seen)),
                ),
                id=f"{prefix}step{step}",
                class_="step",
            )
        )
    return element("ol", items, class_="steps", start=first + 1 if first else None)


def _outline(
    graph: HasPath,
    answer: Answer,
    parent: int,
    edges: Sequence[Any],
    facts: Facts,
    left: list[int],
    seen: dict[int, None],
) -> Iterator[Markup]:
    """The branches below some edges as nested lists that fold, made without recursion.

    `left` is how many nodes may still follow on the page, and `seen` are the shared ones shown already.
    """
    yield Markup("<ul>")
    work: list[Any] = [(parent, ranges, child, 1) for ranges, child in reversed(edges)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            yield Markup(item)
            continue
        above, ranges, node, depth = item
        test, label, outgoing = graph.nodes[node]
        when = element("span", short(condition_signs(graph, facts, above, ranges), 80), class_="state")
        left[0] -= 1
        if test < 0:
            kept = "leaf" if label in answer.question.keeps else "leaf other"
            yield element("li", when, " ", element("span", short(answer.question.classes[label]), class_=kept))
            continue
        name = element("b", short(facts.variables[test].name))
        if left[0] <= 0 or depth >= MOST_DEEP or node in seen:
            count, whole, _ = below(graph, (node,))
            said = f"{'' if whole else 'over '}{plural(count if whole else count - 1, 'node')}"
            also = "shown above" if node in seen else "not shown"
            yield element("li", when, " ", name, element("span", f" ({said}, {also})", class_="more"))
            continue
        if not graph.is_tree:
            seen[node] = None
        yield Markup(f"<li><details><summary>{when} {name}</summary><ul>")
        work.append("</ul></details></li>")
        work += [(node, some, child, depth + 1) for some, child in reversed(outgoing)]
    yield Markup("</ul>")
