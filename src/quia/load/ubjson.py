"""UBJSON as XGBoost writes it: JSON in bytes, whose lists of numbers become arrays.

A value begins with a letter for its type; numbers are big-endian. `[$d#L` and a count begin a list of 32-bit numbers.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from quia.errors import FormatError, shown

_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_FORMATS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_CONSTANTS = {"T": True, "F": False, "Z": None}
_DEEPEST = 100


def parse(data: bytes, file: str | None = None) -> Any:
    """The value that the bytes hold; lists of numbers of one type are arrays.

    >>> parse(b"{U\\x01ai\\x05U\\x01b[$U#U\\x02\\x03\\x04}")
    {'a': 5, 'b': array([3, 4], dtype=uint8)}
    """
    reader = _Reader(data, file)
    value = reader.value()
    if reader.at != len(data):
        raise reader.fault(f"{len(data) - reader.at} bytes follow the end")
    return value


class _Reader:
    def __init__(self, data: bytes, file: str | None) -> None:
        self.data, self.file, self.at = data, file, 0

    def fault(self, what: str) -> FormatError:
        return FormatError(f"is not UBJSON as XGBoost writes it: {what} at byte {self.at}", file=self.file)

    def value(self) -> Any:
        """The value that begins here, with what is in it: the lists and objects that are open are on a stack."""
        result: list[Any] = []
        # What is open: the container, how many values are to come (None: up to its end), and the key of the next one.
        containers: list[Any] = [result]
        left: list[int | None] = [1]
        key: str | None = None
        while True:
            while left[-1] == 0:
                containers.pop()
                left.pop()
                if not containers:
                    return result[0]
            container = containers[-1]
            if left[-1] is None and self.peek() == ("}" if isinstance(container, dict) else "]"):
                self.at += 1
                left[-1] = 0
                continue
            if isinstance(container, dict):
                key = self.string()
            value, count = self.begin(self.letter())
            if isinstance(container, dict):
                container[key] = value
            else:
                container.append(value)
            if left[-1] is not None:
                left[-1] -= 1
            if type(value) in (dict, list):
                if len(containers) > _DEEPEST:
                    raise self.fault(f"values are nested more than {_DEEPEST} deep")
                containers.append(value)
                left.append(count)

    def begin(self, kind: str) -> tuple[Any, int | None]:
        """A value, if it is a container an empty one, and how many values it holds, if it says so."""
        if kind in _FORMATS:
            return struct.unpack(_FORMATS[kind], self.take(struct.calcsize(_FORMATS[kind])))[0], None
        if kind in _CONSTANTS:
            return _CONSTANTS[kind], None
        if kind == "S":
            return self.string(), None
        if kind == "{":
            return {}, None
        if kind != "[":
            raise self.fault(f"a value begins with {shown(kind)}")
        if self.peek() == "$":
            self.at += 1
            numbers = self.letter()
            if numbers not in _NUMBERS or self.letter() != "#":
                raise self.fault(f"a list is of type {shown(numbers)}, or has no count")
            one = np.dtype(_NUMBERS[numbers])
            array = np.frombuffer(self.take(self.count() * one.itemsize), one)
            return array.astype(one.newbyteorder("=")), None
        if self.peek() == "#":
            self.at += 1
            return [], self.count()
        return [], None

    def string(self) -> str:
        try:
            return self.take(self.count()).decode()
        except UnicodeDecodeError:
            raise self.fault("a string is not UTF-8") from None

    def count(self) -> int:
        kind = self.letter()
        if kind not in "iUIlL":
            raise self.fault(f"a length begins with {shown(kind)}")
        number = int(struct.unpack(_FORMATS[kind], self.take(struct.calcsize(_FORMATS[kind])))[0])
        if not 0 <= number <= len(self.data) - self.at:  # each value takes a byte or more
            raise self.fault(f"{number} values or bytes are announced")
        return number

    def letter(self) -> str:
        return self.take(1).decode("latin-1")

    def peek(self) -> str:
        return self.data[self.at : self.at + 1].decode("latin-1")

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise self.fault("the bytes end")
        self.at += count
        return self.data[self.at - count : self.at]
