"""Learning a tree for those who have only data: scikit-learn's by default, or Weka's J48."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from quia.errors import FormatError, Unsupported, listed, shown
from quia.tables import Table, Task, number_with_comma
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.graph import DecisionGraph


@dataclass(frozen=True, slots=True)
class Report:
    """What was learned from what, and how well it does on rows it has not seen.

    `left_out` are the columns of texts that only name the rows; `grouped` are those of whose many values the rare ones
    are one state.
    """

    learner: str
    target: str
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    learned_from: int
    tested_on: int
    right: int
    dropped: int
    nodes: int
    leaves: int
    left_out: tuple[str, ...] = ()
    grouped: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float | None:
        """The share of the unseen rows that are decided as they should be."""
        return self.right / self.tested_on if self.tested_on else None

    def __str__(self) -> str:
        lines = [
            f"{self.learner} learned {self.target!r} from {self.learned_from} rows:"
            f" {self.nodes} nodes, {self.leaves} leaves",
            f"{len(self.numeric)} numeric and {len(self.nominal)} nominal columns",
        ]
        if self.accuracy is not None:
            lines.append(f"{self.accuracy:.1%} of {self.tested_on} rows kept apart are decided as they should be")
        if self.dropped:
            lines.append(f"{self.dropped} rows without a {self.target!r} were left out")
        if self.left_out:
            lines.append(f"left out, as their texts differ in nearly every row: {listed(self.left_out)}")
        if self.grouped:
            lines.append(f"rare values of columns with very many are one state, 'any other': {listed(self.grouped)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned classifier and its report."""

    classifier: DecisionGraph
    report: Report


def learn(
    table: Table,
    *,
    target: str | None = None,
    learner: Literal["sklearn", "j48"] = "sklearn",
    kept_apart: float = 0.15,
    seed: int = 0,
    max_depth: int | None = None,
    min_rows: int = 5,
    weka_jar: str | None = None,
) -> Learned:
    """A decision tree for the target column, by default the last one.

    A share of the rows, `kept_apart`, is not learned from but tested on. `max_depth` (scikit-learn only) and
    `min_rows`, the fewest rows in a leaf, keep the tree small. J48 needs Java and a weka.jar, found by itself or
    given. A column of texts that differ in nearly every row (more than twenty of them, and more than nine for ten rows)
    is left out, and the report says so.
    """
    if learner not in ("sklearn", "j48"):
        raise Unsupported(f"there is no learner {shown(learner)}", cure="use 'sklearn' or 'j48'")
    if not 0 <= kept_apart < 1:
        raise Unsupported(f"kept_apart is {shown(kept_apart)}", cure="give a share of the rows, from 0 up to 1")
    if learner == "j48" and max_depth is not None:
        raise Unsupported("J48 has no greatest depth", cure="use min_rows to keep its tree small")
    _check_whole("min_rows", min_rows, least=1)
    _check_whole("max_depth", 1 if max_depth is None else max_depth, least=1)
    _check_whole("seed", seed, least=0)
    goal = table.index(target) if target is not None else len(table.names) - 1
    labelled = [row for row in table.rows if not is_missing(row[goal])]
    random.Random(seed).shuffle(labelled)
    tested = labelled[: int(len(labelled) * kept_apart)]
    trained = labelled[len(tested) :]
    if len({row[goal] for row in trained}) < 2:
        where = " among the rows that are not kept apart" if len({row[goal] for row in labelled}) > 1 else ""
        raise FormatError(
            f"column {table.names[goal]!r} has fewer than two classes{where}, so there is nothing to learn"
        )
    task = Task(table, goal, tuple(trained))
    _refuse_decimal_commas(task)
    if not task.inputs:
        texts = listed(table.names[index] for index in sorted(task.identifiers))
        which = f"but texts that differ in nearly every row ({texts})" if texts else "with values"
        raise FormatError(f"there is no column {which} beside {table.names[goal]!r}, so there is nothing to learn")
    _refuse_large_numbers(task)
    grouped: list[int] = []
    if learner == "sklearn":
        classifier, grouped = _by_sklearn(task, max_depth=max_depth, min_rows=min_rows, seed=seed)
    else:
        from quia.learn_j48 import by_j48

        classifier = by_j48(task, min_rows=min_rows, jar=weka_jar)
    report = _report(learner, task, classifier, tested, len(table.rows) - len(labelled))
    return Learned(classifier, replace(report, grouped=tuple(table.names[index] for index in grouped)))


def _check_whole(name: str, value: Any, *, least: int) -> None:
    most = 2**31 - 1  # what the learners can hold
    if not isinstance(value, Integral) or not least <= int(value) <= most:
        raise Unsupported(f"{name} is {shown(value)}", cure=f"give a whole number from {least} to {most}")


def _refuse_decimal_commas(task: Task) -> None:
    """Refuse numbers that would silently be taken for hundreds of names."""
    for index in sorted((*task.inputs, *task.identifiers)):
        texts = task.table.column(index)
        found = number_with_comma(texts)
        if found is not None and len(set(texts)) > _FEW:
            raise FormatError(
                f"column {task.table.names[index]!r} has numbers with commas, such as {shown(found)};"
                " write them with decimal points"
            )


_FEW = 20  # so many different ones may well be names, such as 1,2 for two choices


def _refuse_large_numbers(task: Task) -> None:
    kinds = task.table.kinds()
    for index in task.inputs:
        if kinds[index] == "numeric":
            for text in task.table.column(index):
                if not is_missing(text) and abs(float(text)) > _LARGEST:
                    raise FormatError(
                        f"column {task.table.names[index]!r} has {shown(text)}, which no learner can hold; write it in"
                        " another unit"
                    )


_LARGEST = 3.4e38  # of 32 bits


def _by_sklearn(task: Task, *, max_depth: int | None, min_rows: int, seed: int) -> tuple[DecisionGraph, list[int]]:
    """The tree, and the columns of whose values the rare ones became one state."""
    try:
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise Unsupported("learning a tree needs scikit-learn", cure="pip install 'quia[sklearn]'") from None
    import numpy as np

    from quia.graph import DecisionGraph
    from quia.load.sklearn import convert

    kinds = task.table.kinds()
    values = np.empty((len(task.rows), len(task.inputs)), object)
    for at, index in enumerate(task.inputs):
        values[:, at] = [_value(row[index], kinds[index]) for row in task.rows]
    nominal = [at for at, index in enumerate(task.inputs) if kinds[index] == "nominal"]
    counts = {at: Counter(row[task.inputs[at]] for row in task.rows) for at in nominal}
    wide = [at for at in nominal if len(counts[at]) > _MANY]
    # scikit-learn's trees take no missing number among sparse ones; then there are as many columns as memory allows.
    numbers = [at for at in range(len(task.inputs)) if at not in counts]
    sparse = bool(wide) and not any(value != value for at in numbers for value in values[:, at])
    most = None if sparse or not wide else max(_MANY, _MOST_CELLS // len(task.rows) // len(wide))
    states = {at: _frequent(counts[at], min_rows, most) for at in wide}
    encoders = [
        (OneHotEncoder(handle_unknown="ignore", sparse_output=sparse), [at for at in nominal if at not in wide])
    ]
    for at in wide:
        encoder = OneHotEncoder(categories=[states[at]], handle_unknown="ignore", sparse_output=sparse)
        encoders.append((encoder, [at]))
    named = [(f"nominal{number}", encoder, columns) for number, (encoder, columns) in enumerate(encoders)]
    encoded = ColumnTransformer(named, remainder="passthrough", sparse_threshold=1.0 if sparse else 0.0)
    tree = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=min_rows, random_state=seed)
    pipeline = make_pipeline(encoded, tree)
    pipeline.fit(values, [row[task.goal] for row in task.rows])
    graph = convert(pipeline, features=[task.table.names[index] for index in task.inputs])
    assert isinstance(graph, DecisionGraph)
    return graph, [task.inputs[at] for at in wide if len(states[at]) < len(counts[at])]


_MANY = 200  # so many values of a column have a state each
_MOST_CELLS = 50_000_000  # of a table that is not sparse


def _frequent(counts: Counter[str], min_rows: int, most: int | None) -> list[Any]:
    """The values that can be in a leaf of their own, as they are in enough rows; the most frequent, if so many."""
    present = [(text, count) for text, count in counts.most_common() if not is_missing(text)]
    kept = [text for text, count in present[:most] if count >= min_rows] or [present[0][0]]
    return [*sorted(kept), *([float("nan")] if len(present) < len(counts) else [])]


def _value(text: str, kind: str) -> Any:
    if is_missing(text):
        return float("nan")
    return float(text) if kind == "numeric" else text


def _report(
    learner: str, task: Task, classifier: DecisionGraph, tested: Sequence[tuple[str, ...]], dropped: int
) -> Report:
    names, kinds = task.table.names, task.table.kinds()
    right = 0
    for row in tested:
        right += _decides(classifier, dict(zip(names, row, strict=True)), row[task.goal])
    leaves = int((classifier.tests < 0).sum())
    by_kind = {
        kind: tuple(names[index] for index in task.inputs if kinds[index] == kind) for kind in ("numeric", "nominal")
    }
    return Report(
        {"sklearn": "scikit-learn", "j48": "J48"}[learner],
        names[task.goal],
        by_kind["numeric"],
        by_kind["nominal"],
        len(task.rows),
        len(tested),
        right,
        dropped,
        len(classifier),
        leaves,
        tuple(names[index] for index in sorted(task.identifiers)),
    )


def _decides(classifier: DecisionGraph, row: dict[str, str], label: str) -> bool:
    from quia.errors import InstanceError

    try:
        return classifier.classify(row) == label
    except InstanceError:  # J48 has no one path for a row that lacks a value
        return False
