"""The numbers of docs/evidence.md, from what the benchmarks wrote: nothing on that page is typed by hand.

`python docs/measured.py FOLDER --data DIR` runs the benchmarks whose results are not in FOLDER yet (hours, on an idle
machine; a killed run goes on where it was) and writes the page and its pictures. Without `--data` it runs nothing and
writes what is there. A number on the page stands between `<!-- measured: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks/ is beside this folder, not installed

from measured_audit import audits
from measured_ensembles import forests, published, rivals
from measured_networks import compiled, networks
from measured_peers import agreement, filled, listed, others, peers, table
from measured_worlds import advice, costs, gains

from benchmarks.additive import batch_text, counts_text
from benchmarks.algorithms import QUESTIONS
from benchmarks.circuits import slope
from benchmarks.kernel import ratio_means
from benchmarks.look import text as pages_text
from benchmarks.networks_plot import drawn
from benchmarks.numbers import number_text, seconds_text
from benchmarks.printed import INSTANCES, names, printed
from benchmarks.summary import summarise, totals

DOCS = Path(__file__).resolve().parent
PICTURES = ("cactus.svg", "scatter.svg", "counts.svg")
NETWORKS_PICTURE = "networks.svg"
_KEPT = ("--cache", "{to}-cache", "--out", "{to}")
_TREES_AND_GRAPHS = ("--benchmark", "trees", "--benchmark", "graphs")
COMMANDS: dict[str, tuple[str, ...]] = {
    "table": ("table", *_TREES_AND_GRAPHS, "--paper-rows", "20", "--paper-limit", "2", "--out", "{to}"),
    "learned": ("table", "--learn", "--benchmark", "spambase", "--paper-rows", "20", "--paper-limit", "2", *_KEPT),
    "kernel.json": ("kernel", "--json", "{to}"),
    "widths.json": ("widths", "--rows", "50", "--only", "widths", "--json", "{to}"),
    "worlds.json": ("worlds", "--json", "{to}"),
    "advice.json": ("worlds", "--dice", "100", "--json", "{to}"),
    "ensembles.json": ("ensembles", "--json", "{to}"),
    "additive.json": ("additive", "--json", "{to}"),
    "networks.json": ("networks", "--json", "{to}"),
    "compiled": ("table", "--benchmark", "networks", "--paper-rows", "20", "--paper-limit", "2", "--out", "{to}"),
    "audit.json": ("audit", "--json", "{to}"),
    "look.json": ("look", "--json", "{to}"),
    "circuits.json": ("circuits", "--json", "{to}"),
    "peers": ("peers", "--rows", "8", "--limit", "10", "--out", "{to}"),
}
"""What each result is made by."""
_MADE = {name: f"{name}/report.html" for name in ("table", "learned", "compiled")} | {"peers": "peers/peers.json"}
_MADE_UP = ("additive.json", "circuits.json")
"""Results about models that are made there, of no data."""
_BLOCK = re.compile(r"(<!-- measured: (?P<name>[a-z ]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def run(folder: Path, data: str, only: Sequence[str] = ()) -> None:
    """Run what has no result yet, of all or of these."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in COMMANDS.items():
        if (only and name not in only) or (folder / _MADE.get(name, name)).exists():
            continue
        command = [sys.executable, "-m", "benchmarks", *(word.format(to=folder / name) for word in words)]
        command += [] if name in _MADE_UP else ["--data", data]
        sys.stderr.write(f"{' '.join(command[2:])}\n")
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=DOCS.parent)


def written(page: str, folder: Path) -> str:
    """The page with the numbers of a folder; blocks whose results are not there stay as they are."""

    def block(found: re.Match[str]) -> str:
        source, make = BLOCKS[found["name"]]
        results = read(folder, source)
        return found[0] if results is None else f"{found[1]}{make(results).strip()}\n{found[3]}"

    return _BLOCK.sub(block, page)


def read(folder: Path, source: str) -> Any:
    """A result: of what the table's command makes its plan, summaries and compiled networks, of others the numbers."""
    file = folder / _MADE.get(source, source)
    if not file.exists():
        return None
    if file.suffix == ".json":
        return json.loads(file.read_text("utf-8"))
    plan = json.loads((folder / source / "plan.json").read_text("utf-8"))
    records = [json.loads(line) for line in (folder / source / "records.jsonl").read_text("utf-8").splitlines()]
    about = [r for r in records if r["what"] == "about"]
    networks = [r for r in records if r["what"] == "compile"]
    kinds = {r["benchmark"]: "graph" if r["acc"] is None else "tree" for r in about}  # graphs have no data
    kinds |= {r["benchmark"]: "network" for r in networks if r["benchmark"] in kinds}
    return {"plan": plan, "summaries": summarise(records, kinds), "compiled": networks}


def verdict(results: dict[str, Any]) -> str:
    """What the table says: agreement, what is finished, how much faster."""
    whole, limit = totals(results["summaries"]), results["plan"]["limit"]
    of, summaries = whole["questions"], results["summaries"]
    theirs = {q: sum(_printed(name)[q][2] for name in names()) for q in QUESTIONS}

    def slowest(kind: str) -> str:
        times = [
            s["kernel"][q]["every_time"]["max"] or 0 for s in summaries if s["kind"] == kind for q in QUESTIONS[1:]
        ]
        return seconds_text(max(times, default=None))

    left = sum(of[q]["kernel_unfinished"] for q in QUESTIONS[1:])
    finished = "The kernel finishes every instance" if not left else f"The kernel leaves {left:,} answers unfinished"
    ratio = {q: f"{_times(of[q]['ratio'])} times" for q in QUESTIONS}
    said = [
        f"- **The same answers.** {whole['agree']:,} answers that both finish are equal, set by set;"
        f" {whole['differ'] or 'none'} differ{'' if whole['differ'] > 1 else 's'}.",
        f"- **Finished.** {finished} for the shortest sufficient, all necessary and shortest necessary reasons; the"
        f" slowest answer took {slowest('tree')} on a tree and {slowest('graph')} on a graph. It counts all sufficient"
        f" reasons exactly within {limit:g} s for {100 * whole['exact']:.2f} % of the instances, up to"
        f" {number_text(of['SR']['most'])} of them; the slowest count took {seconds_text(of['SR']['slowest'])}. In the"
        f" paper {theirs['SR']:,} of {INSTANCES:,} instances were not finished in 60 s for all sufficient reasons,"
        f" {theirs['SSR']} for the shortest and {theirs['NR']} for the necessary ones.",
        "- **Faster.** Where both finish, one instance at a time and with every reason listed by both, the paper's"
        f" algorithms take {ratio['SR']} as long for all sufficient reasons, {ratio['SSR']} for the shortest,"
        f" {ratio['NR']} for all necessary and {ratio['SNR']} for the shortest necessary ones (geometric means over the"
        " benchmarks). The instances that they do not finish are not in these ratios.",
    ]
    head = f"{whole['measured']:,} instances by the kernel, {whole['compared']:,} of them by `paper.py` too:"
    return "\n".join([head, "", *(filled(line).strip().replace("\n", "\n  ") for line in said)])


def counts(results: dict[str, Any]) -> str:
    """How many reasons a decision has, beside the paper's figures."""
    rows = [["", "nodes: paper, here", "SR: paper", "median, most here", "SSR", "NR", "SNR"]]
    for s in results["summaries"]:
        figures = s["printed"]
        if figures is None:
            continue
        of = {q: s["kernel"][q]["every_count"] for q in QUESTIONS}
        both = [f"{number_text(figures[q][0])}, {number_text(float(of[q]['mean']))}" for q in QUESTIONS[1:]]
        many = f"{number_text(of['SR']['median'])}, {number_text(of['SR']['max'])}"
        nodes = f"{figures['nodes']:,}, {s['nodes']:,}"
        rows.append([s["name"], nodes, number_text(figures["SR"][0]), many, *both])
    return table(rows)


def learned(results: dict[str, Any]) -> str:
    """A tree learned here of the spambase data, beside the paper's."""
    (s,) = (s for s in results["summaries"] if s["name"] == "spambase")
    paper = _printed("spambase")
    here = {q: number_text(float(s["kernel"][q]["every_count"]["mean"])) for q in QUESTIONS}
    theirs = {q: number_text(paper[q][0]) for q in QUESTIONS}
    return filled(
        f"A spambase tree learned anew (`--learn`) has {s['nodes']:,} nodes, where the paper's has {paper['nodes']:,},"
        f" and on {s['measured']:,} instances on average {listed(f'{here[q]} {q}' for q in QUESTIONS)}, where the"
        f" paper has {listed(theirs[q] for q in QUESTIONS)}."
    )


def ratios(results: dict[str, Any]) -> str:
    """The ratios in a batch, by kind of benchmark."""
    measured = results["benchmarks"]
    means = {q: ratio_means(measured, q) for q in QUESTIONS}
    kinds = {"trees": sum(r["tree"] for r in measured), "graphs": sum(not r["tree"] for r in measured)}
    rows = [["", *QUESTIONS]]
    for kind, many in [*((k, n) for k, n in kinds.items() if n), ("all", len(measured))]:
        label = f"{many} {kind}" if kind != "all" else "all"
        rows.append([label, *(_times(means[q][kind]["ratio_batch"]) for q in QUESTIONS)])
    last = [_times(means[q]["all"]["ratio_from_instance"]) for q in QUESTIONS]
    return table([*rows, ["all, with the time in which quia makes the complete reason", *last]])


def growth(results: dict[str, Any]) -> str:
    """How the cost of an instance in a batch grows with nodes."""
    of = [r for r in results["growth"] if r["what"] == "nodes"]
    rows = [[f"{r['nodes']:,}", *(seconds_text(r[q]["mean"]) for q in QUESTIONS)] for r in of]
    return table([["nodes", "SR, counted", "SSR", "NR, counted", "SNR"], *rows])


def passes(results: dict[str, Any]) -> str:
    """The shortest necessary reasons in units of a pass over the arrays; then those of a large graph."""
    of = {tree: [r["snr"] / r["pass"] for r in results["pass"] if r["tree"] is tree] for tree in (True, False)}
    text = (
        f"In a batch the shortest necessary reasons cost as much as {_span(of[True])} passes that only add up a tree's"
        f" arrays, and {_span(of[False])} such passes over a graph."
    )
    if "large" in results:
        large, rows = results["large"], results["large"]["rows"]
        snr, nr = ([r[q]["seconds"] for r in rows] for q in ("SNR", "NR"))
        text += (
            f" On a generated graph of {large['nodes']:,} nodes and {large['variables']} variables, about the size of"
            f" the paper's largest, they cost {_span([s / large['pass'] for s in snr])} passes, {_between(snr)}, asked"
            f" one by one; all necessary reasons, up to {max(r['NR']['count'] or 0 for r in rows):,} of them, took"
            f" {_between(nr)}."
        )
    return filled(text)


def widths(results: dict[str, Any]) -> str:
    """How wide reasons are and how many rows they fit, in the instance's states (before) and in general form."""
    head = ["tree", "nodes", "states that a condition on a number admits", "conditions on numbers that got wider"]
    head += ["rows that a reason fits", "changes admitted that flip the decision", "nearest changes"]
    rows = [head]
    for r in results["widths"]:
        fits = f"{_rounded(r['rows_before'])} → {_rounded(r['rows_after'])} of {r['table']:,}"
        flips = f"{_percent(r['flips_before'])} → {_percent(r['flips_after'])}"
        near = f"{_rounded(r['cells'])} → {_rounded(r['regions'])}"
        cells = [f"{r['nodes']:,}", f"1 → {_rounded(r['width_mean'])}", _percent(r["widened"]), fits, flips, near]
        rows.append([r["name"], *cells])
    of = results["widths"]
    rows_each = max(r["instances"] for r in of)
    checked, refuted = sum(r["checked"] for r in of), sum(len(r["refuted"]) for r in of)
    said = (
        f"Before → after, on {rows_each} rows of each tree: means of widths and of nearest changes, medians of rows. A"
        " reason that fits is the first of the shortest sufficient ones; the changes are those of shortest necessary"
        f" reasons with one feature. Of {checked:,} reasons and regions, all that are shown, {refuted or 'none'} failed"
        " the check by `quia.verify` with `maximal=True` (regions: by deciding every point)."
    )
    return f"{table(rows)}\n{filled(said)}"


def additive(results: dict[str, Any]) -> str:
    """A points card: rows beside a plain loop, counts beside a solver."""
    return f"{batch_text(results['batch'])}\n{counts_text(results['counts'])}"


def circuits(results: Sequence[dict[str, Any]]) -> str:
    """Complete reasons of circuits as these grow: every second size, and the slopes over all."""
    head = ["circuit", "nodes", "edges", "size of a complete reason", "its size / the circuit's", "time", "a node"]
    rows, slopes = [head], []
    for kind in dict.fromkeys(r["kind"] for r in results):
        mine = [r for r in results if r["kind"] == kind]
        variables = sorted({r["variables"] for r in mine})
        label = f"{kind}, {' to '.join(map(str, dict.fromkeys((variables[0], variables[-1]))))} variables"
        for r in mine[::2]:
            size = r["nodes"] + r["edges"]
            largest = max(d["largest_reason"] for d in r["decisions"].values())
            longest = max(d["seconds"] or 0 for d in r["decisions"].values())
            cells = [f"{r['nodes']:,}", f"{r['edges']:,}", f"{largest:,}", f"{largest / size:.2f}"]
            rows.append([label, *cells, seconds_text(longest), f"{longest / r['nodes'] * 1e6:.2f} µs"])
            label = ""
        grows = [_slope(mine, decision) for decision in ("1", "0")]
        slopes.append(f"{listed(grows)} ({kind}, ⊤ and ⊥)")
    grows_by = f"The logarithm of the time grows with that of the size by {', '.join(slopes)}; 1 is linear."
    return f"{table(rows)}\n{filled(grows_by)}"


def necessary(results: Sequence[dict[str, Any]]) -> str:
    """What all necessary reasons of the circuits cost, and reading the circuits."""
    texts = []
    for kind in dict.fromkeys(r["kind"] for r in results):
        of = [d for r in results if r["kind"] == kind for d in r["decisions"].values() if d["instances"]]
        slowest, left = max(d["necessary_seconds"] for d in of), sum(d["unfinished"] for d in of)
        most = number_text(max(d["most_necessary"] or 0 for d in of))
        unfinished = f"; {left} of {sum(d['instances'] for d in of)} instances were not finished" if left else ""
        texts.append(f"{seconds_text(slowest)} for the slowest {kind} (up to {most} reasons{unfinished})")
    read = {r["kind"]: r for r in results if r["read"]}
    reading = [f"{seconds_text(r['read'] / r['edges'])} an edge of the largest {kind}" for kind, r in read.items()]
    return filled(
        f"The kernel takes all necessary reasons from there: on average {listed(texts)}. Reading is done once, in"
        f" Python: {listed(reading)}."
    )


Block = tuple[str, Callable[[Any], str]]
BLOCKS: dict[str, Block] = {
    "verdict": ("table", verdict),
    "counts": ("table", counts),
    "learned": ("learned", learned),
    "ratios": ("kernel.json", ratios),
    "growth": ("kernel.json", growth),
    "passes": ("kernel.json", passes),
    "widths": ("widths.json", widths),
    "costs": ("worlds.json", costs),
    "gains": ("worlds.json", gains),
    "advice": ("advice.json", advice),
    "published": ("ensembles.json", published),
    "forests": ("ensembles.json", forests),
    "rivals": ("ensembles.json", rivals),
    "additive": ("additive.json", additive),
    "compiled": ("compiled", compiled),
    "networks": ("networks.json", networks),
    "audits": ("audit.json", audits),
    "looks": ("look.json", lambda results: pages_text(results["results"])),
    "circuits": ("circuits.json", circuits),
    "necessary": ("circuits.json", necessary),
    "peers": ("peers", peers),
    "agreement": ("peers", agreement),
    "others": ("peers", others),
}


def _printed(name: str) -> dict[str, Any]:
    figures = printed(name)
    assert figures is not None
    return figures


def _slope(results: Sequence[dict[str, Any]], decision: str) -> str:
    known = [r for r in results if r["decisions"][decision]["seconds"]]
    grows = slope([r["nodes"] + r["edges"] for r in known], [r["decisions"][decision]["seconds"] for r in known])
    return "–" if grows is None else f"{grows:.2f}"


def _rounded(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def _percent(share: float | None) -> str:
    """A share in percent; what is not all is at most 99."""
    if share is None:
        return "–"
    return f"{100 if share == 1 else min(round(100 * share), 99)} %"


def _times(ratio: float | None) -> str:
    """A ratio to two digits, as a run is no surer than that."""
    if ratio is None:
        return "–"
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _span(ratios: Sequence[float]) -> str:
    if not ratios:
        return "–"
    low, high = (f"{ratio:.2g}" for ratio in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def _between(seconds: Sequence[float]) -> str:
    return f"{seconds_text(min(seconds))} to {seconds_text(max(seconds))}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, if data are given, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the benchmarks' results are")
    parser.add_argument("--data", metavar="DIR", help="run what has no result yet, on these trees and graphs")
    parser.add_argument("--only", metavar="NAME", choices=COMMANDS, action="append", help="run this one; repeat it")
    parser.add_argument("--page", type=Path, default=DOCS / "evidence.md", help="default: docs/evidence.md")
    parsed = parser.parse_args(arguments)
    if parsed.data:
        run(parsed.folder.resolve(), str(Path(parsed.data).resolve()), parsed.only or ())
    parsed.page.write_text(written(parsed.page.read_text("utf-8"), parsed.folder), "utf-8")
    pictures = parsed.page.parent / "pictures" / "measured"
    for name in PICTURES:
        if (parsed.folder / "table" / name).exists():
            shutil.copy(parsed.folder / "table" / name, pictures / name)
    if (points := read(parsed.folder, "networks.json")) is not None:
        (pictures / NETWORKS_PICTURE).write_text(drawn(points["points"]), "utf-8")


if __name__ == "__main__":
    main()
