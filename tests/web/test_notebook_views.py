"""What notebooks show, in a real browser: in the notebook's colours, with nothing leaking in or out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page

import quia
from quia.compare import compare
from web import notebooks

MOST_HIGH = 350
"""Pixels of an explanation at 900 pixels' width, with all folded that can be."""
ANNA = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}

CONTRASTS = """view => {
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const painted = colours => {
    pixel.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255);
  };
  const light = rgb => {
    const [r, g, b] = rgb.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const one of view.querySelectorAll('details')) one.open = true;
  const found = [];
  const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || parent.closest('style, title, desc')) continue;
    const below = [];
    for (let at = parent; at; at = at.parentElement) below.unshift(getComputedStyle(at).backgroundColor);
    const box = parent.closest('g')?.querySelector('rect');
    if (box) below.push(getComputedStyle(box).fill);
    const style = getComputedStyle(parent);
    const ground = ['white', ...below];
    const ink = parent.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(painted(ground)), light(painted([...ground, ink]))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([Math.round(contrast * 100) / 100, texts.currentNode.textContent.trim().slice(0, 40)]);
  }
  for (const one of view.querySelectorAll('details')) one.open = false;
  return found;
}"""

LOOKED_AT = re.findall(
    r"\S+",
    """
    display position float color background-color background-image opacity visibility width height margin-top
    margin-right margin-bottom margin-left padding-top padding-right padding-bottom padding-left border-top-width
    border-right-width border-bottom-width border-left-width border-bottom-color border-top-left-radius box-shadow
    box-sizing font-family font-size font-weight font-style line-height letter-spacing word-spacing text-align
    text-transform text-decoration-line white-space list-style-type vertical-align transform filter fill stroke
    stroke-width max-width min-width overflow-x cursor flex-basis grid-template-columns text-anchor
    """,
)
STYLES = """(root, names) => [...root.querySelectorAll('*')].map(one => {
  const style = getComputedStyle(one);
  const before = getComputedStyle(one, '::before').content;
  const name = one.tagName + '.' + (one.getAttribute('class') ?? '');
  return [name, before, ...names.map(name => style.getPropertyValue(name))];
})"""


def styles(page: Page, within: str) -> list[list[str]]:
    """What each element looks like."""
    found: list[list[str]] = page.locator(within).evaluate(STYLES, LOOKED_AT)
    return found


def check_colours(page: Page, *, dark: bool) -> None:
    """Every view is readable on what is below it, which is the host's."""
    views = page.locator(".quia-note").all()
    assert len(views) == len(notebooks.CELLS) - 2
    for view in views:
        assert view.evaluate("one => getComputedStyle(one).backgroundColor") == "rgba(0, 0, 0, 0)"
        contrasts = view.evaluate(CONTRASTS)
        assert contrasts and min(contrasts)[0] >= 4.5, min(contrasts)
    ink = views[0].evaluate("one => getComputedStyle(one).color")
    (red,) = [int(part) for part in ink.removeprefix("rgba(").removeprefix("rgb(").split(",")[:1]]
    assert (red > 128) == dark, "the notebook's theme, whatever the system's is"


def height(page: Page) -> float:
    return float(page.locator(".quia-note").first.evaluate("one => one.getBoundingClientRect().height"))


@pytest.fixture(scope="module")
def executed(examples: Path) -> nbformat.NotebookNode:
    pytest.importorskip("nbconvert", reason="pip install nbconvert")
    return notebooks.executed(examples / "admissions.json")


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages of a width in a system that is dark or light."""
    contexts = []

    def opened(address: str, *, system_dark: bool, width: int = 1000) -> Page:
        scheme = "dark" if system_dark else "light"
        contexts.append(browser.new_context(viewport={"width": width, "height": 1400}, color_scheme=scheme))
        page: Page = contexts[-1].new_page()
        page.set_default_timeout(notebooks.PATIENCE * 1000)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("system_dark", [False, True])
def test_exported(
    executed: nbformat.NotebookNode, visit: Callable[..., Page], tmp_path: Path, dark: bool, system_dark: bool
) -> None:
    file = tmp_path / "exported.html"
    file.write_text(notebooks.exported(executed, dark=dark), encoding="utf-8")
    page = visit(file.as_uri(), system_dark=system_dark)
    check_colours(page, dark=dark)
    assert 100 < height(page) < MOST_HIGH
    assert page.locator(".quia-note script").count() == 0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[notebooks.Lab]:
    pytest.importorskip("jupyterlab", reason="pip install jupyterlab")
    with notebooks.lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.mark.parametrize("dark", [False, True])
def test_in_jupyterlab(
    executed: nbformat.NotebookNode, lab: notebooks.Lab, visit: Callable[..., Page], dark: bool
) -> None:
    lab.choose(dark=dark)
    address = lab.put(executed, f"trusted-{dark}.ipynb", trusted=True)
    page = visit(address, system_dark=not dark, width=1100)
    page.locator(".quia-note").nth(len(notebooks.CELLS) - 3).wait_for()
    check_colours(page, dark=dark)
    assert 100 < height(page) < MOST_HIGH
    assert page.locator(".quia-note .sides").first.evaluate("one => getComputedStyle(one).display") == "grid"
    view = page.locator(".quia-note").first
    view.locator("summary", has_text="necessary").click()
    assert view.locator("li", has_text="SAT ≥ 1450").is_visible()


def test_in_jupyterlab_without_trust(
    executed: nbformat.NotebookNode, lab: notebooks.Lab, visit: Callable[..., Page]
) -> None:
    """Where the style is stripped, the markup alone is read."""
    lab.choose(dark=False)
    page = visit(lab.put(executed, "not-trusted.ipynb", trusted=False), system_dark=True, width=1100)
    shown = page.locator(".jp-RenderedHTML").first
    shown.wait_for()
    text = shown.inner_text()
    assert "The model decided Reject." in text and "Essay fail and Interview fail" in text
    assert "{" not in text, "no style is read as text"
    assert shown.locator("details").count() >= 3 and shown.locator("li").count() >= 3


HOST = """
.host, .host * { letter-spacing: 3px; text-transform: uppercase; text-align: right; line-height: 3; word-spacing: 9px }
.host table, .host thead, .host tbody, .host tr, .host td, .host th {
  border: 5px solid red; background: yellow; display: block; width: 50%; margin: 40px; font: 30px serif }
.host table tr:nth-child(odd) { background: pink }
.host ul, .host ol, .host li, .host p, .host pre, .host code {
  margin: 50px; padding: 30px; list-style: square; color: red; font: italic 30px serif; background: yellow }
.host li::before, .host p::after, .host summary::before, .host b::before { content: 'HOST' }
.host li::marker { color: red }
.host details, .host summary { display: inline; border: 9px dotted red; padding: 30px; font-size: 40px; color: red }
.host svg, .host svg * {
  fill: red; stroke: red; stroke-width: 9px; opacity: .2; max-width: 40px; transform: rotate(9deg) }
.host span, .host b, .host strong, .host small, .host div {
  color: red; font-size: 50px; float: right; padding: 9px; background: pink; display: inline-table;
  box-shadow: 0 0 9px red; text-decoration: underline; width: 7px; opacity: .5 }
.host .title, .host .head, .host .fact, .host .class, .host .bar, .host .strip, .host .now, .host .box { display: none }
"""
OUTSIDE = """
<table><thead><tr><th>a</th></tr></thead><tr><td>b</td></tr></table><ul><li>c</li></ul><ol><li>d</li></ol>
<p class=title>e <b class=class>f</b> <small>g</small> <span class=fact>h</span></p>
<details><summary>i</summary>j</details><pre>k</pre><div class=bar><span>m</span></div>
<svg width=20 height=20><g class="box c0"><rect class=edge width=9 height=9></rect><text class=label>l</text></g></svg>
<div class=sides></div><div class=folds></div><div class=drawing></div>
"""


def views(examples: Path) -> str:
    """One of every kind."""
    graph = quia.load(examples / "admissions.json")
    why = quia.explain(graph, ANNA)
    other = quia.explain(graph, {**ANNA, "SAT": 1500, "GPA": "high"})
    things: list[Any] = [why, graph, why.sufficient_reasons(), why.counterfactuals(), why.bias(["Interview"])]
    things += [why.reason_codes(), why.importance(), why.complete_reason, why.even_if(["GPA"]), compare(why, other)]
    things += [quia.bias_of_classifier(graph, ["GPA"]), quia.audit(graph, [ANNA, other.instance], protected=["GPA"])]
    return "".join(thing._repr_html_() for thing in things)


def test_nothing_leaks_in_or_out(examples: Path, visit: Callable[..., Page], tmp_path: Path) -> None:
    shown = views(examples)
    shape = "width: 900px; color: rgb(20, 30, 40); display: block; padding: 0; float: none; opacity: 1"

    def page(style: str, inner: str) -> Page:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.html"
        head = f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style>"
        file.write_text(
            f"{head}<main><div class=outside>{OUTSIDE}</div>"
            f"<div class=host><div class=ours style='{shape}'>{inner}</div></div></main>",
            encoding="utf-8",
        )
        return visit(file.as_uri(), system_dark=False)

    bare, hostile = page("", shown), page(HOST, shown)
    for opened in (False, True):
        for each in (bare, hostile):
            each.evaluate("yes => document.querySelectorAll('.ours details').forEach(one => one.open = yes)", opened)
        ours, leaked = (styles(each, ".ours") for each in (bare, hostile))
        assert len(ours) == len(leaked) > 300
        for wanted, found in zip(ours, leaked, strict=True):
            pairs = zip(["name", "before", *LOOKED_AT], wanted, found, strict=True)
            assert wanted == found, (wanted[0], [each for each in pairs if each[1] != each[2]])
    for style in ("", HOST):
        without, beside = (styles(page(style, inner), ".outside") for inner in ("", shown))
        assert without == beside
    text = hostile.locator(".ours").inner_text()
    assert "HOST" not in text and "THE MODEL" not in text


def test_views_and_the_page_of_a_report_do_not_disturb_each_other(
    examples: Path, visit: Callable[..., Page], tmp_path: Path
) -> None:
    from quia.show.html import page as report

    why = quia.explain(quia.load(examples / "admissions.json"), ANNA)
    plain, view = report(why), why._repr_html_()
    policy = plain[plain.index("<meta http-equiv") : plain.index(">", plain.index("<meta http-equiv")) + 1]
    both = plain.replace(policy, "").replace("<main>", f"<div class=first>{view}{view}</div><main>")
    files = []
    for name, text in (("plain", plain.replace(policy, "")), ("both", both)):
        files.append(tmp_path / f"{name}.html")
        files[-1].write_text(text, encoding="utf-8")
    alone, beside = (visit(file.as_uri(), system_dark=False) for file in files)
    assert styles(alone, "main") == styles(beside, "main")
    assert beside.locator(".quia-note").nth(1).evaluate("one => one.getBoundingClientRect().height") == height(beside)


def test_without_a_style_it_is_read_in_order(examples: Path, visit: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "bare.html"
    bare = re.sub(r"<style>.*?</style>| (?:style|class)=\"[^\"]*\"", "", views(examples), flags=re.DOTALL)
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8>{bare}", encoding="utf-8")
    text = visit(file.as_uri(), system_dark=False).locator("body").inner_text()
    for part in ("The model decided Reject.", "Essay fail and Interview fail", "Interview pass now fail → Accept"):
        assert part in text, text[:2000]
