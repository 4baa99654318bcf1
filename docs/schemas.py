"""The JSON Schema files of what the server answers, of reason codes and of audits, from the types that declare them.

python docs/schemas.py   writes them
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from quia.auditing.checked import Checked, CheckedClaim
from quia.auditing.document import SCHEMA, Document
from quia.web.openapi import json_schema
from quia.web.schema import Explanation, Model, ReasonCodes

FOLDER = Path(__file__).parent / "schemas"
FILES = {"explanation-2.json": Explanation, "model-1.json": Model, "reason-codes-1.json": ReasonCodes}
AUDIT, VERIFIED = "audit-1.json", "verified-1.json"


def text(name: str) -> str:
    """What is in a file."""
    own = {AUDIT: audit_schema, VERIFIED: verified_schema}
    return json.dumps(own[name]() if name in own else json_schema(FILES[name]), indent=2) + "\n"


def audit_schema() -> dict[str, Any]:
    """The JSON Schema of audits: numbers are counts, sizes, shares and seconds, and there are no other fields."""
    made = msgspec.json.schema(Document)
    for kind in made["$defs"].values():
        kind["additionalProperties"] = False
        for field in kind["properties"].values():
            _from_zero(field)
    made["$defs"]["Document"]["properties"]["schema"] = {"enum": [SCHEMA]}
    return {**_about(SCHEMA), **made}


def verified_schema() -> dict[str, Any]:
    """The JSON Schema of what became of claims."""
    name = Checked(()).to_dict()["schema"]
    claim = msgspec.json.schema(CheckedClaim)["$defs"]["CheckedClaim"] | {"additionalProperties": False}
    count = {"type": "integer", "minimum": 0}
    fields = {
        "schema": {"enum": [name]},
        **dict.fromkeys(("holds", "refuted", "not_checked"), count),
        "claims": {"type": "array", "items": claim},
    }
    return _about(name) | {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _about(name: str) -> dict[str, str]:
    url = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": url, "$id": "urn:" + name.replace("/", ":", 1), "title": name}


def _from_zero(field: dict[str, Any]) -> None:
    """Say of the numbers of a field that they are not negative; a value, which may also be a string, may be."""
    choices = field.get("anyOf", [])
    if field.get("type") in ("integer", "number"):
        field["minimum"] = 0
    if not any(choice.get("type") == "string" for choice in choices) or len(choices) == 2:
        for inner in (*choices, *(field.get(key) for key in ("items", "additionalProperties"))):
            if isinstance(inner, dict):
                _from_zero(inner)


if __name__ == "__main__":
    for name in (*FILES, AUDIT, VERIFIED):
        (FOLDER / name).write_text(text(name))
