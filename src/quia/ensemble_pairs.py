"""Two instances that one variable tells apart and that an ensemble decides in two ways: found, or proved not to be.

Let the variable have the states s and t. A tree that does not tell these apart has the same leaf for both instances; any
other one has two. So both instances together are one point of an ensemble over the other variables, whose leaves have
two numbers, and which has two classes (`Ensemble.paired` in the kernel): the search for another decision finds the pair.
Only the trees that tell s from t can make a difference, and only in leaves where they differ in the way that it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.contrast import Contrast, Pair
from quia.errors import Unsupported
from quia.patience import Clock, OutOfTime
from quia.ranges import covers, members
from quia.region import Region

if TYPE_CHECKING:
    from quia.ensemble import Ensemble

Ints32 = npt.NDArray[np.int32]
Relation = npt.NDArray[np.bool_]
"""Which pairs of classes are looked for: a row for the class of the first instance, a column for that of the second."""

TRIED = 64
"""How many instances are tried before anything is proved."""


class _Step(NamedTuple):
    """Two states of a variable, and the pairs of classes that are looked for between them."""

    first: int
    second: int
    asked: Relation


def find_pair(ensemble: Ensemble, contrast: Contrast, possible: Region, clock: Clock) -> Pair | None:
    """Two possible instances as the contrast wants them; None if there are none, OutOfTime if that takes too long.

    That several variables change is answered by each of them alone: two instances are led into each other one variable
    at a time, so that some step makes a difference if all of them do. That takes that no two steps that make none make
    one together, as it is for any two different classes, or for a better and a worse one; else it is Unsupported.
    """
    count = len(ensemble.classes)
    asked = np.zeros((count, count), np.bool_)
    for first, second in contrast.classes:
        asked[first, second] = True
    changing = [v for v in dict.fromkeys(contrast.changing) if v in ensemble.tested or asked.diagonal().any()]
    if possible.is_empty or not changing or not asked.any():
        return None
    if len(changing) > 1 and not _is_shown_by_steps(asked):
        names = " and ".join(ensemble.variables[v].name for v in changing)
        raise Unsupported(f"pairs of some classes, as {names} change together", cure="ask about each of them alone")
    search = _Search(ensemble, possible, clock)
    plans = [(v, list(_steps(ensemble, contrast, v, asked, possible))) for v in changing]
    for variable, steps in plans:
        if (found := search.tried(variable, steps)) is not None:
            return found
    for variable, steps in plans:
        for step in steps:
            if (found := search.between(variable, step)) is not None:
                return found
    return None


def _is_shown_by_steps(asked: Relation) -> bool:
    """Whether a pair of classes that is asked for, led from one to the other in steps, has one in some step.

    >>> any_two, falls = ~np.eye(3, dtype=bool), np.tri(3, k=-1, dtype=bool)
    >>> _is_shown_by_steps(any_two), _is_shown_by_steps(falls), _is_shown_by_steps(np.eye(3, k=2, dtype=bool))
    (True, True, False)
    """
    others = ~asked
    return bool(others.diagonal().all()) and not ((others.astype(int) @ others.astype(int) > 0) & asked).any()


def _steps(
    ensemble: Ensemble, contrast: Contrast, variable: int, asked: Relation, possible: Region
) -> Iterator[_Step]:
    """The pairs of states that have to be looked at: neighbours, where these show what others do."""
    allowed = possible.states(variable)
    states = [s for s in contrast.order or () if covers(allowed, s)]
    if contrast.order is None:
        states = list(members(allowed))
        # Either of the two instances may have either state.
    answers = _answers(ensemble, variable)
    is_short = _is_shown_by_steps(asked)
    for first, second in pairwise(states) if is_short else combinations(states, 2):
        if asked.diagonal().any() or (answers[:, first] != answers[:, second]).any():
            yield _Step(first, second, asked)
            if contrast.order is None and (asked != asked.T).any():
                yield _Step(second, first, asked)


def _answers(ensemble: Ensemble, variable: int) -> npt.NDArray[np.bool_]:
    """A row for each test of a variable that is asked: which states it answers with yes."""
    trees = ensemble.trees
    tests = np.unique(trees.test[trees.test >= 0])
    tests = tests[trees.variable[tests] == variable]
    answers = np.zeros((len(tests), ensemble.variables[variable].size), np.bool_)
    for row, test in enumerate(tests.tolist()):
        for i in range(int(trees.range_start[test]), int(trees.range_start[test + 1])):
            answers[row, int(trees.low[i]) : int(trees.high[i]) + 1] = True
    return answers


class _Search:
    def __init__(self, ensemble: Ensemble, possible: Region, clock: Clock) -> None:
        self.ensemble = ensemble
        self.possible = possible
        self.clock = clock

    def between(self, variable: int, step: _Step) -> Pair | None:
        """A pair with these two states, by the kernel; None if there is none."""
        self.clock()
        ensemble, possible = self.ensemble, self.possible.replaced({variable: ((step.first, step.first),)})
        try:
            both = ensemble.kernel.paired(variable, step.first, step.second, timeout=self.clock.left)
            unknown = np.full(len(ensemble.variables), -1, np.int32)
            inquiry = _kernel.Inquiry(both, unknown, (~step.asked).astype(np.uint8).ravel())
            found = inquiry.escape(*possible.flat, timeout=self.clock.left)
        except _kernel.OverBudget:
            raise OutOfTime from None
        if found is None:
            return None
        return _pair(found, variable, step)

    def tried(self, variable: int, steps: Sequence[_Step]) -> Pair | None:
        return None

def _pair(states: Sequence[int], variable: int, step: _Step) -> Pair:
    one, other = ([*states[:variable], state, *states[variable + 1 :]] for state in (step.first, step.second))
    return one, other
