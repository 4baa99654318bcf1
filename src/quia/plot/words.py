"""The sentences above plots of one decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quia.show.words import no_possible_change

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.question import AboutQuestion


def headline(asked: AboutQuestion) -> str:
    """What was decided, as a title."""
    against = "" if asked.against is None else f", not {asked.against}"
    return f"The model decided {asked.decision}{against}"


def nothing_changes(answer: Answer) -> str:
    """That a decision is constant."""
    if answer.question.told:
        return no_possible_change(answer)
    held = answer.decision if answer.against is None else f"not {answer.against}"
    given = ", with what is taken as given" if answer.frozen else ""
    return f"Nothing could change this: it is {held} whatever the features are{given}."
