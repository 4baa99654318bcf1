"""Two models as one: a classifier over their common inputs, whose class is the pair of theirs.

So whatever can be asked of one model can be asked of two: why is this `old: deny, new: grant`? Where both are graphs
their product is one too, unless it is large. That two models never differ is that nothing escapes the equal pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.classifier import Classifier, ClassifierBase, model_line
from quia.common_inputs import common_inputs
from quia.errors import MissingValue
from quia.graph import DecisionGraph
from quia.joint_graph import product
from quia.joint_search import outside
from quia.patience import Clock, OutOfTime
from quia.pickling import ByFields
from quia.question import Question
from quia.region import Region
from quia.side import Side
from quia.variables import UNKNOWN, Variable


@dataclass(frozen=True, eq=False)
class Joint(ByFields, ClassifierBase):
    """Two models over the same variables; class a · n + b is a of the old one and b of the new one, which has n."""

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    old: Side
    new: Side
    given: tuple[Any, ...] = ()
    kind = "two models"

    def __repr__(self) -> str:
        return model_line(self, f"old {self.old.model.kind}", f"new {self.new.model.kind}")

    @property
    def sides(self) -> tuple[Side, Side]:
        """The old model and the new one."""
        return self.old, self.new

    @property
    def sizes(self) -> Mapping[str, int]:
        """How large both are."""
        named = (("old", self.old.model), ("new", self.new.model))
        return {f"{what} of the {which} model": n for which, model in named for what, n in model.sizes.items()}

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The variables that one of the models tests."""
        return tuple(sorted({*self.old.tested, *self.new.tested}))

    @cached_property
    def equal(self) -> frozenset[int]:
        """The classes that are pairs of one class."""
        names = self.new.model.classes
        return frozenset(
            self.pair(a, names.index(name)) for a, name in enumerate(self.old.model.classes) if name in names
        )

    def pair(self, old: int, new: int) -> int:
        """The class of a class of each model."""
        return old * len(self.new.model.classes) + new

    def parts(self, label: int) -> tuple[int, int]:
        """The class of each model that a class is of."""
        return divmod(label, len(self.new.model.classes))

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance, the same whatever its unknown variables are."""
        try:
            return self.pair(self.old.decide(states), self.new.decide(states))
        except MissingValue:
            if all(side.is_onto for side in self.sides):
                raise
        # What is unknown could have been a state that only one model has: of those that are common, look.
        one = [max(state, 0) for state in states]
        decision = self.pair(self.old.decide(one), self.new.decide(one))
        question = Question(self.classes, tuple(states), decision, frozenset((decision,)), Region(self.variables))
        other = self.escape(question, Region.at(self.variables, states, self.tested))
        if other is None:
            return decision
        changed = UNKNOWN
        for v in (v for v in self.tested if states[v] == UNKNOWN):
            one[v] = other[v]
            if self.pair(self.old.decide(one), self.new.decide(one)) != decision:
                changed = v
                break
        name = self.variables[changed].name
        raise MissingValue(f"{name} is not known", feature=name, why="the decision depends on it")

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class of each row; -2 - v where it depends on the unknown variable v."""
        old, new = (side.decide_rows(rows) for side in self.sides)
        decided = np.where(old < 0, old, np.where(new < 0, new, old * len(self.new.model.classes) + new)).astype(
            np.int32
        )
        if not all(side.is_onto for side in self.sides):
            index = {variable.name: v for v, variable in enumerate(self.variables)}
            for row in np.flatnonzero(decided < 0).tolist():
                try:
                    decided[row] = self.decide(rows[row].tolist())
                except MissingValue as fault:
                    decided[row] = -2 - index[fault.feature]
        return decided

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none."""
        return self.escape_in_time(question, region, None)

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> tuple[int, ...] | None:
        """As `escape`; OutOfTime if so many seconds are not enough.

        What is kept are often some classes of the one model with some of the other, each with each: then it is enough
        that one model leaves its own. Else the region is cut until one of them has one class in it.
        """
        possible, clock = region.intersection(question.within), Clock(timeout)
        if possible.is_empty:
            return None
        kept = self._kept_apart(question.keeps)
        if kept is None:
            found = outside(self.sides, [self.parts(label) for label in question.keeps], question, possible, clock)
        else:
            found = self.old.escape(question, kept[0], possible, clock)
            found = self.new.escape(question, kept[1], possible, clock) if found is None else found
        return None if found is None else tuple(found)

    def _kept_apart(self, keeps: frozenset[int]) -> tuple[frozenset[int], frozenset[int]] | None:
        """The classes of each model that are kept, if each is with each; else None."""
        pairs = [self.parts(label) for label in keeps]
        old, new = frozenset(a for a, _ in pairs), frozenset(b for _, b in pairs)
        return (old, new) if len(keeps) == len(old) * len(new) else None

    def reduce(self, question: Question, kept: Sequence[int], timeout: float | None) -> tuple[Sequence[int], bool]:
        """Of variables that force the decision together, some that do, and whether these are a sufficient reason.

        What forces each model is soon found where it knows how; of both together, what is not needed is left out.
        """
        clock, apart = Clock(timeout), self._kept_apart(question.keeps)
        left = list(kept)
        if apart is not None and all(apart):
            needed: set[int] = set()
            for side, keeps in zip(self.sides, apart, strict=True):
                needed.update(side.reduce(question, keeps, left, clock)[0])
            left = [v for v in left if v in needed]
        try:
            for v in list(left):
                rest = [u for u in left if u != v]
                if self.escape_in_time(question, question.worlds(rest), clock.left) is None:
                    left = rest
        except OutOfTime:
            return left, False
        return left, True

    def refined(self, variables: tuple[Variable, ...]) -> Joint:
        """The same over variables that have all cuts of these, and more."""
        old, new = (side.refined(variables) for side in self.sides)
        return replace(self, variables=variables, old=old, new=new)

    @cached_property
    def graph(self) -> DecisionGraph | None:
        """The same as a decision graph, if both models are graphs and it is not too large."""
        old, new = self.old.nodes, self.new.nodes
        made = None if old is None or new is None else product(self.variables, old, new, len(self.new.model.classes))
        if made is None:
            return None
        return DecisionGraph(self.variables, self.classes, *made, given=self.given)

    @property
    def answering(self) -> Classifier:
        """What answers fastest: the graph if there is one, else this."""
        return self if self.graph is None else self.graph


def joint(old: Classifier, new: Classifier) -> Joint:
    """Two classifiers made one; Unsupported if some feature has no value that both take.

    >>> from quia import DecisionGraph
    >>> def rule(least):
    ...     edges = [{"if": f"< {least}", "to": "n"}, {"if": f">= {least}", "to": "y"}]
    ...     return DecisionGraph.from_dict({
    ...         "quia": 1, "variables": {"income": {"kind": "numeric"}}, "classes": ["deny", "grant"], "root": "r",
    ...         "nodes": {"r": {"test": "income", "edges": edges}, "n": {"class": "deny"}, "y": {"class": "grant"}}})
    >>> both = joint(rule(30), rule(20))
    >>> both.classify({"income": 25})
    'old: deny, new: grant'
    """
    inputs = common_inputs(old, new)
    one, other = (
        Side(model, inputs.variables, at, ways)
        for model, at, ways in zip(inputs.models, inputs.at, inputs.ways, strict=True)
    )
    classes = tuple(f"old: {a}, new: {b}" for a in old.classes for b in new.classes)
    given = tuple(dict.fromkeys((*getattr(old, "given", ()), *getattr(new, "given", ()))))
    return Joint(inputs.variables, classes, one, other, given)
