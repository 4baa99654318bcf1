"""Tests that say something of memory in use say nothing under a sanitizer, which keeps what is freed."""

import os

import pytest

not_sanitized = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="a sanitizer keeps what is freed, so memory in use is not judged: run it with `make test`",
)
