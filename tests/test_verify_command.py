"""`quia verify`: audit files and single claims on the command line, its exit codes, and which files it takes."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from audit_oracle import made, random_case
from contract import Subject
from quia.auditing.document import FileFacts
from quia.auditing.reading import to_dict
from quia.cli import main
from test_schemas import validator

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "examples" / "admissions.json"
REJECTED = [f"--set={each}" for each in ("SAT=1400", "GPA=medium", "Essay=fail", "Interview=fail")]


def facts(file: Path) -> FileFacts:
    data = file.read_bytes()
    return FileFacts(file.name, str(file), hashlib.sha256(data).hexdigest(), len(data))


@pytest.fixture
def audit(tmp_path: Path) -> dict[str, Any]:
    """A true audit of the example, whose model, table and other model lie beside it in a folder."""
    model, other, table = (tmp_path / name for name in ("model.json", "other.json", "rows.csv"))
    shutil.copy(MODEL, model)
    case = random_case(Random(3), Subject(quia.load(model), json.loads(model.read_text())))
    other.write_text(json.dumps(case.other.to_dict()))
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(case.rows[0]))
        writer.writeheader()
        writer.writerows(case.rows)
    document = to_dict(made(replace(case, files=(facts(model), facts(table)))))
    document["identity"]["compared"]["file"] = to_dict(facts(other))  # type: ignore[arg-type]
    return document


def verified(
    capsys: pytest.CaptureFixture[str], folder: Path, audit: dict[str, Any], *more: object
) -> tuple[int, dict[str, Any]]:
    """The exit code and the answer, for an audit file in a folder."""
    file = folder / "audit.json"
    file.write_text(json.dumps(audit))
    code = main(["verify", str(folder / "model.json"), str(file), "--json", *map(str, more)])
    out, err = capsys.readouterr()
    assert out, err
    answer = json.loads(out)
    validator("verified").validate(answer)
    return code, answer


def test_a_true_audit_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]) -> None:
    validator("audit").validate(audit)
    code, answer = verified(capsys, tmp_path, audit)
    assert (code, answer["refuted"], answer["not_checked"]) == (0, 0, 0)
    assert answer["holds"] == len(answer["claims"]) > 100
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "audit.json")]) == 0
    assert f"{answer['holds']} claims: {answer['holds']} hold" in capsys.readouterr().out


def test_a_lie_is_told_with_what_is_right(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]
) -> None:
    audit["decisions"]["classes"][0]["rows"] += 1
    code, answer = verified(capsys, tmp_path, audit)
    assert (code, answer["refuted"]) == (1, 1)
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "audit.json")]) == 1
    right = audit["decisions"]["classes"][0]["rows"] - 1
    name = audit["decisions"]["classes"][0]["decision"]
    assert "refuted: decisions.classes: " in (out := capsys.readouterr().out)
    assert f"{name} are {right}, not {right + 1}" in out


def test_files_that_moved_are_found_beside_the_audit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("model.json", "rows.csv", "other.json"):
        (tmp_path / name).rename(moved / name)
    assert verified(capsys, moved, audit)[0] == 0


def test_a_table_that_changed_is_not_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]
) -> None:
    with (tmp_path / "rows.csv").open("a") as stream:
        stream.write(stream_line(audit))
    code, answer = verified(capsys, tmp_path, audit)
    assert code == 3 and answer["refuted"] == 0
    assert {claim["why"] for claim in answer["claims"] if claim["outcome"] == "not checked"} >= {"no table is given"}
    # Given by name, it is used, and found to be another one.
    code, answer = verified(capsys, tmp_path, audit, "--data", tmp_path / "rows.csv")
    assert code == 1
    assert any(claim["place"] == "identity.data.file" for claim in answer["claims"] if claim["outcome"] == "refuted")
    assert any(claim["place"] == "decisions" for claim in answer["claims"] if claim["outcome"] == "refuted")


def stream_line(audit: dict[str, Any]) -> str:
    """A row of the table again."""
    values = audit["rules"][0]["rules"][0]["example"]["values"]
    return ",".join([*map(str, values.values()), "", ""]) + "\n"


def test_another_model_is_found_out(capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]) -> None:
    (tmp_path / "model.json").write_text((tmp_path / "model.json").read_text() + "\n")
    code, answer = verified(capsys, tmp_path, audit)
    assert (code, answer["refuted"]) == (1, 1)  # the same decisions, but not the same file
    assert [c["place"] for c in answer["claims"] if c["outcome"] == "refuted"] == ["identity.model.file"]


def test_without_time_nothing_is_refuted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]
) -> None:
    code, answer = verified(capsys, tmp_path, audit, "--timeout", "0")
    assert (code, answer["refuted"], answer["holds"]) == (3, 0, 0)


def test_an_audit_cannot_ask_to_unpickle(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, audit: dict[str, Any]
) -> None:
    audit["identity"]["settings"]["options"] = {"trust_pickle": True}
    assert verified(capsys, tmp_path, audit)[0] == 0  # it would be refused as no option of the format
    audit["identity"]["settings"]["options"] = {"no such": 1}
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "audit.json")]) == 0
    (tmp_path / "audit.json").write_text(json.dumps(audit))
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "audit.json")]) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--sufficient=Essay=fail", "--sufficient=Interview=fail", "--class=Reject"], 0, "2 hold"),
        (["--sufficient=Essay", "--sufficient=Interview"], 0, "1 holds"),
        (["--sufficient=SAT < 1450", "--sufficient=GPA ≠ high", "--sufficient", "Interview=fail", "--maximal"], 0, ""),
        (["--sufficient=SAT < 1450", "--sufficient=GPA in {medium}", "--sufficient", "Interview=fail"], 0, "1 holds"),
        (
            ["--sufficient=SAT < 1450", "--sufficient=GPA=medium", "--sufficient=Interview=fail", "--maximal"],
            1,
            "is not maximal",
        ),
        (["--sufficient=Essay=fail"], 1, "does not force the decision 'Reject'"),
        (["--class=Accept"], 1, "it is Reject"),
        (["--necessary=Interview=fail"], 0, "1 holds"),
        (["--necessary=Essay=fail"], 1, "no change of Essay alone changes"),
        (["--sufficient=Essay=fail", "--within=Interview=fail"], 0, "1 holds"),
        (["--sufficient=Essay=fail", "--given=Essay=fail -> Interview=fail"], 0, "1 holds"),
        (["--sufficient=Essay=fail", "--frozen=Interview"], 0, "1 holds"),
    ],
)
def test_single_claims(words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(MODEL), *REJECTED, *words]) == code
    assert said in capsys.readouterr().out


def test_a_claim_about_a_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("SAT,GPA,Essay,Interview\n1500,high,pass,pass\n1400,medium,fail,fail\n")
    words = ["verify", str(MODEL), "--data", str(table), "--row", "2", "--sufficient", "Essay=fail"]
    assert main([*words, "--sufficient", "Interview=fail", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    validator("verified").validate(answer)
    assert [claim["outcome"] for claim in answer["claims"]] == ["holds"]
    assert main(words) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (REJECTED, "there is nothing to check"),
        ([*REJECTED, "--sufficient=Esay=fail"], "begins with no feature"),
        ([*REJECTED, "--sufficient=Essay=fail", "--sufficient=Essay=pass"], "twice"),
        ([*REJECTED, "--class=Maybe"], "the classes are"),
        ([*REJECTED, "--class=Reject", "--compare=x"], "--compare is about an audit"),
        (["audit.json", "--class=Reject"], "--class is about a single claim"),
        (["--sufficient=Essay=fail"], "no instance is given"),
        (["no such.json"], "cannot be read"),
    ],
)
def test_bad_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(MODEL), *words]) == 2
    assert said in capsys.readouterr().err
