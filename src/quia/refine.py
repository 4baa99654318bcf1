"""Variables with more cuts: the same numbers in smaller states, and the same classifier over them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.classifier import Classifier, ClassifierOfModel, offers
from quia.cuts import Cut
from quia.pickling import ByFields
from quia.ranges import Ranges, intersection, union
from quia.region import Region
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.question import Question

Ints = npt.NDArray[np.int64]


class Refines(Protocol):
    """A classifier that can be had over variables with more cuts, as one of its own kind."""

    def refined(self, variables: tuple[Variable, ...]) -> Classifier:
        """The same classifier over these variables, each of which has all cuts of its own."""
        ...


def cut_at(variables: Sequence[Variable], cuts: Mapping[int, Iterable[Cut]]) -> tuple[Variable, ...]:
    """Variables with some more cuts; a line, each number of which is a state, needs none.

    >>> age = Variable.numeric("age", [30, 40])
    >>> [cut_at([age], {0: [Cut(35.0)]})[0].text(state) for state in range(4)]
    ['<= 30', '(30, 35]', '(35, 40]', '> 40']
    """
    made = list(variables)
    for v, new in cuts.items():
        variable = variables[v]
        if variable.is_numeric and not variable.is_line:
            finer = Variable.numeric(
                variable.name, [*variable.cuts, *new], missing=variable.missing, single=variable.single
            )
            made[v] = variable if finer.size == variable.size else finer
    return tuple(made)


def first_states(variable: Variable, finer: Variable) -> Ints:
    """For each state of a variable the first of the states that it has become, and how many there are in all."""
    if finer.size == variable.size:
        return np.arange(variable.size + 1)
    beyond = np.searchsorted(np.array(finer.below), np.array(variable.below), side="left") + 1
    ends = [finer.size - 1, finer.size] if variable.missing else [finer.size]
    return np.array([0, *beyond.tolist(), *ends])


def coarse_state(variable: Variable, finer: Variable, state: int) -> int:
    """The state that a state of the same variable with more cuts lies in."""
    if state == UNKNOWN or variable.size == finer.size:
        return state
    if finer.is_missing_state(state):
        return variable.size - 1
    return bisect_left(variable.below, finer.below[state]) if state < len(finer.below) else len(variable.below)


def fine_states(variable: Variable, finer: Variable, state: int) -> tuple[int, int]:
    """The first and the last of the states, of the same variable with more cuts, that lie in a state."""
    if variable.size == finer.size:
        return state, state
    if variable.is_missing_state(state):
        return finer.size - 1, finer.size - 1
    first = bisect_left(finer.below, variable.below[state - 1]) + 1 if state else 0
    last = bisect_left(finer.below, variable.below[state]) if state < len(variable.below) else len(finer.below)
    return first, last


def fine_ranges(variable: Variable, finer: Variable, ranges: Ranges) -> Ranges:
    """The states, of the same variable with more cuts, that lie in some states."""
    ends = ((fine_states(variable, finer, low)[0], fine_states(variable, finer, high)[1]) for low, high in ranges)
    return union(ends)


def coarse_ranges(variable: Variable, finer: Variable, ranges: Ranges) -> Ranges:
    """The states in which some states of the same variable with more cuts lie."""
    return union((coarse_state(variable, finer, low), coarse_state(variable, finer, high)) for low, high in ranges)


def refine_ranges(
    old: Sequence[Variable], new: Sequence[Variable], variable: npt.NDArray[Any], low: npt.NDArray[Any], high: Any
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Many ranges, each of the states of one of the variables, as ranges of those with more cuts."""
    first, last = np.array(low, np.int32), np.array(high, np.int32)
    for v, (own, finer) in enumerate(zip(old, new, strict=True)):
        if own.size != finer.size:
            mine, firsts = np.flatnonzero(variable == v), first_states(own, finer)
            first[mine], last[mine] = firsts[low[mine]], firsts[high[mine] + 1] - 1
    return first, last


def refined(classifier: Classifier, variables: tuple[Variable, ...]) -> Classifier:
    """The same classifier over variables that have all cuts of its own, and maybe more."""
    if all(own.size == finer.size for own, finer in zip(classifier.variables, variables, strict=True)):
        return classifier
    return classifier.refined(variables) if offers(classifier, Refines) else Refined(classifier, variables)


@dataclass(frozen=True, eq=False)
class Refined(ByFields, ClassifierOfModel):
    """Any classifier over variables with more cuts: its states are found again in those that it knows."""

    model: Classifier
    variables: tuple[Variable, ...]

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The classes of the model."""
        return tuple(self.model.classes)

    @property
    def given(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The constraints of the model."""
        return getattr(self.model, "given", ())

    @property
    def tested(self) -> tuple[int, ...]:
        """The variables that the model tests."""
        return tuple(self.model.tested)

    def decide(self, states: Sequence[int]) -> int:
        """The class that the model gives."""
        return self.model.decide(self._coarse(states))

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """What escapes the model, in a state that is in the region: all states of one of the model's decide alike."""
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        found = self.model.escape(self._asked(question), self._region(possible))
        if found is None:
            return None
        return tuple(self._within(v, state, question.states[v], possible) for v, state in enumerate(found))

    def _within(self, v: int, state: int, own: int, possible: Region) -> int:
        """A state in the region that lies in one of the model's, the instance's own if it does."""
        if state == UNKNOWN:
            return state
        among = intersection((fine_states(self.model.variables[v], self.variables[v], state),), possible.states(v))
        return own if any(low <= own <= high for low, high in among) else among[0][0]

    def _coarse(self, states: Sequence[int]) -> tuple[int, ...]:
        return tuple(map(coarse_state, self.model.variables, self.variables, states))

    def _region(self, region: Region) -> Region:
        own = self.model.variables
        bounds = {v: coarse_ranges(own[v], self.variables[v], ranges) for v, ranges in region.bounds.items()}
        return Region(tuple(own), bounds)

    @cached_property
    def _questions(self) -> WeakKeyDictionary[Question, Question]:
        return WeakKeyDictionary()

    def _asked(self, question: Question) -> Question:
        """The question in the model's states; what is frozen, or possible, is in the region that is asked about."""
        known = self._questions.get(question)
        if known is None:
            own = Region(tuple(self.model.variables))
            known = replace(question, states=self._coarse(question.states), possible=own, frozen=())
            self._questions[question] = known
        return known
