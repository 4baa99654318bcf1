"""Complete reasons, general reasons and class formulas in closed form (paper §4).

The kernel makes complete reasons; `closed_form` is the same in plain Python, to be read beside the paper and compared
with, and beside `general_reason`, which is made as it is but for its literals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from quia._kernel import Family
from quia.classifier import HasCompleteReason
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.graph import DecisionGraph
from quia.nnf import NNF, Builder
from quia.question import Question
from quia.ranges import Ranges, covers, difference, union
from quia.variables import UNKNOWN


def complete_reason(classifier: HasCompleteReason, question: Question) -> NNF:
    """Why the decision is what it is: Γ, monotone, with no constant inside (paper Def. 2).

    The literals of frozen variables, which no change may touch, are ⊤; those of unknown ones, of which no reason can
    speak, are ⊥. Of a decision graph, and of a circuit that can be negated, Γ is ∨-decomposable.

    Complexity: linear in the size of the classifier. Paper: Prop. 7 and 8; for a circuit, Prop. 3.
    """
    return classifier.complete_reason(question)


def of_necessary(question: Question, reasons: Iterable[Iterable[int]]) -> NNF:
    """Γ as the conjunction of all necessary reasons, which are its prime implicates, where there is no closed form."""
    build = Builder(question.variables)
    clauses = [build.disjunction([build.literal(v, question.states[v]) for v in reason]) for reason in reasons]
    return build.nnf(build.conjunction(clauses))


def of_sufficient(question: Question, family: Family) -> NNF:
    """Γ as the disjunction of all sufficient reasons, which are its prime implicants, from their diagram.

    Complexity: linear in the nodes of the diagram, however many reasons there are.
    """
    variable, low, high, root = family.nodes()
    build = Builder(question.variables)
    made = [build.false, build.true]
    for v, without, with_it in zip(variable[2:].tolist(), low[2:].tolist(), high[2:].tolist(), strict=True):
        chosen = build.conjunction((build.literal(v, question.states[v]), made[with_it]))
        made.append(build.disjunction((made[without], chosen)))
    return build.nnf(made[root])


def of_graph(graph: DecisionGraph, question: Question) -> NNF:
    """Γ of a decision graph, by the kernel."""
    states = np.array(question.states, np.int32)
    kind, variable, child_start, child = graph.kernel.complete_reason(states, **graph.kernel_question(question))
    state = np.where(variable < 0, -1, states[variable]) if len(states) else variable
    return NNF(graph.variables, kind, variable, state.astype(np.int32), child_start, child)


def class_formula(graph: DecisionGraph, label: str) -> NNF:
    """Δᶜ[T]: the formula of a decision graph's class, which an instance satisfies if the graph gives it that class.

    It is positive, and ∨-decomposable but for the disjunctions of one variable's states. Quantifying an instance of the
    class from it gives the complete reason (`formula.forall`, with `formula.from_nnf`).

    Complexity: linear in the graph's ranges, times the logarithm of the number of states. Paper: Def. 3, Prop. 6.
    """
    if label not in graph.classes:
        raise InstanceError(
            f"there is no class {shown(label)}; the classes are {listed(graph.classes)}"
            f"{did_you_mean(label, graph.classes)}"
        )
    wanted = graph.classes.index(label)
    build = Builder(graph.variables)
    states = _StateSets(build)
    delta: list[int] = []
    for test, own, edges in graph.nodes:
        if test < 0:
            delta.append(build.constant(own == wanted))
            continue
        every = ((0, graph.variables[test].size - 1),)
        delta.append(
            build.conjunction(
                [
                    build.disjunction((delta[child], *states.blocks(test, difference(every, taken))))
                    for taken, child in edges
                ]
            )
        )
    return build.nnf(delta[-1])


class _StateSets:
    """Sets of a variable's states as disjunctions that share what they have in common.

    A range is a few blocks of 2ᵏ neighbouring states, each the disjunction of its two halves, so that a variable with
    thousands of states does not cost as many at each node that tests it.
    """

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.made: dict[tuple[int, int, int], int] = {}

    def blocks(self, variable: int, ranges: Ranges) -> Iterator[int]:
        """The largest blocks that make up the ranges."""
        for first, high in ranges:
            low = first
            while low <= high:
                size = low & -low or 1 << high.bit_length()
                while low + size - 1 > high:
                    size //= 2
                yield self._block(variable, low, size)
                low += size

    def _block(self, variable: int, low: int, size: int) -> int:
        if size == 1:
            return self.build.literal(variable, low)
        if (variable, low, size) not in self.made:
            halves = (self._block(variable, at, size // 2) for at in (low, low + size // 2))
            self.made[variable, low, size] = self.build.disjunction(halves)
        return self.made[variable, low, size]


def closed_form(graph: DecisionGraph, question: Question) -> NNF:
    """Γ of a decision graph as Equations 1 and 2 write it, constants simplified away."""
    build = Builder(graph.variables)
    leaf = [build.constant(label in question.keeps) for label in range(len(graph.classes))]
    gamma: list[int] = []
    for test, label, edges in graph.nodes:
        if test < 0:
            gamma.append(leaf[label])
            continue
        state = question.states[test]
        taken = [covers(ranges, state) for ranges, _ in edges]
        # l_j is the instance's state if an edge other than j takes the instance; if none does, the path here has
        # left that state already and says so above (proof of Prop. 7), or it is not known: so l_j is ⊥.
        if not any(taken):
            literal = build.false
        elif test in question.frozen:
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


def general_reason(graph: DecisionGraph, question: Question) -> NNF:
    """All worlds in which the decision is kept, and kept whichever features are put back to the instance's values.

    As Equations 1 and 2, but where an arrow does not take the instance, any state that it does not take keeps from it,
    not the instance's alone. As clauses: for each leaf that does not keep the decision, where every X must be in b_X,
    some X is not in b_X, among those whose state in the instance is not.

    As in the complete reason, a literal of a frozen variable is ⊤, and one of an unknown variable, of which no reason
    can speak, is ⊥: what is kept is kept whatever the unknown values are.

    Complexity: linear in the graph's ranges, but for sorting those of a node. Ji and Darwiche 2023, with sets as here.
    """
    build = Builder(graph.variables)
    frozen = frozenset(question.frozen)
    leaf = [build.constant(label in question.keeps) for label in range(len(graph.classes))]
    gamma: list[int] = []
    for test, label, edges in graph.nodes:
        if test < 0:
            gamma.append(leaf[label])
            continue
        # What leads to the same is one arrow: (a ∨ Γ) ∧ (b ∨ Γ) = (a ∧ b) ∨ Γ.
        leading: dict[int, list[tuple[int, int]]] = {}
        for ranges, child in edges:
            leading.setdefault(gamma[child], []).extend(ranges)
        if len(leading) == 1:  # there is no other way to go
            gamma.extend(leading)
            continue
        arrows, state = [union(pairs) for pairs in leading.values()], question.states[test]
        if state == UNKNOWN:
            literals = [build.false for _ in arrows]
        elif test in frozen:
            literals = [build.constant(not covers(ranges, state)) for ranges in arrows]
        else:
            literals = [build.any_of(test, ranges) for ranges in _away(graph.variables[test].size, state, arrows)]
        gamma.append(build.conjunction(list(map(build.disjunction, zip(literals, leading, strict=True)))))
    return build.nnf(gamma[-1])


def _away(size: int, own: int, arrows: Sequence[Ranges]) -> list[Ranges]:
    """The states that keep from each arrow of a node: those it does not take, or none if it takes the instance.

    If the path to the node has left the instance's state, the literal above it has all states that are not possible
    here, so that those that are possible are enough.
    """
    possible = union(pair for ranges in arrows for pair in ranges)
    every = ((0, size - 1),) if covers(possible, own) else possible
    return [() if covers(ranges, own) else difference(every, ranges) for ranges in arrows]
