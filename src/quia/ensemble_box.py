"""Boxes of instances of an ensemble as matrices: which leaves of its trees are reached with which states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.errors import Undecided

if TYPE_CHECKING:
    from quia.ensemble import Ensemble

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]

MOST_CELLS = 100_000_000
"""How large a matrix may get."""


@dataclass(frozen=True, slots=True)
class Box:
    """Instances: `admits[i, j]` if the i-th leaf is reached with the j-th state; both by tree and by variable."""

    admits: Bools
    row: Ints  # the places of the leaves among those that the search began with
    tree: Ints
    variable: Ints
    state: Ints
    found: tuple[tuple[int, int], ...] = ()  # variables that have one state left, or whose state does not matter

    def only(self, columns: Bools) -> Box | None:
        """The box without some states, and without leaves that are no longer reached; None if nothing is left."""
        variable = self.variable[columns]
        if len(firsts_of(variable)) < len(firsts_of(self.variable)):
            return None
        admits = self.admits[:, columns]
        rows = np.logical_or.reduceat(admits, firsts_of(variable), axis=1).all(axis=1)
        return Box(admits[rows], self.row[rows], self.tree[rows], variable, self.state[columns], self.found).merged()

    def merged(self) -> Box:
        """The box with one column for neighbouring states that no leaf tells apart, none for a variable with one."""
        if not len(self.variable):
            return self
        same = self.variable[1:] == self.variable[:-1]
        same &= (self.admits[:, 1:] == self.admits[:, :-1]).all(axis=0)
        kept = np.concatenate([[True], ~same])
        firsts = firsts_of(self.variable[kept])
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


def box_of(ensemble: Ensemble, states: list[Ints]) -> tuple[Box, Ints]:
    """The box with these states of each variable, grown from the roots level by level, and the leaf of each row."""
    trees = ensemble.trees
    variable = np.repeat(np.arange(len(states)), [len(have) for have in states])
    state = np.concatenate([*states, np.empty(0, np.intp)]).astype(np.intp)
    used = np.isin(variable, trees.tested)
    variable, state = variable[used], state[used]
    firsts = firsts_of(variable)
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


def firsts_of(sorted_numbers: Ints) -> Ints:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.diff(sorted_numbers, prepend=-1))


def runs(firsts: Ints, end: int) -> Iterator[tuple[int, int]]:
    """Where each run begins and ends."""
    return pairwise([*firsts.tolist(), end])
