"""Just enough of the Protocol Buffers wire format to read a model: numbers and bytes by field number.

ONNX files need no more than this, and the `onnx` package would bring a compiled library into the reading of untrusted
files; every length here is checked against the bytes that are there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError

_A_RUN = 32  # from so many values of a field on, the next ones are looked at together


class Packed(bytes):
    """Numbers of a field side by side, as the wire format has them too where they are written as one value."""


Message = dict[int, list[int | bytes]]
"""The values of each field, in order: ints for varints, bytes for the rest, fixed-width numbers included.

Of a field with many values that are written one by one, most are `Packed` together.
"""


def message(data: bytes, file: str | None = None) -> Message:
    """The fields of a message.

    >>> message(bytes([8, 150, 1, 18, 2, 104, 105]))
    {1: [150], 2: [b'hi']}
    """
    fields: Message = {}
    position = same = last = 0
    while position < len(data):
        key, position = _varint(data, position, file)
        same = same + 1 if key == last else 1
        last = key
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
        values = fields.setdefault(number, [])
        values.append(value)
        if same >= _A_RUN and key < 128:
            same = 0
            if wire == 2:
                position = _take_strings(data, position, key, values)
                continue
            packed, position = _run(data, position, key, {0: 0, 1: 8, 5: 4}[wire])
            if packed:
                values.append(packed)
    return fields


def _take_strings(data: bytes, position: int, tag: int, values: list[int | bytes]) -> int:
    """Append the short strings that follow one another with this tag; where they end."""
    last = len(data) - 1
    while position < last and data[position] == tag and data[position + 1] < 128:
        end = position + 2 + data[position + 1]
        if end > last + 1:
            break
        values.append(data[position + 2 : end])
        position = end
    return position


def _run(data: bytes, position: int, tag: int, width: int) -> tuple[Packed, int]:
    """The numbers that follow one another with this tag, and where they end; width 0 stands for varints."""
    pieces, window = [], 64
    while position < len(data):  # windows grow, so that no byte is looked at often
        chunk = np.frombuffer(data, np.uint8, min(window, len(data) - position), position)
        taken = _fixed(chunk, tag, width) if width else _varints(chunk, tag)
        if not taken[1]:
            break
        pieces.append(taken[0])
        position += taken[1]
        window *= 2
    return Packed(b"".join(pieces)), position


def _fixed(chunk: npt.NDArray[np.uint8], tag: int, width: int) -> tuple[bytes, int]:
    """The numbers with this tag at the beginning of a chunk, and how many bytes they take."""
    step = width + 1
    rows = chunk[: len(chunk) // step * step].reshape(-1, step)
    others = np.flatnonzero(rows[:, 0] != tag)
    count = int(others[0]) if len(others) else len(rows)
    return rows[:count, 1:].tobytes(), count * step


def _varints(chunk: npt.NDArray[np.uint8], tag: int) -> tuple[bytes, int]:
    """The same for varints: tags and values take turns, and each ends with a byte below 128."""
    ends = np.flatnonzero(chunk < 128)
    starts = np.append(0, ends + 1)
    pairs = len(ends) // 2
    tags = starts[: 2 * pairs : 2]
    fit = (chunk[tags] == tag) & (np.diff(starts)[1 : 2 * pairs : 2] <= 10)
    others = np.flatnonzero(~fit)
    count = int(others[0]) if len(others) else pairs
    size = int(starts[2 * count])
    kept = np.ones(size, bool)
    kept[tags[:count]] = False
    return chunk[:size][kept].tobytes(), size


def ints(values: Iterable[int | bytes], file: str | None = None) -> list[int]:
    """Signed 64-bit numbers, stored one by one or packed."""
    numbers: list[int] = int_array(values, file).tolist()
    return numbers


def int_array(values: Iterable[int | bytes], file: str | None = None) -> npt.NDArray[np.int64]:
    """Signed 64-bit numbers, stored one by one or packed, as an array."""
    arrays = [np.array([v], np.uint64) if isinstance(v, int) else _unpacked(v, file) for v in values]
    return np.concatenate([np.array([], np.uint64), *arrays]).view(np.int64)


def _unpacked(data: bytes, file: str | None) -> npt.NDArray[np.uint64]:
    chunk = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(chunk < 128)
    if len(chunk) and (not len(ends) or ends[-1] != len(chunk) - 1):
        raise FormatError("is damaged: it ends within a number", file=file)
    starts = np.append(0, ends + 1)[:-1]
    lengths = ends - starts + 1
    if len(lengths) and lengths.max() > 10:
        raise FormatError("is damaged: a number has too many bytes", file=file)
    numbers = np.zeros(len(ends), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        there = lengths > place
        numbers[there] |= (chunk[starts[there] + place] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * place)
    return numbers


def floats(values: Iterable[int | bytes], code: str = "f", file: str | None = None) -> list[float]:
    """Numbers of fixed width, 'f' of 32 bits and 'd' of 64, stored one by one or packed."""
    numbers: list[float] = float_array(values, code, file).tolist()
    return numbers


def float_array(values: Iterable[int | bytes], code: str = "f", file: str | None = None) -> npt.NDArray[np.float64]:
    """Numbers of fixed width as an array."""
    data = b"".join(value if isinstance(value, bytes) else b"\0" for value in values)
    width = struct.calcsize("<" + code)
    if len(data) % width:
        raise FormatError(f"is damaged: {len(data)} bytes are no list of {width}-byte numbers", file=file)
    stored: Any = np.frombuffer(data, f"<f{width}")
    return np.array(stored, np.float64)


def blobs(values: Sequence[int | bytes], file: str | None = None) -> list[bytes]:
    """Values that must be bytes: strings and messages."""
    chunks = [value for value in values if isinstance(value, bytes) and not isinstance(value, Packed)]
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
