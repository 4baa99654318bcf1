"""The general or the complete reason on the page: nested boxes, 'all of' and 'any of', that fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quia.answer import Answer
from quia.dag import AND, LITERAL
from quia.nnf import NNF
from quia.show.html_section import fold
from quia.show.markup import Markup, closed, element, join, opened
from quia.show.words import Facts, plural

MOST_NODES = 600
MOST_DEEP = 30
_OPEN_DEPTH = 3


def formula(reason: NNF, answer: Answer, facts: Facts) -> Markup | None:
    """The general reason, or of reasons in states the complete one, as a drawing; None if it is trivial."""
    if reason.is_true or reason.is_false:
        return None
    held = "the decision" if answer.against is None else f"“not {answer.against}”"
    about = (
        f"All that the reasons come from, in one formula of {plural(len(reason), 'part')}:"
        f" {held} is forced by these facts as long as the formula holds."
    )
    drawn = element("div", join(_drawn(reason, facts)), class_="formula")
    title = "The general reason" if answer.is_general else "The complete reason"
    return fold("complete", title, drawn, hint="all reasons in one formula", about=about)


def _drawn(reason: NNF, facts: Facts) -> Iterator[Markup]:
    """The formula from its root down, without recursion; a part that is shared is drawn once."""
    left, nodes = MOST_NODES, reason.nodes
    seen: set[int] = set()
    work: list[Any] = [(len(reason) - 1, 0)]
    while work:
        item = work.pop()
        if isinstance(item, Markup):
            yield item
            continue
        node, depth = item
        kind, variable, state, children = nodes[node]
        left -= 1
        if kind == LITERAL:
            chip = facts.chip(reason.literal(variable, state))
            yield element("li", chip) if depth else chip
            continue
        name = "All of" if kind == AND else "Any of"
        if left <= 0 or depth >= MOST_DEEP or node in seen:
            also = "as above" if node in seen else "not drawn"
            yield element("li", f"{name} {plural(len(children), 'part')}, {also}", class_="more")
            continue
        seen.add(node)
        sign = "all" if kind == AND else "any"
        tag = "div" if depth == 0 else "li"
        yield opened(tag, class_=sign)
        yield opened("details", open=depth < _OPEN_DEPTH)
        yield element("summary", name)
        yield opened("ul")
        work.append(closed("ul", "details", tag))
        # Facts before the parts that hold more of them, so that a box is read from the simple to the nested.
        work += sorted(((child, depth + 1) for child in children), key=lambda pair: nodes[pair[0]][0] == LITERAL)
