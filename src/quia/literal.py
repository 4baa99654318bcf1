"""Literals: a feature and some of its states, and the one place that puts states into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from quia.cuts import Interval, number_text
from quia.errors import GraphError, InstanceError, TooLarge
from quia.look import called
from quia.ranges import Ranges, covers, difference, members, size
from quia.rounding import inwards
from quia.variables import MISSING, Variable

_MOST_STATES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A variable and a set of its states that is not empty, as sorted ranges: what is said of one feature.

    `beside` is the state of the instance that it is said of, in it or not, where that is known. Then what people read
    of a line (`str`, `signs`, `words` and sentences) is rounded to the safe side: it is narrower, and so as true, but
    still holds of that state if this does. `text` and `condition` are exact.

    >>> gpa = Variable.nominal("GPA", ["low", "medium", "high"])
    >>> str(Literal(gpa, ((0, 1),))), str(Literal(gpa, ((0, 0),))), Literal(gpa, ((0, 1),)).text
    ('GPA ≠ high', 'GPA=low', '≠ high')
    >>> width = Variable.numeric("W", [0.6, 1.5])
    >>> [str(Literal(width, ranges)) for ranges in (((0, 1),), ((1, 1),), ((0, 0), (2, 2)))]
    ['W <= 1.5', 'W in (0.6, 1.5]', 'W <= 0.6 or > 1.5']
    >>> Literal(width, ((1, 1),)).sentence, Literal(width, ((1, 2),)).phrase, Literal(width, ((1, 1),)).denial
    ('W is more than 0.6 and at most 1.5', 'W more than 0.6', 'W <= 0.6 or > 1.5')
    """

    variable: Variable
    ranges: Ranges
    beside: int | None = None

    def __post_init__(self) -> None:
        if not self.ranges or self.ranges[0][0] < 0 or self.ranges[-1][1] >= self.variable.size:
            raise GraphError(
                f"a literal of {self.variable.name!r} has the states {self.ranges}; give one or more of its"
                f" {self.variable.size}, by number from 0 on"
            )

    @property
    def feature(self) -> str:
        """The feature's name."""
        return self.variable.name

    @property
    def states(self) -> tuple[int, ...]:
        """The indices of the states; TooLarge for the numbers of a line, which are too many: take its `ranges`."""
        if size(self.ranges) > _MOST_STATES:
            raise TooLarge(
                f"{self.variable.name} has {size(self.ranges)} states here; take their ranges, with .ranges",
                limit=_MOST_STATES,
            )
        return tuple(members(self.ranges))

    @property
    def is_interval(self) -> bool:
        """Whether this is one interval of numbers."""
        return self.variable.is_numeric and len(self.ranges) == 1 and not self._missing

    @property
    def negated(self) -> Literal | None:
        """The literal of the other states; None if there are none."""
        rest = difference(((0, self.variable.size - 1),), self.ranges)
        return Literal(self.variable, rest, self.beside) if rest else None

    def covers(self, state: int) -> bool:
        """Whether a state is one of these."""
        return covers(self.ranges, state)

    def holds(self, value: Any) -> bool:
        """Whether a value is in one of the states; a value that is none of the feature's is in none."""
        try:
            return self.covers(self.variable.encode(value))
        except InstanceError:
            return False

    @property
    def strict(self) -> Literal:
        """The same without a missing value that is among its numbers; itself if there is none."""
        return Literal(self.variable, self._numbers, self.beside) if self._missing and self._numbers else self

    @property
    def text(self) -> str:
        """The states without the feature's name, as they are written and read back.

        `< 1450`, `(0.6, 1.5] or missing`, `not missing`, `medium`, `≠ high`, `in {low, medium}`, `not in {low, top}`;
        of one state it is that of the JSON format. States that outnumber the others are told by these.
        """
        if self._is_single:
            return self.variable.text(self.ranges[0][0])
        if not self.variable.is_numeric:
            return self._set_text
        if self._is_known:
            return f"not {MISSING}"
        return " or ".join([*(interval.text for interval in self._intervals), *self._missing])

    @property
    def signs(self) -> str:
        """The states with the signs that people read: `≤ 3`, `> 0.6 and ≤ 1.5`, `medium`, `≠ high`."""
        if not self.variable.is_numeric:
            return self._named("≠ ", "not ")
        if self._is_known:
            return f"not {MISSING}"
        if (but := self._all_but) is not None:
            return f"≠ {but}"
        return _either([*(interval.signs for interval in self._rounded), *self._missing])

    @property
    def words(self) -> str:
        """The states as they are read aloud: `at most 3`, `medium`, `low or medium`, `other than high`, `known`."""
        return self._words("other than ")

    @property
    def phrase(self) -> str:
        """What it says within a sentence: `W at most 3`, `GPA low or medium`, `GPA other than high`."""
        return f"{self.feature} {self.words}"

    @property
    def sentence(self) -> str:
        """What it says, to be read aloud: `W is at most 3`, `GPA is low or medium`, `GPA is not high`."""
        return f"{self.feature} is {self.predicate}"

    @property
    def predicate(self) -> str:
        """What such a sentence says of the feature, after its verb: `at most 3`, `low or medium`, `not high`."""
        return self._words("not ")

    @property
    def denial(self) -> str:
        """What it is for this not to hold, with the feature's name: `GPA ≠ low`, `W > 1.5`, `W <= 0.6 or > 1.5`."""
        if self._is_single and not self.variable.is_numeric:
            return f"{self.feature} ≠ {self.text}"
        rest = self.negated
        return f"{self.feature} in {{}}" if rest is None else str(rest)

    @property
    def condition(self) -> dict[str, Any]:
        """The states as plain data, for JSON: names, or intervals of numbers.

        An end that is None has no bound. A `closed` end is itself in the interval. Where a `type` is given, a value is
        rounded to that before it is compared; the ends are numbers of that type. `missing` tells whether a missing
        value is among the states; a nominal feature has a name for that, if it has a state for it.

        >>> Literal(Variable.nominal("GPA", ["low", "medium", "high"]), ((0, 1),)).condition
        {'feature': 'GPA', 'in': ['low', 'medium'], 'text': '≠ high'}
        >>> age = Literal(Variable.numeric("age", [26.5, (65, "before")], missing=True), ((1, 1), (3, 3))).condition
        >>> age["intervals"], age["missing"], age["text"]
        ([{'low': 26.5, 'high': 65.0, 'low_closed': False, 'high_closed': False}], True, '(26.5, 65) or missing')
        >>> width = Literal(Variable.numeric("W", [0.1], single=True), ((0, 0),)).condition
        >>> width["type"], width["intervals"][0]["high"], width["text"]
        ('float32', 0.10000000149011612, '< 0.1')
        """
        if self.variable.labels is not None:
            labels = [self.variable.labels[state] for state in members(self.ranges)]
            return {"feature": self.feature, "in": labels, "text": self.text}
        return {
            "feature": self.feature,
            **({"type": "float32"} if self.variable.single else {}),
            "intervals": [_plain(self.variable.exact_interval(low, high)) for low, high in self._numbers],
            "missing": bool(self._missing),
            "text": self.text,
        }

    def __str__(self) -> str:
        if not self.variable.is_numeric:
            return f"{self.feature}={self.text}" if self._is_single else f"{self.feature} {self.text}"
        if self._is_known or not self._numbers:
            return f"{self.feature} is {'not ' if self._is_known else ''}{MISSING}"
        if (but := self._all_but) is not None:
            return f"{self.feature} ≠ {but}"
        return f"{self.feature} {' or '.join([*map(_within, self._rounded), *self._missing])}"

    def __repr__(self) -> str:
        return called(type(self).__name__, (str(self),), 1)

    @property
    def _is_single(self) -> bool:
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]

    @property
    def _is_known(self) -> bool:
        """Whether these are all states but that of a missing value, and of nothing else."""
        variable = self.variable
        if variable.is_numeric:
            return variable.missing and self.ranges == ((0, len(variable.cuts)),)
        return variable.no_value not in (None, variable.other) and self._others == [variable.no_value]

    @property
    def _missing(self) -> Sequence[str]:
        """That a missing value is among the states of a numeric variable, in words."""
        return (MISSING,) if self.variable.is_missing_state(self.ranges[-1][1]) else ()

    @property
    def _numbers(self) -> Ranges:
        """The states of a numeric variable that are numbers."""
        last = len(self.variable.cuts)
        return tuple((low, min(high, last)) for low, high in self.ranges if low <= last)

    @property
    def _intervals(self) -> Sequence[Interval]:
        """The intervals of a numeric variable's states that are numbers, as they read well."""
        return [self.variable.interval(low, high) for low, high in self._numbers]

    @property
    def intervals(self) -> Sequence[Interval]:
        """The intervals of a numeric variable's states that are numbers, as people read them: where pictures draw them.

        >>> Literal(Variable.numeric("W", [0.6, 1.5]), ((0, 0), (2, 2))).intervals[1].lower
        Cut(threshold=1.5, after=True)
        """
        return self._rounded

    @property
    def admits_missing(self) -> bool:
        """Whether a missing value of a numeric variable is among the states."""
        return bool(self._missing)

    @property
    def _rounded(self) -> Sequence[Interval]:
        """The intervals, those of a line rounded to the safe side."""
        variable = self.variable
        if not variable.is_line or self.beside is None:
            return self._intervals
        own = None if self.beside < 0 or variable.is_missing_state(self.beside) else variable.number(self.beside)
        return [
            inwards(variable.interval(low, high), variable.number(low), variable.number(high), own)
            for low, high in self._numbers
        ]

    @property
    def _all_but(self) -> str | None:
        """The one number of a line that is left out, if all else is in."""
        if not self.variable.is_line or len(self.ranges) != 2:
            return None
        rest = difference(((0, self.variable.size - 1),), self.ranges)
        is_one = size(rest) == 1 and not self.variable.is_missing_state(rest[0][0])
        return number_text(self.variable.number(rest[0][0])) if is_one else None

    @property
    def _names(self) -> list[str]:
        """The names of a nominal variable's states."""
        return [self.variable.text(state) for state in members(self.ranges)]

    @property
    def _others(self) -> list[str]:
        """The names of a nominal variable's states that are not these."""
        rest = difference(((0, self.variable.size - 1),), self.ranges)
        return [self.variable.text(state) for state in members(rest)]

    @property
    def _set_text(self) -> str:
        """Several states of a nominal variable, or those that are left out if they are fewer."""
        left_out = self.variable.size - size(self.ranges)
        if left_out == 1:
            return f"≠ {self._others[0]}"
        if 0 < left_out < size(self.ranges):
            return f"not in {{{', '.join(self._others)}}}"
        return f"in {{{', '.join(self._names)}}}"

    def _words(self, but: str) -> str:
        """The states as they are read aloud; `but` comes before those that are left out."""
        if not self.variable.is_numeric:
            return self._named(but, but)
        if self._is_known:
            return "known"
        if (but_one := self._all_but) is not None:
            return f"{but}{but_one}"
        return _either([*(interval.words for interval in self._rounded), *self._missing])

    def _named(self, but_one: str, but: str) -> str:
        """The states of a nominal variable, or those left out: two are told by themselves, however few are left out.

        'Other than any other', where a state stands for all that is not listed, would be no way to say what is listed.
        """
        names, left_out = self._names, self.variable.size - size(self.ranges)
        if not left_out and len(names) > 1:
            return "any value"
        if len(names) > 2 and left_out < len(names) and self.variable.other not in self._others:
            if self._is_known:
                return "known"
            return (but_one if left_out == 1 else but) + self._listed(self._others)
        return self._listed(names)

    def _listed(self, names: Iterable[str]) -> str:
        """Names in a row, that of a missing value last."""
        ordered = sorted(names, key=lambda name: name == self.variable.no_value)
        return _either([name if name.strip() else "''" for name in ordered])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return self.ranges == other.ranges and self.variable == other.variable

    def __hash__(self) -> int:
        return hash((self.variable.name, self.ranges))


class State(Literal):
    """A literal with one state.

    >>> state = State(Variable.nominal("GPA", ["low", "medium"]), 1)
    >>> str(state), state.feature, state.text, state.index
    ('GPA=medium', 'GPA', 'medium', 1)
    """

    __slots__ = ()

    def __init__(self, variable: Variable, index: int) -> None:
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "ranges", ((index, index),))
        object.__setattr__(self, "beside", None)

    @property
    def index(self) -> int:
        """The state's number."""
        return self.ranges[0][0]

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.variable, self.index)


def _within(interval: Interval) -> str:
    """An interval behind a feature's name."""
    text = interval.text
    return text if (interval.lower is None) != (interval.upper is None) or interval.is_one else f"in {text}"


def _plain(interval: Interval) -> dict[str, Any]:
    """An interval as plain data."""
    lower, upper = interval
    return {
        "low": None if lower is None else lower.threshold,
        "high": None if upper is None else upper.threshold,
        "low_closed": lower is not None and not lower.after,
        "high_closed": upper is not None and upper.after,
    }


def _either(parts: Sequence[str], word: str = "or") -> str:
    """Parts of which one holds (or all do), as in a sentence, where an 'and' in a part is not one between them.

    >>> _either(["a", "b", "c"]), _either(["more than 1 and at most 2", "missing"])
    ('a, b or c', 'more than 1 and at most 2, or missing')
    """
    if len(parts) == 1:
        return parts[0]
    comma = "," if any(" and " in part for part in parts) else ""
    return f"{', '.join(parts[:-1])}{comma} {word} {parts[-1]}"


def together(literals: Sequence[Literal]) -> str:
    """Literals that hold together; that several of them may also be missing is said once, at the end.

    >>> age, pay = (Variable.numeric(name, [30, 65], missing=True) for name in ("age", "pay"))
    >>> together([Literal(age, ((0, 1), (3, 3))), Literal(pay, ((0, 0), (3, 3)))])
    'age <= 65 and pay <= 30, where each may also be missing'
    >>> sex = Variable.nominal("sex", ["F", "M"])
    >>> together([Literal(age, ((0, 1), (3, 3))), Literal(pay, ((0, 0), (3, 3))), Literal(sex, ((0, 0),))])
    'age <= 65 and pay <= 30 and sex=F, where all but sex may also be missing'
    """
    parts, where = conjuncts(literals)
    return " and ".join(parts) + where


def conjuncts(literals: Sequence[Literal]) -> tuple[list[str], str]:
    """The same taken apart: each condition as it is written beside the others, and what is said of all of them."""
    strict = [literal.strict for literal in literals]
    loose = [literal.feature for literal, other in zip(literals, strict, strict=True) if other is not literal]
    if len(loose) < 2:
        return _beside_each_other(map(str, literals)), ""
    others = [literal.feature for literal in literals if literal.feature not in loose]
    who = "each" if not others else f"all but {_either(others, 'and')}" if len(others) < len(loose) else ""
    where = f", where {who or _either(loose, 'and')} may also be missing"
    return _beside_each_other(map(str, strict)), where


def all_of(parts: Iterable[str]) -> str:
    """Conditions that hold together, an 'or' within one in brackets.

    >>> all_of(["W <= 0.6 or > 1.5", "GPA=low"]), all_of(["age <= 30 or missing"])
    ('(W <= 0.6 or > 1.5) and GPA=low', 'age <= 30 or missing')
    """
    return " and ".join(_beside_each_other(parts))


def _beside_each_other(parts: Iterable[str]) -> list[str]:
    """Conditions that hold together, each as it is written then."""
    every = list(parts)
    return [beside_others(part) for part in every] if len(every) > 1 else every


def beside_others(part: str) -> str:
    """A condition as it is written where others must hold too."""
    return f"({part})" if " or " in part else part
