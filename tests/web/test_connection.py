"""Clients that take their time: those who drip, hang or hoard are cut off, those who are only slow are not."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quia.web.connection import Patience
from web.here import LONG, PATIENT, Here, served_here, until
from web.test_pool import scripted

SHORT = 0.3
"""So soon that a test is quick. No test needs a client that is quicker: those who are cut off try again."""


@pytest.fixture(scope="module")
def hasty() -> Iterator[Here]:
    with served_here(scripted(1), patience=Patience(head=SHORT, body=SHORT)) as here:
        yield here


@pytest.fixture(scope="module")
def patient(examples: Path) -> Iterator[Here]:
    with served_here(scripted(1), examples / "admissions.json") as here:
        yield here


def head(here: Here, line: str = "GET /", **more: Any) -> bytes:
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
    return f"{line} HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\n{fields}\r\n".encode()


def answer(raw: socket.socket) -> tuple[int, dict[str, Any], bytes]:
    """One answer, read to its end and no further: its status, headers and body."""
    stream = raw.makefile("rb", buffering=0)
    told = stream.readline().split()
    headers = {}
    while (line := stream.readline().strip()) and b":" in line:
        name, _, value = line.partition(b":")
        headers[name.decode().lower()] = value.strip().decode()
    body = b""
    while len(body) < int(headers.get("content-length", 0)):
        body += stream.read(int(headers["content-length"]) - len(body)) or pytest.fail("the answer is cut off")
    return int(told[1]) if told else 0, headers, body


def drip(raw: socket.socket, data: bytes) -> bytes:
    """Send bytes one by one until the server has had enough; what it says then."""
    said = b""
    raw.settimeout(0.01)
    for place in range(len(data)):
        try:
            raw.sendall(data[place : place + 1])
            said = raw.recv(1)
        except TimeoutError:
            continue
        except ConnectionError:
            pass
        break
    else:
        pytest.fail("all of it was taken")
    raw.settimeout(300)
    with suppress(ConnectionError):  # the last byte may have come too late
        while more := raw.recv(4096):
            said += more
    return said


ENDLESS = b"x: " + b"y" * 30_000


def kept_alive(here: Here) -> socket.socket:
    """A connection that has had one answer."""
    while True:
        raw = here.connect()
        try:
            raw.sendall(head(here))
            if answer(raw)[0] == 200:
                return raw
        except ConnectionError:
            pass
        raw.close()  # the machine was so busy that even this took too long


def test_headers_that_drip_are_cut_off(hasty: Here) -> None:
    with hasty.connect() as raw:
        said = drip(raw, head(hasty)[:-2] + ENDLESS)
        assert said.startswith(b"HTTP/1.1 408 ")
        assert json.loads(said.partition(b"\r\n\r\n")[2]) == {
            "error": f"the request took longer than {SHORT:g} seconds for its headers"
        }


def test_the_next_request_of_a_connection_may_not_drip_either(hasty: Here) -> None:
    with kept_alive(hasty) as raw:
        assert drip(raw, head(hasty)[:-2] + ENDLESS).startswith(b"HTTP/1.1 408 ")


def test_a_silent_connection_is_closed(hasty: Here) -> None:
    with hasty.connect() as raw:
        assert raw.recv(1) == b""
    until(lambda: not hasty.connections)


def test_a_body_that_drips_is_cut_off(hasty: Here) -> None:
    while True:
        with hasty.connect() as raw:
            raw.sendall(head(hasty, "POST /api/models", content_length=10**6))
            said = drip(raw, b"{" * 10**6)
        if b"for its headers" not in said:
            break
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"send it faster" in said


def test_a_body_that_nobody_reads_may_not_drip_either(hasty: Here) -> None:
    """The page is answered before the body has come; then every byte would keep the connection."""
    while True:
        with hasty.connect() as raw:
            raw.sendall(head(hasty, content_length=10**6))
            if answer(raw)[0] == 200:
                assert drip(raw, b"x" * 10**6) == b""
                return


def test_what_comes_slowly_but_comes_is_taken(patient: Here) -> None:
    """Headers and body in pieces, on one connection, time and again: no limit is left behind."""
    content = b'{"instance": {}}'
    model = patient.models.listed()[0].id
    asked = head(
        patient,
        f"POST /api/models/{model}/explain",
        content_type="application/json",
        content_length=len(content),
    )
    with patient.connect() as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(3):
            for place in range(len(asked)):
                raw.sendall(asked[place : place + 1])
            until(lambda: len(patient.connections) == 1 and patient.connections[0].waits_for == "")
            for place in range(len(content)):
                raw.sendall(content[place : place + 1])
            assert answer(raw)[0] == 200


def test_the_more_of_a_body_came_the_longer_it_may_take() -> None:
    """Each byte gives a second more: what would be far too late for the first bytes is early for the rest."""
    with served_here(scripted(1), patience=Patience(head=LONG, body=SHORT, rate=1)) as here, here.connect() as raw:
        raw.sendall(head(here, "POST /api/models", content_length=2000) + b"x" * 1000)
        raw.settimeout(2 * SHORT)
        with pytest.raises(TimeoutError):
            raw.recv(1)
        raw.settimeout(300)
        raw.sendall(b"x" * 1000)
        assert answer(raw)[0] == 201


def test_an_answer_that_nobody_reads_is_let_go() -> None:
    pool = scripted(1)

    async def much(request: dict[str, Any]) -> bytes:
        return b"x" * 2**25  # more than the sockets' own buffers hold

    pool.ask = much  # type: ignore[method-assign]
    with served_here(pool, patience=PATIENT._replace(body=SHORT)) as here, here.connect() as raw:
        raw.sendall(head(here, "POST /api/models", content_length=1) + b"x")
        assert raw.recv(1) == b"H"
        until(lambda: not here.connections)


def test_an_answer_that_is_read_slowly_comes_whole() -> None:
    pool = scripted(1)

    async def much(request: dict[str, Any]) -> bytes:
        return b"x" * 2**25

    pool.ask = much  # type: ignore[method-assign]
    with served_here(pool) as here, here.connect() as raw:
        raw.sendall(head(here, "POST /api/models", content_length=1) + b"x")
        assert len(answer(raw)[2]) == 2**25


def test_only_so_many_connections_are_open_at_once() -> None:
    with served_here(scripted(1), patience=PATIENT._replace(connections=3)) as here:
        first = [here.connect() for _ in range(3)]
        until(lambda: len(here.connections) == 3)
        with here.connect() as raw:
            assert answer(raw)[0] == 503
        until(lambda: len(here.connections) == 3)
        first.pop().close()
        until(lambda: len(here.connections) == 2)
        for raw in first:
            raw.sendall(head(here))
            assert answer(raw)[0] == 200
            raw.close()
