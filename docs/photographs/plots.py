"""Pictures of plots: what matplotlib draws."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import quia
from photographs.camera import small
from photographs.studio import EXAMPLES, Studio, refused

Draw = Callable[[Studio], Any]
"""Gives Axes."""


def drawn(draw: Draw) -> Callable[[Studio], bytes]:
    """What a plot shows, as a PNG."""

    def take(studio: Studio) -> bytes:
        import matplotlib as mpl

        mpl.use("agg")
        import matplotlib.pyplot as plt

        out = io.BytesIO()
        figure = draw(studio).figure
        figure.savefig(out, dpi=120, bbox_inches="tight", facecolor="white", metadata={"Software": None})
        plt.close(figure)
        return small(out.getvalue())

    return take


def _why(studio: Studio, model: str = "examples/loan.json") -> quia.Explanation:
    import pandas as pd

    people = pd.read_csv(studio.folder / studio.applicants)
    return quia.explain(quia.load(studio.folder / model), refused(), data=people)


def reason(studio: Studio) -> Any:
    """The shortest reason and the nearest change."""
    return _why(studio).plot()


def importance(studio: Studio) -> Any:
    """Each feature's share of the reasons."""
    return _card().plot_importance()


def tree(studio: Studio) -> Any:
    """The tree with the way lit."""
    return quia.load(EXAMPLES / "loan.json").plot(refused())


def scores(studio: Studio) -> Any:
    """How far each feature alone moves the score of boosted trees."""
    return quia.load(studio.folder / studio.boosted).plot(refused())


def points(_: Studio) -> Any:
    """The same of a scorecard."""
    why = _card()
    return why.classifier.plot(why.instance)


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


def pixels(studio: Studio) -> Any:
    """Why a tree takes an image for a nought, over the image."""
    model = quia.load(studio.folder / studio.digits)
    image = json.loads((studio.folder / "digit.json").read_text())
    return quia.explain(model, image).plot(image_shape=(8, 8))


PICTURES = {
    "plot-reason": drawn(reason),
    "plot-importance": drawn(importance),
    "plot-tree": drawn(tree),
    "plot-scores": drawn(scores),
    "plot-points": drawn(points),
    "plot-pixels": drawn(pixels),
    "plot-groups": drawn(lambda _: _audit().plot_groups()),
    "plot-rules": drawn(lambda _: _audit().plot_rules()),
    "plot-features": drawn(lambda _: _audit().plot_features()),
}
