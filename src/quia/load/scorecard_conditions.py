"""The conditions of a scorecard: what the rows of one feature say of it, and the variable with its states that is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quia import conditions
from quia.conditions import Condition
from quia.cuts import Interval
from quia.errors import FormatError, GraphError, shown
from quia.load.binary import unused_name
from quia.load.scorecard_numbers import comparisons, looks_like_number, names_listed, plain_comparison, with_point
from quia.load.scorecard_rows import ELSE, Row
from quia.ranges import Overlap, owners, union
from quia.variables import MISSING, Variable

ANY_OTHER = "any other"
_LISTED = re.compile(r"(?:in )?\{(.*)\}", re.DOTALL)
_NUMBER = r"[+-]?\d[\d.,]*"
_IN_TWO_WAYS = re.compile(rf"{_NUMBER}\s*(?:-|–|—|\bto\b|\.\.|…)\s*{_NUMBER}|{_NUMBER}\s*\+")
# What compares in another way than is read here would be the name of a value, and all numbers fell to 'else'.
_NO_NAME = re.compile(r"[<>≤≥≠]|!=|^\[.*\]$", re.DOTALL)
_IN_WORDS = re.compile(
    r"^(under|over|below|above|between|(less|more|greater|fewer|older|younger) than|at (least|most)|up to)\b"
    r"|\b(and|or) (over|under|above|below|more|less|fewer|older|younger)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Feature:
    """A variable, and which of the rows of a card about it is for each of its states."""

    variable: Variable
    rows: list[int]


class _Said(NamedTuple):
    """What a condition says: one of some names or numbers, an interval or several, that it is missing, or the rest."""

    row: Row
    names: tuple[str, ...] = ()
    compared: tuple[Condition, ...] = ()
    is_missing: bool = False
    is_else: bool = False


def feature(name: str, rows: Sequence[Row], file: str | None) -> Feature:
    """The variable that the rows about a feature tell; each of its states is in one row, or it is a FormatError.

    It is numeric if a row compares it, or if all rows name numbers and one is for the rest.

    >>> said = ("< 30", "[30, 50)", "missing", "else")
    >>> age = feature("age", [Row(2 + at, "age", text, None) for at, text in enumerate(said)], "card.csv")
    >>> [age.variable.text(state) for state in range(age.variable.size)], age.rows
    (['< 30', '[30, 50)', '>= 50', 'missing'], [0, 1, 3, 2])
    """
    said = [_parsed(row, file) for row in rows]
    rest = [each for each in said if each.is_else]
    if len(rest) > 1:
        raise _fault(rest[1], name, f"has a second row for the rest; the first is in line {rest[0].row.line}", file)
    if not any(each.names or each.compared for each in said):
        raise _fault(said[0], name, "has no row but for the rest or for missing values; say which values it has", file)
    names = [text for each in said for text in each.names]
    if any(each.compared for each in said) or (rest and all(map(_may_be_number, names))):
        return _numeric(name, said, file)
    return _nominal(name, said, file)


def _parsed(row: Row, file: str | None) -> _Said:
    text = row.condition.strip()
    if text.casefold() in ELSE:
        return _Said(row, is_else=True)
    if text.casefold() == MISSING:
        return _Said(row, is_missing=True)
    if text.startswith("="):
        return _Said(row, (text[1:].strip(),))
    if listed := _LISTED.fullmatch(text):
        return _Said(row, names_listed(listed[1], row.mark, file, row.line))
    alternatives = comparisons(text)
    if alternatives is not None:
        if row.mark is not None:
            alternatives = [plain_comparison(each, row.mark, file, row.line) for each in alternatives]
        try:
            return _Said(row, compared=tuple(conditions.alternatives(alternatives)))
        except GraphError as fault:
            raise FormatError(str(fault), file=file, line=row.line) from None
    if _IN_TWO_WAYS.fullmatch(text):
        raise FormatError(
            f"the condition {shown(text)} does not say which of its ends are in; write it as in '[20, 30)' or '>= 30',"
            f" or as {shown(f'= {text}')} if it is a name",
            file=file,
            line=row.line,
        )
    if _NO_NAME.search(text) or (_IN_WORDS.search(text) and re.search(r"\d", text)):
        raise FormatError(
            f"the condition {shown(text)} cannot be read; write it as in '< 30', '[20, 30)' or '{{cook, clerk}}', or as"
            f" {shown(f'= {text}')} if it is a name",
            file=file,
            line=row.line,
        )
    return _Said(row, (text,))


def _numeric(name: str, said: Sequence[_Said], file: str | None) -> Feature:
    compares = next((each for each in said if each.compared), said[0])
    listed = []
    for each in said:
        names = [with_point(text, each.row.mark) for text in each.names]
        wrong = next((text for text, plain in zip(each.names, names, strict=True) if not _is_number(plain)), None)
        if wrong is not None and looks_like_number(wrong):
            raise _fault(
                each, name, f"is {shown(wrong)}; write a number as in 1250.5, without a thousands separator", file
            )
        if wrong is not None:
            raise _fault(
                each,
                name,
                f"is {shown(wrong)}, but a number in line {compares.row.line} ({compares.row.condition.strip()}); write"
                " conditions such as '>= 30' for a number, and names only for what is none",
                file,
            )
        numbers = [conditions.parse(f"= {text}") for text in names]
        listed.append([*each.compared, *numbers, *([MISSING] if each.is_missing else [])])
    cuts = [cut for each in listed for one in each if isinstance(one, Interval) for cut in one if cut is not None]
    variable = Variable.numeric(name, cuts, missing=any(MISSING in each for each in listed))
    sets = [conditions.states_where(variable, each) for each in listed]
    for each, states in zip(said, sets, strict=True):
        if not states and not each.is_else:
            raise _fault(each, name, f"is {each.row.condition.strip()}, which holds for no number", file)
    try:
        rows = owners(sets, variable.size)
    except Overlap as twice:
        low, high = twice.shared[0]
        both = MISSING if variable.is_missing_state(low) else variable.interval(low, min(high, len(variable.cuts))).text
        raise _fault(
            said[twice.second],
            name,
            f"has points for {both} here and in line {said[twice.first].row.line}; let conditions not overlap",
            file,
        ) from None
    return Feature(variable, _with_rest(variable, said, rows, file))


def _with_rest(variable: Variable, said: Sequence[_Said], rows: list[int], file: str | None) -> list[int]:
    """The rows of states, where numbers that no other row names are in the row for the rest."""
    gaps = union((state, state) for state, row in enumerate(rows) if row < 0)
    rest = next((at for at, each in enumerate(said) if each.is_else), None)
    if rest is not None:
        if not gaps:
            raise _fault(said[rest], variable.name, "has a row for the rest, but other rows name all numbers", file)
        return [rest if row < 0 else row for row in rows]
    if gaps:
        raise _fault(
            said[0],
            variable.name,
            f"has no points for {variable.interval(*gaps[0]).text}; add a row for that, or one for 'else'",
            file,
        )
    return rows


def _nominal(name: str, said: Sequence[_Said], file: str | None) -> Feature:
    rows: dict[str, int] = {}
    for at, each in enumerate(said):
        for label in each.names:
            if not label:
                raise _fault(each, name, "names a value that is empty; write 'missing' for a missing one", file)
            if label in rows:
                before = said[rows[label]].row.line
                raise _fault(each, name, f"has points for {shown(label)} here and in line {before}; keep one", file)
            rows[label] = at
    special: dict[str, str | None] = {"other": None, "no_value": None}
    for at, each in enumerate(said):
        if each.is_missing and special["no_value"] is not None:
            raise _fault(each, name, "has a second row for missing values", file)
        if each.is_missing or each.is_else:
            label = unused_name(MISSING if each.is_missing else ANY_OTHER, rows)
            special["no_value" if each.is_missing else "other"] = label
            rows[label] = at
    return Feature(Variable.nominal(name, rows, other=special["other"], no_value=special["no_value"]), [*rows.values()])


def _may_be_number(text: str) -> bool:
    return _is_number(text) or looks_like_number(text)


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False


def _fault(said: _Said, name: str, what: str, file: str | None) -> FormatError:
    return FormatError(f"{shown(name)} {what}", file=file, line=said.row.line)
