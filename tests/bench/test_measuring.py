"""What is measured: limits hold, generated classifiers are what they say, the kernel command's numbers are right."""

import json
import signal
import time

import numpy as np
import pytest

from bench import tiny_data
from quia.bench import benchmarks, generate
from quia.bench.algorithms import QUESTIONS, ask_batch, ask_kernel, ask_paper, reason_formula
from quia.bench.bar import Bar
from quia.cli import main
from quia.nnf import Builder
from quia.variables import Variable


def pairs(count):
    """(x0 ∨ x1) ∧ (x2 ∨ x3) ∧ …, whose sufficient reasons are one of each pair: 2⁴⁰ are more than any machine lists."""
    build = Builder([Variable.nominal(f"x{i}", ["0", "1"]) for i in range(2 * count)])
    either = [build.disjunction([build.literal(2 * i, 1), build.literal(2 * i + 1, 1)]) for i in range(count)]
    return build.nnf(build.conjunction(either))


def test_the_papers_algorithms_stop_at_the_limit_and_no_alarm_rings_later():
    outcome = ask_paper("SR", pairs(40), 0.02)
    assert not outcome.finished and outcome.count is None and outcome.seconds > 0
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    deadline = time.process_time() + 0.1
    while time.process_time() < deadline:
        pass


@pytest.mark.parametrize("seed", range(4))
def test_generated_trees_are_explained_alike_by_both(seed):
    graph = generate.tree(301, 12, seed=seed)
    assert graph.is_tree and len(graph) == 301
    for row in benchmarks.random_states(graph, 8, seed):
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
    batch = ask_batch("SR", graph.kernel, benchmarks.random_states(graph, 50, 1), 20)
    assert (batch.rows, batch.unfinished) == (50, 0) and batch.seconds > 0


def test_the_kernel_command_prints_ratios_and_no_difference(tmp_path, capsys):
    data = tiny_data.write_folder(tmp_path / "data", seed=4)
    out = tmp_path / "numbers.json"
    options = ["--rows", "12", "--paper-rows", "6", "--only", "benchmarks", "--only", "pass", "--json", str(out)]
    assert main(["bench", "kernel", "--data", str(data), *options]) == 0
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
    assert main(["bench", "kernel", "--model", str(examples / "admissions.json"), *options]) == 0
    assert "admissions.json" in capsys.readouterr().out
    table = tmp_path / "rows.csv"
    table.write_text("SAT,GPA,Essay,Interview\n1400,medium,fail,fail\n1500,low,pass,pass\n")
    rows_of = ["--rows-of", str(table)]
    assert main(["bench", "kernel", "--model", str(examples / "admissions.json"), *rows_of, *options]) == 0
    assert "2 of 2" in capsys.readouterr().out


def test_the_bar_does_not_count_what_was_done_before():
    bar = Bar(100)
    bar.skip(50)
    bar.done += 10
    assert "60 % · 10 s · about 40 s more" in bar.text(10)
