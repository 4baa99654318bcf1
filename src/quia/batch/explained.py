"""What is known of the rows of a table: the answers of its distinct rows, each region once, spread over all rows."""

from __future__ import annotations

from dataclasses import dataclass

from quia.batch.answers import Answers, Numbers
from quia.batch.coverage import Coverage
from quia.batch.lists import Bools, Ints, Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.superfluous import SUPERFLUOUS


@dataclass(frozen=True, slots=True)
class Explained:
    """As `Answers`, but that lists of regions are `listed`, each distinct region once; `lists` are of single states."""

    decision: Ints
    complete: Bools
    lists: dict[str, Lists]
    listed: dict[str, Listed]
    numbers: dict[str, Numbers]

    @staticmethod
    def of(answers: Answers, request: Request, coverage: Coverage | None) -> Explained:
        """Answers in order, with regions found and, if asked for, counted."""
        listed = {name: lists.distinct() for name, lists in answers.lists.items() if isinstance(lists, Listed)}
        if coverage is not None:
            for name, most in request.limits.items():
                listed[name] = listed[name].counted(coverage.rows_of(listed[name].regions)).at_most(most)
        single = {name: lists for name, lists in answers.lists.items() if isinstance(lists, Lists)}
        for name in request.marked:
            if name in listed:
                listed[name] = listed[name].last(listed[name].labels == SUPERFLUOUS)
            else:
                single[name] = single[name].last(single[name].labels == SUPERFLUOUS)
        return Explained(answers.decision, answers.complete, single, listed, answers.numbers)

    def take(self, rows: Ints) -> Explained:
        """What is known of these rows, in this order."""
        return Explained(
            self.decision[rows],
            self.complete[rows],
            {name: lists.take(rows) for name, lists in self.lists.items()},
            {name: listed.take(rows) for name, listed in self.listed.items()},
            {name: numbers.take(rows) for name, numbers in self.numbers.items()},
        )
