"""XGBoost: a model in JSON or UBJSON, or a live Booster, XGBClassifier or XGBRegressor.

XGBoost rounds values to 32 bits, and adds base score and leaves in 32 bits, in the order of the trees. The sums are
turned into a class as `XGBClassifier.predict` does; as there, a model that was stopped early ends with its best round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from quia.cuts import nearest_single, number_text
from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.files import decode
from quia.load import ubjson
from quia.load.binary import Column, check_categories, class_names, numbered
from quia.load.ensembles import Boosted, assemble, check_sums, simplest
from quia.load.links import least, logistic_rule, logit
from quia.load.malformed import malformed
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.load.xgboost_trees import Tree, compact, leaf_size, nodes_of
from quia.sums import Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier

OPTIONS = ("categories", "classes", "missing", "threshold")

_BINARY = ("binary:logistic", "binary:hinge")
_MANY = ("multi:softprob", "multi:softmax")
_NUMBERS = (
    "reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror",
    "reg:quantileerror",
)  # fmt: skip
"""Objectives of regressors whose prediction is the sum itself."""

_Result = TypeVar("_Result")
_Margins = npt.NDArray[np.float32]


class _Source(NamedTuple):
    """A saved model, its file, if it has one, and how it is asked.

    With `stop_early` it ends with its best round; the number `sentinel`, unless it is NaN, counts as missing; with
    `in_place` the sums of dart are those of `Booster.inplace_predict`, which differ in the last bit.
    """

    data: bytes
    file: str | None = None
    stop_early: bool = True
    sentinel: float = math.nan
    in_place: bool = True


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a live Booster, XGBClassifier or XGBRegressor."""
    return _with_model(_saved(source), lambda model: model.classifier(**options))


def trees_of(source: Any, threshold: Threshold | None = None) -> Boosted:
    """The trees of a live XGBClassifier or XGBRegressor, which compare in 32 bits, and how they are summed."""
    return _with_model(_saved(source), lambda model: model.boosted(threshold)[0])


def _saved(source: Any) -> _Source:
    booster = source.get_booster() if hasattr(source, "get_booster") else source
    if not hasattr(booster, "save_raw"):
        raise Unsupported(f"a {type(source).__qualname__} is no XGBoost model", cure="give a Booster or XGBClassifier")
    data = bytes(booster.save_raw("ubj"))
    if booster is source:  # Booster.predict goes on after the best round, and knows only NaN as missing
        return _Source(data, stop_early=False, in_place=False)
    missing = getattr(source, "missing", None)
    return _Source(data, sentinel=math.nan if missing is None else nearest_single(float(missing)))


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    """The classifier of an XGBoost model in JSON or UBJSON.

    `classes` names the classes 0, 1, …; `categories` names the codes 0, 1, … of categorical columns; with
    `missing=False` there is no state for a missing value. A regressor decides by a `threshold`: one class is what it
    predicts to be below, the other from there on; with several, there is a class between each and the next.
    """
    return _with_model(
        _Source(data, file), lambda model: model.classifier(classes, categories, missing, threshold=threshold)
    )


def _with_model(source: _Source, use: Callable[[_Model], _Result]) -> _Result:
    """The result of `use` on a model; what a malformed file makes it raise becomes a FormatError."""
    data, file = source.data, source.file
    with malformed("an XGBoost model", file):
        if data[:2] in (b"{L", b"{l", b"{i", b"{U", b"{I"):
            parsed = ubjson.parse(data, file)
        else:
            parsed = json.loads(decode(data, file), object_hook=compact)
        model = _Model(parsed["learner"], source)
        if source.stop_early:
            model.stop_early()
        return use(model)


class _Model:
    def __init__(self, learner: Mapping[str, Any], source: _Source) -> None:
        self.learner, self.file, self.source = learner, source.file, source
        self.notes: list[str] = []
        self.parameters = learner["learner_model_param"]
        self.objective = learner["objective"]["name"]
        booster = learner["gradient_booster"]
        if booster["name"] not in ("gbtree", "dart"):
            raise Unsupported(f"the booster is {shown(booster['name'])}", cure="train with booster='gbtree'")
        if self.objective not in (*_BINARY, *_MANY, *_NUMBERS):
            raise Unsupported(
                f"the objective is {shown(self.objective)}",
                cure=f"train with one of {listed((*_BINARY, *_MANY, *_NUMBERS), most=9)}",
            )
        self.weights = [float(weight) for weight in booster["weight_drop"]] if booster["name"] == "dart" else None
        self.model = booster["model"] if self.weights is None else booster["gbtree"]["model"]
        self.trees: Sequence[Tree] = self.model["trees"]
        self.groups = [int(group) for group in self.model["tree_info"]]
        self.many = max(int(self.parameters["num_class"]), 1)
        if int(self.parameters.get("num_target", "1")) > 1:
            raise Unsupported("the model has several targets", cure="train one model for each target")
        if not self.trees or len(self.groups) != len(self.trees):
            raise ValueError("trees and their groups do not fit")
        if self.weights is not None and len(self.weights) != len(self.trees):
            raise ValueError(f"{len(self.weights)} weights of {len(self.trees)} trees")
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
        ends: Sequence[int] = [int(end) for end in self.model.get("iteration_indptr", ())]
        ends = ends or range(0, len(self.trees) + 1, self._trees_a_round())
        if 0 <= int(best) < len(ends) - 2:
            self.trees = self.trees[: ends[int(best) + 1]]
            self.groups = self.groups[: len(self.trees)]
            self.weights = self.weights and self.weights[: len(self.trees)]
            self.notes.append(
                f"the model was stopped early: it ends with round {int(best) + 1} of {len(ends) - 1}, its best, as"
                " XGBClassifier.predict does"
            )

    def _trees_a_round(self) -> int:
        classes = 1 if leaf_size(self.trees[0]) > 1 else self.many
        return classes * max(int(self.model["gbtree_model_param"].get("num_parallel_tree", "1")), 1)

    def classifier(
        self,
        classes: Sequence[str] | None = None,
        categories: Mapping[str, Sequence[str]] | None = None,
        missing: bool = True,
        threshold: Threshold | None = None,
    ) -> Classifier:
        boosted, names = self.boosted(threshold, classes)
        variables, trees = assemble(self._columns(categories or {}), boosted.nodes, missing=missing, file=self.file)
        made = Ensemble(variables, names, trees, boosted.sums, kind="boosted trees", notes=boosted.notes)
        return simplest(made)

    def boosted(
        self, threshold: Threshold | None = None, classes: Sequence[str] | None = None
    ) -> tuple[Boosted, tuple[str, ...]]:
        """The trees and their sums, and the names of the classes."""
        if self.objective in _NUMBERS:
            names, rule = cutoff(refuse_without(threshold, f"the objective {self.objective}"), classes, single=True)
        elif threshold is not None:
            raise Unsupported(f"threshold is given, but {self.objective} decides by itself", cure="leave it out")
        else:
            names, rule = tuple(class_names(classes, max(self.many, 2))), self._rule()
        start = self._base()
        widths = {leaf_size(tree) for tree in self.trees}
        if len(widths) > 1 or not widths <= {1, self.many}:
            raise ValueError(f"leaves have {listed(sorted(widths))} values, and there are {self.many} scores")
        width = widths.pop()
        nodes = nodes_of(self.trees, width, self.source.sentinel)
        self._note_sentinel(any(test.codes is not None for test in nodes.tests))
        if width == 1 and not all(0 <= group < self.many for group in self.groups):
            raise ValueError(f"trees for the classes {listed(sorted(set(self.groups)))} of {self.many}")
        if self.weights is not None:
            nodes = nodes._replace(values=self._weighted(nodes.values, np.diff(nodes.start), start))
        outputs = tuple(self.groups) if width == 1 else (-1,) * len(self.trees)
        sums = Sums(outputs, tuple(start.astype(float).tolist()), rule, single=True)
        check_sums(nodes, sums)
        return Boosted(nodes, sums, tuple(self.notes)), names

    def _rule(self) -> Rule:
        """How sums tell the class, as XGBClassifier.predict has it."""
        if self.objective == "binary:hinge":
            return Rule("cuts", (least(lambda score: score > 0, single=True),))
        if self.objective == "binary:logistic":
            return logistic_rule()
        return Rule("softmax32" if self.objective == "multi:softprob" else "argmax")

    def _weighted(self, values: npt.NDArray[np.float64], sizes: Any, start: _Margins) -> npt.NDArray[np.float64]:
        """The values of the leaves of dart, each times the weight of its tree."""
        if values.ndim > 1:
            raise Unsupported("the trees of dart have several values at a leaf", cure="train with booster='gbtree'")
        weights = np.repeat(np.array(self.weights, np.float32), sizes)
        leaves = values.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.source.in_place:  # it adds a tree to the base score, and takes this off again
                base = np.repeat(start[self.groups], sizes)
                leaves = (base + leaves) - base
            return (leaves * weights).astype(np.float64)

    def _note_sentinel(self, categorical: bool) -> None:
        if self.source.sentinel != self.source.sentinel:
            return
        value = number_text(self.source.sentinel)
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
            values = np.asarray(column["values"]).tolist()
            if not values or skipped[index]:
                continue
            if "offsets" in column:
                ends = np.asarray(column["offsets"]).tolist()
                names = self._split_names(bytes(value % 256 for value in values), ends, index)
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

    def _base(self) -> _Margins:
        """The margin of each class before any tree."""
        scores = [float(score) for score in str(self.parameters["base_score"]).strip("[]").split(",")]
        base = [nearest_single(score) for score in (scores * self.many if len(scores) == 1 else scores)]
        if len(base) != self.many:
            raise ValueError(f"{len(base)} base scores for {self.many} classes")
        if not all(map(math.isfinite, base)):
            raise ValueError(f"the base score is {listed(base)}")
        return np.array([logit(score) for score in base] if self.objective == "binary:logistic" else base, np.float32)


def _has_leaves_of(size: int, tree: Tree) -> bool:
    """Whether the leaves of a tree have that many values, and the tree holds as many as one leaf needs."""
    if leaf_size(tree) != size:
        return False
    return size <= max(len(tree.get("leaf_weights", ())), len(tree.get("base_weights", ())))
