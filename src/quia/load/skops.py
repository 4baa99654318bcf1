"""skops files: scikit-learn models in a zip that is read without running anything that is not known to be safe."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, QuiaError, Unsupported, listed, sentence, shown
from quia.files import LARGEST_FILE
from quia.load import sklearn

if TYPE_CHECKING:
    from quia.graph import DecisionGraph
    from quia.load.agreement import Model

OPTIONS = (*sklearn.OPTIONS, "trusted")

CHECKED_HERE = ("sklearn.tree._tree.Tree",)
"""Types that skops does not trust, for their arrays could point anywhere; we check these before we follow them."""


_MOST_UNPACKED = 2**22
_MOST_TIMES = 50  # as its JSON, which repeats itself, may honestly be packed


def read(data: bytes, file: str | None = None, **options: Any) -> DecisionGraph:
    """The decision graph of a model saved by skops.

    `trusted` names types, beyond those that skops itself trusts, that may be made; the other options are those of
    live scikit-learn models.
    """
    return read_with_predictor(data, file, **options).classifier


def read_with_predictor(data: bytes, file: str | None = None, *, trusted: Iterable[str] = (), **options: Any) -> Model:
    """The decision graph together with the saved model's own decisions."""
    try:
        import skops.io
    except ImportError:
        raise Unsupported("reading a skops file needs skops", cure="pip install 'quia[skops]'") from None
    if isinstance(trusted, (str, bytes)) or not all(isinstance(name, str) for name in trusted):
        raise Unsupported(f"trusted is {shown(trusted)}", cure="give a list of the full names of types")
    allowed = [*CHECKED_HERE, *trusted]
    try:
        _check_archive(data, file)
        unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(allowed))
        if unknown:
            raise Unsupported(
                f"the file holds types that are not known to be safe: {listed(map(_one_line, unknown))}",
                cure=f"if you trust whoever made it, load it with trusted={shown(unknown, 1000)}",
            )
        estimator = skops.io.loads(data, trusted=allowed)
        return sklearn.convert_with_predictor(estimator, **options)
    except QuiaError:
        raise
    except RecursionError:
        raise FormatError("nests too deeply for a model", file=file) from None
    except Exception as fault:  # whatever a damaged or made-up model makes skops or scikit-learn stumble over
        raise FormatError(f"holds no model that can be read: {sentence(fault)}", file=file) from None


def _check_archive(data: bytes, file: str | None) -> None:
    """Refuse what is no skops file, or unpacks to much more than it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            if "schema.json" not in sizes:
                raise FormatError("is a zip file, but not one that skops wrote: it has no schema.json", file=file)
            _check_size(sizes["schema.json"], len(data), file)
            schema = archive.read("schema.json")
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as fault:
        raise FormatError(f"is no whole zip file: {sentence(fault)}", file=file) from None
    try:
        parts = _containers(json.loads(schema))
    except ValueError as fault:
        raise FormatError(f"has a schema.json that is not JSON: {sentence(fault)}", file=file) from None
    _check_objects(parts, file)
    # An array is unpacked again for each place that names it.
    named = [sizes[part["file"]] for part in parts if isinstance(part, dict) and part.get("file") in sizes]
    _check_size(sizes["schema.json"] + sum(named), len(data), file)


def _check_size(unpacked: int, packed: int, file: str | None) -> None:
    most = min(LARGEST_FILE, _MOST_UNPACKED + _MOST_TIMES * packed)
    if unpacked > most:
        raise FormatError(
            f"unpacks to more than {most} bytes, too much for a file of {packed}; save the model with skops anew",
            file=file,
        )


def _containers(schema: Any) -> list[Any]:
    """The dicts and lists of a schema, parents before children."""
    found = [schema] if isinstance(schema, (dict, list)) else []
    for part in found:  # the list grows while it is walked
        found.extend(_inner(part))
    return found


def _inner(part: Any) -> Iterator[Any]:
    values = part.values() if isinstance(part, dict) else part
    return (value for value in values if isinstance(value, (dict, list)))


def _check_objects(parts: list[Any], file: str | None) -> None:
    """Refuse an object that is given twice, and differently.

    skops takes the first for both, so that a short schema could stand for a model of any size. It writes an object
    in full wherever it stands, and marks the one that stands within itself.
    """
    size: dict[int, int] = {}
    of_object: dict[Any, int] = {}
    for part in reversed(parts):
        size[id(part)] = 1 + sum(size[id(inner)] for inner in _inner(part))
        if not isinstance(part, dict):
            continue
        loader, name = part.get("__loader__"), part.get("__id__")
        if loader == "SparseMatrixNode":  # packed once more, so that nothing tells its size
            raise Unsupported("the file holds a sparse matrix, which no tree has", cure="save the tree alone")
        is_object = isinstance(name, (int, str, float)) and loader != "CachedNode"
        if is_object and of_object.setdefault(name, size[id(part)]) != size[id(part)]:
            raise FormatError(
                f"is damaged: it gives the object {shown(name)} twice, and differently; save the model anew", file=file
            )


def _one_line(name: str) -> str:
    return " ".join(name.split())
