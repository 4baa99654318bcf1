"""Where several needs of an additive model hold at once: a class that must beat several others.

Each need alone is a sum that is least where every variable's part is. Of several needs any mixture must be below 0
too, and is such a sum: if its least is above 0 in a box, nothing in the box meets all of them. The weights of the
mixture are moved towards what is violated most; where no mixture proves it and no point is found, the box is split.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

from quia.additive_gaps import Gaps
from quia.additive_needs import Need, Way
from quia.caching import cached_property
from quia.errors import TooLarge
from quia.patience import Clock
from quia.ranges import Ranges, difference, members, size
from quia.region import Region

if TYPE_CHECKING:
    from quia.additive import Additive

_ROUNDS = 16
"""So often the weights of a mixture are moved in one box."""
_FEW = 32
"""Of so few instances each is tried."""
_MOST_BOXES = 20_000
_MOST_KEPT = 6
"""So many mixtures that proved something are kept, and tried first."""

States = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Together:
    """A way out of a decision: needs that must hold together."""

    model: Additive
    way: Way
    _useful: list[Gaps] = field(default_factory=list)

    def escape(self, possible: Region, clock: Clock) -> States | None:
        """An instance in a region that meets all needs; None if there is none.

        TooLarge where so much of the region is so near to a tie that it cannot be told.
        """
        boxes = [possible]
        count = 0
        while boxes:
            clock()
            count += 1
            if count > _MOST_BOXES:
                raise TooLarge(
                    f"whether a class can beat {len(self.way)} others could not be told in {_MOST_BOXES} steps: their"
                    " scores are nearly equal in too many ways; ask why the decision was made, not why not another",
                    limit=_MOST_BOXES,
                )
            box = boxes.pop()
            if any(self._is_above(mixed, box) for mixed in (*self._alone, *self._useful)):
                continue
            if math.prod(size(box.states(v)) for v in self.model.tested) <= _FEW:
                found = next((each for each in self._instances(box) if self._holds(each, self._gaps(each))), None)
                if found is not None:
                    return found
                continue
            found, best = self._looked_for(box, clock)
            if found is not None:
                return found
            if best is not None:
                boxes += self._split(box, best)
        return None

    @cached_property
    def _alone(self) -> list[Gaps]:
        return [self.model.gaps(need) for need in self.way]

    def _instances(self, box: Region) -> Iterator[States]:
        first = self._alone[0].least(box)[1]
        for states in product(*(members(box.states(v)) for v in self.model.tested)):
            instance = list(first)
            for v, state in zip(self.model.tested, states, strict=True):
                instance[v] = state
            yield tuple(instance)

    def _is_above(self, mixed: Gaps, box: Region) -> bool:
        """Whether the least of a mixture proves that nothing in a box meets all needs."""
        return mixed.least(box)[0] > self.model.margin

    def _looked_for(self, box: Region, clock: Clock) -> tuple[States | None, States | None]:
        """An instance that meets all needs; else the nearest to that, or nothing if there is none for certain."""
        weights = [1 / len(self.way)] * len(self.way)
        points: list[States] = []
        best: tuple[float, States] | None = None
        for round_ in range(_ROUNDS):
            clock()
            mixed = self._mixed(weights)
            least, states = mixed.least(box)
            if least > self.model.margin:
                self._keep(mixed)
                return None, None
            gaps = self._gaps(states)
            if self._holds(states, gaps):
                return states, None
            if points[-2:] == [states, states]:
                break
            points.append(states)
            best = min(best or (math.inf, states), (max(self._scaled(gaps)), states))
            weights = _moved(weights, self._scaled(gaps), round_)
        assert best is not None
        for start in (best[1], self._mean(points, box)):
            improved = self._improved(start, box)
            if self._holds(improved, self._gaps(improved)):
                return improved, None
        return None, best[1]

    def _mixed(self, weights: Sequence[float]) -> Gaps:
        scores = range(len(self.way[0].weights))
        mixed = tuple(math.fsum(w * n.weights[k] for w, n in zip(weights, self.way, strict=True)) for k in scores)
        offset = math.fsum(w * need.offset for w, need in zip(weights, self.way, strict=True))
        return Gaps.of(self.model, Need(mixed, offset, ties=True))

    def _keep(self, mixed: Gaps) -> None:
        self._useful.insert(0, mixed)
        del self._useful[_MOST_KEPT:]

    def _gaps(self, states: States) -> list[float]:
        return [gaps.of_states(states) for gaps in self._alone]

    def _scaled(self, gaps: Sequence[float]) -> list[float]:
        return [gap / extent for gap, extent in zip(gaps, self._extents, strict=True)]

    @cached_property
    def _extents(self) -> list[float]:
        return [gaps.extent or 1.0 for gaps in self._alone]

    def _holds(self, states: States, gaps: Sequence[float]) -> bool:
        """Whether all needs hold at an instance, by the model's own sums where rounding could matter."""
        margin = self.model.margin
        return all(
            gap < -margin or (gap <= margin and need.holds(self.model.gap(need, states)))
            for need, gap in zip(self.way, gaps, strict=True)
        )

    def _mean(self, points: Sequence[States], box: Region) -> States:
        """The last point, its lines at the mean of what the later mixtures proposed."""
        later = points[len(points) // 2 :]
        mean = list(points[-1])
        for v in self.model.tested:
            variable = self.model.variables[v]
            if variable.is_line and not any(variable.is_missing_state(point[v]) for point in later):
                numbers = [variable.number(point[v]) for point in later]
                number = min(max(math.fsum(numbers) / len(later), min(numbers)), max(numbers))  # it may be rounded
                mean[v] = _nearest(box.states(v), variable.encode(number))
        return tuple(mean)

    def _improved(self, states: States, box: Region) -> States:
        """The point after each variable in turn was moved to where the need that is violated most is least so."""
        point = list(states)
        gaps = self._gaps(states)
        worst = max(self._scaled(gaps))
        for _ in range(3):
            before = worst
            for v in self.model.tested:
                parts = self._alone
                own = [gap - part.at(v, point[v]) for gap, part in zip(gaps, parts, strict=True)]
                for state in self._proposed(v, box.states(v), own):
                    changed = [rest + part.at(v, state) for rest, part in zip(own, parts, strict=True)]
                    if max(self._scaled(changed)) < worst:
                        worst, gaps, point[v] = max(self._scaled(changed)), changed, state
            if worst >= before:
                break
        return tuple(point)

    def _proposed(self, v: int, ranges: Ranges, own: Sequence[float]) -> Iterator[int]:
        """States of a variable to try: all that are listed; of a line its ends, turns, and where a need is just met."""
        if not self.model.variables[v].is_line:
            yield from members(ranges)
            return
        for gaps, rest in zip(self._alone, own, strict=True):
            ends = sorted({*gaps.candidates(v, ranges)})
            yield from ends
            for low, high in pairwise(ends):
                at_low, at_high = (rest + gaps.at(v, end) for end in (low, high))
                if (at_low < 0) != (at_high < 0) and any(a <= low and high <= b for a, b in ranges):
                    inside = range(low, high + 1)
                    is_met_above = at_high < 0
                    turned = bisect_left(inside, True, key=lambda s: (rest + gaps.at(v, s) < 0) == is_met_above)
                    yield from (s for s in (low + turned - 1, low + turned, low + turned + 1) if low <= s <= high)

    def _split(self, box: Region, best: States) -> list[Region]:
        """Two parts of a box, the one that is searched first last; nothing if the box is a single point."""
        spread = {v: self._spread(v, box) for v in self.model.tested if size(box.states(v)) > 1}
        if not spread:
            return []
        v = max(spread, key=lambda v: (spread[v], -v))
        ranges, variable = box.states(v), self.model.variables[v]
        if variable.is_line and not variable.is_missing_state(best[v]):
            middle = self._middle(v, ranges)
            lower = tuple((low, min(high, middle)) for low, high in ranges if low <= middle)
            parts = [lower, difference(ranges, lower)]
            return [box.replaced({v: part}) for part in sorted(parts, key=lambda part: _has(part, best[v]))]
        own = ((best[v], best[v]),)
        return [box.replaced({v: difference(ranges, own)}), box.replaced({v: own})]

    def _spread(self, v: int, box: Region) -> float:
        return max(
            (part.greatest_of(v, box.states(v))[0] - part.least_of(v, box.states(v))[0]) / extent
            for part, extent in zip(self._alone, self._extents, strict=True)
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


def _moved(weights: Sequence[float], gaps: Sequence[float], round_: int) -> list[float]:
    """The weights after those of the needs that are violated most were raised; steps get smaller."""
    step = 4.0 / math.sqrt(round_ + 1)
    raised = [w * math.exp(max(min(step * gap, 30.0), -30.0)) for w, gap in zip(weights, gaps, strict=True)]
    total = math.fsum(raised)
    return [max(w / total, 1e-12) for w in raised]


def _nearest(ranges: Ranges, state: int) -> int:
    """The state of some ranges that is nearest to one."""
    return min((min(max(state, low), high) for low, high in ranges), key=lambda s: abs(s - state))


def _has(ranges: Ranges, state: int) -> bool:
    return any(low <= state <= high for low, high in ranges)
