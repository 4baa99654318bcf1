"""Pictures of plots: what matplotlib draws."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from photographs.camera import small
from photographs.studio import EXAMPLES, REFUSED, Studio

import quia

Draw = Callable[[Studio], Any]
"""Gives Axes."""


def drawn(draw: Draw) -> Callable[[Studio], bytes]:
    """What a plot shows, as a PNG."""

    def take(studio: Studio) -> bytes:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        out = io.BytesIO()
        figure = draw(studio).figure
        figure.savefig(out, dpi=120, bbox_inches="tight", facecolor="white", metadata={"Software": None})
        pyplot.close(figure)
        return small(out.getvalue())

    return take


def _why(studio: Studio, model: str = "examples/loan.json") -> quia.Explanation:
    import pandas as pd

    people = pd.read_csv(studio.folder / studio.applicants)
    row = pd.read_csv(EXAMPLES / "loans.csv").iloc[REFUSED - 1]
    return quia.explain(quia.load(studio.folder / model), dict(row.drop("outcome")), data=people)


def reason(studio: Studio) -> Any:
    """The shortest reason and the nearest change."""
    return _why(studio).plot()


def importance(studio: Studio) -> Any:
    """Each feature's share of the reasons."""
    return _card().plot_importance()


def tree(studio: Studio) -> Any:
    """The tree with the way lit."""
    why = _why(studio)
    return quia.load(EXAMPLES / "loan.json").plot(why.instance)


def scores(studio: Studio) -> Any:
    """How far each feature alone moves the score of boosted trees."""
    why = _why(studio, studio.boosted)
    return quia.load(studio.folder / studio.boosted).plot(why.instance)


def points(_: Studio) -> Any:
    """The same of a scorecard."""
    why = _card()
    return quia.load(EXAMPLES / "credit_scorecard.csv").plot(why.instance)


def _card() -> quia.Explanation:
    import pandas as pd

    person = dict(pd.read_csv(EXAMPLES / "applicant.csv", keep_default_na=False).iloc[0])
    return quia.explain(quia.load(EXAMPLES / "credit_scorecard.csv"), person)


def _audit() -> Any:
    return quia.audit(
        quia.load(EXAMPLES / "loan.json"),
        str(EXAMPLES / "loans.csv"),
        label="outcome",
        protected=["sex"],
        favourable="grant",
    )


def digit(_: Studio) -> Any:
    """Why a tree takes an image for a digit, over the image; scikit-learn brings the digits."""
    from sklearn.datasets import load_digits
    from sklearn.tree import DecisionTreeClassifier

    images, labels = load_digits(return_X_y=True)
    model = quia.load(DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(images, labels))
    return quia.explain(model, images[0]).plot(image_shape=(8, 8))


PICTURES = {
    "plot-reason": drawn(reason),
    "plot-importance": drawn(importance),
    "plot-tree": drawn(tree),
    "plot-scores": drawn(scores),
    "plot-points": drawn(points),
    "plot-pixels": drawn(digit),
    "plot-groups": drawn(lambda _: _audit().plot_groups()),
    "plot-rules": drawn(lambda _: _audit().plot_rules()),
    "plot-features": drawn(lambda _: _audit().plot_features()),
}
