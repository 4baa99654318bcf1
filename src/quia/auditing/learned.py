"""Rules of a classifier that explains one row at a time: learned from the rows, then proved.

A reason of some row says little of other rows where a model adds up hundreds of trees. So a box is learned first: it
begins with all that is possible and is cut, each time where the most rows of other classes are lost for the fewest of
the class, until only rows of the class are left in it. Then the classifier is asked for an escape, an instance in the
box that has another class, and each one that it finds is cut off too, at the cost of as few rows as can be. A box
without an escape is a rule: whoever is in it has the class. In the end it is made as wide as it can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quia.asking import Terms
from quia.auditing.rows import Bools, Ints, Rows
from quia.classifier import escape_within
from quia.patience import Clock, OutOfTime
from quia.question import Question
from quia.ranges import Ranges, union
from quia.region import Region
from quia.widen import SomeBoxes, forcing_boxes

Conditions = tuple[tuple[int, Ranges], ...]
Floats = npt.NDArray[np.float64]

MOST_CUTS = 1000
"""So often a box is cut before another one is begun."""
_GROWING, _SHARE = 20.0, 0.05
"""A rule is widened for so many times as long as it took to prove it, and a little more, but only for such a share of
the time that is left."""


@dataclass(eq=False)
class _Box:
    """Which states of each variable are left, and the rows in it: `wanted` ones, and those of `others` classes."""

    terms: Terms
    rows: Rows
    left: dict[int, Bools]
    wanted: Ints
    others: Ints

    @staticmethod
    def of(terms: Terms, rows: Rows, wanted: Ints, others: Ints) -> _Box:
        """All that is possible."""
        left = {}
        for v in terms.classifier.tested:
            left[v] = np.zeros(terms.variables[v].size, bool)
            for low, high in terms.worlds.possible.states(v):
                left[v][low : high + 1] = True
        return _Box(terms, rows, left, wanted, others)

    def counted(self, v: int, some: Ints) -> Floats:
        """How many of some rows have each state of a variable."""
        counts = np.bincount(self.rows.states[some, v], self.rows.repeats[some], len(self.left[v]))
        return counts.astype(np.float64)

    def cut(self, v: int, gone: Bools) -> None:
        """Leave states out."""
        self.left[v] = self.left[v] & ~gone
        self.wanted = self.wanted[~gone[self.rows.states[self.wanted, v]]]
        self.others = self.others[~gone[self.rows.states[self.others, v]]]

    def region(self) -> Region:
        """The box as a region."""
        return Region(self.terms.variables, {v: _ranges(left) for v, left in self.left.items()})

    @property
    def restricted(self) -> list[int]:
        """The variables of which something was left out."""
        possible = self.terms.worlds.possible
        return [v for v, left in self.left.items() if _ranges(left) != union(possible.states(v))]


def _ranges(states: Bools) -> Ranges:
    """The runs of states that are left."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], states, [False]]).astype(np.int8)))
    return tuple((int(low), int(high) - 1) for low, high in zip(edges[::2], edges[1::2], strict=True))


def learned(rows: Rows, label: int, left: Bools, terms: Terms, clock: Clock) -> Conditions | None:
    """A rule for a class that covers many of the rows that are `left`; None if none was found.

    OutOfTime when the clock ends.
    """
    known = (rows.states[:, list(terms.classifier.tested)] >= 0).all(axis=1)
    wanted, others = np.flatnonzero(known & left), np.flatnonzero(known & (rows.decision != label))
    if not len(wanted):
        return None
    box = _Box.of(terms, rows, wanted, others)
    while len(box.others):
        clock()
        if not _cut_best(box):
            return None
    centre = int(box.wanted[np.argmax(rows.repeats[box.wanted])])
    question = terms.question(rows.states[centre].tolist(), label)
    started = clock.left
    for _ in range(MOST_CUTS):
        found = escape_within(terms.classifier, question, box.region(), clock)
        if found is None:
            return _widened(box, question, _for_growing(started, clock.left))
        _cut_off(box, found)
        if not len(box.wanted):
            return None
    return None


def _for_growing(before: float | None, left: float | None) -> Clock:
    """So much of the time that is left as is worth spending on one rule."""
    if before is None or left is None:
        return Clock()
    return Clock(min(_SHARE * left, _GROWING * (before - left) + 0.1))


def _cut_best(box: _Box) -> bool:
    """Cut where the most rows of other classes go for each wanted one that goes; False if no cut leaves any wanted."""
    best: tuple[float, int, Bools] | None = None
    kept = float(box.rows.repeats[box.wanted].sum())
    for v in box.left:
        mine, theirs = box.counted(v, box.wanted), box.counted(v, box.others)
        variable = box.terms.variables[v]
        numbers = len(variable.cuts) + 1 if variable.is_numeric else 0
        options = [
            (np.cumsum(theirs[:numbers]), np.cumsum(mine[:numbers]), True),
            (np.cumsum(theirs[:numbers][::-1])[::-1], np.cumsum(mine[:numbers][::-1])[::-1], False),
            (theirs[numbers:], mine[numbers:], None),
        ]
        for gain, loss, is_low in options:
            if not len(gain):
                continue
            score = np.where(loss < kept, gain / (loss + 1.0), -1.0)
            at = int(np.argmax(score))
            if score[at] > 0 and (best is None or score[at] > best[0]):
                gone = np.zeros(len(mine), bool)
                if is_low is None:
                    gone[numbers + at] = True
                elif is_low:
                    gone[: at + 1] = True
                else:
                    gone[at:numbers] = True
                best = float(score[at]), v, gone
    if best is None:
        return False
    box.cut(best[1], best[2])
    return True


def _cut_off(box: _Box, point: Sequence[int]) -> None:
    """Cut so that a point is not in the box, and as few wanted rows as can be go; then where it was cut before."""
    best: tuple[float, bool, float, int, Bools] | None = None
    restricted = set(box.restricted)
    for v, left in box.left.items():
        mine = box.counted(v, box.wanted)
        for gone in _without(box, v, int(point[v]), mine):
            key = float(mine[gone].sum()), v not in restricted, -float((gone & left).sum() / left.sum())
            if best is None or key < best[:3]:
                best = *key, v, gone
    assert best is not None
    box.cut(best[3], best[4])


def _without(box: _Box, v: int, state: int, mine: Floats) -> Iterator[Bools]:
    """What can be left out of a variable's states so that one of them goes: with it goes what no wanted row has."""
    variable = box.terms.variables[v]
    numbers = len(variable.cuts) + 1 if variable.is_numeric else 0
    gone = np.zeros(len(mine), bool)
    if state >= numbers:
        gone[numbers:] = mine[numbers:] == 0 if mine[state] == 0 else np.arange(numbers, len(mine)) == state
        yield gone
        return
    used = np.flatnonzero(mine[:numbers] > 0)
    above, below = used[used > state], used[used < state]
    up_to = np.zeros(len(mine), bool)  # all numbers below the first wanted one above the state
    up_to[: above[0] if len(above) else numbers] = True
    from_on = np.zeros(len(mine), bool)
    from_on[below[-1] + 1 if len(below) else 0 : numbers] = True
    yield from (up_to, from_on)


def _widened(box: _Box, question: Question, clock: Clock) -> Conditions:
    """The rule as wide as it can be, as far as there is time: first without each condition that it can do without."""
    terms = box.terms
    kept = {v: _ranges(box.left[v]) for v in box.restricted}
    try:
        for v in sorted(kept, key=lambda v: float(box.left[v].mean()), reverse=True):
            rest = {other: ranges for other, ranges in kept.items() if other != v}
            region = terms.worlds.possible.intersection(Region(terms.variables, rest))
            if escape_within(terms.classifier, question, region, clock) is None:
                kept = rest
        of = list(kept)
        grown = forcing_boxes(terms.classifier, question, of, tuple(kept.values()), True, clock, calls=0)
    except SomeBoxes as late:
        grown = list(late.boxes)
    except OutOfTime:
        grown = []
    chosen = grown[0] if grown else tuple(kept.values())
    every = zip(kept, chosen, strict=True)
    return tuple((v, ranges) for v, ranges in every if ranges != ((0, terms.variables[v].size - 1),))
