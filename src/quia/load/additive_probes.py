"""Rows generated for an additive model: at and beside its cuts, and where its numbers make the decision change."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.additive import Additive
from quia.errors import InstanceError
from quia.load.probes import decision_of, value_in, values_around
from quia.places import SMALLEST
from quia.terms import Floats, Line, Table, Term
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier

_MOST_ROWS = 600
_MOST_CELLS = 40_000
_SPREAD = 3.0  # how much a number without a range adds to a score, at most
_LARGEST = 1e100
_POINTS = 33


def additive_probes(model: Additive, *, limit: int, seed: int = 0) -> list[dict[str, Any]]:
    """At most `limit` rows: random ones, and copies of these in which one number is where the decision changes.

    Numbers without a range are taken from where they matter as much as others.
    """
    rng = random.Random(seed)
    limit = min(limit, _MOST_ROWS, max(40, _MOST_CELLS // max(1, len(model.variables))))
    terms: dict[int, list[Term]] = {v: [] for v in range(len(model.variables))}
    for term in model.terms:
        terms[term.variable].append(term)
    ends = {v: _ends(model.variables[v], terms[v]) for v in terms if model.variables[v].is_line}
    lines = [v for v in ends if terms[v]]
    rows: list[dict[str, Any]] = [
        {variable.name: _value(variable, terms[v], ends.get(v), rng) for v, variable in enumerate(model.variables)}
        for _ in range(limit // 4 if lines else limit)
    ]
    scores = scores_of(model, rows) if lines else None
    copies: list[dict[str, Any]] = []
    for row, own in zip(rows, () if scores is None else scores, strict=False):
        at = rng.choice(lines)
        turning = _turning(model, row, own, at, terms[at], ends[at], rng)
        copies += [{**row, model.variables[at].name: number} for number in turning]
    return [*rows, *copies][:limit]


def scores_of(model: Additive, rows: Sequence[Mapping[str, Any]]) -> Floats | None:
    """The scores of rows, as the model adds them; None if something in them is missing or unknown to the model."""
    scores = np.tile(np.array(model.start), (len(rows), 1))
    columns: dict[int, Any] = {}
    try:
        for v in model.tested:
            variable = model.variables[v]
            values = [row[variable.name] for row in rows]
            if variable.is_line:
                if not all(isinstance(value, (int, float)) for value in values):
                    return None
                columns[v] = np.array(values, np.float64)
                if not variable.missing and np.isnan(columns[v]).any():
                    return None
            else:
                columns[v] = np.array([variable.encode(value) for value in values], np.int64)
    except (InstanceError, KeyError, OverflowError):
        return None
    for term in model.terms:
        if term.variable not in columns:  # it adds the same to every row
            scores += np.array(term.at(model.variables[term.variable], 0))
        elif model.variables[term.variable].is_line:
            scores += term.of_numbers(columns[term.variable])
        else:
            assert isinstance(term, Table)
            scores += term.values[columns[term.variable]]
    return scores + np.array(model.end) if model.end else scores


def decisions_of(classifier: Classifier, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The class of each row; None where the classifier refuses it."""
    scores = scores_of(classifier, rows) if isinstance(classifier, Additive) and rows else None
    if scores is None or not isinstance(classifier, Additive):
        return [decision_of(classifier, row) for row in rows]
    return [classifier.classes[decided] for decided in classifier.told_rows(scores).tolist()]


def undecided(classifier: Any, instance: Mapping[str, Any], ours: str | None, theirs: str) -> bool:
    """Whether an additive model gives two classes the same score but for rounding."""
    if not isinstance(classifier, Additive) or ours is None or theirs not in classifier.classes:
        return False
    try:
        model = classifier.reaching(instance)
        numbers = {name: _number(model, name, instance) for name in model.unbounded}
        model = model.with_ranges({name: (number, number) for name, number in numbers.items()})
        scores = model.scores(model.encode(instance)).tolist()
    except InstanceError:
        return False
    if model.rule.kind == "cuts":
        return any(bool(abs(scores[0] - cut) <= model.margin) for cut in model.rule.cuts)
    own, their = (scores[model.classes.index(name)] for name in (ours, theirs))
    return bool(abs(own - their) <= model.margin)


def _number(model: Additive, name: str, instance: Mapping[str, Any]) -> float:
    variable = next(variable for variable in model.variables if variable.name == name)
    number = variable.as_number(instance[name])
    return 0.0 if math.isnan(number) else number


def _ends(variable: Variable, terms: list[Term]) -> tuple[float, float]:
    """The range of a line, or one in which its numbers matter."""
    if variable.range is not None:
        return variable.range
    ends = [0.0, 1.0]
    for term in terms:
        polynomial = term.polynomial() if isinstance(term, Line) else None
        if polynomial is None or not isinstance(term, Line):
            continue
        a, b, c = polynomial
        weight = max(map(abs, term.weights))
        if a and weight:
            middle, width = -b / (2 * a), math.sqrt(_SPREAD / abs(a * weight))
        elif b and weight:
            middle, width = -c / b, _SPREAD / abs(b * weight)
        else:
            continue
        ends += [middle - width, middle + width]
    return max(-_LARGEST, min(ends)), min(_LARGEST, max(ends))


def _value(variable: Variable, terms: list[Term], ends: tuple[float, float] | None, rng: random.Random) -> Any:
    """A value of a variable, often at or beside a cut."""
    if ends is None:
        if variable.labels is None and variable.cuts and rng.random() < 0.5:
            cut = rng.randrange(len(variable.cuts))
            return rng.choice(values_around(variable, [((0, cut),), ((cut + 1, len(variable.cuts)),)], rng))
        return value_in(variable, rng.randrange(variable.size), rng)
    if variable.missing and rng.random() < 0.1:
        return math.nan
    cuts = [cut.threshold for term in terms if isinstance(term, Table) for cut in term.cuts]
    if cuts and rng.random() < 0.5:
        number = rng.choice(cuts)
        number = rng.choice((number, math.nextafter(number, -math.inf), math.nextafter(number, math.inf)))
    else:
        number = ends[0] + (ends[1] - ends[0]) * rng.random()
        if rng.random() < 0.3:
            number = float(round(number))
    if 0 < abs(number) < SMALLEST:  # which counts as 0
        number = math.copysign(SMALLEST, number)
    return min(max(number, ends[0]), ends[1])


def _turning(
    model: Additive,
    row: Mapping[str, Any],
    scores: Floats,
    at: int,
    terms: list[Term],
    ends: tuple[float, float],
    rng: random.Random,
) -> Iterator[float]:
    """Numbers around one at which the decision of a row of these scores changes with one variable, if there is one."""
    variable = model.variables[at]
    here = np.array([variable.as_number(row[variable.name])])
    if math.isnan(here[0]):
        return
    others = scores - sum((term.of_numbers(here)[0] for term in terms), np.zeros(len(scores)))

    def gap(numbers: Floats) -> Floats:
        moved = others + sum((term.of_numbers(numbers) for term in terms), np.zeros((len(numbers), len(others))))
        return np.asarray(moved @ weights - cut)

    weights, cut = np.zeros(len(others)), 0.0
    if model.rule.kind == "cuts":
        weights[0], cut = 1.0, rng.choice(model.rule.cuts)
    else:
        first, second = rng.sample(range(len(others)), 2)
        weights[first], weights[second] = 1.0, -1.0
    for _ in range(12):
        numbers = np.linspace(*ends, _POINTS)
        above = gap(numbers) > 0
        turns = np.flatnonzero(above[1:] != above[:-1])
        if not len(turns):
            return
        ends = float(numbers[turns[0]]), float(numbers[turns[0] + 1])
    number = ends[0]
    yield from (number, number * (1 + 1e-9), number * (1 - 1e-9))
    for direction in (-math.inf, math.inf):
        beside = number
        for _ in range(2):
            beside = math.nextafter(beside, direction)
            yield beside
