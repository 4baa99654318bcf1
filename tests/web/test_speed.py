"""The page keeps up with the hand; `measure.py` says by how much."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from quia.load import json as quia_json
from web import measure
from web.conftest import Serve
from web.made_models import chain, random_tree


def test_an_edit_takes_less_than_a_tenth_of_a_second(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    """On a tree of the size of adult's; a machine that is busy with other things may need longer most times."""
    file = tmp_path / "tree.json"
    quia_json.write(random_tree(leaves=650, numeric=7, nominal=7, classes=2, seed=1), file)
    address = serve(file)
    page = watched(origin=address)
    page.add_init_script(measure.PREPARE)
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    times = sorted(measure.edits(page, 30)["edit"])
    assert times[len(times) // 4] < 100, times
    assert times[-1] < 2_000, times


def test_answers_are_shown_while_a_slider_moves(watched: Callable[..., Page], serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "tree.json"
    quia_json.write(random_tree(leaves=60, numeric=3, nominal=0, classes=3, seed=4), file)
    address = serve(file)
    page = watched(origin=address)
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    answered = page.evaluate(
        """async () => {
          const slider = document.querySelector("input[type=range]");
          performance.clearMarks();
          for (let place = 0; place < 100; place += 1) {
            slider.value = String(place);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise(done => setTimeout(done, 20));
          }
          return performance.getEntriesByName("answered").length;
        }"""
    )
    assert answered > 3
    box = page.get_by_role("spinbutton").first
    last = float(box.input_value())
    expect(page.locator(".instance tr", has_text="number 0").locator("td").first).to_have_text(f"{last:g}")


def test_twenty_thousand_features_make_a_page_that_answers(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "chain.json"
    quia_json.write(chain(20_000), file)
    address = serve(file, "--seconds", 60)
    page = watched(origin=address)
    page.set_default_timeout(60_000)
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    expect(page.locator("#decision")).to_have_text("Decision: deny")
    assert page.locator(".field").count() == 200
    expect(page.locator("#more")).to_have_text("Show 200 of 19,800 more")
    page.click("#more")
    expect(page.locator(".field")).to_have_count(400)
    page.locator("#filter").fill("v19998")
    page.locator(".field select").select_option("yes")
    expect(page.locator(".field .tags")).to_have_text("was no", timeout=60_000)
