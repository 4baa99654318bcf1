"""What a large forest takes: seconds and memory to load it and to explain some rows, in a process of its own.

`python -m benchmarks.ensembles_memory FOLDER` is that process; it reads what `measure` left in the folder.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.ensembles_models import Data
from benchmarks.memory import peak

TREES = 200
"""Of any depth, on the adult table: more than a million leaves."""
LIMIT = 60.0


def measure(data: Data, rows: int, trees: int = TREES) -> dict[str, Any]:
    """Learn a forest, and have it loaded and explained by a process that does nothing else."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(trees, n_jobs=1, random_state=0).fit(data.learned, data.labels)
    with TemporaryDirectory() as scratch:
        (Path(scratch) / "forest.pickle").write_bytes(pickle.dumps(forest))
        np.save(Path(scratch) / "rows.npy", np.array([row for _, row in data.chosen(rows)]))
        command = [sys.executable, "-m", "benchmarks.ensembles_memory", scratch]
        done = subprocess.run(
            command, check=True, capture_output=True, encoding="utf-8", cwd=Path(__file__).resolve().parents[1]
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return {"name": f"{data.name}, forest {trees}, any depth", "trees": trees, **found}


def explained(folder: Path) -> dict[str, Any]:
    """Load and explain; the most memory that was taken by then, in bytes, before and after each."""
    from benchmarks.ensembles_rows import one_reason
    from quia.load import load

    forest = pickle.loads((folder / "forest.pickle").read_bytes())  # written by `measure`, in a folder of its own
    rows = np.load(folder / "rows.npy")
    before = peak()
    started = time.process_time()
    classifier: Any = load(forest)
    loading, loaded = time.process_time() - started, peak()
    reasons = [one_reason(classifier, row, LIMIT) for row in rows]
    return {
        "leaves": classifier.sizes["leaves"],
        "load": loading,
        "before": before,
        "loaded": loaded,
        "explained": peak(),
        "rows": len(rows),
        "seconds": [seconds for seconds, _ in reasons],
        "minimal": sum(reason.is_minimal for _, reason in reasons),
        "limit": LIMIT,
    }


def text(r: dict[str, Any]) -> str:
    """What it took, in a sentence or two."""
    from benchmarks.numbers import seconds_text

    def mebibytes(size: int) -> str:
        return f"{size / 2**20:,.0f} MiB"

    slowest = seconds_text(max(r["seconds"], default=None))
    return (
        f"{r['name']}: {r['leaves']:,} leaves are loaded in {seconds_text(r['load'])} of CPU; at most"
        f" {mebibytes(r['loaded'])} of memory then, {mebibytes(r['before'])} of them scikit-learn's with its forest."
        f" With one reason of each of {r['rows']} rows, {r['minimal']} of them proved minimal in {r['limit']:g} s, the"
        f" slowest in {slowest} of CPU, it is {mebibytes(r['explained'])}."
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(explained(Path(sys.argv[1]))))
