"""What all tests share."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("quia", deadline=None)  # no test depends on a time
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
        pytest.skip("the shared data are not beside this clone")
    return data


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
