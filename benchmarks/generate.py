"""Generated classifiers: trees like learned ones and a large graph, to see how cost grows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quia.graph import DecisionGraph
from quia.graph_arrays import Ints
from quia.variables import Variable

STATES = 16


def tree(nodes: int, features: int, *, classes: int = 4, seed: int = 1) -> DecisionGraph:
    """A binary tree over numeric features that parts the states of a feature again and again, as learned trees do.

    Leaves mostly take the class of the region they were cut from, so that neighbours agree more often than not.
    """
    draw = np.random.default_rng(seed)
    inner = nodes // 2
    total = 2 * inner + 1
    test = np.full(total, -1, np.int32)
    label = np.full(total, -1, np.int32)
    pairs = np.zeros((total, 2), np.int64)
    bounds = np.zeros((total, 4), np.int32)  # of the states of the first edge and of the second
    regions: dict[int, dict[int, tuple[int, int]]] = {0: {}}
    majority = {0: 0}
    made = 1
    node = 0
    while made < total:
        region, klass = regions.pop(node), majority.pop(node)
        variable = -1
        for candidate in draw.integers(0, features, 8).tolist():
            low, high = region.get(candidate, (0, STATES - 1))
            if low < high:
                variable = candidate
                break
        if variable < 0:  # nothing left to part here: the node is a leaf
            label[node] = klass
            node += 1
            continue
        cut = int(draw.integers(low, high))
        test[node], bounds[node], pairs[node] = variable, (low, cut, cut + 1, high), (made, made + 1)
        stays = int(draw.integers(2))
        for side, part in enumerate(((low, cut), (cut + 1, high))):
            regions[made + side] = {**region, variable: part}
            majority[made + side] = klass if side == stays else int(draw.integers(classes))
        made += 2
        node += 1
    for leaf, klass in majority.items():
        label[leaf] = klass
    return _flat(test, label, pairs, bounds, features, classes)


def _flat(test: Ints, label: Ints, pairs: Ints, bounds: Ints, features: int, classes: int) -> DecisionGraph:
    """Nodes numbered from the root down, turned round so that children come first."""
    last = len(test) - 1
    test, label, pairs, bounds = test[::-1], label[::-1], pairs[::-1], bounds[::-1]
    inner = test >= 0
    edges = 2 * int(inner.sum())
    return DecisionGraph(
        tuple(Variable.numeric(f"x{v}", range(STATES - 1)) for v in range(features)),
        tuple(f"c{k}" for k in range(classes)),
        test.copy(),
        label.copy(),
        np.concatenate([[0], np.cumsum(2 * inner)]).astype(np.int64),
        (last - pairs[inner]).ravel().astype(np.int32),
        np.arange(edges + 1, dtype=np.int64),
        bounds[inner][:, ::2].ravel(),
        bounds[inner][:, 1::2].ravel(),
    )


def threshold_graph(nodes: int, variables: int = 46, *, seed: int = 1) -> DecisionGraph:
    """The ordered decision graph of a naive Bayes classifier over binary features, with about so many nodes.

    A node is a level and the sum of the weights so far; it is a leaf once the rest cannot change the side of the
    threshold, half of all weights, that the sum ends on.
    """
    return _from_sums(threshold_weights(nodes, variables, seed=seed))


def threshold_weights(nodes: int, variables: int, *, seed: int) -> Ints:
    """Whole weights, the greatest first, scaled so that the graph gets as large as asked for."""
    low, high = 1.0, float(nodes)
    shape = np.random.default_rng(seed).lognormal(0, 1, variables)
    shape = np.sort(shape / shape.max())[::-1]
    for _ in range(18):  # bisection: more distinct weights, more distinct sums
        scale = (low * high) ** 0.5
        size = 2 + sum(map(len, _sums(_weights(shape, scale))))
        low, high = (scale, high) if size < nodes else (low, scale)
    return _weights(shape, high)


def _weights(shape: npt.NDArray[np.float64], scale: float) -> Ints:
    return np.asarray(np.maximum(1, np.rint(shape * scale)), np.int64)


def _sums(weights: Ints) -> list[Ints]:
    """At each level, the sums that still leave the decision open."""
    rest = np.concatenate([np.cumsum(weights[::-1])[::-1], [0]])
    threshold = rest[0] // 2
    levels: list[Ints] = [np.zeros(1, np.int64)]
    for level, weight in enumerate(weights[:-1].tolist()):
        sums = np.unique(np.concatenate([levels[-1], levels[-1] + weight]))
        levels.append(sums[(sums < threshold) & (sums + rest[level + 1] >= threshold)])
    return levels


def _from_sums(weights: Ints) -> DecisionGraph:
    levels = _sums(weights)
    threshold = weights.sum() // 2
    count = sum(map(len, levels)) + 2
    # Leaves 0 and 1 are the nodes 0 and 1; then the levels from the last up, so that children come first.
    first = {}
    at = 2
    for level in reversed(range(len(levels))):
        first[level] = at
        at += len(levels[level])
    tests = np.full(count, -1, np.int32)
    labels = np.full(count, -1, np.int32)
    labels[:2] = 0, 1
    child = np.zeros((count, 2), np.int32)
    for level, sums in enumerate(levels):
        mine = slice(first[level], first[level] + len(sums))
        tests[mine] = level
        below = levels[level + 1] if level + 1 < len(levels) else np.zeros(0, np.int64)
        for state in (0, 1):
            there = sums + state * weights[level]
            place = np.searchsorted(below, there)
            known = place < len(below)
            known[known] = below[place[known]] == there[known]
            child[mine, state] = np.where(known, first.get(level + 1, 0) + place, there >= threshold)
    inner = tests >= 0
    edges = 2 * int(inner.sum())
    states = np.tile(np.array([0, 1], np.int32), edges // 2)
    return DecisionGraph(
        tuple(Variable.nominal(f"x{v}", ("0", "1")) for v in range(len(weights))),
        ("0", "1"),
        tests,
        labels,
        np.concatenate([[0], np.cumsum(2 * inner)]).astype(np.int64),
        child[inner].ravel().astype(np.int32),
        np.arange(edges + 1, dtype=np.int64),
        states,
        states.copy(),
    )
