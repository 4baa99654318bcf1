"""XpGraph: abductive and contrastive explanations of a graph-based classifier, over features, by MARCO."""

from __future__ import annotations

from typing import Any


def prepare(job: dict[str, Any]) -> dict[str, Any]:
    """One sufficient reason, and all reasons of both kinds in one enumeration."""
    import networkx as nx
    from runner import Steps, decide  # type: ignore[import-not-found,unused-ignore]
    from xpg import MarcoXpG, XpGraph

    tree = job["tree"]
    count = len(job["features"])

    def ready(instance: list[float]) -> Any:
        """The tree as a graph whose edges say whether the instance takes them."""
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
        return graph

    def explainer(graph: Any) -> Any:
        return MarcoXpG(XpGraph(graph, 0, count, features=job["features"]), verb=0, Horn=False)

    def one(graph: Any) -> Any:
        return explainer(graph).find_axp([True] * count)

    def both(graph: Any) -> Any:
        return explainer(graph).enum()

    def all_of(which: int) -> Any:
        return Steps(both, ready, lambda found: {"count": len(found[which]), "reasons": found[which], "whole": True})

    return {
        "one sufficient": Steps(one, ready, lambda found: {"count": 1, "reasons": [found], "whole": False}),
        "all sufficient": all_of(0),
        "all necessary": all_of(1),
    }
