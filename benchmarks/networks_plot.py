"""Compile time and nodes against features, a line for each target of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.page import ON_WHITE, PLOTS
from benchmarks.panel import Panel, Plot, count_tick, legend, seconds_tick
from quia.plot.canvas import CLASSES
from quia.show.svg import Axis

WIDTH, _HIGH = 960, 300
_STYLE = (
    "".join(
        f"svg polyline.line.n{k} {{ stroke: {colour} }} svg rect.n{k}, svg g.n{k} {{ fill: {colour} }}\n"
        for k, colour in enumerate(CLASSES)
    )
    + "svg .rival { stroke-dasharray: 2 4; stroke-width: 1.4 }\n"
)


def drawn(points: Sequence[dict[str, Any]]) -> str:
    """The plot as a file of its own."""
    return plot(points).as_file(f"svg {{ {ON_WHITE} }}{PLOTS}{_STYLE}")


def plot(points: Sequence[dict[str, Any]]) -> Plot:
    """Two panels: seconds, with those of NumPy's array dotted, and nodes."""
    made = [point for point in points if not point["quia"]["fault"]]
    lines: dict[str, list[dict[str, Any]]] = {}
    for point in made:
        lines.setdefault(f"{point['network']}, {point['target']}", []).append(point)
    times = [at for line in lines.values() for rival in (False, True) for _, at in _seconds(line, rival)]
    counts = [point["quia"]["nodes"] for point in made]
    x_most = max((point["features"] for point in made), default=1)
    top = 84.0
    bottom = top + _HIGH
    panels = []
    for left, low, high, title in (
        (74.0, min(times, default=1e-3), max(times, default=1.0), "CPU time"),
        (560.0, 1.0, float(max(counts, default=1)), "nodes of the graph"),
    ):
        x = Axis(4, max(x_most, 8) + 1, left, left + 360)
        panel = Panel(x, Axis(low / 1.5, max(high, low * 10) * 1.5, bottom, top, log=True), title)
        tick = seconds_tick if title == "CPU time" else count_tick
        panel.frame(lambda n: f"{n:,.0f}", tick, "features")
        for k, line in enumerate(lines.values()):
            look = f"n{k % len(CLASSES)}"
            if title == "CPU time":
                panel.line(_seconds(line, rival=True), class_=f"line {look} rival")
                places = _seconds(line, rival=False)
            else:
                places = [(point["features"], point["quia"]["nodes"]) for point in line]
            panel.line(places, class_=f"line {look}")
            panel.dots(places, 3, class_=look)
        panels.append(panel)
    names = [(name, f"n{k % len(CLASSES)}") for k, name in enumerate(lines)]
    first, second = names[:5], names[5:]
    entries = [
        *legend(first, 74, 20),
        *legend([*second, ("dotted: NumPy, all inputs in one array", "none")], 74, 42),
    ]
    label = "Time to compile classifiers of Bayesian networks, and the nodes of their graphs, against features"
    return Plot(WIDTH, bottom + 48, panels, entries, label)


def _seconds(line: Sequence[dict[str, Any]], rival: bool) -> list[tuple[float, float]]:
    by = "numpy" if rival else "quia"
    return [(point["features"], max(point[by]["seconds"], 1e-4)) for point in line if point[by].get("seconds")]
