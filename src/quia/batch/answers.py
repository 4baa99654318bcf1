"""Answers: what is known of many rows, in flat arrays that are cut, joined and put in order without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.batch.lists import Bools, Ints, Lists
from quia.batch.regions import Listed

LARGEST_COUNT = 10**38 - 1
"""What a decimal of 38 digits holds, which every engine can read."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number for every row: -1 where it is not known; those beyond 64 bits are in `large`, by row."""

    values: npt.NDArray[np.int64]
    large: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def of(numbers: Sequence[int | None]) -> Numbers:
        """These numbers; None is not known."""
        large = {row: number for row, number in enumerate(numbers) if number is not None and number >= 2**63}
        small = [-1 if number is None or row in large else number for row, number in enumerate(numbers)]
        return Numbers(np.array(small, np.int64), large)

    def beyond(self, most: int) -> list[int]:
        """The rows whose number is larger than this."""
        return [row for row, number in self.large.items() if number > most]

    def take(self, rows: Ints) -> Numbers:
        """The numbers of these rows, in this order."""
        if not self.large:
            return Numbers(self.values[rows])
        return Numbers(
            self.values[rows], {to: self.large[at] for to, at in enumerate(rows.tolist()) if at in self.large}
        )

    @staticmethod
    def join(parts: Sequence[Numbers]) -> Numbers:
        """One after the other."""
        large: dict[int, int] = {}
        begin = 0
        for part in parts:
            large.update({begin + row: number for row, number in part.large.items()})
            begin += len(part.values)
        return Numbers(np.concatenate([part.values for part in parts]), large)


@dataclass(frozen=True, slots=True)
class Answers:
    """The class of every row, its lists and numbers by the name of their column, and whether all could be found.

    Lists are of sets of single states, or of regions.
    """

    decision: Ints
    complete: Bools
    lists: dict[str, Lists | Listed]
    numbers: dict[str, Numbers]

    def __len__(self) -> int:
        return len(self.decision)

    @property
    def nbytes(self) -> int:
        """How much memory they take, about."""
        return 16 * len(self) * (1 + len(self.numbers)) + sum(part.nbytes for part in self.lists.values())

    def nothing(self) -> Answers:
        """The answers of one row of which nothing is known."""
        return Answers(
            np.full(1, -1, self.decision.dtype),
            np.zeros(1, bool),
            {name: part.nothing() for name, part in self.lists.items()},
            dict.fromkeys(self.numbers, Numbers(np.full(1, -1, np.int64))),
        )

    def take(self, rows: Ints) -> Answers:
        """The answers of these rows, in this order."""
        return Answers(
            self.decision[rows],
            self.complete[rows],
            {name: part.take(rows) for name, part in self.lists.items()},
            {name: part.take(rows) for name, part in self.numbers.items()},
        )

    @staticmethod
    def join(parts: Sequence[Answers]) -> Answers:
        """One after the other; all are answers to the same question."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        return Answers(
            np.concatenate([part.decision for part in parts]),
            np.concatenate([part.complete for part in parts]),
            {name: _joined([part.lists[name] for part in parts]) for name in first.lists},
            {name: Numbers.join([part.numbers[name] for part in parts]) for name in first.numbers},
        )


def _joined(parts: Sequence[Any]) -> Lists | Listed:
    """Lists of one kind, one after the other."""
    joined: Lists | Listed = type(parts[0]).join(parts)
    return joined
