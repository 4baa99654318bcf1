"""`quia audit`: a whole model and its decisions on a table, on pages that can be filed."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quia.command import (
    Subparsers,
    add_model,
    distinct,
    load_model,
    model_files,
    model_options,
    option_pair,
    refuse_same_files,
)
from quia.command.instance import features_of
from quia.command.numbers import seconds_of
from quia.command.possible import add_given, checked, given_files, given_of, within_of
from quia.command.progress import Bar, working
from quia.command.streams import write_document
from quia.command.terminal import say
from quia.errors import QuiaError
from quia.files import write_text

if TYPE_CHECKING:
    from quia.auditing.document import Document
    from quia.batch.journal import Journal
    from quia.classifier import Classifier

TIMEOUT = 300.0
"""How many seconds an audit may take, if nobody says how many."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "audit",
        usage="quia audit MODEL DATA -o PAGE.html [--json FILE] [options]",
        description="Audits a model: how it decides on a table and whether that fits the labels, which few rules"
        " explain most decisions, which features matter, who is treated differently, whether more of something ever"
        " hurts, and what a newer model changed. Everything is exact, or told as not known. Killed at any moment, the"
        " same command goes on where it was.",
        examples=(
            "quia audit examples/loan.json examples/loans.csv -o audit.html --json audit.json --label outcome"
            " --protected sex --favourable grant",
            "quia verify examples/loan.json audit.json",
        ),
    )
    add_model(parser)
    parser.add_argument("data", metavar="DATA", help="CSV (.gz is fine), Parquet (a file or a folder) or Arrow IPC")
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="write the audit as a page; - is stdout")
    parser.add_argument("--json", metavar="FILE", help="write it as JSON (schema quia/audit/1), for `quia verify`")
    _add_asked(parser)
    add_given(parser, "what is possible, beside the model's own constraints", within=True)
    group = parser.add_argument_group("how")
    group.add_argument(
        "--timeout",
        metavar="S",
        type=seconds_of,
        default=TIMEOUT,
        help=f"take S seconds at most for what can take long (default {TIMEOUT:.0f}); what is left open is told",
    )
    group.add_argument("--case", metavar="TEXT", help="a number or text to file the audit by")
    group.add_argument("--restart", action="store_true", help="forget what an earlier run has done, and begin anew")
    parser.set_defaults(run=run)


def _add_asked(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to look at")
    group.add_argument("--label", metavar="COLUMN", help="the column of DATA with the right class")
    group.add_argument(
        "--protected",
        metavar="FEATURE",
        action="append",
        default=[],
        help="a feature, or another column of DATA, by which people must not be treated differently; repeat it",
    )
    group.add_argument(
        "--favourable",
        metavar="CLASS",
        action="append",
        default=[],
        help="the class that people hope for (else the last one); repeat it for an order, the best first",
    )
    group.add_argument(
        "--order",
        metavar="FEATURE=STATE,STATE",
        action="append",
        default=[],
        help="states of a nominal feature from the lowest to the highest, to see whether raising it hurts; repeat it",
    )
    group.add_argument("--compare", metavar="OTHER", help="the file of a newer model, to see what it changed")
    group.add_argument("--compare-format", metavar="NAME", help="read OTHER as this format, whatever it looks like")
    group.add_argument(
        "--compare-option", metavar="NAME=VALUE", action="append", default=[], help="an option of OTHER's format"
    )
    group.add_argument(
        "--cover",
        metavar="SHARE",
        type=_share,
        default=0.9,
        help="how much of each class rules are to cover (default 0.9)",
    )


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 0.9 or 90%")
    return share


def run(arguments: argparse.Namespace) -> int:
    """Audit, write and say what matters most; 3 if something is left open."""
    from quia.auditing import audit
    from quia.identity import file_facts
    from quia.show.audit import page, text

    if arguments.output is None and arguments.json is None:
        raise QuiaError("there is nowhere to write the audit to; name a page with -o, or a file with --json, or both")
    outputs = {"-o": arguments.output, "--json": arguments.json}
    inputs = {
        **model_files(arguments),
        **given_files(arguments),
        "DATA": arguments.data,
        "--compare": arguments.compare,
    }
    refuse_same_files(inputs, outputs)
    _refuse_unwritable(outputs)
    classifier = load_model(arguments)
    other = _other(arguments)
    options, compare_options = _options(arguments), _compare_options(arguments)
    facts = audit.Facts(
        file_facts(arguments.model),
        None if arguments.compare is None else file_facts(arguments.compare),
        options or None,
        compare_options or None,
        arguments.command_line,
        arguments.case,
    )
    asked: dict[str, Any] = {
        "label": arguments.label,
        "protected": _protected(arguments, classifier),
        "favourable": arguments.favourable,
        "orders": distinct((_order(text) for text in arguments.order), "--order") or None,
        "within": within_of(arguments, classifier.variables),
        "given": checked(given_of(arguments), classifier.variables) or None,
        "share": arguments.cover,
        "timeout": arguments.timeout,
    }
    journal = _journal(arguments, facts, asked)
    is_done = False
    try:
        with Bar("") as bar:
            document = audit.run(
                classifier, arguments.data, facts, compare=other, journal=journal, progress=bar.show, **asked
            )
        _write(arguments, document, page)
        is_done = True
    finally:
        if journal is not None:
            if is_done or not journal.done:  # there is nothing to go on with
                journal.path.unlink(missing_ok=True)
            journal.close()
    if "-" not in outputs.values():
        say(text(document))
    return 3 if document.unfinished else 0


def _protected(arguments: argparse.Namespace, classifier: Classifier) -> list[str]:
    """The protected features and columns; the table is asked for its columns only where commas may separate several."""
    if not any("," in text for text in arguments.protected):
        return list(arguments.protected)
    from quia.batch.read import column_names

    return features_of(arguments.protected, classifier, "--protected", also=column_names(arguments.data))


def _refuse_unwritable(outputs: dict[str, str | None]) -> None:
    """Refuse before the work what cannot be written after it."""
    if list(outputs.values()).count("-") > 1:
        raise QuiaError("-o and --json are both -, and stdout takes one; write one of them to a file")
    for option, file in outputs.items():
        if file is None or file == "-":
            continue
        folder = Path(file).absolute().parent
        if Path(file).is_dir():
            raise QuiaError(f"{option} is {file!r}, which is a folder; name a file in it")
        if not folder.is_dir():
            raise QuiaError(
                f"{option} is {file!r}, but there is no folder {str(folder)!r}; make it, or write elsewhere"
            )
        if not os.access(folder, os.W_OK) and not Path(file).exists():
            raise QuiaError(f"{option} is {file!r}, but nothing can be written to {str(folder)!r}; write elsewhere")


def _write(arguments: argparse.Namespace, document: Document, page: Any) -> None:
    from quia.auditing.reading import to_dict

    if arguments.json is not None:
        made = json.dumps(to_dict(document), ensure_ascii=False, indent=2) + "\n"
        if arguments.json == "-":
            write_document(made, "-")
        else:
            write_text(made, arguments.json)
    if arguments.output is not None:
        write_document(page(document), arguments.output)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """How the model was read, as JSON holds it."""
    options = model_options(arguments)
    if arguments.format is not None:
        options["format"] = arguments.format
    plain: dict[str, Any] = json.loads(json.dumps(options, default=str))
    return plain


def _compare_options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = distinct((option_pair(text, "--compare-option") for text in arguments.compare_option), "--compare-option")
    return {**options, **({} if arguments.compare_format is None else {"format": arguments.compare_format})}


def _other(arguments: argparse.Namespace) -> Classifier | None:
    from quia.load import load

    options = _compare_options(arguments)
    if arguments.compare is None:
        if options:
            raise QuiaError(
                "--compare-format and --compare-option are about --compare, which is not given; give it too"
            )
        return None
    if arguments.trust_pickle:
        options["trust_pickle"] = True
    with working("reading the newer model"):
        return load(arguments.compare, **options)


def _order(text: str) -> tuple[str, list[str]]:
    """FEATURE=STATE,STATE taken apart.

    >>> _order("GPA=low,medium, high")
    ('GPA', ['low', 'medium', 'high'])
    """
    name, equals, states = text.partition("=")
    found = [state.strip() for state in states.split(",")]
    if not equals or not name or len(found) < 2:
        raise QuiaError(f"--order is {text!r}; write FEATURE=LOWEST,…,HIGHEST")
    return name, found


def _journal(arguments: argparse.Namespace, facts: Any, asked: dict[str, Any]) -> Journal | None:
    """What is done of this audit, beside the first file that it is written to; None if it is written to no file."""
    from quia import __version__
    from quia.auditing.audit import data_facts
    from quia.auditing.document import SCHEMA
    from quia.auditing.reading import plain
    from quia.batch.journal import open_journal

    output = next((Path(file) for file in (arguments.output, arguments.json) if file not in (None, "-")), None)
    if output is None or (output.exists() and not output.is_file()):
        return None
    told = {
        "version": __version__,
        "model": plain([facts.model, facts.options]),
        "compared": plain([facts.compared, facts.compare_options]),
        "input": plain(data_facts(arguments.data)),
        "settings": hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest(),
    }
    path = output.with_name(f"{output.name}.journal")
    return open_journal(path, json.loads(json.dumps(told)), output=output, anew=arguments.restart, schema=SCHEMA)
