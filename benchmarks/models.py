"""What is measured: classifiers with instances, from a folder of prepared files or from files one has.

A folder has `trees/NAME/` (tree.j48.txt as Weka prints it, rows.csv.gz with the class last, meta.json) and
`graphs/NAME.odd.gz`. Graphs have no data, so, as in the paper, their instances are drawn at random.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from quia.errors import InstanceError, Unsupported, listed
from quia.graph import DecisionGraph
from quia.load import load
from quia.load.json import write as write_json
from quia.tables import read_csv
from quia.variables import UNKNOWN

RANDOM_INSTANCES = 1000
SEED = 2022


@dataclass(frozen=True)
class Benchmark:
    """A classifier in a file and where its instances come from; nothing is read before it is needed."""

    name: str
    kind: Literal["tree", "graph", "network", "model"]
    model: Path
    data: Path | None = None


@dataclass(frozen=True, eq=False)
class Loaded:
    """A benchmark in memory: its classifier and its instances as states, one row each."""

    name: str
    classifier: DecisionGraph
    states: npt.NDArray[np.int32]
    left_out: int = 0
    """Rows that cannot be explained, as the decision depends on a value that they lack."""
    examples: int | None = None
    accuracy: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def partial(self) -> int:
        """How many instances lack a tested value, on which their decision does not depend."""
        return int((self.states[:, list(self.classifier.tested)] == UNKNOWN).any(axis=1).sum())

    def describe(self) -> dict[str, Any]:
        """The columns of the paper's table that describe a classifier."""
        tested = [self.classifier.variables[v] for v in self.classifier.tested]
        return {
            "examples": self.examples,
            "nodes": len(self.classifier),
            "num": sum(v.is_numeric for v in tested),
            "nom": sum(not v.is_numeric for v in tested),
            "classes": len(self.classifier.classes),
            "card": max((v.size for v in tested), default=0),
            "acc": None if self.accuracy is None else round(100 * self.accuracy, 1),
            "instances": len(self.states),
            "partial": self.partial,
            "left_out": self.left_out,
        }


def find(folder: str | Path, names: Sequence[str] = ()) -> list[Benchmark]:
    """The benchmarks in a folder, trees first, then graphs by size of file; with names, those only."""
    root = Path(folder)
    found = [
        Benchmark(path.parent.name, "tree", path, path.parent / "rows.csv.gz")
        for path in sorted(root.glob("trees/*/tree.j48.txt"))
    ]
    graphs = sorted(root.glob("graphs/*.odd.gz"), key=lambda path: (path.stat().st_size, path.name))
    found += [Benchmark(path.name.removesuffix(".odd.gz"), "graph", path) for path in graphs]
    if not found:
        raise Unsupported(
            f"{root} has no trees/*/tree.j48.txt and no graphs/*.odd.gz", cure="name such a folder with --data DIR"
        )
    return _called(found, names)


def generated(folder: Path, names: Sequence[str] = ()) -> list[Benchmark]:
    """Classifiers for those who have no folder of others: made once, by rules, and kept as files."""
    from benchmarks.generate import threshold_graph, tree

    makers: dict[str, Callable[[], DecisionGraph]] = {
        "generated tree, 301 nodes": lambda: tree(301, 12),
        "generated tree, 3,001 nodes": lambda: tree(3001, 60),
        "generated graph, 5,000 nodes": lambda: threshold_graph(5000, 30),
    }
    found = []
    for name, make in makers.items():
        file = folder / f"{name.replace(',', '').replace(' ', '-')}.json"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_json(make(), file)
        found.append(Benchmark(name, "model", file))
    return _called(found, names)


def _called(found: list[Benchmark], names: Sequence[str]) -> list[Benchmark]:
    """Those with these names; all if there are none."""
    for name in names:
        if not any(_is_called(b, name) for b in found):
            raise Unsupported(f"there is no benchmark {name!r}", cure=f"there are {listed(b.name for b in found)}")
    return [b for b in found if not names or any(_is_called(b, name) for name in names)]


def _is_called(benchmark: Benchmark, name: str) -> bool:
    return name in (benchmark.name, benchmark.kind, f"{benchmark.kind}s")


def read(benchmark: Benchmark, *, seed: int = SEED) -> Loaded:
    """A benchmark's classifier and instances."""
    if benchmark.kind == "tree":
        return _read_tree(benchmark)
    classifier = load(benchmark.model)
    if not isinstance(classifier, DecisionGraph):
        raise Unsupported(f"{benchmark.model} is a {classifier.kind}", cure="measure decision trees and graphs")
    if benchmark.data is None:
        return Loaded(benchmark.name, classifier, random_states(classifier, RANDOM_INSTANCES, seed))
    rows = read_csv(benchmark.data).records()
    states, kept = _encoded(classifier, iter(rows))
    if not kept:
        raise Unsupported(f"no row of {benchmark.data} is decided by {benchmark.model}", cure="give other rows")
    return Loaded(benchmark.name, classifier, states, len(rows) - len(kept))


def random_states(classifier: DecisionGraph, count: int, seed: int) -> npt.NDArray[np.int32]:
    """Instances drawn evenly from all there are."""
    sizes = np.array([v.size for v in classifier.variables])
    draw = np.random.default_rng(seed)
    return draw.integers(0, sizes, (count, len(sizes))).astype(np.int32)


def _read_tree(benchmark: Benchmark) -> Loaded:
    assert benchmark.data is not None
    meta = json.loads((benchmark.model.parent / "meta.json").read_text("utf-8"))
    columns, rows = table(benchmark.data)
    nominal = meta["nominal_columns"] | {meta["class_column"]: meta["class_values"]}
    classifier = load(benchmark.model, format="weka", arff=arff_header(columns, nominal))
    assert isinstance(classifier, DecisionGraph)
    states, kept = _encoded(classifier, (row[:-1] for row in rows))
    decided = [classifier.classes[c] for c in classifier.kernel.classify(states).tolist()]
    right = sum(rows[k][-1] == klass for k, klass in zip(kept, decided, strict=True))
    accuracy = right / len(kept) if kept else None
    return Loaded(benchmark.name, classifier, states, len(rows) - len(kept), meta.get("rows"), accuracy, meta)


def table(file: Path) -> tuple[list[str], list[list[str]]]:
    """A CSV file: the names of its columns, and its rows."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    columns, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
    return columns, rows


def _encoded(classifier: DecisionGraph, instances: Iterator[Any]) -> tuple[npt.NDArray[np.int32], list[int]]:
    """The instances that are decided, and which they were; a decision may depend on a value that one lacks."""
    states, kept = [], []
    for number, instance in enumerate(instances):
        try:
            encoded = classifier.encode(instance)
            classifier.decide(encoded)
        except InstanceError:
            continue
        states.append(encoded)
        kept.append(number)
    return np.array(states, np.int32).reshape(len(states), len(classifier.variables)), kept


def arff_header(columns: Sequence[str], nominal: dict[str, list[str]]) -> str:
    """What the columns are, in the words of Weka's own file format."""
    kinds = ["{" + ",".join(map(_quoted, nominal[c])) + "}" if c in nominal else "numeric" for c in columns]
    lines = [f"@attribute {_quoted(c)} {kind}" for c, kind in zip(columns, kinds, strict=True)]
    return "\n".join(["@relation data", *lines, "@data", ""])


def arff_value(column: str, value: str, nominal: dict[str, list[str]]) -> str:
    """A value as Weka's file format has it; ? is a missing one."""
    return _quoted(value) if column in nominal and value != "?" else value


def _quoted(text: str) -> str:
    return "'" + "".join("\\" + letter if letter in "\\'%\"" else letter for letter in text) + "'"
