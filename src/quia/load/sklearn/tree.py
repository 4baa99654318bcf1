"""The arrays of a fitted tree, checked because they may come from a file."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, Unsupported

LEAF = -1


class Tree(NamedTuple):
    """Parallel arrays, parents before children: node n sends `column[n] <= threshold[n]` to `left[n]`.

    `left` is -1 at a leaf; `values` has a row of class shares, or the one value of a regressor, for each node.
    """

    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float64]
    missing_left: npt.NDArray[np.bool_]
    values: npt.NDArray[np.float64]


def tree_of(estimator: Any) -> Tree:
    """The arrays of a fitted DecisionTree or ExtraTree, every index within its bounds."""
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise Unsupported(
            f"the tree decides on {estimator.n_outputs_} outputs at once", cure="fit one tree for each output"
        )
    fitted = estimator.tree_
    if f"{type(fitted).__module__}.{type(fitted).__qualname__}" != "sklearn.tree._tree.Tree":
        raise FormatError(f"the tree is a {type(fitted).__qualname__}; the model is damaged")
    if not 0 < fitted.node_count <= fitted.capacity:  # otherwise the arrays below would reach beyond its memory
        raise FormatError(f"the tree says it has {fitted.node_count} nodes; the model is damaged")
    left, right = (np.asarray(a, np.int64) for a in (fitted.children_left, fitted.children_right))
    column, threshold = np.asarray(fitted.feature, np.int64), np.asarray(fitted.threshold, np.float64)
    values = np.asarray(fitted.value, np.float64)
    missing_left = np.asarray(fitted.missing_go_to_left).astype(bool)
    count = len(left)
    if not count or {len(right), len(column), len(threshold), len(values), len(missing_left)} != {count}:
        raise FormatError(f"the tree's arrays are not all of its {count} nodes")
    width = len(estimator.classes_) if hasattr(estimator, "classes_") else 1
    if values.shape != (count, 1, width):
        raise FormatError(f"the tree's values have the shape {values.shape}; it should be {(count, 1, width)}")
    check_nodes(left, right, column, threshold, int(estimator.n_features_in_))
    return Tree(left, right, column, threshold, missing_left, values[:, 0, :])


def takes_missing(estimator: Any, sparse: bool) -> bool:
    """Whether the tree accepts NaN, tried on the tree itself: it depends on version, splitter and criterion."""
    if sparse:
        return False
    row = np.full((1, estimator.n_features_in_), np.nan, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the names of the columns
        try:
            estimator.apply(row)
        except ValueError:
            return False
    return True


def check_nodes(
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    column: npt.NDArray[np.int64],
    threshold: npt.NDArray[np.float64],
    columns: int,
) -> None:
    """Refuse arrays that are not a tree: children follow their parents, have one parent each, and columns exist."""
    count, inner = len(left), left != LEAF
    node = np.arange(count)
    wrong = (right[~inner] != LEAF).any()
    for child in (left, right):
        wrong = wrong or ((child[inner] <= node[inner]) | (child[inner] >= count)).any()
    if wrong:
        raise FormatError("a node of the tree has a child that is not below it; the model is damaged")
    children = np.concatenate((left[inner], right[inner]))
    if len(np.unique(children)) != count - 1 or len(children) != count - 1:
        raise FormatError("the nodes of the tree do not hang together as one tree; the model is damaged")
    if ((column[inner] < 0) | (column[inner] >= columns)).any():
        raise FormatError(f"the tree tests a column beyond its {columns}; the model is damaged")
    if len(undefined := np.flatnonzero(inner & np.isnan(threshold))):
        raise FormatError(f"node {undefined[0]} of the tree has the threshold NaN; the model is damaged")


def probabilities(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What `predict_proba` gives: scikit-learn 1.3 still divides by the sum, later versions store shares."""
    if _sklearn_version() >= (1, 4):
        return values
    total = values.sum(axis=1)[:, None]
    total[total == 0.0] = 1.0
    return np.asarray(values / total)


def _sklearn_version() -> tuple[int, int]:
    major, minor = version("scikit-learn").split(".")[:2]
    return int(major), int(minor)
