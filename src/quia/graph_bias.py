"""Whether any decision of a graph is biased: two instances walk it that must agree on what is not protected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from quia.errors import TooLarge
from quia.ranges import Ranges, intersection
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

SEARCH_LIMIT = 5_000_000
"""How many pairs of nodes the search for a biased decision visits before it gives up."""


def differing(graph: DecisionGraph, protected: Collection[int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Two instances that differ in protected variables only and are decided differently; None if there are none.

    Neither is impossible. Complexity: pairs of nodes for trees; in the worst case exponential, so it gives up with
    TooLarge at a limit.
    """
    classes = _classes_below(graph)
    whole = {v: ((0, graph.variables[v].size - 1),) for v in graph.tested}
    root = len(graph) - 1
    # Three contexts: what is left of the shared features, of one's protected features, of the other's.
    start: _Step = (root, root, (), (), ())
    seen = {start}
    work = [start]
    while work:
        one, other, shared, mine, theirs = work.pop()
        if not classes[one] or not classes[other] or (classes[one] == classes[other] and len(classes[one]) == 1):
            continue
        if graph.nodes[one][0] < 0 and graph.nodes[other][0] < 0:
            return _states(graph, shared + mine), _states(graph, shared + theirs)
        moves_one = graph.nodes[one][0] >= 0 and (graph.nodes[other][0] < 0 or one >= other)
        test, _, edges = graph.nodes[one if moves_one else other]
        context = shared if test not in protected else mine if moves_one else theirs
        possible = dict(context).get(test, whole[test])
        for ranges, child in edges:
            left = intersection(ranges, possible)
            if not left:
                continue
            updated = tuple(sorted({**dict(context), test: left}.items()))
            step: _Step = (
                child if moves_one else one,
                other if moves_one else child,
                updated if test not in protected else shared,
                updated if test in protected and moves_one else mine,
                updated if test in protected and not moves_one else theirs,
            )
            if step not in seen:
                seen.add(step)
                work.append(step)
        if len(seen) > SEARCH_LIMIT:
            raise TooLarge(
                f"looking for a biased decision took more than {SEARCH_LIMIT} steps; ask about one decision instead",
                limit=SEARCH_LIMIT,
            )
    return None


_Context = tuple[tuple[int, Ranges], ...]
_Step = tuple[int, int, _Context, _Context, _Context]


def _classes_below(graph: DecisionGraph) -> list[frozenset[int]]:
    """The classes that possible instances can have at each node."""
    below: list[frozenset[int]] = []
    for _, label, edges in graph.nodes:
        own = frozenset((label,)) if label >= 0 else frozenset().union(*(below[c] for _, c in edges))
        below.append(own - {graph.impossible})
    return below


def _states(graph: DecisionGraph, context: Sequence[tuple[int, Ranges]]) -> tuple[int, ...]:
    """An instance that a context leaves; what it does not speak of, which may be anything, is UNKNOWN."""
    left = dict(context)
    return tuple(left[v][0][0] if v in left else UNKNOWN for v in range(len(graph.variables)))
