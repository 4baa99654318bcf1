"""What the terms of an additive model add, plainly: exactly, in fractions, and as it is rounded, between two ends.

The second way to the same, for `verify`: it shares nothing with what the terms themselves compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from quia.terms import Line, Term

Spread = list[tuple[float, float]]
"""The least and the most of each score."""
ULP = 2.0**-53
"""How far one rounding takes a number off, relative to it."""


class Form(NamedTuple):
    """That Σ weights[k] · scores[k] + offset is not above 0, or if it is strict, below."""

    weights: tuple[int, ...]
    offset: Fraction
    is_strict: bool


def total(forms: Sequence[Form], factors: Sequence[int]) -> Form:
    """Forms times factors, added up: not above 0 if none of them is."""
    both = list(zip(forms, factors, strict=True))
    weights = tuple(
        sum(f * w for f, w in zip(factors, column, strict=True))
        for column in zip(*(form.weights for form in forms), strict=True)
    )
    return Form(weights, sum((form.offset * f for form, f in both), Fraction()), any(form.is_strict for form in forms))


def plus(one: Spread, other: Spread) -> Spread:
    """Two spreads added up, as numbers between them would be."""
    return [(a + c, b + d) for (a, b), (c, d) in zip(one, other, strict=True)]


def size_of(low: float, high: float) -> float:
    """The greatest absolute number between two."""
    return max(abs(low), abs(high))


def row(term: Term, number: float | None, state: int) -> Sequence[float]:
    """What a term adds at a state; of a line's table, at a number, and if there is none, for a missing value."""
    if isinstance(term, Line):
        assert term.missing is not None
        return term.missing
    row = state
    if number is not None:
        row = sum(number > cut.last_below(False) for cut in term.cuts)
    elif state >= len(term.values):
        row = -1
    return [float(value) for value in term.values[row]]


def run(line: Line, x: Fraction) -> Fraction:
    """The steps of a line on a number, exactly."""
    for name, *operands in line.steps:
        own = [Fraction(operand) for operand in operands]
        match name:
            case "add":
                x += own[0]
            case "subtract":
                x -= own[0]
            case "multiply":
                x *= own[0]
            case "divide":
                x /= own[0]
            case "clip":
                x = max(own[0], min(x, own[1]))
            case "square":
                x *= x
    return x


def bends(line: Line) -> Iterator[Fraction]:
    """The numbers at which a line is clipped, or what is squared is 0."""
    for at, (name, *operands) in enumerate(line.steps):
        unclipped = Line(line.variable, tuple(s for s in line.steps[:at] if s[0] != "clip"), line.weights)
        offset = run(unclipped, Fraction()) if name in ("clip", "square") else Fraction()
        slope = run(unclipped, Fraction(1)) - offset if name in ("clip", "square") else Fraction()
        for number in operands if name == "clip" else (0.0,):
            if slope:
                yield (Fraction(number) - offset) / slope


def interval(line: Line, low: float, high: float) -> tuple[tuple[float, float], float]:
    """The steps of a line on all numbers between two, as they are rounded, and how far off they can be."""
    error = 0.0
    for name, *operands in line.steps:
        match name:
            case "add":
                low, high = low + operands[0], high + operands[0]
            case "subtract":
                low, high = low - operands[0], high - operands[0]
            case "multiply":
                low, high = sorted((low * operands[0], high * operands[0]))
                error *= abs(operands[0])
            case "divide":
                low, high = sorted((low / operands[0], high / operands[0]))
                error /= abs(operands[0])
            case "clip":
                low, high = (min(max(end, operands[0]), operands[1]) for end in (low, high))
            case "square":
                error = (2 * size_of(low, high) + error) * error
                low, high = (0.0 if low < 0 < high else min(low * low, high * high)), max(low * low, high * high)
        error += ULP * size_of(low, high)
    return (low, high), error
