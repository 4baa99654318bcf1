"""scikit-learn's trees, alone or at the end of a pipeline, as decision graphs over the raw columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quia.graph import DecisionGraph
    from quia.load.agreement import Model

OPTIONS = ("label", "one_hot", "features", "classes", "check")


def convert(estimator: Any, **options: Any) -> DecisionGraph:
    """The decision graph of a fitted tree or pipeline.

    `label` makes decisions of probabilities ('bad >= 0.3') or of a regressor's values ('low < 100 <= high');
    `one_hot` names groups of dummies ({'colour': ['colour_red', 'colour_blue']}); `features` and `classes` name
    columns and classes; `check=False` leaves out the comparison with the model's own `predict`.
    """
    return convert_with_predictor(estimator, **options).classifier


def convert_with_predictor(estimator: Any, **options: Any) -> Model:
    """The decision graph together with the estimator's own decisions on the same rows."""
    from quia.load.sklearn.estimator import model_of

    return model_of(estimator, **options)
