"""The OpenAPI document of the few endpoints."""

from __future__ import annotations

from typing import Any

from quia.web.question import MOST_REASONS


def document(largest: int) -> dict[str, Any]:
    """The document; it says what `application` does."""
    from quia import __version__

    model = {"name": "model", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "quia serve",
            "version": __version__,
            "description": "Why a model decided as it did. It answers on this machine only; requests of other sites'"
            " pages are refused.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": {
            "/api/models": {
                "get": _operation("listModels", "The models there are", _answer("Models")),
                "post": {
                    **_operation(
                        "dropModel", "Drop a model file", _answer("Model"), 408, 413, 422, 500, 503, 507, made=True
                    ),
                    "parameters": [
                        {"name": "name", "in": "query", "schema": {"type": "string", "minLength": 1, "maxLength": 200}}
                    ],
                    "requestBody": {
                        "required": True,
                        "description": f"the file, at most {largest} bytes; .gz is read as it is; never pickle",
                        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                    },
                },
            },
            "/api/models/{model}": {
                "parameters": [model],
                "get": _operation("describeModel", "The features and classes", _answer("Model"), 404, 422, 500, 503),
            },
            "/api/models/{model}/explain": {
                "parameters": [model],
                "post": _asked("explain", "Why, and what would change it", _answer("Answer"), "Question"),
            },
            "/api/models/{model}/report": {
                "parameters": [model],
                "post": _asked(
                    "report",
                    "The answer as one HTML file",
                    {"text/html": {"schema": {"type": "string"}}},
                    "Question",
                ),
            },
            "/api/models/{model}/compare": {
                "parameters": [model],
                "post": _asked("compare", "Are two instances decided alike?", _answer("Comparison"), "Pair"),
            },
            "/api/rows": {
                "get": {
                    **_operation("rows", "Rows of the table", _answer("Rows"), 404, 422),
                    "parameters": [
                        _count("start", 1, 999_999_999, 1),
                        _count("count", 0, 100, 20),
                    ],
                }
            },
        },
        "components": {"schemas": _SCHEMAS},
    }


def _answer(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _operation(
    identity: str, summary: str, content: dict[str, Any], *faults: int, made: bool = False
) -> dict[str, Any]:
    said = {
        403: "not asked by this server's own page",
        404: "no such model or table",
        408: "the request took too long to arrive",
        413: "the request is too large",
        415: "the request is not JSON",
        422: "the question cannot be answered; the sentence says why",
        500: "a fault of quia's own",
        503: "too many questions are waiting",
        507: "the file cannot be kept",
    }
    return {
        "operationId": identity,
        "summary": summary,
        "responses": {
            "201" if made else "200": {"description": "the answer", "content": content},
            **{str(code): {"description": said[code], "content": _answer("Fault")} for code in sorted({403, *faults})},
        },
    }


def _asked(identity: str, summary: str, content: dict[str, Any], body: str) -> dict[str, Any]:
    return {
        **_operation(identity, summary, content, 404, 408, 413, 415, 422, 500, 503),
        "requestBody": {"required": True, "content": _answer(body)},
    }


def _count(name: str, low: int, high: int, default: int) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": low, "maximum": high, "default": default}
    return {"name": name, "in": "query", "schema": schema}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None, *, closed: bool = True) -> dict[str, Any]:
    properties = {**required, **(optional or {})}
    made = {"type": "object", "required": list(required), "properties": properties}
    return {**made, "additionalProperties": False} if closed else made


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_STATES = {"type": "object", "additionalProperties": _TEXT}
_OPTIONAL_TEXT = {"type": ["string", "null"]}
_INSTANCE = {"$ref": "#/components/schemas/Instance"}
_REASONS = _object(
    {
        "complete": {"type": "boolean"},
        "count": {"type": ["integer", "null"]},
        "reasons": {"type": "array", "items": _STATES},
    }
)

_SCHEMAS: dict[str, Any] = {
    "Instance": {
        "type": "object",
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        "description": "feature → value",
    },
    "Fault": _object({"error": _TEXT}),
    "Models": _object(
        {
            "models": {"type": "array", "items": _object({"id": _TEXT, "name": _TEXT})},
            "data": {"oneOf": [{"type": "null"}, _object({"name": _TEXT, "rows": {"type": "integer"}})]},
            "largest": {"type": "integer"},
        }
    ),
    "Model": _object(
        {
            "schema": {"const": "quia/model/1"},
            "id": _TEXT,
            "name": _TEXT,
            "nodes": {"type": ["integer", "null"]},
            "classes": _TEXTS,
            "variables": {
                "type": "array",
                "items": _object(
                    {
                        "name": _TEXT,
                        "kind": {"enum": ["nominal", "numeric"]},
                        "tested": {"type": "boolean"},
                        "missing": {"type": "boolean"},
                        "states": _TEXTS,
                        "cuts": {"type": "array", "items": {"type": ["number", "null"]}},
                    }
                ),
            },
            "example": _INSTANCE,
            "notes": _TEXTS,
        }
    ),
    "Question": _object(
        {"instance": _INSTANCE},
        {
            "against": {**_OPTIONAL_TEXT, "description": "why not this class; if it is the one decided: why"},
            "frozen": _TEXTS,
            "costs": {
                "type": "object",
                "additionalProperties": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9},
            },
            "without": _TEXTS,
            "limit": {"type": "integer", "minimum": 0, "maximum": MOST_REASONS, "default": 10},
        },
    ),
    "Answer": _object(
        {
            "explanation": _object(
                {
                    "schema": {"const": "quia/explanation/1"},
                    "instance": _INSTANCE,
                    "states": _STATES,
                    "decision": _TEXT,
                    "against": _OPTIONAL_TEXT,
                    "necessary": _REASONS,
                    "sufficient": _REASONS,
                    "counterfactuals": {
                        "type": "array",
                        "items": _object({"changes": _STATES, "decision": _TEXT}, {"certain": {"type": "boolean"}}),
                    },
                },
                {"unknown": _TEXTS},
                closed=False,
            ),
            "mentioned": _TEXTS,
            "without": {
                "oneOf": [
                    {"type": "null"},
                    _object(
                        {
                            "features": _TEXTS,
                            "holds": {"type": "boolean"},
                            "changes": _STATES,
                            "decision": _OPTIONAL_TEXT,
                            "certain": {"type": "boolean"},
                        }
                    ),
                ]
            },
            "html": {"type": "object", "additionalProperties": _TEXT},
        }
    ),
    "Pair": _object({"one": _INSTANCE, "other": _INSTANCE}),
    "Comparison": _object(
        {
            "congruent": {"type": "boolean"},
            "decisions": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
            "differences": {
                "type": "array",
                "items": _object({"feature": _TEXT, "one": _OPTIONAL_TEXT, "other": _OPTIONAL_TEXT}),
            },
            "common_reason": {"oneOf": [{"type": "null"}, _STATES]},
            "witness": {"oneOf": [{"type": "null"}, _object({"changes": _STATES, "decision": _OPTIONAL_TEXT})]},
            "html": _TEXT,
        }
    ),
    "Rows": _object(
        {
            "total": {"type": "integer"},
            "rows": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
        }
    ),
}
