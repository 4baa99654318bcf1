"""The camera: a real browser that takes pictures of pages, and makes their files small."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking", "--disable-sync"]
PATIENCE = 180_000
"""How many milliseconds to wait for what must come."""
COLOURS = 128
"""So many are enough for text and plain colours, and make a file a third as large."""


class View(NamedTuple):
    """How a page is looked at: `high` is the most of its height that is shown, `scale` how fine a pixel is."""

    wide: int = 1280
    high: int = 900
    dark: bool = False
    scale: float = 1


TOP = View()
MARGIN = 16
"""Pixels around an element that is taken alone."""


class Camera:
    """A browser, and pictures of what it shows."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def take(
        self,
        address: str,
        view: View = TOP,
        *,
        pose: Callable[[Page], object] = lambda _: None,
        of: str | None = None,
    ) -> bytes:
        """A page after it was posed, as a PNG: its top, or with `of` the element that this selects."""
        theme = "dark" if view.dark else "light"
        size = {"width": view.wide, "height": view.high}
        context = self._browser.new_context(viewport=size, device_scale_factor=view.scale, color_scheme=theme)
        try:
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            pose(page)
            page.evaluate("document.activeElement?.blur()")  # a cursor may blink
            clip = _top(page, view) if of is None else _around(page, of, view)
            return small(page.screenshot(animations="disabled", clip=clip, full_page=of is not None))
        finally:
            context.close()

    def take_text(self, html: str, view: View = TOP, *, of: str | None = None) -> bytes:
        """A page that is given as its text."""
        return self.take("about:blank", view, pose=lambda page: page.set_content(html), of=of)


def _top(page: Page, view: View) -> dict[str, float]:
    """The page's top, and no more than there is of it."""
    # An application has no height of its own.
    there = page.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
    return {
        "x": 0,
        "y": 0,
        "width": view.wide,
        "height": min(view.high, there or view.high),
    }


def _around(page: Page, selector: str, view: View) -> dict[str, float]:
    """An element with a margin, at most as much of it as is looked at."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    x, y = max(box["x"] - MARGIN, 0), max(box["y"] - MARGIN, 0)
    wide, high = box["x"] + box["width"] + MARGIN - x, box["y"] + box["height"] + MARGIN - y
    return {"x": x, "y": y, "width": min(wide, view.wide - x), "height": min(high, view.high)}


@contextmanager
def camera() -> Iterator[Camera]:
    """A camera, until the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield Camera(browser)
        finally:
            browser.close()


def small(png: bytes) -> bytes:
    """The same picture in few colours, which makes its file small; those that have few already stay as they are."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    if image.getcolors(COLOURS) is None:
        image = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    else:
        image = image.convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
