"""Pickles and joblib files: read only when the caller trusts their author."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, QuiaError, QuiaWarning, Unsupported, listed, sentence, warn
from quia.load import check_options, ebm, optbinning, sklearn

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model

_READERS = {"sklearn": sklearn, "interpret": ebm, "optbinning": optbinning}

OPTIONS = tuple(dict.fromkeys((*(option for module in _READERS.values() for option in module.OPTIONS), "trust_pickle")))


class UnsafePickle(QuiaWarning):
    """A pickle was read, which may have run any program that its author put into it."""


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The classifier of a pickled model of scikit-learn, interpret or optbinning; only with `trust_pickle=True`."""
    return read_with_predictor(data, file, **options).classifier


def read_with_predictor(data: bytes, file: str | None = None, *, trust_pickle: bool = False, **options: Any) -> Model:
    """The classifier together with the pickled model's own decisions."""
    if trust_pickle is not True:
        raise Unsupported(
            f"{file or 'this'} is a pickle, and reading one runs whatever program its maker put into it",
            cure="save the model with skops instead, or, if you trust its maker as you trust a program you run, load"
            " it with trust_pickle=True (on the command line: --trust-pickle)",
        )
    warn(f"reading the pickle {file or ''} with your trust: it may run any program with your rights", UnsafePickle)
    estimator = _unpickled(data, file)
    package = type(estimator).__module__.partition(".")[0]
    if package not in _READERS:
        kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
        raise Unsupported(f"the pickle holds a {kind}", cure=f"pickle a model of {listed(_READERS)}")
    module = _READERS[package]
    check_options(package, options, module.OPTIONS)
    model: Model = module.convert_with_predictor(estimator, **options)
    return model


def _unpickled(data: bytes, file: str | None) -> Any:
    try:
        import joblib
    except ImportError:
        raise Unsupported("reading a pickled model needs scikit-learn", cure="pip install 'quia[sklearn]'") from None
    try:
        return joblib.load(io.BytesIO(data))
    except QuiaError:
        raise
    except Exception as fault:  # a pickle can raise anything
        raise FormatError(f"cannot be unpickled: {sentence(fault)}", file=file) from None
