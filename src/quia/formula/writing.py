"""Formulas written as text that is read back as the same formula."""

from __future__ import annotations

import re

from quia.dag import AND, NOT, OR, written
from quia.formula.core import FALSE, TRUE, Formula
from quia.formula.sets import StateSet, set_of
from quia.formula.tokens import RESERVED
from quia.variables import MISSING

_PLAIN = re.compile(r"[\w.]+")
_MOST_WRITTEN = 1_000_000  # characters; a formula with shared parts can be astronomic when written out


def text(formula: Formula, *, most: int = _MOST_WRITTEN) -> str:
    """The formula as text that `parse` reads back as the same formula.

    One that would take more than `most` characters is only described.
    """
    pieces: list[str] = []
    length = 0
    for piece in written(formula, _words):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            return f"{''.join(pieces)[: min(most, 60)]}… ({formula.size} nodes)"
    return "".join(pieces)


def quoted(word: str) -> str:
    """A name or a state, in quotes unless it is a plain word."""
    if _PLAIN.fullmatch(word) and word not in RESERVED:
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _words(node: Formula) -> list[Formula | str]:
    """What a node is written as: text and parts."""
    if node in (TRUE, FALSE):
        return ["true" if node is TRUE else "false"]
    one_set = set_of(node)
    if one_set is not None:
        return [_set_text(one_set)]
    if node.kind == NOT:
        return ["!", *_bracketed(node.children[0], negated=True)]
    words: list[Formula | str] = []
    for child in node.children:
        words.append(" & " if node.kind == AND else " | ")
        words.extend(_bracketed(child))
    return words[1:]


def _bracketed(part: Formula, *, negated: bool = False) -> list[Formula | str]:
    """A part beside others: in brackets if it has more parts, or if it is written with a sign between them."""
    one_set = set_of(part)
    if one_set is None:
        return ["(", part, ")"] if part.kind in (AND, OR) else [part]
    if one_set.variable.is_numeric and (negated or len(_conditions(one_set)) > 1):
        return ["(", part, ")"]
    return [part]


def _set_text(one_set: StateSet) -> str:
    """States of one variable: `X=a`, `X in {a, b}`, `age <= 30`, `age in (20, 30] | > 40`."""
    variable, states = one_set
    name = quoted(variable.name)
    if variable.is_numeric:
        return f"{name} {' | '.join(_conditions(one_set))}"
    labels = [quoted(variable.text(state)) for state in states]
    return f"{name}={labels[0]}" if len(labels) == 1 else f"{name} in {{{', '.join(labels)}}}"


def _conditions(one_set: StateSet) -> list[str]:
    """The intervals of numbers, and 'missing', that states of a numeric variable are."""
    variable = one_set.variable
    last = len(variable.cuts)
    found = []
    for low, high in one_set.ranges:
        if low <= last:
            interval = variable.interval(low, min(high, last))
            is_open = (interval.lower is None) != (interval.upper is None)
            found.append(interval.text if is_open or interval.is_one else f"in {interval.text}")
        if high > last:
            found.append(f"= {MISSING}")
    return found
