"""The house rules that a machine can check."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import quia
from quia.cli import COMMANDS

ROOT = Path(__file__).parents[1]
SOURCE = Path(quia.__file__).parent

# The way of the data: a module imports only modules to its left, plus `variables` and `errors`.
ORDER = [
    "_kernel",
    "errors",
    "look",
    "arguments",
    "pickling",
    "caching",
    "patience",
    "files",
    "identity",
    "ranges",
    "cuts",
    "rounding",
    "places",
    "values",
    "csv_dialect",
    "csv_faults",
    "rows",
    "variables",
    "typical",
    "conditions",
    "literal",
    "reason",
    "boxes",
    "region",
    "reference",
    "costs",
    "question",
    "dag",
    "nnf_arrays",
    "nnf",
    "nnf_text",
    "nnf_dict",
    "families",
    "classifier",
    "refine",
    "ways",
    "common_inputs",
    "differing_inputs",
    "extents",
    "contexts",
    "consistent",
    "graph_arrays",
    "graph",
    "graph_box",
    "graph_pairs",
    "side",
    "joint_graph",
    "joint_search",
    "joint",
    "trees",
    "sums",
    "ensemble",
    "ensemble_pairs",
    "ensemble_plain",
    "ensemble_box",
    "ensemble_needs",
    "ensemble_check",
    "terms",
    "bisecting",
    "additive_needs",
    "additive_plain",
    "additive_gaps",
    "additive_rows",
    "additive_search",
    "additive",
    "joint_same",
    "additive_boxes",
    "additive_budgets",
    "additive_asked",
    "additive_offers",
    "additive_widen",
    "additive_sharing",
    "additive_check",
    "additive_sums",
    "additive_pairs",
    "additive_points",
    "circuit",
    "formula",
    "constraint",
    "given",
    "multiply",
    "constrained",
    "worlds",
    "own_constraints",
    "declarations",
    "graph_dict",
    "ensemble_dict",
    "additive_dict",
    "asking",
    "contrast",
    "given_check",
    "complete",
    "paper",
    "reasons",
    "search",
    "additive_reasons",
    "widen",
    "superfluous",
    "general",
    "counterfactual",
    "score_moves",
    "score_standing",
    "circuit_pairs",
    "bias",
    "claim",
    "verify",
    "compile",
    "load",
    "tables",
    "learn_j48",
    "learn_pruning",
    "learn_sklearn",
    "learn",
    "answer",
    "explanation",
    "even_if",
    "reason_codes",
    "compare",
    "batch",
    "auditing",
    "show",
    "plot",
    "web",
    "overview",
    "command",
    "cli",
]


NAMES_A_MODULE = re.compile(r"(quia(?:\.\w+)+)(?::\w+)?")
"""A string that is the name of a module, or of a thing in it: tables of what is imported later are made of these."""


def imports(source: str) -> set[str]:
    """The names in quia that a module's source imports: at its top or inside, for types only, or by a string."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case ast.ImportFrom(level=0, module="quia", names=names):
                found |= {quia._LAZY.get(name.name, f"quia.{name.name}") for name in names}
            case ast.ImportFrom(level=0, module=str(module)):
                found.add(module)
            case ast.ImportFrom():
                raise AssertionError(f"line {node.lineno}: say which module of quia this is, without leading dots")
            case ast.JoinedStr(values=[ast.Constant(value=str(start)), ast.FormattedValue(), *_]):
                if start == "quia.":  # it may be any of them
                    found |= {f"quia.{name}" for name in ORDER}
                elif start.endswith("."):  # what follows is in this package
                    found.add(start.removesuffix("."))
            case ast.Constant(value=str(text)) if named := NAMES_A_MODULE.fullmatch(text):
                found.add(named[1])
    return {name for name in found if name.partition(".")[0] in ("quia", "benchmarks")}


def modules(names: Iterable[str]) -> set[str]:
    """The modules and packages of quia that names begin with; `quia.__version__` and `quia.readable` are in none."""
    firsts = {name.split(".")[1] for name in names if "." in name}
    return {name for name in firsts if name in ORDER or (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("import quia.web.server", {"web"}),
        ("def late():\n    from quia.batch.arrow import explain_batch", {"batch"}),
        ("from quia import paper, explain", {"paper", "explanation"}),
        ("from quia import __version__", set()),
        ("import_module('quia.batch.spark')", {"batch"}),
        ("import_module(f'quia.command.{name}').add(subparsers)", {"command"}),
        ("import_module(f'quia.{name}')", set(ORDER)),
        ("_LAZY = {'Circuit': 'quia.circuit', 'explain': 'quia.explanation'}", {"circuit", "explanation"}),
        ("_FOLLOWERS = {'sklearn.pipeline.Pipeline': 'quia.load.sklearn.follow:pipeline'}", {"load"}),
        ("command = [sys.executable, '-m', 'quia.web.worker']", {"web"}),
        ("register_error('quia.readable'); fault('compile it, with quia.formula.compiled')", set()),
    ],
)
def test_every_way_to_import_is_seen(source: str, wanted: set[str]) -> None:
    assert modules(imports(source)) == wanted


def test_imports_point_one_way() -> None:
    # When asked to, a graph, an ensemble and a formula read and write their own dicts, a graph gives its class
    # formulas, an ensemble is searched plainly and for pairs, an explanation prints itself, says what it would be even
    # if and gives reason codes, which print themselves. Classifiers, explanations and audits plot themselves.
    allowed = {
        *(("graph", "graph_dict"), ("graph", "complete"), ("graph", "graph_pairs")),
        ("graph", "graph_box"),
        *(("ensemble", "ensemble_dict"), ("ensemble", "ensemble_check"), ("additive_gaps", "additive")),
        *(("ensemble", "ensemble_pairs"), ("ensemble", "contrast"), ("ensemble_pairs", "contrast")),
        *(("additive", "additive_widen"), ("additive", "additive_sharing"), ("additive", "additive_check")),
        *(("additive", "additive_dict"), ("additive", "additive_reasons"), ("additive_search", "additive")),
        *(("additive_rows", "additive"), ("additive", "additive_asked"), ("additive", "additive_pairs")),
        # What finds pairs names the class that says which.
        *((name, "contrast") for name in ("classifier", "graph", "graph_pairs", "additive", "additive_sums")),
        *((name, "contrast") for name in ("additive_pairs", "circuit", "constrained")),
        *(("nnf", "nnf_dict"), ("circuit", "circuit_pairs"), ("variables", "literal")),
        *(
            ("nnf", "nnf_text"),
            # Whatever is shown asks for it when it is.
            *((name, "show") for name in ("look", "reasons", "counterfactual", "answer")),
            ("explanation", "show"),
            ("auditing", "show"),
            *((name, "plot") for name in ("classifier", "explanation", "auditing")),
            ("explanation", "even_if"),
            ("explanation", "reason_codes"),
            ("reason_codes", "show"),
            ("reference", "batch"),
            ("reference", "classifier"),
        ),
    }
    for file in SOURCE.rglob("*.py"):
        name = file.relative_to(SOURCE).with_suffix("").parts[0]
        if name in ("__init__", "__main__"):  # the doors, which lead everywhere
            continue
        for other in modules(imports(file.read_text())) - {name}:
            ahead = ORDER.index(other) > ORDER.index(name)
            assert not ahead or (name, other) in allowed, f"{file.name} imports {other}, which is to its right"


MARKUP_BY_HAND = re.compile(r"</?[a-z][a-z0-9]*[\s/>]|^</$|&(?:lt|gt|amp|quot|#\d+);")
"""A tag or an escaped sign in a text."""


def by_hand(source: str) -> Iterator[str]:
    """What a module's source does of its own to make HTML or SVG."""
    tree = ast.parse(source)
    docstrings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    patterns = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func)[:3] == "re."]
    told = {id(inner) for node in patterns for inner in ast.walk(node)} | {id(node) for node in docstrings}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(name.name in ("html", "markupsafe") for name in names):
                yield f"line {node.lineno} imports what escapes"
            case ast.ImportFrom(module="html" | "markupsafe" | "xml.sax.saxutils"):
                yield f"line {node.lineno} imports what escapes"
            case ast.Call(func=ast.Name(id="Markup")):
                yield f"line {node.lineno} calls a text markup"
            case ast.Constant(value=str(text)) if id(node) not in told and MARKUP_BY_HAND.search(text):
                yield f"line {node.lineno} writes {text!r}"


@pytest.mark.parametrize(
    "source",
    [
        *("from html import escape", "import html", "from xml.sax.saxutils import quoteattr", "x = Markup(name)"),
        *("from markupsafe import Markup", "x = f'<li>{name}</li>'", "x = '<br/>'", "x = f'<{tag}>{name}</{tag}>'"),
        "x = name.replace('<', '&lt;')",
    ],
)
def test_markup_by_hand_is_seen(source: str) -> None:
    assert list(by_hand(source))


def test_all_markup_is_made_in_one_place() -> None:
    """So that no text reaches a page or a drawing without being escaped."""
    for folder in (SOURCE, ROOT / "benchmarks", ROOT / "docs"):
        for file in folder.rglob("*.py"):
            if file != SOURCE / "show" / "markup.py":
                assert list(by_hand(file.read_text())) == [], f"{file}: use quia.show.markup"


def test_nothing_that_is_installed_needs_the_benchmarks() -> None:
    assert imports("import_module(f'benchmarks.{name}')") == {"benchmarks"}
    for file in SOURCE.rglob("*.py"):
        assert not any(name.partition(".")[0] == "benchmarks" for name in imports(file.read_text())), file


EXPLAIN = ["explain", "examples/admissions.json", "--set", "SAT=1400", "--set", "GPA=medium", "--set", "Essay=fail"]


@pytest.mark.parametrize("words", [[*EXPLAIN, "--set", "Interview=fail"], *([name, "--help"] for name in COMMANDS)])
def test_a_command_imports_only_what_it_needs(words: list[str]) -> None:
    program = (
        "import atexit, sys; from quia.cli import main;"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); sys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    found = set(run.stderr.split())
    assert found & {f"quia.command.{name}" for name in COMMANDS} == {f"quia.command.{words[0]}"}
    packages = {".".join(name.split(".")[:2]) for name in found if name.startswith("quia.")}
    assert not packages & {"quia.batch", "quia.web", "quia.learn", "quia.learn_j48", "quia.paper", "quia.even_if"}
    assert not found & {"benchmarks", "pandas", "pyarrow", "quia.show.html", "sklearn", "starlette"}


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
