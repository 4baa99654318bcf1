"""A benchmark tree as other tools take it: two-way tests x <= t over numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.arguments import DEFAULT_DATA
from benchmarks.kernel import spread_out
from benchmarks.models import Benchmark, read, table
from quia.errors import Refuted
from quia.explanation import explain
from quia.graph import DecisionGraph
from quia.verify import verify

MOST_BACKGROUND = 1000


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree over its tested features, with instances and background rows as numbers."""

    name: str
    classifier: DecisionGraph
    features: list[str]
    tree: dict[str, list[Any]]
    instances: list[dict[str, float]]
    background: list[list[float]]

    def job(self, limit: float) -> dict[str, Any]:
        """What a peer's runner reads."""
        shortest = [self._shortest_length(instance) for instance in self.instances]
        return {
            "features": self.features,
            "classes": list(self.classifier.classes),
            "tree": self.tree,
            "rows": [[instance[f] for f in self.features] for instance in self.instances],
            "background": self.background,
            "shortest": shortest,
            "limit": limit,
        }

    def _shortest_length(self, instance: dict[str, float]) -> int:
        return max(len(next(iter(explain(self.classifier, instance).sufficient_reasons(shortest=True, limit=1)))), 1)

    def check(self, row: int, features: Sequence[int], kind: str) -> Literal["right", "not minimal", "wrong"]:
        """What quia.verify says of a set of features."""
        assert kind in ("sufficient", "necessary")
        names = [self.features[k] for k in features]
        try:
            verify(self.classifier, self.instances[row], names, kind)  # type: ignore[arg-type]
        except Refuted as refuted:
            return "not minimal" if "is not minimal" in str(refuted) else "wrong"
        return "right"


def subject(benchmark: Benchmark, data: str | None, rows: int) -> Subject | None:
    """The benchmark for peers; None if it has tests other than x <= t."""
    loaded = read(benchmark)
    graph = loaded.classifier
    tree = two_way(graph)
    if tree is None or benchmark.data is None:
        return None
    features = [graph.variables[v].name for v in graph.tested]
    trained = Path(data or DEFAULT_DATA) / "train" / f"{benchmark.name}.csv.gz"
    instances = _numbers(benchmark.data, features)
    background = _numbers(trained, features) if trained.exists() else instances
    return Subject(
        benchmark.name,
        graph,
        features,
        tree,
        [dict(zip(features, instances[i], strict=True)) for i in spread_out(len(instances), rows)],
        [background[i] for i in spread_out(len(background), MOST_BACKGROUND)],
    )


def _numbers(file: Path, features: Sequence[str]) -> list[list[float]]:
    """The rows of a table in which all features are there."""
    columns, rows = table(file)
    places = [columns.index(f) for f in features]
    return [[float(row[k]) for k in places] for row in rows if all(row[k] not in ("", "?") for k in places)]


def two_way(graph: DecisionGraph) -> dict[str, list[Any]] | None:
    """The tree from the root down: variable (or -1), threshold, the nodes for <= and >, class.

    None if a test is not a cut of a number in two, or if nodes are shared.
    """
    if not graph.is_tree:
        return None
    place = {v: k for k, v in enumerate(graph.tested)}
    last = len(graph) - 1
    tree: dict[str, list[Any]] = {"variable": [], "threshold": [], "left": [], "right": [], "label": []}
    for test, label, edges in reversed(graph.nodes):
        low, high, cut = -1, -1, 0.0
        if test >= 0:
            variable = graph.variables[test]
            if not variable.is_numeric or variable.missing or len(edges) != 2 or any(len(s) != 1 for s, _ in edges):
                return None
            (below, left), (_, right) = sorted((states[0], child) for states, child in edges)
            at = variable.cuts[below[1]]
            cut = at.threshold if at.after else math.nextafter(at.threshold, -math.inf)
            low, high = last - left, last - right
        for column, value in zip(tree.values(), (place.get(test, -1), cut, low, high, label), strict=True):
            column.append(value)
    return tree
