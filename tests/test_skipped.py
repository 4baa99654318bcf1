"""What was not tested is told at the end of a run, with its cure."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(5))
def test_browser(number):
    pytest.skip("chromium is not installed: apt-get install chromium")

def test_library():
    pytest.importorskip("no_such_library.of_ours")

@pytest.mark.skipif(True, reason="Windows has no kill -9: run it on Linux or macOS")
def test_kill():
    pass

def test_that_runs():
    pass
"""


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "2"]], ids=["one", "two"])
def test_every_reason_is_told_once_with_its_tests(workers: list[str], tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_more.py").write_text(TESTS.replace("range(5)", "range(2)"))
    (tmp_path / "test_none.py").write_text("import pytest\nnone = pytest.importorskip('no_such_library')\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "skipped", *workers],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent), "COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    told = re.split(r"^=+ not tested =+\n", run.stdout, flags=re.MULTILINE)[1]
    assert [line.split(maxsplit=1) if line[:4].strip() else line.strip() for line in told.splitlines()[:8]] == [
        ["7", "skipped: chromium is not installed: apt-get install chromium"],
        "test_more.py (2), test_some.py (5)",
        ["2", "skipped: Windows has no kill -9: run it on Linux or macOS"],
        "test_more.py (1), test_some.py (1)",
        ["2", "skipped: no_such_library.of_ours is not installed: pip install -e '.[test]'"],
        "test_more.py (1), test_some.py (1)",
        ["1", "skipped: no_such_library is not installed: pip install -e '.[test]'"],
        "test_none.py (1)",
    ]


def test_reasons_of_our_own_name_a_cure() -> None:
    """Whoever reads why a test was skipped also reads what to do: the reason is `what is wrong: what to do`."""
    folder = Path(__file__).parent
    for file in folder.rglob("*.py"):
        if file == Path(__file__):
            continue
        for reason in reasons_in(file):
            wrong, found, cure = reason.partition(": ")
            assert wrong and found and cure, f"{file.relative_to(folder)}: {reason!r} names no cure"


def reasons_in(file: Path) -> list[str]:
    """The texts that a file gives to `skip` and `skipif`."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("skip", "skipif"):
            given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "reason")]
            found += [ast.unparse(value) for value in given if is_text(value)]
    return found


def is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
