"""What all tests share."""

import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from quia.errors import Unsupported
from quia.learn_j48 import find_weka
from skipped import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

os.environ.pop("COLUMNS", None)  # pytest's workers have one, and lines are broken to fit it

# No test depends on a time: neither of an example nor of making them.
settings.register_profile("quia", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quia")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def examples() -> Path:
    """The example models."""
    return ROOT / "examples"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real trees, graphs and rows, which live beside the project and not in it."""
    data = ROOT.parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip(
            "there are no real models in ../shared/data: put trees/NAME/tree.j48.txt with its rows.csv.gz and"
            " graphs/NAME.odd.gz there (they are not published; generated models are tested all the same)"
        )
    return data


@pytest.fixture(scope="session")
def java() -> str:
    """The java that Spark and Weka run on."""
    found = shutil.which("java")
    if found is None:
        pytest.skip("java is not installed: apt-get install default-jre-headless")
    return found


@pytest.fixture(scope="session")
def weka_jar(java: str) -> Path:
    """Weka, the program that learns and prints J48 trees."""
    try:
        return Path(find_weka())
    except Unsupported as fault:
        pytest.skip(str(fault))


# In CI everything must be there: a test that would be skipped fails.


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _not_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _not_skipped(report)


def _not_skipped(report: Any) -> Any:
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"
    return report
