"""Two decisions side by side, against truth tables: congruent as the paper says, and for a common reason."""

from random import Random
from typing import Any

import general_oracle as general
import oracle
import quia
from quia.compare import Comparison, compare
from strategies import random_case, random_instance, random_neighbour

SMALL = {"features": 4, "states": 4, "tests": 10}


def box_of(literals: Any) -> general.Box:
    """Literals as the oracle's box."""
    return tuple((literal.feature, literal.states) for literal in literals)


def check(d: dict[str, Any], found: Comparison, one: dict[str, Any], other: dict[str, Any]) -> str:
    """Compare with the definitions; which case it was."""
    decisions = (oracle.classify(d, one), oracle.classify(d, other))
    keeps = general.classes_that_keep(d, one)
    between = general.smallest_box(d, one, other)
    assert found.decisions == decisions
    assert found.congruent == oracle.congruent(d, one, other)
    assert (found.common_reason is not None) == general.forces(d, between, keeps)
    if found.common_reason is not None:
        box = box_of(found.common_reason)
        assert found.common_reason.is_general
        assert all(general.is_sufficient_for(d, box, each, keeps) for each in (one, other))
        assert general.is_widest(d, box, keeps)
    if found.congruent or decisions[0] != decisions[1]:
        assert found.witness is None
        return "congruent" if found.congruent else "different"
    assert found.witness is not None
    assert found.witness.changed_decision not in keeps
    changes = dict(box_of(found.witness.changes))
    assert changes
    given = {x: general.own_state(d, one, x) for x in d["variables"]}
    apart = {x for x, state in given.items() if state != general.own_state(d, other, x)}
    assert changes.keys() <= apart
    proof = tuple((x, changes.get(x, (state,))) for x, state in given.items())
    assert {c for w, c in oracle.worlds(d).items() if general.is_in(proof, general.indices(d, w))} == {
        found.witness.changed_decision
    }
    if found.common_reason is None:
        assert general.contains(tuple(box for box in between if box[0] in changes), box_of(found.witness.changes))
        return "no common reason"
    return "only a common reason"


def test_random_graphs() -> None:
    rng = Random(14)
    seen: dict[str, int] = {}
    for _ in range(600):
        d = random_case(rng, **SMALL).graph
        one = random_instance(rng, d)
        other = random_instance(rng, d) if rng.random() < 0.5 else random_neighbour(rng, d, one)
        graph = quia.DecisionGraph.from_dict(d)
        case = check(d, compare(quia.explain(graph, one), quia.explain(graph, other)), one, other)
        seen[case] = seen.get(case, 0) + 1
    assert (
        min(seen.get(case, 0) for case in ("congruent", "different", "only a common reason", "no common reason")) > 15
    )


def test_a_common_reason_that_is_no_shared_state() -> None:
    """25 and 35 share no state, yet all between them are denied."""
    nodes = {
        "age": {"test": "age", "edges": [{"if": "<= 30", "to": "debt"}, {"if": "> 30", "to": "old"}]},
        "debt": {"test": "debt", "edges": [{"if": ["yes"], "to": "deny"}, {"if": ["no"], "to": "grant"}]},
        "old": {"test": "age", "edges": [{"if": "<= 60", "to": "deny"}, {"if": "> 60", "to": "grant"}]},
        "deny": {"class": "deny"},
        "grant": {"class": "grant"},
    }
    variables = {"age": {"kind": "numeric"}, "debt": {"kind": "nominal", "states": ["no", "yes"]}}
    graph = quia.DecisionGraph.from_dict(
        {"quia": 1, "variables": variables, "classes": ["deny", "grant"], "root": "age", "nodes": nodes}
    )
    young, older = ({"age": age, "debt": "yes"} for age in (25, 35))
    found = compare(quia.explain(graph, young), quia.explain(graph, older))
    assert not found.congruent
    assert str(found.common_reason) == "age <= 60 and debt=yes"
    assert str(found.witness) == "biased: with age > 60, and all else the same, the decision would be grant"
    assert found.to_dict() == {
        "congruent": False,
        "decisions": ["deny", "deny"],
        "differences": [{"feature": "age", "one": "<= 30", "other": "(30, 60]"}],
        "common_reason": {
            "features": ["age", "debt"],
            "conditions": [
                {
                    "feature": "age",
                    "intervals": [{"low": None, "high": 60.0, "low_closed": False, "high_closed": True}],
                    "missing": False,
                    "text": "<= 60",
                },
                {"feature": "debt", "in": ["yes"], "text": "yes"},
            ],
        },
        "witness": {
            "changes": [
                {
                    "feature": "age",
                    "intervals": [{"low": 60.0, "high": None, "low_closed": False, "high_closed": False}],
                    "missing": False,
                    "text": "> 60",
                }
            ],
            "decision": "grant",
        },
    }
