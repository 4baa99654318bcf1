"""Audit documents as plain data: written in the order of their fields, and read from JSON that may be anybody's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from quia.auditing.document import SCHEMA, Document
from quia.errors import FormatError, did_you_mean, shown
from quia.files import decode, read_bytes, refuse_many_values

T = TypeVar("T")

_DEEPEST = 100
"""How many levels what is read as it is may have."""
_TOO_MANY = 2**63
"""No table has so many rows, and no file so many bytes."""


def to_dict(document: Document) -> dict[str, Any]:
    """The document as plain JSON data."""
    return {field.name: plain(getattr(document, field.name)) for field in fields(document)}


def plain(value: Any) -> Any:
    """Dataclasses, and what they are made of, as plain JSON data."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def read_document(file: str) -> Document:
    """The document in a JSON file."""
    data = read_bytes(file)
    refuse_many_values(data, file)
    try:
        return from_dict(json.loads(decode(data, file), parse_constant=_refused, object_pairs_hook=_once))
    except (ValueError, RecursionError) as fault:
        raise FormatError(f"is not JSON: {fault}", file=file) from None
    except FormatError as fault:
        raise FormatError(str(fault), file=file) if fault.file is None else fault from None


def _refused(constant: str) -> float:
    raise FormatError(f"has the number {constant}, which JSON does not know; write null where there is none")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(key for at, (key, _) in enumerate(pairs) if any(key == other for other, _ in pairs[:at]))
        raise FormatError(f"has an object with {shown(name)} twice; write it once")
    return found


def from_dict(data: Any) -> Document:
    """The document that plain data hold; FormatError names the place of what is wrong with them.

    >>> from_dict({"schema": "quia/audit/1", "rule": []})
    Traceback (most recent call last):
    quia.errors.FormatError: rule is no field of an audit (did you mean 'rules'?); leave it out
    """
    if not isinstance(data, Mapping):
        raise FormatError(f"the audit is {shown(data)}; it must be an object")
    if data.get("schema") != SCHEMA:
        raise FormatError(f"its schema is {shown(data.get('schema'))}; an audit's is {SCHEMA!r}")
    return _object(Document, data, "")  # type: ignore[no-any-return]


def read_as(kind: type[T], data: Any, place: str) -> T:
    """The dataclass that plain data hold, which are called so where they are at fault."""
    return _object(kind, data, place)  # type: ignore[no-any-return]


@cache
def _layout(kind: type) -> dict[str, tuple[Any, bool]]:
    """The fields of a dataclass with their types, and whether each must be there."""
    hints = get_type_hints(kind)
    made: Sequence[Field[Any]] = fields(kind)
    return {f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING) for f in made}


def _object(kind: type, data: Any, place: str) -> Any:
    if not isinstance(data, Mapping):
        raise _fault(place, data, "an object")
    layout = _layout(kind)
    at = f"{place}." if place else ""
    for name in data:
        if name not in layout:
            raise FormatError(f"{at}{name} is no field of an audit{did_you_mean(name, layout)}; leave it out")
    for name, (_, is_needed) in layout.items():
        if is_needed and name not in data:
            raise FormatError(f"{at}{name} is not there; it must be")
    return kind(**{name: _read(layout[name][0], value, f"{at}{name}") for name, value in data.items()})


def _read(kind: Any, value: Any, place: str) -> Any:
    """A value of a type."""
    if get_origin(kind) in (Union, UnionType):
        return _one_of(get_args(kind), value, place)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), value, place)
    if get_origin(kind) is dict:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise _fault(place, value, "an object")
        return {key: _read(get_args(kind)[1], item, f"{place}[{shown(key)}]") for key, item in value.items()}
    if kind is Any:
        return _anything(value, place, _DEEPEST)
    if is_dataclass(kind):
        return _object(kind, value, place)  # type: ignore[arg-type]
    return _scalar(kind, value, place)


def _one_of(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    """A value of one of several types: of any scalar, or of one type unless it is null."""
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return _read(others[0], value, place)
    if isinstance(value, (str, bool)) or _is_number(value):
        return value
    raise _fault(place, value, "a string, a number of 64 bits, true, false or null")


def _tuple(kinds: tuple[Any, ...], value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _fault(place, value, "a list")
    if kinds[1:] == (...,):
        return tuple(_read(kinds[0], item, f"{place}[{at}]") for at, item in enumerate(value))
    if len(value) != len(kinds):
        raise _fault(place, value, f"a list of {len(kinds)}")
    return tuple(_read(kind, item, f"{place}[{at}]") for at, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _scalar(kind: type, value: Any, place: str) -> Any:
    if kind is str and isinstance(value, str):
        return value
    if kind is bool and isinstance(value, bool):
        return value
    # All numbers that an audit has of its own are counts, sizes, shares and seconds.
    if kind is int and _is_number(value) and isinstance(value, int) and 0 <= value < _TOO_MANY:
        return value
    if kind is float and _is_number(value) and value >= 0:
        return float(value)
    names = {
        str: "a string",
        bool: "true or false",
        int: "a whole number from 0 on, below 2**63",
        float: "a number from 0 on",
    }
    raise _fault(place, value, names[kind])


def _anything(value: Any, place: str, levels: int) -> Any:
    """JSON data as they are."""
    if isinstance(value, Mapping) and levels and all(isinstance(key, str) for key in value):
        return {key: _anything(item, f"{place}[{shown(key)}]", levels - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and levels:
        return [_anything(item, f"{place}[{at}]", levels - 1) for at, item in enumerate(value)]
    if value is None or isinstance(value, (str, bool)) or _is_number(value):
        return value
    raise _fault(place, value, f"JSON data, not more than {_DEEPEST} levels deep, with numbers of 64 bits")


def _is_number(value: Any) -> bool:
    """Whether this is a number, finite and not too large to be calculated with."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _fault(place: str, value: Any, wanted: str) -> FormatError:
    return FormatError(f"{place} is {shown(value)}; it must be {wanted}")
