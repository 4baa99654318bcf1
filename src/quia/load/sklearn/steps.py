"""The steps of a pipeline between a raw column and the tree: each maps one value to one value.

A step works on two kinds of input. `numbers` takes an array of finite numbers; it is monotone between the step's
`breaks`. `value` takes one raw value, which may be a string, MISSING, NONE or OTHER, and raises Refused where the model
itself would raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from quia.errors import Unsupported, listed
from quia.load.sklearn.floats import ALL_FINITE, Floats, Pieces, split_at


class _Special:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


MISSING: Final = _Special("NaN")
NONE: Final = _Special("None")  # encoders and imputers of strings distinguish it from NaN
OTHER: Final = _Special("any other value")


Operation = tuple[Any, ...]
"""('add' | 'subtract' | 'multiply' | 'divide', number) or ('clip', low, high), in 64 bits."""

_OPERATIONS: dict[str, Callable[..., Floats]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "clip": np.clip,
}


class Refused(Exception):
    """A value that the model does not accept: its own `predict` would raise."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A number computed from a number; a missing one stays missing if the step lets it pass.

    `line` are the operations that compute it, as steps of a `quia.terms.Line`, if it is made of these. `written` are
    all numbers that it can write, from the least to the greatest, if these are few; `single` says that it writes in
    fewer than 64 bits, in which later steps then compute. `step` names it in messages.
    """

    function: Callable[[Floats], Floats]
    breaks: tuple[float, ...] = ()
    takes_missing: bool = True
    line: tuple[Operation, ...] | None = None
    written: tuple[float, ...] = ()
    single: bool = False
    step: str = "a step"

    @staticmethod
    def of(operations: Iterable[Operation]) -> Formula:
        """The formula of operations, one after the other.

        >>> Formula.of([("subtract", 1.0), ("divide", 4.0)]).numbers(np.array([3.0]))
        array([0.5])
        """
        line = tuple(operations)

        def function(x: Floats) -> Floats:
            for name, *operands in line:
                x = _OPERATIONS[name](x, *operands)
            return x

        return Formula(function, line=line)

    def numbers(self, x: Floats) -> Floats:
        if not self.takes_missing:
            refuse_missing(x)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.where(np.isnan(x), x, self.function(x))

    def value(self, value: Any) -> Any:
        if value is MISSING or value is NONE:
            return _pass_missing(self.takes_missing)
        if value is OTHER:
            raise Refused  # the number is unknown, so the result would be too
        return float(self.numbers(np.array([as_number(value)]))[0])


@dataclass(frozen=True, eq=False)
class Fill:
    """Another value in place of a missing one; what counts as missing may be a value such as -1."""

    missing_values: Any
    fill: Any

    @property
    def breaks(self) -> tuple[float, ...]:
        return _breaks_at(self.missing_values)

    def numbers(self, x: Floats) -> Floats:
        if is_missing(self.fill) and not self.breaks:
            return x
        return np.where(_equal(x, self.missing_values), as_number(self.fill), x)

    def value(self, value: Any) -> Any:
        if not _counts_as_missing(value, self.missing_values):
            return value
        return MISSING if is_missing(self.fill) else self.fill


@dataclass(frozen=True, eq=False)
class Indicate:
    """1 for a missing value, 0 for any other."""

    missing_values: Any

    @property
    def breaks(self) -> tuple[float, ...]:
        return _breaks_at(self.missing_values)

    def numbers(self, x: Floats) -> Floats:
        return _equal(x, self.missing_values).astype(np.float64)

    def value(self, value: Any) -> Any:
        return float(_counts_as_missing(value, self.missing_values))


@dataclass(frozen=True, eq=False)
class Known:
    """The categories that an encoder knows of a feature, shared by all columns that it makes of it."""

    categories: Mapping[Hashable, int]
    _sorted: tuple[Floats, npt.NDArray[np.int64]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if all(isinstance(key, (int, float)) for key in self.categories):
            keys = np.array(list(self.categories), np.float64)
            order = np.argsort(keys)
            object.__setattr__(self, "_sorted", (keys[order], order))

    @staticmethod
    def of(categories: Iterable[Hashable]) -> Known:
        return Known({category: index for index, category in enumerate(dict.fromkeys(categories))})

    def indices(self, x: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The index of each number's category, and whether the number is a category."""
        assert self._sorted is not None
        keys, order = self._sorted
        nearest = np.minimum(np.searchsorted(keys, x), len(keys) - 1)
        return order[nearest], keys[nearest] == x


@dataclass(frozen=True, eq=False)
class Lookup:
    """The number that an encoder writes for each category, for any other value, and for a missing one.

    `outputs` has the numbers that are not zero: of a one-hot column just one. None for `other`, `missing` (NaN) or
    `none` (None) says that the encoder refuses them; NaN is what it writes as a missing value. `knows_none` says that
    None, not NaN, was a missing value in the data it was fitted on; `single` that it writes in fewer than 64 bits, in
    which later steps then compute.
    """

    step: str
    known: Known
    outputs: Mapping[Hashable, float]
    knows_none: bool = False
    other: float | None = None
    missing: float | None = None
    none: float | None = None
    single: bool = False

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(float(key) for key in self.known.categories if isinstance(key, (int, float)))

    @property
    def writes_numbers(self) -> bool:
        """Whether it never writes a missing value."""
        return not any(number is not None and math.isnan(number) for number in (*self.outputs.values(), *self._special))

    @property
    def _special(self) -> tuple[float | None, ...]:
        return self.other, self.missing, self.none

    def numbers(self, x: Floats) -> Floats:
        index, known = self.known.indices(x)
        missing_here = np.isnan(x)
        if self.missing is None:
            refuse_missing(x)
        if self.other is None and not (known | missing_here).all():
            raise Unsupported(
                f"step {self.step} knows only the values {listed(self.known.categories)}, but the steps before it also"
                f" make {x[~known & ~missing_here][0]:g}",
                cure="give it handle_unknown='ignore', or fit it on data that has every value",
            )
        other, missing = (0.0 if number is None else number for number in (self.other, self.missing))
        written = np.zeros(len(self.known.categories))
        for category, number in self.outputs.items():
            written[self.known.categories[category]] = number
        return np.where(known, written[index], np.where(missing_here, missing, other))

    def value(self, value: Any) -> Any:
        if isinstance(value, _Special):
            written = {MISSING: self.missing, NONE: self.none, OTHER: self.other}[value]
        else:
            written = self.outputs.get(value, 0.0) if value in self.known.categories else self.other
        if written is None:
            raise Refused
        return MISSING if math.isnan(written) else written


@dataclass(frozen=True, eq=False)
class NoMissing:
    """Any value but a missing one, unchanged."""

    breaks: tuple[float, ...] = ()

    def numbers(self, x: Floats) -> Floats:
        refuse_missing(x)
        return x

    def value(self, value: Any) -> Any:
        if value is MISSING or value is NONE:
            raise Refused
        return value


@dataclass(frozen=True, eq=False)
class ZeroIsMissing:
    """A missing value in place of zero, which a sparse matrix does not store."""

    breaks: tuple[float, ...] = (0.0,)

    def numbers(self, x: Floats) -> Floats:
        return np.where(x == 0, np.nan, x)

    def value(self, value: Any) -> Any:
        if isinstance(value, _Special):
            return value
        return MISSING if as_number(value) == 0 else value


Step = Formula | Fill | Indicate | Lookup | NoMissing | ZeroIsMissing


@dataclass(frozen=True, eq=False)
class Column:
    """A column at some point of the pipeline: the raw column it comes from, and the steps so far."""

    raw: int
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Column:
        return Column(self.raw, (*self.steps, step))

    @property
    def keeps_numbers(self) -> bool:
        """Whether every number arrives as it is."""
        return all(isinstance(s, (Fill, NoMissing)) and not s.breaks for s in self.steps)

    @property
    def coded(self) -> tuple[Known | None, tuple[Hashable, ...]]:
        """The categories of the first encoder, None if there is none, and raw values that steps before it name."""
        named: list[Hashable] = []
        for step in self.steps:
            if isinstance(step, Lookup):
                return step.known, tuple(named)
            if not isinstance(step, (Fill, NoMissing)):
                break
            if isinstance(step, Fill) and not is_missing(step.missing_values):
                named.append(step.missing_values)
        return None, ()

    @property
    def refusal(self) -> tuple[Hashable, ...]:
        """A key of what the column refuses: the one-hot columns of a feature have the same key and refuse the same.

        After an encoder that writes only numbers, a formula refuses none of them, whatever it computes.
        """
        key: list[Hashable] = []
        encoded = False
        for step in self.steps:
            if isinstance(step, Lookup) and not encoded and step.writes_numbers:
                encoded = True
                key += [step.known, step.other is None, step.missing is None, step.none is None]
            elif isinstance(step, Formula) and encoded:
                key.append(step.takes_missing)
            else:
                key.append(step)
        return tuple(key)

    @property
    def knows_none(self) -> bool:
        """Whether a missing value of the raw column is None, not NaN."""
        return any(
            step.knows_none if isinstance(step, Lookup) else getattr(step, "missing_values", 0) is None
            for step in self.steps
        )

    def numbers(self, x: Floats) -> Floats:
        for step in self.steps:
            x = step.numbers(x)
        return x

    def run(self, value: Any) -> Any:
        """The value that a raw value has here; Refused if a step does not accept it."""
        for step in self.steps:
            value = step.value(value)
        return value

    def value(self, value: Any) -> float:
        """The number that the tree gets for a raw value; NaN if it is missing there."""
        arrived = self.run(value)
        if arrived is OTHER:
            raise Refused
        return math.nan if arrived is MISSING or arrived is NONE else as_number(arrived)

    def pieces(self) -> Pieces:
        """Intervals on each of which `numbers` is monotone."""
        pieces = ALL_FINITE
        for done, step in enumerate(self.steps):
            before = Column(self.raw, self.steps[:done])
            if step.breaks:
                pieces = split_at(pieces, step.breaks, None if before.keeps_numbers else before.numbers)
        return pieces


def as_number(value: Any) -> float:
    """A raw value as the number that scikit-learn would read it as."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Refused from None


def _pass_missing(takes_missing: bool) -> Any:
    if not takes_missing:
        raise Refused
    return MISSING


def is_missing(value: Any) -> bool:
    """Whether a value is NaN, None or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and math.isnan(value)


def refuse_missing(x: Floats) -> None:
    """Refuse NaN, which some encoders write for a number that they do not know, and not every later step accepts."""
    if np.isnan(x).any():
        raise Unsupported(
            "a step writes NaN for numbers that it does not know, which a later step refuses",
            cure="give the encoder another unknown_value, or put an imputer after it",
        )


def _equal(x: Floats, missing_values: Any) -> npt.NDArray[np.bool_]:
    if isinstance(missing_values, str):
        return np.zeros(x.shape, bool)
    return np.isnan(x) if is_missing(missing_values) else np.asarray(x == missing_values)


def _breaks_at(missing_values: Any) -> tuple[float, ...]:
    if is_missing(missing_values) or isinstance(missing_values, str):
        return ()
    return (float(missing_values),)


def _counts_as_missing(value: Any, missing_values: Any) -> bool:
    if is_missing(missing_values) and missing_values is not None:
        return value is MISSING or (value is NONE and not isinstance(missing_values, float))
    if value is MISSING:
        raise Refused  # scikit-learn refuses NaN where another value marks missing ones
    if missing_values is None:
        return value is NONE
    return bool(not isinstance(value, _Special) and value == missing_values)
