"""Just enough of the Protocol Buffers wire format to read a model: numbers and bytes by field number.

ONNX files need no more than this, and the `onnx` package would bring a compiled library into the reading of untrusted
files; every length here is checked against the bytes that are there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from quia.errors import FormatError

Message = dict[int, list[int | bytes]]
"""The values of each field, in order: ints for varints, bytes for the rest, fixed-width numbers included."""


def message(data: bytes, file: str | None = None) -> Message:
    """The fields of a message.

    >>> message(bytes([8, 150, 1, 18, 2, 104, 105]))
    {1: [150], 2: [b'hi']}
    """
    found: Message = {}
    place = 0
    while place < len(data):
        key, place = _varint(data, place, file)
        field, wire = key >> 3, key & 7
        value: int | bytes
        if wire == 0:
            value, place = _varint(data, place, file)
        else:
            if wire == 2:
                length, place = _varint(data, place, file)
            elif wire in (1, 5):
                length = 8 if wire == 1 else 4
            else:
                raise FormatError(f"is damaged at byte {place}: there is no wire type {wire}", file=file)
            if place + length > len(data):
                raise FormatError(f"is damaged at byte {place}: {length} bytes should follow", file=file)
            value = data[place : place + length]
            place += length
        found.setdefault(field, []).append(value)
    return found


def ints(values: Iterable[int | bytes], file: str | None = None) -> list[int]:
    """Signed 64-bit numbers, whether each stands alone or they are packed."""
    numbers: list[int] = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        place = 0
        while place < len(value):
            number, place = _varint(value, place, file)
            numbers.append(number)
    return [number - 2**64 if number >= 2**63 else number for number in numbers]


def floats(values: Iterable[int | bytes], code: str = "f", file: str | None = None) -> list[float]:
    """Numbers of fixed width, 'f' of 32 bits and 'd' of 64, whether each stands alone or they are packed."""
    data = b"".join(value if isinstance(value, bytes) else b"\0" for value in values)
    width = struct.calcsize("<" + code)
    if len(data) % width:
        raise FormatError(f"is damaged: {len(data)} bytes are no list of {width}-byte numbers", file=file)
    return list(struct.unpack(f"<{len(data) // width}{code}", data))


def blobs(values: Sequence[int | bytes], file: str | None = None) -> list[bytes]:
    """Values that must be bytes: texts and messages."""
    made = [value for value in values if isinstance(value, bytes)]
    if len(made) != len(values):
        raise FormatError("is damaged: a number stands where a text or message should be", file=file)
    return made


def _varint(data: bytes, place: int, file: str | None) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise FormatError("is damaged: it ends within a number", file=file)
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & (2**64 - 1), place
    raise FormatError(f"is damaged at byte {place}: a number has too many bytes", file=file)
