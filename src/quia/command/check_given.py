"""What `quia check` says of constraints: whether they can be met, what they rule out, and which rows break them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quia.command.possible import checked, given_of, within_of
from quia.command.progress import working
from quia.errors import FormatError, QuiaError, brief, listed
from quia.given_check import Broken, CheckedGiven, CheckedRows, check_given, check_rows
from quia.show.words import plural

if TYPE_CHECKING:
    from quia.classifier import Classifier

MOST_SHOWN = 20
"""So many constraints are listed."""
_LONG = 120  # letters of a constraint in a line


class Findings:
    """What was found of a model's constraints, of those that are given beside, and of rows."""

    def __init__(self, given: CheckedGiven, rows: CheckedRows | None) -> None:
        self.given, self.rows = given, rows

    @property
    def exit_code(self) -> int:
        """1 if nothing meets the constraints or a row breaks one, 3 if time ran out."""
        if not self.given.can_be_met or (self.rows is not None and self.rows.broken.rows):
            return 1
        return 0 if self.given.in_time else 3

    def to_dict(self) -> dict[str, Any]:
        """The `given` item of the JSON."""
        found = self.given
        told: dict[str, Any] = {
            "constraints": list(found.constraints),
            "within": list(found.conditions),
            "can_be_met": found.can_be_met,
        }
        if not found.can_be_met:
            return told | {"contradicting": list(found.contradicting), "fault": found.contradiction}
        told |= {
            "idle": list(found.idle),
            "implied": list(found.implied),
            "repeated": list(found.repeated),
            "impossible_classes": list(found.impossible),
            "undecided_classes": list(found.undecided),
        }
        if found.why is not None:
            told["why_undecided"] = found.why
        return told if self.rows is None else told | {"rows": _rows_dict(self.rows)}

    def lines(self) -> Iterator[str]:
        """The same for people."""
        found = self.given
        count = plural(len(found.constraints), "constraint")
        if not found.can_be_met:
            yield f"  given: {count}, which cannot be met: {found.contradiction}"
            return
        if found.constraints:
            yield f"  given: {count}, which {'can be met' if len(found.constraints) == 1 else 'can be met together'}"
        for text in found.constraints[:MOST_SHOWN]:
            remarks = "; ".join(self._remarks(text))
            yield f"    {brief(text, _LONG)}" + (f" ({remarks})" if remarks else "")
        if len(found.constraints) > MOST_SHOWN:
            yield "    …"
        if found.conditions:
            yield f"  within: {brief('; '.join(found.conditions), 4 * _LONG)}"
        if found.impossible:
            yield f"  no possible world is decided: {listed(found.impossible)}"
        elif not found.undecided:
            yield "  every class is possible"
        if found.undecided:
            yield f"  not known to be possible or not: {listed(found.undecided)}, as {found.why}"
        if self.rows is not None:
            yield from _rows_lines(self.rows)

    def _remarks(self, text: str) -> Iterator[str]:
        """What should be known of a constraint."""
        if text in self.given.idle:
            yield "holds in every world"
        if text in self.given.implied:
            yield "the others imply it"
        if text in self.given.repeated:
            yield "said more than once"


def found(arguments: argparse.Namespace, classifier: Classifier) -> Findings:
    """What is found of the constraints that the model has and the arguments give, and of the rows that they name."""
    within = within_of(arguments, classifier.variables)
    given = checked(given_of(arguments), classifier.variables)
    with working("checking constraints"):
        about = check_given(classifier, given, within=within, timeout=arguments.timeout)
        rows = None
        if about.can_be_met and arguments.data is not None:
            rows = check_rows(classifier, _rows(arguments.data, classifier), given, within=within)
            if not rows.rows:
                raise FormatError("has no rows below the names of its columns", file=arguments.data)
    return Findings(about, rows)


def _rows(file: str, classifier: Classifier) -> Iterator[Mapping[str, str] | QuiaError]:
    """The rows of a table by column; where one has too many or too few values, what is wrong with it."""
    from quia.rows import open_rows

    table = open_rows(file)
    names = table.names_for([variable.name for variable in classifier.variables])
    for number, (line, row) in enumerate(table, 1):
        yield table.fault(number, line, row) or dict(zip(names, row, strict=True))


def _rows_dict(rows: CheckedRows) -> dict[str, Any]:
    return {
        "rows": rows.rows,
        "broken": rows.broken.rows,
        "first_broken": list(rows.broken.first),
        "by_constraint": [{"constraint": e.said, "rows": e.rows, "first": list(e.first)} for e in rows.each],
        "broken_together": rows.together.rows,
        "unreadable": rows.unreadable.rows,
        "first_unreadable": list(rows.unreadable.first),
        **({} if rows.fault is None else {"fault": rows.fault}),
        "absent_columns": list(rows.absent),
    }


def _rows_lines(rows: CheckedRows) -> Iterator[str]:
    readable = rows.rows - rows.unreadable.rows
    if not rows.broken.rows:
        yield f"  rows: none of {readable:,} breaks what is given"
    else:
        breaks = "breaks" if rows.broken.rows == 1 else "break"
        yield f"  rows: {rows.broken.rows:,} of {readable:,} {breaks} what is given {_numbers(rows.broken)}"
    for each in rows.each:
        yield f"    {brief(each.said, _LONG)}: {plural(each.rows, 'row')} {_numbers(each)}"
    if rows.together.rows:
        yield f"    all together, whatever is missing: {plural(rows.together.rows, 'row')} {_numbers(rows.together)}"
    if rows.unreadable.rows:
        count = plural(rows.unreadable.rows, "row")
        yield f"  not read: {count} more {_numbers(rows.unreadable)}, the first as {rows.fault}"
    if rows.absent:
        yield f"  not in the table, so taken as unknown: {listed(rows.absent)}"


def _numbers(broken: Broken) -> str:
    """The numbers of rows, cut where there are more."""
    more = ", …" if broken.rows > len(broken.first) else ""
    return f"({', '.join(f'{number}' for number in broken.first)}{more})"
