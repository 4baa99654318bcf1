"""`python -m benchmarks ensembles`: what exact reasons of forests and boosted trees cost, and how they are checked."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arguments import DEFAULT_DATA, default_cache
from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write

PARTS = ("xreason", "models", "peers")
ROWS = 30
"""Of each learned model; of a published one, all instances that have published times."""
MEMORY_ROWS = 3


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "ensembles",
        help="exact reasons of forests and boosted trees: their cost, their checks, and other tools",
        description="Explains decisions of boosted trees with published times (xreason), of forests and boosted trees"
        " that are learned here (models), and of the same ones by PyXAI in an environment of its own (peers). Every"
        " reason is checked with quia.verify, by a search that shares nothing with the one that found it. Times are CPU"
        " seconds, limits are not: on a machine that does other work less is done within them.",
    )
    parser.add_argument("--data", metavar="DIR", help="xreason/NAME/model.txt and instances.csv, train/NAME.csv.gz")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part only; repeat it")
    parser.add_argument("--benchmark", metavar="NAME", action="append", help="only models of these data; repeat it")
    parser.add_argument(
        "--model", metavar="TEXT", action="append", help="only models whose name has this, or memory; repeat it"
    )
    parser.add_argument(
        "--rows", metavar="N", type=whole, help=f"of each model (default {ROWS}; of published ones, all)"
    )
    parser.add_argument(
        "--limit", metavar="S", type=positive_seconds, default=10.0, help="seconds for a reason (default 10)"
    )
    parser.add_argument(
        "--check-limit", metavar="S", type=positive_seconds, default=20.0, help="seconds to check one (default 20)"
    )
    parser.add_argument("--environments", metavar="DIR", help="where PyXAI is installed (default: quia's cache)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, check and print."""
    from benchmarks.steps import Steps

    parts = arguments.only or PARTS
    folder = Path(arguments.data or DEFAULT_DATA)
    rows = arguments.rows or ROWS
    numbers: dict[str, Any] = {}
    if "xreason" in parts:
        from benchmarks import ensembles_published as published

        numbers["xreason"] = []
        found = published.find(folder / "xreason", arguments.benchmark)
        with Steps(sum(len(model.instances[: arguments.rows]) for model in found)) as steps:
            for model in found:
                result = published.measure(model, arguments.rows, arguments.limit, arguments.check_limit)
                numbers["xreason"].append(result)
                steps.step(result["rows"], on=model.name)
        write(published.text(numbers["xreason"]))
    if "models" in parts:
        from benchmarks import ensembles_memory as memory
        from benchmarks import ensembles_models as models

        chosen = arguments.benchmark, arguments.model
        numbers["models"] = models.measure(folder / "train", rows, arguments.limit, arguments.check_limit, *chosen)
        write(models.text(numbers["models"]))
        if chosen == (None, None) or "memory" in (arguments.model or ()):
            data = models.read_data(folder / "train", (arguments.benchmark or ["adult"])[0])
            numbers["memory"] = memory.measure(data, min(rows, MEMORY_ROWS))
            write(memory.text(numbers["memory"]))
    if "peers" in parts:
        from benchmarks import ensembles_peers as peers

        where = Path(arguments.environments) if arguments.environments else default_cache() / "peers"
        numbers["peers"] = peers.measure(
            folder / "train", where, rows, arguments.limit, arguments.check_limit, arguments.benchmark
        )
        write(peers.text(numbers["peers"]))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    refuted = [f"{r['name']}: {fault}" for r in refutable(numbers) for fault in r["refuted"]]
    for fault in refuted:
        write(f"REFUTED: {fault}")
    return 1 if refuted else 0


def refutable(numbers: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """The results whose reasons were checked."""
    return [*numbers.get("xreason", ()), *numbers.get("models", {}).get("one", ())]
