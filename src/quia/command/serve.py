"""`quia serve`: ask a model "what if" on a local web page."""

from __future__ import annotations

import argparse
import ipaddress
import json
import signal
import webbrowser
from contextlib import suppress
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers, add_loading, distinct, load_model, model_options
from quia.command.check_network import NETWORKS
from quia.command.numbers import positive_seconds, shape_of, whole, whole_from
from quia.command.possible import add_possible, possible_of
from quia.command.streams import write
from quia.errors import FormatError, Unsupported, listed

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.web.rows import Rows

MOST_ROWS = 100_000
LEAST_MEMORY = 256
"""Megabytes without which a worker cannot even start."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "serve",
        usage="quia serve [MODEL] [options]",
        description="A web page on this machine: choose or drop a model, change facts, see the reasons change.",
        examples=("quia serve examples/loan.json --data examples/loans.csv --open",),
    )
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model's file, or a folder of them")
    parser.add_argument("--format", metavar="NAME", help="read MODEL as this format, whatever it looks like")
    add_loading(parser)
    parser.add_argument("--data", metavar="FILE.csv", help="a table to pick rows from (.gz is fine)")
    parser.add_argument(
        "--image-shape", metavar="HxW", type=shape_of, help="features are the pixels of such an image (28x28): draw it"
    )
    begin = parser.add_argument_group("what the page begins with, and can be changed there")
    begin.add_argument(
        "--protected", metavar="FEATURE", action="append", default=[], help="does a decision hang on this? repeat it"
    )
    begin.add_argument(
        "--frozen", metavar="FEATURE", action="append", default=[], help="a feature that cannot change; repeat it"
    )
    begin.add_argument(
        "--cost", metavar="FEATURE=N", action="append", default=[], help="what changing a feature costs (else 1)"
    )
    add_possible(parser)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    where = parser.add_argument_group("where")
    where.add_argument("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1: this machine)")
    where.add_argument(
        "--port", type=whole_from(0, 65535), default=8642, help="the port (default 8642; 0 is any free one)"
    )
    where.add_argument(
        "--name", action="append", default=[], help="a name that the server is reached by, if it listens elsewhere"
    )
    bounds = parser.add_argument_group("limits")
    bounds.add_argument("--workers", metavar="N", type=whole, help="how many questions are worked on at once")
    bounds.add_argument(
        "--seconds", metavar="S", type=positive_seconds, default=15, help="the longest a question may take (default 15)"
    )
    bounds.add_argument(
        "--timeout",
        metavar="S",
        type=positive_seconds,
        default=1,
        help="count and gather reasons for S seconds a kind at most (default 1); then list what comes one by one",
    )
    bounds.add_argument(
        "--memory",
        metavar="MB",
        type=whole_from(LEAST_MEMORY, 2**40),
        default=2048,
        help=f"for one worker (default 2048, at least {LEAST_MEMORY})",
    )
    bounds.add_argument("--largest", metavar="MB", type=whole, default=16, help="the largest dropped file (default 16)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    for package in ("msgspec", "starlette", "uvicorn"):
        if find_spec(package) is None:
            raise Unsupported(f"quia serve needs {package}", cure="pip install 'quia[web]'")
    from quia.web.models import Models
    from quia.web.server import bound, default_workers, serve

    source = None if arguments.model is None else Path(arguments.model)
    options = model_options(arguments)
    if source is not None:
        _check_model(source, arguments.format, options)
    if options and (source is None or source.is_dir()):
        raise Unsupported(
            f"{listed(options)} can only be given for one MODEL that is a file",
            cure="name the file, or write it with `quia convert`, which keeps them",
        )
    possible = _possible(arguments)
    _check_shape(arguments)
    rows = None if arguments.data is None else _table(arguments.data)
    listening = bound(arguments.host, arguments.port)

    def ready(address: str) -> None:
        write(f"quia serves {address} (Ctrl-C stops)")
        if not ipaddress.ip_address(listening.getsockname()[0]).is_loopback:
            write("Others on the network can reach it too, and see the models and rows given.")
        if source is not None and not models.listed():
            write(f"There is no model in {source} yet: put one there, or drop one on the page.")
        if arguments.open:
            webbrowser.open(address)

    # Whichever way it is stopped, dropped files are removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        suppress(KeyboardInterrupt),
        listening,
        Models(
            source,
            format=arguments.format,
            options=options,
            possible=possible,
            image_shape=arguments.image_shape,
        ) as models,
    ):
        serve(
            models,
            rows,
            listening=listening,
            names=arguments.name,
            ready=ready,
            workers=arguments.workers or default_workers(),
            seconds=arguments.seconds,
            memory=arguments.memory * 2**20,
            largest=arguments.largest * 2**20,
            timeout=arguments.timeout,
        )
    return 0


def _check_model(source: Path, format: str | None, options: dict[str, Any]) -> None:
    """Refuse what the page could never show."""
    from quia.load import format_name

    if not source.exists():
        raise FormatError("there is no such file or folder", file=str(source))
    found = None if source.is_dir() else format_name(str(source), format)
    if found in NETWORKS and "target" not in options:
        raise Unsupported(
            f"{source} is a Bayesian network, which can decide about any of its variables",
            cure="name one with --option target=NAME; `quia check` lists them",
        )
    if found == "pickle":
        raise Unsupported(
            f"{source} is a pickle, which quia serve never reads",
            cure="if you trust its maker, make JSON of it with `quia convert --trust-pickle`",
        )


def _possible(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the page begins with, which must be possible, and be such that the page can ask it."""
    named = ("protected", "frozen", "cost", "within", "only_up", "only_down", "near", "given", "given_file")
    options = [f"--{name.replace('_', '-')}" for name in named if getattr(arguments, name)]
    if not options:
        return {}
    if arguments.model is None or Path(arguments.model).is_dir():
        raise Unsupported(f"{listed(options)} can only be given for one MODEL that is a file", cure="name the file")
    from quia.arguments import feature_indices
    from quia.asking import Terms
    from quia.command.instance import features_of, pair
    from quia.web.pool import Fault
    from quia.web.question import from_json
    from quia.web.schema import Question

    classifier = load_model(arguments)
    features = {variable.name: place for place, variable in enumerate(classifier.variables)}
    costs = distinct((pair(text, list(features), "--cost") for text in arguments.cost), "--cost")
    protected = features_of(arguments.protected, classifier, "--protected")
    feature_indices(features, protected, "protected")
    frozen = features_of(arguments.frozen, classifier, "--frozen")
    terms = {"frozen": frozen, "costs": costs, **possible_of(arguments, classifier)}
    Terms.of(classifier, **{name: said for name, said in terms.items() if said})
    terms |= {"costs": {name: float(Fraction(cost)) for name, cost in costs.items()}, "protected": protected}
    possible = {name: said for name, said in terms.items() if said}
    if "within" in possible:
        possible["within"] = _ticked(classifier, possible["within"])
    try:
        from_json(json.dumps({"instance": {}, **possible}).encode(), Question)
    except Fault as fault:
        raise Unsupported(fault.message, cure="a page cannot begin with more") from None
    return possible


def _check_shape(arguments: argparse.Namespace) -> None:
    """Refuse the shape of an image whose pixels are not the model's features."""
    if arguments.image_shape is None:
        return
    if arguments.model is None or Path(arguments.model).is_dir():
        raise Unsupported("--image-shape can only be given for one MODEL that is a file", cure="name the file")
    from quia.show.pixels import places

    places(load_model(arguments).variables, arguments.image_shape)


def _ticked(classifier: Classifier, within: dict[str, str]) -> dict[str, str | list[str]]:
    """The conditions as the page has them: of a feature whose values are names, which of them are possible."""
    from quia.region import Region

    names = {v.name: v for v in classifier.variables if not v.is_numeric}
    listed = Region.parse(classifier.variables, {name: said for name, said in within.items() if name in names})
    states = {each.feature: [each.variable.text(state) for state in each.states] for each in listed.literals}
    return {name: states.get(name, said) for name, said in within.items()}


def _table(file: str) -> Rows:
    from quia.rows import open_rows
    from quia.web.rows import rows_of

    return rows_of(open_rows(file), most=MOST_ROWS)
