"""PyXAI: reasons of a decision tree over its threshold literals (`x <= t` or not), by SAT and MaxSAT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """One sufficient reason, all of them, their number, all of the least length, and all contrastive ones."""
    from pyxai import Builder, Explaining
    from runner import Steps  # type: ignore[import-not-found,unused-ignore]

    tree = job["tree"]
    made: list[Any] = [None] * len(tree["variable"])
    for node in reversed(range(len(made))):  # children have greater numbers than their parents
        if tree["variable"][node] < 0:
            made[node] = tree["label"][node]
        else:
            made[node] = Builder.DecisionNode(
                tree["variable"][node] + 1,
                operator=Builder.LE,
                threshold=tree["threshold"][node],
                left=made[tree["right"][node]],  # left: the condition does not hold
                right=made[tree["left"][node]],
            )
    names = [f"f{k + 1}" for k in range(len(job["features"]))]
    model = Builder.DecisionTree(len(names), made[0], n_classes=len(job["classes"]), feature_names=names)
    explainer = Explaining.initialize(model, features_type={"numerical": names})
    limit = job["limit"]

    def features(reason: Any) -> list[int]:
        return [number - 1 for number in model.get_id_features(reason)]

    def asked(how: Callable[[], Any], *, one: bool = False, counted: bool = False) -> Any:
        def ask(instance: list[float]) -> tuple[Any, bool]:
            explainer.set_instance(instance)
            return how(), explainer.elapsed_time != Explaining.Explainer.TIMEOUT

        def told(raw: tuple[Any, bool]) -> dict[str, Any]:
            found, in_time = raw
            if counted:
                return {"count": found, "reasons": [], "whole": True}
            reasons = [found] if one else list(found or ())
            answer = {"count": len(reasons), "reasons": [features(reason) for reason in reasons]}
            return answer | {"whole": in_time and not one}

        return Steps(ask, told=told)

    everything = Explaining.ALL if hasattr(Explaining, "ALL") else "all"
    return {
        "one sufficient": asked(lambda: explainer.sufficient_reason(n=1, time_limit=limit), one=True),
        "all sufficient": asked(lambda: explainer.sufficient_reason(n=everything, time_limit=limit)),
        "count sufficient": asked(lambda: explainer.n_sufficient_reasons(time_limit=limit), counted=True),
        "shortest sufficient": asked(lambda: explainer.minimal_sufficient_reason(n=everything, time_limit=limit)),
        "all necessary": asked(lambda: explainer.contrastive_reason(n=everything)),
    }
