"""The OpenAPI document: the types of `schema`, and the paths and statuses of the few endpoints."""

from __future__ import annotations

from typing import Any

import msgspec

from quia.web import schema

_TYPES = (
    *(schema.Fault, schema.Models, schema.Model, schema.Question, schema.Answer),
    *(schema.Pair, schema.Comparison, schema.Rows),
)
_STATUSES = {
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


def document(largest: int) -> dict[str, Any]:
    """The document; it says what `application` does."""
    from quia import __version__

    model = {"name": "model", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    _, components = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
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
                "get": _operation("listModels", "The models there are", _json(schema.Models)),
                "post": {
                    **_operation(
                        "dropModel",
                        "Drop a model file",
                        _json(schema.Model),
                        *(408, 413, 422, 500, 503, 507),
                        made=True,
                    ),
                    "parameters": _query(schema.DroppedFile),
                    "requestBody": {
                        "required": True,
                        "description": f"the file, at most {largest} bytes; .gz is read as it is; never pickle",
                        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                    },
                },
            },
            "/api/models/{model}": {
                "parameters": [model],
                "get": _operation("describeModel", "The features and classes", _json(schema.Model), 404, 422, 500, 503),
            },
            "/api/models/{model}/explain": {
                "parameters": [model],
                "post": _asked("explain", "Why, and what would change it", schema.Question, _json(schema.Answer)),
            },
            "/api/models/{model}/report": {
                "parameters": [model],
                "post": _asked(
                    "report",
                    "The answer as one HTML file",
                    schema.Question,
                    {"text/html": {"schema": {"type": "string"}}},
                ),
            },
            "/api/models/{model}/compare": {
                "parameters": [model],
                "post": _asked("compare", "Are two instances decided alike?", schema.Pair, _json(schema.Comparison)),
            },
            "/api/rows": {
                "get": {
                    **_operation("rows", "Rows of the table", _json(schema.Rows), 404, 422),
                    "parameters": _query(schema.RowsWanted),
                }
            },
        },
        "components": {"schemas": components},
    }


def json_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of one type by itself, called as its own key `schema` says."""
    made = msgspec.json.schema(kind)
    [name] = made["$defs"][kind.__name__]["properties"]["schema"]["enum"]
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:" + name.replace("/", ":", 1)}
    return {**about, "title": name, **made}


def _json(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}


def _operation(
    identity: str, summary: str, content: dict[str, Any], *faults: int, made: bool = False
) -> dict[str, Any]:
    refusals = {
        str(code): {"description": _STATUSES[code], "content": _json(schema.Fault)} for code in sorted({403, *faults})
    }
    answer = {"201" if made else "200": {"description": "the answer", "content": content}}
    return {"operationId": identity, "summary": summary, "responses": {**answer, **refusals}}


def _asked(identity: str, summary: str, body: type[msgspec.Struct], content: dict[str, Any]) -> dict[str, Any]:
    return {
        **_operation(identity, summary, content, 404, 408, 413, 415, 422, 500, 503),
        "requestBody": {"required": True, "content": _json(body)},
    }


def _query(kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    fields = msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"]
    return [{"name": name, "in": "query", "schema": field} for name, field in fields.items()]
