"""A real server and a real browser."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE = 180_000
"""How many milliseconds to wait for what must come: only a test that fails waits so long."""
expect.set_options(timeout=PATIENCE)

Serve = Callable[..., str]


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Starts `quia serve` with some arguments and gives its address; all are stopped at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> str:
        # Limits that are not what a test is about are out of reach, however busy the machine is.
        limits = ["--seconds", "3600", "--timeout", "3600"]
        command = [sys.executable, "-m", "quia", "serve", "--port", "0", *limits, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        return found[0].rstrip("/")

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(120)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A FIFO: who opens it to read waits until somebody opens it to write, and reads until that one closes it."""
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


@pytest.fixture(scope="session")
def admissions(serve: Serve, examples: Path) -> str:
    """The address of a server of the admissions example."""
    return serve(examples / "admissions.json")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages; a test fails if one logged an error or asked for anything that is not the server's."""
    faults: list[str] = []
    contexts = []

    def make(*, origin: str | None = None, width: int = 1280, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("console", lambda message: message.type in ("error", "warning") and faults.append(message.text))

        def check(url: str) -> None:
            own = url.startswith(("file:", "data:", "blob:")) or (origin is not None and url.startswith(origin + "/"))
            if not own:
                faults.append(f"asked for {url}")

        page.on("request", lambda request: check(request.url))
        return page

    make.faults = faults  # type: ignore[attr-defined]
    yield make
    for context in contexts:
        context.close()
    assert faults == []
