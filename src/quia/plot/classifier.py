"""A classifier as a plot: the drawing of a graph, or what features could do to the score of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quia.additive import Additive
from quia.classifier import HasPath, loaded, offers
from quia.ensemble import Ensemble
from quia.errors import Unsupported, with_article
from quia.plot.canvas import check_matplotlib, rows_of
from quia.plot.graph import plot_graph
from quia.plot.scores import plot_moves
from quia.score_moves import scoring

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_classifier(given: Any, instance: Any, ax: Axes | None, most: int) -> Axes:
    """What there is to see of a classifier, with an instance or without."""
    check_matplotlib()
    classifier, most = loaded(given), rows_of(most)
    if offers(given, HasPath):
        return plot_graph(given, instance, ax, most)
    kind = classifier.kind
    if isinstance(scoring(classifier), (Additive, Ensemble)):
        if instance is None:
            raise Unsupported(
                f"{with_article(kind)} has no drawing by itself",
                cure="give an instance, with classifier.plot(instance), to see what moves its score",
            )
        return plot_moves(classifier, instance, ax, most)
    raise Unsupported(f"{with_article(kind)} has no drawing", cure="plot a decision on it, with explain(…).plot()")
