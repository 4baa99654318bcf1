"""The table's HTML page: one file, no scripts, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from benchmarks import plots, report
from benchmarks.algorithms import MOST_LISTED

_LIGHT = "--ink: #1c2328; --soft: #66727a; --line: #e3e7ea; --paper: #c2562d; --kernel: #1d7a8c; --page: #fff;"
_DARK = "--ink: #e4e9ec; --soft: #97a4ac; --line: #313a40; --paper: #e78a5f; --kernel: #55b8ca; --page: #14191c;"
_PLOTS = """
svg text { font: 12px system-ui, sans-serif; fill: var(--soft) }
svg text.title { font-weight: 600; font-size: 13.5px; fill: var(--ink) } svg text.faint { font-size: 10px }
svg text.paper { fill: var(--paper); font-weight: 600 } svg text.kernel { fill: var(--kernel); font-weight: 600 }
svg .grid { stroke: var(--line) } svg .axis { stroke: var(--soft) }
svg .line { stroke-width: 2.2; stroke-linejoin: round } svg polyline.paper { stroke: var(--paper) }
svg polyline.kernel { stroke: var(--kernel) } svg rect.paper, svg g.paper { fill: var(--paper) }
svg rect.kernel, svg g.kernel { fill: var(--kernel) } svg .dots { fill-opacity: .45 }
svg .diagonal { stroke: var(--soft); stroke-dasharray: 2 4 }
svg rect.all { fill: var(--kernel) } svg rect.shortest { fill: var(--paper) } svg rect.none { fill: none }
svg line.all { stroke: var(--kernel) } svg line.shortest { stroke: var(--paper) } svg .whisker { stroke-width: 1.4 }
svg .median { stroke: var(--ink); stroke-width: 2 }
"""
_STYLE = f"""
:root {{ {_LIGHT} }} @media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; }}
h1 {{ font-size: 1.7rem; margin-bottom: .3rem }} h2 {{ font-size: 1.2rem; margin: 2.4rem 0 .4rem }}
p, li {{ max-width: 46rem }} .soft {{ color: var(--soft) }}
.wide {{ overflow-x: auto; margin: 1rem 0 }}
table {{ border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; white-space: nowrap }}
th, td {{ padding: .25rem .55rem; text-align: right; border-bottom: 1px solid var(--line) }}
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) {{ text-align: left }}
tr.kernel td {{ color: var(--kernel) }} tr.printed td {{ color: var(--soft) }}
svg {{ width: 100%; height: auto; display: block; margin: .5rem 0 }}
{_PLOTS}"""


def pictures(
    summaries: Sequence[dict[str, Any]], instances: Sequence[dict[str, Any]], settings: dict[str, Any]
) -> dict[str, str]:
    """The plots as files of their own, on white, for a talk or a page elsewhere."""
    limit = settings["paper_limit"]
    drawn = {
        "cactus.svg": plots.cactus(instances, _limits(settings)),
        "scatter.svg": plots.scatter(instances, limit),
        "counts.svg": plots.distributions(summaries, instances),
    }
    look = f"<style>svg {{ {_LIGHT} background: var(--page) }}{_PLOTS}</style>"
    return {name: drawing.replace(">", f">{look}", 1) for name, drawing in drawn.items()}


def page(summaries: Sequence[dict[str, Any]], instances: Sequence[dict[str, Any]], settings: dict[str, Any]) -> str:
    """The whole table with its plots."""
    limit = settings["paper_limit"]
    rows = [row for summary in summaries for row in report.rows_of(summary)]
    bullets = "".join(f"<li>{escape(line.removeprefix('- '))}</li>" for line in report.verdict(summaries, settings))
    reading = "".join(
        f"<p class=soft>{escape(line.lstrip(chr(92)))}</p>" for line in report.how_to_read(settings, summaries) if line
    )
    parts = [
        "<h1>The paper’s Table 1, here</h1>",
        "<p class=soft>Darwiche &amp; Ji, <i>On the Computation of Necessary and Sufficient Explanations</i> (AAAI"
        " 2022), beside the same algorithms run here and quia’s kernel on the same instances.</p>",
        f"<ul>{bullets}</ul>",
        "<h2>How many instances are solved in how much time</h2>",
        plots.cactus(instances, _limits(settings)),
        f"<p class=soft>Only instances that were asked of both. Both list every reason; where there are more than"
        f" {MOST_LISTED:,}, the kernel counts them.</p>",
        "<h2>The paper’s algorithms against the kernel</h2>",
        plots.scatter(instances, limit),
        "<h2>How many reasons there are</h2>",
        plots.distributions(summaries, instances),
        "<h2>The table</h2>",
        _table(report.header(), rows),
        reading,
        "<h2>All instances, by the kernel</h2>",
        _table(*report.all_instances(summaries)),
        f"<p class=soft>{escape(' '.join(report.machine()))}</p>",
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>quia: the paper’s table</title><style>{_STYLE}</style>{''.join(parts)}</html>"
    )


def _limits(settings: dict[str, Any]) -> dict[str, float]:
    return {"paper": settings["paper_limit"], "kernel": settings["limit"]}


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr class={_look(row)}>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class=wide><table><tr>{head}</tr>{body}</table></div>"


def _look(row: Sequence[str]) -> str:
    return {"kernel here": "kernel", "paper, printed": "printed"}.get(row[1], "plain")
