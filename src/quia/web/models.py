"""The models that the page may ask about: those of the folder given, and those dropped on the page.

A client names a model by an id that was told to it, never by a path, so that no path leads out of the folder.
"""

from __future__ import annotations

import gzip
import hashlib
import tempfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from quia.load import FORMATS

MOST_DROPPED = 16
MOST_LISTED = 500


class Model(NamedTuple):
    """A model file and what it is called on the page."""

    id: str
    name: str
    path: str
    format: str | None = None


class Models:
    """The models by their ids; use it as a context, as dropped files are kept until its end."""

    def __init__(self, source: Path | None, *, format: str | None = None) -> None:
        self.source, self.format = source, format
        self._dropped: OrderedDict[str, Model] = OrderedDict()
        self._found: dict[str, Model] = {}  # what the folder had when it was last looked through
        self._folder = tempfile.TemporaryDirectory(prefix="quia-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def listed(self) -> list[Model]:
        """The models there are now, those given first."""
        return [*self._given(), *self._dropped.values()]

    def find(self, identity: str) -> Model | None:
        """The model with this id."""
        known = self._dropped.get(identity) or self._found.get(identity)
        if known is None or (identity in self._found and self._model(Path(known.path)).id != identity):
            self._found = {model.id: model for model in self._given()}
            known = self._found.get(identity)
        return known

    def _given(self) -> Iterator[Model]:
        if self.source is None:
            return
        if not self.source.is_dir():
            yield self._model(self.source)
            return
        root = self.source.resolve()
        files = sorted(file for file in self.source.iterdir() if not file.name.startswith("."))
        for file in files[:MOST_LISTED]:
            # A link in the folder may lead out of it; what it leads to was not given.
            if file.is_file() and file.resolve().parent == root and (self.format or _looks_like_a_model(file)):
                yield self._model(file)

    def _model(self, file: Path) -> Model:
        try:
            changed = file.stat().st_mtime_ns  # a file that is written anew is another model
        except OSError:
            changed = 0
        return Model(_identity(f"{file.name}\0{changed}".encode()), file.name, str(file.resolve()), self.format)

    def keep(self, data: bytes, name: str) -> Model:
        """A dropped file, kept under an id that its content tells; the one dropped longest ago may go."""
        identity = _identity(data)
        file = Path(self._folder.name) / identity
        file.write_bytes(data)
        model = self._dropped[identity] = Model(identity, name, str(file))
        self._dropped.move_to_end(identity)
        while len(self._dropped) > MOST_DROPPED:
            self.forget(next(iter(self._dropped)))
        return model

    def forget(self, identity: str) -> None:
        """Let go of a dropped file."""
        model = self._dropped.pop(identity, None)
        if model is not None:
            Path(model.path).unlink(missing_ok=True)


def _looks_like_a_model(file: Path) -> bool:
    try:
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if packed else raw as stream:
                head = stream.read(4096)
    except (OSError, EOFError, zlib.error):
        return False
    return any(known.looks_like(head) for known in FORMATS.values())


def _identity(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
