"""Anchors: a rule that, by sampling, keeps the decision with a precision of 95 %."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Callable[[list[float]], dict[str, Any]]]:
    """One anchor; the answer is the set of features that its rule names."""
    import numpy as np
    from anchor import anchor_tabular
    from runner import decide  # type: ignore[import-not-found,unused-ignore]

    tree = job["tree"]
    np.random.seed(1)
    explainer = anchor_tabular.AnchorTabularExplainer(
        job["classes"], job["features"], np.array(job["background"], float), {}
    )

    def predict(rows: Any) -> Any:
        return np.array([decide(tree, row) for row in np.asarray(rows, float).tolist()])

    def anchor(instance: list[float]) -> dict[str, Any]:
        found = explainer.explain_instance(np.array(instance, float), predict, threshold=0.95)
        return {"count": 1, "reasons": [list(map(int, found.features()))], "whole": False}

    return {"one anchor": anchor}
