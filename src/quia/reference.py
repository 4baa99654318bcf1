"""Reference tables: rows that a classifier could be asked about, to count how many of them a reason fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.literal import Literal
from quia.look import counted, tagged
from quia.ranges import Ranges
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier


@dataclass(frozen=True, eq=False)
class Reference:
    """Encoded rows, each distinct one once, and how often it is there. A value that is not known fits no condition.

    `extents` are the least and the greatest number of each column of numbers, where these are known.
    """

    variables: tuple[Variable, ...]
    rows: npt.NDArray[Any] = field(repr=False)
    repeats: npt.NDArray[np.int64] = field(repr=False)
    extents: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(
        variables: Iterable[Variable],
        rows: npt.NDArray[Any],
        extents: Mapping[str, tuple[float, float]] | None = None,
    ) -> Reference:
        """The reference with these encoded rows.

        >>> sex = Variable.nominal("sex", ["F", "M"])
        >>> people = Reference.of([sex], np.array([[0], [1], [0]], np.int32))
        >>> len(people), people.fitting([Literal(sex, ((0, 0),))])
        (3, 2)
        """
        distinct, repeats = np.unique(rows, axis=0, return_counts=True)
        return Reference(tuple(variables), np.asfortranarray(distinct), repeats.astype(np.int64), extents or {})

    @staticmethod
    def of_table(classifier: Classifier, data: Any) -> Reference:
        """The rows of a DataFrame, an Arrow table, a list of mappings or an array, as a classifier's states.

        `explain` takes it as its `data`, for many instances, so that the table is looked at once.
        """
        from quia.batch.reference import reference

        return reference(classifier, data)

    def __len__(self) -> int:
        return int(self.repeats.sum())

    def __repr__(self) -> str:
        rows, distinct = counted(len(self), "row"), f"{len(self.rows):,} distinct"
        return tagged("Reference", rows, distinct, counted(len(self.variables), "feature"))

    def fitting(self, literals: Iterable[Literal]) -> int:
        """In how many rows all these literals hold. Complexity: a look at each distinct row for each literal."""
        fits = np.ones(len(self.rows), bool)
        names = {variable.name: index for index, variable in enumerate(self.variables)}
        for literal in literals:
            fits &= admitting(literal.variable, literal.ranges, self.rows[:, names[literal.feature]])
        return int(self.repeats[fits].sum())


def admitting(variable: Variable, ranges: Ranges, states: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which of some states of a variable are in these ranges; one that is not known, -1, is in none."""
    if variable.is_line:
        return np.asarray(np.any([(low <= states) & (states <= high) for low, high in ranges], axis=0), bool)
    admitted = np.zeros(variable.size + 1, bool)  # the last place is that of what is not known
    for low, high in ranges:
        admitted[low : high + 1] = True
    return np.asarray(admitted[states.astype(np.intp, copy=False)])
