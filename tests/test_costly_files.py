"""Files made to cost memory or time: both stay in proportion to the file, or a limit refuses it in one sentence."""

import gzip
import json
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from costs import calls, load_cost
from quia import consistent, files
from quia.contexts import Contexts, Sets
from quia.errors import did_you_mean, shown
from quia.load import arff, dd, pmml, pmml_choice, weka, xml
from quia.load import json as json_format
from quia.ranges import covers, union
from sanitizer import not_sanitized


def twice(count: int, *, shuffled: bool = False) -> dict[str, Any]:
    """A chain in which each of many variables is tested, and then each again; all lead to one leaf."""
    second = list(range(count))
    if shuffled:
        Random(count).shuffle(second)
    nodes: dict[str, Any] = {"no": {"class": "no"}, "yes": {"class": "yes"}}
    for i in range(count):
        to = f"a{i + 1}" if i + 1 < count else "b0"
        nodes[f"a{i}"] = {"test": f"v{i}", "edges": [{"if": ["r"], "to": "no"}, {"if": ["s", "t"], "to": to}]}
        to = f"b{i + 1}" if i + 1 < count else "yes"
        nodes[f"b{i}"] = {"test": f"v{second[i]}", "edges": [{"if": ["s"], "to": "no"}, {"if": ["r", "t"], "to": to}]}
    variables = {f"v{i}": {"kind": "nominal", "states": ["r", "s", "t"]} for i in range(count)}
    return {"quia": 1, "variables": variables, "classes": ["no", "yes"], "root": "a0", "nodes": nodes}


@not_sanitized
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_chain_tested_twice_takes_memory_as_its_file_does(tmp_path: Path, shuffled: bool) -> None:
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(twice(6_000, shuffled=shuffled)))
    cost = load_cost(file)
    assert cost.error == ""
    assert cost.nodes == 12_002
    assert cost.megabytes < 300  # 2,500 where every node keeps its whole context


def test_a_long_chain_tested_twice_takes_work_as_its_length() -> None:
    small, large = (calls(lambda n=n: quia.DecisionGraph.from_dict(twice(n, shuffled=True))) for n in (300, 1200))
    assert large < 6 * small


def test_sets_and_contexts_are_what_plain_ones_are() -> None:
    rng = Random(7)
    for count in (1, 31, 33, 100, 700):
        sets = Sets(count)
        contexts = Contexts(sets)
        known_sets: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
        known: list[tuple[int, dict[int, Any]]] = [(0, {})]
        for _ in range(300):
            (a, plain_a), (b, plain_b) = rng.choice(known_sets), rng.choice(known_sets)
            member = rng.randrange(count)
            known_sets += [(sets.union(a, b), plain_a | plain_b), (sets.added(a, member), plain_a | {member})]
            trie, plain = rng.choice(known)
            states = rng.choice([None, ((0, 0),), ((0, 1), (3, 3))])
            put = {**plain, member: states} if states else {v: s for v, s in plain.items() if v != member}
            known += [(contexts.put(trie, member, states), put)]
            known += [(contexts.restricted(trie, a), {v: s for v, s in plain.items() if v in plain_a})]
            assert sets.has(a, member) == (member in plain_a)
            assert contexts.get(trie, member) == plain.get(member)
        # Equal ones are the same number, and only these.
        assert len({trie for trie, _ in known_sets}) == len({plain for _, plain in known_sets})
        assert len({t for t, _ in known}) == len({tuple(sorted(p.items())) for _, p in known})
        assert len(set(known_sets)) == len({trie for trie, _ in known_sets})


@not_sanitized
def test_ranges_that_every_later_test_would_repeat_are_refused(tmp_path: Path) -> None:
    """A test of every second interval, then a chain of cuts: each of its edges has all intervals that are left."""
    count = 8_000
    odd = [f"[{i}, {i + 1})" for i in range(0, 2 * count, 2)]
    even = ["< 0", *(f"[{i}, {i + 1})" for i in range(1, 2 * count, 2)), f">= {2 * count}"]
    nodes: dict[str, Any] = {"no": {"class": "no"}, "yes": {"class": "yes"}}
    nodes["top"] = {"test": "x", "edges": [{"if": odd, "to": "c0"}, {"if": even, "to": "no"}]}
    for i in range(count):
        to = f"c{i + 1}" if i + 1 < count else "no"
        edges = [{"if": f"< {2 * i + 1}", "to": "yes"}, {"if": f">= {2 * i + 1}", "to": to}]
        nodes[f"c{i}"] = {"test": "x", "edges": edges}
    file = tmp_path / "ranges.json"
    graph = {"quia": 1, "variables": {"x": {"kind": "numeric"}}, "classes": ["no", "yes"], "root": "top"}
    file.write_text(json.dumps({**graph, "nodes": nodes}))
    cost = load_cost(file)
    assert cost.error.startswith("TooLarge: making the tests of x consistent would take more than 2000000 ranges")
    assert cost.megabytes < 500


def test_comparing_contexts_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistent, "CONTEXTS_LIMIT", 1000)
    rng = Random(3)
    nodes: dict[str, Any] = {"m0": {"class": "no"}, "m1": {"class": "yes"}}
    for i in range(2, 400):
        edges = [{"if": ["0"], "to": f"m{i - 1}"}, {"if": ["1"], "to": f"m{rng.randrange(i)}"}]
        nodes[f"m{i}"] = {"test": f"v{rng.randrange(200)}", "edges": edges}
    variables = {f"v{i}": {"kind": "nominal", "states": ["0", "1"]} for i in range(200)}
    with pytest.raises(quia.TooLarge, match="more than 41000 steps to compare contexts; test each variable once"):
        quia.DecisionGraph.from_dict(
            {"quia": 1, "variables": variables, "classes": ["no", "yes"], "root": "m399", "nodes": nodes}
        )


TITLE = "J48 pruned tree\n------------------\n\n"


@pytest.mark.parametrize("line", ["x" + " = : " * 6000 + ": a (3.0)\n", "x" + " = y" * 20_000 + ": a (3.0)\n"])
def test_j48_lines_with_too_many_readings_are_refused(line: str) -> None:
    def refused() -> None:
        with pytest.raises(quia.TooLarge, match=r"line 4, 'x = .*too many ways"):
            weka_graph(2 * line)

    assert calls(refused) < 100_000


def weka_graph(text: str, **options: Any) -> quia.DecisionGraph:
    return weka.read((TITLE + text).encode(), "tree.txt", **options)


def test_j48_with_readings_that_an_arff_header_settles() -> None:
    name = "x" + " = : " * 300
    header = f"@attribute '{name}' {{u,v}}\n@attribute class {{a,b}}\n@data\n"
    graph = weka_graph(f"{name} = u: a (3.0)\n{name} = v: b (3.0)\n", arff=header)
    assert graph.classify({name: "v"}) == "b"


class Counted(str):
    """A text that counts how often it is compared; looked up in a dict it hardly ever is."""

    compared = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)  # type: ignore[no-any-return]

    __hash__ = str.__hash__


def test_many_states_of_j48_are_looked_up_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [f"s{i}" for i in range(2000)]
    tree = "".join(f"x = {state}: c{i} (3.0)\n" for i, state in enumerate(states))
    header = [arff.Attribute("x", "nominal", tuple(map(Counted, states)))]
    header.append(arff.Attribute("class", "nominal", tuple(Counted(f"c{i}") for i in range(2000))))
    monkeypatch.setattr(weka, "read_arff", lambda _: arff.Table(tuple(header), ()))
    Counted.compared = 0
    assert weka_graph(tree, arff="data.arff").classify({"x": "s1999"}) == "c1999"
    assert Counted.compared < 50 * len(states)


def test_many_states_in_an_arff_header() -> None:
    states = [f"s {i}" for i in range(20_000)]
    header = "@attribute x {" + " , ".join(f"'{state}'" for state in states) + " }\n@data\n"
    assert arff.read_arff(header).attributes[0].states == tuple(states)


def test_sparse_rows_cost_what_they_say() -> None:
    def told(count: int) -> int:
        header = "".join(f"@attribute a{i} real\n" for i in range(count))
        table = arff.read_arff(f"{header}@data\n" + f"{{{count - 1} 2.5}}\n" * count)
        names = {f"a{i}" for i in range(count)}
        found = arff.numbers(table, names)
        assert (found["a0"], found[f"a{count - 1}"]) == ({0.0}, {2.5})
        return calls(lambda: arff.numbers(table, names))

    assert told(1600) < 6 * told(400)


def test_sparse_rows_with_columns_that_are_no_numbers() -> None:
    table = arff.read_arff("@attribute a real\n@attribute b real\n@data\n{² 3, 1 4}\n{" + "9" * 5000 + " 1}\n")
    assert arff.numbers(table, ["a", "b"]) == {"a": {0.0}, "b": {0.0, 4.0}}


def pmml_file(nodes: str, values: str = "") -> bytes:
    """A PMML tree over a text x, an ordinal o and a number z, with these nodes below its root."""
    fields = f'<DataField name="x" optype="categorical" dataType="string">{values}</DataField>'
    fields += '<DataField name="z" optype="continuous" dataType="double"/>'
    schema = '<MiningField name="x"/><MiningField name="z"/><MiningField name="y" usageType="target"/>'
    return (
        f'<PMML version="4.4"><DataDictionary>{fields}<DataField name="y" optype="categorical" dataType="string"/>'
        f'</DataDictionary><TreeModel functionName="classification"><MiningSchema>{schema}</MiningSchema>'
        f'<Node score="a"><True/>{nodes}</Node></TreeModel></PMML>'
    ).encode()


def branch(number: int, predicate: str) -> str:
    return f'<Node score="{"ab"[number % 2]}">{predicate}</Node>'


def wide_split(count: int, kind: str) -> bytes:
    simple = '<SimplePredicate field="{}" operator="{}" value="{}"/>'
    if kind == "names":
        return pmml_file("".join(branch(i, simple.format("x", "equal", f"s{i}")) for i in range(count)))
    if kind == "numbers":
        return pmml_file("".join(branch(i, simple.format("z", "lessThan", i)) for i in range(count)))
    if kind == "declared":
        values = "".join(f'<Value value="s{i}"/><Value property="missing" value="m{i}"/>' for i in range(count))
        return pmml_file("".join(branch(i, simple.format("x", "equal", f"s{i}")) for i in range(count)), values)
    parts = "".join(simple.format("x", "equal", f"s{i}") for i in range(count))
    return pmml_file(branch(1, f'<CompoundPredicate booleanOperator="or">{parts}</CompoundPredicate>'))


@pytest.mark.parametrize("kind", ["names", "numbers", "declared", "one of many"])
def test_a_split_with_many_branches_takes_work_as_their_number(kind: str) -> None:
    assert len(pmml.read(wide_split(50, kind)).variables) == 2
    small, large = (calls(lambda n=n: pmml.read(wide_split(n, kind))) for n in (150, 600))
    assert large < 6 * small


def test_predicates_have_one_limit_for_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each node asks little enough; all together ask too much."""
    simple = '<SimplePredicate field="{}" operator="lessThan" value="{}"/>'
    pairs = [simple.format("w", i) + simple.format("z", i) for i in range(12)]
    both = "".join(
        branch(i, f'<CompoundPredicate booleanOperator="xor">{pair}</CompoundPredicate>')
        for i, pair in enumerate(pairs)
    )
    file = pmml_file(f'<Node score="a"><True/>{both}</Node>' * 40)
    another = b'<DataField name="w" optype="continuous" dataType="double"/>'
    file = file.replace(b'<DataField name="z"', another + b'<DataField name="z"')
    file = file.replace(b'<MiningField name="z"/>', b'<MiningField name="w"/><MiningField name="z"/>')
    assert pmml.read(file).classes == ("a", "b", "no prediction")
    monkeypatch.setattr(pmml_choice, "MOST_STEPS", 0)
    with pytest.raises(quia.TooLarge, match="the predicates of the tree take more than"):
        pmml.read(file)


def test_values_that_mean_missing_do_not_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of a number leaves out each value that means missing: tests times values ranges."""
    monkeypatch.setattr(pmml_choice, "MOST_STEPS", 10_000)
    count = 500
    simple = '<SimplePredicate field="z" operator="lessThan" value="{}"/>'
    file = pmml_file("".join(branch(i, simple.format(i)) for i in range(count)))
    values = "".join(f'<Value property="missing" value="{i}.5"/>' for i in range(count))
    field = f'<DataField name="z" optype="continuous" dataType="double">{values}</DataField>'
    with pytest.raises(quia.TooLarge, match="the predicates of the tree take more than"):
        pmml.read(file.replace(b'<DataField name="z" optype="continuous" dataType="double"/>', field.encode()))


def test_choices_are_what_asking_in_order_gives() -> None:
    rng = Random(11)
    sizes = (3, 5, 4)

    def simple() -> pmml_choice.Test:
        variable = rng.randrange(3)
        known = [rng.choice([True, False, False, None]) for _ in range(sizes[variable])]
        true, unknown = (union((s, s) for s, value in enumerate(known) if value is which) for which in (True, None))
        return pmml_choice.Test(variable, true, unknown)

    def predicate(depth: int = 0) -> Any:
        if depth == 2 or rng.random() < 0.6:
            return rng.choice([True, False, None, *[simple() for _ in range(6)]])
        operator = rng.choice(["and", "or", "xor", "surrogate"])
        parts = tuple(predicate(depth + 1) for _ in range(rng.randrange(1, 5)))
        whole = pmml_choice.join(operator, parts)
        joined = pmml_choice.join(operator, pmml_choice.merged(operator, parts, sizes.__getitem__))
        for world in product(*map(range, sizes)):
            assert value_in(whole, world) is value_in(joined, world)
        return joined

    def value_in(predicate: Any, world: tuple[int, ...]) -> Any:
        for variable, state in enumerate(world):
            predicate = pmml_choice.substitute(predicate, variable, state)
        return predicate

    for trial in range(400):
        children = tuple((predicate(), child) for child in range(rng.randrange(1, 7)))
        at_unknown = (lambda: -7) if trial % 2 else None

        def settle(choice: Any, at_unknown: Any = at_unknown) -> Any:
            for number, (each, child) in enumerate(choice):
                if each is True:
                    return child
                if each is None and at_unknown:
                    return at_unknown()
                if each not in (None, False):
                    return choice[number:]
            return -1

        start, residues = pmml_choice.compile_choice(
            children, sizes.__getitem__, settle, at_unknown, pmml_choice.Work(10**6)
        )
        for world in product(*map(range, sizes)):
            found = start
            while not isinstance(found, int):
                variable, edges = residues[found]
                (found,) = [after for states, after in edges if covers(states, world[variable])]
            assert found == settle(tuple((value_in(each, world), child) for each, child in children))


def test_texts_between_many_elements_are_joined_once() -> None:
    document = xml.parse(b"<a>" + b"x<b/>" * 1000 + b"</a>")
    assert document.elements[0].text == "x" * 1000
    assert len(document.elements[0].children) == 1000


@not_sanitized
def test_many_small_elements_take_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "many.pmml"
    file.write_text('<PMML version="4.4">' + "a<b/>" * 600_000 + "</PMML>")
    cost = load_cost(file)
    assert cost.error.endswith("has no model")
    assert cost.megabytes < 130  # 220 with a list, a dict and a text of its own for each


@not_sanitized
@pytest.mark.parametrize("value", [b"0,", b"[],", b"{},", b'"",'])
def test_a_gzipped_list_of_many_small_values_takes_little_memory(tmp_path: Path, value: bytes) -> None:
    file = tmp_path / "many.json.gz"
    file.write_bytes(gzip.compress(b'{"quia":1,"variables":[' + value * 40_000_000 + b"0]}", 1))
    cost = load_cost(file, format="json")
    assert "times its size; if it is what it should be, unpack it" in cost.error
    assert cost.megabytes < 200


def test_json_with_more_values_than_a_model_has_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "MOST_VALUES", 1000)
    graph = json.dumps(twice(3)).encode()
    assert len(json_format.read(graph)) == 8
    for read in (json_format.read, dd.read):
        with pytest.raises(quia.FormatError, match=r"m\.json: holds more than 1000 values"):
            read(b'{"level_of_var": {' + b"[]," * 1000, "m.json")


def test_tables_may_be_packed_better_than_models(tmp_path: Path) -> None:
    file = tmp_path / "zeros.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * (files.ALWAYS_READ // 4 + 10)))
    with pytest.raises(quia.FormatError, match="100 times its size"):
        files.read_bytes(str(file))
    assert len(files.read_bytes(str(file), unpacked=None)) > files.ALWAYS_READ


@pytest.mark.parametrize("length", [12, 59, 199, 5000])
def test_names_that_are_nearly_alike_are_compared_in_bounded_work(length: int) -> None:
    """Anagrams of two letters pass every quick comparison, so only a few may be compared well."""
    rng = Random(length)
    letters = list("ab" * length)[:length]
    names = ["".join(rng.sample(letters, length)) for _ in range(2000)]
    compared = calls(lambda: did_you_mean("".join(letters), names))
    assert compared < 2_000_000
    assert did_you_mean(names[7][:-1] + "x", names) == f" (did you mean {shown(names[7])}?)" or length > 60


def test_messages_stay_short_whatever_the_names() -> None:
    long = "n" * 1_000_000
    leaf = {"class": "no"}
    node = {"test": "x", "edges": [{"if": "<= 1", "to": long}, {"if": "> 1", "to": "y"}]}
    graph = {"quia": 1, "variables": {"x": {"kind": "numeric"}}, "classes": ["no", long], "root": long}
    for nodes in (
        {long: leaf | {"class": long + "!"}},
        {long: leaf | {"odd": 1}},
        {long: {"test": long}},
        {long: node, "y": leaf},
        {long: node, "y": leaf, "z": leaf},
        {long: {"test": "x", "edges": [{"if": "<= 1", "to": "y"}, {"if": "> 2", "to": "y"}]}, "y": leaf},
    ):
        with pytest.raises(quia.GraphError) as caught:
            quia.DecisionGraph.from_dict({**graph, "nodes": nodes})
        assert len(str(caught.value)) < 1000
