"""The README, the docs and the examples do what they say."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import quia
from quia import Additive, DecisionGraph, Ensemble
from quia.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def tool(name: str) -> ModuleType:
    """A program of docs/, as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


executed, notebook = tool("executed"), tool("notebook")
PAGES = executed.pages()
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + PAGES


@pytest.mark.parametrize("page", [*DOCUMENTS], ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_print_what_is_shown(page: Path) -> None:
    text = page.read_text()
    fresh = executed.rerun(text, page.name, insert=page.name != "README.md")  # one screen has no room for all
    assert fresh.splitlines() == text.splitlines(), f"run docs/executed.py {page.relative_to(ROOT)} and read the diff"


def test_a_wrong_output_is_noticed() -> None:
    page = "```python\nprint(1 + 1)\n```\n```text\n3\n```\n\n```console\n$ quia --version\nquia 0.0.0\n```\n"
    fresh = executed.rerun(page)
    assert "```text\n2\n```" in fresh and "0.0.0" not in fresh
    assert executed.rerun(fresh) == fresh


@pytest.mark.parametrize("command", ["quia explian x", "quia explain nothing.json --set A=1", "rm -r docs"])
def test_a_command_that_fails_or_is_not_ours_is_no_output(command: str) -> None:
    with pytest.raises(ValueError, match=r"failed with exit code 2|is no command"):
        executed.rerun(f"```console\n$ {command}\n```\n")


def test_an_ellipsis_stands_for_anything_and_only_that() -> None:
    page = "```python\nprint('a 1 b')\n```\n```text\na … {}\n```\n"
    assert executed.rerun(page.format("b")) == page.format("b")
    assert "a 1 b" in executed.rerun(page.format("c"))


def test_every_block_has_a_language_that_says_whether_it_is_run() -> None:
    for page in DOCUMENTS:
        opened = re.findall(r"^```(.*)\n(?:.*\n)*?```$", page.read_text(), re.MULTILINE)
        assert set(opened) <= {"python", "console", "text", "json", "sh", "cpp", ""} | {
            name for name in opened if name.startswith("{")
        }, page
        assert page.name == "README.md" or "" not in opened, page


def test_no_text_says_that_the_facts_of_a_necessary_reason_must_change() -> None:
    """With SAT and Essay altered the applicant is accepted, and Interview, a necessary reason, stays as it was."""
    graph = quia.load(ROOT / "examples" / "admissions.json")
    instance = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    necessary = {reason.features for reason in quia.explain(graph, instance).necessary_reasons()}
    assert {("Interview",), ("SAT", "Essay")} <= necessary
    assert graph.classify(instance | {"SAT": 1500, "Essay": "pass"}) != graph.classify(instance)
    texts = [ROOT / "README.md", *PAGES, *(DOCS / "schemas").glob("*.json"), *(ROOT / "src").rglob("*.py")]
    wrong = re.compile(r"must\s+(\*?all\*?\s+)?change\b|(have|has|had|needs?)\s+to\s+change\b", re.IGNORECASE)
    assert {file.name: found[0] for file in texts if (found := wrong.search(file.read_text()))} == {}


def test_the_format_document_shows_each_kind() -> None:
    text = (DOCS / "format.md").read_text()
    graph, ensemble, additive = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert Additive.from_dict(json.loads(additive)).to_dict() == json.loads(additive)
    assert DecisionGraph.from_dict(json.loads(graph)).to_dict() == json.loads(graph)
    assert Ensemble.from_dict(json.loads(ensemble)).to_dict() == json.loads(ensemble)


def test_the_drawings_are_what_the_code_draws() -> None:
    drawings = tool("draw").drawings()
    assert {path.name for path in (DOCS / "pictures").glob("*.svg")} == set(drawings)
    for name, text in drawings.items():
        assert (DOCS / "pictures" / name).read_text() == text, f"run docs/draw.py to renew {name}"


def test_the_filed_audit_is_what_the_command_writes_and_every_claim_of_it_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filed_audit = tool("filed_audit")
    table = ROOT / "examples" / "loans.csv"
    assert table.read_text() == filed_audit.csv(filed_audit.applicants()), "run docs/filed_audit.py"
    filed = filed_audit.filed()
    assert {path.name for path in (DOCS / "filed").iterdir()} == set(filed)
    for name, text in filed.items():
        found = (DOCS / "filed" / name).read_text()
        assert filed_audit.without_seconds(found) != found, "the seconds are no longer where they were"
        same = filed_audit.without_seconds(found) == filed_audit.without_seconds(text)
        assert same, f"run docs/filed_audit.py to renew {name}"
    shares = re.findall(
        r"\d+ of \d+", re.sub(r"^```console.*?^```", "", (DOCS / "auditors.md").read_text(), flags=re.M | re.S)
    )
    assert shares and [share for share in shares if share not in filed["loan-audit.html"]] == []
    monkeypatch.chdir(ROOT)
    assert main(["verify", "examples/loan.json", "docs/filed/loan-audit.json"]) == 0
    assert re.search(r"(\d+) claims: \1 hold$", capsys.readouterr().out)


@pytest.mark.parametrize("page", notebook.PAGES, ids=lambda page: page.stem)
def test_notebooks_are_their_pages_and_run(page: Path, tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    file = notebook.NOTEBOOKS / f"{page.stem}.ipynb"
    assert file.read_text() == notebook.notebook(page.read_text()) + "\n", "run docs/notebook.py"
    cells = nbformat.read(file, as_version=4)
    nbformat.validate(cells)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(cells, timeout=600, startup_timeout=600, resources=where).execute()
    shown = [cell["outputs"] for cell in cells["cells"] if cell["cell_type"] == "code"]
    assert any(shown) and not any(output["output_type"] == "error" for each in shown for output in each)


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.py")), ids=lambda file: file.name)
def test_examples_run(file: Path) -> None:
    done = subprocess.run([sys.executable, file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_kernel_can_be_embedded(tmp_path: Path) -> None:
    """The program of docs/howto/kernel.md compiles against the kernel alone, and prints what the page shows."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler: apt-get install g++")
    page = (DOCS / "howto" / "kernel.md").read_text()
    found = re.search(r"^```cpp\n(.*?)^```\n\n?^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    (tmp_path / "embedded.cpp").write_text(found[1])
    sources = [str(ROOT / "native" / name) for name in ("graph.cpp", "sets.cpp", "tree_reasons.cpp")]
    flags = ["-std=c++20", "-O0", f"-I{ROOT / 'native'}", "-o", str(tmp_path / "embedded")]
    subprocess.run([compiler, *flags, str(tmp_path / "embedded.cpp"), *sources], check=True)
    done = subprocess.run([str(tmp_path / "embedded")], capture_output=True, text=True, check=True)
    assert done.stdout == found[2]


def test_the_demo_runs() -> None:
    quia = Path(sys.executable).parent / "quia"
    done = subprocess.run(
        [ROOT / "examples" / "demo.sh"],
        env=os.environ | {"QUIA": str(quia)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "The decision is biased" in done.stdout
    assert "deny because checking=overdrawn" in done.stdout
    assert "decisions hang on sex" in done.stdout and "claims: " in done.stdout
    assert "What to try next" in done.stdout


def test_relative_links_lead_somewhere() -> None:
    for file in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)(?=[)#])", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"
