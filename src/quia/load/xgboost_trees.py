"""The trees of an XGBoost model as flat arrays: parsed JSON or UBJSON in, nodes out, every index checked.

A number goes left where it is below the threshold, a category right if it is one of the node's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval
from quia.load.binary import Test, answered
from quia.load.ensembles import LEAF, Floats, Ints, Nodes

Tree = Mapping[str, Any]

_KEPT = (
    "left_children", "right_children", "split_indices", "split_conditions", "default_left", "split_type", "categories",
    "categories_nodes", "categories_segments", "categories_sizes", "leaf_weights", "base_weights",
)  # fmt: skip


def compact(parsed: dict[str, Any]) -> dict[str, Any]:
    """An object of a model's JSON; if it is a tree, its lists are arrays, and those that are not used are gone.

    For `json.loads`, so that no list of a large model outlives its tree.
    """
    if "left_children" not in parsed:
        return parsed
    vectors = _has_vectors(parsed)
    wanted = [key for key in _KEPT if key in parsed and (vectors or key != "base_weights")]
    return {"tree_param": parsed["tree_param"], **{key: np.asarray(parsed[key]) for key in wanted}}


def _has_vectors(tree: Tree) -> bool:
    return leaf_size(tree) > 1


def leaf_size(tree: Tree) -> int:
    """How many values a leaf has."""
    return max(int(tree["tree_param"].get("size_leaf_vector", "1") or 1), 1)


def nodes_of(trees: Sequence[Tree], width: int, sentinel: float) -> Nodes:
    """The nodes of all trees, whose leaves have so many values; `sentinel`, unless NaN, is a number for missing."""
    left, right, column = (_ints(trees, key) for key in ("left_children", "right_children", "split_indices"))
    condition = _singles(trees, "split_conditions")
    to_left = _ints(trees, "default_left") != 0
    sizes = np.array([len(tree["left_children"]) for tree in trees], np.int64)
    of_categories = np.concatenate([_kinds(tree) for tree in trees]) != 0
    for array in (right, column, condition, to_left, of_categories):
        if len(array) != len(left):
            raise ValueError("the lists of nodes differ in length")
    start = np.concatenate([[0], np.cumsum(sizes)])
    is_leaf = left == LEAF
    tests: list[Test] = []
    special = np.full(len(left), -1, np.int64)
    yes, no = left, right
    chosen = np.flatnonzero(of_categories & ~is_leaf)
    if len(chosen):
        special[chosen] = _category_tests(trees, start, chosen, column, to_left, tests)
        asks = special >= 0
        yes, no = np.where(asks, right, left), np.where(asks, left, right)
    if sentinel == sentinel:
        other = np.flatnonzero(~is_leaf & (special < 0) & ((sentinel < condition) != to_left))
        special[other] = _sentinel_tests(column[other], condition[other], to_left[other], sentinel, tests)
    values = condition if width == 1 else _vectors(trees, start, right, width)
    return Nodes(start, yes, no, column, condition, to_left, values, special=special, tests=tests)


def _ints(trees: Sequence[Tree], key: str) -> Ints:
    return np.concatenate([_checked(tree[key], "iub") for tree in trees]).astype(np.int64)


def _kinds(tree: Tree) -> npt.NDArray[Any]:
    """Whether each node tests categories: XGBoost before 1.3 did not say, as none did."""
    return _checked(tree.get("split_type", np.zeros(len(tree["left_children"]), np.int64)), "iub")


def _singles(trees: Sequence[Tree], key: str) -> Floats:
    """Numbers in 32 bits, as 64."""
    with np.errstate(over="ignore"):
        return np.concatenate([_checked(tree[key], "iuf").astype(np.float32) for tree in trees]).astype(np.float64)


def _checked(values: Any, kinds: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in kinds):
        raise ValueError(f"a list of a tree has {array.ndim} dimensions, or holds what is no number")
    return array


def _category_tests(
    trees: Sequence[Tree], start: Ints, chosen: Ints, column: Ints, to_left: npt.NDArray[np.bool_], tests: list[Test]
) -> Ints:
    """The number of the test of each of these nodes in the table, to which new tests are added."""
    known: dict[tuple[int, bool, frozenset[int]], int] = {}
    numbers = []
    at, codes = -1, dict[int, frozenset[int]]()
    for node in chosen.tolist():
        tree = int(np.searchsorted(start, node, side="right")) - 1
        if tree != at:
            at, codes = tree, _codes(trees[tree])
        key = (int(column[node]), bool(to_left[node]), codes[node - int(start[tree])])
        if key not in known:
            known[key] = len(tests)
            tests.append(Test(key[0], 0, 0, missing=not key[1], codes=key[2]))
        numbers.append(known[key])
    return np.array(numbers, np.int64)


def _codes(tree: Tree) -> dict[int, frozenset[int]]:
    """The categories of each node of a tree that has some."""
    keys = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    listed, *segments = (_checked(tree.get(key, ()), "iub").tolist() for key in keys)
    every = list(zip(*segments, strict=True))
    if min((min(begin, size) for _, begin, size in every), default=0) < 0:
        raise ValueError("a node's categories start or end below zero")
    if sum(size for _, _, size in every) > len(listed):  # each node has codes of its own
        raise ValueError("the nodes have more categories than there are")
    return {node: frozenset(listed[begin : begin + size]) for node, begin, size in every}


def _sentinel_tests(
    column: Ints, threshold: Floats, to_left: npt.NDArray[np.bool_], sentinel: float, tests: list[Test]
) -> Ints:
    """The numbers in the table of tests of which the sentinel is answered as missing values are."""
    at = Interval(Cut(sentinel, False), Cut(sentinel, True))
    different, number = np.unique(np.stack([column, threshold, to_left]), axis=1, return_inverse=True)
    first = len(tests)
    for where, below, left in different.T.tolist():
        test = Test(int(where), 0, 0, missing=bool(left), where=(Interval(None, Cut(below, False)),))
        tests.append(answered(test, at, bool(left)))
    return first + number.reshape(-1)


def _vectors(trees: Sequence[Tree], start: Ints, right: Ints, width: int) -> Floats:
    """The values of all nodes of trees whose leaves have several."""
    parts = []
    for tree, begin, end in zip(trees, start[:-1].tolist(), start[1:].tolist(), strict=True):
        if "leaf_weights" in tree:  # since 3.2 the right child of a leaf is its place among the leaves
            rows = _singles([tree], "leaf_weights").reshape(-1, width)
            leaf = np.asarray(tree["left_children"]) == LEAF
            place = np.where(leaf, right[begin:end], 0)
            if not len(rows) or place.min() < 0 or place.max() >= len(rows):
                raise ValueError(f"a leaf has no values among {len(rows)} rows")
            parts.append(rows[place])
        else:
            parts.append(_singles([tree], "base_weights").reshape(end - begin, width))
    return np.concatenate(parts)
