"""From a fitted estimator to a classifier over its raw columns, compared with the estimator's own `predict`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.consistent import Edges
from quia.ensemble import Ensemble
from quia.errors import Unsupported, shown
from quia.graph import DecisionGraph
from quia.load import agreement
from quia.load.binary import numbered
from quia.load.ensembles import simplest
from quia.load.sklearn.added import additive_of
from quia.load.sklearn.follow import Frame, Walk, follow, passes
from quia.load.sklearn.head import Head
from quia.load.sklearn.heads import head_of
from quia.load.sklearn.joined import Joined, joined
from quia.load.sklearn.labels import Cutoff
from quia.load.sklearn.one_hot import Groups, look_for_groups, read_groups
from quia.load.sklearn.predict import Predictor
from quia.load.sklearn.sources import Categories, Source, Split, cut_by_tests, find_sources
from quia.load.sklearn.steps import Column
from quia.load.sklearn.tree import LEAF, Tree
from quia.ranges import Ranges, difference

if TYPE_CHECKING:
    from quia.classifier import Classifier


def model_of(
    estimator: Any,
    *,
    label: Any = None,
    threshold: Any = None,
    one_hot: Any = None,
    features: Any = None,
    classes: Any = None,
    check: bool = True,
) -> agreement.Model:
    """The classifier of an estimator, and its own decisions."""
    if threshold is not None:
        if label is not None:
            raise Unsupported(
                f"label is {shown(label)} and threshold is {shown(threshold)}", cure="give one of the two"
            )
        label = Cutoff(threshold)
    estimator = _best_estimator(estimator)
    final, transformers = _final_and_steps(estimator)
    head = head_of(final, label, classes)
    names = _names(estimator, features)
    walk = Walk(names, to_trees=isinstance(head, Head))
    frame = Frame([Column(raw) for raw in range(len(names))])
    for name, transformer in transformers:
        walk.path.append(name)
        frame = follow(walk, transformer, frame)
        walk.path.pop()
    walk.path.append(type(final).__name__)
    walk.check_width(len(frame.columns), int(final.n_features_in_))
    groups = read_groups(one_hot, names)
    if isinstance(head, Head):
        classifier, sources = _of_trees(head, walk, frame, groups)
    else:
        classifier, sources = additive_of(head, walk, frame, groups)
    predictor = Predictor(estimator, final, names, tuple(sources), head.rule, by_probability=label is not None)
    model = agreement.Model(classifier, predictor)
    if check:
        agreement.check_loaded(model)
    return model


def _of_trees(head: Head, walk: Walk, frame: Frame, groups: Groups) -> tuple[Classifier, list[Source]]:
    """The classifier of trees on the columns of a frame, and where its variables come from."""
    columns, routes_missing = head.arriving(walk, frame), head.routes_missing(frame.sparse)
    trees = joined(head.trees, routes_missing=routes_missing)
    _look_for_groups(walk.names, columns, trees.splits, groups)
    numbers = cut_by_tests(columns, trees.splits, takes_missing=routes_missing, single=head.single)
    sources = find_sources(
        walk.names, walk.columns, columns, numbers, takes_missing=routes_missing, groups=groups, single=head.single
    )
    states = _States(columns, sources)
    return _graph(head, trees, states) if head.sums is None else _ensemble(head, trees, states), sources


def _best_estimator(estimator: Any) -> Any:
    """The best estimator of a hyperparameter search, whose `predict` it uses; any other estimator unchanged."""
    while type(estimator).__module__.startswith("sklearn.model_selection") and hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def _final_and_steps(estimator: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """The last estimator of a pipeline, and the steps before it."""
    steps: list[tuple[str, Any]] = []
    final = estimator
    while _kind(final) == "sklearn.pipeline.Pipeline":
        steps += [(name, step) for name, step in final.steps[:-1] if not passes(step)]
        final = final.steps[-1][1]
    return final, steps


def _kind(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def _innermost(estimator: Any) -> Iterator[Any]:
    """The estimators that are not pipelines, in the order in which data reach them; the tree is the last."""
    if _kind(estimator) != "sklearn.pipeline.Pipeline":
        yield estimator
        return
    for _, step in estimator.steps:
        if not passes(step):
            yield from _innermost(step)


def _names(estimator: Any, features: Any) -> list[str]:
    """The names of the raw columns: the caller's, those of the data frame it was fitted on, or x0, x1, …"""
    first = next(_innermost(estimator))
    count = getattr(first, "n_features_in_", None)
    if count is None:
        raise Unsupported(f"the {type(first).__name__} does not say how many columns it takes", cure="fit it first")
    own = [str(name) for name in getattr(first, "feature_names_in_", ())]
    if features is not None:
        names = [str(name) for name in features]
        if isinstance(features, str) or len(names) != count:
            raise Unsupported(f"features is {shown(features)}", cure=f"give the names of the model's {count} columns")
    else:
        names = own or numbered(count, "x")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise Unsupported(f"two columns are called {twice!r}", cure="name the columns with features=[…]")
    return names


def _look_for_groups(
    names: Sequence[str], columns: Sequence[Column], splits: dict[int, set[Split]], groups: Groups
) -> None:
    grouped = {raw for states in groups.values() for raw in states.values()}
    halved = {columns[j].raw for j, tests in splits.items() if {t for t, _ in tests} == {0.5} and not columns[j].steps}
    look_for_groups(names, halved - grouped)


class _States:
    """From a test of the trees to the variable that it is about, and those of its states that it sends left."""

    def __init__(self, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        self.columns, self.sources = columns, sources
        self.variables = [source.variable for source in sources]
        self._index: dict[int, int] = {}
        for index, source in enumerate(sources):
            raws = source.values[0] if isinstance(source, Categories) else (source.raw,)
            self._index.update(dict.fromkeys(raws, index))

    def __call__(self, column: int, threshold: float, missing_left: bool) -> tuple[int, Ranges]:
        variable = self._index[self.columns[column].raw]
        return variable, self.sources[variable].left(self.columns[column], threshold, missing_left)


def _ensemble(head: Head, trees: Joined, states: _States) -> Classifier:
    assert head.sums is not None
    assert head.rule.classes is not None
    return simplest(
        Ensemble(
            tuple(states.variables), head.rule.classes, trees.trees(states), head.sums, kind=head.kind, notes=head.notes
        )
    )


def _graph(head: Head, tests_of: Joined, states: _States) -> DecisionGraph:
    (tree,), rule, values = head.trees, head.rule, head.values
    assert values is not None
    leaves = np.flatnonzero(tree.left == LEAF)
    class_of_leaf = dict(zip(leaves.tolist(), rule.decide(values[leaves]), strict=True))
    classes = rule.classes if rule.classes is not None else tuple(sorted(set(class_of_leaf.values())))
    class_number = {name: index for index, name in enumerate(classes)}
    order = _children_first(tree)
    position = {node: index for index, node in enumerate(order)}
    tests, labels = [], []
    edges: list[Edges] = []
    sides_of: dict[int, tuple[int, Ranges, Ranges]] = {}
    for node in order:
        left, right = int(tree.left[node]), int(tree.right[node])
        if left == LEAF:
            tests.append(-1)
            labels.append(class_number[class_of_leaf[node]])
            edges.append(())
            continue
        test = int(tests_of.test[node])
        if test not in sides_of:
            variable, to_left = states(*tests_of.asked(test))
            sides_of[test] = variable, to_left, difference(((0, states.variables[variable].size - 1),), to_left)
        variable, to_left, to_right = sides_of[test]
        tests.append(variable)
        labels.append(-1)
        edges.append(((to_left, position[left]), (to_right, position[right])))
    names = [f"n{node}" for node in order]
    return DecisionGraph.build(states.variables, classes, tests, labels, edges, names=names)


def _children_first(tree: Tree) -> list[int]:
    """The nodes in the order of our JSON format: left child, right child, then the node itself."""
    order, work = [], [0]
    while work:
        node = work.pop()
        order.append(node)
        if tree.left[node] != LEAF:
            work += [int(tree.left[node]), int(tree.right[node])]
    return order[::-1]
