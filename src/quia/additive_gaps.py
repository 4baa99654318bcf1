"""What each variable of an additive model adds to the gap of a need, and where that is least."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.additive_needs import Need
from quia.caching import cached_property
from quia.errors import TooLarge
from quia.patience import Clock
from quia.ranges import Ranges, members
from quia.region import Region
from quia.terms import Line, Table, Term
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.additive import Additive

MOST_CLOSE = 20_000
"""How many instances whose gap is 0 but for rounding are added up as the source does, before it is given up."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gap of a need at an instance is the sum of `constants` and of what each variable's state adds to it.

    Sums here are rounded once; what the source's own rounding does is the model's margin.
    """

    model: Additive
    need: Need
    constants: tuple[float, ...]
    offered: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What sets of states were once found that a variable may have: see `additive_widen`."""
    last_asked: tuple[Any, dict[int, float]] | None = field(default=None, repr=False)
    """What was asked last there, and what each variable then adds."""

    @staticmethod
    def of(model: Additive, need: Need) -> Gaps:
        """The gaps of a model's need; what variables add that are not tested, always the same, is constant."""
        always = [t.at(model.variables[t.variable], 0) for t in model.terms if t.variable not in model.tested]
        pairs = [
            *zip(need.weights, model.start, strict=True),
            *zip(need.weights, model.end, strict=bool(model.end)),
            *(pair for added in always for pair in zip(need.weights, added, strict=True)),
        ]
        return Gaps(model, need, (need.offset, *(weight * number for weight, number in pairs if weight)))

    @cached_property
    def base(self) -> float:
        """The sum of the constants, rounded."""
        return math.fsum(self.constants)

    @cached_property
    def _parts(self) -> list[_Listed | _Curve]:
        model, variables = self.model, self.model.variables
        by_variable: dict[int, list[Term]] = {v: [] for v in range(len(variables))}
        for term in model.terms:
            by_variable[term.variable].append(term)
        weights = np.array(self.need.weights)
        return [
            _Curve(variable, tuple(by_variable[v]), self.need.weights)
            if variable.is_line
            else _Listed(
                sum(
                    (t.values @ weights for t in by_variable[v] if isinstance(t, Table)), np.zeros(variable.size)
                ).tolist()
            )
            for v, variable in enumerate(variables)
        ]

    def at(self, variable: int, state: int) -> float:
        """What a state of a variable adds."""
        return self._parts[variable].at(state)

    def least_of(self, variable: int, ranges: Ranges) -> tuple[float, int]:
        """The least that one of some states of a variable adds, and the first such state."""
        return self._parts[variable].least(ranges)

    def greatest_of(self, variable: int, ranges: Ranges) -> tuple[float, int]:
        """The most that one of some states of a variable adds, and the first such state."""
        return self._parts[variable].greatest(ranges)

    def of_states(self, states: Sequence[int]) -> float:
        """The gap at an instance, rounded once."""
        return math.fsum((*self.constants, *(self._parts[v].at(states[v]) for v in self.model.tested)))

    @cached_property
    def least_anywhere(self) -> dict[int, float]:
        """The least that each tested variable adds."""
        return {v: self._parts[v].least(((0, self.model.variables[v].size - 1),))[0] for v in self.model.tested}

    @cached_property
    def least_of_all(self) -> float:
        """The least gap of all instances."""
        return math.fsum((*self.constants, *self.least_anywhere.values()))

    @cached_property
    def extent(self) -> float:
        """By how much the gap differs from instance to instance at the most."""
        whole = Region(self.model.variables)
        return math.fsum(
            self._parts[v].greatest(whole.states(v))[0] - self._parts[v].least(whole.states(v))[0]
            for v in self.model.tested
        )

    def extremes(self, region: Region) -> tuple[float, float]:
        """The least and the greatest gap in a region."""
        states = {v: region.states(v) for v in self.model.tested}
        least = math.fsum((*self.constants, *(self.least_of(v, own)[0] for v, own in states.items())))
        return least, math.fsum((*self.constants, *(self.greatest_of(v, own)[0] for v, own in states.items())))

    def candidates(self, variable: int, ranges: Ranges) -> Iterator[int]:
        """States among which are those that add the least and the most; of a line, also where it turns."""
        part = self._parts[variable]
        return part.candidates(ranges) if isinstance(part, _Curve) else members(ranges)

    def turns(self, variable: int) -> Sequence[int]:
        """The states of a line between which it only rises or only falls; it does so from its first to its last too."""
        part = self._parts[variable]
        return part.turns if isinstance(part, _Curve) else ()

    def least(self, region: Region) -> tuple[float, tuple[int, ...]]:
        """The least gap in a region, and an instance that has it."""
        gaps, states = [*self.constants], [0] * len(self._parts)
        for v in self.model.tested:
            gap, states[v] = self._parts[v].least(region.states(v))
            gaps.append(gap)
        for v, ranges in region.bounds.items():
            if v not in self._tested:
                states[v] = ranges[0][0]
        return math.fsum(gaps), tuple(states)

    @cached_property
    def _tested(self) -> frozenset[int]:
        return frozenset(self.model.tested)

    def search(self, region: Region, clock: Clock, most: int = MOST_CLOSE) -> tuple[int, ...] | None:
        """An instance that meets the need, where the least gap is 0 but for rounding: all that are so close are tried.

        A single score is rounded alike however it is reached, and is least where each term is; then one try is enough.
        TooLarge, where there are too many.
        """
        least, states = self.least(region)
        model, margin = self.model, self.model.margin
        if len(model.start) == 1 and self._is_plain:
            return None
        choices = []
        for v in model.tested:
            part, ranges = self._parts[v], region.states(v)
            own = part.at(states[v])
            near = list(islice(part.close(ranges, own + margin - least), most + 1))
            if len(near) > most:
                raise _too_close(most)
            choices.append(sorted((part.at(state) - own, state) for state in near))
        tried = list(states)
        for count, point in enumerate(_close(choices, margin - least)):
            clock()
            if count == most:
                raise _too_close(most)
            for v, state in zip(model.tested, point, strict=True):
                tried[v] = state
            if self.need.holds(model.gap(self.need, tried)):
                return tuple(tried)
        return None

    @cached_property
    def _is_plain(self) -> bool:
        """Whether no variable has several terms, which could be least at different states."""
        used = [term.variable for term in self.model.terms]
        return len(set(used)) == len(used)


def _too_close(most: int) -> TooLarge:
    return TooLarge(
        f"more than {most} instances have scores that are equal but for rounding; move the instance or a range a little"
        " away from where they are equal",
        limit=most,
    )


def _close(choices: Sequence[Sequence[tuple[float, int]]], slack: float) -> Iterator[tuple[int, ...]]:
    """One state of each, the sum of whose numbers, in each list the least first, is not above the slack."""
    stack: list[tuple[tuple[int, ...], float]] = [((), slack)]
    while stack:
        chosen, left = stack.pop()
        if len(chosen) == len(choices):
            yield chosen
            continue
        stack += [((*chosen, state), left - more) for more, state in choices[len(chosen)] if more <= left]


@dataclass(frozen=True, eq=False)
class _Listed:
    """What each state of a variable adds."""

    values: list[float]
    _whole: dict[bool, tuple[float, int]] = field(default_factory=dict)

    def at(self, state: int) -> float:
        return self.values[state]

    def least(self, ranges: Ranges) -> tuple[float, int]:
        if len(ranges) == 1:
            low, high = ranges[0]
            if low == high:
                return self.values[low], low
            if high - low + 1 == len(self.values):
                if False not in self._whole:
                    self._whole[False] = min((value, state) for state, value in enumerate(self.values))
                return self._whole[False]
        return min((self.values[state], state) for state in members(ranges))

    def greatest(self, ranges: Ranges) -> tuple[float, int]:
        gap, state = min((-self.values[state], state) for state in members(ranges))
        return -gap, state

    def close(self, ranges: Ranges, most: float) -> Iterator[int]:
        """The states that add no more than that."""
        return (state for state in members(ranges) if self.values[state] <= most)


@dataclass(frozen=True, eq=False)
class _Curve:
    """What each number of a line adds: all its terms, weighted."""

    variable: Variable
    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    _known: dict[int, float] = field(default_factory=dict)

    def at(self, state: int) -> float:
        known = self._known.get(state)
        if known is None:
            if len(self._known) > 10_000:
                self._known.clear()
            added = [
                weight * number
                for term in self.terms
                for weight, number in zip(self.weights, term.at(self.variable, state), strict=True)
            ]
            known = self._known[state] = math.fsum(added)
        return known

    def least(self, ranges: Ranges) -> tuple[float, int]:
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self.at(ranges[0][0]), ranges[0][0]
        return min((self.at(state), state) for state in self.candidates(ranges))

    def greatest(self, ranges: Ranges) -> tuple[float, int]:
        gap, state = min((-self.at(state), state) for state in self.candidates(ranges))
        return -gap, state

    def candidates(self, ranges: Ranges) -> Iterator[int]:
        """The states among which the least and the greatest are."""
        for low, high in ranges:
            yield low
            yield from self.turns[bisect_right(self.turns, low) : bisect_left(self.turns, high)]
            if high > low:
                yield high
            if self.variable.is_missing_state(high) and high > low:
                yield high - 1

    def close(self, ranges: Ranges, most: float) -> Iterator[int]:
        """The states that add no more than that; of some in a row of which each term adds the same, the ends."""
        given: set[int] = set()
        for pair in ranges:
            borders = sorted(set(self.candidates((pair,))))
            for at, border in enumerate(borders):
                beyond = (*borders[at + 1 : at + 2], *borders[at - 1 : at])
                for state in (s for end in beyond for s in self._towards(border, end, most)):
                    if state not in given:
                        given.add(state)
                        yield state
                if not beyond and self.at(border) <= most:
                    yield border

    def _towards(self, state: int, end: int, most: float) -> Iterator[int]:
        """From a state on towards another, between which it is monotone, as long as states add no more than that."""
        sign = 1 if end > state else -1
        while self.at(state) <= most:
            yield state
            if state == end:
                return
            run, step = 0, 1  # so many beyond this one are the same
            while step and run + step < (end - state) * sign:
                is_same = self._added(state + sign * (run + step)) == self._added(state)
                run, step = (run + step, step * 2) if is_same else (run, step // 2)
            state += sign * (run + 1)

    def _added(self, state: int) -> list[list[float]]:
        return [term.at(self.variable, state) for term in self.terms]

    @cached_property
    def turns(self) -> list[int]:
        """The states at which it may turn, or jump: between two that are next to each other it is monotone."""
        found = {state for term in self.terms for state in term.breaks(self.variable)}
        borders = sorted(found)
        last = len(self.variable.cuts)
        found.update(self._vertices([0, *borders, last]))
        return sorted(found)

    def _vertices(self, borders: Sequence[int]) -> Iterator[int]:
        """Where the sum of squared terms turns: of each piece that is a parabola, the states around its vertex."""
        curved = [t for t in self.terms if isinstance(t, Line) and any(step[0] == "square" for step in t.steps)]
        if not curved:
            return
        lines = [term for term in self.terms if isinstance(term, Line)]
        a = b = 0.0
        for line in lines:
            weight = math.fsum(w * own for w, own in zip(self.weights, line.weights, strict=True))
            coefficients = line.polynomial()
            if coefficients is not None:
                a += weight * coefficients[0]
                b += weight * coefficients[1]
        if a:
            vertex = -b / (2 * a)
            low, high = self.variable.number(0), self.variable.number(len(self.variable.cuts))
            if low <= vertex <= high:
                at, last = self.variable.encode(vertex), len(self.variable.cuts)
                yield from range(max(at - 1, 0), min(at + 1, last) + 1)
