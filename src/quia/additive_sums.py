"""Contrasts of additive models whose one sum is exact: which sums the features that do not change can come to.

All numbers are multiples of one, so that a set of sums is a set of bits of one large number. Two states of what changes
give two decisions just where the sum of the rest lies between two borders: that is one look at these bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.patience import Clock
from quia.ranges import covers, members
from quia.region import Region

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.contrast import Contrast

MOST_BITS = 1 << 30
"""So many bits all sets of sums may have together."""
MOST_CHOICES = 2000
"""So many sums of what changes are compared with each other."""

Pair = tuple[tuple[int, ...], tuple[int, ...]]


class Choice(NamedTuple):
    """Some states of variables, and what they add."""

    added: int
    states: dict[int, int]


@dataclass(frozen=True, eq=False)
class Reached:
    """What some variables can add up to: bit i of the last of `sets` is set if they can come to `least` + i · `unit`.

    `sets[n]` is that of the first n variables; `choices` has for each the multiples of the unit above its least, with
    a state.
    """

    least: int
    unit: int
    variables: tuple[int, ...]
    choices: tuple[dict[int, int], ...]
    sets: tuple[int, ...]

    @staticmethod
    def of(added: dict[int, dict[int, int]], clock: Clock) -> Reached | None:
        """What variables can come to that add so much in each of some states; None if that is too many numbers."""
        least = {v: min(own.values()) for v, own in added.items()}
        unit = math.gcd(*(number - least[v] for v, own in added.items() for number in own.values())) or 1
        choices = tuple(
            {(number - least[v]) // unit: state for state, number in reversed(own.items())} for v, own in added.items()
        )
        if sum(map(max, choices), 1) * (len(choices) + 1) > MOST_BITS:
            return None
        sets = [1]
        for steps in choices:
            reached = 0
            for step in steps:
                clock()
                reached |= sets[-1] << step
            sets.append(reached)
        return Reached(sum(least.values()), unit, tuple(added), choices, tuple(sets))

    def between(self, low: int, high: int) -> Choice | None:
        """States that add from `low` to less than `high`; None if none do."""
        first = max(-((self.least - low) // self.unit), 0)
        last = min((high - 1 - self.least) // self.unit, self.sets[-1].bit_length() - 1)
        if first > last:
            return None
        inside = self.sets[-1] >> first & ((1 << last - first + 1) - 1)
        return self.at(first + (inside & -inside).bit_length() - 1) if inside else None

    def at(self, multiple: int) -> Choice:
        """States that come to so many units above the least sum, which they can."""
        states, left = {}, multiple
        for at in range(len(self.variables) - 1, -1, -1):
            step = next(step for step in self.choices[at] if step <= left and self.sets[at] >> left - step & 1)
            states[self.variables[at]] = self.choices[at][step]
            left -= step
        return Choice(self.least + multiple * self.unit, states)

    def all(self) -> Iterator[Choice]:
        """States for each sum, the least sum first."""
        left, multiple = self.sets[-1], 0
        while left:
            skipped = (left & -left).bit_length() - 1
            multiple += skipped
            yield self.at(multiple)
            left >>= skipped + 1
            multiple += 1


@dataclass(frozen=True, eq=False)
class ExactSum:
    """A model's one sum in whole numbers, and the sums, from one to below another, that tell each class."""

    model: Additive
    scale: int
    gaps: Gaps
    bands: tuple[tuple[int, int], ...]

    @staticmethod
    def of(model: Additive) -> ExactSum | None:
        """That of a model with one score, or whose two scores are compared; None if there are more, or they round."""
        if not model.is_exact or len(model.start) > 2:
            return None
        is_one = model.rule.kind == "cuts"
        gaps = model.gaps(Need((1.0,) if is_one else (-1.0, 1.0)[: len(model.start)], 0.0, ties=False))
        numbers = [*gaps.constants, *(gaps.at(v, s) for v in model.tested for s in range(model.variables[v].size))]
        scale = max(number.as_integer_ratio()[1] for number in numbers)
        cuts = [math.ceil(Fraction(cut) * scale) for cut in model.rule.cuts] if is_one else [1]
        far = 1 + abs(max(cuts, key=abs)) + sum(abs(int(Fraction(number) * scale)) for number in numbers)
        return ExactSum(model, scale, gaps, tuple(pairwise((-far, *cuts, far))))

    def added(self, v: int, possible: Region) -> dict[int, int]:
        """What each possible state of a variable adds."""
        return {state: self._whole(self.gaps.at(v, state)) for state in members(possible.states(v))}

    def _whole(self, number: float) -> int:
        return int(Fraction(number) * self.scale)

    def find_pair(self, contrast: Contrast, possible: Region, clock: Clock) -> tuple[bool, Pair | None]:
        """Whether it can be told, and the pair that a contrast looks for, or None if there is none."""
        tested = self.model.tested
        rest = Reached.of({v: self.added(v, possible) for v in tested if v not in contrast.changing}, clock)
        choices = self._choices(contrast, possible, clock)
        if rest is None or choices is None:
            return False, None
        base = self._whole(self.gaps.base)
        stepwise = contrast.is_stepwise(len(self.model.classes))
        for first, second in pairwise(choices) if stepwise else combinations(choices, 2):
            for pair in ((first, second), (second, first))[: 1 if contrast.order is not None else 2]:
                for a, b in contrast.classes:
                    clock()
                    shifts = [(self.bands[c], base + choice.added) for c, choice in zip((a, b), pair, strict=True)]
                    low = max(ends[0] - shift for ends, shift in shifts)
                    high = min(ends[1] - shift for ends, shift in shifts)
                    found = rest.between(low, high)
                    if found is not None:
                        one, other = (self._instance({**found.states, **c.states}, possible) for c in pair)
                        return True, (one, other)
        return True, None

    def _choices(self, contrast: Contrast, possible: Region, clock: Clock) -> Sequence[Choice] | None:
        """What changing variables can add, in the order if there is one; None if that is too much."""
        if contrast.order is not None:
            (v,) = contrast.changing
            states = [state for state in contrast.order if covers(possible.states(v), state)]
            return [Choice(self._whole(self.gaps.at(v, state)), {v: state}) for state in states]
        changing = [v for v in self.model.tested if v in contrast.changing]
        reached = Reached.of({v: self.added(v, possible) for v in changing}, clock)
        if reached is None or reached.sets[-1].bit_count() > MOST_CHOICES:
            return None
        return list(reached.all())

    def _instance(self, states: dict[int, int], possible: Region) -> tuple[int, ...]:
        return possible.nearest([states.get(v, 0) for v in range(len(self.model.variables))])
