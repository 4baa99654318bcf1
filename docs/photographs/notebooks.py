"""Pictures of notebooks: exported by nbconvert, and in a real JupyterLab, in light and in dark."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from photographs.camera import View
from photographs.studio import REFUSED, Studio

VIEW = View(1000, 1000)
CELLS = (
    f"""import pandas as pd
import quia

model = quia.load("examples/loan.json")
person = pd.read_csv("examples/loans.csv").iloc[{REFUSED - 1}]
why = quia.explain(model, person)
why""",
    "why.counterfactuals()",
    "model",
)


@cache
def executed(studio: Studio) -> Any:
    """The notebook with what a kernel gave."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    for place, cell in enumerate(made.cells):
        cell["id"] = f"cell-{place}"
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    where = {"metadata": {"path": str(studio.folder)}}
    NotebookClient(made, timeout=180, kernel_name="python3", resources=where).execute()
    return made


def exported(*, dark: bool) -> Callable[[Studio], bytes]:
    """What `jupyter nbconvert --to html` makes of it."""

    def take(studio: Studio) -> bytes:
        from web import notebooks

        file = studio.folder / f"notebook-{'dark' if dark else 'light'}.html"
        file.write_text(notebooks.exported(executed(studio), dark=dark))
        return studio.camera.take(file.as_uri(), VIEW)

    return take


def in_lab(*, dark: bool) -> Callable[[Studio], bytes]:
    """What JupyterLab shows of it."""

    def take(studio: Studio) -> bytes:
        lab = _lab(studio)
        lab.choose(dark=dark)
        address = lab.put(executed(studio), "loan.ipynb", trusted=True)
        return studio.camera.take(address, VIEW, pose=_settled)

    return take


@cache
def _lab(studio: Studio) -> Any:
    from web import notebooks

    folder = Path(studio.folder, "lab")
    folder.mkdir()
    return studio.keep(notebooks.lab(folder))


def _settled(page: Page) -> None:
    page.locator(".jp-OutputArea-output").nth(len(CELLS) - 1).wait_for(state="attached")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for()
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()
    page.wait_for_timeout(1000)  # until what came last is drawn


PICTURES = {
    "notebook-exported": exported(dark=False),
    "notebook-exported-dark": exported(dark=True),
    "notebook-lab": in_lab(dark=False),
    "notebook-lab-dark": in_lab(dark=True),
}
