"""The table's HTML page: one file in the style of all pages, that runs nothing and fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks import networks_table, plots, report
from benchmarks.algorithms import MOST_LISTED
from benchmarks.panel import Plot
from quia.show.markup import Child, Markup, element
from quia.show.whole_file import whole_file

# The colours of pages: those of classes for the two engines that are compared.
ON_WHITE = "--ink: #1d2730; --faint: #57636d; --rule: #e2dfd6; --k0: #1c7f86; --k1: #c4743c; background: #fff"
PLOTS = """
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--faint) }
svg text.title { font-weight: 600; font-size: 13.5px; fill: var(--ink) } svg text.faint { font-size: 10px }
svg text.paper { fill: var(--k1); font-weight: 600 } svg text.kernel { fill: var(--k0); font-weight: 600 }
svg .grid { stroke: var(--rule) } svg .axis { stroke: var(--faint) }
svg .line { stroke-width: 2.2; stroke-linejoin: round } svg polyline.paper { stroke: var(--k1) }
svg polyline.kernel { stroke: var(--k0) } svg rect.paper, svg g.paper { fill: var(--k1) }
svg rect.kernel, svg g.kernel { fill: var(--k0) } svg .dots { fill-opacity: .45 }
svg .diagonal { stroke: var(--faint); stroke-dasharray: 2 4 }
svg rect.all { fill: var(--k0) } svg rect.shortest { fill: var(--k1) } svg rect.none { fill: none }
svg line.all { stroke: var(--k0) } svg line.shortest { stroke: var(--k1) } svg .whisker { stroke-width: 1.4 }
svg .median { stroke: var(--ink); stroke-width: 2 }
"""
_STYLE = (
    PLOTS
    + """
.bench .points li { padding-left: 1.1rem; position: relative; margin-top: .25rem; max-width: 46rem }
.bench .points li::before { content: "–"; position: absolute; left: 0; color: var(--faint) }
.bench .scrolled { overflow-x: auto; margin: .5rem 0 }
.bench .plot { display: block; width: 100%; min-width: 44rem; height: auto }
.bench table { font-size: .8rem; white-space: nowrap; overflow-wrap: normal }
.bench th, .bench td { text-align: right; min-width: 0; padding: .25rem .55rem; white-space: nowrap }
.bench th:first-child, .bench td:nth-child(2), .bench th:nth-child(2) { text-align: left }
.bench tr.kernel td { color: var(--held) } .bench tr.printed td { color: var(--faint) }
"""
)


def pictures(
    summaries: Sequence[dict[str, Any]], instances: Sequence[dict[str, Any]], settings: dict[str, Any]
) -> dict[str, str]:
    """The plots as files of their own, on white, for a talk or a page elsewhere."""
    drawn = {
        "cactus.svg": plots.cactus(instances, _limits(settings)),
        "scatter.svg": plots.scatter(instances, settings["paper_limit"]),
        "counts.svg": plots.distributions(summaries, instances),
    }
    return {name: plot.as_file(f"svg {{ {ON_WHITE} }}{PLOTS}") for name, plot in drawn.items()}


def page(
    summaries: Sequence[dict[str, Any]],
    instances: Sequence[dict[str, Any]],
    settings: dict[str, Any],
    compiled: Sequence[dict[str, Any]] = (),
) -> str:
    """The whole table with its plots."""
    rows = report.table_rows(summaries, compiled)
    verdict = [element("li", line.removeprefix("- ")) for line in report.verdict(summaries, settings)]
    reading = [line.lstrip("\\") for line in report.how_to_read(settings, summaries) if line]
    title = element("i", "On the Computation of Necessary and Sufficient Explanations")
    about = (
        "Darwiche & Ji, ",
        title,
        " (AAAI 2022), beside the same algorithms run here and quia’s kernel on the same",
    )
    asked_of_both = (
        "Only instances that were asked of both. Both list every reason; where there are more than"
        f" {MOST_LISTED:,}, the kernel counts them."
    )
    parts = [
        element(
            "header",
            element("h1", "The paper’s Table 1, here"),
            element("p", about, " instances.", class_="lead"),
            class_="verdict",
        ),
        _part("What was found", element("ul", verdict, class_="points")),
        _part(
            "How many instances are solved in how much time",
            _plot(plots.cactus(instances, _limits(settings))),
            about=asked_of_both,
        ),
        _part("The paper’s algorithms against the kernel", _plot(plots.scatter(instances, settings["paper_limit"]))),
        _part("How many reasons there are", _plot(plots.distributions(summaries, instances))),
        _part(
            "The table",
            _table("The table", report.header(), rows),
            [element("p", line, class_="about") for line in reading],
        ),
        *([_networks(compiled)] if compiled else []),
        _part("All instances, by the kernel", _table("All instances", *report.all_instances(summaries))),
        element("footer", element("p", " ".join(report.machine())), class_="notes"),
    ]
    main = element("article", parts, class_="quia bench")
    return whole_file("quia: the paper’s table", main, more_style=_STYLE)


def _networks(compiled: Sequence[dict[str, Any]]) -> Markup:
    title = "Compiled from Bayesian networks"
    reading = [element("p", line, class_="about") for line in networks_table.how_to_read(compiled)]
    return _part(title, _table(title, networks_table.header(), networks_table.rows_of(compiled)), reading)


def _limits(settings: dict[str, Any]) -> dict[str, float]:
    return {"paper": settings["paper_limit"], "kernel": settings["limit"]}


def _part(title: str, *shown: Child, about: str | None = None) -> Markup:
    said = None if about is None else element("p", about, class_="about")
    return element("section", element("h2", title), said, *shown, class_="part")


def _plot(plot: Plot) -> Markup:
    return _scrolled(plot.label, plot.on_page)


def _table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = element("tr", [element("th", each, scope="col") for each in header])
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            [element("td", cell) for cell in row[1:]],
            class_={"kernel here": "kernel", "paper, printed": "printed", "paper, printed*": "printed"}.get(row[1]),
        )
        for row in rows
    ]
    return _scrolled(name, element("table", element("thead", head), element("tbody", body)))


def _scrolled(name: str, wide: Markup) -> Markup:
    """What is wider than a phone, in a frame that can be moved by keyboard too."""
    return element("div", wide, class_="scrolled", tabindex=0, role="region", aria_label=f"{name}, scrollable")
