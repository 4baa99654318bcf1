"""What clients send, checked: every fault is one sentence with the HTTP status 422."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from quia.errors import shown
from quia.web.pool import Fault

MOST_REASONS = 100
MOST_FEATURES = 100_000

_KEYS = {"instance", "against", "frozen", "costs", "without", "limit"}


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object in a request."""
    try:
        data = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Fault(422, "the request is not JSON") from None
    if not isinstance(data, dict):
        raise Fault(422, f"the request is {shown(data)}; it must be an object")
    return data


def explanation(data: Mapping[str, Any]) -> dict[str, Any]:
    """A question about one instance."""
    _only(data, _KEYS)
    limit = data.get("limit", 10)
    if isinstance(limit, float) and limit.is_integer():  # JSON does not tell 10.0 from 10
        limit = int(limit)
    if type(limit) is not int or not 0 <= limit <= MOST_REASONS:
        raise Fault(422, f"limit is {shown(limit)}; it is a whole number from 0 to {MOST_REASONS}")
    against = data.get("against")
    if against is not None and not isinstance(against, str):
        raise Fault(422, f"against is {shown(against)}; it is the name of a class, or null")
    return {
        "instance": _instance(data, "instance"),
        "against": against,
        "frozen": _names(data, "frozen"),
        "costs": _costs(data),
        "without": _names(data, "without"),
        "limit": limit,
    }


def comparison(data: Mapping[str, Any]) -> dict[str, Any]:
    """A question about two instances."""
    _only(data, {"one", "other"})
    return {"one": _instance(data, "one"), "other": _instance(data, "other")}


def _only(data: Mapping[str, Any], known: set[str]) -> None:
    for key in data:
        if key not in known:
            raise Fault(422, f"the request has {shown(key)}; it may have {', '.join(sorted(known))}")


def _instance(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    given = data.get(key)
    if not isinstance(given, dict):
        raise Fault(422, f"{key} is {shown(given)}; it must be an object from feature to value")
    for name, value in given.items():
        if value is not None and not isinstance(value, (str, int, float, bool)):
            raise Fault(422, f"{shown(name)} is {shown(value)}; a value is a text, a number, true, false or null")
    return given


def _names(data: Mapping[str, Any], key: str) -> list[str]:
    given = data.get(key, [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Fault(422, f"{key} is {shown(given)}; it must be a list of features")
    return given


def _costs(data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("costs", {})
    if not isinstance(given, dict):
        raise Fault(422, f"costs is {shown(given)}; it must be an object from feature to a positive number")
    for name, cost in given.items():
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 < cost <= 1e9:
            raise Fault(422, f"the cost of {shown(name)} is {shown(cost)}; it is a number above 0, at most 1e9")
    return given


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
