"""The studio: a folder with invented people and models of them, where commands run as a reader would type them."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from photographs.camera import Camera, camera

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
MADE = "1767225600"  # the first of January 2026
REFUSED = 6
"""The row of examples/loans.csv that most pictures are about: refused, and for a man it would have been granted."""


class Studio:
    """A folder with examples/, a camera, and what pictures share, each made when the first of them asks for it."""

    def __init__(self, folder: Path, until_the_end: ExitStack) -> None:
        self.folder = folder
        self._until_the_end = until_the_end
        (folder / "examples").symlink_to(EXAMPLES)

    @cached_property
    def camera(self) -> Camera:
        """The one browser."""
        return self.keep(camera())

    def keep(self, made: Any) -> Any:
        """What a context manager gives, until all pictures are taken."""
        return self._until_the_end.enter_context(made)

    @property
    def environment(self) -> dict[str, str]:
        """The time stands still, and quia is the one that is imported here."""
        return os.environ | {"SOURCE_DATE_EPOCH": MADE, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}

    def written(self, command: str, file: str) -> str:
        """The address of the file that a command writes; it runs once."""
        place = self.folder / file
        if not place.exists():
            done = [sys.executable, "-m", *shlex.split(command)]
            subprocess.run(done, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)
        return place.as_uri()

    @cached_property
    def applicants(self) -> str:
        """The rows of examples/loans.csv that lack nothing, without how they were decided."""
        rows = [row[:-1] for row in _rows() if (all(row) and row[1].isdigit()) or row[0] == "age"]
        with (self.folder / "applicants.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return "applicants.csv"

    @cached_property
    def boosted(self) -> str:
        """The file of boosted trees, learned from the same people."""
        import pandas as pd
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from xgboost import XGBClassifier

        import quia
        from quia.load import json as quia_json

        people = pd.read_csv(self.folder / self.applicants)
        decided = [row[-1] == "grant" for row in _rows() if all(row) and row[1].isdigit()]
        nominal = ["job", "home", "sex", "region"]
        columns = make_column_transformer((OneHotEncoder(sparse_output=False), nominal), remainder="passthrough")
        trees = XGBClassifier(n_estimators=40, max_depth=3, learning_rate=0.3, n_jobs=1, random_state=0)
        model = quia.load(make_pipeline(columns, trees).fit(people, decided), classes=["deny", "grant"])
        (self.folder / "boosted.json").write_text(quia_json.dumps(model))
        return "boosted.json"

    @cached_property
    def digits(self) -> str:
        """The file of a tree that takes images for digits; the image of a nought is `digit.json`."""
        from sklearn.datasets import load_digits  # scikit-learn brings them
        from sklearn.tree import DecisionTreeClassifier

        import quia
        from quia.load import json as quia_json

        images, labels = load_digits(return_X_y=True)
        model = quia.load(DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(images, labels))
        (self.folder / "digits.json").write_text(quia_json.dumps(model))
        values = zip((variable.name for variable in model.variables), images[0], strict=True)
        (self.folder / "digit.json").write_text(json.dumps(dict(values)))
        return "digits.json"


def refused() -> dict[str, str]:
    """The person that most pictures are about."""
    rows = _rows()
    return dict(zip(rows[0][:-1], rows[REFUSED], strict=False))


def _rows() -> list[list[str]]:
    with (EXAMPLES / "loans.csv").open(newline="") as file:
        return list(csv.reader(file))


@contextmanager
def studio() -> Iterator[Studio]:
    """A studio, and nothing of it afterwards."""
    with TemporaryDirectory() as folder, ExitStack() as until_the_end:
        yield Studio(Path(folder), until_the_end)
