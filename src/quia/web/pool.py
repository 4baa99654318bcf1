"""A few worker processes, so that one question never blocks another and any can be stopped by ending its process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

GRACE = 0.3
"""How many seconds an answer that nobody waits for may still take before its process is ended."""
LARGEST_ANSWER = 2**26


class Fault(Exception):
    """An answer that is a refusal, with the HTTP status that fits it."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


def _stopping() -> Fault:
    return Fault(503, "the server is being stopped")


class Worker:
    """One process and the models it has read."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.models: set[str] = set()

    async def ask(self, request: dict[str, Any]) -> bytes:
        """One answer."""
        data = json.dumps(request).encode()
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(len(data).to_bytes(4, "big") + data)
        await stdin.drain()
        size = int.from_bytes(await stdout.readexactly(4), "big")
        if size > LARGEST_ANSWER:
            raise ConnectionError("the answer is too large")
        return await stdout.readexactly(size)

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

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
        waiting: int = 500,
        command: Sequence[str] | None = None,
    ) -> None:
        self.size, self.seconds, self.waiting = size, seconds, waiting
        # -B: the process may write no file, so it makes no bytecode either.
        self.command = command or [sys.executable, "-B", "-m", "quia.web.worker", str(memory), str(largest)]
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
        worker = await self._take(request["model"])
        task = asyncio.create_task(worker.ask(request))
        try:
            await asyncio.wait({task}, timeout=self.seconds)
        except asyncio.CancelledError:
            self._later(self._settle(worker, task))
            raise
        if not task.done():
            self._later(self._replace(worker, task))
            raise Fault(422, f"this took longer than {self.seconds:g} seconds and was stopped; ask for less")
        if task.exception() is not None and self._closing:
            raise _stopping()
        if task.exception() is not None:
            self._later(self._replace(worker, task))
            raise Fault(422, "this took more memory than it may and was stopped; use a smaller model")
        worker.models.add(request["model"])
        self._give(worker)
        reply = task.result()
        if reply[:1] == b"-":
            raise Fault(422, json.loads(reply[1:])["error"])
        return reply[1:]

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
        await asyncio.wait({task}, timeout=GRACE)
        if task.done() and task.exception() is None:
            self._give(worker)
        else:
            await self._replace(worker, task)

    async def _replace(self, worker: Worker, task: asyncio.Task[bytes]) -> None:
        self._all.discard(worker)
        await worker.end()
        await asyncio.wait({task})
        task.exception()  # seen, so that nobody warns of it
        await self._start()

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
