"""Contrasts of a graph: two instances walk it that must agree on every variable that does not change.

As long as only other variables are tested they walk together. Where a changing one is tested they may part; from there
on each goes its own way, and the states that are left of what they share must lead both. Two nodes below which there is
no pair of classes that is looked for, and a node below which nothing can part them, are not entered.

Glossary: a *slot* holds the states that are left of a variable: slot v those of variable v for both instances, or if it
changes, for the first, and slot v + number of variables then for the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from quia.caching import cached_property
from quia.errors import TooLarge
from quia.ranges import Ranges, intersection, members, union
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.contrast import Contrast
    from quia.graph import DecisionGraph
    from quia.patience import Clock
    from quia.region import Region

SEARCH_LIMIT = 5_000_000
"""How many pairs of nodes are visited before it is given up."""

States = tuple[int, ...]
_Changes = tuple[tuple[int, Ranges], ...]
"""What is left in some slots."""
_Step = tuple[int, int, _Changes]
"""Where the first and the second instance go, and what is left then."""


def find_pair(graph: DecisionGraph, contrast: Contrast, possible: Region, clock: Clock) -> tuple[States, States] | None:
    """Two instances in a region, neither of them impossible, that a contrast looks for; None if there are none.

    Complexity: pairs of leaves for trees; in the worst case exponential, so it gives up with TooLarge at a limit.
    """
    if possible.is_empty:
        return None
    return _Walk(graph, contrast, possible).run(clock)


class _Walk:
    """What is known of the nodes for a contrast, and the states that are left where the two instances are."""

    def __init__(self, graph: DecisionGraph, contrast: Contrast, possible: Region) -> None:
        self.graph, self.nodes, self.possible = graph, graph.nodes, possible
        self.count = len(graph.variables)
        self.changing = frozenset(contrast.changing)
        self.order = None if contrast.order is None else _Order(contrast.order)
        self.left: list[Ranges] = [possible.states(v) for v in range(self.count)] * 2
        if self.order is not None:
            (v,) = contrast.changing
            self.left[v] = self.left[v + self.count] = intersection(self.left[v], self.order.states)
        self.parts = self._parting()
        self.below = self._classes_below()
        self.partners: dict[int, int] = {}
        self.wanted = dict.fromkeys(range(len(graph.classes)), 0)
        for a, b in contrast.classes:
            if graph.impossible not in (a, b):
                self.wanted[a] |= 1 << b
        self.slots: dict[int, list[int]] = {}

    def _parting(self) -> list[bool]:
        """Whether a changing variable is tested at each node or below it."""
        found: list[bool] = []
        for test, _, edges in self.nodes:
            found.append(test in self.changing or any(found[child] for _, child in edges))
        return found

    def _classes_below(self) -> list[int]:
        """The classes at each node and below it, a bit for each."""
        found: list[int] = []
        for _, label, edges in self.nodes:
            own = 1 << label if label >= 0 else 0
            for _, child in edges:
                own |= found[child]
            found.append(own)
        return found

    def _may_differ(self, one: int, other: int) -> bool:
        """Whether two instances at these nodes can still come to two classes that are looked for."""
        if one == other and not self.parts[one]:
            return False
        first = self.below[one]
        partners = self.partners.get(first)
        if partners is None:
            partners = 0
            for a, others in self.wanted.items():
                partners |= others if first >> a & 1 else 0
            self.partners[first] = partners
        return bool(partners & self.below[other])

    def run(self, clock: Clock) -> tuple[States, States] | None:
        """The pair, found depth first; what was left before a step is put back after it."""
        root, left = len(self.nodes) - 1, self.left
        if not self._may_differ(root, root) or not self._is_ordered(left):
            return None
        before: list[tuple[int, Ranges]] = []
        work: list[tuple[_Step, int]] = [((root, root, ()), 0)]
        seen: set[tuple[int, int, tuple[Ranges, ...]]] | None = None if self.graph.is_tree else set()
        for _ in range(SEARCH_LIMIT):
            if not work:
                return None
            clock()
            (one, other, changes), height = work.pop()
            while len(before) > height:
                at, ranges = before.pop()
                left[at] = ranges
            for at, ranges in changes:
                before.append((at, left[at]))
                left[at] = ranges
            if seen is not None:
                key = (one, other, tuple(left[at] for at in self._slots_below(one, other)))
                if key in seen:
                    continue
                seen.add(key)
            if self.nodes[one][0] < 0 and self.nodes[other][0] < 0:
                return self._found({at for at, _ in before})
            steps = self._together(one) if one == other else self._apart(one, other)
            work += [(step, len(before)) for step in steps]
        raise TooLarge(f"looking for two such instances took more than {SEARCH_LIMIT} steps", limit=SEARCH_LIMIT)

    def _together(self, node: int) -> list[_Step]:
        """The steps of two instances that are at the same node; those that part them are taken first."""
        test, _, edges = self.nodes[node]
        if test not in self.changing:
            reached = [(child, intersection(ranges, self.left[test])) for ranges, child in edges]
            return [(c, c, ((test, states),)) for c, states in reached if states and self._may_differ(c, c)]
        first, second = test, test + self.count
        ones = [(c, states) for ranges, c in edges if (states := intersection(ranges, self.left[first]))]
        others = [(c, states) for ranges, c in edges if (states := intersection(ranges, self.left[second]))]
        steps = [
            (one, other, ((first, mine), (second, theirs)))
            for one, mine in ones
            for other, theirs in others
            if self._may_differ(one, other) and (self.order is None or self.order.allows(mine, theirs))
        ]
        return sorted(steps, key=lambda step: step[0] != step[1])

    def _apart(self, one: int, other: int) -> list[_Step]:
        """The steps of two instances that are at different nodes: the one that is behind goes on."""
        is_first = self.nodes[one][0] >= 0 and (self.nodes[other][0] < 0 or one > other)
        test, _, edges = self.nodes[one if is_first else other]
        at = test if is_first or test not in self.changing else test + self.count
        here = self.left[at]
        steps: list[_Step] = []
        for ranges, child in edges:
            step = (child, other) if is_first else (one, child)
            if self._may_differ(*step) and (states := intersection(ranges, here)):
                if self.order is not None and test in self.changing:
                    mine, theirs = (states, self.left[test + self.count]) if is_first else (self.left[test], states)
                    if not self.order.allows(mine, theirs):
                        continue
                steps.append((*step, ((at, states),)))
        return steps

    def _is_ordered(self, left: Sequence[Ranges]) -> bool:
        return self.order is None or all(self.order.allows(left[v], left[v + self.count]) for v in self.changing)

    def _slots_below(self, one: int, other: int) -> list[int]:
        """The slots of what is tested below one of two nodes; what is left elsewhere makes no difference any more."""
        tested = self._tested_below[one] | self._tested_below[other]
        found = self.slots.get(tested)
        if found is None:
            here = [v for v in range(self.count) if tested >> v & 1]
            found = self.slots[tested] = [*here, *(v + self.count for v in here if v in self.changing)]
        return found

    def _found(self, narrowed: set[int]) -> tuple[States, States]:
        """The two instances; what neither the paths nor the region speak of, which may be anything, is UNKNOWN."""
        one, other = [UNKNOWN] * self.count, [UNKNOWN] * self.count
        for v in range(self.count):
            mine, theirs = self.left[v], self.left[v + self.count if v in self.changing else v]
            if v in self.changing and self.order is not None:
                one[v], other[v] = self.order.first(mine), self.order.last(theirs)
            elif v in self.possible.bounds or v in narrowed or v + self.count in narrowed:
                both = intersection(mine, theirs)
                one[v], other[v] = (both or mine)[0][0], (both or theirs)[0][0]
        return tuple(one), tuple(other)

    @cached_property
    def _tested_below(self) -> list[int]:
        """The variables that are tested at each node and below it, a bit for each."""
        found: list[int] = []
        for test, _, edges in self.nodes:
            own = 1 << test if test >= 0 else 0
            for _, child in edges:
                own |= found[child]
            found.append(own)
        return found


class _Order:
    """States of a variable, one after the other."""

    def __init__(self, states: Sequence[int]) -> None:
        self.states = union((state, state) for state in states)
        self.rises = all(a < b for a, b in pairwise(states))
        self.place = {} if self.rises else {state: at for at, state in enumerate(states)}

    def first(self, ranges: Ranges) -> int:
        """The first of some states, which are all in the order."""
        return ranges[0][0] if self.rises else min(members(ranges), key=self.place.__getitem__)

    def last(self, ranges: Ranges) -> int:
        """The last of them."""
        return ranges[-1][1] if self.rises else max(members(ranges), key=self.place.__getitem__)

    def allows(self, mine: Ranges, theirs: Ranges) -> bool:
        """Whether one of the first states comes before one of the second."""
        if not mine or not theirs:
            return False
        first, last = self.first(mine), self.last(theirs)
        return first < last if self.rises else self.place[first] < self.place[last]
