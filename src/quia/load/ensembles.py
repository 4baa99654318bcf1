"""Ensembles from flat arrays of yes/no tests on numbered columns, as boosting libraries and ONNX store them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.ensemble import Ensemble
from quia.errors import FormatError
from quia.graph import DecisionGraph
from quia.load.binary import Column, ColumnTests, Test, check_scores, states_of_yes, variables_of
from quia.ranges import difference
from quia.sums import Sums
from quia.trees import Trees
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.consistent import Edges

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

LEAF = -1


class Nodes(NamedTuple):
    """The nodes of many trees end to end, one array for each thing that a node has.

    Tree t has the nodes `start[t] … start[t+1] - 1`, its root first, the others in any order; `yes` and `no` are
    counted from its root, and `yes` is LEAF at a leaf. Node n asks whether the number in `column[n]` is below
    `threshold[n]`, or equal to it if `after[n]`; `missing[n]` is the answer for a missing value. Other questions are in
    the table `tests`: node n asks `tests[special[n]]` if that is not negative (whose `yes` and `no` are not used).
    `values` has a number, or a row of them, for each node, which counts at leaves.
    """

    start: Ints
    yes: Ints
    no: Ints
    column: Ints
    threshold: Floats
    missing: Truths
    values: Floats
    after: Truths | bool = False
    special: Ints | None = None
    tests: Sequence[Test] = ()


class Boosted(NamedTuple):
    """Trees, how their leaves are summed, and what is to be said of them."""

    nodes: Nodes
    sums: Sums
    notes: tuple[str, ...] = ()


def check_sums(nodes: Nodes, sums: Sums) -> None:
    """Refuse leaves so large that their sums overflow."""
    at_leaves = np.abs(np.where((nodes.yes == LEAF).reshape(-1, *[1] * (nodes.values.ndim - 1)), nodes.values, 0.0))
    most = at_leaves.reshape(len(at_leaves), -1).max(axis=1)
    with np.errstate(over="ignore"):
        total = np.maximum.reduceat(most, nodes.start[:-1]).sum() + max(map(abs, sums.start))
    limit = float(np.finfo(np.float32 if sums.single else np.float64).max) / 4
    if not total <= limit:
        raise FormatError(f"the leaves of the trees add up to {total}, and sums above {limit:g} are not exact")


def assemble(
    columns: Sequence[Column], nodes: Nodes, *, missing: bool, file: str | None = None
) -> tuple[tuple[Variable, ...], Trees]:
    """The variables of the columns, and the trees over their states; nodes that no root leads to are left out.

    `missing` says whether a missing value is a state. Complexity: sorting the nodes; Python objects only for each cut
    and for each of the `tests`.
    """
    start, kept, yes, no = in_order(nodes, file)
    inner = yes != LEAF
    special = np.full(len(kept), -1, np.int64) if nodes.special is None else nodes.special[kept]
    by_table, plain = inner & (special >= 0), np.flatnonzero(inner & (special < 0))
    if by_table.any() and special[by_table].max() >= len(nodes.tests):
        raise FormatError(f"a node asks question {special.max()} of {len(nodes.tests)}", file=file)
    used = np.unique(special[by_table])
    asked = [nodes.tests[index] for index in used.tolist()]
    cuts = _Cuts(columns, nodes, kept[plain], [test.column for test in asked], file)
    tests_of = cuts.by_column()
    for test in asked:
        tests_of.setdefault(test.column, ColumnTests()).add(test)
    variables, states = variables_of(columns, tests_of, missing=missing, file=file)
    values = np.ascontiguousarray(nodes.values[kept[~inner]], np.float64)
    if not np.isfinite(values).all():
        raise FormatError("a leaf has a value that is not a finite number", file=file)
    number = np.full(len(kept), LEAF, np.int32)
    number[plain], of_numbers = cuts.tests(variables, nodes.missing[kept[plain]] & missing)
    number[by_table] = len(of_numbers.variable) + np.searchsorted(used, special[by_table])
    yes_ranges = [states_of_yes(test, variables[test.column], states[test.column]) for test in asked]
    pairs = np.array([pair for ranges in yes_ranges for pair in ranges], np.int32).reshape(-1, 2)
    counts = np.concatenate([of_numbers.counts, np.array([len(ranges) for ranges in yes_ranges], np.int64)])
    return tuple(variables), Trees(
        start,
        number,
        yes.astype(np.int32),
        no.astype(np.int32),
        values.reshape(len(values), -1),
        np.concatenate([of_numbers.variable, np.array([test.column for test in asked], np.int64)]).astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([of_numbers.low, pairs[:, 0]]).astype(np.int32),
        np.concatenate([of_numbers.high, pairs[:, 1]]).astype(np.int32),
    )


def in_order(nodes: Nodes, file: str | None) -> tuple[Ints, Ints, Ints, Ints]:
    """The first nodes of the trees, the nodes that roots lead to, parents first, and where these lead: new numbers."""
    size = np.diff(nodes.start)
    total = len(nodes.yes)
    if len(nodes.start) < 2 or nodes.start[0] != 0 or nodes.start[-1] != total or (size < 1).any():
        raise FormatError("the model has no trees, or a tree without a node", file=file)
    first = np.repeat(nodes.start[:-1], size)
    inner = np.flatnonzero(nodes.yes != LEAF)
    ends = np.stack([nodes.yes[inner], nodes.no[inner]])
    if len(inner) and not ((ends > 0) & (ends < np.repeat(size, size)[inner])).all():
        raise FormatError("a node leads to its tree's root, or to a node that is not there", file=file)
    children = (ends + first[inner]).ravel()
    if len(children) and np.bincount(children).max() > 1:
        raise FormatError("a node has two parents; this is no tree", file=file)
    parent = np.arange(total)
    parent[children] = np.tile(inner, 2)
    depth, above = (parent != np.arange(total)).astype(np.int64), parent
    while (above != (further := above[above])).any():  # each time twice as far up; what goes round ends by itself
        depth, above = depth + depth[above], further
        if depth.max() > total:
            break
    kept = np.flatnonzero(above == first)
    if (parent[kept] > kept).any():
        kept = kept[np.lexsort((depth[kept], first[kept]))]
    place = np.full(total, LEAF)
    place[kept] = np.arange(len(kept))
    start = np.concatenate([[0], np.cumsum(np.add.reduceat(place >= 0, nodes.start[:-1]))])
    leads = nodes.yes[kept] != LEAF
    ends = np.where(leads, np.stack([nodes.yes[kept], nodes.no[kept]]) + first[kept], 0)
    yes, no = np.where(leads, place[ends], LEAF)
    return start, kept, yes, no


@dataclass(frozen=True, slots=True)
class _Table:
    """Tests of numbers: the variable of each, how many ranges of states it answers with yes, and these."""

    variable: Ints
    counts: Ints
    low: Ints
    high: Ints


class _Cuts:
    """The different cuts of nodes that compare numbers, in the order of their columns and places."""

    def __init__(
        self, columns: Sequence[Column], nodes: Nodes, chosen: Ints, more: Sequence[int], file: str | None
    ) -> None:
        column, threshold = nodes.column[chosen], nodes.threshold[chosen]
        for used in (column, np.array(more, np.int64)):
            if len(used) and not (used.min() >= 0 and used.max() < len(columns)):
                wrong = used.min() if used.min() < 0 else used.max()
                raise FormatError(f"a node tests column {wrong} of {len(columns)}", file=file)
        if np.isnan(threshold).any():
            raise FormatError("a node has a threshold that is not a number", file=file)
        after = np.broadcast_to(np.asarray(nodes.after, bool), len(nodes.yes))[chosen]
        single = np.array([each.single for each in columns], bool)[column]
        below = last_below(threshold, after, single)
        never = (threshold == -np.inf) & ~after
        order = np.lexsort((below, never, column))
        keys = np.stack([column[order], never[order], below[order]])
        new = np.ones(len(order), bool)
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        self.of_node = np.empty(len(order), np.int64)
        self.of_node[order] = np.cumsum(new) - 1
        one = order[new]
        self.column, self.threshold, self.after = column[one], threshold[one], after[one]
        self.below, self.never = below[one], never[one]
        self.always = (self.threshold == np.inf) & self.after

    def by_column(self) -> dict[int, ColumnTests]:
        """The cuts of each column."""
        tests_of: dict[int, ColumnTests] = {}
        for at, end in _runs(self.column):
            tests = tests_of[int(self.column[at])] = ColumnTests(kinds={True})
            pairs = zip(self.threshold[at:end].tolist(), self.after[at:end].tolist(), strict=True)
            tests.cuts.update(dict.fromkeys(pairs))
        return tests_of

    def tests(self, variables: Sequence[Variable], missing: Truths) -> tuple[Ints, _Table]:
        """The number of each node's test, and the different tests."""
        high = np.empty(len(self.column), np.int64)
        for at, end in _runs(self.column):
            high[at:end] = np.searchsorted(np.array(variables[self.column[at]].below), self.below[at:end])
        keys, number = np.unique(2 * self.of_node + missing, return_inverse=True)
        cut, to_yes = keys // 2, keys % 2 == 1
        variable = self.column[cut]
        last = np.array([len(each.cuts) for each in variables], np.int64)[variable]
        top = np.where(self.always[cut], last, np.where(self.never[cut], -1, high[cut]))
        joined = to_yes & (top == last)
        ranges = np.stack([top + joined, last + 1], axis=1)
        there = np.stack([top >= 0, to_yes & ~joined], axis=1)
        lows = np.stack([np.zeros_like(last), last + 1], axis=1)
        return number, _Table(variable, there.sum(axis=1), lows[there], ranges[there])


def last_below(threshold: Floats, after: Truths | bool, single: Truths | bool) -> Floats:
    """The greatest number on the lower side of each cut, in the type of its column, as `Cut.last_below` has it."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
        down = (rounded > threshold) | ((rounded == threshold) & ~np.asarray(after))
        in_single = np.where(down, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float64)
        return np.where(single, in_single, np.where(after, threshold, np.nextafter(threshold, -np.inf)))


def _runs(numbers: Ints) -> list[tuple[int, int]]:
    """Where each run of equal numbers begins and ends."""
    ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)] if len(numbers) else []
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


def simplest(ensemble: Ensemble) -> Classifier:
    """The decision graph of an ensemble of which at most one tree has tests; else the ensemble itself."""
    trees = ensemble.trees
    grown = np.flatnonzero(trees.test[trees.start[:-1]] != LEAF)
    if len(grown) > 1:
        return ensemble
    tree = int(grown[0]) if len(grown) else 0
    first, end = trees.start[tree], trees.start[tree + 1]
    tests, leaves = trees.test[first:end].tolist(), np.flatnonzero(trees.test[first:end] == LEAF)
    check_scores(len(leaves), len(ensemble.sums.start))
    labels = np.full(end - first, -1)
    labels[leaves] = _classes_of_leaves(ensemble, tree, len(leaves))
    ranges_of = {
        test: tuple(zip(trees.low[at:to].tolist(), trees.high[at:to].tolist(), strict=True))
        for test in set(tests) - {LEAF}
        for at, to in [trees.range_start[test : test + 2].tolist()]
    }
    last = int(end) - 1
    edges: list[Edges] = []
    variables = [-1 if test == LEAF else int(trees.variable[test]) for test in tests]
    for place in range(len(tests) - 1, -1, -1):
        if tests[place] == LEAF:
            edges.append(())
            continue
        yes = ranges_of[tests[place]]
        no = difference(((0, ensemble.variables[variables[place]].size - 1),), yes)
        below = (last - int(trees.yes[first + place]), last - int(trees.no[first + place]))
        edges.append(tuple((ranges, child) for ranges, child in zip((yes, no), below, strict=True) if ranges))
    return DecisionGraph.build(
        ensemble.variables,
        ensemble.classes,
        variables[::-1],
        labels[::-1].tolist(),
        edges,
        notes=ensemble.notes,
        given=ensemble.given,
    )


def _classes_of_leaves(ensemble: Ensemble, tree: int, count: int) -> npt.NDArray[np.int32]:
    """The class that each leaf of a tree leads to, if all other trees are a single leaf.

    The kernel says it, of an ensemble with a full binary tree over the numbers of the leaves in that tree's place.
    """
    trees = ensemble.trees
    depth = max(count - 1, 0).bit_length()
    inner, width = (1 << depth) - 1, 1 << depth
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))
    place = np.arange(inner) - ((1 << level) - 1)
    low = place << (depth - level)
    after, leaf = len(trees) - tree - 1, np.full(width, LEAF)
    values = [trees.values[: tree + count], *[trees.values[tree + count - 1 :][:1]] * (width - count)]
    start = np.concatenate([np.arange(tree + 1), tree + inner + width + np.arange(after + 1)])
    alone, others = np.full(tree, LEAF), np.full(after, LEAF)
    numbered = Trees(
        start,
        np.concatenate([alone, np.arange(inner), leaf, others]),
        np.concatenate([alone, tree + 2 * np.arange(inner) + 1, leaf, others]),
        np.concatenate([alone, tree + 2 * np.arange(inner) + 2, leaf, others]),
        np.concatenate([*values, trees.values[tree + count :]]),
        np.zeros(inner, np.int32),
        np.arange(inner + 1),
        low,
        low + (width >> (level + 1)) - 1,
    )
    number = Variable.nominal("leaf", map(str, range(width)))
    alike = Ensemble((number,), ensemble.classes, numbered, ensemble.sums)
    return alike.decide_rows(np.arange(count, dtype=np.int32)[:, None])
