"""Plots are drawn on no screen, and closed when a test is over."""

from collections.abc import Iterator

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure outlives a test."""
    yield
    plt.close("all")
