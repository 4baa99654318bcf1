"""XpGraph: abductive and contrastive explanations of a graph-based classifier, over features, by MARCO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Callable[[list[float]], dict[str, Any]]]:
    """One sufficient reason, and all reasons of both kinds in one enumeration."""
    import networkx as nx
    from runner import decide  # type: ignore[import-not-found,unused-ignore]
    from xpg import MarcoXpG, XpGraph

    tree = job["tree"]
    count = len(job["features"])

    def explainer(instance: list[float]) -> Any:
        graph = nx.DiGraph()
        decision = decide(tree, instance)
        for node, variable in enumerate(tree["variable"]):
            if variable < 0:
                graph.add_node(node, target=int(tree["label"][node] == decision))
                continue
            graph.add_node(node, var=variable)
            below = instance[variable] <= tree["threshold"][node]
            graph.add_edge(node, tree["left"][node], label=int(below))
            graph.add_edge(node, tree["right"][node], label=int(not below))
        return MarcoXpG(XpGraph(graph, 0, count, features=job["features"]), verb=0, Horn=False)

    def one(instance: list[float]) -> dict[str, Any]:
        return {"count": 1, "reasons": [explainer(instance).find_axp([True] * count)], "whole": False}

    def both(which: int) -> Callable[[list[float]], dict[str, Any]]:
        def ask(instance: list[float]) -> dict[str, Any]:
            found = explainer(instance).enum()[which]
            return {"count": len(found), "reasons": found, "whole": True}

        return ask

    return {"one sufficient": one, "all sufficient": both(0), "all necessary": both(1)}
