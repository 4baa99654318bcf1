"""`quia batch`: why a model decided as it did, for every row of a table."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from quia.command import (
    Subparsers,
    add_model,
    distinct,
    instance,
    load_model,
    model_files,
    model_options,
    refuse_same_files,
)
from quia.command.numbers import limit_of, seconds_of
from quia.command.possible import add_possible, given_files, possible_of
from quia.command.progress import Bar
from quia.command.streams import write_json
from quia.command.terminal import say, tell
from quia.errors import QuiaError
from quia.files import read_bytes, write_text

if TYPE_CHECKING:
    from quia.batch.local import Job
    from quia.batch.question import Request
    from quia.classifier import Classifier


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "batch",
        usage="quia batch MODEL DATA -o OUT [options]",
        description="Explains every row of a table. Killed at any moment, the same command goes on where it was.",
        examples=("quia batch examples/loan.json examples/loans.csv -o reasons.csv --summary page.html",),
    )
    add_model(parser)
    parser.add_argument("data", metavar="DATA", help="CSV (.gz is fine), Parquet (a file or a folder) or Arrow IPC")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="a .parquet, .csv or .jsonl file; a name without an ending, or with a / at its end, is a folder of Parquet"
        " parts",
    )
    parser.add_argument(
        "--id", metavar="COLUMN", action="append", default=[], help="a column to carry along (else the row's number)"
    )
    parser.add_argument(
        "--rejects",
        metavar="FILE",
        help="put rows without a decision (a value is missing or wrong) here, not into OUT",
    )
    parser.add_argument("--delimiter", metavar="C", help="what separates a CSV's columns (else found in its first row)")
    _add_question(parser)
    add_possible(parser)
    _add_running(parser)
    parser.set_defaults(run=run)


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to compute (the shortest reasons of both kinds, if nothing is said)")
    group.add_argument("--necessary", action="store_true", help="the shortest necessary reasons")
    group.add_argument("--sufficient", action="store_true", help="the shortest sufficient reasons")
    group.add_argument("--limit", metavar="N", type=limit_of, default=10, help="list at most N of each (default 10)")
    group.add_argument(
        "--states", action="store_true", help="reasons list each row's own states, not conditions as wide as they hold"
    )
    group.add_argument(
        "--coverage", action="store_true", help="count the rows of DATA that meet each reason (reads DATA twice)"
    )
    group.add_argument("--all", metavar="N", type=limit_of, default=0, help="the first N of all reasons, of both kinds")
    group.add_argument("--counts", action="store_true", help="how many reasons there are in all, exactly")
    group.add_argument("--counterfactuals", metavar="N", type=limit_of, default=0, help="the nearest N changes")
    group.add_argument(
        "--protected", metavar="FEATURE", action="append", default=[], help="is the decision biased by this? repeat it"
    )
    group.add_argument(
        "--superfluous",
        action="store_true",
        help="put sufficient reasons last that another one implies, as constraints tie features, and mark them (slow)",
    )
    group.add_argument("--against", metavar="CLASS", help="ask why it was not this class")
    group.add_argument(
        "--frozen", metavar="FEATURE", action="append", default=[], help="a feature that cannot change; repeat it"
    )
    group.add_argument(
        "--cost", metavar="FEATURE=N", action="append", default=[], help="what changing a feature costs (else 1)"
    )
    group.add_argument("--timeout", metavar="S", type=seconds_of, help="give up on a row after S seconds")


def _add_running(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    group.add_argument("--engine", choices=("local", "spark"), default="local", help="where to run (default local)")
    group.add_argument("--threads", metavar="N", type=limit_of, default=0, help="how many threads (default: all cores)")
    group.add_argument("--part-rows", metavar="N", type=limit_of, default=0, help="rows a part (default: by the size)")
    group.add_argument("--restart", action="store_true", help="forget what an earlier run has done, and begin anew")
    group.add_argument("--summary", metavar="PAGE.html", help="write what was found as a page with pictures")
    group.add_argument("--json", action="store_true", help="print the summary as JSON (schema quia/batch/2)")


def run(arguments: argparse.Namespace) -> int:
    """Explain all rows, and say what was found."""
    from quia.batch.question import ask
    from quia.reason import KINDS

    _check_files(arguments)
    classifier = load_model(arguments)
    features = [v.name for v in classifier.variables]
    kinds = [kind for kind in KINDS if getattr(arguments, kind)]
    other = arguments.all or arguments.counts or arguments.counterfactuals or arguments.protected
    request = ask(
        classifier,
        against=arguments.against,
        frozen=instance.features_of(arguments.frozen, classifier, "--frozen"),
        costs=distinct((instance.pair(text, features, "--cost") for text in arguments.cost), "--cost") or None,
        shortest=kinds or (() if other and not arguments.summary else KINDS),
        general=not arguments.states,
        coverage=arguments.coverage,
        limit=arguments.limit,
        all_reasons=arguments.all,
        counts=arguments.counts,
        counterfactuals=arguments.counterfactuals,
        protected=instance.features_of(arguments.protected, classifier, "--protected"),
        superfluous=arguments.superfluous,
        timeout=arguments.timeout,
        **possible_of(arguments, classifier),
    )
    classifier = request.answering(classifier)
    if arguments.engine == "spark":
        return _run_on_spark(arguments, classifier, request)
    return _run_here(arguments, classifier, request)


def _check_files(arguments: argparse.Namespace) -> None:
    """Refuse to write to where nothing can be found again."""
    if arguments.output == "-":
        raise QuiaError("-o is -, but tables go to files; name a .parquet, .csv or .jsonl file, or a folder")
    outputs = {"-o": arguments.output, "--rejects": arguments.rejects, "--summary": arguments.summary}
    refuse_same_files({**model_files(arguments), **given_files(arguments), "DATA": arguments.data}, outputs)


def _run_here(arguments: argparse.Namespace, classifier: Classifier, request: Request) -> int:
    from quia.batch import local
    from quia.batch.journal import SCHEMA
    from quia.batch.table import arrow

    # Parts come and go: libc's allocator gives their memory back and out again in less time than Arrow's own does.
    arrow().set_memory_pool(arrow().system_memory_pool())
    job = _job(arguments, classifier, request)
    started = time.monotonic()
    with Bar() as bar:
        summary = local.run(job, progress=bar.show, restart=arguments.restart)
    seconds = time.monotonic() - started
    rules = local.told_rules(job, summary, count_rows=bool(arguments.summary))
    if arguments.summary:
        from quia.show.batch import page

        write_text(page(summary, rules, title=f"{arguments.data}, decided by {arguments.model}"), arguments.summary)
    if arguments.json:
        told = {**summary.to_dict(most_sets=100), "rules": [rule.to_dict() for rule in rules]}
        write_json({"schema": SCHEMA, "seconds": round(seconds, 3), "general": request.general, **told}, indent=2)
    else:
        from quia.show.batch import text

        say(text(summary, rules, output=arguments.output, rejects=arguments.rejects, seconds=seconds))
    return 3 if summary.incomplete else 0


def _job(arguments: argparse.Namespace, classifier: Classifier, request: Request) -> Job:
    from quia.batch.local import Job
    from quia.batch.read import open_source
    from quia.batch.write import format_of, is_folder_name

    output = Path(arguments.output)
    is_folder = is_folder_name(arguments.output)
    if arguments.rejects:
        format_of(arguments.rejects)
        if Path(arguments.rejects).exists() and not Path(arguments.rejects).is_file():
            raise QuiaError(f"{arguments.rejects} is no file; name another with --rejects")
        if not Path(arguments.rejects).absolute().parent.is_dir():
            raise QuiaError(f"{arguments.rejects} cannot be written: its folder is not there")
    if arguments.delimiter is not None and not _is_delimiter(arguments.delimiter):
        raise QuiaError(f"--delimiter is {arguments.delimiter!r}; it is one character of ASCII, no quote or line end")
    source = open_source(arguments.data, classifier, request, ids=arguments.id, delimiter=arguments.delimiter)
    if arguments.rejects and (taken := {"row", "error"} & set(source.columns)):
        raise QuiaError(
            f"--rejects adds a column {min(taken)!r}, and a needed one of {arguments.data} is called so; rename it, or"
            " do without --rejects"
        )
    return Job(
        classifier=classifier,
        model=_identity(arguments),
        source=source,
        request=request,
        output=output,
        format="parquet" if is_folder else format_of(arguments.output, or_folder=True),
        is_folder=is_folder,
        ids=tuple(arguments.id),
        rejects=Path(arguments.rejects) if arguments.rejects else None,
        part_rows=arguments.part_rows,
        threads=arguments.threads,
    )


def _identity(arguments: argparse.Namespace) -> str:
    """What tells models apart: the files that they are read from, and how they are read."""
    told = hashlib.sha256(json.dumps([arguments.format, model_options(arguments)], sort_keys=True).encode())
    for file in model_files(arguments).values():
        if file is not None:
            told.update(hashlib.sha256(read_bytes(file, unpacked=None)).digest())
    return told.hexdigest()


def _is_delimiter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text not in '"\r\n\0'


def _run_on_spark(arguments: argparse.Namespace, classifier: Classifier, request: Request) -> int:
    from quia.batch import spark

    refused = {"--rejects": arguments.rejects, "--summary": arguments.summary, "--restart": arguments.restart}
    for option, value in refused.items():
        if value:
            raise QuiaError(f"{option} is for --engine local; Spark writes errors into their column, and OUT once")
    rows = spark.run(
        classifier, request, arguments.data, arguments.output, ids=arguments.id, delimiter=arguments.delimiter
    )
    tell(f"quia: {rows:,} rows explained into {arguments.output}")
    return 0
