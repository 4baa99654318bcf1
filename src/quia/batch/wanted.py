"""The columns of a table that answers are made of: those that must be there, and those that are read if they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quia.constrained import Constrained
from quia.errors import InstanceError, did_you_mean

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.worlds import Worlds


class Wanted(NamedTuple):
    """Names of columns: those that are `needed`, each with what needs it, and those that are only `welcome`."""

    needed: dict[str, str]
    welcome: tuple[str, ...]

    @staticmethod
    def of(classifier: Classifier, worlds: Worlds | None = None) -> Wanted:
        """What a classifier tests, and what is said of possible worlds; where only a constraint asks, it is welcome."""
        names = [variable.name for variable in classifier.variables]
        model = classifier.model if isinstance(classifier, Constrained) else classifier
        needed = {names[v]: "the classifier tests" for v in model.tested}
        welcome = [names[v] for v in classifier.tested]
        if worlds is not None and not worlds.are_all:
            needed |= {names[v]: "near speaks of" for v, _ in worlds.near if names[v] not in needed}
            welcome += [names[v] for v in worlds.spoken_of]
        return Wanted(needed, tuple(name for name in dict.fromkeys(welcome) if name not in needed))

    def among(self, names: Sequence[str]) -> list[str]:
        """Those that are read of a table with these columns."""
        return [*self.needed, *(name for name in self.welcome if name in names)]

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks one that is needed, or has one twice."""
        for name in self.among(names):
            if names.count(name) != 1:
                raise InstanceError(
                    f"the table has {'no column' if name not in names else 'more than one column'} {name!r}, which"
                    f" {self.needed.get(name, 'a constraint speaks of')}"
                    f"{did_you_mean(name, names) if name not in names else ''}"
                )
