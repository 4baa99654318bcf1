"""Variables: the features of a classifier, and the states their values fall into.

Glossary: a *cut* splits the numbers in two; a *state* is a nominal value or an interval between neighbouring cuts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, Protocol

from quia.cuts import Cut, Interval, nearest_single, number_text
from quia.errors import GraphError, InstanceError, MissingValue, OutOfRange, did_you_mean, listed, shown
from quia.look import few, one_line, tagged
from quia.places import LARGEST, Between, Cuts, last_until, number_at, place
from quia.values import TRUTHS, is_missing, spellings, truth

MISSING = "missing"
UNKNOWN = -1
"""The state of a missing value of a variable that has no state for missing values: the value may be any."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A feature with its states: `Variable.nominal` or `Variable.numeric` make one.

    A nominal variable has `labels`, of which one, `other`, may stand for every value that is not listed, and one,
    `no_value`, for a value that is missing. A numeric variable has sorted `cuts`, n of which make n + 1 states, and
    one state more, the last, if the model says where a missing value (NaN) goes. `single` numbers are rounded to 32
    bits before they are compared, as some models do. A `line` is a numeric variable whose states are the 64-bit numbers
    of a range, each by itself: its cuts are made when they are asked for. The values of a `numbered` nominal variable
    may also be given as the numbers of their states, 0 or False for the first, as models do that only number them.

    >>> width = Variable.numeric("W", [0.6, (1.5, "before")])
    >>> [width.text(state) for state in range(width.size)]
    ['<= 0.6', '(0.6, 1.5)', '>= 1.5']
    >>> width.encode(0.6), width.encode(0.7), width.encode("1.5")
    (0, 1, 2)
    """

    name: str
    labels: tuple[str, ...] | None = None
    cuts: Sequence[Cut] = ()
    missing: bool = False
    single: bool = False
    other: str | None = None
    no_value: str | None = None
    numbered: bool = field(default=False, compare=False)
    below: Sequence[float] = field(init=False, repr=False, compare=False, default=())
    _index: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise GraphError(f"a variable's name is {shown(self.name)}; it must be a string that is not empty")
        if isinstance(self.cuts, Cuts):
            object.__setattr__(self, "below", Between(self.cuts.low, self.cuts.high))
            return
        if self.labels is None:
            below = tuple(cut.last_below(self.single) for cut in self.cuts)
            if any(a >= b for a, b in pairwise(below)) or any(c.has_empty_side for c in self.cuts):
                raise GraphError(
                    f"the cuts of {self.name!r} are not in order, or not apart; make it with Variable.numeric"
                )
            object.__setattr__(self, "below", below)
            return
        if not self.labels:
            raise GraphError(f"variable {self.name!r} has no states; give it one or more")
        for label in self.labels:
            if not isinstance(label, str):
                raise GraphError(f"variable {self.name!r} has the state {shown(label)}; states are strings")
            if label in self._index:
                raise GraphError(f"variable {self.name!r} names the state {label!r} twice; states must differ")
            self._index[label] = len(self._index)
        for special in (self.other, self.no_value):
            if special is not None and (not isinstance(special, str) or special not in self._index):
                raise GraphError(
                    f"variable {self.name!r} has no state {shown(special)} for values that are missing or not listed;"
                    f" its states are {listed(self.labels)}"
                )

    @staticmethod
    def nominal(name: str, states: Iterable[str], *, other: str | None = None, no_value: str | None = None) -> Variable:
        """A variable with named states; `other` is the one for values not listed, `no_value` for missing ones.

        >>> Variable.nominal("GPA", ["low", "medium", "high"]).encode("high")
        2
        >>> town = Variable.nominal("town", ["Ghent", "any other"], other="any other")
        >>> town.text(town.encode("Paris"))
        'any other'
        """
        if isinstance(states, str):
            raise GraphError(f"the states of {shown(name)} are the string {shown(states)}; give a list of strings")
        return Variable(name, tuple(states), other=other, no_value=no_value)

    @staticmethod
    def numeric(
        name: str,
        cuts: Iterable[float | tuple[float, Literal["before", "after"] | bool]] = (),
        *,
        missing: bool = False,
        single: bool = False,
    ) -> Variable:
        """A variable over numbers, cut after each number t (`<= t`), or before it where the cut is (t, 'before').

        The cuts may come in any order; of cuts with no number between them only the first is used.

        >>> Variable.numeric("SAT", [(1450, "before")]).text(0)
        '< 1450'
        """
        kept: dict[float, Cut] = {}
        for cut in cuts:
            new_cut = _as_cut(name, cut)
            if not new_cut.has_empty_side:
                kept.setdefault(new_cut.last_below(single), new_cut)
        return Variable(name, None, tuple(kept[below] for below in sorted(kept)), missing, single)

    @staticmethod
    def line(name: str, low: float = -LARGEST, high: float = LARGEST, *, missing: bool = False) -> Variable:
        """A variable over all numbers from `low` to `high`, each of which is a state of its own.

        >>> income = Variable.line("income", 0, 250000)
        >>> income.text(income.encode(31240.5)), income.interval(income.encode(31240.5), income.size - 1).text
        ('= 31240.5', '>= 31240.5')
        """
        ends = float(low), float(high)
        if not -LARGEST <= ends[0] <= ends[1] <= LARGEST:
            raise GraphError(
                f"the range of {shown(name)} is {number_text(ends[0])} to {number_text(ends[1])}; give two numbers, the"
                f" lower one first, and neither beyond {LARGEST:.0e}"
            )
        return Variable(name, None, Cuts(*ends), missing)

    def __repr__(self) -> str:
        return tagged(f"Variable {one_line(self.name, 60)}", self.said, "or missing" if self.missing else "")

    @property
    def said(self) -> str:
        """What its states are, in a few words."""
        if self.labels is not None:
            return few(self.labels, 6)
        if self.is_line:
            ends = self.range
            return "any number" + ("" if ends is None else f" from {number_text(ends[0])} to {number_text(ends[1])}")
        if not self.cuts:
            return "numbers, not told apart"
        if len(self.cuts) == 1:
            return f"numbers, cut at {number_text(self.cuts[0].threshold)}"
        first, last = (number_text(self.cuts[at].threshold) for at in (0, -1))
        return f"numbers, {len(self.cuts):,} cuts from {first} to {last}"

    def __hash__(self) -> int:
        """By the name and the number of states, so that it takes no time however many cuts there are."""
        return hash((self.name, self.size))

    @property
    def is_line(self) -> bool:
        """Whether each number is a state of its own."""
        return isinstance(self.cuts, Cuts)

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the greatest number that a line can be; None if it is no line, or has no range yet."""
        ends = (self.cuts.low, self.cuts.high) if isinstance(self.cuts, Cuts) else None
        return None if ends == (-LARGEST, LARGEST) else ends

    def number(self, state: int) -> float:
        """The number that a state of a line is."""
        assert isinstance(self.cuts, Cuts)
        return number_at(place(self.cuts.low) + state)

    @property
    def is_numeric(self) -> bool:
        """Whether the states are intervals of numbers."""
        return self.labels is None

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.cuts) + 1 + self.missing if self.labels is None else len(self.labels)

    def encode(self, value: Any) -> int:
        """The state that a value is in; MissingValue if it is missing and there is no state for that.

        Complexity: one bisection. It equals the model's own comparisons, on the cut and one ulp beside it.
        """
        return self._encode_number(value) if self.labels is None else self._encode_label(value)

    def is_missing(self, value: Any) -> bool:
        """Whether a value is missing here: tables write it for missing values, and no state has it as its name.

        >>> job = Variable.nominal("job", ["", "cook", "unknown"], no_value="unknown")
        >>> [job.is_missing(value) for value in ("", " ", "?", None)], Variable.numeric("age").is_missing("")
        ([False, False, True, True], True)
        """
        return is_missing(value) and self._named(value) is None

    def _named(self, value: Any) -> int | None:
        """The state whose name is this string, with or without spaces around it."""
        return self._index.get(value, self._index.get(value.strip())) if isinstance(value, str) else None

    def state_called(self, label: str) -> int | None:
        """The state of a nominal variable with this label, None if there is none."""
        return self._index.get(label)

    def state_beyond(self, cut: Cut) -> int:
        """The first state on the upper side of one of this variable's cuts."""
        below = cut.last_below(self.single)
        return bisect_left(self.below, last_until(below) if self.is_line else below) + 1

    def text(self, state: int) -> str:
        """The name of a state: `medium`, `< 1450`, `(0.6, 1.5]`, `missing`."""
        if self.labels is not None:
            return self.labels[state]
        return MISSING if self.is_missing_state(state) else self.interval(state, state).text

    def is_missing_state(self, state: int) -> bool:
        """Whether this is the state of a numeric variable for missing values."""
        return self.missing and state == len(self.cuts) + 1

    def interval(self, low: int, high: int) -> Interval:
        """The numbers in the states of a numeric variable from `low` to `high`, between cuts that read well."""
        return self._between(low, high).readable(single=self.single)

    def exact_interval(self, low: int, high: int) -> Interval:
        """The numbers in these states, between cuts at finite numbers of the type that the model compares in."""
        lower, upper = self._between(low, high)
        return Interval(lower and lower.exact(self.single), upper and upper.exact(self.single))

    def _between(self, low: int, high: int) -> Interval:
        last = len(self.cuts)
        if self.is_line:
            if low == high:
                return Interval(Cut(self.number(low), after=False), Cut(self.number(low)))
            return Interval(self._cut(low - 1) if low else None, self._cut(high) if high < last else None)
        return Interval(self.cuts[low - 1] if low else None, self.cuts[high] if high < last else None)

    def _cut(self, state: int) -> Cut:
        """The cut of a line after a state: after its number, or before the next one if that is shorter to write."""
        last, first = self.number(state), self.number(state + 1)
        return Cut(last) if len(number_text(last)) <= len(number_text(first)) else Cut(first, after=False)

    def phrase(self, state: int) -> str:
        """A state in words, with the variable's name.

        >>> Variable.nominal("GPA", ["low", "high"]).phrase(0), Variable.numeric("W", [1, 2]).phrase(1)
        ('GPA=low', 'W in (1, 2]')
        """
        from quia.literal import State

        return str(State(self, state))

    def _encode_label(self, value: Any) -> int:
        state, missing = self._named(value), is_missing(value)
        if state is None and not missing:
            state = self._spelled(value)
        if state is None:
            fallback = self.no_value if missing else self.other
            state = None if fallback is None else self._index[fallback]
        if state is None:
            labels = self.labels or ()
            if missing:
                raise self._missing_error(value, f"one of {listed(labels)}")
            raise InstanceError(
                f"{self.name} is {shown(value)}; its states are {listed(labels)}{did_you_mean(value, labels)}"
            )
        return state

    def _spelled(self, value: Any) -> int | None:
        """The state that a value matches as a number or a truth value, if it is not the name of a state."""
        state = next((self._index[text] for text in spellings(value) if text in self._index), None)
        if state is None and self.numbered:
            state = next((index for index in range(self.size) if str(index) in (value, *spellings(value))), None)
        if state is None and (known := truth(value)) is not None:
            state = self._index.get(str(known), self._index.get(str(known).lower()))
        if state is None and isinstance(value, str) and "true" in self._index and "false" in self._index:
            label = TRUTHS.get(value.strip().lower())
            state = None if label is None else self._index[label]
        return state

    def _encode_number(self, value: Any) -> int:
        number = value if type(value) is float else self.as_number(value)
        if number != number:
            if self.missing:
                return len(self.cuts) + 1
            raise self._missing_error(value, "a number")
        if isinstance(self.cuts, Cuts):
            if not self.cuts.low <= number <= self.cuts.high:
                raise OutOfRange(
                    f"{self.name} is {number_text(number)}, outside its range {number_text(self.cuts.low)} to"
                    f" {number_text(self.cuts.high)}; give a wider one",
                    feature=self.name,
                    number=number,
                )
            return place(number) - place(self.cuts.low)
        return bisect_left(self.below, nearest_single(number) if self.single else number)

    def _missing_error(self, value: Any, cure: str) -> MissingValue:
        return MissingValue(
            f"{self.name} is missing ({shown(value)}) and the model does not say where a missing value goes;"
            f" give {cure}",
            feature=self.name,
        )

    def as_number(self, value: Any) -> float:
        """A value of a numeric variable as a number, NaN if it is missing."""
        if isinstance(value, str):
            if is_missing(value):
                return math.nan
            if "_" in value:  # Python reads 1_000 as 1000; no table means that
                raise InstanceError(f"{self.name} is {shown(value)}, which is not a number")
        elif is_missing(value):
            return math.nan
        try:
            return float(value)
        except (TypeError, ValueError):
            # A comma may be before decimals or after thousands, so it is not read.
            has_comma = isinstance(value, str) and "," in value and any(map(str.isdigit, value))
            cure = "; write decimals with a point, and no thousands separators" if has_comma else ""
            raise InstanceError(f"{self.name} is {shown(value)}, which is not a number{cure}") from None
        except OverflowError:
            raise InstanceError(f"{self.name} is {shown(value)}, which is too large for a 64-bit number") from None


def encode_instance(
    variables: Sequence[Variable], tested: Sequence[int], instance: Any, *, partial: bool = False
) -> tuple[int, ...]:
    """The state of every tested variable in an instance; -1 for those that no node tests.

    An instance is a mapping from feature name to value, in which other keys are ignored, or a sequence of values in
    the variables' order. With `partial`, values may be missing: such a variable is UNKNOWN, unless it has a state for
    missing values.
    """
    states = [UNKNOWN] * len(variables)
    for index, value in zip(tested, tested_values(variables, tested, instance), strict=True):
        try:
            states[index] = variables[index].encode(value)
        except MissingValue:
            if not partial:
                raise
    return tuple(states)


class Decides(Protocol):
    """A classifier of encoded instances."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...
    def decide(self, states: Any) -> int: ...


def decide_instance(classifier: Decides, states: Sequence[int] | Mapping[int, int], instance: Any) -> int:
    """The index of the class of an instance with these states; the error names a missing value that it depends on."""
    try:
        return classifier.decide(states)
    except MissingValue as fault:
        at = next(i for i, variable in enumerate(classifier.variables) if variable.name == fault.feature)
        (value,) = tested_values(classifier.variables, [at], instance)
        try:
            classifier.variables[at].encode(value)
        except MissingValue as missing:
            raise MissingValue(str(missing), feature=fault.feature, why=fault.why) from None
        raise


def tested_values(variables: Sequence[Variable], tested: Iterable[int], instance: Any) -> list[Any]:
    """The values that an instance gives the tested variables."""
    dimensions = 1 if getattr(getattr(instance, "dtype", None), "names", None) else getattr(instance, "ndim", 1)
    if dimensions > 1 or (hasattr(type(instance), "columns") and len(getattr(instance, "shape", (0, 0))) == 2):
        raise InstanceError(f"the instance is a whole {type(instance).__name__}; give one row, or use explain_batch")
    if isinstance(instance, Mapping) or hasattr(instance, "keys"):
        return [_look_up(instance, variables[index].name) for index in tested]
    sized = hasattr(instance, "__len__") and hasattr(instance, "__getitem__") and dimensions == 1
    if isinstance(instance, (str, bytes)) or not sized:
        raise InstanceError(
            f"the instance is {shown(instance)}; give a mapping from feature to value, or a sequence of values"
        )
    if len(instance) != len(variables):
        raise InstanceError(
            f"the instance has {len(instance)} values; the classifier has {len(variables)} variables:"
            f" {listed(v.name for v in variables)}"
        )
    return [instance[index] for index in tested]


def _look_up(instance: Any, name: str) -> Any:
    try:
        return instance[name]
    except (KeyError, IndexError):
        hint = did_you_mean(name, [key for key in instance if isinstance(key, str)])
        raise InstanceError(f"the instance has no value for {name!r}, which the classifier tests{hint}") from None


def _as_cut(name: str, cut: Any) -> Cut:
    threshold, side = cut if isinstance(cut, tuple) and len(cut) == 2 else (cut, True)
    after = {"after": True, "before": False}.get(side, side) if isinstance(side, str) else side
    try:
        number = float(threshold)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number != number or not isinstance(after, bool):
        raise GraphError(
            f"variable {shown(name)} is cut at {shown(cut)}; a cut is a number, or a number with 'before' or 'after'"
        )
    return Cut(number, after)
