"""Complete reasons of generated circuits: linear in size, of both decisions; the generators make what they say."""

import json
import random

import pytest

from benchmarks import circuits, generate, generate_circuits
from benchmarks.__main__ import main
from quia.asking import why
from quia.load import nnf, sdd

LINEAR = {"OBDD": 2, "SDD": 4, "Decision-DNNF": 2}
"""Nodes and edges of a complete reason for each of the circuit's, as counted from the rules that make it.

A BDD node with its two edges becomes ∧ and ∨ with two edges each; an SDD node is needed in two polarities, in each an
element with its two edges becomes an edge and an ∨ with two; (x ∧ α) ∨ (x̄ ∧ β) becomes (x̄ ∨ α) ∧ (x ∨ β).
"""


@pytest.mark.parametrize("kind", LINEAR)
def test_complete_reasons_of_both_decisions_are_linear_in_size(kind):
    seen = set()
    for made in circuits.FAMILIES[kind](40_000 if kind != "Decision-DNNF" else 110_000):
        size = made.nodes + made.edges
        for decision, instances in circuits._instances(made.classifier).items():
            for states in instances:
                reason = made.classifier.complete_reason(why(made.classifier, states))
                assert reason.node_count + reason.edge_count <= LINEAR[kind] * size + 10
                assert reason.is_monotone
                seen.add((decision, size))
    assert len({decision for decision, _ in seen}) == 2
    assert len({size for _, size in seen}) >= 3


def test_the_generated_sdd_is_the_random_function_and_pysdd_has_no_smaller_one(tmp_path):
    from pysdd.sdd import SddManager, Vtree

    for variables in (1, 2, 5, 8):
        compiled = generate_circuits.random_sdd(variables, seed=3)
        table = random.Random(3).getrandbits(1 << variables)
        (tmp_path / "f.sdd").write_bytes(compiled.data)
        (tmp_path / "f.vtree").write_bytes(generate_circuits.balanced_vtree(variables))
        circuit = sdd.read(compiled.data, vtree=tmp_path / "f.vtree")
        for world in range(1 << variables):
            values = [world >> variables - 1 - v & 1 for v in range(variables)]
            assert circuit.classify(values[: len(circuit.variables)]) == str(table >> world & 1)
        manager = SddManager.from_vtree(Vtree.from_file(str(tmp_path / "f.vtree").encode()))
        node = manager.read_sdd_file(str(tmp_path / "f.sdd").encode())
        assert 2 * node.size() == compiled.edges  # its size is the number of elements
        assert node.global_model_count() == table.bit_count()


def test_the_generated_decision_dnnf_is_a_conjunction_of_thresholds():
    compiled = generate_circuits.conjoined_thresholds(600, parts=2, variables=9, seed=5)
    circuit = nnf.read(compiled.data)
    weights = [generate.threshold_weights(100, 9, seed=5 + part) for part in range(2)]
    draw = random.Random(1)
    for _ in range(300):
        values = [int(draw.random() < 0.6) for _ in range(18)]
        sums = [sum(w * x for w, x in zip(ws.tolist(), values[9 * k :])) for k, ws in enumerate(weights)]
        meant = all(total >= ws.sum() // 2 for total, ws in zip(sums, weights))
        assert circuit.classify(values) == str(int(meant))


def test_the_command_prints_its_tables(tmp_path, capsys):
    out = tmp_path / "numbers.json"
    assert main(["circuits", "--most", "10000", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("slope of the time") == 3
    assert all(f"\n{kind}, " in printed for kind in LINEAR)
    results = json.loads(out.read_text())
    assert {r["kind"] for r in results} == set(LINEAR)
    for result in results:
        assert f"{result['nodes']:,}" in printed
        for decision in result["decisions"].values():
            assert decision["instances"] == circuits.INSTANCES and decision["unfinished"] == 0
            assert decision["seconds"] > 0 and decision["most_necessary"] > 0
