"""DiCE: a changed instance with another class, found by random search."""

from __future__ import annotations

import warnings
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """One counterfactual; the answer is the set of features that it changes."""
    import dice_ml
    import numpy as np
    import pandas as pd
    from runner import Steps, decide, decider  # type: ignore[import-not-found,unused-ignore]

    warnings.filterwarnings("ignore")
    tree, names = job["tree"], [f"f{k}" for k in range(len(job["features"]))]
    classes = len(job["classes"])
    frame = pd.DataFrame(job["background"], columns=names).astype(float)
    decide_all = decider(tree)
    frame["outcome"] = decide_all(job["background"])
    frequent = frame["outcome"].value_counts().index.tolist()

    class Model:
        """The tree as what DiCE calls a model."""

        classes_ = np.arange(classes)

        def predict(self, rows: Any) -> Any:
            return decide_all(rows)

        def predict_proba(self, rows: Any) -> Any:
            return np.eye(classes)[self.predict(rows)]

    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="outcome")
    search = dice_ml.Dice(data, dice_ml.Model(model=Model(), backend="sklearn"), method="random")

    def ready(instance: list[float]) -> Any:
        decision = decide(tree, instance)
        wanted = "opposite" if classes == 2 else next(k for k in frequent if k != decision)
        return instance, decision, pd.DataFrame([instance], columns=names), wanted

    def ask(given: Any) -> Any:
        instance, decision, query, wanted = given
        found = search.generate_counterfactuals(
            query, total_CFs=1, desired_class=wanted, random_seed=1, verbose=False
        ).cf_examples_list[0]
        return instance, decision, found.final_cfs_df

    def changed(raw: Any) -> dict[str, Any]:
        instance, decision, found = raw
        if found is None or not len(found):
            return {"count": 0, "reasons": [], "whole": False}
        other = found[names].astype(float).to_numpy()[0].tolist()
        if decide(tree, other) == decision:
            return {"count": 0, "reasons": [], "whole": False, "fault": "its counterfactual keeps the class"}
        differing = [k for k, (a, b) in enumerate(zip(instance, other, strict=True)) if a != b]
        return {"count": 1, "reasons": [differing], "whole": False}

    return {"one counterfactual": Steps(ask, ready, changed)}
