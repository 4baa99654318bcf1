"""scikit-learn's own boosted trees, whose rounds add leaves or weighted votes, in 64 bits."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.boosted import Chosen, histogram_tree
from quia.load.sklearn.cut_off import least
from quia.load.sklearn.head import (
    CLASSIFIERS,
    Head,
    check_kind,
    check_member,
    place_of,
    predicts_missing,
    rule_of,
    summed,
    without_label,
)
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.tree import Tree, tree_of
from quia.sums import Rule as ScoreRule

_MOST_CELLS = 2_000_000  # in a table that the model is given at once
_SMALL = 1e-20  # two sums that differ by so little have equal probabilities


def gradient(final: Any, label: Any, classes: Any) -> Head:
    """GradientBoosting: a constant first guess, and the learning rate times the leaves of each round."""
    rate = float(final.learning_rate)
    rounds = []
    for members in np.atleast_2d(final.estimators_).tolist():
        trees = []
        for member in members:
            check_member(final, member, ("DecisionTreeRegressor",), final.n_features_in_)
            tree = tree_of(member)
            trees.append(tree._replace(values=rate * tree.values))
        rounds.append(trees)
    start = _first_guess(final)
    return _added(final, rounds, start, label, classes, single=True, missing=False, kind="gradient boosting")


def histogram(final: Any, label: Any, classes: Any) -> Head:
    """HistGradientBoosting: a first guess, and the leaves of each round; it compares in 64 bits."""
    is_categorical = getattr(final, "is_categorical_", None)
    width = int(final.n_features_in_)
    encoder: Any = None
    categorical: tuple[int, ...] = ()
    if is_categorical is not None:
        encoder, categorical = _own_encoder(final, np.asarray(is_categorical, bool))
    if not hasattr(final, "classes_") and final.loss not in ("squared_error", "absolute_error", "quantile"):
        raise Unsupported(
            f"the {type(final).__name__} predicts powers of its sums (loss={final.loss!r})",
            cure="fit it with loss='squared_error'",
        )
    chosen: dict[Chosen, int] = {}
    rounds = [
        [histogram_tree(member, width, len(categorical), chosen) for member in each] for each in final._predictors
    ]
    start = np.asarray(final._baseline_prediction, np.float64).reshape(-1).tolist()
    how = {"encoder": encoder, "categorical": categorical, "chosen": tuple(chosen)}
    return _added(final, rounds, start, label, classes, single=False, missing=True, kind="gradient boosting", **how)


def ada_boost(final: Any, label: Any, classes: Any) -> Head:
    """AdaBoost by SAMME: the weight of a tree counts for the class it decides on, and in part against the others."""
    if getattr(final, "algorithm", "SAMME") == "SAMME.R":
        raise Unsupported(
            "the AdaBoostClassifier adds logarithms of probabilities (SAMME.R)", cure="fit it with algorithm='SAMME'"
        )
    rule = without_label(final, label, classes)
    count = len(final.classes_)
    if count == 1:
        raise Unsupported("the AdaBoostClassifier knows a single class", cure="fit it to data of two classes or more")
    trees = []
    weights = np.asarray(final.estimator_weights_, np.float64)
    total = float(weights.sum())
    if not (np.isfinite(weights).all() and total > 0 and len(weights) >= len(final.estimators_)):
        raise FormatError(f"the weights of the AdaBoostClassifier sum to {total:g}; the model is damaged")
    for member, weight in zip(final.estimators_, weights, strict=False):
        check_kind(final, member)
        check_member(final, member, CLASSIFIERS, final.n_features_in_)
        tree = tree_of(member)
        places = [place_of(final, final.classes_, own) for own in member.classes_]
        decided = np.array(places)[np.argmax(tree.values, axis=1)]
        if count == 2:  # the first score is the second one negated, and scikit-learn subtracts them
            values = np.where(decided == 1, weight, -1 / (count - 1) * weight)[:, None]
        else:
            values = np.where(decided[:, None] == np.arange(count), weight, -1 / (count - 1) * weight)
        trees.append(tree._replace(values=values))
    _check_votes(final, weights, total)
    cut = ScoreRule("cuts", (float(np.nextafter(0.0, 1.0)),)) if count == 2 else ScoreRule("argmax")
    return summed(final, trees, rule, predicts_missing(final), divisor=total, score_rule=cut, kind="AdaBoost")


def _check_votes(final: Any, weights: Any, total: float) -> None:
    """Refuse a version of scikit-learn that adds other numbers than the weights and their parts."""
    rows = np.random.default_rng(0).normal(size=(8, final.n_features_in_))
    count = len(final.classes_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the names of the columns
        theirs = final.decision_function(rows).reshape(len(rows), -1)
        decided = [(member.predict(rows) == final.classes_[:, None]).T for member in final.estimators_]
    sums = np.zeros((len(rows), count))
    for votes, weight in zip(decided, weights, strict=False):
        sums += np.where(votes, weight, -1 / (count - 1) * weight)
    sums /= total
    if not np.array_equal(theirs, 2 * sums[:, 1:] if count == 2 else sums):
        raise Unsupported(
            "this version of scikit-learn adds the votes of AdaBoost in a way that is not known here",
            cure="use scikit-learn 1.6 or later",
        )


def _added(
    final: Any,
    rounds: Sequence[Sequence[Tree]],
    start: Sequence[float],
    label: Any,
    classes: Any,
    *,
    missing: bool,
    **how: Any,
) -> Head:
    """The head that decides for the greatest sum, or by where a single sum lies."""
    if not rounds or any(len(each_round) != len(start) for each_round in rounds):
        raise FormatError(f"the {type(final).__name__} has rounds without a tree for each of its {len(start)} sums")
    if not np.isfinite(start).all():
        raise FormatError(f"the {type(final).__name__} begins with sums that are not finite; the model is damaged")
    rule = rule_of(final, label, classes)
    trees = [tree for each_round in rounds for tree in each_round]
    outputs = [output for each_round in rounds for output in range(len(each_round))]
    score_rule = None
    if hasattr(final, "classes_"):
        if len(final.classes_) < 2:
            raise Unsupported(f"the {type(final).__name__} knows a single class", cure="fit it to two classes or more")
        if len(final.classes_) != max(len(start), 2):
            raise FormatError(f"the {type(final).__name__} has {len(final.classes_)} classes and {len(start)} sums")
        if len(start) > 1:
            score_rule = _check_argmax(final, label, len(start))
        else:
            rule, score_rule = _binary(final, rule, label)
    return summed(
        final, trees, rule, lambda sparse: missing, start=start, outputs=outputs, score_rule=score_rule, **how
    )


def _first_guess(final: Any) -> list[float]:
    """The sums before the first round, where they are the same for every row."""
    init = final.init_
    if not (isinstance(init, str) and init == "zero"):
        kind = f"{type(init).__module__}.{type(init).__qualname__}"
        constant = {
            "sklearn.dummy.DummyClassifier": ("prior", "most_frequent", "constant"),
            "sklearn.dummy.DummyRegressor": ("mean", "median", "quantile", "constant"),
        }
        if init.__dict__.get("strategy") not in constant.get(kind, ()):
            raise Unsupported(
                f"the {type(final).__name__} begins with what a {type(init).__qualname__} predicts",
                cure="fit it without init, or with init='zero'",
            )
    rows = np.asarray(final._raw_predict_init(np.zeros((9, final.n_features_in_), np.float32)), np.float64)
    if rows.shape[:1] != (9,) or not (rows == rows[0]).all():
        raise FormatError(f"the {type(final).__name__} does not begin with the same sums for every row")
    return [float(number) for number in rows[0].reshape(-1)]


def _own_encoder(final: Any, is_categorical: npt.NDArray[np.bool_]) -> tuple[Any, tuple[int, ...]]:
    """The encoder of the categorical columns, and these."""
    preprocessor = getattr(final, "_preprocessor", None)
    if preprocessor is None:
        raise Unsupported(
            f"the {type(final).__name__} has categorical features as scikit-learn before 1.4 had them",
            cure="fit it with a newer scikit-learn, or encode them in a step before it",
        )
    encoder = preprocessor.named_transformers_["encoder"]
    kind = f"{type(encoder).__module__}.{type(encoder).__qualname__}"
    places = tuple(np.flatnonzero(is_categorical).tolist())
    if (
        kind != "sklearn.preprocessing._encoders.OrdinalEncoder"
        or len(is_categorical) != final.n_features_in_
        or len(encoder.categories_) != len(places)
    ):
        raise FormatError(f"the {type(final).__name__} has no encoder of its categories; the model is damaged")
    return encoder, places


def _binary(final: Any, rule: Rule, label: Any) -> tuple[Rule, ScoreRule]:
    """Where the single sum of two classes is cut: at the least one that the model itself gives the second class.

    With a cut-off, at the least sum whose probability decides for the second class.
    """
    if label is None:
        cut = least(lambda sums: _own(final, sums, "predict") == final.classes_[1])
        return rule, ScoreRule("cuts", (cut,))
    if rule.cuts is None or rule.classes is None:
        raise Unsupported(
            f"label is a function, but the {type(final).__name__} has several trees, whose sums it would have to split",
            cure="write a cut-off such as 'bad >= 0.3'",
        )
    name = rule.classes[0] if rule.column == 1 else rule.classes[1]  # which has the greater sums
    cut = least(lambda sums: np.array(rule.decide(_own(final, sums, "predict_proba"))) == name)
    ordered = rule if name == rule.classes[1] else rule._replace(classes=rule.classes[::-1])
    return ordered, ScoreRule("cuts", (cut,))


def _check_argmax(final: Any, label: Any, count: int) -> ScoreRule:
    """The greatest sum, where the model itself compares sums and not their rounded powers."""
    if label is not None:
        raise Unsupported(
            f"label is given for a {type(final).__name__} of {count} classes, whose probabilities are no sums",
            cure="leave it out",
        )
    sums = np.full((count, count), -_SMALL)
    np.fill_diagonal(sums, _SMALL)
    if not np.array_equal(_own(final, sums, "predict"), final.classes_):
        raise Unsupported(
            f"this version of scikit-learn rounds what a {type(final).__name__} of several classes compares",
            cure="use scikit-learn 1.6 or later",
        )
    return ScoreRule("argmax")


def _own(final: Any, sums: npt.NDArray[np.float64], method: str) -> Any:
    """What the model itself makes of sums."""
    model = copy.copy(final)
    at_once = max(1, _MOST_CELLS // max(1, int(model.n_features_in_)))
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start in range(0, len(sums), at_once):
            some = sums[start : start + at_once]
            model._raw_predict = lambda *_, some=some, **__: some.copy()
            made.append(getattr(model, method)(np.zeros((len(some), model.n_features_in_))))
    return np.concatenate(made)
