"""The page of a decision on an image, in a real browser: wide and narrow, light and dark, and lit with its features."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

import quia
from quia.show.html import page


def stroke() -> quia.Explanation:
    """The middle column of 5 by 5 pixels is bright: it is a stroke if its second and fourth pixel are."""
    pixels = [quia.Variable.numeric(f"pixel{n}", [127]) for n in range(1, 26)]
    edges: list[Any] = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 0), (((1, 1),), 2))]
    graph = quia.DecisionGraph.build(pixels, ["blank", "stroke"], [-1, -1, 17, 7], [0, 1, -1, -1], edges)
    return quia.explain(graph, [255 if n % 5 == 2 else 0 for n in range(25)])


@pytest.mark.parametrize(("width", "dark"), [(400, True), (1280, False)])
def test_the_image_is_seen_and_told(watched: Callable[..., Page], tmp_path: Path, width: int, dark: bool) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(stroke(), image_shape=(5, 5)))
    shown = watched(width=width, dark=dark)
    shown.goto(file.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    image = shown.get_by_role("img", name="The image that was decided stroke. 2 pixels force it, whatever the rest")
    box = image.bounding_box()
    assert box is not None and 200 < box["width"] <= width and abs(box["width"] - box["height"]) < 3
    assert box["y"] + box["height"] < 900, "on the first screen"
    for row, mark in ((1, image.locator("g.because").nth(0)), (3, image.locator("g.because").nth(1))):
        inner = mark.bounding_box()
        assert inner is not None
        centre = inner["x"] + inner["width"] / 2 - box["x"], inner["y"] + inner["height"] / 2 - box["y"]
        assert [int(5 * at / box["width"]) for at in centre] == [2, row]
    serious = [v for v in Axe().run(shown).response["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_pixels_light_up_with_their_reason(watched: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(stroke(), image_shape=(5, 5)))
    shown = watched()
    shown.goto(file.as_uri())
    shown.locator("section.sufficient summary").first.click()
    shown.locator(".sufficient .card button.light").first.click()
    lit = shown.locator("svg.pixels .lit-now").evaluate_all("all => all.map(one => one.dataset.f)")
    assert {"7", "17"} <= set(lit)
