"""Malformed files never give anything but a QuiaError."""

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quia
from quia import files
from quia.load import json as json_format
from quia.load.json import dumps
from strategies import random_graph
from test_additive_json import CARD, random_model, some_states

STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    10**30,
    1e308,
    "",
    "x",
    "<= 3",
    [],
    {},
    [[]],
    {"a": {}},
    ["a"],
    "0" * 500,
    "\ud800",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += places(part, (*path, key))
    return found


def mutated(rng: Random, d: Any) -> Any:
    """The data with one place replaced, removed or doubled."""
    d = json.loads(json.dumps(d))
    path = rng.choice([place for place in places(d) if place])
    part = d
    for key in path[:-1]:
        part = part[key]
    action = rng.randrange(4)
    if action == 0:
        del part[path[-1]]
    elif action == 1 and isinstance(part, list):
        part.append(part[path[-1]])
    elif action == 2 and isinstance(part, dict):
        part[rng.choice(["x", "quia", "if", "class"])] = part.pop(path[-1])
    else:
        part[path[-1]] = rng.choice(STRANGE)
    return d


@pytest.mark.parametrize("seed", range(4))
def test_mutated_graphs(seed: int) -> None:
    rng = Random(seed)
    messages: list[str] = []
    for _ in range(400):
        d = mutated(rng, random_graph(rng))
        try:
            graph = quia.DecisionGraph.from_dict(d)
            assert quia.DecisionGraph.from_dict(graph.to_dict()) == graph
        except quia.QuiaError as fault:
            messages.append(str(fault))
    assert len(messages) > 100
    assert all(0 < len(message) < 2000 and "\n" not in message for message in messages)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_additive_models(seed: int) -> None:
    rng = Random(seed)
    messages: list[str] = []
    for _ in range(300):
        d = mutated(rng, mutated(rng, CARD) if rng.random() < 0.3 else json.loads(dumps(random_model(rng))))
        try:
            model = quia.Additive.from_dict(d)
            states = some_states(rng, model)
            assert quia.Additive.from_dict(model.to_dict()).decide(states) == model.decide(states)
        except quia.QuiaError as fault:
            messages.append(str(fault))
    assert len(messages) > 100
    assert all(0 < len(message) < 2000 and "\n" not in message for message in messages)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(max_examples=200)
def test_any_data(data: Any) -> None:
    with pytest.raises(quia.GraphError):
        quia.DecisionGraph.from_dict(data)
    with pytest.raises(quia.GraphError):
        quia.Additive.from_dict(data)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(quia.QuiaError):
        json_format.read(data, "file")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"hello", "no format known here"),
        (b"{", "line 1: is not JSON"),
        (b'{\n"quia": 1,,}', "line 2: is not JSON"),
        (b"{" + b'"a":{' * 200_000, "too deeply|is not JSON"),
        (b'{"a": ' + b"[" * 200_000, "too deeply"),
        (b'{"quia": 1, "quia": 1}', "'quia' is given twice"),
        (b'{"quia": NaN}', "NaN stands"),
        (b'{"quia": ' + b"9" * 5000 + b"}", "number that cannot be read"),
        (b'{"quia": 1e999}', "the graph has no|version"),
        (b'\xff{"quia": 1}', "no format known"),
        (b"network n {", "line 1: has the end of the file where a property or } should be"),
        (b"net { } potential (" + b"(" * 200_000, "line 1: has '.' where the name of a node should be"),
        (b'<!DOCTYPE BIF [<!ENTITY a "a">]><BIF>&a;</BIF>', "line 1: declares 'a' in a document type"),
        (b'{"quia": "\xff"}', "not UTF-8"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        (gzip.compress(b"{}", mtime=0)[:-9], "cannot be read"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, match: str) -> None:
    file = tmp_path / "model.json"
    file.write_bytes(content)
    with pytest.raises(quia.QuiaError, match=match):
        quia.load(file)


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 10_000)
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(quia.FormatError, match="holds more than 10000 bytes"):
        quia.load(file)


@pytest.mark.parametrize("source", [None, 3, object(), b"{}"])
def test_things_that_are_no_model(source: Any) -> None:
    with pytest.raises(quia.Unsupported, match="cannot be loaded"):
        quia.load(source)


def test_options_belong_to_the_format(examples: Path) -> None:
    with pytest.raises(quia.Unsupported, match="no option 'clases'"):
        quia.load(examples / "iris.json", clases=("a", "b"))
    with pytest.raises(quia.FormatError, match="Is a directory"):
        quia.load(examples)
