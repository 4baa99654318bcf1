"""How onnxruntime makes a class of the weights of an ONNX ensemble: of one tree leaf by leaf, of many as sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.errors import TooLarge, Unsupported
from quia.load.ensembles import Floats, Ints
from quia.load.onnx_trees import Forest, distinct
from quia.sums import Rule, Sums

_MOST_ADDITIONS = 200_000_000


def sums_of_two(forest: Forest, base: Sequence[float]) -> tuple[Floats, Sums]:
    """A value for each node of a two-class ensemble, and the sums of them."""
    end = _base_of_two(forest, base)
    values = np.zeros(len(forest.mode))
    values[forest.at] = forest.weight
    refuse_twice(forest.at)
    cut = np.float64(_cut_of_two(forest)) if forest.double else np.float32(_cut_of_two(forest))
    least = float(np.nextafter(cut, type(cut)(1)))
    count = len(forest.start) - 1
    return values, Sums((0,) * count, (0.0,), Rule("cuts", (least,)), single=not forest.double, end=(end,))


def sums_of_many(forest: Forest, classes: int, base: Sequence[float]) -> tuple[Floats, Sums]:
    """A value for each node of an ensemble of several classes, or one for each class, and the sums of them."""
    _check_base(base, classes)
    tree = forest.tree[forest.at]
    refuse_twice(forest.at * classes + forest.score)
    count = len(forest.start) - 1
    start = _starts(forest, classes, bool(base))
    greatest, least = np.full(count, -1), np.full(count, classes)
    np.maximum.at(greatest, tree, forest.score)
    np.minimum.at(least, tree, forest.score)
    if ((greatest == least) | (greatest < 0)).all():  # each tree is for one class
        values = np.zeros(len(forest.mode))
        values[forest.at] = forest.weight
        outputs = tuple(greatest.clip(min=0).tolist())
    else:
        values = np.zeros((len(forest.mode), classes))
        values[forest.at, forest.score] = forest.weight
        outputs = (-1,) * count
    return values, Sums(outputs, start, Rule("argmax"), single=not forest.double, end=tuple(base))


def _starts(forest: Forest, classes: int, have_base: bool) -> tuple[float, ...]:
    """What the scores begin with: 0, and so little that it never wins for a class that never has a weight.

    onnxruntime passes over classes without a weight at any of the leaves that are reached. It must not depend on the
    leaves whether a class is one of them, unless a class that has none cannot win anyway.
    """
    zeros = (0.0,) * classes
    if have_base:
        return zeros
    tree, leaves = forest.tree[forest.at], np.add.reduceat(forest.leaf, forest.start[:-1])
    weights = np.bincount(tree * classes + forest.score, minlength=len(leaves) * classes).reshape(-1, classes)
    always, never = (weights == leaves[:, None]).any(axis=0), weights.sum(axis=0) == 0
    if always.all():
        return zeros
    above = distinct(forest.at[forest.weight > 0])
    if not (forest.weight < 0).any() and (np.bincount(forest.tree[above], minlength=len(leaves)) == leaves).any():
        return zeros  # some class always has a sum above 0
    if not always.any() or not (always | never).all():
        raise Unsupported(
            "some leaves have no weight for a class, and weights may add up to 0 or less",
            cure="export it with a weight for each class at each leaf",
        )
    most = np.zeros(len(leaves))
    np.maximum.at(most, tree, np.abs(forest.weight))
    low = float(np.float32(-2 * most.sum() - 1))
    return tuple(low if alone else 0.0 for alone in never.tolist())


def labels_of_leaves(forest: Forest, classes: int, base: Sequence[float]) -> Floats:
    """The class of each leaf of the only tree that has tests, at its node; other trees are only a leaf."""
    tree = int(forest.grown[0]) if len(forest.grown) else 0
    first, end = (int(place) for place in forest.start[tree : tree + 2])
    own = (forest.at >= first) & (forest.at < end)
    kind: Any = np.float64 if forest.double else np.float32
    order = np.argsort(forest.at, kind="stable")
    before: dict[int, Any] = {}
    after: dict[int, list[Any]] = {}
    for at, score, weight in zip(
        *(array[order][~own[order]].tolist() for array in (forest.at, forest.score, forest.weight)), strict=True
    ):
        if at < first:
            before[score] = before.get(score, kind(0)) + kind(weight)
        else:
            after.setdefault(score, []).append(kind(weight))
    leaves = np.flatnonzero(forest.leaf[first:end])
    values = np.zeros(end - first)
    if classes == 2:
        added = _base_of_two(forest, base)
        score = int(forest.scores_named[0])
        sums = np.full(end - first, before.get(score, kind(0)), kind)
        np.add.at(sums, forest.at[own] - first, forest.weight[own].astype(kind))
        _check_additions(len(leaves) * len(after.get(score, ())))
        sums = _added(sums, after.get(score, ()))
        values[leaves] = (sums + kind(added) > kind(_cut_of_two(forest)))[leaves]
        return values
    _check_base(base, classes)
    bases = [kind(number) for number in base]
    totals = _own_sums(forest.at[own] - first, forest.score[own], forest.weight[own].astype(kind), before, after)
    others = {score: _added(before.get(score, kind(0)), after.get(score, ())) for score in {*before, *after}}
    rivals = range(classes) if base else list(others)
    ranked = sorted((-(others.get(s, kind(0)) + bases[s] if base else others[s]), s) for s in rivals)
    for leaf in leaves.tolist():
        mine = totals.get(leaf, {})
        ranks = [(-(total + bases[s] if base else total), s) for s, total in mine.items()]
        ranks += [rank for rank in [next((r for r in ranked if r[1] not in mine), None)] if rank is not None]
        if not ranks:
            raise ValueError("a leaf has no weights")
        values[leaf] = min(ranks)[1]
    return values


def _own_sums(
    at: Ints, score: Ints, weight: npt.NDArray[Any], before: dict[int, Any], after: dict[int, list[Any]]
) -> dict[int, dict[int, Any]]:
    """For each leaf of the tree, the sums of the classes that it has weights for, added tree after tree."""
    totals: dict[int, dict[int, Any]] = defaultdict(dict)
    _check_additions(sum(len(after.get(each, ())) for each in score.tolist()))
    for leaf, each, number in zip(at.tolist(), score.tolist(), weight, strict=True):
        totals[leaf][each] = totals[leaf].get(each, before.get(each, number.dtype.type(0))) + number
    return {
        leaf: {each: _added(total, after.get(each, ())) for each, total in sums.items()}
        for leaf, sums in totals.items()
    }


def _added(total: Any, weights: Sequence[Any]) -> Any:
    for weight in weights:
        total = total + weight
    return total


def _check_additions(count: int) -> None:
    if count > _MOST_ADDITIONS:
        raise TooLarge(
            f"{count} additions would tell the classes of its leaves; at most {_MOST_ADDITIONS} are made, so export it"
            " without trees that are only a leaf",
            limit=_MOST_ADDITIONS,
        )


def _base_of_two(forest: Forest, base: Sequence[float]) -> float:
    """What onnxruntime adds to the one sum of two classes; refused where that is not the sum of all weights."""
    used = forest.scores_named.tolist()
    if len(used) != 1 or len(base) > (2 if used == [0] else 0):
        raise Unsupported(
            "a two-class ensemble has weights for both classes, or base values for both",
            cure="export it with weights for one class, as skl2onnx does: onnxruntime gives no labels for this one",
        )
    return base[0] if base else 0.0


def _cut_of_two(forest: Forest) -> float:
    return 0.0 if forest.any_negative else 0.5


def _check_base(base: Sequence[float], classes: int) -> None:
    if base and len(base) != classes:
        raise ValueError(f"{len(base)} base values for {classes} classes")


def refuse_twice(keys: Ints) -> None:
    """Refuse weights of which two have the same key, as onnxruntime adds them one after the other."""
    if len(distinct(keys)) < len(keys):
        raise Unsupported("a leaf has two weights for one class", cure="export it with one, which is their sum")
