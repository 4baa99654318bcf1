"""The house rules that a machine can check."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quia

SOURCE = Path(quia.__file__).parent

# The way of the data: a module imports only modules to its left, plus `variables` and `errors`.
ORDER = [
    "_kernel",
    "errors",
    "arguments",
    "pickling",
    "caching",
    "patience",
    "files",
    "ranges",
    "cuts",
    "values",
    "csv_dialect",
    "csv_faults",
    "rows",
    "variables",
    "conditions",
    "nnf",
    "nnf_dict",
    "contexts",
    "consistent",
    "graph",
    "graph_dict",
    "circuit",
    "classifier",
    "formula",
    "complete",
    "paper",
    "reason",
    "costs",
    "families",
    "reasons",
    "counterfactual",
    "circuit_bias",
    "bias",
    "verify",
    "load",
    "tables",
    "learn_j48",
    "learn",
    "explanation",
    "even_if",
    "batch",
    "show",
    "web",
    "command",
    "bench",
    "cli",
]


def imports(file: Path) -> set[str]:
    """The modules of quia that a file imports, at its top or inside."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "quia":
            found |= {node.module} if node.module != "quia" else {f"quia.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("quia.")}
    return {name.split(".")[1] for name in found if name != "quia.__version__"}


def test_imports_point_one_way() -> None:
    # When asked to, a graph and a formula read and write their own dicts, a graph gives its class formulas, and an
    # explanation prints itself and says what it would be even if.
    allowed = {
        *(("graph", "graph_dict"), ("graph", "complete"), ("nnf", "nnf_dict")),
        *(("explanation", "show"), ("explanation", "even_if")),
    }
    for file in SOURCE.rglob("*.py"):
        name = file.relative_to(SOURCE).with_suffix("").parts[0]
        if name in ("__init__", "__main__"):
            continue
        for other in imports(file) - {name}:
            ahead = ORDER.index(other) > ORDER.index(name)
            assert not ahead or (name, other) in allowed, f"{file.name} imports {other}, which is to its right"


def test_import_is_light() -> None:
    """`import quia` brings in a little of itself and some sixty small modules of Python's own: under 0.2 s of CPU."""
    program = "import sys; before = set(sys.modules); import quia; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = {name for name in run.stdout.split() if name.partition(".")[0] == "quia"}
    others = set(run.stdout.split()) - ours
    assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names, "no package, not even NumPy"
    assert not {"asyncio", "http.client", "multiprocessing", "ssl", "xml.parsers.expat"} & others
    assert len(ours) < 20 and len(others) < 100, "each is read, compiled or unmarshalled"


def test_public_names_are_there() -> None:
    for name in quia.__all__:
        assert getattr(quia, name) is not None
    assert callable(quia.load)
    assert callable(quia.verify)
    assert set(dir(quia)) == {*quia.__all__, "__version__"}


def test_modules_are_fetched_when_they_are_used() -> None:
    program = (
        "import quia, sys; assert not {'quia.batch', 'quia.formula', 'quia.paper'} & set(sys.modules);"
        "print(quia.paper.sr.__name__, quia.formula.parse.__name__, quia.batch.spark.explain.__name__)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "sr parse explain\n"
    with pytest.raises(AttributeError, match=r"module 'quia\.batch' has no attribute 'sparkle'"):
        quia.batch.sparkle


def test_the_map_of_the_tests() -> None:
    """Every row names files that are there, and none is named twice."""
    folder = Path(__file__).parent
    rows = [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert len(named) == len(set(named))
    for name in named:
        assert list(folder.glob(name)), name
