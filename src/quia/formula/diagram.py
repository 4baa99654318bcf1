"""Ordered, reduced decision diagrams with many-way nodes: where formulas are compared and compiled.

Two equivalent formulas become the same node, so satisfiability, validity and equivalence are one comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from quia import dag
from quia.dag import AND, NOT, OR
from quia.errors import TooLarge
from quia.formula.core import Formula, children_first
from quia.formula.sets import StateSet, set_of
from quia.variables import Variable

GROWTH_LIMIT = 1_000_000
"""How many nodes a diagram may have before compiling gives up."""
MOST_CHILDREN = 20_000_000
"""How many children all nodes may have together: those of a variable with many states have many each."""

Node = int
FALSE, TRUE = 0, 1


class Diagram:
    """A table of nodes over variables in a fixed order; node n tests variable `level[n]` and goes to `children[n]`.

    Nodes 0 and 1 are ⊥ and ⊤. Complexity: of a binary operation, the product of the two diagrams' sizes.
    """

    def __init__(self, order: Sequence[Variable], *, limit: int = GROWTH_LIMIT) -> None:
        self.order, self.limit = tuple(order), limit
        last = len(self.order)
        self.level: list[int] = [last, last]
        self.children: list[tuple[Node, ...]] = [(), ()]
        self._size = 0
        self._level_of = {variable: level for level, variable in enumerate(self.order)}
        self._known: dict[tuple[int, tuple[Node, ...]], Node] = {}
        self._results: dict[tuple[int, Node, Node], Node] = {}

    def node(self, level: int, children: tuple[Node, ...]) -> Node:
        """The node with these children; where all are one, the test decides nothing and that one is it."""
        if children.count(children[0]) == len(children):
            return children[0]
        key = (level, children)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.level)
            self.level.append(level)
            self.children.append(children)
            self._size += len(children)
            if self._size > MOST_CHILDREN:
                name = self.order[level].name
                raise TooLarge(
                    f"compiling the formula takes more than {MOST_CHILDREN} branches, as {name!r} is compared with many"
                    " numbers; compare with fewer",
                    limit=MOST_CHILDREN,
                )
            if found > self.limit:
                raise TooLarge(
                    f"compiling the formula takes more than {self.limit} nodes in the order"
                    f" {', '.join(v.name for v in self.order[:8])} …; simplify it, or give a better order",
                    limit=self.limit,
                )
        return found

    def compile(self, formula: Formula) -> Node:
        """The node of a formula. A set of states is one node, and its states are none by themselves."""
        made: dict[Formula, Node] = {}
        for node, one_set in _parts(formula):
            if one_set is not None:
                variable, states = one_set
                children = [FALSE] * variable.size
                for state in states:
                    children[state] = TRUE
                made[node] = self.node(self._level_of[variable], tuple(children))
            elif node.kind == NOT:
                made[node] = self.negation(made[node.children[0]])
            elif node.kind in (AND, OR):
                made[node] = self.joined(node.kind, [made[child] for child in node.children])
            else:
                made[node] = TRUE if node.kind == dag.TRUE else FALSE
        return made[formula]

    def joined(self, kind: int, parts: Sequence[Node]) -> Node:
        """∧ or ∨ of nodes, joined two by two, those with near tests first, so that what lies between stays small."""
        left = sorted(set(parts), key=lambda part: (-self.level[part], part))
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            left = [self._apply(kind, min(a, b), max(a, b)) for a, b in pairs] + left[len(left) & ~1 :]
        return left[0] if left else TRUE if kind == AND else FALSE

    def negation(self, node: Node) -> Node:
        """¬ of a node."""
        return self._apply(NOT, node, node)

    def _apply(self, kind: int, one: Node, other: Node) -> Node:
        results = self._results
        work = [(kind, one, other)]
        while work:
            key = work[-1]
            if key in results:
                work.pop()
                continue
            _, a, b = key
            simple = _simple(kind, a, b)
            if simple is not None:
                results[key] = simple
                work.pop()
                continue
            level = min(self.level[a], self.level[b])
            size = self.order[level].size
            parts_a = self.children[a] if self.level[a] == level else (a,) * size
            parts_b = self.children[b] if self.level[b] == level else (b,) * size
            below = [(kind, min(x, y), max(x, y)) for x, y in zip(parts_a, parts_b, strict=True)]
            waiting = [part for part in below if part not in results]
            if waiting:
                work.extend(waiting)
            else:
                results[key] = self.node(level, tuple(results[part] for part in below))
                work.pop()
        return results[kind, one, other]

    def world(self, node: Node, *, value: Node = TRUE) -> dict[Variable, int] | None:
        """States of the variables on a path from the node to ⊤ (to ⊥), or None if there is none."""
        if node == 1 - value:
            return None
        states: dict[Variable, int] = {}
        while node != value:
            variable = self.order[self.level[node]]
            # Every node but the other constant reaches both constants.
            states[variable], node = next((s, c) for s, c in enumerate(self.children[node]) if c != 1 - value)
        return states


def _parts(formula: Formula) -> list[tuple[Formula, StateSet | None]]:
    """What a formula is made of, children first, and the set of states where a part is one."""
    found: list[tuple[Formula, StateSet | None]] = []
    needed = {formula}
    for node in reversed(list(children_first(formula))):
        if node in needed:
            one_set = set_of(node)
            found.append((node, one_set))
            if one_set is None:
                needed.update(node.children)
    return found[::-1]


def _simple(kind: int, a: Node, b: Node) -> Node | None:
    if kind == NOT:
        return 1 - a if a <= TRUE else None
    neutral, absorbing = (TRUE, FALSE) if kind == AND else (FALSE, TRUE)
    if a == b or b == neutral:
        return a
    if absorbing in (a, b):
        return absorbing
    return b if a == neutral else None


def good_order(formulas: Sequence[Formula], *, rounds: int = 20) -> tuple[Variable, ...]:
    """A variable order in which what occurs together is near: FORCE, from the order of first occurrence.

    A part's span is how far its variables lie apart; the order with the least sum of spans is taken.
    """
    order = list(dict.fromkeys(variable for formula in formulas for variable in formula.variables))
    groups = _groups(formulas, order)
    position = list(range(len(order)))
    best, least = position, _span(groups, position)
    for _ in range(rounds):
        centre = [sum(position[v] for v in group) / len(group) for group in groups]
        pulls: list[list[float]] = [[] for _ in order]
        for group, middle in zip(groups, centre, strict=True):
            for v in group:
                pulls[v].append(middle)
        wanted = [sum(pull) / len(pull) if pull else position[v] for v, pull in enumerate(pulls)]
        ranked = sorted(range(len(order)), key=lambda v: (wanted[v], position[v]))
        moved = [0] * len(order)
        for place, v in enumerate(ranked):
            moved[v] = place
        if moved == position:
            break
        position = moved
        span = _span(groups, position)
        if span < least:
            best, least = position, span
    return tuple(variable for _, variable in sorted(zip(best, order, strict=True), key=lambda pair: pair[0]))


def _groups(formulas: Sequence[Formula], order: Sequence[Variable]) -> list[list[int]]:
    """The variables of each conjunction and disjunction that speaks of a few."""
    index = {variable: i for i, variable in enumerate(order)}
    groups: dict[frozenset[int], None] = {}
    few = 40
    for formula in formulas:
        inside: dict[Formula, frozenset[int] | None] = {}
        for node in children_first(formula):
            if node.variable is not None:
                inside[node] = frozenset((index[node.variable],))
                continue
            found: set[int] | None = set()
            for child in node.children:
                part = inside[child]
                if part is None or found is None or len(found | part) > few:
                    found = None
                    break
                found |= part
            inside[node] = None if found is None else frozenset(found)
            if found is not None and len(found) > 1:
                groups[frozenset(found)] = None
    return [sorted(group) for group in groups]


def _span(groups: Sequence[Sequence[int]], position: Sequence[int]) -> int:
    return sum(max(position[v] for v in group) - min(position[v] for v in group) for group in groups)
