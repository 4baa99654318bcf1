"""Mutants of the core: small faults put in one at a time, each of which a quick test should notice.

    python tests/mutants.py [--count N] [--seed N] [--jobs N] [MODULE…]

A survivor is printed as `file:line: what was changed`: either a test is missing, or the change changes nothing. Those
of the second kind are in EQUIVALENT, with the reason. The source is never touched: a child process imports the mutant
in its place. The same seed and count choose the same mutants. The exit code is 1 if there are survivors.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from itertools import islice
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "quia"
MEMORY = 4 * 2**30
LEAST_SECONDS = 20

REASONS = ("test_explanation.py", "test_paper_examples.py", "test_reasons.py")
ORACLE = ("test_against_oracle.py",)
CONTRACT = ("test_contract.py",)
TABLES = ("test_batch_parts.py", "test_explain_batch.py")
HOLDS: dict[str, tuple[str, ...]] = {
    "ranges": ("test_variables.py", "test_explanation.py"),
    "cuts": ("test_variables.py", "test_literals.py"),
    "values": ("test_variables.py", "test_arguments.py"),
    "variables": ("test_variables.py", "test_arguments.py", "test_graph.py"),
    "conditions": ("test_literals.py", "test_variables.py", "test_explanation.py", "test_graph.py"),
    "literal": ("test_literals.py", "test_explanation.py"),
    "region": ("test_literals.py", "test_question.py"),
    "question": ("test_question.py", "test_reasons.py", *CONTRACT),
    "classifier": (*CONTRACT, "test_arguments.py"),
    "consistent": ("test_graph.py", *REASONS),
    "graph": ("test_graph.py", *REASONS, *CONTRACT),
    "graph_arrays": ("test_graph.py", *CONTRACT),
    "graph_pairs": ("test_contrast.py", "test_limits.py"),
    "dag": ("test_formula.py", "test_circuits.py", "test_paper_algorithms.py"),
    "nnf_arrays": ("test_circuits.py", "test_paper_algorithms.py", "test_general_reason.py", "test_pickling.py"),
    "nnf": (
        "test_explanation.py",
        "test_paper_algorithms.py",
        "test_general_reason.py",
        "test_formula.py",
        "test_pickling.py",
    ),
    "nnf_dict": ("test_general_reason.py", "test_paper_algorithms.py", "test_explanation.py"),
    "circuit": ("test_reasons.py", "test_circuits.py", *CONTRACT),
    "complete": ("test_general_reason.py", "test_paper_examples.py", *ORACLE),
    "paper": ("test_paper_examples.py", "test_paper_algorithms.py"),
    "reason": (*REASONS, "test_pickling.py"),
    "costs": REASONS,
    "patience": ("test_limits.py",),
    "caching": ("test_limits.py", "test_pickling.py"),
    "families": (*REASONS, "test_limits.py"),
    "reasons": (*REASONS, "test_arguments.py", "test_pickling.py", "test_limits.py"),
    "search": ("test_search.py", *CONTRACT),
    "counterfactual": (*REASONS, *ORACLE, *CONTRACT, "test_limits.py"),
    "bias": (*REASONS, *ORACLE, *CONTRACT, "test_limits.py"),
    "claim": ("test_verify.py", "test_explanation.py"),
    "verify": ("test_verify.py", *REASONS, *ORACLE, *CONTRACT),
    "answer": ("test_explanation.py", *CONTRACT, "test_search.py"),
    "compare": (*CONTRACT, "web/test_answers.py"),
    "formula/core": ("test_formula.py",),
    "formula/terms": ("test_formula.py",),
    "formula/forms": ("test_formula.py",),
    "formula/meaning": ("test_formula.py",),
    "formula/quantify": ("test_formula.py",),
    "formula/classes": ("test_formula.py",),
    "formula/diagram": ("test_formula.py",),
    "formula/syntax": ("test_formula.py", "test_formula_language.py"),
    "formula/tokens": ("test_formula_language.py", "test_formula.py"),
    "formula/atoms": ("test_formula_language.py", "test_formula.py"),
    "formula/drafts": ("test_formula_language.py",),
    "formula/sets": ("test_formula_language.py",),
    "formula/writing": ("test_formula_language.py", "test_formula.py"),
    "batch/answers": TABLES,
    "batch/cache": TABLES,
    "batch/one_by_one": (*CONTRACT, "test_search.py"),
    "batch/summary": ("test_batch_parts.py", "test_batch_command.py"),
}
"""The modules that are mutated, and for each the tests that are to notice. Its own examples are tried first."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "cuts",
        "for digits in range(1, 10):  # nine digits tell all 32-bit numbers apart",
        "10 → 11",
    ): "the loop never gets to the tenth digit",
    (
        "batch/cache",
        "result = np.full(len(rows), -1, np.int64)",
        "1 → 2",
    ): "any negative number says that a row is not there",
    ("batch/cache", "_idle: int = 0", "0 → 1"): "it is counted down before it is looked at",
}
"""Mutants that change nothing anybody can see, by module, line and change: and why."""


# ---- making them ------------------------------------------------------------------------------------------------

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any"}

Change = Callable[[ast.AST], ast.AST]
"""What becomes of a node."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: str
    line: int
    what: str
    node: int
    change: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Its name in EQUIVALENT, where the text of a line stands for its number, which moves."""
        lines = (SOURCE / f"{self.module}.py").read_text("utf-8").splitlines()
        return self.module, lines[self.line - 1].strip(), self.what

    def source(self) -> str:
        """The whole module with the change."""
        tree = _tree(self.module)
        old = next(islice(_alive(tree), self.node, None))
        new = list(_changes(old))[self.change](copy.deepcopy(old))
        return ast.unparse(ast.fix_missing_locations(_Replace(old, ast.copy_location(new, old)).visit(tree)))

    def __str__(self) -> str:
        return f"src/quia/{self.module}.py:{self.line}: {self.what}"


def mutants(module: str) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    found = []
    for number, node in enumerate(_alive(_tree(module))):
        for at, change in enumerate(_changes(node)):
            what = f"{_text(node)} → {_text(change(copy.deepcopy(node)))}"
            found.append(Mutant(module, node.lineno, what, number, at))
    return sorted(found, key=lambda mutant: mutant.line)


def _tree(module: str) -> ast.Module:
    return ast.parse((SOURCE / f"{module}.py").read_text("utf-8"))


def _alive(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The nodes that do something: no annotations, docstrings, messages of errors, nor what is only for mypy."""
    work: list[ast.AST] = [tree]
    while work:
        node = work.pop()
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "exc", "msg", "type_params", "bases"):
                continue
            children = value if isinstance(value, list) else [value]
            work += [child for child in children if isinstance(child, ast.AST) and not _is_dead(child)]


def _is_dead(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name == "__repr__" or any("overload" in ast.unparse(by) for by in node.decorator_list)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "field"
    return isinstance(node, ast.JoinedStr)


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                yield lambda old, at=at, op=op: _with(old, ops=[*old.ops[:at], SWAPPED[type(op)](), *old.ops[at + 1 :]])
        case ast.BoolOp(op=op):
            yield lambda old: _with(old, op=SWAPPED[type(op)]())
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAPPED:
            yield lambda old: _with(old, op=SWAPPED[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield lambda old: old.operand
        case ast.Constant(value=bool(value)):
            yield lambda old: ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield lambda old: ast.Constant(value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in RENAMED:
            yield lambda old: _with(old, func=ast.Name(RENAMED[name]))
        case ast.Call(func=ast.Name(id="sorted")):
            yield lambda old: ast.Subscript(old, ast.Slice(step=ast.Constant(-1)))
        case ast.Call(func=ast.Attribute(attr="sort"), keywords=words):
            yield lambda old: _with(old, keywords=[*words, ast.keyword("reverse", ast.Constant(True))])
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not isinstance(
            test, ast.Compare | ast.UnaryOp
        ):
            yield lambda old: _with(old, test=ast.UnaryOp(ast.Not(), old.test))
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for at, part in enumerate(node.generators):
                if part.ifs:
                    yield lambda old, at=at: _without_ifs(old, at)
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield lambda old: ast.Return(ast.Constant(None))
        case ast.Raise() | ast.AugAssign() | ast.Delete() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()):
            yield lambda old: ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _without_ifs(node: ast.AST, at: int) -> ast.AST:
    node.generators[at].ifs = []
    return node


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _text(node: ast.AST) -> str:
    """The first line of a statement or expression, not too long."""
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    line = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0]
    return line if len(line) < 80 else f"{line[:79]}…"


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().generic_visit(node)


# ---- trying them ------------------------------------------------------------------------------------------------


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a mutant instead of its module."""

    def __init__(self, module: str, source: str) -> None:
        self.name = "quia." + module.replace("/", ".")
        self.file = str(SOURCE / f"{module}.py")
        self.code = compile(source, self.file, "exec")

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_file_location(name, self.file, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def start(module: str, source: str, seconds: int, output: Path) -> int:
    """The id of a new process that tests a module with this source; it exits with 0 if no test fails."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()  # what the tests start is ended with them
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with output.open("w") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        sys.meta_path.insert(0, Instead(module, source))
        code = _run_tests(module)
    except BaseException:  # what else is there to do with it, in a process that ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run_tests(module: str) -> int:
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    # A failing example need not be made small.
    quick = {"deadline": None, "database": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
    settings.register_profile("mutants", suppress_health_check=list(HealthCheck), **quick)
    tests = [f"src/quia/{module}.py", *(str(Path("tests", name)) for name in HOLDS[module])]
    options = ["-x", "-q", "--assert=plain", "--hypothesis-profile=mutants", "-p", "no:cacheprovider", "-p", "no:xdist"]
    code = pytest.main([*options, "-o", "python_functions=test_*", *tests])
    return int(code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED))


@dataclass
class Trial:
    """A mutant on its way."""

    mutant: Mutant
    process: int
    deadline: float


def survivors(chosen: Sequence[Mutant], jobs: int) -> Iterator[Mutant]:
    """Those that no test notices, as they come. A mutant that never ends is noticed."""
    with tempfile.TemporaryDirectory(prefix="quia-mutants-") as scratch:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = scratch
        seconds = {module: _baseline(module, Path(scratch)) for module in sorted({m.module for m in chosen})}
        waiting, running = list(reversed(chosen)), dict[int, Trial]()
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant = waiting.pop()
                most = seconds[mutant.module]
                process = start(mutant.module, mutant.source(), most, Path(scratch, "output"))
                running[process] = Trial(mutant, process, time.monotonic() + 5 * most)
            for trial in list(running.values()):
                ended, status = os.waitpid(trial.process, os.WNOHANG)
                if ended or time.monotonic() > trial.deadline:
                    _end(trial.process, ended)
                    del running[trial.process]
                    if ended and status == 0:
                        yield trial.mutant
            time.sleep(0.02)


def _baseline(module: str, scratch: Path) -> int:
    """How many seconds of CPU a mutant may take: three times what the module itself takes, which must pass."""
    source = (SOURCE / f"{module}.py").read_text("utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    _, status = os.waitpid(start(module, source, 3600, scratch / "baseline"), 0)
    if status:
        raise SystemExit(f"the tests of {module} fail without a mutant:\n{(scratch / 'baseline').read_text()}")
    return max(LEAST_SECONDS, int(3 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)))


def _end(process: int, has_ended: int) -> None:
    """End what a trial has started, and the trial itself if it has not."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    if not has_ended:
        os.waitpid(process, 0)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Put small faults into the core and print those that no test notices.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="like families or batch/cache; all without one")
    parser.add_argument("--count", type=int, default=60, help="how many, drawn at random; 0 for all (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="only print them")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.modules if name not in HOLDS]:
        parser.error(f"{unknown[0]} is no module with tests of its own here; there are {', '.join(HOLDS)}")
    every = [mutant for module in asked.modules or HOLDS for mutant in mutants(module)]
    told = [mutant for mutant in every if mutant.key not in EQUIVALENT]
    chosen = random.Random(asked.seed).sample(told, min(asked.count or len(told), len(told)))
    if asked.list:
        print(*sorted(map(str, chosen)), sep="\n")
        return 0
    os.chdir(ROOT)
    for heavy in ("hypothesis", "numpy", "pytest"):
        importlib.import_module(heavy)  # once, before the processes part
    found = 0
    for mutant in survivors(chosen, asked.jobs):
        print(mutant, flush=True)
        found += 1
    print(f"{found} of {len(chosen)} mutants survived; there are {len(every)} in all, seed {asked.seed}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
