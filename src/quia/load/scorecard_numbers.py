"""How a card writes its decimals: with a point or, where semicolons separate its values, perhaps with a comma.

There `1.200` may be a little more than one, or twelve hundred, and so may `1,200`. What the other numbers of the card
show decides that; if they show nothing, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from quia.errors import FormatError, shown

_SIGN = r"[+\-−]?"
_WITH_MARK = re.compile(rf"{_SIGN}\d*[.,]\d*")
_IN_TWO_WAYS = re.compile(rf"{_SIGN}[1-9]\d{{0,2}}[.,]\d{{3}}")
_GROUPED = re.compile(
    # Several groups, or one that is set apart by what is no decimal mark, or that decimals with another mark follow.
    rf"{_SIGN}\d{{1,3}}(?:(?:\.\d{{3}}){{2,}}|(?:,\d{{3}}){{2,}}|(?:['’\s]\d{{3}})+"
    r"|(?:[.'’\s]\d{3})+,\d*|(?:[,'’\s]\d{3})+\.\d*)"
)
_INTERVAL = re.compile(r"([\[(])(.*)([\])])", re.DOTALL)
_COMPARISON = re.compile(r"[<>]=?(.*)", re.DOTALL)
_COMPARED = re.compile(r"[<>].*|[\[(].*[,;].*[\])]|not missing", re.DOTALL)
_EXCHANGED = str.maketrans(",.", ".,")
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "−": "-"})


class Number(NamedTuple):
    """A number as it stands in a line."""

    text: str
    line: int


def decimal_mark(numbers: Iterable[Number], file: str | None) -> str:
    """What is before the decimals of a card whose values are separated by semicolons: a point or a comma.

    >>> decimal_mark([Number("12,5", 2), Number("1,125", 3)], None), decimal_mark([Number("12", 2)], None)
    (',', '.')
    """
    shows: dict[str, Number] = {}
    marked = [number for number in numbers if _WITH_MARK.fullmatch(number.text)]
    for number in marked:
        if not _IN_TWO_WAYS.fullmatch(number.text):
            shows.setdefault("," if "," in number.text else ".", number)
    if len(shows) > 1:
        first, second = sorted(shows.values(), key=lambda number: number.line)
        raise FormatError(
            f"{shown(second.text)} has another decimal mark than {shown(first.text)} in line {first.line}; write all"
            " numbers alike",
            file=file,
            line=second.line,
        )
    mark = next(iter(shows), None)
    for number in marked:
        if mark is None:
            raise FormatError(
                f"{shown(number.text)} may be {re.sub('[.,]', '', number.text)} or a decimal; write it without a"
                f" thousands separator or, as a decimal, with one more 0: {shown(number.text + '0')}",
                file=file,
                line=number.line,
            )
        if mark not in number.text:
            raise FormatError(thousands(number.text), file=file, line=number.line)
    return mark or "."


def with_point(text: str, mark: str | None) -> str:
    """What is a number if the text is one, with this mark before its decimals; None as a mark is a point, too.

    >>> with_point("12,5", ","), with_point("12,5", None), with_point("1.250", ",")
    ('12.5', '12,5', '1,250')
    """
    return text.translate(_EXCHANGED) if mark == "," else text


def thousands(text: str) -> str:
    """What to say of a number whose thousands are set apart."""
    return f"{shown(text)} has a thousands separator; write it without, as in 1250"


def is_grouped(text: str) -> bool:
    """Whether a text can be nothing but a number whose thousands are set apart.

    >>> [is_grouped(text) for text in ("1.250,5", "1,250.5", "1 250", "1'250'000", "1.250.000", "1250,5", "1,250")]
    [True, True, True, True, True, False, False]
    """
    return _GROUPED.fullmatch(text) is not None


def looks_like_number(text: str) -> bool:
    """Whether a text is a number in one way of writing or another.

    >>> [looks_like_number(text) for text in ("1,5", "1.250,5", "7", "1.1.2", ",")]
    [True, True, True, False, False]
    """
    is_whole = re.fullmatch(rf"{_SIGN}\d+", text) is not None
    return is_whole or is_grouped(text) or (_WITH_MARK.fullmatch(text) is not None and any(map(str.isdigit, text)))


def comparisons(condition: str) -> list[str] | None:
    """The comparisons and intervals, one of which is to hold; None if a condition is something else.

    >>> comparisons("≤ 3 or [5, 7)"), comparisons("cook")
    (['<= 3', '[5, 7)'], None)
    """
    found = [each.strip() for each in condition.translate(_SIGNS).split(" or ")]
    return found if any(map(_COMPARED.fullmatch, found)) else None


def numbers_said(condition: str) -> list[str]:
    """The numbers that a condition compares with or names, as they stand in it; none if it names something else.

    >>> numbers_said("< 0,5 or [1,5; 2,5)"), numbers_said("{1,5, 2}"), numbers_said("[1,2,3)"), numbers_said("cook")
    (['0,5', '1,5', '2,5'], ['1,5', '2'], [], [])
    """
    compared = comparisons(condition)
    if compared is None:
        names = [each.strip(" ={}") for each in re.split(r";|,\s", condition)]
        return names if all(map(looks_like_number, names)) else []
    found = []
    for each in compared:
        if one := _COMPARISON.fullmatch(each):
            found.append(one[1].strip())
        elif bounded := _INTERVAL.fullmatch(each):
            found += _ends(bounded[2]) or []
    return found


def plain_comparison(text: str, mark: str, file: str | None, line: int) -> str:
    """A comparison or interval of a card whose values semicolons separate, as it is written elsewhere.

    >>> plain_comparison("(0,5; 1,5]", ",", None, 2), plain_comparison("[30,50)", ",", None, 2)
    ('(0.5, 1.5]', '[30, 50)')
    """
    for number in numbers_said(text):
        if is_grouped(number):
            raise FormatError(thousands(number), file=file, line=line)
    bounded = _INTERVAL.fullmatch(text)
    if not bounded:
        return with_point(text, mark)
    ends = _ends(bounded[2])
    if ends is None:
        raise FormatError(
            f"the condition {shown(text)} does not say which comma is between its ends; write a space after that, as in"
            " '[0,5, 1,5)'",
            file=file,
            line=line,
        )
    low, high = (with_point(end, mark) for end in ends)
    return f"{bounded[1]}{low}, {high}{bounded[3]}"


def _ends(text: str) -> list[str] | None:
    """The two ends of an interval; None if what is between them may be one comma or another."""
    for between in (";", r",\s", ","):
        ends = [end.strip() for end in re.split(between, text)]
        if len(ends) > 1:
            return ends if len(ends) == 2 else None
    return None


def names_listed(text: str, mark: str | None, file: str | None, line: int) -> tuple[str, ...]:
    """The names or numbers in a list such as `{cook, clerk}`; where a comma is before decimals, perhaps `{1,5, 2}`."""
    if mark is not None and ";" in text:
        between = ";"
    elif mark == "," and re.search(r"\d,\d", text):
        between = r",\s"
        if not re.search(between, text):
            raise FormatError(
                f"{shown('{' + text + '}')} may be one number or two; write a space after a comma between two, and one"
                " number as in '= 1,5'",
                file=file,
                line=line,
            )
    else:
        between = ","
    return tuple(each.strip() for each in re.split(between, text))
