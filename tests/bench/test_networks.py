"""The benchmark of Bayesian networks: its graphs are the oracle's, its rivals decide alike, what differs is told."""

import gzip
import json
import os
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from random import Random

import numpy as np
import pytest

import network_oracle
from bench import tiny_networks
from bench.tiny_networks import NAME, STATES, TARGET
from benchmarks import networks, networks_asked, networks_once, networks_rivals, networks_table
from benchmarks.__main__ import main
from benchmarks.networks_asked import TARGETS, Asked, most_leaves_below, nearest_leaves, read
from benchmarks.networks_once import agreement, drawn, once
from quia.compile.classifier import network_as_graph
from quia.errors import Unsupported

if find_spec("pyagrum") is None:
    pytest.skip("pyAgrum is not installed: pip install pyagrum", allow_module_level=True)

HALF = Fraction(1, 2)


@pytest.fixture
def tiny(tmp_path):
    """A network of seven leaves: as the oracle has it, and its file."""
    net = tiny_networks.random_network(seed=4)
    return net, tiny_networks.write_folder(tmp_path / "data", net)


def asked_of(file, features=6):
    return Asked(file, NAME, TARGET, features)


# ---- what is asked ----------------------------------------------------------------------------------------------


def test_targets_are_chosen_by_their_rules(shared_data):
    graphs = " ".join(file.name for file in (shared_data / "graphs").glob("*.odd.gz"))
    for name, targets in TARGETS.items():
        chosen = [target for target in targets if f"{name}_{target}_n" not in graphs]
        network = read(shared_data / "networks" / f"{name}.bif.gz")
        most = most_leaves_below(network)
        assert most in targets and chosen in ([most], []), "of an earlier graph, or by the number of leaves below"
        assert not network.nodes[network.place(most)].parents


def test_most_leaves_below_by_hand(tiny):
    net, file = tiny
    parents = {leaf: set(net[leaf].parents) for leaf in network_oracle.leaves(net, TARGET)}
    counts = {name: sum(name in of for of in parents.values()) for name in net if not net[name].parents}
    assert counts[most_leaves_below(read(file))] == max(counts.values())


def test_features_are_the_nearest_leaves(tiny):
    net, file = tiny
    found = nearest_leaves(read(file), TARGET)
    beside = [leaf for leaf in net if TARGET in net[leaf].parents]
    assert found[: len(beside)] == beside and found[-1] == "leaf6", "what is not connected is last"
    assert sorted(found) == sorted(network_oracle.leaves(net, TARGET))
    with pytest.raises(Unsupported, match="has 7 leaves beside PrtMem, fewer than 8"):
        networks_asked.features_of(read(file), asked_of(file, 8))


# ---- a graph ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_the_oracles_and_the_rivals_decide_alike(seed, tmp_path):
    net = tiny_networks.random_network(seed)
    asked = asked_of(tiny_networks.write_folder(tmp_path, net))
    file = tmp_path / "graph.json"
    ours = once("quia", asked, limit=60, graph=file, samples=200)
    features = networks_asked.features_of(read(asked.file), asked)
    table = network_oracle.at_least(net, TARGET, features, HALF, STATES[-1])
    assert ours["fault"] is None and ours["tested"] == len(
        network_oracle.matters(table, {x: net[x].states for x in features})
    )
    assert ours["messages"] > 0 and ours["exact"] == 0, "no tie, and no message of a hundred is almost another"
    graph = networks_once._read_graph(str(file))
    order = networks_rivals.order_of(graph)
    order += [x for x in features if x not in order]
    assert ours["nodes"] == network_oracle.size_of(table, {x: net[x].states for x in features}, order)
    assert ours["check"] | {"positive": 0} == {
        "inputs": 200,
        "compared": 200,
        "ties": 0,
        "impossible": 0,
        "positive": 0,
        "differing": 0,
    }
    by_library = once("pyagrum", asked, limit=60, whole=6, graph=file)
    by_array = once("numpy", asked, limit=60, graph=file)
    assert by_library["inputs"] == 64 and not by_library["is_estimated"]
    assert by_library["check"] == by_array["check"] == {"inputs": 64, "compared": 64, "ties": 0, "differing": 0}
    assert by_array["nodes"] == ours["nodes"]


def test_the_rivals_leave_out_what_is_not_connected(tiny, tmp_path):
    _, file = tiny
    graph = tmp_path / "graph.json"
    assert once("quia", asked_of(file, 7), limit=60, graph=graph, samples=0)["fault"] is None
    for rival in ("pyagrum", "numpy"):
        check = once(rival, asked_of(file, 7), limit=60, whole=6, graph=graph)["check"]
        assert check == {"inputs": 64, "compared": 64, "ties": 0, "differing": 0}, "of seven features one is apart"


def test_of_many_features_the_first_inputs_are_timed_and_the_rest_estimated(tiny, monkeypatch):
    _, file = tiny
    monkeypatch.setattr(networks_rivals, "_SAMPLED", 3)
    library = FakeLibrary(6)
    monkeypatch.setattr(networks_rivals, "Library", lambda *_: library)
    found, decisions = networks_rivals.by_pyagrum(asked_of(file), 60, 5, None)
    assert decisions is None and found["is_estimated"] and found["inputs"] == 8
    assert found["seconds"] == pytest.approx(found["each"] * 64)


def test_a_graph_that_is_wrong_is_told(tiny):
    _, file = tiny
    network, asked = read(file), asked_of(file)
    features = networks_asked.features_of(network, asked)
    graph = network_as_graph(network, TARGET, features=features, threshold=0.5, positive="b")
    other = network_as_graph(network, TARGET, features=features, threshold=0.6, positive="b")
    decisions, _ = networks_rivals.by_numpy(asked, 60, 0, graph)[::-1]
    assert networks_rivals.compared(graph, asked, decisions)["differing"] == 0
    rows = np.array(list(np.ndindex((2,) * 6)), np.int32)
    places = [features.index(variable.name) for variable in graph.variables]
    by_both = [np.asarray(each.kernel.classify(np.ascontiguousarray(rows[:, places]))) for each in (graph, other)]
    wrong = int((by_both[0] != by_both[1]).sum())
    assert wrong > 0 and networks_rivals.compared(other, asked, decisions)["differing"] == wrong
    assert networks_once.checked(other, asked, 400)["differing"] > 0


def test_ties_and_impossible_inputs_are_counted_apart():
    posteriors = np.array([0.5 + 1e-10, 0.5 - 1e-10, 0.2, 0.9, np.nan, 0.7])
    found = agreement(np.array([0, 1, 0, 1, 0, 0]), posteriors)
    assert found == {"inputs": 6, "compared": 3, "ties": 2, "impossible": 1, "positive": 1, "differing": 1}
    assert networks_rivals.decided(posteriors).tolist() == [-1, -1, 0, 1, -1, 1]


def test_an_impossible_input_is_no_wrong_answer(tmp_path):
    net = tiny_networks.random_network(seed=1)
    for leaf in ("leaf0", "leaf1"):  # both are what the class is
        net[leaf] = network_oracle.Variable(STATES, (TARGET,), (("1", "0"), ("0", "1")))
    asked = asked_of(tiny_networks.write_folder(tmp_path, net))
    file = tmp_path / "graph.json"
    ours = once("quia", asked, limit=60, graph=file, samples=200)
    assert ours["check"]["impossible"] > 0 and ours["check"]["differing"] == 0
    by_array = once("numpy", asked, limit=60, graph=file)
    assert by_array["check"] == {"inputs": 64, "compared": 32, "ties": 32, "differing": 0}
    assert once("pyagrum", asked, limit=60, whole=6, graph=file) == {"fault": "an input is impossible"}


def test_inputs_are_drawn_as_the_network_makes_them_and_evenly(tiny):
    net, file = tiny
    network = read(file)
    rows = drawn(network, ["leaf6", "leaf0"], 4000)
    of = network_oracle.scores(net, TARGET, ["leaf6"])
    share = float(sum(of["b",]))
    assert abs(rows[:2000, 0].mean() - share) < 0.05 and abs(rows[2000:].mean() - 0.5) < 0.05


def test_limits_hold_and_are_told(tiny, tmp_path):
    _, file = tiny
    found = once("quia", asked_of(file), limit=1e-9)
    assert "time ran out" in found["fault"] and "nodes" not in found and found["peak"] >= found["before"] > 2**20
    assert networks_once.peak_of(0) == 0 < networks_once.peak_of(os.getpid())
    assert once("numpy", replace(asked_of(file), target="nothing"), limit=60)["fault"]
    large = tiny_networks.write_folder(tmp_path, tiny_networks.random_network(seed=5, leaves=26))
    assert once("numpy", asked_of(large, 25), limit=600, memory=3 << 28)["fault"].startswith("it does not fit")


def test_a_process_is_ended_after_its_cpu_seconds(tiny, monkeypatch):
    _, file = tiny
    work = "from benchmarks.networks_once import cpu_capped\nwith cpu_capped(0.1):\n  while True: pass"
    monkeypatch.setattr(networks_once, "COMMAND", [sys.executable, "-c", work])
    found = once("quia", asked_of(file), limit=7)
    assert found["fault"] == "time ran out: 7 seconds of CPU were not enough" and found["seconds"] == 7
    assert found["peak"] > 2**20


# ---- the rivals -------------------------------------------------------------------------------------------------


class FakeLibrary(networks_rivals.Library):
    """Counts what is asked of the library; a posterior says which input it is of."""

    impossible = ZeroDivisionError

    def __init__(self, features):
        self.features, self.target, self.last = [f"x{n}" for n in range(features)], "t", 0
        self.inference, self.asked, self.states = self, [], [0] * features

    def chgEvidence(self, name, state):
        self.asked.append(("evidence", name))
        self.states[self.features.index(name)] = state

    def makeInference(self):
        self.asked.append(("inference",))

    def posterior(self, target):
        self.asked.append(("posterior",))
        return [sum(state << n for n, state in enumerate(self.states))]


def test_one_by_one_changes_one_feature_from_an_input_to_the_next_and_does_nothing_else(monkeypatch):
    library = FakeLibrary(4)
    monkeypatch.setattr(networks_rivals, "time", None)  # no clock
    assert library.enumerated(4).tolist() == list(range(16)), "all inputs, each at its place"
    assert library.asked[:2] == [("inference",), ("posterior",)] and len(library.asked) == 2 + 3 * 15
    rounds = [library.asked[at : at + 3] for at in range(2, len(library.asked), 3)]
    assert all([kind for kind, *_ in each] == ["evidence", "inference", "posterior"] for each in rounds)
    assert [each[0][1] for each in rounds].count("x0") == 8, "the nearest one changes most often"


@pytest.mark.parametrize("count", range(11))
def test_a_truth_table_is_reduced_to_as_many_nodes_as_the_oracles(count):
    rng = Random(count)
    for _ in range(3):
        share = rng.choice((0.05, 0.5, 1))
        labels = [rng.random() < share for _ in range(2**count)]
        order = [f"x{n}" for n in range(count)]
        inputs = network_oracle.product(*("01" for _ in order))
        table = {e: str(label) for e, label in zip(inputs, labels, strict=True)}
        found = networks_rivals.reduced_nodes(np.array(labels))
        assert found == network_oracle.size_of(table, dict.fromkeys(order, ("0", "1")), order)


def test_the_joint_probability_is_the_oracles(tiny):
    net, file = tiny
    network = read(file)
    names = [TARGET, "leaf3", "leaf0", "cause_2"]
    places = [network.place(name) for name in names]
    found = networks_rivals.joint(networks_rivals.factors_of(network, places), places)
    expected = network_oracle.scores(net, TARGET, names[1:])
    for e, scores in expected.items():
        at = tuple(STATES.index(state) for state in e)
        assert found[(slice(None), *at)] == pytest.approx([float(score) for score in scores])


def test_an_array_that_does_not_fit_is_not_made(tiny, monkeypatch):
    _, file = tiny
    monkeypatch.setattr(networks_rivals, "_MOST_CELLS", 32)
    found, decisions = networks_rivals.by_numpy(asked_of(file), 60, 0, None)
    assert decisions is None and found["fault"].startswith("it does not fit: an array over")


# ---- the commands -----------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setitem(networks_asked.FEATURES, NAME, 6)


def test_the_command_prints_and_draws_what_it_measured(tiny, few, tmp_path, capsys):
    out, picture = tmp_path / "numbers.json", tmp_path / "plot.svg"
    data = str(tiny[1].parents[1])
    command = ["networks", "--data", data, "--quick", "--features", "4", "--features", "9", "--limit", "60"]
    assert main([*command, "--json", str(out), "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    numbers = json.loads(out.read_text())
    assert [point["features"] for point in numbers["points"]] == [4, 7], "never more than there are leaves"
    assert printed.endswith(networks.text(numbers) + "\n")
    assert "1,000 sampled inputs of 2 graphs were compared with pyAgrum's posteriors: 0 decisions differ." in printed
    assert "160 in all, 0 differ" in printed and "2 of 2 have as many nodes as NumPy's reduced table" in printed
    assert networks_asked.CHOICE in printed
    drawing = picture.read_text()
    assert drawing.startswith("<svg") and f"{NAME}, {TARGET}" in drawing and drawing.count("<circle") == 4


def test_what_differs_and_what_is_not_finished_is_told(tiny, few, monkeypatch, capsys):
    check = {"inputs": 2, "compared": 2, "ties": 0, "impossible": 0, "positive": 1, "differing": 1}
    good = {"seconds": 2.0, "peak": 2**20, "fault": None, "nodes": 5, "tested": 2, "messages": 3, "exact": 0}
    good["check"] = check
    bad = {"seconds": 9.0, "peak": 2**20, "fault": "time ran out: 9 seconds were not enough"}
    made = {
        ("quia", 2): good,
        ("quia", 4): bad,
        ("pyagrum", 2): {"seconds": 1.0, "is_estimated": True},
        ("pyagrum", 4): {"fault": "an input is impossible"},
        ("numpy", 2): {"seconds": 4.0, "nodes": 6},
        ("numpy", 4): {"fault": "it does not fit"},
    }
    monkeypatch.setattr(networks_once, "once", lambda what, asked, **_: made[what, asked.features])
    data = str(tiny[1].parents[1])
    assert main(["networks", "--data", data, "--features", "4", "--features", "2", "--features", "6"]) == 1
    said = capsys.readouterr().out
    cells = [cell.strip() for cell in next(line for line in said.splitlines() if line.startswith("| win95")).split("|")]
    assert cells[-5:-1] == ["≈ 1 s", "0.5×", "4 s", "2×"] and "0 of 1 have as many nodes" in said
    assert f"{NAME}, {TARGET}, 4 features: not compiled, time ran out" in said and "> 9 s" in said
    assert "Not finished by pyAgrum: win95pts, PrtMem, 4 features (an input is impossible)." in said
    assert said.endswith("DIFFERENT: 1 decisions\n")


def test_unknown_names_and_empty_folders_are_told(tiny, tmp_path):
    data = str(tiny[1].parents[1])
    assert main(["networks", "--data", data, "--network", "andes"]) == 2
    assert main(["networks", "--data", str(tmp_path)]) == 2


def test_the_table_has_networks_compiled_once_and_those_that_are_not(tiny, few, tmp_path, capsys):
    folder = tiny[1].parents[1]
    with gzip.open(tiny[1], "rt") as stream:
        renamed = stream.read().replace(TARGET, "COMPO16")
    (folder / "networks" / "andes.bif.gz").write_bytes(gzip.compress(renamed.encode()))
    out = tmp_path / "out"
    command = ["table", "--data", str(folder), "--benchmark", "networks", "--rows", "8", "--jobs", "1"]
    assert main([*command, "--limit", "20", "--out", str(out)]) == 0
    said = (out / "table.md").read_text()
    assert "win95pts_PrtMem_6 (own choice)" in said and "32 equal, 0 different" in said
    lines = [[cell.strip() for cell in line.split("|")] for line in said.splitlines()]
    (compiled,) = (cells for cells in lines if cells[1:2] == ["win95pts_PrtMem_6"] and len(cells) == 11)
    assert compiled[2] == "6" and compiled[8:10] == ["3,000", "0"]
    assert ["andes", "paper, printed*", "–", "5,454"] in [cells[1:5] for cells in lines]
    assert ["andes_COMPO16_24 (own choice)", "not compiled", "–"] in [cells[1:4] for cells in lines]
    assert "andes_COMPO16_24 was not compiled: " in said and networks_asked.CHOICE in said
    assert "Compiled from Bayesian networks" in (out / "report.html").read_text()
    record = json.loads((out / "networks" / "win95pts_PrtMem_6.compiled.json").read_text())
    graph = networks_table.graph_file(out / "networks", "win95pts_PrtMem_6")
    made = graph.stat().st_mtime_ns
    assert main([*command, "--limit", "20", "--out", str(out)]) == 0, "a second run goes on with what is there"
    assert graph.stat().st_mtime_ns == made
    assert json.loads((out / "networks" / "win95pts_PrtMem_6.compiled.json").read_text()) == record
    capsys.readouterr()
