"""A sign of life on the terminal while something takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
