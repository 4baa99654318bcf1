"""Constraints: which worlds are possible, as a small decision graph over the variables of a classifier.

A node tests a variable; its edges lead, for ranges of states, to other nodes, and in the end to what is possible or is
not. On a path each variable is tested at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.caching import cached_property
from quia.look import counted, tagged
from quia.pickling import ByFields
from quia.ranges import Ranges, covers, difference, intersection, union
from quia.reference import admitting
from quia.region import Region
from quia.variables import UNKNOWN, Variable

Edges = tuple[tuple[Ranges, int], ...]
IMPOSSIBLE, POSSIBLE = 0, 1
"""The first two nodes: where the paths end."""


@dataclass(frozen=True, eq=False)
class Constraint(ByFields):
    """Which worlds are possible. Nodes are numbers, children first, the root last; `tests[n]` is a variable.

    `edges[n]` are (states, child) pairs that part the states of that variable. Nodes 0 and 1 test nothing: a world that
    ends in the first is impossible. `text` is how people wrote it.
    """

    variables: tuple[Variable, ...]
    tests: tuple[int, ...]
    edges: tuple[Edges, ...]
    root: int
    text: str = ""

    def __repr__(self) -> str:
        return tagged("Constraint", self.text or counted(len(self.tests), "node"))

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The variables that it is about."""
        return tuple(sorted({v for v in self.tests if v >= 0}))

    def path(self, states: Sequence[int]) -> int:
        """Where a world ends of which all is known."""
        node = self.root
        while node > POSSIBLE:
            state = states[self.tests[node]]
            node = next(child for ranges, child in self.edges[node] if covers(ranges, state))
        return node

    def holds_rows(self, rows: npt.NDArray[Any], within: Region | None = None) -> npt.NDArray[np.bool_]:
        """Whether each of many encoded instances is possible, for some of what its unknown variables can be.

        Of what it is about, all is in a region then.
        """
        region = Region(self.variables) if within is None else within
        here = {self.root: np.full(len(rows), not region.is_empty)}
        for v in self.tested:
            if v in region.bounds:
                here[self.root] &= admitting(self.variables[v], region.bounds[v], rows[:, v]) | (rows[:, v] == UNKNOWN)
        for node in range(len(self.tests) - 1, POSSIBLE, -1):
            if node not in here:
                continue
            variable = self.tests[node]
            states, possible = rows[:, variable], region.states(variable)
            for ranges, child in self.edges[node]:
                taken = admitting(self.variables[variable], ranges, states)
                if intersection(ranges, possible):
                    taken |= states == UNKNOWN
                here[child] = here.get(child, False) | (here[node] & taken)
        return here.get(POSSIBLE, np.zeros(len(rows), bool))

    def completed(self, states: Sequence[int], within: Region) -> tuple[int, ...] | None:
        """A possible world in the region with these states, where some are UNKNOWN; None if there is none.

        Of what it is about, all is known then.
        """
        return self.nearest(states, within.intersection(Region.at(self.variables, states, self.tested)))

    def nearest(self, states: Sequence[int], within: Region, *, end: int = POSSIBLE) -> tuple[int, ...] | None:
        """A possible world (or an impossible one) in the region that changes few of these states; None if none is.

        Where it is not about a variable, the state is left as it is, in the region or not.
        """
        if within.is_empty:
            return None
        least: list[float] = []
        way: list[tuple[int, int]] = []  # of each node the state to take, and the child
        for node, variable in enumerate(self.tests):
            best, step = (0.0 if node == end else float("inf")), (UNKNOWN, node)
            if variable >= 0:
                own, possible = states[variable], within.states(variable)
                for ranges, child in self.edges[node]:
                    common = intersection(ranges, possible) if least[child] < float("inf") else ()
                    if common:
                        is_own = covers(common, own)
                        cost = least[child] + (not is_own and own != UNKNOWN)
                        if cost < best:
                            best, step = cost, (own if is_own else common[0][0], child)
            least.append(best)
            way.append(step)
        if least[self.root] == float("inf"):
            return None
        found = list(states)
        node = self.root
        while node > POSSIBLE:
            state, child = way[node]
            found[self.tests[node]] = state
            node = child
        for v in self.tested:  # what the path does not ask for
            if found[v] == UNKNOWN or not covers(within.states(v), found[v]):
                found[v] = within.states(v)[0][0]
        return tuple(found)

    def left_by(self, within: Region) -> Mapping[int, Ranges] | None:
        """Which states of each variable that it is about are possible in a region; None if nothing is."""
        ways = self._ways(within)
        if within.is_empty or (self.root not in ways and self.root != POSSIBLE):
            return None
        found: dict[int, list[tuple[int, int]]] = {v: [] for v in self.tested}
        skipped: dict[int, frozenset[int]] = {POSSIBLE: frozenset(self.tested)}  # what is not tested from there on
        for node, edges in reversed(ways.items()):
            v = self.tests[node]
            skipped[node] = frozenset().union(*(skipped[child] for _, child in edges)) - {v}
        seen = {self.root}
        for node, edges in ways.items():
            if node in seen:
                for states, child in edges:
                    found[self.tests[node]] += states
                    seen.add(child)
        free = skipped[self.root]  # a variable that a path does not ask for may be anything there
        return {v: within.states(v) if v in free else union(pairs) for v, pairs in found.items()}

    def _ways(self, within: Region) -> dict[int, list[tuple[Ranges, int]]]:
        """The nodes on paths in a region to what is possible, parents first: their states that lead on, and where."""
        reached: dict[int, list[tuple[Ranges, int]]] = {self.root: []}
        for node in range(self.root, POSSIBLE, -1):
            if node in reached:
                possible = within.states(self.tests[node])
                for ranges, child in self.edges[node]:
                    if child != IMPOSSIBLE and (common := intersection(ranges, possible)):
                        reached[node].append((common, child))
                        reached.setdefault(child, [])
        kept: dict[int, list[tuple[Ranges, int]]] = {}
        for node in sorted(reached):
            edges = [(states, child) for states, child in reached[node] if child == POSSIBLE or child in kept]
            if edges:
                kept[node] = edges
        return dict(reversed(kept.items()))

    def least_changes(
        self, states: Sequence[int], within: Region, changing: int, clock: Callable[[], None]
    ) -> list[frozenset[int]]:
        """The smallest sets of variables in which possible worlds of a region differ that change one of these states.

        Of variables whose state is UNKNOWN, nothing is a change.
        """
        families: list[list[frozenset[int]]] = [[], [frozenset((changing,))]]
        for node in range(POSSIBLE + 1, len(self.tests)):
            clock()
            v, found = self.tests[node], set[frozenset[int]]()
            own = ((states[v], states[v]),)
            possible = difference(within.states(v), own) if v == changing else within.states(v)
            for ranges, child in self.edges[node]:
                if common := intersection(ranges, possible):
                    is_change = states[v] != UNKNOWN and not covers(common, states[v])
                    found.update(each | {v} if is_change else each for each in families[child])
            families.append(_smallest(found))
        return families[self.root]


def _smallest(sets: Collection[frozenset[int]]) -> list[frozenset[int]]:
    """The sets that have no other one in them."""
    kept: list[frozenset[int]] = []
    for each in sorted(sets, key=lambda members: (len(members), sorted(members))):
        if not any(smaller <= each for smaller in kept):
            kept.append(each)
    return kept
