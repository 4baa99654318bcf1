"""Even if … because, against truth tables: what sticks, what holds it up, what refutes it."""

import pickle
import random

import pytest

import oracle
import quia
from booleans import CIRCUITS, names, tree
from quia import DecisionGraph, InstanceError, explain
from strategies import random_case


def expected(d, instance, features, against, frozen):
    """The sufficient reasons that speak of none of the features, which count as given only if they are not these."""
    given = frozenset(frozen) - frozenset(features)
    reasons = oracle.sufficient_reasons(d, instance, against, given)
    return {reason for reason in reasons if not reason & frozenset(features)}


def check(d, classifier, instance, features, against=None, frozen=(), costs=None):
    why = explain(classifier, instance, against=against, frozen=frozen, costs=costs)
    told = why.even_if(features)
    reasons = expected(d, instance, features, against, frozen)
    assert told.holds == bool(told) == oracle.holds_without(d, instance, features, against) == bool(reasons)
    assert {frozenset(reason.features) for reason in told.because} == reasons
    if told:
        assert (told.changes, told.changed_decision) == ((), None)
        assert "even if" in str(told)
    else:
        changed = {state.feature: state for state in told.changes}
        assert changed.keys() <= set(features)
        given = oracle.world_of(d, instance)
        moved = [
            world
            for world, change in oracle.refutations(d, instance, against).items()
            if change == frozenset(changed) and oracle.worlds(d)[world] == told.changed_decision
        ]
        assert moved
        assert (
            all(len(changed) <= len(c) for c in oracle.refutations(d, instance, against).values() if c <= set(features))
            or costs
        )
        assert given not in moved
        assert str(told).startswith("no: with ")
        assert str(told).endswith(f"the decision would be {told.changed_decision}")
    return told.holds


def test_random_graphs():
    rng = random.Random(1)
    outcomes = [0, 0]
    for _ in range(500):
        case = random_case(rng, features=4, tests=8)
        graph = DecisionGraph.from_dict(case.graph)
        against = None if case.against == oracle.classify(case.graph, case.instance) else case.against
        features = rng.sample(list(case.graph["variables"]), rng.randint(0, len(case.graph["variables"])))
        outcomes[check(case.graph, graph, case.instance, features, against, case.frozen, case.costs)] += 1
    assert min(outcomes) > 80


def test_circuits(tmp_path):
    rng = random.Random(2)
    for _ in range(60):
        mask = rng.getrandbits(16)
        circuit = CIRCUITS[rng.choice(sorted(CIRCUITS))](mask, 4, rng, tmp_path)
        instance = {name: rng.choice("01") for name in names(4)}
        check(tree(mask, 4), circuit, instance, rng.sample(names(4), rng.randint(0, 4)), frozen=rng.sample(names(4), 1))


@pytest.fixture
def luna(examples):
    graph = quia.load(examples / "luna.json")
    return explain(graph, {"E": "yes", "F": "no", "G": "yes", "W": "yes", "R": "yes"})


def test_the_sentences(luna):
    assert (
        str(luna.even_if(["E"]))
        == "the decision would be admit even if E were otherwise, because G=yes and R=yes and W=yes"
    )
    assert str(luna.even_if(["G", "F"])) == (
        "the decision would be admit even if F and G were otherwise, because E=yes and R=yes and W=yes"
    )
    assert str(luna.even_if("R")) == "no: with R=no, and all else the same, the decision would be deny"
    assert str(luna.even_if(["W"])).count("because") == 2
    assert str(luna.even_if([])).endswith(", and for more reasons")
    assert str(luna.even_if([], limit=1)).count("because") == 1
    against = explain(luna.classifier, luna.instance, against="deny")
    assert str(against.even_if(["E"])).startswith("the decision would not be deny even if E were otherwise, because ")
    constant = DecisionGraph.build([quia.Variable.nominal("x", ["0", "1"])], ["yes"], [-1], [0], [()])
    assert str(explain(constant, {"x": "0"}).even_if(["x"])) == (
        "the decision would be yes even if x were otherwise, because nothing can change it"
    )


def test_the_reasons_are_general_unless_states_are_asked_for(examples):
    applicant = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    why = explain(quia.load(examples / "admissions.json"), applicant)
    told = why.even_if(["Essay"])
    assert [reason.is_general for reason in told.because] == [True]
    assert str(told).endswith("because SAT < 1450 and GPA ≠ high and Interview=fail")
    states = why.even_if(["Essay"], general=False)
    assert list(states.because) == [r for r in why.sufficient_reasons() if "Essay" not in r.features]
    assert str(states).endswith("because SAT < 1450 and GPA=medium and Interview=fail")
    assert str(why.even_if(["GPA", "Essay"])).startswith("no: with GPA=high and Essay=pass, and all else the same")


def test_what_it_is_made_of(luna):
    told = luna.even_if(["E"])
    assert told.to_dict() == {
        "features": ["E"],
        "holds": True,
        "decision": "admit",
        "against": None,
        "because": {
            "complete": True,
            "count": 1,
            "sets": 1,
            "reasons": [
                {
                    "features": ["G", "R", "W"],
                    "states": {"G": "yes", "R": "yes", "W": "yes"},
                    "conditions": [{"feature": name, "in": ["yes"], "text": "yes"} for name in "GRW"],
                }
            ],
        },
        "changes": [],
        "changed_decision": None,
        "certain": True,
    }
    assert luna.even_if(["R"]).to_dict()["changes"] == [{"feature": "R", "in": ["no"], "text": "no"}]
    assert str(pickle.loads(pickle.dumps(told))) == str(told)
    with pytest.raises(InstanceError, match="features is 'Q', which is no feature"):
        luna.even_if(["Q"])
    with pytest.raises(InstanceError, match="features"):
        luna.even_if(None)
