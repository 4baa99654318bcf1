"""The classifier that CONTRIBUTING.md writes in one file, taken from there."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from contract import Subject
from quia import Variable
from strategies import complete_tree

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
SOURCE, USE = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text().partition("## A classifier in one file")[2], re.MULTILINE | re.DOTALL
)[:2]

LOADER = '''
import json

from quia import Variable

OPTIONS = ()


def read(data, file=None):
    """A vote from JSON behind the line `vote`."""
    given = json.loads(data.removeprefix(b"vote\\n"))
    variables = [
        Variable.numeric(name, states) if states and isinstance(states[0], int) else Variable.nominal(name, states)
        for name, states in given["variables"].items()
    ]
    return Vote(variables, given["classes"], given["points"], given["needed"])
'''
"""A loader for it, as CONTRIBUTING.md says what one is."""

LOAN = """vote
{
  "variables": {"income": [20, 40], "job": ["none", "new", "old"], "home": ["rents", "owns"], "debt": ["no", "yes"]},
  "classes": ["deny", "grant"],
  "points": [[0, 1, 2], [0, 1, 2], [0, 1], [1, 0]],
  "needed": 5
}
"""


def namespace() -> dict[str, Any]:
    """What the page defines."""
    found: dict[str, Any] = {"__name__": "vote"}
    exec(compile(SOURCE, "CONTRIBUTING.md", "exec"), found)
    return found


Vote = namespace()["Vote"]


def random_vote(rng: Random, _folder: Path) -> Subject:
    """A vote, and the tree that adds up the points."""
    variables = [Variable.nominal(f"v{i}", ["a", "b", "c"][: rng.randint(1, 3)]) for i in range(rng.randint(1, 4))]
    points = [tuple(rng.randint(-2, 3) for _ in range(v.size)) for v in variables]
    sums = [sum(have) for have in product(*points)]
    needed = rng.randint(min(sums), max(sums) + 1)

    def decide(world: dict[str, str]) -> str:
        total = sum(have[v.encode(world[v.name])] for v, have in zip(variables, points, strict=True))
        return "grant" if total >= needed else "deny"

    d = complete_tree({v.name: v.labels or () for v in variables}, decide)
    d["classes"] = ["deny", "grant"]
    return Subject(Vote(variables, d["classes"], points, needed), d)
