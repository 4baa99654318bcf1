"""The benchmark of points cards: what it prints is compared, and its rivals find all there is."""

import json
from itertools import combinations

import pytest

from benchmarks import additive, additive_loop, additive_sat
from benchmarks.__main__ import main
from benchmarks.additive_cards import card


def test_the_command_prints_ratios_of_answers_that_are_equal(tmp_path, capsys):
    out = tmp_path / "numbers.json"
    options = ["--quick", "--features", "9", "--rows", "30", "--limit", "0.5", "--json", str(out)]
    assert main(["additive", *options]) == 0
    printed = capsys.readouterr().out
    assert "0 of 30 rows differ" in printed and "python-sat" in printed
    numbers = json.loads(out.read_text())
    assert [each["features"] for each in numbers["counts"]] == [16, 20, 9]
    for each in numbers["counts"]:
        assert each["whole"] == each["rows"] and each["counts"] == each["enumerated"] and each["ratio"] > 0


def test_what_differs_is_told(monkeypatch, capsys):
    monkeypatch.setattr(additive_loop, "shortest", lambda *_: ([], 0))
    assert additive.measure_batch(card(5), 10, 10)["differing"] == 10
    wrong = additive_sat.Enumerated(10**6, True, 0.1)
    monkeypatch.setattr(additive_sat, "enumerate_sets", lambda *_: wrong)
    assert additive.measure_counts(card(5), 2, 0.1)["differing"] == 2


@pytest.mark.parametrize("need", [-1, 1, 7, 12, 17, 18])
def test_the_rivals_find_all(need):
    losses = [5, 3, 0, 2, 3, 4]
    every = [set(each) for n in range(7) for each in combinations(range(6), n) if sum(losses[v] for v in each) >= need]
    minimal = [each for each in every if not any(other < each for other in every)]
    assert additive_sat.enumerate_sets(losses, need, 10.0)[:2] == (len(minimal), True)
    least = [tuple(sorted(each)) for each in minimal if len(each) == min(map(len, minimal))]
    assert additive_loop.shortest(losses, need, 3) == (sorted(least)[:3], len(least))
