"""LightGBM: a text model, or a live Booster or LGBMClassifier, whose class is a function of one tree.

LightGBM goes left where `value <= threshold`, in 64 bits, or where a category is in the node's bit set. A node says
what counts as missing: nothing (NaN is then 0), zero, or NaN. The class is taken from the score as
`LGBMClassifier.predict` does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from quia.cuts import Cut, Interval
from quia.errors import FormatError, QuiaError, Unsupported, listed, shown
from quia.files import decode
from quia.load.binary import (
    ENSEMBLE,
    BinaryTree,
    Column,
    Node,
    Test,
    answered,
    build,
    check_categories,
    check_scores,
    class_names,
)

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

OPTIONS = ("categories", "classes", "missing")

_Result = TypeVar("_Result")
_OBJECTIVES = ("binary", "multiclass", "multiclassova")
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_ZERO = 1.0000000180025095e-35  # LightGBM treats numbers this near to zero as zero
NEAR_ZERO = Interval(Cut(-_ZERO, False), Cut(_ZERO, True))


def convert(source: Any, **options: Any) -> DecisionGraph:
    """The graph of a live Booster or LGBMClassifier."""
    if "classes" not in options and hasattr(source, "classes_"):
        options["classes"] = [str(label) for label in source.classes_]
    return read(_model_text(source), **options)


def tree_of(source: Any) -> BinaryTree:
    """The tree of a live LGBMClassifier; a leaf is the number of its class."""
    return _with_model(_model_text(source), None, lambda model: model.tree())


def _model_text(source: Any) -> bytes:
    booster = getattr(source, "booster_", source)
    if not hasattr(booster, "model_to_string"):
        raise Unsupported(
            f"a {type(source).__qualname__} is no LightGBM model", cure="give a Booster or LGBMClassifier"
        )
    return bytes(booster.model_to_string().encode())


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
) -> DecisionGraph:
    """The graph of a LightGBM model in text.

    `classes` names the classes 0, 1, …; `categories` names the codes 0, 1, … of categorical columns; with
    `missing=False` there is no state for a missing value.
    """
    return _with_model(data, file, lambda model: model.graph(classes, categories or {}, missing))


def _with_model(data: bytes, file: str | None, use: Callable[[_Model], _Result]) -> _Result:
    """The result of `use` on the model in a file; what a malformed file makes it raise becomes a FormatError."""
    try:
        return use(_Model(decode(data, file), file))
    except QuiaError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise FormatError(
            f"is not a LightGBM model that can be read: {type(fault).__name__} {shown(str(fault))}", file=file
        ) from None


class _Model:
    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        body, _, after = text.replace("\r\n", "\n").partition("\nend of trees")
        head, *trees = body.split("\nTree=")
        self.head = _pairs(head)
        self.trees = [_pairs(tree) for tree in trees]
        self.category_lines = [line for line in after.split("\n") if line.startswith("pandas_categorical:")]
        self.per_round = int(self.head["num_tree_per_iteration"])
        self.objective, *parameters = self.head.get("objective", "none").split()
        self.sigmoid = next((float(p[8:]) for p in parameters if p.startswith("sigmoid:")), 1.0)
        if self.objective not in _OBJECTIVES:
            raise Unsupported(
                f"the objective is {shown(self.objective)}", cure=f"train with one of {listed(_OBJECTIVES)}"
            )
        expected = 1 if self.objective == "binary" else int(self.head["num_class"])
        if self.per_round != expected or not 1 <= expected <= len(self.trees):  # a round has a tree for each class
            raise ValueError(f"{len(self.trees)} trees, {self.per_round} a round, for {expected} scores")

    def graph(
        self, classes: Sequence[str] | None, categories: Mapping[str, Sequence[str]], missing: bool
    ) -> DecisionGraph:
        tree = self.tree()
        names = class_names(classes, max(self.per_round, 2))
        return build(self._columns(categories), names, tree.root, tree.node, missing=missing, file=self.file)

    def tree(self) -> BinaryTree:
        """The one tree that has tests; the values of all other trees, each a single leaf, are added to its leaves."""
        grown = [index for index, tree in enumerate(self.trees) if int(tree["num_leaves"]) > 1]
        if len(grown) > 1 or ("average_output" in self.head and len(self.trees) > self.per_round):
            how = f", one for each of {self.per_round} classes a round" if self.per_round > 1 else ""
            raise Unsupported(f"the class depends on {max(len(grown), 2)} trees{how}", cure=ENSEMBLE)
        only = grown[0] if grown else 0
        scores = [0.0] * self.per_round
        for index, tree in enumerate(self.trees):
            if index != only:
                scores[index % self.per_round] += float(tree["leaf_value"])
        tree = self.trees[only]
        if int(tree.get("is_linear", "0")):
            raise Unsupported("the leaves of the tree are linear models", cure="train with linear_tree=False")
        leaves = [float(value) for value in tree["leaf_value"].split()]
        check_scores(len(leaves), self.per_round)
        splits = _Splits(tree)

        def node(number: int) -> Node:
            if number < 0:
                sums = list(scores)
                sums[only % self.per_round] += leaves[~number]
                return self._decide(sums)
            return splits.test(number)

        return BinaryTree(0 if grown else -1, node)

    def _columns(self, categories: Mapping[str, Sequence[str]]) -> list[Column]:
        names, kinds = self.head["feature_names"].split(), self.head["feature_infos"].split()
        if not len(names) == len(kinds) == int(self.head["max_feature_idx"]) + 1:
            raise ValueError("names, kinds and number of the features do not fit")
        categories_of: dict[str, Sequence[Any]] = {}
        categorical = [name for name, kind in zip(names, kinds, strict=True) if kind[0] != "[" and kind != "none"]
        stored = json.loads(self.category_lines[0].partition(":")[2]) if self.category_lines else None
        # Otherwise some categorical column is constant, and the file does not say which.
        if stored and len(stored) == len(categorical):
            categories_of = dict(zip(categorical, stored, strict=True))
        check_categories(categories, names)
        categories_of.update(categories)
        return [
            Column(
                name,
                categories=tuple(map(str, categories_of[name])) if name in categories_of else None,
                unseen_is_missing=True,
            )
            for name in names
        ]

    def _decide(self, scores: Sequence[float]) -> int:
        """The class, as LGBMClassifier.predict takes it from the scores."""
        if self.objective == "binary":
            probability = _logistic(self.sigmoid * scores[0])
            return int(probability > 1.0 - probability)
        if self.objective == "multiclassova":
            probabilities = [_logistic(self.sigmoid * score) for score in scores]
        else:
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            probabilities = [power / total for power in powers]
        return max(range(len(probabilities)), key=lambda index: probabilities[index])  # the first of equal ones


class _Splits:
    """The inner nodes of a tree; below zero a child is a leaf."""

    def __init__(self, tree: Mapping[str, str]) -> None:
        self.column, self.kind, self.left, self.right = (
            [int(value) for value in tree[key].split()]
            for key in ("split_feature", "decision_type", "left_child", "right_child")
        )
        self.threshold = [float(value) for value in tree["threshold"].split()]
        self.boundaries = [int(value) for value in tree.get("cat_boundaries", "").split()]
        self.words = [int(value) for value in tree.get("cat_threshold", "").split()]
        if any(a > b for a, b in pairwise(self.boundaries)):
            raise ValueError("the bit sets of categories overlap")
        self.used: set[int] = set()

    def test(self, node: int) -> Test:
        column, kind, left, right = self.column[node], self.kind[node], self.left[node], self.right[node]
        threshold = self.threshold[node]
        if kind & _CATEGORICAL:
            return Test(column, left, right, missing=False, codes=self._codes(int(threshold)))
        if threshold != threshold:
            raise ValueError(f"the threshold of node {node} is not a number")
        where, to_left = (Interval(None, Cut(threshold)),), bool(kind & _DEFAULT_LEFT)
        zero = threshold >= 0  # the answer about zero, which a number too near to zero is rounded to
        match kind >> 2 & 3:
            case 0:  # nothing is missing: NaN counts as 0
                missing = zero
            case 1:  # zero is missing, and so is NaN
                missing = zero = to_left
            case 2:
                missing = to_left
            case _:
                raise ValueError(f"decision type {kind}")
        test = Test(column, left, right, missing=missing, where=where)
        if abs(threshold) > _ZERO and zero == (threshold >= 0):
            return test
        return answered(test, NEAR_ZERO, zero)

    def _codes(self, index: int) -> frozenset[int]:
        if not 0 <= index < len(self.boundaries) - 1 or index in self.used:
            raise ValueError(f"there is no bit set {index}, or two nodes have it")
        self.used.add(index)
        words = self.words[self.boundaries[index] : self.boundaries[index + 1]]
        return frozenset(
            32 * word_index + bit for word_index, word in enumerate(words) for bit in range(32) if word >> bit & 1
        )


def _pairs(block: str) -> dict[str, str]:
    split = (line.partition("=") for line in block.split("\n"))
    return {key: value for key, _, value in split if key}


def _logistic(score: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-score, 700.0)))
