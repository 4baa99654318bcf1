"""What is measured: limits hold, generated classifiers are what they say, the kernel command's numbers are right."""

import json
import sys

import numpy as np
import pytest

from bench import tiny_data
from benchmarks import algorithms, generate, kernel, models
from benchmarks.__main__ import main
from benchmarks.algorithms import QUESTIONS, ask_batch, ask_kernel, ask_paper, reason_formula
from benchmarks.steps import Steps


@pytest.mark.parametrize("seed", range(4))
def test_generated_trees_are_explained_alike_by_both(seed):
    graph = generate.tree(301, 12, seed=seed)
    assert graph.is_tree and len(graph) == 301
    for row in models.random_states(graph, 8, seed):
        formula = reason_formula(graph, row)
        for question in QUESTIONS:
            theirs, ours = ask_paper(question, formula, 20), ask_kernel(question, graph.kernel, row, 20)
            assert theirs.finished and theirs.reasons == ours.reasons and ours.count == len(ours.reasons)


def test_the_generated_graph_is_a_threshold_function():
    weights = generate.threshold_weights(2000, 18, seed=2)
    graph = generate.threshold_graph(2000, 18, seed=2)
    assert 1000 < len(graph) < 4000 and not graph.is_tree
    draw = np.random.default_rng(1)
    for row in draw.integers(0, 2, (300, 18)):
        assert graph.decide(row.tolist()) == int(row @ weights >= weights.sum() // 2)
    for row in draw.integers(0, 2, (3, 18)).astype(np.int32):
        formula = reason_formula(graph, row)
        assert ask_paper("NR", formula, 30).reasons == ask_kernel("NR", graph.kernel, row, 30).reasons


def test_a_batch_counts_what_did_not_finish():
    graph = generate.tree(301, 12, seed=1)
    batch = ask_batch("SR", graph.kernel, models.random_states(graph, 50, 1), 20)
    assert (batch.rows, batch.unfinished) == (50, 0) and batch.seconds > 0


@pytest.mark.parametrize("graph", [generate.tree(301, 12, seed=2), generate.threshold_graph(500, 12, seed=2)])
def test_a_batch_beside_the_papers_algorithms_lists_all_that_they_list(graph):
    """A count would be no match for a list."""
    states = models.random_states(graph, 12, seed=2)
    for question in QUESTIONS:
        expected = [ask_paper(question, reason_formula(graph, row), 60).count for row in states]
        found = graph.kernel.batch(states, limit=algorithms.MOST_LISTED, **algorithms.LISTED[question])
        (column,) = (found[name] for name in ("necessary", "sufficient") if algorithms.LISTED[question].get(name))
        assert np.diff(column["reason_start"]).tolist() == expected
        assert ask_batch(question, graph.kernel, states, 60, listed=True).unfinished == 0


def test_neither_has_a_ratio_where_the_kernel_only_counted(monkeypatch):
    graph = generate.tree(301, 12, seed=2)
    loaded = models.Loaded("generated", graph, models.random_states(graph, 8, seed=2))
    monkeypatch.setattr(algorithms, "MOST_LISTED", 0)
    measured = kernel.measure(loaded, rows=8, paper_rows=8, limit=60, paper_limit=60)
    assert all("ratio_single" not in of and of["differing"] == 0 for of in measured["questions"].values())


def test_no_user_is_charged_for_the_closed_form_in_python(monkeypatch):
    """From the instance, the paper's algorithms begin with quia's own call for the complete reason."""
    graph = generate.threshold_graph(500, 12, seed=2)
    states = models.random_states(graph, 1, seed=2)[0]
    monkeypatch.setattr(algorithms, "closed_form", None)
    assert algorithms.complete_reason_seconds(graph, states) > 0
    with pytest.raises(TypeError):
        reason_formula(graph, states)  # what is compared is made without the kernel


def test_means_of_ratios_are_of_trees_of_graphs_and_of_all():
    def result(tree, ratio):
        return {"tree": tree, "questions": {"SR": dict.fromkeys(kernel.RATIOS, ratio)}}

    means = kernel.ratio_means([result(True, 10), result(True, 1000), result(False, 1)], "SR")
    assert {which: of["ratio_batch"] for which, of in means.items()} == {
        "trees": 100,
        "graphs": 1,
        "all": 21.5443469003,
    }


def test_the_kernel_command_prints_ratios_and_no_difference(tmp_path, capsys):
    data = tiny_data.write_folder(tmp_path / "data", seed=4)
    out = tmp_path / "numbers.json"
    options = ["--rows", "12", "--paper-rows", "6", "--only", "benchmarks", "--only", "pass", "--json", str(out)]
    assert main(["kernel", "--data", str(data), *options]) == 0
    printed = capsys.readouterr().out
    assert "differ on 0 answers" in printed and "geometric mean" in printed and "SNR / pass" in printed
    results = json.loads(out.read_text())["benchmarks"]
    assert [r["name"] for r in results] == ["tree0", "tree1", "graph0"]
    for result in results:
        for question in QUESTIONS:
            of = result["questions"][question]
            assert of["paper_finished"] == of["paper_rows"] == 6 and of["unfinished"] == of["batch_unfinished"] == 0
            assert of["ratio_from_instance"] > of["ratio_batch"] > 0


def test_the_kernel_command_takes_any_model(tmp_path, capsys, examples):
    options = ["--only", "benchmarks", "--rows", "5", "--paper-rows", "5"]
    assert main(["kernel", "--model", str(examples / "admissions.json"), *options]) == 0
    assert "admissions.json" in capsys.readouterr().out
    table = tmp_path / "rows.csv"
    table.write_text("SAT,GPA,Essay,Interview\n1400,medium,fail,fail\n1500,low,pass,pass\n")
    rows_of = ["--rows-of", str(table)]
    assert main(["kernel", "--model", str(examples / "admissions.json"), *rows_of, *options]) == 0
    assert "2 of 2" in capsys.readouterr().out


def test_the_time_left_does_not_count_what_was_done_before(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Steps(100) as steps:
        steps.skip(50)
        now = 10.0
        steps.step(10, on="adult")
    assert capsys.readouterr().err == "\r━━━━━━━━━━━━━━━━━───────────  60 %  0:10, 0:40 left, adult\x1b[K\r\x1b[K"


def test_a_long_run_leaves_a_line_now_and_then_in_a_log(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with Steps(4) as steps:
        for now in (10.0, 31.0, 40.0, 62.0):
            steps.step(on=f"at {now:.0f}")
    assert [line.split(", ")[-1] for line in capsys.readouterr().err.splitlines()] == ["at 31", "at 62"]


def test_a_fault_is_one_sentence(capsys, examples):
    model = str(examples / "admissions.json")
    assert main(["kernel", "--model", model, "--rows-of", "none.csv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("benchmarks: none.csv: cannot be read: No such file") and err.count("\n") == 1
