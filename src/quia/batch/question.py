"""What is asked of every row of a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.arguments import feature_indices, flag, seconds, several, whole
from quia.asking import Terms
from quia.classifier import loaded
from quia.errors import InstanceError, listed, shown
from quia.reason import KINDS, Kind
from quia.worlds import NO_WORLDS, Worlds

if TYPE_CHECKING:
    from quia.classifier import Classifier

NO_TERMS = Terms((), NO_WORLDS)


@dataclass(frozen=True, slots=True)
class Request:
    """What is computed for every row: made by `ask`, in indices of the classifier's variables and classes.

    `shortest` are the kinds of shortest reasons, the first `limit` of them; `all_reasons` and `counterfactuals` are
    how many of those to list, 0 for none. With `general`, reasons are general ones, with numbers as intervals, and
    limits count these; with `coverage`, each is counted in the rows of a reference table, and the widest of several
    is the one that fits most of them; with `superfluous`, sufficient reasons that another one implies are marked.
    """

    terms: Terms = NO_TERMS
    shortest: tuple[Kind, ...] = KINDS
    general: bool = True
    coverage: bool = False
    limit: int = 10
    all_reasons: int = 0
    counts: bool = False
    counterfactuals: int = 0
    protected: tuple[int, ...] = ()
    superfluous: bool = False
    timeout: float | None = None
    threads: int = 1

    @property
    def costs(self) -> npt.NDArray[np.int64] | None:
        """What changing each variable costs, as the kernel takes it."""
        return None if self.terms.costs is None else np.array(self.terms.costs.whole, np.int64)

    @property
    def worlds(self) -> Worlds:
        """The worlds that count."""
        return self.terms.worlds

    def answering(self, classifier: Classifier) -> Classifier:
        """The classifier that answers in the worlds that count, for the one that the request was made for."""
        return classifier if self.terms is NO_TERMS else self.terms.classifier

    @property
    def tells_vacuous(self) -> bool:
        """Whether decisions that are not biased may be so only because no possible world could show it."""
        return bool(self.protected) and not self.worlds.are_all

    @property
    def marked(self) -> tuple[str, ...]:
        """The columns whose superfluous reasons are marked."""
        every = [*(["shortest_sufficient"] if "sufficient" in self.shortest else []), "sufficient_reasons"]
        return tuple(name for name in every if self.superfluous and name in self.limits)

    @property
    def limits(self) -> dict[str, int]:
        """How many reasons each column lists at most."""
        limits = {f"shortest_{kind}": self.limit for kind in self.shortest}
        if self.all_reasons:
            limits |= {f"{kind}_reasons": self.all_reasons for kind in KINDS}
        if self.protected:
            limits["bias_reasons"] = max(self.limit, 1)
        return limits

    def identity(self) -> dict[str, Any]:
        """All that makes the answers what they are, as JSON can hold it."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("terms", "threads")}
        terms = self.terms
        costs = None if terms.costs is None else [str(each) for each in terms.costs]
        told = {"against": terms.against, "frozen": terms.frozen, "costs": costs, "possible": list(terms.worlds.told)}
        return {**plain, **told}


def ask(
    classifier: Classifier,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
    shortest: Collection[Kind] = KINDS,
    general: bool = True,
    coverage: bool = False,
    limit: int = 10,
    all_reasons: int = 0,
    counts: bool = False,
    counterfactuals: int = 0,
    protected: Collection[str] = (),
    superfluous: bool = False,
    timeout: float | None = None,
    threads: int | None = None,
    **worlds: Any,
) -> Request:
    """What fits the classifier, of what is asked for; `worlds` as for `worlds_of`."""
    classifier = loaded(classifier)
    kinds = several(shortest, "shortest", f"kinds: {listed(KINDS)}")
    terms = Terms.of(classifier, against=against, frozen=frozen, costs=costs, **worlds)
    index = {v.name: i for i, v in enumerate(terms.variables)}
    for kind in kinds:
        if kind not in KINDS:
            raise InstanceError(f"shortest names {shown(kind)}; the kinds of reasons are {listed(KINDS)}")
    if flag(coverage, "coverage") and not flag(general, "general"):
        raise InstanceError(
            "coverage is asked for with general=False; only general reasons are counted in the rows of the table: leave"
            " one of the two out"
        )
    if coverage and terms.worlds.near:
        raise InstanceError(
            "coverage is asked for with near, where each row cuts its numbers at the ends of its own neighbourhood;"
            " leave one of the two out"
        )
    return Request(
        terms,
        shortest=tuple(kind for kind in KINDS if kind in kinds),
        general=flag(general, "general"),
        coverage=coverage,
        limit=whole(limit, "limit"),
        all_reasons=whole(all_reasons, "all_reasons"),
        counts=flag(counts, "counts"),
        counterfactuals=whole(counterfactuals, "counterfactuals"),
        protected=feature_indices(index, protected, "protected"),
        superfluous=flag(superfluous, "superfluous"),
        timeout=seconds(timeout, " a row"),
        threads=(0 if threads is None else whole(threads, "threads")) or os.cpu_count() or 1,
    )
