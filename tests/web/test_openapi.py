"""The OpenAPI document says what the server does: requests made from it, right and wrong, find nothing."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from quia.web.openapi import document
from web.conftest import Serve

DOCUMENT = document(2**24)


@pytest.fixture(scope="module")
def table_server(serve: Serve, examples: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    table = tmp_path_factory.mktemp("rows") / "t.csv"
    table.write_text("SAT,GPA\n1400,low\n1500,high\n")
    return serve(examples / "admissions.json", "--data", table)


@pytest.fixture(scope="module")
def fitting(table_server: str) -> dict[str, Any]:
    """The document, narrowed to the model and the instances that the server has, so that questions get answers."""
    served = httpx.get(table_server + "/openapi.json").json()
    assert served == DOCUMENT
    made = copy.deepcopy(served)
    model = httpx.get(table_server + "/api/models").json()["models"][0]["id"]
    for item in made["paths"].values():
        for parameter in item.get("parameters", ()):
            parameter["schema"] = {"enum": [model]}
    schemas = made["components"]["schemas"]
    schemas["Fitting"] = {
        "type": "object",
        "required": ["SAT", "GPA", "Essay", "Interview"],
        "properties": {
            "SAT": {"type": "number"},
            "GPA": {"enum": ["low", "medium", "high"]},
            "Essay": {"enum": ["fail", "pass"]},
            "Interview": {"enum": ["fail", "pass"]},
        },
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    }
    names = {"type": "array", "items": {"enum": ["SAT", "GPA", "Essay", "Interview"]}}
    fitting_instance = {"$ref": "#/components/schemas/Fitting"}
    schemas["Pair"]["properties"].update(one=fitting_instance, other=fitting_instance)
    question = schemas["Question"]["properties"]
    question["instance"] = fitting_instance
    question.update(frozen=names, without=names, against={"enum": ["Accept", "Reject", None]})
    question["costs"] = {"type": "object", "properties": {"SAT": {"type": "integer", "minimum": 1, "maximum": 9}}}
    question["costs"]["additionalProperties"] = False
    return made


def schemathesis(source: str, address: str, folder: Path, *options: str) -> str:
    """What `schemathesis run` reports; it must find nothing."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", source, "--url", address, "--checks", "all"]
    command += ["--max-examples", "5", "--seed", "1", "--no-color", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_any_request(table_server: str, tmp_path: Path) -> None:
    """A question may fit the document and not the model; it is then refused with a sentence (422)."""
    found = schemathesis(
        f"{table_server}/openapi.json",
        table_server,
        tmp_path,
        "--phases",
        "coverage,fuzzing",
        "--exclude-checks",
        "positive_data_acceptance",
    )
    assert "Tested: 7" in found


def test_fitting_requests_are_answered(table_server: str, fitting: dict[str, Any], tmp_path: Path) -> None:
    """With a model and instances that are there, the answers are what the document says."""
    file = tmp_path / "fitting.json"
    file.write_text(json.dumps(fitting))
    # No file made at random is a model, and the server takes more than the narrowed document allows.
    unfit = ["--phases", "fuzzing", "--exclude-checks", "positive_data_acceptance,negative_data_rejection"]
    found = schemathesis(str(file), table_server, tmp_path, "--exclude-operation-id", "dropModel", *unfit)
    assert "Tested: 6" in found
    assert "Missing test data" not in found
    assert "mostly rejected" not in found
