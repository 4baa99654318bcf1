"""Weka's J48: our class is Weka's own on the shared trees and, where there is Java, on new ones with awkward names."""

import csv
import gzip
import json
import math
import random
import subprocess
from pathlib import Path

import pytest

import quia
from quia.load import weka
from quia.load.arff import read_arff

SHARED = Path(__file__).parents[3] / "shared" / "data" / "trees"
NAMES = [path.name for path in sorted(SHARED.glob("*"))] or ["none"]


def quoted(text):
    return "'" + "".join("\\" + c if c in "\\'%\"" else c for c in text) + "'"


def header(columns):
    kinds = ["numeric" if states is None else "{" + ",".join(map(quoted, states)) + "}" for _, states in columns]
    lines = [f"@attribute {quoted(name)} {kind}" for (name, _), kind in zip(columns, kinds, strict=True)]
    return "\n".join(["@relation r", *lines, "@data", ""])


@pytest.mark.parametrize("name", NAMES)
def test_our_class_is_wekas_on_every_row(name, shared_data):
    folder = shared_data / "trees" / name
    meta = json.loads((folder / "meta.json").read_text())
    with gzip.open(folder / "rows.csv.gz", "rt") as lines:
        columns, *rows = csv.reader(lines)
    nominal = meta["nominal_columns"] | {meta["class_column"]: meta["class_values"]}
    arff = header([(c, nominal.get(c)) for c in columns])
    printed, drawn = quia.load(folder / "tree.j48.txt", arff=arff), quia.load(folder / "tree.dot", arff=arff)
    bare = quia.load(folder / "tree.j48.txt")
    assert [v.name for v in printed.variables] == columns[:-1]
    assert printed.variables == drawn.variables
    assert list(printed.classes) == list(drawn.classes) == meta["class_values"]
    assert len(printed) == len(drawn) == len(bare)
    assert {v.name for v in bare.variables} == {printed.variables[v].name for v in printed.tested}
    assert len(rows) > 400
    predictions = (folder / "weka_predictions.txt").read_text().splitlines()
    refused = 0
    for number, (row, prediction) in enumerate(zip(rows, predictions, strict=True)):
        try:
            ours = printed.classify(row[:-1])
        except quia.InstanceError as fault:
            refused += "is missing" in str(fault)
            continue
        assert ours == drawn.classify(row[:-1]) == prediction
        if number % 10 == 0:
            assert bare.classify(dict(zip(columns, row, strict=True))) == prediction
    # Two rows lack a value that their path asks for, which J48 splits into fractions.
    assert refused == (2 if name == "adult" else 0)


def read(text, **options):
    return weka.read(text.encode(), "tree.txt", **options)


TITLE = "J48 pruned tree\n------------------\n\n"


def test_names_with_signs_are_told_apart_by_the_other_lines():
    graph = read(
        TITLE + "a <= b <= 1.5: yes (3.0)\na <= b > 1.5\n|   k: v = x: y: no (1.0/0.5)\n|   k: v = z\n"
        "|   |   e = f = 1: yes (2.0)\n|   |   e = f = 2: no (2.0)\n\nNumber of Leaves  : \t4\n"
    )
    assert [v.name for v in graph.variables] == ["a <= b", "k: v", "e = f"]
    assert graph.variables[1].labels == ("x: y", "z")
    instance = {"a <= b": 1.6, "k: v": "z", "e = f": "2"}
    assert graph.classify(instance) == "no"
    assert graph.classify(instance | {"e = f": "1"}) == "yes"
    assert graph.classify(instance | {"k: v": "x: y"}) == "no"
    assert graph.classify(instance | {"a <= b": 1.5}) == "yes"
    assert any("2 ways" in note for note in graph.notes)  # line 8: e, with the states 'f = 1' and 'f = 2', or 'e = f'


def test_a_header_decides_where_the_output_does_not():
    text = TITLE + "a = b = 1: c: d (2.0)\na = b = 2: e (2.0)\n"
    with pytest.raises(quia.Unsupported, match="arff="):
        read(text)
    one = read(text, arff=header([("a", ["b = 1", "b = 2"]), ("class", ["c: d", "e"])]))
    other = read(text, arff=header([("a = b", ["1: c", "2"]), ("class", ["e", "d"])]))
    assert one.classify({"a": "b = 1"}) == "c: d"
    assert other.classify({"a = b": "1: c"}) == "d"


def test_binary_splits_need_the_other_states():
    text = TITLE + "c = red: yes (2.0)\nc != red\n|   c = blue: no (2.0)\n|   c != blue: yes (2.0)\n"
    with pytest.raises(quia.Unsupported, match="only by = and !="):
        read(text)
    for options in (
        {"states": {"c": ["red", "green", "blue"]}},
        {"arff": header([("c", ["red", "green", "blue"]), ("y", ["yes", "no"])])},
        {"arff": header([("y", ["yes", "no"]), ("c", ["red", "green", "blue"])]), "target": "y"},
    ):
        graph = read(text, **options)
        assert [graph.classify({"c": c}) for c in ("red", "green", "blue")] == ["yes", "yes", "no"]


def test_a_single_leaf():
    graph = read(TITLE + ": yes (14.0/5.0)\n\nNumber of Leaves  : \t1\n")
    assert graph.classify({}) == "yes"
    drawn = weka.read(b'digraph J48Tree {\nN0 [label="yes (14.0/5.0)" shape=box style=filled ]\n}\n')
    assert drawn.classify({}) == "yes"


EXPLORER = """=== Run information ===

Scheme:       weka.classifiers.trees.J48 -C 0.25 -M 2
Relation:     r
Instances:    14
Attributes:   4
              unused
              x y
              later
              class
Test mode:    evaluate on training data

=== Classifier model (full training set) ===

J48 unpruned tree
------------------

x y <= 2: a (2.0)
x y > 2: b (2.0)

Number of Leaves  : \t2

Size of the tree : \t3

=== Classifier model for fold 1 ===

J48 unpruned tree
------------------

later <= 7: a (2.0)
later > 7: b (2.0)

=== Confusion Matrix ===

 a b   <-- classified as
 2 0 | a = a
"""


def test_the_explorers_columns_are_all_listed_and_later_trees_left_out():
    graph = read(EXPLORER)
    assert [v.name for v in graph.variables] == ["unused", "x y", "later"]
    assert len(graph) == 3
    assert "2 trees" in graph.notes[0]
    assert [v.name for v in read(EXPLORER, target="unused").variables] == ["x y", "later", "class"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (EXPLORER.replace("trees.J48 -C", "meta.AdaBoostM1 -W"), "not J48 alone"),
        ("AdaBoostM1: Base classifiers and their weights: \n\n" + TITLE + ": a (2.0)\n", "part of another model"),
        (TITLE, "no tree"),
        (TITLE + "x <= 1: a (2.0)\n", "cannot be read"),
        (TITLE + "x <= 1: a (2.0)\ny > 1: a (2.0)\n", "cannot be read"),
        (TITLE + "x <= 1: a (2.0)\nx > 2: a (2.0)\n", "one number"),
        (TITLE + "x <= 1: a\nx > 1: a (2.0)\n", "line 4: .*counts"),
        (TITLE + "|   x <= 1: a (2.0)\nx > 1: a (2.0)\n", "too far"),
        (TITLE + "c = r: a (1.0)\nc = r: b (1.0)\n", "overlap|more than one|two edges|twice|both"),
        (TITLE + "x <= 1\n|   x = 1: a (1.0)\n|   x = 2: a (1.0)\nx > 1: a (2.0)\n", "as a number and as a name"),
    ],
)
def test_what_is_no_tree_is_refused_with_a_reason(text, match):
    with pytest.raises(quia.QuiaError, match=match):
        read(text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('N0 [label="x" ]\n', "no box"),
        ('N0 [label="a" shape=box]\nN1 [label="b" shape=box]\n', "2 roots"),
        ('N0 [label="x" ]\nN0->N1 [label="<= 1"]\n', "not drawn"),
        ('N0 [label="x" ]\nN0->N0 [label="<= 1"]\n', "0 roots"),
        ('N0 [label="x" ]\nN0->N1 [label="~ 1"]\n', "not one of a J48 tree"),
        ("what\n", "cannot read"),
        ('N0 [label="x" ]\nN0->N1 [label="<= 1"]\nN1 [label="b" shape=box]\n', "no such split"),
    ],
)
def test_a_broken_drawing_is_refused_with_a_reason(text, match):
    with pytest.raises(quia.FormatError, match=match):
        read("digraph J48Tree {\n" + text + "}\n")


def test_a_deep_tree_needs_no_recursion():
    depth = 1200
    body = [f"{'|   ' * i}x{i} <= 0" for i in range(depth)]
    body.append(f"{'|   ' * depth}y <= 0: a (1.0)")
    body.append(f"{'|   ' * depth}y > 0: b (1.0)")
    body += [f"{'|   ' * i}x{i} > 0: b (1.0)" for i in reversed(range(depth))]
    graph = read(TITLE + "\n".join(body) + "\n")
    assert graph.classify({"y": 0} | {f"x{i}": 0 for i in range(depth)}) == "a"


@pytest.mark.parametrize(
    "text",
    [
        "@relation r\n@data\n",
        "@attribute a {b\n",
        "@attribute a {}\n",
        "@attribute\n",
        "@attribute a real\n@attribute a real\n",
    ],
)
def test_a_broken_header_is_refused(text):
    with pytest.raises(quia.FormatError):
        read_arff(text)


def test_every_state_and_quote_of_a_header_is_read():
    table = read_arff(
        "@ATTRIBUTE \"a 'b'\" { x , 'y, }z', \"q\\\"r\" }\r\n@attribute c\tINTEGER\n@attribute d date 'yyyy'\n"
    )
    assert table.attributes[0] == ("a 'b'", "nominal", ("x", "y, }z", 'q"r'))
    assert [a.kind for a in table.attributes] == ["nominal", "numeric", "date"]


def random_table(rng):
    """Columns with awkward names and states, and rows with a class that depends on them, noise and all."""
    states = ["s", "u v", "= e", "a: b", "<= 4", "q (2.0)", "!= z", "c = d"]
    columns = []
    for name in ("a b", "x = y", "p <= q", "k: v", "w'1", "per%cent", 'dq"d', "back\\slash", "n <= 3: yes"):
        few = [f"{text}{i}" for i, text in enumerate(rng.sample(states, rng.choice([2, 3, 4])))]
        columns.append((name, None if rng.random() < 0.5 else few))
    classes = ["yes", "no: way", "(m)", "y = z"][: rng.choice([2, 3, 4])]

    def value(few):
        draws = (rng.random(), rng.random() * 1e-2, rng.gauss(0, 1e7), round(rng.random(), 3))
        return rng.choice(few) if few else rng.choice(draws)

    rows = [[value(few) for _, few in columns] for _ in range(300)]
    weights = [rng.randrange(1, 4) for _ in columns]

    def label(row):
        score = sum(
            w * (few.index(v) if few else v > 0.4) for w, v, (_, few) in zip(weights, row, columns, strict=True)
        )
        return rng.choice(classes) if rng.random() < 0.1 else classes[score % len(classes)]

    return columns, classes, rows, [label(row) for row in rows]


@pytest.mark.parametrize(("seed", "options"), [(1, []), (2, ["-B"]), (3, ["-U", "-O"])])
def test_new_trees_of_weka_itself(seed, options, java, weka_jar, tmp_path):
    rng = random.Random(seed)
    columns, classes, rows, labels = random_table(rng)

    def arff(rows, labels):
        line = [",".join(quoted(v) if isinstance(v, str) else repr(v) for v in row) for row in rows]
        ends = [quoted(label) if label else "?" for label in labels]
        data = "\n".join(f"{a},{b}" for a, b in zip(line, ends, strict=True))
        return header([*columns, ("class", classes)]) + data + "\n"

    def run(*arguments):
        command = [java, "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-cp"]
        done = subprocess.run(
            [*command, str(weka_jar), "weka.classifiers.trees.J48", *map(str, arguments)],
            env={"WEKA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    train, test, model = tmp_path / "train.arff", tmp_path / "test.arff", tmp_path / "m.model"
    train.write_text(arff(rows, labels))
    graph = read(run("-t", train, "-no-cv", "-d", model, *options), arff=train)
    assert not any("six decimals" in note for note in graph.notes)
    probes = [list(rng.choice(rows)) for _ in range(1500)]
    for probe in probes:  # numbers on the cuts and next to them
        for index, variable in enumerate(graph.variables):
            if variable.cuts and rng.random() < 0.7:
                at = rng.choice(variable.cuts).threshold
                probe[index] = rng.choice([at, math.nextafter(at, -math.inf), math.nextafter(at, math.inf)])
    test.write_text(arff(probes, [None] * len(probes)))
    output = run("-l", model, "-T", test, "-p", "0")
    said = [line.split()[2].split(":")[0] for line in output.splitlines() if line.strip()[:1].isdigit()]
    assert [graph.classify(probe) for probe in probes] == [classes[int(which) - 1] for which in said]
    drawn = read(run("-l", model, "-T", test, "-g").strip(), arff=train)
    assert drawn.classes == graph.classes
    assert [drawn.classify(probe) for probe in probes] == [graph.classify(probe) for probe in probes]
