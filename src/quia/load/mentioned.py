"""Which variables each node of a circuit mentions, kept only as long as a parent still asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Mentioned:
    """The variables below each node as bits; a node's are let go when its last parent is done.

    `children[n]` are the children of node n. Variables are numbered as they come, so that a large number costs no more.
    """

    def __init__(self, children: Iterable[Sequence[int]], count: int) -> None:
        self._waiting = [0] * count
        for parts in children:
            for part in parts:
                self._waiting[part] += 1
        self._bits: dict[int, int] = {}
        self._variables: dict[int, int] = {}

    def leaf(self, node: int, variable: int | None) -> None:
        """The node is a literal of this variable, or a constant."""
        self._bits[node] = 0 if variable is None else 1 << self._variables.setdefault(variable, len(self._variables))

    def join(self, node: int, children: Sequence[int]) -> None:
        """The node mentions what its children mention."""
        bits = 0
        for child in children:
            bits |= self._bits[child]
        for child in children:
            self._waiting[child] -= 1
            if not self._waiting[child]:
                del self._bits[child]
        self._bits[node] = bits

    def shared(self, children: Sequence[int]) -> int | None:
        """A variable that two of the children mention."""
        seen = 0
        for child in children:
            common = seen & self._bits[child]
            if common:
                place = common.bit_length() - 1
                return next(variable for variable, known in self._variables.items() if known == place)
            seen |= self._bits[child]
        return None
