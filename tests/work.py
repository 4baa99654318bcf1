"""Work counted in lines of Python that are run: what a clock says of a busy machine, this says of the code alone.

What NumPy and the kernel do inside one call counts as the line that calls them.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class TooMuchWork(AssertionError):
    """The code ran more lines than a test allows it."""


class Work:
    """How many lines were run so far."""

    lines = 0


@contextmanager
def counted(most: int | None = None) -> Iterator[Work]:
    """Count the lines of Python that this thread runs inside; beyond `most`, the work is stopped and the test fails.

    >>> with counted() as work:
    ...     total = sum(i for i in range(100))
    >>> 100 < work.lines < 400
    True
    >>> try:
    ...     with counted(most=1000):
    ...         while True:
    ...             pass
    ... except TooMuchWork as fault:
    ...     print(fault)
    more than 1000 lines of Python were run
    """
    work = Work()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            work.lines += 1
            if most is not None and work.lines > most:
                raise TooMuchWork(f"more than {most} lines of Python were run")
        return trace

    before = sys.gettrace()
    here = sys._getframe(2)  # the test itself: its frame was there before, so it is traced only if told to
    its = here.f_trace
    here.f_trace = trace
    sys.settrace(trace)
    try:
        yield work
    finally:
        sys.settrace(before)
        here.f_trace = its
