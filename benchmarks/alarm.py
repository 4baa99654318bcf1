"""A limit for work that does not look at the clock, so that nothing in the work pays for being timed."""

from __future__ import annotations

import ctypes
import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeIsUp(Exception):
    """The limit was reached."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the Python code that runs inside after so many seconds.

    They are CPU seconds of the process where it has an alarm (`by_cpu`). Elsewhere, as on Windows and in other threads
    than the main one, they go by the clock on the wall, which a second thread watches. No cyclic garbage is collected
    meanwhile: what others have hung on to the collector would swallow the alarm.
    """
    with without_collections(), _alarm(seconds) if by_cpu() else _watched(seconds):
        yield


@contextmanager
def without_collections() -> Iterator[None]:
    """Put off Python's search for cyclic garbage: what it costs depends on what else is in memory."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def by_cpu() -> bool:
    """Whether limits are in CPU seconds here."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """CPython raises an exception in a thread on another's behalf; it cannot stop C code, nor can a signal."""
    thread = ctypes.c_ulong(threading.get_ident())
    is_over = threading.Event()
    lock = threading.Lock()

    def watch() -> None:
        if not is_over.wait(seconds):
            with lock:
                if not is_over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeIsUp))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        # Once the lock is held, the exception was either raised, or is raised by the next call, or never will be.
        with lock:
            is_over.set()
        watcher.join()
