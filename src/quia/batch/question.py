"""Questions: what is asked of every row of a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quia.arguments import feature_indices, flag, seconds, several, whole
from quia.classifier import loaded
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
    classifier = loaded(classifier)
    kinds = several(shortest, "shortest", f"kinds: {listed(KINDS)}")
    index = {v.name: i for i, v in enumerate(classifier.variables)}
    if against is not None and against not in classifier.classes:
        raise InstanceError(
            f"against is {shown(against)}; the classes are {listed(classifier.classes)}"
            f"{did_you_mean(against, classifier.classes)}"
        )
    for kind in kinds:
        if kind not in KINDS:
            raise InstanceError(f"shortest names {shown(kind)}; the kinds of reasons are {listed(KINDS)}")
    return Question(
        against=-1 if against is None else classifier.classes.index(against),
        frozen=feature_indices(index, frozen, "frozen"),
        costs=None if costs is None else exact_costs(classifier.variables, costs),
        shortest=tuple(kind for kind in KINDS if kind in kinds),
        limit=whole(limit, "limit"),
        all_reasons=whole(all_reasons, "all_reasons"),
        counts=flag(counts, "counts"),
        counterfactuals=whole(counterfactuals, "counterfactuals"),
        protected=feature_indices(index, protected, "protected"),
        timeout=seconds(timeout, " a row"),
        threads=(0 if threads is None else whole(threads, "threads")) or os.cpu_count() or 1,
    )
