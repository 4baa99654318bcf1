"""The trees of a CatBoost model as flat arrays: oblivious ones, which ask one question a level, and plain ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quia.errors import Unsupported, shown
from quia.load.ensembles import LEAF, Floats, Ints, Nodes

_DEEPEST = 16  # CatBoost grows no deeper ones, and a level doubles the leaves
_CATEGORIES = {
    "OneHotFeature": "categories",
    "OnlineCtr": "statistics of categories",
    "EstimatedFeature": "what is made of texts or embeddings",
}


class Splits:
    """The questions that nodes may ask: the column of each float feature, its borders, and where missing goes."""

    def __init__(self, features: Sequence[Mapping[str, Any]]) -> None:
        self.column: dict[int, int] = {}
        self.above: dict[int, bool] = {}  # whether a missing value is above every border
        self.borders: dict[int, set[float]] = {}
        for feature in features:
            index, treatment = int(feature["feature_index"]), feature.get("nan_value_treatment", "AsIs")
            if treatment not in ("AsIs", "AsFalse", "AsTrue"):
                raise Unsupported(f"missing values are treated as {shown(treatment)}", cure="train with nan_mode='Min'")
            self.column[index] = int(feature["flat_feature_index"])
            self.above[index] = treatment == "AsTrue"
            self.borders[index] = {float(border) for border in feature.get("borders") or ()}

    def read(self, split: Mapping[str, Any]) -> tuple[int, float, bool]:
        """The column of a question, its border, and whether a missing value is below it."""
        kind = split["split_type"]
        if kind != "FloatFeature":
            raise Unsupported(
                f"a tree asks about {_CATEGORIES.get(kind, shown(kind))} ({kind}), which the file has only as hashes",
                cure="encode these columns as numbers before training",
            )
        index, border = int(split["float_feature_index"]), float(split["border"])
        if border not in self.borders[index]:
            raise ValueError(f"{border} is no border of feature {index}")
        return self.column[index], border, not self.above[index]


def nodes_of(content: Mapping[str, Any], splits: Splits, width: int, file: str | None) -> Nodes:
    """The nodes of all trees of a model with so many scores; the answer yes is `value <= border`."""
    oblivious, plain = content.get("oblivious_trees"), content.get("trees")
    if (oblivious is None) == (plain is None):
        raise ValueError("it has neither oblivious_trees nor trees, or both")
    if oblivious is not None:
        trees = [_oblivious(tree, splits, width) for tree in oblivious]
    else:
        trees = [_plain(tree, splits, width) for tree in plain or ()]
    if not trees:
        raise ValueError("it has no trees")
    yes, no, column, border, missing, values = (np.concatenate(arrays) for arrays in zip(*trees, strict=True))
    if not (np.isfinite(values).all() and np.isfinite(border).all()):
        raise ValueError("a leaf or border is not a finite number")
    start = np.concatenate([[0], np.cumsum([len(tree[0]) for tree in trees])])
    with np.errstate(over="ignore"):
        single = border.astype(np.float32).astype(np.float64)
    return Nodes(start, yes, no, column, single, missing, values, after=True)


_Tree = tuple[Ints, Ints, Ints, Floats, np.ndarray[Any, np.dtype[np.bool_]], Floats]
"""The arrays of a tree: yes, no, column, border, missing, values."""


def _oblivious(tree: Mapping[str, Any], splits: Splits, width: int) -> _Tree:
    """A tree whose leaf number has a bit for each question, set where the value is above the border.

    Nodes are numbered level by level; where earlier answers leave one answer only, the question is left out.
    """
    asked = [splits.read(split) for split in tree.get("splits") or ()]
    depth = len(asked)
    if depth > _DEEPEST:
        raise ValueError(f"a tree of depth {depth}")
    if len(tree["leaf_values"]) != width << depth:
        raise ValueError(f"a tree of depth {depth} has {len(tree['leaf_values'])} values at its leaves")
    inner = (1 << depth) - 1
    values = np.zeros((2 * inner + 1, width))
    values[inner:] = np.array(tree["leaf_values"], np.float64).reshape(1 << depth, width)
    number = np.arange(1 << depth)
    possible = np.ones(1 << depth, bool)
    for first, (column, border, _) in enumerate(asked):
        for second, (other, lower, _) in enumerate(asked):
            if column == other and (border > lower or (border == lower and first < second)):
                possible &= ((number >> first) & 1 == 0) | ((number >> second) & 1 == 1)
            if column == other and border == lower and first < second:
                possible &= ((number >> first) & 1 == 1) | ((number >> second) & 1 == 0)
    goal = np.where(possible, inner + number, LEAF)  # where a subtree begins once needless questions are left out
    yes, no = np.full(2 * inner + 1, LEAF), np.full(2 * inner + 1, LEAF)
    for level in range(depth - 1, -1, -1):
        below, above = goal[: 1 << level], goal[1 << level :]
        both = (below != LEAF) & (above != LEAF)
        here = (1 << level) - 1 + np.arange(1 << level)
        yes[here], no[here] = np.where(both, below, LEAF), np.where(both, above, LEAF)
        goal = np.where(both, here, np.maximum(below, above))
    levels = np.repeat(np.arange(depth), 1 << np.arange(depth))
    rest = inner + 1
    return (
        yes,
        no,
        np.concatenate([np.array([a[0] for a in asked], np.int64)[levels], np.zeros(rest, np.int64)]),
        np.concatenate([np.array([a[1] for a in asked], np.float64)[levels], np.zeros(rest)]),
        np.concatenate([np.array([a[2] for a in asked], bool)[levels], np.zeros(rest, bool)]),
        values,
    )


def _plain(tree: Mapping[str, Any], splits: Splits, width: int) -> _Tree:
    """A tree of nested objects with `left`, `right` and `split`, or `value`."""
    open_nodes, yes, no, asked, values = [tree], [], [], [], []
    for node in open_nodes:  # the list grows while it is walked
        if "split" not in node:
            value = node["value"]
            leaf = [float(number) for number in (value if isinstance(value, list) else [value])]
            if len(leaf) != width:
                raise ValueError(f"a leaf has {len(leaf)} values; it has {width}")
            yes.append(LEAF)
            no.append(LEAF)
            asked.append((0, 0.0, False))
            values.append(leaf)
            continue
        yes.append(len(open_nodes))
        no.append(len(open_nodes) + 1)
        asked.append(splits.read(node["split"]))
        values.append([0.0] * width)
        open_nodes += (node["left"], node["right"])
    columns, borders, missing = zip(*asked, strict=True)
    return (
        np.array(yes, np.int64),
        np.array(no, np.int64),
        np.array(columns, np.int64),
        np.array(borders, np.float64),
        np.array(missing, bool),
        np.array(values, np.float64),
    )
