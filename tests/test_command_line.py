"""The command line as scripts and people use it."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quia.cli import main

JOBS = ("none", "temporary", "permanent")
APPLICANT = ["SAT=1400", "GPA=medium", "Essay=fail", "Interview=fail"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def model(examples: Path) -> Path:
    return examples / "admissions.json"


def settings(values: list[str] = APPLICANT) -> list[str]:
    return [part for value in values for part in ("--set", value)]


def test_explain_reads_well(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    code, out, err = run(capsys, "explain", model, *settings())
    assert (code, err) == (0, "")
    assert "Decision: Reject" in out
    assert "Reject because Essay=fail and Interview=fail, whatever the rest" in out
    assert "would need: Interview ≠ fail" in out
    assert "with Interview=pass: Accept" in out
    assert "\x1b" not in out, "colour only on a terminal"


def test_three_ways_to_name_the_instance(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    whole = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    (tmp_path / "i.json").write_text(json.dumps(whole))
    (tmp_path / "t.csv").write_text("GPA;SAT;Essay;Interview\nhigh;1;pass;pass\nmedium;1400;fail;fail\n")
    with gzip.open(tmp_path / "t.csv.gz", "wt") as packed:
        packed.write("id,GPA,SAT,Essay,Interview\n7,medium,1400,fail,fail\n")
    wanted = run(capsys, "explain", model, "--json", *settings())[1].replace('"1400"', "1400")
    for way in (
        ["--instance", tmp_path / "i.json"],
        ["--data", tmp_path / "t.csv", "--row", "2"],
        ["--data", tmp_path / "t.csv.gz", "--row", "1"],
        ["--data", tmp_path / "t.csv", "--row", "1", *settings()],
    ):
        code, out, err = run(capsys, "explain", model, "--json", *way)
        assert (code, err) == (0, "")
        assert json.loads(out.replace('"1400"', "1400")) == json.loads(wanted)


def test_the_question_is_passed_on(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    options = ["--against", "Accept", "--frozen", "Interview", "--cost", "GPA=3", "--shortest", "--protected", "SAT"]
    code, out, _ = run(capsys, "explain", model, "--json", *settings(), *options)
    answer = json.loads(out)
    assert code == 0
    assert answer["against"] == "Accept"
    assert answer["necessary"]["reasons"] == [{"SAT": "< 1450", "Essay": "fail"}]
    assert answer["bias"]["biased"] is False
    code, out, _ = run(capsys, "explain", model, *settings(), "--limit", "1")
    assert "3 necessary reasons, the first 1 of them" in out
    code, out, _ = run(capsys, "explain", model, *settings(), "--all")
    assert out.count("would need") == 3


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["explain", "MODEL"], "no instance is given"),
        (["explain", "MODEL", "--set", "SAT"], "write FEATURE=VALUE"),
        (["explain", "MODEL", "--set", "SAR=1"], "did you mean 'SAT'"),
        (["explain", "MODEL", "--set", "SAT=1"], "no value for 'GPA'"),
        (["explain", "MODEL", *settings(["SAT=x", *APPLICANT[1:]])], "SAT is 'x', which is not a number"),
        (["explain", "MODEL", *settings(), "--against", "Reject"], "already"),
        (["explain", "MODEL", "--data", "none.csv", "--row", "1"], "none.csv cannot be read"),
        (["explain", "MODEL", "--data", "MODEL", "--row", "0"], "counted from 1"),
        (["explain", "MODEL", "--data", "MODEL"], "go together"),
        (["explain", "MODEL", "--instance", "MODEL", "--data", "MODEL", "--row", "1"], "give one of them"),
        (["explain", "none.json", *settings()], "none.json: cannot be read: No such file"),
        (["explain", "MODEL", "--format", "xml", *settings()], "no format 'xml'"),
        (["explain", "MODEL", *settings(), "--limit", "-1"], "--limit"),
        (["explain", "MODEL", *settings(), "--timeout", "soon"], "--timeout"),
        (["convert", "MODEL", "-o", "/no/such/folder/x.json"], "cannot be written"),
        (["nonsense"], "nonsense"),
        ([], "COMMAND"),
    ],
)
def test_faults_are_one_sentence(
    capsys: pytest.CaptureFixture[str], model: Path, arguments: list[str], match: str
) -> None:
    code, out, err = run(capsys, *(str(model) if a == "MODEL" else a for a in arguments))
    assert code == 2
    assert out == ""
    assert match in err
    assert "Traceback" not in err


def test_options_of_the_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "g.odd"
    file.write_text("[E]\n0 0 S0 S1\n")
    code, out, err = run(
        capsys,
        "explain",
        file,
        "--option",
        'classes=["deny", "admit"]',
        "--option",
        'states=["no", "yes"]',
        "--set",
        "E=no",
    )
    assert (code, err) == (0, "")
    assert "deny because E=no" in out
    code, _, err = run(capsys, "explain", file, "--option", "clases=x", "--set", "E=0")
    assert code == 2
    assert "did you mean 'classes'" in err
    assert run(capsys, "explain", file, "--option", "classes", "--set", "E=0")[0] == 2


def test_learn_then_explain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """From a table to a tree to a sentence, and the tree is what its own decisions say."""
    lines = [f"{age},{job},{'yes' if age > 40 and job != 'none' else 'no'}" for age in range(18, 70) for job in JOBS]
    table = tmp_path / "loans.csv"
    table.write_text("\n".join(["age,job,granted", *lines]) + "\n")
    code, out, err = run(capsys, "learn", table, "-o", tmp_path / "tree.json", "--min-rows", "1")
    assert (code, out) == (0, "")
    assert "learned 'granted' from" in err
    code, out, _ = run(capsys, "explain", tmp_path / "tree.json", "--set", "age=30", "--set", "job=none")
    assert code == 0
    assert "no because job=none, whatever the rest" in out
    compared = ["check", tmp_path / "tree.json", "--data", table, "--predicted", "granted"]
    code, out, _ = run(capsys, *compared)
    assert (code, f"{len(lines)} of {len(lines)} rows agree" in out) == (0, True)
    table.write_text(table.read_text().replace("18,none,no", "18,none,yes"))
    code, out, _ = run(capsys, *compared, "--json")
    assert (code, json.loads(out)["agreement"]["differing"]) == (1, 1)


def test_check_tells_what_is_in_it(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    code, out, _ = run(capsys, "check", examples / "admissions.json")
    assert code == 0
    assert "a sound decision graph" in out
    assert "6 nodes (2 leaves), 9 edges, depth 4" in out
    code, out, _ = run(capsys, "check", examples / "iris.json", "--json")
    assert json.loads(out)["kind"] == "decision tree"
    broken = tmp_path / "broken.json"
    broken.write_text('{"quia": 1}')
    code, out, err = run(capsys, "check", broken)
    assert (code, out) == (1, "")
    assert "not sound" in err


def test_convert_round_trips(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    for file in examples.glob("*.json"):
        code, out, err = run(capsys, "convert", file, "-o", tmp_path / file.name)
        assert (code, out, err) == (0, "", "")
        assert json.loads((tmp_path / file.name).read_text()) == json.loads(file.read_text())
        assert json.loads(run(capsys, "convert", file, "-o", "-")[1]) == json.loads(file.read_text())
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in examples.glob("*.json"))


def test_as_a_process(model: Path) -> None:
    """A pipe that closes early, JSON on stdin, and the version."""
    base = [sys.executable, "-m", "quia"]
    early = subprocess.run(
        f"{sys.executable} -m quia explain {model} {' '.join(settings())} --all | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (early.stdout, early.stderr) == ("Decision: Reject\n", "")
    piped = subprocess.run(
        [*base, "explain", str(model), "--instance", "-", "--json"],
        input='{"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}',
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout)["decision"] == "Reject"
    version = subprocess.run([*base, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("quia ")
