"""What every endpoint answers, right or refused, is what its types say, and so are the files made from them."""

import json
from pathlib import Path
from random import Random
from typing import Any

import httpx
import jsonschema
import pytest

import quia
from quia.load import sdd
from quia.web import answers
from quia.web.openapi import document, json_schema
from quia.web.schema import Explanation, Model
from strategies import random_case, random_neighbour
from web.conftest import Serve
from web.here import LONG
from web.made_models import hostile

DOCUMENT = document(2**20)
SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def validator(schema: dict[str, Any]) -> Any:
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def fitting(name: str, data: Any) -> None:
    """Raise if this, as JSON, is not what the document calls so."""
    validator({"$ref": f"#/components/schemas/{name}"}).validate(json.loads(json.dumps(data, allow_nan=False)))


class Endpoints:
    """A client that holds every answer against the document, and knows what was answered."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.seen: set[tuple[str, str, int]] = set()

    def post(self, path: str, model: str, question: Any) -> None:
        """A question, given as data or as the bytes of its JSON, which httpx could not make of broken surrogates."""
        content = question if isinstance(question, bytes) else json.dumps(question).encode()
        self.ask("POST", path, model, content=content, headers={"content-type": "application/json"})

    def ask(self, method: str, path: str, model: str = "", query: str = "", **more: Any) -> Any:
        answer = self.client.request(method, path.replace("{model}", model) + query, **more)
        described = DOCUMENT["paths"][path][method.lower()]["responses"][str(answer.status_code)]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        found = answer.text if kind == "text/html" else answer.json()
        validator(described[kind]["schema"]).validate(found)
        self.seen.add((method.lower(), path, answer.status_code))
        return found


def test_what_the_server_answers(serve: Serve, examples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("admissions", "luna", "iris"):
        (folder / f"{name}.json").write_bytes((examples / f"{name}.json").read_bytes())
    (folder / "hostile.json").write_text(json.dumps(hostile()))
    (folder / "literal.sdd").write_bytes(b"sdd 1\nL 0 0 1\n")
    (tmp_path / "t.csv").write_text("SAT,GPA\n1400,low\n1500\n")
    one = "/api/models/{model}"
    with (
        httpx.Client(base_url=serve(folder, "--data", tmp_path / "t.csv", "--largest", 1), timeout=LONG) as client,
        httpx.Client(base_url=serve(), timeout=LONG) as bare,
    ):
        asking = Endpoints(client)
        models = asking.ask("GET", "/api/models")["models"]
        assert len(models) == 5
        for model in (named["id"] for named in models):
            described = asking.ask("GET", one, model)
            example = described["example"]
            asking.post(f"{one}/report", model, {"instance": example})
            for against in [None, *described["classes"]]:
                sent = {"instance": example, "against": against, "without": list(example), "limit": 1}
                asking.post(f"{one}/explain", model, sent)
            for variable in described["variables"]:
                for value in [*variable["states"], 0, 1e6] if variable["kind"] == "nominal" else [-1e6, 0, 1e6, None]:
                    other = {**example, variable["name"]: value}
                    asking.post(f"{one}/compare", model, {"one": example, "other": other})
            for action in ("explain", "report", "compare"):
                asking.post(f"{one}/{action}", model, {"more": 1})
                asking.ask("POST", f"{one}/{action}", model, content=b"{}")
                asking.post(f"{one}/{action}", model, b" " * 2**22)
                asking.post(f"{one}/{action}", "none", {})
        asking.ask("GET", one, "none")
        asking.ask("POST", "/api/models", query="?name=m", content=(examples / "luna.json").read_bytes())
        asking.ask("POST", "/api/models", content=b"no model")
        asking.ask("POST", "/api/models", content=b" " * 2**22)
        for query in ("", "?start=2", "?count=1", "?count=x"):
            asking.ask("GET", "/api/rows", query=query)
        without_table = Endpoints(bare)
        without_table.ask("GET", "/api/rows")
        assert without_table.ask("GET", "/api/models")["data"] is None
        for path, item in DOCUMENT["paths"].items():
            for method in item.keys() - {"parameters"}:
                asking.ask(method.upper(), path, "m", headers={"host": "evil.example"})
    described_answers = {
        (method, path, int(status))
        for path, item in DOCUMENT["paths"].items()
        for method in item.keys() - {"parameters"}
        for status in item[method]["responses"]
    }
    # Models that can no longer be read, slow clients, quia's own faults and full disks are other tests' matter.
    elsewhere = {(m, p, s) for m, p, s in described_answers if s in (408, 500, 503, 507)} | {("get", one, 422)}
    assert asking.seen | without_table.seen == described_answers - elsewhere


@pytest.mark.parametrize("seconds", [LONG, 0])
def test_random_answers(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all the time that is needed, and with none."""
    rng = Random(12)
    seen = {"unknown": 0, "witness": 0, "without": 0, "cut short": 0}
    for _ in range(100):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        monkeypatch.setattr(answers, "TIMEOUT", seconds)
        fitting("Model", answers.describe(graph, name="m", identity="1"))
        without = [name for name in case.graph["variables"] if rng.random() < 0.4]
        asked = {"instance": case.instance, "against": case.against, "without": without, "limit": 2}
        missing = {**case.instance, rng.choice(list(case.graph["variables"])): None}
        for instance in (case.instance, missing):
            try:
                found = answers.answer(graph, {**asked, "instance": instance}, name="m")
            except quia.InstanceError:  # the decision depends on what is missing
                continue
            fitting("Answer", found)
            seen["unknown"] += "unknown" in found["explanation"]
            seen["without"] += found["without"] is not None
            seen["cut short"] += not found["explanation"]["necessary"]["complete"]
        other = random_neighbour(rng, case.graph, case.instance)
        compared = answers.compare(graph, {"one": case.instance, "other": other})
        fitting("Comparison", compared)
        seen["witness"] += compared["witness"] is not None
    assert min(seen.values()) > 5, seen


def test_a_circuit() -> None:
    circuit = sdd.read(b"sdd 1\nL 0 0 1\n")
    described = answers.describe(circuit, name="m", identity="1")
    fitting("Model", described)
    fitting("Answer", answers.answer(circuit, {"instance": described["example"]}, name="m"))


def test_an_answer_that_does_not_fit_is_found() -> None:
    graph = quia.DecisionGraph.from_dict(random_case(Random(1)).graph)
    right = answers.describe(graph, name="m", identity="1")
    for wrong in ({**right, "more": 1}, {**right, "nodes": 0}, {**right, "schema": "quia/model/2"}, {"name": "m"}):
        with pytest.raises(jsonschema.ValidationError):
            fitting("Model", wrong)


def test_the_limits_are_in_the_document() -> None:
    question = DOCUMENT["components"]["schemas"]["Question"]
    limit, cost = question["properties"]["limit"], question["properties"]["costs"]["additionalProperties"]
    assert (limit["type"], limit["minimum"], limit["maximum"], limit["default"]) == ("integer", 0, 100, 10)
    assert (cost["type"], cost["exclusiveMinimum"], cost["maximum"]) == ("number", 0, 1e9)
    assert (question["required"], question["additionalProperties"]) == (["instance"], False)
    start, count = (parameter["schema"] for parameter in DOCUMENT["paths"]["/api/rows"]["get"]["parameters"])
    assert (start["minimum"], start["maximum"], start["default"]) == (1, 999_999_999, 1)
    assert (count["minimum"], count["maximum"], count["default"]) == (0, 100, 20)
    [name] = DOCUMENT["paths"]["/api/models"]["post"]["parameters"]
    assert (name["schema"]["minLength"], name["schema"]["maxLength"]) == (1, 200)


@pytest.mark.parametrize(("name", "kind"), [("explanation-2", Explanation), ("model-1", Model)])
def test_the_files_are_made_from_the_types(name: str, kind: Any) -> None:
    assert json.loads((SCHEMAS / f"{name}.json").read_text()) == json_schema(kind), "run python docs/schemas.py"
