"""XGBoost: a JSON model, or a live Booster or XGBClassifier, whose class is a function of one tree.

XGBoost rounds values to 32 bits and goes left where `value < threshold`; a category goes right if it is one of a
node's; a missing value goes where the node says. The sum of leaf and base score is turned into a class as
`XGBClassifier.predict` does, in 32-bit arithmetic; like it, a model that was stopped early ends with its best round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from quia.conditions import Interval
from quia.cuts import Cut, nearest_single, number_text
from quia.errors import FormatError, QuiaError, Unsupported, listed, shown
from quia.load.binary import ENSEMBLE, Column, Node, Test, answered, build, class_names
from quia.load.files import decode

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

OPTIONS = ("categories", "classes", "missing")

_BINARY = ("binary:logistic", "binary:hinge")
_MANY = ("multi:softprob", "multi:softmax")
_LEAST = nearest_single(1e-6)  # a base score below this is raised to it, one that near to 1 is lowered


def convert(source: Any, **options: Any) -> DecisionGraph:
    """The graph of a live Booster or XGBClassifier."""
    booster = source.get_booster() if hasattr(source, "get_booster") else source
    if not hasattr(booster, "save_raw"):
        raise Unsupported(f"a {type(source).__qualname__} is no XGBoost model", cure="give a Booster or XGBClassifier")
    data = bytes(booster.save_raw("json"))
    if booster is source:  # Booster.predict goes on after the best round, and knows only NaN as missing
        return _graph(data, None, stops=False, **options)
    given = getattr(source, "missing", None)
    return _graph(data, None, sentinel=math.nan if given is None else nearest_single(float(given)), **options)


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
    `missing=False` a missing value is no state.
    """
    return _graph(data, file, classes=classes, categories=categories, missing=missing)


def _graph(
    data: bytes,
    file: str | None,
    *,
    classes: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
    stops: bool = True,
    sentinel: float = math.nan,
) -> DecisionGraph:
    """The graph of a model that `stops` after its best round, or does not; the `sentinel` is a number for missing."""
    if data[:2] in (b"{L", b"{l", b"{i", b"{U"):
        raise Unsupported("this XGBoost model is in UBJSON", cure='save it as JSON: booster.save_model("model.json")')
    try:
        model = _Model(json.loads(decode(data, file))["learner"], file, sentinel)
        if stops:
            model.stop_early()
        return model.graph(classes, categories or {}, missing)
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
        if not self.trees or len(self.groups) != len(self.trees) or not 1 <= self.many <= 100_000:
            raise ValueError("trees, their groups and classes do not fit")
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
        classes = 1 if int(self.trees[0]["tree_param"].get("size_leaf_vector", "1") or 1) > 1 else self.many
        return classes * max(int(self.model["gbtree_model_param"].get("num_parallel_tree", "1")), 1)

    def graph(
        self, classes: Sequence[str] | None, categories: Mapping[str, Sequence[str]], missing: bool
    ) -> DecisionGraph:
        grown = [index for index, tree in enumerate(self.trees) if tree["left_children"][0] != -1]
        if len(grown) > 1:
            how = f", one for each of {self.many} classes a round" if len(set(self.groups)) > 1 else ""
            aside = " (for several classes: multi_strategy='multi_output_tree')" if how else ""
            raise Unsupported(f"the class depends on {len(grown)} trees{how}", cure=ENSEMBLE + aside)
        chosen = grown[0] if grown else 0
        names = class_names(classes, max(self.many, 2))
        rest = self._base()
        for index, tree in enumerate(self.trees):
            if index != chosen:
                rest = self._added(rest, index, tree, 0)
        tree = self.trees[chosen]
        codes = self._categories(tree)

        def node(at: int) -> Node:
            left, right = tree["left_children"][at], tree["right_children"][at]
            if at < 0:
                raise ValueError(f"node {at}")
            if left == -1:
                return self._decide(self._added(rest, chosen, tree, at))
            column, to_left = int(tree["split_indices"][at]), bool(tree["default_left"][at])
            if tree.get("split_type", [0] * (at + 1))[at]:
                return Test(column, right, left, missing=not to_left, codes=codes[at])
            threshold = nearest_single(float(tree["split_conditions"][at]))
            if threshold != threshold:
                raise ValueError(f"the threshold of node {at} is {threshold}")
            test = Test(column, left, right, missing=to_left, where=(Interval(None, Cut(threshold, False)),))
            if self.sentinel != self.sentinel or (self.sentinel < threshold) == to_left:
                return test
            return answered(test, Interval(Cut(self.sentinel, False), Cut(self.sentinel, True)), to_left)

        self._check_sentinel(bool(codes))
        return build(self._columns(categories), names, 0, node, missing=missing, file=self.file, notes=self.notes)

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
        names = self.learner.get("feature_names") or [f"f{index}" for index in range(count)]
        if len(names) != count:
            raise ValueError(f"{len(names)} names of {count} features")
        stored = self._stored_categories([name in categories for name in names])
        for name in categories:
            if name not in names:
                raise Unsupported(f"categories names {shown(name)}, which is no column", cure=f"use {listed(names)}")
        return [
            Column(name, single=True, categories=tuple(categories[name]) if name in categories else stored[index])
            for index, name in enumerate(names)
        ]

    def _stored_categories(self, given: Sequence[bool]) -> list[tuple[str, ...] | None]:
        """The names of categories, which XGBoost keeps since 3.1 as bytes with offsets, or as numbers."""
        found: list[tuple[str, ...] | None] = [None] * len(given)
        for index, column in enumerate(self.model.get("cats", {}).get("enc", [])):
            values = column["values"]
            if not values or given[index]:
                continue
            if "offsets" in column:
                parts = self._cut(bytes(value % 256 for value in values), column["offsets"], index)
            else:
                parts = [str(int(value)) if float(value).is_integer() else str(value) for value in values]
            found[index] = tuple(parts)
        return found

    def _cut(self, text: bytes, ends: Sequence[int], column: int) -> list[str]:
        try:
            if ends[-1] == len(text):
                return [text[a:b].decode() for a, b in pairwise(ends)]
        except UnicodeDecodeError:
            pass
        # XGBoost 3.2 counts characters where it should count bytes, so letters beyond ASCII are cut apart.
        raise Unsupported(
            f"the names of the categories of column {column} are damaged in the model",
            cure="give categories={column: [names in the order of their codes]}",
        )

    def _categories(self, tree: Mapping[str, Any]) -> dict[int, frozenset[int]]:
        listed_codes = tree.get("categories", [])
        segments = zip(
            tree.get("categories_nodes", []),
            tree.get("categories_segments", []),
            tree.get("categories_sizes", []),
            strict=True,
        )
        return {node: frozenset(listed_codes[start : start + size]) for node, start, size in segments}

    def _base(self) -> list[float]:
        """The margin of each class before any tree."""
        given = [float(part) for part in str(self.parameters["base_score"]).strip("[]").split(",")]
        base = [nearest_single(score) for score in (given * self.many if len(given) == 1 else given)]
        if len(base) != self.many:
            raise ValueError(f"{len(base)} base scores for {self.many} classes")
        if not all(map(math.isfinite, base)):
            raise ValueError(f"the base score is {listed(base)}")
        return [_logit(score) for score in base] if self.objective == "binary:logistic" else base

    def _added(self, margins: Sequence[float], index: int, tree: Mapping[str, Any], leaf: int) -> list[float]:
        """The margins when a leaf of a tree is added to them."""
        size = int(tree["tree_param"].get("size_leaf_vector", "1") or 1)
        if size <= 1:
            group = int(self.groups[index])
            values = [0.0] * self.many
            values[group] = float(tree["split_conditions"][leaf])
        elif "leaf_weights" in tree:  # since 3.2 the right child of a leaf is its place among the leaves
            start = int(tree["right_children"][leaf]) * size
            values = tree["leaf_weights"][start : start + size]
        else:
            values = tree["base_weights"][leaf * size : (leaf + 1) * size]
        return [nearest_single(a + nearest_single(float(b))) for a, b in zip(margins, values, strict=True)]

    def _decide(self, margins: Sequence[float]) -> int:
        """The class, as XGBClassifier.predict takes it from the margins, ties broken by 32-bit rounding."""
        if self.objective == "binary:hinge":
            return int(margins[0] > 0)
        if self.objective == "binary:logistic":
            return int(nearest_single(1 / nearest_single(nearest_single(math.exp(min(-margins[0], 88.7))) + 1)) > 0.5)
        if self.objective == "multi:softprob":
            top = max(margins)
            powers = [nearest_single(math.exp(nearest_single(margin - top))) for margin in margins]
            total = nearest_single(sum(powers))
            margins = [nearest_single(power / total) for power in powers]
        return max(range(len(margins)), key=lambda which: margins[which])  # the first of equals


def _logit(chance: float) -> float:
    """The margin of a chance, which XGBoost keeps away from 0 and 1."""
    if not 0 <= chance <= 1:
        raise ValueError(f"the base score {chance} is no chance")
    kept = min(max(chance, _LEAST), nearest_single(1 - _LEAST))
    return nearest_single(-math.log(nearest_single(nearest_single(1 / kept) - 1)))
