"""`python -m benchmarks networks`: classifiers of Bayesian networks compiled into graphs, as features become more."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.arguments import DEFAULT_DATA
from benchmarks.numbers import plain_table, ratio_text, seconds_text
from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write
from quia.errors import Unsupported

if TYPE_CHECKING:
    from benchmarks.networks_asked import Asked

FEATURES = (8, 12, 16, 20, 24, 28, 30, 32, 36, 38, 40)
QUICK_FEATURES = (8, 12, 16)
LIMIT, QUICK_LIMIT = 60.0, 10.0
_QUICK_WHOLE, _QUICK_SAMPLES = 10, 500


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    from benchmarks.networks_asked import CHOICE

    parser = subparsers.add_parser(
        "networks",
        help="classifiers of Bayesian networks compiled into decision graphs, as features become more",
        description="Compiles classifiers of Bayesian networks into decision graphs, with more and more features, each"
        " in a fresh process with a limit of time and of 2 GiB of memory. Beside it all inputs are decided one by one"
        " by pyAgrum, or in one NumPy array that is then reduced. Decisions of each graph are compared with pyAgrum's"
        f" posteriors, and the command fails if one differs. Times are CPU seconds. {CHOICE}",
    )
    parser.add_argument("--data", metavar="DIR", help=f"a folder with networks/*.bif.gz (default {DEFAULT_DATA})")
    parser.add_argument(
        "--network",
        metavar="NAME",
        action="append",
        default=[],
        help="only this one, such as andes, or andes_TRY12 for one target of it; repeat it",
    )
    parser.add_argument(
        "--features", metavar="N", type=whole, action="append", help="so many features; repeat it (default 8 to 40)"
    )
    parser.add_argument(
        "--limit",
        metavar="S",
        type=positive_seconds,
        help=f"CPU seconds for each graph and for each rival (default {LIMIT:g}; quick: {QUICK_LIMIT:g})",
    )
    parser.add_argument("--quick", action="store_true", help="up to 16 features, and fewer inputs decided one by one")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw time and nodes against features there")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print and draw; 1 if a decision differs, or if compiling fails for want of neither time nor memory."""
    from benchmarks import networks_plot

    folder = Path(arguments.data or DEFAULT_DATA)
    features = arguments.features or (QUICK_FEATURES if arguments.quick else FEATURES)
    limit = arguments.limit or (QUICK_LIMIT if arguments.quick else LIMIT)
    lines = _lines(folder, arguments.network)
    points = []
    for point in measure(lines, sorted(set(features)), limit, quick=arguments.quick):
        write(line_of(point))
        points.append(point)
    numbers = {"limit": limit, "points": points}
    write(f"\n{text(numbers)}")
    if arguments.plot:
        Path(arguments.plot).write_text(networks_plot.drawn(points), "utf-8")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    broken = [point for point in points if point["quia"]["fault"] and "seconds" not in point["quia"]]
    for point in broken:
        write(f"BROKEN: {line_of(point)}")
    differing = sum(check["differing"] for point in points for check in checks_of(point))
    if differing:
        write(f"DIFFERENT: {differing} decisions")
    return 1 if differing or broken else 0


def _lines(folder: Path, names: Sequence[str]) -> list[Asked]:
    """Networks and targets, with as many features as the paper's graphs have."""
    from benchmarks.networks_asked import called, find

    found = find(folder)
    if not found:
        raise Unsupported(f"{folder} has no networks/andes.bif.gz", cure="name a folder of networks with --data DIR")
    return called(found, names)


def measure(lines: Sequence[Asked], features: Sequence[int], limit: float, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Each target with more and more features, until a graph is not finished; what is larger is not tried."""
    from dataclasses import replace

    from benchmarks.networks_asked import nearest_leaves, read
    from benchmarks.networks_once import SAMPLES, once
    from benchmarks.networks_rivals import WHOLE

    how_many = _QUICK_WHOLE if quick else WHOLE
    for line in lines:
        most = len(nearest_leaves(read(line.file), line.target))
        for count in sorted({min(count, most) for count in features}):
            asked = replace(line, features=count)
            with TemporaryDirectory() as scratch:
                file = Path(scratch) / "graph.json"
                samples = _QUICK_SAMPLES if quick else SAMPLES
                ours = once("quia", asked, limit=limit, graph=file, samples=samples)
                rivals = {
                    name: once(name, asked, limit=limit, whole=how_many, graph=file) for name in ("pyagrum", "numpy")
                }
            yield {"network": line.network, "target": line.target, "features": count, "quia": ours, **rivals}
            if ours["fault"]:
                break


def checks_of(point: dict[str, Any]) -> list[dict[str, Any]]:
    """What was compared with the graph of a point."""
    return [point[by]["check"] for by in ("quia", "pyagrum", "numpy") if "check" in point[by]]


def line_of(point: dict[str, Any]) -> str:
    """A point in a line, as soon as it is there."""
    ours = point["quia"]
    if ours["fault"]:
        return f"{_name(point)}: not compiled, {ours['fault']}"
    return f"{_name(point)}: {ours['nodes']:,} nodes in {seconds_text(ours['seconds'])}"


def _name(point: dict[str, Any]) -> str:
    return f"{point['network']}, {point['target']}, {point['features']} features"


def text(numbers: dict[str, Any]) -> str:
    """The table, what was compared, and how to read both."""
    return "\n".join([table(numbers["points"]), "", sentences(numbers)])


def table(points: Sequence[dict[str, Any]]) -> str:
    """A line for each number of features."""
    header = ["network, class", "features", "tested", "nodes", "messages", "exact", "quia", "peak memory"]
    header += ["pyAgrum, one by one", "/ quia", "NumPy, all at once", "/ quia"]
    return plain_table(header, [_cells(point) for point in points])


def _cells(point: dict[str, Any]) -> list[str]:
    ours = point["quia"]
    name = [f"{point['network']}, {point['target']}", str(point["features"])]
    memory = f"{ours['peak'] / 2**20:,.0f} MiB" if "peak" in ours else "–"
    if ours["fault"]:
        cells = ["–", "–", "–", "–", f"> {seconds_text(ours['seconds'])}" if "seconds" in ours else "–", memory]
    else:
        counts = [f"{ours[key]:,}" for key in ("tested", "nodes", "messages", "exact")]
        cells = [*counts, seconds_text(ours["seconds"]), memory]
    for by in ("pyagrum", "numpy"):
        seconds = point[by].get("seconds")
        about = "≈ " if point[by].get("is_estimated") else ""
        ratio = None if seconds is None or ours["fault"] else seconds / ours["seconds"]
        cells += ["–" if seconds is None else about + _long(seconds), ratio_text(ratio)]
    return name + cells


def _long(seconds: float) -> str:
    """A time that may be of hours or years.

    >>> _long(12), _long(1270), _long(7200), _long(3e6), _long(1e9)
    ('12 s', '21.2 minutes', '2 hours', '34.7 days', '31.7 years')
    """
    for unit, size in (("years", 86400 * 365.25), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return seconds_text(seconds)


def sentences(numbers: dict[str, Any]) -> str:
    """What was compared, what did not finish, and what cannot be compared."""
    from benchmarks.networks_asked import CHOICE
    from benchmarks.networks_rivals import MOST_FEATURES

    points, limit = numbers["points"], numbers["limit"]
    sampled = [point["quia"]["check"] for point in points if "check" in point["quia"]]
    every = [point[by]["check"] for point in points for by in ("pyagrum", "numpy") if "check" in point[by]]
    said = [
        f"{_total(sampled, 'compared'):,} sampled inputs of {len(sampled)} graphs were compared with pyAgrum's"
        f" posteriors: {_total(sampled, 'differing')} decisions differ. {_total(sampled, 'ties'):,} more are ties"
        " within 1e-9, of which doubles cannot tell the class.",
        f"Where a rival decides all inputs, {_total(every, 'compared'):,} in all, {_total(every, 'differing')} differ"
        f" from the graph's ({_total(every, 'ties'):,} ties).",
    ]
    if larger := _larger(points):
        said.append(f"Of the graphs that both make, {larger}.")
    said += [f"Not finished: {line_of(point)}." for point in points if point["quia"]["fault"]]
    for by, name in (("pyagrum", "pyAgrum"), ("numpy", "NumPy")):
        left = [f"{_name(p)} ({fault})" for p in points if "fit" not in (fault := p[by].get("fault", "fits"))]
        said += [f"Not finished by {name}: {', '.join(left)}."] if left else []
    said += [
        f"Limits: {limit:g} s of CPU and 2 GiB for each. ≈: estimated from the first 4,096 inputs. NumPy's array has no"
        f" room for more than {MOST_FEATURES} features, or for a larger table on the way; it decides in doubles."
        " `tested` are the features that the graph depends on, `messages` are what the compiler looked at to tell"
        " sub-classifiers apart, and `exact` how often it asked for fractions.",
        CHOICE,
    ]
    return "\n".join(said)


def _larger(points: Sequence[dict[str, Any]]) -> str:
    """Where NumPy's reduced table has another number of nodes than the graph: ties that it rounds."""
    both = [point for point in points if not point["quia"]["fault"] and "nodes" in point["numpy"]]
    if not both:
        return ""
    other = [point for point in both if point["numpy"]["nodes"] != point["quia"]["nodes"]]
    said = f"{len(both) - len(other)} of {len(both)} have as many nodes as NumPy's reduced table, in the same order"
    if other:
        said += "; the other tables have rounded ties in them"
    return said


def _total(checks: Sequence[dict[str, Any]], key: str) -> int:
    return sum(check[key] for check in checks)
