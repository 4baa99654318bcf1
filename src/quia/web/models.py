"""The models that the page may ask about: those of the folder given, and those dropped on the page.

A client names a model by an id that was told to it, never by a path, so that no path leads out of the folder.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from quia.files import open_bytes
from quia.load import FORMATS

MOST_DROPPED = 16
MOST_LISTED = 500


class Model(NamedTuple):
    """A model file, what it is called on the page, and how it is read."""

    id: str
    name: str
    path: str
    format: str | None = None
    options: Mapping[str, Any] = {}
    possible: Mapping[str, Any] = {}
    """What a page about it begins with, as `explain` takes it."""
    image_shape: tuple[int, int] | None = None
    """The rows and columns of the image whose pixels its features are."""


class Models:
    """The models by their ids; use it as a context, as dropped files are kept until its end."""

    def __init__(
        self,
        source: Path | None,
        *,
        format: str | None = None,
        options: Mapping[str, Any] | None = None,
        possible: Mapping[str, Any] | None = None,
        image_shape: tuple[int, int] | None = None,
    ) -> None:
        self.source, self.format, self.options, self.possible = source, format, options or {}, possible or {}
        self.image_shape = image_shape
        self._dropped: OrderedDict[str, Model] = OrderedDict()  # the one used longest ago first
        self._in_use: Counter[str] = Counter()  # how many tries and questions need a dropped file now
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
        identity = _identity(os.fsencode(f"{file.name}\0{changed}"))  # a name may be bytes that are no UTF-8
        path = str(file.resolve())
        return Model(identity, file.name, path, self.format, self.options, self.possible, self.image_shape)

    @contextmanager
    def dropped(self, data: bytes, name: str) -> Iterator[Model]:
        """A file that was dropped, under an id that its content tells, while it is tried; listed only if that succeeds.

        A try that fails takes nothing from others: the same file may be listed, or tried by somebody else. Of more
        than `MOST_DROPPED`, the one used longest ago goes.
        """
        identity = _identity(data)
        model = Model(identity, name, str(Path(self._folder.name) / identity))
        with self._needed(model):
            if not Path(model.path).exists():  # a worker may be reading it
                Path(model.path).write_bytes(data)
            yield model
            self._dropped[identity] = model
            self._dropped.move_to_end(identity)
            while len(self._dropped) > MOST_DROPPED:
                _, gone = self._dropped.popitem(last=False)
                self._remove_if_unused(gone)

    @contextmanager
    def in_use(self, model: Model) -> Iterator[None]:
        """While a question about a model waits or is worked on, its file stays."""
        if model.id not in self._dropped:
            yield
            return
        self._dropped.move_to_end(model.id)
        with self._needed(model):
            yield

    @contextmanager
    def _needed(self, model: Model) -> Iterator[None]:
        self._in_use[model.id] += 1
        try:
            yield
        finally:
            self._in_use[model.id] -= 1
            self._remove_if_unused(model)

    def _remove_if_unused(self, model: Model) -> None:
        if not self._in_use[model.id]:
            del self._in_use[model.id]
            if model.id not in self._dropped:
                Path(model.path).unlink(missing_ok=True)


def _looks_like_a_model(file: Path) -> bool:
    try:
        with open_bytes(str(file)) as stream:
            head = stream.read(4096)
    except (OSError, EOFError, zlib.error):
        return False
    return any(known.looks_like(head) for known in FORMATS.values())


def _identity(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
