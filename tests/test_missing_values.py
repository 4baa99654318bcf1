"""Values that are missing where the model has no state for that: what is decided whatever they are is explained."""

import json
from itertools import product
from math import nan
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import general_oracle as general
import oracle
import quia
from booleans import CIRCUITS, tree
from quia import paper
from quia.batch.arrow import explain_batches
from quia.batch.cache import Cache
from quia.batch.question import ask
from quia.batch.texts import csv_columns, json_lines
from quia.cli import main
from quia.complete import closed_form
from quia.load import nnf
from quia.show.html import page
from quia.web.answers import answer, compare
from strategies import random_case, random_frozen, random_neighbour

MISSING = (None, nan, "?", "")


def features(reasons: Any) -> list[frozenset[str]]:
    return [frozenset(reason.features) for reason in reasons]


def lacking(rng: Random, graph: quia.DecisionGraph, instance: dict[str, Any], share: float = 0.4) -> dict[str, Any]:
    """The instance without some values; never without one for which missing is a state."""
    can = {v.name for v in graph.variables if not v.missing}
    return {x: value for x, value in instance.items() if x not in can or rng.random() > share}


def given(rng: Random, d: dict[str, Any], partial: dict[str, Any]) -> dict[str, Any]:
    """The instance as users write it: something that says 'missing' for what it lacks."""
    return {x: partial[x] if x in partial else rng.choice(MISSING) for x in d["variables"]}


def partial_cases(seed: int, count: int) -> Any:
    """Random questions about instances that lack a tested value, and what the oracle decides on them."""
    rng = Random(seed)
    while count:
        case = random_case(rng) if rng.random() < 0.7 else random_case(rng, sharing=0)
        graph = quia.DecisionGraph.from_dict(case.graph)
        partial = lacking(rng, graph, case.instance)
        if all(graph.variables[v].name in partial for v in graph.tested):
            continue
        count -= 1
        yield rng, case, graph, partial, given(rng, case.graph, partial), oracle.decision(case.graph, partial)


@pytest.mark.parametrize("seed", range(8))
def test_reasons_hold_whatever_the_missing_values_are(seed: int) -> None:
    explained = 0
    for _, case, graph, partial, instance, decision in partial_cases(seed, 150):
        if decision is None or case.against == decision:
            continue
        explained += 1
        options = {"against": case.against, "frozen": case.frozen}
        why = quia.explain(graph, instance, costs=case.costs, **options)
        assert why.decision == decision
        *_, last = graph.path(why.states)
        if graph.tests[last] < 0:
            assert graph.classify(instance) == decision
        else:  # the model itself may have no class for this
            with pytest.raises(quia.InstanceError, match="is missing"):
                graph.classify(instance)
        assert why.unknown == tuple(
            graph.variables[v].name for v in graph.tested if graph.variables[v].name not in partial
        )
        question = (case.graph, partial, case.against, case.frozen)
        formula = why.complete_reason
        assert formula == closed_form(graph, why.question)
        index = {v.name: i for i, v in enumerate(graph.variables)}
        for kind, algorithm in (("necessary", paper.nr), ("sufficient", paper.sr)):
            expected = getattr(oracle, f"{kind}_reasons")(*question)
            found = getattr(why, f"{kind}_reasons")()
            listed = features(found)
            assert set(listed) == expected, (case, partial)
            assert len(listed) == len(expected) == found.count
            assert algorithm(formula) == {frozenset(index[x] for x in reason) for reason in expected}
            assert set(features(getattr(why, f"{kind}_reasons")(shortest=True))) == oracle.shortest(
                expected, case.costs
            )
            for reason in found:
                assert not set(reason.features) & set(why.unknown)
                quia.verify(graph, instance, reason, kind, **options)
        shares = why.importance()
        assert {x: shares[x] for x in case.graph["variables"]} == oracle.importance(*question)
        satisfying = oracle.complete_reason(*question)
        for features_kept in oracle.subsets(oracle.free(case.graph, case.frozen)):
            kept = {index[x] for x in features_kept}
            holds = formula.values(lambda v, _, kept=kept: [int(one) in kept for one in v])[-1]
            assert bool(holds) == (features_kept in satisfying)
    assert explained > 30


@pytest.mark.parametrize("seed", range(4))
def test_a_row_whose_decision_depends_on_a_missing_value_is_refused(seed: int) -> None:
    refused = 0
    for _, case, graph, partial, instance, decision in partial_cases(100 + seed, 150):
        if decision is not None:
            continue
        refused += 1
        decisive = oracle.decisive(case.graph, partial)
        with pytest.raises(quia.InstanceError, match=r"is missing .* as the decision depends on it") as fault:
            quia.explain(graph, instance)
        assert str(fault.value).split(" is missing (")[0] in decisive
        with pytest.raises(quia.InstanceError, match="is missing"):
            graph.classify(instance)
        with pytest.raises(quia.InstanceError, match="as the decision depends on it"):
            quia.verify(graph, instance, [], "sufficient")
    assert refused > 20


@pytest.mark.parametrize("seed", range(6))
def test_what_reasons_are_for(seed: int) -> None:
    """Counterfactuals, congruence, holds_without and bias."""
    uncertain = 0
    for rng, case, graph, partial, instance, decision in partial_cases(200 + seed, 150):
        if decision is None or case.against == decision:
            continue
        d = case.graph
        why = quia.explain(graph, instance, against=case.against, frozen=case.frozen, costs=case.costs)
        changes = why.counterfactuals(missing=True)
        wanted = general.counterfactual_regions(d, partial, case.against, case.frozen, case.costs, missing=True)
        assert sorted(map(region, changes)) == sorted(wanted), (case, partial)
        certain = [change.certain for change in changes]
        assert certain == sorted(certain, reverse=True)
        assert why.counterfactuals(limit=1, missing=True) == changes[:1]
        uncertain += False in certain

        dropped = random_frozen(rng, d)
        assert why.holds_without(dropped) == oracle.holds_without(d, partial, dropped, case.against)
        if case.against is None:
            other = lacking(rng, graph, random_neighbour(rng, d, {**random_world(rng, d), **partial}), 0.1)
            if oracle.decision(d, other) is None:
                with pytest.raises(quia.InstanceError, match="as the decision depends on it"):
                    why.is_congruent(given(rng, d, other))
            else:
                assert why.is_congruent(given(rng, d, other)) == oracle.congruent(d, partial, other), (case, other)
            bias = why.bias(dropped)
            assert bias.biased == oracle.decision_biased(d, partial, dropped)
            if bias:
                for point in product(*(states for _, states in box(bias.changes))):
                    moved = zip((literal.feature for literal in bias.changes), point, strict=True)
                    after = {**partial, **{x: oracle.space(d)[x][state] for x, state in moved}}
                    classes = {oracle.classify(d, whole) for whole in oracle.completions(d, after)}
                    assert bias.changed_decision in classes
                    assert not bias.certain or len(classes) == 1
    assert uncertain > 3


def box(literals: Any) -> general.Box:
    """Literals as the oracle's box."""
    return tuple((literal.feature, literal.states) for literal in literals)


def region(change: Any) -> general.Region:
    """A counterfactual as the oracle's region."""
    return box(change.changes), change.decision, change.certain


def random_world(rng: Random, d: dict[str, Any]) -> dict[str, Any]:
    return {x: rng.choice(states) for x, states in oracle.space(d).items()}


@pytest.mark.parametrize("seed", range(3))
def test_circuits_as_graphs(seed: int, tmp_path: Path) -> None:
    """An SDD or a Decision-DNNF of a random function: explained and refused as the oracle has it."""
    rng = Random(300 + seed)
    explained = refused = 0
    while explained < 40 or refused < 20:
        n = rng.choice((3, 4))
        mask = rng.getrandbits(1 << n) & rng.choice((-1, rng.getrandbits(1 << n)))
        d = tree(mask, n)
        form = rng.choice(list(CIRCUITS))
        circuit = CIRCUITS[form](mask, n, rng, tmp_path)
        partial = {x: rng.choice("01") for x in d["variables"] if rng.random() > 0.4}
        instance = given(rng, d, partial)
        tested = {circuit.variables[v].name for v in circuit.tested}
        decision = oracle.decision(d, partial)
        if decision is None:
            refused += 1
            with pytest.raises(quia.InstanceError, match="as the decision depends on it") as fault:
                quia.explain(circuit, instance)
            assert str(fault.value).split(" is missing (")[0] in oracle.decisive(d, partial)
            continue
        explained += bool(tested - partial.keys())
        frozen = random_frozen(rng, d)
        why = quia.explain(circuit, instance, frozen=frozen)
        assert why.decision == circuit.classify(instance) == decision
        for kind in ("necessary", "sufficient"):
            expected = getattr(oracle, f"{kind}_reasons")(d, partial, None, frozen)
            assert set(features(getattr(why, f"{kind}_reasons")())) == expected, (form, d, partial)
            for reason in expected:
                quia.verify(circuit, instance, reason, kind, frozen=frozen)
        wanted = general.counterfactual_regions(d, partial, None, frozen)
        assert sorted(map(region, why.counterfactuals())) == sorted(wanted)
        dropped = random_frozen(rng, d)
        assert why.holds_without(dropped) == oracle.holds_without(d, partial, dropped)
        if tested - partial.keys() and tested <= set(d["variables"]):
            with pytest.raises(quia.Refuted):
                quia.verify(circuit, instance, [*(tested - partial.keys())], "necessary")


def test_a_circuit_of_one_class_tells_what_it_can() -> None:
    """Without the other class's formula it is not known whether a decision for that class holds whatever it is."""
    circuit = nnf.read(b"nnf 3 2 2\nL 1\nL 2\nO 0 2 0 1\n")  # v1 or v2; the formula is that of 'neither'
    for instance in ([1, None], [0, None]):
        with pytest.raises(quia.InstanceError, match=r"2 is missing .* as the decision may depend on it"):
            quia.explain(circuit, instance)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_table_as_one_by_one(seed: int) -> None:
    """With and without a cache, in trees and shared graphs, many rows at once."""
    rng = Random(400 + seed)
    seen = [0, 0]
    for _ in range(30):
        case = random_case(rng, sharing=rng.choice((0, 0.6)))
        graph = quia.DecisionGraph.from_dict(case.graph)
        worlds = [random_world(rng, case.graph) for _ in range(20)]
        rows = [given(rng, case.graph, lacking(rng, graph, world, rng.choice((0, 0.3)))) for world in worlds]
        rows = [{x: None if value != value else value for x, value in row.items()} for row in rows]
        options = {"against": case.against, "frozen": case.frozen, "costs": case.costs}
        protected = rng.sample(list(case.graph["variables"]), 1)
        question = ask(
            graph, counts=True, limit=3, all_reasons=3, counterfactuals=3, protected=protected, threads=1, **options
        )
        texts = [{x: None if v is None else str(v) for x, v in row.items()} for row in rows]
        batches = [pa.RecordBatch.from_pylist(part) for part in (texts, texts[:7], texts[5:])]
        tables = [t.to_pylist() for t in explain_batches(iter(batches), graph, question, cache=Cache())]
        assert tables[1:] == [tables[0][:7], tables[0][5:]]
        for row, found in zip(texts, tables[0], strict=True):
            why = explained(graph, row, **options)
            if isinstance(why, str):
                if "already" in why:
                    assert "already" in found["error"]
                    continue
                seen[0] += 1
                assert found["error"] == why
                assert found["decision"] is found["unknown"] is found["shortest_sufficient"] is None
                continue
            seen[1] += bool(why.unknown)
            assert (found["decision"], found["error"], found["complete"]) == (why.decision, None, True)
            assert found["unknown"] == list(why.unknown)
            for kind in ("necessary", "sufficient"):
                reasons = getattr(why, f"{kind}_reasons")
                shortest, every = (reasons(general=True, limit=3, shortest=only) for only in (True, False))
                assert as_dicts(found[f"shortest_{kind}"]) == said(kind, shortest)
                assert as_dicts(found[f"{kind}_reasons"]) == said(kind, every)
                assert found[f"{kind}_count"] == getattr(why, f"count_{kind}")()
            changes = [
                (as_dicts([change["changes"]])[0], change["decision"], change["certain"])
                for change in found["counterfactuals"]
            ]
            assert changes == [
                ({literal.feature: literal.text for literal in c.changes}, c.decision, c.certain)
                for c in why.counterfactuals(limit=3)
            ]
            assert found["biased"] is why.bias(protected).biased
    assert min(seen) > 20


def explained(classifier: Any, row: Any, **options: Any) -> quia.Explanation | str:
    """The explanation, or why there is none."""
    try:
        return quia.explain(classifier, row, **options)
    except quia.InstanceError as fault:
        return str(fault)


def as_dicts(reasons: Any) -> list[dict[str, str]]:
    return [{condition["feature"]: condition["condition"] for condition in reason} for reason in reasons]


def said(kind: str, reasons: Any) -> list[dict[str, str]]:
    """What a table says of general reasons: the conditions that force the decision, or the changes."""
    told = (reason.changes if kind == "necessary" else reason.literals for reason in reasons)
    return [{literal.feature: literal.text for literal in literals} for literals in told]


def test_a_table_of_a_circuit(tmp_path: Path) -> None:
    circuit = CIRCUITS["SDD balanced"](0b11111000, 3, Random(1), tmp_path)  # v3, or v1 and v2
    rows = [{"v1": a, "v2": b, "v3": c} for a in ("0", "1", None) for b in ("0", "1", "?") for c in ("0", "1", "")]
    for row, found in zip(rows, quia.explain_batch(circuit, rows).to_pylist(), strict=True):
        why = explained(circuit, row)
        if isinstance(why, str):
            assert (found["decision"], found["error"]) == (None, why)
            continue
        assert (found["decision"], found["unknown"]) == (why.decision, list(why.unknown))
        shortest = why.sufficient_reasons(general=True, shortest=True)
        assert as_dicts(found["shortest_sufficient"]) == said("sufficient", shortest)


ROW = {"SAT": None, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


def test_what_is_written(admissions: quia.DecisionGraph) -> None:
    """Text, JSON, page and table say what is not known, and what then only could be."""
    why = quia.explain(admissions, ROW)
    assert "Not known: SAT; the reasons hold whatever it is\n" in str(why)
    assert "could change with: Essay=pass\n" in str(why)
    assert "with Interview=pass (now fail): Accept\n" in str(why)
    assert "with Essay=pass (now fail): could be Accept" in str(why)
    two = quia.explain(admissions, ROW | {"GPA": "?"})
    assert "Not known: SAT, GPA; the reasons hold whatever they are\n" in str(two)
    found = why.to_dict()
    assert found["unknown"] == ["SAT"] and found["states"].keys() == {"GPA", "Essay", "Interview"}
    assert found["instance"]["SAT"] is None
    assert [change["certain"] for change in found["counterfactuals"]] == [True, False]
    assert "unknown" not in quia.explain(admissions, ROW | {"SAT": 1400}).to_dict()
    assert str(why.bias(["Essay"])).endswith("with Essay=pass, and all else the same, the decision could be Accept")
    assert why.bias(["Essay"]).to_dict()["certain"] is False
    assert why.bias(["Interview"]).to_dict()["certain"] is True
    source = page(why)
    assert "Not known: SAT; all this holds whatever it is." in source and "not known: may be anything" in source
    assert "could, by what is not known, make it " in source
    assert "not known" in page(quia.explain(admissions, ROW | {"SAT": 1400, "GPA": None}))
    table = quia.explain_batch(admissions, [ROW], counterfactuals=3, shortest=())
    (batch,) = table.to_batches()
    written = csv_columns(batch).to_pylist()[0]
    assert written["unknown"] == "SAT"
    assert written["counterfactuals_text"] == "Interview=pass: Accept | Essay=pass: could be Accept"
    line = json.loads(json_lines(batch))
    assert line["unknown"] == ["SAT"]
    told = [[(change["decision"], change["certain"]) for change in each["counterfactuals"]] for each in (line, found)]
    assert told[0] == told[1]


def test_every_page_of_a_partial_instance_is_made(admissions: quia.DecisionGraph, shared_data: Path) -> None:
    """Small graphs are drawn whole, large ones along the path, which may end at a test of what is not known."""
    ends = 0
    for name, rows in (("adult", 1000), ("compas", 60)):
        folder = shared_data / "trees" / name
        states = json.loads((folder / "meta.json").read_text())["nominal_columns"]
        graph = quia.load(folder / "tree.j48.txt", states=states)
        rng = Random(name)
        for _ in range(rows):
            instance = {v.name: v.labels[0] if v.labels else rng.uniform(0, 60) for v in graph.variables}
            instance |= dict.fromkeys(rng.sample(sorted(instance), 3))
            try:
                why = quia.explain(graph, instance)
            except quia.InstanceError:
                continue
            *_, last = graph.path(why.states)
            if graph.tests[last] >= 0:
                ends += 1
                assert "to the first whose value is not known" in page(why)
            if ends > 5:
                break
    assert ends > 5


def test_the_local_page(admissions: quia.DecisionGraph) -> None:
    asked = {"instance": ROW, "against": "Accept", "without": ["Essay"]}
    found = answer(admissions, asked, name="m")
    assert found["explanation"]["unknown"] == ["SAT"]
    assert found["without"] == {
        "features": ["Essay"],
        "holds": False,
        "changes": [{"feature": "Essay", "in": ["pass"], "text": "pass"}],
        "decision": "Accept",
        "certain": False,
        "text": "Without Essay the decision no longer stands: with Essay pass it could be Accept.",
    }
    both = compare(admissions, {"one": ROW, "other": ROW | {"SAT": 1400, "GPA": ""}})
    assert both["congruent"] and both["common_reason"]["features"] == ["Essay", "Interview"]
    assert both["differences"] == [
        {"feature": "SAT", "one": None, "other": "< 1450"},
        {"feature": "GPA", "one": "medium", "other": None},
    ]
    assert both["html"].count("not known") == 2


def test_the_kernel_refuses_what_is_not_decided(admissions: quia.DecisionGraph) -> None:
    open_row = np.array(admissions.encode(ROW | {"Essay": "pass"}), np.int32)
    assert admissions.kernel.classify(open_row[None]).tolist() == [-2]  # it depends on variable 0
    for ask_kernel in (admissions.kernel.necessary, admissions.kernel.complete_reason):
        with pytest.raises(ValueError, match="depends on variable 0, which is unknown"):
            ask_kernel(open_row)
    with pytest.raises(ValueError, match="depends on variable 0, which is unknown"):
        admissions.kernel.batch(open_row[None])
    with pytest.raises(ValueError, match="variable 0 has state -2"):
        admissions.kernel.classify(np.full((1, 4), -2, np.int32))


def test_a_missing_value_with_a_state_stays_a_state() -> None:
    """NaN goes where the model sends it, also where the decision would be the same for every number."""
    d = {
        "quia": 1,
        "variables": {"x": {"kind": "numeric"}, "y": {"kind": "nominal", "states": ["a", "b"], "missing": "b"}},
        "classes": ["no", "yes"],
        "root": "x",
        "nodes": {
            "x": {
                "test": "x",
                "edges": [{"if": "< 0", "to": "y"}, {"if": ">= 0", "to": "y"}, {"if": "missing", "to": "no"}],
            },
            "y": {"test": "y", "edges": [{"if": ["a"], "to": "yes"}, {"if": ["b"], "to": "no"}]},
            "no": {"class": "no"},
            "yes": {"class": "yes"},
        },
    }
    why = quia.explain(quia.DecisionGraph.from_dict(d), {"x": None, "y": None})
    assert (why.decision, why.unknown) == ("no", ())
    assert sorted(map(str, why.sufficient_reasons())) == ["x is missing", "y=b"]


def test_the_commands(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    model = str(examples / "admissions.json")
    asked = ["--set", "SAT=?", "--set", "GPA=medium", "--set", "Interview=fail", "--set"]
    assert main(["explain", model, *asked, "Essay=fail", "--protected", "Essay"]) == 0
    assert "Not known: SAT" in (said := capsys.readouterr().out) and "the decision could be Accept." in said
    assert main(["explain", model, *asked, "Essay=pass"]) == 2
    assert "SAT is missing ('?')" in (said := capsys.readouterr().err) and "as the decision depends on it" in said
    towns = {"kind": "nominal", "states": ["Ghent", "any other"], "other": "any other"}
    edges = [{"if": ["Ghent"], "to": "yes"}, {"if": ["any other"], "to": "yes"}]
    d = {"quia": 1, "variables": {"town": towns}, "classes": ["yes"], "root": "t"}
    d["nodes"] = {"t": {"test": "town", "edges": edges}, "yes": {"class": "yes"}}
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "i.json").write_text('{"town": NaN}')
    assert main(["explain", str(tmp_path / "m.json"), "--instance", str(tmp_path / "i.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown"] == ["town"]
