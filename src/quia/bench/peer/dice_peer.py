"""DiCE: a changed instance with another class, found by random search."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Callable[[list[float]], dict[str, Any]]]:
    """One counterfactual; the answer is the set of features that it changes."""
    import dice_ml
    import numpy as np
    import pandas as pd
    from runner import decide  # type: ignore[import-not-found,unused-ignore]

    warnings.filterwarnings("ignore")
    tree, names = job["tree"], [f"f{k}" for k in range(len(job["features"]))]
    classes = len(job["classes"])
    frame = pd.DataFrame(job["background"], columns=names).astype(float)
    frame["outcome"] = [decide(tree, row) for row in job["background"]]
    frequent = frame["outcome"].value_counts().index.tolist()

    class Model:
        """The tree as what DiCE calls a model."""

        classes_ = np.arange(classes)

        def predict(self, rows: Any) -> Any:
            return np.array([decide(tree, row) for row in np.asarray(rows, float).tolist()])

        def predict_proba(self, rows: Any) -> Any:
            return np.eye(classes)[self.predict(rows)]

    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="outcome")
    search = dice_ml.Dice(data, dice_ml.Model(model=Model(), backend="sklearn"), method="random")

    def changed(instance: list[float]) -> dict[str, Any]:
        decision = decide(tree, instance)
        wanted = "opposite" if classes == 2 else next(k for k in frequent if k != decision)
        query = pd.DataFrame([instance], columns=names)
        found = search.generate_counterfactuals(
            query, total_CFs=1, desired_class=wanted, random_seed=1, verbose=False
        ).cf_examples_list[0]
        if found.final_cfs_df is None or not len(found.final_cfs_df):
            return {"count": 0, "reasons": [], "whole": False}
        other = found.final_cfs_df[names].astype(float).to_numpy()[0].tolist()
        if decide(tree, other) == decision:
            return {"count": 0, "reasons": [], "whole": False, "fault": "its counterfactual keeps the class"}
        differing = [k for k, (a, b) in enumerate(zip(instance, other, strict=True)) if a != b]
        return {"count": 1, "reasons": [differing], "whole": False}

    return {"one counterfactual": changed}
