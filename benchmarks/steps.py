"""How much of a benchmark's work is done, on quia's progress bar."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from quia.command.progress import Bar

_LINE_EVERY = 30.0
"""Seconds between lines where stderr is no terminal: a run of hours leaves a trace in its log."""


class Steps:
    """Work of `total` steps, in any unit, best one that takes even time."""

    def __init__(self, total: float) -> None:
        self.total, self.before, self.now = total, 0.0, 0.0
        self._started = time.monotonic()
        self._bar = Bar(unit="", line_every=_LINE_EVERY)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._bar.__exit__(kind, fault, at)

    def skip(self, steps: float) -> None:
        """Steps that were done before and take no time now."""
        self.before += steps

    def step(self, steps: float = 1, on: str = "") -> None:
        """Some steps done, the last of them on this."""
        self.now += steps
        self._bar.show((self.now, self.before, self.total, time.monotonic() - self._started), on)
