"""Anchors: a rule that, by sampling, keeps the decision with a precision of 95 %."""

from __future__ import annotations

from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """One anchor; the answer is the set of features that its rule names."""
    import numpy as np
    from anchor import anchor_tabular
    from runner import Steps, decider  # type: ignore[import-not-found,unused-ignore]

    predict = decider(job["tree"])
    np.random.seed(1)
    explainer = anchor_tabular.AnchorTabularExplainer(
        job["classes"], job["features"], np.array(job["background"], float), {}
    )

    def ready(instance: list[float]) -> Any:
        return np.array(instance, float)

    def ask(given: Any) -> Any:
        return explainer.explain_instance(given, predict, threshold=0.95)

    def told(found: Any) -> dict[str, Any]:
        return {"count": 1, "reasons": [list(map(int, found.features()))], "whole": False}

    return {"one anchor": Steps(ask, ready, told)}
