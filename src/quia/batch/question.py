"""Questions: what is asked of every row of a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quia.costs import Costs, exact_costs
from quia.errors import InstanceError, did_you_mean, listed, shown

if TYPE_CHECKING:
    from quia.classifier import Classifier

Kind = Literal["necessary", "sufficient"]
KINDS: tuple[Kind, ...] = ("necessary", "sufficient")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every row: made by `ask`, in indices of the classifier's variables and classes.

    `shortest` are the kinds of shortest reasons, the first `limit` of them; `all_reasons` and `counterfactuals` are
    how many of those to list, 0 for none.
    """

    against: int = -1
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None
    shortest: tuple[Kind, ...] = KINDS
    limit: int = 10
    all_reasons: int = 0
    counts: bool = False
    counterfactuals: int = 0
    protected: tuple[int, ...] = ()
    timeout: float | None = None
    threads: int = 1


def ask(
    classifier: Classifier,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
    shortest: Collection[Kind] = KINDS,
    limit: int = 10,
    all_reasons: int = 0,
    counts: bool = False,
    counterfactuals: int = 0,
    protected: Collection[str] = (),
    timeout: float | None = None,
    threads: int | None = None,
) -> Question:
    """A question whose parts fit the classifier."""
    if against is not None and against not in classifier.classes:
        raise InstanceError(
            f"against is {shown(against)}; the classes are {listed(classifier.classes)}"
            f"{did_you_mean(against, classifier.classes)}"
        )
    for kind in shortest:
        if kind not in KINDS:
            raise InstanceError(f"shortest names {shown(kind)}; the kinds of reasons are {listed(KINDS)}")
    if timeout is not None and (not isinstance(timeout, (int, float)) or not timeout >= 0):
        raise InstanceError(f"timeout is {shown(timeout)}; it is a number of seconds a row, or None for no limit")
    return Question(
        against=-1 if against is None else classifier.classes.index(against),
        frozen=_features(classifier, frozen, "frozen"),
        costs=None if costs is None else exact_costs(classifier.variables, costs),
        shortest=tuple(kind for kind in KINDS if kind in shortest),
        limit=_whole(limit, "limit"),
        all_reasons=_whole(all_reasons, "all_reasons"),
        counts=bool(counts),
        counterfactuals=_whole(counterfactuals, "counterfactuals"),
        protected=_features(classifier, protected, "protected"),
        timeout=timeout,
        threads=threads or os.cpu_count() or 1,
    )


def _features(classifier: Classifier, names: Collection[str], option: str) -> tuple[int, ...]:
    if isinstance(names, str):
        raise InstanceError(f"{option} is the text {shown(names)}; give a list of features")
    index = {v.name: i for i, v in enumerate(classifier.variables)}
    for name in names:
        if name not in index:
            raise InstanceError(f"{option} is {shown(name)}, which is no feature{did_you_mean(name, index)}")
    return tuple(sorted({index[name] for name in names}))


def _whole(number: int, option: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InstanceError(f"{option} is {shown(number)}; it is a whole number from 0 on")
    return number
