"""The pictures of the docs: a command takes them, of what is there; the docs show each of them, and no other."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pip install pillow")
pytest.importorskip("playwright", reason="pip install playwright")
from PIL import Image

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SEEN = DOCS / "pictures" / "seen"
_SHOWN = re.compile(r"!\[(?P<says>[^\]]*)\]\((?:[./a-z]*)pictures/seen/(?P<name>[a-z-]+)\.png\)")
LARGEST, ALL = 150_000, 2_000_000
"""Bytes of one picture, and of all."""


@pytest.fixture(scope="module")
def photographs() -> Iterator[Any]:
    """The package in docs/."""
    sys.path.insert(0, str(DOCS))
    try:
        from photographs import album, camera, terminal

        yield type("photographs", (), {"album": album, "camera": camera, "terminal": terminal})
    finally:
        sys.path.remove(str(DOCS))


def shown() -> dict[str, list[str]]:
    """The pictures that the docs name, each with what is said of it to those who cannot see it."""
    found: dict[str, list[str]] = {}
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for each in _SHOWN.finditer(page.read_text("utf-8")):
            found.setdefault(each["name"], []).append(each["says"])
    return found


def test_every_picture_is_shown_and_every_one_shown_is_there(photographs: Any) -> None:
    names = set(photographs.album.PICTURES)
    assert {file.stem for file in SEEN.iterdir()} == names, "make pictures"
    gallery = {each["name"] for each in _SHOWN.finditer((DOCS / "gallery.md").read_text("utf-8"))}
    assert gallery == names, "each is in the gallery"
    assert set(shown()) == names
    assert all(len(words) > 10 for said in shown().values() for words in said)


def test_pictures_are_small_and_not_blank(photographs: Any) -> None:
    files = sorted(SEEN.iterdir())
    assert sum(file.stat().st_size for file in files) < ALL
    for file in files:
        assert file.stat().st_size < LARGEST, file.name
        image = seen(file)
        assert inked(image) > 0.002, f"{file.name} is blank"
        assert 300 <= image.width <= 1400 and 60 <= image.height <= 1500, file.name
        if file.stem.startswith(("page", "serve", "batch", "audit", "notebook")):
            assert (lightness(image) < 100) == file.stem.endswith("-dark"), file.name
        if file.stem.endswith("-narrow"):
            assert image.width == 400


def seen(file: Path) -> Image.Image:
    """A picture; its file is closed."""
    return Image.open(io.BytesIO(file.read_bytes()))


def inked(image: Image.Image) -> float:
    """Of all pixels the share that differs from the commonest colour."""
    grey = image.convert("RGB").convert("L")
    counts = grey.histogram()
    return 1 - max(counts) / sum(counts)


def lightness(image: Image.Image) -> float:
    """Of the commonest grey, from 0 to 255."""
    counts = image.convert("RGB").convert("L").histogram()
    return counts.index(max(counts))


def test_the_command_takes_what_is_named(photographs: Any, tmp_path: Path) -> None:
    if not photographs.camera.CHROMIUM.exists():
        pytest.skip(f"{photographs.camera.CHROMIUM} is not installed: apt-get install chromium")
    pytest.importorskip("matplotlib", reason="pip install 'quia[plot]'")
    names = ["page-points-narrow", "plot-tree", "terminal-explain"]
    command = [sys.executable, str(DOCS / "photographs"), *names, "--to", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split(".")[0] for line in done.stdout.splitlines()] == names
    assert {file.stem for file in tmp_path.iterdir()} == set(names)
    for name in names:
        fresh, filed = seen(tmp_path / f"{name}.png"), seen(SEEN / f"{name}.png")
        assert inked(fresh) > 0.002
        assert fresh.width == filed.width, f"{name}: make pictures"


def test_an_unknown_name_is_refused(photographs: Any, tmp_path: Path) -> None:
    command = [sys.executable, str(DOCS / "photographs"), "page-treee", "--to", str(tmp_path / "new")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "there is no picture 'page-treee'" in done.stderr
    assert not (tmp_path / "new").exists()


def test_few_colours_stay_as_they_are_and_many_become_few(photographs: Any) -> None:
    small, colours = photographs.camera.small, photographs.camera.COLOURS

    def made(image: Image.Image) -> Image.Image:
        out = io.BytesIO()
        image.save(out, "PNG")
        return Image.open(io.BytesIO(small(out.getvalue())))

    few = Image.new("RGB", (20, 10), (12, 34, 56))
    few.putpixel((3, 4), (250, 1, 2))
    assert made(few).convert("RGB").tobytes() == few.tobytes()
    many = Image.merge("RGB", [Image.effect_noise((200, 100), spread) for spread in (30, 60, 90)])
    found = made(many).convert("RGB").getcolors(10**6)
    assert found is not None and len(found) <= colours


class TestTerminal:
    def text(self, photographs: Any, written: str) -> list[str]:
        return ["".join(letter for letter, _ in line) for line in photographs.terminal.screen(written)]

    def test_what_is_written_over_is_gone(self, photographs: Any) -> None:
        assert self.text(photographs, "3 of 9\r\x1b[Kdone\r\n") == ["done"]
        assert self.text(photographs, "3 of 9\rgone\r\n\r\nx") == ["gone 9", "", "x"]

    def test_lines_wrap_where_a_terminal_wraps_them(self, photographs: Any) -> None:
        assert [len(line) for line in self.text(photographs, "x" * 170 + "\r\n" + "y" * 80)] == [80, 80, 10, 80]

    def test_styles_begin_and_end(self, photographs: Any) -> None:
        (line,) = photographs.terminal.screen("\x1b[1;31ma\x1b[32mb\x1b[22mc\x1b[0md\x1b[2me\x1b[mf")
        styles = [("bold", "ink1"), ("bold", "ink2"), ("ink2",), (), ("faint",), ()]
        assert line == list(zip("abcdef", styles, strict=True))

    def test_texts_are_escaped(self, photographs: Any) -> None:
        page = photographs.terminal.html([("quia explain 'a<b'", "\x1b[1mdebt < 3 & more\x1b[0m\r\n")])
        assert '<span class="bold">debt &lt; 3 &amp; more</span>' in page and "a&lt;b" in page

    def test_long_commands_are_continued(self, photographs: Any) -> None:
        lines = photographs.terminal.typed("quia " + " ".join(["--set abc=def"] * 20)).split("\n")
        assert len(lines) > 2 and all(len(line) <= 78 for line in lines)
        assert all(line.endswith(" \\") for line in lines[:-1]) and not lines[-1].endswith("\\")
        assert " ".join(line.rstrip("\\").strip() for line in lines).split() == ["quia", *["--set", "abc=def"] * 20]
