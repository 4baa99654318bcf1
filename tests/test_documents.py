"""The README, the docs and the examples do what they say."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from quia import DecisionGraph
from quia.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(file: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", file.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_python_blocks_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks(file, "python"):
        exec(compile(block, str(file), "exec"), {})


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_commands_print_what_is_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks(file, "console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            program, *arguments = shlex.split(command)
            assert program == "quia"
            assert main(arguments) == 0
            assert capsys.readouterr().out.strip() == expected.strip()


def test_the_format_document_shows_a_graph() -> None:
    (block,) = blocks(ROOT / "docs" / "format.md", "json")
    assert DecisionGraph.from_dict(json.loads(block)).to_dict() == json.loads(block)


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.py")), ids=lambda file: file.name)
def test_examples_run(file: Path) -> None:
    done = subprocess.run([sys.executable, file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_demo_runs() -> None:
    quia = Path(sys.executable).parent / "quia"
    done = subprocess.run(
        [ROOT / "examples" / "demo.sh"],
        env={"QUIA": str(quia), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "The decision is biased" in done.stdout
    assert "What to try next" in done.stdout


def test_relative_links_lead_somewhere() -> None:
    for file in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"
