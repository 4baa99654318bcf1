"""What is possible, on the page in a real browser, through the server, and as what `quia serve` begins with."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

import quia
from quia.cli import main
from quia.load import json as quia_json
from web.conftest import Serve
from web.here import LONG
from web.made_models import HOSTILE_STATE
from web.test_by_keyboard import FOCUSED, tab_to
from web.test_serve_page import faults, field, opened, saved, settled

RULE = "age < 14 <-> ticket=child"
GUEST = {"age": 40, "ticket": "adult", "nights": 3}


def inn() -> quia.DecisionGraph:
    """Half price is for children, for those of 65 and more, and for more than 6 nights."""
    age = quia.Variable.numeric("age", [(18, "before"), (65, "before")])
    ticket, nights = quia.Variable.nominal("ticket", ["child", "adult"]), quia.Variable.numeric("nights", [6])
    edges = [
        (),
        (),
        ((((0, 0),), 0), (((1, 1),), 1)),
        ((((0, 1),), 2), (((2, 2),), 1)),
        ((((0, 0),), 1), (((1, 1),), 3)),
    ]
    tests, labels = [-1, -1, 2, 0, 1], [0, 1, -1, -1, -1]
    return quia.DecisionGraph.build([age, ticket, nights], ["full price", "half price"], tests, labels, edges)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("inn")
    quia_json.write(inn(), found / "inn.json")
    (found / "guests.csv").write_text("age,ticket,nights\n40,adult,3\n40,adult,9\n10,child,3\n")
    return found


@pytest.fixture(scope="module")
def guests(serve: Serve, folder: Path) -> str:
    return serve(folder / "inn.json", "--data", folder / "guests.csv")


@pytest.fixture
def client(guests: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guests, timeout=LONG) as found:
        yield found


def expected(instance: dict[str, Any] | None = None, **worlds: Any) -> dict[str, Any]:
    """What `quia.explain` says of a guest."""
    return quia.explain(inn(), instance or GUEST, **worlds).to_dict()


def answer(page: Page) -> dict[str, Any]:
    """What the page's JSON says; the table's values are texts."""
    found = dict(json.loads(saved(page, "#json")))
    found["instance"] = {name: int(value) if name != "ticket" else value for name, value in found["instance"].items()}
    for change in found["counterfactuals"]:
        change["now"] = {name: int(value) if name != "ticket" else value for name, value in change["now"].items()}
    return found


def refusals_are_meant(watched: Callable[..., Page]) -> None:
    """The browser logs every request that is refused."""
    watched.faults[:] = [f for f in watched.faults if "422" not in f]  # type: ignore[attr-defined]


def say(page: Page, text: str) -> None:
    """Write into the section what is possible, and leave it."""
    if not page.locator("#given").is_visible():
        page.get_by_text("What is possible").click()
    page.locator("#given").fill(text)
    page.locator("#given").blur()


def test_directions_distances_and_constraints_are_those_of_explain(watched: Callable[..., Page], guests: str) -> None:
    page = opened(watched(origin=guests), guests)
    settled(page, "full price")
    assert answer(page) == expected()
    assert page.locator(".changes .card").count() == 3

    say(page, f"# who counts as a child\n{RULE}\n\n")
    expect(page.locator(".possible")).to_have_text(f"Only what is possible counts: {RULE}.")
    assert answer(page) == expected(given=RULE)
    expect(page.locator(".changes .card")).to_have_count(2)
    expect(page.locator("#possible-count")).to_have_text("(1)")
    # The model's own states, which constraints cut further, are what the form and the table of facts tell.
    expect(field(page, "age")).to_contain_text("counts as ≥ 18 and < 65")
    expect(page.locator(".instance tr", has_text="age")).to_contain_text("≥ 18 and < 65")

    field(page, "age").get_by_text("Options").click()
    field(page, "age").get_by_label("can change").select_option("only down")
    expect(page.locator(".changes .card")).to_have_count(1)
    expect(field(page, "age").locator(".tags")).to_have_text("only down")
    assert answer(page) == expected(given=RULE, only_down=["age"])
    field(page, "age").get_by_label("can change").select_option("only up")
    expect(page.locator(".changes .card")).to_have_count(2)
    assert answer(page) == expected(given=RULE, only_up=["age"])
    near = field(page, "age").get_by_label("by at most")
    near.fill("20")
    near.press("Tab")
    expect(page.locator(".possible")).to_contain_text("age within 20 of what it is")
    assert answer(page) == expected(given=RULE, only_up=["age"], near={"age": 20})
    near.fill("100%")
    near.press("Tab")
    expect(page.locator(".possible")).to_contain_text("age within 47 of what it is")
    assert answer(page) == expected(given=RULE, only_up=["age"], near={"age": "100%"})
    report = saved(page, "#report")
    assert f"Only what is possible counts: age can only go up; age within 47 of what it is; {quoted(RULE)}." in report
    field(page, "age").get_by_label("can change").select_option("not at all")
    expect(page.locator(".changes .card")).to_have_count(1)
    assert answer(page) == expected(given=RULE, frozen=["age"], near={"age": "100%"})

    near.fill("far")
    near.press("Tab")
    expect(field(page, "age").locator(".fault:visible")).to_have_text(
        "far is no distance; write a number from 0 on, or a share of its range such as 10%."
    )
    assert near.input_value() == "far"
    near.fill("")
    near.press("Tab")
    expect(field(page, "age").locator(".fault:visible")).to_have_count(0)
    expect(page.locator(".possible")).to_have_text(f"Only what is possible counts: {RULE}.")
    assert answer(page) == expected(given=RULE, frozen=["age"])


def quoted(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


def test_what_holds_without_facts_and_comparisons_are_in_possible_worlds(
    watched: Callable[..., Page], guests: str
) -> None:
    page = opened(watched(origin=guests), guests)
    field(page, "ticket").get_by_text("Options").click()
    field(page, "ticket").get_by_label("take this fact away").check()
    expect(page.locator("#without")).to_contain_text("no longer stands")
    say(page, RULE)
    expect(page.locator("#without")).to_have_text(
        "Without ticket the decision still stands: no possible world differs in that alone."
    )
    page.locator("#row").fill("3")
    page.locator("#row").press("Enter")
    settled(page, "half price")
    page.click("#keep")
    page.click("#row-before")
    expect(page.locator("#comparison h2")).to_have_text("Both half price, but for no common reason")
    say(page, "age >= 18")  # the one kept is ten years old
    expect(page.locator("#comparison")).to_contain_text(
        "The one kept cannot be compared: the instance is impossible: it breaks the constraint age >= 18, as age is 10;"
    )
    settled(page, "half price")
    refusals_are_meant(watched)


def test_lines_that_cannot_be_read_and_facts_that_cannot_be(watched: Callable[..., Page], guests: str) -> None:
    page = opened(watched(origin=guests), guests)
    typed = f"{RULE}\n# comment\nnights >\nticket=adlt\n<img src=x onerror=alert(1)>"
    say(page, typed)
    told = page.locator("#given-faults p")
    expect(told).to_have_count(3)
    expect(told.nth(0)).to_contain_text("Line 3: column 9: ")
    expect(told.nth(1)).to_contain_text("Line 4: column 8: 'ticket' has no state 'adlt'; its states are child, adult")
    expect(told.nth(2)).to_contain_text("Line 5: ")
    assert page.locator("#given").input_value() == typed
    assert page.locator("img").count() == 0
    expect(page.locator("#given")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#decision")).to_have_text("No answer to this")
    expect(page.locator("#json")).to_be_disabled()
    assert faults(page) == []

    say(page, "age < 14\nage > 20")
    expect(page.locator("#alert")).to_contain_text("nothing can meet 2 constraints together: age < 14; age > 20")
    expect(told).to_have_count(0)
    say(page, RULE)
    settled(page, "full price")
    expect(page.locator("#alert")).to_be_hidden()

    field(page, "ticket").get_by_role("combobox").select_option("child")
    expect(page.locator("#alert")).to_have_text(
        f"the instance is impossible: it breaks the constraint {RULE}, as age is 40 and ticket=child; correct the one"
        " or the other"
    )
    expect(page.locator("#decision")).to_have_text("No answer to this")
    expect(field(page, "ticket").get_by_role("combobox")).to_have_value("child")
    assert faults(page) == []
    box = field(page, "age").locator("input.number")
    box.fill("12")
    box.press("Tab")
    settled(page, "half price")
    expect(page.locator("#alert")).to_be_hidden()
    expect(page.locator("#json")).to_be_enabled()
    refusals_are_meant(watched)


def test_a_change_that_is_tried_is_possible(watched: Callable[..., Page], guests: str) -> None:
    page = opened(watched(origin=guests), guests)
    say(page, f"{RULE}\nage < 18 -> nights <= 2\nage <= 90")
    expect(page.locator(".possible")).to_contain_text("age <= 90")
    cards = page.locator(".changes .card")
    for number in range(cards.count()):
        page.locator(".changes .card").nth(number).get_by_role("button", name="Try it").click()
        settled(page, "half price")
        page.go_back()
        settled(page, "full price")


def test_back_forward_and_reload_keep_what_is_possible(watched: Callable[..., Page], guests: str) -> None:
    page = opened(watched(origin=guests), guests)
    settled(page, "full price")
    say(page, RULE)
    expect(page.locator(".possible")).to_be_visible()
    field(page, "nights").get_by_text("Options").click()
    field(page, "nights").get_by_label("can change").select_option("only down")
    expect(page.locator(".possible")).to_contain_text("nights can only go down")
    expect(page.locator(".changes .card")).to_have_count(1)
    page.go_back()
    expect(page.locator(".possible")).to_have_text(f"Only what is possible counts: {RULE}.")
    expect(field(page, "nights").get_by_label("can change")).to_have_value("any")
    page.go_back()
    expect(page.locator(".possible")).to_have_count(0)
    expect(page.locator("#given")).to_have_value("")
    page.go_forward()
    page.go_forward()
    expect(page.locator(".possible")).to_contain_text("nights can only go down")
    expect(page.locator("#given")).to_have_value(RULE)
    page.reload()
    expect(page.locator(".possible")).to_contain_text(f"nights can only go down; {RULE}.")
    expect(page.locator("#given")).to_have_value(RULE)


def test_by_keyboard_and_without_serious_faults(watched: Callable[..., Page], guests: str) -> None:
    page = opened(watched(origin=guests, width=400, dark=True), guests)
    keys = page.keyboard
    tab_to(page, r"^turn\|")
    keys.press("Enter")
    assert page.evaluate(FOCUSED).startswith("facts-title|")
    tab_to(page, r"SUMMARY\|\|What is possible")
    keys.press("Enter")
    tab_to(page, r"^given\|")
    keys.type(RULE)
    expect(page.locator(".possible")).to_contain_text(RULE)  # while it is typed
    assert page.evaluate(FOCUSED).startswith("given|")
    tab_to(page, r"Options for age")
    keys.press("Enter")
    tab_to(page, r"\|age\|SELECT\|way")
    keys.press("ArrowDown")
    expect(page.locator(".possible")).to_contain_text("age can only go up")
    tab_to(page, r"\|age\|INPUT\|near")
    keys.type("30")
    keys.press("Enter")
    expect(page.locator(".possible")).to_contain_text("age within 30 of what it is")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert faults(page) == []


def test_the_page_begins_with_what_was_said(
    watched: Callable[..., Page], serve: Serve, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_text(f"# who is a child\n{RULE}\n")
    options = ["--within", "nights <= 30", "--only-up", "age", "--near", "age=50", "--near", "nights=100%"]
    address = serve(folder / "inn.json", *options[:-2], "--given-file", tmp_path / "rules.txt", "--given", "age <= 100")
    page = opened(watched(origin=address), address)
    worlds = {"within": {"nights": "<= 30"}, "only_up": ["age"], "near": {"age": 50}, "given": ["age <= 100", RULE]}
    found = json.loads(saved(page, "#json"))
    assert found == quia.explain(inn(), found["instance"], **worlds).to_dict()
    expect(page.locator("#given")).to_have_value(f"age <= 100\n{RULE}")
    expect(field(page, "age").locator(".tags")).to_have_text("only up, within 50")
    page.get_by_label("Take back: nights <= 30").click()
    expect(page.locator(".possible")).not_to_contain_text("nights <= 30")
    page.go_back()
    expect(page.locator(".possible")).to_contain_text("nights <= 30")
    expect(field(page, "nights").get_by_label("Can be only")).to_have_value("<= 30")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--given", "age >"], "--given is 'age >': column 6: "),
        (["--given", "age < 1", "--given", "age > 2"], "nothing can meet 2 constraints together: age < 1; age > 2"),
        (["--only-up", "ticket"], "only_up is 'ticket', whose values are names"),
        (["--within", "price > 3"], "--within is 'price > 3', which begins with no feature"),
        ([part for _ in range(201) for part in ("--given", "age > 0")], "at most 200 constraints"),
    ],
)
def test_what_a_page_cannot_begin_with_is_told_at_once(
    options: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(folder / "inn.json"), "--port", "0", *options]) == 2
    assert said in capsys.readouterr().err
    assert main(["serve", str(folder), "--port", "0", "--given", RULE]) == 2
    assert "--given can only be given for one MODEL that is a file" in capsys.readouterr().err


def test_requests_about_what_is_possible(client: httpx.Client) -> None:
    model = client.get("/api/models").json()["models"][0]["id"]

    def ask(**more: Any) -> httpx.Response:
        return client.post(f"/api/models/{model}/explain", json={"instance": GUEST, **more})

    worlds = {"within": {"age": [">= 30"], "ticket": "adult"}, "only_down": ["nights"], "near": {"age": "100%"}}
    answered = ask(**worlds, given=["nights < 9 -> age > 3"])
    assert answered.json()["explanation"] == expected(**worlds, given=["nights < 9 -> age > 3"])
    wrong = ask(given=["age > 3", "age >", HOSTILE_STATE])
    assert wrong.status_code == 422
    assert [fault["place"] for fault in wrong.json()["given"]] == [1, 2]
    for more, said in (
        ({"within": {"age": "old"}}, "old"),
        ({"only_up": ["ticket"]}, "only_up is 'ticket'"),
        ({"near": {"nights": "10%"}}, "no range that it is a share of"),
        ({"near": {"age": "far"}}, "near says 'far'"),
        ({"given": ["age > 50"]}, "the instance is impossible: it breaks the constraint age > 50, as age is 40"),
        ({"given": ["age > 50 & age < 40"]}, "nothing can meet the constraint"),
    ):
        refused = ask(**more)
        assert refused.status_code == 422
        assert said in refused.json()["error"]
        assert "given" not in refused.json()


def test_constraints_that_grow_too_much_are_refused(serve: Serve, tmp_path: Path) -> None:
    """Many features that each tie others make a diagram of exponential size."""
    rng = Random(1)
    variables = [quia.Variable.nominal(f"v{n}", ["n", "y"]) for n in range(60)]
    switch = [(), (), ((((0, 0),), 0), (((1, 1),), 1))]
    graph = quia.DecisionGraph.build(variables, ["a", "b"], [-1, -1, 0], [0, 1, -1], switch)
    quia_json.write(graph, tmp_path / "wide.json")
    chosen = [rng.sample(range(60), 3) for _ in range(100)]
    given = [" | ".join(f"v{n}={rng.choice('ny')}" for n in some) for some in chosen]
    with httpx.Client(base_url=serve(tmp_path / "wide.json"), timeout=LONG) as client:
        model = client.get("/api/models").json()["models"][0]["id"]
        sent = {"instance": {"v0": "n"}, "given": given}
        refused = client.post(f"/api/models/{model}/explain", json=sent)
        assert refused.status_code == 422
        assert "the constraints take more than 100,000 nodes" in refused.json()["error"]
        assert client.post(f"/api/models/{model}/explain", json={**sent, "given": given[:3]}).status_code == 200
