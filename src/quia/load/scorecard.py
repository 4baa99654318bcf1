"""Scorecards as CSV: a feature, a condition and points in each row; a base score, and cutoffs that tell the class.

A row whose feature is `base` and has no condition is what every score begins with. A row whose feature is `cutoff` says
from how many points on it is the class in its condition; without points, which class it is below all cutoffs.
Points are decimals, and sums of them are exact: they are multiplied by the power of ten that makes them whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from quia.additive import Additive
from quia.cuts import number_text
from quia.errors import FormatError, Unsupported, shown
from quia.load import scorecard_conditions
from quia.load.scorecard_classes import cutoffs_and_classes, is_cutoff
from quia.load.scorecard_conditions import Feature
from quia.load.scorecard_rows import Row, given, needed, read_rows
from quia.rows import open_rows
from quia.sums import Rule
from quia.terms import Table

OPTIONS = ("base", "classes", "cutoff")
KIND = "scorecard"
BASE = ("base", "base score", "base points")
LARGEST = 2**24
_EXACT = 2**52


def read(
    data: bytes, file: str | None = None, *, base: Any = None, cutoff: Any = None, classes: Any = None
) -> Additive:
    """The scorecard in a CSV file; `base`, `cutoff` and `classes` go before what its rows say of these."""
    if file is None:
        raise Unsupported("a scorecard is read row by row", cure="give the path of its file")
    if len(data) > LARGEST:
        raise FormatError(f"holds more than {LARGEST} bytes; scorecards are smaller", file=file)
    rows, notes = read_rows(open_rows(file))
    start = _base(rows, file) if base is None else given(base, "base")
    cutoffs, labels = cutoffs_and_classes(rows, file, cutoff, classes)
    by_feature = _by_feature(rows, file)
    points = {name: [needed(row, file) for row in own] for name, own in by_feature.items()}
    unit = _unit([start, *(each.points for each in cutoffs), *(one for own in points.values() for one in own)])
    features = [scorecard_conditions.feature(name, own, file) for name, own in by_feature.items()]
    _refuse_long_sums(unit, [start, max(abs(each.points) for each in cutoffs)], points.values(), file)
    return Additive(
        tuple(feature.variable for feature in features),
        labels,
        tuple(
            _table(at, feature, own, unit)
            for at, (feature, own) in enumerate(zip(features, points.values(), strict=True))
        ),
        (float(start * unit),),
        Rule("cuts", tuple(float(each.points * unit) for each in cutoffs)),
        kind=KIND,
        notes=notes,
        unit=float(unit),
    )


def _table(variable: int, feature: Feature, points: Sequence[Fraction], unit: int) -> Table:
    return Table(variable, np.array([[float(points[row] * unit)] for row in feature.rows]))


def _is_base(row: Row) -> bool:
    return row.feature.casefold() in BASE and not row.condition


def _base(rows: Sequence[Row], file: str) -> Fraction:
    found = [row for row in rows if _is_base(row)]
    if len(found) > 1:
        raise FormatError(
            f"the base score is given here and in line {found[0].line}; keep one", file=file, line=found[1].line
        )
    return needed(found[0], file) if found else Fraction(0)


def _by_feature(rows: Sequence[Row], file: str) -> dict[str, list[Row]]:
    """The rows about each feature, in the order of their first rows."""
    found: dict[str, list[Row]] = {}
    spelled: dict[str, Row] = {}
    for row in rows:
        if _is_base(row) or is_cutoff(row):
            continue
        if not row.condition:
            raise FormatError(
                f"{shown(row.feature)} has no condition; write one such as '>= 30', or 'else' for what no other row"
                " names, or call it 'base' if every score begins with it",
                file=file,
                line=row.line,
            )
        before = spelled.setdefault(row.feature.casefold(), row)
        if before.feature != row.feature:
            raise FormatError(
                f"{shown(row.feature)} is called {shown(before.feature)} in line {before.line}; spell it alike",
                file=file,
                line=row.line,
            )
        found.setdefault(row.feature, []).append(row)
    if not found:
        raise FormatError("has no row about a feature", file=file)
    return found


def _unit(numbers: Iterable[Fraction]) -> int:
    """The least power of ten that makes all these decimals whole.

    >>> _unit([Fraction("12.50"), Fraction(3)]), _unit([Fraction("0.25"), Fraction("0.1")])
    (10, 100)
    """
    unit = 1
    for number in numbers:
        while (number * unit).denominator > 1:
            unit *= 10
    return unit


def _refuse_long_sums(
    unit: int, constants: Sequence[Fraction], points: Iterable[Sequence[Fraction]], file: str
) -> None:
    """Refuse points of which a sum may have more digits than numbers in 64 bits have."""
    total = sum(map(abs, constants)) + sum(max(map(abs, own)) for own in points)
    if total * unit >= _EXACT:
        raise FormatError(
            f"its points sum up to {number_text(float(total))} in steps of {number_text(1 / unit)}, which has too many"
            " digits for exact sums; round them",
            file=file,
        )
