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
    fields: Message = {}
    position = 0
    while position < len(data):
        key, position = _varint(data, position, file)
        number, wire = key >> 3, key & 7
        value: int | bytes
        if wire == 0:
            value, position = _varint(data, position, file)
        else:
            if wire == 2:
                length, position = _varint(data, position, file)
            elif wire in (1, 5):
                length = 8 if wire == 1 else 4
            else:
                raise FormatError(f"is damaged at byte {position}: there is no wire type {wire}", file=file)
            if position + length > len(data):
                raise FormatError(f"is damaged at byte {position}: {length} bytes should follow", file=file)
            value = data[position : position + length]
            position += length
        fields.setdefault(number, []).append(value)
    return fields


def ints(values: Iterable[int | bytes], file: str | None = None) -> list[int]:
    """Signed 64-bit numbers, stored one by one or packed."""
    numbers: list[int] = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position, file)
            numbers.append(number)
    return [number - 2**64 if number >= 2**63 else number for number in numbers]


def floats(values: Iterable[int | bytes], code: str = "f", file: str | None = None) -> list[float]:
    """Numbers of fixed width, 'f' of 32 bits and 'd' of 64, stored one by one or packed."""
    data = b"".join(value if isinstance(value, bytes) else b"\0" for value in values)
    width = struct.calcsize("<" + code)
    if len(data) % width:
        raise FormatError(f"is damaged: {len(data)} bytes are no list of {width}-byte numbers", file=file)
    return list(struct.unpack(f"<{len(data) // width}{code}", data))


def blobs(values: Sequence[int | bytes], file: str | None = None) -> list[bytes]:
    """Values that must be bytes: strings and messages."""
    chunks = [value for value in values if isinstance(value, bytes)]
    if len(chunks) != len(values):
        raise FormatError("is damaged: a number stands where a string or message should be", file=file)
    return chunks


def _varint(data: bytes, position: int, file: str | None) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise FormatError("is damaged: it ends within a number", file=file)
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & (2**64 - 1), position
    raise FormatError(f"is damaged at byte {position}: a number has too many bytes", file=file)
