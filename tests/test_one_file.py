"""A classifier in one file goes through every front end: what CONTRIBUTING.md promises."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quia
from one_file import LOADER, LOAN, SOURCE, USE, namespace
from quia.cli import main
from quia.load import FORMATS, Format
from quia.show.html import page
from quia.web.answers import answer, compare, describe
from quia.web.pool import Pool
from web.here import LONG, served_here

ANNA = {"income": 35, "job": "old", "home": "rents", "debt": "yes"}
SETTINGS = [word for name, value in ANNA.items() for word in ("--set", f"{name}={value}")]
VOTE = Format("one_file_vote", lambda head: head.startswith(b"vote\n"), "votes")


@pytest.fixture(scope="module")
def loan() -> Any:
    """The page's own loan."""
    found = namespace()
    exec(compile(USE, "CONTRIBUTING.md", "exec"), found)
    return found["loan"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A model file, and its loader among the formats: the page's class with a function `read`."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "one_file_vote.py").write_text(SOURCE + LOADER)
    (tmp_path / "loan.vote").write_text(LOAN)
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.setitem(FORMATS, "vote", VOTE)
    yield tmp_path / "loan.vote"
    sys.modules.pop("one_file_vote", None)


def test_it_is_short() -> None:
    assert len([line for line in SOURCE.splitlines() if line.strip()]) <= 40


def test_the_page_of_one_decision(loan: Any) -> None:
    why = quia.explain(loan, ANNA)
    html = page(why, model="loan")
    (data,) = re.findall(r'<script [^>]*id="quia-explanation"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert json.loads(data) == why.to_dict()
    assert "deny" in html and html == page(quia.explain(loan, ANNA), model="loan")
    assert 'class="quia-note"' in why._repr_html_() and 'class="quia-note"' in loan._repr_html_()


def test_it_is_served(loan: Any) -> None:
    described = describe(loan, name="loan", identity="1")
    assert [v["name"] for v in described["variables"]] == list(ANNA) and described["nodes"] is None
    found = answer(loan, {"instance": ANNA, "against": "grant", "without": ["debt"]}, name="loan")
    assert found["explanation"] == quia.explain(loan, ANNA, against="grant").to_dict()
    assert found["without"]["holds"] and "way" not in found["html"]
    assert json.loads(json.dumps(found)) == found
    other = compare(loan, {"one": ANNA, "other": {**ANNA, "income": 1}})
    assert other["congruent"] and set(other["common_reason"]["features"]) <= {"job", "home", "debt"}


def test_it_is_batched(loan: Any) -> None:
    rows = [ANNA, {**ANNA, "home": "owns", "debt": "no"}, {**ANNA, "income": None}, {**ANNA, "job": "cook"}]
    columns = {name: [row[name] for row in rows] for name in ANNA}
    table = quia.explain_batch(loan, columns, counts=True, counterfactuals=2, protected=["home"]).to_pylist()
    assert [row["decision"] for row in table] == ["deny", "grant", "deny", None]
    assert "job is 'cook'" in table[3]["error"] and table[2]["unknown"] == ["income"]
    for given, row in list(zip(rows, table, strict=True))[:3]:
        why = quia.explain(loan, given)
        assert row["sufficient_count"] == why.count_sufficient() and row["complete"]
        assert row["biased"] == why.bias(["home"]).biased


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    assert main(list(map(str, arguments))) == 0
    out, err = capsys.readouterr()
    assert not err
    return out


def test_every_command_takes_its_files(
    file: Path, loan: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    why = quia.explain(loan, ANNA)
    assert run(capsys, "explain", file, *SETTINGS).strip() == str(why)
    printed = json.loads(run(capsys, "explain", file, *SETTINGS, "--json", "--protected", "home"))
    assert not printed.pop("bias")["biased"]
    assert printed == json.loads(quia.explain(loan, {**ANNA, "income": "35"}).to_json())
    facts = json.loads(run(capsys, "check", file, "--json"))
    assert facts["sound"] and facts["kind"] == "vote"
    assert "vote" in run(capsys, "check", file)
    run(capsys, "report", file, *SETTINGS, "-o", tmp_path / "anna.html")
    assert "grant" in (tmp_path / "anna.html").read_text()
    table = tmp_path / "people.csv"
    table.write_text("id,income,job,home,debt\n1,35,old,rents,yes\n2,50,old,owns,no\n")
    main(["batch", str(file), str(table), "-o", str(tmp_path / "out.jsonl"), "--id", "id"])
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["decision"] for row in rows] == ["deny", "grant"]
    capsys.readouterr()
    assert main(["convert", str(file), "-o", str(tmp_path / "out.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1, "a vote is no graph, and one sentence says so"


def test_a_worker_of_the_server_takes_them(file: Path) -> None:
    """A real worker process, which finds the loader as this one does."""
    program = (
        f"import sys; sys.path.insert(0, {str(file.parent / 'code')!r})\n"
        "from quia.load import FORMATS, Format\n"
        "FORMATS['vote'] = Format('one_file_vote', lambda head: head.startswith(b'vote'), 'votes')\n"
        "from quia.web.worker import main\n"
        "main()\n"
    )
    limits = [str(2**32), str(2**20), "60"]
    command = [sys.executable, "-B", "-c", program, *limits]
    pool = Pool(size=1, seconds=LONG, memory=2**32, largest=2**20, command=command)
    with served_here(pool, file) as here, here.client() as client:
        (model,) = client.get("/api/models").json()["models"]
        found = client.post(f"/api/models/{model['id']}/explain", json={"instance": ANNA})
        assert found.status_code == 200, found.text
        assert found.json()["explanation"]["decision"] == "deny"
        report = client.post(f"/api/models/{model['id']}/report", json={"instance": ANNA})
        assert report.status_code == 200 and "deny" in report.text
