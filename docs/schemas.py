"""The JSON Schema files of what the server answers, and of reason codes, from the types that these are declared by.

python docs/schemas.py   writes them
"""

from __future__ import annotations

import json
from pathlib import Path

from quia.web.openapi import json_schema
from quia.web.schema import Explanation, Model, ReasonCodes

FOLDER = Path(__file__).parent / "schemas"
FILES = {"explanation-2.json": Explanation, "model-1.json": Model, "reason-codes-1.json": ReasonCodes}


def text(name: str) -> str:
    """What is in a file."""
    return json.dumps(json_schema(FILES[name]), indent=2) + "\n"


if __name__ == "__main__":
    for name in FILES:
        (FOLDER / name).write_text(text(name))
