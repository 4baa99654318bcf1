"""Where commands write: nothing that is there is lost, whatever the output or the stream is."""

import io
import json
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from quia import cli
from quia.cli import main
from quia.files import write_text

BASE = [sys.executable, "-m", "quia"]
VALUES = ["SAT=1400", "GPA=medium", "Essay=fail", "Interview=fail"]
SETTINGS = [part for value in VALUES for part in ("--set", value)]
TABLE = "age,job,granted\n" + "".join(f"{n},{'ab'[n % 2]},{'yes' if n > 9 else 'no'}\n" for n in range(20))
ROWS = "SAT,GPA,Essay,Interview\n1400,medium,fail,fail\n"


@pytest.fixture
def model(examples: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "model.json"
    copy.write_text((examples / "admissions.json").read_text())
    return copy


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_link_leads_to_what_is_replaced_and_modes_stay(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text("after ≠", link)
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "after ≠"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "new")
    write_text("new", dangling)
    assert (dangling.is_symlink(), (tmp_path / "new").read_text()) == (True, "new")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["dangling", "folder", "link", "new", "target"]


def test_a_pipe_is_written_into(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run(capsys, "convert", model, "-o", pipe) == (0, "", "")
    reader.join()
    assert json.loads(read[0])["quia"] == 1
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/proc/self/fd/1").exists(), reason="streams have no names in /proc here: run it on Linux")
def test_stdout_by_name_is_written_on_at_its_end(model: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("first\n")
    with log.open("a") as stream:
        subprocess.run([*BASE, "convert", str(model), "-o", "/proc/self/fd/1"], stdout=stream, check=True)
    first, _, rest = log.read_text().partition("\n")
    assert (first, json.loads(rest)["quia"]) == ("first", 1)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["learn", "t.csv", "-o", "t.csv"], "DATA and -o are the same file, t.csv"),
        (["learn", "t.csv", "-o", "link.csv"], "DATA and -o are the same file, link.csv"),
        (["convert", "model.json", "-o", "./model.json"], "MODEL and -o are the same file"),
        (["convert", "model.json", "--option", "arff=t.csv", "-o", "t.csv"], "--option arff and -o are the same file"),
        (["report", "model.json", *SETTINGS, "-o", "model.json"], "MODEL and -o are the same file"),
        (["report", "model.json", "--data", "t.csv", "--row", "1", "-o", "t.csv"], "--data and -o are the same file"),
        (["batch", "model.json", "rows.csv", "-o", "rows.csv", "--restart"], "DATA and -o are the same file"),
        (
            ["batch", "model.json", "rows.csv", "-o", "o.csv", "--rejects", "o.csv"],
            "-o and --rejects are the same file",
        ),
        (["batch", "model.json", "rows.csv", "-o", "o", "--summary", "rows.csv"], "DATA and --summary are the same"),
        (["batch", "model.json", "rows.csv", "-o", "o", "--summary", "model.json"], "MODEL and --summary are the same"),
        (["batch", "model.json", "folder", "-o", "folder/"], "DATA and -o are the same file"),
        (["batch", "model.json", "rows.csv", "-o", "-"], "-o is -, but tables go to files"),
        (["batch", "model.json", "rows.csv", "-o", "o.csv.gz"], "name it .parquet, .csv, .jsonl, .ndjson; a folder"),
        (["batch", "model.json", "rows.csv", "-o", "o.json"], "o.json is to be written in no format known here"),
        (["batch", "model.json", "latin.csv", "-o", "o.csv"], "save it as UTF-8"),
        (["batch", "model.json", "latin.csv", "-o", "o"], "save it as UTF-8"),
    ],
)
def test_a_refused_run_leaves_everything_as_it_was(
    capsys: pytest.CaptureFixture[str],
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    match: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "latin.csv").write_bytes(ROWS.encode().replace(b"medium", b"m\xe9dium"))
    before = {file.name: file.is_file() and file.read_bytes() for file in tmp_path.iterdir()}
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert match in err
    assert err.count("\n") == 1
    assert {file.name: file.is_file() and file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_run_refused_for_another_question_leaves_no_folder(
    capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    asked = ["batch", model, tmp_path / "rows.csv", "-o", tmp_path / "o.csv"]
    assert run(capsys, *asked)[0] == 0
    assert run(capsys, *asked, "--limit", "3")[0] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.json", "o.csv", "o.csv.journal", "rows.csv"]


def test_rejects_follow_links_and_keep_modes(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS + "many,low,fail,fail\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "r.csv").write_text("before")
    (tmp_path / "folder" / "r.csv").chmod(0o640)
    (tmp_path / "r.csv").symlink_to("folder/r.csv")
    asked = ["batch", model, tmp_path / "rows.csv", "-o", tmp_path / "o.csv", "--rejects"]
    assert run(capsys, *asked, tmp_path / "r.csv")[0] == 0
    assert (tmp_path / "r.csv").is_symlink()
    assert "many" in (tmp_path / "folder" / "r.csv").read_text()
    assert stat.S_IMODE((tmp_path / "folder" / "r.csv").stat().st_mode) == 0o640
    os.mkfifo(tmp_path / "pipe.csv")
    code, _, err = run(capsys, *asked, tmp_path / "pipe.csv", "--restart")
    assert (code, "is no file" in err) == (2, True)
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)
    assert (tmp_path / "o.csv").is_file()


def test_names_of_folders(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "there.json").mkdir()
    for name in ("o", "of.2024", "v1.json/", "there.json"):
        assert run(capsys, "batch", model, tmp_path / "rows.csv", "-o", f"{tmp_path}/{name}")[0] == 0
        assert (tmp_path / name / "part-000000.parquet").is_file()


def test_the_cure_for_what_cannot_be_written_fits_the_fault(tmp_path: Path) -> None:
    from quia.batch.write import unwritable

    assert "permission" in str(unwritable(tmp_path, PermissionError(13, "Permission denied")))
    assert "make room" in str(unwritable(tmp_path, OSError(28, "No space left on device")))
    assert "make room" not in str(unwritable(tmp_path, PermissionError(13, "Permission denied")))


def started(model: Path, *more: str, shell: str = "", **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [*BASE, "explain", str(model), *SETTINGS, *more]
    if shell:
        command = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    return subprocess.run(command, capture_output="stdout" not in options, check=False, **options)


def test_closed_streams(model: Path) -> None:
    closed = started(model, shell=">&-")
    assert (closed.returncode, closed.stderr.count(b"\n")) == (2, 1)
    assert b"standard output" in closed.stderr
    silent = started(model, "--json", shell="2>&-")
    assert (silent.returncode, json.loads(silent.stdout)["decision"]) == (0, "Reject")
    both = subprocess.run(["sh", "-c", f"{' '.join(BASE)} explain nowhere.json >&- 2>&-"], check=False)
    assert both.returncode == 2
    no_input = subprocess.run(
        ["sh", "-c", f"{' '.join(BASE)} explain {model} --instance - <&-"], capture_output=True, check=False
    )
    assert (no_input.returncode, no_input.stderr.count(b"\n")) == (2, 1)


def test_a_full_disk_under_stdout_is_one_sentence(model: Path, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        full = started(
            model,
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
        )
    assert full.returncode == 2
    assert full.stderr == b"quia: standard output cannot be written: File too large\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_every_encoding_of_stdout(examples: Path, tmp_path: Path, encoding: str) -> None:
    model = tmp_path / "model.json"
    model.write_text((examples / "admissions.json").read_text().replace("Reject", "Écarté"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    text = started(model, env=environment)
    assert (text.returncode, text.stderr) == (0, b"")
    sign = "≠" if encoding == "utf-8" else "!="
    assert f"because SAT < 1450 and GPA {sign} high and Interview=fail" in text.stdout.decode(encoding)
    answer = started(model, "--json", env=environment)
    assert json.loads(answer.stdout.decode("utf-8"))["decision"] == "Écarté"
    converted = subprocess.run(
        [*BASE, "convert", str(model), "-o", "-"], capture_output=True, env=environment, check=True
    )
    assert "Écarté" in json.loads(converted.stdout.decode("utf-8"))["classes"]


def test_names_that_are_no_text_are_printed(examples: Path, tmp_path: Path) -> None:
    model = os.fsencode(tmp_path) + b"/caf\xe9.json"
    with open(model, "wb") as stream:
        stream.write((examples / "admissions.json").read_bytes())
    checked = subprocess.run([*BASE, "check", model], capture_output=True, check=True)
    assert checked.stdout.startswith(model + b": a sound")


def test_an_early_interrupt_is_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_argv: list[str]) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_parser", interrupted)
    assert main(["--version"]) == 130
    assert capsys.readouterr().err == "quia: interrupted\n"


def test_a_stream_that_python_made_will_do(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(["convert", str(model), "-o", "-"]) == 0
    assert json.loads(sys.stdout.getvalue())["quia"] == 1  # type: ignore[attr-defined]
