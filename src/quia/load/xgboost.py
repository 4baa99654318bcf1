"""XGBoost: a JSON model, or a live Booster or XGBClassifier, whose class is a function of one tree.

XGBoost rounds values to 32 bits and goes left where `value < threshold`; a category goes right if it is one of a
node's; a missing value goes where the node says. The sum of leaf and base score is turned into a class as
`XGBClassifier.predict` does, in 32-bit arithmetic; as there, a model that was stopped early ends with its best round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval, nearest_single, number_text
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
    numbered,
)

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

OPTIONS = ("categories", "classes", "missing")

_BINARY = ("binary:logistic", "binary:hinge")
_MANY = ("multi:softprob", "multi:softmax")
_Result = TypeVar("_Result")
_Margins = npt.NDArray[np.float32]
_SMALLEST_SCORE = nearest_single(1e-6)  # a base score below this is raised to it, one that near to 1 is lowered


def convert(source: Any, **options: Any) -> DecisionGraph:
    """The graph of a live Booster or XGBClassifier."""
    return _with_model(*_model_json(source), lambda model: model.graph(**options))


def tree_of(source: Any) -> BinaryTree:
    """The tree of a live XGBClassifier; a leaf is the number of its class."""
    return _with_model(*_model_json(source), lambda model: model.tree())


def _model_json(source: Any) -> tuple[bytes, str | None, bool, float]:
    """The JSON of a live model, no file, whether it ends with its best round, and its number for missing values."""
    booster = source.get_booster() if hasattr(source, "get_booster") else source
    if not hasattr(booster, "save_raw"):
        raise Unsupported(f"a {type(source).__qualname__} is no XGBoost model", cure="give a Booster or XGBClassifier")
    data = bytes(booster.save_raw("json"))
    if booster is source:  # Booster.predict goes on after the best round, and knows only NaN as missing
        return data, None, False, math.nan
    missing = getattr(source, "missing", None)
    return data, None, True, math.nan if missing is None else nearest_single(float(missing))


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
) -> DecisionGraph:
    """The graph of an XGBoost model in JSON.

    `classes` names the classes 0, 1, …; `categories` names the codes 0, 1, … of categorical columns; with
    `missing=False` there is no state for a missing value.
    """
    return _with_model(data, file, True, math.nan, lambda model: model.graph(classes, categories, missing))


def _with_model(
    data: bytes, file: str | None, stop_early: bool, sentinel: float, use: Callable[[_Model], _Result]
) -> _Result:
    """The result of `use` on a model, which may end with its best round; `sentinel` is its number for missing."""
    if data[:2] in (b"{L", b"{l", b"{i", b"{U"):
        raise Unsupported("this XGBoost model is in UBJSON", cure='save it as JSON: booster.save_model("model.json")')
    try:
        model = _Model(json.loads(decode(data, file))["learner"], file, sentinel)
        if stop_early:
            model.stop_early()
        return use(model)
    except QuiaError:
        raise
    except json.JSONDecodeError as fault:
        raise FormatError(f"is not JSON: {fault.msg} (column {fault.colno})", file=file, line=fault.lineno) from None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as fault:
        raise FormatError(
            f"is not an XGBoost model that can be read: {type(fault).__name__} {shown(str(fault))}", file=file
        ) from None


class _Model:
    def __init__(self, learner: Mapping[str, Any], file: str | None, sentinel: float) -> None:
        self.learner, self.file, self.sentinel = learner, file, sentinel
        self.notes: list[str] = []
        self.parameters = learner["learner_model_param"]
        self.objective = learner["objective"]["name"]
        booster = learner["gradient_booster"]
        if booster["name"] != "gbtree":
            raise Unsupported(f"the booster is {shown(booster['name'])}", cure="train with booster='gbtree'")
        if self.objective not in (*_BINARY, *_MANY):
            raise Unsupported(
                f"the objective is {shown(self.objective)}", cure=f"train with one of {listed((*_BINARY, *_MANY))}"
            )
        self.model = booster["model"]
        self.trees: list[Mapping[str, Any]] = self.model["trees"]
        self.groups: list[int] = self.model["tree_info"]
        self.many = max(int(self.parameters["num_class"]), 1)
        if int(self.parameters.get("num_target", "1")) > 1:
            raise Unsupported("the model has several targets", cure="train one model for each target")
        if not self.trees or len(self.groups) != len(self.trees):
            raise ValueError("trees and their groups do not fit")
        # A round has a tree for each class, or trees whose leaves have a value for each.
        if self.many > len(self.trees) and not all(_has_leaves_of(self.many, tree) for tree in self.trees):
            raise ValueError(f"{len(self.trees)} trees for {self.many} classes")
        if (self.objective in _MANY) != (self.many > 1):
            raise ValueError(f"{self.objective} with {self.many} classes")

    def stop_early(self) -> None:
        """Drop the trees after the round that early stopping found best."""
        best = self.learner.get("attributes", {}).get("best_iteration")
        if best is None:
            return
        ends = self.model.get("iteration_indptr") or range(0, len(self.trees) + 1, self._trees_a_round())
        if 0 <= int(best) < len(ends) - 2:
            self.trees = self.trees[: ends[int(best) + 1]]
            self.groups = self.groups[: len(self.trees)]
            self.notes.append(
                f"the model was stopped early: it ends with round {int(best) + 1} of {len(ends) - 1}, its best, as"
                " XGBClassifier.predict does"
            )

    def _trees_a_round(self) -> int:
        classes = 1 if _leaf_size(self.trees[0]) > 1 else self.many
        return classes * max(int(self.model["gbtree_model_param"].get("num_parallel_tree", "1")), 1)

    def graph(
        self,
        classes: Sequence[str] | None = None,
        categories: Mapping[str, Sequence[str]] | None = None,
        missing: bool = True,
    ) -> DecisionGraph:
        tree = self.tree()
        names = class_names(classes, max(self.many, 2))
        columns = self._columns(categories or {})
        return build(columns, names, tree.root, tree.node, missing=missing, file=self.file, notes=self.notes)

    def tree(self) -> BinaryTree:
        """The one tree that has tests; the values of all other trees, each a single leaf, are added to its leaves."""
        grown = [index for index, tree in enumerate(self.trees) if tree["left_children"][0] != -1]
        if len(grown) > 1:
            each_class = f", one for each of {self.many} classes a round" if len(set(self.groups)) > 1 else ""
            hint = " (for several classes: multi_strategy='multi_output_tree')" if each_class else ""
            raise Unsupported(f"the class depends on {len(grown)} trees{each_class}", cure=ENSEMBLE + hint)
        only = grown[0] if grown else 0
        sums = self._base()
        for index, tree in enumerate(self.trees):
            if index != only:
                self._add(sums, index, tree, 0)
        tree = self.trees[only]
        codes = self._categories(tree)
        kinds = tree.get("split_type")
        if _leaf_size(tree) <= 1:
            check_scores(len(tree["left_children"]), self.many)

        def node(number: int) -> Node:
            left, right = tree["left_children"][number], tree["right_children"][number]
            if number < 0:
                raise ValueError(f"node {number}")
            if left == -1:
                margins = sums.copy()
                self._add(margins, only, tree, number)
                return self._decide(margins)
            column, to_left = int(tree["split_indices"][number]), bool(tree["default_left"][number])
            if kinds is not None and kinds[number]:
                return Test(column, right, left, missing=not to_left, codes=codes[number])
            threshold = nearest_single(float(tree["split_conditions"][number]))
            if threshold != threshold:
                raise ValueError(f"the threshold of node {number} is {threshold}")
            test = Test(column, left, right, missing=to_left, where=(Interval(None, Cut(threshold, False)),))
            if self.sentinel != self.sentinel or (self.sentinel < threshold) == to_left:
                return test
            return answered(test, Interval(Cut(self.sentinel, False), Cut(self.sentinel, True)), to_left)

        self._check_sentinel(bool(codes))
        return BinaryTree(0, node)

    def _check_sentinel(self, categorical: bool) -> None:
        if self.sentinel != self.sentinel:
            return
        value = number_text(self.sentinel)
        if categorical:
            raise Unsupported(
                f"the model has missing={value} and tests categories, whose codes may be that number",
                cure="train with missing=nan and missing values as NaN",
            )
        self.notes.append(f"the number {value} counts as missing, as the model has missing={value}")

    def _columns(self, categories: Mapping[str, Sequence[str]]) -> list[Column]:
        count = int(self.parameters["num_feature"])
        names = self.learner.get("feature_names") or numbered(count, "f")
        if len(names) != count:
            raise ValueError(f"{len(names)} names of {count} features")
        stored = self._stored_categories([name in categories for name in names])
        check_categories(categories, names)
        return [
            Column(name, single=True, categories=tuple(categories[name]) if name in categories else stored[index])
            for index, name in enumerate(names)
        ]

    def _stored_categories(self, skipped: Sequence[bool]) -> list[tuple[str, ...] | None]:
        """The names of categories, which XGBoost stores since 3.1, as bytes with offsets or as numbers."""
        stored: list[tuple[str, ...] | None] = [None] * len(skipped)
        for index, column in enumerate(self.model.get("cats", {}).get("enc", [])):
            values = column["values"]
            if not values or skipped[index]:
                continue
            if "offsets" in column:
                names = self._split_names(bytes(value % 256 for value in values), column["offsets"], index)
            else:
                names = [str(int(value)) if float(value).is_integer() else str(value) for value in values]
            stored[index] = tuple(names)
        return stored

    def _split_names(self, data: bytes, ends: Sequence[int], column: int) -> list[str]:
        try:
            if ends[-1] == len(data):
                return [data[a:b].decode() for a, b in pairwise(ends)]
        except UnicodeDecodeError:
            pass
        # XGBoost 3.2 counts characters where it should count bytes, so letters beyond ASCII are cut apart.
        raise Unsupported(
            f"the names of the categories of column {column} are damaged in the model",
            cure="give categories={column: [names in the order of their codes]}",
        )

    def _categories(self, tree: Mapping[str, Any]) -> dict[int, frozenset[int]]:
        listed_codes = tree.get("categories", [])
        segments = list(
            zip(
                tree.get("categories_nodes", []),
                tree.get("categories_segments", []),
                tree.get("categories_sizes", []),
                strict=True,
            )
        )
        if min((min(start, size) for _, start, size in segments), default=0) < 0:
            raise ValueError("a node's categories start or end below zero")
        if sum(size for _, _, size in segments) > len(listed_codes):  # each node has codes of its own
            raise ValueError("the nodes have more categories than there are")
        return {node: frozenset(listed_codes[start : start + size]) for node, start, size in segments}

    def _base(self) -> _Margins:
        """The margin of each class before any tree."""
        scores = [float(score) for score in str(self.parameters["base_score"]).strip("[]").split(",")]
        base = [nearest_single(score) for score in (scores * self.many if len(scores) == 1 else scores)]
        if len(base) != self.many:
            raise ValueError(f"{len(base)} base scores for {self.many} classes")
        if not all(map(math.isfinite, base)):
            raise ValueError(f"the base score is {listed(base)}")
        return np.array([_logit(score) for score in base] if self.objective == "binary:logistic" else base, np.float32)

    def _add(self, margins: _Margins, index: int, tree: Mapping[str, Any], leaf: int) -> None:
        """Add a leaf of a tree to the margins."""
        size = _leaf_size(tree)
        if size <= 1:
            group = int(self.groups[index])
            if not 0 <= group < self.many:
                raise ValueError(f"a tree for class {group} of {self.many}")
            chosen, values = slice(group, group + 1), [tree["split_conditions"][leaf]]
        elif "leaf_weights" in tree:  # since 3.2 the right child of a leaf is its place among the leaves
            start = int(tree["right_children"][leaf]) * size
            chosen, values = slice(None), tree["leaf_weights"][start : start + size]
        else:
            chosen, values = slice(None), tree["base_weights"][leaf * size : (leaf + 1) * size]
        added = np.array([nearest_single(float(value)) for value in values], np.float32)
        with np.errstate(over="ignore"):
            sums = margins[chosen] + added
        if len(added) != len(margins[chosen]) or not np.isfinite(sums).all():
            raise ValueError(f"the values of leaf {leaf} are {listed(values)}")
        margins[chosen] = sums

    def _decide(self, margins: _Margins) -> int:
        """The class, as XGBClassifier.predict takes it from the margins, ties broken by 32-bit rounding."""
        if self.objective == "binary:hinge":
            return int(margins[0] > 0)
        if self.objective == "binary:logistic":
            score = float(margins[0])
            return int(nearest_single(1 / nearest_single(nearest_single(math.exp(min(-score, 88.7))) + 1)) > 0.5)
        if self.objective == "multi:softprob":
            powers = np.exp((margins - margins.max()).astype(np.float64)).astype(np.float32)
            total = np.cumsum(powers, dtype=np.float64)[-1]  # in order, as XGBoost adds them
            margins = powers / np.float32(total)
        return int(np.argmax(margins))  # the first of equal ones


def _leaf_size(tree: Mapping[str, Any]) -> int:
    """How many values a leaf has."""
    return int(tree["tree_param"].get("size_leaf_vector", "1") or 1)


def _has_leaves_of(size: int, tree: Mapping[str, Any]) -> bool:
    """Whether the leaves of a tree have that many values, and the tree holds as many as one leaf needs."""
    return _leaf_size(tree) == size <= len(tree.get("leaf_weights") or tree["base_weights"])


def _logit(probability: float) -> float:
    """The margin of a probability, which XGBoost keeps away from 0 and 1."""
    if not 0 <= probability <= 1:
        raise ValueError(f"the base score {probability} is not a probability")
    inside = min(max(probability, _SMALLEST_SCORE), nearest_single(1 - _SMALLEST_SCORE))
    return nearest_single(-math.log(nearest_single(nearest_single(1 / inside) - 1)))
