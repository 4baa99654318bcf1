"""All pictures, and the command that takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from photographs import notebooks, pages, plots, terminal
from photographs.studio import ROOT, Studio, studio

SEEN = ROOT / "docs" / "pictures" / "seen"
PICTURES: dict[str, Callable[[Studio], bytes]] = (
    pages.PICTURES | plots.PICTURES | terminal.PICTURES | notebooks.PICTURES
)
"""The name of each picture, and what takes it."""


def take(names: Iterable[str], folder: Path) -> Iterator[Path]:
    """Take pictures anew, each a PNG in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with studio() as at:
        for name in names:
            file = folder / f"{name}.png"
            file.write_bytes(PICTURES[name](at))
            yield file


def main() -> int:
    """Take the pictures that are named, or all."""
    parser = argparse.ArgumentParser(prog="python docs/photographs", description="Takes the pictures of the docs anew.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of {', '.join(PICTURES)} (default all)")
    parser.add_argument("--to", metavar="DIR", type=Path, default=SEEN, help="a folder (default docs/pictures/seen)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    for file in take(arguments.names or PICTURES, arguments.to):
        print(f"{file.name} {file.stat().st_size / 1000:.0f} kB", flush=True)
    return 0
