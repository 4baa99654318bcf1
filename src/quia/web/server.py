"""Starting the server."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterable

import uvicorn

from quia.errors import Unsupported
from quia.web.application import application
from quia.web.connection import DEFAULT, Patience, patient
from quia.web.guard import Guard, own_hosts
from quia.web.models import Models
from quia.web.pool import Pool
from quia.web.rows import Rows


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(256)
    except (OSError, UnicodeError) as fault:
        listening.close()
        about_host = isinstance(fault, (socket.gaierror, UnicodeError)) or fault.errno == errno.EADDRNOTAVAIL
        reason = getattr(fault, "strerror", None) or str(fault)
        raise Unsupported(
            f"cannot serve on {host} port {port}: {reason}", cure=f"try another {'--host' if about_host else '--port'}"
        ) from None
    return listening


def serve(
    models: Models,
    rows: Rows | None,
    *,
    listening: socket.socket,
    names: Iterable[str],
    ready: Callable[[str], None],
    workers: int,
    seconds: float,
    memory: int,
    largest: int,
    timeout: float,
    patience: Patience = DEFAULT,
) -> None:
    """Serve until interrupted; `ready` is told the address once it is served."""
    host, port = listening.getsockname()[:2]
    pool = Pool(size=workers, seconds=seconds, memory=memory, largest=8 * largest, timeout=timeout)
    config = configured(models, rows, pool, hosts=own_hosts(host, port, names), largest=largest, patience=patience)

    class Server(uvicorn.Server):
        async def main_loop(self) -> None:
            # Only now does a signal stop it quietly; while modules are still imported, Python may lose one.
            ready(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
            await super().main_loop()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            pool.stop()  # nobody should wait for answers that take long, not even the one who stops the server
            await super().shutdown(sockets)

    Server(config).run(sockets=[listening])


def configured(
    models: Models, rows: Rows | None, pool: Pool, *, hosts: Iterable[str], largest: int, patience: Patience
) -> uvicorn.Config:
    """The application behind its guard, and how uvicorn is to run it."""
    return uvicorn.Config(
        Guard(application(models, rows, pool, largest=largest, patience=patience), hosts=hosts),
        http=patient(patience),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 * 1024,
    )


def default_workers() -> int:
    """As many as there are cores, and two more, so that a slow question leaves room for quick ones."""
    return min(os.cpu_count() or 2, 8) + 2
