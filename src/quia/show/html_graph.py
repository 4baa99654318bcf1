"""The decision graph on the page: its drawing, and the instance's path through it step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quia.answer import Answer
from quia.classifier import HasPath
from quia.ranges import covers
from quia.show import layout
from quia.show.drawing import drawing
from quia.show.html_section import fold
from quia.show.markup import Markup, closed, element, join, opened, short
from quia.show.neighbourhood import MOST_STEPS, below, condition_signs, picture
from quia.show.words import Facts, plural
from quia.variables import UNKNOWN

MOST_DEEP = 30
MOST_DRAWN = 20
"""So many tests of a long way are drawn, the last ones; the list below has more."""
_FOLDED, _LIST, _END = join([opened("li"), opened("details")]), opened("ul"), closed("ul", "details", "li")


def way(graph: HasPath, answer: Answer, facts: Facts, branches: int, prefix: str) -> Markup:
    """The drawing and the steps."""
    path = list(graph.path(answer.question.states))
    drawn = picture(graph, answer.question.states, path, steps=MOST_DRAWN)
    figure = (
        drawing(graph, answer, drawn, facts, prefix)
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
        if not drawn.whole and len(path) > MOST_DRAWN:
            about += f" Its last {MOST_DRAWN} steps are drawn."
    return fold(
        "way",
        "The way through the model",
        figure,
        _steps(graph, answer, path, facts, branches, prefix),
        hint=plural(sum(graph.nodes[node][0] >= 0 for node in path), "test"),
        about=about,
    )


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
    yield _LIST
    work: list[Any] = [(parent, ranges, child, 1) for ranges, child in reversed(edges)]
    while work:
        item = work.pop()
        if isinstance(item, Markup):
            yield item
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
        yield _FOLDED
        yield element("summary", when, " ", name)
        yield _LIST
        work.append(_END)
        work += [(node, some, child, depth + 1) for some, child in reversed(outgoing)]
    yield closed("ul")
