"""What is possible, on the command line: the same as in Python, in text and JSON; faults in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from quia.cli import main

ROOT = Path(__file__).parents[1]
APPLICANT = ["--set", "SAT=1400", "--set", "GPA=medium", "--set", "Essay=fail", "--set", "Interview=fail"]
EXPLAIN = ["explain", str(ROOT / "examples/admissions.json"), *APPLICANT]


def test_options_say_what_is_possible(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("# who writes well interviews well\nEssay=pass -> Interview=pass\n\n")
    possible = ["--within", "SAT >= 1200", "--only-up", "SAT", "--near", "SAT=300", "--given-file", str(rules)]
    assert main([*EXPLAIN, *possible, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["possible"] == [
        "SAT >= 1200",
        "SAT can only go up",
        "SAT within 300 of what it is",
        "Essay=pass -> Interview=pass",
    ]
    assert main([*EXPLAIN, *possible]) == 0
    assert "Only what is possible counts: SAT >= 1200; SAT can only go up" in capsys.readouterr().out


def test_check_tells_whether_any_decision_depends_on_a_feature(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", str(ROOT / "examples/admissions.json"), "--protected", "GPA", "--protected", "SAT"]
    assert main([*asked, "--given", "GPA=low"]) == 0
    told = capsys.readouterr().out
    assert "GPA: not biased: whatever GPA were, no decision would change" in told
    assert "SAT: biased: with SAT" in told
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    schema = json.loads((ROOT / "docs/schemas/check-1.json").read_text())
    jsonschema.validate(found, schema)
    assert [(each["feature"], each["biased"]) for each in found["bias"]] == [("GPA", True), ("SAT", True)]


def test_what_cannot_change_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    given = [f"{feature}={state}" for feature, state in (("GPA", "medium"), ("Essay", "fail"), ("Interview", "fail"))]
    assert main([*EXPLAIN, *(word for each in given for word in ("--given", each)), "--within", "SAT < 1450"]) == 0
    assert "No possible change makes it anything else: proved." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--given", "GPA=hihg"], "GPA"),
        (["--given", "Essay=pass"], "impossible: it breaks the constraint Essay=pass"),
        (["--within", "age >= 3"], "begins with no feature"),
        (["--only-up", "GPA"], "only_up is 'GPA', whose values are names"),
        (["--near", "SAT=far"], "--near is"),
    ],
)
def test_faults_are_told(option: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EXPLAIN, *option]) == 2
    assert said in capsys.readouterr().err
