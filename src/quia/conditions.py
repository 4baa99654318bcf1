"""The conditions on edges as strings: `"< 1450"`, `"(0.6, 1.5]"`, `"missing"`, `["low", "medium"]`."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

from quia.cuts import Cut, Interval, nearest_single
from quia.errors import GraphError, did_you_mean, listed, shown
from quia.places import Cuts, last_until
from quia.ranges import Ranges, difference, union
from quia.variables import MISSING, UNKNOWN, Variable

_COMPARISON = re.compile(r"\s*(<=|<|>=|>|=)\s*(\S+)\s*")
_INTERVAL = re.compile(r"\s*([(\[])\s*([^\s,]+)\s*,\s*([^\s,]+?)\s*([)\]])\s*")


Condition = Interval | str
"""One condition on a numeric variable: an interval or 'missing'."""


def parse(condition: object) -> Condition:
    """One numeric condition.

    >>> parse("< 1450"), parse("(0.6, 1.5]").lower, parse("missing")
    (Interval(lower=None, upper=Cut(threshold=1450.0, after=False)), Cut(threshold=0.6, after=True), 'missing')
    """
    if not isinstance(condition, str):
        raise GraphError(
            f"the condition {shown(condition)} is not a string; write it as in '<= 3', '(0.6, 1.5]' or 'missing'"
        )
    if condition.strip() == MISSING:
        return MISSING
    if compared := _COMPARISON.fullmatch(condition):
        operator, threshold = compared[1], _number(compared[2], condition)
        if operator == "=":
            return Interval(Cut(threshold, after=False), Cut(threshold))
        cut = Cut(threshold, after=operator in ("<=", ">"))
        return Interval(None, cut) if operator[0] == "<" else Interval(cut, None)
    if bounded := _INTERVAL.fullmatch(condition):
        low, high = _number(bounded[2], condition), _number(bounded[3], condition)
        # An infinite end, whatever its bracket, is no cut: (-inf, 3] is <= 3.
        interval = Interval(
            None if low == -math.inf else Cut(low, after=bounded[1] == "("),
            None if high == math.inf else Cut(high, after=bounded[4] == "]"),
        )
        if low > high or (low == high and (bounded[1], bounded[4]) != ("[", "]")):
            raise GraphError(
                f"the condition {shown(condition)} holds for no number; its lower end must be below its upper"
            )
        return interval
    raise GraphError(
        f"the condition {shown(condition)} cannot be read; write it as in '<= 3', '> 3', '(0.6, 1.5]' or 'missing'"
    )


def alternatives(conditions: Iterable[object]) -> list[Condition]:
    """Numeric conditions one of which is to hold, each alone or as a literal's text has them.

    >>> [each if isinstance(each, str) else each.text for each in alternatives(["<= 3 or missing", "> 4"])]
    ['<= 3', 'missing', '> 4']
    >>> alternatives(["not missing"])
    [Interval(lower=None, upper=None)]
    """
    joined = (each.split(" or ") if isinstance(each, str) else [each] for each in conditions)
    parts = [part for each in joined for part in each]
    return [Interval(None, None) if part == f"not {MISSING}" else parse(part) for part in parts]


def states_where(variable: Variable, conditions: Iterable[Condition]) -> Ranges:
    """The states in which one of these conditions, whose ends are cuts of the numeric variable, holds."""
    last = len(variable.cuts)
    pairs = []
    for condition in conditions:
        if isinstance(condition, str):
            pairs.append((last + 1, last + 1))
            continue
        low = _beyond(variable, condition.lower, 0)
        high = _beyond(variable, condition.upper, last + 1) - 1
        if low <= high:
            pairs.append((low, high))
    return union(pairs)


def states_touched(variable: Variable, conditions: Iterable[Condition]) -> Ranges:
    """The states in which one of these conditions, whose ends may lie between cuts, holds for some number.

    What is compared in 32 bits is compared so with what the conditions say too, as states are written for that.

    >>> width = Variable.numeric("W", [0.800000011920929], single=True)
    >>> width.text(1), states_touched(width, [parse("> 0.8")])
    ('> 0.8', ((1, 1),))
    """
    last = len(variable.cuts)
    pairs = []
    for condition in conditions:
        if isinstance(condition, str):
            pairs.extend([(last + 1, last + 1)] if variable.missing else [])
            continue
        ends = [cut and _as_compared(variable, cut) for cut in condition]
        if ends in ([Cut(math.inf, True), None], [None, Cut(-math.inf, False)]):  # `> inf`, `< -inf`
            continue
        lower, upper = (None if e is None or e.has_empty_side else e.last_below(variable.single) for e in ends)
        if isinstance(variable.cuts, Cuts):
            upper = None if upper is None else last_until(upper)
            if not _is_in_range(variable.cuts, lower, upper):
                continue
        low = 0 if lower is None else bisect_right(variable.below, lower)
        high = last if upper is None else bisect_left(variable.below, upper)
        if lower is None or upper is None or lower < upper:
            pairs.append((low, high))
    return union(pairs)


def _is_in_range(line: Cuts, lower: float | None, upper: float | None) -> bool:
    """Whether a number of a line's range is above the one and not above the other."""
    return (lower is None or lower < line.high) and (upper is None or upper >= line.low)


def refined(variable: Variable, conditions: Iterable[Condition]) -> Variable:
    """A numeric variable with cuts at the ends of these conditions too, so that each of its states meets one or not.

    >>> age = Variable.numeric("age", [30, 40])
    >>> finer = refined(age, [parse("> 35")])
    >>> [finer.text(state) for state in range(finer.size)]
    ['<= 30', '(30, 35]', '(35, 40]', '> 40']
    """
    if variable.is_line:
        return variable
    ends = [_as_compared(variable, cut) for each in conditions if not isinstance(each, str) for cut in each if cut]
    known = set(variable.below)
    new = [cut for cut in ends if not cut.has_empty_side and cut.last_below(variable.single) not in known]
    if not new:
        return variable
    return Variable.numeric(variable.name, [*variable.cuts, *new], missing=variable.missing, single=variable.single)


def states_named(variable: Variable, names: Iterable[object]) -> Ranges:
    """The states of a nominal variable with these names."""
    labels = variable.labels or ()
    indices = []
    for name in names:
        if not isinstance(name, str) or name not in variable._index:
            raise GraphError(
                f"{variable.name!r} has no state {shown(name)}; its states are {listed(labels)}"
                f"{did_you_mean(name, labels)}"
            )
        indices.append(variable._index[name])
    if len(set(indices)) < len(indices):
        raise GraphError(f"the states {shown(names)} of {variable.name!r} name one twice; name each once")
    return union((index, index) for index in indices)


def states_listed(variable: Variable, conditions: Iterable[object]) -> Ranges:
    """The states of a nominal variable that are named, or meant by what a literal's text says of several.

    What is the name of a state means that state, even if it reads like more.

    >>> gpa = Variable.nominal("GPA", ["low", "medium", "high", "top", "≠ top"])
    >>> [states_listed(gpa, [text]) for text in ("in {low, high}", "not in {low, high}", "≠ high", "≠ top")]
    [((0, 0), (2, 2)), ((1, 1), (3, 4)), ((0, 1), (3, 4)), ((4, 4),)]
    """
    names: list[object] = []
    meant: list[tuple[int, int]] = []
    for condition in conditions:
        if isinstance(condition, str) and is_about_names(variable, condition):
            meant += _states_meant(variable, condition)
        else:
            names.append(condition)
    return union([*meant, *states_named(variable, names)])


def is_about_names(variable: Variable, condition: str) -> bool:
    """Whether this is no name of a state of a nominal variable, but says which names it may have: `≠ high`."""
    return variable.state_called(condition) is None and _ABOUT_NAMES.fullmatch(condition) is not None


_ABOUT_NAMES = re.compile(r"(?:≠|!=) (?P<other>.*)|(?P<but>not )?in \{(?P<listing>.*)\}", re.DOTALL)


def _states_meant(variable: Variable, condition: str) -> Ranges:
    said = _ABOUT_NAMES.fullmatch(condition)
    assert said is not None, "it is about names"
    other, but, listing = said.groups()
    found = states_named(variable, [other]) if listing is None else _states_in(variable, listing)
    return found if listing is not None and but is None else difference(((0, variable.size - 1),), found)


def _states_in(variable: Variable, listing: str) -> Ranges:
    readings = _readings(variable, listing)
    if len(readings) > 1:
        raise GraphError(f"{shown(listing)} can be read in two ways, as names have commas; give a list of names")
    if readings:
        return union((state, state) for state in readings[0])
    return states_named(variable, listing.split(", ") if variable.state_called(listing) is None else [listing])


def _readings(variable: Variable, listing: str) -> list[list[int]]:
    """The states of which the listing has the names, several and in their order; in at most two ways.

    Only where names have commas in them; elsewhere there is but one way, and names may be in any order.
    """
    labels = variable.labels or ()
    if not any(", " in label for label in labels):
        return []
    one, listing = listing, f"{listing}, "
    # How what lies before a place can be read: the last state, and how what lies before that one can be.
    ways: dict[int, list[tuple[int, Any]]] = {0: [(UNKNOWN, None)]}
    for state, label in enumerate(labels):
        for start, found in list(ways.items()):
            if label != one and listing.startswith(f"{label}, ", start):
                end = start + len(label) + 2
                ways[end] = [*ways.get(end, ()), *((state, way) for way in found)][:2]
    return [_unrolled(way) for way in ways.get(len(listing), ())]


def _unrolled(way: tuple[int, Any]) -> list[int]:
    states = []
    state, before = way
    while before is not None:
        states.append(state)
        state, before = before
    return states


def write(variable: Variable, ranges: Ranges, domain: Ranges) -> str | list[str]:
    """The condition that distinguishes these states from the others in the domain, as the JSON format has it.

    The domain is what is still possible where the condition is tested, so that a second test of a variable
    reads `<= 1.7`, as its author wrote it, and not `(0.6, 1.7]`.

    >>> width = Variable.numeric("W", [0.6, 1.7])
    >>> write(width, ((1, 1),), ((0, 2),)), write(width, ((1, 1),), ((1, 2),))
    ('(0.6, 1.7]', '<= 1.7')
    """
    written = [
        condition if isinstance(condition, str) else condition.text for condition in within(variable, ranges, domain)
    ]
    return written[0] if len(written) == 1 and variable.is_numeric else written


def within(variable: Variable, ranges: Ranges, domain: Ranges) -> list[Condition]:
    """The intervals, names or 'missing' that distinguish these states from the others in the domain."""
    if variable.labels is not None:
        return [variable.labels[state] for low, high in ranges for state in range(low, high + 1)]
    last = len(variable.cuts)
    numbers = [(low, min(high, last)) for low, high in ranges if low <= last]
    possible = [state for low, high in domain if low <= last for state in (low, min(high, last))]
    conditions: list[Condition] = []
    for low, high in numbers:
        lower = variable.cuts[low - 1] if low > possible[0] else None
        upper = variable.cuts[high] if high < possible[-1] else None
        conditions.append(Interval(lower, upper).readable())
    if variable.missing and any(high == last + 1 for _, high in ranges):
        conditions.append(MISSING)
    return conditions


def _as_compared(variable: Variable, cut: Cut) -> Cut:
    """The cut at the number that the model would take for a threshold; one too large for 32 bits stays one."""
    rounded = nearest_single(cut.threshold) if variable.single else cut.threshold
    return Cut(rounded, cut.after) if math.isfinite(rounded) else cut


def _beyond(variable: Variable, cut: Cut | None, default: int) -> int:
    if cut is None:
        return default
    if cut.has_empty_side:
        return len(variable.cuts) + 1 if cut.after else 0
    return variable.state_beyond(cut)


def _number(threshold: str, condition: str) -> float:
    try:
        number = float(threshold) if "_" not in threshold else math.nan
    except ValueError:
        number = math.nan
    if number != number:
        raise GraphError(f"the condition {shown(condition)} has {shown(threshold)} where a number should be")
    return number
