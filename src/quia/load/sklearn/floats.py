"""Bisection over the floats themselves: where a function of a number passes a threshold, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, number_text

Floats = npt.NDArray[np.float64]
Function = Callable[[Floats], Floats]

LARGEST = float(np.finfo(np.float64).max)
_MOST_CELLS = 1_000_000  # pieces times thresholds that are searched at once
_SIGN = np.int64(np.iinfo(np.int64).min)


class Pieces(NamedTuple):
    """The finite floats split into intervals, both ends included, in increasing order."""

    low: Floats
    high: Floats


class Crossing(NamedTuple):
    """Where a test holds: `first` is its result up to and including the first border, then it alternates."""

    first: bool
    borders: tuple[float, ...]


ALL_FINITE = Pieces(np.array([-LARGEST]), np.array([LARGEST]))


def split_at(pieces: Pieces, breaks: Iterable[float], before: Function | None) -> Pieces:
    """The pieces, split where the function `before` reaches each break: below it, at it and above it.

    The function is monotone on every piece; None is the identity, for which there is nothing to search.
    """
    for at in sorted(set(breaks)):
        if before is None:
            pieces = _split_after(_split_after(pieces, np.nextafter(at, -np.inf)), at)
        else:
            pieces = _split_where(pieces, lambda x, at=at: before(x) < at)  # type: ignore[misc]
            pieces = _split_where(pieces, lambda x, at=at: before(x) <= at)  # type: ignore[misc]
    return pieces


def crossings(
    function: Function, pieces: Pieces, thresholds: Floats, *, missing_left: bool, single: bool = True
) -> list[Crossing]:
    """For each threshold, where the function, cast to 32 bits as scikit-learn's trees do, is not above it.

    The function is monotone, or NaN, on every piece; `missing_left` says whether NaN counts as not above.
    Without `single` it is compared in 64 bits.
    Complexity: 64 calls of the function, on arrays of at most one number a piece and threshold.
    """
    result: list[Crossing] = []
    at_once = max(1, _MOST_CELLS // len(pieces.low))
    for start in range(0, len(thresholds), at_once):
        result += _crossings(function, pieces, thresholds[start : start + at_once], missing_left, single)
    return result


def _crossings(
    function: Function, pieces: Pieces, thresholds: Floats, missing_left: bool, single: bool
) -> list[Crossing]:
    low, high = (np.tile(ends, (len(thresholds), 1)) for ends in pieces)
    limit = np.broadcast_to(thresholds[:, None], low.shape)

    def holds(x: Floats, limits: Floats) -> npt.NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            compared = function(x).astype(np.float32 if single else np.float64)
        return np.asarray(np.where(np.isnan(compared), missing_left, compared.astype(np.float64) <= limits))

    at_low, at_high = _each(holds, low, limit), _each(holds, high, limit)
    last = high.copy()
    crossed = at_low != at_high
    last[crossed] = _last_as_at_low(holds, low[crossed], high[crossed], at_low[crossed], limit[crossed])
    # Within a piece the test turns after its `last`; between two, after the end of the first.
    results = np.stack([at_low, at_high], axis=2).reshape(len(thresholds), -1)
    row, place = np.nonzero(results[:, 1:] != results[:, :-1])
    borders = np.where(place % 2 == 0, last[row, place // 2], high[row, place // 2]).tolist()
    ends = np.searchsorted(row, np.arange(len(thresholds) + 1)).tolist()
    return [
        Crossing(first, tuple(borders[start:end]))
        for first, start, end in zip(at_low[:, 0].tolist(), ends, ends[1:], strict=False)
    ]


def cut_after(border: float) -> Cut:
    """The cut between a float and the next one, named by whichever of the two is shorter to write.

    >>> cut_after(0.9999999999999999), cut_after(2.5)
    (Cut(threshold=1.0, after=False), Cut(threshold=2.5, after=True))
    """
    following = float(np.nextafter(border, np.inf))
    if np.isfinite(following) and len(number_text(following)) < len(number_text(border)):
        return Cut(following, after=False)
    return Cut(border, after=True)


def _each(holds: Callable[[Floats, Floats], Any], x: Floats, limit: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(holds(x.ravel(), limit.ravel())).reshape(x.shape)


def _last_as_at_low(
    holds: Callable[[Floats, Floats], Any], low: Floats, high: Floats, at_low: npt.NDArray[np.bool_], limit: Floats
) -> Floats:
    """The last number of each interval at which the test is still as it is at the low end."""
    same, other = ordinal_of(low), ordinal_of(high)
    while len(same) and bool(np.any(other - 1 > same)):
        middle = (same & other) + ((same ^ other) >> 1)  # an average that cannot overflow
        is_same = holds(number_of(middle), limit) == at_low
        same, other = np.where(is_same, middle, same), np.where(is_same, other, middle)
    return number_of(same)


def _split_after(pieces: Pieces, last: float) -> Pieces:
    """The pieces, split after a number that is in one of them."""
    inside = int(np.searchsorted(pieces.high, last))
    if inside == len(pieces.high) or last < pieces.low[inside] or last == pieces.high[inside]:
        return pieces
    return Pieces(np.insert(pieces.low, inside + 1, np.nextafter(last, np.inf)), np.insert(pieces.high, inside, last))


def _split_where(pieces: Pieces, holds: Callable[[Floats], Any]) -> Pieces:
    at_low, at_high = np.asarray(holds(pieces.low)), np.asarray(holds(pieces.high))
    crossed = at_low != at_high
    low, high = pieces.low[crossed], pieces.high[crossed]
    for last in _last_as_at_low(lambda x, _: holds(x), low, high, at_low[crossed], low).tolist():
        pieces = _split_after(pieces, last)
    return pieces


def ordinal_of(x: Floats) -> npt.NDArray[np.int64]:
    """The floats numbered in their order; both zeros have the number 0."""
    bits = x.view(np.int64)
    return np.where(bits >= 0, bits, _SIGN - bits)


def number_of(ordinal: npt.NDArray[np.int64]) -> Floats:
    return np.where(ordinal >= 0, ordinal, _SIGN - ordinal).view(np.float64)
