"""skops files: scikit-learn models in a zip that is read without running anything that is not known to be safe."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, QuiaError, Unsupported, brief, listed, sentence, shown
from quia.files import LARGEST_FILE
from quia.load import sklearn

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model

OPTIONS = (*sklearn.OPTIONS, "trusted")

CHECKED_HERE = ("sklearn.tree._tree.Tree", "sklearn.utils._bunch.Bunch", "numpy.dtype")
"""Types that skops does not trust: arrays that could point anywhere, which we check before use, a kind of dict, and the
type of an array, which imputers have: it is read as that of an empty array, and in no other way (`_check_objects`)."""


_OF_ARRAYS = ("DTypeNode", "CachedNode")
_MOST_UNPACKED = 2**22
_MOST_TIMES = 50  # how far JSON, which is repetitive, compresses in a real file


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The classifier of a model saved by skops.

    `trusted` names types that may be instantiated beyond those that skops itself trusts; the other options are those
    of live scikit-learn models.
    """
    return read_with_predictor(data, file, **options).classifier


def read_with_predictor(data: bytes, file: str | None = None, *, trusted: Iterable[str] = (), **options: Any) -> Model:
    """The classifier together with the saved model's own decisions."""
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
                cure=f"if you trust whoever made it, load it with trusted={shown(unknown, 1000)} or, on the command"
                f" line, --option {shlex.quote(brief(f'trusted={json.dumps(unknown)}', 1000))}",
            )
        estimator = skops.io.loads(data, trusted=allowed)
        return sklearn.convert_with_predictor(estimator, **options)
    except QuiaError:
        raise
    except RecursionError:
        raise FormatError("nests too deeply for a model", file=file) from None
    except Exception as fault:  # a damaged or forged model can make skops or scikit-learn raise anything
        raise FormatError(f"holds no model that can be read: {sentence(fault)}", file=file) from None


def _check_archive(data: bytes, file: str | None) -> None:
    """Refuse a file that skops did not write, or that unpacks to far more than its own size."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            if "schema.json" not in sizes:
                raise FormatError("is a zip file, but not one that skops wrote: it has no schema.json", file=file)
            _check_size(sizes["schema.json"], len(data), file)
            schema = archive.read("schema.json")
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as fault:
        raise FormatError(f"is not a complete zip file: {sentence(fault)}", file=file) from None
    try:
        containers = _containers(json.loads(schema))
    except ValueError as fault:
        raise FormatError(f"has a schema.json that is not JSON: {sentence(fault)}", file=file) from None
    _check_objects(containers, file)
    # An array is unpacked again for each place that names it.
    array_sizes = [
        sizes[container["file"]]
        for container in containers
        if isinstance(container, dict) and container.get("file") in sizes
    ]
    _check_size(sizes["schema.json"] + sum(array_sizes), len(data), file)


def _check_size(unpacked: int, packed: int, file: str | None) -> None:
    most = min(LARGEST_FILE, _MOST_UNPACKED + _MOST_TIMES * packed)
    if unpacked > most:
        raise FormatError(
            f"unpacks to more than {most} bytes, too much for a file of {packed}; save the model with skops anew",
            file=file,
        )


def _containers(schema: Any) -> list[Any]:
    """The dicts and lists of a schema, parents before children."""
    containers = [schema] if isinstance(schema, (dict, list)) else []
    for container in containers:  # the list grows while it is walked
        containers.extend(_inner(container))
    return containers


def _inner(container: Any) -> Iterator[Any]:
    values = container.values() if isinstance(container, dict) else container
    return (value for value in values if isinstance(value, (dict, list)))


def _check_objects(containers: list[Any], file: str | None) -> None:
    """Refuse an object that occurs twice with different content, and a type of arrays that is made of anything else.

    skops uses the first for both, so that a short schema could stand for a model of any size. It writes an object
    in full wherever it occurs, and marks one that occurs within itself. NumPy trusts what a dtype is made of, where
    that is not an array.
    """
    size: dict[int, int] = {}
    size_of_object: dict[Any, int] = {}
    for container in reversed(containers):
        size[id(container)] = 1 + sum(size[id(inner)] for inner in _inner(container))
        if not isinstance(container, dict):
            continue
        loader, name = container.get("__loader__"), container.get("__id__")
        if loader == "SparseMatrixNode":  # compressed once more, so its size is unknown
            raise Unsupported("the file holds a sparse matrix, which no tree has", cure="save the tree alone")
        if (container.get("__module__"), container.get("__class__")) == ("numpy", "dtype") and loader not in _OF_ARRAYS:
            raise FormatError(
                "is damaged: it has a numpy.dtype that skops did not write; save the model anew", file=file
            )
        is_object = isinstance(name, (int, str, float)) and loader != "CachedNode"
        if is_object and size_of_object.setdefault(name, size[id(container)]) != size[id(container)]:
            raise FormatError(
                f"is damaged: it gives the object {shown(name)} twice, and differently; save the model anew", file=file
            )


def _one_line(name: str) -> str:
    return " ".join(name.split())
