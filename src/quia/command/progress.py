"""A sign of life on the terminal while something takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

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
    """A bar with how much is done, how fast, and the time left, if stderr is a terminal.

    `unit` is what is counted; without one only times are shown. Where stderr is no terminal, a line is written every
    `line_every` seconds, or, by default, nothing.
    """

    def __init__(self, unit: str = "rows", *, line_every: float | None = None) -> None:
        self._unit = unit
        self._is_live = sys.stderr.isatty()
        self._every = _EVERY if self._is_live else line_every
        self._shown = 0.0 if self._is_live else time.monotonic()
        self._is_drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, progress: tuple[float, float, float | None, float], on: str = "") -> None:
        """Draw it anew, a few times a second.

        `progress` is what was done now and by earlier runs, how much there is if known, and the seconds since the
        start; `on` is what is being worked on.
        """
        now = time.monotonic()
        if self._every is None or now - self._shown < self._every:
            return
        text = bar_text(*progress, unit=self._unit, on=on)
        sys.stderr.write(f"\r{text}\x1b[K" if self._is_live else f"{text}\n")
        sys.stderr.flush()
        self._shown, self._is_drawn = now, self._is_live


def bar_text(
    done_now: float, done_before: float, total: float | None, seconds: float, *, unit: str = "rows", on: str = ""
) -> str:
    """How far a run is, in a line.

    >>> bar_text(25_000, 25_000, 100_000, 2.0)
    '━━━━━━━━━━━━━━──────────────  50 %  50,000 rows, 12,500 rows/s, 0:04 left'
    >>> bar_text(2, 0, 8, 10.0, unit="", on="adult")
    '━━━━━━━─────────────────────  25 %  0:10, 0:30 left, adult'
    """
    done = done_now + done_before
    speed = done_now / seconds if seconds > 0 else 0.0
    facts = [f"{done:,} {unit}", f"{speed:,.0f} {unit}/s"] if unit else [_clock(seconds)]
    bar = ""
    if total:
        share = min(done / total, 1.0)
        filled = round(share * _WIDTH)
        bar = f"{'━' * filled}{'─' * (_WIDTH - filled)} {share:4.0%}  ".replace("%", " %")
        facts.append(f"{_clock((total - done) / speed if speed else 0.0)} left")
    return bar + ", ".join([*facts, on] if on else facts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
