"""What is set on the page of features: protected ones, what they can be, costs; folds and the first screen."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

import quia
from quia.cli import main
from quia.load import json as quia_json
from web.conftest import Serve
from web.here import LONG
from web.made_models import random_tree
from web.test_by_keyboard import FOCUSED, tab_to
from web.test_possible_page import refusals_are_meant
from web.test_schema import fitting
from web.test_serve_page import faults, field, opened, saved, settled, turn, unfold

PERSON = {"age": 37, "income": 3500, "debt": 9200, "job": "none", "years": 3, "home": "rents", "sex": "female"}
PERSON |= {"region": "north"}


@pytest.fixture(scope="module")
def loans(serve: Serve, examples: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = tmp_path_factory.mktemp("loans") / "people.csv"
    older = PERSON | {"age": 61, "income": 9000, "job": "permanent", "sex": "male"}
    lines = [",".join(PERSON), *(",".join(map(str, one.values())) for one in (PERSON, older))]
    rows.write_text("\n".join(lines) + "\n")
    return serve(examples / "loan.json", "--data", rows)


@pytest.fixture(scope="module")
def explained(examples: Path) -> Callable[..., dict[str, Any]]:
    loan = quia.load(examples / "loan.json")

    def explain(protected: tuple[str, ...] = (), **asked: Any) -> dict[str, Any]:
        values = {name: str(value) for name, value in PERSON.items()}  # as the table has them
        return quia.explain(loan, values, **asked).answer(limit=10, protected=protected).to_dict()

    return explain


def options(page: Page, name: str) -> Any:
    """The field of a feature, its options unfolded."""
    found = field(page, name)
    if found.locator("details[open]").count() == 0:
        found.locator("summary").click()
    return found


def write(page: Page, name: str, label: str, text: str) -> None:
    """Type into one of a feature's options and leave it."""
    box = options(page, name).get_by_label(label, exact=True)
    box.fill(text)
    box.press("Tab")


def said(page: Page) -> list[str]:
    """All that was set, as the list above the form says it."""
    return [text.removesuffix(" ×") for text in page.locator("#chips button").all_inner_texts()]


def test_protected_features_are_told_at_the_top_with_the_proof(
    watched: Callable[..., Page], loans: str, explained: Callable[..., dict[str, Any]]
) -> None:
    page = opened(watched(origin=loans), loans)
    settled(page, "deny")
    expect(page.locator(".bias")).to_have_count(0)
    options(page, "sex").get_by_label("protected").check()
    told = page.locator(".bias")
    expect(told.locator("h2")).to_have_text("Does it hang on sex?")
    expect(told).to_contain_text("Without sex the decision no longer stands: with sex male it would be grant.")
    expect(told.locator(".card")).to_contain_text("sex male now female")
    expect(page.locator("article > *").nth(1)).to_have_class(re.compile("bias"))  # right below the decision
    expect(field(page, "sex").locator(".tags")).to_have_text("protected")
    assert said(page) == ["sex protected"]
    found = json.loads(saved(page, "#json"))
    assert found == explained(protected=("sex",))
    assert found["bias"]["biased"]
    assert "Does it hang on sex?" in saved(page, "#report")

    options(page, "region").get_by_label("protected").check()
    expect(told.locator("h2")).to_have_text("Does it hang on sex and region?")
    page.get_by_label("Take back: sex protected").click()
    expect(told).to_contain_text("Without region the decision still stands: the other facts force it.")
    assert json.loads(saved(page, "#json")) == explained(protected=("region",))
    page.go_back()
    expect(told.locator("h2")).to_have_text("Does it hang on sex and region?")
    page.go_back()
    expect(told.locator("h2")).to_have_text("Does it hang on sex?")
    expect(options(page, "region").get_by_label("protected")).not_to_be_checked()
    page.reload()
    expect(told.locator("h2")).to_have_text("Does it hang on sex?")


def test_what_numbers_and_names_can_be(
    watched: Callable[..., Page], loans: str, explained: Callable[..., dict[str, Any]]
) -> None:
    page = opened(watched(origin=loans), loans)
    settled(page, "deny")
    write(page, "income", "can be to", "4000")
    expect(page.locator(".possible")).to_contain_text("income <= 4000")
    assert json.loads(saved(page, "#json")) == explained(within={"income": "<= 4000"})
    write(page, "income", "can be from", "3e3")
    expect(page.locator(".possible")).to_contain_text("income in [3000, 4000]")
    assert said(page) == ["income from 3e3 to 4000"]
    expect(field(page, "income").locator(".tags")).to_have_text("from 3e3 to 4000")

    job = options(page, "job")
    expect(job.get_by_label("none")).to_be_disabled()  # it is so now
    job.get_by_label("permanent").uncheck()
    expect(page.locator(".possible")).to_contain_text("job ≠ permanent")
    bounds = {"income": "[3000, 4000]", "job": ["none", "self-employed", "temporary"]}
    assert json.loads(saved(page, "#json")) == explained(within=bounds)
    expect(page.locator(".changes .card")).to_have_count(1)  # sex alone is left
    expect(field(page, "job").locator(".tags")).to_have_text("3 of 4 possible")
    assert "income in [3000, 4000]; job ≠ permanent" in saved(page, "#report")
    page.go_back()
    expect(job.get_by_label("permanent")).to_be_checked()
    page.go_back()
    expect(options(page, "income").get_by_label("can be from")).to_have_value("")
    page.go_forward()
    page.go_forward()
    expect(job.get_by_label("permanent")).not_to_be_checked()

    write(page, "income", "can be from", "")
    write(page, "income", "can be to", "")
    expect(page.locator(".possible")).not_to_contain_text("income")
    job.get_by_label("permanent").check()
    expect(page.locator(".possible")).to_have_count(0)
    assert json.loads(saved(page, "#json")) == explained()


def test_faults_are_told_beside_what_is_wrong_and_nothing_is_lost(watched: Callable[..., Page], loans: str) -> None:
    page = opened(watched(origin=loans), loans)
    settled(page, "deny")
    write(page, "income", "A change costs", "7")
    told = field(page, "income").locator(".fault:visible")
    for text in ("much", "0x10", "<img src=x onerror=alert(1)>"):
        write(page, "income", "can be from", text)
        expect(told).to_have_text(f"{text} is no number; write one such as 52, or nothing where there is no bound.")
        expect(field(page, "income").get_by_label("can be from")).to_have_value(text)
    expect(page.locator("#decision")).to_have_text("Decision: deny")  # it was not asked
    write(page, "income", "can be from", "5000")
    expect(told).to_have_text(
        "the instance is impossible: income is 3500, but what is possible is within income >= 5000; correct the one or"
        " the other."
    )
    expect(page.locator("#alert")).to_be_hidden()
    expect(page.locator("#decision")).to_have_text("No answer to this")
    assert faults(page) == []
    write(page, "income", "can be to", "4000")
    expect(told).to_contain_text("'[5000, 4000]' holds for no number; its lower end must be below its upper")
    expect(field(page, "income").get_by_label("can be from")).to_have_value("5000")
    expect(field(page, "income").get_by_label("A change costs")).to_have_value("7")
    page.click("#row-after")  # another person is no longer possible either
    expect(told).to_contain_text("holds for no number")
    write(page, "income", "can be to", "")
    settled(page, "grant")
    expect(told).to_have_count(0)
    for text in ("0", "-1", "dear", "1e10"):
        write(page, "income", "A change costs", text)
        expect(told).to_contain_text(f"{text} is no cost; write a number above 0")
        expect(field(page, "income").get_by_label("A change costs")).to_have_value(text)
    write(page, "income", "A change costs", "2")
    expect(told).to_have_count(0)
    expect(page.locator("#chips")).to_contain_text("income costs 2")
    assert said(page) == ["income from 5000", "income costs 2"]

    options(page, "job").get_by_label("temporary").uncheck()
    expect(page.locator(".possible")).to_contain_text("job ≠ temporary")
    field(page, "job").get_by_role("combobox").select_option("temporary")
    expect(field(page, "job").locator(".fault:visible")).to_contain_text("the instance is impossible: job=temporary")
    expect(field(page, "job").get_by_role("combobox")).to_have_value("temporary")
    options(page, "job").get_by_label("temporary").check()
    settled(page, "grant")
    expect(field(page, "job").locator(".fault:visible")).to_have_count(0)
    refusals_are_meant(watched)


def test_costs_order_the_changes_and_all_that_was_set_is_reset(
    watched: Callable[..., Page], loans: str, explained: Callable[..., dict[str, Any]]
) -> None:
    page = opened(watched(origin=loans), loans)
    settled(page, "deny")
    expect(page.locator("#set")).to_be_hidden()
    write(page, "income", "A change costs", "5")
    expect(page.locator(".changes")).to_contain_text("cheapest")
    expect(page.locator(".changes .card", has_text="income")).to_have_count(0)
    assert json.loads(saved(page, "#json")) == explained(costs={"income": 5})
    options(page, "sex").get_by_label("cannot change").check()
    expect(page).to_have_url(f"{loans}/#3")  # each is a step of its own
    options(page, "age").get_by_label("Can change").select_option("only up")
    expect(page).to_have_url(f"{loans}/#4")
    write(page, "debt", "by at most", "500")
    expect(page.locator(".possible")).to_contain_text("debt within 500 of what it is")
    assert said(page) == ["sex cannot change", "age only up", "debt by at most 500", "income costs 5"]
    page.get_by_text("What is possible", exact=True).click()
    page.locator("#given").fill("age <= 90")
    page.locator("#given").blur()
    expect(page.locator(".possible")).to_contain_text("age <= 90")

    page.get_by_text("More", exact=True).click()
    texts = page.locator("#past button").all_inner_texts()
    assert [text.partition(" — ")[2] for text in texts][:4] == [
        "what is possible",
        "debt by at most 500",
        "age only up",
        "sex cannot change",
    ]
    write(page, "years", "by at most", "far")
    page.get_by_role("button", name="Reset what was set").click()
    expect(field(page, "years").get_by_label("by at most")).to_have_value("")
    expect(page.locator(".fault:visible")).to_have_count(0)
    expect(page.locator("#set")).to_be_hidden()
    expect(page.locator(".possible")).to_have_count(0)
    expect(page.locator("#given")).to_have_value("")
    expect(field(page, "income").get_by_label("A change costs")).to_have_value("")
    assert page.evaluate("document.activeElement.id") == "facts-title"  # what was pressed is gone
    assert json.loads(saved(page, "#json")) == explained()
    page.go_back()
    expect(page.locator("#chips li")).to_have_count(4)
    expect(page.locator("#given")).to_have_value("age <= 90")
    worlds: dict[str, Any] = {"frozen": ["sex"], "only_up": ["age"], "near": {"debt": 500}, "given": ["age <= 90"]}
    assert json.loads(saved(page, "#json")) == explained(**worlds, costs={"income": 5})


def test_a_page_begins_with_what_was_said_and_is_reset_to_it(
    watched: Callable[..., Page], serve: Serve, examples: Path
) -> None:
    options_given = [
        "--protected",
        "sex",
        "--frozen",
        "age",
        "--cost",
        "job=2.5",
        "--within",
        "region in {north, east}",
    ]
    address = serve(examples / "loan.json", *options_given)
    page = opened(watched(origin=address), address)
    expect(page.locator(".bias h2")).to_have_text("Does it hang on sex?")
    begun = ["sex protected", "age cannot change", "region is east or north", "job costs 2.5"]
    assert said(page) == begun
    expect(page.locator("#reset")).to_be_hidden()
    expect(options(page, "region").get_by_label("south")).not_to_be_checked()
    found = json.loads(saved(page, "#json"))
    asked: dict[str, Any] = {"frozen": ["age"], "costs": {"job": 2.5}, "within": {"region": ["north", "east"]}}
    loan = quia.load(examples / "loan.json")
    assert found == quia.explain(loan, found["instance"], **asked).answer(limit=10, protected=["sex"]).to_dict()
    page.get_by_label("Take back: sex protected").click()
    expect(page.locator(".bias")).to_have_count(0)
    page.locator("#reset").click()
    expect(page.locator(".bias")).to_have_count(1)
    assert said(page) == begun


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--protected", "sexx"], "protected is 'sexx', which is no feature (did you mean 'sex'?)"),
        (["--frozen", "agee"], "frozen is 'agee', which is no feature"),
        (["--protected", "sex,agee"], "--protected is 'sex,agee', and 'agee' is no feature (did you mean 'age'?)"),
        (["--cost", "age=0"], "the cost of age is '0'"),
        (["--cost", "age=1e10"], "costs has 10000000000.0 for 'age'; it must be a number above 0, at most 1e9"),
        (["--cost", "age"], "--cost is 'age'; write FEATURE=VALUE"),
    ],
)
def test_what_a_page_cannot_begin_with(
    options: list[str], told: str, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(examples / "loan.json"), "--port", "0", *options]) == 2
    assert told in capsys.readouterr().err
    assert main(["serve", str(examples), "--port", "0", "--protected", "sex"]) == 2
    assert "--protected can only be given for one MODEL that is a file" in capsys.readouterr().err


def test_folds_stay_as_they_were_left(watched: Callable[..., Page], loans: str) -> None:
    page = opened(watched(origin=loans), loans)
    settled(page, "deny")
    unfold(page, "necessary", "way")

    def open_parts() -> list[str]:
        return page.locator("article details[data-part][open]").evaluate_all("all => all.map(one => one.dataset.part)")

    drawing = page.locator(".drawing")
    assert drawing.evaluate("one => Math.abs(one.scrollLeft - (one.dataset.root - one.clientWidth / 2))") < 2
    page.click("#row-after")
    settled(page, "grant")
    assert open_parts() == ["necessary", "way"]
    page.locator("details[data-part=necessary] > summary").click()
    field(page, "sex").get_by_role("combobox").select_option("female")
    expect(field(page, "sex").locator(".tags")).to_have_text("was male")
    assert open_parts() == ["way"]
    summary = page.locator("details[data-part=way] > summary")
    summary.focus()
    page.evaluate("scrollTo(0, 300)")
    page.go_back()
    expect(field(page, "sex").locator(".tags")).to_have_text("")
    page.go_back()
    settled(page, "deny")
    assert open_parts() == ["way"]
    assert summary.evaluate("one => one === document.activeElement")
    assert page.evaluate("scrollY") == 300


def test_requests_about_single_features(loans: str, explained: Callable[..., dict[str, Any]]) -> None:
    person = {name: str(value) for name, value in PERSON.items()}
    with httpx.Client(base_url=loans, timeout=LONG) as client:
        model = client.get("/api/models").json()["models"][0]["id"]

        def ask(**more: Any) -> httpx.Response:
            return client.post(f"/api/models/{model}/explain", json={"instance": person, **more})

        found = ask(protected=["sex", "region"], within={"age": [">= 30"]}).json()
        assert found["explanation"] == explained(protected=("sex", "region"), within={"age": [">= 30"]})
        assert "Does it hang on sex and region?" in found["html"]["bias"]
        refused = ask(protected=["sexx"])
        assert (refused.status_code, refused.json()) == (
            422,
            {"error": "protected is 'sexx', which is no feature (did you mean 'sex'?)"},
        )
        wrong = {"within": {"age": "old", "income": ">= 5000", "debt": "> 0"}, "near": {"debt": "far"}}
        refused = ask(**wrong)
        places = [(one["feature"], one["option"]) for one in refused.json()["features"]]
        assert (refused.status_code, places) == (422, [("age", "within"), ("income", "within"), ("debt", "near")])
        fitting("Fault", refused.json())
        # Where the instance itself is none, only what cannot be read is told of features.
        refused = ask(instance=person | {"job": "cook"}, **wrong)
        assert [one["feature"] for one in refused.json()["features"]] == ["age", "debt"]
        refused = ask(instance=person | {"job": "cook"}, within={"income": ">= 5000"})
        assert "features" not in refused.json()


def test_an_image_is_a_picture_and_the_form_has_the_pixels_that_are_marked(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    graph = random_tree(leaves=60, numeric=64, nominal=0, classes=3, seed=5)
    quia_json.write(graph, tmp_path / "image.json")
    address = serve(tmp_path / "image.json", "--image-shape", "8x8")
    page = opened(watched(origin=address), address)
    expect(page.locator("svg.pixels")).to_be_visible()
    marked = {
        graph.variables[int(f)].name
        for f in page.locator(".pixels g").evaluate_all("all => all.map(one => one.dataset.f)")
    }
    names = page.locator(".field:visible .name").all_inner_texts()
    assert 0 < len(names) < 64
    assert marked == set(names)
    page.locator("#all").check()
    expect(page.locator(".field:visible")).to_have_count(64)
    assert 'class="pixels"' in saved(page, "#report")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert faults(page) == []


def test_what_is_no_image_is_told(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(examples / "loan.json"), "--port", "0", "--image-shape", "2x2"]) == 2
    assert "image_shape is (2, 2), but " in capsys.readouterr().err
    assert main(["serve", str(examples), "--port", "0", "--image-shape", "2x2"]) == 2
    assert "--image-shape can only be given for one MODEL that is a file" in capsys.readouterr().err


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_screen_answers_beside_the_form(watched: Callable[..., Page], loans: str, dark: bool) -> None:
    page = watched(origin=loans, dark=dark)
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, loans)
    settled(page, "deny")
    inside = "one => { const at = one.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }"
    for seen in (".verdict h1", ".verdict .lead", ".picture", ".changes .cards", ".field >> nth=0"):
        assert page.locator(seen).first.evaluate(inside), seen
    facts, answer = (page.locator(one).bounding_box() for one in ("#facts", "#answer"))
    assert facts is not None
    assert answer is not None
    assert facts["x"] + facts["width"] <= answer["x"] + 1
    assert faults(page) == []
    # The sentence is read in the bar where it is out of sight.
    expect(page.locator("#decision")).to_have_css("opacity", "0")
    unfold(page, "instance", "way")
    page.mouse.move(900, 500)
    page.mouse.wheel(0, 1200)
    expect(page.locator("#decision")).to_have_css("opacity", "1")


@pytest.mark.parametrize("dark", [False, True])
def test_a_narrow_screen_answers_at_once_and_turns_to_the_form(
    watched: Callable[..., Page], loans: str, dark: bool
) -> None:
    page = watched(origin=loans, width=400, dark=dark)
    page.set_viewport_size({"width": 400, "height": 800})
    opened(page, loans)
    settled(page, "deny")
    inside = "one => { const at = one.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight - 60; }"
    assert page.locator(".verdict h1").evaluate(inside)
    assert page.locator(".verdict .lead").evaluate(inside)
    expect(page.locator("#facts")).to_be_hidden()
    keys = page.keyboard
    tab_to(page, r"^turn\|.*Change the facts")
    keys.press("Enter")
    assert page.evaluate(FOCUSED).startswith("facts-title|")
    expect(page.locator("#explanation")).to_be_hidden()
    tab_to(page, r"Options for sex")
    keys.press("Enter")
    tab_to(page, r"\|sex\|INPUT\|protected")
    keys.press("Space")
    expect(field(page, "sex").locator(".tags")).to_have_text("protected")
    tab_to(page, r"Options for income")
    keys.press("Enter")
    tab_to(page, r"\|income\|INPUT\|to")
    keys.type("4000")
    tab_to(page, r"\|income\|INPUT\|cost")
    keys.type("3")
    tab_to(page, r"\|job\|SELECT")
    expect(field(page, "income").locator(".tags")).to_have_text("to 4000, cost 3")
    tab_to(page, r"Options for job")
    keys.press("Enter")
    tab_to(page, r"\|job\|INPUT\|state")
    keys.press("Space")
    expect(field(page, "job").locator(".tags")).to_have_text("3 of 4 possible")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert faults(page) == []
    turn(page)
    expect(page.locator("#facts")).to_be_hidden()
    assert page.evaluate("document.activeElement.id") == "answer"
    expect(page.locator(".bias h2")).to_have_text("Does it hang on sex?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_text("More", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert faults(page) == []
