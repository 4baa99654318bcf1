"""Scorecards and lines on the command line: ranges, cutoffs, what check says, and one card end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quia
from quia import Additive
from quia.cli import main

LINE: dict[str, Any] = {
    "quia": 1,
    "kind": "scorecard",
    "variables": {
        "age": {"kind": "numeric"},
        "debt=rate": {"kind": "line"},
        "income": {"kind": "line"},
    },
    "classes": ["deny", "grant"],
    "rule": {"kind": "cuts", "cuts": [60]},
    "start": 10,
    "terms": [
        {"variable": "age", "points": {"< 30": 0, ">= 30": 16}},
        {"variable": "debt=rate", "weight": -0.5},
        {"variable": "income", "weight": 0.0009765625},
    ],
}
PERSON = ["--set", "age=40", "--set", "debt=rate=8", "--set", "income=30720"]
RANGES = ["--range", "debt=rate=-4:100", "--range", "income=0:65536"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def line(tmp_path: Path) -> Path:
    file = tmp_path / "line.json"
    file.write_text(json.dumps(LINE))
    return file


@pytest.fixture
def card(examples: Path) -> list[Any]:
    return [examples / "credit_scorecard.csv", "--data", examples / "applicant.csv", "--row", 1]


def test_a_card_from_a_table_to_its_reasons(
    capsys: pytest.CaptureFixture[str], card: list[Any], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "explain", *card, "--shortest")
    assert (code, err) == (0, "")
    assert "Decision: deny" in out
    assert "deny because checking=overdrawn and duration >= 24 and savings in {none, small} and guarantor=no," in out
    assert "with checking=no account (now overdrawn) and guarantor=yes (now no): grant" in out
    again = tmp_path / "card.json"
    assert run(capsys, "convert", card[0], "-o", again) == (0, "", "")
    assert run(capsys, "explain", again, *card[1:], "--shortest") == (0, out, "")


def test_cutoffs_and_classes(capsys: pytest.CaptureFixture[str], card: list[Any]) -> None:
    """180 + 0 + 14 + 35 + 16 + 12.5 + 8 + 13 + 12 + 15 + 10 + 24 + 0 points are 339.5."""
    for cutoff, classes, decision in (
        ("339.5", [], "grant"),
        ("339.6", [], "deny"),
        ("339.5", ["--classes", "no,yes"], "yes"),
    ):
        told = run(capsys, "explain", *card, "--cutoff", cutoff, *classes, "--limit", 1)[1]
        assert f"Decision: {decision}\n" in told
    options = ["--cutoff", 300, "--cutoff", 339.6]
    told = run(capsys, "check", card[0], *options, "--classes", "no, maybe, yes")[1]
    assert "begins with 180; no below 300, maybe from 300 on, yes from 339.6 on\n  classes: no, maybe, yes\n" in told
    assert "classes: below 300, 300 to below 339.6, 339.6 or more\n" in run(capsys, "check", card[0], *options)[1]


def test_cutoffs_of_a_card_in_json(capsys: pytest.CaptureFixture[str], card: list[Any], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    assert run(capsys, "convert", card[0], "-o", kept)[0] == 0
    for options in (["--cutoff", "339.5"], ["--cutoff", "339.6"], ["--cutoff", "300", "--cutoff", "400.125"]):
        told = run(capsys, "explain", kept, *card[1:], *options)
        assert told == run(capsys, "explain", *card, *options)
        assert told[0] == 0
    told = run(capsys, "check", kept, "--cutoff", "300", "--cutoff", "339.6", "--classes", "no, maybe, yes")[1]
    assert "begins with 180; no below 300, maybe from 300 on, yes from 339.6 on\n  classes: no, maybe, yes\n" in told


def test_ranges(capsys: pytest.CaptureFixture[str], line: Path, tmp_path: Path) -> None:
    """10 + 16 - 4 + 30 points are 52; 65536 is 64 points, and -4 is 2."""
    code, out, err = run(capsys, "explain", line, *PERSON, *RANGES)
    assert (code, err) == (0, "")
    assert "deny because (income <= 32768 or debt" not in out
    why = quia.explain(quia.load(line, ranges={"debt=rate": (-4, 100), "income": (0, 65536)}), _person())
    assert out.startswith(str(why).split("\n\n")[0])
    assert "would change with: income >= 38912" in out, "8 points more"
    table = tmp_path / "table.csv"
    table.write_text("income,debt=rate,age\n0,-4,1\n65536,100,2\n,7,\n")
    assert run(capsys, "explain", line, *PERSON, "--ranges-from", table) == (0, out, "")
    assert run(capsys, "explain", line, *PERSON, "--ranges-from", table, *RANGES[:2]) == (0, out, "")
    kept = tmp_path / "kept.json"
    assert run(capsys, "convert", line, *RANGES, "-o", kept)[0] == 0
    assert json.loads(kept.read_text())["variables"]["income"] == {"kind": "line", "low": 0, "high": 65536}
    assert run(capsys, "explain", kept, *PERSON) == (0, out, "")


def _person() -> dict[str, Any]:
    return {"age": 40, "debt=rate": 8, "income": 30720}


def test_faults_are_one_sentence(
    capsys: pytest.CaptureFixture[str], line: Path, card: list[Any], examples: Path
) -> None:
    about_line: list[Any] = ["explain", line, *PERSON]
    for arguments, words in (
        (about_line, "debt=rate, income can be any number, so that nothing else forces a decision"),
        (about_line, "(on the command line: --range 'debt=rate=LOW:HIGH' or --ranges-from FILE.csv)"),
        ([*about_line, "--range", "income"], "--range is 'income'; write FEATURE=LOW:HIGH, as in income=0:250000"),
        ([*about_line, "--range", "income=3"], "--range is 'income=3'"),
        ([*about_line, "--range", "income=a:b"], "--range is 'income=a:b'"),
        ([*about_line, *RANGES, "--range", "income=0:1"], "--range gives 'income' twice; give it once"),
        ([*about_line, "--range", "incone=0:1"], "'incone', which is no variable (did you mean 'income'?)"),
        ([*about_line, "--range", "income=5:1"], "the range of 'income' is 5 to 1"),
        ([*about_line, "--range", "income=nan:1"], "the range of 'income' is nan to 1"),
        ([*about_line, "--range", "age=0:1"], "'age', whose states are listed; only a line needs a range"),
        ([*about_line, *RANGES[:2], "--range", "income=0:9"], "income is 30720, outside its range 0 to 9"),
        ([*about_line, "--ranges-from", "nowhere.csv"], "nowhere.csv: cannot be read"),
        ([*about_line, "--ranges-from", examples / "applicant.csv"], "has no column 'debt=rate', whose range"),
        ([*about_line, *RANGES, "--cutoff", "high"], "cutoff is 'high'; give a number such as 600"),
        (
            ["check", examples / "admissions.json", "--cutoff", "5"],
            "cutoff is ['5'], but this is a decision graph; cutoffs",
        ),
        (["explain", *card, "--cutoff", "much"], "cutoff is 'much'; give a number such as 600"),
        (["explain", *card, "--cutoff", "5", "--option", "cutoff=6"], "'cutoff' is given with --option and by"),
        (["explain", *card, "--classes", "no"], "tell 2 classes apart; give 2 names"),
        (["explain", *card, "--range", "age=1:2"], "'age', whose states are listed"),
        (["convert", card[0], "-o", card[0]], "MODEL and -o are the same file"),
        (["convert", line, "--ranges-from", examples / "applicant.csv", "-o", examples / "applicant.csv"], "same file"),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err


def test_check_says_what_is_added(
    capsys: pytest.CaptureFixture[str], line: Path, card: list[Any], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "check", card[0])
    assert (code, err) == (0, "")
    assert "a sound scorecard\n  12 terms; sums are exact\n" in out
    assert "  score: begins with 180; deny below 400, grant from 400 on\n" in out
    assert "    employed    numeric, 4 states, adds 2 to 27.5\n" in out
    out = run(capsys, "check", line, *RANGES[:2])[1]
    assert "3 terms, 2 of them of a number as it is; sums are rounded as in 64 bits" in out
    assert "debt=rate  number from -4 to 100, adds -50 to 2\n" in out
    assert "income     any number; to explain decisions, give its range: --range 'income=LOW:HIGH'\n" in out
    odds = {**LINE, "end": 1.5, "rule": {"kind": "cuts", "cuts": [5e-324]}}
    line.with_name("odds.json").write_text(json.dumps(odds))
    out = run(capsys, "check", line.with_name("odds.json"))[1]
    assert "score: begins with 10, and in the end 1.5 is added; deny up to 0, grant above 0\n" in out
    lone = tmp_path / "lone.csv"
    lone.write_text("feature,condition,points\njob,cook,1\njob,else,0\ncutoff,,1\n")
    out = run(capsys, "check", lone)[1]
    assert "  1 term; sums are exact\n  score: begins with 0; its bands are the classes\n" in out
    assert "variables: 1, of which 1 is tested\n" in out
    rows = tmp_path / "rows.csv"
    rows.write_text("age,debt=rate,income,said\n40,8,30720,deny\n40,8,38912,grant\n40,8,1e9,grant\n40,8,38911,grant\n")
    code, out, _ = run(capsys, "check", line, *RANGES, "--data", rows, "--predicted", "said")
    assert (code, "3 of 4 rows agree" in out) == (1, True)


def test_what_check_prints_fits_its_schema(capsys: pytest.CaptureFixture[str], line: Path, card: list[Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[1] / "docs" / "schemas" / "check-1.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    several = Additive.from_dict(
        {
            **LINE,
            "rule": {"kind": "argmax"},
            "start": [1, 2],
            "end": [0.5, 0],
            "terms": [{"variable": "income", "weight": [1, 2]}],
        }
    )
    line.with_name("several.json").write_text(json.dumps(several.to_dict()))
    for file in (line, card[0], line.with_name("several.json")):
        told = json.loads(run(capsys, "check", file, "--json")[1])
        validator.validate(told)
        assert not validator.is_valid({**told, "scores": {**told["scores"], "rule": "vote"}})
        assert run(capsys, "check", file)[0] == 0
    told = json.loads(run(capsys, "check", line, *RANGES, "--json")[1])
    validator.validate(told)
    assert told["scores"] == {"start": [10.0], "rule": "cuts", "cuts": [60.0], "exact": False}
    assert told["variables"]["income"]["range"] == [0, 65536] and told["variables"]["income"]["adds"] == [[0, 64]]


def test_a_run_with_another_cutoff_is_another_run(
    capsys: pytest.CaptureFixture[str], card: list[Any], examples: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    command = ["batch", card[0], examples / "applicant.csv", "-o", tmp_path / "out.jsonl"]
    assert run(capsys, *command)[0] == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["decision"] == "deny"
    code, out, err = run(capsys, *command, "--cutoff", "339.5")
    assert (code, out) == (2, "") and "--restart" in err
    assert run(capsys, *command, "--cutoff", "339.5", "--restart")[0] == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["decision"] == "grant"
