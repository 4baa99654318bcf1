"""The weak test-once property (paper §4), established rather than assumed.

A graph may test a variable again. The closed form of a complete reason is right only if every later test splits exactly
the states that the path before it has left possible. So nodes are copied per *context*: the states still possible for
the variables that were tested above and are tested again below. Where contexts are equal, nodes stay shared.

Everything here works on plain lists, children first: `tests[n]` is the variable a node tests or -1, `edges[n]` its
(states, child) pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quia.contexts import Contexts, Sets
from quia.errors import GraphError, TooLarge, listed, shown
from quia.ranges import Ranges, difference, intersection, size, union
from quia.variables import Variable

GROWTH_LIMIT = 1_000_000
"""How many nodes specialising may add before it gives up."""
RANGES_LIMIT = 2_000_000
"""How many ranges of states specialising may add before it gives up."""
CONTEXTS_LIMIT = 3_000_000
"""How many steps, and for each node a hundred more, may be spent on comparing contexts."""

Edges = tuple[tuple[Ranges, int], ...]
Context = int
"""A context by its number in `Contexts`; 0 is the one in which everything is possible."""


class Specialised(NamedTuple):
    """A consistent graph: for each of its nodes the node it came from, its edges; children first, root last."""

    origin: list[int]
    edges: list[Edges]


def establish(
    variables: Sequence[Variable], tests: Sequence[int], edges: Sequence[Edges], names: Sequence[str]
) -> Specialised:
    """The graph with the weak test-once property.

    Raises GraphError where the edges of a node do not partition the states possible there, TooLarge where contexts
    differ too often. Complexity: linear for trees and for graphs that test no variable again; for others near-linear in
    the nodes made, as a context shares all but what differs with the one above it.
    """
    all_states: list[Ranges] = [((0, v.size - 1),) for v in variables]
    again = variables_tested_again(len(variables), tests, edges)
    if not again and all(
        _restricted(variables[v], edges[node], all_states[v], names[node]) == edges[node]
        for node, v in enumerate(tests)
        if v >= 0
    ):
        return Specialised(list(range(len(tests))), list(edges))
    specialiser = _Tree if _is_tree(edges) else _Shared
    return specialiser(variables, tests, edges, names, all_states, again).specialise()


def variables_tested_again(count: int, tests: Sequence[int], edges: Sequence[Edges]) -> set[int]:
    """Variables that some path may test twice: those on a cycle of the relation 'is tested right after'.

    Complexity: linear; it may name too many variables, never too few.
    """
    after: list[set[int]] = [set() for _ in range(count)]
    for node, variable in enumerate(tests):
        if variable >= 0:
            after[variable].update(tests[child] for _, child in edges[node] if tests[child] >= 0)
    return _on_cycles(after)


def _on_cycles(after: Sequence[Iterable[int]]) -> set[int]:
    """The members of the strongly connected components that hold a cycle (Tarjan's algorithm, without recursion)."""
    unseen = -1
    order, low = [unseen] * len(after), [0] * len(after)
    path: list[int] = []
    on_path = [False] * len(after)
    on_cycles: set[int] = set()
    clock = 0
    for start in range(len(after)):
        if order[start] != unseen:
            continue
        work = [(start, iter(after[start]))]
        order[start] = low[start] = clock
        clock += 1
        path.append(start)
        on_path[start] = True
        while work:
            here, rest = work[-1]
            for there in rest:
                if order[there] == unseen:
                    order[there] = low[there] = clock
                    clock += 1
                    path.append(there)
                    on_path[there] = True
                    work.append((there, iter(after[there])))
                    break
                if on_path[there]:
                    low[here] = min(low[here], order[there])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[here])
                if low[here] == order[here]:
                    component = [path.pop()]
                    while component[-1] != here:
                        component.append(path.pop())
                    for member in component:
                        on_path[member] = False
                    if len(component) > 1 or here in after[here]:
                        on_cycles.update(component)
    return on_cycles


def _is_tree(edges: Sequence[Edges]) -> bool:
    seen: set[int] = set()
    for outgoing in edges:
        for _, child in outgoing:
            if child in seen:
                return False
            seen.add(child)
    return True


def _restricted(variable: Variable, edges: Edges, possible: Ranges, name: str) -> Edges:
    """The edges restricted to the possible states, which they must partition; impossible edges are left out."""
    if len(edges) == 1 and edges[0][0] == possible:
        return edges
    kept = []
    covered = 0
    for states, child in edges:
        common = states if states == possible else intersection(states, possible)
        if common:
            kept.append((common, child))
            covered += size(common)
    if covered != size(possible) or (len(kept) > 1 and _overlap(kept) is not None):
        _raise_fault(variable, kept, possible, name)
    return tuple(kept)


def _overlap(edges: Sequence[tuple[Ranges, int]]) -> int | None:
    """A state that two edges share."""
    last = -1
    for low, high in sorted(pair for states, _ in edges for pair in states):
        if low <= last:
            return low
        last = high
    return None


def _raise_fault(variable: Variable, edges: Sequence[tuple[Ranges, int]], possible: Ranges, name: str) -> None:
    shared = _overlap(edges)
    if shared is not None:
        raise GraphError(
            f"two edges of node {shown(name)} take {variable.phrase(shared)}; each state must have one edge"
        )
    rest = difference(possible, union(pair for states, _ in edges for pair in states))
    raise GraphError(
        f"no edge of node {shown(name)} takes {variable.phrase(rest[0][0])}; every state possible there must have one"
    )


class _Specialiser:
    """The input and the nodes made so far, for trees and for graphs."""

    def __init__(
        self,
        variables: Sequence[Variable],
        tests: Sequence[int],
        edges: Sequence[Edges],
        names: Sequence[str],
        all_states: Sequence[Ranges],
        again: set[int],
    ) -> None:
        self.variables, self.tests, self.edges, self.names = variables, tests, edges, names
        self.all_states, self.again = all_states, again
        self.result = Specialised([], [])
        self.limit = len(tests) + GROWTH_LIMIT
        self.ranges_left = RANGES_LIMIT + sum(len(states) for outgoing in edges for states, _ in outgoing)

    def _too_large(self, limit: int, of_what: str) -> TooLarge:
        names = listed(sorted(self.variables[v].name for v in self.again), most=8)
        return TooLarge(
            f"making the tests of {names} consistent would take more than {limit} {of_what};"
            " test each variable once a path, or in fewer differing contexts",
            limit=limit,
        )

    def _restricted(self, node: int, possible: Ranges) -> Edges:
        kept = _restricted(self.variables[self.tests[node]], self.edges[node], possible, self.names[node])
        self.ranges_left -= sum(len(states) for states, _ in kept)
        if self.ranges_left < 0:
            raise self._too_large(RANGES_LIMIT, "ranges of states more than the graph has")
        return kept

    def _add(self, node: int, edges: Edges) -> int:
        self.result.origin.append(node)
        self.result.edges.append(edges)
        return len(self.result.origin) - 1


class _Tree(_Specialiser):
    """A tree has one path to each node, so one walk with the possible states of each variable is enough."""

    def specialise(self) -> Specialised:
        possible = list(self.all_states)
        before: list[Ranges] = []
        root = len(self.tests) - 1
        # A frame is a node, its restricted edges, and the copies of those of its children that are done.
        work: list[tuple[int, Edges, list[int]]] = [(root, self._edges(root, possible), [])]
        while True:
            node, kept, done = work[-1]
            if len(done) < len(kept):
                states, child = kept[len(done)]
                before.append(possible[self.tests[node]])
                possible[self.tests[node]] = states
                work.append((child, self._edges(child, possible), []))
                continue
            work.pop()
            if len(kept) == 1 and len(self.edges[node]) > 1:
                copy = done[0]  # all other edges are impossible here, so the test decides nothing
            else:
                copy = self._add(node, tuple((states, c) for (states, _), c in zip(kept, done, strict=True)))
            if not work:
                return self.result
            possible[self.tests[work[-1][0]]] = before.pop()
            work[-1][2].append(copy)

    def _edges(self, node: int, possible: Sequence[Ranges]) -> Edges:
        variable = self.tests[node]
        if variable < 0:
            return ()
        return self._restricted(node, possible[variable])


class _Shared(_Specialiser):
    """A graph: a copy per node and context, where a context holds only variables tested above and again below."""

    def specialise(self) -> Specialised:
        self.number = {variable: number for number, variable in enumerate(sorted(self.again))}
        self.sets = Sets(len(self.number))
        self.contexts = Contexts(self.sets)
        relevant = self._relevant()
        root: tuple[int, Context] = (len(self.tests) - 1, 0)
        copies: dict[tuple[int, Context], int] = {}
        unique: dict[tuple[int, Edges], int] = {}
        expanded: dict[tuple[int, Context], tuple[Edges, list[tuple[int, Context]]]] = {}
        work = [root]
        while work:
            key = work[-1]
            if key in copies:
                work.pop()
            elif key not in expanded:
                expanded[key] = self._expand(key, relevant)
                work.extend(child for child in reversed(expanded[key][1]) if child not in copies)
                if len(copies) + len(expanded) > self.limit:
                    raise self._too_large(self.limit, "nodes")
                self._check_steps()
            else:
                kept, below = expanded.pop(key)
                copies[key] = self._unique(key[0], kept, [copies[child] for child in below], unique)
                work.pop()
        self._drop_unused(copies[root])
        return self.result

    def _check_steps(self) -> None:
        most = CONTEXTS_LIMIT + 100 * len(self.tests)
        if self.sets.steps + self.contexts.steps > most:
            raise self._too_large(most, "steps to compare contexts")

    def _expand(self, key: tuple[int, Context], relevant: Sequence[int]) -> tuple[Edges, list[tuple[int, Context]]]:
        node, context = key
        variable = self.tests[node]
        if variable < 0:
            return (), []
        number, all_states, contexts = self.number.get(variable), self.all_states[variable], self.contexts
        possible = all_states if number is None else contexts.get(context, number) or all_states
        kept = self._restricted(node, possible)
        rest = context if number is None or possible is all_states else contexts.put(context, number, None)
        below = []
        for states, child in kept:
            there = contexts.restricted(rest, relevant[child])
            if number is not None and states != all_states and self.sets.has(relevant[child], number):
                there = contexts.put(there, number, states)
            below.append((child, there))
        return kept, below

    def _unique(self, node: int, kept: Edges, children: Sequence[int], unique: dict[tuple[int, Edges], int]) -> int:
        if len(kept) == 1 and len(self.edges[node]) > 1:
            return children[0]  # all other edges are impossible here, so the test decides nothing
        edges = tuple((states, child) for (states, _), child in zip(kept, children, strict=True))
        if (node, edges) not in unique:
            unique[node, edges] = self._add(node, edges)
        return unique[node, edges]

    def _relevant(self) -> list[int]:
        """For each node the set of the repeatedly tested variables that are tested at or below it."""
        below: list[int] = []
        for node, variable in enumerate(self.tests):
            tested = 0
            for _, child in self.edges[node]:
                tested = self.sets.union(tested, below[child])
            number = self.number.get(variable)
            below.append(tested if number is None else self.sets.added(tested, number))
            self._check_steps()
        return below

    def _drop_unused(self, root: int) -> None:
        """Keep the nodes that the root reaches, root last; a copy is unreachable if all its parents were bypassed."""
        origin, edges = self.result
        used = [False] * len(origin)
        used[root] = True
        for node in range(root, -1, -1):
            if used[node]:
                for _, child in edges[node]:
                    used[child] = True
        position: dict[int, int] = {}
        kept = Specialised([], [])
        for node in range(root + 1):
            if used[node]:
                position[node] = len(position)
                kept.origin.append(origin[node])
                kept.edges.append(tuple((states, position[child]) for states, child in edges[node]))
        self.result = kept
