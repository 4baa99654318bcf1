"""The nearest changed instances: every way to violate a shortest necessary reason that changes the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from quia.circuit import Circuit
from quia.classifier import Classifier
from quia.graph import DecisionGraph
from quia.ranges import Ranges, covers, difference
from quia.reason import State
from quia.variables import Variable

Edge = tuple[Ranges, int]
Restricted = dict[int, tuple[int, list[Edge]]]
"""Nodes, children first, that test only changed variables: the place of the variable among these, and the edges.

Every node leads to a leaf that does not sustain the decision."""
_LEAF = -1


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A nearest changed instance: what changes, and what the decision is then.

    A numeric feature moves into an interval: any number in it will do.
    """

    changes: tuple[State, ...]
    decision: str

    def to_dict(self) -> dict[str, object]:
        """The `counterfactuals` item of the JSON format."""
        return {"changes": {state.feature: state.text for state in self.changes}, "decision": self.decision}

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.changes))}: {self.decision}"


def changes(
    classifier: Classifier,
    states: Sequence[int],
    necessary: Iterable[Sequence[int]],
    *,
    sustains: Callable[[int], bool],
) -> Iterator[Counterfactual]:
    """Every change of all of a necessary reason's features, and no others, that does not sustain the decision.

    In the order of the reasons; within one, states nearest to the instance's come first.
    """
    for reason, changed, label in changed_states(classifier, states, necessary, sustains=sustains):
        yield Counterfactual(
            tuple(State(classifier.variables[v], s) for v, s in zip(reason, changed, strict=True)),
            classifier.classes[label],
        )


def changed_states(
    classifier: Classifier,
    states: Sequence[int],
    necessary: Iterable[Sequence[int]],
    *,
    sustains: Callable[[int], bool],
) -> Iterator[tuple[Sequence[int], tuple[int, ...], int]]:
    """`changes` in indices: the changed variables, their new states, and the class that it then is."""
    for reason in necessary:
        for changed, label in _violations(classifier, states, reason, sustains):
            yield reason, changed, label


def _violations(
    classifier: Classifier, states: Sequence[int], reason: Sequence[int], sustains: Callable[[int], bool]
) -> Iterable[tuple[tuple[int, ...], int]]:
    """The new states of a necessary reason's variables that change the decision, and the class that it then is."""
    if isinstance(classifier, Circuit):
        # Its variables are Boolean, so there is one way to violate a reason, and it changes the decision (paper §5).
        return [(tuple(1 - states[v] for v in reason), 0 if sustains(1) else 1)]
    return _assignments(classifier, states, reason, *_restricted(classifier, states, reason, sustains))


def _restricted(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], sustains: Callable[[int], bool]
) -> tuple[Restricted, int]:
    """The graph when just these variables leave their states, and its root; only what does not sustain the decision.

    Complexity: linear in the part of the graph that they reach.
    """
    place = {variable: number for number, variable in enumerate(changed)}
    root = len(graph) - 1
    ways: dict[int, list[Edge]] = {}
    work = [root]
    while work:
        node = work.pop()
        if node in ways:
            continue
        test, _, edges = graph.nodes[node]
        own = states[test]
        if test not in place:
            ways[node] = [(ranges, child) for ranges, child in edges if covers(ranges, own)]
        else:
            # Restricted labels part what is possible on a path, so only the instance's own state is to be cut out.
            ways[node] = [(rest, child) for ranges, child in edges if (rest := difference(ranges, ((own, own),)))]
        work += [child for _, child in ways[node]]
    found: Restricted = {}
    now: dict[
        int, int
    ] = {}  # where each node leads when tests with one outcome are left out; nowhere if it is not here
    for node in sorted(ways):  # children first
        test, label, _ = graph.nodes[node]
        kept = [(ranges, now[child]) for ranges, child in ways[node] if child in now]
        if test < 0 and not sustains(label):
            found[node], now[node] = (_LEAF, []), node
        elif test in place and kept:
            found[node], now[node] = (place[test], kept), node
        elif kept:
            now[node] = kept[0][1]
    return found, now[root]


def _with_state(graph: Restricted, root: int, place: int, state: int) -> tuple[Restricted, int] | None:
    """The graph when the variable at this place has this state; None if nothing is left."""
    found: Restricted = {}
    now: dict[int, int] = {}
    for node, (test, edges) in graph.items():
        kept = [(r, now[child]) for r, child in edges if child in now and (test != place or covers(r, state))]
        if test == place and kept:
            now[node] = kept[0][1]
        elif test == _LEAF or (test != place and kept):
            found[node], now[node] = (test, kept), node
    return (found, now[root]) if root in now else None


def _assignments(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], restricted: Restricted, root: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """The states of the changed variables that lead to a leaf, nearest first.

    Complexity: each comes after at most as many passes over the restricted graph as the variables have states.
    """
    chosen: list[int] = []
    work = [_options(graph, states, changed, 0, restricted, root)]
    while work:
        found = next(work[-1], None)
        if found is None:
            work.pop()
            if chosen:
                chosen.pop()
            continue
        state, restricted, root = found
        if len(chosen) + 1 == len(changed):
            yield (*chosen, state), graph.nodes[root][1]
        else:
            chosen.append(state)
            work.append(_options(graph, states, changed, len(chosen), restricted, root))


def _options(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], place: int, restricted: Restricted, root: int
) -> Iterator[tuple[int, Restricted, int]]:
    """The states that a variable may have, nearest first, each with the graph that it leaves."""
    nearest = _nearest_first(graph.variables[changed[place]], states[changed[place]])
    if place + 1 == len(changed):  # only this variable is tested, so a walk is all that a state needs
        for state in nearest:
            if (leaf := _leaf(restricted, root, state)) is not None:
                yield state, restricted, leaf
        return
    tests = [edges for test, edges in restricted.values() if test == place]
    # States that no test tells apart leave the same graph.
    known: dict[tuple[int, ...], tuple[Restricted, int] | None] = {}
    for state in nearest:
        outcome = tuple(next((child for r, child in edges if covers(r, state)), -1) for edges in tests)
        if outcome not in known:
            known[outcome] = _with_state(restricted, root, place, state)
        if (left := known[outcome]) is not None:
            yield state, *left


def _leaf(restricted: Restricted, node: int, state: int) -> int | None:
    """The leaf that a state leads to, if there is one."""
    while restricted[node][0] != _LEAF:
        for ranges, child in restricted[node][1]:
            if covers(ranges, state):
                node = child
                break
        else:
            return None
    return node


def _nearest_first(variable: Variable, own: int) -> list[int]:
    """All states but the instance's own."""
    others = [state for state in range(variable.size) if state != own]
    numbers = len(variable.cuts)
    if not variable.is_numeric or own > numbers:
        return others
    # A missing value, the last state, is farther than any number.
    return sorted(others, key=lambda state: (state > numbers, abs(state - own), state))
