"""Scalers and binning: a formula for each column, in scikit-learn's own order of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quia.errors import FormatError
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.follow import Frame, Walk, _refused
from quia.load.sklearn.steps import Formula, Known, Lookup, Operation

_Make = Callable[[int], Sequence[Operation]]


def standard(walk: Walk, scaler: Any, frame: Frame) -> Frame:
    """StandardScaler: (x - mean) / scale; in a sparse matrix it multiplies by 1 / scale."""
    center = scaler.mean_ if scaler.with_mean else None
    return _each(frame, lambda i: _centred(center, scaler.scale_, i, frame.sparse))


def robust(walk: Walk, scaler: Any, frame: Frame) -> Frame:
    """RobustScaler: (x - center) / scale."""
    center = scaler.center_ if scaler.with_centering else None
    scale = scaler.scale_ if scaler.with_scaling else None
    return _each(frame, lambda i: _centred(center, scale, i, frame.sparse))


def max_abs(walk: Walk, scaler: Any, frame: Frame) -> Frame:
    """MaxAbsScaler: x / scale, clipped to [-1, 1] with `clip`."""
    clip: list[Operation] = [("clip", -1.0, 1.0)] if getattr(scaler, "clip", False) else []
    return _each(frame, lambda i: [*_centred(None, scaler.scale_, i, frame.sparse), *clip])


def min_max(walk: Walk, scaler: Any, frame: Frame) -> Frame:
    """MinMaxScaler: x * scale + min, clipped to its range with `clip`."""
    clip: list[Operation] = [("clip", *map(float, scaler.feature_range))] if scaler.clip else []
    return _each(frame, lambda i: [("multiply", float(scaler.scale_[i])), ("add", float(scaler.min_[i])), *clip])


def quantile(walk: Walk, transformer: Any, frame: Frame) -> Frame:
    """QuantileTransformer to a uniform distribution: a line between each two quantiles."""
    if transformer.output_distribution != "uniform" or frame.sparse:
        raise _refused(walk, "QuantileTransformer")
    references = np.asarray(transformer.references_, np.float64)
    columns = []
    for i, column in enumerate(frame.columns):
        quantiles = np.ascontiguousarray(transformer.quantiles_[:, i], np.float64)
        function = _interpolated(quantiles, references)
        columns.append(
            column.then(Formula(function, tuple(quantiles.tolist()), step=f"{walk.step}, a QuantileTransformer,"))
        )
    return Frame(columns)


def binarizer(walk: Walk, step: Any, frame: Frame) -> Frame:
    """Binarizer: 1 above the threshold, else 0."""
    threshold = float(step.threshold)
    formula = Formula(lambda x: (x > threshold).astype(np.float64), takes_missing=False, written=(0.0, 1.0))
    return Frame([column.then(formula) for column in frame.columns], frame.sparse)


def bins(walk: Walk, step: Any, frame: Frame) -> Frame:
    """KBinsDiscretizer: the number of the bin, or a column for each bin."""
    columns = []
    single = step.dtype is not None and np.dtype(step.dtype) == np.float32
    for i, column in enumerate(frame.columns):
        edges = np.asarray(step.bin_edges_[i], np.float64)[1:-1]
        numbers = tuple(map(float, range(len(edges) + 1)))
        binned = column.then(Formula(_bin(edges, single), takes_missing=False, written=numbers, single=single))
        if step.encode == "ordinal":
            columns.append(binned)
            continue
        if int(step.n_bins_[i]) != len(edges) + 1:
            raise FormatError(f"{walk.step} has {step.n_bins_[i]} bins and {len(edges)} edges between them")
        known = Known.of(range(len(edges) + 1))
        columns.extend(binned.then(Lookup(walk.step, known, {own: 1.0}, single=single)) for own in known.categories)
    return Frame(columns, sparse=step.encode == "onehot")


def _each(frame: Frame, make: _Make) -> Frame:
    columns = [column.then(Formula.of(make(index))) for index, column in enumerate(frame.columns)]
    return Frame(columns, frame.sparse)


def _centred(center: Any, scale: Any, i: int, sparse: bool) -> list[Operation]:
    operations: list[Operation] = [] if center is None else [("subtract", float(center[i]))]
    if scale is not None:
        width = float(scale[i])
        operations.append(("multiply", 1.0 / width) if sparse else ("divide", width))
    return operations


def _interpolated(quantiles: Floats, references: Floats) -> Callable[[Floats], Floats]:
    def function(x: Floats) -> Floats:
        up = np.interp(x, quantiles, references)
        down = np.interp(-x, -quantiles[::-1], -references[::-1])
        result = 0.5 * (up - down)
        result[x == quantiles[-1]] = 1.0
        result[x == quantiles[0]] = 0.0
        return np.asarray(result)

    return function


def _bin(edges: Floats, single: bool) -> Callable[[Floats], Floats]:
    def function(x: Floats) -> Floats:
        seen = x.astype(np.float32).astype(np.float64) if single else x
        return np.searchsorted(edges, seen, side="right").astype(np.float64)

    return function
