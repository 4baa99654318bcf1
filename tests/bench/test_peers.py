"""Peers: the tree they get is ours, their answers are checked, and one that fails costs only its own column."""

import json
import random
import signal
import sys
from pathlib import Path

import pytest

import quia
from benchmarks import generate, models, peer_tree, peers
from benchmarks.peer import runner


def subject(seed=1, features=8):
    graph = generate.tree(101, features, classes=3, seed=seed)
    names = [graph.variables[v].name for v in graph.tested]
    draw = random.Random(seed)
    # Values on the cuts and beside them: the cuts are the whole numbers from 0 to 14.
    instances = [
        {v.name: draw.choice([-1, *range(15), 15]) + draw.choice([0, 0.5]) for v in graph.variables} for _ in range(40)
    ]
    background = [[i[n] for n in names] for i in instances]
    return peer_tree.Subject("generated", graph, names, peer_tree.two_way(graph), instances, background)


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_that_peers_get_decides_as_ours(seed):
    it = subject(seed)
    job = it.job(1.0)
    for instance, row in zip(it.instances, job["rows"], strict=True):
        assert it.classifier.classes[runner.decide(it.tree, row)] == it.classifier.classify(instance)
    assert all(
        node < left and node < right
        for node, (left, right, v) in enumerate(zip(it.tree["left"], it.tree["right"], it.tree["variable"]))
        if v >= 0
    )
    assert min(job["shortest"]) >= 1


@pytest.mark.parametrize("seed", range(3))
def test_many_rows_at_once_are_decided_as_one_by_one(seed):
    it = subject(seed)
    rows = it.job(1.0)["rows"]
    assert runner.decider(it.tree)(rows).tolist() == [runner.decide(it.tree, row) for row in rows]
    assert runner.decider(it.tree)(rows[:0]).tolist() == []


def test_trees_with_other_tests_are_left_out(examples):
    assert peer_tree.two_way(quia.load(examples / "admissions.json")) is None
    assert peer_tree.two_way(generate.threshold_graph(200, 8)) is None


def test_wrong_answers_are_found():
    it = subject()
    explained = quia.explain(it.classifier, it.instances[0])
    reason = [it.features.index(f) for f in next(iter(explained.sufficient_reasons(shortest=True))).features]
    necessary = [it.features.index(f) for f in next(iter(explained.necessary_reasons())).features]
    more = next(k for k in range(len(it.features)) if k not in reason)
    assert it.check(0, reason, "sufficient") == "right"
    assert it.check(0, reason[1:], "sufficient") == "wrong"
    assert it.check(0, [*reason, more], "sufficient") == "not minimal"
    assert it.check(0, necessary, "necessary") == "right" and it.check(0, [], "necessary") == "wrong"
    answers = [
        {"row": 0, "question": "all sufficient", "count": 3, "whole": True, "seconds": 1.0, "wall": 2.0}
        | {"reasons": [reason, reason[1:], [*reason, more]]},
        {
            "row": 1,
            "question": "all sufficient",
            "count": None,
            "whole": False,
            "seconds": 9.0,
            "wall": 9.0,
            "reasons": [],
        },
    ]
    (line,) = peers.summaries(it, "somebody", answers, [])
    assert (line["checked"], line["wrong"], line["not_minimal"]) == (3, 1, 1)
    assert (line["asked"], line["answered"], line["whole"], line["seconds"]) == (2, 1, 1, 1.0)
    text = peers.markdown([line], ["somebody is not here"], 10)
    assert "33 %" in text and "somebody is not here" in text


def test_our_own_answers_are_right_and_minimal():
    it = subject(2)
    answers = list(peers.own_answers(it, 10.0))
    lines = peers.summaries(it, "quia", answers, answers)
    assert {line["question"] for line in lines} == {
        "one sufficient",
        "all sufficient",
        "count sufficient",
        "shortest sufficient",
        "all necessary",
    }
    for line in lines:
        assert line["checked"] or line["question"] == "count sufficient"
        assert not line["wrong"] and not line["not_minimal"] and line["answered"] == 40


def test_only_the_tools_own_work_is_in_its_time(monkeypatch):
    clock = {"now": 0.0}

    def takes(seconds, result):
        def work(given):
            clock["now"] += seconds
            return result

        return work

    for name in ("process_time", "perf_counter"):
        monkeypatch.setattr(runner.time, name, lambda: clock["now"])
    answer = {"count": 1, "reasons": [[2, 1, 2]], "whole": True}
    found = runner._timed(runner.Steps(takes(7, "raw"), takes(100, "given"), takes(1000, dict(answer))), [0.5], 60)
    assert found == {"count": 1, "reasons": [[1, 2]], "whole": True, "seconds": 7, "wall": 7}
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_peer_runs_apart_and_its_hangs_and_faults_are_told(tmp_path):
    it = subject(3)
    it = peer_tree.Subject(it.name, it.classifier, it.features, it.tree, it.instances[:3], it.background)
    folder = tmp_path / "peer"
    folder.mkdir()
    (folder / "runner.py").write_text(Path(runner.__file__).read_text())
    (folder / "odd_peer.py").write_text(
        "from runner import Steps\n"
        "def prepare(job):\n"
        "    seen = []\n"
        "    def ask(row):\n"
        "        seen.append(row)\n"
        "        if row == job['rows'][1]:\n"
        "            while True: pass\n"
        "        if row == job['rows'][2]: raise ValueError('no')\n"
        "        return [0, 0, 1]\n"
        "    def told(found):\n"
        "        return {'count': len(seen), 'reasons': [found], 'whole': True}\n"
        "    return {'one sufficient': Steps(ask, told=told)}\n"
    )
    job, out = tmp_path / "job.json", tmp_path / "out.jsonl"
    job.write_text(json.dumps(it.job(2.0)))
    import subprocess

    done = subprocess.run([sys.executable, str(folder / "runner.py"), "odd", str(job), str(out)], capture_output=True)
    assert done.returncode == 0, done.stderr
    first, hung, faulty = map(json.loads, out.read_text().splitlines())
    assert first["count"] == 2  # it was asked once before, so that its start is not in its time
    assert first["reasons"] == [[0, 1]] and hung["count"] is None and faulty["fault"] == "ValueError: no"
    answers, fault = peers.ask(Path(sys.executable), "nobody", it, 1.0, tmp_path)
    assert answers == [] and "nobody_peer" in fault


def test_real_numeric_trees_are_taken_and_nominal_ones_not(shared_data):
    spambase, adult = (models.find(shared_data, [name])[0] for name in ("spambase", "adult"))
    it = peer_tree.subject(spambase, str(shared_data), 3)
    assert len(it.instances) == 3 and len(it.background) == 1000 and len(it.tree["variable"]) == 209
    assert peer_tree.subject(adult, str(shared_data), 3) is None
