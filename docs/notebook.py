"""The notebooks: every page in docs/notebooks as a Jupyter notebook. `python docs/notebook.py` writes them.

A page's text becomes text cells and its Python becomes code cells; outputs are left out, as running it makes them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = sorted((DOCS / "notebooks").glob("*.md"))
NOTEBOOKS = DOCS.parent / "examples" / "notebooks"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def notebook(text: str) -> str:
    """A page as the JSON of a notebook."""
    cells = []
    for place, part in enumerate(_BLOCK.split(text)):
        source = part.strip("\n").splitlines(keepends=True)
        if not source:
            continue
        cell = {"cell_type": "code" if place % 2 else "markdown", "id": f"cell-{place}", "metadata": {}}
        if place % 2:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell | {"source": source})
    python = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps(
        {"cells": cells, "metadata": python, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False
    )


def main() -> None:
    """Write the notebooks."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for page in PAGES:
        (NOTEBOOKS / f"{page.stem}.ipynb").write_text(notebook(page.read_text()) + "\n")


if __name__ == "__main__":
    main()
