"""Which files a page was made of: checksums as other programs have them, and pages that can be made again."""

import hashlib
import html
import json
import re
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

import quia
from quia.cli import main
from quia.errors import FormatError, QuiaError
from quia.identity import file_facts, now
from quia.show.html import page

LUNA = {"E": "yes", "F": "no", "G": "yes", "R": "yes", "W": "yes"}
SETS = [part for name, value in LUNA.items() for part in ("--set", f"{name}={value}")]


def test_a_file_is_what_lies_there(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(b"\x1f\x8b not unpacked" * 100_000)
    facts = file_facts(file)
    assert facts.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (facts.name, facts.path, facts.bytes) == ("rows.csv.gz", str(file), 1_500_000)


def test_a_folder_is_the_sum_of_its_files(tmp_path: Path) -> None:
    """As `sha256sum` writes it of the files by name, so that anybody can check it."""
    folder = tmp_path / "table"
    for name in ("b=2/part-1.parquet", "b=10/part-0.parquet", "a.parquet", "b.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    plain = file_facts(folder)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))
    if shutil.which("sha256sum"):
        lines = subprocess.run(["sha256sum", *names], cwd=folder, capture_output=True, check=True).stdout
        assert plain.sha256 == hashlib.sha256(lines).hexdigest()
    assert plain.bytes == sum(map(len, names)) and plain.name == "table"

    (folder / "_SUCCESS").touch()
    (folder / ".hidden").write_text("x")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part").write_text("x")
    assert file_facts(folder).sha256 == plain.sha256
    (folder / "a.parquet").rename(folder / "c.parquet")
    assert file_facts(folder).sha256 != plain.sha256


def test_what_is_no_file_has_no_checksum(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nothing: is no file and no folder"):
        file_facts(tmp_path / "nothing")


def test_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", now())
    assert abs(datetime.fromisoformat(now()).timestamp() - datetime.now().timestamp()) < 3600
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert now() == "2023-11-14T22:13:20+00:00"
    for wrong in ("yesterday", "1e9", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        with pytest.raises(QuiaError, match=r"SOURCE_DATE_EPOCH is '.*'; give seconds"):
            now()


def foot(source: str) -> str:
    found = re.search(r'<section class="part identity".*?</section>', source, re.DOTALL)
    assert found
    return html.unescape(re.sub(r"<[^>]*>", " ", found[0]))


def test_a_report_says_what_it_was_made_of(examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    model, data, file = examples / "luna.json", tmp_path / "two people.csv", tmp_path / "page.html"
    data.write_text(f"{','.join(LUNA)}\n{','.join(LUNA.values())}\nno,no,no,no,no\n")
    asked = ["report", str(model), "--data", str(data), "--row", "1", "--case", "<b>7 & 8", "--frozen", "W"]
    assert main([*asked, "-o", str(file)]) == 0
    first = file.read_text()
    said = foot(first)
    for path in (model, data):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in said and f"{path.name} ({path})" in said
    for fact in (
        "<b>7 & 8",
        "2023-11-14 22:13:20+00:00",
        f"quia {quia.__version__}",
        "frozen: W",
        "limit: 10",
        "timeout: 60 s",
    ):
        assert fact in said, fact
    assert f"quia report {model} --data '{data}' --row 1 --case '<b>7 & 8' --frozen W -o {file}" in said
    assert re.search(r"Row\s+1\b", said)
    assert "<b>7" not in first
    assert main([*asked, "-o", str(file)]) == 0
    assert file.read_text() == first, "made again, it is the same to the last byte"


def test_pages_made_in_python_have_no_such_foot(examples: Path) -> None:
    assert 'class="part identity"' not in page(quia.explain(quia.load(examples / "luna.json"), LUNA))


@pytest.mark.parametrize(("protected", "biased"), [(["R"], True), (["W"], False), (["E", "W"], True)])
def test_a_report_says_whether_it_hangs_on_protected_features(
    protected: list[str], biased: bool, examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for name in protected for part in ("--protected", name)]
    model, file = str(examples / "luna.json"), tmp_path / "page.html"
    assert main(["explain", model, *SETS, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(["report", model, *SETS, *options, "-o", str(file)]) == 0
    source = file.read_text()
    embedded = re.search(r'id="quia-explanation">(.*?)</script>', source)
    assert embedded and json.loads(embedded[1]) == answer
    part = re.search(r'<section class="part bias">.*?</section>', source, re.DOTALL)
    assert part
    assert answer["bias"]["biased"] == biased
    said = html.unescape(re.sub(r"<[^>]*>", " ", part[0]))
    assert f"Without {' and '.join(protected)} the decision {'no longer' if biased else 'still'} stands" in said
    assert ("makes it" in said) == biased
    assert main(["report", model, *SETS, "-o", str(file)]) == 0
    assert 'class="part bias"' not in file.read_text()
