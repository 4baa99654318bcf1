"""The `.odd` reader against a line-by-line reading of the same text, and on the compiled graphs in the shared data."""

import gzip
import random
from itertools import product

import pytest

from quia import FormatError, GraphError, explain, load
from quia.load import odd


def follow(text, values):
    """The sink that the last line leads to, read as the format is described."""
    header, *lines = text.strip().splitlines()
    order = [name.strip() for name in header.strip("[] ").split(",")]
    rows = {line.split()[0]: line.split() for line in lines if line.strip()}
    node = lines[-1].split()[0]
    while not node.startswith("S"):
        _, level, *children = rows[node]
        node = children[values[order[int(level)]]]
    return node[1:]


def random_text(rng, variables=4, classes=2, nodes=12):
    sizes = [rng.choice((2, 2, 3, 4)) for _ in range(variables)]
    ids = rng.sample(range(10**6), nodes)
    levels = sorted((rng.randrange(variables) for _ in range(nodes)), reverse=True)
    lines = [f"[{', '.join(f'v {k}' for k in range(variables))}]"]
    for k, (name, level) in enumerate(zip(ids, levels)):
        below = [str(ids[j]) for j in range(k) if levels[j] > level]
        options = below * 2 + [f"S{c}" for c in range(classes)]
        lines.append(" ".join([str(name), str(level), *(rng.choice(options) for _ in range(sizes[level]))]))
    return "\n".join(lines) + rng.choice(("", "\n", "\n\n"))


def test_random_graphs_classify_as_the_text_says():
    rng = random.Random(1)
    for _ in range(300):
        text = random_text(rng, classes=rng.choice((1, 2, 3, 12)))
        graph = odd.read(text.encode())
        for world in product(*(range(v.size) for v in graph.variables)):
            values = dict(zip((v.name for v in graph.variables), world))
            assert graph.classify(values) == follow(text, values)
        # Built node by node, with every check, it is the same graph.
        tests, labels, edges = zip(*graph.nodes)
        rebuilt = type(graph).build(graph.variables, graph.classes, tests, labels, edges)
        assert rebuilt == graph


def test_unreached_nodes_are_dropped_and_said():
    graph = odd.read(b"[a, b]\n5 1 S0 S1\n6 1 S1 S0\n7 0 5 S1\n")
    assert len(graph) == 4
    assert graph.notes == ("dropped 1 nodes that the root does not reach",)


def test_names_of_states_classes_and_variables():
    text = b"[a, b]\n5 1 S0 S1 S0\n7 0 5 S1\n"
    graph = odd.read(text, classes=["deny", "admit"], states={"Exam": ["no", "yes"]}, names={"a": "Exam"})
    assert [v.name for v in graph.variables] == ["Exam", "b"]
    for yes in (1, True, "1", "yes", 1.0):
        assert graph.classify({"Exam": yes, "b": 0}) == "admit"
    for no in (0, False, "0", "no"):
        assert graph.classify({"Exam": no, "b": "2"}) == "deny"
    assert str(next(iter(explain(graph, {"Exam": 1, "b": 0}).sufficient_reasons()))) == "Exam=yes"
    assert [v.name for v in odd.read(text, names=["x", "y"]).variables] == ["x", "y"]
    for wrong in (
        {"classes": ["one"]},
        {"classes": ["one", "one"]},
        {"classes": "ab"},
        {"states": ["no", "yes"]},
        {"states": {"c": ["no", "yes"]}},
        {"names": {"c": "d"}},
        {"names": ["x"]},
        {"names": ["x", "x"]},
    ):
        with pytest.raises(GraphError):
            odd.read(text, **wrong)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "variable order"),
        ("a, b\n0 0 S0 S1", 1, "variable order"),
        ("[a, a]\n0 0 S0 S1", 1, "twice"),
        ("[a, ]\n0 0 S0 S1", 1, "without a name"),
        ("[a]\n\n", 2, "no nodes"),
        ("[a]\n0 0\n", 2, "2 words"),
        ("[a]\n\n0 0 S0 T1\n", 3, "T1"),
        ("[a]\n0 0 S0 S\n", 2, "sinks are"),
        ("[a]\n0 0 S0 1S1\n", 2, "sinks are"),
        ("[a]\n0 0 S0 -1\n", 2, "sinks are"),
        ("[a]\n0 0 S0 99999999999\n", 2, "below 10⁹"),
        ("[a]\n0 0 S0 S99999\n", 2, "S99999"),
        ("[a]\nS0 0 S0 S1\n", 2, "an id"),
        ("[a]\n0 S0 S0 S1\n", 2, "a level"),
        ("[a]\n0 1 S0 S1\n", 2, "level 1"),
        ("[a, b]\n0 1 S0 S1\n0 0 S0 S1\n", 3, "second time"),
        ("[a, b]\n0 1 S0 S1\n1 0 S0 2\n", 3, "no line defines"),
        ("[a, b]\n1 0 S0 0\n0 1 S0 S1\n", 2, "before"),
        ("[a, b]\n0 0 0 S1\n", 2, "before"),
        ("[a, b]\n0 0 S0 S1\n1 1 0 S1\n", 3, "not after"),
        ("[a, b]\n0 1 S0 S1\n1 1 S0 S1 S0\n2 0 0 1\n", 3, "3 children"),
    ],
)
def test_faults_name_the_line(text, line, says, tmp_path):
    file = tmp_path / "broken.odd"
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        load(file, format="odd")
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert says in str(caught.value)


def test_a_deep_chain_and_a_wide_order():
    count = 10_000
    lines = [f"[{', '.join(f'v{k}' for k in range(count))}]"]
    lines += [f"{k} {k} S0 {k + 1 if k + 1 < count else 'S1'}" for k in reversed(range(count))]
    graph = odd.read("\n".join(lines).encode())
    assert graph.classify([1] * count) == "1"
    assert graph.classify([1] * (count - 1) + [0]) == "0"


def test_the_compiled_graphs_of_the_shared_data(shared_data):
    graphs = shared_data / "graphs"
    rng = random.Random(2)
    sizes = {
        "andes_COMPO16_n24_T0.5_robdd": 7321,
        "andes_COMPO16_n24_T0.5_quasi": 7692,
        "tcc4e_var_20_n30_T0.5": 200_226,
    }
    for name, size in sizes.items():
        graph = load(graphs / f"{name}.odd.gz")
        assert len(graph) == size + 2
        text = gzip.decompress((graphs / f"{name}.odd.gz").read_bytes()).decode()
        for _ in range(2):
            values = {v.name: rng.randrange(2) for v in graph.variables}
            assert graph.classify(values) == follow(text, values)
    same = [load(graphs / f"andes_COMPO16_n24_T0.5_{kind}.odd.gz") for kind in ("robdd", "quasi")]
    for _ in range(200):
        values = {v.name: rng.randrange(2) for v in same[0].variables}
        assert same[0].classify(values) == same[1].classify(values)
