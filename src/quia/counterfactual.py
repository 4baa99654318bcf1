"""The nearest changed instances: every way to violate a shortest necessary reason that changes the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quia.circuit import Circuit
from quia.classifier import Classifier
from quia.graph import DecisionGraph
from quia.ranges import Ranges, covers, difference, members
from quia.reason import State

Box = tuple[dict[int, Ranges], int]
"""Where the changed variables may be for the graph to give one class: the states of each, and that class."""


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
    return _assignments(classifier, states, reason, list(_boxes(classifier, states, reason, sustains)))


def _boxes(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], sustains: Callable[[int], bool]
) -> Iterator[Box]:
    """The paths to leaves that do not sustain the decision when just these variables leave their states."""
    elsewhere: dict[int, Ranges] = {
        v: difference(((0, graph.variables[v].size - 1),), ((states[v], states[v]),)) for v in changed
    }
    # A step is the one before it, a changed variable and its states: paths share their beginnings.
    work: list[tuple[int, Any]] = [(len(graph) - 1, None)]
    while work:
        node, step = work.pop()
        test, label, edges = graph.nodes[node]
        if test < 0:
            if not sustains(label):
                free: dict[int, Ranges] = {}
                while step is not None:
                    step, variable, rest = step
                    free.setdefault(variable, rest)  # the last test of a variable has all before in it
                yield elsewhere | free, label
            continue
        for ranges, child in reversed(edges):
            if test not in elsewhere:
                if covers(ranges, states[test]):
                    work.append((child, step))
                continue
            # Restricted labels part what is possible on the path, so only the instance's own state is to be cut out.
            rest = difference(ranges, ((states[test], states[test]),))
            if rest:
                work.append((child, (step, test, rest)))


def _assignments(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], boxes: Sequence[Box]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """The states that the boxes allow the changed variables, nearest first; the boxes are disjoint."""
    # A frame is the boxes that the states chosen so far leave, and the options for the next variable.
    chosen: list[int] = []
    work = [(list(boxes), iter(_nearest_first(graph, states, changed, 0, boxes)))]
    while work:
        left, options = work[-1]
        whole = len(chosen) == len(changed)
        if whole:
            yield tuple(chosen), left[0][1]
        state = None if whole else next(options, None)
        if state is None:
            work.pop()
            if chosen:
                chosen.pop()
            continue
        variable = changed[len(chosen)]
        fitting = [box for box in left if covers(box[0][variable], state)]
        chosen.append(state)
        work.append((fitting, iter(_nearest_first(graph, states, changed, len(chosen), fitting))))


def _nearest_first(
    graph: DecisionGraph, states: Sequence[int], changed: Sequence[int], depth: int, boxes: Sequence[Box]
) -> list[int]:
    if depth == len(changed):
        return []
    variable = changed[depth]
    options = {state for box, _ in boxes for state in members(box[variable])}
    numbers = len(graph.variables[variable].cuts)
    if not graph.variables[variable].is_numeric or states[variable] > numbers:
        return sorted(options)
    # A missing value, the last state, is farther than any number.
    return sorted(options, key=lambda state: (state > numbers, abs(state - states[variable]), state))
