"""Constraints of a model's own: checked when they are given to it, and written and read with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from quia.classifier import Classifier
from quia.errors import FormatError, GraphError, InstanceError, QuiaError, TooLarge, Unsupported, shown
from quia.formula import Formula, equivalent, parse_all
from quia.given import as_constraints, bare, compiled, constraints_of
from quia.variables import Variable
from quia.worlds import worlds_of

C = TypeVar("C", bound=Classifier)

MOST_CONSTRAINTS = 10_000
"""How many constraints a model may have."""
MOST_LETTERS = 1_000_000
"""How long they may be together."""


def with_given(classifier: C, given: Any) -> C:
    """The classifier with these constraints beside its own; InstanceError if they do not fit it or contradict.

    >>> from quia.graph import DecisionGraph
    >>> known = [Variable.nominal(name, ["no", "yes"]) for name in ("pregnant", "female")]
    >>> graph = DecisionGraph.build(known, ["any"], [-1], [0], [()])
    >>> with_given(graph, "pregnant -> female").given
    ('pregnant -> female',)
    """
    constraints = constraints_of(classifier, given)
    if not constraints:
        return classifier
    check_each(as_constraints(given), classifier.variables)
    own: Any = classifier
    takes_some = is_dataclass(own) and "given" in {field.name for field in fields(own)}
    if not takes_some:
        raise Unsupported(
            f"a {type(classifier).__name__} takes no constraints", cure="give them with each question, with given="
        )
    made: C = replace(own, given=constraints)
    worlds_of(made)  # refuses what cannot be met, and is kept for the first question
    return made


def check_each(given: Sequence[str | Formula], variables: Sequence[Variable], *, of: str = "given") -> None:
    """Raise InstanceError unless each constraint can be read over these variables, TooLarge if they are."""
    refuse_many(given)
    known = [bare(variable) for variable in variables]
    for each in given:
        try:
            parse_all([each], known)
        except FormatError as fault:
            raise InstanceError(f"{of} has {shown(str(each))}, which cannot be read: {fault}") from None


def refuse_many(given: Iterable[str | Formula]) -> None:
    """Raise TooLarge where reading constraints could take long."""
    texts = [each for each in given if isinstance(each, str)]
    if len(texts) > MOST_CONSTRAINTS:
        raise TooLarge(
            f"there are {len(texts):,} constraints; give at most {MOST_CONSTRAINTS:,}", limit=MOST_CONSTRAINTS
        )
    if sum(map(len, texts)) > MOST_LETTERS:
        raise TooLarge(f"the constraints have more than {MOST_LETTERS:,} letters; give fewer", limit=MOST_LETTERS)


def read_given(data: Any, variables: Sequence[Variable]) -> tuple[str, ...]:
    """The constraints in a model's JSON; every fault is a GraphError."""
    if not isinstance(data, (list, tuple)):
        raise GraphError(f"'given' is {shown(data)}; it must be a list of constraints such as 'a=yes -> b > 3'")
    for each in data:
        if not isinstance(each, str):
            raise GraphError(f"'given' has {shown(each)}; a constraint is a string such as 'a=yes -> b > 3'")
    texts = tuple(dict.fromkeys(data))
    try:
        check_each(texts, variables, of="'given'")
    except InstanceError as fault:
        raise GraphError(str(fault)) from None
    except TooLarge as fault:
        raise GraphError(f"'given': {fault}") from None
    try:
        compiled(variables, texts)
    except QuiaError as fault:
        raise GraphError(f"'given': {fault}") from None
    return texts


def written_given(given: Any, variables: Sequence[Variable]) -> list[str]:
    """Constraints as the texts that are read as the same ones, over these variables."""
    return [each if isinstance(each, str) else _text(each, variables) for each in as_constraints(given)]


def _text(formula: Formula, variables: Sequence[Variable]) -> str:
    text = str(parse_all([formula], variables)[0])
    if len(text) > MOST_LETTERS or not equivalent(*parse_all([formula, text], variables)):
        raise Unsupported(
            f"the constraint {shown(text)} cannot be written as a text of up to {MOST_LETTERS:,} letters",
            cure="give it as a text, or as several smaller formulas",
        )
    return text
