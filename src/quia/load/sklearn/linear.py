"""scikit-learn's linear models: numbers times their coefficients, added up, and the intercept."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.addends import AdditiveHead, Weights, classes_of, numbers_of
from quia.load.sklearn.cut_off import least
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.head import rule_of
from quia.load.sklearn.labels import Rule
from quia.sums import Rule as ScoreRule

ABOVE_ZERO = ScoreRule("cuts", (math.nextafter(0.0, math.inf),))
"""The second class where the score is above 0."""

KINDS = {
    "sklearn.linear_model._logistic.LogisticRegression": "logistic regression",
    "sklearn.linear_model._logistic.LogisticRegressionCV": "logistic regression",
    "sklearn.svm._classes.LinearSVC": "linear support vector classifier",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier": "linear model",
    "sklearn.linear_model._ridge.RidgeClassifier": "ridge classifier",
    "sklearn.linear_model._ridge.RidgeClassifierCV": "ridge classifier",
    "sklearn.linear_model._perceptron.Perceptron": "perceptron",
    "sklearn.linear_model._passive_aggressive.PassiveAggressiveClassifier": "linear model",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": "linear discriminant analysis",
}
"""The types that are read here, and what they are called."""


REGRESSIONS = (
    "sklearn.linear_model._base.LinearRegression",
    "sklearn.linear_model._ridge.Ridge",
    "sklearn.linear_model._ridge.RidgeCV",
    "sklearn.linear_model._coordinate_descent.Lasso",
    "sklearn.linear_model._coordinate_descent.LassoCV",
    "sklearn.linear_model._coordinate_descent.ElasticNet",
    "sklearn.linear_model._coordinate_descent.ElasticNetCV",
)
"""The types whose predicted number, cut by a threshold, tells the class."""


def linear(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """A linear classifier: of two classes by one score above 0, of several by the first of the greatest."""
    rule = classes_of(final, label, classes)
    binarizer = getattr(final, "_label_binarizer", None)
    if binarizer is not None and str(binarizer.y_type_).startswith("multilabel"):
        raise Unsupported(
            f"the {type(final).__name__} decides on several labels at once", cure="fit one for each label"
        )
    scores = 1 if len(final.classes_) == 2 else len(final.classes_)
    addends, end = _addends(final, scores)
    score_rule = ABOVE_ZERO if scores == 1 else ScoreRule("argmax")
    if label is not None:
        rule, score_rule = _by_probability(final, rule, scores)
    kind = KINDS[f"{type(final).__module__}.{type(final).__qualname__}"]
    return AdditiveHead(addends, rule, score_rule, end, kind)


def regression(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """A linear regression, whose number tells the class by a threshold or by bands."""
    rule = rule_of(final, label, classes)
    if not rule.cuts or not all(map(math.isfinite, rule.cuts)):
        raise Unsupported(
            f"label does not split the numbers of the {type(final).__name__} at finite limits",
            cure="give threshold=100, or bands as in label='low < 100 <= high'",
        )
    addends, end = _addends(final, 1)
    return AdditiveHead(addends, rule, ScoreRule("cuts", rule.cuts), end, "linear regression")


def _addends(final: Any, scores: int) -> tuple[list[Weights], tuple[float, ...]]:
    """What each column adds, and the intercepts."""
    name = type(final).__name__
    coefficients = np.atleast_2d(numbers_of(final, "coef_"))
    if coefficients.shape != (scores, int(final.n_features_in_)):
        raise FormatError(
            f"the {name} has {final.n_features_in_} columns, and coefficients of the shape {coefficients.shape} for"
            f" {scores} scores; fit it to one target, or the model is damaged"
        )
    intercept = numbers_of(final, "intercept_")
    if intercept.shape not in ((), (1,), (scores,)):
        raise FormatError(f"the {name} has {intercept.size} intercepts for {scores} scores; the model is damaged")
    end = tuple(np.broadcast_to(intercept, (scores,)).tolist())
    return [Weights(column) for column in coefficients.T], end


def _by_probability(final: Any, rule: Rule, scores: int) -> tuple[Rule, ScoreRule]:
    """Where the score is cut: at the least one whose probability decides for the class that has the greater scores."""
    name = type(final).__name__
    if not hasattr(final, "predict_proba"):
        raise Unsupported(
            f"label cuts a probability, of which the {name} has none", cure="leave it out, or use a LogisticRegression"
        )
    if scores > 1:
        raise Unsupported(
            f"label is given for a {name} of {scores} classes, whose probabilities are no sums", cure="leave it out"
        )
    assert rule.classes is not None
    above = rule.classes[0] if rule.column == 1 else rule.classes[1]
    cut = least(lambda sums: np.array(rule.decide(_probabilities(final, sums))) == above)
    ordered = rule if above == rule.classes[1] else rule._replace(classes=rule.classes[::-1])
    return ordered, ScoreRule("cuts", (cut,))


def _probabilities(final: Any, sums: Floats) -> Any:
    """The probabilities that the model itself makes of scores."""
    model = copy.copy(final)
    model.decision_function = lambda _: sums[:, 0].copy()
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(model.predict_proba(np.zeros((len(sums), 1))), np.float64)
