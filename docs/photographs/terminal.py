"""Pictures of a terminal: commands run in one of 80 columns, and what it shows, as a page."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from photographs.camera import View
from photographs.studio import REFUSED, Studio
from quia.show.markup import Child, element, join

COLUMNS, ROWS = 80, 50
Style = tuple[str, ...]
"""Names of CSS classes."""
_CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|[\r\n\b\t]")
_NAMES = {1: "bold", 2: "faint", 3: "italic", 4: "underlined"} | {30 + n: f"ink{n}" for n in range(8)}
_NAMES |= {90 + n: f"ink{n + 8}" for n in range(8)}
_ENDED = {22: ("bold", "faint"), 23: ("italic",), 24: ("underlined",), 39: tuple(f"ink{n}" for n in range(16))}
_INKS = (
    "#6b7280", "#f07178", "#7fc77f", "#e0b35a", "#7aa2f7", "#c792ea", "#5fc9c9", "#d5d9de",
    "#8b93a0", "#ff8b92", "#98e098", "#f0cb7e", "#9dbbff", "#dab0f5", "#84e4e4", "#ffffff",
)  # fmt: skip
_STYLE = """
body { margin: 0; background: #14181d }
pre { display: inline-block; box-sizing: border-box; width: calc(80ch + 40px); margin: 0; padding: 16px 20px;
  font: 14px/1.35 DejaVu Sans Mono, monospace; color: #d5d9de; background: #14181d }
.prompt { color: #7fc77f } .typed, .bold { font-weight: bold; color: #fff } .faint { opacity: .7 }
.italic { font-style: italic } .underlined { text-decoration: underline }
""" + "\n".join(f".ink{n} {{ color: {ink} }}" for n, ink in enumerate(_INKS))


def run(arguments: Sequence[str], studio: Studio) -> str:
    """What a command writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    unset = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    environment = {name: value for name, value in studio.environment.items() if name not in unset}
    environment["TERM"] = "xterm-256color"
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=studio.folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    found = b""
    try:
        while some := os.read(ours, 65536):
            found += some
    except OSError:  # that is how a terminal ends whose last program has ended
        pass
    finally:
        os.close(ours)
        process.wait()
    return found.decode()


def screen(text: str) -> list[list[tuple[str, Style]]]:
    """What is left to see of a text with control sequences: lines of at most 80 letters, each with its style.

    >>> screen("one\\rtwo\\x1b[1m!")
    [[('t', ()), ('w', ()), ('o', ()), ('!', ('bold',))]]
    """
    lines: list[list[tuple[str, Style]]] = [[]]
    at, style = 0, ()
    for part in _parts(text):
        if isinstance(part, str):
            for letter in part:
                if at == COLUMNS:
                    lines.append([])
                    at = 0
                lines[-1][at : at + 1] = [(letter, style)]
                at += 1
            continue
        numbers, what = part
        if what == "\n":
            lines.append([])
            at = 0
        elif what == "\r":
            at = 0
        elif what == "\b":
            at = max(at - 1, 0)
        elif what == "K":
            del lines[-1][at:]
        elif what == "m":
            style = _styled(style, numbers)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _parts(text: str) -> list[str | tuple[list[int], str]]:
    """Runs of letters, and between them what is no letter: numbers and a name."""
    found: list[str | tuple[list[int], str]] = []
    end = 0
    for control in _CONTROL.finditer(text):
        if end < control.start():
            found.append(text[end : control.start()])
        numbers = [int(n) for n in (control[1] or "").split(";") if n.isdigit()]
        found.append((numbers, control[2] or control[0]))
        end = control.end()
    return [*found, text[end:]] if end < len(text) else found


def _styled(style: Style, numbers: list[int]) -> Style:
    for number in numbers or [0]:
        ended = style if number == 0 else _ENDED.get(number, ())
        if 30 <= number <= 37 or 90 <= number <= 97:
            ended = _ENDED[39]
        style = tuple(name for name in style if name not in ended)
        if number in _NAMES:
            style = (*style, _NAMES[number])
    return style


def html(shown: Sequence[tuple[str, str]]) -> str:
    """Commands, each with what it wrote, as a page."""
    parts: list[Child] = []
    for command, text in shown:
        parts += ["\n\n" if parts else "", element("span", "$", class_="prompt"), " "]
        parts.append(element("span", typed(command), class_="typed"))
        parts += [part for line in screen(text) for part in ("\n", *_line(line))]
    return join([element("style", _STYLE), element("pre", parts)])


def _line(line: Sequence[tuple[str, Style]]) -> Iterator[Child]:
    for style, letters in groupby(line, key=lambda each: each[1]):
        text = "".join(letter for letter, _ in letters)
        yield element("span", text, class_=" ".join(style)) if style else text


def typed(command: str) -> str:
    """A command as it is typed where it is too long for a line."""
    lines, line = [], ""
    for word in command.split(" "):
        if line and len(line) + len(word) > COLUMNS - 6:
            lines.append(f"{line} \\")
            line = f"    {word}"
        else:
            line = f"{line} {word}".lstrip() if not lines else f"{line} {word}"
    return "\n".join([*lines, line])


def session(*commands: str) -> Callable[[Studio], bytes]:
    """What a terminal shows after some commands."""

    def take(studio: Studio) -> bytes:
        shown = [(command, run(shlex.split(command), studio)) for command in commands]
        return studio.camera.take_text(html(shown), View(800, 1200), of="pre")

    return take


ROW = f"--data examples/loans.csv --row {REFUSED}"
PICTURES = {
    "terminal-help": session("quia"),
    "terminal-explain": session(f"quia explain examples/loan.json {ROW} --protected sex"),
    "terminal-learn": session(
        "quia learn examples/loans.csv -o tree.json",
        "quia check tree.json",
    ),
    "terminal-faults": session(
        "quia explain examples/loans.csv --row 1",
        "quia explain examples/loan.json --set incme=2000",
        "quia explian examples/loan.json",
    ),
}
