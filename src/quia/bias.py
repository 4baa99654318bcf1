"""Protected features: is a decision biased, may another one be?

A decision is biased if it can change by changing protected features alone; a classifier is biased if one of its
decisions is (Darwiche & Hirth, ECAI 2020; the paper's Luna).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from quia.arguments import feature_indices
from quia.circuit import Circuit
from quia.circuit_bias import differing
from quia.classifier import Classifier, loaded
from quia.errors import TooLarge
from quia.graph import DecisionGraph
from quia.ranges import Ranges, intersection
from quia.reason import State
from quia.reasons import Reasons

SEARCH_LIMIT = 5_000_000
"""How many pairs of nodes the search for a biased decision visits before it gives up."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Whether a decision can change by changing protected features alone, and the proof.

    `reasons` are the necessary reasons that speak of protected features only, found when they are read; `changes` are
    states of protected features with which the decision is `changed_decision` (none, where a timeout was too short to
    find the nearest), or, if that is not `certain`, with which it is so for some values of the features that are
    unknown. In an explanation `against` a class, the question is
    whether they alone can change the decision to that class.
    """

    protected: tuple[str, ...]
    biased: bool
    decision: str
    reasons: Reasons = field(compare=False, repr=False)
    changes: tuple[State, ...] = ()
    changed_decision: str | None = None
    against: str | None = None
    certain: bool = True

    def __bool__(self) -> bool:
        return self.biased

    def to_dict(self) -> dict[str, object]:
        """The `bias` item of the JSON format."""
        return {
            "protected": list(self.protected),
            "biased": self.biased,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "complete": self.reasons.complete,
            "changes": {state.feature: state.text for state in self.changes},
            "decision": self.changed_decision,
            **({} if self.certain else {"certain": False}),
        }

    def __str__(self) -> str:
        if not self.biased:
            stays = f"be {self.decision}" if self.against is None else f"not be {self.against}"
            return f"not biased: {_whatever(self.protected)}, the decision would {stays}"
        if not self.changes:
            other = "another one" if self.against is None else self.against
            return f"biased: changing {' and '.join(self.protected)} alone can make it {other}; time ran out before how"
        would = "would" if self.certain else "could"
        return (
            f"biased: with {_all(self.changes)}, and all else the same, the decision {would} be {self.changed_decision}"
        )


@dataclass(frozen=True, slots=True)
class ClassifierBias:
    """Whether some decision of a classifier is biased, and two instances that prove it.

    The instances differ in protected features only, yet are decided differently; features that neither mentions
    may have any value, as long as it is the same in both.
    """

    protected: tuple[str, ...]
    biased: bool
    instance: tuple[State, ...] = ()
    decision: str | None = None
    other: tuple[State, ...] = ()
    other_decision: str | None = None

    def __bool__(self) -> bool:
        return self.biased

    def __str__(self) -> str:
        if not self.biased:
            return f"not biased: {_whatever(self.protected)}, no decision would change"
        shared = [state for state in self.instance if state in self.other]
        mine, theirs = ([s for s in one if s not in shared] for one in (self.instance, self.other))
        return (
            f"biased: with {_all(mine)} the decision is {self.decision}, with {_all(theirs)} it is"
            f" {self.other_decision}" + (f", both times with {_all(shared)}" if shared else "")
        )


def _whatever(protected: Sequence[str]) -> str:
    return f"whatever {', '.join(protected)} were" if protected else "with nothing protected"


def _all(states: Sequence[State]) -> str:
    return " and ".join(map(str, states))


def bias_of_classifier(classifier: Classifier, protected: Collection[str]) -> ClassifierBias:
    """Whether any decision of the classifier is biased against protected features.

    Walks a graph with two instances at once that must agree on every other feature. Of a circuit instances are tried,
    and where none is biased it is compiled. Complexity: pairs of nodes for trees; in the worst case exponential for
    graphs and circuits, so it gives up with TooLarge at a limit.
    """
    graph = loaded(classifier)
    guarded = feature_indices({v.name: i for i, v in enumerate(graph.variables)}, protected, "protected", or_one=True)
    names = tuple(graph.variables[v].name for v in guarded)
    if isinstance(graph, Circuit):
        return _of_circuit(graph, guarded, names)
    if not set(graph.tested).intersection(guarded):
        return ClassifierBias(names, False)
    classes = _classes_below(graph)
    whole = {v: ((0, graph.variables[v].size - 1),) for v in graph.tested}
    root = len(graph) - 1
    # Three contexts: what is left of the shared features, of one's protected features, of the other's.
    start: _Step = (root, root, (), (), ())
    seen = {start}
    work = [start]
    while work:
        one, other, shared, mine, theirs = work.pop()
        if classes[one] == classes[other] and len(classes[one]) == 1:
            continue
        if graph.nodes[one][0] < 0 and graph.nodes[other][0] < 0:
            return ClassifierBias(
                names,
                True,
                _states(graph, shared + mine),
                graph.classes[graph.nodes[one][1]],
                _states(graph, shared + theirs),
                graph.classes[graph.nodes[other][1]],
            )
        moves_one = graph.nodes[one][0] >= 0 and (graph.nodes[other][0] < 0 or one >= other)
        test, _, edges = graph.nodes[one if moves_one else other]
        context = shared if test not in guarded else mine if moves_one else theirs
        possible = dict(context).get(test, whole[test])
        for ranges, child in edges:
            left = intersection(ranges, possible)
            if not left:
                continue
            updated = tuple(sorted({**dict(context), test: left}.items()))
            step: _Step = (
                child if moves_one else one,
                other if moves_one else child,
                updated if test not in guarded else shared,
                updated if test in guarded and moves_one else mine,
                updated if test in guarded and not moves_one else theirs,
            )
            if step not in seen:
                seen.add(step)
                work.append(step)
        if len(seen) > SEARCH_LIMIT:
            raise TooLarge(
                f"looking for a biased decision took more than {SEARCH_LIMIT} steps; ask about one decision instead",
                limit=SEARCH_LIMIT,
            )
    return ClassifierBias(names, False)


def _of_circuit(circuit: Circuit, guarded: Collection[int], names: tuple[str, ...]) -> ClassifierBias:
    found = differing(circuit, guarded)
    if found is None:
        return ClassifierBias(names, False)
    (one, decision), (other, other_decision) = (
        (
            tuple(State(circuit.variables[v], states[v]) for v in circuit.tested),
            circuit.classes[circuit.decide(states)],
        )
        for states in found
    )
    return ClassifierBias(names, True, one, decision, other, other_decision)


_Context = tuple[tuple[int, Ranges], ...]
_Step = tuple[int, int, _Context, _Context, _Context]


def _classes_below(graph: DecisionGraph) -> list[frozenset[int]]:
    below: list[frozenset[int]] = []
    for _, label, edges in graph.nodes:
        below.append(frozenset((label,)) if label >= 0 else frozenset().union(*(below[c] for _, c in edges)))
    return below


def _states(graph: DecisionGraph, context: Sequence[tuple[int, Ranges]]) -> tuple[State, ...]:
    return tuple(State(graph.variables[v], ranges[0][0]) for v, ranges in sorted(context))
