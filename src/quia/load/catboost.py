"""CatBoost: a model in JSON, or a live CatBoost model, over numbers.

CatBoost rounds values to 32 bits and asks `value > border`; a missing value is above every border, or below all of
them, as each feature says. It adds the leaves in 64 bits, tree after tree, multiplies the sum by the scale and adds the
bias. The second of two classes is the one of sums above the logit of the probability threshold; of more classes, it is
the first with the greatest sum. Numbers are read as they are written, which are those of the model that was saved;
CatBoost itself reads some of them one bit off.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.files import decode, refuse_many_values
from quia.load.binary import Column, check_numbered, class_names
from quia.load.catboost_trees import Splits, nodes_of
from quia.load.ensembles import assemble, simplest
from quia.load.malformed import malformed
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.sums import Group, Rule, Sums
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier

OPTIONS = ("classes", "missing", "threshold")

_MANY = ("MultiClass", "MultiClassOneVsAll")
_POWERS = ("Poisson", "Tweedie")


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a live CatBoost, CatBoostClassifier or CatBoostRegressor."""
    if not hasattr(source, "save_model"):
        raise Unsupported(f"a {type(source).__qualname__} is no CatBoost model", cure="give a CatBoostClassifier")
    if not source.is_fitted():
        raise Unsupported(f"this {type(source).__qualname__} is not fitted", cure="fit it first")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        source.save_model(str(file), format="json")
        data = file.read_bytes()
    return read(data, **options)


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    """The classifier in a CatBoost model's JSON.

    `classes` renames the classes; with `missing=False` there is no state for a missing value; `threshold` makes classes
    of what a regressor predicts.
    """
    with malformed("a CatBoost model", file):
        refuse_many_values(data, file)
        return _Model(json.loads(decode(data, file)), file).classifier(classes, missing, threshold)


class _Model:
    def __init__(self, content: Mapping[str, Any], file: str | None) -> None:
        self.content, self.file = content, file
        self.info = content.get("model_info") or {}
        scale, bias = content["scale_and_bias"]
        self.scale = float(scale)
        self.bias = tuple(float(number) for number in (bias if isinstance(bias, list) else [bias]))
        if not self.bias or not all(map(math.isfinite, (self.scale, *self.bias))):
            raise ValueError(f"scale and bias are {shown([scale, bias])}")
        if self.scale <= 0:
            raise Unsupported(f"the scale of the model is {self.scale:g}", cure="give a model with a scale above 0")
        features = content["features_info"]
        self.floats: list[Mapping[str, Any]] = features.get("float_features") or []
        named: dict[int, str] = {}
        kinds = ("categorical_features", "text_features", "embedding_features")
        others = [feature for kind in kinds for feature in features.get(kind) or []]
        for feature in (*self.floats, *others):
            named[int(feature["flat_feature_index"])] = str(feature.get("feature_id") or "")
        if len(named) != len(self.floats) + len(others) or min(named, default=0) < 0:
            raise ValueError("two features have one index")
        count = 1 + max(named, default=-1)
        check_numbered(count)
        names = [named.get(index) or f"f{index}" for index in range(count)]
        if len(set(names)) < count:
            raise Unsupported(f"the features are {listed(names)}", cure="train it with names that differ")
        self.columns = [Column(name, single=True) for name in names]
        self.not_numbers = [int(feature["flat_feature_index"]) for feature in others]

    def classifier(self, classes: Sequence[str] | None, missing: bool, threshold: Threshold | None) -> Classifier:
        names, rule = self._rule(classes, threshold)
        nodes = nodes_of(self.content, Splits(self.floats), len(self.bias), self.file)
        variables, trees = assemble(self.columns, nodes, missing=missing, file=self.file)
        kept = list(variables)
        for index in self.not_numbers:  # no tree tests them, and any value will do
            kept[index] = Variable.nominal(variables[index].name, ["any value"], other="any value")
        scores, count = len(self.bias), len(trees)
        sums = Sums(
            (0 if scores == 1 else -1,) * count,
            (0.0,) * scores,
            rule,
            groups=() if self.scale == 1 else (Group(count, weight=self.scale),),
            end=self.bias,
        )
        return simplest(Ensemble(tuple(kept), names, trees, sums, kind="boosted trees"))

    def _rule(self, classes: Sequence[str] | None, threshold: Threshold | None) -> tuple[tuple[str, ...], Rule]:
        """The names of the classes, and the rule that tells them from the scores."""
        scores, labels = len(self.bias), self.info.get("class_params")
        loss = ((self.info.get("params") or {}).get("loss_function") or {}).get("type")
        if labels is None and scores == 1:
            if loss in _POWERS:
                raise Unsupported(
                    f"the loss is {loss}, of which CatBoost predicts powers of the sums", cure="train with another one"
                )
            return cutoff(refuse_without(threshold, "this CatBoost model"), classes, single=False)
        if threshold is not None:
            raise Unsupported("threshold is for regressors; this model predicts classes", cure="leave it out")
        if labels is None:
            raise Unsupported(f"the model predicts {scores} numbers, and no class", cure="train a CatBoostClassifier")
        names = [str(name) for name in labels["class_names"] or ("0", "1")]
        many = loss in _MANY or (loss is None and scores > 2)
        if len(names) != max(scores, 2) or list(labels["class_to_label"]) != list(range(len(names))):
            raise Unsupported(
                f"{scores} scores tell apart the classes {listed(names)}", cure="train it on rows of all classes"
            )
        if scores > 1 and not many:
            raise Unsupported(f"the loss is {shown(loss)}", cure=f"train with one of {listed(_MANY)}")
        chosen = tuple(class_names(classes or names, len(names)))
        if scores > 1:
            return chosen, Rule("argmax")
        return chosen, Rule("cuts", (math.nextafter(self._least_logit(), math.inf),))

    def _least_logit(self) -> float:
        """The logit of the probability that the second class must exceed."""
        probability = float(self.info.get("binclass_probability_threshold", 0.5))
        if not 0 < probability < 1:
            raise Unsupported(f"the probability threshold is {probability:g}", cure="give one between 0 and 1")
        return 0.0 if probability == 0.5 else -math.log(1 / probability - 1)
