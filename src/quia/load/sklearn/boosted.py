"""The trees of boosting as arrays like scikit-learn's: left where a number is not above the threshold."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, Unsupported
from quia.load import lightgbm, xgboost
from quia.load.at_most import NEAR_ZERO, at_most
from quia.load.ensembles import Boosted, in_order
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.steps import Formula
from quia.load.sklearn.tree import LEAF, Tree, check_nodes
from quia.sums import Sums

_LOW, _HIGH = NEAR_ZERO


def _without_near_zero(x: Floats) -> Floats:
    assert _LOW is not None
    assert _HIGH is not None
    return np.where((x >= _LOW.threshold) & (x <= _HIGH.threshold), 0.0, x)


NEAR_ZERO_IS_ZERO = Formula(_without_near_zero)
"""LightGBM treats a number very near to zero as zero."""


class Assembled(NamedTuple):
    """Trees that go left where a number is at most the threshold, how they are summed, and columns that are rounded."""

    trees: list[Tree]
    sums: Sums
    notes: tuple[str, ...]
    rounded: frozenset[int]


def xgboost_trees(final: Any, threshold: Any = None) -> Assembled:
    """The trees of a fitted XGBClassifier, XGBRegressor or a forest of XGBoost's."""
    missing = getattr(final, "missing", None)
    if missing is not None and float(missing) == float(missing):
        raise Unsupported(
            f"the {type(final).__name__} takes {float(missing):g} for missing",
            cure="train it with missing=nan, or load it alone",
        )
    return _assembled(final, xgboost.trees_of(final, threshold), single=True)


def lightgbm_trees(final: Any, threshold: Any = None) -> Assembled:
    """The trees of a fitted LGBMClassifier or LGBMRegressor."""
    return _assembled(final, lightgbm.trees_of(final, threshold), single=False)


def _assembled(final: Any, boosted: Boosted, *, single: bool) -> Assembled:
    nodes, rounded = at_most(boosted.nodes, single=single)
    start, kept, yes, no = in_order(nodes, None)
    inner = yes != LEAF
    column, threshold = nodes.column[kept].astype(np.int64), nodes.threshold[kept].astype(np.float64)
    if ((column[inner] < 0) | (column[inner] >= final.n_features_in_)).any() or np.isnan(threshold[inner]).any():
        raise FormatError(f"a tree of the {type(final).__name__} tests a column that is not there, or no threshold")
    values = nodes.values.reshape(len(nodes.yes), -1)[kept]
    trees = []
    for first, end in pairwise(start.tolist()):
        here = slice(first, end)
        left, right = (np.where(inner[here], side[here] - first, LEAF) for side in (yes, no))
        trees.append(Tree(left, right, column[here], threshold[here], nodes.missing[kept[here]], values[here]))
    return Assembled(trees, boosted.sums, boosted.notes, rounded)


class Chosen(NamedTuple):
    """A test of categories as a column of its own: zero where a column has one of these codes, else one."""

    column: int
    codes: tuple[int, ...]

    @property
    def step(self) -> Formula:
        codes = np.array(self.codes, np.float64)
        return Formula(lambda x: np.where(np.isin(x, codes), 0.0, 1.0), breaks=tuple(codes.tolist()))


def histogram_tree(predictor: Any, columns: int, categorical: int, chosen: dict[Chosen, int]) -> Tree:
    """The tree of a predictor of HistGradientBoosting, from its table of nodes, every index within its bounds.

    The first columns are categorical; a test of their codes becomes one of a column beyond all others, one of `chosen`.
    """
    nodes = predictor.nodes
    if not isinstance(nodes, np.ndarray) or not len(nodes) or nodes.dtype.names is None:
        raise FormatError("a tree of the HistGradientBoosting has no nodes; the model is damaged")
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, LEAF, nodes[side].astype(np.int64)) for side in ("left", "right"))
    column, threshold = nodes["feature_idx"].astype(np.int64), nodes["num_threshold"].astype(np.float64)
    of_codes = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    threshold[of_codes] = 0.5
    check_nodes(left, right, column, threshold, columns)
    for node, codes in zip(of_codes.tolist(), _codes(predictor, nodes["bitset_idx"][of_codes]), strict=True):
        if column[node] >= categorical:
            raise FormatError("a tree tests the categories of a column that has none; the model is damaged")
        column[node] = columns + chosen.setdefault(Chosen(int(column[node]), codes), len(chosen))
    values = nodes["value"].astype(np.float64)[:, None]
    return Tree(left, right, column, threshold, nodes["missing_go_to_left"].astype(bool), values)


def _codes(predictor: Any, rows: npt.NDArray[Any]) -> list[tuple[int, ...]]:
    """The codes in each of these rows of bits."""
    if not len(rows):
        return []
    table = np.asarray(predictor.raw_left_cat_bitsets)
    if table.ndim != 2 or table.shape[1] != 8 or table.dtype != np.uint32 or rows.max() >= len(table):
        raise FormatError("a tree tests categories that are not there; the model is damaged")
    words = np.ascontiguousarray(table[rows.astype(np.int64)].astype("<u4"))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return [tuple(np.flatnonzero(row).tolist()) for row in bits]
