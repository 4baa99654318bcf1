"""The pages of the documentation, run: their Python and their commands in order, and what came out of them.

`rerun(text)` is the page as it should be: the same text with every output replaced by the real one. The tests compare
the two; `python docs/executed.py [PAGE…]` writes the difference back.

A ```python block is run, all blocks of a page in one namespace; the ```text block after it is what it prints. In a
```console block a line that begins with `$ ` is a command and the lines after it are its output. An `…` in a shown
output stands for anything, for what differs between two runs (a time) or is long.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
READ_ONLY = ("cat", "head", "ls")
"""Programs that a page may show beside quia itself."""
ANSWERED = (0, 1, 3)
"""The exit codes of a command that worked: with 1 something is refuted, with 3 something is left open."""

_BLOCK = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>.*?)^```\n(?:\n?^```text\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def pages() -> list[Path]:
    """Every page whose blocks are run."""
    return sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)


def rerun(text: str, name: str = "page", *, insert: bool = True, examples: bool = True) -> str:
    """The page with the outputs that its blocks really have; with `insert`, also where none was shown.

    The folder that it runs in has the repository's examples, unless it is to be run as where there is no repository.
    """
    with _somewhere_else(examples):
        return _rerun(text, name, insert)


def _rerun(text: str, name: str, insert: bool) -> str:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    parts, end = [], 0
    for block in _BLOCK.finditer(text):
        parts.append(text[end : block.start()])
        end = block.end()
        if block["language"] == "console":
            parts.append(f"```console\n{_session(block['code'])}```\n")
            if block["shown"] is not None:  # it belongs to no command
                parts.append(block[0].partition("```\n")[2])
            continue
        line = text.count("\n", 0, block.start()) + 1
        printed = _python(block["code"], namespace, f"{name}:{line}")
        parts.append(f"```python\n{block['code']}```\n")
        if (printed and insert) or block["shown"] is not None:
            gap = "\n" if "```\n\n```text" in block[0] else ""
            parts.append(f"{gap}```text\n{_kept(block['shown'] or '', printed)}```\n")
    return "".join(parts) + text[end:]


def _python(code: str, namespace: dict[str, Any], where: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, where, "exec"), namespace)
    return printed.getvalue()


def _session(code: str) -> str:
    lines = []
    for step in re.split(r"^(?=\$ )", code, flags=re.MULTILINE):
        if not step.startswith("$ "):
            lines.append(step)
            continue
        command = re.match(r"\$ (?:.*\\\n)*.*\n", step)
        assert command is not None
        lines.append(command[0] + _kept(step[command.end() :], _run(command[0][2:])))
    return "".join(lines)


def _run(command: str) -> str:
    from quia.cli import main

    program, *arguments = shlex.split(command.replace("\\\n", " "))
    if program in READ_ONLY:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    if program != "quia":
        raise ValueError(f"{program} is no command that a page may run; show it in a ```sh block")
    printed, told = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(told):
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse exits by itself
            code = stop.code
    if code not in ANSWERED:
        raise ValueError(f"quia {shlex.join(arguments)} failed with exit code {code}: {told.getvalue()}")
    return printed.getvalue() + told.getvalue()


def _kept(shown: str, printed: str) -> str:
    """What is shown, if it is what was printed but for its … and blank lines at its end; else what was printed."""
    printed = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    pattern = ".*?".join(map(re.escape, shown.strip("\n").split("…")))
    return shown if re.fullmatch(pattern, printed.strip("\n"), re.DOTALL) else printed


@contextmanager
def _somewhere_else(examples: bool) -> Iterator[None]:
    """A fresh directory with the examples in it, so that pages can write files; lines are as long as in a pipe."""
    before = Path.cwd()
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as directory:
        if examples:
            (Path(directory) / "examples").symlink_to(ROOT / "examples")
        os.chdir(directory)
        try:
            yield
        finally:
            os.chdir(before)


def main(names: list[str]) -> None:
    """Write the real outputs into the pages."""
    for page in [Path(name).resolve() for name in names] or pages():
        text = page.read_text()
        fresh = rerun(text, page.name)
        if fresh != text:
            page.write_text(fresh)
            print(f"{page.relative_to(ROOT)} has new outputs")


if __name__ == "__main__":
    main(sys.argv[1:])
