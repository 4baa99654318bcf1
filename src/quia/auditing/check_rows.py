"""The rows of an audit's table, decided anew: what each is decided, which conditions it meets, what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.auditing.check_world import World, are_same
from quia.auditing.checked import NotChecked, Wrong
from quia.auditing.document import Values
from quia.auditing.known import with_known
from quia.auditing.said import Said
from quia.batch.missing import encode_decided
from quia.batch.table import Faults, States, as_table, distinct, numbers_of, to_numpy, whole, with_columns
from quia.caching import cached_property
from quia.classifier import Classifier, DecidesRows, offers
from quia.errors import InstanceError, MissingValue, shown
from quia.patience import Clock
from quia.ranges import members, size
from quia.values import is_missing
from quia.variables import UNKNOWN, Variable

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

MOST_TRIED = 200_000_000
"""How many decisions are taken to see what would change if some features did."""
NONE, OTHER = -1, -2
"""In place of a class: that there is no label, or one that is no class; that a row has no decision."""
UNTOLD = -3
"""In place of a class: that it depends on values which are missing."""
_AT_ONCE = 2**18


@dataclass(frozen=True)
class Rows:
    """A table in a model's worlds; `states` are those of its rows, and `faults` why some have no decision."""

    world: World
    table: Any
    states: States
    faults: Faults

    @staticmethod
    def of(world: World, data: Any) -> Rows:
        """The rows of whatever holds rows."""
        table = as_table(data, world.own.variables)
        states, faults, _ = encode_decided(world.asked, table, world.terms.worlds)
        return Rows(world, table, states, faults)

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def decision(self) -> Ints:
        """The class of each row, NONE where it has none."""
        found = np.full(len(self), NONE, np.int64)
        sound = np.flatnonzero(self.faults.sound)
        found[sound] = decided(self.world.asked, self.states[sound])
        return found

    @cached_property
    def is_decided(self) -> Bools:
        """Which rows have a decision."""
        return np.asarray(self.decision != NONE)

    def holding(self, said: Sequence[Said]) -> Bools:
        """Which rows meet conditions, decided or not."""
        holds = np.ones(len(self), bool)
        for each in said:
            if each not in self._kept:
                self._kept[each] = self._holding(each)
            holds &= self._kept[each]
        return holds

    @cached_property
    def _kept(self) -> dict[Said, Bools]:
        return {}

    def _holding(self, said: Said) -> Bools:
        if said.feature not in self.table.schema.names:
            return np.zeros(len(self), bool)
        variable = self.world.variables.get(said.feature)
        if said.names is None:
            numbers, are_numbers = self._numbers(said.feature, variable)
            holds = said.holds_of(numbers) & are_numbers
            return holds if variable is not None and variable.missing else holds & ~np.isnan(numbers)
        values, codes = self._codes(said.feature)
        return np.array([said.holds(variable, value) for value in values], bool)[codes]

    def having(self, column: str) -> Bools:
        """Which rows have a value in a column that the table may lack."""
        if column not in self.table.schema.names:
            return np.zeros(len(self), bool)
        values, codes = self._codes(column)
        return np.array([not is_missing(value) for value in values], bool)[codes]

    def _numbers(self, feature: str, variable: Variable | None) -> tuple[npt.NDArray[np.float64], Bools]:
        if feature not in self._columns:
            numbers, faults = numbers_of(variable or Variable.numeric(feature), self.table.column(feature))
            self._columns[feature] = numbers, faults.sound
        return self._columns[feature]  # type: ignore[no-any-return]

    def _codes(self, column: str) -> tuple[list[Any], Ints]:
        """The distinct values of a column, null the last, and which each row has."""
        key = f"codes of {column}"
        if key not in self._columns:
            encoded = whole(self.table.column(column))
            encoded = encoded if hasattr(encoded, "dictionary") else encoded.dictionary_encode()
            values = [*encoded.dictionary.to_pylist(), None]
            self._columns[key] = values, to_numpy(encoded.indices, len(values) - 1).astype(np.int64)
        return self._columns[key]  # type: ignore[no-any-return]

    @cached_property
    def _columns(self) -> dict[str, Any]:
        return {}

    def labels(self, column: str) -> tuple[Ints, dict[str, Bools]]:
        """The class that each row's label names, NONE or OTHER if it names none, and the rows with other labels."""
        if column not in self.table.schema.names:
            raise Wrong(f"the table has no column {shown(column)}")
        values, codes = self._codes(column)
        known = Variable.nominal(column, self.world.terms.classes)
        found: list[int] = []
        others: dict[str, Bools] = {}
        for at, value in enumerate(values):
            try:
                found.append(known.encode(value))
            except MissingValue:
                found.append(NONE)
            except InstanceError:
                found.append(OTHER)
                name = str(value).strip()
                others[name] = others.get(name, np.zeros(len(self), bool)) | (codes == at)
        return np.array(found, np.int64)[codes], others

    def check_row(self, number: int, values: Values) -> int:
        """The place of a row; Wrong if there is none of this number, or its values are others."""
        if not 1 <= number <= len(self):
            raise Wrong(f"the table has no row {number}; it has {len(self)}")
        for name, value in values.items():
            if name not in self.table.schema.names:
                if not is_missing(value):
                    raise Wrong(f"the table has no column {shown(name)}, of which row {number} is said to have a value")
                continue
            own = self.table.column(name)[number - 1].as_py()
            if not are_same(value, own):
                raise Wrong(f"row {number} of the table has {shown(own)} for {name}, not {shown(value)}")
        lacking = [name for name in self.world.variables if name in self.table.schema.names and name not in values]
        tested = {self.world.own.variables[v].name for v in self.world.own.tested}
        if needed := [name for name in lacking if name in tested]:
            raise Wrong(f"row {number} is given without its value for {needed[0]}")
        return number - 1

    def reach(self, changing: Sequence[int], clock: Clock, *, known: bool = False) -> Reach:
        """What the rows that have a decision would be decided if some variables changed, all else the same.

        If it is to be `known` what they are, they do not change to a missing value.
        """
        key = (known, *changing)
        if key not in self._reached:
            self._reached[key] = _reach(self, tuple(changing), clock, known)
        return self._reached[key]

    @cached_property
    def _reached(self) -> dict[tuple[int | bool, ...], Reach]:
        return {}


@dataclass(frozen=True)
class Reach:
    """For the decided `rows`, by their kind, the class with each combination of the changing variables' states.

    A class is the model's, NONE for what is impossible, UNTOLD where it depends on what is missing. `own` are
    the states that each row has itself.
    """

    rows: Ints
    kind: Ints
    combinations: tuple[tuple[int, ...], ...]
    classes: npt.NDArray[np.int16]
    own: tuple[tuple[int, ...], ...]
    decision: Ints

    def becoming(self, label: int) -> Bools:
        """Which rows, decided otherwise, get a class in some combination, whatever is missing."""
        return np.asarray(self._some(self.classes == label) & (self.decision != label))

    def changing(self) -> Bools:
        """Which rows get another class in some combination, whatever is missing."""
        found = np.zeros(len(self.rows), bool)
        for label in range(int(self.classes.max(initial=-1)) + 1):
            found |= self.becoming(label)
        return found

    def better(self, among: Bools, rank: Sequence[int]) -> Bools:
        """Which rows get a better class in one of some combinations, whatever is missing."""
        ranks = np.array(rank)
        found = np.zeros(len(self.rows), bool)
        for label in range(len(rank)):
            found |= self._some((self.classes == label) & among) & (ranks[self.decision] < ranks[label])
        return found

    def _some(self, which: Bools) -> Bools:
        return np.asarray(which.any(axis=1))[self.kind]

    def fixed(self) -> Bools:
        """Which rows have no possible combination but the one that they are."""
        possible: Any = self.classes != NONE
        count = possible.sum(axis=1)[self.kind]
        places = {own: np.flatnonzero([_may_be(own, each) for each in self.combinations]) for own in set(self.own)}
        both = zip(self.kind.tolist(), self.own, strict=True)
        has_own = np.array([possible[kind, places[own]].any() for kind, own in both], bool)
        return np.asarray(count <= has_own)


def _reach(rows: Rows, changing: tuple[int, ...], clock: Clock, known: bool) -> Reach:
    world = rows.world
    worlds = with_known(world.terms, changing if known else ()).worlds
    possible = [worlds.possible.states(v) for v in changing]
    chosen = np.flatnonzero(rows.is_decided)
    number = int(np.prod([float(size(ranges)) for ranges in possible]))
    also = [v for v in changing if v not in world.asked.tested]
    states = with_columns(world.terms.variables, also, rows.table, rows.states)[0][chosen]
    own_states = states[:, list(changing)]
    rest = states.copy()
    rest[:, list(changing)] = 0
    first, kind, _ = distinct(np.ascontiguousarray(rest))
    if number * max(len(first), 1) > MOST_TRIED:
        raise NotChecked(f"that takes {number:,} combinations of states on each of {len(first):,} distinct rows")
    combinations = tuple(product(*(members(ranges) for ranges in possible)))
    classes = np.full((len(first), len(combinations)), NONE, np.int16)
    impossible = world.terms.worlds.impossible
    for at, combination in enumerate(combinations):
        clock()
        tried = rest[first]
        tried[:, list(changing)] = combination
        found = decided(world.asked, tried, clock)
        classes[:, at] = np.where(np.isin(found, list(impossible)), NONE, found)
    own = tuple(map(tuple, own_states.tolist()))
    return Reach(chosen, kind, combinations, classes, own, rows.decision[chosen])


def _may_be(states: Sequence[int], combination: Sequence[int]) -> bool:
    """Whether a row with these states may be a combination, as far as they are known."""
    return all(own in (UNKNOWN, state) for own, state in zip(states, combination, strict=True))


def decided(classifier: Classifier, states: States, clock: Clock | None = None) -> Ints:
    """The class of each encoded row, each distinct one decided once; UNTOLD where it depends on what is missing."""
    first, which, _ = distinct(np.ascontiguousarray(states))
    kinds = np.ascontiguousarray(states[first])
    found = np.full(len(kinds), UNTOLD, np.int64)
    for begin in range(0, len(kinds), _AT_ONCE):
        if clock is not None:
            clock()
        some = kinds[begin : begin + _AT_ONCE]
        if offers(classifier, DecidesRows):
            found[begin : begin + _AT_ONCE] = classifier.decide_rows(some)
        else:
            found[begin : begin + _AT_ONCE] = [_decided(classifier, row) for row in some.tolist()]
    return np.where(found < 0, UNTOLD, found)[which]


def _decided(classifier: Classifier, states: Sequence[int]) -> int:
    try:
        return classifier.decide(states)
    except MissingValue:
        return UNTOLD
