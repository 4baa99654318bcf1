"""Sums into a decision graph by intervals: one node for all sums of the features so far that leave the same to tell.

Two sums of some features leave the same function of the others if whatever these add ends in the same class with both.
So a node is kept with the interval of sums that it is right for: the intersection of its children's intervals, each
less what leads to that child. A sum in an interval that is known needs no work, so that the work is that of the nodes,
not of the instances. Paper: Chan & Darwiche 2003, Reasoning about Bayesian network classifiers, for two classes.

Of several classes each difference of two scores has its own interval: in such a box everything is told alike. Outside,
it may be alike too; then the node is found among the nodes that are equal.

Where sums are rounded and come near to where the class changes, there is no interval. Such a node is kept for what the
model itself has added up, to the last bit, and a leaf tells what the model tells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import add, sub
from typing import Protocol

import numpy as np

from quia.compile.whole_sums import FAR, Box, Gaps, InOrder, Rounded
from quia.errors import TooLarge

Node = int
Children = tuple[Node, ...]


class Found(Protocol):
    """The nodes of a level, each with the box of gaps that it is right for."""

    def add(self, node: Node, box: Box) -> None:
        """Keep a node with its box."""

    def find(self, gaps: Gaps) -> tuple[Node, Box] | None:
        """The node of a box that the gaps are in."""


class _Intervals:
    """Boxes of one gap: intervals that do not overlap, in order."""

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._found: list[tuple[Node, Box]] = []

    def add(self, node: Node, box: Box) -> None:
        at = bisect_right(self._lows, box.low[0])
        self._lows.insert(at, box.low[0])
        self._found.insert(at, (node, box))

    def find(self, gaps: Gaps) -> tuple[Node, Box] | None:
        at = bisect_right(self._lows, gaps[0]) - 1
        return self._found[at] if at >= 0 and gaps[0] <= self._found[at][1].high[0] else None


class _Boxes:
    """Boxes of several gaps, all of which are looked at."""

    def __init__(self, gaps: int) -> None:
        self._ends = np.zeros((16, 2 * gaps), np.int64)
        self._found: list[tuple[Node, Box]] = []
        self._known: dict[Gaps, tuple[Node, Box]] = {}

    def add(self, node: Node, box: Box) -> None:
        count = len(self._found)
        if count == len(self._ends):
            self._ends = np.vstack([self._ends, np.zeros_like(self._ends)])
        # With the upper ends negated, one comparison tells whether gaps are inside.
        self._ends[count] = (*box.low, *(-end for end in box.high))
        self._found.append((node, box))

    def find(self, gaps: Gaps) -> tuple[Node, Box] | None:
        known = self._known.get(gaps)
        if known is None:
            point = np.array((*gaps, *(-gap for gap in gaps)), np.int64)
            inside = np.flatnonzero((self._ends[: len(self._found)] <= point).all(axis=1))
            if len(inside):
                known = self._known[gaps] = self._found[int(inside[0])]
        return known


class _Frame:
    """A node that is being made: what is known at its level, its children so far, and the box that these leave."""

    __slots__ = ("children", "gaps", "high", "is_near", "level", "low", "rounded")

    def __init__(self, level: int, gaps: Gaps, rounded: Rounded | None) -> None:
        self.level, self.gaps, self.rounded = level, gaps, rounded
        self.children: list[Node] = []
        self.low, self.high = (-FAR,) * len(gaps), (FAR,) * len(gaps)
        self.is_near = False

    def take(self, node: Node, box: Box | None, adds: Gaps) -> None:
        """One more child, and its box less what leads there; none where rounding matters."""
        self.children.append(node)
        if box is None:
            self.is_near = True
        else:
            self.low = tuple(map(max, self.low, map(sub, box.low, adds)))
            self.high = tuple(map(min, self.high, map(sub, box.high, adds)))


class Compilation:
    """The graph of a model with its features in an order, made at once.

    The nodes from 0 on are a leaf for each class, then come the others, children first. `visited` counts the nodes that
    were made, those included that turned out to be equal to others.

    Complexity: a look into a level for each visited node and each choice of its feature.
    """

    def __init__(self, sums: InOrder, most: int, clock: Callable[[], None]) -> None:
        self.sums, self.most, self.clock = sums, most, clock
        leaves = len(sums.sums.boxes)
        self.levels = [-1] * leaves
        self.children: list[Children] = [()] * leaves
        self.visited = 0
        self._unique: dict[tuple[int, Children], Node] = {}
        self._found = [self._with_leaves(boxes) for boxes in sums.constant()]
        self._near: list[dict[Rounded, Node]] = [{} for _ in self._found]
        self.root = self._compile()

    def __len__(self) -> int:
        return len(self.levels)

    def _with_leaves(self, boxes: Sequence[Box]) -> Found:
        """The leaves of a level: where the features to come cannot change the class."""
        gaps = len(self.sums.sums.start)
        found: Found = _Intervals() if gaps == 1 else _Boxes(gaps)
        for label, box in enumerate(boxes):
            if all(map(int.__le__, box.low, box.high)):
                found.add(label, box)
        return found

    def _compile(self) -> Node:
        sums = self.sums
        known = self._known(0, sums.sums.start, sums.start)
        stack = [] if known else [_Frame(0, sums.sums.start, sums.start)]
        while stack:
            frame = stack[-1]
            choices = sums.choices[frame.level]
            while len(frame.children) < len(choices):
                choice = choices[len(frame.children)]
                gaps = tuple(map(add, frame.gaps, choice.adds))
                rounded = sums.after(frame.level, frame.rounded, choice.state)
                known = self._known(frame.level + 1, gaps, rounded)
                if known is None:
                    stack.append(_Frame(frame.level + 1, gaps, rounded))
                    break
                frame.take(*known, choice.adds)
            else:
                stack.pop()
                known = self._made(frame)
                if stack:
                    above = stack[-1]
                    above.take(*known, sums.choices[above.level][len(above.children)].adds)
        assert known is not None
        return known[0]

    def _known(self, level: int, gaps: Gaps, rounded: Rounded | None) -> tuple[Node, Box | None] | None:
        """The node for these sums, if there is one yet; its box, unless rounding matters."""
        known = self._found[level].find(gaps)
        if known is not None or rounded is None:
            return known
        node = self._near[level].get(rounded)
        if node is None and level == len(self.sums.order):
            node = self.sums.told(rounded)
        return None if node is None else (node, None)

    def _made(self, frame: _Frame) -> tuple[Node, Box | None]:
        """The node of a frame that has all its children."""
        self.clock()
        self.visited += 1
        if self.visited > self.most:
            raise TooLarge(f"the graph takes more than {self.most:,} nodes; allow more", limit=self.most)
        node = self._node(frame.level, tuple(frame.children))
        if frame.is_near:
            assert frame.rounded is not None
            self._near[frame.level][frame.rounded] = node
            return node, None
        box = Box(frame.low, frame.high)
        self._found[frame.level].add(node, box)
        return node, box

    def _node(self, level: int, children: Children) -> Node:
        """The node with these children; where all are one, the test decides nothing and that one is it."""
        if children.count(children[0]) == len(children):
            return children[0]
        key = (level, children)
        node = self._unique.get(key)
        if node is None:
            node = self._unique[key] = len(self.levels)
            self.levels.append(level)
            self.children.append(children)
        return node
