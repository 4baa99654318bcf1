"""Values that are worked out when they are first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  (it is used as the standard library's)
    """`functools.cached_property` as it is since Python 3.12: with no lock.

    Before, one lock served all instances of a class, so that a hard question blocked every other thread's, and a
    process forked meanwhile hung. Two threads that ask at once may both work the value out; they get equal ones.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        # Kept beside the fields, frozen or not; from then on Python finds it there before it looks here.
        value: T = instance.__dict__.setdefault(self.name, self.function(instance))
        return value
