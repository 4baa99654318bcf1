"""The evidence page: its numbers are those that the benchmarks wrote, and every block of it has a maker."""

import json
import re
import sys
from pathlib import Path

import pytest

from bench import tiny_data, tiny_networks
from benchmarks import networks_asked
from benchmarks.__main__ import main
from benchmarks.algorithms import QUESTIONS
from benchmarks.worlds import QUESTIONS as QUESTIONS_OF_WORLDS

DOCS = Path(__file__).parents[2] / "docs"
MARK = re.compile(r"<!-- measured: ([a-z ]+) -->")


@pytest.fixture(scope="module")
def measured():
    sys.path.append(str(DOCS))
    try:
        import measured
    finally:
        sys.path.remove(str(DOCS))
    return measured


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of small results, each by its own command; the other tools' are made up."""
    home = tmp_path_factory.mktemp("results")
    data = tiny_data.write_folder(home / "data", seed=6)
    (home / "data" / "trees" / "tree0").rename(home / "data" / "trees" / "spambase")
    few = ["--data", str(data), "--rows", "6", "--paper-rows", "4"]
    for out in ("table", "learned"):
        assert main(["table", *few, "--limit", "20", "--jobs", "1", "--out", str(home / out)]) == 0
    parts = [word for part in ("benchmarks", "pass", "large") for word in ("--only", part)]
    assert main(["kernel", *few, *parts, "--large-nodes", "3000", "--json", str(home / "kernel.json")]) == 0
    numbers = json.loads((home / "kernel.json").read_text())
    numbers["growth"] = [{"what": "nodes", "nodes": 1001} | {q: {"mean": 1e-5} for q in QUESTIONS}]
    (home / "kernel.json").write_text(json.dumps(numbers))
    (home / "made.csv").write_text("x,class\n" + "".join(f"{x},{'yes' if x > 7 else 'no'}\n" for x in range(30)))
    widths = ["--benchmark", "spambase", "--learn-from", str(home / "made.csv")]
    assert main(["widths", *few[:4], *widths, "--only", "widths", "--json", str(home / "widths.json")]) == 0
    assert main(["worlds", "--data", str(data), "--rows", "3", "--json", str(home / "worlds.json")]) == 0
    (home / "advice.json").write_text(json.dumps(advice()))
    assert main(["circuits", "--most", "10000", "--json", str(home / "circuits.json")]) == 0
    few = ["--features", "8", "--rows", "20", "--limit", "0.1"]
    assert main(["additive", "--quick", *few, "--json", str(home / "additive.json")]) == 0
    (home / "audit.json").write_text(json.dumps(audit()))
    (home / "look.json").write_text(json.dumps(look()))
    (home / "ensembles.json").write_text(json.dumps(ensembles()))
    (home / "peers").mkdir()
    (home / "peers" / "peers.json").write_text(json.dumps({"results": list(answers()), "notes": []}))
    (home / "networks.json").write_text(json.dumps(grown()))
    tiny = tiny_networks.write_folder(home / "tiny", tiny_networks.random_network(seed=4)).parents[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(networks_asked.FEATURES, tiny_networks.NAME, 6)
        few = ["--benchmark", "networks", "--rows", "6", "--paper-rows", "4", "--jobs", "1"]
        assert main(["table", "--data", str(tiny), *few, "--out", str(home / "compiled")]) == 0
    return home


def grown():
    check = {"inputs": 9, "compared": 9, "ties": 0, "impossible": 0, "positive": 4, "differing": 0}
    made = {"seconds": 0.5, "peak": 2**26, "fault": None, "nodes": 321, "tested": 12, "messages": 7, "exact": 0}
    left = {"seconds": 60.0, "peak": 2**30, "fault": "time ran out: 60 seconds were not enough"}
    rivals = {"pyagrum": {"seconds": 5.0, "is_estimated": True}, "numpy": {"seconds": 0.05, "nodes": 321}}
    line = {"network": "andes", "target": "COMPO16", "features": 12, "quia": made | {"check": check}, **rivals}
    return {
        "limit": 60.0,
        "points": [line, line | {"features": 38, "quia": left, "numpy": {"fault": "it does not fit"}}],
    }


def audit():
    check = {"cpu": 2.5, "wall": 3.0, "limit": 300.0, "holds": 281, "not_checked": 14, "refuted": []}
    rules = [{"class": "yes", "rules": 6, "covered": 36_095, "of": 40_031}]
    line = {"name": "made", "rows": 48_842, "decided": 48_693, "cpu": 1.33, "wall": 60.5, "limit": 60.0, "check": check}
    line |= {"steps": {"rules": 0.754, "what hangs on protected features": 0.5}, "rules": rules, "hanging": []}
    return {"results": [line, line | {"limit": None, "rival": {"rows": [3, 4], "calls": 28, "cpu": 1.0}}]}


def look():
    row = {"explain": 0.05, "import": 0.02, "page": 0.075, "bytes": 250_000, "listed": [10, 10, 4]}
    row |= {"command explain": 0.4, "command report": 0.5}
    return {"table": "made", "repeat": 3, "results": [{"name": "made, J48", "nodes": 914, "rows": [row, row]}]}


def ensembles():
    line = {"name": "made", "features": 4, "trees": 50, "leaves": 1234, "rows": 7, "total": 0.07, "median": 0.01}
    line |= {"p90": 0.02, "max": 0.03, "length": 3.0, "minimal": 7, "checked": 6, "undecided": 1, "refuted": []}
    xreason = line | {"maxsat": 70.0, "smt": 700.0, "maxsat_length": 4.0, "shorter": 5, "longer": 1}
    xreason["shortest"] = {"median": 0.5, "max": 0.6, "finished": 6, "length": 2.0}
    one = line | {"limit": 10.0, "load": 0.1, "predict": 0.02}
    every = {"name": "made", "rows": 7, "complete": 5, "median": 0.4, "max": 0.9, "most": 3, "limit": 5.0}
    memory = {"leaves": 1_200_000, "load": 3.0, "before": 2**28, "explained": 2**29}
    rival = {"name": "made", "question": "one sufficient", "rows": 7, "own_median": 0.01, "other_median": 0.5}
    rival |= {"ratio": 50.0, "length": 3.0, "other_length": 4.0, "other_answered": 7, "wrong": 2, "wrong_by_votes": 0}
    rival |= {"not minimal": 1, "undecided": 0, "answered": 6}
    models = {"one": [one], "all": [every]}
    return {"xreason": [xreason], "models": models, "memory": memory, "peers": {"results": [rival], "notes": []}}


def advice():
    line = {"setting": "DiCE", "told": "little", "advice": 300, "impossible": 299, "partly": 0, "without": 0}
    line |= {"none_possible": 99, "length": 1.5, "seconds": 0.25, "shown": []}
    none = line | {"setting": "quia", "told": "all", "advice": 0, "impossible": 0, "length": None, "partly": 0}
    return {"people": 100, "person": {}, "results": [line, none], "trouble": None}


def answers():
    line = {"tree": "spambase", "asked": 8, "answered": 8, "whole": 8, "same_count": 8, "seconds": 0.004, "wall": 0.004}
    line |= {"count": 53.0, "length": 2.0, "kind": "sufficient", "checked": 50, "wrong": 0, "not_minimal": 0}
    for tool in ("quia", "XpGraph", "PyXAI"):
        for question in ("one sufficient", "all sufficient", "all necessary"):
            yield line | {"tool": tool, "question": question}
    yield line | {"tool": "PyXAI", "question": "count sufficient", "wall": 0.5, "whole": 6}
    for tool, question in (("SHAP", "top features"), ("SHAP", "all positive features"), ("Anchors", "one anchor")):
        yield line | {"tool": tool, "question": question, "wrong": 44, "not_minimal": 6}


def test_every_block_of_the_page_has_a_maker_and_the_other_way_round(measured):
    page = (DOCS / "evidence.md").read_text()
    assert MARK.findall(page) == list(measured.BLOCKS)
    assert page.count("<!-- end -->") == len(measured.BLOCKS)
    assert {source for source, _ in measured.BLOCKS.values()} == set(measured.COMMANDS)


def test_the_page_has_the_numbers_of_the_results(measured, results, tmp_path):
    (tmp_path / "pictures" / "measured").mkdir(parents=True)
    page = tmp_path / "page.md"
    page.write_text(
        "".join(f"{name}:\n<!-- measured: {name} -->\nas it was\n<!-- end -->\n" for name in measured.BLOCKS)
    )
    measured.main([str(results), "--page", str(page)])
    text = page.read_text()
    assert "as it was" not in text and MARK.findall(text) == list(measured.BLOCKS)
    assert "18 instances by the kernel, 12 of them by `paper.py` too" in text
    assert "| made, J48 | 914 | 400 ms | 500 ms | 1.25 | 50 ms | 20 ms | 75 ms | 1.50 | 250 kB |" in text
    assert "48 answers that both finish are equal, set by set; none differs." in text
    numbers = json.loads((results / "kernel.json").read_text())
    ratio = measured.ratio_means(numbers["benchmarks"], "SSR")["all"]["ratio_batch"]
    assert re.search(rf"\| all \| [^|]+\| {re.escape(measured._times(ratio))} \|", text)
    assert "| 2 trees |" in text and "| 1 graphs |" in text
    assert "| 1,001 | 10 µs |" in text and "such passes over a graph" in text and "⊤ and ⊥" in text
    wide = json.loads((results / "widths.json").read_text())["widths"]
    assert f"| spambase, J48 | {wide[0]['nodes']:,} | 1 → {measured._rounded(wide[0]['width_mean'])} |" in text
    assert f"Of {sum(r['checked'] for r in wide):,} reasons and regions, all that are shown, none failed" in " ".join(
        text.split()
    )
    words = " ".join(text.split())
    tied = json.loads((results / "worlds.json").read_text())["trees"]
    asked = [*(tied[0]["questions"][question] for question in QUESTIONS_OF_WORLDS), tied[0]["total"], tied[0]["new"]]
    ratios = [each["ratio"] for each in asked]
    assert f"| {' | '.join(f'{ratio:.1f}' for ratio in ratios)} |" in text
    assert (
        f"| {tied[0]['all']['advice']} → {tied[0]['possible']['advice']} |" in text
        and "With constraints none is" in words
    )
    assert "| DiCE | little | 300 | 99 % | 1.5 | 250 ms | 99 of 100 |" in text and "| quia | all | 0 | – | – |" in text
    assert "| made | 4 | 50 | 7 | 10 ms | 30 ms | 10 s | 100 s | 3.0 | 4.0 |" in text
    assert "All 7 instances together: 70 ms of CPU here, 70 s by MaxSAT" in words and "1,000 and 10,000 times" in words
    assert "confirms 6, refutes none and leaves 1 undecided" in words and "in time for 6 of 7 instances" in words
    assert "| made | 1,234 | 10 ms | 20 ms | 30 ms | 3.0 | 7 of 7 in 10 s | 0.5× |" in text
    assert "5 of 7 rows complete in 5 s, 400 ms" in words and "1,200,000 leaves is loaded in 3 s" in words
    assert "| made | one sufficient reason | 10 ms, 6 of 7 | 500 ms | 50× | 3.0 | 4.0 | 2 of 7 | 0 |" in text
    assert re.search(r"\| rules +\| +754 ms \|", text) and "It took 60.5 s, with a limit of 60 s." in words
    assert "6 rules cover 36,095 of 40,031 rows that are decided yes" in words and "in 1 s of CPU, 2× the" in words
    assert "281 claims hold, 0 are refuted, 14 not checked" in words
    assert "on 16 of the 16 answers that it finishes" in text
    assert "4 ms (500 ms wall), 6 of 8" in text and "88 % do not force the decision, 12 % are more than needed" in text
    assert "| andes, COMPO16 |       12 |     12 |   321 |        7 |     0 | 500 ms |      64 MiB |" in text
    assert "one by one takes this many times the time of compiling: 10× with up to 16 features (10× to 10×)." in words
    assert "Not finished: andes, COMPO16, 38 features: not compiled, time ran out" in words
    assert (
        re.search(r"\| win95pts_PrtMem_6 \| 6 \| \d+ \| .* MiB \|", text)
        and "16 answers are equal and 0 differ" in words
    )
    pictures = {file.name for file in (tmp_path / "pictures" / "measured").iterdir()}
    assert pictures == {*measured.PICTURES, measured.NETWORKS_PICTURE}
    measured.main([str(results), "--page", str(page)])
    assert page.read_text() == text


def test_a_block_without_results_stays_as_it_is(measured, tmp_path):
    page = "<!-- measured: growth -->\nas it was\n<!-- end -->\n"
    assert measured.written(page, tmp_path) == page


def test_what_is_run_is_what_the_commands_take(measured, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(measured.subprocess, "run", lambda command, **_: ran.append(command))
    (tmp_path / "circuits.json").write_text("[]")
    measured.run(tmp_path, "somewhere")
    assert [command[3] for command in ran] == [
        "table",
        "table",
        "kernel",
        "widths",
        "worlds",
        "worlds",
        "ensembles",
        "additive",
        "networks",
        "table",
        "audit",
        "look",
        "peers",
    ]  # no circuits
    for command in ran:
        with pytest.raises(SystemExit, match="0"):
            main([*command[3:], "--help"])
