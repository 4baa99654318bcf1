"""What every formula is made of: the kinds of nodes, the table that makes equal ones once, and the walks over them.

A formula is a graph without cycles, so that shared parts are stored and worked on once. It is kept in two ways:

- `formula.Formula` is an object that anyone may hold, compare with `is` and build upon; its table is one for all, and
  forgets a node that nobody holds any more.
- `nnf.NNF` is the frozen picture of a formula without negations, as flat arrays, which the kernel evaluates and
  conditions; its `Builder` is a table that is thrown away when the picture is taken.

A node is thus an object in the one and a number in the other; all that does not depend on that is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping, Sequence
from itertools import chain, compress
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

FALSE, TRUE, LITERAL, AND, OR, NOT = range(6)
"""The kinds of nodes, as the kernel numbers them; a literal is a state, and only a `Formula` negates."""

Ints = npt.NDArray[np.integer[Any]]
Node = TypeVar("Node", bound=Hashable)
Variable = TypeVar("Variable")
T = TypeVar("T")
Key = tuple[int, Variable, int, tuple[Node, ...]]
"""What a node is: its kind, variable, state and children."""


class Table(ABC, Generic[Node, Variable]):
    """Makes nodes from the leaves up, equal ones once."""

    def __init__(self, known: MutableMapping[Key[Variable, Node], Node], no_variable: Variable) -> None:
        self._known, self._no_variable = known, no_variable
        self.false, self.true = (self.made(kind, no_variable, -1, ()) for kind in (FALSE, TRUE))

    @abstractmethod
    def _fresh(self, key: Key[Variable, Node]) -> Node:
        """A node that is not yet known."""

    def literal(self, variable: Variable, state: int) -> Node:
        """The state of a variable."""
        return self.made(LITERAL, variable, state, ())

    def constant(self, value: bool) -> Node:
        """⊤ or ⊥."""
        return self.true if value else self.false

    def conjunction(self, parts: Iterable[Node]) -> Node:
        """The parts joined by ∧, constants and repeated parts simplified away."""
        return self.simplified(AND, parts)

    def disjunction(self, parts: Iterable[Node]) -> Node:
        """The parts joined by ∨, constants and repeated parts simplified away."""
        return self.simplified(OR, parts)

    def simplified(self, kind: int, parts: Iterable[Node]) -> Node:
        """The parts joined by ∧ or ∨, constants and repeated parts simplified away."""
        neutral, absorbing = (self.true, self.false) if kind == AND else (self.false, self.true)
        distinct = dict.fromkeys(parts)
        distinct.pop(neutral, None)
        return absorbing if absorbing in distinct else self.joined(kind, tuple(distinct))

    def joined(self, kind: int, parts: tuple[Node, ...]) -> Node:
        """The parts joined by ∧ or ∨; of none it is ⊤ or ⊥, of one that one."""
        if len(parts) < 2:
            return parts[0] if parts else self.constant(kind == AND)
        return self.made(kind, self._no_variable, -1, parts)

    def made(self, kind: int, variable: Variable, state: int, children: tuple[Node, ...]) -> Node:
        """The node with this key as it stands, with nothing simplified."""
        key = (kind, variable, state, children)
        found = self._known.get(key)
        return self._known.setdefault(key, self._fresh(key)) if found is None else found


def with_last_uses(
    nodes: Sequence[Node], children: Callable[[Node], Sequence[Node]]
) -> Iterator[tuple[Node, list[Node]]]:
    """Every node, which come children first, with those of its children that no later node is made of.

    What is known of these can be forgotten, so that what is kept for nodes does not add up to a square. A child that a
    node has twice is listed twice.
    """
    last: dict[Node, int] = {}
    for place, node in enumerate(nodes):
        for child in children(node):
            last[child] = place
    for place, node in enumerate(nodes):
        yield node, [child for child in children(node) if last[child] == place]


def fold(
    steps: Iterable[tuple[Node, Sequence[Node]]],
    children: Callable[[Node], Sequence[Node]],
    value: Callable[[Node, list[T]], T],
) -> T:
    """The value of the last node, `value` making that of a node from those of its children, which come before it.

    A step is a node and those whose values are let go after it: none where values are small, or `with_last_uses`, so
    that a deep formula does not hold all of them. Complexity: linear in the edges, without recursion.

    >>> fold(((n, ()) for n in range(3)), lambda node: ((), (), (0, 1))[node], lambda node, parts: sum(parts) + 1)
    3
    """
    values: dict[Node, T] = {}
    for node, done in steps:
        values[node] = value(node, [values[child] for child in children(node)])
        for child in done:
            values.pop(child, None)
    return values[node]


def written(root: Node, words: Callable[[Node], Sequence[Node | str]]) -> Iterator[str]:
    """The text of a node piece by piece, where `words` says what a node is written as: strings and nodes.

    A formula with shared parts can be astronomic when written out; who asks can stop anywhere.
    """
    work: list[Node | str] = [root]
    while work:
        item = work.pop()
        if isinstance(item, str):
            yield item
        else:
            work.extend(reversed(words(item)))


def reached(root: int, children: Callable[[int], Sequence[int]]) -> dict[int, int]:
    """The nodes that a root needs, of nodes numbered children first, and the number of each without the others.

    >>> reached(3, lambda node: ((), (), (), (0, 2))[node])
    {0: 0, 2: 1, 3: 2}
    """
    used = bytearray(root + 1)
    used[root] = 1
    for number in range(root, -1, -1):
        if used[number]:
            for child in children(number):
                used[child] = 1
    return {number: place for place, number in enumerate(compress(range(root + 1), used))}


def flat(children: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The children of all nodes one after another, as the kernel takes them: where each node's begin, and the children.

    >>> [array.tolist() for array in flat([(), (), (0, 1)])]
    [[0, 0, 0, 2], [0, 1]]
    """
    start = np.zeros(len(children) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, children), np.int64, len(children)), out=start[1:])
    return start, np.fromiter(chain.from_iterable(children), np.int32, int(start[-1]))
