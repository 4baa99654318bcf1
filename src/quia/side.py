"""Sides: a model as it is seen over common inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.classifier import Classifier, DecidesRows, Reduces, escape_within, offers
from quia.consistent import Edges
from quia.errors import MissingValue
from quia.graph import DecisionGraph
from quia.patience import Clock
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import Ranges, covers, intersection
from quia.region import Region
from quia.variables import UNKNOWN, Variable
from quia.ways import Way


@dataclass(frozen=True, eq=False)
class Side(ByFields):
    """A model over common variables: `at` says which of them each variable is that it tests, `ways` how states fit."""

    model: Classifier
    variables: tuple[Variable, ...]
    at: dict[int, int]
    ways: dict[int, Way]

    @cached_property
    def classes(self) -> frozenset[int]:
        """The indices of all classes."""
        return frozenset(range(len(self.model.classes)))

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The common variables that the model tests."""
        return tuple(sorted(self.at.values()))

    @cached_property
    def is_onto(self) -> bool:
        """Whether each of the model's inputs is a common one."""
        return all(way.is_onto for way in self.ways.values())

    def own(self, states: Sequence[int]) -> tuple[int, ...]:
        """The model's own states."""
        found = [UNKNOWN] * len(self.model.variables)
        for v, common in self.at.items():
            if states[common] != UNKNOWN:
                found[v] = self.ways[v].own(states[common])
        return tuple(found)

    def decide(self, states: Sequence[int]) -> int:
        """The class of an instance in common states; those unknown may be any that the model knows, common or not."""
        return self.model.decide(self.own(states))

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The same for many rows; -2 - v where it depends on the common variable v."""
        own = np.full((len(rows), len(self.model.variables)), UNKNOWN, rows.dtype)
        for v, common in self.at.items():
            column = rows[:, common]
            own[:, v] = np.where(column == UNKNOWN, UNKNOWN, self.ways[v].own_rows(np.maximum(column, 0)))
        if offers(self.model, DecidesRows):
            decided = np.array(self.model.decide_rows(np.ascontiguousarray(own)))
            for v, common in self.at.items():
                # A model's v may be another's common variable, so that each is looked for in what the model said.
                decided[decided == -2 - v] = -2 - common - _MANY
            return np.where(decided < -_MANY, decided + _MANY, decided).astype(np.int32)
        return np.array([self._decided(states) for states in own.tolist()], np.int32).reshape(len(rows))

    def _decided(self, own: Sequence[int]) -> int:
        try:
            return self.model.decide(own)
        except MissingValue as fault:
            names = [variable.name for variable in self.variables]
            return -2 - names.index(fault.feature)

    def region(self, region: Region) -> Region:
        """The model's own instances some of which may be in a region."""
        bounds: dict[int, Ranges] = {}
        for v, common in self.at.items():
            if common in region.bounds or not self.ways[v].is_onto:
                bounds[v] = self.ways[v].own_ranges(region.states(common))
        return Region(tuple(self.model.variables), bounds)

    def escape(self, question: Question, keeps: frozenset[int], region: Region, clock: Clock) -> list[int] | None:
        """An instance in a region, whatever is possible, that the model gives none of some classes; None: none is."""
        if keeps >= self.classes or region.is_empty:
            return None
        near = list(region.nearest(question.states))
        if not keeps:
            return near
        found = escape_within(self.model, self._asked(question, keeps), self.region(region), clock)
        if found is None:
            return None
        for v, common in self.at.items():
            if found[v] != UNKNOWN and self.ways[v].own(near[common]) != found[v]:
                fitting = intersection(self.ways[v].common_ranges(((found[v], found[v]),)), region.states(common))
                own = question.states[common]
                near[common] = own if covers(fitting, own) else fitting[0][0]
        return near

    @cached_property
    def _questions(self) -> WeakKeyDictionary[Question, dict[frozenset[int], Question]]:
        return WeakKeyDictionary()

    def _asked(self, question: Question, keeps: frozenset[int]) -> Question:
        """What the model is asked, in its own states; kept, as a model may keep what it found for a question."""
        known = self._questions.setdefault(question, {})
        if keeps not in known:
            every = Region(tuple(self.model.variables))
            known[keeps] = Question(
                tuple(self.model.classes), self.own(question.states), min(keeps), keeps, every, own=every.variables
            )
        return known[keeps]

    def reduce(
        self, question: Question, keeps: frozenset[int], kept: Sequence[int], clock: Clock
    ) -> tuple[Sequence[int], bool]:
        """Of common variables that force one of some classes those that the model needs, and whether they are minimal.

        What the model has no fast way to is left as it is.
        """
        own = {common: v for v, common in self.at.items()}
        asked = [common for common in kept if common in own]
        if keeps >= self.classes:
            return (), True
        if not offers(self.model, Reduces):
            return asked, False
        possible = replace(self._asked(question, keeps), possible=self.region(question.within))
        found, is_minimal = self.model.reduce(possible, [own[common] for common in asked], clock.left)
        return sorted(self.at[v] for v in found), is_minimal

    @cached_property
    def nodes(self) -> tuple[tuple[int, int, Edges], ...] | None:
        """The nodes of a model that is a graph over the common variables, children first; None if it is none."""
        if not isinstance(self.model, DecisionGraph):
            return None
        made = []
        for variable, label, edges in self.model.nodes:
            if variable < 0:
                made.append((variable, label, edges))
                continue
            way = self.ways[variable]
            below = ((way.common_ranges(ranges), child) for ranges, child in edges)
            made.append((self.at[variable], label, tuple((states, child) for states, child in below if states)))
        return tuple(made)

    def refined(self, variables: tuple[Variable, ...]) -> Side:
        """The same over common variables with more cuts."""
        ways = {v: way.refined(self.variables[self.at[v]], variables[self.at[v]]) for v, way in self.ways.items()}
        return replace(self, variables=variables, ways=ways)


_MANY = 2**30  # more than there are variables
