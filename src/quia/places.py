"""Places: all 64-bit numbers of a range, counted through, so that a feature without cuts has states like any other.

A line's value depends on the number itself, not on an interval that it is in. So each number is a state of its own:
what is next to it is the next 64-bit number, and a border among them is exact to the last bit. Numbers nearer to 0
than 2**-510 count as 0 and those beyond 2**510 do not count at all, so that a place fits into 63 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from quia.cuts import Cut

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LARGEST = 2.0**510
SMALLEST = 2.0**-510
_NEAR = struct.unpack("q", struct.pack("d", SMALLEST))[0] - 1  # the bits before those of the smallest number


def place(number: float) -> int:
    """How many numbers lie between 0 and this one, below 0 if it is.

    >>> place(0.0), place(-0.0), place(2.0**-510), place(1e-300), place(1.0) - place(0.9999999999999999)
    (0, 0, 1, 0, 1)
    """
    size = abs(number)
    if size < SMALLEST:
        return 0
    bits: int = struct.unpack("q", struct.pack("d", size))[0] - _NEAR
    return bits if number > 0 else -bits


def number_at(at: int) -> float:
    """The number at a place.

    >>> [number_at(place(number)) for number in (0.0, -1.5, 31240.5)]
    [0.0, -1.5, 31240.5]
    """
    if at == 0:
        return 0.0
    size: float = struct.unpack("d", struct.pack("q", abs(at) + _NEAR))[0]
    return size if at > 0 else -size


def last_until(number: float) -> float:
    """The greatest number with a place of its own that is not above a number: those very near to 0 count as 0.

    >>> last_until(0.5), last_until(5e-324), last_until(-5e-324) == -SMALLEST
    (0.5, 0.0, True)
    """
    if abs(number) >= SMALLEST or number == 0:
        return number
    return -SMALLEST if number < 0 else 0.0


def places(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The place of each number of an array, none of which is NaN."""
    import numpy as np  # which takes longer to import than all else

    size = np.abs(numbers)
    bits = np.ascontiguousarray(size).view(np.int64) - _NEAR
    return np.where(size < SMALLEST, 0, np.where(numbers > 0, bits, -bits))


@dataclass(frozen=True, slots=True)
class Between(Sequence[float]):
    """The numbers from `low` to `high` but the last: the greatest below each cut of a line, made when asked for."""

    low: float
    high: float

    def __len__(self) -> int:
        return place(self.high) - place(self.low)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[float]: ...
    def __getitem__(self, index: int | slice) -> float | Sequence[float]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        return number_at(place(self.low) + range(len(self))[index])


@dataclass(frozen=True, slots=True)
class Cuts(Sequence[Cut]):
    """A cut after each number from `low` to `high` but the last, made when asked for."""

    low: float
    high: float

    def __len__(self) -> int:
        return place(self.high) - place(self.low)

    @overload
    def __getitem__(self, index: int) -> Cut: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Cut]: ...
    def __getitem__(self, index: int | slice) -> Cut | Sequence[Cut]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        return Cut(number_at(place(self.low) + range(len(self))[index]))
