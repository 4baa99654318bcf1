"""Two instances that one variable tells apart and that an ensemble decides in two ways: found, or proved not to be.

Let the variable have the states s and t. A tree that does not tell these apart has the same leaf for both instances,
any other one has two. So both instances together are one point of an ensemble over the other variables, whose leaves
have two numbers, and which has two classes (`Ensemble.paired` in the kernel): the search for another decision finds the
pair. Only trees that tell s from t can make a difference, and only in leaves where they do so in the right direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.errors import Unsupported
from quia.patience import Clock, OutOfTime
from quia.ranges import covers, members
from quia.region import Region
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    from quia.contrast import Contrast, Pair
    from quia.ensemble import Ensemble

"""Which pairs of classes are looked for: a row for the class of the first instance, a column for that of the second."""

MORE_EFFORT = 8
"""How many times more effort each next round takes, so that all rounds before are little of the work."""


class _Step(NamedTuple):
    """A variable, and its states for two instances that are alike else."""

    variable: int
    first: int
    second: int

    def pair(self, states: Sequence[int]) -> Pair:
        """The two instances that have these states else."""
        before, after = states[: self.variable], states[self.variable + 1 :]
        return [*before, self.first, *after], [*before, self.second, *after]


def find_pair(ensemble: Ensemble, contrast: Contrast, possible: Region, clock: Clock) -> Pair | None:
    """Two possible instances as the contrast wants them; None if there are none, OutOfTime if time ends before.

    That several variables change is answered by each of them alone: two instances are led into each other one variable
    at a time, and some step has classes that are asked for. Where that need not be, it is Unsupported.
    """
    count = len(ensemble.classes)
    asked = np.zeros((count, count), np.bool_)
    for first, second in contrast.classes:
        asked[first, second] = True
    changing = [v for v in contrast.changing if v in ensemble.tested]
    if possible.is_empty:
        return None
    if len(changing) > 1 and not contrast.is_stepwise(count):
        names = " and ".join(ensemble.variables[v].name for v in changing)
        raise Unsupported(f"pairs of just some classes, as {names} change together", cure="ask about each alone")
    steps = [step for v in changing for step in _steps(ensemble, contrast, v, possible)]
    return _first_found(ensemble, steps, (~asked).astype(np.uint8).ravel(), possible, clock)


def _first_found(
    ensemble: Ensemble, steps: Sequence[_Step], keeps: npt.NDArray[np.uint8], possible: Region, clock: Clock
) -> Pair | None:
    """A pair for one of the steps, with little effort for each of them before there is more for any."""
    unknown = np.full(len(ensemble.variables), UNKNOWN, np.int32)
    effort = 0
    while steps:
        is_open = []
        for step in steps:
            clock()
            try:
                both = ensemble.kernel.paired(*step, timeout=clock.left)
                box = possible.replaced({step.variable: ((step.first, step.first),)})
                inquiry = _kernel.Inquiry(both, unknown, keeps)
                found, is_settled = inquiry.attempt(effort, *box.flat, timeout=clock.left)
            except _kernel.OverBudget:
                raise OutOfTime from None
            if found is not None:
                return step.pair(found)
            if not is_settled:
                is_open.append(step)
        steps = is_open
        effort = max(1, effort * MORE_EFFORT)
    return None


def _steps(ensemble: Ensemble, contrast: Contrast, variable: int, possible: Region) -> Iterator[_Step]:
    """The states of a variable that have to be looked at: neighbours, where these show what others do."""
    allowed, order = possible.states(variable), contrast.order
    states = list(members(allowed)) if order is None else [state for state in order if covers(allowed, state)]
    answers = _answers(ensemble, variable)
    is_one_way = any((b, a) not in contrast.classes for a, b in contrast.classes)
    is_stepwise = contrast.is_stepwise(len(ensemble.classes))
    for first, second in pairwise(states) if is_stepwise else combinations(states, 2):
        if (answers[:, first] != answers[:, second]).any():
            yield _Step(variable, first, second)
            if order is None and is_one_way:  # either instance may have either state
                yield _Step(variable, second, first)


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
