"""Trees of scikit-learn, learned from a table and cut back as far as cross-validation finds good."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.errors import Unsupported
from quia.tables import Task
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.graph import DecisionGraph
    from quia.learn_pruning import Pruning


class Tree(NamedTuple):
    """What was learned: how many of the rows that it learned from are right, how it was pruned, if it was.

    `grouped` are the columns of whose values the rare ones became one state.
    """

    graph: DecisionGraph
    right: int
    pruning: Pruning | None
    grouped: list[int]


def by_sklearn(task: Task, *, max_depth: int | None, min_rows: int, seed: int, prune: bool) -> Tree:
    """The tree that scikit-learn grows within the bounds, pruned if it is to be."""
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
    columns = encoded.fit_transform(values)
    columns = columns.tocsr() if sparse else columns.astype(np.float32)  # as trees take them
    labels = [row[task.goal] for row in task.rows]

    def grown(strength: float = 0.0) -> Any:
        return DecisionTreeClassifier(
            max_depth=max_depth, min_samples_leaf=min_rows, random_state=seed, ccp_alpha=strength
        )

    tree = grown().fit(columns, labels)
    pruning = None
    if prune:
        from quia.learn_pruning import choose_pruning

        numbered = np.unique(labels, return_inverse=True)[1]
        pruning = choose_pruning(grown, columns, numbered, seed=seed, full=tree)
        if pruning is not None and pruning.strength:
            tree = grown(pruning.strength).fit(columns, labels)
    graph = convert(make_pipeline(encoded, tree), features=[task.table.names[index] for index in task.inputs])
    assert isinstance(graph, DecisionGraph)
    right = int((tree.predict(columns) == np.array(labels)).sum())
    return Tree(graph, right, pruning, [task.inputs[at] for at in wide if len(states[at]) < len(counts[at])])


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
