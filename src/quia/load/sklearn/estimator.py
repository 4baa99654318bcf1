"""From a fitted estimator to a decision graph over its raw columns, compared with the estimator's own `predict`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quia.consistent import Edges
from quia.errors import QuiaError, Unsupported, shown
from quia.graph import DecisionGraph
from quia.load import agreement
from quia.load.binary import numbered
from quia.load.sklearn.follow import Frame, Way, follow, passes
from quia.load.sklearn.heads import head_of
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.one_hot import Groups, look_for_groups, read_groups
from quia.load.sklearn.predict import Predictor
from quia.load.sklearn.sources import Categories, Source, Split, find_sources
from quia.load.sklearn.steps import Column
from quia.load.sklearn.tree import LEAF, Tree
from quia.ranges import difference


def model_of(
    estimator: Any,
    *,
    label: Any = None,
    one_hot: Any = None,
    features: Any = None,
    classes: Any = None,
    check: bool = True,
) -> agreement.Model:
    """The graph of an estimator, and its own decisions."""
    estimator = _unwrapped(estimator)
    final, transformers = _parts(estimator)
    head = head_of(final, label, classes)
    names = _names(estimator, features)
    way = Way(names)
    frame = Frame([Column(raw) for raw in range(len(names))])
    for name, transformer in transformers:
        way.path.append(name)
        frame = follow(way, transformer, frame)
        way.path.pop()
    way.path.append(type(final).__name__)
    way.check_width(len(frame.columns), int(final.n_features_in_))
    groups = read_groups(one_hot, names)
    columns, splits = head.arriving(frame), _splits(head.tree)
    _look_for_groups(names, frame.columns, splits, groups)
    sources = find_sources(
        names,
        way.made,
        columns,
        splits,
        takes_missing=head.routes_missing(frame.sparse),
        groups=groups,
        single=head.single,
    )
    graph = _graph(head.tree, columns, sources, head.rule, head.values)
    predictor = Predictor(estimator, final, names, tuple(sources), head.rule, by_probability=label is not None)
    made = agreement.Model(graph, predictor)
    if check:
        _compare(made)
    return made


def _unwrapped(estimator: Any) -> Any:
    """What a search for the best settings found; its `predict` is that estimator's."""
    while type(estimator).__module__.startswith("sklearn.model_selection") and hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def _parts(estimator: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """What it ends in, and the steps before that."""
    steps: list[tuple[str, Any]] = []
    final = estimator
    while _kind(final) == "sklearn.pipeline.Pipeline":
        steps += [(name, step) for name, step in final.steps[:-1] if not passes(step)]
        final = final.steps[-1][1]
    return final, steps


def _kind(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def _innermost(estimator: Any) -> Iterator[Any]:
    """The estimators that are no pipelines, in the order in which data reach them; the tree is the last."""
    if _kind(estimator) != "sklearn.pipeline.Pipeline":
        yield estimator
        return
    for _, step in estimator.steps:
        if not passes(step):
            yield from _innermost(step)


def _names(estimator: Any, given: Any) -> list[str]:
    """The raw columns' names: given ones, those of the data frame it was fitted on, or x0, x1, …"""
    first = next(_innermost(estimator))
    count = getattr(first, "n_features_in_", None)
    if count is None:
        raise Unsupported(f"the {type(first).__name__} does not say how many columns it takes", cure="fit it first")
    own = [str(name) for name in getattr(first, "feature_names_in_", ())]
    if given is not None:
        names = [str(name) for name in given]
        if isinstance(given, str) or len(names) != count:
            raise Unsupported(f"features is {shown(given)}", cure=f"give the names of the model's {count} columns")
    else:
        names = own or numbered(count, "x")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise Unsupported(f"two columns are called {twice!r}", cure="name the columns with features=[…]")
    return names


def _splits(tree: Tree) -> dict[int, set[Split]]:
    found: dict[int, set[Split]] = defaultdict(set)
    inner = tree.left != LEAF
    arrays = (tree.column[inner], tree.threshold[inner], tree.missing_left[inner])
    for column, threshold, missing_left in zip(*(array.tolist() for array in arrays), strict=True):
        found[column].add((threshold, missing_left))
    return found


def _look_for_groups(
    names: Sequence[str], columns: Sequence[Column], splits: dict[int, set[Split]], groups: Groups
) -> None:
    known = {raw for states in groups.values() for raw in states.values()}
    halved = {columns[j].raw for j, found in splits.items() if {t for t, _ in found} == {0.5} and not columns[j].steps}
    look_for_groups(names, halved - known)


def _graph(tree: Tree, columns: Sequence[Column], sources: Sequence[Source], rule: Rule, values: Any) -> DecisionGraph:
    at: dict[int, int] = {}
    for index, source in enumerate(sources):
        raws = source.values[0] if isinstance(source, Categories) else (source.raw,)
        at.update(dict.fromkeys(raws, index))
    leaves = np.flatnonzero(tree.left == LEAF)
    decided = dict(zip(leaves.tolist(), rule.decide(values[leaves]), strict=True))
    classes = rule.classes if rule.classes is not None else tuple(sorted(set(decided.values())))
    number = {name: index for index, name in enumerate(classes)}
    order = _children_first(tree)
    place = {node: at for at, node in enumerate(order)}
    tests, labels = [], []
    edges: list[Edges] = []
    left_of: dict[tuple[int, float, bool], Any] = {}
    for node in order:
        left, right = int(tree.left[node]), int(tree.right[node])
        if left == LEAF:
            tests.append(-1)
            labels.append(number[decided[node]])
            edges.append(())
            continue
        key = (int(tree.column[node]), float(tree.threshold[node]), bool(tree.missing_left[node]))
        column = columns[key[0]]
        variable = at[column.raw]
        if key not in left_of:
            left_of[key] = _sides(sources[variable], column, *key[1:])
        to_left, to_right = left_of[key]
        tests.append(variable)
        labels.append(-1)
        edges.append(((to_left, place[left]), (to_right, place[right])))
    names = [f"n{node}" for node in order]
    return DecisionGraph.build([s.variable for s in sources], classes, tests, labels, edges, names=names)


def _children_first(tree: Tree) -> list[int]:
    """The nodes in the order in which our JSON format reads them back: left, right, then the node itself."""
    order, work = [], [0]
    while work:
        node = work.pop()
        order.append(node)
        if tree.left[node] != LEAF:
            work += [int(tree.left[node]), int(tree.right[node])]
    return order[::-1]


def _sides(source: Source, column: Column, threshold: float, missing_left: bool) -> tuple[Any, Any]:
    left = source.left(column, threshold, missing_left)
    return left, difference(((0, source.variable.size - 1),), left)


def _compare(made: agreement.Model) -> None:
    report = agreement.compare(made, agreement.probes(made.classifier, limit=agreement.PROBES))
    if report.disagreements:
        raise QuiaError(
            f"what was loaded does not decide as the model does: {report.disagreements[0]};"
            " please report this with the model, or load it with check=False if you know better"
        )
    if not report.agreed:
        raise QuiaError(
            f"the model refuses all of the {report.rows} rows that were made up to compare it with what was loaded;"
            " load it with check=False, and compare it on rows of your own"
        )
