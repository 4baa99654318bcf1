"""LightGBM: a text model, or a live Booster, LGBMClassifier or LGBMRegressor.

Leaves are added in 64 bits, in the order of the trees, and the sums are turned into a class as `LGBMClassifier.predict`
does. A model that was stopped early ends with its best round, as that is what LightGBM saves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.files import decode
from quia.load.binary import Column, check_categories, class_names
from quia.load.ensembles import LEAF, Boosted, Nodes, assemble, check_sums, simplest
from quia.load.lightgbm_trees import nodes_of
from quia.load.links import least, logistic
from quia.load.malformed import malformed
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.sums import Group, Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier

OPTIONS = ("categories", "classes", "missing", "threshold")

_CLASSIFIERS = ("binary", "multiclass", "multiclassova")
_NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
"""Objectives of regressors whose prediction is the sum itself."""

_FLATTEST = 30.0  # where two sums above this are compared by their logistic curves, rounding decides

_Result = TypeVar("_Result")


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a live Booster, LGBMClassifier or LGBMRegressor."""
    if "classes" not in options and hasattr(source, "classes_"):
        options["classes"] = [str(label) for label in source.classes_]
    return read(_model_text(source), **options)


def trees_of(source: Any, threshold: Threshold | None = None) -> Boosted:
    """The trees of a live LGBMClassifier or LGBMRegressor, which compare in 64 bits, and how they are summed."""
    return _with_model(_model_text(source), None, lambda model: model.boosted(threshold)[0])


def _model_text(source: Any) -> bytes:
    booster = getattr(source, "booster_", source)
    if not hasattr(booster, "model_to_string"):
        raise Unsupported(
            f"a {type(source).__qualname__} is no LightGBM model", cure="give a Booster or LGBMClassifier"
        )
    if booster is not source and source.get_params().get("pred_early_stop"):
        raise Unsupported("the model predicts with pred_early_stop", cure="set pred_early_stop=False")
    return bytes(booster.model_to_string().encode())


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    """The classifier of a LightGBM model in text.

    `classes` names the classes 0, 1, …; `categories` names the codes 0, 1, … of categorical columns; with
    `missing=False` there is no state for a missing value. A regressor decides by a `threshold`: one class is what it
    predicts to be below, the other from there on; with several, there is a class between each and the next.
    """
    return _with_model(data, file, lambda model: model.classifier(classes, categories or {}, missing, threshold))


def _with_model(data: bytes, file: str | None, use: Callable[[_Model], _Result]) -> _Result:
    """The result of `use` on the model in a file; what a malformed file makes it raise becomes a FormatError."""
    with malformed("a LightGBM model", file):
        return use(_Model(decode(data, file), file))


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
        if self.objective not in (*_CLASSIFIERS, *_NUMBERS) or "sqrt" in parameters:
            raise Unsupported(
                f"the objective is {shown(self.head.get('objective', 'none'))}",
                cure=f"train with one of {listed((*_CLASSIFIERS, *_NUMBERS), most=9)}",
            )
        many = self.objective in ("multiclass", "multiclassova")
        expected = int(self.head["num_class"]) if many else 1
        if self.per_round != expected or not 1 <= expected <= len(self.trees):  # a round has a tree for each class
            raise ValueError(f"{len(self.trees)} trees, {self.per_round} a round, for {expected} scores")
        if len(self.trees) % self.per_round:
            raise ValueError(f"{len(self.trees)} trees, {self.per_round} a round")
        if not 0 < self.sigmoid < 1e6:
            raise ValueError(f"sigmoid is {self.sigmoid}")

    def classifier(
        self,
        classes: Sequence[str] | None,
        categories: Mapping[str, Sequence[str]],
        missing: bool,
        threshold: Threshold | None,
    ) -> Classifier:
        boosted, names = self.boosted(threshold, classes)
        variables, trees = assemble(self._columns(categories), boosted.nodes, missing=missing, file=self.file)
        kind = "random forest" if "average_output" in self.head else "boosted trees"
        return simplest(Ensemble(variables, names, trees, boosted.sums, kind=kind))

    def boosted(
        self, threshold: Threshold | None = None, classes: Sequence[str] | None = None
    ) -> tuple[Boosted, tuple[str, ...]]:
        """The trees and their sums, and the names of the classes."""
        if self.objective in _NUMBERS:
            asked = refuse_without(threshold, f"the objective {self.objective}")
            names, rule = cutoff(asked, classes, single=False)
        elif threshold is not None:
            raise Unsupported(f"threshold is given, but {self.objective} decides by itself", cure="leave it out")
        else:
            names, rule = tuple(class_names(classes, max(self.per_round, 2))), self._rule()
        nodes = nodes_of(self.trees)
        rounds, count = len(self.trees) // self.per_round, self.per_round
        divisor = float(rounds) if "average_output" in self.head else 1.0
        groups: tuple[Group, ...] = ()
        if self.objective == "multiclassova" and self.sigmoid != 1:
            groups, divisor = (Group(len(self.trees), divisor, self.sigmoid),), 1.0
        outputs = tuple(range(count)) * rounds
        sums = Sums(outputs, (0.0,) * count, rule, groups=groups, divisor=divisor)
        check_sums(nodes, sums)
        if self.objective == "multiclassova":
            self._check_flatness(nodes, self.sigmoid / (rounds if "average_output" in self.head else 1))
        return Boosted(nodes, sums), names

    def _rule(self) -> Rule:
        """How sums tell the class, as LGBMClassifier.predict has it."""
        if self.objective == "binary":
            return Rule("cuts", (least(self._is_second, single=False),))
        return Rule("softmax64" if self.objective == "multiclass" else "logistic")

    def _is_second(self, score: float) -> bool:
        probability = logistic(self.sigmoid * score)
        return probability > 1.0 - probability

    def _check_flatness(self, nodes: Nodes, factor: float) -> None:
        """Refuse sums of two classes so large that both chances are almost 1, and rounding makes them equal."""
        values = np.where(nodes.yes == LEAF, nodes.values, -np.inf)
        most = np.maximum.reduceat(values, nodes.start[:-1]).reshape(-1, self.per_round).sum(axis=0) * factor
        if self.per_round > 1 and np.sort(most)[-2] > _FLATTEST:
            raise Unsupported(
                f"the sums of two classes of multiclassova can reach {np.sort(most)[-2]:.3g}, where their chances are"
                " rounded to the same number",
                cure="train with objective='multiclass', or fewer rounds",
            )

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


def _pairs(block: str) -> dict[str, str]:
    split = (line.partition("=") for line in block.split("\n"))
    return {key: value for key, _, value in split if key}
