"""Who may ask: only pages of this server itself, under a name that is its own.

A browser lets any page send requests to this machine. The Host check stops names that were rebound to it, the Origin
and Sec-Fetch checks stop pages of other sites, and the headers stop this page from loading or sending anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """An application that refuses requests that do not come from its own page, and closes what answers could open."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str]) -> None:
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        fault = self._fault(Headers(scope=scope), scope["method"])

        async def send_closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if fault is None:
            await self.app(scope, receive, send_closed)
            return
        body = json.dumps({"error": fault}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send_closed({"type": "http.response.start", "status": 403, "headers": headers})
        await send_closed({"type": "http.response.body", "body": body})

    def _fault(self, headers: Headers, method: str) -> str | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "this server is not called that; open the address that it printed"
        origins = headers.getlist("origin")
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return "a page of another site may not ask here"
        site = headers.get("sec-fetch-site", "none")
        # Following a link to the page is fine; loading its answers into another page is not.
        opened = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if site not in ("same-origin", "none") and not opened:
            return "a page of another site may not ask here"
        return None


def own_hosts(host: str, port: int, more: Iterable[str] = ()) -> set[str]:
    """The Host headers that mean this server.

    >>> sorted(own_hosts("127.0.0.1", 80))[:2]
    ['127.0.0.1', '127.0.0.1:80']
    """
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host, *more}
    return {f"{name}:{port}" for name in names} | (names if port == 80 else set())
