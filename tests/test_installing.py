"""What the documentation tells people to install is enough for what it shows them."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import quia._kernel
from quia.command.examples import FILES

ROOT = Path(__file__).parents[1]
START = ROOT / "docs" / "start.md"
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
COMMANDS = {
    "audit": {"pyarrow"},
    "batch": {"pyarrow"},
    "learn": {"sklearn"},
    "serve": {"msgspec", "starlette", "uvicorn"},
}
"""What commands need beside NumPy."""
SAME_AS = {"xgboost": "xgboost-cpu"}
"""Another build of a library, which the tests have in its stead."""

distributions_of_modules = cache(packages_distributions)


def installed_by(page: Path) -> set[str]:
    """The distributions that a page's `pip install` lines bring, and all that those require."""
    text = page.read_text()
    words = [word for line in re.findall(r"pip install ([^`\n]*)", text) for word in line.replace("'", "").split()]
    asked = [Requirement(re.sub(r"^\.", "quia", word)) for word in words if not word.startswith("-")]
    found: set[str] = set()
    work = [(canonicalize_name(one.name), extra) for one in asked for extra in ("", *one.extras)]
    done = set()
    while work:
        name, extra = work.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        found.add(SAME_AS.get(name, name))
        for line in distribution(SAME_AS.get(name, name)).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                work += [(canonicalize_name(needed.name), more) for more in ("", *needed.extras)]
    return found


def modules_of(distributions: set[str]) -> set[str]:
    return {
        module
        for module, names in distributions_of_modules().items()
        if distributions & {canonicalize_name(name) for name in names}
    }


def shown_by(page: Path) -> set[str]:
    """The modules that a page's Python imports or its commands need, but for Python's own and quia."""
    text = page.read_text()
    found = set()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
        found |= {"pyarrow"} if "explain_batch" in block else set()
    for command in re.findall(rf"quia ({'|'.join(COMMANDS)})\b", text):
        found |= COMMANDS[command]
    return {name.partition(".")[0] for name in found} - sys.stdlib_module_names - {"quia"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_what_a_page_shows_is_installed_by_it_or_by_the_first_page(page: Path) -> None:
    """Everybody begins with "Five minutes"; what a page needs beyond that it says itself."""
    missing = shown_by(page) - modules_of(installed_by(START) | installed_by(page))
    assert not missing, f"{page.name} uses {sorted(missing)} and does not say how to install it"


def test_both_ways_to_install_are_the_same() -> None:
    """From the clone, and from an index once there is a release."""
    here, released = re.findall(r"pip install '(?:\.|quia)(\[\w+(?:,\w+)+\]'[^`\n]*)", START.read_text())
    assert here == released


BUILD = """
import sys
from scikit_build_core.build import build_sdist, build_wheel

build_sdist(sys.argv[1])
build_wheel(sys.argv[1], {"wheel.cmake": "false", "wheel.py-api": "py3"})  # all but the kernel, which takes a minute
"""


def test_the_benchmarks_are_in_the_sdist_and_not_in_the_wheel(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    assert {"benchmarks/__main__.py", "benchmarks/peer/runner.py", "src/quia/cli.py", "tests/test_house.py"} <= source
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        shipped = set(archive.namelist())
    assert {"quia/cli.py", "quia/py.typed", "quia/show/assets/page.css"} <= shipped
    assert {name.partition("/")[0] for name in shipped if ".dist-info/" not in name} == {"quia"}
    assert not any("bench" in name for name in shipped)


RUN = """
import sys
page, wheel, *hidden = sys.argv[1:]
sys.path.insert(0, "docs")
import importlib.abc, pathlib

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if wheel:
    sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
    sys.path.insert(0, wheel)
sys.meta_path.insert(0, Missing())
import executed, quia
assert quia.__file__.startswith(wheel), quia.__file__
page = pathlib.Path(page)
fresh = executed.rerun(page.read_text(), page.name, examples=not wheel)
import quia.web.server, uvicorn  # `quia serve`, which the page names and does not run
sys.exit(0 if fresh == page.read_text() else "the page prints something else")
"""


@pytest.mark.parametrize("installed_from", ["clone", "wheel"])
def test_five_minutes_need_nothing_that_the_page_does_not_install(installed_from: str, tmp_path: Path) -> None:
    """The page is run where everything else that this environment has cannot be imported.

    Once it is run in the clone, and once with what is in the wheel (and the kernel from here, which takes a minute to
    compile), in a folder that has nothing of the repository.
    """
    allowed = modules_of(installed_by(START)) | {"quia"}
    hidden = {name for name in distributions_of_modules() if name not in allowed | sys.stdlib_module_names}
    assert {"skops", "xgboost", "hypothesis", "pytest"} <= hidden, "there is something to hide"
    unpacked = ""
    if installed_from == "wheel":
        subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
        unpacked = str(tmp_path / "site")
        with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
            archive.extractall(unpacked)
        shutil.copy(quia._kernel.__file__, tmp_path / "site" / "quia")
    command = [sys.executable, "-c", RUN, str(START), unpacked, *sorted(hidden)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_wheel_has_the_examples_that_are_written(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        shipped = {name.removeprefix("quia/examples/") for name in archive.namelist() if "/examples/" in name}
    assert shipped == set(FILES)
