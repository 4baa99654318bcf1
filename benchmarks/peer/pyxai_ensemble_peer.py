"""PyXAI: reasons of forests, by votes of the trees, and of XGBoost's trees, over threshold literals.

No time limit is given to PyXAI, so that it reads no clock; the alarm of the runner stops it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """A sufficient and a contrastive reason of a forest; a tree-specific one of boosted trees."""
    from pyxai import Explaining
    from runner import Steps  # type: ignore[import-not-found,unused-ignore]

    names = [f"f{k + 1}" for k in range(len(job["features"]))]
    is_forest = job["kind"] == "forest"
    model = _forest(job, names) if is_forest else _boosted(job, names)
    explainer = Explaining.initialize(model, features_type={"numerical": names})

    def asked(how: Callable[[], Any]) -> Any:
        def ask(instance: list[float]) -> Any:
            explainer.set_instance(instance)
            return how(), int(explainer.target_prediction)

        def told(raw: Any) -> dict[str, Any]:
            literals, decision = raw
            answer = {"whole": False, "decision": decision, "count": int(bool(literals)), "reasons": []}
            if literals:
                answer["reasons"] = [[number - 1 for number in model.get_id_features(literals)]]
                answer["literals"] = len(literals)
            return answer

        return Steps(ask, told=told)

    if is_forest:
        return {
            "one sufficient": asked(explainer.sufficient_reason),
            "one nearest change": asked(explainer.minimal_contrastive_reason),
        }
    return {"one sufficient": asked(lambda: explainer.tree_specific_reason(history=False))}


def _forest(job: dict[str, Any], names: list[str]) -> Any:
    """scikit-learn's trees as PyXAI imports them: each votes for the class that has most in its leaf."""
    from pyxai import Builder

    trees = []
    for tree in job["trees"]:
        made: list[Any] = [None] * len(tree["variable"])
        for node in reversed(range(len(made))):  # children have greater numbers than their parents
            if tree["variable"][node] < 0:
                made[node] = tree["label"][node]
            else:
                made[node] = Builder.DecisionNode(
                    tree["variable"][node] + 1,
                    operator=Builder.GT,
                    threshold=tree["threshold"][node],
                    left=made[tree["left"][node]],
                    right=made[tree["right"][node]],
                )
        trees.append(Builder.DecisionTree(len(names), made[0], n_classes=2, feature_names=names))
    return Builder.RandomForest(trees, n_classes=2, feature_names=names)


def _boosted(job: dict[str, Any], names: list[str]) -> Any:
    import pandas as pd
    import xgboost
    from pyxai import Learning

    model = xgboost.XGBClassifier()
    model.load_model(job["model"])
    frame = pd.DataFrame(job["rows"], columns=names)
    frame["label"] = [row % 2 for row in range(len(frame))]  # only the names of the columns are used
    _, imported = Learning.ModelIO.import_models(model, frame, instances_type="tabular")
    return imported
