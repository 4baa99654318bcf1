"""From an additive model on the columns of a pipeline to one on the raw columns: tables and lines.

A raw column that arrives only in columns of finitely many values (encoders, bins, thresholds) is nominal or cut, and
adds a table; one whose number itself arrives is a line, and may add tables beside it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.cuts import Cut
from quia.errors import TooLarge, Unsupported
from quia.load.sklearn.addends import Addend, AdditiveHead, Bells
from quia.load.sklearn.floats import Floats, crossings, cut_after
from quia.load.sklearn.follow import Frame, Walk
from quia.load.sklearn.one_hot import Groups
from quia.load.sklearn.sources import Categories, Numbers, Source, find_sources
from quia.load.sklearn.steps import MISSING, Column, Fill, Formula, Indicate, Lookup, Operation, Step, refuse_missing
from quia.places import last_until
from quia.terms import Line, Table, Term
from quia.variables import Variable

_MOST_CELLS = 20_000_000
"""Of all tables together."""

Arriving = tuple[int, Column, Addend]
"""The place of a column in the model, the column, and what it adds."""


def additive_of(head: AdditiveHead, walk: Walk, frame: Frame, groups: Groups) -> tuple[Additive, list[Source]]:
    """The additive model on the raw columns, and where its variables come from."""
    columns = [
        column if head.before is None else column.then(head.before(place)) for place, column in enumerate(frame.columns)
    ]
    arriving: dict[int, list[Arriving]] = defaultdict(list)
    for place, (column, addend) in enumerate(zip(columns, head.addends, strict=True)):
        _refuse_single(walk, column)
        arriving[column.raw].append((place, column, addend))

    tables = _Tables(len(head.end))

    def numbers(raw: int, name: str, missing: bool) -> Numbers:
        return Numbers(raw, _variable(name, missing, arriving[raw], tables), single=False)

    sources = find_sources(walk.names, walk.columns, columns, numbers, takes_missing=False, groups=groups, single=False)
    terms: list[tuple[int, Term]] = []
    for index, source in enumerate(sources):
        if isinstance(source, Categories):
            own = [one for raw in source.values[0] for one in arriving[raw]]
            terms += [
                (place, Table(index, values)) for place, values in tables.of_categories(source, sorted(own, key=_place))
            ]
        elif source.variable.is_line:
            terms += _terms_of_line(index, source.variable, arriving[source.raw], tables)
        else:
            terms += [
                (place, Table(index, values)) for place, values in tables.of_cuts(source.variable, arriving[source.raw])
            ]
    terms.sort(key=lambda term: term[0])
    assert head.rule.classes is not None
    variables = tuple(source.variable for source in sources)
    start = (0.0,) * len(head.end)
    model = Additive(
        variables, head.rule.classes, tuple(term for _, term in terms), start, head.score_rule, head.end, kind=head.kind
    )
    return model, sources


def _place(arriving: Arriving) -> int:
    return arriving[0]


def _refuse_single(walk: Walk, column: Column) -> None:
    """Refuse a number that a step computes from one of fewer than 64 bits, as it then computes in these."""
    single = False
    for step in column.steps:
        if isinstance(step, Formula) and single:
            raise Unsupported(
                f"column {walk.name_of(column)} is encoded in 32 bits, and then scaled in these",
                cure="give the encoder dtype='float64'",
            )
        single = single or (isinstance(step, (Lookup, Formula)) and step.single)


def _operations(column: Column) -> tuple[Operation, ...] | None:
    """What is computed of a raw number on its way; None if it becomes one of finitely many."""
    operations: list[Operation] = []
    for step in column.steps:
        if isinstance(step, (Lookup, Indicate)) or (isinstance(step, Formula) and step.written):
            return None
        if isinstance(step, Formula):
            operations += step.line or ()
    curved = next((s for s in column.steps if isinstance(s, Formula) and s.line is None), None)
    if curved is not None:
        raise Unsupported(
            f"{curved.step} makes a number of another that is no multiple of it",
            cure="fit again with a StandardScaler in its place, or put a KBinsDiscretizer after it",
        )
    return tuple(operations)


def _variable(name: str, missing: bool, arriving: Sequence[Arriving], tables: _Tables) -> Variable:
    """The variable of a raw column of numbers."""
    if not arriving or any(_operations(column) is not None for _, column, _ in arriving):
        return Variable.line(name, missing=missing)
    return Variable.numeric(name, tables.cuts(c for _, c, addend in arriving if not addend.is_nothing), missing=missing)


def _up_to_few(column: Column) -> tuple[Step, ...]:
    """The steps up to the first one that writes one of finitely many numbers."""
    for done, step in enumerate(column.steps):
        if isinstance(step, (Lookup, Indicate)) or (isinstance(step, Formula) and step.written):
            return column.steps[: done + 1]
    raise AssertionError("a line")


def _borders(steps: tuple[Step, ...]) -> list[float]:
    """The last number before each place where steps, the last of which writes few numbers, may write another one."""
    column = Column(0, steps)
    pieces = column.pieces()
    last = steps[-1]
    written = last.written if isinstance(last, Formula) else sorted(set(column.numbers(pieces.low).tolist()))
    if len(written) < 2:
        return []
    found = crossings(column.numbers, pieces, np.array(written[:-1]), missing_left=False, single=False)
    return [border for crossing in found for border in crossing.borders]


def _terms_of_line(
    index: int, variable: Variable, arriving: Sequence[Arriving], tables: _Tables
) -> Iterator[tuple[int, Term]]:
    """What a raw column adds whose number itself arrives."""
    finite: list[Arriving] = []
    for place, column, addend in arriving:
        operations = _operations(column)
        if addend.is_nothing:
            continue
        if operations is None:
            finite.append((place, column, addend))
            continue
        if isinstance(addend, Bells) and any(name == "clip" for name, *_ in operations):
            raise Unsupported(
                f"the numbers of {variable.name!r} are clipped before they are squared",
                cure="scale them with clip=False",
            )
        at_missing = addend.at(np.array([column.value(MISSING)])) if variable.missing else None
        for own, weights in addend.lines():
            gone = (
                None
                if at_missing is None
                else tuple(
                    number if weight else 0.0 for number, weight in zip(at_missing[0].tolist(), weights, strict=True)
                )
            )
            yield place, Line(index, (*operations, *own), weights, gone)
        patch = _patch(index, variable, column, addend, operations)
        if patch is not None:
            yield place, patch
    cuts = [last_until(cut.last_below(False)) for cut in tables.cuts(column for _, column, _ in finite)]
    cut = Variable.numeric(variable.name, cuts, missing=variable.missing)
    for place, values in tables.of_cuts(cut, finite):
        yield place, Table(index, values, tuple(cut.cuts))


def _patch(
    index: int, variable: Variable, column: Column, addend: Addend, operations: tuple[Operation, ...]
) -> Table | None:
    """What is added where an imputer fills in a number for another one, such as -1; None if it fills in for none."""
    if not any(isinstance(step, Fill) and step.breaks for step in column.steps):
        return None
    pieces = column.pieces()
    plain = Column(column.raw, (Formula.of(operations),))
    differing = np.flatnonzero(column.numbers(pieces.low) != plain.numbers(pieces.low))
    if (pieces.low[differing] != pieces.high[differing]).any():
        raise Unsupported(
            f"the numbers of {variable.name!r} are scaled, and then filled in where they are a certain number",
            cure="put the imputer before the scaler",
        )
    points = pieces.low[differing]
    moved = addend.at(column.numbers(points)) - addend.at(plain.numbers(points))
    ends = {last_until(math.nextafter(point, -math.inf)) for point in points.tolist()} | set(points.tolist())
    cut = Variable.numeric(variable.name, sorted(ends))
    values = np.zeros((cut.size + variable.missing, moved.shape[1]))
    for point, row in zip(points.tolist(), moved, strict=True):
        values[cut.encode(point)] = row
    return Table(index, values, tuple(cut.cuts))


@dataclass
class _Tables:
    """Tables of what states add, as few as are exact: columns are put into one where in no state two of them add."""

    scores: int
    cells: int = field(default=0)
    borders: dict[tuple[Step, ...], list[float]] = field(default_factory=dict)

    def cuts(self, columns: Iterable[Column]) -> list[Cut]:
        """The cuts between whose numbers columns of finitely many values do not change."""
        found: set[float] = set()
        for steps in {_up_to_few(column) for column in columns}:  # the one-hot columns of a feature begin alike
            if steps not in self.borders:
                self.borders[steps] = _borders(steps)
            found.update(self.borders[steps])
        return [cut_after(border) for border in sorted(found)]

    def of_categories(self, source: Categories, arriving: Sequence[Arriving]) -> list[tuple[int, Floats]]:
        """What the states of a nominal variable add, and the place of the first column of each table."""
        return self._joined(len(source.values), (self._in_states(source, one) for one in arriving))

    def of_cuts(self, variable: Variable, arriving: Sequence[Arriving]) -> list[tuple[int, Floats]]:
        """What the intervals of a numeric variable add, the last for a missing value."""
        points = np.array([*variable.below, math.nextafter(variable.below[-1], math.inf) if variable.below else 0.0])

        def parts() -> Iterator[tuple[int, npt.NDArray[np.int64], Floats]]:
            for place, column, addend in arriving:
                arrived = column.numbers(points)
                refuse_missing(arrived)
                if variable.missing:
                    arrived = np.append(arrived, column.value(MISSING))
                yield place, np.arange(len(arrived)), addend.at(arrived)

        return self._joined(variable.size, parts())

    def _in_states(self, source: Categories, arriving: Arriving) -> tuple[int, npt.NDArray[np.int64], Floats]:
        """The states in which a column may add something, and what."""
        place, column, addend = arriving
        if addend.is_nothing:
            return place, np.array([], np.int64), np.zeros((0, self.scores))
        distinguished = source.distinguished(column)
        own = sorted(distinguished)
        rest = next((state for state in range(len(source.values)) if state not in distinguished), None)
        if rest is not None and addend.at(np.array([column.value(source.values[rest][column.raw])])).any():
            own = list(range(len(source.values)))
        numbers = np.array([column.value(source.values[state][column.raw]) for state in own])
        return place, np.array(own, np.int64), addend.at(numbers)

    def _joined(
        self, states: int, parts: Iterator[tuple[int, npt.NDArray[np.int64], Floats]]
    ) -> list[tuple[int, Floats]]:
        made: list[tuple[int, Floats]] = []
        used = np.zeros(states, bool)
        for place, where, rows in parts:
            adds = rows.any(axis=1)
            where, rows = where[adds], rows[adds]
            if not len(where):
                continue
            if not made or used[where].any():
                self.cells += states * self.scores
                if self.cells > _MOST_CELLS:
                    raise TooLarge(
                        f"the tables of what each value adds would have more than {_MOST_CELLS} numbers; do not centre"
                        " columns that encode categories, or join rare categories with min_frequency",
                        limit=_MOST_CELLS,
                    )
                made.append((place, np.zeros((states, self.scores))))
                used = np.zeros(states, bool)
            made[-1][1][where] = rows
            used[where] = True
        return made
