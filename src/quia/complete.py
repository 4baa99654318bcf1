"""Complete reasons in closed form (paper §4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from quia.circuit import Circuit
from quia.classifier import Classifier
from quia.nnf import NNF, Builder
from quia.ranges import covers


def complete_reason(
    classifier: Classifier,
    states: Sequence[int],
    *,
    sustains: Callable[[int], bool],
    frozen: Collection[int] = (),
) -> NNF:
    """Why the decision on an instance is what it is: Γ, a monotone and ∨-decomposable NNF without constants inside.

    `states` is the encoded instance, `sustains(class)` whether a class leaves the decision as it is: for "why c"
    it is c alone (Eq. 1), for "why not c*" it is any class but c* (Eq. 2). The literals of `frozen` variables,
    which no change may touch, are ⊤.

    Complexity: linear in the size of the classifier. Paper: Prop. 7 and 8; for a circuit, Prop. 3.
    """
    if isinstance(classifier, Circuit):
        return classifier.complete_reason(states, sustains=sustains, frozen=frozen)
    graph = classifier
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
        # left that state already and says so above (proof of Prop. 7), so l_j is ⊥.
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
