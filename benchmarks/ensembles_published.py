"""Boosted trees whose explanations were published with their times: one minimal sufficient reason of each instance.

A folder of each model has `model.txt`, as XGBoost prints 50 rounds of trees, and `instances.csv`: the features, then
the seconds published for one reason by MaxSAT and by SMT, on other hardware, and the length of the first.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.ensembles_rows import reduce_rows
from quia.classifier import Classifier
from quia.errors import Unsupported
from quia.explanation import explain
from quia.load import load

ROUNDS = 50
MOST_FEATURES = 21
"""Of models with more features the shortest reasons are not looked for."""


@dataclass(frozen=True, eq=False)
class Published:
    """A model with its instances and what was published of them."""

    name: str
    trees: int
    features: list[str]
    classifier: Classifier
    instances: list[list[float]]
    maxsat: list[float]
    smt: list[float]
    lengths: list[int]


def find(folder: Path, names: Sequence[str] | None = None) -> list[Published]:
    """The models of a folder, or those with these names."""
    known = sorted(file.parent.name for file in folder.glob("*/model.txt"))
    wanted = known if not names else [name for name in known if name in names]
    if not wanted:
        raise Unsupported(
            f"{folder} has no model.txt of {', '.join(names) if names else 'any model'}",
            cure="name the folder above xreason/ with --data DIR",
        )
    return [read(folder / name) for name in wanted]


def read(folder: Path) -> Published:
    """One model, loaded from XGBoost's text."""
    with (folder / "instances.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    features = header[:-3]
    trees = sum(line.startswith("booster") for line in (folder / "model.txt").read_text("utf-8").splitlines())
    classes = [str(c) for c in range(max(trees // ROUNDS, 2))]
    return Published(
        folder.name,
        trees,
        features,
        load(folder / "model.txt", features=features, classes=classes),
        [[float(value) for value in row[:-3]] for row in rows],
        [float(row[-3]) for row in rows],
        [float(row[-2]) for row in rows],
        [int(row[-1]) for row in rows],
    )


def measure(model: Published, rows: int | None, limit: float, check_limit: float) -> dict[str, Any]:
    """One reason of each instance beside what was published, then the shortest ones where features are few."""
    chosen = list(range(len(model.instances)))[:rows]
    numbered = [(n, dict(zip(model.features, model.instances[n], strict=True))) for n in chosen]
    # No limit: whoever asks for one reason of these models waits for it.
    reduced = reduce_rows(model.classifier, numbered, None, check_limit)
    published = [model.lengths[n] for n in chosen]
    pairs = list(zip(reduced.lengths, published, strict=True))
    shortest = shortest_of(model, numbered, limit) if len(model.features) <= MOST_FEATURES else None
    return {
        "name": model.name,
        "features": len(model.features),
        "trees": model.trees,
        **reduced.numbers(),
        "maxsat": sum(model.maxsat[n] for n in chosen),
        "smt": sum(model.smt[n] for n in chosen),
        "maxsat_length": fmean(published),
        "shorter": sum(own < other for own, other in pairs),
        "longer": sum(own > other for own, other in pairs),
        "shortest": shortest,
    }


def shortest_of(model: Published, numbered: Sequence[tuple[int, Any]], limit: float) -> dict[str, Any]:
    """All shortest sufficient reasons of each instance: CPU seconds, whether they are known, their length."""
    seconds, lengths = [], []
    for _, row in numbered:
        started = time.process_time()
        reasons = explain(model.classifier, row).sufficient_reasons(shortest=True, limit=1, timeout=limit)
        found = next(iter(reasons), None)
        seconds.append(time.process_time() - started)
        if found is not None and reasons.found:
            lengths.append(len(found))
    return {
        "median": median(seconds),
        "max": max(seconds),
        "finished": len(lengths),
        "length": fmean(lengths) if lengths else None,
    }


def text(results: Sequence[dict[str, Any]]) -> str:
    """A line of each model, the sums, and what was checked."""
    from benchmarks.numbers import number_text, plain_table, ratio_text, seconds_text

    header = ["model", "features", "trees", "instances", "CPU in all", "median", "max", "MaxSAT in all", "SMT in all"]
    header += [
        "MaxSAT / quia",
        "SMT / quia",
        "length",
        "of MaxSAT's",
        "shorter",
        "longer",
        "shortest: median",
        "in time",
    ]
    body = []
    for r in results:
        least = r["shortest"]
        body.append(
            [
                r["name"],
                str(r["features"]),
                str(r["trees"]),
                str(r["rows"]),
                seconds_text(r["total"]),
                seconds_text(r["median"]),
                seconds_text(r["max"]),
                f"{r['maxsat']:.1f} s",
                f"{r['smt']:.1f} s",
                ratio_text(r["maxsat"] / r["total"]),
                ratio_text(r["smt"] / r["total"]),
                number_text(r["length"]),
                number_text(r["maxsat_length"]),
                str(r["shorter"]),
                str(r["longer"]),
                seconds_text(least["median"]) if least else "–",
                f"{least['finished']} of {r['rows']}" if least else "–",
            ]
        )
    sums = {key: sum(r[key] for r in results) for key in ("rows", "total", "maxsat", "smt", "shorter", "longer")}
    return "\n".join(
        [
            plain_table(header, body),
            "",
            f"One minimal sufficient reason of each of {sums['rows']:,} instances: {seconds_text(sums['total'])} of CPU"
            f" here, {sums['maxsat']:,.0f} s by MaxSAT and {sums['smt']:,.0f} s by SMT as published,"
            f" {_times(sums, 'maxsat')} and {_times(sums, 'smt')} times as much: on other hardware, so that only the"
            f" order of magnitude counts. {sums['shorter']:,} are shorter than MaxSAT's, {sums['longer']:,} longer.",
            "",
            checked_text(results),
        ]
    )


def _times(sums: dict[str, float], other: str) -> str:
    return f"{sums[other] / sums['total']:,.0f}"


def checked_text(results: Sequence[dict[str, Any]], more: str = "") -> str:
    """What the independent check said, and the rows that are worth a look."""
    count = {key: sum(r[key] for r in results) for key in ("rows", "minimal", "checked", "undecided")}
    refuted = sum(len(r["refuted"]) for r in results)
    lines = [
        f"{count['minimal']:,} of {count['rows']:,} proved minimal; quia.verify, by a plain search of its own, confirms"
        f" {count['checked']:,}, refutes {refuted:,} and leaves {count['undecided']:,} undecided.{more}"
    ]
    lines += [f"- {r['name']}, {line}" for r in results for line in r["named"]]
    return "\n".join(lines)
