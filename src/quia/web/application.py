"""The application: a page, its assets, and a few questions that are answered in JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from quia.errors import InstanceError
from quia.web import schema
from quia.web.connection import Patience
from quia.web.models import Model, Models
from quia.web.openapi import document
from quia.web.pool import Fault, Pool
from quia.web.question import from_json, from_query
from quia.web.rows import Rows

LARGEST_QUESTION = 2**20
CLIENT_LEFT = 499
"""A status that nobody sees."""

_ASSETS = {
    "app.css": ("quia.web", "text/css"),
    "app.js": ("quia.web", "text/javascript"),
    "fields.js": ("quia.web", "text/javascript"),
    "options.js": ("quia.web", "text/javascript"),
    "page.css": ("quia.show", "text/css"),
    "page.js": ("quia.show", "text/javascript"),
}


def application(models: Models, rows: Rows | None, pool: Pool, *, largest: int, patience: Patience) -> Starlette:
    """The application over these models and rows, whose questions the pool answers."""

    async def index(_: Request) -> Response:
        return Response(_asset("quia.web", "index.html"), media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404)
        package, kind = _ASSETS[name]
        return Response(_asset(package, name), media_type=kind)

    async def listed(_: Request) -> Response:
        found = [schema.ModelName(model.id, model.name) for model in await asyncio.to_thread(models.listed)]
        table = None if rows is None else schema.Table(rows.name, len(rows.rows))
        return _json(schema.Models(found, table, largest))

    async def dropped(request: Request) -> Response:
        name = from_query(request.query_params, schema.DroppedFile).name
        data = await _body(request, largest, patience)
        if not data:
            raise Fault(422, "the file is empty; drop a model file")
        try:
            with models.dropped(data, name) as model:
                reply = await _while_here(request, pool.ask(_request("describe", model)))
        except OSError as fault:
            raise Fault(507, f"the file cannot be kept here: {fault.strerror or fault}; drop it again later") from None
        return Response(reply, 201, media_type="application/json")

    async def listed_or_dropped(request: Request) -> Response:
        return await (dropped if request.method == "POST" else listed)(request)

    async def described(request: Request) -> Response:
        model = await _model(request)
        with models.in_use(model):
            reply = await _while_here(request, pool.ask(_request("describe", model)))
        return Response(reply, media_type="application/json")

    def asked(do: str, kind: type[msgspec.Struct]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            model = await _model(request)
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise Fault(415, "the request must be application/json")
            with models.in_use(model):
                question = from_json(await _body(request, LARGEST_QUESTION, patience), kind)
                reply = await _while_here(request, pool.ask(_request(do, model, question)))
            if do != "report":
                return Response(reply, media_type="application/json")
            headers = {"content-disposition": 'attachment; filename="quia-report.html"'}
            return Response(reply, media_type="text/html", headers=headers)

        return answer

    async def picked(request: Request) -> Response:
        wanted = from_query(request.query_params, schema.RowsWanted)
        if rows is None:
            raise Fault(404, "no table was given; start quia serve with --data FILE.csv")
        last = min(wanted.start + wanted.count - 1, len(rows.rows))
        try:
            found = [rows.row(n) for n in range(wanted.start, last + 1)]
        except InstanceError as fault:
            raise Fault(422, str(fault)) from None
        return _json(schema.Rows(len(rows.rows), found))

    async def _model(request: Request) -> Model:
        found = await asyncio.to_thread(models.find, request.path_params["model"])
        if found is None:
            raise Fault(404, "there is no such model; it may have been let go, so choose or drop it again")
        return found

    async def described_by(_: Request) -> Response:
        return _json(document(largest))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with pool:
            yield

    return Starlette(
        routes=[
            Route("/", index),
            Route("/assets/{name}", asset),
            Route("/openapi.json", described_by),
            Route("/api/rows", picked),
            Route("/api/models", listed_or_dropped, methods=["GET", "POST"]),
            Route("/api/models/{model}", described, methods=["GET"]),
            Route("/api/models/{model}/explain", asked("explain", schema.Question), methods=["POST"]),
            Route("/api/models/{model}/report", asked("report", schema.Question), methods=["POST"]),
            Route("/api/models/{model}/compare", asked("compare", schema.Pair), methods=["POST"]),
        ],
        exception_handlers={Fault: _faulty, HTTPException: _faulty},
        lifespan=lifespan,
    )


def _request(do: str, model: Model, question: msgspec.Struct | None = None) -> dict[str, Any]:
    return {
        "do": do,
        "model": model.id,
        "name": model.name,
        "path": model.path,
        "format": model.format,
        "options": dict(model.options),
        "possible": dict(model.possible),
        "image_shape": model.image_shape,
        "question": msgspec.to_builtins(question),
    }


async def _body(request: Request, largest: int, patience: Patience) -> bytes:
    """The request's body, refused as soon as it is known to be too large."""
    too_large = Fault(413, f"the request holds more than {largest:,} bytes; send less")
    length = request.headers.get("content-length")
    # A client that is still sending may not listen; what is not much too large is read to its end, and thrown away.
    most = largest if length is None else 4 * largest
    if length is not None and (not length.isdecimal() or int(length) > most):
        raise too_large
    parts, size = [], 0
    try:
        begun = asyncio.get_running_loop().time()
        async with asyncio.timeout_at(begun + patience.for_body(0)) as deadline:
            async for part in request.stream():
                size += len(part)
                deadline.reschedule(begun + patience.for_body(size))
                if size > most:
                    raise too_large
                if size <= largest:
                    parts.append(part)
    except TimeoutError:
        seconds = patience.for_body(size)
        raise Fault(408, f"of the request {size:,} bytes came in {seconds:.3g} seconds; send it faster") from None
    except ClientDisconnect:
        raise Fault(CLIENT_LEFT, "the client left") from None
    if size > largest:
        raise too_large
    return b"".join(parts)


async def _while_here(request: Request, work: Awaitable[bytes]) -> bytes:
    """The work's answer; if the client leaves, the work is stopped."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Fault(CLIENT_LEFT, "the client left")
        return await working
    finally:
        working.cancel()
        leaving.cancel()


def _json(data: Any, status: int = 200) -> Response:
    # Not by msgspec: a file's name may have bytes that are no UTF-8, which only escapes can carry.
    return Response(json.dumps(msgspec.to_builtins(data), allow_nan=False), status, media_type="application/json")


async def _faulty(_: Request, fault: Exception) -> Response:
    if isinstance(fault, HTTPException):
        sentence = {404: "there is no such page", 405: "this cannot be done here"}.get(fault.status_code, fault.detail)
        response = _json(schema.Fault(sentence), fault.status_code)
        response.headers.update(fault.headers or {})
        return response
    assert isinstance(fault, Fault)
    unreadable = [schema.Unreadable(int(place), error) for place, error in fault.given.items()]
    features = [schema.AtFeature(**at) for at in fault.features]
    told = schema.Fault(fault.message, unreadable or msgspec.UNSET, features or msgspec.UNSET)
    response = _json(told, fault.status)
    if fault.status in (408, 413):
        response.headers["connection"] = "close"  # what is left of the body is not worth reading
    return response


@cache
def _asset(package: str, name: str) -> str:
    return files(package).joinpath("assets", name).read_text("utf-8")
