"""What holds of every instance at all: a proof that something never happens, or a pair of instances that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quia.auditing.document import Pair, Proof, Values
from quia.auditing.subject import Subject
from quia.classifier import escape_within
from quia.contrast import Contrast, find_pair
from quia.errors import QuiaError
from quia.patience import Clock, OutOfTime
from quia.region import Region
from quia.variables import UNKNOWN


@dataclass(frozen=True, slots=True)
class Found:
    """Whether a pair `can` be: the states of `one` and the `other`; or a row of the table, by its place, and changes.

    None is not known, and `why` says why.
    """

    can: bool | None
    one: tuple[int, ...] = ()
    other: tuple[int, ...] = ()
    row: int | None = None
    changes: tuple[tuple[int, int], ...] = ()
    why: str | None = None


def found_pair(subject: Subject, contrast: Contrast, clock: Clock) -> Found:
    """A pair of possible instances that a contrast asks for, or the proof that there is none."""
    seconds = clock.left
    try:
        pair = find_pair(subject.terms, contrast, clock)
    except OutOfTime:
        return Found(
            None, why=f"its {seconds:.3g} seconds were not enough" if (seconds or 0.0) >= 0.01 else "time ran out"
        )
    except QuiaError as fault:
        return Found(None, why=str(fault))
    if pair is None:
        return Found(False)
    one, other = (_filled(subject, states) for states in pair)
    return Found(True, one, other)


def _filled(subject: Subject, states: Sequence[int]) -> tuple[int, ...]:
    """An instance in which what may be anything is the first that is possible."""
    possible = subject.terms.worlds.possible
    return tuple(possible.states(v)[0][0] if state == UNKNOWN else state for v, state in enumerate(states))


def changed_row(subject: Subject, row: int, changing: Sequence[int], clock: Clock) -> Found | None:
    """A row that is decided otherwise if only some variables change; None if it is not, or not certainly."""
    terms, states = subject.terms, subject.rows.states[row].tolist()
    others = [v for v in terms.classifier.tested if v not in changing]
    question = terms.question(states, int(subject.rows.decision[row]))
    try:
        found = escape_within(terms.classifier, question, Region.at(terms.variables, states, others), clock)
    except (OutOfTime, QuiaError):
        return None
    if found is None or any(states[v] == UNKNOWN for v in terms.classifier.tested):
        return None
    return Found(True, row=row, changes=tuple((v, int(found[v])) for v in changing if found[v] != states[v]))


def proof_told(subject: Subject, found: Found, values: Mapping[int, Values]) -> Proof:
    """What was found, with instances as values; `values` are those of rows by their numbers."""
    return Proof(found.can, pair_told(subject, found, values) if found.can else None, found.why)


def pair_told(subject: Subject, found: Found, values: Mapping[int, Values]) -> Pair:
    """The two instances of what was found."""
    if found.row is None:
        one, other = found.one, found.other
        differing = [v for v in subject.terms.classifier.tested if one[v] != other[v]]
        first, second = subject.instance(one), subject.instance(other)
    else:
        one = tuple(subject.rows.states[found.row].tolist())
        first, second = changed_values(subject, found.row, found.changes, values)
        other = tuple(dict(found.changes).get(v, state) for v, state in enumerate(one))
        differing = [v for v, _ in found.changes]
    classifier = subject.terms.classifier
    decisions = classifier.classes[classifier.decide(one)], classifier.classes[classifier.decide(other)]
    return Pair(first, second, tuple(subject.variables[v].name for v in differing), decisions)


def changed_values(
    subject: Subject, row: int, changes: Sequence[tuple[int, int]], values: Mapping[int, Values]
) -> tuple[Values, Values]:
    """What the table has of a row, but only of features, and the same with some of them changed."""
    told = values[int(subject.rows.first[row])]
    one = {name: value for name, value in told.items() if name in subject.index}
    return one, {**one, **{subject.variables[v].name: subject.value(v, state) for v, state in changes}}


def rows_of(found: Sequence[Found]) -> set[int]:
    """The rows that pairs begin with, by their places."""
    return {each.row for each in found if each.row is not None}
