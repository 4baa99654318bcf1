"""Broken files of each circuit format: a FormatError with file and line, or another QuiaError, quickly."""

import json
import random

import pytest

from booleans import bdd, pysdd
from quia import FormatError, GraphError, QuiaError, Unsupported, load
from quia.load import dd, nnf, sdd

SDD = "c a comment\nsdd 5\nL 1 0 1\nL 2 0 -1\nL 3 2 2\nF 4\nD 0 1 2 1 3 2 4\n"
VTREE = "c\nvtree 3\nL 0 1\nL 2 2\nI 1 0 2\n"
C2D = "nnf 5 4 2\nL 1\nL -1\nL 2\nA 2 0 2\nO 1 2 3 1\n"
D4 = "o 1 0\no 2 0\nt 3 0\n1 2 -1 0\n1 3 1 2 0\n2 3 2 0\n2 3 -2 0\n"
DD = '{\n"level_of_var": {"x": 0, "y": 1},\n"roots": [3],\n"2": [1, "F", "T"],\n"3": [0, -2, 2]\n}'
DDDMP = (
    ".ver DDDMP-2.0\n.mode A\n.varinfo 3\n.nnodes 3\n.nvars 2\n.nsuppvars 2\n.suppvarnames x y\n"
    ".orderedvarnames x y\n.ids 0 1\n.permids 0 1\n.nroots 1\n.rootids -3\n.nodes\n"
    "1 T 1 0 0\n2 y 1 1 -1\n3 x 0 2 -2\n.end\n"
)


def test_the_samples_are_what_they_should_be(tmp_path):
    (tmp_path / "f.vtree").write_text(VTREE)
    cases = {
        SDD: lambda x, y: x and y,
        C2D: lambda x, y: y if x else True,
        D4: lambda x, y: y if x else True,
        DD: lambda x, y: x == y,
        DDDMP: lambda x, y: x != y,
    }
    for text, meant in cases.items():
        file = tmp_path / "model"
        file.write_text(text)
        options = {"vtree": tmp_path / "f.vtree"} if text is SDD else {}
        classifier = load(file, **options)
        for x in (0, 1):
            for y in (0, 1):
                assert classifier.classify([x, y]) == str(int(meant(x, y))), text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("sdd 1000000000\nT 0\n", 1, "says 1000000000"),
        ("sdd x\nT 0\n", 1, "whole number"),
        ("sdd\nT 0\n", 1, "header"),
        ("c\nsdd 0\n", 2, "no nodes"),
        ("sdd 1\nD 0 1 1 1 2\n", 2, "child 1"),
        ("sdd 1\nD 0 1 1000000000 1 2\n", 2, "lines are"),
        ("sdd 1\nD 0 1 0\n", 2, "lines are"),
        ("sdd 1\nD 0 1 1 0 0\n", 2, "child 0"),
        ("sdd 2\nT 0\nF 0\n", 3, "second time"),
        ("sdd 1\nL 0 0 999999999\n", 2, "lines are"),
        ("sdd 1\nL 0 0 0\n", 2, "lines are"),
        ("sdd 1\nQ 0\n", 2, "lines are"),
        ("sdd 3\nL 1 0 1\nL 2 0 2\nD 0 1 1 1 2\n", 4, "exclusive and exhaustive"),
        ("sdd 4\nL 1 0 1\nL 2 0 -1\nL 3 0 -1\nD 0 1 2 1 3 2 3\n", 5, "share variable 1"),
    ],
)
def test_broken_sdd_files(text, line, says, tmp_path):
    check(text, line, says, tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("nnf 1000000000 0 1\nL 1\n", 1, "1000000000 nodes"),
        ("nnf 1 0 1000000000\nL 1\n", 1, "variables"),
        ("nnf 1 0\nL 1\n", 1, "header"),
        ("nnf 0 0 0\n", 1, "0 nodes"),
        ("nnf 1 0 1\nL 2\n", 2, "variables up to 1"),
        ("nnf 1 0 1\nL 0\n", 2, "variables up to 1"),
        ("nnf 1 1 1\nA 1 0\n", 2, "child 0"),
        ("nnf 1 1 1\nA 1 -1\n", 2, "child -1"),
        ("nnf 1 1 1\nA 5 0\n", 2, "lines are"),
        ("nnf 2 1 1\nL 1\nO 7 1 0\n", 3, "lines are"),
        ("nnf 3 2 1\nL 1\nL -1\nA 2 0 1\n", 4, "share variable 1"),
        ("nnf 2 2 1\nL 1\nA 1 0\n", 1, "2 edges"),
        ("nnf 1 0 1\nB 1\n", 2, "lines are"),
        ("o 1 0\n1 2 0\n", 2, "not declared"),
        ("o 1 0\n1 1 0\n", 2, "cycle"),
        ("o 1 0\no 2 0\n1 2 1 0\n2 1 2 0\n", 4, "cycle"),
        ("o 1 0\no 1 0\n", 2, "id of its own"),
        ("t 1 0\n1 1 0\n", 2, "from a constant"),
        ("o 1 0\nt 2 0\n1 2 1\n", 3, "an arc is"),
        ("o 1 0\nt 2 0\n1 2 1000000000 0\n", 3, "at most"),
        ("a 1 0\nt 2 0\n1 2 1 0\n1 2 -1 0\n", 1, "share variable 1"),
        ("o 1 0\nt 2 0\n1 2 x 0\n", 3, "whole number"),
    ],
)
def test_broken_nnf_files(text, line, says, tmp_path):
    check(text, line, says, tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (DD.replace("[3]", "[9]"), 3, "root is 9"),
        (DD.replace("[3]", "[]"), 3, "'roots'"),
        (DD.replace("-2, 2", "-7, 2"), 5, "child -7"),
        (DD.replace("-2, 2", "3, 2"), 5, "not after"),
        (DD.replace('"y": 1', '"y": 5'), 2, "levels"),
        (DD.replace("[1,", "[7,"), 4, "level 7"),
        (DD.replace('"2"', '"two"'), 4, "a node is"),
        (DD.replace('"F"', '"G"'), 4, "'T' or 'F'"),
        (DD[:-3], 5, "not JSON"),
        (DD.replace('"3"', '"2"'), 4, "second time"),
        (DD.replace('"y"', '"x"'), 2, "second time"),
        (DD.replace('"roots": [3],', ""), 1, "'roots'"),
        (DDDMP.replace(".nnodes 3", ".nnodes 1000000000"), 4, "1000000000"),
        (DDDMP.replace(".end\n", ""), 16, "cut short"),
        (DDDMP.replace("2 y 1 1 -1", "2 z 1 1 -1"), 15, "header does not list"),
        (DDDMP.replace("2 y 1 1 -1", "3 y 1 1 -1"), 16, "again"),
        (DDDMP.replace("2 y 1 1 -1", "2 y 1 3 -1"), 15, "not after"),
        (DDDMP.replace("3 x 0 2 -2", "3 x 0 7 -2"), 16, "child 7"),
        (DDDMP.replace("3 x 0 2 -2", "3 x 2"), 16, "a node is"),
        (DDDMP.replace(".nnodes 3\n", ""), 1, "missing"),
        (DDDMP.replace(".rootids -3", ".rootids x"), 12, "no number"),
        (DDDMP.replace(".suppvarnames x y", ".suppvarnames x"), 7, ".varinfo"),
        (DDDMP.replace(".rootids -3", ".rootids -9"), 12, "root is -9"),
        (DDDMP.replace(".mode A", ".mode B"), 2, "text mode"),
        (DDDMP.replace(".permids 0 1", ".permids 0 0"), 10, "permids"),
    ],
)
def test_broken_bdd_files(text, line, says, tmp_path):
    check(text, line, says, tmp_path)


def check(text, line, says, tmp_path):
    file = tmp_path / "broken"
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        load(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("vtree 1000000000\nL 0 1\n", "line 1: says 1000000000"),
        ("vtree 2\nL 0 1\nL 2 2\n", "2 trees"),
        ("vtree 3\nL 0 1\nL 2 1\nI 1 0 2\n", "each variable once"),
        ("vtree 3\nL 0 1\nL 0 2\nI 1 0 2\n", "second time"),
        ("vtree 3\nL 0 1\nL 2 2\nI 1 0 0\n", "each once"),
        ("vtree 3\nL 0 1\nL 2 3\nI 1 0 2\n", "vtree lacks"),
        ("vtree 3\nL 0 2\nL 2 1\nI 1 0 2\n", "respect the vtree"),
        ("vtree 3\nL 0 1\nL 2 2\nI 5 0 2\n", "respect the vtree"),
    ],
)
def test_vtrees_are_checked(text, says, tmp_path):
    (tmp_path / "f.vtree").write_text(text)
    (tmp_path / "f.sdd").write_text(SDD)
    with pytest.raises(FormatError, match=says):
        load(tmp_path / "f.sdd", vtree=tmp_path / "f.vtree")


def mutated(rng, text):
    """A text with words removed, repeated or replaced, lines gone or swapped, or its end cut off."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(lines))
        words = lines[i].split(" ")
        k = rng.randrange(len(words))
        action = rng.randrange(6)
        if action == 0:
            words[k] = rng.choice(["-1", "0", "1", "2", "7", "99999999999999999999", "x", "", "1e3", "nan", "\u0661"])
        elif action == 1:
            del words[k]
        elif action == 2:
            words.insert(k, words[k])
        lines[i] = " ".join(words)
        if action == 3:
            del lines[i:]
        elif action == 4:
            j = rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        if not lines:
            return ""
    return "\n".join(lines)


@pytest.mark.parametrize("sample", [SDD, C2D, D4, DDDMP, DD.replace(", ", ",\n "), "[a, b]\n7 1 S0 S1\n5 0 7 S1\n"])
def test_mangled_files_never_give_anything_but_a_quia_error(sample, tmp_path):
    rng = random.Random(len(sample))
    outcomes = {"read": 0, "refused": 0}
    file = tmp_path / "model"
    for _ in range(400):
        file.write_text(mutated(rng, sample))
        try:
            classifier = load(file)
            classifier.classify([rng.randrange(2) for _ in classifier.variables])
            outcomes["read"] += 1
        except QuiaError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10, outcomes


def test_a_wrong_sdd_is_refused_or_right():
    """Children exchanged at random: what is accepted must be the same function by any of its nodes' meaning."""
    rng = random.Random(3)
    refused = 0
    for _ in range(150):
        _, node = pysdd(rng.getrandbits(8) | 1, 3, "balanced")
        if not node.is_decision():
            continue
        nodes = _rows(node)
        number = rng.choice([i for i, row in enumerate(nodes) if row[0] == "D"])
        row = nodes[number]
        row[rng.randrange(4, len(row))] = str(rng.choice([int(r[1]) for r in nodes[:number]]))
        data = "\n".join([f"sdd {len(nodes)}", *(" ".join(row) for row in nodes)]).encode()
        try:
            circuit = sdd.read(data)
        except FormatError:
            refused += 1
            continue
        for world in range(8):
            values = [world >> i & 1 for i in range(len(circuit.variables))]
            assert circuit.classify(values) == str(int(_meaning(nodes, values)))
    assert refused > 50


def _rows(node):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f.sdd"
        node.save(str(file).encode())
        return [line.split() for line in file.read_text().splitlines() if line[0] not in "cs"]


def _meaning(nodes, values):
    known = {}
    for kind, number, *rest in nodes:
        if kind == "L":
            known[number] = values[abs(int(rest[1])) - 1] == (int(rest[1]) > 0)
        elif kind == "D":
            known[number] = any(known[p] and known[s] for p, s in zip(rest[2::2], rest[3::2]))
        else:
            known[number] = kind == "T"
    return known[nodes[-1][1]]


def test_several_roots_are_told_apart():
    two = json.loads(DD)
    two["roots"] = {"same": 3, "differ": -3}
    with pytest.raises(GraphError, match="same, differ"):
        dd.read(json.dumps(two).encode())
    assert dd.read(json.dumps(two).encode(), root="same").classify([1, 1]) == "1"
    assert dd.read(json.dumps(two).encode(), root="differ").classify([1, 1]) == "0"
    with pytest.raises(GraphError, match="root is 'sam'"):
        dd.read(json.dumps(two).encode(), root="sam")


def test_dddmp_variables_by_number():
    by_id = DDDMP.replace(".varinfo 3", ".varinfo 0").replace("2 y ", "2 1 ").replace("3 x ", "3 0 ")
    plain = DDDMP.replace(".varinfo 3", ".varinfo 4").replace("2 y ", "2 ").replace("3 x ", "3 ")
    for text in (by_id, plain):
        assert dd.read(text.encode()).to_dict() == dd.read(DDDMP.encode()).to_dict()


def test_all_of_a_managers_variables_are_listed():
    import dd.autoref
    import dd.cudd

    for backend in (dd.autoref, dd.cudd):
        _, function = bdd(0b10101010, 3, backend, ["v3", "v1", "v2"])
        graph = load(function)
        assert [v.name for v in graph.variables] == ["v3", "v1", "v2"]
        assert graph.classify({"v1": 1}) == "1"


def test_live_objects_take_no_file_options():
    import dd.autoref

    manager, function = bdd(1, 2, dd.autoref)
    _, node = pysdd(1, 2, "left")
    for source, options in ((function, {"root": 0}), (node, {"vtree": "f.vtree"}), (manager, {}), (node.manager, {})):
        with pytest.raises(Unsupported):
            load(source, **options)
    with pytest.raises(Unsupported):
        load(load(function))
    del source


def test_deep_and_large_circuits():
    # A chain of 5,000 decisions: no recursion in its depth.
    count = 5_000
    lines = ["A 0"]
    for v in range(count, 0, -1):
        below = len(lines) - 1
        lines += [f"L {v}", f"L -{v}", f"A 2 {len(lines)} {below}"]
        if v % 2:
            lines.append(f"O {v} 2 {len(lines) - 1} {len(lines) - 2}")
    edges = sum(len(line.split()) - 2 - (line[0] == "O") for line in lines if line[0] in "AO")
    circuit = nnf.read("\n".join([f"nnf {len(lines)} {edges} {count}", *lines]).encode())
    assert circuit.classify([1] * count) == "1"
    assert circuit.classify([1, 0] + [1] * (count - 2)) == "0"
