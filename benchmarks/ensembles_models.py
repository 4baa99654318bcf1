"""Forests and boosted trees as people make them, learned here from tables, and what their exact reasons cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.ensembles_published import checked_text
from benchmarks.ensembles_rows import reduce_rows
from benchmarks.kernel import spread_out
from quia.classifier import Classifier
from quia.errors import Unsupported
from quia.explanation import explain
from quia.load import load
from quia.reason import Reason
from quia.tables import read_csv

TABLES = ("compas", "adult", "spambase", "nomao")
HELD_OUT = 5
"""One row in so many is not learned from; those that are explained are of these."""
PREDICTED = 1000
"""The library's own `predict` of so many rows is what a reason's time is compared with."""
ALL_LIMIT = 5.0
LONG_LIMIT = 60.0
"""Seconds for a reason of a forest without bounds on its depth, of the adult table."""
EXACT_ALL = ("compas", "adult")
"""The tables on which all reasons of both kinds are looked for."""


@dataclass(frozen=True, eq=False)
class Data:
    """A table as numbers: nominal columns as codes of their values, classes as codes too."""

    name: str
    columns: list[str]
    learned: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]
    held_out: npt.NDArray[np.float64]

    def chosen(self, rows: int) -> list[tuple[int, npt.NDArray[np.float64]]]:
        """At most so many of the rows that were held out, evenly spread."""
        return [(n, self.held_out[n]) for n in spread_out(len(self.held_out), rows)]


@dataclass(frozen=True)
class Recipe:
    """A model to learn: its name, how it is made, and for which tables."""

    name: str
    make: Callable[[], Any]
    tables: tuple[str, ...] = TABLES


def read_data(folder: Path, name: str) -> Data:
    """A table whose last column is the class."""
    file = folder / f"{name}.csv.gz"
    if not file.exists():
        raise Unsupported(f"{file} is not there", cure="name the folder above train/ with --data DIR")
    whole = read_csv(file)
    kinds = [*whole.kinds()][: len(whole.names) - 1]
    columns = [_numbers(whole.column(index), kind == "numeric") for index, kind in enumerate(kinds)]
    labels = _numbers(whole.column(len(whole.names) - 1), False).astype(np.int64)
    values = np.column_stack(columns)
    held = np.arange(len(values)) % HELD_OUT == 0
    names = [f"c{index}" for index in range(len(kinds))]  # LightGBM refuses names with brackets and the like
    return Data(name, names, values[~held], labels[~held], values[held])


def _numbers(column: Sequence[Any], numeric: bool) -> npt.NDArray[np.float64]:
    if numeric:
        return np.array([float(value) for value in column])
    _, codes = np.unique([str(value) for value in column], return_inverse=True)
    return codes.astype(np.float64)


def recipes() -> list[Recipe]:
    """The models that are measured, each learned by one thread and with a fixed seed."""
    try:
        import lightgbm
        import xgboost
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise Unsupported(
            "learning ensembles needs scikit-learn, XGBoost and LightGBM", cure="pip install 'quia[bench,oracles]'"
        ) from None

    def boosted(rounds: int) -> Any:
        return xgboost.XGBClassifier(n_estimators=rounds, max_depth=6, n_jobs=1, random_state=0)

    def light(rounds: int) -> Any:
        return lightgbm.LGBMClassifier(n_estimators=rounds, max_depth=6, n_jobs=1, random_state=0, verbose=-1)

    def forest(depth: int | None) -> Any:
        return RandomForestClassifier(100, max_depth=depth, n_jobs=1, random_state=0)

    return [
        Recipe("XGBoost 100x6", lambda: boosted(100)),
        Recipe("XGBoost 500x6", lambda: boosted(500)),
        Recipe("LightGBM 100x6", lambda: light(100)),
        Recipe("LightGBM 500x6", lambda: light(500)),
        Recipe("forest 100x6", lambda: forest(6)),
        Recipe("forest 100, any depth", lambda: forest(None)),
        Recipe("XGBoost 50x6, 26 classes", lambda: boosted(50), ("isolet",)),
    ]


def asked_for(tables: Sequence[str] | None, words: Sequence[str] | None) -> dict[str, list[Recipe]]:
    """Which models to learn of each of these tables, or of all: those whose names have one of these words."""
    known = [*TABLES, "isolet"]
    chosen = {
        name: [
            recipe
            for recipe in recipes()
            if (name in recipe.tables or (name not in known and recipe.tables == TABLES))
            and (not words or any(word in recipe.name for word in words))
        ]
        for name in tables or known
    }
    return {name: found for name, found in chosen.items() if found}


def learned(
    folder: Path, tables: Sequence[str] | None = None, words: Sequence[str] | None = None
) -> Iterator[tuple[Data, Recipe, Any]]:
    """The models that are asked for, one after the other."""
    from benchmarks.steps import Steps

    wanted = asked_for(tables, words)
    with Steps(sum(map(len, wanted.values()))) as steps:
        for name, chosen in wanted.items():
            data = read_data(folder, name)
            for recipe in chosen:
                yield data, recipe, recipe.make().fit(data.learned, data.labels)
                steps.step(on=f"{name}, {recipe.name}")


def measure(
    folder: Path,
    rows: int,
    limit: float,
    check_limit: float,
    tables: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
) -> dict[str, Any]:
    """One reason of some rows of each model; all reasons of some models."""
    one, every = [], []
    for data, recipe, model in learned(folder, tables, words):
        started = time.process_time()
        classifier = load(model)
        loading = time.process_time() - started
        is_deep = recipe.name == "forest 100, any depth" and data.name == "adult"
        most = max(limit, LONG_LIMIT) if is_deep else limit
        predict = predict_seconds(model, data)
        attack = partial(decided_otherwise, model, data, classifier)
        reduced = reduce_rows(classifier, data.chosen(rows), most, check_limit, attack).numbers()
        about = {"name": f"{data.name}, {recipe.name}", "features": len(data.columns), **sizes(classifier)}
        one.append(about | {"limit": most, "load": loading, "predict": predict} | reduced)
        if recipe.name == "XGBoost 100x6" and data.name in EXACT_ALL:
            every.append(about | all_reasons(classifier, data, rows))
    return {"one": one, "all": every}


def sizes(classifier: Any) -> dict[str, int]:
    """Trees and leaves of an ensemble; of one tree, which is loaded as a graph, its nodes."""
    found: dict[str, int] = classifier.sizes
    return {"trees": found.get("trees", 1), "leaves": found.get("leaves", found.get("nodes", 0))}


def decided_otherwise(
    model: Any, data: Data, classifier: Classifier, row: npt.NDArray[np.float64], reason: Reason
) -> str | None:
    """Rows of the table with a reason's values put in: those that the library itself decides otherwise."""
    names = [variable.name for variable in classifier.variables]
    members = [names.index(feature) for feature in reason.features]
    rows = np.resize(data.held_out, (PREDICTED, data.held_out.shape[1]))
    rows[:, members] = row[members]
    otherwise = int((model.predict(rows) != model.predict(row[None, :])).sum())
    return f"{otherwise} of {PREDICTED:,} rows with its values are decided otherwise" if otherwise else None


def predict_seconds(model: Any, data: Data) -> float:
    """CPU seconds of the library's own `predict` of a thousand rows; the best of three."""
    rows = np.resize(data.held_out, (PREDICTED, data.held_out.shape[1]))
    seconds = []
    for _ in range(3):
        started = time.process_time()
        model.predict(rows)
        seconds.append(time.process_time() - started)
    return min(seconds)


def all_reasons(classifier: Classifier, data: Data, rows: int) -> dict[str, Any]:
    """All reasons of both kinds: CPU seconds, and of how many rows all were found in time."""
    seconds, complete, counts = [], 0, []
    for _, row in data.chosen(rows):
        started = time.process_time()
        why = explain(classifier, row)
        sufficient = why.sufficient_reasons(timeout=ALL_LIMIT)
        found = sufficient.complete and why.necessary_reasons(timeout=ALL_LIMIT).complete
        seconds.append(time.process_time() - started)
        complete += found
        if found:
            counts.append(sufficient.exact_count())
    return {
        "rows": len(seconds),
        "complete": complete,
        "median": median(seconds),
        "max": max(seconds),
        "most": max(counts, default=None),
        "limit": ALL_LIMIT,
    }


def text(results: dict[str, Any]) -> str:
    """A line of each model, then what all reasons cost."""
    from benchmarks.numbers import number_text, plain_table, ratio_text, seconds_text

    header = [
        "model",
        "features",
        "trees",
        "leaves",
        "rows",
        "median",
        "p90",
        "max",
        "length",
        "minimal in time",
        "confirmed",
    ]
    header += [f"its predict of {PREDICTED:,}", "median / predict", "load"]
    body = [
        [
            r["name"],
            str(r["features"]),
            f"{r['trees']:,}",
            f"{r['leaves']:,}",
            str(r["rows"]),
            seconds_text(r["median"]),
            seconds_text(r["p90"]),
            seconds_text(r["max"]),
            number_text(r["length"]),
            f"{r['minimal']} of {r['rows']} in {r['limit']:g} s",
            f"{r['checked']} of {r['rows']}",
            seconds_text(r["predict"]),
            ratio_text(r["median"] / r["predict"]),
            seconds_text(r["load"]),
        ]
        for r in results["one"]
    ]
    said = (
        f" Of each reason, {PREDICTED:,} rows of the table with its values put in are decided as the row by the library"
        " itself, or it counts as refuted."
    )
    lines = [plain_table(header, body), "", checked_text(results["one"], said)] if body else []
    for r in results["all"]:
        lines += [
            "",
            f"All reasons of both kinds, {r['name']}: {r['complete']} of {r['rows']} rows complete in {r['limit']:g} s,"
            f" {seconds_text(r['median'])} of CPU in the median, {seconds_text(r['max'])} at most; at most"
            f" {number_text(r['most'])} sufficient reasons.",
        ]
    return "\n".join(lines)
