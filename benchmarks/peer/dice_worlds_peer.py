"""DiCE, told what is possible as far as it can be: changed instances as they are, for three ways to tell it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

WANTED = 4
"""Counterfactuals of one instance."""


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """Each setting is a question; the answer has the changed instances, column by column."""
    import dice_ml
    import numpy as np
    import pandas as pd
    from runner import Steps  # type: ignore[import-not-found,unused-ignore]

    warnings.filterwarnings("ignore")
    decide = decider(job["variables"], job["nodes"])
    names = [variable["name"] for variable in job["variables"]]
    numeric = [variable["name"] for variable in job["variables"] if "cuts" in variable]
    frame = pd.DataFrame(job["background"], columns=names).astype(dict.fromkeys(numeric, float))
    # It draws whole numbers of columns that have these only.
    kinds = {name: int if (frame[name] % 1 == 0).all() else float for name in numeric}
    frame = frame.astype(kinds)
    frame["outcome"] = decide(frame[names])

    class Model:
        """The tree as what DiCE calls a model."""

        classes_ = np.arange(len(job["classes"]))

        def predict(self, rows: Any) -> Any:
            return decide(rows)

        def predict_proba(self, rows: Any) -> Any:
            return np.eye(len(self.classes_))[self.predict(rows)]

    data = dice_ml.Data(dataframe=frame, continuous_features=numeric, outcome_name="outcome")
    search = dice_ml.Dice(data, dice_ml.Model(model=Model(), backend="sklearn"), method="random")

    def ready(given: dict[str, Any]) -> Any:
        query = pd.DataFrame([given["row"]], columns=names).astype(dict.fromkeys(numeric, float)).astype(kinds)
        return query, given["ranges"]

    def asked(options: dict[str, Any]) -> Callable[[Any], Any]:
        def ask(given: Any) -> Any:
            query, ranges = given
            more: dict[str, Any] = {"permitted_range": ranges} if options["ranges"] else {}
            if options["vary"]:
                more["features_to_vary"] = options["vary"]
            return search.generate_counterfactuals(
                query, total_CFs=WANTED, desired_class="opposite", random_seed=1, verbose=False, **more
            ).cf_examples_list[0]

        return ask

    def told(found: Any) -> dict[str, Any]:
        frame = found.final_cfs_df
        rows = [] if frame is None else frame[names].astype(object).to_numpy().tolist()
        changed = [
            [float(x) if name in numeric else str(x) for name, x in zip(names, row, strict=True)] for row in rows
        ]
        return {"count": len(changed), "reasons": [], "whole": False, "changed": changed}

    return {name: Steps(asked(options), ready, told) for name, options in job["settings"].items()}


def decider(variables: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> Callable[[Any], Any]:
    """The classes of the rows of a frame, by a tree that is given node by node, its root the last."""
    import numpy as np

    def states(frame: Any, variable: dict[str, Any]) -> Any:
        column = frame[variable["name"]]
        if "labels" in variable:
            place = {label: at for at, label in enumerate(variable["labels"])}
            return np.array([place[str(value)] for value in column])
        values = np.asarray(column, float)
        above = [(values > cut if after else values >= cut) for cut, after in variable["cuts"]]
        return np.sum(above, axis=0, dtype=int) if above else np.zeros(len(values), int)

    def decide(frame: Any) -> Any:
        tested = {node["variable"] for node in nodes if node["variable"] >= 0}
        encoded = {v: states(frame, variables[v]) for v in tested}
        at = np.full(len(frame), len(nodes) - 1)
        for number in range(len(nodes) - 1, -1, -1):  # children come first
            node = nodes[number]
            here = np.flatnonzero(at == number)
            if node["variable"] >= 0 and len(here):
                at[here] = np.array(node["children"])[encoded[node["variable"]][here]]
        return np.array([node["label"] for node in nodes])[at]

    return decide
