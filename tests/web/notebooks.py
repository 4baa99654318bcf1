"""Notebooks for tests: run by a real kernel, exported by nbconvert, and opened in a real JupyterLab."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from nbclient import NotebookClient

PATIENCE = 180

CELLS = [
    "import quia\nmodel = quia.load(MODEL)\n"
    "why = quia.explain(model, dict(SAT=1400, GPA='medium', Essay='fail', Interview='fail'))",
    "why",
    "model",
    "why.sufficient_reasons()",
    "why.necessary_reasons(general=True)",
    "why.counterfactuals()",
    "why.bias(['Interview'])",
    "why.reason_codes()",
    "why.complete_reason",
    "# Beside what other libraries show\nimport pandas\npandas.DataFrame([why.instance])",
]
"""The second is the explanation."""


def executed(model: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs that a kernel gave."""
    sources = [cell.replace("MODEL", repr(str(model))) for cell in CELLS]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    NotebookClient(made, timeout=PATIENCE, kernel_name="python3").execute()
    return made


def exported(notebook: nbformat.NotebookNode, *, dark: bool) -> str:
    """What nbconvert makes of it, without what it would load from elsewhere."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(theme="dark" if dark else "light", require_js_url="", jquery_url="", mathjax_url="")
    page: str = exporter.from_notebook_node(notebook)[0]
    return page


class Lab:
    """A JupyterLab that runs, with a folder of its own."""

    def __init__(self, folder: Path, port: int, token: str) -> None:
        self.folder, self.port, self.token = folder, port, token

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user's own JupyterLab."""
        places = {name: self.folder / name.lower() for name in ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")}
        return {
            **os.environ,
            **{f"JUPYTER_{name}": str(place) for name, place in places.items()},
            "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "IPYTHONDIR": str(self.folder / "ipython"),
        }

    @property
    def settings(self) -> Path:
        """The user's settings."""
        return self.folder / "settings"

    def choose(self, *, dark: bool) -> None:
        """The theme from the next visit on."""
        theme = {"theme": "JupyterLab Dark" if dark else "JupyterLab Light", "adaptive-theme": False}
        self._set("apputils-extension/themes", theme)
        self._set("notebook-extension/tracker", {"windowingMode": "none"})
        self._set("apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False})

    def _set(self, name: str, values: dict[str, object]) -> None:
        file = self.settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def put(self, notebook: nbformat.NotebookNode, name: str, *, trusted: bool) -> str:
        """The notebook's address there; outputs of one that is not trusted are cleaned before they are shown."""
        file = self.folder / "notebooks" / name
        own = nbformat.from_dict({**notebook, "metadata": {**notebook.metadata, "called": name}})
        nbformat.write(own, file)  # what is signed is the content, so that each needs one of its own
        if trusted:
            subprocess.run([sys.executable, "-m", "nbformat.sign", str(file)], env=self.environment, check=True)
        return f"http://127.0.0.1:{self.port}/doc/tree/{name}?token={self.token}"


@contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    """A JupyterLab on a port of its own, until the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Lab(folder, port, secrets.token_hex(16))
    (folder / "notebooks").mkdir()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root"]
    command += [f"--ServerApp.root_dir={folder / 'notebooks'}", f"--IdentityProvider.token={made.token}"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=made.environment, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/api", process)
            yield made
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(address, timeout=5).close()
            return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not start; see its log")
