"""Numbers that are not cut on the local web page: a slider over their range, and what each feature adds."""

import json
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from web.conftest import Serve

CARD = {
    "quia": 1,
    "kind": "scorecard",
    "variables": {
        "income": {"kind": "line", "low": 0, "high": 250000},
        "home": {"kind": "nominal", "states": ["rents", "owns"]},
    },
    "classes": ["deny", "grant"],
    "rule": {"kind": "cuts", "cuts": [40]},
    "terms": [
        {"variable": "income", "steps": [], "weight": 0.0007},
        {"variable": "home", "points": {"rents": 0, "owns": 15}},
    ],
}


def test_a_line_has_a_slider_and_points(serve: Serve, watched: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps(CARD))
    address = serve(tmp_path / "card.json")
    page = watched(origin=address)
    page.goto(address + "/")
    expect(page.locator("#decision")).to_have_text("Decision: grant")
    income = page.get_by_role("group", name="income", exact=True)
    expect(income).to_contain_text("from 0 to 250000")

    slider = page.get_by_label("income, slider")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#decision")).to_have_text("Decision: deny")
    expect(income.locator("input.number")).to_have_value("600")
    points = page.locator(".part.points")
    expect(points).to_contain_text("The score begins with 0.")
    expect(page.locator(".part.scores")).to_contain_text("which is 39.58 below 40")
    expect(points.locator("tbody tr")).to_have_text(["income6000.42175", "homerents015"])
    # What would help is read rounded to the safe side, and is tried as it is read or nearer.
    expect(page.locator(".part.changes")).to_contain_text("≥ 57200")
    page.locator(".part.changes").get_by_role("button", name="Try it").first.click()
    expect(page.locator("#decision")).to_have_text("Decision: grant")
    expect(income.locator("input.number")).to_have_value("57143")
    found = Axe().run(page)
    assert [each["id"] for each in found.response["violations"] if each["impact"] in ("serious", "critical")] == []
