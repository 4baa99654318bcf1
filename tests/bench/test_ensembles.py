"""Ensembles: what is counted is counted right, wrong reasons are found, and without PyXAI the rest is measured."""

import csv
import gzip
import importlib
import json
import random

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

import quia
from benchmarks import ensembles_memory, ensembles_models, ensembles_peers, ensembles_published, ensembles_rows
from benchmarks.__main__ import main
from quia.errors import Refuted, Undecided

NAMES = ["f0", "f1", "f2", "f3"]
ROWS = 8
SECONDS = (0.5, 2.0)  # that MaxSAT and SMT are said to have taken for each instance
FORESTS = ["--model", "XGBoost 100x6", "--model", "forest 100x6"]


def made(count=120, seed=3):
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 12, (count, len(NAMES))).astype(float)
    return values, ((values[:, 0] > 5) & (values[:, 1] < 8) | (values[:, 2] > 9)).astype(int)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A published model of two classes, and a table with a nominal column."""
    home = tmp_path_factory.mktemp("data")
    values, labels = made()
    (home / "xreason" / "made").mkdir(parents=True)
    model = XGBClassifier(n_estimators=50, max_depth=2, n_jobs=1, base_score=0.5).fit(values, labels)
    model.get_booster().dump_model(home / "xreason" / "made" / "model.txt")
    with (home / "xreason" / "made" / "instances.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*NAMES, "maxsat_seconds", "smt_seconds", "maxsat_size"])
        lines.writerows([*values[n], *SECONDS, n % 5] for n in range(ROWS))
    (home / "train").mkdir()
    colours = random.Random(1).choices(["red", "green", "?"], k=len(values))
    rows = [f"{','.join(map(str, v))},{colour},{'yn'[c]}" for v, colour, c in zip(values, colours, labels, strict=True)]
    text = "\n".join([",".join([*NAMES, "colour", "class"]), *rows]) + "\n"
    (home / "train" / "compas.csv.gz").write_bytes(gzip.compress(text.encode()))
    return home


def run(folder, tmp_path, *options):
    out = tmp_path / "numbers.json"
    code = main(["ensembles", "--data", str(folder), "--json", str(out), *options])
    return code, json.loads(out.read_text())


def test_published_models_are_counted_and_checked(folder, tmp_path, capsys):
    code, numbers = run(folder, tmp_path, "--only", "xreason")
    (result,) = numbers["xreason"]
    assert code == 0 and (result["rows"], result["trees"], result["features"]) == (ROWS, 50, 4)
    assert result["checked"] == result["minimal"] == ROWS and not result["undecided"] and not result["refuted"]
    assert (result["maxsat"], result["smt"]) == (ROWS * SECONDS[0], ROWS * SECONDS[1])
    model = ensembles_published.read(folder / "xreason" / "made")
    lengths = []
    for instance in model.instances:
        why = quia.explain(model.classifier, dict(zip(NAMES, instance, strict=True)))
        lengths.append(len(next(iter(why.sufficient_reasons(limit=1)))))
    published = [n % 5 for n in range(ROWS)]
    assert result["length"] == pytest.approx(np.mean(lengths))
    assert result["maxsat_length"] == pytest.approx(np.mean(published))
    assert result["shorter"] == sum(a < b for a, b in zip(lengths, published, strict=True))
    assert result["longer"] == sum(a > b for a, b in zip(lengths, published, strict=True))
    assert result["shortest"]["finished"] == ROWS and result["shortest"]["length"] <= result["length"]
    printed = capsys.readouterr().out
    assert f"confirms {ROWS}, refutes 0 and leaves 0 undecided" in printed and "order of magnitude" in printed


def test_a_reason_with_a_feature_too_many_fails_the_command(folder, tmp_path, monkeypatch, capsys):
    def everything(classifier, row, _limit):
        why = quia.explain(classifier, row)
        return 2.5, quia.Reason.of(classifier.variables, why.states, classifier.tested, kind="sufficient")

    monkeypatch.setattr(ensembles_rows, "one_reason", everything)
    code, numbers = run(folder, tmp_path, "--only", "xreason", "--rows", "2")
    (result,) = numbers["xreason"]
    assert code == 1 and len(result["refuted"]) == 2 and not result["checked"]
    assert result["named"][0] == "row 0: 2.50 s, refuted"
    assert "REFUTED: made: row 0" in capsys.readouterr().out


def test_what_time_leaves_undecided_or_unproved_is_counted_as_such(folder, monkeypatch):
    def undecided(*_arguments, **options):
        assert options["timeout"] == 7
        raise Undecided("time was up")

    model = ensembles_published.read(folder / "xreason" / "made")
    rows = [(n, dict(zip(NAMES, model.instances[n], strict=True))) for n in range(3)]
    monkeypatch.setattr(ensembles_rows, "verify", undecided)
    result = ensembles_rows.reduce_rows(model.classifier, rows, None, 7).numbers()
    assert (result["checked"], result["undecided"], result["minimal"]) == (0, 3, 3)
    assert result["named"] == []
    one = ensembles_rows.one_reason(model.classifier, rows[0][1], None)[1]
    loose = quia.Reason(one.literals, kind="sufficient", is_minimal=False)
    monkeypatch.setattr(ensembles_rows, "one_reason", lambda *_: (0.1, loose))
    result = ensembles_rows.reduce_rows(model.classifier, rows, 1, 7).numbers()
    assert (result["checked"], result["undecided"], result["minimal"]) == (0, 0, 0)
    assert "not proved minimal" in result["named"][0]


def test_a_folder_without_such_models_is_refused(tmp_path, capsys):
    assert main(["ensembles", "--data", str(tmp_path), "--only", "xreason"]) != 0
    assert "has no model.txt" in capsys.readouterr().err


def test_learned_models_are_explained_beside_their_own_predictions(folder, tmp_path, capsys):
    code, numbers = run(folder, tmp_path, "--only", "models", "--rows", "4", "--benchmark", "compas", *FORESTS)
    assert code == 0 and [r["name"] for r in numbers["models"]["one"]] == [
        "compas, XGBoost 100x6",
        "compas, forest 100x6",
    ]
    for result in numbers["models"]["one"]:
        assert (result["rows"], result["trees"], result["features"]) == (4, 100, 5)
        assert result["minimal"] == 4 == result["checked"] + result["undecided"] and not result["refuted"]
        assert result["predict"] > 0 and result["median"] <= result["p90"] <= result["max"]
    (every,) = numbers["models"]["all"]
    assert every["complete"] == every["rows"] == 4 and every["most"] >= 1
    assert "4 of 4 rows complete" in capsys.readouterr().out


def test_tables_are_read_as_numbers_and_some_rows_held_out(folder):
    data = ensembles_models.read_data(folder / "train", "compas")
    values, labels = made()
    assert data.held_out[:, :4].tolist() == values[::5].tolist()
    assert len(data.learned) == len(data.labels) == 96 and set(data.learned[:, 4]) == {0.0, 1.0, 2.0}
    assert data.labels.tolist() == [1 - c for n, c in enumerate(labels) if n % 5]  # n comes before y
    assert [n for n, _ in data.chosen(3)] == [0, 8, 16]


def test_a_reason_that_the_library_breaks_is_refuted(folder):
    data = ensembles_models.read_data(folder / "train", "compas")
    model = RandomForestClassifier(9, max_depth=4, n_jobs=1, random_state=0).fit(data.learned, data.labels)
    classifier = quia.load(model)
    row = data.held_out[0]
    reason = next(iter(quia.explain(classifier, row).sufficient_reasons(limit=1)))
    assert ensembles_models.decided_otherwise(model, data, classifier, row, reason) is None
    fault = ensembles_models.decided_otherwise(model, data, classifier, row, quia.Reason())
    assert fault.endswith("of 1,000 rows with its values are decided otherwise")
    result = ensembles_rows.reduce_rows(classifier, [(0, row)], None, 20, lambda *_: fault).numbers()
    assert len(result["refuted"]) == 1 and fault in result["refuted"][0] and "refuted" in result["named"][0]


def test_memory_is_measured_in_a_process_of_its_own(folder):
    data = ensembles_models.read_data(folder / "train", "compas")
    result = ensembles_memory.measure(data, 2, trees=3)
    forest = RandomForestClassifier(3, n_jobs=1, random_state=0).fit(data.learned, data.labels)
    assert result["leaves"] == sum(tree.get_n_leaves() for tree in forest.estimators_)
    assert 0 < result["before"] <= result["loaded"] <= result["explained"] and result["minimal"] == result["rows"] == 2
    assert "3, any depth" in ensembles_memory.text(result)


def test_without_pyxai_the_rest_is_measured(folder, tmp_path, monkeypatch, capsys):
    def refuse(*_arguments):
        raise RuntimeError("no network")

    monkeypatch.setattr(ensembles_peers, "environment", refuse)
    code, numbers = run(folder, tmp_path, "--only", "peers", "--benchmark", "compas")
    assert code == 0 and numbers["peers"]["results"] == []
    assert "PyXAI could not be installed: no network" in capsys.readouterr().out


def test_the_forest_that_pyxai_gets_has_the_trees_votes():
    values, labels = made(80, seed=5)
    forest = RandomForestClassifier(7, max_depth=2, n_jobs=1, random_state=0).fit(values, labels)
    votes = np.array([tree.predict(values) for tree in forest.estimators_])
    twin = ensembles_peers.voting(forest)
    assert twin.predict(values).tolist() == (votes.mean(axis=0) > 0.5).astype(int).tolist()
    assert not np.array_equal(twin.predict_proba(values), forest.predict_proba(values))
    for tree, column in zip(forest.estimators_, votes, strict=True):
        arrays = ensembles_peers.tree_of(tree.tree_)
        leaves = tree.apply(values)
        assert [arrays["label"][leaf] for leaf in leaves] == column.tolist()


def test_the_others_answers_are_counted_by_what_the_model_decides():
    values, labels = made(80, seed=6)
    forest = RandomForestClassifier(5, max_depth=3, n_jobs=1, random_state=0).fit(values, labels)
    classifier = quia.load(forest)
    row = next(v for v in values if len(next(iter(quia.explain(classifier, v).sufficient_reasons(limit=1)))) in (1, 2))
    reason = next(iter(quia.explain(classifier, row).sufficient_reasons(limit=1)))
    names = [variable.name for variable in classifier.variables]
    members = [names.index(feature) for feature in reason.features]
    decision = int(forest.predict([row])[0])
    answers = [members, members[1:], list(range(4))]
    theirs = [
        {"row": 0, "count": 1, "reasons": [features], "literals": 3, "decision": decision, "seconds": 2.0}
        for features in answers
    ]
    theirs += [{"row": 0, "count": None, "reasons": [], "seconds": 4.0, "fault": "TypeError: no"}]
    theirs[0]["decision"] = 1 - decision
    own = [{"seconds": 0.5, "length": 2}]
    result = ensembles_peers.compared(classifier, [row], [decision], own, theirs, "sufficient", 20)
    counted = [result[key] for key in ("right", "wrong", "not minimal", "undecided", "other_decision")]
    assert counted == [1, 1, 1, 0, 1]
    assert (result["ratio"], result["other_answered"], result["faults"]) == (4.0, 3, ["TypeError: no"])
    (necessary,) = list(quia.explain(classifier, row).necessary_reasons(limit=1))[:1]
    changed = [names.index(feature) for feature in necessary.features]
    assert ensembles_peers.check(classifier, row, changed, "necessary", 20) == "right"
    own = ensembles_peers.own_answers(classifier, [row], "one nearest change", 20)
    assert own[0]["length"] <= len(changed)
    line = {"name": "made", "question": "one sufficient", "wrong_by_votes": None} | result
    assert "TypeError: no" in ensembles_peers.text({"results": [line], "notes": ["a note"]})


def test_what_is_refuted_says_so(monkeypatch):
    def refuse(*_arguments, **_options):
        raise Refuted("x can go", witness={})

    monkeypatch.setattr(ensembles_rows, "verify", refuse)
    assert ensembles_rows.check(None, None, None, 1) == ("refuted", "x can go")
    assert importlib.import_module("benchmarks.ensembles").refutable({"memory": {}}) == []
