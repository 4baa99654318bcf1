"""Which requests are taken, and the sentence for each that is not."""

import json
from random import Random
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest

from quia.errors import shown
from quia.web.openapi import document
from quia.web.pool import Fault
from quia.web.question import from_json, from_query
from quia.web.schema import LAST_ROW, DroppedFile, Pair, Question, RowsWanted

CONDITION = "a condition such as '>= 52', or a list of states or conditions, each of at most 1000 letters"
REACH = "how far it may be from its value: a number, or a share such as '10%'"
CONSTRAINTS = "a list of at most 200 constraints, texts of at most 1000 letters such as 'a=yes -> b > 3'"
GOOD: dict[str, Any] = {"instance": {"a": 1, "b": "x", "c": None, "d": True, "e": 1.5}}


def asked(data: Any) -> Question:
    return from_json(json.dumps(data).encode(), Question)


def test_questions_are_taken_as_they_are() -> None:
    assert asked(GOOD) == Question(GOOD["instance"], None, [], {}, [], False, 10, {}, [], [], {}, [], [])
    full = {**GOOD, "against": "c", "frozen": ["a"], "costs": {"a": 1e9, "b": 0.5}, "without": ["b"]}
    full |= {"states": True, "limit": 100}
    assert asked(full) == Question(GOOD["instance"], "c", ["a"], {"a": 1e9, "b": 0.5}, ["b"], True, 100)
    assert asked({**GOOD, "limit": 0}).limit == 0
    worlds = {
        "within": {"a": ">= 1", "b": ["x", "y"]},
        "only_up": ["a"],
        "only_down": ["e"],
        "near": {"a": 2, "e": "5%"},
    }
    found = asked({**GOOD, **worlds, "given": ["a > 0 -> b=x"], "protected": ["b"]})
    assert found.protected == ["b"]
    assert {name: getattr(found, name) for name in worlds} == worlds
    assert found.given == ["a > 0 -> b=x"]
    assert from_json(b'{"one": {"a": 1}, "other": {}}', Pair) == Pair({"a": 1}, {})
    assert from_json(b'{"one": {"a": 1}, "other": {}, "given": ["a > 0"]}', Pair) == Pair({"a": 1}, {}, {}, ["a > 0"])


def test_numbers_are_what_was_sent() -> None:
    """JSON does not tell 7.0 from 7 where a whole number is asked for; a value of an instance is another text."""
    found = from_json(b'{"instance": {"a": 1, "b": 1.0, "c": 123456789012345678901234567890}, "limit": 7.0}', Question)
    assert repr(found.instance) == "{'a': 1, 'b': 1.0, 'c': 123456789012345678901234567890}"
    assert repr(found.limit) == "7"


def test_names_may_be_broken_texts() -> None:
    """The page sends back what the model has."""
    broken = "half \ud800 of a pair"
    sent = {"instance": {broken: broken}, "against": broken, "frozen": [broken], "costs": {broken: 1}}
    assert asked(sent) == Question({broken: broken}, broken, [broken], {broken: 1})
    with pytest.raises(Fault, match="it may have against, costs"):
        asked({**GOOD, broken: 1})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"limit": -1}, "limit is -1; it must be a whole number from 0 to 100"),
        ({"limit": 101}, "limit is 101; it must be a whole number from 0 to 100"),
        ({"limit": True}, "limit is True; it must be a whole number from 0 to 100"),
        ({"limit": 1.5}, "limit is 1.5; it must be a whole number from 0 to 100"),
        ({"limit": "1"}, "limit is '1'; it must be a whole number from 0 to 100"),
        ({"limit": None}, "limit is None; it must be a whole number from 0 to 100"),
        ({"against": 1}, "against is 1; it must be the name of a class, or null"),
        ({"frozen": "a"}, "frozen is 'a'; it must be a list of features"),
        ({"frozen": [1]}, "frozen is [1]; it must be a list of features"),
        ({"without": None}, "without is None; it must be a list of features"),
        ({"protected": "b"}, "protected is 'b'; it must be a list of features"),
        ({"costs": []}, "costs is []; it must be an object from feature to a positive number"),
        ({"costs": {"b": 1, "a": 0}}, "costs has 0 for 'a'; it must be a number above 0, at most 1e9"),
        ({"costs": {"a": -1}}, "costs has -1 for 'a'; it must be a number above 0, at most 1e9"),
        ({"costs": {"a": 1.1e9}}, "costs has 1100000000.0 for 'a'; it must be a number above 0, at most 1e9"),
        ({"costs": {"a": True}}, "costs has True for 'a'; it must be a number above 0, at most 1e9"),
        ({"costs": {"a": "1"}}, "costs has '1' for 'a'; it must be a number above 0, at most 1e9"),
        ({"instance": {"a": {}}}, "instance has {} for 'a'; it must be a string, a number, true, false or null"),
        ({"instance": {"a": [1]}}, "instance has [1] for 'a'; it must be a string, a number, true, false or null"),
        ({"instance": None}, "instance is None; it must be an object from feature to value"),
        (
            {"one": {}},
            "the request has 'one'; it may have against, costs, frozen, given, instance, limit, near, only_down,"
            " only_up, protected, states, within, without",
        ),
        ({"within": ["a"]}, "within is ['a']; it must be an object from feature to condition"),
        ({"within": {"a": 3}}, f"within has 3 for 'a'; it must be {CONDITION}"),
        ({"within": {"a": "x" * 1001}}, f"within has '{'x' * 79}… for 'a'; it must be {CONDITION}"),
        ({"only_up": "a"}, "only_up is 'a'; it must be a list of features"),
        ({"near": {"a": -1}}, f"near has -1 for 'a'; it must be {REACH}"),
        ({"near": {"a": None}}, f"near has None for 'a'; it must be {REACH}"),
        (
            {"near": 3},
            "near is 3; it must be an object from feature to a number, or to a share of its range such as '10%'",
        ),
        ({"given": "a > 3"}, f"given is 'a > 3'; it must be {CONSTRAINTS}"),
        ({"given": [1]}, f"given is [1]; it must be {CONSTRAINTS}"),
        ({"given": ["a"] * 201}, f"given is {shown(['a'] * 201)}; it must be {CONSTRAINTS}"),
        ({"given": ["x" * 1001]}, f"given is {shown(['x' * 1001])}; it must be {CONSTRAINTS}"),
        ({"states": 1}, "states is 1; it must be true or false"),
        ({"states": "yes"}, "states is 'yes'; it must be true or false"),
    ],
)
def test_other_questions_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(Fault) as told:
        asked({**GOOD, **more})
    assert (told.value.status, told.value.message) == (422, said)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "one is missing; it must be an object from feature to value"),
        ({"one": {}}, "other is missing; it must be an object from feature to value"),
        ({"one": {}, "other": []}, "other is []; it must be an object from feature to value"),
        ({"one": {}, "other": {}, "more": 1}, "the request has 'more'; it may have given, one, other, within"),
        ([], "the request is []; it must be an object"),
    ],
)
def test_other_comparisons_are_refused(sent: Any, said: str) -> None:
    with pytest.raises(Fault) as told:
        from_json(json.dumps(sent).encode(), Pair)
    assert (told.value.status, told.value.message) == (422, said)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"\xff", b'{"instance": {"a": "\xff"}}', b'{"instance": {}} 1'),
        *(b'{"instance": {"a": NaN}}', b'{"instance": {"a": -Infinity}}'),
        *(b"[" * 100_000, b'{"instance":' * 100_000, b'{"instance": {"a": ' + b"[" * 100_000),
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(Fault) as told:
        from_json(body, Question)
    assert (told.value.status, told.value.message) == (422, "the request is not JSON")


def test_queries_are_read_from_texts() -> None:
    assert from_query({}, RowsWanted) == RowsWanted(1, 20)
    assert from_query({"start": str(LAST_ROW), "count": "0", "other": "x"}, RowsWanted) == RowsWanted(LAST_ROW, 0)
    assert from_query({}, DroppedFile).name == "the dropped file"
    assert from_query({"name": "é" * 200}, DroppedFile).name == "é" * 200


@pytest.mark.parametrize(
    ("query", "kind", "said"),
    [
        ({"start": "0"}, RowsWanted, "start is '0'; it must be a whole number from 1 to 999999999"),
        ({"start": "9" * 10}, RowsWanted, "start is '9999999999'; it must be a whole number from 1 to 999999999"),
        ({"count": "101"}, RowsWanted, "count is '101'; it must be a whole number from 0 to 100"),
        ({"count": "x", "other": "x"}, RowsWanted, "count is 'x'; it must be a whole number from 0 to 100"),
        ({"count": ""}, RowsWanted, "count is ''; it must be a whole number from 0 to 100"),
        ({"name": ""}, DroppedFile, "name is ''; it must be a name of 1 to 200 letters"),
        ({"name": "x" * 201}, DroppedFile, f"name is '{'x' * 79}…; it must be a name of 1 to 200 letters"),
    ],
)
def test_other_queries_are_refused(query: dict[str, str], kind: Any, said: str) -> None:
    with pytest.raises(Fault) as told:
        from_query(query, kind)
    assert (told.value.status, told.value.message) == (422, said)


def test_every_part_of_a_request_is_described() -> None:
    """A description ends the sentence about a value that does not fit."""
    for kind in (Question, Pair, RowsWanted, DroppedFile):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            assert [note.description for note in get_args(hint)[1:]], f"{kind.__name__}.{name}"


VALUES = [
    *(None, True, False, 0, 1, -1, 1.0, 0.5, 7.0, 100, 101, 1e9, 1.1e9, 10**9 + 1, 10**400, -1e300, "", "a", "1"),
    *([], ["a"], ["a", 1], [["a"]], {}, {"a": 1}, {"a": 0}, {"a": 0.5, "b": 2}, {"a": None}, {"a": "x", "b": True}),
    *(
        {"a": []},
        {"a": {}},
        {"a": 1e9},
        {"a": 2e9},
        {"a": "x" * 1000},
        {"a": "x" * 1001},
        {"a": ["x"]},
        {"a": ["x", 1]},
    ),
    *(["x" * 1000], ["x" * 1001], ["a"] * 200, ["a"] * 201),
]


@pytest.mark.parametrize("kind", [Question, Pair])
def test_the_document_and_the_server_take_the_same_requests(kind: Any) -> None:
    described = {**document(1)["components"]["schemas"][kind.__name__], "components": document(1)["components"]}
    validator = jsonschema.Draft202012Validator(described)
    rng = Random(9)
    names = [*get_type_hints(kind), "more"]
    seen = {True: 0, False: 0}
    for _ in range(10_000):
        sent = {name: rng.choice(VALUES) for name in names if rng.random() < (0.05 if name == "more" else 0.2)}
        if rng.random() < 0.7:
            sent |= {name: {"a": rng.choice(VALUES[:19])} for name in ("instance", "one", "other") if name in names}
        try:
            from_json(json.dumps(sent).encode(), kind)
            taken = True
        except Fault:
            taken = False
        assert taken == validator.is_valid(sent), sent
        seen[taken] += 1
    assert min(seen.values()) > 100, seen
