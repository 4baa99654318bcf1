"""Loading: one module per format; the format of a file is detected from its content."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.classifier import TakesRanges, offers
from quia.errors import FormatError, Unsupported, did_you_mean, listed, shown, with_article
from quia.files import is_workbook, not_utf8, read_bytes

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model


class Format(NamedTuple):
    """A file format: what its files begin with, and the module that reads them.

    The module has `read(data, file, **options)`, which builds a classifier from the bytes of a file, and `OPTIONS`,
    the names of its options.
    """

    module: str
    looks_like: Callable[[bytes], bool]
    about: str


_BLANK = b"\xef\xbb\xbf \r\n\t"


def _looks_pickled(head: bytes) -> bool:
    """Whether it is a pickle, or a joblib file: a pickle that may be compressed with zlib, bzip2 or xz."""
    compressed = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"BZh", b"\xfd7zXZ")
    return (head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")) or head.startswith(compressed)


def _looks_like_odd(head: bytes) -> bool:
    start = head.lstrip(_BLANK)
    return start[:1] == b"[" and start[1:].lstrip()[:1] not in (b"{", b'"', b"[")  # else it is a JSON list


def _looks_like_dd(head: bytes) -> bool:
    start = head.lstrip(_BLANK)
    return start.startswith(b".ver") or (start[:1] == b"{" and b'"level_of_var"' in start[:200])


def _begins(pattern: bytes) -> Callable[[bytes], bool]:
    """A check that the first line that is not a `c` comment matches a pattern."""
    first_line = re.compile(rb"(?:[ \t]*(?:c(?:[ \t][^\n]*)?)?\r?\n)*[ \t]*" + pattern)
    return lambda head: first_line.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


_PROLOG = rb"(?:\s++|<\?.*?\?>|<!--.*?-->)*+"
_SLASHED = rb"(?:\s++|//[^\n]*+|/\*.*?\*/)*+"
_PERCENT = rb"(?:\s++|%[^\n]*+)*+"
_NODES = rb"(?:(?:discrete|continuous|real|boolean)\s+)?(?:node|decision|utility|function)"


def _is_language(between: bytes, pattern: bytes) -> Callable[[bytes], bool]:
    """A check that what follows blanks and comments matches a pattern."""
    first = re.compile(between + b"(?:" + pattern + b")", re.DOTALL)
    return lambda head: first.match(head.removeprefix(codecs.BOM_UTF8)) is not None


def _looks_like_scorecard(head: bytes) -> bool:
    from quia.load.scorecard_rows import looks_like  # asked last, and seldom needed

    return looks_like(head)


def _lacks_of_scorecard(head: bytes, file: str) -> str | None:
    from quia.load.scorecard_rows import no_card

    return no_card(head, file)


FORMATS = {
    "skops": Format("quia.load.skops", lambda head: head.startswith(b"PK\x03\x04"), "a model saved by skops"),
    "pickle": Format("quia.load.pickle", _looks_pickled, "a pickle, which needs trust_pickle=True or --trust-pickle"),
    "odd": Format("quia.load.odd", _looks_like_odd, "ordered decision graphs, .odd"),
    "xgboost": Format(
        "quia.load.xgboost",
        lambda head: re.match(rb"\s*\{(\s*\"|L.{7}\x07)learner", head, re.DOTALL) is not None,
        "XGBoost's JSON or UBJSON",
    ),
    "xgboost-dump": Format(
        "quia.load.xgboost_dump",
        lambda head: re.match(rb"(\xef\xbb\xbf)?\s*(booster\[0\]|\[\s*\{\s*\"nodeid\")", head) is not None,
        "a text or JSON dump of XGBoost's trees",
    ),
    "catboost": Format(
        "quia.load.catboost",
        lambda head: re.match(rb"\s*\{\s*\"(ctr_data|features_info|model_info|oblivious_trees)\"", head) is not None,
        "CatBoost's JSON",
    ),
    "sdd": Format("quia.load.sdd", _begins(rb"sdd\s"), "SDDs, .sdd"),
    "nnf": Format("quia.load.nnf", _begins(rb"(?:nnf\s|[oatf] -?\d+ 0\s)"), "Decision-DNNFs, .nnf"),
    "dd": Format("quia.load.dd", _looks_like_dd, "BDDs in dd's JSON or DDDMP text"),
    "ebm": Format(
        "quia.load.ebm",
        lambda head: re.match(rb"(\xef\xbb\xbf)?\s*\{\s*\"version\"\s*:\s*\"[^\"]*\"\s*,\s*\"ebm\"", head) is not None,
        "the JSON of an explainable boosting machine of interpret",
    ),
    "json": Format("quia.load.json", lambda head: head.lstrip(_BLANK)[:1] == b"{", "quia's own JSON"),
    "bif": Format(
        "quia.load.bif",
        _is_language(
            _SLASHED, rb"(network\b|variable\s)" + _SLASHED + rb'("[^"]*"|[^\s{}()\[\]|,;"]*)' + _SLASHED + rb"\{"
        ),
        "a Bayesian network in BIF, .bif",
    ),
    "xmlbif": Format(
        "quia.load.xmlbif", _is_language(_PROLOG, rb"<(!DOCTYPE\s+)?BIF\b"), "a Bayesian network in XMLBIF, .xml"
    ),
    "hugin": Format(
        "quia.load.hugin",
        _is_language(_PERCENT, rb"net\s*\{|class\s+\w+\s*\{|" + _NODES + rb"\s+\w+\s*\{"),
        "a Bayesian network in Hugin's .net",
    ),
    "weka": Format(
        "quia.load.weka",
        lambda head: (
            any(mark in head for mark in (b"J48 pruned tree", b"J48 unpruned tree", b"digraph J48Tree"))
            or b"=== Run information ===" in head
        ),
        "a J48 tree as Weka prints or draws it",
    ),
    "pmml": Format(
        "quia.load.pmml",
        lambda head: b"PMML" in head and head.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"),
        "a PMML TreeModel, MiningModel, Scorecard or RegressionModel",
    ),
    "lightgbm": Format("quia.load.lightgbm", lambda head: head.startswith(b"tree\nversion="), "LightGBM's text"),
    "onnx": Format(
        "quia.load.onnx",
        lambda head: head[:1] == b"\x08" and head[2:3] in (b"\x12", b"\x3a", b"\x42"),
        "an ONNX ensemble of trees",
    ),
    "scorecard": Format("quia.load.scorecard", _looks_like_scorecard, "a scorecard: feature, condition, points in CSV"),
}

OBJECTS: dict[str, str] = {
    "catboost": "quia.load.catboost",
    "lightgbm": "quia.load.lightgbm",
    "onnx": "quia.load.onnx",
    "sklearn": "quia.load.sklearn",
    "xgboost": "quia.load.xgboost",
    "interpret": "quia.load.ebm",
    "optbinning": "quia.load.optbinning",
    "dd": "quia.load.dd",
    "pysdd": "quia.load.sdd",
    "quia": "quia.load.formulas",
}
"""Live objects: the package of their type → the module whose `convert(source, **options)` reads them."""


def load(source: Any, /, *, format: str | None = None, **options: Any) -> Classifier:
    """The classifier in a file, or in a live object of a library.

    `source` is a path (a `.gz` file is decompressed) or a model; `format` overrides the format detected from a file;
    `options` belong to the format, and one that it does not have is an error. A model that adds up numbers as they are,
    such as a logistic regression, needs to know between which these lie: `ranges={"income": (0, 250000)}` says so, or
    `data`, a table (or the path of one in CSV) that they are taken from where ranges do not say it. `given` are
    constraints between features, one or several, as texts or formulas: the model keeps them beside its own, and every
    answer respects them. `as_graph=True` makes a decision graph of a model that adds up what each feature gives, if it
    adds no number as it is (`quia.compile.additive_as_graph` says what that costs).
    """
    said = _said(options)
    return said.of(_load(source, format, options, ""))


def load_with_predictor(source: Any, /, *, format: str | None = None, **options: Any) -> Model:
    """The classifier together with the model's own `predict`; an error where the file or object has none."""
    said = _said(options)
    model: Model = _load(source, format, options, "_with_predictor")
    return model._replace(classifier=said.of(model.classifier))


class _Said(NamedTuple):
    """What can be said of a model of any format."""

    ranges: Any
    data: Any
    given: Any
    as_graph: Any

    def of(self, classifier: Classifier) -> Classifier:
        """The classifier with all that."""
        made = _bounded(classifier, self.ranges, self.data)
        if self.as_graph is not None and _is_yes(self.as_graph, "as_graph"):
            from quia.compile.additive import additive_as_graph  # seldom needed

            made = additive_as_graph(made)
        if self.given is None and (made is classifier or not getattr(made, "given", ())):
            return made
        from quia.own_constraints import with_given  # seldom needed, and it brings the language of formulas

        return with_given(made, self.given)


def _said(options: dict[str, Any]) -> _Said:
    """What the options say of any model, taken from among them."""
    return _Said(*(options.pop(name, None) for name in _Said._fields))


def _is_yes(value: Any, option: str) -> bool:
    """Whether an option is on, which a command says with yes or true."""
    from quia.arguments import flag

    words = {"yes": True, "true": True, "no": False, "false": False}
    return flag(words.get(value.strip().lower(), value) if isinstance(value, str) else value, option)


def has_predictor(file: str, format: str | None = None) -> bool:
    """Whether the model in a file can be asked for its own decisions."""
    return hasattr(import_module(FORMATS[format_name(file, format)].module), "read_with_predictor")


def _bounded(classifier: Classifier, ranges: Any, data: Any) -> Classifier:
    """The classifier with ranges of its lines, as far as they are given."""
    if ranges is not None and not isinstance(ranges, Mapping):
        raise Unsupported(f"ranges is {shown(ranges)}", cure="give a mapping such as {'income': (0, 250000)}")
    if not offers(classifier, TakesRanges):
        if ranges:
            raise Unsupported(
                f"ranges has {shown(next(iter(ranges)))}, but this is {with_article(classifier.kind)}, which cuts its"
                " numbers itself",
                cure="leave ranges out",
            )
        return classifier
    bounded = classifier.with_ranges(ranges or {})
    if data is None:
        return bounded
    from quia.extents import within_table

    return within_table(bounded, data)


def format_name(file: str, format: str | None = None) -> str:
    """The name of a file's format; an unknown format is an error."""
    return _check_format(format) if format is not None else _detect_format(read_bytes(file), file)


def _load(source: Any, format: str | None, options: dict[str, Any], suffix: str) -> Any:
    arguments: tuple[Any, ...]
    if isinstance(source, (str, os.PathLike)):
        file = os.fspath(source)
        data = read_bytes(file)
        name = _check_format(format) if format is not None else _detect_format(data, file)
        module, verb, arguments = import_module(FORMATS[name].module), "read", (data, file)
        described, asked = f"{file} ({FORMATS[name].about})", f"{file}, read as {name},"
    else:
        name = _package_of(source)
        module, verb, arguments = import_module(OBJECTS[name]), "convert", (source,)
        described, asked = f"a model of {name}", name
    if not hasattr(module, verb + suffix):
        raise Unsupported(
            f"{described} cannot be asked for its own decisions",
            cure="name the column of the rows that holds them, with predicted= or, on the command line,"
            " --predicted COLUMN",
        )
    check_options(asked, options, module.OPTIONS)
    return getattr(module, verb + suffix)(*arguments, **options)


def _package_of(source: Any) -> str:
    if isinstance(source, dict):
        return "quia"  # class formulas
    for kind in type(source).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in OBJECTS:
            return package
    accepted = f"a path or a model of {listed(OBJECTS)}" if OBJECTS else "the path of a model file"
    raise Unsupported(
        f"a {type(source).__module__}.{type(source).__qualname__} cannot be loaded", cure=f"give {accepted}"
    )


def check_options(name: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known)
            cure = f"its options are {listed(known) or 'none'}"
            if option == "cutoff" and "threshold" in known:
                cure = "give threshold= or, on the command line, --option threshold=NUMBER"
                if "label" in known:
                    cure += ", or for a probability label='CLASS >= NUMBER'"
            raise Unsupported(f"{name} has no option {option!r}{hint}", cure=cure)


def _check_format(name: str) -> str:
    if name not in FORMATS:
        raise Unsupported(f"there is no format {shown(name)}{did_you_mean(name, FORMATS)}", cure=_LISTED)
    return name


def _detect_format(data: bytes, file: str) -> str:
    if is_workbook(data):
        raise FormatError(
            "is an Excel workbook, which holds no model; save the sheet as CSV, of which `quia learn` makes one",
            file=file,
        )
    for name, candidate in FORMATS.items():
        if candidate.looks_like(data[:4096]):
            return name
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise not_utf8(file)
    if not data.strip():
        raise FormatError("is empty, so there is no model in it", file=file)
    for begins, table in _TABLES.items():
        if data.startswith(begins):
            raise FormatError(
                f"is {table}, not a model; save its rows as CSV and learn a tree from them: quia learn rows.csv -o"
                " tree.json",
                file=file,
            )
    if lacking := _lacks_of_scorecard(data[:4096], file):
        raise FormatError(lacking, file=file)
    begins_with = shown(data.lstrip()[:30].decode("utf-8", "replace"))
    raise FormatError(f"begins with {begins_with}, which is no format known here; {_LISTED}", file=file)


_TABLES = {b"PAR1": "a Parquet table", b"ARROW1": "an Arrow table"}
_LISTED = "`quia check --help` lists those that are"
