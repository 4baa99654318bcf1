"""The page of one decision: says what the JSON says, escapes everything, stays small, and works in a browser."""

import csv
import gzip
import html
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import quia
from ensemble_oracle import random_ensemble
from quia.cli import main
from quia.literal import Literal
from quia.show import layout
from quia.show.html import page
from quia.show.markup import element
from quia.show.trying import nearest_value
from web.conditions_read import signs_of
from web.made_models import HOSTILE, chain, circuit_file, hostile, random_instance, random_tree

ROBIN = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
SETS = [part for name, value in ROBIN.items() for part in ("--set", f"{name}={value}")]


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def section(source: str, name: str) -> str:
    found = re.search(rf'<section class="part {name}">.*?</section>', source, re.DOTALL)
    assert found, f"there is no part {name}"
    return found[0]


def unfold(shown: Page) -> None:
    """Opens all that the page folds."""
    shown.evaluate("for (const fold of document.querySelectorAll('.fold')) fold.open = true")


def shown_reasons(source: str, name: str) -> list[dict[str, str]]:
    """The conditions on a part's cards, read back from the markup."""
    cards = re.findall(r'<div class="card[^>]*>(.*?)</div>', section(source, name), re.DOTALL)
    chip = r'<span class="fact(?: equals)?" data-f="\d+"><b>(.*?)</b> <span class="state">(.*?)</span>'
    return [{text_of(f): text_of(s) for f, s in re.findall(chip, c)} for c in cards]


def told(reasons: Iterable[quia.Reason]) -> list[dict[str, str]]:
    """The conditions that cards should show: of a general necessary reason, what its features would need to be."""
    shown = (reason.changes if reason.is_general and reason.kind == "necessary" else reason for reason in reasons)
    return [{literal.feature: literal.signs for literal in literals} for literals in shown]


@pytest.mark.parametrize(
    ("options", "question"),
    [
        ([], {}),
        (["--against", "Accept"], {"against": "Accept"}),
        (["--frozen", "Interview"], {"frozen": ["Interview"]}),
        (["--cost", "Interview=5", "--cost", "SAT=2"], {"costs": {"Interview": 5, "SAT": 2}}),
        (["--limit", "1"], {}),
        (["--states"], {}),
        (["--states", "--against", "Accept"], {"against": "Accept"}),
    ],
)
def test_page_says_what_the_json_says(
    options: list[str], question: dict[str, Any], examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(examples / "admissions.json")
    assert main(["explain", model, *SETS, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    file = tmp_path / "page.html"
    assert main(["report", model, *SETS, *options, "-o", str(file)]) == 0
    source = file.read_text()

    explanation = quia.explain(quia.load(model), ROBIN, **question)
    variables, limit = explanation.variables, 1 if "--limit" in options else 10
    # The first reason, and the first change, say the same in both forms.
    assert ('class="switch"' in source) == (not {"--states", "--limit"} & {*options})
    for kind in ("sufficient", "necessary"):
        what = "changes" if answer["general"] and kind == "necessary" else "conditions"
        expected = [signs_of(variables, reason[what]) for reason in answer[kind]["reasons"]]
        if 'class="switch"' in source:  # the page has the other form too
            of_kind = explanation.sufficient_reasons if kind == "sufficient" else explanation.necessary_reasons
            expected += told(of_kind(limit=limit))
        assert shown_reasons(source, kind) == expected
        count = "" if answer[kind]["count"] is None else f' data-count="{answer[kind]["count"]}"'
        assert f'class="count"{count} data-sets="{answer[kind]["sets"]}"' in section(source, kind)
    changes = [signs_of(variables, change["changes"]) for change in answer["counterfactuals"]]
    assert shown_reasons(source, "changes") == changes
    verdict = text_of(re.search(r"<h1>.*?</h1>", source)[0])  # type: ignore[index]
    assert answer["decision"] in verdict
    embedded = re.search(r'<script type="application/json" id="quia-explanation">(.*?)</script>', source)
    assert embedded
    assert json.loads(embedded[1]) == answer

    shares = explanation.importance()
    bars = re.findall(r'class="name">(.*?)</span>.*?class="said">(\d+) of (\d+)', section(source, "shares"))
    assert {name: Fraction(int(part), int(whole)) for name, part, whole in bars} == shares
    facts = section(source, "instance")
    for name, state in answer["states"].items():
        row = re.search(rf'<th scope="row">{name}.*?</tr>', facts, re.DOTALL)
        assert row
        assert state in text_of(row[0]).replace("≤", "<=").replace("≥", ">=")


def test_a_decision_that_nothing_can_change(examples: Path) -> None:
    source = page(quia.explain(quia.load(str(examples / "admissions.json")), ROBIN, frozen=list(ROBIN)))
    assert "Nothing could change this" in source
    assert "with what is taken as given" in source
    assert 'class="part sufficient"' not in source


def test_elements_escape_what_they_are_given() -> None:
    made = element("p", "<b>", ["&", element("i", "x")], None, title='"><script>', data_f=1)
    assert made == '<p title="&#34;&gt;&lt;script&gt;" data-f="1">&lt;b&gt;&amp;<i>x</i></p>'


def test_hostile_names_are_text(watched: Callable[..., Page], tmp_path: Path) -> None:
    graph = quia.DecisionGraph.from_dict(hostile())
    name = "</title><script>window.owned=true</script>"
    values = {graph.variables[0].name: graph.variables[0].labels[0], graph.variables[1].name: 0}  # type: ignore[index]
    file = tmp_path / "page.html"
    file.write_text(page(quia.explain(graph, values), model=name))
    shown = watched()
    shown.goto(file.as_uri())
    assert shown.evaluate("window.owned") is None
    unfold(shown)
    assert shown.locator(".sufficient .fact b").first.inner_text() == HOSTILE
    assert shown.locator("article script, article img").count() == 0


def test_sizes_are_bounded() -> None:
    adult = random_tree(leaves=650, numeric=7, nominal=7, classes=2, seed=1)
    mnist = random_tree(leaves=2300, numeric=478, nominal=0, classes=10, seed=2)
    assert len(adult) > 850
    assert len(mnist) > 4500
    for seed in range(3):
        small = page(quia.explain(adult, random_instance(adult, seed)), timeout=1)
        assert len(small.encode()) < 500_000
        large = page(quia.explain(mnist, random_instance(mnist, seed)), timeout=0.5)
        assert len(large.encode()) < 3_000_000


@pytest.mark.parametrize(("name", "most"), [("adult", 500_000), ("mnist_784", 3_000_000)])
def test_sizes_of_real_trees(name: str, most: int, shared_data: Path) -> None:
    folder = shared_data / "trees" / name
    states = json.loads((folder / "meta.json").read_text())["nominal_columns"]
    tree = quia.load(folder / "tree.j48.txt", states=states)
    with gzip.open(folder / "rows.csv.gz", "rt") as stream:
        rows = [row for row in csv.DictReader(stream) if "?" not in row.values()]
    for row in rows[:200:40]:
        explanation = quia.explain(tree, row)
        source = page(explanation)
        assert len(source.encode()) < most
        assert f'data-sets="{explanation.count_sufficient()}"' in section(source, "sufficient")


@pytest.mark.parametrize("frozen", [0, 19_999])
def test_a_path_of_20_000_tests_is_a_page_of_bounded_size(frozen: int) -> None:
    n = 20_000
    explanation = quia.explain(chain(n), ["yes"] * n, frozen=[f"v{i}" for i in range(frozen)])
    found = explanation.answer()
    source, answer = page(explanation, answer=found), found.to_dict()
    assert "tests before" in source
    assert source.count('class="step"') <= 60
    assert len(source) - len(json.dumps(answer)) < 1_000_000
    assert answer["sufficient"]["count"] == 1
    assert answer["necessary"]["sets"] == n - frozen
    shown = [reason["states"] for reason in answer["necessary"]["reasons"]]
    assert shown == [{f"v{i}": "yes"} for i in range(frozen, n)][:10]
    assert len(answer["counterfactuals"]) == min(10, n - frozen)
    if not frozen:
        assert "and 19,940 facts more" in section(source, "sufficient")
        assert "… 19,000 features more" in section(source, "shares")


def test_small_graphs_are_drawn_whole(examples: Path) -> None:
    graph = quia.load(str(examples / "admissions.json"))
    source = section(page(quia.explain(graph, ROBIN)), "way")
    assert len(re.findall(r'<g class="box', source)) == len(graph)
    path = len(list(graph.path(quia.explain(graph, ROBIN).states)))
    assert len(re.findall(r'<g class="box[^"]* lit', source)) == path
    assert len(re.findall(r'<path [^>]*class="edge lit"', source)) == path - 1


def test_the_drawing_is_left_out_without_its_library(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "available", lambda: False)
    source = section(page(quia.explain(quia.load(str(examples / "admissions.json")), ROBIN)), "way")
    assert "<svg" not in source
    assert source.count('class="step"') == 3


@pytest.mark.parametrize("kind", ["sdd", "nnf"])
def test_a_circuit_has_no_way_and_all_the_rest(kind: str, tmp_path: Path) -> None:
    circuit = quia.load(circuit_file(tmp_path, kind))
    explanation = quia.explain(circuit, [1, 0, 1, 1, 0, 1])
    source = page(explanation)
    assert 'class="part way"' not in source
    for part in ("necessary", "changes", "shares", "instance", "complete", "claims"):
        section(source, part)
    assert shown_reasons(source, "sufficient") == told(explanation.sufficient_reasons(general=True))
    assert 'class="switch"' not in source  # of what is true or false, both forms say the same


def test_a_layout_has_every_node_once_and_edges_go_down() -> None:
    edges = [(5, 4), (5, 3), (4, 0), (4, 2), (4, 3), (3, 2), (3, 1), (2, 0), (2, 1), (5, 1)]
    found = layout.layered(edges)
    assert set(found.places) == set(range(6))
    assert len(set(found.places.values())) == 6
    assert set(found.routes) == set(edges)
    for (start, end), points in found.routes.items():
        assert (points[0], points[-1]) == (found.places[start], found.places[end])
        assert all(b[1] > a[1] for a, b in pairwise(points))


def test_making_a_page_needs_no_extra(examples: Path) -> None:
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn', 'jinja2', 'fast_sugiyama')));"
        "import quia; from quia.cli import main;"
        f"sys.exit(main(['report', {str(examples / 'admissions.json')!r}, *{SETS!r}, '-o', '-']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "<!DOCTYPE html>" in done.stdout


def test_page_in_a_browser(watched: Callable[..., Page], examples: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert main(["report", str(examples / "admissions.json"), *SETS, "-o", str(file)]) == 0
    for width, dark in ((1280, False), (400, True)):
        shown = watched(width=width, dark=dark)
        shown.goto(file.as_uri())
        policy = shown.locator("meta[http-equiv]").get_attribute("content")
        assert re.fullmatch(
            r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; base-uri 'none'; form-action 'none'",
            policy or "",
        )
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        serious = [v for v in Axe().run(shown).response["violations"] if v["impact"] in ("serious", "critical")]
        assert serious == []

        assert shown.locator(".card:visible, .strips:visible").count() > 1  # what is seen at first
        assert not shown.locator(".sufficient .card").first.is_visible()
        for fold in shown.locator("section > .fold > summary").all():
            fold.focus()
            shown.keyboard.press("Enter")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        serious = [v for v in Axe().run(shown).response["violations"] if v["impact"] in ("serious", "critical")]
        assert serious == []
        first = shown.locator(".sufficient .card").first
        features = set(first.get_attribute("data-fs").split())  # type: ignore[union-attr]
        first.locator("button").press("Enter")
        lit = shown.locator(".lit-now").evaluate_all("all => all.map(one => one.dataset.f)")
        assert set(lit) == features
        for part in (
            ".picture",
            ".necessary",
            ".shares",
            ".instance",
            ".way .drawing",
            ".way .steps",
            ".complete",
            ".verdict",
        ):
            assert shown.locator(f"{part} .lit-now").count() > 0, part
        serious = [v for v in Axe().run(shown).response["violations"] if v["impact"] in ("serious", "critical")]
        assert serious == []
        shown.keyboard.press("Escape")
        assert shown.locator(".lit-now").count() == 0


def ages() -> quia.DecisionGraph:
    """Who earns more than 7055.5, or is over 49.5 and earns more than 5095.5, is rich; 21.5 makes no difference."""
    gain = quia.Variable.numeric("gain", [1384, 5095.5, 7055.5])
    age = quia.Variable.numeric("age", [21.5, 49.5])
    edges = [(), (), ((((0, 0), (1, 1)), 0), (((2, 2),), 1)), ((((0, 1),), 0), (((2, 2),), 2), (((3, 3),), 1))]
    return quia.DecisionGraph.build([gain, age], ["<=50K", ">50K"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)


def test_the_page_says_what_is_true_as_a_person_would() -> None:
    source = page(quia.explain(ages(), {"gain": 2174, "age": 52}))
    lead = re.search(r'<p class="lead">.*?</p>', source)[0]  # type: ignore[index]
    general, states = map(text_of, re.findall(r'<span class="in-[a-z]+">(.*?rest\.)</span>', lead))
    assert general == "It is so because gain is at most 5095.5, whatever the rest."
    assert states == "It is so because gain is more than 1384 and at most 5095.5, whatever the rest."
    assert text_of(lead).endswith("It would be >50K if gain were more than 5095.5 (now 2174).")
    assert text_of(section(source, "sufficient")).count("gain ≤ 5095.5 here 2174") == 1
    assert "would needgain > 5095.5 now 2174" in text_of(section(source, "necessary"))
    assert "gain > 5095.5 now 2174makes it >50K" in text_of(section(source, "changes"))
    assert 'class="try"' not in source  # there is no form to put values into


def test_both_ways_of_two_features_are_told() -> None:
    source = page(quia.explain(ages(), {"gain": 6000, "age": 52}))
    said = text_of(section(source, "sufficient"))
    assert "gain > 5095.5 here 6000" in said
    assert "age > 49.5 here 52" in said
    assert [set(each) for each in shown_reasons(source, "changes")] == [{"gain"}, {"age"}]
    assert "It would be <=50K if gain were at most 5095.5 (now 6000)." in text_of(source)


def test_a_reference_table_says_how_many_a_reason_fits() -> None:
    people = [{"gain": gain, "age": 30} for gain in (0, 5000, 6000, 9000)]
    source = page(quia.explain(ages(), {"gain": 2174, "age": 30}, data=people))
    assert "gain ≤ 5095.5 here 2174fits 2 of 4 rows" in text_of(section(source, "sufficient"))
    assert "gain > 7055.5 now 2174fits 1 of 4 rows" in text_of(section(source, "necessary"))


def test_the_switch_shows_one_form_at_a_time(watched: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(quia.explain(ages(), {"gain": 2174, "age": 52})))
    shown = watched()
    shown.goto(file.as_uri())
    unfold(shown)
    for _ in range(2):
        expect(shown.locator(".lead")).to_contain_text("gain is at most 5095.5", use_inner_text=True)
        assert shown.locator(".sufficient .card:visible .state").all_inner_texts() == ["≤ 5095.5"]
        assert shown.locator(".necessary .card:visible .state").all_inner_texts()[0] == "> 5095.5"
        shown.get_by_label("in the model’s own states").check()
        expect(shown.locator(".lead")).to_contain_text("gain is more than 1384 and at most 5095.5", use_inner_text=True)
        assert shown.locator(".sufficient .card:visible .state").all_inner_texts() == ["> 1384 and ≤ 5095.5"]
        assert shown.locator(".changes .card:visible .state").all_inner_texts() == ["> 5095.5"]
        shown.get_by_label("in the model’s own states").uncheck()


SPLITS = {
    "quia": 1,
    "variables": {
        "job": {"kind": "nominal", "states": ["clerk", "manager of a branch", "farmer", "teacher", "sales", "driver"]},
        "age": {"kind": "numeric", "missing": True},
        "hours": {"kind": "numeric", "missing": True},
        "level": {"kind": "nominal", "states": [f"level of education number {k}" for k in range(5)]},
    },
    "classes": ["grant", "deny"],
    "root": "job",
    "nodes": {
        "job": {
            "test": "job",
            "edges": [
                {"if": ["clerk"], "to": "age"},
                {"if": ["manager of a branch", "farmer"], "to": "hours"},
                {"if": ["teacher"], "to": "level"},
                {"if": ["sales", "driver"], "to": "no"},
            ],
        },
        "age": {
            "test": "age",
            "edges": [
                {"if": ["< 30.123456789", "missing"], "to": "level"},
                {"if": "[30.123456789, 50.123456789)", "to": "hours"},
                {"if": ">= 50.123456789", "to": "yes"},
            ],
        },
        "hours": {"test": "hours", "edges": [{"if": "missing", "to": "no"}, {"if": "(-inf, inf)", "to": "all"}]},
        "all": {"test": "age", "edges": [{"if": ["(-inf, inf)", "missing"], "to": "yes"}]},
        "level": {
            "test": "level",
            "edges": [
                {"if": [f"level of education number {k}"], "to": to}
                for k, to in enumerate(["yes", "no", "hours", "all", "last"])
            ],
        },
        "last": {"test": "age", "edges": [{"if": "< 20", "to": "no"}, {"if": [">= 20", "missing"], "to": "yes"}]},
        "yes": {"class": "grant"},
        "no": {"class": "deny"},
    },
}
"""Splits into many branches, with missing values, and a test that nothing hangs on."""


def test_what_is_said_at_lines_keeps_apart(watched: Callable[..., Page], tmp_path: Path) -> None:
    graph = quia.DecisionGraph.from_dict(SPLITS)
    instance = {"job": "clerk", "age": 40, "hours": None, "level": "level of education number 3"}
    (tmp_path / "page.html").write_text(page(quia.explain(graph, instance)))
    shown = watched()
    shown.goto((tmp_path / "page.html").as_uri())
    labels = shown.locator(".drawing .edge-label")
    texts = labels.evaluate_all("all => all.map(one => one.lastChild.data)")
    assert {"any number", "any value", "missing"} <= set(texts) and not any("inf" in text for text in texts)
    levels = {text[-1] for text in texts if text.startswith("level")}
    assert levels == set("01234"), "texts that begin alike are still told apart"
    boxes = "all => all.map(one => one.getBoundingClientRect()).map(of => [of.left, of.top, of.right, of.bottom])"
    drawn = labels.evaluate_all(boxes)
    for (left, top, right, bottom), (left_2, top_2, right_2, bottom_2) in combinations(drawn, 2):
        beside = right <= left_2 or right_2 <= left
        assert beside or min(bottom, bottom_2) - max(top, top_2) < 4, "letters of two labels touch"
    ((edge, _, end, _),) = shown.locator(".drawing svg").evaluate_all(boxes)
    assert all(edge <= left and right <= end for left, _, right, _ in drawn), "a label is cut by the edge"


def test_folded_branches_open_from_the_drawing(watched: Callable[..., Page], tmp_path: Path) -> None:
    graph = random_tree(leaves=300, numeric=6, nominal=3, classes=2, seed=3)
    file = tmp_path / "page.html"
    file.write_text(page(quia.explain(graph, random_instance(graph, 1)), timeout=1))
    shown = watched()
    shown.goto(file.as_uri())
    unfold(shown)
    stub = shown.locator(".drawing a").first
    step = stub.get_attribute("href")
    assert not shown.locator(f"{step} > details").evaluate("one => one.open")
    stub.click()
    assert shown.locator(f"{step} > details").evaluate("one => one.open")
    assert shown.locator(f"{step} > details li").first.is_visible()


def models(folder: Path, examples: Path) -> dict[str, list[str]]:
    """A tree, a scorecard and an ensemble, each with a case, as arguments of `quia report`."""
    rng = random.Random(1)
    ensemble = random_ensemble(rng, fewest=5, trees=8, rule="cuts")
    while len(ensemble.variables) < 5 or len(ensemble.classes) != 2:
        ensemble = random_ensemble(rng, fewest=5, trees=8, rule="cuts")
    (folder / "forest.json").write_text(json.dumps(ensemble.to_dict()))
    values = {v.name: nearest_value(Literal(v, ((0, 0),)), None) for v in ensemble.variables}
    (folder / "case.json").write_text(json.dumps(values))
    table = ["--data", str(examples / "applicant.csv"), "--row", "1"]
    return {
        "tree": [str(examples / "loan.json"), "--data", str(examples / "loans.csv"), "--row", "2"],
        "scorecard": [str(examples / "credit_scorecard.csv"), *table],
        "ensemble": [str(folder / "forest.json"), "--instance", str(folder / "case.json")],
    }


@pytest.mark.parametrize("kind", ["tree", "scorecard", "ensemble"])
def test_the_first_screen_answers_and_paper_takes_two_sheets(
    kind: str, watched: Callable[..., Page], examples: Path, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    assert main(["report", *models(tmp_path, examples)[kind], "-o", str(file)]) == 0
    shown = watched()
    shown.goto(file.as_uri())
    places = {
        name: shown.locator(name).first.bounding_box()
        for name in (".verdict h1", ".lead", ".picture .strips", ".changes .card")
    }
    for name, box in places.items():
        assert box is not None, name
        assert box["y"] + box["height"] <= 900, name
    assert shown.locator(".fold[open]").count() == 0
    if kind != "tree":
        assert shown.locator(".scores .drawn").is_visible()
    if kind == "scorecard":
        assert shown.locator(".points table").first.is_visible()
    paper = shown.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 2
    assert shown.locator(".quia > section:last-of-type").get_attribute("id") == "identity"


def deep(length: int) -> quia.DecisionGraph:
    """'B' if every number is in its middle: a formula as deep as it is long, of features with long names."""
    variables = [
        quia.Variable.numeric(f"a rather long name of a measurement, the {n}th", [1, 2]) for n in range(length)
    ]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    for v in reversed(range(length)):
        edges.append(((((0, 0), (2, 2)), 0), (((1, 1),), len(tests) - 1)))  # type: ignore[arg-type]
        tests.append(v)
        labels.append(-1)
    return quia.DecisionGraph.build(variables, ["A", "B"], tests, labels, edges)


def test_long_names_leave_room_and_deep_formulas_stay_on_the_page(watched: Callable[..., Page], tmp_path: Path) -> None:
    model, file = deep(40), tmp_path / "page.html"
    values = {variable.name: 1.5 for variable in model.variables}
    file.write_text(page(quia.explain(model, values)))
    wide = watched()
    wide.goto(file.as_uri())
    strip, row = (wide.locator(name).first.bounding_box() for name in (".strips .drawn", ".strips li"))
    assert strip is not None and row is not None
    assert strip["width"] > 0.3 * row["width"]
    narrow = watched(width=400)
    narrow.goto(file.as_uri())
    narrow.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert narrow.locator(".formula").first.is_visible()
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 400
    assert Axe().run(narrow).violations_count == 0
