"""How wide reasons are: the printed numbers counted again by hand, and what does not pass the check is told."""

import importlib
import json
import random

import numpy as np
import pytest

import quia
from bench import tiny_data
from benchmarks import general_speed, widths, widths_models
from benchmarks.__main__ import main
from benchmarks.models import find
from quia.errors import Refuted


@pytest.fixture
def folder(tmp_path):
    return tiny_data.write_folder(tmp_path / "data", seed=4)


@pytest.fixture
def table(tmp_path):
    """Rows to learn from: a class that needs two numbers and a name."""
    draw = random.Random(3)
    lines = ["x,y,colour,class"]
    for _ in range(300):
        x, y, colour = draw.randrange(20), draw.randrange(20), draw.choice(["red", "green", "?"])
        lines.append(f"{x},{y},{colour},{'yes' if x > 7 and (y < 12 or colour == 'red') else 'no'}")
    file = tmp_path / "made.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_the_command_prints_before_and_after_and_what_was_checked(folder, table, tmp_path, capsys):
    out = tmp_path / "numbers.json"
    options = ["--benchmark", "tree0", "--learn-from", str(table), "--rows", "12", "--json", str(out)]
    assert main(["widths", "--data", str(folder), *options]) == 0
    printed = capsys.readouterr().out
    assert "tree0, J48" in printed and "made, quia learn" in printed and "made, sklearn, 1 row a leaf" in printed
    assert "did not pass" in printed and ": 0 did not pass" in printed and "ratio" in printed
    numbers = json.loads(out.read_text())
    assert len(numbers["widths"]) == 4 and all(r["checked"] > 0 and not r["refuted"] for r in numbers["widths"])
    for result in numbers["widths"]:
        assert result["flips_after"] in (1, None)
        assert result["rows_after"] >= result["rows_before"] >= 0
        assert result["cells"] >= result["regions"] or result["regions"] is None
    assert numbers["speed"]["text"]["rows"] == 12
    assert all(batch["ratio"] > 0 for batch in numbers["speed"]["batch"])


def test_the_numbers_are_those_counted_by_hand(folder):
    (benchmark,) = find(folder, ["tree1"])
    subject = widths_models.printed_by_weka(benchmark, folder)
    found = widths.measure(subject, 15)
    graph, rows = subject.classifier, subject.reference.to_pylist()
    wide, before, after, admitted, flipping, cells = [], [], [], 0, 0, []
    for instance in widths_models.fully_known(subject, 15):
        why = quia.explain(graph, instance)
        plain = why.sufficient_reasons(shortest=True)[0]
        general = why.sufficient_reasons(shortest=True, general=True)[0]
        wide += [len(one.states) for one in general if one.variable.is_numeric]
        for reason, counted in ((plain, before), (general, after)):
            counted.append(sum(all(one.holds(row[one.feature]) for one in reason) for row in rows))
        nearest = 0
        for reason in why.necessary_reasons(shortest=True):
            flips = [decided != why.decision for decided in changed(graph, instance, reason.features)]
            nearest += sum(flips)
            if len(reason) == 1:
                admitted, flipping = admitted + len(flips), flipping + sum(flips)
        cells.append(nearest)
    assert found["instances"] == len(before) == 15
    assert found["width_mean"] == pytest.approx(np.mean(wide)) and found["width_median"] == np.median(wide)
    assert found["widened"] == pytest.approx(np.mean([width > 1 for width in wide]))
    assert (found["rows_before"], found["rows_after"]) == (np.median(before), np.median(after))
    assert found["flips_before"] == pytest.approx(flipping / admitted) and found["flips_after"] == 1
    assert found["cells"] == pytest.approx(np.mean(cells))


def changed(graph, instance, features):
    """The decisions on the instance with every other state of these features, by the class of a value in each."""
    feature, *rest = features
    variable = next(v for v in graph.variables if v.name == feature)
    own = variable.encode(instance[feature])
    for state in range(variable.size):
        if state != own:
            other = {**instance, feature: value_in(variable, state)}
            yield from changed(graph, other, rest) if rest else [graph.classify(other)]


def value_in(variable, state):
    """A value in a state: these trees cut after whole numbers."""
    if not variable.is_numeric:
        return variable.text(state)
    thresholds = [cut.threshold for cut in variable.cuts]
    return thresholds[state] if state < len(thresholds) else thresholds[-1] + 1


def test_a_reason_that_does_not_pass_fails_the_command(folder, table, monkeypatch, capsys):
    def refuse(*_arguments, **options):
        assert options["maximal"]
        raise Refuted("x could be wider", witness={})

    monkeypatch.setattr(importlib.import_module("quia.verify"), "verify", refuse)
    options = ["--benchmark", "tree0", "--learn-from", str(table), "--rows", "2", "--only", "widths"]
    assert main(["widths", "--data", str(folder), *options]) == 1
    assert "REFUTED: tree0, J48: sufficient" in capsys.readouterr().out


def test_a_region_of_which_a_part_is_decided_otherwise_fails_the_command(folder, monkeypatch):
    (benchmark,) = find(folder, ["tree0"])
    subject = widths_models.printed_by_weka(benchmark, folder)
    monkeypatch.setattr(importlib.import_module("quia.verify"), "verify", lambda *_arguments, **_options: None)
    monkeypatch.setattr(widths, "_decided", lambda why, members, states: np.array([why.question.decision]))
    assert any("decided otherwise" in fault for fault in widths.measure(subject, 3)["refuted"])


def test_shares_are_not_rounded_up_to_all():
    assert [widths.percent(share) for share in (None, 0.3, 0.99999, 1.0)] == ["–", "30.0 %", "99.9 %", "100 %"]


def test_bars_are_told_as_kept_or_missed():
    batch = {"name": "t", "nodes": 3, "rows": 5, "plain": 0.1, "general": 0.3, "ratio": 3.0}
    shown = {"name": "t", "nodes": 3, "rows": 5, "mean": 0.002, "median": 0.002, "max": 0.02}
    said = general_speed.text({"batch": [batch, batch | {"ratio": 1.5}], "text": shown})
    assert "MISSED" in said and said.count("kept") == 2
    assert "MISSED." in general_speed.text({"batch": [], "text": shown | {"mean": 0.011}})
