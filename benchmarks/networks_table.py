"""The table's decision graphs of Bayesian networks: each compiled once, in a fresh process, and kept as a file."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.arguments import DEFAULT_DATA
from benchmarks.networks_asked import CHOICE, PAPERS, Asked, find, is_called
from benchmarks.numbers import plain_table, seconds_text
from benchmarks.printed import printed

if TYPE_CHECKING:
    from benchmarks.models import Benchmark

KINDS = ("network", "networks")
"""What all of them are called by `--benchmark`."""


def chosen(arguments: Namespace) -> tuple[list[Asked], Namespace | None]:
    """The networks that the options name; and the options without these, None where they name nothing else."""
    names: list[str] = arguments.benchmark
    every = find(Path(arguments.data or DEFAULT_DATA))
    if not names:
        return every, arguments
    mine = [name for name in names if name in KINDS or any(is_called(asked, name) for asked in every)]
    asked = [each for each in every if any(name in KINDS or is_called(each, name) for name in mine)]
    others = [name for name in names if name not in mine]
    return asked, Namespace(**vars(arguments) | {"benchmark": others}) if others else None


def compiled(asked: Sequence[Asked], folder: Path, limit: float, *, fresh: bool = False) -> list[dict[str, Any]]:
    """What it took to compile each into a file of the folder, or why there is none; what is there is kept."""
    from benchmarks.networks_once import once

    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for each in asked:
        plan = {"limit": limit, "file": sha256(each.file.read_bytes()).hexdigest()[:16]}
        told = folder / f"{each.name}.compiled.json"
        record = json.loads(told.read_text("utf-8")) if told.exists() and not fresh else {}
        if record.get("plan") != plan:
            graph_file(folder, each.name).unlink(missing_ok=True)
            found = once("quia", each, limit=limit, graph=graph_file(folder, each.name))
            record = {"benchmark": each.name, "what": "compile", "plan": plan, "paper": PAPERS.get(each.network)}
            record |= {"features": each.features, **found}
            told.write_text(json.dumps(record), "utf-8")
        records.append(record)
    return records


def graph_file(folder: Path, name: str) -> Path:
    """Where a graph is."""
    return folder / f"{name}.json"


def benchmarks_of(records: Sequence[dict[str, Any]], folder: Path) -> list[Benchmark]:
    """Those that were compiled."""
    from benchmarks.models import Benchmark

    return [Benchmark(r["benchmark"], "network", graph_file(folder, r["benchmark"])) for r in records if not r["fault"]]


def header() -> list[str]:
    """The columns of what compiling took."""
    return ["compiled", "features", "tested", "nodes", "the paper's", "CPU", "peak memory", "compared", "differ"]


def rows_of(records: Sequence[dict[str, Any]]) -> list[list[str]]:
    """A line each; one that was not compiled says why below."""
    rows = []
    for r in records:
        theirs = printed(r["paper"]) if r["paper"] else None
        paper = "–" if theirs is None else f"{theirs['nodes']:,}"
        check = r.get("check", {})
        counts = ["–" if r["fault"] else f"{r[key]:,}" for key in ("tested", "nodes")]
        seconds = "–" if "seconds" not in r else f"{'> ' if r['fault'] else ''}{seconds_text(r['seconds'])}"
        memory = "–" if "peak" not in r else f"{r['peak'] / 2**20:,.0f} MiB"
        compared = ["–" if key not in check else f"{check[key]:,}" for key in ("compared", "differing")]
        rows.append([r["benchmark"], str(r["features"]), *counts, paper, seconds, memory, *compared])
    return rows


def how_to_read(records: Sequence[dict[str, Any]]) -> list[str]:
    """What is not comparable, and what was not compiled."""
    lines = [
        f"{CHOICE} Features are the leaves nearest to the class in the moral graph; the name has the network, the class"
        " and how many features. `compared` are sampled inputs beside pyAgrum's posteriors, without ties.",
    ]
    lines += [f"{r['benchmark']} was not compiled: {r['fault']}." for r in records if r["fault"]]
    return lines


def markdown(records: Sequence[dict[str, Any]]) -> list[str]:
    """The part of the table's text."""
    if not records:
        return []
    said = [line for each in how_to_read(records) for line in ("", each)]
    return ["## Compiled from Bayesian networks", "", plain_table(header(), rows_of(records)), *said, ""]
