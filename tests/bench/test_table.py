"""The table: its numbers are the oracle's, its shape is the paper's, and a killed run ends as an undisturbed one."""

import csv
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import oracle
from bench import tiny_data
from benchmarks import models, report, summary
from benchmarks.__main__ import main
from benchmarks.algorithms import QUESTIONS
from benchmarks.printed import INSTANCES, names, printed
from quia.errors import Unsupported

ROOT = Path(__file__).parents[2]


def table(data: Path, out: Path, *more: str) -> list[str]:
    return ["table", "--data", str(data), "--out", str(out), "--limit", "20", "--jobs", "1", *more]


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def without_times(file: Path) -> list[dict[str, str]]:
    return [
        {k: v for k, v in row.items() if not k.startswith("time") and not k.endswith(("_kernel", "_paper", "_listed"))}
        for row in rows_of(file)
    ]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A small folder, measured once without being disturbed."""
    home = tmp_path_factory.mktemp("table")
    data = tiny_data.write_folder(home / "data", seed=1)
    assert main(table(data, home / "out", "--rows", "30")) == 0
    return home


def test_counts_are_the_oracles(measured):
    for benchmark in models.find(measured / "data"):
        loaded = models.read(benchmark)
        graph = loaded.classifier.to_dict()
        rows = [r for r in rows_of(measured / "out" / "instances.csv") if r["benchmark"] == benchmark.name]
        assert len(rows) == 30
        for row in random.Random(benchmark.name).sample(rows, 6):
            instance = {
                v.name: v.labels[s] if v.labels else representative(v, s)
                for v, s in zip(loaded.classifier.variables, loaded.states[int(row["row"])].tolist())
                if s >= 0
            }
            sufficient = oracle.sufficient_reasons(graph, instance)
            necessary = oracle.necessary_reasons(graph, instance)
            expected = [sufficient, oracle.shortest(sufficient), necessary, oracle.shortest(necessary)]
            for question, reasons in zip(QUESTIONS, expected, strict=True):
                assert int(row[f"{question}_count"]) == int(row[f"{question}_paper_count"]) == len(reasons)


def representative(variable, state):
    """A number in a state of a numeric variable whose cuts are whole numbers."""
    return variable.cuts[state].threshold if state < len(variable.cuts) else variable.cuts[-1].threshold + 1


def test_rows_that_lack_a_value_are_explained_or_refused_and_counted(tmp_path, capsys):
    data = tiny_data.write_folder(tmp_path / "data", seed=1, graphs=0)
    file = data / "trees" / "tree0" / "rows.csv.gz"
    columns, rows = models.table(file)
    draw = random.Random(5)
    holes = [[value if draw.random() > 0.3 or k == 6 else "?" for k, value in enumerate(row)] for row in rows]
    lines = [",".join(row) for row in [columns, *holes]]
    file.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    tree = next(b for b in models.find(data) if b.name == "tree0")
    loaded = models.read(tree)
    graph, tested = loaded.classifier.to_dict(), [loaded.classifier.variables[v].name for v in loaded.classifier.tested]
    known = [{name: value for name, value in zip(columns, row) if name in tested and value != "?"} for row in holes]
    decided = [row for row in known if oracle.decision(graph, row) is not None]
    partial = [row for row in decided if len(row) < len(tested)]
    assert len(decided) == len(loaded.states) and len(partial) > 5 and len(known) - len(decided) > 5
    assert main(table(data, tmp_path / "out", "--benchmark", "tree0")) == 0
    whole = capsys.readouterr().out.partition("## All instances")[2]
    cells = next(line for line in whole.splitlines() if line.startswith("| tree0")).split("|")
    refused = len(known) - len(decided)
    assert [cell.strip() for cell in cells[2:5]] == [str(len(decided)), str(len(partial) + refused), str(refused)]
    measured = rows_of(tmp_path / "out" / "instances.csv")
    assert [int(row["unknown"]) for row in measured] == [len(tested) - len(row) for row in decided]
    for row, instance in zip(measured, decided, strict=True):
        reasons = oracle.sufficient_reasons(graph, instance), oracle.necessary_reasons(graph, instance)
        assert [int(row["SR_count"]), int(row["NR_count"])] == [len(found) for found in reasons]
        assert row["SR_count"] == row["SR_paper_count"] and row["NR_count"] == row["NR_paper_count"]


def test_the_table_has_every_engine_and_question_and_they_agree(measured):
    rows = rows_of(measured / "out" / "table.csv")
    assert len(rows) == 3 * 2 * 4  # three benchmarks, two engines, four questions; none of them is the paper's
    by_engine = {
        engine: {
            (r["benchmark"], r["question"]): [r[f"count_{k}"] for k in ("mean", "stdev", "median", "max")]
            for r in rows
            if r["engine"] == engine
        }
        for engine in ("paper.py", "kernel")
    }
    assert by_engine["paper.py"] == by_engine["kernel"] and len(by_engine["kernel"]) == 12
    assert {r["unfinished"] for r in rows} == {"0"} and {r["averaged"] for r in rows} == {"30"}
    assert {r["benchmark"] for r in rows if r["stand_in"] == "True"} == {"graph0"}
    text = (measured / "out" / "table.md").read_text()
    assert "360 equal, 0 different" in text and "graph0 (stand-in)" in text and "math-skills" in text


def test_the_parquet_file_has_the_same_numbers(measured):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(measured / "out" / "instances.parquet").to_pylist()
    assert [[r["benchmark"], int(r["SR_count"])] for r in rows] == [
        [r["benchmark"], int(r["SR_count"])] for r in rows_of(measured / "out" / "instances.csv")
    ]


def test_the_page_stands_alone_and_draws_what_was_measured(measured):
    page = (measured / "out" / "report.html").read_text()
    assert "<script" not in page and "src=" not in page and "@import" not in page
    assert "default-src &#39;none&#39;" in page
    drawings = [ET.fromstring(part.split("</svg>")[0] + "</svg>") for part in _after_each(page, "<svg")]
    assert len(drawings) == 3
    cactus, scatter, distributions = drawings
    assert len(cactus.findall("polyline")) == 4 * 2
    assert sum(len(group) for group in scatter.findall("g")) > 100
    assert len(distributions.findall("rect[@class='all']")) == 3 * 2 + 1  # the legend's is one of them
    names = ("cactus.svg", "scatter.svg", "counts.svg")
    drawings += [ET.fromstring((measured / "out" / name).read_text()) for name in names]
    for drawing in drawings:
        _, _, width, height = map(float, drawing.attrib["viewBox"].split())
        texts = drawing.findall(".//{*}text")
        assert texts
        for text in texts:
            assert 0 <= float(text.attrib["x"]) <= width and 0 <= float(text.attrib["y"]) <= height


def _after_each(text, mark):
    return [mark + part for part in text.split(mark)[1:]]


KILLED = """
import os, pathlib, signal, sys
from benchmarks.store import Store
from benchmarks.__main__ import main

def add(store, record, add=Store.add):
    add(store, record)
    if len(store.records) == int(sys.argv[1]):
        children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
        os.write(real_output, children.read_bytes() if children.exists() else b"")
        os.kill(os.getpid(), signal.SIGKILL)

Store.add = add
real_output = os.dup(1)
os.dup2(2, 1)
main(sys.argv[2:])
"""
"""Runs a command that kills itself as soon as it has so many records, and says which processes it leaves behind."""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9: run it on Linux or macOS")
def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(measured, tmp_path):
    asked = table(measured / "data", tmp_path / "out", "--rows", "30")
    records = tmp_path / "out" / "records.jsonl"
    draw = random.Random(5)
    seen = b""
    for target in (4, 20, 55):
        command = [sys.executable, "-c", KILLED, str(target), *asked]
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        _wait_until_gone([int(child) for child in killed.stdout.split()])
        now = records.read_bytes()
        assert now.startswith(seen)  # what was measured is not measured again
        assert now.count(b"\n") == target
        seen = now[: now.rfind(b"\n") + 1]
        with records.open("ab") as stream:  # as if it had been killed while writing
            stream.write(b'{"benchmark": "tree0", "what": "inst'[: draw.randrange(1, 30)])
    command = [sys.executable, "-m", "benchmarks", *asked]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    assert subprocess.run(command, cwd=ROOT, **quiet).returncode == 0
    assert records.read_bytes().startswith(seen)
    for file in ("table.csv", "instances.csv"):
        assert without_times(tmp_path / "out" / file) == without_times(measured / "out" / file)
    keys = [(r["benchmark"], r["what"], r.get("row")) for r in map(json.loads, records.read_text().splitlines())]
    assert len(keys) == len(set(keys)) == 3 * (1 + 30 + 1)


def _wait_until_gone(pids):
    """The killed run's processes end by themselves."""
    deadline = time.monotonic() + 600
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker outlived the run"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_results_of_another_plan_are_not_mixed(measured, capsys):
    assert main(table(measured / "data", measured / "out", "--rows", "29")) == 2
    assert "rows was 30 and is 29" in capsys.readouterr().err


def test_averages_are_over_the_instances_that_both_of_a_pair_finish():
    def record(row, sr, ssr):
        paper = {"SR": [sr, 1.0 + row], "SSR": [ssr, 2.0], "NR": [3, 1.0], "SNR": [1, 1.0]}
        kernel = {q: [c or 7, 0.5, 0.5] for q, (c, _) in paper.items()}
        return {"benchmark": "b", "what": "instance", "row": row, "paper": paper, "kernel": kernel} | {
            "differ": [],
            "complete_reason": 0.1,
        }

    about = {"benchmark": "b", "what": "about", "nodes": 3}
    made = summary.summarise([about, record(0, 5, 2), record(1, None, 4), record(2, 11, 2)], {"b": "tree"})[0]
    assert made["paper"]["SSR"]["count"]["mean"] == 2  # the row on which SR did not finish counts for neither
    assert made["paper"]["SR"]["count"]["mean"] == 8 and made["paper"]["SR"]["time"]["mean"] == 2
    assert made["paper"]["SR"]["unfinished"] == 1 and made["paper"]["NR"]["averaged"] == 3
    assert made["kernel"]["SR"]["unfinished"] == 0 and made["kernel"]["SR"]["every_count"]["max"] == 11
    assert made["kernel"]["SR"]["ratio"] == pytest.approx((1 + 3) / 1.0)


def test_an_answer_that_the_kernel_only_counted_is_in_no_ratio():
    answer = {"NR": [3, 1.0], "SNR": [1, 1.0], "SSR": [1, 2.0]}
    counted = {"SR": [10**6, 0.001, None]} | {q: [c, 0.5, 0.5] for q, (c, _) in answer.items()}
    listed = counted | {"SR": [5, 0.001, 0.5]}
    records = [{"benchmark": "b", "what": "about", "nodes": 3}]
    for row, kernel in enumerate((counted, listed)):
        paper = {"SR": [kernel["SR"][0], 50.0 - 48 * row]} | answer
        record = {"benchmark": "b", "what": "instance", "row": row, "paper": paper, "kernel": kernel}
        records.append(record | {"differ": [], "complete_reason": 0.1})
    made = summary.summarise(records, {"b": "tree"})[0]
    assert made["kernel"]["SR"]["ratio"] == pytest.approx(2.0 / 0.5)


@pytest.mark.parametrize("has_alarm", [True, False])
def test_the_table_says_by_which_clock_and_what_is_not_comparable(has_alarm, monkeypatch):
    monkeypatch.setattr(report, "by_cpu", lambda: has_alarm)
    names = {"compas": "tree", "spambase": "tree", "n_robdd": "graph", "n_quasi": "graph", "m_robdd": "graph"}
    summaries = [{"name": n, "kind": k, "partial": 0, "left_out": 0} for n, k in names.items()]
    read = "\n".join(report.how_to_read({"paper_limit": 2.0}, summaries))
    assert ("2 s of CPU for paper.py" if has_alarm else "2 s by the clock on the wall for paper.py") in read
    assert "compas was rebuilt" in read and "gisette_like" not in read
    assert "n_robdd and n_quasi are one function" in read and "m_robdd" not in read


def test_the_papers_figures_add_up_as_the_paper_says():
    unfinished = {q: sum(printed(name)[q][2] for name in names()) for q in QUESTIONS}
    assert len(names()) == 15 and INSTANCES == 13_963
    assert unfinished == {"SR": 2222, "SSR": 37, "NR": 19, "SNR": 0}


def test_real_trees_have_counts_in_the_papers_range(shared_data):
    """The paper has nomao 38.6, isolet 17.7 and spambase 16.9; the spambase tree here is a tenth larger."""
    from benchmarks.algorithms import BATCH

    expected = {"nomao": (35, 44), "isolet": (16, 22), "spambase": (14, 26)}
    for benchmark in models.find(shared_data, list(expected)):
        loaded = models.read(benchmark)
        found = loaded.classifier.kernel.batch(loaded.states.clip(0), **BATCH["NR"])
        low, high = expected[benchmark.name]
        assert low < found["count_necessary"]["count"].mean() < high


def test_generated_classifiers_where_no_data_are(tmp_path, monkeypatch, capsys):
    """Whoever has only this project can still run it."""
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    command = ["table", "--quick", "--rows", "4", "--paper-rows", "2", "--paper-limit", "0.3", "--jobs", "1"]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "generated classifiers are measured" in said.err
    assert "J48" not in said.out and "stand-in" not in said.out
    rows = rows_of(home / "quia-bench" / "instances.csv")
    assert len(rows) == 12 and len({row["benchmark"] for row in rows}) == 3
    assert main([*command, "--benchmark", "generated tree, 301 nodes", "--out", "one"]) == 0
    assert len(rows_of(home / "one" / "instances.csv")) == 4


def test_an_empty_folder_is_told(tmp_path):
    with pytest.raises(Unsupported, match=r"has no trees/\*/tree\.j48\.txt"):
        models.find(tmp_path)
    tiny_data.write_folder(tmp_path, 2)
    with pytest.raises(Unsupported, match="there is no benchmark 'tree7'"):
        models.find(tmp_path, ["tree7"])
    assert [b.name for b in models.find(tmp_path, ["graphs", "tree1"])] == ["tree1", "graph0"]
    assert report.machine()
