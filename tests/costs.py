"""What loading a file costs: memory measured in a process of its own, work counted in calls, never by the clock."""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.memory import peak

_CODE = """
import json, resource, sys, warnings
import quia, quia.cli, quia.load.json, quia.load.pmml, quia.load.weka
before = peak()
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    made = quia.load(sys.argv[1], **json.loads(sys.argv[2]))
    said, size = "", len(made) if hasattr(made, "__len__") else 0
except (quia.QuiaError, MemoryError) as fault:
    said, size = f"{type(fault).__name__}: {fault}", 0
print(json.dumps([(peak() - before) // 2**20, said, size]))
"""


class Cost(NamedTuple):
    """Megabytes taken by loading a file, the error it gave or an empty text, and the nodes of the graph."""

    megabytes: int
    error: str
    nodes: int


def said_by(program: str, *arguments: str | Path, cwd: Path | None = None) -> str:
    """What a Python program, which may ask for its `peak()` of memory, prints in a process of its own.

    The time is only a net: what is tried with it would once have taken minutes, or all of the memory.
    """
    command = [sys.executable, "-c", f"{inspect.getsource(peak)}\n{program}", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=600, cwd=cwd).stdout


def load_cost(file: Path, **options: Any) -> Cost:
    """What loading a file costs; a file that never ends loading, or takes all memory, fails the test."""
    return Cost(*json.loads(said_by(_CODE, file, json.dumps(options))))


def calls(work: Callable[[], Any]) -> int:
    """How many functions, Python's and built-in ones, are called while it works."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
