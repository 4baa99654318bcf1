"""A server in this process, so that a test may choose its limits and its workers, and see its connections."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import httpx
import uvicorn

from quia.web.connection import Patience
from quia.web.guard import own_hosts
from quia.web.models import Models
from quia.web.pool import Pool
from quia.web.server import configured

LONG = 3600.0
"""A limit that no test comes near, however busy the machine is."""
PATIENT = Patience(head=LONG, body=LONG)


class Here(NamedTuple):
    """A running server."""

    port: int
    server: uvicorn.Server
    models: Models

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=LONG)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=300)

    @property
    def connections(self) -> list[Any]:
        return list(self.server.server_state.connections)


@contextmanager
def served_here(pool: Pool, source: Path | None = None, *, patience: Patience = PATIENT) -> Iterator[Here]:
    """The application over these workers, until the context ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    with listening, Models(source) as models:
        hosts = own_hosts("127.0.0.1", port)
        config = configured(models, None, pool, hosts=hosts, largest=2**20, patience=patience)
        server = uvicorn.Server(config)

        def run() -> None:
            asyncio.run(server.serve(sockets=[listening]))

        thread = threading.Thread(target=run)
        thread.start()
        try:
            until(lambda: server.started)
            yield Here(port, server, models)
        finally:
            server.should_exit = True
            thread.join(60)
        assert not thread.is_alive()


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come; the limit is only there so that a test that fails ends."""
    last = monotonic() + 300
    while not holds():
        assert monotonic() < last
        sleep(0.005)
