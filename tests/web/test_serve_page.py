"""The local web page in a real browser."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

import quia
from quia.cli import main
from quia.load import json as quia_json
from web.conditions_read import signs_of
from web.conftest import Serve
from web.made_models import HOSTILE, circuit_file, hostile, random_tree

ROBIN = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("data") / "people.csv"
    file.write_text(
        "Name,SAT,GPA,Essay,Interview\n"
        "Robin,1400,medium,fail,fail\nScott,1500,low,fail,pass\nApril,1500,low,pass,pass\nNobody,1500,midium,pass,pass\n"
    )
    return file


@pytest.fixture(scope="session")
def people(serve: Serve, examples: Path, table: Path) -> str:
    return serve(examples / "admissions.json", "--data", table)


def opened(page: Page, address: str) -> Page:
    page.goto(address + "/")
    page.wait_for_selector("#explanation article")
    return page


def settled(page: Page, decision: str) -> None:
    expect(page.locator("#decision")).to_have_text(f"Decision: {decision}")


def field(page: Page, name: str) -> Any:
    return page.get_by_role("group", name=name, exact=True)


def saved(page: Page, button: str) -> str:
    page.wait_for_timeout(150)  # of many files in a second, which nobody saves by hand, chromium drops some
    if button == "#json":
        page.evaluate("document.getElementById('menu').open = true")
    with page.expect_download() as download:
        page.click(button)
    page.evaluate("document.getElementById('menu').open = false")
    return Path(download.value.path()).read_text()


def faults(page: Page) -> list[Any]:
    """What is seriously wrong with the page for those who hear or key it, once nothing on it fades any more."""
    page.evaluate(
        "async () => {"
        " for (const frame of [1, 2]) await new Promise(requestAnimationFrame);"  # what scrolling shows begins to fade
        " await Promise.allSettled(document.getAnimations().map((fading) => fading.finished)); }"
    )
    found = Axe().run(page).response["violations"]
    return [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")]


def cli(examples: Path, capsys: pytest.CaptureFixture[str], *options: str, **values: Any) -> dict[str, Any]:
    sets = [part for name, value in (ROBIN | values).items() for part in ("--set", f"{name}={value}")]
    assert main(["explain", str(examples / "admissions.json"), *sets, *options, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Equal but for the types of values: the command line gives texts."""
    plain = [{**answer, "instance": {k: str(v) for k, v in answer["instance"].items()}} for answer in (found, expected)]
    for answer in plain:
        answer["instance"].pop("Name", None)
    return plain[0] == plain[1]


def test_load_edit_and_the_same_numbers_as_the_command_line(
    watched: Callable[..., Page], people: str, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(watched(origin=people), people)
    settled(page, "Reject")
    assert same(json.loads(saved(page, "#json")), cli(examples, capsys))

    field(page, "Interview").get_by_role("combobox").select_option("pass")
    settled(page, "Accept")
    answer = cli(examples, capsys, Interview="pass")
    assert same(json.loads(saved(page, "#json")), answer)
    assert page.locator(".sufficient .card").count() == len(answer["sufficient"]["reasons"])
    report = saved(page, "#report")
    graph = quia.load(str(examples / "admissions.json"))
    for reason in quia.explain(graph, ROBIN | {"Interview": "pass"}).sufficient_reasons():
        assert all(f"<b>{feature}</b>" in report for feature in reason.features)


def test_sliders_and_numbers_move_together(watched: Callable[..., Page], people: str) -> None:
    page = opened(watched(origin=people), people)
    slider, box = field(page, "SAT").get_by_role("slider"), field(page, "SAT").get_by_role("spinbutton").first
    expect(field(page, "SAT")).to_contain_text("counts as < 1450")
    slider.focus()
    slider.press("End")
    expect(field(page, "SAT")).to_contain_text("counts as ≥ 1450")
    assert float(box.input_value()) >= 1450
    box.fill("1449.999")
    expect(field(page, "SAT")).to_contain_text("counts as < 1450")
    box.fill("1450")
    expect(field(page, "SAT")).to_contain_text("counts as ≥ 1450")


def test_states_are_shown_in_the_words_of_the_server(watched: Callable[..., Page], people: str) -> None:
    """The page makes no words of its own out of a state's name, which stays what is asked with."""
    page = watched(origin=people)

    def reword(route: Route) -> None:
        answer = route.fetch()
        model = answer.json()
        for variable in model["variables"]:
            variable["signs"] = [f"state {n} of {variable['name']}" for n in range(len(variable["states"]))]
        route.fulfill(response=answer, json=model)

    page.route(re.compile(r"/api/models/[0-9a-f]+$"), reword)
    opened(page, people)
    expect(field(page, "SAT")).to_contain_text("counts as state 0 of SAT")
    expect(field(page, "SAT").get_by_role("slider")).to_have_attribute("aria-valuetext", "1400, state 0 of SAT")
    field(page, "Interview").get_by_role("combobox").select_option("state 1 of Interview")
    settled(page, "Accept")
    field(page, "Interview").get_by_role("combobox").select_option("fail")
    settled(page, "Reject")
    for name in ("SAT", "Essay"):
        field(page, name).get_by_text("Options").click()
        field(page, name).get_by_label("take this fact away").check()
    expect(page.locator("#without")).to_contain_text("with SAT at least 1450 and Essay pass it would be Accept.")


def test_why_not(watched: Callable[..., Page], people: str, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = opened(watched(origin=people), people)
    page.locator("#against").select_option("Accept")
    settled(page, "Reject, not Accept")
    assert same(json.loads(saved(page, "#json")), cli(examples, capsys, "--against", "Accept"))
    # An edit that leads to that class ends the question, which has no answer any more.
    field(page, "Interview").get_by_role("combobox").select_option("pass")
    settled(page, "Accept")


def test_freeze_costs_and_facts_taken_away(
    watched: Callable[..., Page], people: str, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(watched(origin=people), people)
    for name in ("Interview", "Essay", "GPA"):
        field(page, name).get_by_text("Options").click()
    field(page, "Interview").get_by_label("cannot change").check()
    expect(field(page, "Interview").locator(".tags")).to_have_text("given")
    assert same(json.loads(saved(page, "#json")), cli(examples, capsys, "--frozen", "Interview"))
    field(page, "Interview").get_by_label("cannot change").uncheck()

    cost = field(page, "Interview").get_by_label("A change costs")
    cost.fill("9")
    cost.press("Tab")
    expect(page.locator(".changes .about")).to_contain_text("cheapest")
    assert same(json.loads(saved(page, "#json")), cli(examples, capsys, "--cost", "Interview=9"))

    field(page, "GPA").get_by_label("take this fact away").check()
    expect(page.locator("#without")).to_contain_text("Without GPA the decision still stands")
    field(page, "Essay").get_by_label("take this fact away").check()
    expect(page.locator("#without")).to_contain_text("no longer stands")
    expect(page.locator("#without")).to_contain_text("with GPA high and Essay pass it would be Accept.")
    explanation = quia.explain(quia.load(str(examples / "admissions.json")), ROBIN)
    assert explanation.holds_without(["GPA"])
    assert not explanation.holds_without(["GPA", "Essay"])


def test_compare_two_people(watched: Callable[..., Page], people: str, examples: Path) -> None:
    page = opened(watched(origin=people), people)
    graph = quia.load(str(examples / "admissions.json"))
    page.click("#row-after")
    settled(page, "Accept")
    page.click("#keep")
    expect(page.locator("#comparison")).to_contain_text("the same to the model")
    page.click("#row-after")
    expect(page.locator("#comparison h2")).to_contain_text("Both Accept, ")
    scott = {"SAT": 1500, "GPA": "low", "Essay": "fail", "Interview": "pass"}
    april = scott | {"Essay": "pass"}
    assert quia.explain(graph, scott).is_congruent(april)
    assert str(quia.explain(graph, scott).common_reason(april)) == "SAT >= 1450 and Interview=pass"
    expect(page.locator("#comparison h2")).to_have_text("Both Accept, for a common reason")
    expect(page.locator("#comparison")).to_contain_text("because SAT is at least 1450 and Interview is pass, whatever")
    expect(page.locator("#comparison")).to_contain_text("They are congruent")
    expect(page.locator("#comparison tbody tr")).to_have_count(1)
    page.click("#row-before")
    page.click("#row-before")
    expect(page.locator("#comparison h2")).to_have_text("Decided differently: Accept and Reject")
    page.click("#stop")
    expect(page.locator("#compared")).to_be_hidden()


@pytest.fixture(scope="session")
def gains(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Who gains more than 7055.5, or more than 5095.5 and is older than 49.5, is rich; 1384 and 21.5 only split."""
    gain = quia.Variable.numeric("gain", [1384, 5095.5, 7055.5], single=True)
    age = quia.Variable.numeric("age", [21.5, 49.5], missing=True)
    edges = [(), (), ((((0, 1), (3, 3)), 0), (((2, 2),), 1)), ((((0, 1),), 0), (((2, 2),), 2), (((3, 3),), 1))]
    graph = quia.DecisionGraph.build([gain, age], ["poor", "rich"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)
    folder = tmp_path_factory.mktemp("gains")
    quia_json.write(graph, folder / "gains.json")
    (folder / "rows.csv").write_text("gain,age\n2174,52\n6000,30\n6000,30.5\n")
    return serve(folder / "gains.json", "--data", folder / "rows.csv")


def unfold(page: Page, *parts: str) -> None:
    """Open folded parts of the answer, which then stay open."""
    for part in parts:
        page.locator(f"details[data-part={part}] > summary").click()


def turn(page: Page) -> None:
    """On a narrow screen: from the answer to the form, and back."""
    page.locator("#turn").click()


def conditions(page: Page, part: str) -> list[list[str]]:
    """What each of a part's cards says."""
    found = page.locator(f".{part} .card").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('.fact')].map(fact => fact.innerText))"
    )
    return [list(card) for card in found]


def test_reasons_as_wide_as_they_are_true_or_in_states(watched: Callable[..., Page], gains: str) -> None:
    page = opened(watched(origin=gains), gains)
    settled(page, "poor")
    unfold(page, "sufficient", "necessary")
    page.get_by_text("More", exact=True).click()
    switch = page.get_by_label("in the model’s own states")
    lead = page.locator(".lead")
    expect(lead).to_have_text(
        "It is so because gain is at most 5095.5, whatever the rest. It would be rich if gain were more than 5095.5"
        " (now 2174)."
    )
    assert conditions(page, "sufficient") == [["gain ≤ 5095.5 here 2174"]]
    assert conditions(page, "necessary") == [["gain > 5095.5 now 2174"]]
    assert json.loads(saved(page, "#json"))["general"]
    expect(page).to_have_url(f"{gains}/#1")

    page.get_by_text("More", exact=True).click()
    switch.check()
    expect(lead).to_contain_text("because gain is more than 1384 and at most 5095.5, whatever the rest.")
    expect(page).to_have_url(f"{gains}/?states#2")
    assert conditions(page, "sufficient") == [["gain > 1384 and ≤ 5095.5"]]
    assert conditions(page, "necessary") == [["gain > 1384 and ≤ 5095.5"]]
    assert conditions(page, "changes") == [["gain > 5095.5 now 2174"]]
    assert not json.loads(saved(page, "#json"))["general"]
    assert 'class="switch"' not in saved(page, "#report")
    page.reload()
    expect(lead).to_contain_text("because gain is more than 1384 and at most 5095.5, whatever the rest.")
    expect(switch).to_be_checked()

    page.go_back()
    expect(lead).to_contain_text("because gain is at most 5095.5, whatever the rest.")
    expect(switch).not_to_be_checked()
    assert 'class="switch"' in saved(page, "#report")

    page.goto(f"{gains}/?states")  # the address can ask for them
    expect(lead).to_contain_text("because gain is more than 1384 and at most 5095.5, whatever the rest.")
    expect(switch).to_be_checked()


def test_a_nearest_change_is_tried_by_a_click(watched: Callable[..., Page], gains: str) -> None:
    page = opened(watched(origin=gains), gains)
    page.locator("#row").fill("2")
    page.locator("#row").press("Enter")
    expect(page.locator(".lead")).to_contain_text("gain were more than 7055.5 (now 6000)")
    assert conditions(page, "changes") == [["gain > 7055.5 now 6000"], ["age > 49.5 now 30"]]
    box = field(page, "age").locator("input.number")
    page.locator(".changes .card").nth(1).click()  # the whole card, as the button on it does
    settled(page, "rich")
    expect(box).to_have_value("50")
    expect(field(page, "age").locator(".tags")).to_have_text("was 30")
    assert conditions(page, "changes")[0] == ["gain ≤ 5095.5 now 6000"]
    page.locator(".changes .card").first.get_by_role("button", name="Try it").press("Enter")
    settled(page, "poor")
    expect(field(page, "gain").locator("input.number")).to_have_value("5095")
    assert page.evaluate("document.activeElement.id") == "answer"  # what was pressed is gone
    page.go_back()
    settled(page, "rich")
    page.go_back()
    settled(page, "poor")
    expect(box).to_have_value("30")

    page.click("#row-after")  # a value with a decimal is tried with one
    expect(box).to_have_value("30.5")
    unfold(page, "necessary")
    page.locator(".necessary .card").nth(1).get_by_role("button", name="Try it").click()
    settled(page, "rich")
    expect(box).to_have_value("49.6")
    assert page.locator(".lit-now").count() == 0


def test_a_bad_row_says_so_and_the_page_goes_on(watched: Callable[..., Page], people: str) -> None:
    page = watched(origin=people)
    opened(page, people)
    page.locator("#row").fill("4")
    page.locator("#row").press("Enter")
    expect(page.locator("#alert")).to_contain_text("did you mean 'medium'?")
    watched.faults[:] = [f for f in watched.faults if "422" not in f]  # type: ignore[attr-defined]
    page.locator("#row").fill("3")
    page.locator("#row").press("Enter")
    settled(page, "Accept")
    expect(page.locator("#alert")).to_be_hidden()


def test_a_state_without_a_name_is_no_missing_value(watched: Callable[..., Page], serve: Serve, tmp_path: Path) -> None:
    model, rows = tmp_path / "m.json", tmp_path / "t.csv"
    job, age = quia.Variable.nominal("job", ["cook", ""]), quia.Variable.numeric("age", [3], missing=True)
    edges = [(), (), ((((0, 1),), 0), (((2, 2),), 1)), ((((0, 0),), 0), (((1, 1),), 2))]
    quia_json.write(quia.DecisionGraph.build([job, age], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges), model)
    rows.write_text("job,age\n,\n")
    address = serve(model, "--data", rows)
    page = opened(watched(origin=address), address)
    settled(page, "yes")
    expect(field(page, "job").get_by_role("combobox")).to_have_value("")
    expect(field(page, "age").get_by_label("missing", exact=True)).to_be_checked()
    field(page, "job").get_by_role("combobox").select_option("cook")
    settled(page, "no")
    expect(field(page, "job").locator(".tags")).to_have_text("was ''")
    field(page, "age").get_by_label("missing", exact=True).uncheck()
    expect(field(page, "age").locator(".tags")).to_have_text("was missing")


def test_back_forward_history_and_reload(watched: Callable[..., Page], people: str) -> None:
    page = opened(watched(origin=people), people)
    settled(page, "Reject")
    expect(page).to_have_url(f"{people}/#1")
    field(page, "Interview").get_by_role("combobox").select_option("pass")
    settled(page, "Accept")
    expect(page).to_have_url(f"{people}/#2")
    field(page, "GPA").get_by_role("combobox").select_option("low")
    settled(page, "Reject")
    expect(page).to_have_url(f"{people}/#3")
    page.go_back()
    settled(page, "Accept")
    expect(field(page, "GPA").get_by_role("combobox")).to_have_value("medium")
    page.go_back()
    settled(page, "Reject")
    expect(field(page, "Interview").get_by_role("combobox")).to_have_value("fail")
    page.go_forward()
    settled(page, "Accept")
    page.get_by_text("More", exact=True).click()
    expect(page.locator("#past li")).to_have_count(3)
    page.locator("#past button").first.click()
    settled(page, "Reject")
    expect(field(page, "GPA").get_by_role("combobox")).to_have_value("low")
    page.reload()
    settled(page, "Reject")
    expect(field(page, "GPA").get_by_role("combobox")).to_have_value("low")


def test_dropped_files_broken_hostile_and_sound(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path, examples: Path
) -> None:
    address = serve()
    page = watched(origin=address)
    page.goto(address + "/")
    expect(page.locator("#welcome")).to_be_visible()
    broken = tmp_path / "broken.json"
    broken.write_text('{"quia": 1, "variables": {}')
    page.set_input_files("#file", broken)
    expect(page.locator("#alert")).to_contain_text("broken.json, line 1: is not JSON")
    watched.faults[:] = [f for f in watched.faults if "422" not in f]  # type: ignore[attr-defined]
    expect(page.locator("#welcome")).to_be_visible()

    bad = tmp_path / "<img src=x onerror=alert(1)>.json"
    bad.write_text(json.dumps(hostile()))
    page.set_input_files("#file", bad)
    page.wait_for_selector("#explanation article")
    expect(page.locator(".field .name").first).to_have_text(HOSTILE)
    assert page.evaluate("window.owned") is None
    assert page.locator("img, #explanation script").count() == 0

    # Dropped on the page, as from a folder.
    content = (examples / "luna.json").read_text()
    page.evaluate(
        """content => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([content], "luna.json"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        content,
    )
    expect(page).to_have_title(re.compile(r"luna\.json"))
    expect(page.locator("#model option")).to_have_count(2)


@pytest.mark.parametrize("kind", ["sdd", "nnf"])
def test_circuits(
    kind: str, watched: Callable[..., Page], serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = circuit_file(tmp_path, kind)
    circuit = quia.load(file)
    address = serve()
    page = watched(origin=address)
    page.goto(address + "/")
    page.set_input_files("#file", file)
    page.wait_for_selector("#explanation article")
    instance = {v.name: "0" for v in circuit.variables}
    for number, name in enumerate([*instance, *instance]):
        instance[name] = str(1 - int(instance[name]))
        field(page, name).get_by_role("combobox").select_option(instance[name])
        settled(page, circuit.classify(instance))
        expect(page).to_have_url(f"{address}/#{number + 2}")
        sets = [part for pair in instance.items() for part in ("--set", "=".join(pair))]
        assert main(["explain", str(file), *sets, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert json.loads(saved(page, "#json")) == answer
        for reasons in ("sufficient", "necessary"):
            cards = page.locator(f".{reasons} .card").evaluate_all(
                "all => all.map(one => Object.fromEntries([...one.querySelectorAll('.fact')].map("
                "fact => [fact.querySelector('b').textContent, fact.querySelector('.state').textContent])))"
            )
            what = "conditions" if reasons == "sufficient" else "changes"
            assert cards == [signs_of(circuit.variables, reason[what]) for reason in answer[reasons]["reasons"]]
    page.locator("#against").select_option(str(1 - int(circuit.classify(instance))))
    expect(page.locator("#decision")).to_contain_text(", not ")
    page.click("#keep")
    expect(page.locator("#comparison")).to_contain_text("the same to the model")


def test_many_features_are_folded_to_those_that_matter(
    watched: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "many.json"
    quia_json.write(random_tree(leaves=60, numeric=60, nominal=0, classes=2, seed=5), file)
    address = serve(file)
    page = opened(watched(origin=address), address)
    visible = page.locator(".field:visible").count()
    assert 0 < visible < 60
    page.locator("#all").check()
    expect(page.locator(".field:visible")).to_have_count(60)
    page.locator("#filter").fill("number 17")
    expect(page.locator(".field:visible")).to_have_count(1)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_no_serious_fault_for_those_who_hear_or_key(
    watched: Callable[..., Page], people: str, width: int, dark: bool
) -> None:
    page = opened(watched(origin=people, width=width, dark=dark), people)
    page.click("#keep")
    page.click("#row-after")
    settled(page, "Accept")
    if width == 400:
        turn(page)
    field(page, "GPA").get_by_text("Options").click()
    field(page, "GPA").get_by_label("take this fact away").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(page) == []
    if width == 400:
        turn(page)
    expect(page.locator("#without")).to_be_visible()
    unfold(page, "sufficient")
    page.locator(".sufficient .light").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(page) == []


def test_values_that_are_missing_are_shown_given_and_taken_away_again(
    watched: Callable[..., Page], serve: Serve, examples: Path, tmp_path: Path
) -> None:
    (tmp_path / "holes.csv").write_text("SAT,GPA,Essay,Interview\n?,,fail,fail\n")
    address = serve(examples / "admissions.json", "--data", tmp_path / "holes.csv")
    page = opened(watched(origin=address), address)
    settled(page, "Reject")
    expect(page.locator("#explanation header")).to_contain_text(
        "Not known: SAT, GPA; all this holds whatever they are."
    )
    choice, number = field(page, "GPA").locator("select"), field(page, "SAT").locator("input.number")
    expect(choice.locator("option:checked")).to_have_text("not known")
    expect(number).to_be_disabled()
    choice.select_option("high")
    expect(page.locator("#explanation header")).to_contain_text("Not known: SAT; all this holds whatever it is.")
    field(page, "SAT").get_by_label("not known").uncheck()
    expect(number).to_be_enabled()
    expect(page.locator("#explanation header")).not_to_contain_text("Not known")
    field(page, "SAT").get_by_label("not known").check()
    choice.select_option(label="not known")
    expect(page.locator("#explanation header")).to_contain_text("Not known: SAT, GPA")
