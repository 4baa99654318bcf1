"""What clients send, decoded as its type in `schema` says: every fault is one sentence with the HTTP status 422."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from quia.errors import shown
from quia.web.pool import Fault

Request = TypeVar("Request", bound=msgspec.Struct)

_fields = cache(msgspec.structs.fields)  # which resolves the annotations anew each time


def from_json(body: bytes, kind: type[Request]) -> Request:
    """A request's body as its type.

    >>> from quia.web.schema import Pair
    >>> from_json(b'{"one": {"age": 30}, "other": {"age": null}}', Pair)
    Pair(one={'age': 30}, other={'age': None}, within={}, given=[])
    """
    try:
        # Not by msgspec: a state's name may hold half of a surrogate pair, and clients send it back as they got it.
        data = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Fault(422, "the request is not JSON") from None
    if isinstance(data, dict):
        for field in _fields(kind):
            value = data.get(field.name)
            if _plain(field.type) is int and isinstance(value, float) and value.is_integer():
                data[field.name] = int(value)  # JSON does not tell 10.0 from 10
    return _converted(data, kind, strict=True)


def from_query(query: Mapping[str, str], kind: type[Request]) -> Request:
    """The part of a request's address after `?` as its type.

    >>> from quia.web.schema import RowsWanted
    >>> from_query({"count": "5"}, RowsWanted)
    RowsWanted(start=1, count=5)
    """
    return _converted(dict(query), kind, strict=False)


def _converted(data: Any, kind: type[Request], *, strict: bool) -> Request:
    try:
        return msgspec.convert(data, kind, strict=strict)
    except ValueError:  # a ValidationError, or a key that UTF-8 cannot hold
        raise Fault(422, next(_faults(data, kind, strict))) from None


def _faults(data: Any, kind: type[msgspec.Struct], strict: bool) -> Iterator[str]:
    """What does not fit, each in a sentence: the library's own have neither the value nor, in objects, the key."""
    if not isinstance(data, dict):
        yield f"the request is {shown(data)}; it must be an object"
        return
    fields = {field.name: field for field in _fields(kind)}
    if kind.__struct_config__.forbid_unknown_fields:
        known = ", ".join(sorted(fields))
        yield from (f"the request has {shown(key)}; it may have {known}" for key in data if key not in fields)
    for name, field in fields.items():
        if name not in data:
            if field.required:
                yield f"{name} is missing; it must be {_words(field.type)}"
        elif not _fits(data[name], field.type, strict):
            yield from _faults_of_value(name, data[name], field.type, strict)


def _faults_of_value(name: str, value: Any, kind: Any, strict: bool) -> Iterator[str]:
    if get_origin(_plain(kind)) is dict and isinstance(value, dict):
        inner = get_args(_plain(kind))[1]
        for key, item in value.items():
            if not _fits(item, inner, strict):
                yield f"{name} has {shown(item)} for {shown(key)}; it must be {_words(inner)}"
    else:
        yield f"{name} is {shown(value)}; it must be {_words(kind)}"


def _fits(value: Any, kind: Any, strict: bool) -> bool:
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError:
        return False
    return True


def _plain(kind: Any) -> Any:
    """A type without its limits and description."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _words(kind: Any) -> str:
    """What a value must be, as `schema` describes it."""
    return str(next(note.description for note in get_args(kind)[1:] if note.description))


def _refuse(constant: str) -> Any:
    """NaN and Infinity, which Python would take, are not JSON."""
    raise ValueError(constant)
