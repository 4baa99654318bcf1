"""Sets of variables and contexts that share what they have in common: a million that differ little cost little.

Both are binary tries over the numbers of the variables, whose leaves have a slot of some bits for each variable. A trie
is an int, its index in the table of all nodes so far; equal tries are the same int, and 0 is the empty one.
"""

from __future__ import annotations

from quia.ranges import Ranges

_BLOCK_BITS = 5
_BLOCK = 1 << _BLOCK_BITS  # variables in a leaf
_SLOT = 32  # bits that a context has for each of them
_MOST_KEPT = 1 << 18  # cached results of an operation; a dropped one is computed again when needed

_Node = int | tuple[int, int]
"""A leaf, or the two halves of a trie."""


class _Tries:
    """Tries of one height; `steps` counts the work done on them, and so bounds their memory."""

    def __init__(self, height: int, slot: int) -> None:
        self.height = height
        self.steps = 0
        self._slot = slot
        self.nodes: list[_Node] = [0]
        self._number: dict[_Node, int] = {0: 0, (0, 0): 0}
        self._cached: dict[tuple[int, int], int] = {}

    def _intern(self, node: _Node) -> int:
        number = self._number.get(node)
        if number is None:
            number = self._number[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def _halves(self, trie: int) -> tuple[int, int]:
        return self.nodes[trie] if trie else (0, 0)  # type: ignore[return-value]

    def _leaf(self, trie: int) -> int:
        return self.nodes[trie]  # type: ignore[return-value]

    def slot(self, trie: int, member: int) -> int:
        """The value that a trie has for a member; 0 if it has none."""
        block = member >> _BLOCK_BITS
        for height in range(self.height - 1, -1, -1):
            if not trie:
                return 0
            trie = self._halves(trie)[block >> height & 1]
        return self._leaf(trie) >> (member & _BLOCK - 1) * self._slot & (1 << self._slot) - 1

    def with_slot(self, trie: int, member: int, value: int) -> int:
        """The trie with this value for a member."""
        block, shift = member >> _BLOCK_BITS, (member & _BLOCK - 1) * self._slot
        path = []
        for height in range(self.height - 1, -1, -1):
            halves = self._halves(trie)
            path.append((halves, block >> height & 1))
            trie = halves[block >> height & 1]
        leaf = self._leaf(trie)
        result = self._intern(leaf ^ ((leaf >> shift & (1 << self._slot) - 1) ^ value) << shift)
        for (left, right), on_the_right in reversed(path):
            result = self._intern((left, result) if on_the_right else (result, right))
        self.steps += len(path) + 1
        return result

    def _remember(self, key: tuple[int, int], result: int) -> int:
        self.steps += 1
        if len(self._cached) >= _MOST_KEPT:
            self._cached.clear()
        self._cached[key] = result
        return result


class Sets(_Tries):
    """Sets of the numbers below a count.

    >>> sets = Sets(1000)
    >>> both = sets.union(sets.added(0, 3), sets.added(0, 700))
    >>> sets.has(both, 700), sets.has(both, 4), both == sets.added(sets.added(0, 700), 3)
    (True, False, True)
    """

    def __init__(self, count: int) -> None:
        super().__init__((max(0, count - 1) >> _BLOCK_BITS).bit_length(), slot=1)

    def has(self, trie: int, member: int) -> bool:
        """Whether it is a member."""
        return self.slot(trie, member) == 1

    def added(self, trie: int, member: int) -> int:
        """The set with one member more."""
        return self.with_slot(trie, member, 1)

    def union(self, one: int, other: int) -> int:
        """The members of either. Complexity: subtries that only one has, or that are equal, are not visited."""
        return self._union(one, other, self.height)

    def _union(self, one: int, other: int, height: int) -> int:  # the recursion is as deep as the trie is high
        if one == other or not other:
            return one
        if not one:
            return other
        key = (one, other)
        if key in self._cached:
            return self._cached[key]
        if height == 0:
            return self._remember(key, self._intern(self._leaf(one) | self._leaf(other)))
        (a, b), (c, d) = self._halves(one), self._halves(other)
        return self._remember(key, self._intern((self._union(a, c, height - 1), self._union(b, d, height - 1))))


class Contexts(_Tries):
    """The states still possible for some variables, which are members of `sets`; for the others all are possible.

    >>> contexts = Contexts(Sets(1000))
    >>> narrowed = contexts.put(contexts.put(0, 700, ((0, 1),)), 3, ((2, 2),))
    >>> contexts.get(narrowed, 700), contexts.get(narrowed, 4)
    (((0, 1),), None)
    >>> contexts.restricted(narrowed, contexts.sets.added(0, 3)) == contexts.put(0, 3, ((2, 2),))
    True
    """

    def __init__(self, sets: Sets) -> None:
        super().__init__(sets.height, _SLOT)
        self.sets = sets
        self._states: list[Ranges | None] = [None]
        self._number_of: dict[Ranges | None, int] = {None: 0}
        self._mask: dict[int, int] = {}  # leaf of a set → all bits of the slots of its members

    def get(self, trie: int, variable: int) -> Ranges | None:
        """The states possible for a variable, None if all are."""
        return self._states[self.slot(trie, variable)]

    def put(self, trie: int, variable: int, states: Ranges | None) -> int:
        """The context in which these states are possible for a variable, or all if None."""
        number = self._number_of.get(states)
        if number is None:
            number = self._number_of[states] = len(self._states)
            self._states.append(states)
        return self.with_slot(trie, variable, number)

    def restricted(self, trie: int, kept: int) -> int:
        """The context of only those variables that are in a set."""
        return self._restricted(trie, kept, self.height)

    def _restricted(self, trie: int, kept: int, height: int) -> int:  # the recursion is as deep as the trie is high
        if not trie or not kept:
            return 0
        key = (trie, kept)
        if key in self._cached:
            return self._cached[key]
        if height == 0:
            return self._remember(key, self._intern(self._leaf(trie) & self._slots(self.sets.nodes[kept])))
        (a, b), (c, d) = self._halves(trie), self.sets._halves(kept)
        return self._remember(
            key, self._intern((self._restricted(a, c, height - 1), self._restricted(b, d, height - 1)))
        )

    def _slots(self, members: _Node) -> int:
        assert isinstance(members, int)
        if members not in self._mask:
            full_slot = (1 << _SLOT) - 1
            self._mask[members] = sum(full_slot << place * _SLOT for place in range(_BLOCK) if members >> place & 1)
        return self._mask[members]
