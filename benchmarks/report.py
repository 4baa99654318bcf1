"""The table as files: Markdown, CSV, Parquet and one HTML page with plots."""

from __future__ import annotations

import csv
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.alarm import by_cpu
from benchmarks.algorithms import QUESTIONS
from benchmarks.networks_table import markdown as networks_markdown
from benchmarks.numbers import number_text, plain_table, ratio_text, seconds_text
from benchmarks.printed import GRAPHS, printed
from benchmarks.summary import summarise, totals

_PROPERTIES = ("examples", "nodes", "num", "nom", "classes", "card", "acc")


def write(
    folder: Path, records: Sequence[dict[str, Any]], kinds: dict[str, str], settings: dict[str, Any]
) -> dict[str, Path]:
    """Write every file of the table; returns where each is."""
    from benchmarks.page import page, pictures

    summaries = summarise([r for r in records if r["benchmark"] in kinds], kinds)
    compiled = [r for r in records if r["what"] == "compile"]
    instances = sorted(
        (r for r in records if r["what"] == "instance"), key=lambda r: (list(kinds).index(r["benchmark"]), r["row"])
    )
    files = {name: folder / name for name in ("table.md", "table.csv", "instances.csv", "report.html")}
    files["table.md"].write_text(markdown(summaries, settings, compiled), "utf-8")
    _write_csv(files["table.csv"], statistics_rows(summaries))
    rows = instance_rows(instances)
    _write_csv(files["instances.csv"], rows)
    files["report.html"].write_text(page(summaries, instances, settings, compiled), "utf-8")
    for name, drawing in pictures(summaries, instances, settings).items():
        files[name] = folder / name
        files[name].write_text(drawing, "utf-8")
    if _write_parquet(folder / "instances.parquet", rows):
        files["instances.parquet"] = folder / "instances.parquet"
    return files


def header() -> list[str]:
    """The columns of the table."""
    columns = ["benchmark", "figures", *_PROPERTIES]
    for question in QUESTIONS:
        columns += [f"{question} count", "time"]
    return columns


def rows_of(summary: dict[str, Any]) -> list[list[str]]:
    """A benchmark's lines: the paper's printed figures, paper.py here, the kernel here."""
    name = summary["name"] + {"graph": " (stand-in)", "network": " (own choice)"}.get(summary["kind"], "")
    rows = []
    if summary["printed"]:
        rows.append([name, "paper, printed", *_properties(summary["printed"]), *_printed_cells(summary["printed"])])
    here = _properties(summary)
    for engine, label in (("paper", "paper.py here"), ("kernel", "kernel here")):
        cells: list[str] = []
        for question in QUESTIONS:
            of = summary[engine][question]
            asked = summary["compared" if engine == "paper" else "measured"]
            cells += [number_text(of["count"]["mean"]), _time(of["time"]["mean"], of["unfinished"], asked)]
        rows.append([name, label, *here, *cells])
    return rows


def table_rows(summaries: Sequence[dict[str, Any]], compiled: Sequence[dict[str, Any]] = ()) -> list[list[str]]:
    """All lines; the paper's figures of decision graphs stand above those of the same network, or else at the end."""
    networks = {record["benchmark"] for record in compiled}
    rows = [row for summary in summaries if summary["name"] not in networks for row in rows_of(summary)]
    shown: set[str] = set()
    for record in compiled:
        if record["paper"] and record["paper"] not in shown:
            shown.add(record["paper"])
            rows.append(_printed_graph(record["paper"]))
        rows += [row for summary in summaries if summary["name"] == record["benchmark"] for row in rows_of(summary)]
        if record["fault"]:
            rows.append([f"{record['benchmark']} (own choice)", "not compiled", *["–"] * (len(header()) - 2)])
    if any(s["kind"] == "graph" for s in summaries):
        rows += [_printed_graph(name) for name in GRAPHS if name not in shown]
    return rows


def _printed_graph(name: str) -> list[str]:
    figures = printed(name)
    assert figures is not None
    return [name, "paper, printed*", *_properties(figures), *_printed_cells(figures)]


def _properties(of: dict[str, Any]) -> list[str]:
    return ["–" if of[key] is None else f"{of[key]:,}" for key in _PROPERTIES]


def _printed_cells(figures: dict[str, Any]) -> list[str]:
    cells: list[str] = []
    for question in QUESTIONS:
        count, seconds, unfinished = figures[question]
        cells += [number_text(count), _time(seconds, unfinished, None)]
    return cells


def _time(seconds: float | None, unfinished: int, asked: int | None) -> str:
    out = f" ({unfinished:,}{'' if asked is None else f' of {asked:,}'} out)" if unfinished else ""
    return seconds_text(seconds) + out


def markdown(
    summaries: Sequence[dict[str, Any]], settings: dict[str, Any], compiled: Sequence[dict[str, Any]] = ()
) -> str:
    """The whole table, with what is needed to read it."""
    return "\n".join(
        [
            "# The paper's Table 1, here",
            "",
            *verdict(summaries, settings),
            "",
            plain_table(header(), table_rows(summaries, compiled)),
            "",
            *how_to_read(settings, summaries),
            "",
            *networks_markdown(compiled),
            "## All instances, by the kernel",
            "",
            plain_table(*all_instances(summaries)),
            "",
            *machine(),
            "",
        ]
    )


def verdict(summaries: Sequence[dict[str, Any]], settings: dict[str, Any]) -> list[str]:
    """What the table says, in a few lines."""
    whole = totals(summaries)
    of = whole["questions"]
    ratios = ", ".join(f"{q} {ratio_text(of[q]['ratio'])}" for q in QUESTIONS)
    theirs = ", ".join(f"{q} {of[q]['paper_unfinished']:,}" for q in QUESTIONS)
    ours = ", ".join(f"{q} {of[q]['kernel_unfinished']:,}" for q in QUESTIONS)
    exact = "–" if whole["exact"] is None else f"{100 * whole['exact']:.2f} %"
    return [
        f"- {whole['benchmarks']} benchmarks, {whole['measured']:,} instances by the kernel, {whole['compared']:,} of"
        " them by paper.py too.",
        f"- Answers that both finish: {whole['agree']:,} equal, {whole['differ']:,} different.",
        f"- Not finished by paper.py in {settings['paper_limit']:g} s: {theirs}; by the kernel in"
        f" {settings['limit']:g} s: {ours}.",
        f"- All sufficient reasons counted exactly: {exact} of the instances, up to"
        f" {number_text(of['SR']['most'])} of them; the slowest took {seconds_text(of['SR']['slowest'])}.",
        f"- paper.py's time over the kernel's, one instance at a time with all reasons listed, on the answers that both"
        f" finish (geometric mean over the benchmarks): {ratios}.",
    ]


def how_to_read(settings: dict[str, Any], summaries: Sequence[dict[str, Any]]) -> list[str]:
    """What the columns mean, and what is not comparable, of the kinds of benchmarks that there are."""
    kinds = {summary["kind"] for summary in summaries}
    names = {summary["name"] for summary in summaries}
    seconds = f"{settings['paper_limit']:g} s {'of CPU' if by_cpu() else 'by the clock on the wall'} for paper.py"
    lines = [
        "Counts and times are means over the instances on which paper.py finishes both SR and SSR (NR and SNR), as in"
        f" the paper. `out`: instances not finished in time ({seconds}, 60 s in the paper; the kernel's limit goes by"
        " the clock on the wall). Times are CPU seconds; paper.py's begin when the complete reason is there, as the"
        " paper's do, the kernel's with the instance, and end when the last reason is listed. Nothing but an alarm"
        " stops paper.py, so its loops hold only what the paper prints.",
    ]
    if any(summary["partial"] or summary["left_out"] for summary in summaries):
        lines += [
            "",
            "A row that lacks a value is explained if its decision is the same whatever that value is: no reason speaks"
            " of it, and every reason holds for all its values. It is refused if the decision depends on the value.",
        ]
    if "tree" in kinds:
        lines += [
            "",
            "Trees are J48's of the same data but of other splits, so their sizes and counts differ from the paper's.",
        ]
    if "gisette_like" in names:
        lines[-1] += " gisette_like was made as gisette was, from other data, so it has no printed figures."
    if "compas" in names:
        lines[-1] += " compas was rebuilt from its source with the usual filter."
    if "graph" in kinds:
        lines += [
            "",
            "The graphs are stand-ins: compiled from networks of the same kind, classes and features chosen by us.",
        ]
        twins = sorted(n for n in names if n.endswith("_robdd") and n.removesuffix("_robdd") + "_quasi" in names)
        lines[-1] += "".join(f" {n} and {n.removesuffix('_robdd')}_quasi are one function." for n in twins)
    if kinds & {"graph", "network"}:
        lines += ["", "\\* The paper's own graphs are not public; their figures stand here for the order of size only."]
    if "model" in kinds:
        lines += ["", "Generated classifiers, and their instances, are made by rules; the paper has none like them."]
    return lines


def all_instances(summaries: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Exact counts and times over all instances, whether paper.py finishes them or not."""
    columns = ["benchmark", "instances", "rows that lack a value", "refused"]
    for question in QUESTIONS:
        columns += [f"{question} median", "most", "mean time", "in a batch", "max time", "out"]
    rows = []
    for summary in summaries:
        lacking = summary["partial"] + summary["left_out"]
        row = [summary["name"], f"{summary['measured']:,}", f"{lacking:,}", f"{summary['left_out']:,}"]
        for question in QUESTIONS:
            of = summary["kernel"][question]
            batch = summary["batch"]
            row += [
                number_text(of["every_count"]["median"]),
                number_text(of["every_count"]["max"]),
                seconds_text(of["every_time"]["mean"]),
                seconds_text(batch[question]["seconds"] if batch else None),
                seconds_text(of["every_time"]["max"]),
                str(of["unfinished"]),
            ]
        rows.append(row)
    return columns, rows


def machine() -> list[str]:
    """Where this was measured."""
    import quia

    return [
        f"quia {quia.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        f"{', ' + _processor() if _processor() else ''}."
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def statistics_rows(summaries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The table in long form: a row for every benchmark, engine and question, with mean, stdev, median and max."""
    rows: list[dict[str, Any]] = []
    for summary in summaries:
        base = {"benchmark": summary["name"], "stand_in": summary["kind"] in ("graph", "network")}
        if summary["printed"]:
            for question in QUESTIONS:
                count, seconds, unfinished = summary["printed"][question]
                figures = {"count_mean": count, "time_mean": seconds, "unfinished": unfinished}
                rows.append(base | {"engine": "paper, printed", "question": question} | figures)
        for engine in ("paper", "kernel"):
            for question in QUESTIONS:
                of = summary[engine][question]
                row = base | {"engine": "paper.py" if engine == "paper" else "kernel", "question": question}
                for what in ("count", "time"):
                    row |= {f"{what}_{key}": value for key, value in of[what].items()}
                row |= {"averaged": of["averaged"], "unfinished": of["unfinished"]}
                rows.append(row | {key: summary[key] for key in _PROPERTIES})
    return rows


def instance_rows(instances: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every instance with its exact counts and times."""
    rows = []
    for record in instances:
        row: dict[str, Any] = {"benchmark": record["benchmark"], "row": record["row"], "unknown": record["unknown"]}
        for question in QUESTIONS:
            count, seconds, listed = record["kernel"][question]
            row |= {f"{question}_count": count, f"{question}_kernel": seconds, f"{question}_kernel_listed": listed}
            theirs = record.get("paper", {}).get(question, (None, None))
            row |= {f"{question}_paper_count": theirs[0], f"{question}_paper": theirs[1]}
        rows.append(row)
    return rows


def _write_csv(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names, restval="")
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(file: Path, rows: Sequence[dict[str, Any]]) -> bool:
    """Counts are decimals of 38 digits; beyond that, text. Without pyarrow there is only the CSV."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return False
    columns = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name.endswith("_count"):
            fits = all(v is None or v < 10**38 for v in values)
            columns[name] = pa.array(values, pa.decimal128(38, 0)) if fits else pa.array([v and str(v) for v in values])
        else:
            columns[name] = pa.array(values)
    parquet.write_table(pa.table(columns), file)
    return True
