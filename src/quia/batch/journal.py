"""The journal of a run: what it was asked, and which parts are done, a line each; a torn last line is none."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from quia.batch.write import unwritable
from quia.errors import QuiaError

SCHEMA = "quia/batch/2"


@dataclass(eq=False)
class Journal:
    """A file of JSON lines: the first says what is asked, the others what is done. One process writes it at a time."""

    path: Path
    asked: dict[str, Any]
    done: dict[Any, dict[str, Any]] = field(default_factory=dict)
    finished: dict[str, Any] | None = None
    files: dict[str, Any] = field(default_factory=dict)
    _stream: IO[bytes] | None = field(default=None, repr=False)

    def write_done(self, part: int | str, facts: dict[str, Any]) -> None:
        """A part, by its number or name, is whole."""
        self._append({"part": part, **facts})
        self.done[part] = facts

    def write_finished(self, facts: dict[str, Any], files: dict[str, Any]) -> None:
        """All parts are done, and joined where they are to be: the fingerprints of these files by name."""
        self._append({"finished": facts, "files": files})
        self.finished, self.files = facts, files

    def close(self) -> None:
        """Let others have it."""
        if self._stream is not None:
            self._stream.close()

    def _append(self, entry: dict[str, Any]) -> None:
        assert self._stream is not None
        try:
            line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
            if self._stream.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._stream.fileno())
        except OSError as fault:
            raise unwritable(self.path, fault) from None


def open_journal(
    path: Path, asked: dict[str, Any], *, output: Path, anew: bool = False, schema: str = SCHEMA
) -> Journal:
    """The journal of a run, new (or `anew`) or gone on with; refused if that was asked another thing."""
    wanted = {"schema": schema, **asked}
    try:
        stream = open(path, "ab+", buffering=0)  # noqa: SIM115
    except OSError as fault:
        raise unwritable(path, fault) from None
    if not _locked(stream, path):
        stream.close()
        raise QuiaError(f"another run of quia is writing {output}; wait for it, or write elsewhere")
    journal = Journal(path, wanted, _stream=stream)
    if anew:
        stream.truncate(0)
    entries = _entries(stream)
    if not entries:
        journal._append(wanted)
        return journal
    if differing := _differing(entries[0], wanted):
        stream.close()
        raise QuiaError(
            f"{output} was begun with another {differing}; go on with that one, write elsewhere, or begin anew with"
            " --restart"
        )
    for entry in entries[1:]:
        if "finished" in entry:
            journal.finished, journal.files = entry["finished"], entry.get("files", {})
        elif isinstance(entry.get("part"), (int, str)):
            journal.done[entry["part"]] = entry
    return journal


def _locked(stream: Any, path: Path) -> bool:
    """Whether the file is now this process's; the system lets go of it however the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The run that had it may have removed it since it was opened here.
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    except OSError:
        return False


def _entries(stream: Any) -> list[dict[str, Any]]:
    """The whole lines; what a kill or a full disk has left of one is cut off."""
    stream.seek(0)
    data = stream.read()
    entries: list[dict[str, Any]] = []
    end = 0
    for line in data.split(b"\n")[:-1]:
        try:
            entry = json.loads(line)
        except ValueError:
            break
        if not isinstance(entry, dict):
            break
        entries.append(entry)
        end += len(line) + 1
    stream.truncate(end)
    stream.seek(end)
    return entries


def _differing(was: dict[str, Any], now: dict[str, Any]) -> str:
    """What is not the same, in a word."""
    names = {
        "input": "input, or it has changed since",
        "ids": "--id",
        "part_rows": "--part-rows",
        "rejects": "--rejects",
        "settings": "set of options",
    }
    return next((names.get(key, key) for key in now if was.get(key) != now[key]), "")
