"""Ensembles in quia's JSON: written and read again to the last bit; every fault is one sentence."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from ensemble_oracle import Table, random_ensemble
from quia import Ensemble, Variable
from quia.cli import main
from quia.errors import FormatError, GraphError, QuiaError
from quia.load.json import dumps, write
from quia.sums import Group, Rule, Sums
from quia.trees import Trees

SEEDS = range(3)
EACH = 60

TWO: dict[str, Any] = {
    "quia": 1,
    "kind": "boosted trees",
    "variables": {
        "age": {"kind": "numeric", "type": "float32", "missing": True},
        "job": {"kind": "nominal", "states": ["cook", "clerk", "none"]},
    },
    "classes": ["deny", "grant"],
    "rule": {"kind": "cuts", "cuts": [0.0]},
    "sums": {"start": [0.25], "type": "float32"},
    "tests": [{"variable": "age", "if": ["< 30", "missing"]}, {"variable": "job", "if": ["cook", "clerk"]}],
    "trees": [{"score": 0, "nodes": [[0, 1, 2], -0.75, [1, 3, 4], 0.5, -0.1]}, {"score": 0, "nodes": [0.125]}],
}


def test_an_ensemble_as_people_write_it() -> None:
    two = Ensemble.from_dict(TWO)
    assert two.kind == "boosted trees"
    assert [two.classify({"age": age, "job": "cook"}) for age in (29.9, 30, None)] == ["deny", "grant", "deny"]
    assert two.scores([1, 2]).tolist() == [float(np.float32(np.float32(0.25) + np.float32(-0.1)) + np.float32(0.125))]
    assert two.to_dict() == TWO


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_written_is_read_to_the_last_bit(seed: int, tmp_path: Path) -> None:
    for i in range(EACH):
        table = Table(random_ensemble(Random(f"{seed}.{i}"), points=300))
        ensemble = table.ensemble
        file = tmp_path / "ensemble.json"
        write(ensemble, file)
        again = quia.load(file)
        assert isinstance(again, Ensemble)
        assert (again.variables, again.classes, again.sums) == (ensemble.variables, ensemble.classes, ensemble.sums)
        for name in ("start", "test", "yes", "no", "values"):
            assert np.array_equal(getattr(again.trees, name), getattr(ensemble.trees, name)), name
        other = Table(again)
        assert np.array_equal(other.scores, table.scores) and np.array_equal(other.classes, table.classes)
        assert dumps(Ensemble.from_dict(again.to_dict())) == dumps(again)


def test_cuts_in_32_bits_and_beside_each_other() -> None:
    rng = np.random.default_rng(3)
    thirds = np.float32([1 / 3, np.nextafter(np.float32(1 / 3), np.float32(1)), 0.1, 1e-40, 16777216.0])
    random = rng.normal(size=40).astype(np.float32)
    for single in (True, False):
        near = [0.1, np.nextafter(0.1, 1), 0.1 + 0.2, 1e300, 5e-324, 2.0**53]
        cuts = [float(t) for t in (*thirds, *random, *([] if single else near))]
        cuts = [(t, side) for t in cuts for side in ("before", "after")][:: 1 if not single else 2]
        x = Variable.numeric("x", cuts, single=single)  # type: ignore[arg-type]
        tests = [(0, ((0, s),)) for s in range(0, x.size - 1, 2)]  # every second cut is in no test
        count = len(tests)
        start = np.arange(count + 1) * 3
        shape = [(t, -1, -1) for t in range(count)]
        trees = Trees.build(
            start,
            np.ravel(shape),
            np.ravel([(3 * t + 1, -1, -1) for t in range(count)]),
            np.ravel([(3 * t + 2, -1, -1) for t in range(count)]),
            rng.normal(size=2 * count),
            tests,
        )
        ensemble = Ensemble((x,), ("a", "b"), trees, Sums((0,) * count, (0.0,), Rule("cuts", (0.1,))))
        again = Ensemble.from_dict(json.loads(dumps(ensemble)))
        assert again.variables == ensemble.variables
        assert np.array_equal(again.trees.high, ensemble.trees.high)


def test_notes_names_and_groups_are_kept() -> None:
    trees = Trees.build([0, 1, 2], [-1, -1], [-1, -1], [-1, -1], [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], [])
    sums = Sums((-1, -1), (0.0, 0.5, 1e-300), Rule("softmax64"), groups=(Group(1, 3.0, 0.1), Group(1)), end=(0.1, 0, 0))
    job = Variable.nominal("größe", ["", "x=1", "other"], other="other", no_value="")
    ensemble = Ensemble((job,), ("a", "b", "ü"), trees, sums, "forest", ("a note", "another"))
    again = Ensemble.from_dict(json.loads(dumps(ensemble)))
    assert (again.kind, again.notes, again.sums, again.variables) == ("forest", ("a note", "another"), sums, (job,))


def test_the_command_converts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.json"
    file.write_text(json.dumps(TWO))
    main(["convert", str(file), "-o", str(tmp_path / "again.json")])
    assert json.loads((tmp_path / "again.json").read_text()) == TWO
    main(["explain", str(tmp_path / "again.json"), "--set", "age=40", "--set", "job=cook"])
    assert "Decision: grant" in capsys.readouterr().out
    main(["check", str(file)])
    assert "deny, grant" in capsys.readouterr().out


def test_real_ensembles_fit_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[1] / "docs" / "schemas" / "ensemble-1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(TWO)
    for i in range(EACH):
        validator.validate(json.loads(dumps(random_ensemble(Random(i), points=100))))
    for path, value in SEEN_IN_THE_SCHEMA:
        assert not validator.is_valid(_changed(path, value)), (path, value)


DELETED = object()
FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("quia",), 2, "the format version 'quia' is 2; this release reads version 1"),
    (("quia",), True, "the format version 'quia' is True"),
    (("sums",), DELETED, "the ensemble has no 'sums'; it must have"),
    (("nodes",), {}, "the ensemble has 'nodes'; it may only have"),
    (("variables",), [], "'variables' is []; it must be an object"),
    (("variables", "age", "type"), "int", "the type of variable 'age' is 'int'"),
    (("classes",), ["deny"], "the classes are deny, but the scores tell 2 apart"),
    (("classes",), ["deny", "deny"], "the class 'deny' is named twice"),
    (("kind",), 3, "'kind' has 3, which is no string"),
    (("notes",), "x", "'notes' is 'x'; it must be a list of strings"),
    (("notes",), [1], "'notes' has 1, which is no string"),
    (("rule", "kind"), "vote", "the rule is 'vote'; it is one of cuts, argmax"),
    (("rule", "kind"), [], "the rule is []; it is one of"),
    (("rule", "cuts"), [], "the rule 'cuts' has 0 cuts"),
    (("rule", "cuts"), ["0"], "the cuts of the rule is '0'; it must be a number"),
    (("rule", "cuts"), [1e999], "numbers that ascend"),
    (("rule",), "cuts", "the rule is 'cuts'; it must be an object with kind"),
    (("sums", "start"), [], "0 scores are told apart"),
    (("sums", "start"), 0.5, "'start' of 'sums' is 0.5; it must be a list of numbers"),
    (("sums", "start"), [10**400], "'start' of 'sums' is too large for 64 bits"),
    (("sums", "type"), "float16", "the type of 'sums' is 'float16'"),
    (("sums", "divisor"), 0, "a divisor or weight of the scores is not above 0"),
    (("sums", "divisor"), None, "the divisor of 'sums' is None; it must be a number"),
    (("sums", "end"), [0.0, 0.0], "2 numbers are added in the end to 1 scores"),
    (("sums", "groups"), [{"trees": 1}], "the groups have 1 of 2 trees"),
    (("sums", "groups"), [{"trees": 1.0}], "the number of trees of group 0 is 1.0; it must be a whole number"),
    (("sums", "groups"), [{"trees": 2, "divisor": "3"}], "the divisor of group 0 is '3'; it must be a number"),
    (("tests",), {}, "'tests' is {}; it must be a list of objects"),
    (("tests", 0, "variable"), "ages", "test 0 is about 'ages', which is no variable (did you mean 'age'?)"),
    (("tests", 0, "variable"), ["age"], "test 0 is about ['age'], which is no variable"),
    (("tests", 0, "if"), "about 30", "test 0: the condition 'about 30' cannot be read"),
    (("tests", 0, "if"), 30, "test 0: the condition 30 is not a string"),
    (("tests", 1, "if"), ["cook", "chef"], "test 1: 'job' has no state 'chef'"),
    (("tests", 1, "if"), ["cook", "cook"], "test 1: the states ['cook', 'cook'] of 'job' name one twice"),
    (("tests", 1, "else"), [], "test 1 has 'else'; it may only have variable, if"),
    (("trees",), None, "'trees' is None; it must be a list of objects"),
    (("trees", 0), [], "tree 0 is []; it must be an object with nodes"),
    (("trees", 0, "nodes"), [], "tree 0 has no node; a tree is a leaf at least"),
    (("trees", 0, "nodes"), "leaf", "the list of nodes of tree 0 is 'leaf'; it must be a list of"),
    (("trees", 0, "score"), 1, "a tree adds to score 1 of 1"),
    (("trees", 0, "score"), -1, "the score of tree 0 is -1; it must be a whole number from 0 on"),
    (("trees", 0, "score"), True, "the score of tree 0 is True"),
    (("trees", 0, "nodes", 0), [0, 1], "node 0 of tree 0 is [0, 1]; it is [test, yes, no]"),
    (("trees", 0, "nodes", 0), [0, 1, 2.0], "node 0 of tree 0 is [0, 1, 2.0]; it is [test, yes, no]"),
    (("trees", 0, "nodes", 0), [0, 1, True], "node 0 of tree 0 is [0, 1, True]; it is [test, yes, no]"),
    (("trees", 0, "nodes", 0), [10**30, 1, 2], "a node has a number beyond those of nodes and tests"),
    (("trees", 0, "nodes", 0), [2, 1, 2], "node 0 of tree 0 asks a test that is not among the 2"),
    (("trees", 0, "nodes", 0), [-1, 1, 2], "node 0 of tree 0 asks a test that is not among the 2"),
    (("trees", 0, "nodes", 0), [0, 0, 2], "node 0 of tree 0 has a 'yes' that is no later node of its tree"),
    (("trees", 0, "nodes", 2), [1, 3, 5], "node 2 of tree 0 has a 'no' that is no later node of its tree"),
    (("trees", 0, "nodes", 2), [1, 3, 3], "node 3 of tree 0 has 2 parents; it has one"),
    (("trees", 0, "nodes", 2), 0.5, "node 3 of tree 0 has 0 parents; it has one"),
    (("trees", 1, "nodes", 0), None, "node 0 of tree 1 is None; a leaf is a number"),
    (("trees", 1, "nodes", 0), "0.5", "node 0 of tree 1 is '0.5'; a leaf is a number"),
    (("trees", 1, "nodes", 0), {"value": 1}, "node 0 of tree 1 is {'value': 1}; a leaf is a number"),
    (("trees", 1, "nodes", 0), {"values": [1, 2]}, "node 0 of tree 1 has 2 values and another 1"),
    (("trees", 1, "nodes", 0), True, "node 0 of tree 1 is True; a leaf is a number"),
    (("trees", 1, "nodes", 0), 1e999, "node 0 of tree 1 is inf, which is not finite"),
    (("trees", 1, "nodes", 0), 10**400, "a leaf has a number too large for 64 bits"),
    (("trees", 0, "score"), DELETED, "has trees for one score and trees for all of them"),
]  # fmt: skip
SEEN_IN_THE_SCHEMA: list[tuple[tuple[Any, ...], Any]] = [
    (("quia",), 2), (("sums",), DELETED), (("nodes",), {}), (("rule", "kind"), "vote"), (("rule", "cuts"), []),
    (("sums", "type"), "float16"), (("sums", "divisor"), 0), (("trees", 0, "nodes"), []),
    (("trees", 0, "nodes", 0), [0, 1]), (("trees", 0, "score"), -1), (("trees", 1, "nodes", 0), None),
    (("tests", 1, "else"), []), (("trees", 1, "nodes", 0), {"value": 1}),
]  # fmt: skip


def _changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = copy.deepcopy(TWO)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    if value is DELETED:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


@pytest.mark.parametrize(("path", "value", "words"), FAULTS, ids=[f"{p[-1]} {str(v)[:20]}" for p, v, _ in FAULTS])
def test_faults(path: tuple[Any, ...], value: Any, words: str) -> None:
    with pytest.raises(GraphError) as fault:
        Ensemble.from_dict(_changed(path, value))
    assert words in str(fault.value) and "\n" not in str(fault.value)


def test_a_file_that_is_not_json(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    for text, words in (
        ('{"trees": [', "is not JSON"),
        ('{"trees": [], "trees": []}', "given twice"),
        ('{"quia": 1, "trees": NaN}', "JSON has no such number"),
        ('{"trees": ' + "[" * 100_000, "is not JSON|nests"),
        ('{"trees": [' + "9" * 10_000 + "]}", "number that cannot be read"),
    ):
        file.write_text(text)
        with pytest.raises((FormatError, GraphError), match=words):
            quia.load(file)


@pytest.mark.parametrize("seed", SEEDS)
def test_broken_at_random_it_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    said = []
    for _ in range(3 * EACH):
        text = list(dumps(random_ensemble(rng, points=30, trees=3, depth=2)))
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice(["", "0", "9", "-", ",", "[", "]", "{", "}", '"', "e", "null"])
        file = tmp_path / "broken.json"
        file.write_text("".join(text))
        try:
            quia.load(file)
        except QuiaError as fault:
            said.append(str(fault))
    assert len(said) > EACH and not any("\n" in fault for fault in said)
