"""What all tests share."""

import os
from pathlib import Path

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
        if os.environ.get("CI"):
            pytest.fail(f"{data} is missing; CI must have it")
        pytest.skip("the shared data are not beside this clone")
    return data
