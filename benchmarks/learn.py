"""J48 trees learned with Weka, from OpenML's data sets or from prepared tables, kept in the layout that `find` reads.

Weka is not part of this project. `pip install --no-deps python-weka-wrapper3` brings its weka.jar, or $WEKA_JAR
names it; Java must be there.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arguments import default_cache
from benchmarks.models import SEED, Benchmark, arff_header, arff_value, find, table
from quia.errors import Unsupported, listed
from quia.learn_j48 import find_java, find_weka

OPENML: dict[str, tuple[str, int] | int] = {
    "adult": ("adult", 2),
    "fashion_mnist": ("Fashion-MNIST", 1),
    "gisette": ("gisette", 2),
    "isolet": ("isolet", 1),
    "la1s.wc": ("la1s.wc", 1),
    "mnist_784": ("mnist_784", 1),
    "nomao": ("nomao", 1),
    "ohscal.wc": ("ohscal.wc", 1),
    "spambase": ("spambase", 1),
    "compas": 42193,
}
"""The paper's ten data sets: our name → OpenML's name and version, or its number where the name has several."""
TEST_SHARE = 0.15
MOST_INSTANCES = 1000
_MISSING = "?"


def benchmarks(
    data: str | None, *, openml: bool, cache: str | None = None, names: Sequence[str] = ()
) -> list[Benchmark]:
    """Trees learned here, each only once, and the graphs of `data`."""
    folder = Path(cache) if cache else default_cache()
    known = list(OPENML) if openml else [p.name.removesuffix(".csv.gz") for p in _training(data)]
    chosen = [name for name in names if name not in ("trees", "graphs")] or ([] if "graphs" in names else known)
    for name in chosen:
        if name not in known:
            raise Unsupported(f"there is no data set {name!r}", cure=f"there are {listed(known)}")
        home = folder / ("openml" if openml else "learned") / "trees" / name
        if not (home / "tree.j48.txt").exists():
            columns, rows, nominal = fetch(name, folder) if openml else _prepared(Path(data or "."), name)
            learn(home, name, columns, rows, nominal)
    found = find(folder / ("openml" if openml else "learned"), chosen) if chosen else []
    graphs = [] if data is None or (names and "graphs" not in names) else find(data)
    return found + [b for b in graphs if b.kind == "graph"]


def _training(data: str | None) -> list[Path]:
    found = sorted(Path(data or ".").glob("train/*.csv.gz"))
    if not found:
        raise Unsupported(f"{data or '.'} has no train/*.csv.gz to learn from", cure="name a folder with --data DIR")
    return found


Nominal = dict[str, list[str]]


def _prepared(folder: Path, name: str) -> tuple[list[str], list[list[str]], Nominal]:
    """A table of train/ and what is known of its nominal columns."""
    columns, rows = table(folder / "train" / f"{name}.csv.gz")
    about = folder / "trees" / name / "meta.json"
    nominal: Nominal = json.loads(about.read_text("utf-8"))["nominal_columns"] if about.exists() else {}
    return columns, rows, nominal


def fetch(name: str, cache: Path) -> tuple[list[str], list[list[str]], Nominal]:
    """A data set of OpenML, the class last."""
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise Unsupported("fetching from OpenML needs scikit-learn", cure="pip install --editable '.[bench]'") from None
    which = OPENML[name]
    asked: dict[str, Any] = {"data_id": which} if isinstance(which, int) else {"name": which[0], "version": which[1]}
    try:
        bunch: Any = fetch_openml(**asked, data_home=str(cache / "sklearn"), as_frame=True)
    except OSError as fault:
        raise Unsupported(
            f"OpenML could not be reached for {name}: {fault}", cure="give a folder of prepared files with --data DIR"
        ) from None
    frame = bunch.data.assign(**{str(bunch.target.name): bunch.target})
    nominal = {
        str(column): [str(c) for c in frame[column].cat.categories]
        for column in frame.columns
        if hasattr(frame[column], "cat")
    }
    rows = frame.astype(object).where(frame.notna(), _MISSING).astype(str).to_numpy().tolist()
    return [str(c) for c in frame.columns], rows, nominal


def learn(home: Path, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], nominal: Nominal) -> None:
    """Split, learn J48 with default settings on 85 %, and keep the printed tree with up to 1,000 rows of the rest."""
    jar = find_weka(os.environ.get("WEKA_JAR"))
    klass = columns[-1]
    nominal = nominal | {klass: nominal.get(klass) or sorted({row[-1] for row in rows})}
    order = np.random.default_rng(SEED).permutation(len(rows))
    held_out = round(TEST_SHARE * len(rows))
    test, train = order[:held_out], np.sort(order[held_out:])
    home.mkdir(parents=True, exist_ok=True)
    header = arff_header(columns, nominal)
    for part, chosen in (("train", train), ("test", np.sort(test))):
        lines = (",".join(arff_value(c, rows[i][k], nominal) for k, c in enumerate(columns)) for i in chosen)
        (home / f"{part}.arff").write_text(header + "\n".join(lines) + "\n", "utf-8")
    printed = _weka(jar, home, "-t", str(home / "train.arff"), "-T", str(home / "test.arff"))
    meta = {
        "source": "OpenML" if name in OPENML else "prepared table",
        "name": name,
        "rows": len(rows),
        "class_column": klass,
        "class_values": nominal[klass],
        "nominal_columns": nominal,
    }
    (home / "meta.json").write_text(json.dumps(meta, indent=1), "utf-8")
    kept = io.StringIO()
    csv.writer(kept).writerows([columns, *(rows[i] for i in np.sort(test[:MOST_INSTANCES]))])
    (home / "rows.csv.gz").write_bytes(gzip.compress(kept.getvalue().encode(), mtime=0))
    for part in ("train", "test"):
        (home / f"{part}.arff").unlink()
    (home / "tree.j48.txt").write_text(printed, "utf-8")  # last: where it is, all is


def _weka(jar: str, home: Path, *arguments: str) -> str:
    command = [find_java(), "-Xmx4g", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", jar]
    command += ["weka.classifiers.trees.J48", *arguments]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=os.environ | {"WEKA_HOME": str(home / "weka")}
    )
    shutil.rmtree(home / "weka", ignore_errors=True)
    if done.returncode or "J48 pruned tree" not in done.stdout:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Unsupported(f"Weka did not learn a tree: {said[-1] if said else 'it said nothing'}", cure="see above")
    return done.stdout
