"""Constraints checked: whether they can be met, which say nothing, what they make impossible, which rows break them.

>>> from quia import Variable
>>> from quia.formula import compiled, parse
>>> known = [Variable.nominal(name, ["no", "yes"]) for name in ("pregnant", "female")]
>>> graph = compiled(parse("pregnant & !female", known), variables=known)
>>> check_given(graph, ["pregnant -> female"]).impossible
('1',)
>>> check_given(graph, ["pregnant -> female", "pregnant", "!female"]).contradicting
('pregnant -> female', 'pregnant', '!female')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.arguments import seconds
from quia.asking import Terms
from quia.classifier import Classifier, escape_within, loaded
from quia.constraint import Constraint
from quia.errors import Contradiction, MissingValue, QuiaError
from quia.given import Spare, as_constraints, constraints_of, spare
from quia.look import ByName
from quia.patience import Clock, OutOfTime
from quia.variables import UNKNOWN
from quia.worlds import Worlds, worlds_of

MOST_NUMBERED = 5
"""Of so many rows the numbers are told."""
_AT_ONCE = 4_000_000  # states that are kept while rows are checked


@dataclass(frozen=True, slots=True, repr=False)
class CheckedGiven(ByName):
    """What was found of constraints, the model's own among them, and of the conditions that hold beside them.

    `contradicting` are few of both that nothing meets together, and `contradiction` says so in a sentence. `idle` hold
    in every world; `implied` are those that the others imply, all of which can be left out; `repeated` are said more
    than once. No possible world gets one of the `impossible` classes; of the `undecided` ones that is not known, and
    `why` says why.
    """

    constraints: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    contradicting: tuple[str, ...] = ()
    contradiction: str | None = None
    idle: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    why: str | None = None
    in_time: bool = True

    @property
    def can_be_met(self) -> bool:
        """Whether something meets all of them."""
        return self.contradiction is None


def check_given(
    classifier: Classifier,
    given: Any = None,
    *,
    within: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> CheckedGiven:
    """What constraints, beside the classifier's own, and conditions leave possible; `given`, `within` as for `explain`.

    Complexity: a call of `escape` for each class, which may take long for ensembles and sums of several scores; those
    that `timeout` seconds are not enough for are `undecided`.
    """
    classifier = loaded(classifier)
    clock = Clock(seconds(timeout))
    constraints = constraints_of(classifier, given)
    texts = tuple(map(str, constraints))
    said = Counter((*as_constraints(getattr(classifier, "given", None)), *as_constraints(given)))
    found = CheckedGiven(texts, repeated=tuple(str(each) for each, times in said.items() if times > 1))
    try:
        terms = Terms.of(classifier, within=within, given=given)
    except Contradiction as fault:
        few = (*fault.conditions, *fault.constraints)
        return replace(found, contradicting=few, contradiction=str(fault))
    told = tuple(map(str, terms.worlds.within.literals))
    needless = spare(classifier.variables, constraints) if constraints else Spare((), ())
    idle, implied = (tuple(texts[at] for at in places) for places in needless)
    return _with_classes(replace(found, conditions=told, idle=idle, implied=implied), terms, clock)


def _with_classes(found: CheckedGiven, terms: Terms, clock: Clock) -> CheckedGiven:
    """What was found, and which classes no possible world gets."""
    worlds, asked = terms.worlds, terms.classifier
    one = worlds.member(worlds.possible)
    assert one is not None  # else the constraints contradict
    decision = asked.decide(one)
    impossible: list[str] = []
    undecided: list[str] = []
    why, in_time = None, True
    others = [name for label, name in enumerate(terms.classes) if label != decision]
    for at, name in enumerate(others):
        question = replace(terms, against=name).question(one, decision)
        try:
            if escape_within(asked, question, worlds.possible, clock.share(1 / (len(others) - at))) is None:
                impossible.append(name)
        except OutOfTime:
            undecided.append(name)
            why, in_time = "time ran out", False
        except QuiaError as fault:  # a circuit without the other class's formula; a line without a range; too large
            undecided.append(name)
            why = str(fault)
    return replace(found, impossible=tuple(impossible), undecided=tuple(undecided), why=why, in_time=in_time)


@dataclass(frozen=True, slots=True, repr=False)
class Broken(ByName):
    """Something that rows break: how many do, and the numbers of the first few, counted from 1 on."""

    said: str
    rows: int
    first: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CheckedRows(ByName):
    """How many of some rows break constraints or conditions: `broken` in all, and `each` of these by itself.

    Where values are missing, a row breaks what it breaks whatever they are. The `together` ones break none by itself,
    but some whatever is missing. `unreadable` are rows with values that cannot be read, the first of them in the words
    of `fault`. `absent` are features that are spoken of and that no row has.
    """

    rows: int
    broken: Broken
    each: tuple[Broken, ...]
    together: Broken
    unreadable: Broken
    fault: str | None = None
    absent: tuple[str, ...] = ()


def check_rows(
    classifier: Classifier,
    rows: Iterable[Mapping[str, Any] | QuiaError],
    given: Any = None,
    *,
    within: Mapping[str, Any] | None = None,
) -> CheckedRows:
    """Which rows break constraints, beside the classifier's own, or conditions.

    A row is a mapping from feature to value, or, where it could not even be read, the fault.
    """
    worlds = worlds_of(loaded(classifier), within=within, given=given)
    reader = _Reader(worlds)
    counts = [_Count(said) for said in reader.said]
    every, together = _Count("any"), _Count("all together")
    for numbers, states in reader.batches(rows):
        alone = np.zeros(len(numbers), bool)
        for count, broken in zip(counts, reader.broken(states), strict=True):
            count.add(numbers[broken])
            alone |= broken
        jointly = ~alone & reader.impossible(states, ~alone)
        together.add(numbers[jointly])
        every.add(numbers[alone | jointly])
    return CheckedRows(
        reader.rows,
        every.told,
        tuple(count.told for count in counts if count.rows),
        together.told,
        reader.unreadable.told,
        reader.fault,
        tuple(worlds.within.variables[v].name for v in reader.about if v not in reader.seen),
    )


class _Count:
    """Rows that are counted, and the numbers of the first few."""

    def __init__(self, said: str) -> None:
        self.said, self.rows, self.first = said, 0, list[int]()

    def add(self, numbers: Sequence[int] | npt.NDArray[Any]) -> None:
        self.rows += len(numbers)
        self.first += [int(number) for number in numbers[: MOST_NUMBERED - len(self.first)]]

    @property
    def told(self) -> Broken:
        return Broken(self.said, self.rows, tuple(self.first))


class _Reader:
    """Reads what worlds speak of from rows, and tells which of these are no such worlds."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds, self.variables = worlds, worlds.within.variables
        self.constraints: tuple[Constraint, ...] = () if worlds.given is None else worlds.given.each
        spoken = {*worlds.within.bounds, *(v for each in self.constraints for v in each.tested)}
        self.about = sorted(spoken)
        self.said = [*map(str, worlds.within.literals), *(each.text for each in self.constraints)]
        self.rows, self.seen = 0, set[int]()
        self.unreadable = _Count("unreadable")
        self.fault: str | None = None
        self._known: dict[int, dict[str, int]] = {v: {} for v in self.about}

    def batches(self, rows: Iterable[Mapping[str, Any] | QuiaError]) -> Iterator[tuple[Any, Any]]:
        """The numbers and the states of rows, many at once; what cannot be read is counted instead."""
        most = max(1, _AT_ONCE // max(1, len(self.variables)))
        numbers: list[int] = []
        states: list[list[int]] = []
        for row in rows:
            self.rows += 1
            try:
                states.append(self._states(row))
                numbers.append(self.rows)
            except QuiaError as fault:
                self.fault = self.fault or str(fault)
                self.unreadable.add([self.rows])
            if len(numbers) == most:
                yield self._arrays(numbers, states)
                numbers, states = [], []
        yield self._arrays(numbers, states)

    def _arrays(self, numbers: list[int], states: list[list[int]]) -> tuple[Any, Any]:
        # The numbers of a line that has no range yet are too many for 64 bits.
        kind: Any = np.int64 if all(variable.size < 2**62 for variable in self.variables) else object
        return np.array(numbers, np.int64), np.array(states, kind).reshape(len(numbers), len(self.variables))

    def _states(self, row: Mapping[str, Any] | QuiaError) -> list[int]:
        if isinstance(row, QuiaError):
            raise row
        states = [UNKNOWN] * len(self.variables)
        for v in self.about:
            name = self.variables[v].name
            if name in row:
                self.seen.add(v)
                states[v] = self._state(v, row[name])
        return states

    def _state(self, v: int, value: Any) -> int:
        known = self._known[v]
        if isinstance(value, str) and value in known:
            return known[value]
        try:
            state = self.variables[v].encode(value)
        except MissingValue:
            state = UNKNOWN
        if isinstance(value, str) and len(known) < _AT_ONCE // 100:
            known[value] = state
        return state

    def broken(self, states: npt.NDArray[Any]) -> Iterator[npt.NDArray[np.bool_]]:
        """For each condition and constraint, which rows break it."""
        for v, ranges in sorted(self.worlds.within.bounds.items()):
            column = states[:, v]
            covered = [(low <= column) & (column <= high) for low, high in ranges]
            yield ~np.any([column == UNKNOWN, *covered], axis=0).astype(bool)
        for each in self.constraints:
            yield ~each.holds_rows(states).astype(bool)

    def impossible(self, states: npt.NDArray[Any], among: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which of some rows are no possible worlds, whatever is missing."""
        found = np.zeros(len(states), bool)
        together = None if self.worlds.given is None else self.worlds.given.together
        if together is not None and self.about:
            for at in np.flatnonzero(among & (states[:, self.about] == UNKNOWN).any(axis=1)):
                found[at] = together.completed(states[at].tolist(), self.worlds.possible) is None
        return found
