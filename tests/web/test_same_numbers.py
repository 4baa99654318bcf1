"""The server's answers are the command line's, question by question, for every kind of classifier."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import quia
from quia.cli import main
from quia.load import json as quia_json
from web.conftest import Serve
from web.made_models import circuit_file, random_tree

QUESTIONS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trees, an SDD and a Decision-DNNF, as files."""
    found = tmp_path_factory.mktemp("models")
    for seed, (numeric, nominal, classes) in enumerate([(3, 3, 2), (5, 0, 4), (0, 5, 3), (12, 12, 2)]):
        graph = random_tree(leaves=40, numeric=numeric, nominal=nominal, classes=classes, seed=seed)
        quia_json.write(graph, found / f"tree-{seed}.json")
    circuit_file(found, "sdd", seed=5)
    circuit_file(found, "nnf", seed=6)
    return found


@pytest.fixture(scope="module")
def client(serve: Serve, folder: Path) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=serve(folder), timeout=3600) as found:
        yield found


def question(chooser: random.Random, classifier: Any) -> tuple[dict[str, Any], list[str]]:
    """A question as the server takes it, and its options for the command."""
    instance = {
        v.name: chooser.choice(v.labels or [chooser.randrange(1000), chooser.random() * 1000])
        for v in classifier.variables
    }
    asked: dict[str, Any] = {"instance": instance}
    options: list[str] = []
    others = [name for name in classifier.classes if name != classifier.classify(instance)]
    features = list(instance)
    if others and chooser.random() < 0.5:
        asked["against"] = chooser.choice(others)
        options += ["--against", asked["against"]]
    if chooser.random() < 0.5:
        asked["frozen"] = chooser.sample(features, chooser.randrange(1, len(features) + 1))
        options += [part for name in asked["frozen"] for part in ("--frozen", name)]
    if chooser.random() < 0.5:
        asked["costs"] = {name: chooser.choice([0.5, 1, 2, 7.25]) for name in chooser.sample(features, 2)}
        options += [part for name, cost in asked["costs"].items() for part in ("--cost", f"{name}={cost}")]
    if chooser.random() < 0.5:
        asked["limit"] = chooser.randrange(20)
        options += ["--limit", str(asked["limit"])]
    if chooser.random() < 0.3:
        asked["states"] = True
        options += ["--states"]
    if chooser.random() < 0.4:
        asked["protected"] = chooser.sample(features, chooser.randrange(1, 3))
        options += [part for name in asked["protected"] for part in ("--protected", name)]
    return asked, options


def possible(chooser: random.Random, classifier: Any, instance: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What is possible beside an instance, as the server takes it, and its options for the command."""
    numbers = [v.name for v in classifier.variables if v.is_numeric]
    names = [v for v in classifier.variables if not v.is_numeric]
    asked: dict[str, Any] = {}
    options: list[str] = []
    for way in ("only_up", "only_down"):
        if numbers and chooser.random() < 0.4:
            asked[way] = chooser.sample(numbers, 1)
            options += [f"--{way.replace('_', '-')}", asked[way][0]]
    if numbers and chooser.random() < 0.4:
        name, reach = chooser.choice(numbers), chooser.choice([50, "10%"])
        asked["near"] = {name: reach}
        options += ["--near", f"{name}={reach}"]
    if numbers and chooser.random() < 0.4:
        name = chooser.choice(numbers)
        asked["within"] = {name: f"<= {instance[name] + 200}"}
        options += ["--within", f"{name} {asked['within'][name]}"]
    if len(names) > 1 and chooser.random() < 0.6:
        one, other = chooser.sample(names, 2)  # one's value only with the other's
        asked["given"] = [f'"{one.name}"="{instance[one.name]}" -> "{other.name}"="{instance[other.name]}"']
    if len(numbers) > 1 and chooser.random() < 0.6:
        one, other = chooser.sample(numbers, 2)
        line = f'"{one}" > {instance[one] + 10} -> "{other}" <= {instance[other] + 30.5}'
        asked["given"] = [*asked.get("given", ()), line]
    options += [part for line in asked.get("given", ()) for part in ("--given", line)]
    return asked, options


def test_random_questions(
    client: httpx.Client, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chooser = random.Random(1)
    listed = client.get("/api/models").json()["models"]
    assert len(listed) == 6
    classifiers = {model["name"]: quia.load(folder / model["name"]) for model in listed}
    bounded = guarded = 0
    for number in range(QUESTIONS):
        model = listed[number % len(listed)]
        asked, options = question(chooser, classifiers[model["name"]])
        if number % 2:
            worlds, more = possible(chooser, classifiers[model["name"]], asked["instance"])
            asked, options = asked | worlds, options + more
            bounded += bool(worlds)
        file = tmp_path / "instance.json"
        file.write_text(json.dumps(asked["instance"]))
        command = [str(folder / model["name"]), "--instance", str(file), *options]
        assert main(["explain", *command, "--json"]) == 0
        expected = json.loads(capsys.readouterr().out)
        answer = client.post(f"/api/models/{model['id']}/explain", json=asked)
        assert answer.status_code == 200, answer.text
        assert answer.json()["explanation"] == expected, (model["name"], asked)
        assert ("bias" in expected) == ("bias" in answer.json()["html"]) == ("protected" in asked)
        guarded += "protected" in asked

        if number % 5 == 0:  # a report says what `quia report` says, but for what files and commands that was made of
            assert main(["report", *command, "-o", str(tmp_path / "page.html")]) == 0
            asked_page = client.post(f"/api/models/{model['id']}/report", json=asked).text
            made_of = r'<section class="part identity".*?</section>'
            written, count = re.subn(made_of, "", (tmp_path / "page.html").read_text(), flags=re.DOTALL)
            assert (asked_page, 1) == (written, count)
            shown = re.findall(r'class="part (\w+)">(?:(?!</section>).)*? data-sets="(\d+)"', asked_page, re.DOTALL)
            constant = "Nothing could change this" in asked_page or "No possible change makes it" in asked_page
            kinds = [] if constant else ["sufficient", "necessary"]
            assert shown == [(kind, str(expected[kind]["sets"])) for kind in kinds]
    assert bounded > QUESTIONS // 4
    assert guarded > QUESTIONS // 5
