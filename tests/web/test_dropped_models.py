"""Dropped models: whoever fails, leaves or drops much takes nothing from the others."""

import errno
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from quia.web import models as models_module
from quia.web.models import Models
from quia.web.pool import Fault, Pool
from web.here import LONG, Here, served_here, until
from web.test_pool import scripted


def at_a_gate(gate: Path, *, held: bytes) -> Pool:
    """A worker that answers at once, but about a file of this name only when the gate is opened and closed."""
    pool = scripted(1)
    pool.grace = 0.1
    ask = pool.ask

    async def asked(request: dict[str, Any]) -> bytes:
        waits = request["name"] == held.decode()
        return await ask({**request, "do": "wait" if waits else "echo", "gate": str(gate), "echo": request["name"]})

    pool.ask = asked  # type: ignore[method-assign]
    return pool


def drop(here: Here, name: bytes, content: bytes) -> Any:
    """Drop a file and do not wait for the answer."""
    raw = here.connect()
    raw.sendall(
        b"POST /api/models?name=%b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n%b"
        % (name, here.port, len(content), content)
    )
    return raw


def files(models: Models) -> list[Path]:
    return sorted(Path(models._folder.name).iterdir())


def names(client: httpx.Client) -> list[str]:
    return [model["name"] for model in client.get("/api/models").json()["models"]]


def test_dropping_the_same_again_and_leaving_takes_nothing_away(gate: Path) -> None:
    with served_here(at_a_gate(gate, held=b"again")) as here, here.client() as client:
        assert client.post("/api/models?name=first", content=b"a model").status_code == 201
        leaving = drop(here, b"again", b"a model")
        with gate.open("w"):
            leaving.close()
            # The only worker waits at the gate: this is answered when it was ended, as nobody waits for it.
            identity = client.get("/api/models").json()["models"][0]["id"]
            assert client.get(f"/api/models/{identity}").json()["echo"] == "first"
        assert names(client) == ["first"]
        assert [file.read_bytes() for file in files(here.models)] == [b"a model"]


def test_of_two_who_drop_the_same_at_once_one_may_leave(gate: Path) -> None:
    with served_here(at_a_gate(gate, held=b"leaves")) as here, here.client() as client:
        leaving = drop(here, b"leaves", b"a model")
        with gate.open("w"), drop(here, b"stays", b"a model") as staying:
            until(lambda: here.models._in_use.total() == 2)
            leaving.close()
            assert staying.recv(12) == b"HTTP/1.1 201"
        assert names(client) == ["stays"]
        assert [file.read_bytes() for file in files(here.models)] == [b"a model"]


def test_what_is_still_tried_is_not_listed_and_what_failed_leaves_nothing(gate: Path) -> None:
    with served_here(at_a_gate(gate, held=b"held")) as here, here.client() as client:
        leaving = drop(here, b"held", b"a model")
        with gate.open("w"):
            assert names(client) == []
            leaving.close()
            until(lambda: not files(here.models))
        assert names(client) == []


def test_a_full_disk_is_told_and_leaves_no_half_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        write(self, data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with served_here(scripted(1)) as here, here.client() as client:
        monkeypatch.setattr(Path, "write_bytes", full)
        refused = client.post("/api/models?name=m", content=b"a model")
        assert (refused.status_code, refused.json()["error"]) == (
            507,
            "the file cannot be kept here: No space left on device; drop it again later",
        )
        assert files(here.models) == []
        monkeypatch.undo()
        assert client.post("/api/models?name=m", content=b"a model").status_code == 201
        assert [file.read_bytes() for file in files(here.models)] == [b"a model"]


def test_bad_files_drive_no_good_one_out(examples: Path) -> None:
    pool = Pool(size=1, seconds=LONG, memory=2**31, largest=2**24)
    with served_here(pool) as here, here.client() as client:
        assert client.post("/api/models?name=good", content=(examples / "luna.json").read_bytes()).status_code == 201
        for number in range(models_module.MOST_DROPPED + 3):
            assert client.post("/api/models?name=bad", content=b"nonsense %d" % number).status_code == 422
        assert names(client) == ["good"]
        assert len(files(here.models)) == 1


def kept(models: Models, content: str) -> Any:
    with models.dropped(content.encode(), content) as model:
        return model


def test_the_one_used_longest_ago_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "MOST_DROPPED", 3)
    with Models(None) as models:
        a, _, c = (kept(models, name) for name in "abc")
        with models.in_use(a):
            pass
        kept(models, "d")
        assert [model.name for model in models.listed()] == ["c", "a", "d"]
        kept(models, "c")  # dropping a file again is using it
        kept(models, "e")
        assert [model.name for model in models.listed()] == ["d", "c", "e"]
        assert len(files(models)) == 3
        assert models.find(a.id) is None
        assert models.find(c.id) == c


def test_a_file_stays_while_a_question_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "MOST_DROPPED", 1)
    with Models(None) as models:
        a = kept(models, "a")
        with models.in_use(a):
            with models.in_use(a):
                kept(models, "b")
                assert models.find(a.id) is None
            assert Path(a.path).read_text() == "a"
        assert not Path(a.path).exists()


def test_a_file_that_is_there_is_not_written_anew() -> None:
    """A worker may be reading it."""
    with Models(None) as models:
        a = kept(models, "a")
        os.utime(a.path, ns=(1, 1))
        with pytest.raises(Fault), models.dropped(b"a", "again"):
            raise Fault(422, "failed")
        kept(models, "a")
        assert Path(a.path).stat().st_mtime_ns == 1
