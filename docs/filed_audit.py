"""The example of an audit: invented applicants, two trees learned from them, and the audit as it would be filed.

`python docs/filed_audit.py` writes `examples/loans.csv`, `examples/loan.json`, `examples/loan-2.json` and `docs/filed`.
Run again it writes the same bytes: where an audit differs only in how long it took, its file stays as it is, so the
tests can tell a stale one. Another version of scikit-learn may learn other trees, so the tests learn none.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from quia import DecisionGraph
from quia.learn import learn
from quia.load import json as json_format
from quia.tables import Table, read_csv

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (
    "quia audit examples/loan.json examples/loans.csv -o docs/filed/loan-audit.html --json docs/filed/loan-audit.json"
    " --label outcome --protected sex --protected region --favourable grant --order job=none,temporary,permanent"
    " --compare examples/loan-2.json --case 2026-017"
)
"""What a reader would type at the project's root."""
MADE = "1767261600"
"""The audit's date for SOURCE_DATE_EPOCH: the first of January 2026, 10:00 UTC."""
COLUMNS = ("age", "income", "debt", "job", "years", "home", "sex", "region", "outcome")
JOBS = {"none": (1, 10, -8), "temporary": (3, 21, -3), "permanent": (6, 33, 4), "self-employed": (2, 31, 0)}
"""How frequent each kind of job is, its pay in hundreds, and what it counted with those who decided."""


def applicants(number: int = 600) -> Table:
    """People who do not exist, and how somebody decided on them: by what they earn and owe, but not by that alone.

    Women without a permanent job were judged more harshly. The region did not count, but pay differs by it.
    """
    draw = random.Random(2030)
    rows = []
    for _ in range(number):
        age = draw.randint(19, 72)
        sex = draw.choice(["female", "male"])
        region = draw.choice(["north", "north", "south", "east"])
        job = draw.choices(list(JOBS), [often for often, _, _ in JOBS.values()])[0]
        years = 0 if job == "none" else min(age - 18, int(draw.expovariate(1 / 6)))
        pay = JOBS[job][1] + 0.25 * min(age, 55) + 0.3 * years - 7 * (region == "south")
        income = 100 * max(8, round(draw.gauss(pay, 8)))
        debt = 100 * max(0, round(draw.gauss(90 if age < 60 else 50, 60)))
        home = draw.choices(["owns", "rents", "family"], [max(1, age - 20), 40, max(1, 45 - age)])[0]
        worth = 0.01 * income - 0.0016 * debt + JOBS[job][2] + 0.5 * years + 5 * (home == "owns")
        harsh = 9 if sex == "female" and job != "permanent" else 0
        outcome = "grant" if worth - harsh + draw.gauss(0, 5) > 26 else "deny"
        row = [str(value) for value in (age, income, debt, job, years, home, sex, region, outcome)]
        if draw.random() < 0.02:
            row[draw.choice([1, 2, 4, 8])] = ""
        rows.append(tuple(row))
    rows[-7] = (*rows[-7][:1], "2.9OO", *rows[-7][2:])  # a slip of the pen: letters for noughts
    return Table(COLUMNS, tuple(rows))


def csv(table: Table) -> str:
    """The table as it is written."""
    return "".join(",".join(row) + "\n" for row in (table.names, *table.rows))


def models(table: Table) -> dict[str, str]:
    """Two trees, learned from the first 500: one from all columns, and a newer one without the sex."""
    known = Table(table.names, table.rows[:500])
    kept = [index for index, name in enumerate(table.names) if name != "sex"]
    without = Table(
        tuple(table.names[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in known.rows)
    )
    return {
        name: json_format.dumps(plain(learn(learned_from, max_depth=5, min_rows=7, prune=False).classifier))
        for name, learned_from in (("loan.json", known), ("loan-2.json", without))
    }


def plain(graph: DecisionGraph) -> DecisionGraph:
    """The tree without what scikit-learn adds: where a value goes that is missing, or that nobody had."""
    data = graph.to_dict()
    added = ("missing", "any other")
    for variable in data["variables"].values():
        for fact in ("missing", "other", "type"):
            variable.pop(fact, None)
        if "states" in variable:
            variable["states"] = [state for state in variable["states"] if state not in added]
    for node in data["nodes"].values():
        for edge in node.get("edges", ()):
            if isinstance(edge["if"], list):
                kept = [part for part in edge["if"] if part not in added]
                edge["if"] = kept if "states" in data["variables"][node["test"]] else kept[0]
    return DecisionGraph.from_dict(data)


def filed() -> dict[str, str]:
    """What the command writes, by the file's name, with the examples as they are."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "examples").symlink_to(ROOT / "examples")
        (place / "docs" / "filed").mkdir(parents=True)
        subprocess.run(
            [sys.executable, "-m", *shlex.split(COMMAND)],
            cwd=place,
            env=os.environ | {"SOURCE_DATE_EPOCH": MADE, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {file.name: file.read_text() for file in sorted((place / "docs" / "filed").iterdir())}


def without_seconds(text: str) -> str:
    """A page or a JSON document without the one number that differs from run to run."""
    return re.sub(r'(?<="seconds": )[0-9.]+|(?<=<dt>Took</dt><dd>)[0-9.,]+', "", text)


def main() -> None:
    """Write everything."""
    table = ROOT / "examples" / "loans.csv"
    table.write_text(csv(applicants()))
    for name, text in models(read_csv(table)).items():
        (ROOT / "examples" / name).write_text(text)
    folder = ROOT / "docs" / "filed"
    folder.mkdir(exist_ok=True)
    for name, text in filed().items():
        file = folder / name
        if not file.exists() or without_seconds(file.read_text()) != without_seconds(text):
            file.write_text(text)


if __name__ == "__main__":
    main()
