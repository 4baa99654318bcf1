"""Complete reasons in closed form (paper §4).

The kernel makes them; `closed_form` is the same in plain Python, to be read beside the paper and compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from quia.circuit import Circuit
from quia.classifier import Classifier
from quia.graph import DecisionGraph
from quia.nnf import NNF, Builder
from quia.ranges import covers


def complete_reason(
    classifier: Classifier, states: Sequence[int], *, against: str | None = None, frozen: Collection[int] = ()
) -> NNF:
    """Why the decision on an encoded instance is what it is: Γ, monotone, with no constant inside.

    With `against` it says why the class is not that one (Eq. 2). The literals of `frozen` variables, which no change
    may touch, are ⊤; those of unknown ones, of which no reason can speak, are ⊥. Of a decision graph, and of a circuit
    that can be negated, Γ is ∨-decomposable.

    Complexity: linear in the size of the classifier. Paper: Prop. 7 and 8; for a circuit, Prop. 3.
    """
    if isinstance(classifier, Circuit):
        return classifier.complete_reason(states, sustains=sustained(classifier, states, against), frozen=frozen)
    kind, variable, child_start, child = classifier.kernel.complete_reason(
        np.array(states, np.int32), **classifier.kernel_question(against, frozen)
    )
    state = np.where(variable < 0, -1, np.array(states, np.int32)[variable]) if states else variable
    return NNF(classifier.variables, kind, variable, state.astype(np.int32), child_start, child)


def sustained(classifier: Classifier, states: Sequence[int], against: str | None) -> Callable[[int], bool]:
    """Which classes leave the decision as it is: for "why c" c alone, for "why not c*" any class but c*."""
    if against is None:
        return classifier.decide(states).__eq__
    return classifier.classes.index(against).__ne__


def closed_form(
    graph: DecisionGraph, states: Sequence[int], *, against: str | None = None, frozen: Collection[int] = ()
) -> NNF:
    """Γ of a decision graph as Equations 1 and 2 write it, constants simplified away."""
    sustains = sustained(graph, states, against)
    build = Builder(graph.variables)
    leaf = [build.constant(sustains(label)) for label in range(len(graph.classes))]
    gamma: list[int] = []
    for test, label, edges in graph.nodes:
        if test < 0:
            gamma.append(leaf[label])
            continue
        state = states[test]
        taken = [covers(ranges, state) for ranges, _ in edges]
        # l_j is the instance's state if an edge other than j takes the instance; if none does, the path here has
        # left that state already and says so above (proof of Prop. 7), or it is not known: so l_j is ⊥.
        if not any(taken):
            literal = build.false
        elif test in frozen:
            literal = build.true
        else:
            literal = build.literal(test, state)
        gamma.append(
            build.conjunction(
                [
                    gamma[child] if takes else build.disjunction((literal, gamma[child]))
                    for takes, (_, child) in zip(taken, edges, strict=True)
                ]
            )
        )
    return build.nnf(gamma[-1])
