"""Results on disk, a line each, so that a killed run goes on where it was.

A folder holds `plan.json`, what is being measured, and `records.jsonl`. A record that was being written when the run
was killed is cut off and measured again.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from quia.errors import Unsupported
from quia.files import write_text

Key = tuple[str, str, int]
"""Benchmark, what was measured of it, and the row."""


class Store:
    """The records of one plan; open it for the time of a run."""

    def __init__(self, folder: str | Path, plan: dict[str, Any], *, fresh: bool = False) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "records.jsonl"
        if fresh:
            self.file.unlink(missing_ok=True)
        elif self.file.exists():
            self._check_plan(plan)
        write_text(json.dumps(plan, indent=1), self.folder / "plan.json")
        self.records: dict[Key, dict[str, Any]] = {}
        self._stream: BinaryIO | None = None

    def _check_plan(self, plan: dict[str, Any]) -> None:
        before = json.loads((self.folder / "plan.json").read_text("utf-8"))
        differing = sorted(k for k in before.keys() | plan.keys() if before.get(k) != plan.get(k))
        if differing:
            name = differing[0]
            was, now = before.get(name), plan.get(name)
            raise Unsupported(
                f"{self.folder} holds results of another plan: {name} was {was!r} and is {now!r}",
                cure="start again with --fresh, or give another --out",
            )

    def __enter__(self) -> Self:
        data = self.file.read_bytes() if self.file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            record = json.loads(line)
            self.records[key_of(record)] = record
        self._stream = self.file.open("r+b" if self.file.exists() else "wb")
        self._stream.truncate(len(whole))
        self._stream.seek(len(whole))
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record; once this returns, killing the run does not lose it."""
        assert self._stream is not None
        self._stream.write(json.dumps(record).encode() + b"\n")
        self._stream.flush()
        self.records[key_of(record)] = record


def key_of(record: dict[str, Any]) -> Key:
    """What a record is about."""
    return record["benchmark"], record["what"], record.get("row", -1)
