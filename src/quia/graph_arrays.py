"""A graph's edges and names as flat arrays, from plain lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from quia.consistent import Edges
from quia.errors import listed

Ints = npt.NDArray[np.integer[Any]]
Node = tuple[int, int, Edges]
"""A node's variable (or -1), class (or -1) and (states, child) edges."""


def flat_edges(edges: Sequence[Edges]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The arrays (edge_start, child, range_start, low, high): a node's edges, an edge's ranges of states."""
    edge_start, child, range_start, low, high = [0], [], [0], [], []
    for outgoing in edges:
        for states, there in outgoing:
            child.append(there)
            for a, b in states:
                low.append(a)
                high.append(b)
            range_start.append(len(low))
        edge_start.append(len(child))
    return (
        np.array(edge_start, np.int64),
        np.array(child, np.int32),
        np.array(range_start, np.int64),
        np.array(low, np.int32),
        np.array(high, np.int32),
    )


class NodesByNeed(Sequence[Node]):
    """The nodes of a graph, each made when it is looked at: for who looks at few of many.

    >>> edges = flat_edges([(), (), ((((0, 0),), 0), (((1, 2),), 1))])
    >>> nodes = NodesByNeed([np.array([-1, -1, 0]), np.array([0, 1, -1]), *edges])
    >>> len(nodes), nodes[0], nodes[-1]
    (3, (-1, 0, ()), (0, -1, ((((0, 0),), 0), (((1, 2),), 1))))
    """

    def __init__(self, arrays: Sequence[Ints]) -> None:
        self._lists = [array.tolist() for array in arrays]
        self._made: dict[int, Node] = {}

    def __len__(self) -> int:
        return len(self._lists[0])

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        if index not in self._made:
            self._made[index] = self._node(range(len(self))[index])
        return self._made[index]

    def _node(self, n: int) -> Node:
        tests, labels, edge_start, child, range_start, low, high = self._lists
        edges = (
            (tuple((low[r], high[r]) for r in range(range_start[e], range_start[e + 1])), child[e])
            for e in range(edge_start[n], edge_start[n + 1])
        )
        return tests[n], labels[n], tuple(edges)


def names_of_copies(origin: Sequence[int], names: Sequence[str]) -> Iterator[str]:
    """The names of copies: the first has the name of its node, the second is called name~2, and so on."""
    used = set(names)
    copies: dict[int, int] = {}
    for node in origin:
        copies[node] = copies.get(node, 0) + 1
        name = names[node]
        if copies[node] > 1:
            while (name := f"{names[node]}~{copies[node]}") in used:
                copies[node] += 1
            used.add(name)
        yield name


def what_changed(origin: Sequence[int], names: Sequence[str]) -> Iterator[str]:
    """Notes on the nodes that were copied or dropped; node n is a copy of node origin[n]."""
    kept = set(origin)
    if len(kept) < len(origin):
        copied = len({node for node, count in _counts(origin).items() if count > 1})
        yield (
            f"specialised: {len(names)} nodes became {len(origin)}, because a variable is tested again in differing"
            f" contexts below {copied} of them"
        )
    gone = [names[node] for node in range(len(names)) if node not in kept]
    if gone:
        yield f"dropped {len(gone)} nodes that decide nothing, as what they test is settled above: {listed(gone, 8)}"


def _counts(origin: Sequence[int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for node in origin:
        counts[node] = counts.get(node, 0) + 1
    return counts
