"""How fast the page is in a real browser: edits and reasons lit, server and browser apart, and what blocks it.

    python tests/web/measure.py MODEL [--data FILE.csv] [--edits 60] [--row 1]

Prints medians and maxima. `edit` is from the input event until the new answer is in the document, `painted` until it
is on the screen; `server` is from the request sent until its answer begins, `sent` until it ended.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

PREPARE = """
window.longTasks = [];
new PerformanceObserver(list => { for (const entry of list.getEntries()) longTasks.push(entry.duration); })
  .observe({ type: "longtask", buffered: true });
window.painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)));
"""

# Moves to another state of a feature that matters, each time another one, as a hand at the form does.
EDIT = """async (number) => {
  const fields = [...document.querySelectorAll(".field")].filter(one => one.querySelector("details")
    && one.querySelector(".control select")?.options.length !== 1);
  const field = fields[(number * 7) % fields.length];
  const select = field.querySelector(".control select"), slider = field.querySelector("input[type=range]");
  performance.clearResourceTimings();
  const settled = new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`no answer: ${document.getElementById("alert").textContent}`)), 20_000);
    const observer = new PerformanceObserver(list => { observer.disconnect(); done(list.getEntries()[0].startTime); });
    observer.observe({ type: "mark" });
  });
  const begun = performance.now();
  if (select) {
    select.selectedIndex = (select.selectedIndex + 1 + number % (select.options.length - 1)) % select.options.length;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  } else {
    slider.value = String((slider.valueAsNumber + 7 + 13 * number) % (Number(slider.max) + 1));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const shown = await settled;
  const painted = await window.painted();
  const [asked] = performance.getEntriesByType("resource").filter(one => one.name.endsWith("/explain")).slice(-1);
  return { edit: shown - begun, painted: painted - begun, server: asked.responseStart - asked.requestStart,
    sent: asked.responseEnd - asked.requestStart, bytes: asked.decodedBodySize };
}"""

LIGHT = """async (number) => {
  const buttons = document.querySelectorAll("#explanation .light, body > main .light");
  if (!buttons.length) return {};
  const begun = performance.now();
  buttons[number % buttons.length].click();
  return { lit: performance.now() - begun, painted: await window.painted() - begun };
}"""

SCROLL = """async () => {
  const frames = [];
  let before = await window.painted();
  const most = document.documentElement.scrollHeight;
  for (let at = 0; at < 60; at += 1) {
    window.scrollTo(0, (most * at) / 60);
    const now = await window.painted();
    frames.push(now - before);
    before = now;
  }
  window.scrollTo(0, 0);
  return frames;
}"""

LOADED = """async () => {
  await window.painted();
  const [page] = performance.getEntriesByType("navigation");
  const [first] = performance.getEntriesByName("first-contentful-paint");
  return { loaded: page.loadEventEnd, "first paint": first?.startTime ?? 0 };
}"""


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    """The address of a server with these arguments."""
    command = [sys.executable, "-m", "quia", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield found[0].rstrip("/")
        process.terminate()


def edits(page: Page, count: int) -> dict[str, list[float]]:
    """The times of some edits, after a few that warm everything up."""
    for number in range(1, 5):
        page.evaluate(EDIT, number)
    page.evaluate("longTasks.length = 0")
    return _together([page.evaluate(EDIT, number) for number in range(5, 5 + count)])


def lights(page: Page, count: int) -> dict[str, list[float]]:
    """The times of lighting reasons up."""
    return _together([page.evaluate(LIGHT, number) for number in range(count)])


def opened(browser: Browser, address: str) -> Page:
    """A page with everything that is measured ready."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(PREPARE)
    page.goto(address)
    page.wait_for_selector("article.quia")
    return page


def launched(playwright: Any) -> Browser:
    """Debian's chromium."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)  # type: ignore[no-any-return]


def _together(rows: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _print(title: str, times: dict[str, list[float]]) -> None:
    for name, values in times.items():
        unit = "" if name == "bytes" else " ms"
        ordered = sorted(values)
        print(
            f"{title:<8} {name:<12} median {median(values):>9,.1f}{unit}"
            f"  95 % {ordered[int(0.95 * (len(ordered) - 1))]:>9,.1f}{unit}  most {ordered[-1]:>9,.1f}{unit}"
        )


def _long(page: Page, title: str) -> None:
    found = page.evaluate("longTasks.splice(0)")
    print(f"{title:<8} tasks over 50 ms: {len(found)}{f', the longest {max(found):.0f} ms' if found else ''}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data")
    parser.add_argument("--row", default="1")
    parser.add_argument("--edits", type=int, default=60)
    asked = parser.parse_args()
    data = [] if asked.data is None else ["--data", asked.data]
    with sync_playwright() as playwright, served(asked.model, *data) as address:
        browser = launched(playwright)
        page = opened(browser, address)
        _print("serve", {name: [time] for name, time in page.evaluate(LOADED).items()})
        if asked.data is not None:
            page.fill("#row", asked.row)
            page.press("#row", "Enter")
            page.wait_for_function("row => history.state?.question.row === row", arg=int(asked.row))
        _long(page, "serve")
        _print("edit", edits(page, asked.edits))
        _long(page, "edit")
        _print("light", lights(page, 20))
        _print("scroll", {"frame": page.evaluate(SCROLL)})
        _long(page, "light")
        with page.expect_download() as download:
            page.click("#report")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            download.value.save_as(file)
            page.close()
            print(f"report   {file.stat().st_size:,} bytes")
            page = opened(browser, file.as_uri())
            _print("report", {name: [time] for name, time in page.evaluate(LOADED).items()})
            _long(page, "report")
            _print("light", lights(page, 20))
            _print("scroll", {"frame": page.evaluate(SCROLL)})
            _long(page, "light")
        browser.close()


if __name__ == "__main__":
    main()
