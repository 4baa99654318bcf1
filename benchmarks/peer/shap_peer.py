"""SHAP's TreeExplainer: how much each feature adds to the score of the decided class."""

from __future__ import annotations

from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """The features of greatest weight, as many as the shortest sufficient reason has; and all of positive weight."""
    import numpy as np
    import shap
    from runner import Steps, decide  # type: ignore[import-not-found,unused-ignore]

    tree = job["tree"]
    classes = len(job["classes"])
    variable = np.array(tree["variable"])
    leaf = variable < 0
    weight = np.where(leaf, 1e-3, 0.0)  # no node may weigh nothing
    for row in job["background"]:
        node = 0
        while variable[node] >= 0:
            node = tree["left" if row[variable[node]] <= tree["threshold"][node] else "right"][node]
        weight[node] += 1
    for node in np.flatnonzero(~leaf)[::-1]:  # children have greater numbers than their parents
        weight[node] = weight[tree["left"][node]] + weight[tree["right"][node]]
    values = np.zeros((len(variable), classes))
    values[leaf, np.array(tree["label"])[leaf]] = 1
    for node in np.flatnonzero(~leaf)[::-1]:
        left, right = tree["left"][node], tree["right"][node]
        values[node] = (weight[left] * values[left] + weight[right] * values[right]) / weight[node]
    left = np.where(leaf, -1, tree["left"])
    right = np.where(leaf, -1, tree["right"])
    single = {
        "children_left": left,
        "children_right": right,
        "children_default": right,
        "features": np.where(leaf, -2, variable),
        "thresholds": np.where(leaf, -2.0, tree["threshold"]).astype(float),
        "values": values,
        "node_sample_weight": weight,
    }
    explainer = shap.TreeExplainer({"trees": [single], "internal_dtype": np.float64, "input_dtype": np.float64})
    lengths = {tuple(row): length for row, length in zip(job["rows"], job["shortest"], strict=True)}

    def ready(instance: list[float]) -> Any:
        return instance, np.array([instance])

    def ask(given: Any) -> Any:
        return given[0], explainer.shap_values(given[1])

    def shares(instance: list[float], found: Any) -> Any:
        found = np.asarray(found)
        found = found.reshape(-1, classes) if found.ndim == 3 else found.reshape(len(instance), classes)
        return found[:, decide(tree, instance)]

    def top(raw: Any) -> dict[str, Any]:
        order = np.argsort(-np.abs(shares(*raw)), kind="stable")
        return {"count": 1, "reasons": [order[: lengths[tuple(raw[0])]].tolist()], "whole": False}

    def positive(raw: Any) -> dict[str, Any]:
        return {"count": 1, "reasons": [np.flatnonzero(shares(*raw) > 1e-12).tolist()], "whole": False}

    return {"top features": Steps(ask, ready, top), "all positive features": Steps(ask, ready, positive)}
