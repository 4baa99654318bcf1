"""Classifiers of possible worlds: one class more, *impossible*, which keeps every decision as it is.

What is impossible cannot refute a reason, nor is it advice (DESIGN: the reasons of Δ ∪ ¬C). A classifier that knows
what is impossible, as a class, needs nothing else: every question keeps that class, and every answer respects it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.classifier import (
    ChecksPlainly,
    Classifier,
    ClassifierOfModel,
    DecidesRows,
    Reduces,
    escape_within,
    model_line,
    offers,
)
from quia.constraint import IMPOSSIBLE, POSSIBLE, Constraint
from quia.errors import MissingValue
from quia.given import Given
from quia.graph import DecisionGraph
from quia.look import few
from quia.multiply import touched_product, whole_product
from quia.patience import Clock, OutOfTime
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import Ranges, covers, intersection
from quia.region import Region
from quia.variables import UNKNOWN, Variable, encode_instance

if TYPE_CHECKING:
    from quia._kernel import BatchResult, Family
    from quia.contrast import Contrast
    from quia.nnf import NNF
    from quia.reason import Kind

Escape = Callable[[Question, Region], Sequence[int] | None]

_MOST_KEPT = 1000
"""Of so many regions what is possible is kept."""


@dataclass(frozen=True, eq=False)
class Constrained(ByFields, ClassifierOfModel):
    """A classifier in the worlds that a constraint leaves possible; the last of its classes is *impossible*.

    `model` is over the same variables as the constraint; `parts` are that again, in such that no two are about the same
    variable. Reasons are found by the model's `escape` alone.
    """

    model: Classifier
    constraint: Constraint
    parts: tuple[Constraint, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """The model's variables."""
        return tuple(self.model.variables)

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The model's classes, and that of what is impossible."""
        return (*self.model.classes, "impossible")

    @property
    def impossible(self) -> int:
        """The index of the class of what is impossible."""
        return len(self.model.classes)

    def __repr__(self) -> str:
        given = few((each.text for each in self.parts if each.text), 2)
        return model_line(self, self.kind, "constrained" if given == "none" else f"given {given}")

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The variables that the model or the constraint is about."""
        return tuple(sorted({*self.model.tested, *self.constraint.tested}))

    def encode(self, instance: Any) -> tuple[int, ...]:
        """The state of every tested variable; one that only the constraint is about need not be given."""
        given = self.tested
        if isinstance(instance, Mapping) or hasattr(instance, "keys"):
            own, named = set(self.model.tested), set(instance.keys())
            given = tuple(v for v in given if v in own or self.variables[v].name in named)
        return encode_instance(self.variables, given, instance, partial=True)

    def decide(self, states: Sequence[int]) -> int:
        """The class of an encoded instance, the same whatever its unknown variables may possibly be."""
        every = Region(self.variables)
        world = self.constraint.completed(states, every)
        if world is None:
            return self.impossible
        unknown = [v for v in self.tested if states[v] == UNKNOWN]
        if not unknown:
            return self.model.decide(states)
        one = tuple(max(state, 0) if v in self.tested else state for v, state in enumerate(world))
        decision = self.model.decide(one)
        keeps = frozenset((decision, self.impossible))
        question = Question(self.classes, tuple(states), decision, keeps, every)
        other = self.escape(question, Region.at(self.variables, states, self.tested))
        if other is not None:
            name = self.variables[next(v for v in unknown if other[v] != one[v])].name
            raise MissingValue(f"{name} is not known", feature=name, why="the decision depends on it")
        return decision

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none."""
        return self._escaped(question, region, self.model.escape, Clock())

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> tuple[int, ...] | None:
        """As `escape`; OutOfTime if so many seconds are not enough."""
        clock = Clock(timeout)

        def escape(asked: Question, box: Region) -> Sequence[int] | None:
            return escape_within(self.model, asked, box, clock)

        return self._escaped(question, region, escape, clock)

    def plain_escape(self, question: Question, region: Region, clock: Callable[[], None]) -> tuple[int, ...] | None:
        """What `escape` gives, by the model's plain search if it has one."""

        def escape(asked: Question, box: Region) -> Sequence[int] | None:
            if offers(self.model, ChecksPlainly):
                return self.model.plain_escape(asked, box, clock)
            return self.model.escape(asked, box)

        return self._escaped(question, region, escape, clock)

    def _escaped(
        self, question: Question, region: Region, escape: Escape, clock: Callable[[], None]
    ) -> tuple[int, ...] | None:
        """What escapes the model is asked of boxes in which ever more of the constraint is settled, the nearest first.

        A box that nothing escapes is done with, and so is one of which an escape is possible. Complexity: a call for
        each path of the constraint, in the worst case.
        """
        possible, asked = region.intersection(question.within), self._asked(question)
        if possible.is_empty:
            return None
        if self.impossible not in question.keeps:
            found = self.constraint.nearest(possible.nearest(question.states), possible, end=IMPOSSIBLE)
            return self._known(found or escape(asked, possible), question, possible)
        work = [(self.constraint.root, possible)]
        while work:
            clock()
            node, box = work.pop()
            left = replace(self.constraint, root=node).left_by(box) if node != POSSIBLE else {}
            if left is None:
                continue
            box = box.replaced(left)
            witness = escape(asked, box)
            if witness is None:
                continue
            known = [state if v in self._of_model else UNKNOWN for v, state in enumerate(witness)]
            world = self.constraint.completed(known, self._near(box, question.states, known))
            world = world or self.constraint.completed(known, box)
            if world is not None:
                return self._known(world, question, box)
            work += self._parts(node, box, question.states)
        return None

    @cached_property
    def _of_model(self) -> frozenset[int]:
        return frozenset(self.model.tested)

    def _near(self, box: Region, own: Sequence[int], known: Sequence[int]) -> Region:
        """The box with the instance's own states of what the model does not ask for, where it has them."""
        kept = {
            v: ((own[v], own[v]),)
            for v in self.constraint.tested
            if known[v] == UNKNOWN and own[v] != UNKNOWN and covers(box.states(v), own[v])
        }
        return box.replaced(kept)

    def _parts(self, node: int, box: Region, own: Sequence[int]) -> list[tuple[int, Region]]:
        """The parts of a box that the edges of a node of the constraint lead to, the instance's own last."""
        v = self.constraint.tests[node]
        parts = [(child, intersection(ranges, box.states(v))) for ranges, child in self.constraint.edges[node]]
        ordered = sorted(parts, key=lambda part: covers(part[1], own[v]))
        return [(child, box.replaced({v: states})) for child, states in ordered if states and child != IMPOSSIBLE]

    def _known(self, found: Sequence[int] | None, question: Question, box: Region) -> tuple[int, ...] | None:
        """An instance of which all that is tested is known."""
        if found is None:
            return None
        own = box.nearest(question.states)
        return tuple(own[v] if state == UNKNOWN else state for v, state in enumerate(found))

    @cached_property
    def _questions(self) -> WeakKeyDictionary[Question, Question]:
        return WeakKeyDictionary()

    def _asked(self, question: Question) -> Question:
        """The question that the model, which knows nothing of what is impossible, is asked."""
        known = self._questions.get(question)
        if known is None:
            keeps = question.keeps - {self.impossible}
            known = self._questions[question] = replace(question, classes=tuple(self.model.classes), keeps=keeps)
        return known

    def reduce(self, question: Question, kept: Sequence[int], timeout: float | None) -> tuple[Sequence[int], bool]:
        """Of variables that force the decision together, some that do, and whether these are a sufficient reason.

        What forces it in all worlds does so in those that are possible, and is soon found where the model knows how;
        of that, what is not needed in these is left out.
        """
        clock = Clock(timeout)
        order = list(kept)
        model, asked = self.model, self._asked(question)
        if offers(model, Reduces) and self._is_forced(question, order, clock):
            found, is_minimal = model.reduce(asked, [v for v in order if v in self._of_model], clock.left)
            members = frozenset(found)
            order = [v for v in order if v in members]
            if not is_minimal:
                return order, False
        left = list(order)
        try:
            for v in order:
                rest = [u for u in left if u != v]
                if escape_within(self, question, question.worlds(rest), clock) is None:
                    left = rest
        except OutOfTime:
            return left, False
        return left, True

    def _is_forced(self, question: Question, kept: Sequence[int], clock: Clock) -> bool:
        """Whether variables force the decision even in worlds that are impossible."""
        asked = self._asked(question)
        try:
            return escape_within(self.model, asked, asked.worlds(kept), clock) is None
        except OutOfTime:
            return False

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class of each row; -2 - v where it depends on the unknown variable v."""
        decided = np.full(len(rows), self.impossible, np.int32)
        possible = self.constraint.holds_rows(rows)
        is_known = (rows[:, list(self.tested)] != UNKNOWN).all(axis=1)
        plain = np.flatnonzero(possible & is_known)
        if offers(self.model, DecidesRows):
            decided[plain] = self.model.decide_rows(rows[plain])
        else:
            decided[plain] = [self.model.decide(row) for row in rows[plain].tolist()]
        index = {variable.name: v for v, variable in enumerate(self.variables)}
        for row in np.flatnonzero(possible & ~is_known).tolist():
            try:
                decided[row] = self.decide(rows[row].tolist())
            except MissingValue as fault:
                decided[row] = -2 - index[fault.feature]
        return decided

    def cut_finer(self, model: Classifier, given: Given) -> Constrained:
        """The same of a model and constraints that are this one's over variables with more cuts."""
        return constrained(model, given)

    def left_in(self, region: Region) -> Region:
        """What of a region is possible, feature by feature; kept, as many instances have the same bounds."""
        key = tuple(sorted(region.bounds.items()))
        known = self._left.get(key)
        if known is None:
            left: dict[int, Ranges] = {}
            for part in self.parts:
                if not region.bounds.keys().isdisjoint(part.tested):
                    left |= part.left_by(region) or {}
            known = region.replaced({v: states for v, states in left.items() if states != region.states(v)})
            if len(self._left) >= _MOST_KEPT:
                self._left.clear()  # at once, as other threads may ask meanwhile
            self._left[key] = known
        return known

    @cached_property
    def _left(self) -> dict[Any, Region]:
        return {}

    def entailed(self, question: Question, box: Mapping[int, Ranges]) -> Mapping[int, Ranges]:
        """What is left of each variable's states in the possible worlds of a box, where the constraint ties it."""
        within = question.within.intersection(Region(self.variables, dict(box)))
        found = dict(within.bounds)
        for part in self.parts:
            if not box.keys().isdisjoint(part.tested):
                found |= part.left_by(within) or {}
        return found

    def least_changes(self, question: Question, v: int, clock: Callable[[], None]) -> Sequence[frozenset[int]]:
        """The smallest sets of variables that possible worlds change which change this one."""
        for part in self.parts:
            if v in part.tested:
                return part.least_changes(question.states, question.within, v, clock)
        return [frozenset((v,))]


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedGraph(Constrained):
    """A decision graph in possible worlds: multiplied with the constraint it is a graph again, and has closed forms."""

    model: DecisionGraph

    any_worlds = True

    @cached_property
    def whole(self) -> DecisionGraph:
        """The graph, with the constraint below its leaves."""
        return whole_product(self.model, self.constraint)

    @cached_property
    def product(self) -> DecisionGraph:
        """The graph with so much of the constraint below its leaves as the reasons of possible instances hang on."""
        return touched_product(self.model, self.parts) or self.whole

    def cut_finer(self, model: Classifier, given: Given) -> Constrained:
        """The same of a model and constraints that are this one's over variables with more cuts."""
        made = constrained(model, given)
        made.__dict__["product"] = self.product.refined(tuple(model.variables))  # which takes less than multiplying
        return made

    @property
    def nodes(self) -> Sequence[Any]:
        """The nodes of the model itself."""
        return self.model.nodes

    @property
    def is_tree(self) -> bool:
        """Whether the model itself is a tree."""
        return self.model.is_tree

    def path(self, states: Sequence[int]) -> Iterator[int]:
        """The nodes of the model itself that an encoded instance passes."""
        return self.model.path(states)

    def decide(self, states: Sequence[int]) -> int:
        """The class of an encoded instance, the same whatever its unknown variables may possibly be."""
        if all(states[v] != UNKNOWN for v in self.constraint.tested):
            is_possible = self.constraint.path(states) == POSSIBLE
        else:
            is_possible = self.constraint.completed(states, Region(self.variables)) is not None
        return self.product.decide(states) if is_possible else self.impossible

    def batch(self, rows: npt.NDArray[np.int32], **asked: Any) -> BatchResult:
        """The reasons of each encoded row, all of which are possible."""
        return self.product.batch(rows, **asked)

    def boxed(self, possible: Region) -> Callable[..., BatchResult]:
        """`batch` for rows in a box, whose states alone are possible."""
        return self.product.boxed(possible)

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision. Complexity: linear."""
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        is_around = self.impossible in question.keeps and all(
            covers(possible.states(v), question.states[v]) for v in self.constraint.tested
        )
        if not is_around:
            return self._known(self.whole.escape(question, possible), question, possible)
        found = self._known(self.product.escape(question, possible), question, possible)
        if found is None:
            return None
        changed = list(found)
        for part in self.parts:  # what is broken is not tested on the way, and can be as it is in the instance
            if part.path(found) != POSSIBLE:
                for v in part.tested:
                    changed[v] = question.states[v]
        return tuple(changed)

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> tuple[int, ...] | None:
        """As `escape`, which takes no time."""
        return self.escape(question, region)

    def complete_reason(self, question: Question) -> NNF:
        """Why the decision is what it is, in closed form."""
        return self.product.complete_reason(question)

    def general_reason(self, question: Question) -> NNF:
        """The complete reason's general sibling, in closed form."""
        return self.product.general_reason(question)

    def find_necessary(self, question: Question, **limits: Any) -> Family:
        """The necessary reasons of a decision, as sets of variables."""
        return self.product.find_necessary(question, **limits)

    def widen(
        self, question: Question, kind: Kind, members: Sequence[int], intervals: bool, **how: Any
    ) -> list[tuple[Ranges, ...]]:
        """The largest boxes over a reason's variables, the widest first."""
        return self.product.widen(question, kind, members, intervals, **how)

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two possible instances in a region that a contrast looks for; None if there are none."""
        return self.whole.find_pair(contrast, possible, clock)


def constrained(model: Classifier, given: Given) -> Constrained:
    """A classifier in the worlds that constraints, which tie some of its variables, leave possible."""
    assert given.together is not None
    if isinstance(model, DecisionGraph):
        return ConstrainedGraph(model, given.together, given.parts)
    return Constrained(model, given.together, given.parts)
