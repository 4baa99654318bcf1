"""Real models with their own `predict`, audited; and false claims in the documents of these audits.

Nothing here takes numbers from `quia.auditing`: a row is decided by the library that a model comes from.
"""

from __future__ import annotations

import copy
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
import pytest

import quia
from quia.auditing.audit import Facts, run
from quia.auditing.check_table import read_table
from quia.auditing.checks import Files, check
from quia.auditing.document import Document
from quia.auditing.reading import from_dict, to_dict
from quia.errors import MissingValue
from quia.identity import file_facts

PROTECTED = ("sex", "race")
CLASSES = ("<=50K", ">50K")

Predict = Callable[[Any], list[str | None]]


@dataclass(frozen=True, eq=False)
class Real:
    """A model and a table, each with its file if it has one, and what the model's own library decides of any rows."""

    classifier: Any
    rows: Any
    predict: Predict
    table: Path
    model: Path | None

    @cached_property
    def document(self) -> Document:
        facts = Facts(None if self.model is None else file_facts(self.model))
        asked: dict[str, Any] = {"label": "class", "protected": PROTECTED, "favourable": CLASSES[1], "orders": None}
        asked |= {"compare": None, "within": None, "given": None, "share": 0.9, "timeout": None}
        return run(self.classifier, str(self.table), facts, **asked)

    def checked(self, document: Document) -> Any:
        files = Files(None if self.model is None else str(self.model), str(self.table))
        table = read_table(str(self.table), document, self.classifier, None)
        return check(document, self.classifier, table=table, files=files)


def adult(shared_data: Path, rows: int) -> Any:
    """So many rows of the adult table, evenly spread, nominal columns as texts."""
    with gzip.open(shared_data / "train" / "adult.csv.gz", "rt") as file:
        table = pd.read_csv(file, keep_default_na=False)
    return table.iloc[:: len(table) // rows].head(rows).reset_index(drop=True)


def make(name: str, shared_data: Path, folder: Path) -> Real:
    """A J48 tree, a pipeline of scikit-learn, the same kind of tree as PMML, or boosted trees."""
    rows = adult(shared_data, 200 if name == "xgboost" else 2000)
    table = folder / "adult.csv"
    rows.to_csv(table, index=False)
    return Real(
        *{"j48": _j48, "sklearn": _sklearn, "pmml": _pmml, "xgboost": _xgboost}[name](shared_data, rows, folder)
    )


def _j48(shared_data: Path, rows: Any, folder: Path) -> tuple[Any, ...]:
    file = shared_data / "trees" / "adult" / "tree.j48.txt"
    model = quia.load(file)

    def decide(row: dict[str, Any]) -> str | None:
        try:
            return model.classify(row)
        except MissingValue:
            return None

    return model, rows, lambda some: [decide(row) for row in some.to_dict("records")], folder / "adult.csv", file


def _sklearn(shared_data: Path, rows: Any, folder: Path) -> tuple[Any, ...]:
    compose, preprocessing, pipeline, tree = (
        pytest.importorskip(f"sklearn.{part}") for part in ("compose", "preprocessing", "pipeline", "tree")
    )
    features = rows.drop(columns="class")
    texts = list(features.select_dtypes(exclude="number"))
    encode = compose.make_column_transformer(
        (preprocessing.OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough"
    )
    model = pipeline.make_pipeline(encode, tree.DecisionTreeClassifier(max_depth=9, random_state=0))
    model.fit(features, rows["class"])
    names = list(features)
    return quia.load(model), rows, lambda some: list(model.predict(some[names])), folder / "adult.csv", None


def _pmml(shared_data: Path, rows: Any, folder: Path) -> tuple[Any, ...]:
    """A tree over numbers and one column for each value of sex, race and marital-status, written as PMML."""
    tree = pytest.importorskip("sklearn.tree")
    numbers = list(rows.select_dtypes("number"))
    texts = ["sex", "race", "marital-status"]
    states = {name: sorted(set(rows[name])) for name in texts}
    columns: list[tuple[str, str | None]] = [(name, None) for name in numbers]
    columns += [(name, state) for name in texts for state in states[name]]

    def encoded(some: Any) -> Any:
        return np.column_stack([some[n] if s is None else (some[n] == s).astype(int) for n, s in columns])

    model = tree.DecisionTreeClassifier(max_depth=7, random_state=1).fit(encoded(rows), rows["class"])
    file = folder / "tree.pmml"
    file.write_text(_as_pmml(model, columns, states, numbers))
    return quia.load(file), rows, lambda some: list(model.predict(encoded(some))), folder / "adult.csv", file


def _as_pmml(model: Any, columns: Sequence[tuple[str, str | None]], states: Any, numbers: Sequence[str]) -> str:
    nodes = model.tree_
    fields = [f'<DataField name={quoteattr(name)} optype="continuous" dataType="double"/>' for name in numbers]
    for name, each in {**states, "class": list(model.classes_)}.items():
        values = "".join(f"<Value value={quoteattr(value)}/>" for value in each)
        fields.append(f'<DataField name={quoteattr(name)} optype="categorical" dataType="string">{values}</DataField>')
    mining = "".join(f"<MiningField name={quoteattr(name)}/>" for name in [*numbers, *states])

    def node(at: int, predicate: str) -> str:
        score = quoteattr(str(model.classes_[int(np.argmax(nodes.value[at]))]))
        if nodes.children_left[at] < 0:
            return f"<Node score={score}>{predicate}</Node>"
        name, state = columns[nodes.feature[at]]
        value = repr(float(nodes.threshold[at])) if state is None else state
        signs = ("lessOrEqual", "greaterThan") if state is None else ("notEqual", "equal")
        below = [
            node(child, f'<SimplePredicate field={quoteattr(name)} operator="{sign}" value={quoteattr(value)}/>')
            for child, sign in zip((nodes.children_left[at], nodes.children_right[at]), signs, strict=True)
        ]
        return f"<Node score={score}>{predicate}{''.join(below)}</Node>"

    return (
        '<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4"><Header/>'
        f"<DataDictionary>{''.join(fields)}</DataDictionary>"
        f'<TreeModel functionName="classification" splitCharacteristic="binarySplit"><MiningSchema>{mining}'
        f'<MiningField name="class" usageType="target"/></MiningSchema>{node(0, "<True/>")}</TreeModel></PMML>'
    )


def _xgboost(shared_data: Path, rows: Any, folder: Path) -> tuple[Any, ...]:
    xgboost = pytest.importorskip("xgboost")
    every = adult(shared_data, 3000).drop(columns="class")
    kinds = {name: pd.CategoricalDtype(sorted(set(every[name]))) for name in every.select_dtypes(exclude="number")}
    labels = (adult(shared_data, 3000)["class"] == CLASSES[1]).astype(int)
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, enable_categorical=True, n_jobs=1)
    model.fit(every.astype(kinds), labels)
    file = folder / "boosted.json"
    model.save_model(file)

    def predict(some: Any) -> list[str | None]:
        return [CLASSES[one] for one in model.predict(some[list(every)].astype(kinds))]

    return quia.load(file, classes=list(CLASSES)), rows, predict, folder / "adult.csv", file


# ---- lies -------------------------------------------------------------------------------------------------------

Place = tuple[str | int, ...]


def lies(rng: Random, document: Document, count: int) -> Iterator[tuple[str, Document]]:
    """So many documents with one false claim each, of every kind in turn, and what was changed."""
    true = to_dict(document)
    kinds = {kind: list(places) for kind, places in _places(true).items()}
    for number in range(count):
        kind = sorted(kinds)[number % len(kinds)]
        place = rng.choice(kinds[kind])
        wrong = copy.deepcopy(true)
        at: Any = wrong
        for key in place[:-1]:
            at = at[key]
        before = at[place[-1]]
        at[place[-1]] = _changed(rng, kind, before, true)
        assert at[place[-1]] != before
        yield f"{kind} {'.'.join(map(str, place))}: {before!r} -> {at[place[-1]]!r}", from_dict(wrong)


def _changed(rng: Random, kind: str, value: Any, true: Any) -> Any:
    if kind == "count":
        return value + (1 if not value else rng.choice([1, -1]))
    if kind == "class":
        return CLASSES[1 - CLASSES.index(value)]
    if kind == "classes":
        return value[::-1]
    if kind == "threshold":
        return value + rng.choice([-1.5, -0.5, 0.5, 1.5])
    if kind == "row":
        return rng.choice([0, true["decisions"]["rows"] + 1, value + true["decisions"]["rows"]])
    if kind == "proof":
        return not value
    digit = rng.randrange(len(value))
    return value[:digit] + ("1" if value[digit] == "0" else "0") + value[digit + 1 :]


def _places(true: Any) -> dict[str, list[Place]]:
    """Where claims of each kind stand."""
    found: dict[str, list[Place]] = {}
    for place, value in _walk(true, ()):
        name, inside = place[-1], set(place)
        if inside & {"settings", "made", "quia", "seconds", "share", "explained", "bytes"}:
            continue
        is_instance = bool(inside & {"values", "one", "other"}) and "labels" not in inside
        if name in ("low", "high") and value is not None:
            kind = "threshold"
        elif name == "sha256":
            kind = "digit"
        elif is_instance or "intervals" in inside or "order" in inside or "classes" in place[2:3]:
            continue
        elif name == "row" or place[-2:-1] == ("first",):
            kind = "row"
        elif isinstance(value, bool):
            if name not in ("can", "matters", "complete", "tested"):
                continue
            kind = "proof"
        elif isinstance(value, int):
            kind = "count"
        elif name in ("decision", "otherwise", "other_decision", "label") and value in CLASSES:
            kind = "class"
        else:
            continue
        found.setdefault(kind, []).append(place)
    return found


def _walk(data: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from _walk(value, (*place, key))
        else:
            yield (*place, key), value
