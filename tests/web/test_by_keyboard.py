"""All that the page offers can be done with the keyboard alone, and nothing that it shows has a serious fault."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from quia.load import json as quia_json
from web.conftest import Serve
from web.made_models import HOSTILE, hostile, random_instance, random_tree
from web.test_serve_page import faults, turn

FOCUSED = """() => {
  const at = document.activeElement;
  return [at.id, at.getAttribute("aria-label") ?? "", at.closest(".field")?.getAttribute("aria-label") ?? "",
    at.tagName, at.dataset.do ?? "", at.textContent.trim().slice(0, 40)].join("|");
}"""


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until what is wanted has the focus, which must then be seen."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if re.search(wanted, page.evaluate(FOCUSED)):
            at = page.evaluate_handle("document.activeElement.closest('.button.file') ?? document.activeElement")
            ring = at.evaluate("at => getComputedStyle(at).outlineStyle")
            assert ring != "none", wanted
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


@pytest.fixture(scope="module")
def people(serve: Serve, examples: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("data") / "people.csv"
    file.write_text("SAT,GPA,Essay,Interview\n1400,medium,fail,fail\n1500,low,fail,pass\n1500,low,pass,pass\n")
    return serve(examples / "admissions.json", "--data", file)


def test_everything_by_keyboard(watched: Callable[..., Page], people: str, examples: Path) -> None:
    page = watched(origin=people)
    # Dialogs are caught from here on: were that asked for with the key press, the key could be faster.
    page.on("filechooser", lambda chooser: None)
    page.goto(people + "/")
    expect(page.locator("#decision")).to_have_text("Decision: Reject")
    keys = page.keyboard
    keys.press("Tab")
    assert "Skip to the answer" in page.evaluate(FOCUSED)

    tab_to(page, r"^row\|")  # pick a row
    keys.press("ArrowUp")
    keys.press("Enter")
    expect(page.locator("#decision")).to_have_text("Decision: Accept")
    tab_to(page, r"^file\|")  # a file can be chosen: Enter opens the browser's own dialog
    with page.expect_file_chooser() as chooser:
        keys.press("Enter")
    assert not chooser.value.is_multiple()

    tab_to(page, r"SAT, slider")  # edit
    keys.press("Home")
    expect(page.get_by_role("group", name="SAT", exact=True)).to_contain_text("was 1500")
    assert "SAT, slider" in page.evaluate(FOCUSED)
    tab_to(page, r"\|GPA\|SELECT")
    keys.press("ArrowDown")
    expect(page.get_by_role("group", name="GPA", exact=True)).to_contain_text("was low")
    tab_to(page, r"Options for GPA")  # freeze
    keys.press("Enter")
    tab_to(page, r"\|GPA\|INPUT\|freeze")
    keys.press("Space")
    expect(page.get_by_role("group", name="GPA", exact=True).locator(".tags")).to_contain_text("given")
    tab_to(page, r"\|GPA\|INPUT\|without")
    keys.press("Space")
    expect(page.locator("#without")).to_be_visible()

    tab_to(page, r"^against\|")  # why not
    keys.press("ArrowDown")
    expect(page.locator("#decision")).to_contain_text(", not ")
    tab_to(page, r"^keep\|")  # compare
    keys.press("Enter")
    expect(page.locator("#comparison")).to_contain_text("the same to the model")
    tab_to(page, r"^stop\|")
    keys.press("Enter")
    expect(page.locator("#compared")).to_be_hidden()
    tab_to(page, r"SUMMARY\|\|More")
    keys.press("Enter")
    tab_to(page, r"^states\|")  # the other form of the reasons, and back
    keys.press("Space")
    expect(page).to_have_url(re.compile(r"\?states#"))
    keys.press("Space")
    expect(page).not_to_have_url(re.compile(r"\?states#"))
    assert page.evaluate(FOCUSED).startswith("states|")
    keys.press("Escape")
    expect(page.locator("#json")).to_be_hidden()
    assert "SUMMARY||More" in page.evaluate(FOCUSED)
    tab_to(page, r"SUMMARY\|\|\d+ sufficient reason")  # a fold
    keys.press("Enter")
    tab_to(page, r"BUTTON\|\|Light up")
    keys.press("Enter")
    expect(page.locator(".lit-now").first).to_be_visible()
    keys.press("Escape")
    expect(page.locator(".lit-now")).to_have_count(0)
    before = page.locator("#decision").inner_text()
    tab_to(page, r"BUTTON\|\|Try it")  # a nearest change
    keys.press("Enter")
    expect(page.locator("#decision")).not_to_have_text(before)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_no_serious_fault_in_any_state(
    width: int, dark: bool, watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "tree.json"
    graph = random_tree(leaves=200, numeric=20, nominal=20, classes=4, seed=3)
    quia_json.write(graph, file)
    rows = [random_instance(graph, seed) for seed in range(3)]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]))
    address = serve(file, "--data", table)
    page = watched(origin=address, width=width, dark=dark)
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    assert faults(page) == []
    page.click("#keep")
    expect(page.locator("#compared")).to_be_visible()
    page.click("#row-after")
    expect(page.locator("#comparison h2")).not_to_contain_text("the same")
    page.locator("#against").select_option(index=1)
    expect(page.locator("#decision")).to_contain_text(", not ")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate("document.getElementById('menu').open = false")
    page.locator(".light:visible").first.click()
    assert faults(page) == []
    if width == 400:
        turn(page)
    page.locator("[data-do=without]:visible").first.check()
    expect(page.locator(".field .tags", has_text="taken away")).to_be_visible()
    assert faults(page) == []
    page.locator("#all").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 400:
        turn(page)
    expect(page.locator("#without")).to_be_visible()

    (tmp_path / "broken.json").write_text('{"quia": 1')
    page.set_input_files("#file", tmp_path / "broken.json")
    expect(page.locator("#alert")).to_contain_text("is not JSON")
    watched.faults[:] = [f for f in watched.faults if "422" not in f]  # type: ignore[attr-defined]
    assert faults(page) == []


def test_no_serious_fault_before_a_model_and_with_hostile_names(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    address = serve()
    page = watched(origin=address, width=400)
    page.goto(address + "/")
    expect(page.locator("#welcome")).to_be_visible()
    assert faults(page) == []
    (tmp_path / "hostile.json").write_text(json.dumps(hostile()))
    page.set_input_files("#file", tmp_path / "hostile.json")
    turn(page)
    expect(page.locator(".field .name").first).to_have_text(HOSTILE)
    assert faults(page) == []
    turn(page)
    page.wait_for_selector("#explanation article")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
