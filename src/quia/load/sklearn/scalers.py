"""Scalers and binning: a formula for each column, in scikit-learn's own order of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quia.errors import FormatError
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.follow import Frame, Walk, _refused
from quia.load.sklearn.steps import Formula, Known, Lookup

_Make = Callable[[int], Callable[[Floats], Floats]]


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
    clip = (-1.0, 1.0) if getattr(scaler, "clip", False) else None
    return _each(frame, lambda i: _clipped(_centred(None, scaler.scale_, i, frame.sparse), clip))


def min_max(walk: Walk, scaler: Any, frame: Frame) -> Frame:
    """MinMaxScaler: x * scale + min, clipped to its range with `clip`."""

    def make(i: int) -> Callable[[Floats], Floats]:
        scale, least = float(scaler.scale_[i]), float(scaler.min_[i])
        clip = tuple(map(float, scaler.feature_range)) if scaler.clip else None
        return _clipped(lambda x: x * scale + least, clip)

    return _each(frame, make)


def quantile(walk: Walk, transformer: Any, frame: Frame) -> Frame:
    """QuantileTransformer to a uniform distribution: a line between each two quantiles."""
    if transformer.output_distribution != "uniform" or frame.sparse:
        raise _refused(walk, "QuantileTransformer")
    references = np.asarray(transformer.references_, np.float64)
    columns = []
    for i, column in enumerate(frame.columns):
        quantiles = np.ascontiguousarray(transformer.quantiles_[:, i], np.float64)
        columns.append(column.then(Formula(_interpolated(quantiles, references), tuple(quantiles.tolist()))))
    return Frame(columns)


def binarizer(walk: Walk, step: Any, frame: Frame) -> Frame:
    """Binarizer: 1 above the threshold, else 0."""
    threshold = float(step.threshold)
    formula = Formula(lambda x: (x > threshold).astype(np.float64), takes_missing=False)
    return Frame([column.then(formula) for column in frame.columns], frame.sparse)


def bins(walk: Walk, step: Any, frame: Frame) -> Frame:
    """KBinsDiscretizer: the number of the bin, or a column for each bin."""
    columns = []
    single = step.dtype is not None and np.dtype(step.dtype) == np.float32
    for i, column in enumerate(frame.columns):
        edges = np.asarray(step.bin_edges_[i], np.float64)[1:-1]
        binned = column.then(Formula(_bin(edges, single), takes_missing=False))
        if step.encode == "ordinal":
            columns.append(binned)
            continue
        if int(step.n_bins_[i]) != len(edges) + 1:
            raise FormatError(f"{walk.step} has {step.n_bins_[i]} bins and {len(edges)} edges between them")
        known = Known.of(range(len(edges) + 1))
        columns.extend(binned.then(Lookup(walk.step, known, {own: 1.0})) for own in known.categories)
    return Frame(columns, sparse=step.encode == "onehot")


def _each(frame: Frame, make: _Make) -> Frame:
    columns = [column.then(Formula(make(index))) for index, column in enumerate(frame.columns)]
    return Frame(columns, frame.sparse)


def _centred(center: Any, scale: Any, i: int, sparse: bool) -> Callable[[Floats], Floats]:
    middle = None if center is None else float(center[i])
    width = None if scale is None else float(scale[i])

    def function(x: Floats) -> Floats:
        if middle is not None:
            x = x - middle
        if width is None:
            return x
        return x * (1.0 / width) if sparse else x / width

    return function


def _clipped(function: Callable[[Floats], Floats], clip: Any) -> Callable[[Floats], Floats]:
    return function if clip is None else lambda x: np.clip(function(x), *clip)


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
