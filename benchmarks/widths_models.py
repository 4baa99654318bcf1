"""What the widths of reasons are measured on: learned trees with rows to explain and a table to count rows of.

Trees that Weka learned come from a folder of prepared files; scikit-learn's, and the one of `quia learn`, are learned
here from a table of that folder. No row of these goes anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.models import Benchmark, arff_header, table
from quia.batch.table import as_table, encode_table
from quia.errors import Unsupported
from quia.graph import DecisionGraph
from quia.load import load
from quia.tables import Table, read_csv
from quia.variables import UNKNOWN

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_ROWS = {"20 rows": 20, "1 row": 1}
"""Of a leaf of scikit-learn's trees: of the adult table these have 2,345 and 14,149 nodes."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree, the rows to explain, and the table of which it is counted how many rows a reason fits."""

    name: str
    classifier: DecisionGraph
    instances: list[dict[str, Any]]
    reference: pa.Table

    def states(self) -> npt.NDArray[np.int32]:
        """The rows of the table as states."""
        return encode_table(self.classifier, self.reference).states


def printed_by_weka(benchmark: Benchmark, folder: Path) -> Subject:
    """A tree as Weka printed it; its table is the one that it was learned from, or else that of its rows."""
    import json

    assert benchmark.data is not None
    meta = json.loads((benchmark.model.parent / "meta.json").read_text("utf-8"))
    columns, rows = table(benchmark.data)
    nominal = meta["nominal_columns"] | {meta["class_column"]: meta["class_values"]}
    classifier = load(benchmark.model, format="weka", arff=arff_header(columns, nominal))
    assert isinstance(classifier, DecisionGraph)
    trained = folder / "train" / f"{benchmark.name}.csv.gz"
    whole = read_csv(trained if trained.exists() else benchmark.data)
    instances = [dict(zip(columns[:-1], row, strict=False)) for row in rows]
    return Subject(f"{benchmark.name}, J48", classifier, instances, _arrow(whole, classifier))


def learned_from(file: Path) -> Iterator[Subject]:
    """The tree of `quia learn` and scikit-learn's, each learned from a table whose last column is the class."""
    from quia.learn import learn

    whole = read_csv(file)
    instances = [{x: row[x] for x in whole.names[:-1]} for row in whole.records()]
    name = file.name.partition(".")[0]
    trees = {"quia learn --no-prune": learn(whole, prune=False).classifier}
    trees |= {f"sklearn, {leaf} a leaf": by_sklearn(whole, fewest) for leaf, fewest in FEWEST_ROWS.items()}
    for how, classifier in trees.items():
        yield Subject(f"{name}, {how}", classifier, instances, _arrow(whole, classifier))


def by_sklearn(whole: Table, fewest: int) -> DecisionGraph:
    """scikit-learn's tree over numbers and one-hot columns, with so many rows in a leaf at least."""
    try:
        import pandas as pd
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise Unsupported("learning trees needs scikit-learn and pandas", cure="pip install 'quia[bench]'") from None
    kinds = dict(zip(whole.names[:-1], whole.kinds(), strict=False))
    frame = pd.DataFrame({x: whole.column(index) for index, x in enumerate(kinds)})
    nominal = [x for x, kind in kinds.items() if kind == "nominal"]
    frame = frame.astype({x: float for x in kinds if x not in nominal})
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(sparse_output=False), nominal), remainder="passthrough"),
        DecisionTreeClassifier(min_samples_leaf=fewest, random_state=0),
    )
    classifier = load(pipeline.fit(frame, whole.column(len(whole.names) - 1)), check=False)
    assert isinstance(classifier, DecisionGraph)
    return classifier


def _arrow(whole: Table, classifier: DecisionGraph) -> pa.Table:
    columns = {x: whole.column(index) for index, x in enumerate(whole.names[:-1])}
    return as_table(columns, classifier.variables)


def fully_known(subject: Subject, most: int) -> list[dict[str, Any]]:
    """At most so many of the rows to explain, evenly spread over those that lack no value that the tree tests."""
    from benchmarks.kernel import spread_out

    places = spread_out(len(subject.instances), 2 * most)
    drawn = (subject.instances[place] for place in places[::2] + places[1::2])
    found = [row for row in drawn if not _lacks(subject.classifier, subject.classifier.encode(row))]
    return found[:most]


def _lacks(classifier: DecisionGraph, states: Sequence[int]) -> bool:
    return any(states[v] == UNKNOWN for v in classifier.tested)
