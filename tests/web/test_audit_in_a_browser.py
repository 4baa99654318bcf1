"""An audit's page, and that of a batch, in a real browser: phones, keyboards, paper, and nothing that runs."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from audit_documents import HOSTILE, adult, large, small
from quia.auditing.document import Document
from quia.batch.rules import Rule
from quia.batch.summary import Summary
from quia.literal import Literal
from quia.reason import Reason
from quia.show.audit import page
from quia.show.batch import page as batch_page
from quia.variables import Variable

LONG = "a rather long name of a feature that is spelled out"


def rules() -> list[Rule]:
    """Rules with long names and with names that would be markup."""
    job = Literal(Variable.nominal(HOSTILE, ["a", "y" * 90, "c", "d"]), ((1, 2),))
    long = Literal(Variable.numeric(LONG, [1 / 3, 2 / 3]), ((1, 1),))
    reason = Reason((job, long), kind="sufficient")
    return [Rule("no", reason, 40, 45, 45), Rule("x" * 90, Reason((long,), kind="sufficient"), 3)]


def summary() -> Summary:
    """A batch run with long names and every section."""
    long = LONG
    mentioned = {
        kind: {"no": Counter({HOSTILE: 40, long: 3}), "x" * 90: Counter()} for kind in ("necessary", "sufficient")
    }
    return Summary(
        *(100, 10, 0, 1),
        classes=Counter({"no": 60, "x" * 90: 30}),
        errors=Counter({f"{long}: there is no value, and one is needed": 10}),
        features=mentioned,
        lengths={"necessary": Counter({1: 50, 2: 40})},
        sizes={"necessary_count": Counter({1: 90})},
        asked_bias=True,
        biased=Counter({"no": 7}),
        bias_features=Counter({long: 7}),
        reasoned=Counter({"no": 60}),
        sets={("no", (long, HOSTILE)): (2, "row 7")},
    )


PAGES: dict[str, Callable[[], str]] = {
    "adult": lambda: page(adult()),
    "small": lambda: page(small()),
    "large": lambda: page(large()),
    "batch": lambda: batch_page(summary(), rules(), title=f"{HOSTILE}, decided by {'m' * 300}.json"),
}


def opened(shown: Page, folder: Path, source: str) -> Page:
    file = folder / "page.html"
    file.write_text(source)
    shown.goto(file.as_uri())
    return shown


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", ["adult", "batch"])
def test_findings_are_cards(name: str, width: int, watched: Callable[..., Page], tmp_path: Path) -> None:
    """What a finding is about, its figure and what that says are below each other, at one edge, in a frame."""
    shown = opened(watched(width=width), tmp_path, PAGES[name]())
    cards = shown.locator(".findings .card").evaluate_all(
        """cards => cards.map(card => ({
          frame: ["Top", "Right", "Bottom", "Left"].map(side => getComputedStyle(card)[`border${side}Width`]),
          above: getComputedStyle(card.parentElement).borderTopWidth,
          parts: [...card.children].map(each => each.getBoundingClientRect().toJSON()),
        }))"""
    )
    assert len(cards) > 1
    for card in cards:
        assert card["frame"] == ["1px"] * 4 and card["above"] == "0px"
        assert len({part["left"] for part in card["parts"]}) == 1
        tops, ends = [part["top"] for part in card["parts"]], [part["bottom"] for part in card["parts"]]
        assert all(0 <= top - end < 12 for end, top in zip(ends, tops[1:], strict=False)), "nothing is stretched apart"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True), (400, False)])
def test_nothing_is_wider_than_the_window(
    name: str, width: int, dark: bool, watched: Callable[..., Page], tmp_path: Path
) -> None:
    shown = opened(watched(width=width, dark=dark), tmp_path, PAGES[name]())
    assert shown.evaluate("window.owned") is None
    assert shown.locator("article script, article img").count() == 0
    for _ in range(2):
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        beyond = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
        assert shown.locator("article *:not(svg *)").evaluate_all(beyond) == 0
        shown.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(1280, True), (400, False)])
def test_everybody_can_read_it(name: str, width: int, dark: bool, watched: Callable[..., Page], tmp_path: Path) -> None:
    shown = opened(watched(width=width, dark=dark), tmp_path, PAGES[name]())
    assert Axe().run(shown).response["violations"] == []


def test_the_parts_of_a_batch_are_where_its_links_lead(watched: Callable[..., Page], tmp_path: Path) -> None:
    shown = opened(watched(), tmp_path, PAGES["batch"]())
    links = shown.locator(".contents a").evaluate_all("all => all.map(one => one.hash)")
    assert links == [
        f"#{each}" for each in ["decisions", "rules", "features", "lengths", "bias", "surprises", "unexplained"]
    ]
    assert [shown.locator(f"{link} > h2").count() for link in links] == [1] * len(links)
    assert shown.locator(".findings .figure").all_inner_texts() == [
        "90 of 100 rows",
        "no",
        "40 rows",
        "7 of 90 (7.8 %)",
    ]


@pytest.mark.parametrize("name", ["adult", "batch"])
def test_wide_tables_are_lists_on_a_phone(name: str, watched: Callable[..., Page], tmp_path: Path) -> None:
    shown = opened(watched(width=400), tmp_path, PAGES[name]())
    cells = shown.locator("table.wide tbody tr:first-child td")
    assert cells.count() > 1
    tops = cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    assert len(set(tops)) == len(tops), "each value is a line of its own"
    labels = cells.evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
    assert all(label not in ("none", '""') for label in labels)


def test_bars_of_one_chart_are_equally_long(watched: Callable[..., Page], tmp_path: Path) -> None:
    """Else what fills them could not be compared."""
    for width in (1280, 400):
        shown = opened(watched(width=width), tmp_path, page(adult()))
        for chart in shown.locator(".bars, .stacks").all():
            drawn = chart.locator("> li > svg")
            widths = drawn.evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().width))")
            assert len(set(widths)) == 1 and widths[0] >= 60


def test_by_keyboard(watched: Callable[..., Page], tmp_path: Path) -> None:
    shown = opened(watched(), tmp_path, page(adult()))
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.textContent") == "Identity"
    for _ in range(4):
        shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    assert shown.evaluate("location.hash") == "#protected"
    shown.locator("#rules summary").first.focus()
    shown.keyboard.press("Enter")
    assert shown.locator("#rules details").first.get_attribute("open") is not None
    assert shown.locator("#rules details .same").first.is_visible()


def printed(shown: Page) -> int:
    """How many sheets of A4 a page takes."""
    return len(re.findall(rb"/Type\s*/Page\b", shown.pdf(format="A4", prefer_css_page_size=True)))


def test_on_paper(watched: Callable[..., Page], tmp_path: Path) -> None:
    shown = opened(watched(dark=True), tmp_path, page(adult()))
    assert printed(shown) <= 6
    shown.emulate_media(media="print")
    assert shown.locator(".contents").is_hidden()
    folded = shown.locator("#rules > details")
    assert folded.count() == 2 and folded.first.is_hidden()
    assert shown.locator("#rules .printed").first.is_visible()
    assert shown.locator("#rules .example summary").first.is_visible()
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    folded.first.evaluate("one => one.open = true")
    assert folded.first.is_visible() and shown.locator("#rules .printed").first.is_hidden()


def test_more_findings_than_paper_has_room_for_are_folded(watched: Callable[..., Page], tmp_path: Path) -> None:
    """What is folded takes no paper: two hundred rules more are no page more."""

    def sheets(document: Document) -> int:
        return printed(opened(watched(), tmp_path, page(document)))

    few = adult()
    many = replace(few, rules=tuple(replace(each, rules=each.rules * 9) for each in few.rules))
    assert sheets(many) == sheets(few)
