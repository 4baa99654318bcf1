"""J48 through Weka, which is a Java program: found where python-weka-wrapper3 puts it, or given."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from quia.errors import QuiaError, Unsupported, shown
from quia.tables import Task
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

_TIME_LIMIT = 3600  # seconds


def by_j48(task: Task, *, min_rows: int, jar: str | None = None) -> DecisionGraph:
    """The tree that J48 learns with its default settings, but for the fewest rows in a leaf."""
    from quia.load.weka import read

    java, weka = find_java(), find_weka(jar)
    with tempfile.TemporaryDirectory(prefix="quia-j48-") as scratch:
        arff = Path(scratch, "train.arff")
        arff.write_text(arff_text(task), encoding="utf-8")
        command = [java, "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Dfile.encoding=UTF-8", "-cp", weka]
        command += ["weka.classifiers.trees.J48", "-M", str(min_rows), "-t", str(arff), "-no-cv"]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                cwd=scratch,
                env={**os.environ, "WEKA_HOME": scratch},
                timeout=_TIME_LIMIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise QuiaError(f"Weka could not be run: {fault}") from None
        if done.returncode or b"J48" not in done.stdout:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise QuiaError(f"Weka learned no tree: {shown(said, most=400)}")
        return read(done.stdout, arff=arff)


def find_java() -> str:
    """Where Java is."""
    java = shutil.which("java")
    if java is None:
        raise Unsupported("J48 needs Java, which is not here", cure="install a Java runtime, or use learner='sklearn'")
    return java


def find_weka(jar: str | None = None) -> str:
    """Where weka.jar is: as given, or as the package python-weka-wrapper3 brings it."""
    if jar is not None:
        if not Path(jar).is_file():
            raise Unsupported(f"there is no weka.jar at {shown(jar)}", cure="give the path of one")
        return str(Path(jar).resolve())
    found = find_spec("weka")
    for place in (found.submodule_search_locations or ()) if found else ():
        candidate = Path(place, "lib", "weka.jar")
        if candidate.is_file():
            return str(candidate)
    raise Unsupported(
        "J48 needs Weka, which is not here",
        cure="pip install --no-deps python-weka-wrapper3, or give the path of a weka.jar",
    )


def arff_text(task: Task) -> str:
    """The rows in Weka's own format, the target last."""
    kinds = task.table.kinds()
    order = [*task.inputs, task.goal]
    lines = ["@relation data", ""]
    for index in order:
        nominal = index == task.goal or kinds[index] == "nominal"
        states = sorted({row[index] for row in task.table.rows if not is_missing(row[index])})
        kind = "{" + ",".join(map(_quoted, states)) + "}" if nominal else "numeric"
        lines.append(f"@attribute {_quoted(task.table.names[index])} {kind}")
    lines += ["", "@data"]
    for row in task.rows:
        values = (
            "?" if is_missing(row[i]) else row[i] if kinds[i] == "numeric" and i != task.goal else _quoted(row[i])
            for i in order
        )
        lines.append(",".join(values))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"'{escaped}'"
