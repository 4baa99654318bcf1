"""Another decision of an ensemble in a region, searched plainly: what `verify` asks, so that it shares nothing with
the kernel's search.

A box is a matrix: a row for each leaf that it reaches, a column for each state that a variable may still have, true
where the leaf admits the state. What a class needs to be decided is a few sums that must not be negative, each with one
number of every tree. For every column at once, the best that each tree can add tells whether any instance with that
state could do; states that could not are struck out until nothing changes, and what is left is split in two. Sums are
bounded with a margin for rounding; where that decides, the box is split until it has one leaf of each tree, and these
are added as the source adds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.ensemble_box import Box, box_of, firsts_of, runs
from quia.ensemble_needs import Need, needs_of
from quia.ensemble_plain import decide
from quia.ranges import members

if TYPE_CHECKING:
    from quia.ensemble import Ensemble
    from quia.question import Question
    from quia.region import Region

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

_TRIED = 3
"""How many needs, the hardest ones, strike out states."""


def escape(ensemble: Ensemble, question: Question, region: Region, clock: Callable[[], None]) -> tuple[int, ...] | None:
    """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

    `clock` is called now and then, and may raise to end the search.
    """
    possible = region.intersection(question.within)
    if possible.is_empty or len(question.keeps) == len(ensemble.classes):
        return None
    near = possible.nearest(question.states)
    if decide(ensemble, near) not in question.keeps:
        return near
    start, leaf = box_of(ensemble, [np.array(list(members(possible.states(v)))) for v in range(len(near))])
    for needs in needs_of(ensemble, question.keeps, leaf, start.tree):
        for point in _candidates(start, needs, clock):
            states = tuple(point.get(v, state) for v, state in enumerate(near))
            if decide(ensemble, states) not in question.keeps:
                return states
    return None


def _candidates(start: Box, needs: list[Need], clock: Callable[[], None]) -> Iterator[dict[int, int]]:
    """Points of the box that may meet all needs: at the end, one of every combination of leaves that may."""
    waiting = [start]
    for turn in count():
        if not waiting:
            return
        clock()
        box: Box | None = waiting.pop()
        tried = None
        while box is not None and (before := box) is not tried:
            tried = before
            ranked = sorted(needs, key=lambda need: need.most(before) + need.margin)
            if ranked and not ranked[0].can_be_met(ranked[0].most(before)):
                box = None
                break
            for need in ranked[:_TRIED]:
                if box is None or not len(box.variable):
                    break
                could = need.can_be_met(need.most_with(box).sum(axis=0) + need.constant)
                if not could.all():
                    box = box.only(could)
        if box is None:
            continue
        hardest = min(needs, key=lambda need: need.most(box) + need.margin)
        best = hardest.most_with(box)
        totals = best.sum(axis=0)
        firsts = firsts_of(box.variable)
        columns = np.array([a + np.argmax(totals[a:b]) for a, b in runs(firsts, len(totals))], np.intp)
        # What is found is mostly found by climbing from the first of them; where nothing is, it costs time.
        yield box.point(columns if turn > _TRIED and turn % 4 else _climbed(box, hardest, columns))
        if len(box.tree) > len(firsts_of(box.tree)):
            waiting += _halves(box, best)


def _climbed(box: Box, need: Need, columns: Ints) -> Ints:
    """States from which no change of a single variable comes nearer to a need, reached by such changes."""
    place = np.cumsum(np.diff(box.variable, prepend=-1) != 0) - 1
    rows = need.counts[box.row]
    values, admits = need.value[box.row[rows]], box.admits[rows]
    found, best = columns.copy(), -np.inf
    while len(found):
        misses = ~admits[:, found]
        # With another state of one variable, a leaf is reached that only that variable kept from being so.
        totals = values @ (admits & (misses.sum(axis=1)[:, None] == misses[:, place]))
        better = int(totals.argmax())
        if not best < totals[better]:
            break
        best = totals[better]
        found[place[better]] = better
    return found


def _halves(box: Box, best: Floats) -> list[Box]:
    """The box split in two, the more promising half last."""
    top = best.max(initial=-np.inf, axis=1)
    score, cut, low_first = -1.0, None, True
    for a, b in runs(firsts_of(box.variable), best.shape[1]):
        part = best[:, a:b]
        below = (top[:, None] - np.maximum.accumulate(part, axis=1)[:, :-1]).sum(axis=0)
        above = (top[:, None] - np.maximum.accumulate(part[:, ::-1], axis=1)[:, -2::-1]).sum(axis=0)
        worth = below * above + 1e-3 * (below + above)
        at = int(worth.argmax())
        if worth[at] > score:
            score, cut, low_first = float(worth[at]), (a, a + at + 1, b), bool(below[at] >= above[at])
    assert cut is not None, "a tree with two leaves tells some states apart"
    sides = np.ones((2, best.shape[1]), bool)
    sides[0, cut[1] : cut[2]] = False
    sides[1, cut[0] : cut[1]] = False
    halves = [box.only(side) for side in (sides if low_first else sides[::-1])]
    return [half for half in halves if half is not None]
