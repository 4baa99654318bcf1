"""The page keeps up with the hand: how often it asks, how much it makes anew; `measure.py` says how long that takes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

from quia.load import json as quia_json
from web.conftest import PATIENCE, Serve
from web.made_models import chain, random_tree

MOVE = """value => {
  const slider = document.querySelector("input[type=range]");
  slider.value = String(value);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def opened(page: Page, address: str) -> Page:
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    return page


def pump(page: Page, holds: Callable[[], bool]) -> None:
    """Let the browser's events come until something that must happen has."""
    for _ in range(PATIENCE // 10):
        if holds():
            return
        page.wait_for_timeout(10)
    raise AssertionError("it did not happen")


def test_an_edit_asks_once_and_makes_anew_only_what_changed(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    """On a tree of the size of adult's."""
    file = tmp_path / "tree.json"
    quia_json.write(random_tree(leaves=650, numeric=7, nominal=7, classes=2, seed=1), file)
    address = serve(file)
    page = opened(watched(origin=address), address)
    sizes: list[int] = []
    page.on("response", lambda found: found.url.endswith("/explain") and sizes.append(len(found.body())))
    page.evaluate("for (const part of document.querySelectorAll('#explanation section')) part.before = true")
    box = page.get_by_role("spinbutton").first
    value = float(box.input_value())
    for step in (1, 2, 3):  # within one state: the fact is another, and nothing else
        box.fill(f"{value + step / 1000}")
        shown = page.locator(".instance tr", has_text="number 0").locator("td").first
        expect(shown).to_have_text(f"{value + step / 1000:g}")
        pump(page, lambda step=step: len(sizes) == step)
        kept = page.evaluate("[...document.querySelectorAll('#explanation section')].map(part => part.before === true)")
        assert kept.count(False) == 1
        assert len(kept) >= 6
    assert max(sizes) < 250_000


def test_a_moving_slider_asks_for_its_newest_place_only(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    """An answer that comes soon is shown though the slider has moved on; of all places since, the last is asked for."""
    page, held = held_page(watched, serve, tmp_path)
    for place in range(5, 50, 5):
        page.evaluate(MOVE, place)
    pump(page, lambda: len(held) == 1)
    first, last = asked(held[0]), float(page.get_by_role("spinbutton").first.input_value())
    assert first != last
    held[0].continue_()
    pump(page, lambda: len(held) == 2)
    assert asked(held[1]) == last
    shown = page.locator(".instance tr", has_text="number 0").locator("td").first
    expect(shown).to_have_text(f"{first:g}")
    held[1].continue_()
    expect(shown).to_have_text(f"{last:g}")
    assert len(held) == 2


def test_a_slow_answer_gives_way_to_a_newer_question(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    page, held = held_page(watched, serve, tmp_path)
    gone: list[str] = []
    page.on("requestfailed", lambda request: gone.append(request.url))
    page.evaluate(MOVE, 5)
    pump(page, lambda: len(held) == 1)
    page.clock.run_for(250)
    page.evaluate(MOVE, 25)
    page.wait_for_timeout(50)
    assert (len(held), gone) == (1, [])  # it may still come soon
    page.clock.run_for(100)
    pump(page, lambda: len(held) == 2)
    assert len(gone) == 1
    held[1].continue_()
    last = float(page.get_by_role("spinbutton").first.input_value())
    expect(page.locator(".instance tr", has_text="number 0").locator("td").first).to_have_text(f"{last:g}")


def held_page(watched: Callable[..., Page], serve: Serve, tmp_path: Path) -> tuple[Page, list[Route]]:
    """A page whose clock stands still and whose questions wait until they are let through."""
    file = tmp_path / "tree.json"
    quia_json.write(random_tree(leaves=60, numeric=3, nominal=0, classes=3, seed=4), file)
    address = serve(file)
    page = watched(origin=address)
    page.clock.install(time=0)
    opened(page, address)
    page.clock.pause_at(10**9)
    held: list[Route] = []
    page.route("**/explain", lambda route: held.append(route))
    return page, held


def asked(route: Route) -> Any:
    return json.loads(route.request.post_data or "")["instance"]["number 0"]


def test_twenty_thousand_features_make_a_page_that_answers(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "chain.json"
    quia_json.write(chain(20_000), file)
    address = serve(file)
    page = opened(watched(origin=address), address)
    expect(page.locator("#decision")).to_have_text("Decision: deny")
    assert page.locator(".field").count() == 200
    expect(page.locator("#more")).to_have_text("Show 200 of 19,800 more")
    page.click("#more")
    expect(page.locator(".field")).to_have_count(400)
    page.locator("#filter").fill("v19998")
    page.locator(".field select").select_option("yes")
    expect(page.locator(".field .tags")).to_have_text("was no")
