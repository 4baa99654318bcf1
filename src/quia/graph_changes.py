"""All changes of some variables that change a decision graph's decision, without trying them one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from quia.question import Question
from quia.ranges import Ranges, covers, difference, intersection, members, union
from quia.variables import UNKNOWN, nearest_first

if TYPE_CHECKING:
    from quia.graph import DecisionGraph


def changes(
    graph: DecisionGraph, question: Question, changed: Sequence[int], poll: Callable[[], None]
) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The states of the changed variables that lead to an open leaf, nearest first; they are chosen one by one.

    With them the class there; where variables are unknown, all classes that they lead to, of which none may be open.
    """
    states = question.states
    restricted = _Restricted(graph, question, changed)
    is_partial = UNKNOWN in (states[v] for v in graph.tested)

    def options() -> tuple[Iterator[int], set[tuple[int, ...]]]:
        number = changed[len(chosen)]
        variable = graph.variables[number]
        nearest = nearest_first(variable, states[number])
        if (possible := restricted.possible(len(chosen), variable.size)) is not None:
            known = set(members(possible))
            nearest = [state for state in nearest if state in known]
        return iter(nearest), set()

    chosen: list[int] = []
    work = [options()]  # of each variable the states left to try, and what has been in vain
    while work:
        poll()
        left, in_vain = work[-1]
        state = next(left, None)
        if state is None:
            work.pop()
            if chosen:
                chosen.pop()
                restricted.undo()
            continue
        if len(chosen) + 1 == len(changed):
            if is_partial:
                after = dict(zip(changed, (*chosen, state), strict=True))
                yield (*chosen, state), graph.possible_classes([after.get(v, own) for v, own in enumerate(states)])
            elif (leaf := restricted.leaf(state)) is not None:
                yield (*chosen, state), (graph.nodes[leaf][1],)
            continue
        # States that no test tells apart lead to the same.
        outcome = restricted.outcome(len(chosen), state)
        if outcome in in_vain:
            continue
        if restricted.choose(len(chosen), outcome):
            chosen.append(state)
            work.append(options())
        else:
            in_vain.add(outcome)
            restricted.undo()


class _Restricted:
    """The graph when just some variables leave their states; of these, states can be chosen, and chosen otherwise.

    A node is open if it leads to a leaf that does not keep the decision, as far as states are chosen. `count` has
    the open edges of a node; of one whose variable is chosen, `only` has the edge that is left. Complexity: to make it
    and to find a variable's `possible` states, linear in the part of the graph that the variables reach; a choice costs
    the nodes that it closes.
    """

    def __init__(self, graph: DecisionGraph, question: Question, changed: Sequence[int]) -> None:
        place = {variable: number for number, variable in enumerate(changed)}
        self.root = len(graph) - 1
        self.edges: dict[int, list[tuple[Ranges, int]]] = {}
        self.tests: list[list[int]] = [[] for _ in changed]
        self.parents: dict[int, list[int]] = {self.root: []}
        work = [self.root]
        while work:
            node = work.pop()
            test, _, edges = graph.nodes[node]
            own = question.states[test]
            if test in place:
                self.tests[place[test]].append(node)
                # Restricted labels part what is possible on a path, so only the instance's own state is to be cut out.
                kept = [(rest, child) for ranges, child in edges if (rest := difference(ranges, ((own, own),)))]
            else:
                kept = [(ranges, child) for ranges, child in edges if own == UNKNOWN or covers(ranges, own)]
            self.edges[node] = kept
            for _, child in kept:
                if child not in self.parents:
                    self.parents[child] = []
                    work.append(child)
                self.parents[child].append(node)
        self.count: dict[int, int] = {}
        for node in sorted(self.edges):  # children first
            test, label, _ = graph.nodes[node]
            open_leaf = test < 0 and label not in question.keeps
            self.count[node] = open_leaf + sum(self.count[child] > 0 for _, child in self.edges[node])
        self.last = frozenset(self.tests[-1])
        self.only: dict[int, int] = {}
        self.trail: list[list[tuple[int, int]]] = []  # of each choice, the nodes that it changed, and their counts

    def possible(self, place: int, size: int) -> Ranges | None:
        """The states of the variable at this place that keep the root open; None if trying them all is cheaper."""
        mine = frozenset(self.tests[place])
        if size * len(mine) <= len(self.edges):
            return None
        found: dict[int, Ranges] = {}
        for node, edges in sorted(self.edges.items()):  # children first
            if not self.count[node]:
                continue
            only = self.only.get(node)
            left = [edge for at, edge in enumerate(edges) if only in (None, at) and self.count[edge[1]]]
            ways = [intersection(ranges, found[child]) if node in mine else found[child] for ranges, child in left]
            found[node] = union(pair for way in ways for pair in way) if edges else ((0, size - 1),)
        return found[self.root]

    def outcome(self, place: int, state: int) -> tuple[int, ...]:
        """For each node that tests the variable at this place, the edge that a state takes, or -1 if it is closed."""
        return tuple(self._edge(node, state) if self.count[node] else -1 for node in self.tests[place])

    def _edge(self, node: int, state: int) -> int:
        return next((at for at, (ranges, _) in enumerate(self.edges[node]) if covers(ranges, state)), -1)

    def choose(self, place: int, outcome: Sequence[int]) -> bool:
        """Leave these edges only; whether the root is still open."""
        self.trail.append([])
        for node, edge in zip(self.tests[place], outcome, strict=True):
            self.only[node] = edge
            if self.count[node]:
                self._set(node, int(edge >= 0 and self.count[self.edges[node][edge][1]] > 0))
        return self.count[self.root] > 0

    def undo(self) -> None:
        """Take the last choice back."""
        for node, count in reversed(self.trail.pop()):
            self.count[node] = count
        for node in self.tests[len(self.trail)]:
            del self.only[node]

    def leaf(self, state: int) -> int | None:
        """The open leaf that a state of the last variable leads to, all others being chosen and none unknown."""
        node = self.root
        while self.edges[node] and self.count[node]:
            edge = self._edge(node, state) if node in self.last else self.only.get(node, 0)
            if edge < 0:
                return None
            node = self.edges[node][edge][1]
        return node if self.count[node] else None

    def _set(self, node: int, count: int) -> None:
        """Change how many edges of a node are open, and of those above if it closes."""
        self._note(node, count)
        closed = [] if count else [node]
        while closed:
            node = closed.pop()
            for parent in self.parents[node]:
                left = self.count[parent]
                if not left:
                    continue
                if parent not in self.only:
                    left -= 1
                elif self.edges[parent][self.only[parent]][1] == node:
                    left = 0
                self._note(parent, left)
                if not left:
                    closed.append(parent)

    def _note(self, node: int, count: int) -> None:
        self.trail[-1].append((node, self.count[node]))
        self.count[node] = count
