"""Worker processes: an answer each, within limits, stopped when nobody waits."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from quia.web.pool import Fault, Pool
from web.loops import run_apart

# Answers a request {"do": "sleep", "seconds": s} after s seconds with its own process id.
SLEEPER = """
import json, os, sys, time
while head := sys.stdin.buffer.read(4):
    request = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
    if request["do"] == "die":
        os._exit(1)
    time.sleep(request.get("seconds", 0))
    reply = b"+" + json.dumps({"pid": os.getpid(), "echo": request.get("echo")}).encode()
    sys.stdout.buffer.write(len(reply).to_bytes(4, "big") + reply)
    sys.stdout.buffer.flush()
"""


def sleepers(size: int, seconds: float = 30) -> Pool:
    return Pool(size=size, seconds=seconds, memory=0, largest=0, command=[sys.executable, "-c", SLEEPER])


async def ask(pool: Pool, **request: Any) -> dict[str, Any]:
    return dict(json.loads(await pool.ask({"model": "m", "do": "sleep", **request})))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_question_gets_its_own_answer() -> None:
    async def run() -> None:
        async with sleepers(3) as pool:
            answers = await asyncio.gather(*(ask(pool, echo=n, seconds=0.001 * (n % 7)) for n in range(100)))
        assert [answer["echo"] for answer in answers] == list(range(100))
        assert len({answer["pid"] for answer in answers}) == 3

    run_apart(run)


def test_a_slow_question_is_stopped_and_another_worker_takes_its_place() -> None:
    async def run() -> None:
        async with sleepers(1, seconds=4) as pool:
            first = (await ask(pool))["pid"]
            with pytest.raises(Fault, match=r"longer than 4 seconds"):
                await ask(pool, seconds=60)
            assert (await ask(pool))["pid"] != first
            assert not is_alive(first)

    run_apart(run)


def test_work_that_nobody_waits_for_is_ended() -> None:
    async def run() -> None:
        async with sleepers(1) as pool:
            first = (await ask(pool))["pid"]
            work = asyncio.create_task(ask(pool, seconds=60))
            await asyncio.sleep(0.1)
            work.cancel()
            before = time.monotonic()
            second = (await ask(pool))["pid"]
            assert time.monotonic() - before < 20
            assert second != first
            assert not is_alive(first)

    run_apart(run)


def test_a_quick_answer_that_nobody_waits_for_costs_no_worker() -> None:
    async def run() -> None:
        async with sleepers(1) as pool:
            first = (await ask(pool))["pid"]
            for _ in range(5):
                work = asyncio.create_task(ask(pool, seconds=0.02))
                await asyncio.sleep(0.005)
                work.cancel()
            assert (await ask(pool, echo="mine"))["echo"] == "mine"
            assert (await ask(pool))["pid"] == first

    run_apart(run)


def test_leaving_the_queue_loses_no_worker() -> None:
    async def run() -> None:
        async with sleepers(2) as pool:
            for round_ in range(10):
                tasks = [asyncio.create_task(ask(pool, seconds=0.01, echo=n)) for n in range(20)]
                await asyncio.sleep(0.003 * round_)
                for task in tasks[::2]:
                    task.cancel()
                done = await asyncio.gather(*tasks, return_exceptions=True)
                assert [answer["echo"] for answer in done if isinstance(answer, dict)][-1:] == [19]
            assert len({(await ask(pool))["pid"] for _ in range(10)}) <= 2
            assert len(await asyncio.gather(*(ask(pool) for _ in range(10)))) == 10

    run_apart(run)


def test_a_worker_that_dies_is_replaced() -> None:
    async def run() -> None:
        async with sleepers(1) as pool:
            with pytest.raises(Fault, match="was stopped"):
                await ask(pool, do="die")
            assert (await ask(pool, echo=1))["echo"] == 1

    run_apart(run)


def test_too_many_questions_are_refused() -> None:
    async def run() -> None:
        pool = sleepers(1)
        pool.waiting = 3
        async with pool:
            answers = await asyncio.gather(*(ask(pool, seconds=0.1) for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(answer, Fault) and answer.status == 503 for answer in answers) == 6
        assert sum(isinstance(answer, dict) for answer in answers) == 4

    run_apart(run)


def real_worker(memory: int = 2048, largest: int = 128, seconds: float = 60) -> Pool:
    return Pool(size=1, seconds=seconds, memory=memory * 2**20, largest=largest * 2**20)


def describe(file: Path) -> dict[str, Any]:
    return {"do": "describe", "model": file.name, "name": file.name, "path": str(file), "format": None}


@pytest.mark.parametrize("event", ["pickle", "program", "connection"])
def test_a_worker_never_unpickles_starts_programs_or_connects(event: str, tmp_path: Path) -> None:
    """Whatever a reader might do, now or later: it is refused by the process itself."""
    actions = {
        "pickle": "import pickle; pickle.loads(b'cos\\nsystem\\n(S\"true\"\\ntR.')",
        "program": "import subprocess; subprocess.run(['true'])",
        "connection": "import socket; socket.create_connection(('127.0.0.1', 9))",
    }
    reader = tmp_path / "bad_reader.py"
    reader.write_text(f"OPTIONS = ()\ndef read(data, file=None):\n    {actions[event]}\n")
    model = tmp_path / "model.txt"
    model.write_text("hello")
    # A format is added in the worker itself, as a careless loader would.
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pickle, subprocess, socket;"
        "from quia.load import FORMATS, Format;"
        "FORMATS['bad'] = Format('bad_reader', lambda head: True, 'bad');"
        "sys.argv = ['worker', str(2**31), '1000000']; from quia.web.worker import main; main()"
    )

    async def run() -> None:
        pool = Pool(size=1, seconds=60, memory=0, largest=0, command=[sys.executable, "-B", "-c", program])
        async with pool:
            with pytest.raises(Fault, match="which no model may"):
                await pool.ask(describe(model))

    run_apart(run)


def test_a_worker_has_only_so_much_memory(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_bytes(b'{"quia": [' + b"[]," * 4_000_000 + b"[]]}")

    async def run() -> None:
        async with real_worker(memory=300) as pool:
            with pytest.raises(Fault, match=r"too large|more memory"):
                await pool.ask(describe(model))

    run_apart(run)
