"""How nominal values that are not strings are spelled, which values are missing, and what JSON holds of them."""

from __future__ import annotations

import math
import operator
from typing import Any


def spellings(value: Any) -> list[str]:
    """The labels that a value other than a string may match: 'True' and '1' for True, '1' for 1.0, '7.0' for 7."""
    if isinstance(value, str) or value is None:
        return []
    try:
        labels = [str(value)]
    except ValueError:  # a number of so many digits that Python does not write them
        return []
    integer = _as_integer(value)
    if integer is not None:
        labels.append(str(integer))
        if abs(integer) <= _LARGEST and float(integer) == integer:
            labels.append(str(float(integer)))
    return labels


_LARGEST = 2**1023  # an integer that surely fits into a 64-bit float


def _as_integer(value: Any) -> int | None:
    """A value as an integer, without rounding; None if it is not one."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = float(value)
        return int(number) if number.is_integer() and number == value else None
    except (TypeError, ValueError, OverflowError):
        return None


def truth(value: Any) -> bool | None:
    """The truth value of a number that is 0 or 1, else None; models do not distinguish True from 1."""
    integer = None if isinstance(value, str) or value is None else _as_integer(value)
    return bool(integer) if integer in (0, 1) else None


TRUTHS = {"true": "true", "1": "true", "false": "false", "0": "false"}
"""How truth values may be written, in any case, where their names are `true` and `false`."""


def is_missing(value: Any) -> bool:
    """Whether tables write this value where one is missing: null, NaN, an empty or blank string, or ?.

    This is the rule for values that are not the name of a state; `Variable.encode` looks for such a name first.

    >>> [is_missing(value) for value in (None, float("nan"), "", " ", "?", "none", 0)]
    [True, True, True, True, True, False, False]
    """
    if value is None or isinstance(value, str):
        return value is None or value.strip() in ("", "?")
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):  # neither pandas' NA nor Decimal's sNaN can be compared
        return True
    except ValueError:  # an array, which is not a missing value
        return False


def plain_value(value: Any) -> Any:
    """A value that JSON can hold."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def readable_value(value: Any) -> Any:
    """The same as people read it: a 32-bit number has the digits that tell it from other such numbers.

    >>> import numpy as np
    >>> plain_value(np.float32(0.1)), readable_value(np.float32(0.1))
    (0.10000000149011612, 0.1)
    """
    kind = getattr(value, "dtype", None)
    is_short = getattr(kind, "kind", "") == "f" and getattr(kind, "itemsize", 8) < 8 and getattr(value, "ndim", 1) == 0
    return plain_value(float(str(value)) if is_short else value)


_MOST_BITS = 10_000  # Python writes larger numbers in no other way
