"""The nearest changed instances: every way to violate a shortest necessary reason that changes the decision."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import Any, NamedTuple

from quia.circuit import Circuit
from quia.classifier import Classifier
from quia.errors import MissingValue
from quia.graph import DecisionGraph
from quia.patience import OutOfTime
from quia.ranges import Ranges, covers, difference, intersection, members, union
from quia.reason import State
from quia.variables import UNKNOWN, Variable


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A nearest changed instance: what changes, and what the decision is then.

    A numeric feature moves into an interval: any number in it will do. It is `certain` if the decision is that one
    whatever the features are whose values are missing; else it is so for some values of theirs.
    """

    changes: tuple[State, ...]
    decision: str
    certain: bool = True

    def to_dict(self) -> dict[str, object]:
        """The `counterfactuals` item of the JSON format."""
        return {
            "changes": {state.feature: state.text for state in self.changes},
            "decision": self.decision,
            **({} if self.certain else {"certain": False}),
        }

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.changes))}: {'' if self.certain else 'could be '}{self.decision}"


class Change(NamedTuple):
    """A changed instance in indices: variables, their new states, the class that it then is, certainly or perhaps."""

    variables: Sequence[int]
    states: tuple[int, ...]
    label: int
    certain: bool


class Counterfactuals(tuple[Counterfactual, ...]):
    """The nearest changed instances; `complete` says whether these are all."""

    complete: bool

    @classmethod
    def within(cls, found: Iterable[Counterfactual], limit: int | None, all_known: bool) -> Counterfactuals:
        """As many as limit and time allow."""
        kept: list[Counterfactual] = []
        complete = all_known
        try:
            for one in found:
                if len(kept) == limit:
                    complete = False
                    break
                kept.append(one)
        except OutOfTime:
            complete = False
        made = cls(kept)
        made.complete = complete
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self), self.complete)


def _restored(found: Iterable[Counterfactual], complete: bool) -> Counterfactuals:
    return Counterfactuals.within(found, None, complete)


def changes(
    classifier: Classifier,
    states: Sequence[int],
    necessary: Iterable[Sequence[int]],
    *,
    sustains: Callable[[int], bool],
    poll: Callable[[], None],
) -> Iterator[Counterfactual]:
    """Every change of all of a necessary reason's features, and no others, that does not sustain the decision.

    In the order of the reasons; within one, states nearest to the instance's come first. Where variables are unknown
    there is one for each class that a change could lead to, those that are certain before all others. `poll` is called
    at every step, and may raise OutOfTime.
    """
    for change in changed_states(classifier, states, necessary, sustains=sustains, poll=poll):
        pairs = zip(change.variables, change.states, strict=True)
        yield Counterfactual(
            tuple(State(classifier.variables[v], s) for v, s in pairs), classifier.classes[change.label], change.certain
        )


def changed_states(
    classifier: Classifier,
    states: Sequence[int],
    necessary: Iterable[Sequence[int]],
    *,
    sustains: Callable[[int], bool],
    poll: Callable[[], None] = lambda: None,
) -> Iterator[Change]:
    """`changes` in indices."""
    is_partial = UNKNOWN in (states[v] for v in classifier.tested)
    passes = zip((True, False), tee(necessary), strict=True) if is_partial else [(True, necessary)]
    for certain, reasons in passes:
        for reason in reasons:
            poll()
            for changed, labels in _violations(classifier, states, reason, sustains, poll):
                if (len(labels) == 1) == certain:
                    yield from (Change(reason, changed, c, certain) for c in sorted(labels) if not sustains(c))


def _violations(
    classifier: Classifier,
    states: Sequence[int],
    reason: Sequence[int],
    sustains: Callable[[int], bool],
    poll: Callable[[], None],
) -> Iterable[tuple[tuple[int, ...], Collection[int]]]:
    """New states of a necessary reason's variables, all those that can change the decision, and the classes then."""
    if isinstance(classifier, Circuit):
        # Its variables are Boolean, so there is one way to violate a reason, and it changes the decision (paper §5).
        changed = tuple(1 - states[v] for v in reason)
        return [(changed, _classes_of(classifier, states, reason, changed, 0 if sustains(1) else 1))]
    return _assignments(classifier, states, reason, _Restricted(classifier, states, reason, sustains), poll)


def _classes_of(
    circuit: Circuit, states: Sequence[int], reason: Sequence[int], changed: Sequence[int], label: int
) -> Collection[int]:
    """The classes that a changed instance could have, of which `label` is one."""
    after = dict(zip(reason, changed, strict=True))
    try:
        circuit.decide([after.get(v, state) for v, state in enumerate(states)])
    except MissingValue:
        return (0, 1)
    return (label,)


def _assignments(
    graph: DecisionGraph,
    states: Sequence[int],
    changed: Sequence[int],
    restricted: _Restricted,
    poll: Callable[[], None],
) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The states of the changed variables that lead to an open leaf, nearest first; they are chosen one by one.

    With them the class there; where variables are unknown, all classes that they lead to, of which none may be open.
    """
    is_partial = UNKNOWN in (states[v] for v in graph.tested)

    def options() -> tuple[Iterator[int], set[tuple[int, ...]]]:
        number = changed[len(chosen)]
        variable = graph.variables[number]
        nearest = _nearest_first(variable, states[number])
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

    A node is open if it leads to a leaf that does not sustain the decision, as far as states are chosen. `count` has
    the open edges of a node; of one whose variable is chosen, `only` has the edge that is left. Complexity: to make it
    and to find a variable's `possible` states, linear in the part of the graph that the variables reach; a choice costs
    the nodes that it closes.
    """

    def __init__(
        self, graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], sustains: Callable[[int], bool]
    ) -> None:
        place = {variable: number for number, variable in enumerate(changed)}
        self.root = len(graph) - 1
        self.edges: dict[int, list[tuple[Ranges, int]]] = {}
        self.tests: list[list[int]] = [[] for _ in changed]
        self.parents: dict[int, list[int]] = {self.root: []}
        work = [self.root]
        while work:
            node = work.pop()
            test, _, edges = graph.nodes[node]
            own = states[test]
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
            open_leaf = test < 0 and not sustains(label)
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


def _nearest_first(variable: Variable, own: int) -> list[int]:
    """All states but the instance's own."""
    others = [state for state in range(variable.size) if state != own]
    numbers = len(variable.cuts)
    if not variable.is_numeric or own > numbers:
        return others
    # A missing value, the last state, is farther than any number.
    return sorted(others, key=lambda state: (state > numbers, abs(state - own), state))
