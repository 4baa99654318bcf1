"""skops files: scikit-learn models in a zip that is read without running anything that is not known to be safe."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, QuiaError, Unsupported, listed, shown
from quia.load import sklearn
from quia.load.files import LARGEST_FILE

if TYPE_CHECKING:
    from quia.graph import DecisionGraph
    from quia.load.agreement import Model

OPTIONS = (*sklearn.OPTIONS, "trusted")

CHECKED_HERE = ("sklearn.tree._tree.Tree",)
"""Types that skops does not trust, for their arrays could point anywhere; we check these before we follow them."""


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
    _check_archive(data, file)
    allowed = [*CHECKED_HERE, *trusted]
    try:
        unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(allowed))
        if unknown:
            raise Unsupported(
                f"the file holds types that are not known to be safe: {listed(unknown)}",
                cure=f"if you trust whoever made it, load it with trusted={unknown!r}",
            )
        estimator = skops.io.loads(data, trusted=allowed)
        return sklearn.convert_with_predictor(estimator, **options)
    except QuiaError:
        raise
    except RecursionError:
        raise FormatError("nests too deeply for a model", file=file) from None
    except Exception as fault:  # whatever a damaged or made-up model makes skops or scikit-learn stumble over
        raise FormatError(f"holds no model that can be read: {type(fault).__name__}: {fault}", file=file) from None


def _check_archive(data: bytes, file: str | None) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as fault:
        raise FormatError(f"is no whole zip file: {fault}", file=file) from None
    if sum(member.file_size for member in members) > LARGEST_FILE:
        raise FormatError(f"unpacks to more than {LARGEST_FILE} bytes; model files are smaller", file=file)
    if "schema.json" not in {member.filename for member in members}:
        raise FormatError("is a zip file, but not one that skops wrote: it has no schema.json", file=file)
