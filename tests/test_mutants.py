"""The mutants: what is changed, that the source is not, and that those which no test notices are told."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mutants

CODE = '''"""A module."""
from __future__ import annotations
from dataclasses import field

def first(items: list[int], most: int = 3) -> list[int]:
    """The least."""
    if not items or most <= 0:
        raise ValueError(f"{most} is {1 + 1} too few")
    items.sort()
    found = sorted(items)[:most]
    total = 0
    for item in found:
        total += item
    return found if total > 2 and min(found) in found else [x for x in items if x]

kept: dict = field(default_factory=dict, repr=False)
'''


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source with one module, and tests of it that are not strict."""
    monkeypatch.setattr(mutants, "SOURCE", tmp_path)
    (tmp_path / "code.py").write_text(CODE)
    return tmp_path


def test_what_is_changed(house: Path) -> None:
    made = mutants.mutants("code")
    assert [(m.line, m.what) for m in made] == sorted(((m.line, m.what) for m in made), key=lambda pair: pair[0])
    found = {m.what for m in made}
    assert {
        "3 → 4",
        "most <= 0 → most < 0",
        "not items or most <= 0 → not items and most <= 0",
        "not items → items",
        "if not items or most <= 0 → if not (not items or most <= 0)",
        "raise ValueError(f'{most} is {1 + 1} too few') → pass",
        "items.sort() → items.sort(reverse=True)",
        "items.sort() → pass",
        "sorted(items) → sorted(items)[::-1]",
        "total += item → total -= item",
        "total += item → pass",
        "total > 2 → total >= 2",
        "min(found) → max(found)",
        "min(found) in found → min(found) not in found",
        "[x for x in items if x] → [x for x in items]",
    } <= found
    assert not any("1 + 1" in what and "raise" not in what for what in found), "messages are left alone"
    assert not any("False" in what or "dict" in what for what in found), "and fields, and annotations"


def test_each_changes_just_what_it_says_and_never_the_file(house: Path) -> None:
    before = ast.unparse(ast.parse(CODE))
    made = mutants.mutants("code")
    sources = [mutant.source() for mutant in made]
    assert len(set(sources)) == len(sources) and before not in sources
    for mutant, source in zip(made, sources, strict=True):
        compile(source, "mutant", "exec")
        changed = sum(a != b for a, b in zip(before.splitlines(), source.splitlines(), strict=False))
        assert changed == 1 or len(before.splitlines()) != len(source.splitlines()), mutant
    assert (house / "code.py").read_text() == CODE


def test_every_module_has_its_tests() -> None:
    for module, tests in mutants.HOLDS.items():
        assert (mutants.SOURCE / f"{module}.py").is_file(), module
        assert tests and all((mutants.ROOT / "tests" / name).is_file() for name in tests)


def test_known_equivalents_are_still_there() -> None:
    """What is said to change nothing names a mutant that is made, and says why."""
    made = {m.key for module in {key[0] for key in mutants.EQUIVALENT} for m in mutants.mutants(module)}
    for key, reason in mutants.EQUIVALENT.items():
        assert key in made, f"{key} is no mutant any more"
        assert len(reason) > 10


TRIED = """
import sys
import mutants
mutants.HOLDS = {"costs": (sys.argv[1],)}
chosen = [m for m in mutants.mutants("costs") if m.what in ("exact <= 0 → exact < 0", "53 → 54")]
assert len(chosen) == 2
print(*mutants.survivors(chosen, 2))
"""

LAX = """
import pytest
from quia import InstanceError, Variable
from quia.costs import exact_costs

def test_nothing_is_no_cost():
    with pytest.raises(InstanceError):
        exact_costs([Variable.numeric("age")], {"age": 0})
"""


def test_what_no_test_notices_is_told(tmp_path: Path) -> None:
    """Of two faults in a real module the tests notice the first; they do not look at the second."""
    (tmp_path / "test_lax.py").write_text(LAX)
    command = [sys.executable, "-c", TRIED, str(tmp_path / "test_lax.py")]
    run = subprocess.run(
        command, cwd=mutants.ROOT, env=os.environ | {"PYTHONPATH": "tests"}, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert re.fullmatch(r"src/quia/costs\.py:\d+: 53 → 54\n", run.stdout)
