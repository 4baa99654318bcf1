"""Checks of arguments, so that every function reports the same fault in the same words."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import Any

from quia.errors import InstanceError, did_you_mean, shown


def several(value: Any, option: str, of: str = "features") -> tuple[Any, ...]:
    """The items of a list; a bare string is refused, since it is rarely meant as a list of its letters.

    >>> several({"GPA": 1}, "frozen")
    ('GPA',)
    >>> several("GPA", "frozen")
    Traceback (most recent call last):
    quia.errors.InstanceError: frozen is the string 'GPA'; give a list of features
    """
    if isinstance(value, (str, bytes)):
        raise InstanceError(f"{option} is the string {shown(value)}; give a list of {of}")
    if not isinstance(value, Iterable):
        raise InstanceError(f"{option} is {shown(value)}; give a list of {of}")
    return tuple(value)


def feature_indices(index: Mapping[str, int], value: Any, option: str, *, or_one: bool = False) -> tuple[int, ...]:
    """The indices of the named features, sorted and without repetition; with `or_one` a single name is accepted too.

    >>> feature_indices({"SAT": 0, "GPA": 1}, ["GPA", "SAT", "GPA"], "frozen")
    (0, 1)
    """
    names = (value,) if or_one and isinstance(value, str) else several(value, option)
    for name in names:
        if not isinstance(name, str) or name not in index:
            raise InstanceError(f"{option} is {shown(name)}, which is no feature{did_you_mean(name, index)}")
    return tuple(sorted({index[name] for name in names}))


def whole(value: Any, option: str, otherwise: str = "") -> int:
    """An integer from 0 on, of any integer type, as an int."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InstanceError(f"{option} is {shown(value)}; it is a whole number from 0 on{otherwise}")
    return min(number, LARGEST)


LARGEST = 2**62
"""Larger numbers are reduced to this one, which exceeds the length of any list."""


def whole_or_all(value: Any, option: str = "limit") -> int | None:
    """An integer from 0 on, or None for all."""
    return None if value is None else whole(value, option, ", or None for all")


def seconds(value: Any, each: str = "") -> float | None:
    """A timeout, or None for no limit."""
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    except OverflowError:
        number = float("inf")
    if not number >= 0:
        raise InstanceError(f"timeout is {shown(value)}; it is a number of seconds{each}, or None for no limit")
    return number


def ends(value: Any, name: str) -> tuple[float, float]:
    """The two ends of a range that is given for a feature; a text or True, which Python would make numbers of, is none.

    >>> ends([0, 2.5], "rate")
    (0.0, 2.5)
    >>> ends("05", "rate")
    Traceback (most recent call last):
    quia.errors.InstanceError: the range of 'rate' is '05'; give its least and greatest number, as in (0, 100)
    """
    try:
        low, high = value
        is_pair = not isinstance(value, (str, bytes, Mapping, AbstractSet))
        if is_pair and all(isinstance(end, (Real, Decimal)) and not isinstance(end, bool) for end in (low, high)):
            return float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InstanceError(
        f"the range of {shown(name)} is {shown(value)}; give its least and greatest number, as in (0, 100)"
    )


def flag(value: Any, option: str) -> bool:
    """True or False; 'no', which would count as true, is refused."""
    import numpy as np  # imported here, so that `verify` can be imported without NumPy

    if not isinstance(value, (bool, np.bool_)):
        raise InstanceError(f"{option} is {shown(value)}; it is True or False")
    return bool(value)
