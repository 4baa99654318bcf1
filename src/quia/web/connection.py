"""How long a client may take: one that sends its request a byte at a time, or never reads its answer, is cut off.

uvicorn limits only how long a connection may be idle between two requests, and any byte ends that limit.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Patience(NamedTuple):
    """How much time clients have, in seconds, and how many of them there may be.

    `head` is for a request's first line and headers. A body has `body`, and a second more for every `rate` bytes of it
    that came: a large file over a slow line arrives, a drip does not. An answer must be read on within `body` too.
    """

    head: float = 10.0
    body: float = 30.0
    rate: int = 2**16
    connections: int = 500

    def for_body(self, size: int) -> float:
        """How many seconds after its beginning a body must go on or end, of which so many bytes came.

        >>> Patience(body=30, rate=1000).for_body(60_000)
        90.0
        """
        return self.body + size / self.rate


DEFAULT = Patience()


def patient(patience: Patience) -> type[H11Protocol]:
    """uvicorn's protocol, with so much patience."""

    class Patient(H11Protocol):
        late: asyncio.TimerHandle | None = None
        waits_for: str = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > patience.connections:
                self.refuse(503, "too many connections are open; close some")
            else:
                self.wait_for("head")

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.transport.is_closing():
                return
            if self.conn.their_state is h11.IDLE:
                self.wait_for("head")
            elif self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE:
                self.wait_for("rest")  # of a body that nobody reads, as the answer is sent
            else:
                self.wait_for("")

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if unsent := self.transport.get_write_buffer_size():
                self.loop.call_later(patience.body, self.abort_if_stuck, unsent)

        def connection_lost(self, exc: Exception | None) -> None:
            self.wait_for("")
            super().connection_lost(exc)

        def wait_for(self, what: str) -> None:
            """Begin to wait for this, unless that has begun; "" is nothing."""
            if what == self.waits_for:
                return
            if self.late is not None:
                self.late.cancel()
            seconds = patience.head if what == "head" else patience.body
            self.waits_for, self.late = what, self.loop.call_later(seconds, self.cut_off) if what else None

        def cut_off(self) -> None:
            if self.transport.is_closing():
                return
            if self.waits_for == "head" and self.conn.trailing_data[0]:
                self.refuse(408, f"the request took longer than {patience.head:g} seconds for its headers")
            else:
                self.transport.close()

        def refuse(self, status: int, sentence: str) -> None:
            body = json.dumps({"error": sentence}).encode()
            line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
            headers = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
            self.transport.write(f"{line}\r\n{headers}\r\n\r\n".encode() + body)
            self.transport.close()

        def abort_if_stuck(self, unsent: int) -> None:
            """End a connection whose client has not taken a byte of its answer since the last look."""
            now = self.transport.get_write_buffer_size()
            if now and now >= unsent:
                self.transport.abort()
            elif now:
                self.loop.call_later(patience.body, self.abort_if_stuck, now)

    return Patient
