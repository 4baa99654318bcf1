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
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.ensemble_needs import Need, needs_of
from quia.ensemble_plain import decide
from quia.errors import Undecided
from quia.ranges import members

if TYPE_CHECKING:
    from quia.ensemble import Ensemble
    from quia.question import Question
    from quia.region import Region

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

MOST_CELLS = 100_000_000
"""How large a matrix may get."""
_TRIED = 3
"""How many needs, the hardest ones, strike out states."""


@dataclass(frozen=True, slots=True)
class Box:
    """Instances: `admits[i, j]` if the i-th leaf is reached with the j-th state; both by tree and by variable."""

    admits: Bools
    row: Ints  # the places of the leaves among those that the search began with
    tree: Ints
    variable: Ints
    state: Ints
    found: tuple[tuple[int, int], ...] = ()  # variables that have one state left, or whose state does not matter

    @property
    def firsts(self) -> tuple[Ints, Ints]:
        """Where the rows of each tree and the columns of each variable begin."""
        return _firsts(self.tree), _firsts(self.variable)

    def only(self, columns: Bools) -> Box | None:
        """The box without some states, and without leaves that are no longer reached; None if nothing is left."""
        variable = self.variable[columns]
        if len(_firsts(variable)) < len(_firsts(self.variable)):
            return None
        admits = self.admits[:, columns]
        rows = np.logical_or.reduceat(admits, _firsts(variable), axis=1).all(axis=1)
        return Box(admits[rows], self.row[rows], self.tree[rows], variable, self.state[columns], self.found).merged()

    def merged(self) -> Box:
        """The box with one column for neighbouring states that no leaf tells apart, none for a variable with one."""
        if not len(self.variable):
            return self
        same = self.variable[1:] == self.variable[:-1]
        same &= (self.admits[:, 1:] == self.admits[:, :-1]).all(axis=0)
        kept = np.concatenate([[True], ~same])
        firsts = _firsts(self.variable[kept])
        alone = np.zeros(int(kept.sum()), bool)
        alone[firsts[np.diff([*firsts, len(alone)]) == 1]] = True
        columns = np.flatnonzero(kept)
        single, rest = columns[alone], columns[~alone]
        pairs = zip(self.variable[single].tolist(), self.state[single].tolist(), strict=True)
        return Box(
            self.admits[:, rest], self.row, self.tree, self.variable[rest], self.state[rest], (*self.found, *pairs)
        )

    def point(self, columns: Ints) -> dict[int, int]:
        """The instance with one state of each variable that is left."""
        chosen = zip(self.variable[columns].tolist(), self.state[columns].tolist(), strict=True)
        return {**dict(self.found), **dict(chosen)}


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
    start, leaf = _box(ensemble, [np.array(list(members(possible.states(v)))) for v in range(len(near))])
    for needs in needs_of(ensemble, question.keeps, leaf, start.tree):
        for point in _candidates(start, needs, clock):
            states = tuple(point.get(v, state) for v, state in enumerate(near))
            if decide(ensemble, states) not in question.keeps:
                return states
    return None


def _box(ensemble: Ensemble, states: list[Ints]) -> tuple[Box, Ints]:
    """The box with these states of each variable, grown from the roots level by level, and the leaf of each row."""
    trees = ensemble.trees
    variable = np.repeat(np.arange(len(states)), [len(have) for have in states])
    state = np.concatenate([*states, np.empty(0, np.intp)]).astype(np.intp)
    used = np.isin(variable, trees.tested)
    variable, state = variable[used], state[used]
    firsts = _firsts(variable)
    node = np.array(trees.start[:-1], np.intp)
    tree = np.arange(len(node))
    admits = np.ones((len(node), len(variable)), bool)
    done: list[tuple[Bools, Ints, Ints]] = []
    cells = 0
    while len(node):
        at_leaf = trees.test[node] < 0
        done.append((admits[at_leaf], trees.leaf_of_node[node[at_leaf]].astype(np.intp), tree[at_leaf]))
        node, tree, admits = node[~at_leaf], tree[~at_leaf], admits[~at_leaf]
        cells += done[-1][0].size + 3 * admits.size
        if cells > MOST_CELLS:
            raise Undecided(
                f"the region reaches more than {MOST_CELLS:,} pairs of leaves and states, too many to check plainly"
            )
        yes = _answers(ensemble, node, variable, state)
        below = np.concatenate([admits & yes, admits & ~(yes & (variable == _asked(ensemble, node)[:, None]))])
        node = np.concatenate([trees.yes[node], trees.no[node]]).astype(np.intp)
        tree = np.concatenate([tree, tree])
        alive = np.logical_or.reduceat(below, firsts, axis=1).all(axis=1) if len(node) else np.zeros(0, bool)
        node, tree, admits = node[alive], tree[alive], below[alive]
    rows, leaf, of_tree = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.argsort(of_tree, kind="stable")
    return Box(rows[order], np.arange(len(order)), of_tree[order], variable, state).merged(), leaf[order]


def _asked(ensemble: Ensemble, node: Ints) -> Ints:
    return ensemble.trees.variable[ensemble.trees.test[node]].astype(np.intp)


def _answers(ensemble: Ensemble, node: Ints, variable: Ints, state: Ints) -> Bools:
    """Whether each node's answer is yes in each column; of variables that it does not ask about, always."""
    trees = ensemble.trees
    tests, place = np.unique(trees.test[node], return_inverse=True)
    yes: Bools = variable != trees.variable[tests][:, None]
    most = max((trees.range_start[tests + 1] - trees.range_start[tests]).tolist(), default=0)
    for turn in range(most):
        at = trees.range_start[tests] + turn
        has = np.flatnonzero(at < trees.range_start[tests + 1])
        low, high = trees.low[at[has]], trees.high[at[has]]
        yes[has] |= (low[:, None] <= state) & (state <= high[:, None])
    answers: Bools = yes[place.reshape(-1)]
    return answers


def _candidates(start: Box, needs: list[Need], clock: Callable[[], None]) -> Iterator[dict[int, int]]:
    """Points of the box that may meet all needs: at the end, one of every combination of leaves that may."""
    waiting = [start]
    while waiting:
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
        firsts = _firsts(box.variable)
        yield box.point(np.array([a + np.argmax(totals[a:b]) for a, b in _pairs(firsts, len(totals))], np.intp))
        if len(box.tree) > len(_firsts(box.tree)):
            waiting += _halves(box, best)


def _halves(box: Box, best: Floats) -> list[Box]:
    """The box split in two, the more promising half last."""
    top = best.max(initial=-np.inf, axis=1)
    score, cut, low_first = -1.0, None, True
    for a, b in _pairs(_firsts(box.variable), best.shape[1]):
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


def _firsts(sorted_numbers: Ints) -> Ints:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.diff(sorted_numbers, prepend=-1))


def _pairs(firsts: Ints, end: int) -> Iterator[tuple[int, int]]:
    """Where each run begins and ends."""
    return pairwise([*firsts.tolist(), end])
