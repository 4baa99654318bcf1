"""Following every raw column through a pipeline, up to the model at its end."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from quia.errors import TooLarge, Unsupported, listed, shown
from quia.load.sklearn.steps import Column, Formula, NoMissing

_MOST_STEPS = 20_000
_MOST_COLUMNS = 2_000_000


class Frame(NamedTuple):
    """The columns at one point of a pipeline, and whether scikit-learn holds them in a sparse matrix there."""

    columns: Sequence[Column]
    sparse: bool = False


@dataclass
class Walk:
    """The state of a walk through a pipeline: where it is, for messages, and every column made so far, used or not.

    Unused columns count because a step may refuse a value in a column that the model never reads. `to_trees` says that
    it ends in trees, which need no scaling.
    """

    names: Sequence[str]
    to_trees: bool = True
    path: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    steps: int = 0

    def count(self, columns: int) -> None:
        """Count one more step and the columns it makes: a saved model may name one object in many places."""
        self.steps += 1
        if self.steps > _MOST_STEPS or len(self.columns) + columns > _MOST_COLUMNS:
            raise TooLarge(
                f"{self.step} is one of more than {_MOST_STEPS} steps, or they make more than {_MOST_COLUMNS} columns;"
                " fit a pipeline with fewer",
                limit=_MOST_STEPS,
            )

    @property
    def step(self) -> str:
        return f"step {'.'.join(self.path)!r}"

    def name_of(self, column: Column) -> str:
        return repr(self.names[column.raw])

    def check_width(self, ours: int, theirs: int) -> None:
        if ours != theirs:
            raise Unsupported(
                f"{self.step} makes {theirs} columns where {ours} were expected",
                cure="please report this with your version of scikit-learn",
            )


Follower = Callable[[Walk, Any, Frame], Frame]

# The types that are followed. The class must be exactly this one: a derived class may do something else.
_FOLLOWERS = {
    "sklearn.pipeline.Pipeline": "quia.load.sklearn.follow:pipeline",
    "sklearn.pipeline.FeatureUnion": "quia.load.sklearn.follow:feature_union",
    "sklearn.compose._column_transformer.ColumnTransformer": "quia.load.sklearn.follow:column_transformer",
    "sklearn.preprocessing._function_transformer.FunctionTransformer": "quia.load.sklearn.follow:identity",
    "sklearn.preprocessing._encoders.OneHotEncoder": "quia.load.sklearn.encoders:one_hot",
    "sklearn.preprocessing._encoders.OrdinalEncoder": "quia.load.sklearn.encoders:ordinal",
    "sklearn.preprocessing._target_encoder.TargetEncoder": "quia.load.sklearn.encoders:target",
    "sklearn.preprocessing._data.StandardScaler": "quia.load.sklearn.scalers:standard",
    "sklearn.preprocessing._data.MinMaxScaler": "quia.load.sklearn.scalers:min_max",
    "sklearn.preprocessing._data.MaxAbsScaler": "quia.load.sklearn.scalers:max_abs",
    "sklearn.preprocessing._data.RobustScaler": "quia.load.sklearn.scalers:robust",
    "sklearn.preprocessing._data.QuantileTransformer": "quia.load.sklearn.scalers:quantile",
    "sklearn.preprocessing._data.Binarizer": "quia.load.sklearn.scalers:binarizer",
    "sklearn.preprocessing._discretization.KBinsDiscretizer": "quia.load.sklearn.scalers:bins",
    "sklearn.impute._base.SimpleImputer": "quia.load.sklearn.imputers:simple",
    "sklearn.impute._base.MissingIndicator": "quia.load.sklearn.imputers:indicator",
}
_SELECTORS = "sklearn.feature_selection."


def follow(walk: Walk, transformer: Any, frame: Frame) -> Frame:
    """The columns that a fitted transformer makes from those of a frame."""
    kind = type(transformer)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name in _FOLLOWERS:
        module, _, function = _FOLLOWERS[name].partition(":")
        follower: Follower = getattr(import_module(module), function)
    elif name.startswith(_SELECTORS) and hasattr(kind, "get_support"):
        follower = selected
    else:
        raise _refused(walk, kind.__qualname__)
    expected = getattr(transformer, "n_features_in_", len(frame.columns))
    walk.check_width(len(frame.columns), expected)
    walk.count(len(frame.columns))
    output = follower(walk, transformer, frame)
    walk.count(len(output.columns))
    walk.columns.extend(output.columns)
    return output


def pipeline(walk: Walk, steps: Any, frame: Frame) -> Frame:
    """Pipeline: one step after the other."""
    for name, step in steps.steps:
        frame = _follow_step(walk, name, step, frame)
    return frame


def column_transformer(walk: Walk, transformer: Any, frame: Frame) -> Frame:
    """ColumnTransformer: each step takes some of the columns; their outputs are placed side by side."""
    columns: list[Column] = []
    weights = transformer.transformer_weights or {}
    for name, step, chosen in transformer.transformers_:
        inputs = [frame.columns[index] for index in _indices(walk, chosen, transformer)]
        if inputs and not (isinstance(step, str) and step == "drop"):
            output = _follow_step(walk, name, step, Frame(inputs, frame.sparse))
            columns.extend(_with_weight(walk, output.columns, weights.get(name)))
    return Frame(columns, bool(transformer.sparse_output_))


def feature_union(walk: Walk, union: Any, frame: Frame) -> Frame:
    """FeatureUnion: every step takes all columns; their outputs are placed side by side."""
    weights = union.transformer_weights or {}
    columns: list[Column] = []
    sparse = False
    for name, step in union.transformer_list:
        if not (isinstance(step, str) and step == "drop"):
            output = _follow_step(walk, name, step, frame)
            columns.extend(_with_weight(walk, output.columns, weights.get(name)))
            sparse |= output.sparse
    return Frame(columns, sparse)


def _with_weight(walk: Walk, columns: Sequence[Column], weight: Any) -> Sequence[Column]:
    """The output of a step, multiplied by its weight in `transformer_weights`."""
    if weight is None:
        return columns
    if not isinstance(weight, Real) or not math.isfinite(weight):
        raise Unsupported(
            f"{walk.step} has the transformer weight {shown(weight)}", cure="give weights that are numbers"
        )
    return [column.then(Formula.of([("multiply", float(weight))])) for column in columns]


def identity(walk: Walk, transformer: Any, frame: Frame) -> Frame:
    """FunctionTransformer: only one that changes nothing is supported."""
    if transformer.func is not None:
        name = getattr(transformer.func, "__name__", repr(transformer.func))
        raise Unsupported(
            f"{walk.step} applies the function {name}, which cannot be inverted exactly",
            cure="apply it before the pipeline and name the new column"
            + (", or leave it out: a tree needs no scaling" if walk.to_trees else ""),
        )
    return Frame([column.then(NoMissing()) for column in frame.columns]) if transformer.validate else frame


def selected(walk: Walk, selector: Any, frame: Frame) -> Frame:
    """Feature selection: some of the columns, unchanged."""
    columns = frame.columns
    if not _takes_missing(selector):
        columns = [column.then(NoMissing()) for column in columns]
        walk.columns.extend(columns)
    return Frame([columns[index] for index in selector.get_support(indices=True)], frame.sparse)


def _takes_missing(selector: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            selector.transform(np.full((1, selector.n_features_in_), np.nan))
        except ValueError:
            return False
    return True


def passes(step: Any) -> bool:
    """Whether a step changes nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def _follow_step(walk: Walk, name: str, step: Any, frame: Frame) -> Frame:
    if passes(step):
        return frame
    walk.path.append(str(name))
    output = follow(walk, step, frame)
    walk.path.pop()
    return output


def _indices(walk: Walk, chosen: Any, transformer: Any) -> list[int]:
    """The columns that a ColumnTransformer's fitted step takes: names, numbers, a mask or a slice of either."""
    count = transformer.n_features_in_
    names = [str(name) for name in getattr(transformer, "feature_names_in_", ())]

    index_of = {name: index for index, name in enumerate(names)}

    def index(key: Any) -> int:
        return index_of[key] if isinstance(key, str) else range(count)[int(key)]

    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):  # a slice of names includes its end
            start = 0 if chosen.start is None else index(chosen.start)
            stop = count if chosen.stop is None else index(chosen.stop) + 1
            return list(range(count))[start : stop : chosen.step]
        return list(range(count))[chosen]
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        return [index(chosen)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of scikit-learn 1.5, about the remaining columns
        keys = list(chosen)
    if len(keys) == count and keys and all(type(key).__name__ in ("bool", "bool_") for key in keys):
        return [at for at, is_chosen in enumerate(keys) if is_chosen]
    return [index(key) for key in keys]


def _refused(walk: Walk, kind: str) -> Unsupported:
    if kind in ("PowerTransformer", "QuantileTransformer"):
        why = "whose curve cannot be inverted to the last bit"
        cure = "leave it out and fit again: the splits of a tree do not depend on such a scaling"
        if not walk.to_trees:
            cure = "fit again with a StandardScaler in its place, or transform before, and name the new columns"
    else:
        why = "which cannot be inverted exactly to tests on the raw columns"
        if not walk.to_trees:
            why = "which is no scaling, filling, binning or encoding of one raw column at a time"
        known = sorted(path.rpartition(".")[2] for path in _FOLLOWERS)
        cure = f"transform before, and name the new columns, or use {listed(known, most=20)}"
    return Unsupported(f"{walk.step} is a {kind}, {why}", cure=cure)
