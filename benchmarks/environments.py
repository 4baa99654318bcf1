"""Environments of their own for other tools, made once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """The Python of an environment that has these packages; RuntimeError says why there is none."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "installed.txt"
    wanted = "\n".join(packages)
    if done.exists() and done.read_text("utf-8") == wanted:
        return python
    _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    done.write_text(wanted, "utf-8")
    return python


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise RuntimeError(said[-1] if said else f"{command[0]} failed")
