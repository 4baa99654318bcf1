"""The steps of an audit: each has its share of the time, and a run that goes on with an earlier one does none again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any, TypeVar

from quia.auditing.reading import plain, read_as
from quia.batch.journal import Journal
from quia.errors import QuiaError
from quia.patience import Clock

T = TypeVar("T")

Progress = Callable[[tuple[float, float, float | None, float], str], None]
"""Told how much is done now and was before, of how much, after how many seconds, and what comes next."""


@dataclass(eq=False)
class Steps:
    """Steps with weights, by which they share the time; what one does not need the later ones have.

    `weights` are those of the steps still to come, by name. Results are dataclasses, kept in the journal if there is
    one.
    """

    clock: Clock
    weights: dict[str, float]
    journal: Journal | None = None
    progress: Progress | None = None
    _total: float = field(init=False)
    _before: float = 0.0
    _started: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self._total = sum(self.weights.values())

    def take(self, name: str, kind: type[T], work: Callable[[Clock], T]) -> T:
        """The result of a step, by an earlier run or by work in its share of the time."""
        left = sum(self.weights.values())
        weight = self.weights.pop(name)
        if self.journal is not None and name in self.journal.done:
            self._before += weight
            return read_as(kind, _whole(self.journal, name), name)
        if self.progress is not None:
            now = self._total - left - self._before
            self.progress((now, self._before, self._total, monotonic() - self._started), name)
        found = work(self.clock.share(weight / left) if left else self.clock)
        if self.journal is not None:
            done = plain(found)
            self.journal.write_done(name, {"found": done, "sha256": _digest(done)})
        return found

    def skip(self, name: str) -> None:
        """Leave a step out that turned out to need no work; the others have its time."""
        self._before += self.weights.pop(name)


def _whole(journal: Journal, name: str) -> Any:
    """What an earlier run has found in a step, if the journal still says what was written."""
    entry = journal.done[name]
    if entry.get("sha256") != _digest(entry.get("found")):
        raise QuiaError(f"{journal.path} is damaged: of {name!r} it is not what was written; begin anew with --restart")
    return entry["found"]


def _digest(found: Any) -> str:
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
