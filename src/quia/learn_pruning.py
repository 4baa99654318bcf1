"""How far a learned tree is cut back: cost-complexity pruning, its strength chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 5
MOST_ROWS = 50_000
"""Of a larger table so many rows, drawn by the seed, are cross-validated."""
_ALL_STEPS, _OTHER_STEPS = 100, 100
"""So many of the last prunings, from small trees to none, are all tried, and so many of those before."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """What cross-validation chose: the `strength` of pruning (scikit-learn's ccp_alpha), and how that was found.

    `accuracy` is the share of the `rows` that are right where the fold they are in was not learned from, `best` that of
    the most accurate tree, `full` that of the tree that is not pruned, which has `nodes` nodes.
    """

    strength: float
    accuracy: float
    best: float
    full: float
    nodes: int
    rows: int


_TINY = 1e-12  # cuts back what gains nothing at all


def choose_pruning(
    grown: Callable[[], Any], values: Any, labels: NDArray[np.int64], *, seed: int, full: Any
) -> Pruning | None:
    """The strongest pruning that is within one standard error of the most accurate; None if there is nothing to choose.

    There is nothing of fewer than ten rows, or of a single leaf.

    `grown()` is a tree of scikit-learn's yet to be fitted, `full` one that is fitted to all the rows. Each fold's tree
    is grown once; what its prunings decide is read off it.
    """
    import numpy as np

    chance = np.random.default_rng(seed)
    order = chance.permutation(len(labels))[:MOST_ROWS]
    if len(order) < 2 * FOLDS or full.tree_.node_count == 1:
        return None
    order = order[np.argsort(labels[order], kind="stable")]  # each fold has its share of every class
    strengths = _between(weakest_links(full.tree_))
    right = np.zeros(len(strengths))
    for fold in range(FOLDS):
        kept_apart = np.arange(len(order)) % FOLDS == fold
        learned, tested = np.sort(order[~kept_apart]), np.sort(order[kept_apart])
        tree = grown().fit(values[learned], labels[learned])
        right += _right_by_strength(tree, strengths, values[tested], labels[tested])
    shares = right / len(order)
    best = shares.max()
    standard_error = math.sqrt(best * (1 - best) / len(order))
    chosen = int(np.flatnonzero(shares >= best - standard_error)[-1])
    return Pruning(
        float(strengths[chosen]),
        float(shares[chosen]),
        float(best),
        float(shares[0]),
        full.tree_.node_count,
        len(order),
    )


def weakest_links(tree: Any) -> NDArray[np.float64]:
    """For each node of a fitted tree, from which strength of pruning on it is a leaf; 0 of what is one anyway.

    Weakest-link pruning (Breiman et al. 1984): again and again the node goes whose branch gains the least impurity for
    each of its leaves.

    Complexity: O(n d log n) for n nodes and depth d.
    """
    import numpy as np

    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    count = len(left)
    parent = [-1] * count
    for node in range(count):
        if left[node] >= 0:
            parent[left[node]] = parent[right[node]] = node
    own = (tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]).tolist()
    below, leaves = list(own), [1] * count
    for node in reversed(range(count)):  # children come after their parents
        if left[node] >= 0:
            below[node] = below[left[node]] + below[right[node]]
            leaves[node] = leaves[left[node]] + leaves[right[node]]

    def gain(node: int) -> float:
        return float(max(own[node] - below[node], 0.0)) / (leaves[node] - 1)

    at = [0.0] * count
    is_open = [child >= 0 for child in left]
    queue = [(gain(node), node) for node in range(count) if is_open[node]]
    heapify(queue)
    strength = 0.0
    while queue:
        least, node = heappop(queue)
        if not is_open[node] or least != gain(node):  # it went with a node above it, or is queued anew
            continue
        strength = max(strength, least)
        work = [node]
        while work:
            one = work.pop()
            if is_open[one]:
                is_open[one], at[one] = False, strength
                work += (left[one], right[one])
        lost, fewer = own[node] - below[node], leaves[node] - 1
        below[node], leaves[node] = own[node], 1
        above = parent[node]
        while above >= 0:
            below[above] += lost
            leaves[above] -= fewer
            heappush(queue, (gain(above), above))
            above = parent[above]
    return np.array(at)


def _between(links: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strengths to try: none, one between each two at which the tree changes, and one that leaves a single leaf.

    None of them is where a tree changes, so that rounding decides nothing.
    """
    import numpy as np

    steps = np.unique(links)
    steps = steps[steps > 0]
    first = len(steps) - _ALL_STEPS
    if first > _OTHER_STEPS:
        some = np.linspace(0, first - 1, _OTHER_STEPS).round().astype(int)
        steps = np.concatenate([steps[some], steps[first:]])
    last = 2 * steps[-1] if len(steps) else _TINY
    return np.concatenate([[0.0], np.sqrt(steps[:-1] * steps[1:]), [last]])


def _right_by_strength(
    tree: Any, strengths: NDArray[np.float64], values: Any, labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How many rows a tree decides rightly at each strength."""
    import numpy as np

    nodes = tree.tree_
    links, left, right = weakest_links(nodes), nodes.children_left, nodes.children_right
    parent = np.zeros(nodes.node_count, int)
    levels = [np.array([0])]
    while (inner := levels[-1][left[levels[-1]] >= 0]).size:
        parent[left[inner]] = parent[right[inner]] = inner
        levels.append(np.concatenate([left[inner], right[inner]]))
    says = tree.classes_[nodes.value[:, 0, :].argmax(axis=1)]
    reached = tree.apply(values)
    found = []
    for strength in strengths:
        is_cut = (left >= 0) & (links < strength)
        end = np.arange(nodes.node_count)  # a row ends at the topmost node of its way that is cut
        for level in levels[1:]:
            above = end[parent[level]]
            end[level] = np.where(is_cut[above], above, level)
        found.append(np.count_nonzero(says[end[reached]] == labels))
    return np.array(found, float)
