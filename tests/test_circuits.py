"""The same classifier as tree, formula, OBDD, SDD and Decision-DNNF gives the same reasons as the oracle."""

import pickle
import random
from itertools import product

import numpy as np
import pytest

import oracle
from booleans import CIRCUITS, FORMS, Compiler, names, pysdd, tree, value
from quia import (
    Circuit,
    GraphError,
    InstanceError,
    Refuted,
    TooLarge,
    Unsupported,
    Variable,
    bias_of_classifier,
    circuit_pairs,
    explain,
    load,
    verify,
)
from quia.dag import AND, LITERAL, OR
from quia.load import nnf, sdd
from quia.nnf import NNF, Builder


def sets(reasons):
    return {frozenset(reason.features) for reason in reasons}


def worlds(n):
    return [{name: w >> i & 1 for i, name in enumerate(names(n))} for w in range(1 << n)]


def texts(instance):
    return {name: str(v) for name, v in instance.items()}


def expected(d, instance, **question):
    """Sufficient and necessary reasons by the definition."""
    return (
        oracle.sufficient_reasons(d, texts(instance), **question),
        oracle.necessary_reasons(d, texts(instance), **question),
    )


def found(classifier, instance, **question):
    why = explain(classifier, instance, **question)
    return sets(why.sufficient_reasons()), sets(why.necessary_reasons())


@pytest.mark.parametrize(("n", "part"), [(1, 0), (2, 0), *((3, part) for part in range(8))])
def test_all_boolean_functions_of_up_to_3_variables_with_every_instance_in_every_form(n, part, tmp_path):
    rng = random.Random(10 * n + part)
    functions = 1 << (1 << n)
    for mask in range(part, functions, 8 if n == 3 else 1):
        d = tree(mask, n)
        answers = [expected(d, instance) for instance in worlds(n)]
        for name, form in FORMS.items():
            classifier = form(mask, n, rng, tmp_path)
            for w, instance in enumerate(worlds(n)):
                assert classifier.classify(instance) == str(value(mask, w)), (name, mask)
                assert found(classifier, instance) == answers[w], (name, mask, instance)


@pytest.mark.parametrize("seed", [7, 70])
def test_random_functions_in_every_form(seed, tmp_path):
    rng = random.Random(seed)
    for _ in range(100):
        n = rng.choice((4, 5))
        mask = rng.getrandbits(1 << n)
        d = tree(mask, n)
        instance = rng.choice(worlds(n))
        answer = expected(d, instance)
        for name, form in FORMS.items():
            assert found(form(mask, n, rng, tmp_path), instance) == answer, (name, mask, instance)


def structured(rng, n):
    """A function with parts that are independent, so that circuits have something to share."""
    halves = [rng.getrandbits(1 << (n // 2)) for _ in range(2)]
    joins = rng.choice((lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b))
    low = (1 << n // 2) - 1
    return sum(joins(value(halves[0], w & low), value(halves[1], w >> n // 2)) << w for w in range(1 << n))


def test_every_question_works_for_circuits(tmp_path):
    rng = random.Random(8)
    for _ in range(40):
        n = 4
        mask = structured(rng, n)
        d = tree(mask, n)
        instance, other = rng.choices(worlds(n), k=2)
        frozen = rng.sample(names(n), rng.randint(0, 2))
        protected = rng.sample(names(n), 2)
        decision = str(oracle.classify(d, texts(instance)))
        against = "1" if decision == "0" else "0"
        for name in rng.sample(sorted(CIRCUITS), 3):
            circuit = CIRCUITS[name](mask, n, rng, tmp_path)
            assert isinstance(circuit, Circuit)
            why = explain(circuit, instance, frozen=frozen)
            assert found(circuit, instance, frozen=frozen) == expected(d, instance, frozen=frozen), name
            assert found(circuit, instance, against=against) == expected(d, instance, against=against), name
            assert why.complete_reason.is_monotone
            assert why.complete_reason.is_or_decomposable
            assert why.is_congruent(other) == oracle.congruent(d, texts(instance), texts(other))
            assert why.holds_without(protected) == oracle.holds_without(d, texts(instance), protected)
            assert bool(why.bias(protected)) == oracle.decision_biased(d, texts(instance), protected)
            plain = explain(circuit, instance)
            changes = {(frozenset((s.feature, s.text) for s in c.changes), c.decision) for c in plain.counterfactuals()}
            shortest = oracle.shortest(oracle.necessary_reasons(d, texts(instance)))
            assert changes == {(frozenset((f, str(1 - instance[f])) for f in reason), against) for reason in shortest}
            assert sets(plain.sufficient_reasons(shortest=True)) == oracle.shortest(expected(d, instance)[0])
            assert str(plain).startswith(f"Decision: {decision}")
            assert plain.to_dict()["decision"] == decision


def test_verify_accepts_reasons_and_refutes_everything_else(tmp_path):
    rng = random.Random(9)
    for _ in range(25):
        n = 4
        mask = structured(rng, n)
        d = tree(mask, n)
        instance = rng.choice(worlds(n))
        frozen = rng.sample(names(n), rng.choice((0, 0, 1)))
        answers = dict(zip(("sufficient", "necessary"), expected(d, instance, frozen=frozen)))
        circuit = CIRCUITS[rng.choice(sorted(CIRCUITS))](mask, n, rng, tmp_path)
        free = [v for v in names(n) if v not in frozen]
        for kind, right in answers.items():
            for claimed in oracle.subsets(free):
                if claimed in right:
                    verify(circuit, instance, sorted(claimed), kind, frozen=frozen)
                elif claimed <= {circuit.variables[v].name for v in circuit.tested}:
                    with pytest.raises(Refuted):
                        verify(circuit, instance, sorted(claimed), kind, frozen=frozen)


def test_named_states_and_classes():
    _, node = pysdd(0b1000, 2, "balanced")
    circuit = load(node, classes=("deny", "admit"), states=("no", "yes"), names=["Exam", "Work"])
    for yes in ("yes", 1, True, "1"):
        assert circuit.classify({"Exam": yes, "Work": yes}) == "admit"
    for no in ("no", 0, False, "0"):
        assert circuit.classify([no, "yes"]) == "deny"
    assert [str(r) for r in explain(circuit, {"Exam": "yes", "Work": "no"}).sufficient_reasons()] == ["Work=no"]
    assert repr(circuit).startswith("<Circuit: SDD")
    with pytest.raises(InstanceError):
        circuit.classify({"Exam": "maybe", "Work": 1})


def test_constants():
    for text, decision in (("sdd 1\nT 0\n", "1"), ("sdd 1\nF 0\n", "0")):
        circuit = sdd.read(text.encode())
        assert circuit.classify([]) == decision
        why = explain(circuit, {})
        assert why.complete_reason.is_true
        assert sets(why.sufficient_reasons()) == {frozenset()}
        assert why.counterfactuals() == ()
    for text, decision in (("t 1 0\n", "1"), ("f 1 0\n", "0"), ("nnf 1 0 3\nA 0\n", "1"), ("nnf 1 0 3\nO 0 0\n", "0")):
        assert nnf.read(text.encode()).classify({}) == decision
    from dd import autoref

    manager = autoref.BDD()
    manager.declare("x")
    assert load(manager.true).classify({}) == "1"
    assert load(manager.false).classify({}) == "0"


def test_a_dnnf_that_decides_nothing_explains_what_it_can(tmp_path):
    # v1 ∨ v2 without a decision: ∧-decomposable, but no Decision-DNNF.
    text = "nnf 3 2 2\nL 1\nL 2\nO 0 2 0 1\n"
    circuit = nnf.read(text.encode())
    assert circuit.kind == "DNNF"
    assert "line 4" in circuit.notes[0]
    assert circuit.classify([1, 0]) == "1"
    assert [str(r) for r in explain(circuit, [0, 0]).sufficient_reasons()] == ["1=0 and 2=0"]
    for ask in (lambda: explain(circuit, [1, 0]).complete_reason, lambda: verify(circuit, [1, 0], ["1"], "sufficient")):
        with pytest.raises(Unsupported, match="circuit of the other class"):
            ask()
    negative = tmp_path / "negative.nnf"
    negative.write_text("nnf 3 2 2\nL -1\nL -2\nA 2 0 1\n")
    both = nnf.read(text.encode(), negative=negative)
    assert [str(r) for r in explain(both, [1, 0]).sufficient_reasons()] == ["1=1"]
    negative.write_text("nnf 1 0 2\nL -1\n")  # true together with v1 ∨ v2 where v1 is 0 and v2 is 1
    assert nnf.read(text.encode(), negative=negative).classify([1, 0]) == "1"
    with pytest.raises(GraphError, match="not each other's negation"):
        nnf.read(text.encode(), negative=negative).classify([0, 1])


def test_two_circuits_must_be_each_others_negation(tmp_path):
    rng = random.Random(10)
    for _ in range(60):
        mask = rng.getrandbits(8)
        wrong = ~mask & 255 ^ rng.choice((0, 1 << rng.randrange(8)))
        (tmp_path / "negative.nnf").write_text(Compiler(wrong, 3, rng).c2d(3))
        data = Compiler(mask, 3, rng).c2d(3).encode()
        if wrong == ~mask & 255:
            nnf.read(data, negative=tmp_path / "negative.nnf")
        else:
            with pytest.raises(GraphError.__base__, match="not the negation"):
                nnf.read(data, negative=tmp_path / "negative.nnf")


def check_bias(mask, n, circuit, protected):
    """The answer is the definition's, and two instances of the function itself prove it."""
    told = bias_of_classifier(circuit, protected)
    assert told.biased == oracle.classifier_biased(tree(mask, n), protected), (mask, protected)
    assert told.protected == tuple(sorted(protected))
    if not told:
        assert str(told).startswith("not biased: ")
        return
    worlds = [{s.feature: int(s.text) for s in states} for states in (told.instance, told.other)]
    numbers = [sum(world.get(name, 0) << i for i, name in enumerate(names(n))) for world in worlds]
    assert {name for name in names(n) if worlds[0].get(name) != worlds[1].get(name)} <= set(protected)
    assert [str(value(mask, w)) for w in numbers] == [told.decision, told.other_decision]
    assert told.decision != told.other_decision


@pytest.mark.parametrize("tries", [None, 0], ids=["drawn", "compiled"])
def test_bias_of_every_function_of_3_variables_as_a_circuit(tries, tmp_path, monkeypatch):
    if tries is not None:
        monkeypatch.setattr(circuit_pairs, "TRIES", tries)
    rng = random.Random(14)
    for mask in range(256):
        circuit = CIRCUITS[rng.choice(sorted(CIRCUITS))](mask, 3, rng, tmp_path)
        for protected in oracle.subsets(names(3)):
            check_bias(mask, 3, circuit, sorted(protected))


def test_bias_of_circuits_that_mention_what_does_not_matter(monkeypatch):
    """(v1 ∧ α) ∨ (v̄1 ∧ α), with α written in one way or in two."""
    # v2 ⊕ v3, decided by v2 (node 6) and by v3 (node 7)
    alpha = "L 2\nL -3\nA 2 0 1\nL -2\nL 3\nA 2 3 4\nO 2 2 2 5\nO 3 2 5 2\nL 1\nL -1\n"
    same = f"nnf 13 14 3\n{alpha}A 2 6 8\nA 2 6 9\nO 1 2 10 11\n"
    two = f"nnf 13 14 3\n{alpha}A 2 6 8\nA 2 7 9\nO 1 2 10 11\n"
    mask = sum(((w >> 1 ^ w >> 2) & 1) << w for w in range(8))
    for text in (same, two):
        circuit = nnf.read(text.encode(), names=names(3))
        assert [circuit.classify(w) for w in worlds(3)] == [str(value(mask, w)) for w in range(8)]
        for protected in oracle.subsets(names(3)):
            check_bias(mask, 3, circuit, sorted(protected))
    monkeypatch.setattr(circuit_pairs, "DIAGRAM_LIMIT", 1)
    assert not bias_of_classifier(nnf.read(same.encode(), names=names(3)), ["v1"])  # told by the nodes
    with pytest.raises(TooLarge, match="no biased decision was found"):
        bias_of_classifier(nnf.read(two.encode(), names=names(3)), ["v1"])


def test_bias_of_a_circuit_that_shows_in_one_instance_of_many():
    """x matters only where all of 40 others are 1."""
    lines = [f"L {v}" for v in range(1, 41)] + ["A 40 " + " ".join(map(str, range(40)))]
    circuit = nnf.read("\n".join([f"nnf {len(lines)} 40 41", *lines, ""]).encode(), names=names(41))
    for protected in (["v1"], ["v7", "v30"]):
        told = bias_of_classifier(circuit, protected)
        assert told
        assert {told.decision, told.other_decision} == {"0", "1"}
    assert not bias_of_classifier(circuit, ["v41"])


def test_bias_of_a_dnnf_with_one_class_formula():
    circuit = nnf.read(b"nnf 3 2 2\nL 1\nL 2\nO 0 2 0 1\n", names=names(2))
    assert circuit.formulas[1] is None
    for protected in oracle.subsets(names(2)):
        check_bias(0b1110, 2, circuit, sorted(protected))


def random_formula(rng, variables, *, most_joins=15):
    build = Builder(variables)
    nodes = [build.literal(v, s) for v in range(len(variables)) for s in (0, 1)]
    for _ in range(rng.randint(1, most_joins)):
        join = rng.choice((build.conjunction, build.disjunction))
        nodes.append(join(rng.sample(nodes, rng.randint(2, 4))))
    return build.nnf(nodes[-1])


def boolean_variables(n):
    return tuple(Variable.nominal(name, ["0", "1"]) for name in names(n))


def test_the_kernel_evaluates_and_replaces_as_plain_python_does():
    rng = random.Random(11)
    variables = boolean_variables(4)
    for _ in range(300):
        formula = random_formula(rng, variables)
        fate = {(v, s): 2 if rng.random() < 0.5 else rng.randrange(2) for v in range(4) for s in (0, 1)}
        build = Builder(variables)
        plain = build.nnf(
            formula.fold(
                build.constant,
                lambda v, s: build.literal(v, s) if fate[v, s] == 2 else build.constant(fate[v, s] == 1),
                build.conjunction,
                build.disjunction,
            )
        )
        found = formula.replaced(lambda vs, ss: [fate[v, s] for v, s in zip(vs.tolist(), ss.tolist())])
        assert found == plain
        assert (found.node_count, found.edge_count) == (plain.node_count, plain.edge_count)
        for world in product((0, 1), repeat=4):
            true = formula.fold(bool, lambda v, s: world[v] == s, all, any)
            assert formula.evaluate(list(world)) == true
            assert found.evaluate(list(world)) == plain.fold(bool, lambda v, s: world[v] == s, all, any)


def test_decomposability_is_found_by_the_definition():
    rng = random.Random(13)
    # Variables far apart, so that they fall into different passes of the kernel.
    every = boolean_variables(1500)
    outcomes = set()
    for _ in range(400):
        chosen = rng.sample(range(1500), 8)
        small = random_formula(rng, boolean_variables(8), most_joins=4)
        moved = np.array([chosen[v] if v >= 0 else -1 for v in small.variable.tolist()], np.int32)
        formula = NNF(every, small.kind, moved, small.state, small.child_start, small.child)
        below, first, nodes, shared = [], {}, {AND: set(), OR: set()}, {AND: set(), OR: set()}
        for number, (kind, variable, _, children) in enumerate(formula.nodes):
            parts = [below[child] for child in children]
            common = [v for v in set().union(*parts) if sum(v in part for part in parts) > 1]
            if common and kind not in first:
                first[kind] = (number, min(common))
            if common:
                nodes[kind].add(number)
                shared[kind].update(common)
            below.append({variable} if kind == LITERAL else set().union(*parts))
        for kind in (AND, OR):
            assert formula.kernel.shared_variable(kind) == first.get(kind)
            flags, sharing = formula.kernel.sharing(kind)
            assert (set(np.flatnonzero(flags).tolist()), sharing.tolist()) == (nodes[kind], sorted(shared[kind]))
        assert formula.is_or_decomposable == (OR not in first)
        assert formula.is_and_decomposable == (AND not in first)
        outcomes.add((OR in first, AND in first))
    assert len(outcomes) == 4


def test_circuits_are_sent_to_other_processes():
    circuit = sdd.read(b"sdd 5\nL 1 0 1\nL 2 0 -1\nL 3 2 2\nF 4\nD 0 1 2 1 3 2 4\n")
    assert circuit.classify([1, 1]) == "1"  # the kernel's part is there, and stays here
    again = pickle.loads(pickle.dumps(circuit))
    assert found(again, [1, 0]) == found(circuit, [1, 0])


def test_an_sdd_of_many_nodes_is_explained_by_whole_arrays():
    from pysdd.sdd import SddManager

    manager = SddManager(var_count=60)
    rng = random.Random(12)
    node = manager.true()
    for start in range(0, 60, 6):
        part = manager.false()
        for _ in range(6):
            term = manager.true()
            for v in rng.sample(range(start + 1, start + 7), 3):
                term &= manager.literal(rng.choice((v, -v)))
            part |= term
        node &= part
    circuit = load(node)
    linear = 12 * sum(len(n.elements()) for n in _decisions(node)) + 4 * 60 + 10
    for _ in range(10):
        instance = [rng.randrange(2) for _ in range(60)]
        why = explain(circuit, instance)
        assert len(why.complete_reason) <= linear
        assert why.complete_reason.is_or_decomposable
        for reason in why.sufficient_reasons(shortest=True, limit=2):
            verify(circuit, instance, reason, "sufficient")
        for reason in why.necessary_reasons(shortest=True, limit=2):
            verify(circuit, instance, reason, "necessary")


def _decisions(node):
    seen, work = {}, [node]
    while work:
        here = work.pop()
        if here.id not in seen and here.is_decision():
            seen[here.id] = here
            work += [part for pair in here.elements() for part in pair]
    return seen.values()
