"""What constraints cost and give: the plain evaluator against quia's own reading, and the numbers counted by hand."""

import importlib
import json
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

import quia
from bench import tiny_data
from benchmarks import worlds, worlds_dice, worlds_models
from benchmarks.__main__ import main
from benchmarks.models import find
from benchmarks.peer import dice_worlds_peer
from benchmarks.widths_models import printed_by_weka
from benchmarks.worlds_rules import Fact, Possible, Rule, implies, is_one_of, same
from quia.literal import Literal

COLOURS = ("red", "green", "blue")


@pytest.fixture
def folder(tmp_path):
    return tiny_data.write_folder(tmp_path / "data", seed=4)


@pytest.fixture
def subject(folder):
    (benchmark,) = find(folder, ["tree1"])
    return printed_by_weka(benchmark, folder)


def random_test(draw):
    if draw.random() < 0.3:
        return is_one_of("colour", *draw.sample(COLOURS, draw.randint(1, 2)))
    return Fact(f"x{draw.randrange(5)}", draw.choice(["<", "<=", ">", ">=", "="]), float(draw.randrange(10)))


def random_possible(draw):
    def side():
        return tuple(random_test(draw) for _ in range(draw.randint(1, 2)))

    rules = tuple(Rule(side(), side(), draw.random() < 0.4) for _ in range(draw.randint(1, 3)))
    bounds = tuple((f"x{k}", float(draw.randrange(3)), float(draw.randrange(6, 10))) for k in draw.sample(range(5), 2))
    return Possible(rules, bounds, ("x0",), ("x1",))


def random_row(draw):
    return {**{f"x{k}": draw.randrange(10) for k in range(5)}, "colour": draw.choice(COLOURS)}


def test_the_evaluator_says_of_rows_what_quia_says(subject):
    draw, said = random.Random(5), []
    for _ in range(60):
        possible = random_possible(draw)
        for row in (random_row(draw) for _ in range(20)):
            try:
                quia.explain(subject.classifier, row, **possible.options)
                is_taken = True
            except quia.InstanceError:
                is_taken = False
            said.append(is_taken)
            assert possible.allows(row) == is_taken, (possible, row)
    assert 100 < sum(said) < len(said) - 100


def test_directions_and_constraints_hold_of_what_is_changed():
    possible = Possible((implies(Fact("x", ">", 3.0), is_one_of("c", "a")),), only_up=("x",), only_down=("y",))
    row = {"x": "2", "y": "5", "c": "b"}
    assert possible.allows(row) and possible.allows_change(row, {"x": 3}) and possible.allows_change(row, {"y": 4.5})
    assert not possible.allows_change(row, {"x": 1}) and not possible.allows_change(row, {"y": 6})
    assert not possible.allows_change(row, {"x": 4}) and possible.allows_change(row, {"x": 4, "c": "a"})


def test_a_region_is_tried_wherever_something_could_be_impossible():
    x = quia.Variable.numeric("x", [2.0, 30.0])
    region = [Literal(x, ((1, 1),))]  # x in (2, 30]
    rule = same(is_one_of("c", "a"), Fact("x", ">=", 10.0), Fact("x", "<", 11.0))
    possible = Possible((rule,))
    shares = {c: possible.share_allowed({"x": 1.0, "c": c}, region) for c in "ab"}
    assert 0 < shares["a"] < 1 and 0 < shares["b"] < 1
    assert Possible().share_allowed({"x": 1.0}, region) == 1
    assert Possible(bounds=(("x", 30.0, 40.0),)).share_allowed({"x": 31.0}, region) > 0  # 30 itself
    assert Possible(bounds=(("x", 30.5, 40.0),)).share_allowed({"x": 31.0}, region) == 0
    assert Possible(only_down=("x",)).share_allowed({"x": 2.0}, region) == 0


def by_hand(subject, possible, rows, options):
    """Lengths, counts and advice, the latter tried at every whole number and name that it admits."""
    lengths, counts, advice, impossible, partly = [], [], 0, 0, 0
    values = {**{f"x{k}": range(-1, 12) for k in range(5)}, "colour": COLOURS}
    for row in rows:
        why = quia.explain(subject.classifier, row, **options)
        every = [list(why.sufficient_reasons()), list(why.necessary_reasons())]
        lengths.append([min(map(len, reasons)) for reasons in every])
        counts.append([len(reasons) for reasons in every])
        for change in why.counterfactuals():
            admitted = [[value for value in values[one.feature] if one.holds(value)] for one in change.changes]
            points = [dict(zip(change.features, point)) for point in product(*admitted)]
            allowed = [is_possible(possible, row, {**row, **point}) for point in points]
            advice, impossible = advice + 1, impossible + (not any(allowed))
            partly += any(allowed) and not all(allowed)
    return np.mean(lengths, axis=0), np.median(counts, axis=0), advice, impossible, partly


def is_possible(possible, row, other):
    """By what quia says of the changed row as an instance of its own, and by the directions."""
    if any(float(other[x]) < float(row[x]) for x in possible.only_up):
        return False
    if any(float(other[x]) > float(row[x]) for x in possible.only_down):
        return False
    formulas = [quia.formula.parse(rule.text, VARIABLES) for rule in possible.rules]
    return all(
        formula.satisfied_by({v.name: other[v.name] for v in formula.variables}) for formula in formulas
    ) and all(low <= float(other[x]) <= high for x, low, high in possible.bounds)


VARIABLES = [*(quia.Variable.numeric(f"x{k}") for k in range(5)), quia.Variable.nominal("colour", COLOURS)]


def test_the_numbers_are_those_counted_by_hand(subject, monkeypatch):
    monkeypatch.setattr(worlds, "SHOWN", None)
    monkeypatch.setattr(worlds, "REPEATS", 1)
    possible = Possible(
        (
            implies(Fact("x0", ">", 4.0), Fact("x2", "<=", 6.0)),
            implies(is_one_of("colour", "red"), Fact("x3", ">", 2.0)),
        ),
        (("x4", 1.0, 8.0),),
        only_up=("x1",),
    )
    found = worlds.measure(subject, possible, 12)
    asked = worlds_models.rows_of(subject, possible, 12)
    assert found["rows"] == len(asked.rows) == 12 and found["left_out"] == asked.left_out > 0
    assert all(possible.allows(row) for row in asked.rows)
    for form, options in (("all", {}), ("possible", possible.options)):
        lengths, counts, *advice = by_hand(subject, possible, asked.rows, options)
        assert [found[form][f"{kind}_length"] for kind in ("sufficient", "necessary")] == pytest.approx(list(lengths))
        assert [found[form][f"{kind}_count"] for kind in ("sufficient", "necessary")] == list(counts)
        assert [found[form][key] for key in ("advice", "impossible", "partly")] == advice
    assert found["all"]["impossible"] > 0 and found["possible"]["impossible"] == found["possible"]["partly"] == 0
    assert found["broken"] == []


def test_the_command_prints_costs_and_gains(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(worlds_models, "FEWEST", 2)  # the table has forty rows
    out = tmp_path / "numbers.json"
    explained, explain = [], quia.explain

    def noted(graph, row, **how):
        explained.append((row, how))
        return explain(graph, row, **how)

    monkeypatch.setattr(importlib.import_module("quia.explanation"), "explain", noted)
    assert main(["worlds", "--data", str(folder), "--rows", "3", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    times = Counter((tuple(row.items()), bool(how)) for row, how in explained)
    once = [key for key, count in times.items() if count == 1]  # new rows: without and with, and never again
    assert len(once) >= 2 * worlds.NEW and sum(is_tied for _, is_tied in once) == len(once) / 2
    assert "tree0" in printed and "tree1" in printed and "once" in printed and "IMPOSSIBLE" not in printed
    for result in json.loads(out.read_text())["trees"]:
        assert set(result["questions"]) == set(worlds.QUESTIONS) and result["rules"] > 0
        means = [question["possible"] for question in result["questions"].values()]
        assert result["total"]["possible"] == pytest.approx(np.mean(means))
        assert result["total"]["ratio"] == pytest.approx(result["total"]["possible"] / result["total"]["plain"])


def test_generated_constraints_hold_in_every_row_and_are_about_tests_of_the_tree(subject, monkeypatch):
    monkeypatch.setattr(worlds_models, "FEWEST", 2)
    possible = worlds_models.generated(subject)
    rows = [row for row in subject.instances if "?" not in row.values()]
    assert possible.rules and possible.bounds and possible.only_up and possible.only_down
    assert all(possible.allows(row) for row in rows)
    for rule in possible.rules:
        assert sum(rule.premise[0].holds(row) for row in rows) >= 2
        assert sum(not rule.conclusion[0].holds(row) for row in rows) >= 2
        assert len({test.feature for test in rule.facts}) == 2


def test_impossible_advice_fails_the_command(folder, monkeypatch, capsys):
    monkeypatch.setattr(worlds_models, "FEWEST", 2)
    monkeypatch.setattr(Possible, "options", property(lambda self: {}))
    assert main(["worlds", "--data", str(folder), "--rows", "10"]) == 1
    assert "IMPOSSIBLE: tree" in capsys.readouterr().out


def test_the_tree_that_dice_is_given_decides_as_it_does(subject):
    pd = pytest.importorskip("pandas", reason="pip install pandas")
    draw = random.Random(8)
    job = worlds_dice.Job("tiny", subject, [])
    decide = dice_worlds_peer.decider(*(job.tree()[part] for part in ("variables", "nodes")))
    rows = [random_row(draw) for _ in range(300)]
    decided = decide(pd.DataFrame(rows))
    assert [subject.classifier.classes[label] for label in decided] == [subject.classifier.classify(r) for r in rows]
    assert len(set(decided.tolist())) > 1


def test_advice_of_both_tools_is_judged_by_the_same_evaluator(subject, monkeypatch, tmp_path):
    possible = Possible((implies(Fact("x0", ">", 4.0), Fact("x2", "<=", 6.0)),), only_up=("x1",))
    people = worlds_models.rows_of(subject, possible, 40).rows
    label = subject.classifier.classify(people[0])
    denied = [row for row in people if subject.classifier.classify(row) == label]
    for name, value in {"ADULT": possible, "PERSON": people[0], "DENIED": label, "FIXED": ("x3",)}.items():
        monkeypatch.setattr(worlds_dice, name, value)
    monkeypatch.setattr("benchmarks.environments.environment", lambda folder, packages: folder)
    asked = []

    def fake(_python, _peer, it, limit, _out):
        job = it.job(limit)
        asked.append(job)
        for setting in job["settings"]:
            for row, given in enumerate(job["rows"]):
                x0, x1, *rest = given["row"]
                yield {
                    "row": row,
                    "question": setting,
                    "seconds": 0.5,
                    "changed": [[float(x0), float(x1) - 1.0, *rest]],
                }

    monkeypatch.setattr("benchmarks.peers.ask", lambda *given: (list(fake(*given)), None))
    measured = worlds_dice.measure(subject, 5, tmp_path)
    assert measured["people"] == min(len(denied), 5) and len(asked[0]["rows"]) == measured["people"] + 1
    assert all(given["ranges"]["x1"][0] == float(given["row"][1]) for given in asked[0]["rows"])
    by_setting = {result["setting"]: result for result in measured["results"]}
    told = by_setting["DiCE, told what it can be"]  # x1 fell by one each time
    assert told["advice"] == told["impossible"] == told["none_possible"] == measured["people"]
    assert (
        told["length"] == 1
        and told["seconds"] == 0.5
        and told["shown"] == [f"x1={float(people[0]['x1']) - 1:g}: IMPOSSIBLE"]
    )
    own = by_setting["quia, told all"]
    assert own["impossible"] == own["partly"] == 0 < own["advice"]
    assert "IMPOSSIBLE" in worlds_dice.text(measured)
