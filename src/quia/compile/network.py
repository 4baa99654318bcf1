"""Bayesian networks: discrete variables, their parents, and exact conditional probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, listed, shown

MOST_ENTRIES = 4_000_000
"""A network whose tables have more entries than this together is refused."""
TOLERANCE = Fraction(1, 100)
"""So far from 1 may the probabilities of a row sum up, as rounded decimals do; then they are divided by that sum."""
_ROUNDED = Fraction(1, 10**6)

Exact = npt.NDArray[np.object_]
"""An array of fractions."""


@dataclass(frozen=True, slots=True)
class Node:
    """A variable of a network: its states, its parents' places, and P(state | parents' states).

    `table` has an axis for each parent, in their order, and a last one for the variable itself; its entries are
    fractions.
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[int, ...]
    table: Exact


@dataclass(frozen=True, eq=False)
class Network:
    """The variables of a network, in the order of its file.

    >>> rain = Node("rain", ("no", "yes"), (), np.array([Fraction(4, 5), Fraction(1, 5)]))
    >>> table = table_of([Fraction(9, 10), Fraction(1, 10), Fraction(0), Fraction(1)], (2, 2))
    >>> wet = Node("wet", ("no", "yes"), (0,), table)
    >>> network = Network.of([rain, wet])
    >>> network.leaves, network.place("rain")
    (('wet',), 0)
    """

    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(nodes: Sequence[Node], file: str | None = None, lines: Sequence[int] | None = None) -> Network:
        """A network whose tables were read: checked, and its rows made to sum up to 1.

        Rows that sum up to almost 1 are divided by that, exactly; others are refused, as are cycles. `lines` are those
        of the tables in the file.
        """
        _check_names(nodes, file)
        _check_acyclic(nodes, file, lines)
        made, rounded = [], []
        for place, node in enumerate(nodes):
            table, furthest = _normalised(nodes, node, file, lines[place] if lines else None)
            made.append(Node(node.name, node.states, node.parents, table))
            if furthest > _ROUNDED:
                rounded.append(node.name)
        notes: tuple[str, ...] = ()
        if rounded:
            notes = (f"probabilities of {listed(rounded, 6)} do not sum up to 1, and were divided by their sums",)
        return Network(tuple(made), notes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(node.name for node in self.nodes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return tuple(len(node.states) for node in self.nodes)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The names of the variables that are parents of none."""
        parents = {parent for node in self.nodes for parent in node.parents}
        return tuple(node.name for place, node in enumerate(self.nodes) if place not in parents)

    def place(self, name: str) -> int:
        """The place of a variable."""
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def ancestors(self, places: Iterable[int]) -> set[int]:
        """These variables, and all that they descend from."""
        found = set(places)
        waiting = list(found)
        while waiting:
            for parent in self.nodes[waiting.pop()].parents:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found


def table_of(entries: Sequence[Fraction], shape: Sequence[int]) -> Exact:
    """Fractions as an array of this shape, the last axis the quickest."""
    table: Exact = np.empty(len(entries), object)
    table[:] = entries
    return table.reshape(shape)


def _check_names(nodes: Sequence[Node], file: str | None) -> None:
    if not nodes:
        raise FormatError("has no variables", file=file)
    seen: set[str] = set()
    for node in nodes:
        if not node.name or node.name in seen:
            fault = f"has the variable {shown(node.name)} twice" if node.name else "has a variable without a name"
            raise FormatError(f"{fault}; names must differ and not be empty", file=file)
        seen.add(node.name)
        if not node.states or len(set(node.states)) < len(node.states):
            raise FormatError(
                f"{shown(node.name)} has the states {listed(node.states) or 'none'}; give one or more, which differ",
                file=file,
            )


def _check_acyclic(nodes: Sequence[Node], file: str | None, lines: Sequence[int] | None) -> None:
    """Refuse a variable that descends from itself."""
    waiting = [len(node.parents) for node in nodes]
    children: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for parent in node.parents:
            children[parent].append(place)
    free = [place for place, count in enumerate(waiting) if not count]
    reached = 0
    while free:
        reached += 1
        for child in children[free.pop()]:
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    if reached < len(nodes):
        place = next(place for place in range(len(nodes)) if waiting[place])
        seen: set[int] = set()
        while place not in seen:  # what is left waits for a parent that waits too, so this ends in a cycle
            seen.add(place)
            place = next(parent for parent in nodes[place].parents if waiting[parent])
        raise FormatError(
            f"{shown(nodes[place].name)} is among its own ancestors; a Bayesian network has no cycles",
            file=file,
            line=lines[place] if lines else None,
        )


def _normalised(nodes: Sequence[Node], node: Node, file: str | None, line: int | None) -> tuple[Exact, Fraction]:
    """A node's table with rows that sum up to 1, and how far from that they were at the most."""
    shape = (*(len(nodes[parent].states) for parent in node.parents), len(node.states))
    if node.table.shape != shape:
        raise FormatError(
            f"{shown(node.name)} has {node.table.size} probabilities; its states and its parents' make"
            f" {' × '.join(map(str, shape))}",
            file=file,
            line=line,
        )
    furthest = Fraction(0)
    rows = node.table.reshape(-1, shape[-1]).tolist()
    known: dict[tuple[int, ...], tuple[Fraction, ...]] = {}  # readers keep equal numbers as one object, and rows repeat
    made: list[Fraction] = []
    for number, row in enumerate(rows):
        entries = known.get(key := tuple(map(id, row)))
        if entries is None:
            common = lcm(*(entry.denominator for entry in row))
            whole = [entry.numerator * (common // entry.denominator) for entry in row]
            total = sum(whole)
            away = Fraction(abs(total - common), common) if total != common else Fraction(0)
            if min(whole) < 0 or away > TOLERANCE:
                raise FormatError(_no_distribution(nodes, node, number, row), file=file, line=line)
            furthest = max(furthest, away)
            entries = known[key] = tuple(Fraction(part, total) for part in whole) if away else tuple(row)
        made += entries
    return table_of(made, shape), furthest


def _no_distribution(nodes: Sequence[Node], node: Node, number: int, row: Sequence[Fraction]) -> str:
    """What to say of a row that is no distribution."""
    states = np.unravel_index(number, node.table.shape[:-1]) if node.parents else ()
    where = [
        f"{nodes[parent].name}={nodes[parent].states[state]}"
        for parent, state in zip(node.parents, states, strict=True)
    ]
    said = f" where {listed(where, 6)}" if where else ""
    return (
        f"{shown(node.name)} has the probabilities {listed((_brief(entry) for entry in row), 6)}{said}, which sum up to"
        f" {_brief(sum(row, Fraction()))}; give ones from 0 to 1 that sum up to 1"
    )


def _brief(number: Fraction) -> str:
    """A number of any size in a few digits."""
    return f"{float(number):g}" if abs(number) < 10**300 else "more than 1e+300"
