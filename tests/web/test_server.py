"""The server: who may ask, how much, how long, and many at once."""

import asyncio
import gzip
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from quia.cli import main
from quia.command import serve as serve_command
from quia.load import json as quia_json
from quia.web import models as models_module
from quia.web.models import Models
from web.conftest import Serve
from web.here import LONG, served_here
from web.loops import run_apart
from web.made_models import random_instance, random_tree
from web.test_pool import scripted

ROBIN = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


@pytest.fixture
def client(admissions: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=admissions, timeout=LONG) as found:
        yield found


def first_model(client: httpx.Client) -> str:
    return str(client.get("/api/models").json()["models"][0]["id"])


def test_only_its_own_names_are_answered(client: httpx.Client, admissions: str) -> None:
    port = urlsplit(admissions).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        assert client.get("/", headers={"host": host}).status_code == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port}.evil.example",
        "",
        "127.0.0.1:1",
    ):
        for path in ("/", "/api/models", "/assets/app.js", "/openapi.json"):
            assert client.get(path, headers={"host": host}).status_code == 403


def test_pages_of_other_sites_are_refused(client: httpx.Client, admissions: str) -> None:
    path, body = f"/api/models/{first_model(client)}/explain", {"instance": ROBIN}
    assert client.post(path, json=body, headers={"origin": admissions}).status_code == 200
    assert client.post(path, json=body).status_code == 200
    for origin in ("http://evil.example", "null", "https://" + admissions[7:], admissions + ".evil.example"):
        assert client.post(path, json=body, headers={"origin": origin}).status_code == 403
        assert client.get("/api/models", headers={"origin": origin}).status_code == 403
    assert client.get("/api/models", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    # What a form of another site could send without asking first is no question either.
    plain = client.post(path, content=json.dumps(body), headers={"content-type": "text/plain"})
    assert plain.status_code == 415


def test_rows_are_those_of_the_table_and_a_broken_one_is_told(serve: Serve, examples: Path, tmp_path: Path) -> None:
    """Were a short row filled up with anything, the page would explain somebody who is not there."""
    table = tmp_path / "t.csv"
    table.write_text("SAT,GPA\n1400,low\n1500\n1600,high\n")
    with httpx.Client(base_url=serve(examples / "admissions.json", "--data", table), timeout=LONG) as client:

        def rows(start: int, count: int) -> Any:
            return client.get(f"/api/rows?start={start}&count={count}").json()

        assert rows(1, 1) == {"total": 3, "rows": [{"SAT": "1400", "GPA": "low"}]}
        assert rows(3, 100) == {"total": 3, "rows": [{"SAT": "1600", "GPA": "high"}]}
        assert rows(4, 5) == {"total": 3, "rows": []}
        assert rows(1, 2) == rows(2, 1) == {"error": "t.csv, line 3: row 2 has 1 values and there are 2 columns"}
        for start, count in ((0, 1), (1, 101), ("x", 1), (1, -1)):
            assert client.get(f"/api/rows?start={start}&count={count}").status_code == 422


def test_a_scorecard_with_a_cutoff_of_its_own(serve: Serve, examples: Path) -> None:
    card = examples / "credit_scorecard.csv"
    names, values = (line.split(",") for line in (examples / "applicant.csv").read_text().splitlines())
    applicant = dict(zip(names, values, strict=True))
    with httpx.Client(base_url=serve(card, "--cutoff", "339.5", "--classes", "no,yes"), timeout=LONG) as client:
        model = first_model(client)
        assert client.get(f"/api/models/{model}").json()["classes"] == ["no", "yes"]
        answer = client.post(f"/api/models/{model}/explain", json={"instance": applicant}).json()
        assert answer["explanation"]["decision"] == "yes", "339.5 points are just enough"
        dropped = client.post("/api/models?name=card.csv", content=card.read_bytes()).json()
        assert dropped["classes"] == ["deny", "grant"], "what was said of the given model is not said of this"


def test_every_answer_has_the_policy(client: httpx.Client) -> None:
    for path in ("/", "/api/models", "/api/models/none", "/assets/app.js", "/nowhere", "/assets/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../application.py",
        "/assets/..%2fapplication.py",
        "/assets/%2e%2e/application.py",
        "/assets//etc/passwd",
        "/assets/index.html",
        "/api/models/..%2f..%2fadmissions.json",
        "/api/models/admissions.json",
        "/api/models/%00",
    ],
)
def test_no_path_leads_anywhere(path: str, admissions: str) -> None:
    host, port = urlsplit(admissions).hostname, urlsplit(admissions).port
    with socket.create_connection((str(host), int(port or 0))) as raw:  # a client would tidy the path up
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        assert raw.recv(12) == b"HTTP/1.1 404"


def test_a_folder_gives_its_models_and_nothing_else(tmp_path: Path, examples: Path) -> None:
    content = (examples / "luna.json").read_bytes()
    outside = tmp_path / "outside.json"
    outside.write_bytes(content)
    folder = tmp_path / "folder"
    (folder / "deeper").mkdir(parents=True)
    (folder / "in.json").write_bytes(content)
    (folder / "packed.json.gz").write_bytes(gzip.compress(content))
    (folder / ".hidden.json").write_bytes(content)
    (folder / "deeper" / "deep.json").write_bytes(content)
    (folder / "readme.txt").write_text("no model")
    (folder / "link.json").symlink_to(outside)
    (folder / "loop").symlink_to(folder / "loop")
    with Models(folder) as models:
        assert [model.name for model in models.listed()] == ["in.json", "packed.json.gz"]
        assert models.find(models.listed()[0].id) == models.listed()[0]
        assert models.find("../outside.json") is None


def test_a_file_name_may_be_no_text(serve: Serve, examples: Path, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.json"
    Path(os.fsdecode(name)).write_bytes((examples / "luna.json").read_bytes())
    with httpx.Client(base_url=serve(tmp_path), timeout=LONG) as client:
        [model] = client.get("/api/models").json()["models"]
        assert model["name"] == "\udcff.json"
        assert client.get(f"/api/models/{model['id']}").json()["name"] == model["name"]


def test_a_file_that_is_written_anew_is_another_model(tmp_path: Path, examples: Path) -> None:
    file = tmp_path / "m.json"
    file.write_bytes((examples / "luna.json").read_bytes())
    os.utime(file, ns=(1, 1))
    with Models(tmp_path) as models:
        before = models.listed()[0]
        assert models.find(before.id) == before
        os.utime(file, ns=(2, 2))
        assert models.find(before.id) is None
        after = models.listed()[0]
        assert after.id != before.id
        assert models.find(after.id) == after
        file.unlink()
        assert models.find(after.id) is None


def test_a_folder_lists_so_many_models_at_most(tmp_path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "MOST_LISTED", 3)
    for number in range(5):
        (tmp_path / f"{number}.json").write_bytes((examples / "luna.json").read_bytes())
    with Models(tmp_path) as models:
        assert [model.name for model in models.listed()] == ["0.json", "1.json", "2.json"]


def test_a_hundred_megabytes_are_refused_at_once(admissions: str) -> None:
    host, port = urlsplit(admissions).hostname, urlsplit(admissions).port
    head = f"POST /api/models?name=x HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/octet-stream\r\n"
    for length in ("Content-Length: 104857600\r\n", "Transfer-Encoding: chunked\r\n"):
        with socket.create_connection((str(host), int(port or 0)), timeout=300) as raw:
            raw.sendall((head + length + "\r\n").encode())
            if "chunked" in length:  # of unknown length: refused when the limit is passed, long before the end
                sent = 0
                chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
                try:
                    while sent < 100:
                        raw.sendall(chunk)
                        sent += 1
                except (ConnectionError, TimeoutError):
                    pass
                assert sent < 100
            else:  # nothing of it was sent
                assert raw.recv(12) == b"HTTP/1.1 413"


def test_a_bomb_is_refused(client: httpx.Client) -> None:
    bomb = gzip.compress(b"{") + gzip.compress(b" " * 2**20) * 1024  # a gigabyte in one megabyte
    assert len(bomb) < 2_000_000
    answer = client.post("/api/models?name=bomb.json.gz", content=bomb)
    assert answer.status_code == 422
    assert f"unpacks to more than {100 * len(bomb)} bytes, 100 times its size" in answer.json()["error"]
    nested = b'{"quia":' + b"[" * 2_000_000
    assert client.post("/api/models?name=deep.json", content=nested).status_code == 422


class Exploit:
    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> Any:
        return (Path.touch, (self.proof,))


def test_pickles_and_nonsense_are_refused(client: httpx.Client, tmp_path: Path) -> None:
    proof = tmp_path / "quia-was-exploited"
    for content in (pickle.dumps(Exploit(proof)), b"\x00\xff" * 100, b"", b"PK\x03\x04" + b"\0" * 100, b"<!DOCTYPE x>"):
        answer = client.post("/api/models?name=model.bin", content=content)
        assert answer.status_code == 422
        assert "exploited" not in answer.json()["error"]
        assert "/tmp" not in answer.json()["error"]
    assert not proof.exists()


def test_a_skops_file_is_read_and_one_that_asks_for_more_is_not(client: httpx.Client) -> None:
    io, tree = pytest.importorskip("skops.io"), pytest.importorskip("sklearn.tree")
    fitted = tree.DecisionTreeClassifier().fit([[0, 1], [1, 0], [2, 1]], ["a", "b", "a"])
    described = client.post("/api/models?name=tree.skops", content=io.dumps(fitted))
    assert described.status_code == 201, described.text
    model = described.json()
    answer = client.post(f"/api/models/{model['id']}/explain", json={"instance": model["example"]})
    assert answer.json()["explanation"]["decision"] in ("a", "b")
    fitted.more = Path.touch
    refused = client.post("/api/models?name=tree.skops", content=io.dumps(fitted))
    assert refused.status_code == 422
    assert "not known to be safe" in refused.json()["error"]


def test_a_dropped_model_answers_and_an_unknown_one_does_not(client: httpx.Client, examples: Path) -> None:
    described = client.post("/api/models?name=luna.json", content=(examples / "luna.json").read_bytes())
    assert described.status_code == 201
    model = described.json()
    answer = client.post(f"/api/models/{model['id']}/explain", json={"instance": model["example"]})
    assert answer.status_code == 200
    assert answer.json()["explanation"]["decision"] in model["classes"]
    assert client.get("/api/models/0123456789abcdef").status_code == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "instance is missing"),
        ({"instance": []}, "must be an object"),
        ({"instance": {"SAT": []}}, "it must be a string, a number"),
        ({"instance": {"SAT": 1}}, "no value for 'GPA'"),
        ({"instance": ROBIN, "against": "accept"}, "did you mean 'Accept'"),
        ({"instance": ROBIN, "frozen": ["Sat"]}, "no feature"),
        ({"instance": ROBIN, "costs": {"SAT": 0}}, "above 0"),
        ({"instance": ROBIN, "without": "SAT"}, "list of features"),
        ({"instance": ROBIN, "limit": 1000}, "from 0 to 100"),
        ({"instance": ROBIN, "more": 1}, "it may have"),
        ([], "must be an object"),
    ],
)
def test_faulty_questions_get_a_sentence(client: httpx.Client, body: Any, said: str) -> None:
    answer = client.post(f"/api/models/{first_model(client)}/explain", json=body)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


def test_why_not_what_is_decided_is_why(client: httpx.Client) -> None:
    path = f"/api/models/{first_model(client)}/explain"
    asked, plain = (client.post(path, json={"instance": ROBIN, "against": c}) for c in ("Reject", None))
    assert asked.json() == plain.json()
    assert asked.json()["explanation"]["against"] is None


def test_questions_that_are_no_json(client: httpx.Client) -> None:
    path = f"/api/models/{first_model(client)}/explain"
    for content in (b"", b"{", b'{"instance": NaN}', b"[" * 100_000, b"\xff"):
        answer = client.post(path, content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 422
    large = b'{"instance": {"SAT": "' + b"x" * 2**20 + b'"}}'
    assert client.post(path, content=large, headers={"content-type": "application/json"}).status_code == 413


def test_fifty_clients_at_once_each_get_their_own_answers(serve: Serve, tmp_path: Path) -> None:
    """Every answer echoes the question's instance and decision; none is lost or another's."""
    graph = random_tree(leaves=650, numeric=7, nominal=7, classes=2, seed=1)
    file = tmp_path / "tree.json"
    quia_json.write(graph, file)
    address = serve(file)

    async def edits(client: httpx.AsyncClient, path: str, number: int) -> None:
        for step in range(3):
            instance = random_instance(graph, 100 * number + step)
            answer = await client.post(path, json={"instance": instance, "limit": 3})
            assert answer.status_code == 200, answer.text
            found = answer.json()["explanation"]
            assert found["instance"] == instance
            assert found["decision"] == graph.classify(instance)

    async def run() -> None:
        limits = httpx.Limits(max_connections=60)
        async with httpx.AsyncClient(base_url=address, timeout=LONG, limits=limits) as client:
            model = (await client.get("/api/models")).json()["models"][0]["id"]
            await asyncio.gather(*(edits(client, f"/api/models/{model}/explain", n) for n in range(50)))

    run_apart(run)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_quiet_and_leaves_nothing(stop: signal.Signals, examples: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quia", "serve", "--port", "0", "--workers", "2"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[2].rstrip("/")
        dropped = httpx.post(f"{address}/api/models", content=(examples / "luna.json").read_bytes(), timeout=LONG)
        assert dropped.status_code == 201
        assert len(list(tmp_path.glob("quia-*/*"))) == 1
        server.send_signal(stop)
        _, faults = server.communicate(timeout=300)
    assert (server.returncode, faults) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_stopping_with_work_under_way_is_quiet_and_waits_for_nothing(tmp_path: Path) -> None:
    """The only worker reads a pipe that never ends, and others wait for it: stopping waits for none of them."""
    pipe = tmp_path / "model.json"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "quia", "serve", str(pipe), "--format", "json", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        [*command, "--seconds", "3600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[2].rstrip("/")
        model = httpx.get(f"{address}/api/models", timeout=LONG).json()["models"][0]["id"]
        answers: list[int] = []

        def ask() -> None:
            try:
                found = httpx.get(f"{address}/api/models/{model}", timeout=LONG).status_code
            except httpx.TransportError:
                found = 0
            answers.append(found)

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        with pipe.open("w"):  # opened when the worker has
            server.send_signal(signal.SIGINT)
            _, faults = server.communicate(timeout=300)
        for asker in askers:
            asker.join(300)
    assert (server.returncode, faults) == (0, "")
    assert len(answers) == 4
    assert set(answers) <= {0, 503}


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["nowhere.json"], "no such file or folder"),
        (["--data", "nowhere.csv"], "cannot be read"),
        (["--host", "256.0.0.1"], "try another --host"),
        (["--host", "x" * 70], "try another --host"),
        (["rows.csv"], "learn a tree from them: quia learn rows.csv -o tree.json"),
        (["model.pkl"], "a pickle, which quia serve never reads; if you trust its maker"),
        ([".", "--cutoff", "5"], "cutoff can only be given for one MODEL that is a file; name the file, or write it"),
        (["--range", "age=0:5"], "ranges can only be given for one MODEL that is a file"),
    ],
)
def test_faults_at_the_start_are_one_sentence(
    arguments: list[str],
    match: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    assert main(["serve", "--port", "0", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert match in told


@pytest.mark.parametrize("package", ["msgspec", "starlette", "uvicorn"])
def test_a_package_that_is_missing_says_how_to_get_it(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_command, "find_spec", lambda name: None if name == package else object())
    assert main(["serve"]) == 2
    assert capsys.readouterr().err == f"quia: quia serve needs {package}; pip install 'quia[web]'\n"


def test_a_port_that_is_taken_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 2
    assert "try another --port" in capsys.readouterr().err


def test_a_folder_without_models_says_so(tmp_path: Path) -> None:
    """And stopping it at once is as quiet as later: a signal that came before all was imported could be lost."""
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-m", "quia", "serve", "--port", "0", "--workers", "1", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert server.stdout.readline().startswith(f"There is no model in {tmp_path} yet")
        server.send_signal(signal.SIGINT)
        _, faults = server.communicate(timeout=300)
    assert (server.returncode, faults) == (0, "")


def test_work_is_cancelled_when_its_client_leaves(examples: Path, gate: Path) -> None:
    pool = scripted(1)
    pool.grace = 0.1
    ask = pool.ask

    async def at_the_gate(request: dict[str, Any]) -> bytes:
        return await ask({**request, "do": "echo" if request["do"] == "describe" else "wait", "gate": str(gate)})

    pool.ask = at_the_gate  # type: ignore[method-assign]
    with served_here(pool, examples / "admissions.json") as here, here.client() as client:
        model = first_model(client)
        first = client.get(f"/api/models/{model}").json()["pid"]
        body = b'{"instance": {}}'
        with here.connect() as leaving:
            leaving.sendall(
                f"POST /api/models/{model}/explain HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            opened = gate.open("w")  # opened when the worker has, and never closed while it waits
        with opened:
            # The only worker would never answer again, had it not been ended.
            assert client.get(f"/api/models/{model}").json()["pid"] != first
