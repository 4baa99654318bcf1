"""How long a question may still take."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any

PATIENCE = 5.0
"""How many seconds an answer for people may take where its reasons must be looked for, and nobody says how long."""
LAST_SHARE = 0.25
"""What the last step of a question has in any case, as a share of its time: with nothing left it could say nothing."""


class Patience:
    """A time limit for all the work that one question takes; what passes between two pieces of work does not count.

    >>> patience = Patience(60.0)
    >>> with patience.spending():
    ...     answer = sum(range(10))
    >>> 59 < patience.left <= 60
    True
    >>> Patience(None).left is None
    True
    """

    __slots__ = ("_spent", "_whole", "seconds")

    def __init__(self, seconds: float | None, *, whole: Patience | None = None) -> None:
        self.seconds = seconds
        self._spent = 0.0
        self._whole = whole

    @property
    def left(self) -> float | None:
        """How many seconds there still are; None for no limit."""
        return None if self.seconds is None else max(self.seconds - self._spent, 0.0)

    @property
    def for_last_step(self) -> float | None:
        """What is left, but some of it in any case."""
        return None if self.seconds is None else max(self.seconds - self._spent, LAST_SHARE * self.seconds)

    def part(self, seconds: float | None) -> Patience:
        """So much of it for a part of the work; what that takes counts here too.

        >>> patience = Patience(60.0)
        >>> with patience.part(20.0).spending():
        ...     answer = sum(range(10))
        >>> patience.left < 60
        True
        """
        return Patience(seconds, whole=self)

    def share(self, share: float) -> Patience:
        """A share of what is left of it, for a part of the work."""
        return self.part(None if self.left is None else share * self.left)

    def is_more_than(self, seconds: float | None) -> bool:
        """Whether trying again with what is left is worth while, where so many seconds were not enough."""
        return seconds is not None and (self.left is None or self.left > 1.05 * seconds)

    @contextmanager
    def spending(self) -> Generator[None]:
        """Count the time that the work within takes."""
        start = monotonic()
        try:
            yield
        finally:
            self._spend(monotonic() - start)

    def _spend(self, seconds: float) -> None:
        self._spent += seconds
        if self._whole is not None:
            self._whole._spend(seconds)

    def step(self) -> AbstractContextManager[Clock]:
        """Count the time that the work within takes; it is to call the clock that it gets now and then."""
        return self._timed(self.left)

    def last_step(self) -> AbstractContextManager[Clock]:
        """The same for a last step, which has some time in any case."""
        return self._timed(self.for_last_step)

    @contextmanager
    def _timed(self, seconds: float | None) -> Generator[Clock]:
        with self.spending():
            yield Clock(seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return Patience, (self.seconds,)


class Clock:
    """What long work calls at every step: it raises OutOfTime once the time is over.

    >>> clock = Clock(60.0)
    >>> clock()
    >>> 59 < clock.left <= 60
    True
    """

    __slots__ = ("_end",)

    def __init__(self, seconds: float | None = None) -> None:
        self.reset(seconds)

    def reset(self, seconds: float | None) -> None:
        """Begin anew."""
        self._end = math.inf if seconds is None else monotonic() + seconds

    def __call__(self) -> None:
        if monotonic() > self._end:
            raise OutOfTime

    def share(self, share: float) -> Clock:
        """A clock for a share of what is left."""
        return Clock(None if self.left is None else share * self.left)

    @property
    def left(self) -> float | None:
        """How many seconds there still are; None for no limit."""
        return None if self._end == math.inf else max(self._end - monotonic(), 0.0)


class OutOfTime(Exception):
    """The time ended before the work did."""
