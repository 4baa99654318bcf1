"""Passes over a large NNF by whole levels: evaluating it, and simplifying constants away."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quia.nnf import AND, FALSE, LITERAL, NNF, OR, TRUE, Builder

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_NARROW = 16
"""Formulas with fewer nodes a level than this are folded node by node, which is quicker then."""


class Levels:
    """The inner nodes of a formula by how far they are above the leaves; worked out once, used for every instance."""

    def __init__(self, formula: NNF) -> None:
        self.formula = formula
        start = formula.child_start
        height = np.zeros(len(formula), np.int64)
        inner = np.flatnonzero(np.diff(start))
        for node, low, high in zip(inner.tolist(), start[inner].tolist(), start[inner + 1].tolist(), strict=True):
            height[node] = height[formula.child[low:high]].max() + 1
        order = inner[np.argsort(height[inner], kind="stable")]
        bounds = np.flatnonzero(np.diff(height[order])) + 1
        self.is_narrow = len(order) < _NARROW * (len(bounds) + 1)
        self.groups: list[tuple[Ints, Ints, Ints]] = []  # nodes, where each one's children begin, all those children
        if not self.is_narrow and len(order):
            self.groups = [_group(formula, nodes) for nodes in np.split(order, bounds)]

    def values(self, true: Bools) -> Bools:
        """Whether each node is true, if of the literals just these are."""
        formula = self.formula
        if self.is_narrow:
            return _folded(formula, true)
        values = true | (formula.kind == TRUE)
        for nodes, begin, children in self.groups:
            counts = np.add.reduceat(values[children], begin, dtype=np.int64)
            width = np.diff(np.append(begin, len(children)))
            values[nodes] = np.where(formula.kind[nodes] == AND, counts == width, counts > 0)
        return np.asarray(values)

    def holds(self, true: Bools) -> bool:
        """Whether the formula is true, if of the literals just these are."""
        return bool(self.values(true)[-1])


def simplified(formula: NNF, levels: Levels) -> NNF:
    """The formula without constants inside, nodes with one part, and nodes that the root does not need.

    `levels` are those of a formula with the same edges. Complexity: linear.
    """
    if levels.is_narrow:
        build = Builder(formula.variables)
        return build.nnf(formula.fold(build.constant, build.literal, build.conjunction, build.disjunction))
    kind = formula.kind.copy()
    stands_for = np.arange(len(formula))  # a node with one part left is that part
    for nodes, begin, children in levels.groups:
        parts = stands_for[children]
        part_kinds = kind[parts]
        is_and = kind[nodes] == AND
        width = np.diff(np.append(begin, len(children)))
        absorbing = np.where(is_and, FALSE, TRUE)
        left = (part_kinds == LITERAL) | (part_kinds >= AND)
        absorbed = np.add.reduceat(part_kinds == np.repeat(absorbing, width), begin, dtype=np.int64) > 0
        # Parts that are the same node count once: compare the least and the greatest that are left.
        least = np.minimum.reduceat(np.where(left, parts, len(formula)), begin)
        greatest = np.maximum.reduceat(np.where(left, parts, -1), begin)
        kind[nodes] = np.where(absorbed, absorbing, np.where(greatest < 0, np.where(is_and, TRUE, FALSE), kind[nodes]))
        single = ~absorbed & (least == greatest)
        stands_for[nodes[single]] = greatest[single]
    return _compacted(formula, kind, stands_for)


def _compacted(formula: NNF, kind: npt.NDArray[np.integer[Any]], stands_for: Ints) -> NNF:
    """Only what the root needs, with constants and repeated parts gone from the edges."""
    root = int(stands_for[-1])
    if kind[root] in (FALSE, TRUE, LITERAL):
        leaf = slice(root, root + 1)
        is_literal = kind[root] == LITERAL
        none = np.array([-1], np.int32)
        return NNF(
            formula.variables,
            kind[leaf].copy(),
            formula.variable[leaf].copy() if is_literal else none,
            formula.state[leaf].copy() if is_literal else none.copy(),
            np.zeros(2, np.int64),
            np.array([], np.int32),
        )
    width = np.diff(formula.child_start)
    owner = np.repeat(np.arange(len(formula)), width)
    part = stands_for[formula.child]
    joins = (kind[owner] >= AND) & (stands_for[owner] == owner) & (kind[part] >= LITERAL)
    owner, part = owner[joins], part[joins]
    # Each pair once, parts in a fixed order.
    pairs = np.unique(owner * np.int64(len(formula)) + part)
    owner, part = pairs // len(formula), pairs % len(formula)
    start = np.searchsorted(owner, np.arange(len(formula) + 1))
    needed = np.zeros(len(formula), bool)
    frontier = np.array([root])
    while len(frontier):
        needed[frontier] = True
        lengths = start[frontier + 1] - start[frontier]
        offsets = np.repeat(start[frontier] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        below = np.unique(part[offsets])
        frontier = below[~needed[below]]
    number = np.cumsum(needed) - 1
    kept = needed[owner]
    return NNF(
        formula.variables,
        kind[needed],
        np.where(kind[needed] == LITERAL, formula.variable[needed], -1).astype(np.int32),
        np.where(kind[needed] == LITERAL, formula.state[needed], -1).astype(np.int32),
        np.append(0, np.cumsum((start[1:] - start[:-1])[needed])),
        number[part[kept]].astype(np.int32),
    )


def _group(formula: NNF, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    first, last = formula.child_start[nodes], formula.child_start[nodes + 1]
    width = last - first
    begin = np.cumsum(width) - width
    offsets = np.repeat(first - begin, width) + np.arange(int(width.sum()))
    return nodes, begin, formula.child[offsets].astype(np.int64)


def _folded(formula: NNF, true: Bools) -> Bools:
    values = (true | (formula.kind == TRUE)).tolist()
    for node, (kind, _, _, children) in enumerate(formula.nodes):
        if kind == AND:
            values[node] = all(values[child] for child in children)
        elif kind == OR:
            values[node] = any(values[child] for child in children)
    return np.array(values, bool)
