"""A progress bar with an estimate, on a terminal; a line now and then where stderr is none."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

_WIDTH = 28
_EVERY = 0.1
_EVERY_LINE = 30.0
_EIGHTHS = " ▏▎▍▌▋▊▉█"


class Bar:
    """How much of some work is done. `total` and steps are in any unit, best one that takes even time."""

    def __init__(self, total: float, *, stream: TextIO | None = None) -> None:
        self.total, self.done = max(total, 1e-9), 0.0
        self.stream = stream if stream is not None else sys.stderr
        self.live = self.stream.isatty()
        self.started = self.shown = time.monotonic()
        self.before = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def skip(self, steps: float) -> None:
        """Steps that were done before and take no time now."""
        self.done += steps
        self.before += steps

    def step(self, steps: float = 1, on: str = "") -> None:
        """Some steps done, the last of them on this."""
        self.done += steps
        now = time.monotonic()
        if now - self.shown < (_EVERY if self.live else _EVERY_LINE):
            return
        self.shown = now
        text = self.text(now - self.started, on)
        self.stream.write(f"\r{text}\x1b[K" if self.live else f"{text}\n")
        self.stream.flush()

    def text(self, elapsed: float, on: str = "") -> str:
        """The bar in words.

        >>> bar = Bar(8)
        >>> bar.done = 2
        >>> bar.text(10, "adult")
        '███████                      25 % · 10 s · about 30 s more · adult'
        """
        share = min(self.done / self.total, 1)
        eighths = round(share * _WIDTH * 8)
        filled = "█" * (eighths // 8) + _EIGHTHS[eighths % 8]
        now_done = self.done - self.before
        left = f"about {_span(elapsed * (self.total - self.done) / now_done)} more" if now_done else "…"
        parts = [f"{filled:<{_WIDTH}.{_WIDTH}} {100 * share:.0f} %", _span(elapsed), left, on]
        return " · ".join(part for part in parts if part)


def _span(seconds: float) -> str:
    seconds = max(seconds, 0)
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
