"""Completion in real shells: commands, options, their choices and files."""

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from quia.cli import main
from quia.command.completion import FILES, INSTALL, commands
from quia.load import FORMATS
from quia.overview import COMMANDS

TEXTS = {
    *("NAME=VALUE", "FEATURE=LOW:HIGH", "POINTS", "NAME,NAME", "FEATURE=VALUE", "N", "CLASS", "FEATURE", "FEATURE=N"),
    *("'FEATURE CONDITION'", "CONSTRAINT", "S", "TEXT", "COLUMN", "C", "HOST", "PORT", "MB", "SHARE", "NAME"),
    *("FEATURE=STATE,STATE", "HxW"),
}
"""What arguments are called that name no file."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files to complete."""
    for name in ("model.json", "model two.csv", "rows.csv"):
        (tmp_path / name).touch()
    (tmp_path / "explained").mkdir()
    return tmp_path


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    assert main(["completion", shell]) == 0
    file = folder / f"script.{shell}"
    file.write_text(capsys.readouterr().out)
    assert INSTALL[shell] in file.read_text()
    return file


CASES = {
    "expl": {"explain"},
    "ex": {"explain", "examples"},
    "completion ": {"bash", "zsh", "fish"},
    "explain --onl": {"--only-up", "--only-down"},
    "learn --no": {"--no-prune"},
    "explain model.json --format xgb": {"xgboost", "xgboost-dump"},
    "audit model.json rows.csv --compare-format ": set(FORMATS),
    "batch model.json rows.csv --engine ": {"local", "spark"},
    "check mod": {"model.json", "model two.csv"},
    "explain model.json --data row": {"rows.csv"},
}
"""What is typed, and what is offered."""


@pytest.mark.parametrize("typed", CASES)
def test_bash(typed: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("bash", folder, capsys)
    words = ["quia", *typed.split(" ")]
    program = f"""
        source {file}
        COMP_WORDS=({" ".join(words[:-1])} '{words[-1]}'); COMP_CWORD={len(words) - 1}
        _quia
        if ((${{#COMPREPLY[@]}})); then printf '%s\\n' "${{COMPREPLY[@]}}"; else compgen -f -- '{words[-1]}'; fi
    """
    run = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True)
    assert run.stderr == ""
    assert set(run.stdout.splitlines()) == CASES[typed]


def test_bash_after_an_equals_sign(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("bash", folder, capsys)
    for words, wanted in (("--format = li", "lightgbm"), ("--engine =", "local\nspark")):
        count = 2 + len(words.split())
        program = f"source {file}; COMP_WORDS=(quia batch {words}); COMP_CWORD={count - 1}; _quia;"
        program += "printf '%s\\n' ${COMPREPLY[@]}"
        run = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True, check=True)
        assert run.stdout.strip() == wanted


@pytest.mark.parametrize("typed", CASES)
def test_fish(typed: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("fish", folder, capsys)
    run = subprocess.run(
        ["fish", "--no-config", "-c", f"source {file}; complete -C 'quia {typed}'"],
        cwd=folder,
        env=os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
        capture_output=True,
        text=True,
    )
    assert run.stderr == ""
    found = {line.partition("\t")[0].replace("\\ ", " ") for line in run.stdout.splitlines()}
    assert found == CASES[typed]


ZSH = """
PS1='> '
autoload -U compinit
compinit -D -u
source {script}
compadd() {{  # what would be offered goes to a file
    if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
    local -a offered
    builtin compadd -A offered "$@"
    print -rl -- $offered >> offered.txt
}}
print -r -- READ''Y
"""


@pytest.mark.parametrize("typed", CASES)
def test_zsh(typed: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a terminal, as zsh completes nowhere else."""
    file = script("zsh", folder, capsys)
    (folder / "setup").write_text(ZSH.format(script=file))
    offered = folder / "offered.txt"
    zsh(folder, " source ./setup\n", f"quia {typed}\t", offered)
    found = {line.replace("\\ ", " ") for line in offered.read_text().splitlines() if line}
    assert found == CASES[typed]


def zsh(folder: Path, setup: str, typed: str, written: Path) -> None:
    """Type into a zsh in a terminal: the setup, and when that is ready the rest, until something is written."""
    process, leader = pty.fork()
    if not process:
        os.chdir(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"}
        os.execve(shutil.which("zsh") or "zsh", ["zsh", "-f", "-i"], environment)
    seen, is_ready, end = "", False, time.monotonic() + 120
    os.write(leader, setup.encode())
    while time.monotonic() < end:
        if select.select([leader], [], [], 1.0)[0]:
            seen += os.read(leader, 65536).decode("utf-8", "replace")
        elif not is_ready and "READY" in seen:
            is_ready = True
            os.write(leader, typed.encode())
        elif written.exists():
            break
    os.close(leader)
    os.waitpid(process, 0)
    assert written.exists(), seen


def test_everything_that_commands_take_is_completed_on_purpose() -> None:
    """Whoever adds an argument says whether it is a file."""
    found = commands()
    assert [command.name for command in found] == list(COMMANDS)
    values = [v for command in found for v in (*command.values, *(o.value for o in command.options)) if v is not None]
    assert {value.name for value in values if not value.choices} <= {*FILES, *TEXTS}
    assert {value.name for value in values if value.is_file} == set(FILES)
    for command in found:
        assert all(option.line for option in command.options)


def test_what_is_no_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "csh"]) == 2
    assert "invalid choice: 'csh'" in capsys.readouterr().err
