"""Ensembles: forests and boosted trees, whose leaves are summed into scores that tell the class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.caching import cached_property
from quia.classifier import ClassifierBase, model_line
from quia.errors import GraphError, MissingValue, listed
from quia.look import counted
from quia.patience import Clock, OutOfTime
from quia.pickling import ByFields
from quia.question import Question
from quia.region import Region
from quia.sums import RULES, Sums
from quia.trees import Trees
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.contrast import Contrast

Ints32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ensemble(ByFields, ClassifierBase):
    """A classifier that adds a leaf of each of its trees to scores, as the library does that made it.

    `trees` are the trees, `sums` says how their leaves become scores and these a class. `kind` is what people call it;
    `given` are constraints between the variables: what breaks one is decided, but counts in no answer.

    >>> from quia.sums import Rule
    >>> age, debt = Variable.numeric("age", [30]), Variable.nominal("debt", ["no", "yes"])
    >>> trees = Trees.build([0, 3, 6], [0, -1, -1, 1, -1, -1], [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1],
    ...                     [-1.0, 1.0, -0.5, 0.75], [(0, ((0, 0),)), (1, ((1, 1),))])
    >>> two = Ensemble((age, debt), ("deny", "grant"), trees, Sums((0, 0), (0.0,), Rule("cuts", (0.0,))))
    >>> two.classify({"age": 40, "debt": "yes"}), two.classify({"age": 20, "debt": "no"})
    ('grant', 'deny')
    """

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    trees: Trees
    sums: Sums
    kind: str = "tree ensemble"
    notes: tuple[str, ...] = ()
    given: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        told_apart = self.sums.rule.class_count(len(self.sums.start))
        if told_apart != len(self.classes):
            raise GraphError(f"the classes are {listed(self.classes)}, but the scores tell {told_apart} apart")
        if len(self.sums.outputs) != len(self.trees):
            raise GraphError(f"{len(self.trees)} trees add to {len(self.sums.outputs)} scores")

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Ensemble:
        """An ensemble from the JSON format."""
        from quia.ensemble_dict import read

        return read(data)

    def to_dict(self) -> dict[str, Any]:
        """The ensemble in the JSON format: reading that gives the same trees and sums, to the last bit."""
        from quia.ensemble_dict import write

        return write(self)

    def __repr__(self) -> str:
        return model_line(self, self.kind, counted(len(self.trees), "tree"), f"{self.trees.leaf_count:,} leaves")

    @property
    def sizes(self) -> dict[str, int]:
        """How many trees there are, and how many leaves they have together."""
        return {"trees": len(self.trees), "leaves": self.trees.leaf_count}

    @property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that some tree asks about."""
        return self.trees.tested

    @cached_property
    def kernel(self) -> _kernel.Ensemble:
        """The ensemble in the compiled kernel, which checks every index."""
        trees, sums = self.trees, self.sums
        return _kernel.Ensemble(
            trees.start.astype(np.int64),
            trees.test.astype(np.int32),
            trees.yes.astype(np.int32),
            trees.no.astype(np.int32),
            np.ascontiguousarray(trees.values, np.float64),
            trees.variable.astype(np.int32),
            trees.range_start.astype(np.int64),
            trees.low.astype(np.int32),
            trees.high.astype(np.int32),
            np.array([v.size for v in self.variables], np.int32),
            np.array(sums.outputs, np.int32),
            np.array(sums.start, np.float64),
            np.array(sums.end or (0.0,) * len(sums.start), np.float64),
            np.array([group.trees for group in sums.groups], np.int64),
            np.array([group.divisor for group in sums.groups], np.float64),
            np.array([group.weight for group in sums.groups], np.float64),
            divisor=sums.divisor,
            single=sums.single,
            rule=RULES.index(sums.rule.kind),
            cuts=np.array(sums.rule.cuts, np.float64),
        )

    def scores(self, states: Sequence[int]) -> npt.NDArray[np.float64]:
        """The scores of an encoded instance, as its source adds them."""
        return self.kernel.scores(np.array(states, np.int32))

    def decide_rows(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The class of each encoded row; -2 - v where it depends on the unknown variable v."""
        decided = self.kernel.decide_rows(np.maximum(rows, 0))
        for row in np.flatnonzero((rows[:, list(self.tested)] == UNKNOWN).any(axis=1)).tolist():
            try:
                decided[row] = self.decide(rows[row].tolist())
            except MissingValue as fault:
                decided[row] = -2 - [variable.name for variable in self.variables].index(fault.feature)
        return decided

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance, the same whatever its unknown variables (-1) are.

        If it depends on one of them, MissingValue names that.
        """
        unknown = [v for v in self.tested if states[v] == UNKNOWN]
        one = [max(state, 0) for state in states]
        decision = self._decided(one)
        if unknown and (other := self._otherwise(states, decision)) is not None:
            changed = UNKNOWN
            at = iter(unknown)
            while self._decided(one) == decision:
                changed = next(at)
                one[changed] = other[changed]
            name = self.variables[changed].name
            raise MissingValue(f"{name} is not known", feature=name, why="the decision depends on it")
        return decision

    def _decided(self, states: Sequence[int]) -> int:
        """The class of an instance of which all is known."""
        return int(self.kernel.decide_rows(np.array([states], np.int32))[0])

    def _otherwise(self, states: Sequence[int], decision: int) -> Sequence[int] | None:
        every = Region(self.variables)
        question = Question(self.classes, tuple(states), decision, frozenset((decision,)), every)
        return self.escape(question, Region.at(self.variables, states, self.tested))

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

        By branch and bound, so it may take long: worst-case exponential in the variables that are free.
        """
        return self.escape_in_time(question, region, None)

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> tuple[int, ...] | None:
        """As `escape`; OutOfTime if so many seconds are not enough."""
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        try:
            found = self._inquiry(question).escape(*possible.flat, timeout=timeout)
        except _kernel.OverBudget:
            raise OutOfTime from None
        return None if found is None else tuple(found)

    def reduce(self, question: Question, kept: Sequence[int], timeout: float | None) -> tuple[tuple[int, ...], bool]:
        """Of variables that force the decision together, some that do, and whether these are a sufficient reason.

        It tries to do without the costly ones first, and among these without those that matter least: what is left then
        is not only shorter, but also proved many times faster.
        """
        influence, costs = self._influence, question.costs
        order = sorted(kept, key=lambda v: (0 if costs is None else -costs.whole[v], influence[v], v))
        inquiry = self._inquiry(question)
        members, is_minimal = inquiry.sufficient(np.array(order, np.int32), *question.within.flat, timeout=timeout)
        return tuple(members), is_minimal

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[Sequence[int], Sequence[int]] | None:
        """Two possible instances as a contrast wants them; None if there are none, OutOfTime if time ends before.

        Only the trees that ask about the variable that changes make a difference; worst-case exponential none the less.
        """
        from quia import ensemble_pairs

        return ensemble_pairs.find_pair(self, contrast, possible, clock)

    @cached_property
    def _influence(self) -> list[float]:
        return [float(each) for each in self.kernel.influence]

    @cached_property
    def _inquiries(self) -> WeakKeyDictionary[Question, _kernel.Inquiry]:
        """What the kernel knows of each question that is still asked."""
        return WeakKeyDictionary()

    def _inquiry(self, question: Question) -> _kernel.Inquiry:
        known = self._inquiries.get(question)
        if known is None:
            keeps = np.zeros(len(self.classes), np.uint8)
            keeps[list(question.keeps)] = 1
            known = _kernel.Inquiry(self.kernel, np.array(question.states, np.int32), keeps)
            self._inquiries[question] = known
        return known

    def refined(self, variables: tuple[Variable, ...]) -> Ensemble:
        """The same ensemble over variables that have all cuts of its own, and more."""
        from quia.refine import refine_ranges

        trees = self.trees
        of_range = np.repeat(trees.variable, np.diff(trees.range_start))
        low, high = refine_ranges(self.variables, variables, of_range, trees.low, trees.high)
        return replace(self, variables=variables, trees=replace(trees, low=low, high=high))

    def plain_escape(self, question: Question, region: Region, clock: Callable[[], None]) -> tuple[int, ...] | None:
        """What `escape` gives, by a plain search that shares nothing with the kernel's; it takes far longer."""
        from quia import ensemble_check

        return ensemble_check.escape(self, question, region, clock)
