"""Circuits: two-class classifiers over Boolean variables that are given by class formulas in ∨-decomposable NNF.

SDDs and Decision-DNNFs are ∧-decomposable NNFs of one class; de Morgan's laws make an ∨-decomposable one of the other
class, and their decisions one of the same class (`load.sdd` and `load.nnf` say how). With both at hand, either
decision has a closed-form complete reason: universal quantification just replaces literals (paper Prop. 3, "Further
Extensions").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.classifier import ClassifierBase, model_line
from quia.dag import AND, LITERAL
from quia.errors import GraphError, MissingValue, Unsupported, listed
from quia.look import counted
from quia.nnf import NNF, Builder
from quia.pickling import ByFields
from quia.region import Region
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.contrast import Contrast
    from quia.patience import Clock
    from quia.question import Question


@dataclass(frozen=True, eq=False)
class Circuit(ByFields, ClassifierBase):
    """A classifier that decides for the class whose formula an instance satisfies.

    `formulas[c]` is the formula of class c, a positive ∨-decomposable NNF, or None if it is not known: then class c is
    what the other formula does not take, and decisions for c cannot be explained. `kind` says what it was made of;
    `given` are constraints between the variables: what breaks one is decided, but counts in no answer.

    >>> from quia.load import sdd
    >>> circuit = sdd.read(b"sdd 1\\nL 0 0 1\\n")
    >>> circuit.classify({"1": 1}), circuit.classify([0])
    ('1', '0')
    """

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    formulas: tuple[NNF | None, NNF | None]
    kind: str = "circuit"
    any_worlds: ClassVar[bool] = True
    notes: tuple[str, ...] = ()
    given: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if len(self.classes) != 2:
            raise GraphError(f"the classes are {listed(self.classes)}; a circuit has two")
        if self.formulas[0] is None and self.formulas[1] is None:
            raise GraphError("the circuit has no class formula; give one or two")
        for variable in self.variables:
            if variable.size != 2:
                raise GraphError(
                    f"variable {variable.name!r} of the circuit has {variable.size} states, but a circuit's have two;"
                    " compile formulas of others into a decision graph, with quia.formula.classifier"
                )
        for formula in self.formulas:
            if formula is not None and formula.variables != tuple(self.variables):
                raise GraphError("a class formula of the circuit is over other variables than the circuit")
            if formula is not None and not formula.is_or_decomposable:
                raise GraphError("a class formula of the circuit is not ∨-decomposable, so it cannot be quantified")

    def __len__(self) -> int:
        return sum(len(formula) for formula in self.formulas if formula is not None)

    def __repr__(self) -> str:
        return model_line(self, "" if self.kind == "circuit" else self.kind, counted(len(self), "node"))

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that the formulas mention."""
        return tuple(sorted({v for formula in self.formulas if formula is not None for v in formula.mentioned}))

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance, the same whatever its unknown variables (-1) are.

        If it depends on one of them, MissingValue names that. With ⊥ for its unknown literals a ∨-decomposable formula
        says whether it holds whatever they are (paper: Prop. 3).
        """
        known = np.array(states)
        holds = [
            None if formula is None else bool(formula.values(lambda v, s: known[v] == s)[-1])
            for formula in self.formulas
        ]
        if True not in holds and (unknown := [v for v in self.tested if states[v] == UNKNOWN]):
            raise self._undecided(states, unknown)
        if holds[0] == holds[1]:
            both = "both class formulas hold" if holds[0] else "neither class formula holds"
            raise GraphError(f"{both} for an instance; the two circuits are not each other's negation")
        return 1 if holds[1] or holds[0] is False else 0

    def _undecided(self, states: Sequence[int], unknown: Sequence[int]) -> MissingValue:
        """An unknown variable that makes a difference, where both formulas are there to find it; else the first."""
        name, why = self.variables[unknown[0]].name, "the decision may depend on it"
        if None not in self.formulas:
            # From an instance of one class to one of the other, an unknown variable at a time.
            free = Region.at(self.variables, states, set(self.tested).difference(unknown))
            other, one = (self.outside(label, states, free) for label in (0, 1))
            if one is not None and other is not None:
                step, at = list(one), iter(unknown)
                while self.decide(step) == self.decide(one):
                    changed = next(at)
                    step[changed] = other[changed]
                name, why = self.variables[changed].name, "the decision depends on it"
        return MissingValue(f"{name} is not known", feature=name, why=why)

    def complete_reason(self, question: Question) -> NNF:
        """∀δ·Δ of the class that keeps the decision: literals that are not the instance's, or unknown, become ⊥.

        The instance's literals of frozen variables become ⊤. Complexity: linear. Paper: Prop. 3.
        """
        if len(question.keeps) == 2:
            build = Builder(self.variables)
            return build.nnf(build.true)
        formula = self._known(min(question.keeps))
        known = np.array(question.states, np.int32)
        held = np.zeros(len(self.variables), bool)
        held[list(question.frozen)] = True
        only = _only_states(len(self.variables), question.possible)
        return formula.replaced(
            lambda v, s: np.where(only[v] == s, 1, np.where(known[v] != s, 0, np.where(held[v], 1, 2)))
        )

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

        Complexity: linear.
        """
        possible = region.intersection(question.within)
        if possible.is_empty or len(question.keeps) == 2:
            return None
        if not question.keeps:
            return possible.nearest(question.states)
        return self.outside(min(question.keeps), question.states, possible)

    def changes(
        self, question: Question, changing: Sequence[int], poll: Callable[[], None]
    ) -> list[tuple[tuple[int, ...], Collection[int]]]:
        """The one way to change a necessary reason's variables, as they are Boolean, and the classes it can lead to.

        It does change the decision (paper §5), unless that depends on a variable that is unknown.
        """
        changed = {v: 1 - question.states[v] for v in changing}
        lost = next(label for label in (0, 1) if label not in question.keeps)
        try:
            self.decide([changed.get(v, state) for v, state in enumerate(question.states)])
        except MissingValue:
            return [(tuple(changed.values()), (0, 1))]
        return [(tuple(changed.values()), (lost,))]

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two instances in a region that a contrast looks for; None if there are none."""
        from quia.circuit_pairs import find_pair

        return find_pair(self, contrast, possible, clock)

    def outside(self, label: int, states: Sequence[int], region: Region) -> tuple[int, ...] | None:
        """An instance in the region that `label` does not take, with these states where it can; None if none is."""
        formula = self._known(label)
        only = _only_states(len(self.variables), region)
        # A literal cannot be made false only if its variable has no other state.
        values = formula.values(lambda v, s: only[v] == s)
        if values[-1]:
            return None
        found = list(region.nearest(states))
        for variable, state in literals_to_negate(formula, values, itemgetter(0)):
            found[variable] = 1 - state
        return tuple(found)

    def _known(self, label: int) -> NNF:
        formula = self.formulas[label]
        if formula is None:
            raise Unsupported(
                f"decisions for {self.classes[label]!r} cannot be explained from this {self.kind} alone",
                cure="load it together with the circuit of the other class",
            )
        return formula


def _only_states(variables: int, region: Region) -> npt.NDArray[np.int32]:
    """The one state that a region leaves each variable, or -1."""
    only = np.full(variables, -1, np.int32)
    for variable, ranges in region.bounds.items():
        only[variable] = ranges[0][0] if ranges in (((0, 0),), ((1, 1),)) else -1
    return only


def literals_to_negate(
    formula: NNF, fixed: npt.NDArray[np.bool_], choose: Callable[[list[int]], int]
) -> Iterator[tuple[int, int]]:
    """Literals, as variables and states, that make an ∨-decomposable formula false when they are.

    A disjunction is false where each disjunct is made false by itself; of a conjunction one conjunct is chosen among
    those that can be false: `fixed` says of every node whether it cannot.
    """
    work = [len(formula) - 1]
    while work:
        node = work.pop()
        children = formula.child[formula.child_start[node] : formula.child_start[node + 1]].tolist()
        if formula.kind[node] == LITERAL:
            yield int(formula.variable[node]), int(formula.state[node])
        elif formula.kind[node] == AND:
            work.append(choose([child for child in children if not fixed[child]]))
        else:
            work.extend(children)
