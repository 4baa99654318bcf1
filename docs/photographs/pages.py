"""Pictures of pages: one decision, the page of `quia serve`, a whole table, an audit."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from photographs.camera import View
from photographs.studio import REFUSED, ROOT, Studio

VIEWS = {"": View(high=920), "-dark": View(high=920, dark=True), "-narrow": View(400, 1100)}
"""What is added to a picture's name → how it is looked at."""

WIDE = 1100
"""Pixels; pages are no wider."""

Picture = Callable[[Studio], bytes]


def tree(studio: Studio) -> str:
    """A decision of a tree."""
    row = f"--data examples/loans.csv --row {REFUSED}"
    return studio.written(f"quia report examples/loan.json {row} --protected sex -o tree.html", "tree.html")


def ensemble(studio: Studio) -> str:
    """The same person's decision by boosted trees: scores, and how far the other class is."""
    row = f"--data examples/loans.csv --row {REFUSED}"
    command = f"quia report {studio.boosted} {row} --reference {studio.applicants} -o boosted.html"
    return studio.written(command, "boosted.html")


def points(studio: Studio) -> str:
    """A scorecard's decision: what each feature adds."""
    command = "quia report examples/credit_scorecard.csv --data examples/applicant.csv --row 1 -o points.html"
    return studio.written(command, "points.html")


def pixels(studio: Studio) -> str:
    """Why a tree takes an image for a nought."""
    command = f"quia report {studio.digits} --instance digit.json --image-shape 8x8 -o digit.html"
    return studio.written(command, "digit.html")


def batch(studio: Studio) -> str:
    """The summary of a table of decisions."""
    command = "quia batch examples/loan.json examples/loans.csv -o why.parquet --protected sex --summary batch.html"
    return studio.written(command, "batch.html")


def audit(_: Studio) -> str:
    """The filed audit, which docs/filed_audit.py makes."""
    return (ROOT / "docs" / "filed" / "loan-audit.html").as_uri()


def looked_at(page: Callable[[Studio], str], view: View) -> Picture:
    """A page's top, of a wide one without the empty ground beside it."""
    return lambda studio: studio.camera.take(page(studio), view, of="article.quia" if view.wide > WIDE else None)


def part_of_audit(name: str, high: int) -> Picture:
    """One section of the audit, or its top."""
    return lambda studio: studio.camera.take(audit(studio), View(1100, high), of=f"section#{name}")


def way(studio: Studio) -> bytes:
    """What is folded on the page of a decision: the way through the model."""
    robin = "--set SAT=1400 --set GPA=medium --set Essay=fail --set Interview=fail"
    address = studio.written(f"quia report examples/admissions.json {robin} -o way.html", "way.html")
    fold = "details[data-part=way]"

    def pose(page: Page) -> None:
        page.locator(f"{fold} > summary").click()

    return studio.camera.take(address, View(900), pose=pose, of=fold)


@contextmanager
def served(studio: Studio, *arguments: str) -> Iterator[str]:
    """The address of `quia serve`, while it runs."""
    command = [sys.executable, "-m", "quia", "serve", "--port", "0", "--timeout", "60", *arguments]
    process = subprocess.Popen(command, cwd=studio.folder, env=studio.environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def serve(view: View) -> Picture:
    """The page of `quia serve` with a person's row."""

    def pose(page: Page) -> None:
        page.wait_for_selector("#explanation article")
        page.fill("#row", str(REFUSED))
        page.press("#row", "Enter")
        page.locator("#decision", has_text="deny").wait_for()
        page.wait_for_function("document.querySelector('#explanation article h1').textContent.includes('deny')")
        page.evaluate("scrollTo(0, 0)")

    def take(studio: Studio) -> bytes:
        with served(studio, "examples/loan.json", "--data", "examples/loans.csv", "--protected", "sex") as address:
            return studio.camera.take(address, view, pose=pose)

    return take


PICTURES: dict[str, Picture] = {
    f"{name}{ending}": looked_at(page, view)
    for name, page in {"page-tree": tree, "page-boosted": ensemble, "page-points": points}.items()
    for ending, view in VIEWS.items()
}
PICTURES |= {f"serve{ending}": serve(view) for ending, view in VIEWS.items()}
PICTURES |= {f"batch{ending}": looked_at(batch, view) for ending, view in VIEWS.items()}
PICTURES |= {
    "page-pixels": looked_at(pixels, View(high=735)),
    "page-way": way,
    "audit": looked_at(audit, View(high=450)),
    "audit-dark": looked_at(audit, View(high=450, dark=True)),
    "audit-narrow": looked_at(audit, VIEWS["-narrow"]),
    "audit-rules": part_of_audit("rules", 860),
    "audit-protected": part_of_audit("protected", 880),
}
