"""Bayesian networks on the command line: what check says with and without a target, and one network end to end."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import quia
from quia.cli import main

FEATURES = "age,sex,pregnant,pain,fever,white_cells,urine_blood,scan"
ABOUT = ["--option", "target=illness", "--option", f"features={FEATURES}"]
POSSIBLE = "pregnant=yes -> sex=female & age=adult"
ALONE = """network alone { }
variable only { type discrete [ 2 ] { no, yes }; }
probability ( only ) { table 0.4, 0.6; }
"""
APART = """network apart { }
variable sure { type discrete [ 1 ] { so }; }
variable ill { type discrete [ 2 ] { no, yes }; }
variable "a, b" { type discrete [ 2 ] { no, yes }; }
variable coin { type discrete [ 2 ] { heads, tails }; }
probability ( sure ) { table 1; }
probability ( ill ) { table 0.4, 0.6; }
probability ( "a, b" | ill ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
probability ( coin ) { table 0.5, 0.5; }
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def abdomen(examples: Path) -> Path:
    return examples / "abdomen.bif"


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    file = tmp_path / "apart.bif"
    file.write_text(APART)
    return file


def validated(text: str) -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    facts = json.loads(text)
    schema = json.loads((Path(__file__).parents[1] / "docs" / "schemas" / "check-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(facts)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**facts, "more": 1})
    return facts


def test_without_a_target_check_says_what_could_be_one(capsys: pytest.CaptureFixture[str], abdomen: Path) -> None:
    code, out, err = run(capsys, "check", abdomen)
    assert (code, err) == (0, "")
    assert out.startswith(f"{abdomen}: a sound Bayesian network\n  10 variables, 12 arrows, 111 probabilities\n")
    assert "  roots: age, sex\n  leaves: pain, fever, white_cells, urine_blood, scan\n" in out
    assert "    illness       appendicitis, bowel_infection, kidney_stone, harmless\n" in out
    facts = validated(run(capsys, "check", abdomen, "--json")[1])
    assert facts["kind"] == "Bayesian network"
    assert facts["network"]["variables"]["pregnant"] == {"states": ["no", "yes"], "parents": ["age", "sex"]}
    assert facts["network"]["probabilities"] == 111


@pytest.mark.parametrize("format", [None, "bif"])
def test_the_command_that_it_proposes_can_be_typed(
    capsys: pytest.CaptureFixture[str], abdomen: Path, apart: Path, format: str | None
) -> None:
    for file, target, features in (
        (abdomen, "illness", ["pain", "fever", "white_cells", "urine_blood", "scan"]),
        (apart, "ill", ["a, b"]),
    ):
        told = run(capsys, "check", file, *(["--format", format] if format else []))[1]
        words = shlex.split(told[told.index("    quia check") :].replace("\\\n", ""))
        assert words[:3] == ["quia", "check", str(file)]
        assert ("--format" in words) == (format is not None)
        code, out, err = run(capsys, *words[1:], "--json")
        assert (code, err) == (0, "")
        facts = validated(out)
        assert (facts["network"]["target"], list(facts["variables"])) == (target, features)


def test_with_a_target_check_says_what_the_graph_is_compiled_from(
    capsys: pytest.CaptureFixture[str], abdomen: Path, apart: Path
) -> None:
    out = run(capsys, "check", abdomen, *ABOUT)[1]
    assert "a sound decision graph\n" in out
    assert "  compiled from a Bayesian network: 10 variables, 1 of them hidden\n" in out
    assert "  note: decides for the most probable state of illness" in out
    assert "never change" not in out
    assert validated(run(capsys, "check", abdomen, *ABOUT, "--json")[1])["network"]["hidden"] == ["inflammation"]
    out = run(capsys, "check", apart, "--option", "target=ill", "--option", 'features=["a, b", "coin", "sure"]')[1]
    assert "  variables: 3, of which 1 is tested\n" in out
    assert "  never change the decision: coin, sure\n" in out


def test_a_threshold_is_told(capsys: pytest.CaptureFixture[str], abdomen: Path) -> None:
    rule = ["--option", "target=inflammation", "--option", "threshold=0.3"]
    out = run(capsys, "check", abdomen, *rule, "--option", "features=pain,fever,white_cells")[1]
    assert "  classes: no, yes\n" in out
    assert "  note: decides yes where P(inflammation=yes | features) is at least 0.3\n" in out


def test_where_nothing_can_be_decided(capsys: pytest.CaptureFixture[str], apart: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.bif").write_text(ALONE)
    code, out, _ = run(capsys, "check", tmp_path / "alone.bif")
    assert code == 0
    assert "1 variable, 0 arrows, 2 probabilities\n" in out
    assert out.endswith("  no other variable has several states, so there is nothing to decide by\n")
    sure = run(capsys, "check", apart)[1].partition("targets of decisions")[2]
    assert "\n    sure" not in sure, "it has one state only"


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "--set", "age=old"],
        ["convert", "-o", "-"],
        ["check", "--protected", "sex"],
        ["check", "--given", "age=old"],
        ["check", "--within", "age=old"],
        ["check", "--option", "features=age,sex"],
    ],
    ids=" ".join,
)
def test_who_asks_of_decisions_is_told_to_name_a_target(
    capsys: pytest.CaptureFixture[str], abdomen: Path, arguments: list[str]
) -> None:
    code, out, err = run(capsys, arguments[0], abdomen, *arguments[1:])
    assert (code, out) == (2, "")
    assert "can decide about any of them; name one with target= or, on the command line, --option target=NAME" in err
    assert err.count("\n") == 1


def test_a_broken_network_is_not_sound(capsys: pytest.CaptureFixture[str], abdomen: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.bif"
    broken.write_text(abdomen.read_text().replace("0.25, 0.55, 0.2;", "0.25, 0.55, 0.3;"))
    for options in ([], ABOUT):
        code, out, err = run(capsys, "check", broken, *options, "--json")
        assert code == 1
        assert "'age' has the probabilities 0.25, 0.55, 0.3, which sum up to 1.1" in validated(out)["fault"]
        assert err.startswith("quia: not sound: ")


def test_from_a_network_to_a_diagnosis(
    capsys: pytest.CaptureFixture[str], abdomen: Path, examples: Path, tmp_path: Path
) -> None:
    """What the network calls impossible is a tie, so what is possible must be said."""
    graph = tmp_path / "illness.json"
    assert run(capsys, "convert", abdomen, *ABOUT, "--given", POSSIBLE, "-o", graph) == (0, "", "")
    for row, decision in enumerate(("appendicitis", "kidney_stone", "bowel_infection"), 1):
        person = ["--data", examples / "patients.csv", "--row", row]
        code, out, err = run(capsys, "explain", abdomen, *ABOUT, *person, "--given", POSSIBLE)
        assert (code, err) == (0, "")
        assert out.startswith(f"Decision: {decision}\n")
        assert run(capsys, "explain", graph, *person) == (0, out, "")
    stone = ["--data", examples / "patients.csv", "--row", 2]
    assert "kidney_stone because scan=stone, whatever" in run(capsys, "explain", graph, *stone)[1]
    told = run(capsys, "explain", abdomen, *ABOUT, *stone)[1]
    assert "kidney_stone because pregnant=no and scan=stone, whatever" in told


@pytest.mark.parametrize("threshold", ["0.25", "0.1234567", "0.99999999", "1/3", "1e-07"])
def test_the_threshold_is_told_as_it_was_given(
    capsys: pytest.CaptureFixture[str], abdomen: Path, threshold: str
) -> None:
    options = ["--option", "target=inflammation", "--option", "positive=yes", "--option", f"threshold={threshold}"]
    code, out, err = run(capsys, "check", abdomen, *options)
    assert (code, err) == (0, "")
    assert f" is at least {threshold}\n" in out


def test_a_file_of_another_format_is_told_as_that(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.bif").write_text("{")
    code, _, err = run(capsys, "explain", tmp_path / "x.bif", "--option", "target=x", "--set", "a=b")
    assert code == 2
    assert "x.bif, read as json, has no option 'target'; its options are" in err


def test_the_example_decides_as_its_own_tables_say(abdomen: Path) -> None:
    """By hand: an adult woman with pain at the lower right, an unclear scan and raised white cells, mild fever."""
    classifier = quia.load(abdomen, target="illness", features=FEATURES.split(","))
    fever_and_cells = {True: 0.5 * 0.85, False: 0.13 * 0.08}  # whether there is an inflammation
    shares = {  # of women; with an inflammation; lower right; no blood; unclear
        "appendicitis": (0.08, 0.9, 0.7, 0.9, 0.3),
        "bowel_infection": (0.2, 0.8, 0.1, 0.95, 0.3),
        "kidney_stone": (0.06, 0.15, 0.1, 0.15, 0.25),
        "harmless": (0.66, 0.05, 0.15, 0.96, 0.25),
    }
    scores = {
        name: share * (inflamed * fever_and_cells[True] + (1 - inflamed) * fever_and_cells[False]) * pain * urine * scan
        for name, (share, inflamed, pain, urine, scan) in shares.items()
    }
    values = ("adult", "female", "no", "lower_right", "mild", "raised", "no", "unclear")
    assert max(scores, key=scores.__getitem__) == "appendicitis"
    assert classifier.classify(dict(zip(FEATURES.split(","), values, strict=True))) == "appendicitis"


@pytest.mark.parametrize("option", ["--option", "--compare-option"])
def test_the_format_is_no_option_of_a_format(
    capsys: pytest.CaptureFixture[str], abdomen: Path, examples: Path, tmp_path: Path, option: str
) -> None:
    compared = ["--compare", abdomen, option, "format=bif", "-o", tmp_path / "audit.html"]
    code, _, err = run(capsys, "audit", abdomen, examples / "patients.csv", *ABOUT, *compared)
    assert (code, err.count("\n")) == (2, 1)
    assert f"{option} is 'format=bif'" in err
    assert f"write {option.replace('option', 'format')} bif" in err


def test_a_network_is_served_only_with_a_target(capsys: pytest.CaptureFixture[str], abdomen: Path) -> None:
    code, _, err = run(capsys, "serve", abdomen)
    assert (code, err.count("\n")) == (2, 1)
    assert "--option target=NAME" in err
