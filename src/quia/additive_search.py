"""Where several needs of an additive model hold at once: a class that must beat several others.

Each need alone is a sum that is least where every variable's part is. Of several needs any mixture must be below 0
too, and is such a sum: if its least is above 0 in a box, nothing in the box meets all of them. The weights of the
mixture are moved towards what is violated most; where no mixture proves it and no point is found, the box is split.

Glossary: a *proposal* is a state of a variable where a mixture can be least, with what it adds to the gap of each need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from quia.additive_gaps import Gaps
from quia.additive_needs import Way
from quia.bisecting import furthest, turning
from quia.caching import cached_property
from quia.errors import TooLarge
from quia.patience import Clock
from quia.ranges import Ranges, covers, difference, members, size
from quia.region import Region
from quia.terms import Floats, Line

if TYPE_CHECKING:
    from quia.additive import Additive

_ROUNDS = 30
"""So often the weights of a mixture are moved in one box."""
_FEW = 32
"""Of so few instances each is tried."""
MOST_BOXES = 20_000
FEW_BOXES = 60
"""So many boxes are a short search."""
_NEAR_COSTS = 400
"""A box in which a mixture is all but 0 counts as so many: its parts will mostly be the same."""
_MOST_KEPT = 8
"""So many mixtures that proved something are kept, and tried first."""
_NOISE = 2.0**-40
"""Mixtures are rounded: what is nearer to 0 than this share of the whole proves nothing."""

States = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Together:
    """A way out of a decision: needs that must hold together."""

    model: Additive
    way: Way
    _useful: list[Floats] = field(default_factory=list)

    def escape(self, possible: Region, clock: Clock, left: int = MOST_BOXES) -> States | None:
        """An instance in a region that meets all needs; None if there is none.

        TooLarge where so much of the region is so near to a tie that it cannot be told.
        """
        boxes = [possible]
        while left > 0:
            if not boxes:
                return None
            clock()
            left -= 1
            region = boxes.pop()
            box = _Box(self, region)
            if box.is_refuted(self._useful):
                continue
            if math.prod(size(region.states(v)) for v in self.model.tested) <= _FEW:
                found = next(filter(self.holds, box.instances()), None)
            else:
                found, split, is_near = self._looked_for(box, clock)
                boxes += split
                left -= _NEAR_COSTS if is_near else 0
            if found is not None:
                return found
        raise TooLarge(
            f"whether a class can beat {len(self.way)} others could not be told: their scores are equal, or nearly so,"
            " in too many ways; ask why the decision was made, not why not another",
            limit=MOST_BOXES,
        )

    def _looked_for(self, box: _Box, clock: Clock) -> tuple[States | None, list[Region], bool]:
        """An instance that meets all needs; else the parts of the box in which one may be, and whether it is a tie."""
        weights = np.full(len(self.way), 1 / len(self.way))
        points: list[States] = []
        nearest: tuple[float, States] | None = None
        bound = -math.inf
        for round_ in range(_ROUNDS):
            least, states, gaps = box.least(weights)
            if least > self.model.margin + self.noise:
                self._useful.insert(0, weights)
                del self._useful[_MOST_KEPT:]
                return None, [], False
            bound = max(bound, least)
            worst = float((gaps / self.extents).max())
            if worst <= self.noise and self.holds(states):
                return states, [], False
            points.append(states)
            nearest = min(nearest or (math.inf, states), (worst, states))
            weights = _moved(weights, gaps / self.extents, round_)
        clock()
        assert nearest is not None
        for start in (nearest[1], box.mean(points)):
            improved = self._improved(start, box.region)
            if self.holds(improved):
                return improved, [], False
        return None, self._split(box.region, nearest[1]), bound > -16 * (self.model.margin + self.noise)

    @cached_property
    def alone(self) -> list[Gaps]:
        """The gaps of each need."""
        return [self.model.gaps(need) for need in self.way]

    @cached_property
    def extents(self) -> Floats:
        """By how much each gap differs from instance to instance."""
        return np.array([gaps.extent if gaps.extent > 1e-290 else 1.0 for gaps in self.alone])

    @cached_property
    def noise(self) -> float:
        """How far rounding can take a mixture off, at the most."""
        return _NOISE * float(self.extents.max() + max(abs(gaps.base) for gaps in self.alone))

    def holds(self, states: States) -> bool:
        """Whether all needs hold at an instance, by the model's own sums where rounding could matter."""
        margin = self.model.margin
        for need, gaps in zip(self.way, self.alone, strict=True):
            gap = gaps.of_states(states)
            if gap > margin or (gap >= -margin and not need.holds(self.model.gap(need, states))):
                return False
        return True

    def _improved(self, states: States, region: Region) -> States:
        """The point after each variable in turn was moved to where the need that is violated most is least so."""
        point = list(states)
        gaps = [part.of_states(states) for part in self.alone]
        worst = self._worst(gaps)
        for _ in range(3):
            before = worst
            for v in self.model.tested:
                rest = [gap - part.at(v, point[v]) for gap, part in zip(gaps, self.alone, strict=True)]
                for state in self._worth_trying(v, region.states(v), rest):
                    changed = [gap + part.at(v, state) for gap, part in zip(rest, self.alone, strict=True)]
                    if self._worst(changed) < worst:
                        worst, gaps, point[v] = self._worst(changed), changed, state
            if worst >= before:
                break
        return tuple(point)

    def _worst(self, gaps: Sequence[float]) -> float:
        return max(gap / float(extent) for gap, extent in zip(gaps, self.extents, strict=True))

    def _worth_trying(self, v: int, ranges: Ranges, rest: Sequence[float]) -> Iterator[int]:
        """All states that are listed; of a line its ends, turns, and where a need is just met."""
        if not self.model.variables[v].is_line:
            yield from members(ranges)
            return
        for gaps, own in zip(self.alone, rest, strict=True):
            ends = sorted(set(gaps.candidates(v, ranges)))
            yield from ends
            for low, high in pairwise(ends):
                is_met = own + gaps.at(v, low) < 0, own + gaps.at(v, high) < 0
                if is_met[0] != is_met[1] and any(a <= low and high <= b for a, b in ranges):
                    turned = _turning(gaps, v, own, low, high, is_met[1])
                    yield from (state for state in (turned - 1, turned, turned + 1) if low <= state <= high)

    def _split(self, region: Region, best: States) -> list[Region]:
        """Two parts of a region, the one to look at first last; nothing if it is a single point."""
        spread = {v: self._spread(v, region.states(v)) for v in self.model.tested if size(region.states(v)) > 1}
        if not spread:
            return []
        v = max(spread, key=lambda v: (spread[v], -v))
        ranges, variable = region.states(v), self.model.variables[v]
        if variable.is_line and not variable.is_missing_state(best[v]):
            middle = self._middle(v, ranges)
            lower = tuple((low, min(high, middle)) for low, high in ranges if low <= middle)
            parts = sorted((lower, difference(ranges, lower)), key=lambda part: covers(part, best[v]))
            return [region.replaced({v: part}) for part in parts]
        own = ((best[v], best[v]),)
        return [region.replaced({v: difference(ranges, own)}), region.replaced({v: own})]

    def _spread(self, v: int, ranges: Ranges) -> float:
        return max(
            (part.greatest_of(v, ranges)[0] - part.least_of(v, ranges)[0]) / float(extent)
            for part, extent in zip(self.alone, self.extents, strict=True)
        )

    def _middle(self, v: int, ranges: Ranges) -> int:
        """A state of a line, not its last, that has about half of the line's length below it."""
        variable, last = self.model.variables[v], len(self.model.variables[v].cuts)
        low, high = ranges[0][0], ranges[-1][1]
        if high > last:  # a missing value is apart
            return min(high - 1, last)
        ends = variable.number(low), variable.number(high)
        middle = variable.encode(min(max(ends[0] / 2 + ends[1] / 2, ends[0]), ends[1]))
        middle = middle if low < middle < high else (low + high) // 2
        inside = _nearest(ranges, middle)
        return inside if inside < high else ranges[-1][0] if ranges[-1][0] < high else ranges[-2][1]


class _Box:
    """A region with the proposals of each variable in it, as rows of one array."""

    def __init__(self, together: Together, region: Region) -> None:
        self.together, self.region = together, region
        self.model = together.model
        states: list[int] = []
        rows: list[list[float]] = []
        starts: list[int] = []
        for v in self.model.tested:
            starts.append(len(rows))
            for state, added in self._proposals(v):
                states.append(state)
                rows.append(added)
        self._states, self._starts = np.array(states, object), np.array(starts, np.int64)
        self._ends = [*starts[1:], len(rows)]
        self._rows = np.array(rows, np.float64).reshape(len(rows), len(together.way))
        self._base = np.array([gaps.base for gaps in together.alone])

    def _proposals(self, v: int) -> Iterator[tuple[int, list[float]]]:
        ranges, alone = self.region.states(v), self.together.alone
        if _is_bent(self.model, v):
            # A mixture of parabolas turns where none of them does: what each adds at the least is below it anyway.
            yield alone[0].least_of(v, ranges)[1], [gaps.least_of(v, ranges)[0] for gaps in alone]
            return
        for state in {state for gaps in alone for state in gaps.candidates(v, ranges)}:
            yield state, [gaps.at(v, state) for gaps in alone]

    def least(self, weights: Floats) -> tuple[float, States, Floats]:
        """The least of a mixture, the instance that has it, and about what its gaps are."""
        mixed = self._rows @ weights
        chosen = [
            start + int(mixed[start:end].argmin()) for start, end in zip(self._starts.tolist(), self._ends, strict=True)
        ]
        states = self._instance(self._states[chosen].tolist())
        gaps = self._base + self._rows[chosen].sum(axis=0)
        return float(self._base @ weights + mixed[chosen].sum()), states, gaps

    def is_refuted(self, mixtures: Sequence[Floats]) -> bool:
        """Whether one of the needs alone, or one of these mixtures, proves that nothing here meets all needs."""
        margin = self.model.margin
        if any(gaps.least(self.region)[0] > margin for gaps in self.together.alone):
            return True
        return any(self.least(weights)[0] > margin + self.together.noise for weights in mixtures)

    def _instance(self, tested: Sequence[int]) -> States:
        states = [0] * len(self.model.variables)
        for v, ranges in self.region.bounds.items():
            states[v] = ranges[0][0]
        for v, state in zip(self.model.tested, tested, strict=True):
            states[v] = state
        return tuple(states)

    def instances(self) -> Iterator[States]:
        """All instances, as far as what is tested tells them apart."""
        return map(self._instance, product(*(members(self.region.states(v)) for v in self.model.tested)))

    def mean(self, points: Sequence[States]) -> States:
        """The last point, its lines at the mean of what the later mixtures proposed."""
        later = points[len(points) // 2 :]
        mean = list(points[-1])
        for v in self.model.tested:
            variable = self.model.variables[v]
            if variable.is_line and not any(variable.is_missing_state(point[v]) for point in later):
                numbers = [variable.number(point[v]) for point in later]
                number = min(max(math.fsum(numbers) / len(later), min(numbers)), max(numbers))  # it may be rounded
                mean[v] = _nearest(self.region.states(v), variable.encode(number))
        return tuple(mean)


def _is_bent(model: Additive, v: int) -> bool:
    """Whether numbers of a variable are squared."""
    return any(
        step[0] == "square"
        for term in model.terms
        if term.variable == v and isinstance(term, Line)
        for step in term.steps
    )


def _moved(weights: Floats, gaps: Floats, round_: int) -> Floats:
    """The weights after those of the needs that are violated most were raised; steps get smaller."""
    raised = weights * np.exp(np.clip(4.0 / math.sqrt(round_ + 1) * (gaps - gaps.max()), -30.0, 0.0))
    return np.asarray(np.maximum(raised / raised.sum(), 1e-12))


def _nearest(ranges: Ranges, state: int) -> int:
    """The state of some ranges that is nearest to one."""
    return min((min(max(state, low), high) for low, high in ranges), key=lambda s: abs(s - state))


def _turning(gaps: Gaps, v: int, rest: float, low: int, high: int, is_met: bool) -> int:
    """The first state from a low one on at which a need is met, or is not, as it is at the high one."""
    if high - low == 1:
        return high
    variable, sign = gaps.model.variables[v], 1 if is_met else -1
    here, there = variable.number(low), variable.number(high)

    def reached(share: float) -> int:
        return variable.encode(min(max(here + share * (there - here), here), there))

    def is_before(steps: int) -> bool:
        return (rest + gaps.at(v, low + steps) < 0) != is_met

    share = turning(lambda share: sign * (rest + gaps.at(v, reached(share))), gaps.model.margin)
    return low + furthest(is_before, reached(share) - low, high - low - 1) + 1
