"""What people see on a terminal: lines that fit it, conditions kept whole, colours only where they are seen, help."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quia
from quia.cli import main
from quia.command.parsing import continued
from quia.overview import COMMANDS, EXAMPLES
from quia.show.text import coloured, explanation_text
from quia.show.wrapping import columns_of, line_of, wrapped

ROOT = Path(__file__).parents[1]
EXPLAIN = ["explain", "examples/credit_scorecard.csv", "--data", "examples/applicant.csv", "--row", "1"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse shows its help
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def on_terminal(arguments: list[str], columns: int = 80, environment: Mapping[str, str] | None = None) -> str:
    """What a terminal of so many columns is sent."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "quia", *arguments],
        cwd=ROOT,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=ENVIRONMENT | {"TERM": "xterm-256color"} | dict(environment or {}),
    )
    os.close(follower)
    sent = b""
    while True:
        try:
            more = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        sent += more
    os.close(leader)
    assert process.wait() in (0, 2)
    return sent.decode().replace("\r\n", "\n")


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_terminal_has_lines_that_fit_and_colours(tmp_path: Path) -> None:
    piped = subprocess.run(
        [sys.executable, "-m", "quia", *EXPLAIN], cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT, check=True
    ).stdout
    assert "\x1b" not in piped
    assert any(len(line) > 80 for line in piped.splitlines()), "there is something to break"
    seen = on_terminal(EXPLAIN)
    assert "\x1b[1mdeny\x1b[0m" in seen and "\x1b[36mchecking\x1b[0m=overdrawn" in seen
    lines = bare(seen).splitlines()
    assert max(map(len, lines)) <= 80
    assert bare(seen).split() == piped.split(), "the same words in the same order"
    assert "and savings in {none, small}" in bare(seen), "a condition that fits on a line is not broken"
    assert max(map(len, bare(on_terminal(EXPLAIN, 300)).splitlines())) <= 100, "long lines are hard to read"
    assert max(map(len, bare(on_terminal(EXPLAIN, 20)).splitlines())) <= 60, "and short ones too"
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        assert on_terminal(EXPLAIN, environment=environment) == bare(seen)
    forced = subprocess.run(
        [sys.executable, "-m", "quia", *EXPLAIN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"FORCE_COLOR": "1", "COLUMNS": "80"},
        check=True,
    ).stdout
    assert forced == seen


@pytest.mark.parametrize(
    "words",
    [
        [*EXPLAIN, "--reason-codes"],
        ["explain", "examples/loans.csv"],
        ["explain", "examples/loan.json", "--data", "examples/loans.csv", "--row", "5", "--frozen", "age,sexx"],
        ["check", "examples/loan.json", "--protected", "sex", "--given", "sex=male -> job=permanent | job=temporary"],
        ["verify", "examples/loan.json", "docs/filed/loan-audit.json"],
        ["verify", *EXPLAIN[1:], "--sufficient", "checking", "--sufficient", "duration > 12"],
        ["batch", "examples/loan.json", "examples/loans.csv", "-o", "OUT/reasons.csv"],
        ["audit", "examples/loan.json", "examples/loans.csv", "--json", "OUT/audit.json", "--protected", "sex"],
        ["learn", "examples/loans.csv", "-o", "OUT/tree.json"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_every_command_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    monkeypatch.chdir(ROOT)
    words = [word.replace("OUT", str(tmp_path)) for word in words]
    whole = [*run(capsys, *words)[1:]]
    for file in tmp_path.iterdir():
        file.unlink()
    monkeypatch.setenv("COLUMNS", "72")
    for before, after in zip(whole, run(capsys, *words)[1:], strict=True):
        said = re.compile(r"\(\S+ rows/s\)|\d{4}-\d\d-\S+|(?<=\n)In \S+ s")  # times
        assert said.sub("", after).split() == said.sub("", before).split()
        for line in after.splitlines():
            assert len(line) <= 72 or len(line.split()) == 1 or str(tmp_path) in line, line
    assert any(len(line) > 72 for text in whole for line in text.splitlines()) or words[0] == "verify"


def test_what_python_prints_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    model = quia.load(ROOT / "examples" / "credit_scorecard.csv")
    why = quia.explain(model, _applicant())
    assert any(len(line) > 80 for line in str(why).splitlines())
    assert any(len(line) > 80 for line in str(why.reason_codes()).splitlines())


def _applicant() -> dict[str, str]:
    from quia.tables import read_csv

    return read_csv(ROOT / "examples" / "applicant.csv").records()[0]


@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_conditions_that_fit_are_whole(width: int) -> None:
    why = quia.explain(quia.load(ROOT / "examples" / "credit_scorecard.csv"), _applicant())
    answer = why.answer(limit=40)
    lines = explanation_text(answer, paint=coloured, width=width).splitlines()
    assert max(map(columns_of, lines)) <= width
    bare_lines = [bare(line) for line in lines]
    found = {str(literal) for reason in answer.sufficient.as_shown() for literal in reason.literals}
    assert len(found) > 5
    for condition in found:
        assert any(condition in line for line in bare_lines), condition
    broken = [line.strip() for line in bare_lines if line.startswith("      ")]
    assert broken and all(line.startswith(("and ", "whatever", "grant", "where")) for line in broken)


words = st.lists(st.text("abc年,{}é", min_size=1, max_size=12), min_size=1, max_size=30)


@given(words, st.integers(20, 60), st.integers(0, 6))
def test_a_broken_text_is_the_same_text(parts: list[str], width: int, indent: int) -> None:
    text = " " * indent + " ".join(parts)
    for broken in (wrapped(text, width), line_of(parts, width, indent=indent)):
        assert broken.split() == text.split()
        for line in broken.split("\n"):
            assert columns_of(line) <= width or len(line.split()) == 1
            assert line.startswith(" " * indent)
    assert wrapped(text, None) == line_of(parts, None, indent=indent) == text


def test_quia_alone_is_help_with_three_examples(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80 and out.count("\n") < 45
    for name, line in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, re.MULTILINE)
    assert len(EXAMPLES) == 3
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for _, command in EXAMPLES:
        assert continued(command, 80) in out
        assert main(shlex.split(command)[1:]) == 0
    capsys.readouterr()
    for arguments in (["--help"], ["-h"], ["help"]):
        code, more, err = run(capsys, *arguments)
        assert (code, err) == (0, "") and more.startswith(out.rstrip("\n")) and "exit codes" in more
    assert run(capsys, "help", "learn")[1].startswith("usage: quia learn DATA.csv -o FILE")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, name, "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    assert out.startswith(f"usage: quia {name}")
    assert re.search(r"^examples?:\n  (quia|source <\(quia) ", out, re.MULTILINE), "there is an example"
    if name in ("serve", "examples"):  # which need nothing
        return
    code, out, err = run(capsys, name)
    assert (code, out) == (2, "")
    assert err.startswith(f"quia {name}: ") and f"usage: quia {name} " in err and "example" in err
    assert f"`quia {name} --help` tells all" in err and max(map(len, err.splitlines())) <= 80


def test_a_long_command_is_shown_so_that_it_can_be_copied() -> None:
    command = EXAMPLES[1][1]
    shown = continued(command, 60)
    assert "\\\n" in shown and max(map(len, shown.splitlines())) <= 60
    assert shlex.split(shown.replace("\\\n", "")) == shlex.split(command)


APPLICANT = ["--data", "examples/loans.csv", "--row", "5"]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["explain", "examples/loan.json", *APPLICANT], "--frozen"),
        (["explain", "examples/loan.json", *APPLICANT], "--protected"),
        (["explain", "examples/loan.json", *APPLICANT], "--only-up"),
        (["explain", "examples/loan.json", *APPLICANT], "--only-down"),
        (["report", "examples/loan.json", *APPLICANT, "-o", "OUT/page.html"], "--protected"),
        (["check", "examples/loan.json"], "--protected"),
        (["batch", "examples/loan.json", "examples/loans.csv", "-o", "OUT/out.jsonl"], "--frozen"),
        (["batch", "examples/loan.json", "examples/loans.csv", "-o", "OUT/out.jsonl"], "--protected"),
        (["audit", "examples/loan.json", "examples/loans.csv", "--json", "OUT/out.json"], "--protected"),
        (["verify", "examples/loan.json", *APPLICANT, "--sufficient", "income", "--sufficient", "debt"], "--frozen"),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else part,
)
def test_features_may_be_separated_by_commas(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], option: str
) -> None:
    monkeypatch.chdir(ROOT)
    words = [word.replace("OUT", str(tmp_path)) for word in words]
    answers = []
    for way in ([option, "age,income"], [option, "age", option, "income"], [option, "age, income"]):
        code, out, err = run(capsys, *words, *way)
        assert (code in (0, 1), err) == (True, "")
        files = "".join(file.read_text() for file in sorted(tmp_path.iterdir()))
        for file in tmp_path.iterdir():
            file.unlink()
        times = re.compile(r"\(\S+ rows/s\)|\d{4}-\d\d-\S+|\"seconds\": \S+|(?<=quia ).*(?=age)|[0-9.]+ s\b")
        answers.append((out, files) if words[0] in ("explain", "check", "verify") else times.sub("", out))
    assert answers[0] == answers[1] == answers[2]
    code, _, err = run(capsys, *words, option, "age,incone")
    assert code == 2
    assert f"{option} is 'age,incone', and 'incone' is no feature (did you mean 'income'?); give features" in err


def test_a_feature_with_a_comma_is_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        'feature,condition,points\n"a,b",< 3,1\n"a,b",else,2\nb,< 1,0\nb,else,2\ncutoff,,2\n'
    )
    options = ["--set", "a,b=1", "--set", "b=0", "--frozen", "a,b"]
    code, out, _ = run(capsys, "explain", tmp_path / "t.csv", *options)
    assert code == 0 and "Taken as given: a,b\n" in out


def test_examples_are_written_once_and_nothing_is_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, first, err = run(capsys, "examples")
    assert (code, err) == (0, "")
    for line in first.splitlines():
        name = line.split()[0]
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    assert run(capsys, "examples")[1] == first, "a second time nothing is different"
    (tmp_path / "examples" / "luna.json").write_text("mine")
    (tmp_path / "examples" / "loan.json").unlink()
    code, _, err = run(capsys, "examples")
    assert code == 2 and "luna.json is there already, and is no example; name another folder" in err
    assert not (tmp_path / "examples" / "loan.json").exists()
    assert run(capsys, "examples", tmp_path / "a" / "b")[0] == 0
    code, _, err = run(capsys, "examples", tmp_path / "examples" / "luna.json" / "x")
    assert code == 2 and "cannot be made" in err
