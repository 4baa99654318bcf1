"""What a value that is no text may stand for, and which values are none."""

from __future__ import annotations

import operator
from typing import Any


def spellings(value: Any) -> list[str]:
    """The texts that a nominal value which is no text may stand for: True is 'True' or '1', 1.0 is '1', 7 is '7.0'."""
    if isinstance(value, str) or value is None:
        return []
    try:
        texts = [str(value)]
    except ValueError:  # a number of so many digits that Python does not write them
        return []
    whole = _whole(value)
    if whole is not None:
        texts.append(str(whole))
        if abs(whole) <= _LARGEST and float(whole) == whole:
            texts.append(str(float(whole)))
    return texts


_LARGEST = 2**1023  # a whole number that is surely no infinity in 64 bits


def _whole(value: Any) -> int | None:
    """A value as a whole number, not rounded; None if it is none."""
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
    """What a number that is 0 or 1 says as a truth value; models do not tell True from 1."""
    whole = None if isinstance(value, str) or value is None else _whole(value)
    return bool(whole) if whole in (0, 1) else None


TRUTHS = {"true": "true", "1": "true", "false": "false", "0": "false"}
"""How truth values may be written, in any case, where their names are `true` and `false`."""


def is_missing(value: Any) -> bool:
    """Whether a value is one that tables write where there is none: null, NaN, an empty or blank text, or ?.

    This is the rule wherever a value is no state's own name; `Variable.encode` looks for such a name first.

    >>> [is_missing(value) for value in (None, float("nan"), "", " ", "?", "none", 0)]
    [True, True, True, True, True, False, False]
    """
    if value is None or isinstance(value, str):
        return value is None or value.strip() in ("", "?")
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value, because it is missing; Decimal's sNaN neither
        return True
    except ValueError:  # an array is no value, so it is none that is missing
        return False
