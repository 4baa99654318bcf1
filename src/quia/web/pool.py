"""A few worker processes, so that one question never blocks another and any can be stopped by ending its process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Self

GRACE = 0.3
"""How many seconds an answer that nobody waits for may still take before its process is ended."""
START = 60.0
"""How many seconds a process may take to start; only then does a question's own time begin."""
AGAIN = 1.0
"""How many seconds pass before a process that could not be started is tried again."""
LARGEST_ANSWER = 2**26
_AT_ONCE = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has only the second, which ends a process there


class Fault(Exception):
    """An answer that is a refusal, with the HTTP status that fits it.

    `given` has what is wrong with constraints, by place, and `features` with what is said of single features.
    """

    def __init__(
        self,
        status: int,
        message: str,
        given: Mapping[str, str] | None = None,
        features: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self.status, self.message, self.given, self.features = status, message, given or {}, features or ()
        super().__init__(message)


def _stopping() -> Fault:
    return Fault(503, "the server is being stopped")


def _ended(code: int | None) -> Fault:
    """What is said of a process that ended at its work, by a signal (below 0) or an exit of its own."""
    how = f"code {code}" if code is None or code >= 0 else f"signal {-code}"
    return Fault(
        422,
        f"the process that worked on this was stopped ({how}), most likely because it took more memory than it may;"
        " use a smaller model",
    )


class NotBegun(Exception):
    """A process that had ended before it took the question, which thus is not to blame."""


class Worker:
    """One process and the models it has read."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.models: set[str] = set()

    async def ask(self, request: dict[str, Any], taken: asyncio.Event) -> bytes:
        """One answer, after `taken` is set; NotBegun if the process did not even take the question."""
        data = json.dumps(request).encode()
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(len(data).to_bytes(4, "big") + data)
            await stdin.drain()
            await stdout.readexactly(1)
        except (ConnectionError, asyncio.IncompleteReadError):
            raise NotBegun from None
        taken.set()
        size = int.from_bytes(await stdout.readexactly(4), "big")
        if size > LARGEST_ANSWER:
            raise Fault(422, f"the answer holds more than {LARGEST_ANSWER >> 20} MiB; ask for less")
        return await stdout.readexactly(size)

    def kill(self) -> None:
        """End the process at once."""
        if self.process.returncode is None:
            # Not process.kill(), which looks whether it has ended and may so take its exit code from who waits for it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, _AT_ONCE)

    async def end(self) -> None:
        """End the process and wait until it has ended."""
        self.kill()
        await self.process.wait()


class Pool:
    """Worker processes that answer one question each at a time."""

    def __init__(
        self,
        *,
        size: int,
        seconds: float,
        memory: int,
        largest: int,
        timeout: float = 1.0,
        waiting: int = 500,
        command: Sequence[str] | None = None,
    ) -> None:
        self.size, self.seconds, self.waiting, self.grace = size, seconds, waiting, GRACE
        # -B: the process may write no file, so it makes no bytecode either.
        limits = (str(memory), str(largest), str(timeout))
        self.command = command or [sys.executable, "-B", "-m", "quia.web.worker", *limits]
        self._idle: list[Worker] = []
        self._queue: deque[asyncio.Future[Worker]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._all: set[Worker] = set()
        self._closing = False

    async def __aenter__(self) -> Self:
        await asyncio.gather(*(self._start() for _ in range(self.size)))
        return self

    def stop(self) -> None:
        """Let go of all work under way: its askers get a Fault at once."""
        self._closing = True
        for promised in self._queue:
            if not promised.done():
                promised.set_exception(_stopping())
        for worker in self._all:
            worker.kill()

    async def __aexit__(self, *_: object) -> None:
        self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in list(self._all)))

    async def ask(self, request: dict[str, Any]) -> bytes:
        """The answer's bytes, or a Fault; if the caller is cancelled, the work is stopped."""
        # As many processes may have died while nobody asked as there are; one more was just started.
        for _ in range(self.size + 1):
            worker = await self._take(request["model"])
            with contextlib.suppress(NotBegun):
                return await self._asked(worker, request)
        raise Fault(503, "the server's processes end before they take a question; see what the server printed")

    async def _asked(self, worker: Worker, request: dict[str, Any]) -> bytes:
        taken = asyncio.Event()
        task, begun = asyncio.create_task(worker.ask(request, taken)), asyncio.create_task(taken.wait())
        try:
            await asyncio.wait({task, begun}, timeout=START, return_when=asyncio.FIRST_COMPLETED)
            if taken.is_set():
                await asyncio.wait({task}, timeout=self.seconds)
        except asyncio.CancelledError:
            self._later(self._settle(worker, task))
            raise
        finally:
            begun.cancel()
        if not task.done():
            self._later(self._replace(worker, task))
            if not taken.is_set():
                raise Fault(503, "the server's processes do not start in time; ask again in a moment")
            raise Fault(422, f"this took longer than {self.seconds:g} seconds and was stopped; ask for less")
        fault = task.exception()
        if fault is not None and self._closing:
            raise _stopping()
        if fault is not None:
            self._later(self._replace(worker, task))
            if isinstance(fault, (Fault, NotBegun)):
                raise fault
            await worker.end()
            raise _ended(worker.process.returncode)
        worker.models.add(request["model"])
        self._give(worker)
        kind, reply = task.result()[:1], task.result()[1:]
        if kind == b"+":
            return reply
        told = json.loads(reply)
        if kind == b"!":
            logging.getLogger(__name__).error("%s", told["details"])
        raise Fault(500 if kind == b"!" else 422, told["error"], told.get("given"), told.get("features"))

    async def _take(self, model: str) -> Worker:
        if self._closing:
            raise _stopping()
        if self._idle:
            # One that knows the model already answers sooner.
            place = next((n for n, w in enumerate(self._idle) if model in w.models), len(self._idle) - 1)
            return self._idle.pop(place)
        if len(self._queue) >= self.waiting:
            raise Fault(503, "too many questions are waiting; ask again in a moment")
        promised: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._queue.append(promised)
        try:
            return await promised
        except asyncio.CancelledError:
            if promised.done() and not promised.cancelled():  # given a worker just when its asker left
                self._give(promised.result())
            raise

    def _give(self, worker: Worker) -> None:
        while self._queue:
            promised = self._queue.popleft()
            if not promised.done():
                promised.set_result(worker)
                return
        self._idle.append(worker)

    async def _settle(self, worker: Worker, task: asyncio.Task[bytes]) -> None:
        """Nobody waits for the answer: let it finish if it soon does, else end the process."""
        await asyncio.wait({task}, timeout=self.grace)
        if task.done() and task.exception() is None:
            self._give(worker)
        else:
            await self._replace(worker, task)

    async def _replace(self, worker: Worker, task: asyncio.Task[bytes]) -> None:
        self._all.discard(worker)
        await worker.end()
        await asyncio.wait({task})
        task.exception()  # seen, so that nobody warns of it
        while True:
            try:
                return await self._start()
            except OSError:  # no room for another process now; without this one the pool would be smaller for good
                await asyncio.sleep(AGAIN)

    async def _start(self) -> None:
        if self._closing:
            return
        process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JOBLIB_MULTIPROCESSING": "0"},
        )
        worker = Worker(process)
        self._all.add(worker)
        self._give(worker)

    def _later(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
