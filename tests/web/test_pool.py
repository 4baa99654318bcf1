"""Worker processes: an answer each, within limits, stopped when nobody waits."""

import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from quia.web import pool as pool_module
from quia.web.pool import Fault, Pool
from web.here import LONG
from web.loops import run_apart

# Answers with its own process id and what it is to echo: at once, when a gate (a FIFO) is opened and closed, or never.
SCRIPTED = """
import json, os, sys, time
while head := sys.stdin.buffer.read(4):
    request = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
    sys.stdout.buffer.write(b".")
    sys.stdout.buffer.flush()
    match request["do"]:
        case "die":
            with open(request["log"], "a") as log:
                log.write("died\\n")
            os.kill(os.getpid(), request["by"]) if request["by"] else os._exit(1)
        case "wait":
            open(request["gate"]).read()
        case "forever":
            time.sleep(10**6)
    reply = b"+" + json.dumps({"pid": os.getpid(), "echo": request.get("echo")}).encode()
    sys.stdout.buffer.write(len(reply).to_bytes(4, "big") + reply)
    sys.stdout.buffer.flush()
"""


def scripted(size: int, seconds: float = LONG) -> Pool:
    pool = Pool(size=size, seconds=seconds, memory=0, largest=0, command=[sys.executable, "-c", SCRIPTED])
    pool.grace = LONG
    return pool


async def ask(pool: Pool, **request: Any) -> dict[str, Any]:
    return dict(json.loads(await pool.ask({"model": "m", "do": "echo", **request})))


async def opened(gate: Path) -> Any:
    """The gate's other end, when a worker waits at it; closing it lets the worker go on."""
    return await asyncio.to_thread(gate.open, "w")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_question_gets_its_own_answer() -> None:
    async def run() -> None:
        async with scripted(3) as pool:
            answers = await asyncio.gather(*(ask(pool, echo=n) for n in range(100)))
        assert [answer["echo"] for answer in answers] == list(range(100))
        assert len({answer["pid"] for answer in answers}) == 3

    run_apart(run)


def test_a_slow_question_is_stopped_and_another_worker_takes_its_place() -> None:
    async def run() -> None:
        async with scripted(1) as pool:
            first = (await ask(pool))["pid"]
            pool.seconds = 0.25
            with pytest.raises(Fault, match=r"longer than 0.25 seconds"):
                await ask(pool, do="forever")
            pool.seconds = LONG
            assert (await ask(pool))["pid"] != first
            assert not is_alive(first)

    run_apart(run)


def test_the_start_of_a_process_is_not_counted_as_the_questions_time(gate: Path) -> None:
    """A process that starts slowly, as on a busy machine, still has the question's whole time for it."""
    program = f"open({str(gate)!r}).read()\n{SCRIPTED}"

    async def run() -> None:
        async with Pool(size=1, seconds=0, memory=0, largest=0, command=[sys.executable, "-c", program]) as pool:
            question = asyncio.create_task(ask(pool, echo="mine"))
            with await opened(gate):
                for _ in range(100):
                    await asyncio.sleep(0)
                assert not question.done()
                pool.seconds = LONG
            assert (await question)["echo"] == "mine"

    run_apart(run)


def test_work_that_nobody_waits_for_is_ended(gate: Path) -> None:
    async def run() -> None:
        async with scripted(1) as pool:
            pool.grace = 0.1
            work = asyncio.create_task(ask(pool, do="wait", gate=str(gate)))
            with await opened(gate):  # it never gets past
                work.cancel()
                first = next(iter(pool._all)).process.pid
                assert (await ask(pool))["pid"] != first
                assert not is_alive(first)

    run_apart(run)


def test_a_quick_answer_that_nobody_waits_for_costs_no_worker(gate: Path) -> None:
    async def run() -> None:
        async with scripted(1) as pool:
            first = (await ask(pool))["pid"]
            for _ in range(5):
                work = asyncio.create_task(ask(pool, do="wait", gate=str(gate)))
                with await opened(gate):
                    work.cancel()
            assert await ask(pool, echo="mine") == {"pid": first, "echo": "mine"}

    run_apart(run)


def test_leaving_the_queue_loses_no_worker() -> None:
    async def run() -> None:
        async with scripted(2) as pool:
            for round_ in range(10):
                tasks = [asyncio.create_task(ask(pool, echo=n)) for n in range(20)]
                for _ in range(3 * round_):
                    await asyncio.sleep(0)
                for task in tasks[::2]:
                    task.cancel()
                done = await asyncio.gather(*tasks, return_exceptions=True)
                assert [answer["echo"] for answer in done[1::2] if isinstance(answer, dict)] == list(range(1, 20, 2))
            assert len({(await ask(pool))["pid"] for _ in range(10)}) <= 2
            assert len(await asyncio.gather(*(ask(pool) for _ in range(10)))) == 10

    run_apart(run)


@pytest.mark.parametrize(("by", "said"), [(0, "code 1"), (signal.SIGKILL, "signal 9"), (signal.SIGSEGV, "signal 11")])
def test_a_question_that_ends_its_worker_is_told_and_not_asked_again(by: int, said: str, tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def run() -> None:
        async with scripted(2) as pool:
            with pytest.raises(Fault, match=rf"was stopped \({said}\).*more memory") as told:
                await ask(pool, do="die", by=by, log=str(log))
            assert told.value.status == 422
            assert (await ask(pool, echo=1))["echo"] == 1

    run_apart(run)
    assert log.read_text() == "died\n"


@pytest.mark.parametrize("size", [1, 3])
def test_workers_that_died_while_idle_cost_no_question(size: int) -> None:
    async def run() -> None:
        async with scripted(size) as pool:
            for _ in range(3):
                idle = {answer["pid"] for answer in await asyncio.gather(*(ask(pool) for _ in range(size)))}
                assert len(idle) == size
                for worker in list(pool._all):
                    worker.kill()
                    await worker.process.wait()
                again = await asyncio.gather(*(ask(pool, echo=n) for n in range(size + 2)))
                assert [answer["echo"] for answer in again] == list(range(size + 2))
                assert not idle & {answer["pid"] for answer in again}

    run_apart(run)


def test_a_worker_that_dies_idle_unseen_costs_no_question() -> None:
    """Asked before the loop could hear of the death."""

    async def run() -> None:
        async with scripted(1) as pool:
            first = (await ask(pool))["pid"]
            os.kill(first, signal.SIGKILL)
            assert (await ask(pool, echo="mine"))["echo"] == "mine"

    run_apart(run)


def test_processes_that_never_take_a_question_are_told_in_the_end() -> None:
    async def run() -> None:
        async with Pool(size=2, seconds=LONG, memory=0, largest=0, command=[sys.executable, "-c", ""]) as pool:
            with pytest.raises(Fault, match="end before they take a question") as told:
                await ask(pool)
            assert told.value.status == 503

    run_apart(run)


def test_a_process_that_cannot_be_started_is_started_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pool_module, "AGAIN", 0)
    start, faults = asyncio.create_subprocess_exec, list[OSError]()

    async def sometimes(*command: Any, **options: Any) -> Any:
        if faults:
            raise faults.pop()
        return await start(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", sometimes)

    async def run() -> None:
        async with scripted(1) as pool:
            faults.extend(OSError("no room") for _ in range(3))
            with pytest.raises(Fault):
                await ask(pool, do="die", by=0, log=str(tmp_path / "log"))
            assert (await ask(pool, echo=1))["echo"] == 1
            assert not faults

    run_apart(run)


def test_too_many_questions_are_refused() -> None:
    async def run() -> None:
        pool = scripted(1)
        pool.waiting = 3
        async with pool:
            answers = await asyncio.gather(*(ask(pool) for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(answer, Fault) and answer.status == 503 for answer in answers) == 6
        assert sum(isinstance(answer, dict) for answer in answers) == 4

    run_apart(run)


def test_one_that_knows_the_model_is_asked() -> None:
    async def run() -> None:
        async with scripted(3) as pool:
            answers = await asyncio.gather(*(ask(pool, model=model) for model in "abc"))
            known = {model: answer["pid"] for model, answer in zip("abc", answers, strict=True)}
            assert len(set(known.values())) == 3
            for model in "cabbac":
                assert (await ask(pool, model=model))["pid"] == known[model]

    run_apart(run)


def test_stopping_tells_everybody_at_once(gate: Path) -> None:
    async def run() -> None:
        async with scripted(1) as pool:
            asked = [asyncio.create_task(ask(pool, do="wait", gate=str(gate))) for _ in range(3)]
            with await opened(gate):
                pool.stop()
                answers = await asyncio.gather(*asked, ask(pool), return_exceptions=True)
        assert [(a.status, a.message) for a in answers if isinstance(a, Fault)] == [
            (503, "the server is being stopped")
        ] * 4

    run_apart(run)


def test_an_answer_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "LARGEST_ANSWER", 1000)

    async def run() -> None:
        async with scripted(1) as pool:
            with pytest.raises(Fault, match="the answer holds more than"):
                await ask(pool, echo="x" * 1000)
            assert (await ask(pool, echo=1))["echo"] == 1

    run_apart(run)


def real_worker(memory: int = 2048, largest: int = 128, seconds: float = LONG) -> Pool:
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
        "sys.argv = ['worker', str(2**31), '1000000', '1']; from quia.web.worker import main; main()"
    )

    async def run() -> None:
        pool = Pool(size=1, seconds=LONG, memory=0, largest=0, command=[sys.executable, "-B", "-c", program])
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


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("OverBudget('the memory limit was reached')", 422, "could not be answered: the memory limit was reached"),
        ("OverBudget('the time limit was reached')", 422, "could not be answered: the time limit was reached"),
        ("MemoryError()", 422, "took more memory than it may"),
        ("RecursionError()", 422, "nested too deeply"),
        ("KeyError('secret')", 500, r"quia itself failed here \(KeyError\)"),
    ],
)
def test_whatever_fails_in_a_worker_is_told_as_what_it_is(
    fault: str, status: int, said: str, examples: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = (
        "import sys; from quia._kernel import OverBudget; from quia.web import answers, worker\n"
        f"def fail(*_, **__): raise {fault}\n"
        "answers.report = fail; sys.argv = ['worker', str(2**31), '1000000', '1']; worker.main()"
    )

    async def run() -> None:
        async with Pool(size=1, seconds=LONG, memory=0, largest=0, command=[sys.executable, "-Bc", program]) as pool:
            asked = describe(examples / "admissions.json")
            await pool.ask(asked)
            worker = set(pool._all)
            with pytest.raises(Fault, match=said) as told:
                await pool.ask({**asked, "do": "report"})
            assert told.value.status == status
            assert "secret" not in told.value.message
            assert json.loads(await pool.ask(asked))["name"] == "admissions.json"
            assert pool._all == worker

    with caplog.at_level(logging.ERROR):
        run_apart(run)
    assert ("KeyError: 'secret'" in caplog.text) == (status == 500)
