"""A sign of life on the terminal while something takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from quia.batch.local import Progress

_AFTER = 1.0
_EVERY = 0.2
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show that work goes on, and for how long, if stderr is a terminal and it takes more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_turn, args=(on, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _turn(on: str, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(_AFTER):
        return
    frame = 0
    while not done.wait(_EVERY):
        seconds = time.monotonic() - started
        sys.stderr.write(f"\r{_FRAMES[frame % len(_FRAMES)]} {on}: {seconds:.0f} s (Ctrl-C stops) ")
        sys.stderr.flush()
        frame += 1
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


_WIDTH = 28


class Bar:
    """A bar with rows done, rows a second and the time left, if stderr is a terminal."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._is_on = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, progress: Progress) -> None:
        """Draw it anew, a few times a second."""
        now = time.monotonic()
        if self._is_on and now - self._shown >= _EVERY:
            sys.stderr.write(f"\r{bar_text(*progress)}\x1b[K")
            sys.stderr.flush()
            self._shown = now


def bar_text(rows: int, rows_before: int, rows_in_all: int | None, seconds: float) -> str:
    """How far a run is, in a line.

    >>> bar_text(25_000, 25_000, 100_000, 2.0)
    '━━━━━━━━━━━━━━──────────────  50 %  50,000 rows, 12,500 rows/s, 0:04 left'
    """
    done = rows + rows_before
    speed = rows / seconds if seconds > 0 else 0.0
    text = f"{done:,} rows, {speed:,.0f} rows/s"
    if not rows_in_all:
        return text
    share = min(done / rows_in_all, 1.0)
    filled = round(share * _WIDTH)
    left = (rows_in_all - done) / speed if speed else 0.0
    minutes, rest = divmod(max(0, round(left)), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{'━' * filled}{'─' * (_WIDTH - filled)} {share:4.0%} ".replace("%", " %") + f" {text}, {clock} left"
