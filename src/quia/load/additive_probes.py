"""Rows generated for an additive model: at and beside its cuts, and where its numbers make the decision change."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from quia.additive import Additive
from quia.errors import InstanceError
from quia.load.probes import value_in, values_around
from quia.terms import Floats, Line, Table, Term
from quia.variables import Variable

_MOST_CELLS = 60_000
_SPREAD = 3.0  # how much a number without a range adds to a score, at most
_LARGEST = 1e100
_POINTS = 33


def additive_probes(model: Additive, *, limit: int, seed: int = 0) -> list[dict[str, Any]]:
    """At most `limit` rows: random ones, and copies of these in which one number is where the decision changes.

    Numbers without a range are taken from where they matter as much as others.
    """
    rng = random.Random(seed)
    limit = min(limit, max(50, _MOST_CELLS // max(1, len(model.variables))))
    terms: dict[int, list[Term]] = {v: [] for v in range(len(model.variables))}
    for term in model.terms:
        terms[term.variable].append(term)
    ends = {v: _ends(model.variables[v], terms[v]) for v in terms if model.variables[v].is_line}
    lines = [v for v in ends if terms[v]]
    rows: list[dict[str, Any]] = []
    while len(rows) < limit:
        row = {
            variable.name: _value(variable, terms[v], ends.get(v), rng) for v, variable in enumerate(model.variables)
        }
        rows.append(row)
        if lines:
            at = rng.choice(lines)
            rows += [{**row, model.variables[at].name: x} for x in _turning(model, row, at, terms[at], ends[at], rng)]
    return rows[:limit]


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
    return min(max(number, ends[0]), ends[1])


def _turning(
    model: Additive, row: Mapping[str, Any], at: int, terms: list[Term], ends: tuple[float, float], rng: random.Random
) -> Iterator[float]:
    """Numbers around one at which the decision of a row changes with one variable, if there is one."""
    variable = model.variables[at]
    here = np.array([variable.as_number(row[variable.name])])
    if math.isnan(here[0]):
        return
    others = model.scores(model.encode(row)) - sum(
        (term.of_numbers(here)[0] for term in terms), np.zeros(len(model.start))
    )

    def gap(numbers: Floats) -> Floats:
        scores = others + sum((term.of_numbers(numbers) for term in terms), np.zeros((len(numbers), len(others))))
        return np.asarray(scores @ weights - cut)

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
