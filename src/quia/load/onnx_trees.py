"""The trees of an ONNX ensemble as flat arrays, from the lists of nodes and of weights that the operator has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval
from quia.errors import Unsupported, listed, shown
from quia.load.binary import Test
from quia.load.ensembles import LEAF, Floats, Ints, Nodes, Truths

MODES = ("LEAF", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_LEAF, _LEQ, _LT, _GTE, _GT, _EQ, _NEQ = range(len(MODES))


class Forest:
    """The nodes of all trees and the weights at their leaves; sums and comparisons are in 64 bits if `double`.

    Tree t has the nodes `start[t] … start[t+1] - 1`, the first of which is its root. Entry i of the weights adds
    `weight[i]` to score `score[i]` at node `at[i]`, a leaf.
    """

    def __init__(self, attributes: Mapping[str, Any], weights: str, double: bool) -> None:
        self.double = double
        self.treeid = _ints(attributes["nodes_treeids"])
        self.nodeid = _ints(attributes["nodes_nodeids"])
        self.column = _ints(attributes["nodes_featureids"])
        self.mode = _modes(attributes["nodes_modes"])
        self.threshold = self._rounded(numbers(attributes, "nodes_values"))
        tracks = attributes.get("nodes_missing_value_tracks_true")
        count = len(self.mode)
        self.tracks: Truths = _ints(tracks) == 1 if tracks is not None and len(tracks) else np.zeros(count, bool)
        true, false = _ints(attributes["nodes_truenodeids"]), _ints(attributes["nodes_falsenodeids"])
        lists = (self.treeid, self.nodeid, self.column, self.threshold, self.tracks, true, false)
        if not count or any(len(each) != count for each in lists):
            raise ValueError("the lists of nodes differ in length")
        begins = np.flatnonzero(np.diff(self.treeid, prepend=self.treeid[0] - 1))
        self.start: Ints = np.append(begins, count)
        self.tree: Ints = np.repeat(np.arange(len(begins)), np.diff(self.start))
        if len(np.unique(self.treeid[begins])) < len(begins):
            raise ValueError("the nodes of a tree are not side by side")
        self._order = np.lexsort((self.nodeid, self.tree))
        known = np.stack([self.tree, self.nodeid])[:, self._order]
        if (np.diff(known, axis=1) == 0).all(axis=0).any():
            raise ValueError("a node is there twice")
        self.leaf: Truths = self.mode == _LEAF
        inner = ~self.leaf
        self.true, self.false = np.full(count, LEAF), np.full(count, LEAF)
        self.true[inner] = self._places(self.tree[inner], true[inner])
        self.false[inner] = self._places(self.tree[inner], false[inner])
        if (np.diff(self.start)[self.leaf[begins]] > 1).any():
            raise ValueError("the first node of a tree is a leaf, and there are others")
        self._read_weights(attributes, weights)

    def _read_weights(self, attributes: Mapping[str, Any], name: str) -> None:
        treeid, nodeid, score = (_ints(attributes[f"{name}_{key}"]) for key in ("treeids", "nodeids", "ids"))
        weight = self._rounded(numbers(attributes, f"{name}_weights"))
        if not len(treeid) == len(nodeid) == len(score) == len(weight):
            raise ValueError("the lists of weights differ in length")
        if not np.isfinite(weight).all():
            raise ValueError("a weight is not a finite number")
        self.any_negative = bool((weight < 0).any())
        self.scores_named = distinct(score)
        ids = self.treeid[self.start[:-1]]
        order = np.argsort(ids)
        found = np.searchsorted(ids[order], treeid).clip(max=len(ids) - 1)
        tree = order[found]
        if (ids[tree] != treeid).any():
            raise ValueError("a weight is for a tree that is not there")
        at = self._places(tree, nodeid)
        kept = self.leaf[at]  # onnxruntime, too, passes over weights of nodes with a test
        self.at, self.score, self.weight = at[kept], score[kept], weight[kept]

    def _places(self, tree: Ints, nodeid: Ints) -> Ints:
        """Where the nodes with these numbers in these trees are."""
        low, high = int(self.nodeid.min()), int(self.nodeid.max())
        if len(nodeid) and not (low <= nodeid.min() and nodeid.max() <= high):
            raise ValueError(f"a node {nodeid.max()} that is not there")
        if (high - low + 1) * len(self.start) >= 2**62:
            raise ValueError(f"a node has the number {high}")
        width = high - low + 1
        keys = (self.tree * width + self.nodeid - low)[self._order]
        wanted = tree * width + nodeid - low
        found = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        if (keys[found] != wanted).any():
            raise ValueError("a node leads to one that is not there")
        places: Ints = self._order[found]
        return places

    def _rounded(self, values: Floats) -> Floats:
        """Numbers in the type that sums and comparisons are in."""
        with np.errstate(over="ignore"):
            return values if self.double else values.astype(np.float32).astype(np.float64)

    def base(self, attributes: Mapping[str, Any]) -> list[float]:
        """What is added to the scores in the end."""
        base = self._rounded(numbers(attributes, "base_values"))
        if not np.isfinite(base).all():
            raise ValueError("a base value is not a finite number")
        return [float(number) for number in base]

    @property
    def grown(self) -> Ints:
        """The trees that have tests."""
        return np.flatnonzero(~self.leaf[self.start[:-1]])

    def nodes(self, values: Floats, only: int | None = None) -> Nodes:
        """All trees, or only one of them, with a value, or a row of them, for each node."""
        first = self.start[self.tree]
        swapped = (self.mode == _GTE) | (self.mode == _GT) | (self.mode == _NEQ)
        yes, no = np.where(swapped, self.false, self.true), np.where(swapped, self.true, self.false)
        inner = ~self.leaf
        # The opposite question has the answers swapped; NaN is neither greater than a number nor equal to it.
        missing = np.where(swapped, ~(self.tracks | (self.mode == _NEQ)), self.tracks)
        tests, special = self._equalities(missing)
        whole = slice(0, len(inner)) if only is None else slice(int(self.start[only]), int(self.start[only + 1]))
        return Nodes(
            self.start if only is None else np.array([0, whole.stop - whole.start]),
            np.where(inner, yes - first, LEAF)[whole],
            np.where(inner, no - first, LEAF)[whole],
            self.column[whole],
            self.threshold[whole],
            missing[whole],
            values,
            after=((self.mode == _LEQ) | (self.mode == _GT))[whole],
            special=special[whole],
            tests=tests,
        )

    def _equalities(self, missing: Truths) -> tuple[list[Test], Ints]:
        """The different questions whether a number equals another, and the number of each node's, or -1."""
        special = np.full(len(self.mode), -1)
        asks = np.flatnonzero((self.mode == _EQ) | (self.mode == _NEQ))
        if not len(asks):
            return [], special
        value = self.threshold[asks]
        if np.isnan(value).any():
            raise ValueError("a threshold is not a number")
        keys = np.stack([self.column[asks].astype(np.float64), value, missing[asks].astype(np.float64)])
        rows, which = np.unique(keys, axis=1, return_inverse=True)
        special[asks] = which.reshape(-1)
        tests = [
            Test(int(column), 0, 0, bool(to_yes), where=(Interval(Cut(number, False), Cut(number, True)),))
            for column, number, to_yes in rows.T.tolist()
        ]
        return tests, special


def distinct(numbers: Ints) -> Ints:
    """The different numbers, in order; sorting beats np.unique, which hashes, by far."""
    ordered = np.sort(numbers)
    found: Ints = ordered[np.append(True, np.diff(ordered) > 0)[: len(ordered)]]
    return found


def numbers(attributes: Mapping[str, Any], name: str) -> Floats:
    """The numbers of an attribute, as a tensor or as a list."""
    exact = attributes.get(f"{name}_as_tensor")
    given = exact if exact is not None else attributes.get(name)
    return np.array([] if given is None else given, np.float64)


def _ints(values: Any) -> Ints:
    return np.array(values, np.int64)


def _modes(names: list[str]) -> npt.NDArray[np.int8]:
    known = {name: number for number, name in enumerate(MODES)}
    for name in set(names):
        if name not in known:
            raise Unsupported(f"a node has the mode {shown(name)}", cure=f"modes are {listed(MODES)}")
    return np.array([known[name] for name in names], np.int8)
