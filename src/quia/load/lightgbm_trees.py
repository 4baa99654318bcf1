"""The trees of a LightGBM model as flat arrays: the text of each in, nodes out, every index checked.

A number goes left where it is not above the threshold, a category if it is one of the node's, and what is missing, or
near to zero, where the node says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval
from quia.errors import Unsupported
from quia.load.at_most import NEAR_ZERO
from quia.load.binary import Test, answered
from quia.load.ensembles import LEAF, Floats, Ints, Nodes

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NOTHING_IS_MISSING, _ZERO_IS_MISSING, _NAN_IS_MISSING = 0, 1, 2

Tree = Mapping[str, str]


def nodes_of(trees: Sequence[Tree]) -> Nodes:
    """The nodes of all trees: of each its inner nodes, then its leaves."""
    tests: dict[Test, int] = {}
    parts = [_arrays(tree, tests) for tree in trees]
    joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    start = np.cumsum([0, *(len(part[0]) for part in parts)])
    yes, no, column, threshold, missing, zero, special, values = joined
    special = _near_zero(yes, column, threshold, missing, zero, special, tests)
    return Nodes(start, yes, no, column, threshold, missing, values, after=True, special=special, tests=list(tests))


def _arrays(tree: Tree, tests: dict[Test, int]) -> tuple[npt.NDArray[Any], ...]:
    """One tree: where its nodes lead, what they ask, and how they answer for missing values and for zero."""
    if int(tree.get("is_linear", "0")):
        raise Unsupported("the leaves of a tree are linear models", cure="train with linear_tree=False")
    leaves = np.array(tree["leaf_value"].split(), np.float64)
    inner = int(tree["num_leaves"]) - 1
    if inner < 0 or len(leaves) != inner + 1:
        raise ValueError(f"{len(leaves)} values of {inner + 1} leaves")
    column, kind, left, right = (
        _integers(tree, key, inner) for key in ("split_feature", "decision_type", "left_child", "right_child")
    )
    threshold = np.array(tree.get("threshold", "").split() if inner else [], np.float64)
    if not len(column) == len(kind) == len(left) == len(right) == len(threshold) == inner:
        raise ValueError("the lists of inner nodes differ in length")
    ends = np.stack([left, right])
    if inner and not (ends >= ~inner).all():
        raise ValueError("a node leads to a leaf that is not there")
    ends = np.where(ends < 0, inner + ~ends, ends)
    by_code = kind & _CATEGORICAL != 0
    if np.isnan(threshold[~by_code]).any():
        raise ValueError("a threshold is not a number")
    type_of_missing, to_left = kind >> 2 & 3, kind & _DEFAULT_LEFT != 0
    if (type_of_missing[~by_code] > _NAN_IS_MISSING).any():
        raise ValueError("a decision type is not known")
    zero = np.where(type_of_missing == _ZERO_IS_MISSING, to_left, threshold >= 0)
    missing = np.where(type_of_missing == _NOTHING_IS_MISSING, threshold >= 0, to_left)
    special = np.full(inner, -1, np.int64)
    sets = _code_sets(tree, threshold[by_code])
    numbers = [
        tests.setdefault(Test(one, 0, 0, missing=False, codes=codes), len(tests))
        for one, codes in zip(column[by_code].tolist(), sets, strict=True)
    ]
    special[by_code] = numbers
    below = np.full(inner + 1, LEAF, np.int64)
    nothing, no = np.zeros(inner + 1), np.zeros(inner + 1, bool)
    return (
        np.concatenate([ends[0], below]),
        np.concatenate([ends[1], below]),
        np.concatenate([column, below + 1]),
        np.concatenate([np.where(by_code, 0.0, threshold), nothing]),
        np.concatenate([missing, no]),
        np.concatenate([zero, no]),
        np.concatenate([special, below]),
        np.concatenate([np.zeros(inner), leaves]),
    )


def _integers(tree: Tree, key: str, inner: int) -> Ints:
    return np.array([int(value) for value in tree[key].split()] if inner else [], np.int64)


def _code_sets(tree: Tree, numbers: Floats) -> list[frozenset[int]]:
    """The categories in these bit sets of a tree, of which each belongs to one node."""
    if not len(numbers):
        return []
    boundaries = np.array([int(value) for value in tree["cat_boundaries"].split()], np.int64)
    words = np.array([int(value) for value in tree["cat_threshold"].split()], np.uint32)
    if (np.diff(boundaries) < 0).any():
        raise ValueError("the bit sets of categories overlap")
    chosen = numbers.astype(np.int64)
    if chosen.min() < 0 or chosen.max() >= len(boundaries) - 1 or len(np.unique(chosen)) < len(chosen):
        raise ValueError("there is no such bit set, or two nodes have it")
    if boundaries[0] < 0:
        raise ValueError("a bit set begins before the first word")
    little = words.astype("<u4")
    return [
        frozenset(np.flatnonzero(np.unpackbits(little[a:b].view(np.uint8), bitorder="little")).tolist())
        for a, b in zip(boundaries[chosen].tolist(), boundaries[chosen + 1].tolist(), strict=True)
    ]


def _near_zero(
    yes: Ints,
    column: Ints,
    threshold: Floats,
    missing: npt.NDArray[np.bool_],
    zero: npt.NDArray[np.bool_],
    special: Ints,
    tests: dict[Test, int],
) -> Ints:
    """The questions of the table, now with those that answer for what is near to zero as for zero, unlike their cut."""
    upper = NEAR_ZERO.upper
    assert upper is not None
    same = (np.abs(threshold) > upper.threshold) & (zero == (threshold >= 0))
    nodes = np.flatnonzero((yes != LEAF) & (special < 0) & ~same)
    keys = np.stack([column[nodes], threshold[nodes], missing[nodes], zero[nodes]])
    different, number = np.unique(keys, axis=1, return_inverse=True)
    numbers = []
    for where, cut, to_yes, at_zero in different.T.tolist():
        test = Test(int(where), 0, 0, missing=bool(to_yes), where=(Interval(None, Cut(cut)),))
        numbers.append(tests.setdefault(answered(test, NEAR_ZERO, bool(at_zero)), len(tests)))
    found = special.copy()
    found[nodes] = np.array(numbers, np.int64)[number.reshape(-1)]
    return found
