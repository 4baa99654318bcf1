"""scikit-learn's trees, ensembles, linear models and naive Bayes, alone or in a pipeline, on the raw columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model

OPTIONS = ("label", "threshold", "one_hot", "features", "classes", "check")


def convert(estimator: Any, **options: Any) -> Classifier:
    """The classifier of a fitted tree, ensemble, linear model, naive Bayes or pipeline that ends in one.

    `label` makes decisions of probabilities ('bad >= 0.3') or of a regressor's values ('low < 100 <= high');
    `threshold` is the number, or several, from which on a regressor's value is another class; `one_hot` names groups of
    dummies ({'colour': ['colour_red', 'colour_blue']}); `features` and `classes` name columns and classes;
    `check=False` leaves out the comparison with the model's own `predict`.
    """
    return convert_with_predictor(estimator, **options).classifier


def convert_with_predictor(estimator: Any, **options: Any) -> Model:
    """The classifier together with the estimator's own decisions on the same rows."""
    from quia.load.sklearn.estimator import model_of

    return model_of(estimator, **options)
