"""Class formulas: of graphs (Def. 3), their complete reasons, and what is told of them without compiling (Lemma 1)."""

import random

import pytest

import oracle
import quia
from quia import DecisionGraph, GraphError, InstanceError, TooLarge, Unsupported, Variable, explain, formula, paper
from quia.asking import ask
from quia.complete import closed_form
from quia.formula import conjunction, disjunction, negation, state
from quia.formula import validity as validity_module
from quia.formula.core import state_number
from quia.nnf import NNF, Builder
from strategies import random_graph, random_instance
from test_formula import evaluated, random_formula, random_variables, table


def graphs(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        d = random_graph(rng, features=4, states=4, tests=8)
        yield rng, d, DecisionGraph.from_dict(d)


def test_the_class_formulas_of_graphs_have_the_models_of_their_classes():
    for _, d, graph in graphs(1, 300):
        worlds = oracle.worlds(d)
        for c in graph.classes:
            delta = graph.class_formula(c)
            for world, label in worlds.items():
                instance = dict(zip(d["variables"], world, strict=True))
                assert delta.evaluate({k: instance[k] for k in instance}) == (label == c)


def test_quantifying_a_class_formula_gives_the_closed_form():
    """Prop. 7, whose proof needs Props. 2, 4 and 5 and never the definition."""
    rules = set()
    for rng, d, graph in graphs(2, 300):
        instance = random_instance(rng, d)
        states = graph.encode(instance)
        delta = formula.from_nnf(graph.class_formula(graph.classify(instance)))
        given = [state_number(graph.variables[v], states[v]) for v in graph.tested]
        found, rule = formula.quantify(given, delta)
        rules.add(rule)
        assert formula.equivalent(found, formula.from_nnf(closed_form(graph, ask(graph, instance).question)))
        gamma = formula.to_nnf(found, graph.variables)
        names = [v.name for v in graph.variables]
        assert {frozenset(names[v] for v in r) for r in paper.nr(gamma)} == oracle.necessary_reasons(d, instance)
        assert {frozenset(names[v] for v in r) for r in paper.sr(gamma)} == oracle.sufficient_reasons(d, instance)
    assert "Def. 1" not in rules
    assert "Prop. 5" in rules


def test_a_class_formula_stays_small_where_features_have_many_states():
    n = 2_000
    width = Variable.numeric("W", range(n))
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    below = 0
    for i in reversed(range(n)):  # a chain of comparisons, each with all states that are left
        tests.append(0)
        labels.append(-1)
        edges.append(((((i, i),), i % 2), (((i + 1, n),), below)))
        below = len(tests) - 1
    graph = DecisionGraph.build([width], ["even", "odd"], tests, labels, edges)
    delta = graph.class_formula("even")
    assert delta.edge_count < 50 * n  # written out there are some n² states
    for value in (0, 1, 2, n // 2 + 0.5, n - 1, n + 5):
        assert delta.evaluate([value]) == (graph.classify([value]) == "even")


def test_a_class_that_is_not_there():
    graph = DecisionGraph.from_dict(random_graph(random.Random(3)))
    with pytest.raises(InstanceError, match="there is no class 'admitt'; the classes are"):
        graph.class_formula("admitt")


def test_formulas_and_nnfs_go_both_ways():
    rng = random.Random(4)
    for _ in range(300):
        variables = random_variables(rng)
        delta = random_formula(rng, variables)
        flat = formula.to_nnf(delta, variables)
        assert flat.simplified() is flat
        assert table(formula.from_nnf(flat), variables) == table(delta, variables)
        for world in formula.worlds(variables):
            assert flat.evaluate(world) == evaluated(delta, world)
    x, y = Variable.nominal("X", ["a", "b"]), Variable.nominal("Y", ["a", "b"])
    with pytest.raises(GraphError, match="mentions 'Y', which is not among X"):
        formula.to_nnf(state(x, "a") & state(y, "a"), [x])


def decomposed(rng, variables, depth, gate):
    """A formula in which the parts of every gate of this kind share no variable."""
    if depth == 0 or len(variables) < 2:
        literal = state_number(v := rng.choice(variables), rng.randrange(v.size))
        return rng.choice((literal, negation(literal), formula.TRUE, formula.FALSE, literal, literal))
    if rng.random() < 0.5:
        mixed = rng.sample(variables, len(variables))
        at = rng.randint(1, len(mixed) - 1)
        return gate([decomposed(rng, part, depth - 1, gate) for part in (mixed[:at], mixed[at:])])
    other = disjunction if gate is conjunction else conjunction
    return other([decomposed(rng, variables, depth - 1, gate) for _ in range(rng.randint(2, 3))])


class NoDiagram:
    def __init__(self, *_):
        raise AssertionError("a diagram was compiled")


def test_validity_and_satisfiability_of_decomposable_and_monotone_formulas_need_no_diagram(monkeypatch):
    monkeypatch.setattr(validity_module, "Diagram", NoDiagram)
    rng = random.Random(5)
    seen = {"valid": [0, 0], "satisfiable": [0, 0]}
    for _ in range(1500):
        variables = [Variable.nominal(n, [f"{n}{i}" for i in range(rng.choice((1, 2, 2, 3)))]) for n in "ABCD"]
        models = {}
        for gate in (conjunction, disjunction):
            delta = models[gate] = decomposed(rng, variables, rng.randint(0, 4), gate)
            worlds = list(formula.worlds(delta.variables))
            holds = [evaluated(delta, world) for world in worlds]
            if gate is disjunction:
                assert formula.is_valid(delta) == all(holds), str(delta)
                seen["valid"][all(holds)] += 1
            else:
                assert formula.is_satisfiable(delta) == any(holds), str(delta)
                seen["satisfiable"][any(holds)] += 1
            flat = formula.to_nnf(delta)
            if flat.is_or_decomposable or flat.is_monotone:
                assert flat.is_valid == all(holds)
            if flat.is_and_decomposable or flat.is_monotone:
                assert flat.is_satisfiable == any(holds)
    assert min(count for counts in seen.values() for count in counts) > 30, seen


def test_an_nnf_of_neither_form_says_so():
    x = Variable.nominal("X", ["a", "b"])
    build = Builder([x, Variable.nominal("Y", ["a", "b"])])
    xa, xb, ya = build.literal(0, 0), build.literal(0, 1), build.literal(1, 0)
    neither = build.nnf(
        build.conjunction([build.disjunction([xa, build.conjunction([xb, ya])]), build.disjunction([xb, ya])])
    )
    with pytest.raises(Unsupported, match="∨-decomposable nor monotone"):
        assert neither.is_valid
    with pytest.raises(Unsupported, match="∧-decomposable nor monotone"):
        assert neither.is_satisfiable
    assert not formula.is_valid(formula.from_nnf(neither))
    assert formula.is_satisfiable(formula.from_nnf(neither))


def random_cnf(rng, variables, clauses, width=3):
    """A CNF that no order of these variables gives a small diagram."""
    return conjunction(
        disjunction(state_number(v, rng.randrange(v.size)) for v in rng.sample(variables, width))
        for _ in range(clauses)
    )


@pytest.fixture(scope="module", params=[2, 3], ids=["boolean", "ternary"])
def large(request):
    rng = random.Random(6)
    variables = [Variable.nominal(f"v{i}", ["a", "b", "c"][: request.param]) for i in range(60)]
    instance = {v.name: rng.choice(v.labels) for v in variables}
    delta = random_cnf(rng, variables, 90)
    # The clauses that the instance violates get a literal that it satisfies.
    clauses = []
    for clause in delta.children:
        if not clause.satisfied_by(instance):
            first = clause.children[0].variable
            clause = disjunction((state(first, instance[first.name]), *clause.children[1:]))
        clauses.append(clause)
    return variables, instance, conjunction(clauses)


def test_a_formula_of_sixty_variables_is_told_valid_or_not(large):
    variables, instance, delta = large
    with pytest.raises(TooLarge):
        formula.compiled(delta, limit=20_000)
    assert delta.is_or_decomposable
    assert not formula.is_valid(delta)
    assert formula.is_satisfiable(negation(delta))
    # Beside a part that has to be compiled, the others still need not be.
    x, y = Variable.nominal("X", ["a", "b"]), Variable.nominal("Y", ["a", "b"])
    valid = (state(x, "a") & state(y, "a")) | (state(x, "b") | state(y, "b"))
    assert formula.is_valid(valid)
    assert formula.is_valid(valid | delta)
    assert not formula.is_valid(valid & delta)
    # A prime implicant in the instance: what can go without the rest ceasing to imply the formula goes.
    term = [state(v, instance[v.name]) for v in variables]
    for literal in tuple(term):
        rest = [part for part in term if part is not literal]
        if formula.implies(conjunction(rest), delta):
            term = rest
    gamma = formula.complete_reason(instance, delta, variables)
    kept = {variables.index(part.variable) for part in term}
    assert gamma.holds(lambda v, _: v in kept)
    for v in kept:
        assert not gamma.holds(lambda u, _, gone=v: u in kept and u != gone)


def test_a_formula_of_sixty_variables_reaches_the_algorithms(large):
    variables, instance, delta = large
    gamma = formula.complete_reason(instance, delta, variables)
    assert gamma.is_monotone
    assert gamma.is_or_decomposable
    clauses = oracle.minimal(
        frozenset(variables.index(part.variable) for part in clause.children if part.satisfied_by(instance))
        for clause in delta.children
    )
    assert paper.nr(gamma) == clauses  # no two literals of a clause are of one variable
    assert paper.snr(gamma) == oracle.shortest(clauses)
    primes = formula.prime_implicates(formula.from_nnf(gamma), positive=True)
    assert {frozenset(variables.index(s.variable) for s in prime) for prime in primes} == clauses
    assert all(s is state(s.variable, instance[s.variable.name]) for prime in primes for s in prime)


def test_the_reasons_of_a_large_boolean_formula_are_those_of_its_circuit(large):
    variables, instance, delta = large
    if variables[0].size > 2:
        with pytest.raises(GraphError, match="of the circuit has 3 states"):
            formula.circuit(delta)
        return
    why = explain(formula.circuit(delta, variables), instance)
    assert why.decision == "1"
    gamma = formula.complete_reason(instance, delta, variables)
    names = [v.name for v in variables]
    shortest = {frozenset(names[v] for v in reason) for reason in paper.snr(gamma)}
    assert shortest == {frozenset(reason.features) for reason in why.necessary_reasons(shortest=True)}
    for reason in why.sufficient_reasons(shortest=True, limit=3, timeout=5):
        quia.verify(formula.circuit(delta, variables), instance, reason, "sufficient")


def test_circuits_of_formulas_explain_the_class_that_has_a_closed_form():
    rng = random.Random(7)
    explained = 0
    for _ in range(200):
        variables = [Variable.nominal(n, ["0", "1"]) for n in "abcd"]
        cnf = random_cnf(rng, variables, rng.randint(1, 4), rng.randint(1, 3))
        delta = rng.choice((cnf, ~cnf))
        circuit, graph = formula.circuit(delta, variables), formula.compiled(delta, variables=variables)
        for world in formula.worlds(variables):
            assert circuit.classify(world) == graph.classify(world)
            if circuit.formulas[int(circuit.classify(world))] is None:
                with pytest.raises(Unsupported):
                    assert explain(circuit, world).complete_reason
                continue
            explained += 1
            mine, theirs = explain(circuit, world), explain(graph, world)
            assert set(mine.sufficient_reasons()) == set(theirs.sufficient_reasons())
    assert explained > 500
    x, y = (Variable.nominal(n, ["0", "1"]) for n in "xy")
    parity = (state(x, 0) & state(y, 1)) | (state(x, 1) & state(y, 0))
    with pytest.raises(Unsupported, match="neither the formula nor its negation is ∨-decomposable"):
        formula.circuit(conjunction((parity, negation(parity) | state(x, 0))))


def test_complete_reasons_of_formulas_are_the_definitions():
    rng = random.Random(8)
    for _ in range(300):
        variables = random_variables(rng)
        delta = random_formula(rng, variables)
        world = {v.name: rng.choice(v.labels) for v in variables}
        if not evaluated(delta, world):
            with pytest.raises(InstanceError, match="does not satisfy the formula"):
                formula.complete_reason(world, delta)
            continue
        gamma = formula.complete_reason(world, delta, variables)
        assert gamma.is_monotone
        space = {v.name: v.labels for v in variables}
        expected = oracle.forall_each(space, table(delta, variables), world)
        assert table(formula.from_nnf(gamma), variables) == expected
        # Prop. 10: the prime implicants, and the prime implicates among positive clauses, are parts of the instance.
        positive = {
            frozenset((s.variable.name, s.variable.labels[s.index], True) for s in prime)
            for prime in formula.prime_implicates(formula.from_nnf(gamma), positive=True)
        }
        assert positive == oracle.prime_implicates(space, expected, positive=True)
        assert all(world[name] == label for prime in positive for name, label, _ in prime)
    with pytest.raises(InstanceError, match="no value for"):
        formula.complete_reason({}, state(variables[0], variables[0].labels[0]))


def test_primes_of_monotone_formulas_are_the_definitions():
    rng = random.Random(9)
    for _ in range(250):
        variables = random_variables(rng)
        own = {v: rng.randrange(v.size) for v in variables}

        def monotone(depth):
            if depth == 0 or rng.random() < 0.2:
                v = rng.choice(variables)
                return state_number(v, own[v])
            return rng.choice((conjunction, disjunction))(monotone(depth - 1) for _ in range(rng.randint(1, 3)))

        delta = monotone(3)
        space = {v.name: v.labels for v in variables}

        def sets(primes):
            def literal(node):
                plain = node if node.variable else node.children[0]
                return (plain.variable.name, plain.variable.labels[plain.index], node is plain)

            return {frozenset(map(literal, prime)) for prime in primes}

        for positive in (True, False):
            models = table(delta, variables)
            assert sets(formula.prime_implicants(delta, positive=positive)) == oracle.prime_implicants(
                space, models, positive=positive
            )
            assert sets(formula.prime_implicates(delta, positive=positive)) == oracle.prime_implicates(
                space, models, positive=positive
            )


def test_too_many_primes_are_not_listed():
    pairs = [[state(Variable.nominal(f"{side}{i}", ["0", "1"]), 1) for side in "ab"] for i in range(40)]
    with pytest.raises(TooLarge, match=f"has {2**40} primes"):
        formula.prime_implicants(conjunction(map(disjunction, pairs)))
    assert len(formula.prime_implicates(conjunction(map(disjunction, pairs)))) == 40
    with pytest.raises(TooLarge, match="complete reason"):
        formula.prime_implicants(conjunction(a | ~b for a, b in pairs) | ~pairs[0][0])


def test_a_circuit_has_boolean_variables_and_formulas_over_them():
    boolean, ternary = Variable.nominal("b", ["0", "1"]), Variable.nominal("t", ["0", "1", "2"])
    only = Variable.nominal("o", ["0"])
    for odd in (ternary, only):
        build = Builder((boolean, odd))
        parts = build.nnf(build.literal(0, 0)), build.nnf(build.literal(0, 1))
        with pytest.raises(GraphError, match=f"variable {odd.name!r} of the circuit has {odd.size} states"):
            quia.Circuit((boolean, odd), ("0", "1"), parts)
    build = Builder((boolean,))
    flat: NNF = build.nnf(build.literal(0, 1))
    with pytest.raises(GraphError, match="over other variables"):
        quia.Circuit((Variable.nominal("c", ["0", "1"]),), ("0", "1"), (None, flat))
